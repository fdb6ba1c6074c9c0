//! Predictions of the bandwidth of streams.

use super::points::{
    CHUNK, FIGURE, LOSS, PIPE, RAMP, READ, RECEIVER, SENDER, STREAMS, TCP, TRANSPORT, UDP, UNIX,
};
use crate::apparatus::network::path::{PATH, PEER};
use crate::expected::kernel_service;
use crate::expected::network::{
    copy_ns, further_fragments, hand_over, network_round_trip, protocol_ns, stream_rate,
};
use crate::questions::network::round_trip::{message_ns, packet_ns};
use fathom_core::prelude::*;

/// Bytes of a TCP segment's payload, and of the segment on Ethernet's wire: a packet of 1500 and 38 around it.
const SEGMENT: (f64, f64) = (1448.0, 1538.0);

/// The kernel's work for a write and a read besides the kernel entry and the copies: assumed, nanoseconds on a machine whose null
/// write takes 74 ns.
fn per_chunk_ns(by: &str) -> f64 {
    match by {
        PIPE => 300.0,
        UNIX => 900.0,
        UDP => 2_500.0,
        _ => 600.0,
    }
}

/// Prediction of a point of the bandwidth experiment.
pub fn expected(point: &Point, known: &Known) -> Result<Prediction, String> {
    Ok(match point.name(&FIGURE) {
        SENDER | RECEIVER => processor_time(point, known),
        RAMP => return ramp(point, known),
        READ => {
            return Err(
                "how much has arrived when the receiver reads depends on which side is slower, and nothing is \
                 published about that"
                    .to_owned(),
            );
        }
        LOSS => {
            return Err(
                "the loss depends on which side is slower, and nothing is published about that".to_owned()
            );
        }
        _ => rate(point, known),
    })
}

/// One side's processor time per MiB. Over loopback the sender does the receiver kernel's work, because the interrupt that a
/// packet would raise is the sender's own (`net/core/dev.c`, `__netif_rx`).
fn processor_time(point: &Point, known: &Known) -> Prediction {
    let mib = f64::from(1 << 20);
    let chunks = mib / point.number(&CHUNK) as f64;
    let prediction = Prediction::new().hardware("every byte copied once", mib, copy_ns(known));
    let prediction = kernel_service::entering(prediction, "system calls", chunks, known);
    let through_adapters = point.name(&PATH) == PEER && !known.virtual_peer;
    if point.name(&FIGURE) == RECEIVER && !through_adapters {
        return prediction;
    }
    let (what, each) = message(point, known);
    prediction
        .software("segments created, queued and freed", mib, protocol_ns(known))
        .software(&what, chunks, each)
}

fn ramp(point: &Point, known: &Known) -> Result<Prediction, String> {
    if point.name(&PATH) == PEER && !known.virtual_peer {
        let what = "round trips of slow start: the window doubles in each, from 10 segments to some 500";
        return Ok(Prediction::new().hardware(what, 6.0, network_round_trip()));
    }
    Err("nothing is published about how fast socket buffers grow over loopback, and they may be large enough at once".to_owned())
}

/// The kernel's work for one chunk besides its bytes: as measured in this run with small messages, else assumed.
fn message(point: &Point, known: &Known) -> (String, Basis) {
    let by = match point.name(&TRANSPORT) {
        by @ (PIPE | UNIX | UDP) => by,
        _ => TCP,
    };
    if let Some(ns) = message_ns(by, known) {
        return ("the path of a message: half its round trip on one CPU, minus a switch".to_owned(), ns);
    }
    let ns = per_chunk_ns(by);
    let what = format!("the path of a message, assumed: {ns} ns where a null write takes 74.2 ns");
    (what, kernel_service::assumed_here(ns, known))
}

/// The default capacity of a pipe, bytes (pipe(7)).
const PIPE_BYTES: f64 = 65_536.0;

/// The parts of a chunk's time, nanoseconds: its bytes first, then the additions of the software.
fn chunk_parts(point: &Point, known: &Known) -> Vec<(String, Basis)> {
    let chunk = point.number(&CHUNK) as f64;
    let of_chunk = |basis: Basis, times: f64| Basis { value: basis.value * times, ..basis };
    // The two sides copy concurrently, unless they share a CPU.
    let copies = if point.placement() == Placement::OneCpu { 2.0 } else { 1.0 };
    let mut parts = vec![("copies of every byte".to_owned(), of_chunk(copy_ns(known), copies * chunk))];
    if !matches!(point.name(&TRANSPORT), PIPE | UNIX | UDP) {
        let what = "minus the other work of TCP for each byte".to_owned();
        parts.push((what, of_chunk(protocol_ns(known), copies * chunk)));
    }
    let (what, message) = message(point, known);
    parts.push((format!("minus a chunk's system calls and {what}"), message));
    if point.name(&TRANSPORT) == PIPE && chunk >= PIPE_BYTES {
        let (what, turn) = hand_over(point.placement(), known);
        let what = format!("minus waiting in turns, because a pipe holds 64 KiB (pipe(7)): {what}");
        parts.push((what, of_chunk(turn, 2.0 * chunk / PIPE_BYTES)));
    }
    let further = further_fragments(chunk);
    if point.name(&TRANSPORT) == UDP && point.name(&PATH) == PEER && further > 0.0 {
        let what = "minus further fragments of the datagram".to_owned();
        parts.push((what, of_chunk(packet_ns(known), further)));
    }
    parts
}

/// A rate is limited by the copies, and reduced by the software; with a peer it is at most the rate of the wire.
fn rate(point: &Point, known: &Known) -> Prediction {
    let (chunk, at_once) = (point.number(&CHUNK) as f64, pairs_at_once(point, known));
    let (mut ns, mut reached) = (0.0, 0.0);
    let mut prediction = Prediction::new();
    for (what, part) in chunk_parts(point, known) {
        ns += part.value;
        let rate = chunk * 1e9 / ns * at_once;
        // The first part is the time of the hardware; each further one reduces the rate.
        let term = Basis { value: rate - reached, ..part };
        prediction = if reached == 0.0 {
            prediction.hardware(&format!("{what}, {at_once} at once"), 1.0, term)
        } else {
            prediction.software(&what, 1.0, term)
        };
        reached = rate;
    }
    if point.name(&PATH) != PEER || known.virtual_peer {
        return prediction;
    }
    let link = stream_rate(known);
    let wire = link.value / 8.0 * SEGMENT.0 / SEGMENT.1;
    if wire > reached {
        return prediction;
    }
    let on_wire = Basis { value: wire, ..link };
    Prediction::new().hardware(
        "the payload's share of the wire's rate, if the software keeps up with it",
        1.0,
        on_wire,
    )
}

/// The number of pairs of sides that can transfer concurrently.
fn pairs_at_once(point: &Point, known: &Known) -> f64 {
    let pairs = (known.machine.allowed_cpus().len() / 2).max(1) as f64;
    pairs.min(point.number(&STREAMS) as f64)
}
