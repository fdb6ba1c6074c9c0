//! The share of a cost that follows the frequency of the core.

use crate::machine::Machine;
use crate::statistics::Interval;

/// The share of a cost that follows the frequency of the core, 0 to 1, as far as the kind of the operation gives it. What a core does
/// from its own caches takes a number of its cycles, whatever its frequency; what waits for anything beyond them takes time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoreShare(pub Interval);

impl CoreShare {
    /// Instructions that wait for nothing outside the core.
    pub const WHOLE: CoreShare = CoreShare(Interval { low: 1.0, high: 1.0 });

    /// Paths through the kernel, or through a core's second cache: a little may come from farther away.
    pub const NEARLY_WHOLE: CoreShare = CoreShare(Interval { low: 0.9, high: 1.0 });

    /// Loads and stores within an array of so many bytes: known if it fits into the nearest cache, or easily into a second one that
    /// the core has for itself.
    pub fn of_array(bytes: u64, machine: &Machine) -> Option<Self> {
        let cpu = machine.measured_cpu();
        if machine.data_cache_bytes(cpu, 1).is_some_and(|nearest| bytes <= nearest / 2) {
            return Some(Self::WHOLE);
        }
        let second = machine.data_cache(cpu, 2)?;
        let siblings = machine.smt_siblings(cpu);
        let sharers = second.instances.iter().find(|sharers| sharers.contains(cpu))?.as_slice();
        let is_own = sharers.iter().all(|other| *other == cpu || siblings.contains(other));
        (is_own && bytes <= second.size_bytes.value()? / 2).then_some(Self::NEARLY_WHOLE)
    }
}
