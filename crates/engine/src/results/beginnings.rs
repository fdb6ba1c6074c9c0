//! How long work that wakes another CPU, or sleeps, takes to become steady, and what it costs at first.

use crate::record::{Run, Trial};
use fathom_core::sampling::Beginning;
use fathom_core::statistics::{self, Estimate};
use std::collections::BTreeMap;

/// The beginnings of an experiment's work, over the processes in which it began.
#[derive(Debug, Clone, PartialEq)]
pub struct Beginnings {
    /// The experiment.
    pub experiment: String,
    /// How long its cost was not steady, nanoseconds, to within a window of 2.5 ms.
    pub lasted_ns: Estimate,
    /// What an operation cost in the first window, as a multiple of its steady cost; `None` if the run file does not have it.
    pub first_cost: Option<Estimate>,
}

impl Beginnings {
    /// Of every experiment with work that has a beginning, by name. Only the first work of a process counts: later work finds
    /// the CPUs as the first has left them.
    pub fn of(run: &Run) -> Vec<Self> {
        let mut by_experiment = BTreeMap::<&str, Vec<&Beginning>>::new();
        for trial in run.trials.iter().filter(|trial| is_first(trial)) {
            let beginning = trial.sample().and_then(|sample| sample.beginning.as_ref());
            if let Some(beginning) = beginning {
                by_experiment.entry(&trial.experiment).or_default().push(beginning);
            }
        }
        by_experiment.into_iter().filter_map(|(name, all)| Beginnings::over(name, &all)).collect()
    }

    fn over(experiment: &str, processes: &[&Beginning]) -> Option<Self> {
        let each = |part: fn(&Beginning) -> Option<f64>| -> Option<Estimate> {
            let values: Vec<[f64; 1]> =
                processes.iter().filter_map(|beginning| Some([part(beginning)?])).collect();
            statistics::estimate(&values).map(not_below_zero)
        };
        Some(Beginnings {
            experiment: experiment.to_owned(),
            lasted_ns: each(|beginning| Some(beginning.lasted_ns))?,
            first_cost: each(|beginning| beginning.first_cost),
        })
    }
}

/// Neither a time nor a cost is below zero: what an interval from few processes holds below it cannot be.
fn not_below_zero(mut estimate: Estimate) -> Estimate {
    if let Some(ends) = &mut estimate.interval {
        ends.low = ends.low.max(0.0);
    }
    estimate
}

/// Whether a trial is the first of its process.
fn is_first(trial: &Trial) -> bool {
    trial.block.as_ref().is_none_or(|block| block.place == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::BlockVisit;
    use crate::results::planted;
    use fathom_core::sampling::Sample;

    fn trial(place: u32, lasted_ns: f64, first_cost: Option<f64>) -> Trial {
        let beginning = Some(Beginning { lasted_ns, repeated_ns: 1e8, first_cost });
        let block = BlockVisit { process: 1, place, shared_s: 0.0 };
        planted::trial("cpu/wake_up", 0.1, block, Sample { beginning, ..Sample::default() })
    }

    #[test]
    fn the_first_work_of_each_process_counts_and_what_is_not_recorded_has_no_cost() {
        let all = [trial(1, 4e7, None), trial(2, 0.0, Some(0.5)), trial(1, 6e7, None), trial(1, 5e7, None)];
        let processes: Vec<&Beginning> = all
            .iter()
            .filter(|trial| is_first(trial))
            .filter_map(|trial| trial.sample()?.beginning.as_ref())
            .collect();
        let found = Beginnings::over("cpu/wake_up", &processes).unwrap();
        assert!((found.lasted_ns.value - 5e7).abs() < 1.0 && found.first_cost.is_none());
        let found = Beginnings::over("cpu/wake_up", &[&Beginning { first_cost: Some(0.8), ..*processes[0] }]);
        assert!((found.unwrap().first_cost.unwrap().value - 0.8).abs() < 1e-12);
    }

    #[test]
    fn a_beginning_lasts_no_time_below_zero_however_far_few_processes_scatter() {
        let lasted = [0.0, 0.0, 2.5e6, 4e6].map(|lasted_ns| Beginning { lasted_ns, ..Beginning::default() });
        let raw = statistics::estimate(&lasted.map(|beginning| [beginning.lasted_ns])).unwrap();
        assert!(raw.interval.unwrap().low < 0.0, "the case: {raw:?}");
        let ends = Beginnings::over("cpu/wake_up", &lasted.each_ref()).unwrap().lasted_ns.interval.unwrap();
        assert!(ends.low.abs() < 1e-12 && ends.high > 4e6, "{ends:?}");
    }
}
