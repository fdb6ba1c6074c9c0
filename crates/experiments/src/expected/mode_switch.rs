//! Predicted cost of entering and leaving the kernel, before any measurement: a procedure call and two mode switches (reports 000
//! and 001), and the cost that mitigations add to each.

use fathom_core::prelude::*;

const SWITCH: &str = "report 000: a mode switch takes some 100 cycles (79 to enter and 71 to leave on Nehalem: Soares and Stumm, \
                      OSDI 2010)";
const ISOLATION: &str = "the kernel's Documentation/arch/x86/pti.rst: a change of CR3 takes some hundred cycles, at every entry \
                         and exit";

/// A system call without work.
pub fn predicted(known: &Known) -> Prediction {
    let call = "a call and a return, one every second cycle (Fog, Instruction tables, 2022)";
    let prediction = Prediction::new()
        .software("a procedure call", 1.0, known.cycles(4.0, call))
        .hardware("mode switches, in and out", 2.0, known.cycles(100.0, SWITCH))
        .being(TermEvent::KernelEntry);
    if known.machine.kernel.page_table_isolation.value() == Some(&true) {
        return prediction.hardware(
            "changes of the address space, for page-table isolation",
            2.0,
            known.cycles(100.0, ISOLATION),
        );
    }
    prediction
}

/// The same as one value, for other predictions: `getppid` as measured in this run, else predicted.
pub fn measured_or_predicted(measured: Option<Basis>, known: &Known) -> Basis {
    measured.unwrap_or_else(|| Basis::published(predicted(known).total(), SWITCH))
}
