//! The step in which the clock's counter advances, as all recorded durations show it: two readings in a row are apart by a reading's own
//! duration at least, which may be several steps.

use crate::record::Run;
use fathom_core::sampling::Observations;

/// The step that nearly all recorded durations are whole multiples of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CounterStep {
    /// Ticks of a step.
    pub ticks: u64,
    /// The share of the durations that are whole multiples of it, 0 to 1.
    pub share: f64,
    /// How many durations were looked at.
    pub durations: usize,
}

/// Durations looked at of each trial: those of a long one are many, and alike.
const OF_EACH: usize = 50;
/// The fewest durations that show a step.
const FEWEST: usize = 200;
/// The share that must be whole multiples: some counters also stop between two steps at times.
const LEAST_SHARE: f64 = 0.99;
/// The longest step looked for, ticks.
const LONGEST: i64 = 1 << 14;

impl CounterStep {
    /// Of the durations of a run in ticks; `None` of too few, or if they are multiples of a tick alone.
    pub fn of(run: &Run) -> Option<Self> {
        let of_trial = |observations: &Observations| match observations {
            Observations::Ticks { operation, .. } => operation.iter().copied().take(OF_EACH).collect(),
            Observations::Values { .. } => vec![],
        };
        let samples = run.trials.iter().filter_map(|trial| trial.sample());
        let durations: Vec<i64> = samples.flat_map(|sample| of_trial(&sample.observations)).collect();
        common(&durations)
    }
}

/// The greatest step of which nearly all are whole multiples, above a tick.
fn common(durations: &[i64]) -> Option<CounterStep> {
    let mut above: Vec<i64> = durations.iter().copied().filter(|duration| *duration > 0).collect();
    above.sort_unstable();
    let all = above.len();
    let allowed = (all as f64 * (1.0 - LEAST_SHARE)) as usize;
    // The shortest that must be a multiple is no shorter than the step.
    let longest = (*above.get(allowed)?).min(LONGEST);
    let off = |step: i64| above.iter().filter(|duration| *duration % step != 0).take(allowed + 1).count();
    let ticks = (2..=longest).rev().find(|step| off(*step) <= allowed).filter(|_| all >= FEWEST)?;
    let share = 1.0 - off(ticks) as f64 / all as f64;
    Some(CounterStep { ticks: ticks.unsigned_abs(), share, durations: all })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Durations of so many steps of 26 ticks each, two at least as a reading takes that long.
    fn of_steps(steps: impl Iterator<Item = i64>) -> Vec<i64> {
        steps.map(|steps| 26 * steps).collect()
    }

    #[test]
    fn the_step_is_what_all_durations_are_multiples_of_and_not_the_shortest() {
        let found = common(&of_steps((0..300).map(|count| 2 + count % 7))).expect("a step");
        assert_eq!((found.ticks, found.durations), (26, 300));
        assert!((found.share - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_few_durations_between_steps_do_not_hide_it() {
        let mut durations = of_steps((0..398).map(|count| 2 + count % 7));
        durations.extend([13, 65]);
        let found = common(&durations).expect("a step");
        assert_eq!(found.ticks, 26);
        assert!((found.share - 0.995).abs() < 1e-12);
        durations.extend([53, 79, 105, 131]);
        assert_ne!(common(&durations).map(|found| found.ticks), Some(26), "too many");
    }

    #[test]
    fn a_counter_that_advances_by_ticks_or_has_few_durations_shows_no_step() {
        assert_eq!(common(&(100..400).collect::<Vec<_>>()), None);
        assert_eq!(common(&of_steps(2..100)), None, "few");
        assert_eq!(common(&[]), None);
    }
}
