//! Predictions: the time of one process alone, and its wait for the others.

use super::{ALL_RANDOM, BLOCK, FIGURE, FILE, PATTERN, PROCESSES, RANDOM_AMONG, TOGETHER, UNFAIRNESS};
use crate::expected::device_facts;
use crate::questions::filesystem::read;
use fathom_core::prelude::*;

/// The time of one process alone, plus its wait for the others: that of requests when one process has as many in flight, as
/// measured in this run. Before it was measured the device is assumed to serve 8 at once.
pub fn predicted(point: &Point, known: &Known) -> Prediction {
    let processes = point.number(&PROCESSES);
    let (what, alone) = alone(point, known);
    let waiting = read::waiting(processes, known).unwrap_or_else(|| {
        let lines = (processes as f64 / AT_ONCE).max(1.0);
        Basis { value: (lines - 1.0) * alone.value, ..alone.clone() }
    });
    match point.name(&FIGURE) {
        UNFAIRNESS => Prediction::new().software(
            "one standard deviation of random variation, of the blocks of a file",
            1.0,
            Basis::published(
                1e6 / (point.number(&FILE) as f64 / BLOCK as f64).sqrt(),
                "one over the square root of the number of blocks (Poisson)",
            ),
        ),
        TOGETHER => together_at(processes as f64, what, alone, waiting),
        _ if waiting.value <= 0.0 => Prediction::new().hardware(what, 1.0, alone),
        _ => {
            let behind = format!("waiting for the others, as with {processes} requests in flight");
            Prediction::new().hardware(what, 1.0, alone).hardware(&behind, 1.0, waiting)
        }
    }
}

/// Requests that a device is assumed to serve concurrently if this was not measured.
const AT_ONCE: f64 = 8.0;

/// The rate of this number of processes, less the loss from waiting for each other.
fn together_at(processes: f64, what: &str, alone: Basis, waiting: Basis) -> Prediction {
    let rate = |ns: f64| processes * BLOCK as f64 * 1e9 / ns;
    let (unhindered, reached) = (rate(alone.value), rate(alone.value + waiting.value));
    let total = Basis { value: unhindered, ..alone };
    let prediction = Prediction::new().hardware(&format!("{what}, as the total rate"), 1.0, total);
    if waiting.value <= 0.0 {
        return prediction;
    }
    let lost = Basis { value: reached - unhindered, ..waiting };
    prediction.hardware("minus waiting for each other, as with as many requests in flight", 1.0, lost)
}

fn alone(point: &Point, known: &Known) -> (&'static str, Basis) {
    let random = [ALL_RANDOM, RANDOM_AMONG].contains(&point.name(&PATTERN));
    let direct = read::direct_point(random);
    let device = if random { device_facts::random_read(known) } else { device_facts::sequential_read(known) };
    ("one block of one process alone", known.measured("filesystem/read", &direct).unwrap_or(device))
}
