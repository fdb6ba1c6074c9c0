//! What is expected of streams.

use super::bandwidth::{ASPECT, BY, CHUNK, LOSS, PIPE, RAMP, RECEIVER, SENDER, STREAMS, UDP, UNIX};
use super::expected::{copy_ns, copy_rate, link_rate, network_round_trip};
use super::other_side::{PATH, PEER};
use crate::experiment::{Basis, Known, Placement, Point, Prediction};
use crate::experiments::cpu::null_write;

/// Bytes of a TCP segment's payload and of what it takes on Ethernet's wire: 1500 of the packet, 38 around it.
const SEGMENT: (f64, f64) = (1448.0, 1538.0);

/// What the kernel does for a write and a read beside entering it and copying: assumed, nanoseconds where a null write
/// takes 74 ns.
fn per_chunk_ns(by: &str) -> f64 {
    match by {
        PIPE => 300.0,
        UNIX => 900.0,
        UDP => 2_500.0,
        _ => 600.0,
    }
}

/// Prediction of a point of the bandwidth experiment.
pub fn expected(point: &Point, known: &Known) -> Prediction {
    match point.name(&ASPECT) {
        SENDER | RECEIVER => processor_time(point, known),
        RAMP => ramp(point),
        LOSS => Prediction::new().software(
            "a receiver that is at times slower than the sender, assumed to lose one in a hundred",
            1.0,
            Basis::published(10_000.0, "no source: it depends on which side is slower"),
        ),
        _ => rate(point, known),
    }
}

/// One side's processor time of a MiB.
fn processor_time(point: &Point, known: &Known) -> Prediction {
    let mib = f64::from(1 << 20);
    let chunks = mib / point.number(&CHUNK) as f64;
    let prediction = Prediction::new().hardware("every byte copied once", mib, copy_ns()).software(
        "system calls",
        chunks,
        null_write::entry(known),
    );
    let work = per_chunk_ns(point.name(&BY)) * chunks;
    null_write::assumed(prediction, "segments made, queued and freed", work, known)
}

fn ramp(point: &Point) -> Prediction {
    if point.name(&PATH) == PEER {
        let what = "round trips of slow start: the window doubles in each, from 10 segments to some 500";
        return Prediction::new().hardware(what, 6.0, network_round_trip());
    }
    let basis =
        Basis::published(1e6, "no source: buffers that grow from 16 KiB to some MiB, in a millisecond or so");
    Prediction::new().software("the socket's buffers grow", 1.0, basis)
}

/// A rate is what the copying allows, less what the software takes; with a peer no more than the wire carries.
fn rate(point: &Point, known: &Known) -> Prediction {
    let copied = copies_at_once(point, known);
    let (chunk, copy) = (point.number(&CHUNK) as f64, copy_rate());
    let entry = null_write::entry(known);
    let ns_a_chunk = chunk * 1e9 / copy.value + entry.value + per_chunk_ns(point.name(&BY));
    let software = chunk * 1e9 / ns_a_chunk * copied;
    let hardware = copy.value * copied;
    let what = "one copy of every byte, as the two sides copy at the same time";
    let prediction = Prediction::new().hardware(what, copied, copy);
    let taken = "less what a system call and the kernel's work for each chunk take";
    let entry = Basis { value: software - hardware, source: entry.source };
    if point.name(&PATH) != PEER {
        return prediction.software(taken, 1.0, entry);
    }
    let link = link_rate(known);
    let wire = link.value / 8.0 * SEGMENT.0 / SEGMENT.1;
    let on_wire = Basis { value: wire, source: link.source };
    let prediction = Prediction::new().hardware("the payload's share of the wire's rate", 1.0, on_wire);
    let lacking = Basis { value: (software - wire).min(0.0), source: entry.source };
    prediction.software("less what the software cannot keep up with", 1.0, lacking)
}

/// How many pairs of sides can copy at once: half a pair where the two share a CPU.
fn copies_at_once(point: &Point, known: &Known) -> f64 {
    let pairs = (known.machine.allowed_cpus().len() / 2).max(1) as f64;
    match point.placement() {
        Placement::OneCpu => 0.5,
        _ => pairs.min(point.number(&STREAMS) as f64),
    }
}
