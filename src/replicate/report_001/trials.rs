//! How often they measured.

/// Their trials where nothing else is said.
pub const TRIALS: usize = 10;

/// What each of the trials finds.
pub fn trials<E>(one: impl FnMut() -> Result<f64, E>) -> Result<Vec<f64>, E> {
    std::iter::repeat_with(one).take(TRIALS).collect()
}
