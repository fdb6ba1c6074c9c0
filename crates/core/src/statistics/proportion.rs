//! A share of counted events, with its interval.

use super::measured::Interval;

/// The two-sided 95 % point of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of a share, `hits` of `trials`, by Wilson's score (1927). Unlike the share plus or minus its standard error
/// it also covers rare events such as losses, and is not empty where none was seen (Brown, Cai and Das Gupta 2001 recommend it).
/// `None` without trials, or with more hits than trials.
pub fn share_interval(hits: u64, trials: u64) -> Option<Interval> {
    if trials == 0 || hits > trials {
        return None;
    }
    let (n, share) = (trials as f64, hits as f64 / trials as f64);
    let centre = share + Z * Z / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    // For no hits and for only hits one end is exactly 0 or 1, which rounding need not give.
    let low = if hits == 0 { 0.0 } else { (centre - spread) / scale };
    let high = if hits == trials { 1.0 } else { (centre + spread) / scale };
    Some(Interval { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intervals_are_those_of_the_literature() {
        // Newcombe 1998, table I: 81 of 263 and 15 of 148 by the score method without correction.
        for (hits, trials, low, high) in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)] {
            let result = share_interval(hits, trials).unwrap();
            assert!((result.low - low).abs() < 5e-5 && (result.high - high).abs() < 5e-5, "{result:?}");
        }
    }

    #[test]
    fn nothing_lost_does_not_mean_that_nothing_ever_is() {
        let result = share_interval(0, 100).unwrap();
        assert!(result.low.abs() < 1e-12 && result.high > 0.03 && result.high < 0.04, "{result:?}");
        assert!(
            (1..100).all(
                |n| share_interval(n, n).unwrap().high <= 1.0 && share_interval(0, n).unwrap().low >= 0.0
            )
        );
    }

    #[test]
    fn what_cannot_be_a_share_is_none() {
        assert_eq!(share_interval(0, 0), None);
        assert_eq!(share_interval(2, 1), None);
    }
}
