//! The trials of a run, and which of them count.

/// The report's trials in a run.
pub const TRIALS: usize = 1000;
/// The first trials, which the report discards.
const DISCARDED: usize = 10;

/// The values of a run's trials without the first ones and the outliers.
pub fn trials<E>(one: impl FnMut() -> Result<f64, E>) -> Result<Vec<f64>, E> {
    some_trials(TRIALS, one)
}

/// The same for a run with another number of trials.
pub fn some_trials<E>(count: usize, one: impl FnMut() -> Result<f64, E>) -> Result<Vec<f64>, E> {
    let all: Vec<f64> = std::iter::repeat_with(one).take(count).collect::<Result<_, _>>()?;
    Ok(trimmed(&all[DISCARDED..]))
}

/// The values that lie within three standard deviations of the mean of all.
fn trimmed(values: &[f64]) -> Vec<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    values.iter().copied().filter(|value| (value - mean).abs() <= 3.0 * deviation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_trials_are_discarded_and_outliers_trimmed() {
        let mut made = 0;
        let found = trials(|| {
            made += 1;
            // The first ten are cold, one later is disturbed.
            Ok::<_, ()>(if made <= 10 {
                900.0
            } else if made == 500 {
                1e6
            } else {
                100.0
            })
        });
        assert_eq!(made, TRIALS);
        assert_eq!(found, Ok(vec![100.0; 989]));
        assert_eq!(trimmed(&[1.0, 2.0]), [1.0, 2.0]);
    }
}
