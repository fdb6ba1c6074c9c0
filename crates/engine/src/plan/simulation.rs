//! A run simulated on a machine with known costs: the forecast of a run that has not begun, and the planner's test against
//! machines that do not exist.

use super::planner::Planner;
use super::progress::Progress;
use super::settlement::Settlement;
use super::step::{Moment, Step, Visit};
use crate::results::CoreTrials;
use fathom_core::statistics::MINIMUM_TRIALS;
use std::time::Duration;

/// The durations of a visit.
#[derive(Debug, Clone, PartialEq)]
pub struct VisitTimes {
    /// The time that belongs to none of its points.
    pub preparation: Duration,
    /// The own time of each point, in the order of the visit.
    pub points: Vec<(usize, Duration)>,
    /// Points that were put back because the core was shared; the time lost with them is that of the preparation.
    pub put_back: Vec<usize>,
}

impl VisitTimes {
    /// The duration of the whole visit.
    pub fn total(&self) -> Duration {
        self.preparation + self.points.iter().map(|(_, took)| *took).sum::<Duration>()
    }

    /// Without the points that had not begun when the limit was reached, of which the first always begins; and the point in
    /// whose trial the visit was ended, with the time lost.
    fn cut(mut self, visit: &Visit) -> (Self, Option<(usize, Duration)>) {
        let (mut elapsed, mut reached, mut ended) = (self.preparation, 0, None);
        while reached < self.points.len() && (reached == 0 || elapsed < visit.limit) {
            let (point, took) = self.points[reached];
            if elapsed + took > visit.end {
                self.preparation = self.preparation.min(visit.end);
                ended = Some((point, visit.end.saturating_sub(elapsed)));
                break;
            }
            elapsed += took;
            reached += 1;
        }
        self.points.truncate(reached);
        (self, ended)
    }
}

/// A simulated machine.
pub trait Simulated {
    /// The durations of a visit that begins `elapsed` after the run did.
    fn spend(&mut self, visit: &Visit, elapsed: Duration) -> VisitTimes;

    /// The state of the core `elapsed` after the run began: known where the machine has a neighbour.
    fn moment(&mut self, _elapsed: Duration) -> Moment {
        Moment::Unknown
    }

    /// The trials of a point by the state of the core; `None` for work that does not mind.
    fn core_trials(&self, _point: usize) -> Option<CoreTrials> {
        None
    }

    /// How far the farther end of a point's interval is from its value, as a share of it, after this number of trials, six at least.
    fn reach(&self, point: usize, trials: usize) -> f64;
}

/// Runs a planner on a simulated machine until its end, or until `observer` ends it: it receives every step before it is done,
/// with the time and the progress of the points.
pub fn simulate(
    planner: &mut Planner,
    machine: &mut dyn Simulated,
    progress: &mut [Progress],
    observer: &mut dyn FnMut(&Step, Duration, &[Progress]) -> bool,
) {
    let mut elapsed = Duration::ZERO;
    loop {
        let step = planner.next(elapsed, machine.moment(elapsed), progress);
        let enough = observer(&step, elapsed, progress);
        match step {
            Step::Visit(visit) if !enough => {
                let (times, ended) = machine.spend(&visit, elapsed).cut(&visit);
                elapsed += times.total();
                if !times.points.is_empty() {
                    planner.visited(visit.block, times.preparation, &times.points);
                }
                if let Some((point, lost)) = ended {
                    elapsed += lost;
                    let prepared = if times.points.is_empty() { times.preparation } else { Duration::ZERO };
                    planner.ended(point, prepared + lost);
                }
                for (point, _) in &times.points {
                    progress[*point].core = machine.core_trials(*point);
                    let width = |trials| machine.reach(*point, trials);
                    observe(&mut progress[*point], width, planner.precision());
                }
                planner.put_back(&times.put_back);
            }
            Step::Wait(pause) if !enough => elapsed += pause,
            Step::Settle(_) if !enough => {}
            _ => return,
        }
    }
}

/// Intervals of simulated machines narrow with the square root of the number of trials.
fn observe(progress: &mut Progress, reach: impl Fn(usize) -> f64, precision: f64) {
    progress.trials += 1;
    progress.observed += 1;
    let counted = progress.counted();
    progress.look((counted >= MINIMUM_TRIALS).then(|| reach(counted)), precision);
    progress.further = progress.reach.map(|reach| {
        let times = ((reach / precision).powi(2) - 1.0).max(0.0);
        (counted as f64 * times).ceil() as usize
    });
}

/// The settlement on a machine with these costs; `None` if the run ends before.
pub fn forecast(
    planner: &mut Planner,
    machine: &mut dyn Simulated,
    progress: &mut [Progress],
) -> Option<Settlement> {
    let mut result = None;
    simulate(planner, machine, progress, &mut |step, _, _| {
        if let Step::Settle(settlement) = step {
            result = Some(settlement.clone());
        }
        result.is_some()
    });
    result
}
