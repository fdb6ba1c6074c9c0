//! The share of a cost that follows the frequency of the core.

use crate::machine::{ClockReading, Machine};
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

    /// A reading of the kernel's clock: known if its source is read by an instruction, and not from a device.
    pub fn of_kernel_clock(machine: &Machine) -> Option<Self> {
        let reading = machine.kernel.clock_reading()?;
        (reading != ClockReading::SystemCall).then_some(Self::NEARLY_WHOLE)
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Fact, described};

    #[test]
    fn arrays_within_the_cores_own_caches_follow_it_and_larger_ones_may_not() {
        let machine = described::machine();
        let bytes = |level| machine.data_cache_bytes(machine.measured_cpu(), level).expect("described");
        assert_eq!(CoreShare::of_array(bytes(1) / 2, &machine), Some(CoreShare::WHOLE));
        assert_eq!(CoreShare::of_array(bytes(2) / 2, &machine), Some(CoreShare::NEARLY_WHOLE));
        assert_eq!(CoreShare::of_array(bytes(2), &machine), None);
    }

    #[test]
    fn a_clock_that_is_a_device_does_not_follow_the_core() {
        let mut machine = described::machine();
        machine.kernel.clocksource = Fact::known("tsc".to_owned(), "described");
        assert_eq!(CoreShare::of_kernel_clock(&machine), Some(CoreShare::NEARLY_WHOLE));
        machine.kernel.clocksource = Fact::known("hpet".to_owned(), "described");
        assert_eq!(CoreShare::of_kernel_clock(&machine), None);
    }
}
