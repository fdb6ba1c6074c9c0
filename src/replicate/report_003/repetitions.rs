//! How often something is repeated: as often as they did, where the pair of clock readings around it lets us.

use crate::replicate::{Stage, timer};

/// Results that the report prints of each of its tests of the processor.
pub const RUNS: u64 = 10;

/// What all repetitions of one method may take together in clock readings alone, seconds.
const BUDGET_S: f64 = 12.0;
/// The same where it should be quick.
const QUICK_BUDGET_S: f64 = 1.2;
/// Pairs that are timed to know what one takes.
const TRIED: u32 = 200;

/// How often each of several averages is taken over.
pub struct Repetitions {
    /// Repetitions of each average.
    pub count: u64,
    theirs: u64,
}

impl Repetitions {
    /// `theirs` in each of `averages`, or as many as can be paid: in a virtual machine a pair leaves for the hypervisor twice,
    /// and takes a hundred times as long as it says.
    pub fn of(stage: &Stage, theirs: u64, averages: u64) -> Self {
        let budget = if stage.quick { QUICK_BUDGET_S } else { BUDGET_S };
        let most = (budget / pair_s() / averages as f64) as u64;
        Repetitions { count: theirs.min(most.max(1)), theirs }
    }

    /// What there is to say of it.
    pub fn said(&self) -> Vec<String> {
        if self.count == self.theirs {
            return vec![];
        }
        vec![format!(
            "{} repetitions in an average instead of {}: the two CPUIDs of each make it long here",
            self.count, self.theirs
        )]
    }
}

/// Seconds that a pair of readings takes altogether, CPUIDs included.
fn pair_s() -> f64 {
    let began = std::time::Instant::now();
    for _ in 0..TRIED {
        std::hint::black_box(timer::paoloni(|| ()));
    }
    began.elapsed().as_secs_f64().max(1e-9) / f64::from(TRIED)
}
