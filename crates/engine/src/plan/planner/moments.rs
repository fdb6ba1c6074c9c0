//! The moment decides what is measured: work that a neighbour changes goes to moments when the core is alone; when it is shared,
//! work that does not mind is done, and the few trials of each point that show what a neighbour costs.

use super::{Now, Phase, Planner, done};
use crate::plan::jobs::Importance;
use crate::plan::progress::Progress;
use crate::plan::step::{CoreWanted, Moment, Step};
use fathom_core::statistics::MINIMUM_TRIALS;
use std::cmp::Reverse;
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
    waiting: bool,
}

impl CoreStates {
    /// Takes in a look.
    pub(super) fn saw(&mut self, elapsed: f64, moment: Moment) {
        if let Some((at, before)) = self.last.replace((elapsed, moment)) {
            let passed = (elapsed - at).max(0.0);
            let counted = passed.min(LONGEST_STATE_S);
            match before {
                Moment::Alone => self.alone += counted,
                Moment::Shared => self.shared += counted,
                Moment::Either => {
                    self.alone += counted / 2.0;
                    self.shared += counted / 2.0;
                }
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
    /// The place in the queue of the visit that suits the moment, and the state of the core that it wants; the first if none
    /// suits and nothing is gained by waiting. `None` to wait.
    pub(super) fn suiting(&self, now: Now) -> Option<(usize, CoreWanted)> {
        if now.moments.on_one == Moment::Unknown {
            return Some((0, CoreWanted::Any));
        }
        let place = |core: CoreWanted, is_suitable: &dyn Fn(usize) -> bool| {
            let suits = |part: &usize| self.may_be(*part, core, now) && is_suitable(*part);
            self.queue.iter().position(|parts| parts.iter().any(suits)).map(|place| (place, core))
        };
        // Where both states are to be had at once, the second value is not left behind.
        let lags = |part: usize| {
            self.may_be(part, CoreWanted::Alone, now)
                && self.progress_of(part, now).any(Progress::lags_shared)
        };
        let (alone, shared) = (CoreWanted::Alone, CoreWanted::Shared);
        place(shared, &lags)
            .or_else(|| self.first_alone(now).map(|place| (place, alone)))
            .or_else(|| place(alone, &|part| !self.awaits_shared(part, now)))
            .or_else(|| place(shared, &|part| self.suits(part, shared, now)))
            .or_else(|| {
                let is_awaited = now.moments.on_one != Moment::Alone;
                let waits = is_awaited && self.core_states.is_worth_waiting(now.elapsed);
                let is_ready = |parts: &Vec<usize>| !self.awaits_all_alone(parts, now);
                (!waits).then(|| (self.queue.iter().position(is_ready).unwrap_or(0), shared))
            })
    }

    /// The place of the visit for a core that is alone, of work that a neighbour changes: the first of those nearest to their value.
    fn first_alone(&self, now: Now) -> Option<usize> {
        let suits = |part: &usize| {
            let core = CoreWanted::Alone;
            self.may_be(*part, core, now) && self.minds(*part, now) && self.suits(*part, core, now)
        };
        let nearest = |parts: &Vec<usize>| {
            parts.iter().copied().filter(suits).map(|part| self.nearness_alone(part, now)).max()
        };
        let places = self.queue.iter().enumerate();
        let suiting = places.filter_map(|(place, parts)| Some((nearest(parts)?, Reverse(place))));
        suiting.max().map(|(_, Reverse(place))| place)
    }

    /// How near a part is to its value with the core alone: the main figures before the others, and then what takes the least time of such
    /// moments, which may be too rare for all. Some trials of each are no value of any, and a dear one takes the time of several.
    fn nearness_alone(&self, part: usize, now: Now) -> (bool, Reverse<Duration>) {
        let trials = self.progress_of(part, now).filter_map(Progress::alone).max();
        let is_main = self.layout.parts[part].importance == Importance::Main;
        let lacks = trials.map_or(Duration::MAX, |trials| {
            let missing = MINIMUM_TRIALS.saturating_sub(trials);
            Duration::from_secs_f64(self.prices.for_trials(missing, &self.layout, part, self.observe))
        });
        (is_main && trials.is_some(), Reverse(lacks))
    }

    /// The moment as the work of a part has it.
    fn moment_of(&self, part: usize, now: Now) -> Moment {
        let between_cores = self.layout.parts[part].between_cores;
        if between_cores { now.moments.between_two } else { now.moments.on_one }
    }

    /// Whether a trial of a part can be made now with its cores in this state.
    pub(super) fn may_be(&self, part: usize, core: CoreWanted, now: Now) -> bool {
        match (core, self.moment_of(part, now)) {
            (CoreWanted::Any, _) | (_, Moment::Either) => true,
            (CoreWanted::Alone, moment) => moment == Moment::Alone,
            (CoreWanted::Shared, moment) => moment == Moment::Shared,
        }
    }

    pub(super) fn wait(&mut self) -> Step {
        self.core_states.waiting = true;
        Step::Wait(PAUSE)
    }

    /// Whether a part's work is changed by a neighbour, as far as is known.
    fn minds(&self, part: usize, now: Now) -> bool {
        self.progress_of(part, now).any(|progress| progress.core.is_some())
    }

    pub(super) fn progress_of<'now>(
        &'now self,
        part: usize,
        now: Now<'now>,
    ) -> impl Iterator<Item = &'now Progress> {
        self.layout.parts[part].points.iter().map(move |point| &now.progress[*point])
    }

    /// Whether a trial of this part is wanted with the core in this state.
    fn suits(&self, part: usize, core: CoreWanted, now: Now) -> bool {
        let (goal, precision) = (self.goals[part], self.settings.precision);
        self.progress_of(part, now).any(|progress| match core {
            CoreWanted::Any => true,
            CoreWanted::Alone => progress.wants_alone(goal, precision),
            CoreWanted::Shared => progress.wants_shared(),
        })
    }

    /// Those of a visit's parts that are wanted with the core in this state, and the others; all if its preparation is too costly
    /// to be repeated, or if none is wanted.
    pub(super) fn by_core(&self, parts: Vec<usize>, core: CoreWanted, now: Now) -> (Vec<usize>, Vec<usize>) {
        let block = self.layout.parts[parts[0]].block;
        let (mut suiting, others): (Vec<usize>, Vec<usize>) =
            parts.iter().partition(|part| self.suits(**part, core, now));
        if suiting.is_empty() || self.prices.preparation[block] > KEPT_PREPARATION_S {
            return (parts, vec![]);
        }
        if core == CoreWanted::Alone {
            suiting.sort_by_key(|part| Reverse(self.nearness_alone(*part, now)));
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
