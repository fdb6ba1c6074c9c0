//! A run simulated on a machine with known costs: the forecast of a run that has not begun, and the planner's test against
//! machines that do not exist.

use super::planner::Planner;
use super::progress::Progress;
use super::settlement::Settlement;
use super::step::{Step, Visit};
use fathom_core::statistics::MINIMUM_TRIALS;
use std::time::Duration;

/// The durations of a visit.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// The time that belongs to none of its points.
    pub preparation: Duration,
    /// The own time of each point, in the order of the visit.
    pub points: Vec<(usize, Duration)>,
}

impl Spent {
    /// The duration of the whole visit.
    pub fn total(&self) -> Duration {
        self.preparation + self.points.iter().map(|(_, took)| *took).sum::<Duration>()
    }

    /// Without the points that had not begun when the limit was reached, of which the first always begins; and the point in
    /// whose trial the visit was ended, with the time lost.
    fn cut(mut self, visit: &Visit) -> (Self, Option<(usize, Duration)>) {
        let (mut taken, mut reached, mut ended) = (self.preparation, 0, None);
        while reached < self.points.len() && (reached == 0 || taken < visit.limit) {
            let (point, took) = self.points[reached];
            if taken + took > visit.end {
                self.preparation = self.preparation.min(visit.end);
                ended = Some((point, visit.end.saturating_sub(taken)));
                break;
            }
            taken += took;
            reached += 1;
        }
        self.points.truncate(reached);
        (self, ended)
    }
}

/// A simulated machine.
pub trait Simulated {
    /// The durations of a visit that begins `elapsed` after the run did.
    fn spend(&mut self, visit: &Visit, elapsed: Duration) -> Spent;

    /// The relative half-width of a point's interval after this number of trials, six at least.
    fn half_width(&self, point: usize, trials: usize) -> f64;
}

/// Runs a planner on a simulated machine until its end, or until `seen` ends it: it receives every step before it is done,
/// with the time and the progress of the points.
pub fn simulate(
    planner: &mut Planner,
    machine: &mut dyn Simulated,
    progress: &mut [Progress],
    seen: &mut dyn FnMut(&Step, Duration, &[Progress]) -> bool,
) {
    let mut elapsed = Duration::ZERO;
    loop {
        let step = planner.next(elapsed, progress);
        let enough = seen(&step, elapsed, progress);
        match step {
            Step::Visit(visit) if !enough => {
                let (spent, ended) = machine.spend(&visit, elapsed).cut(&visit);
                elapsed += spent.total();
                if !spent.points.is_empty() {
                    planner.visited(visit.block, spent.preparation, &spent.points);
                }
                if let Some((point, lost)) = ended {
                    elapsed += lost;
                    let prepared = if spent.points.is_empty() { spent.preparation } else { Duration::ZERO };
                    planner.ended(point, prepared + lost);
                }
                for (point, _) in &spent.points {
                    let width = |trials| machine.half_width(*point, trials);
                    observe(&mut progress[*point], width, planner.precision());
                }
            }
            Step::Settle(_) if !enough => {}
            _ => return,
        }
    }
}

/// Intervals of simulated machines narrow with the square root of the number of trials.
fn observe(progress: &mut Progress, half_width: impl Fn(usize) -> f64, precision: f64) {
    progress.trials += 1;
    progress.observed += 1;
    progress.half_width = (progress.observed >= MINIMUM_TRIALS).then(|| half_width(progress.observed));
    progress.further = progress.half_width.map(|half_width| {
        let times = ((half_width / precision).powi(2) - 1.0).max(0.0);
        (progress.observed as f64 * times).ceil() as usize
    });
}

/// The settlement on a machine with these costs; `None` if the run ends before.
pub fn forecast(
    planner: &mut Planner,
    machine: &mut dyn Simulated,
    progress: &mut [Progress],
) -> Option<Settlement> {
    let mut found = None;
    simulate(planner, machine, progress, &mut |step, _, _| {
        if let Step::Settle(settlement) = step {
            found = Some(settlement.clone());
        }
        found.is_some()
    });
    found
}
