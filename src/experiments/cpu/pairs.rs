//! Pairs of CPUs: the points of experiments that ask how two of them stand to each other.

use crate::experiment::{Effort, Parameter, Placement, Point, Scale};
use crate::machine::Machine;

/// The CPU of the measuring thread.
pub const FROM: Parameter = Parameter { name: "from", meaning: "the CPU that begins", scale: Scale::Count };
/// The other CPU.
pub const TO: Parameter = Parameter { name: "to", meaning: "the CPU that answers", scale: Scale::Count };

/// More CPUs than this make too many pairs for anything but a thorough run.
const STANDARD_CPUS: usize = 16;

/// A point of every pair of CPUs that this process may use. One CPU makes no pair: the point stays in the plan, and is
/// skipped with its reason.
pub fn sweep(machine: &Machine) -> Vec<Point> {
    let cpus = machine.allowed_cpus();
    let of = |(index, from): (usize, &usize)| {
        let from = *from as u64;
        cpus[index + 1..].iter().map(move |to| point(from, *to as u64)).collect::<Vec<_>>()
    };
    let found: Vec<Point> = cpus.iter().enumerate().flat_map(of).collect();
    if found.is_empty() { vec![point(0, 1)] } else { found }
}

/// The CPUs of a point.
pub fn of(point: &Point) -> (usize, usize) {
    (point.number(&FROM) as usize, point.number(&TO) as usize)
}

/// A quick run takes the pairs of the first CPU.
pub fn effort(point: &Point) -> Effort {
    match of(point) {
        (0, to) if to < STANDARD_CPUS => Effort::Quick,
        (_, to) if to < STANDARD_CPUS => Effort::Standard,
        (0, _) => Effort::Standard,
        _ => Effort::Thorough,
    }
}

fn point(from: u64, to: u64) -> Point {
    Point::at(Placement::AcrossCpus).with(&FROM, from).with(&TO, to)
}
