//! Messages, bandwidth and connections: the cost of the software alone, and to another host.

mod account;
mod acknowledged;
mod arrival_rate;
mod bandwidth;
mod caller;
mod connection;
mod conversation;
mod datagrams;
mod expected;
mod open_loop;
mod path;
pub mod round_trip;
mod sending;
mod software_share;
mod sustained;
mod tcp_info;
mod transfer;

pub use datagrams::LOST as DATAGRAMS_LOST;

use fathom_core::experiment::Experiment;

/// The experiments of this family, in an order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] =
    &[&round_trip::RoundTrip, &bandwidth::Bandwidth, &connection::Connection, &sustained::Sustained];
