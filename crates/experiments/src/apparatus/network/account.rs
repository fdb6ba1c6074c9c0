//! Sums over the transfers of a trial, for the evidence.

use super::path::{PATH, PEER};
use super::transfer::Transfer;
use fathom_core::prelude::*;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::statistics::share_interval;
use std::collections::BTreeMap;

/// Sums over transfers, by the name of the witness.
#[derive(Debug, Default)]
pub struct Account(BTreeMap<&'static str, f64>);

const TRANSFERS: &str = "transfers";
const SENT: &str = "bytes_sent";
const RECEIVED: &str = "bytes_received";
const READS: &str = "reads";
const SENDER: &str = "sender_cpu_ns";
const RECEIVER: &str = "receiver_cpu_ns";
const WALL: &str = "transfer_ns";
const SENT_AGAIN: &str = "segments_sent_again";
const SEND_BUFFER: &str = "send_buffer_bytes";
const RECEIVE_BUFFER: &str = "receive_buffer_bytes";
const STEADY: &str = "transfers_found_steady";
const RAMP: &str = "ramp_ns";
const BEGINNING: &str = "bytes_of_beginnings";
const UNCOPIED: &str = "sends_without_copy";
const COPIED: &str = "sends_copied_after_all";

impl Account {
    /// An account without transfers; a witness must report every name from the start.
    pub fn new() -> Self {
        let names = [
            TRANSFERS,
            SENT,
            RECEIVED,
            READS,
            SENDER,
            RECEIVER,
            WALL,
            SENT_AGAIN,
            SEND_BUFFER,
            RECEIVE_BUFFER,
            STEADY,
            RAMP,
            BEGINNING,
            UNCOPIED,
            COPIED,
        ];
        Account(names.into_iter().map(|name| (name, 0.0)).collect())
    }

    pub fn add(&mut self, transfer: &Transfer, wall_ns: f64) {
        let (uncopied, copied) = transfer.uncopied.unwrap_or_default();
        let steady = super::arrival_rate::steady(transfer.lasting());
        let sums = [
            (TRANSFERS, 1.0),
            (SENT, transfer.sent as f64),
            (RECEIVED, transfer.received as f64),
            (READS, transfer.reads as f64),
            (SENDER, transfer.sender_ns),
            (RECEIVER, transfer.receiver_ns),
            (WALL, wall_ns),
            (SENT_AGAIN, transfer.sent_again as f64),
            (SEND_BUFFER, transfer.send_buffer as f64),
            (RECEIVE_BUFFER, transfer.receive_buffer as f64),
            (STEADY, f64::from(u8::from(steady.is_some_and(|steady| steady.is_early)))),
            (RAMP, steady.map_or(0.0, |steady| steady.ramp_ns)),
            (BEGINNING, transfer.beginning as f64),
            (UNCOPIED, uncopied as f64),
            (COPIED, copied as f64),
        ];
        for (name, more) in sums {
            *self.0.entry(name).or_default() += more;
        }
    }

    /// The sums as witnesses, for the evidence.
    pub fn witness(&self) -> Vec<(&'static str, f64)> {
        self.0.iter().map(|(name, sum)| (*name, *sum)).collect()
    }
}

/// A sum; 0 if nothing was counted, which no check accepts.
fn sum(observed: &Observed, name: &str) -> f64 {
    observed.witness(name).unwrap_or(0.0)
}

/// Checks that every byte sent arrived.
pub fn complete(observed: &Observed) -> Check {
    Check::equal("bytes that arrived per byte sent", sum(observed, RECEIVED) / sum(observed, SENT), 1.0)
}

/// Checks that datagrams were at most lost, not duplicated.
pub fn datagrams(bytes: f64, observed: &Observed) -> Check {
    let (sent, arrived) = ((sum(observed, SENT) / bytes) as u64, sum(observed, READS) as u64);
    let claim = "no more datagrams arrived than were sent; the missing ones were lost";
    let Some(interval) = share_interval(sent.saturating_sub(arrived), sent) else {
        return Check::missing(claim);
    };
    Check::judged(
        claim,
        arrived > 0 && arrived <= sent,
        format!(
            "{} of {} lost: {} at 95 %",
            quantities::plain(sent.saturating_sub(arrived) as f64),
            quantities::plain(sent as f64),
            quantities::percent_range(
                sent.saturating_sub(arrived) as f64 / sent as f64,
                interval.low,
                interval.high
            )
        ),
    )
}

/// Checks that the initial phase was found, which the steady rate leaves out.
pub fn steady(observed: &Observed) -> Check {
    let (transfers, steady) = (sum(observed, TRANSFERS), sum(observed, STEADY));
    Check::judged(
        "streams that became steady within the first half of the transfer: most of them",
        transfers > 0.0 && steady / transfers > 0.5,
        format!(
            "{} of {}; in the mean they were steady {}; {} a read",
            quantities::plain(steady),
            quantities::plain(transfers),
            from_when(sum(observed, RAMP) / transfers),
            quantities::value(Unit::Bytes, sum(observed, RECEIVED) / sum(observed, READS))
        ),
    )
}

/// A ramp of zero intervals is not a ramp.
fn from_when(ramp_ns: f64) -> String {
    if ramp_ns > 0.0 {
        format!("{} after their first byte", quantities::value(Unit::Nanoseconds, ramp_ns))
    } else {
        "from their first interval on, without a ramp".to_owned()
    }
}

/// Checks the processor time: two sides can use at most that of two processors, or of one if they share it.
pub fn processors(point: &Point, streams: f64, observed: &Observed) -> Check {
    let used = (sum(observed, SENDER) + sum(observed, RECEIVER)) / sum(observed, WALL);
    let most = match (point.placement(), point.name(&PATH)) {
        (Placement::OneCpu, _) => 1.0,
        (Placement::Free, _) => 2.0 * streams,
        (_, PEER) => 1.0 + streams,
        _ => 2.0,
    };
    let received = sum(observed, RECEIVED) / f64::from(1 << 20);
    Check::within(
        format!(
            "processors used by both sides (per MiB: sender {}, receiver {})",
            quantities::value(Unit::Nanoseconds, sum(observed, SENDER) / received),
            quantities::value(Unit::Nanoseconds, sum(observed, RECEIVER) / received)
        ),
        used,
        0.001,
        most * 1.1,
    )
}

/// The socket buffers of this side at the end, and the rate of retransmission.
pub fn socket(point: &Point, observed: &Observed) -> Vec<Check> {
    let mean = |name| sum(observed, name) / sum(observed, TRANSFERS);
    let (send, receive) = (mean(SEND_BUFFER), mean(RECEIVE_BUFFER));
    // A MiB has about 720 segments on Ethernet, and 16 or more on loopback, where none are lost.
    let most = if point.name(&PATH) == PEER { 100.0 } else { 1.0 };
    vec![
        Check::judged(
            "this side's socket buffers, chosen by the system, were read back",
            send > 0.0 && receive > 0.0,
            format!(
                "{} for sending, {} for receiving, at the end",
                quantities::value(Unit::Bytes, send),
                quantities::value(Unit::Bytes, receive)
            ),
        ),
        Check::within(
            "segments sent again per MiB",
            sum(observed, SENT_AGAIN) / (sum(observed, SENT) / f64::from(1 << 20)),
            0.0,
            most,
        ),
    ]
}

/// The kernel's reports on sends that should not copy.
pub fn copies(observed: &Observed) -> Check {
    let (uncopied, copied) = (sum(observed, UNCOPIED), sum(observed, COPIED));
    Check::judged(
        "the kernel reported the completion of every send",
        uncopied + copied > 0.0,
        format!("{uncopied} without a copy, {copied} copied nevertheless (like every send over loopback)"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_of_nothing_is_told_as_none() {
        assert_eq!(from_when(0.0), "from their first interval on, without a ramp");
        assert_eq!(from_when(1.5e6), "1.50 ms after their first byte");
    }
}
