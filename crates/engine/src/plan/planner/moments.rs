//! The moment decides what is measured: work that a neighbour changes goes to moments when the core is alone; when it is shared,
//! work that does not mind is done, and the few trials of each point that show what a neighbour costs.

use super::{Now, Phase, Planner, done};
use crate::plan::progress::Progress;
use crate::plan::step::{Moment, Step};
use std::time::Duration;

/// A preparation that is not repeated because the core was shared for some of its trials.
const KEPT_PREPARATION_S: f64 = 0.02;

/// The share of the run that may pass while nothing is measured because the core is shared.
const WAITING: f64 = 0.02;

/// The pause between two looks at a core that is shared.
const PAUSE: Duration = Duration::from_micros(500);

/// The longest time between two looks that counts as the state of the first, seconds: a long trial hides changes.
const LONGEST_STATE_S: f64 = 1.0;

/// The share of the time below which the core counts as never alone, or never shared.
const NEVER: f64 = 0.03;

/// The known states of the core so far.
#[derive(Debug, Default)]
pub(super) struct CoreStates {
    /// The last look: seconds from the start, and the state.
    last: Option<(f64, Moment)>,
    /// The time in which the core was alone and shared, seconds.
    alone: f64,
    shared: f64,
    /// The time spent waiting, seconds.
    waited: f64,
    /// Whether the last step was to wait.
    waiting: bool,
}

impl CoreStates {
    /// Takes in a look.
    pub(super) fn saw(&mut self, elapsed: f64, moment: Moment) {
        if let Some((at, before)) = self.last.replace((elapsed, moment)) {
            let passed = (elapsed - at).max(0.0);
            match before {
                Moment::Alone => self.alone += passed.min(LONGEST_STATE_S),
                Moment::Shared => self.shared += passed.min(LONGEST_STATE_S),
                Moment::Unknown => {}
            }
            self.waited += if std::mem::take(&mut self.waiting) { passed } else { 0.0 };
        }
    }

    /// Whether the core is shared at times, so that its second value is wanted.
    fn is_shared_at_times(&self) -> bool {
        self.shared > NEVER * (self.alone + self.shared)
    }

    /// Whether it is worth waiting for the core to be alone: it is so at times, and little time was spent on waiting.
    fn is_worth_waiting(&self, elapsed: f64) -> bool {
        self.alone > NEVER * (self.alone + self.shared) && self.waited < WAITING * elapsed
    }
}

impl Planner {
    /// The place in the queue of the visit that suits the moment; the first if none does and nothing is gained by waiting.
    /// `None` to wait.
    pub(super) fn suiting(&mut self, now: Now) -> Option<usize> {
        let place = match now.moment {
            Moment::Unknown => Some(0),
            Moment::Alone => {
                let minds = |parts: &Vec<usize>| parts.iter().any(|part| self.minds(*part, now));
                Some(self.queue.iter().position(minds).unwrap_or(0))
            }
            Moment::Shared => {
                let suits = |parts: &Vec<usize>| parts.iter().any(|part| self.suits(*part, now));
                self.queue.iter().position(suits)
            }
        };
        if place.is_none() && self.core_states.is_worth_waiting(now.elapsed) {
            return None;
        }
        Some(place.unwrap_or(0))
    }

    /// A pause until the next look.
    pub(super) fn wait(&mut self) -> Step {
        self.core_states.waiting = true;
        Step::Wait(PAUSE)
    }

    /// Whether a part's work is changed by a neighbour, as far as is known.
    fn minds(&self, part: usize, now: Now) -> bool {
        self.layout.parts[part].points.iter().any(|point| now.progress[*point].core.is_some())
    }

    /// Whether a trial of this part is wanted at this moment.
    fn suits(&self, part: usize, now: Now) -> bool {
        let (goal, precision) = (self.goals[part], self.settings.precision);
        let wanted = |progress: &Progress| match now.moment {
            Moment::Unknown => true,
            Moment::Alone => progress.wants_alone(goal, precision),
            Moment::Shared => progress.wants_shared(),
        };
        self.layout.parts[part].points.iter().any(|point| wanted(&now.progress[*point]))
    }

    /// Those of a visit's parts that suit the moment, and the others; all if its preparation is too costly to be repeated, or if
    /// none suits.
    pub(super) fn by_moment(&self, parts: Vec<usize>, now: Now) -> (Vec<usize>, Vec<usize>) {
        let block = self.layout.parts[parts[0]].block;
        let (suiting, others): (Vec<usize>, Vec<usize>) =
            parts.iter().partition(|part| self.suits(**part, now));
        if suiting.is_empty() || self.prices.preparation[block] > KEPT_PREPARATION_S {
            return (parts, vec![]);
        }
        (suiting, others)
    }

    /// Whether trials of this visit may be put back at the price of starting a process.
    pub(super) fn puts_back(&self, parts: &[usize]) -> bool {
        let block = self.layout.parts[parts[0]].block;
        self.prices.preparation[block] <= KEPT_PREPARATION_S
            && self.core_states.alone > NEVER * (self.core_states.alone + self.core_states.shared)
    }

    /// Points whose trials found the core shared come again later in the round.
    pub fn put_back(&mut self, points: &[usize]) {
        if self.phase == Phase::Pilot {
            return;
        }
        let mut parts: Vec<usize> = points.iter().map(|point| self.layout.part_of[*point]).collect();
        parts.dedup();
        if !parts.is_empty() {
            self.queue.push_back(parts);
        }
    }

    /// Whether a part that has its trials lacks some with the core shared, which a round is not begun for.
    pub(super) fn lacks_shared(&self, part: usize, now: Now) -> bool {
        let lacks = |point: &usize| {
            let progress = &now.progress[*point];
            progress.core.is_some() && progress.wants_shared() && !progress.is_given_up()
        };
        self.core_states.is_shared_at_times()
            && self.goals[part] > 0
            && done(&self.layout, part, now).is_some()
            && self.layout.parts[part].points.iter().any(lacks)
    }
}
