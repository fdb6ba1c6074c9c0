//! What other work takes of a machine's CPUs while a run measures: the time that a loop loses which does nothing but read the clock.

use fathom_core::experiment::{Dimension, Found, Known, Parameter, Point};

/// The experiment whose figures are the other work itself.
pub(super) const EXPERIMENT: &str = "cpu/noise";

/// The share of its time that a loop loses at most on a machine that is idle otherwise: of timer ticks and their exits to a hypervisor it
/// is one or two in a hundred.
const MUCH: f64 = 0.1;

/// The CPU whose loop lost the greatest share of its time, with that share, if it is certainly more than an idle machine's.
pub fn most_lost(known: &Known) -> Option<(u64, Found)> {
    let cpu = Parameter::count("cpu", "the CPU that spins");
    let figure = Parameter::named("figure", "lost: share of time");
    let lost = Point::new().named(&figure, "lost");
    let lost = known.found_along(EXPERIMENT, &lost, &cpu).into_iter();
    let much = lost.filter(|(_, lost)| lost.ends().is_some_and(|(low, _)| low > MUCH * 1e6));
    much.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))
        .map(|(cpu, lost)| (cpu, Found { dimension: Dimension::Share, ..lost.scaled(1e-6) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted;
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::{Interval, Measured};

    #[test]
    fn a_loop_that_loses_much_of_its_time_tells_of_other_work_and_one_that_loses_its_ticks_does_not() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let cpu = Parameter::count("cpu", "the CPU that spins");
        let figure = Parameter::named("figure", "lost: share of time");
        let mut learn = |number, value, (low, high)| {
            let point = Point::new().with(&cpu, number).named(&figure, "lost");
            let lost = Measured { value, interval: Some(Interval { low, high }) };
            let lost = Found::measured(lost, Unit::PartsPerMillion);
            known.learn(EXPERIMENT, &point, lost);
            most_lost(&known).map(|(cpu, lost)| (cpu, (lost.value * 100.0).round()))
        };
        assert_eq!(learn(0, 11_744.0, (9_780.0, 19_800.0)), None, "its ticks");
        assert_eq!(learn(1, 300_000.0, (40_000.0, 500_000.0)), None, "not for certain");
        assert_eq!(learn(2, 414_637.0, (349_800.0, 503_600.0)), Some((2, 41.0)));
    }
}
