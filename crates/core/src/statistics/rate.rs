//! Rates are averaged as total work over total time.

/// The rate of all work: the sum of the works over the sum of the times of `(work, time)` pairs, in units of work per unit of
/// time. A mean of the single rates would give a slow stretch too little weight (Hoefler & Belli 2015, rule 3: costs are
/// summarised by their sum, and rates by the costs of which they are made).
///
/// `None` without pairs, if a number is negative or not finite, or if no time passed.
pub fn rate(pairs: &[(f64, f64)]) -> Option<f64> {
    let sound = |number: f64| number.is_finite() && number >= 0.0;
    if !pairs.iter().all(|&(work, time)| sound(work) && sound(time)) {
        return None;
    }
    let (work, time) =
        pairs.iter().fold((0.0, 0.0), |(all, passed), (work, time)| (all + work, passed + time));
    (time > 0.0 && f64::is_finite(work / time)).then_some(work / time)
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn slow_stretches_weigh_by_the_time_they_took() {
        // 100 bytes at 100 per second and 100 at 1 per second: not 50.5, but 200 bytes in 101 seconds.
        assert_eq!(rate(&[(100.0, 1.0), (100.0, 100.0)]), Some(200.0 / 101.0));
    }

    #[test]
    fn no_time_no_rate() {
        assert_eq!(rate(&[]), None);
        assert_eq!(rate(&[(1.0, 0.0)]), None);
        assert_eq!(rate(&[(1.0, -1.0), (1.0, 3.0)]), None);
        assert_eq!(rate(&[(f64::NAN, 1.0)]), None);
    }
}
