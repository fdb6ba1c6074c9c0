//! Known truths for the statistics: simulated samples whose median, difference, slope and modes are known, and which the
//! intervals must hold 93 to 97 times in 100.
//!
//! An optimised build runs all cases, each simulated 2000 times at least, so that chance moves what is found by half of one in
//! 100. A build without optimisation runs as many as fit in seconds, with 1000 repetitions and the same limits. To see the tables:
//! `cargo test --release --test statistics -- --nocapture`.

mod covariate;
mod differences;
mod levels;
mod lines;
mod medians;
mod modes;
mod sequential;
mod shared_hosts;

/// How often each simulation is repeated.
const REPETITIONS: usize = if cfg!(debug_assertions) { 1000 } else { 2000 };

/// How many times in 100 something happens.
fn percentage(mut happens: impl FnMut() -> bool) -> f64 {
    100.0 * (0..REPETITIONS).filter(|_| happens()).count() as f64 / REPETITIONS as f64
}

/// Whether a 95 % interval holds the truth as often as it says.
fn held(percentage: f64) -> bool {
    (93.0..=97.0).contains(&percentage)
}
