//! How often an operation is repeated: as often as in the report, or less where the CPUIDs around it would take too long.

use crate::{Stage, timer};

/// Results that the report prints for each of its tests of the processor.
pub const RUNS: u64 = 10;

/// The time for all repetitions of one method, counting the clock readings alone, seconds.
const BUDGET_S: f64 = 12.0;
/// The same with `--quick`.
const QUICK_BUDGET_S: f64 = 1.2;
/// Pairs that are timed to learn how long one takes.
const TRIED: u32 = 200;

/// The number of repetitions in each average of a method.
pub struct Repetitions {
    /// Repetitions in each average.
    pub count: u64,
    theirs: u64,
}

impl Repetitions {
    /// `theirs` in each of `averages`, or as many as fit into the time: in a virtual machine both CPUIDs of a pair exit to the
    /// hypervisor, and the pair takes a hundred times as long as the difference of its readings.
    pub fn of(stage: &Stage, theirs: u64, averages: u64) -> Self {
        let budget = if stage.quick { QUICK_BUDGET_S } else { BUDGET_S };
        let most = (budget / pair_s() / averages as f64) as u64;
        Repetitions { count: theirs.min(most.max(1)), theirs }
    }

    /// A sentence where the count was reduced.
    pub fn said(&self) -> Vec<String> {
        if self.count == self.theirs {
            return vec![];
        }
        vec![format!(
            "Each average has {} repetitions instead of {}, because the two CPUIDs of each repetition take long on this machine.",
            self.count, self.theirs
        )]
    }
}

/// Seconds that a pair of readings takes, CPUIDs included.
fn pair_s() -> f64 {
    let began = std::time::Instant::now();
    for _ in 0..TRIED {
        std::hint::black_box(timer::paoloni(|| ()));
    }
    began.elapsed().as_secs_f64().max(1e-9) / f64::from(TRIED)
}
