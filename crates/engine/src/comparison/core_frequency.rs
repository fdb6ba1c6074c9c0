//! The frequency of the core during a run: of each trial, and over the whole of the run.
//!
//! A core changes its frequency with its load, its heat and what its neighbours do, by steps of some per cent that last seconds to
//! minutes. Every trial times a chain of dependent additions beside its observations, which shows it.

use crate::record::Run;
use crate::results;
use fathom_core::experiment::Point;
use fathom_core::statistics::{self, LogLevel};
use std::collections::BTreeMap;

/// The frequency of the core in the trials of each point, hertz, with their rounds.
pub(super) type FrequenciesByPoint<'a> = BTreeMap<(&'a str, &'a Point), Vec<(u32, f64)>>;

/// The parts of equal length into which a run is divided, to see how much its frequency varies in time.
const PARTS: usize = 8;

/// The least error of a logarithm of the frequency over a run: the clock's own frequency is not known better.
const LEAST_ERROR: f64 = 0.0005;

/// The frequency in each trial that observed it.
pub(super) fn by_point(run: &Run) -> FrequenciesByPoint<'_> {
    let mut frequencies = FrequenciesByPoint::new();
    for trial in &run.trials {
        if let Some(hz) = results::core_hz_of(&run.header, trial) {
            let place = frequencies.entry((trial.experiment.as_str(), &trial.point)).or_default();
            place.push((trial.round, hz));
        }
    }
    frequencies
}

/// The logarithm of the frequency over the run, with the error of a mean of its parts; `None` where too few of these observed it.
pub(super) fn over(run: &Run) -> Option<LogLevel> {
    let observed: Vec<(f64, f64)> = run
        .trials
        .iter()
        .filter_map(|trial| Some((trial.began_s, results::core_hz_of(&run.header, trial)?.ln())))
        .collect();
    let end = observed.iter().map(|(at, _)| *at).fold(f64::MIN_POSITIVE, f64::max);
    let mut parts: Vec<Vec<f64>> = vec![vec![]; PARTS];
    for (at, log) in observed {
        parts[((at / end * PARTS as f64) as usize).min(PARTS - 1)].push(log);
    }
    let means: Vec<f64> = parts.iter().filter_map(|part| Some(statistics::mean(part)?.value)).collect();
    let mean = statistics::mean(&means).filter(|_| means.len() >= statistics::MINIMUM_TRIALS)?;
    let error = (mean.deviation? / (means.len() as f64).sqrt()).max(LEAST_ERROR);
    Some(LogLevel { value: mean.value, below: error, above: error, freedom: means.len() as f64 - 1.0 })
}
