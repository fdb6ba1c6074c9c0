//! The number of trials.

/// The report's trials, unless it says otherwise.
pub const TRIALS: usize = 10;

/// The value of each trial.
pub fn trials<E>(one: impl FnMut() -> Result<f64, E>) -> Result<Vec<f64>, E> {
    std::iter::repeat_with(one).take(TRIALS).collect()
}
