//! What services of the kernel take on published machines, in nanoseconds: for predictions that use nothing of this run. The machines
//! differ by factors, so a prediction is their geometric mean, and has their range. Figures that are doubtful in the source are left
//! out (`crates/report/references`).

use fathom_core::prelude::*;

/// A process created, ended and waited for.
pub fn process(prediction: Prediction) -> Prediction {
    let citation =
        "report 000: 42.8 µs (table 6); report 002: almost 40 µs; report 003: 832 389 cycles of 2.7 GHz";
    prediction.software_of("a process: fork, exit and wait", &[42_803.4, 40_000.0, 308_292.3], citation)
}

/// A thread created and joined, or `what` part of it.
pub fn thread(prediction: Prediction, what: &str) -> Prediction {
    let citation = "report 000: 8.47 µs (table 6); report 003: 54 525 cycles of 2.7 GHz";
    prediction.software_of(what, &[8_466.4, 20_194.4], citation)
}

/// A switch to another process and the choice of it, without the pipe that asks for it.
const SWITCH_NS: [f64; 2] = [(2_145.6 - 579.2) / 2.0, 3_800.0];
const SWITCH: &str = "report 000: half of a round trip of 2 145.6 ns less a pipe of 579.2 ns (table 7); Li et al. 2007: 3.8 µs on a Xeon \
                      of 2 GHz";

/// Such switches.
pub fn switches(prediction: Prediction, times: f64) -> Prediction {
    prediction.software_of("choosing and changing to another process", &SWITCH_NS, SWITCH).times(times)
}

/// A connection opened over loopback.
pub fn connect(prediction: Prediction) -> Prediction {
    let citation = "report 000: 8.33 µs in the median; report 001: 28 µs; report 003: 108 µs";
    prediction.software_of("a connection opened over loopback", &[8_325.2, 28_000.0, 108_107.0], citation)
}

/// A close over loopback, as the caller sees it.
pub fn close(prediction: Prediction) -> Prediction {
    let citation = "report 000: 3.25 µs (table 24, whose caption is exchanged with that of table 25); report 001: 11 µs; report 003: \
                    12.1 µs";
    prediction.software_of("close, as the caller sees it", &[3_245.3, 11_000.0, 12_127.0], citation)
}
