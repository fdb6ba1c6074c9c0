//! Predicted cost of entering and leaving the kernel, before any measurement: a procedure call and two mode switches (reports 000
//! and 001), and the cost that mitigations add to each.

use fathom_core::prelude::*;

const SWITCH: &str = "report 000: a mode switch takes some 100 cycles (79 to enter and 71 to leave on Nehalem: Soares and Stumm, \
                      OSDI 2010)";
const ISOLATION: &str = "the kernel's Documentation/arch/x86/pti.rst: a change of CR3 takes some hundred cycles, at every entry \
                         and exit";

const MISPREDICTED: &str = "AMD, Software Optimization Guides for the Zen 3 and Zen 4 Microarchitectures (56665, 57647): a branch that was \
                            predicted wrongly costs 13 cycles as a rule, 11 to 18 at all";

/// The returns from functions in the kernel, by its sources, on the way in and out, and for an id under RCU.
const RETURNS: [f64; 2] = [4.0, 6.0];

/// Core cycles of the kernel's code between two returns, order of magnitude (assumed).
pub const CYCLES_A_RETURN: f64 = 40.0;

/// A system call that does next to nothing, such as to read an id.
pub fn predicted(known: &Known) -> Prediction {
    unpredicted_returns(predicted_alone(known), RETURNS[1], known)
}

/// Entering the kernel and leaving it, without a service.
pub fn predicted_alone(known: &Known) -> Prediction {
    let call = "a call and a return, one every second cycle (Fog, Instruction tables, 2022)";
    let prediction = Prediction::new()
        .software("a procedure call", 1.0, known.cycles(4.0, call))
        .hardware("mode switches, in and out", 2.0, known.cycles(100.0, SWITCH))
        .being(TermEvent::KernelEntry);
    let prediction = unpredicted_returns(prediction, RETURNS[0], known);
    if known.machine.kernel.page_table_isolation.value() == Some(&true) {
        return prediction.hardware(
            "changes of the address space, for page-table isolation",
            2.0,
            known.cycles(100.0, ISOLATION),
        );
    }
    prediction
}

/// Adds so many entries into the kernel, each with its way out, as `measured`, else as predicted: the mode switches, with the changes of
/// the address space that page-table isolation adds, are the processor's, and what an entry takes beyond them is the kernel's own code
/// around them.
pub fn entering(
    prediction: Prediction,
    (what, times): (&str, f64),
    measured: Option<Basis>,
    known: &Known,
) -> Prediction {
    let switches = predicted_alone(known).part(Part::Hardware).unwrap_or_default();
    prediction
        .software(what, times, measured_or_predicted(measured, known))
        .of_which_hardware(switches)
        .being(TermEvent::KernelEntry)
}

/// Adds what a number of returns from the kernel's functions take more where they are kept from being predicted: Safe RET has each
/// predicted wrongly (the kernel's Documentation/admin-guide/hw-vuln/srso.rst).
pub fn unpredicted_returns(prediction: Prediction, returns: f64, known: &Known) -> Prediction {
    let mitigations = known.machine.mitigations();
    if !mitigations.get("spec_rstack_overflow").is_some_and(|in_force| in_force.contains("Safe RET")) {
        return prediction;
    }
    let what = "returns in the kernel, each predicted wrongly (the mitigation Safe RET)";
    prediction.software(what, returns, known.cycles(13.0, MISPREDICTED))
}

/// Entering and leaving without a service as one value, for other predictions: as measured in this run, else predicted. They add
/// the returns of their own work ([`unpredicted_returns`]).
pub fn measured_or_predicted(measured: Option<Basis>, known: &Known) -> Basis {
    measured.unwrap_or_else(|| Basis::published(predicted_alone(known).total(), SWITCH))
}

/// Cycles of an entry into the kernel that no core takes fewer than.
const LEAST_CYCLES: f64 = 40.0;

/// The bound of so many entries into the kernel; `what_enters` says by its words what makes each, such as `every call enters`.
pub fn bound(entries: f64, what_enters: &str, known: &Known) -> Bound {
    let because = format!("{what_enters} the kernel, which takes some forty cycles on every core");
    Bound::of(LEAST_CYCLES * entries * known.shortest_cycle(), because)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::Fact;

    #[test]
    fn returns_that_are_kept_from_being_predicted_are_part_of_entering_the_kernel() {
        let cycles = |sentence: &str| {
            let mut machine = fathom_described::machine();
            let sentences = [("spec_rstack_overflow".to_owned(), sentence.to_owned())];
            machine.kernel.mitigations = Fact::known(sentences.into(), "a test");
            predicted(&Known::new(&machine, Some(1e9))).total()
        };
        let without = cycles("Not affected");
        assert!((cycles("Mitigation: Safe RET") - without - 130.0).abs() < 1e-9, "ten of 13 cycles");
        assert!((cycles("Vulnerable: Safe RET, no microcode") - without - 130.0).abs() < 1e-9);
        assert!((cycles("Vulnerable") - without).abs() < 1e-9);
    }

    #[test]
    fn an_entry_is_the_processor_s_up_to_its_mode_switches_and_the_kernel_s_beyond() {
        let parts = |isolated: bool, ns: f64| {
            let mut machine = fathom_described::machine();
            machine.kernel.page_table_isolation = Fact::known(isolated, "a test");
            let known = Known::new(&machine, Some(1e9));
            let measured = Basis::measured(ns, "cpu/system_call", Point::new());
            let prediction =
                entering(Prediction::new(), ("entering the kernel", 3.0), Some(measured), &known);
            assert!((prediction.total() - 3.0 * ns).abs() < 1e-9, "{}", prediction.total());
            [Part::Hardware, Part::Software].map(|part| prediction.part(part).unwrap_or_default())
        };
        let is = |[hardware, software]: [f64; 2], expected: [f64; 2]| {
            assert!((hardware - expected[0]).abs() < 1e-9, "{hardware}, {software}");
            assert!((software - expected[1]).abs() < 1e-9, "{hardware}, {software}");
        };
        is(parts(false, 350.0), [600.0, 450.0]);
        is(parts(true, 500.0), [1200.0, 300.0]);
        is(parts(false, 150.0), [450.0, 0.0]);
    }

    #[test]
    fn an_entry_in_other_predictions_has_its_own_returns_only() {
        let mut machine = fathom_described::machine();
        let sentences = [("spec_rstack_overflow".to_owned(), "Mitigation: Safe RET".to_owned())];
        machine.kernel.mitigations = Fact::known(sentences.into(), "a test");
        let known = Known::new(&machine, Some(1e9));
        let entry = measured_or_predicted(None, &known).value;
        assert!((entry - predicted_alone(&known).total()).abs() < 1e-9);
        assert!(
            (predicted(&known).total() - entry - 6.0 * 13.0).abs() < 1e-9,
            "getppid returns six times more"
        );
    }
}
