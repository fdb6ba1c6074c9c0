//! Peaks in a series of access times, and their distances.

/// Minimum number of peaks for a period.
const LEAST: usize = 3;

/// The indices of the accesses that took at least `least`.
pub fn of(times: &[f64], least: f64) -> Vec<usize> {
    let is_peak = |(_, time): &(usize, &f64)| **time >= least;
    times.iter().enumerate().filter(is_peak).map(|(place, _)| place).collect()
}

/// The median distance from a peak to the next; `None` if there are too few.
pub fn period(peaks: &[usize]) -> Option<f64> {
    let mut distances: Vec<usize> = peaks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_unstable();
    (peaks.len() >= LEAST).then(|| distances[distances.len() / 2] as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accesses of 50 to 80 ns, of which every `every`th takes `peak`.
    fn series(every: usize, peak: f64) -> Vec<f64> {
        (0..512).map(|place| if place % every == 5 { peak } else { 50.0 + (place * 7 % 31) as f64 }).collect()
    }

    #[test]
    fn the_period_that_was_put_in_is_found() {
        for every in [8, 16, 64] {
            assert_eq!(period(&of(&series(every, 900.0), 400.0)), Some(every as f64));
        }
    }

    #[test]
    fn a_disturbance_and_a_longer_wait_do_not_move_it() {
        let mut times = series(16, 900.0);
        times[100] = 20_000.0;
        times[21] = 150_000.0;
        assert_eq!(period(&of(&times, 400.0)), Some(16.0));
    }

    #[test]
    fn a_series_without_peaks_has_no_period() {
        assert_eq!(period(&of(&series(600, 900.0), 400.0)), None);
        assert_eq!(period(&of(&[900.0; 512], 400.0)), Some(1.0), "every access is a fault");
        assert_eq!(period(&of(&[], 400.0)), None);
    }
}
