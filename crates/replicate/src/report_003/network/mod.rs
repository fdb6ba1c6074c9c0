//! The report's chapter on the network, whose sections are numbered 4.1 to 4.3 again.

pub mod bandwidth;
pub mod connection;
pub mod round_trip;

use crate::sweep::nearest;
use fathom_core::experiment::{Failure, Point};
use fathom_core::machine::Machine;
use std::time::Duration;

/// The other side has died if it is silent for this long.
const TIMEOUT: Duration = Duration::from_secs(8);

const LOOPBACK: &str = "loopback";
const PEER: &str = fathom_core::experiment::PEER;

fn broke(attempt: &str, error: &std::io::Error) -> Failure {
    Failure::Broke(format!("{attempt}: {error}"))
}

/// Fathom's point on a path: on one CPU over loopback, across CPUs with a peer.
fn on_path(
    experiment: &str,
    machine: &Machine,
    path: &'static str,
    names: &[(&'static str, &'static str)],
    numbers: &[(&str, u64)],
) -> Point {
    let placement = if path == PEER { "across-cpus" } else { "one-cpu" };
    let given = names.iter().copied().chain([("path", path), ("placement", placement)]);
    let each: Vec<(&str, [&str; 1])> = given.map(|(parameter, name)| (parameter, [name])).collect();
    let names: Vec<(&str, &[&str])> = each.iter().map(|(parameter, name)| (*parameter, &name[..])).collect();
    nearest(experiment, machine, &names, numbers)
}
