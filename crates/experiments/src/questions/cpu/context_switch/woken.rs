//! Waking an idle CPU: one value for every prediction that contains it.

use super::{NAME, across_cpus, on_one_cpu};
use crate::expected::virtual_exit;
use fathom_core::prelude::*;

/// Waking an idle CPU, nanoseconds: what this run's hand-over through a pipe takes across CPUs beyond one on one CPU. Before that is
/// known, of a virtual CPU a published figure, of another an assumed one.
pub fn idle_cpu(known: &Known) -> Basis {
    measured(known).unwrap_or_else(|| before_measuring(known))
}

/// What a term is called in which a CPU was idle for longer than between two hand-overs: the longer it was, the longer waking it may take.
pub fn as_in_hand_overs(what: &str) -> String {
    format!("{what}, as in hand-overs microseconds apart")
}

/// The source is the hand-over across CPUs, of which waking is nearly all.
fn measured(known: &Known) -> Option<Basis> {
    let across = known.measured(NAME, &across_cpus())?;
    let on_one = known.median(NAME, &on_one_cpu())?;
    (across.value > on_one).then_some(Basis { value: across.value - on_one, ..across })
}

/// The same without this run's hand-overs, for these.
pub fn before_measuring(known: &Known) -> Basis {
    if known.machine.is_virtual() {
        return virtual_exit::like(
            2_384.0 + 18_923.0,
            "Dall et al., ARM Virtualization: Performance and Architectural Implications, ISCA 2016, KVM on x86: 2 384 cycles for \
             an access to the interrupt controller and 18 923 until a signalled virtual machine runs",
            known,
        );
    }
    Basis::assumed(2_000.0, "order of an inter-processor interrupt and leaving a shallow sleep")
}

/// The time for which a hypervisor keeps a core waiting for an idle virtual CPU before it gives the core away, nanoseconds: KVM's default
/// on x86 (the Linux kernel's documentation, halt polling).
const POLLED_NS: u64 = 200_000;

/// Adds waking the host's own thread, if a virtual CPU under KVM has been idle for longer than its host waits.
pub fn after_idling(prediction: Prediction, idle_ns: u64, known: &Known) -> Prediction {
    let hypervisor = known.machine.virtualization.hypervisor.value().and_then(Option::as_deref);
    if hypervisor != Some("KVM") || idle_ns <= POLLED_NS {
        return prediction;
    }
    let polled = "the Linux kernel's documentation, halt polling: a host under KVM waits 200 µs for an idle virtual CPU, then its own \
                  thread sleeps; waking it is assumed to take some 10 µs";
    prediction.hardware(
        "the host's thread woken, which sleeps by then",
        1.0,
        Basis::assumed(10_000.0, polled),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::{Found, TermEvent, registry};
    use fathom_core::machine::{Fact, Machine};

    fn is_equal(one: f64, other: f64) -> bool {
        (one / other - 1.0).abs() < 1e-12
    }

    fn machine(hypervisor: Option<&str>) -> Machine {
        let mut machine = fathom_described::machine();
        machine.virtualization.hypervisor = Fact::known(hypervisor.map(str::to_owned), "a test");
        machine
    }

    /// The value of waking a CPU in the predictions of every experiment's points across CPUs, and of every sleeper's.
    fn wake_ups(known: &Known) -> Vec<f64> {
        let mut all = vec![];
        for name in [NAME, "cpu/wake_up"] {
            let method = registry::find(name).expect("an experiment");
            let points = method.sweep(known.machine);
            let predictions = points
                .iter()
                .filter(|point| **point != across_cpus())
                .filter_map(|point| method.predict(point, known).ok());
            let terms = predictions.flat_map(|prediction| prediction.terms);
            all.extend(terms.filter(|term| term.event == Some(TermEvent::WakeUp)).map(|term| term.each));
        }
        all
    }

    #[test]
    fn a_host_that_no_longer_waits_is_woken_as_well_and_hardware_has_none() {
        let longer = |hypervisor, idle_ns| {
            let machine = machine(hypervisor);
            after_idling(Prediction::new(), idle_ns, &Known::new(&machine, None)).total()
        };
        assert!(longer(Some("KVM"), 1_000_000) > longer(Some("KVM"), 100_000));
        assert!(longer(Some("KVM"), 100_000).abs() < f64::EPSILON);
        assert!(
            longer(None, 1_000_000).abs() < f64::EPSILON
                && longer(Some("Xen"), 1_000_000).abs() < f64::EPSILON
        );
    }

    #[test]
    fn waking_an_idle_cpu_is_predicted_as_one_value_before_and_after_it_was_measured() {
        crate::register();
        for hypervisor in [None, Some("KVM")] {
            let machine = machine(hypervisor);
            let mut known = Known::new(&machine, None);
            let before = before_measuring(&known).value;
            let all = wake_ups(&known);
            assert!(all.len() > 5 && all.iter().all(|each| is_equal(*each, before)), "{all:?}");
            for (point, ns) in [(on_one_cpu(), 1e3), (across_cpus(), 33e3)] {
                known.learn(NAME, &point, Found::exact(ns, Unit::Nanoseconds));
            }
            let all = wake_ups(&known);
            assert!(all.iter().all(|each| is_equal(*each, 32e3)), "{all:?}");
        }
    }
}
