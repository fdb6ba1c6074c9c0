//! Messages, bandwidth and connections: the cost of the software alone, and to another host.

pub(crate) mod bandwidth;
mod connection;
pub(crate) mod round_trip;
mod sustained;

use fathom_core::experiment::Experiment;

/// The experiments of this family, in an order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] =
    &[&round_trip::RoundTrip, &bandwidth::Bandwidth, &connection::Connection, &sustained::Sustained];
