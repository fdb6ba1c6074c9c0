//! Predictions of kernel services from the cost of a kernel entry on this machine.
//!
//! Report 000 gives all its figures for one machine, including a null write. Expressed in null writes its figures transfer better
//! than in nanoseconds to machines whose kernel entry is slower because of mitigations or a hypervisor.

use crate::expected::mode_switch;
use crate::questions::cpu::system_call;
use fathom_core::prelude::*;
use fathom_core::quantities;

/// A null write in report 000, nanoseconds (table 5).
const REPORT_000_NS: f64 = 74.2;
/// The machine of report 000.
const LAPTOP: &str = "i7-1250u-ubuntu-24.04";
const CITATION: &str = "report 000, table 5: a null write takes 74.2 ns";

/// The cost of entering and leaving the kernel: that of a number that is no call's, as measured in this run, else of `getppid`, else
/// predicted.
pub fn entry(known: &Known) -> Basis {
    mode_switch::measured_or_predicted(system_call::measured_entry(known), known)
}

/// Adds so many entries into the kernel ([`mode_switch::entering`]), as measured in this run, else as predicted.
pub fn entering(prediction: Prediction, what: &str, times: f64, known: &Known) -> Prediction {
    mode_switch::entering(prediction, (what, times), system_call::measured_entry(known), known)
}

/// Adds a share of a service that took `reported_ns` in report 000, converted to null writes of this machine.
pub fn scaled(prediction: Prediction, what: &str, share: f64, reported_ns: f64, known: &Known) -> Prediction {
    let what = format!(
        "{what}, in null writes as on report 000's one laptop ({reported_ns} ns / {REPORT_000_NS} ns)"
    );
    in_null_writes(prediction, &what, share * reported_ns, known)
}

/// Adds a service for which no report has a figure, assumed to take `ns` nanoseconds on report 000's machine.
pub fn assumed(prediction: Prediction, what: &str, ns: f64, known: &Known) -> Prediction {
    let ns_there = quantities::number(ns);
    let what = format!(
        "{what}, assumed: {ns_there} ns where a null write takes {REPORT_000_NS} ns, as on report 000's one laptop"
    );
    in_null_writes(prediction, &what, ns, known)
}

/// Adds changes of a name and its inode, each with its part of the journal. That much code is no multiple of an entry into the kernel,
/// which mitigations make dearer and it not: in cycles of the core.
pub fn names_changed(prediction: Prediction, what: &str, changes: f64, known: &Known) -> Prediction {
    let why = "some thirty functions of the file system and its journal of a thousand cycles each";
    prediction.software(what, changes, known.assumed_cycles(30_000.0, why))
}

/// The cost on this machine of a service assumed to take `ns` nanoseconds on report 000's machine.
pub fn assumed_here(ns: f64, known: &Known) -> Basis {
    let null_write = null_write(known);
    Basis { value: ns / REPORT_000_NS * null_write.value, ..null_write }
}

fn in_null_writes(prediction: Prediction, what: &str, ns: f64, known: &Known) -> Prediction {
    prediction
        .software(what, in_digits_of_the_source(ns / REPORT_000_NS), null_write(known))
        .scaled_from(LAPTOP)
}

/// A factor with three significant digits: the figure of report 000 has no more.
fn in_digits_of_the_source(factor: f64) -> f64 {
    if factor <= 0.0 {
        return factor;
    }
    let scale = 10_f64.powf(2.0 - factor.log10().floor());
    (factor * scale).round() / scale
}

fn null_write(known: &Known) -> Basis {
    let point = system_call::point("write nothing to /dev/null");
    known.measured_or("cpu/system_call", &point, REPORT_000_NS, CITATION)
}
