//! How long a trial of short work waits for its core to be alone.

use super::environment::Pace;
use super::run_in_progress::RunInProgress;
use crate::plan::{CoreWanted, Visit};
use fathom_core::sampling::CoreWait;
use fathom_core::statistics::Levels;

/// The longest time that a trial of short work waits for its core to be alone before it is put back, nanoseconds: less than
/// starting another one takes.
const CORE_WAIT_NS: u64 = 2_000_000;

/// The same for a trial that is not put back: the time slice that hosts give a guest (some ten milliseconds).
const LONG_CORE_WAIT_NS: u64 = 20_000_000;

/// How often in a row a point's trials may be put back.
const MOST_PUT_BACK: u32 = 3;

impl RunInProgress {
    /// The greatest quotient of the core alone; `None` while the states of the core cannot be told apart.
    pub(super) fn alone_up_to(&self) -> Option<f64> {
        self.core_levels.as_ref().and_then(Levels::alone_up_to)
    }

    /// The duration of observation of a visit's trials, and the longest wait of short work for its core to be alone.
    pub(super) fn pace_of(&self, visit: &Visit) -> Pace {
        let most_ns = if visit.puts_back { CORE_WAIT_NS } else { LONG_CORE_WAIT_NS };
        let wait = |alone_up_to| CoreWait { alone_up_to, most_ns, puts_back: visit.puts_back };
        Pace {
            observe: visit.observe,
            core_wait: self.alone_up_to().filter(|_| visit.core == CoreWanted::Alone).map(wait),
        }
    }

    /// The demand of a trial of these points that its core be alone: after some trials in vain it is made as the core is.
    pub(super) fn core_wait(&self, points: &[usize]) -> Option<CoreWait> {
        let often = points.iter().any(|point| self.put_back[*point] >= MOST_PUT_BACK);
        self.pace.core_wait.map(|wait| CoreWait { puts_back: wait.puts_back && !often, ..wait })
    }
}
