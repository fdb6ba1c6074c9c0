//! Predictions of remote reads: network, protocol, server, bytes.

use super::points::{
    BLOCK, CLIENT_CACHED, LOCAL, NO_DATA, ORDER, PROTOCOL, QUEUE_DEPTH, RANDOM, SERVER_COLD, STATE, UNPROVED,
    block, no_data,
};
use crate::expected::kernel_service;
use crate::expected::network::takes_turns;
use fathom_core::machine::Remote;
use fathom_core::prelude::*;

const NAME: &str = "filesystem/remote_read";

/// A round trip if the path is unknown, nanoseconds.
const ROUND_TRIP_NS: f64 = 200_000.0;
/// Time of a byte at one gigabit per second, nanoseconds.
const GIGABIT_BYTE_NS: f64 = 8.0;
/// Time to copy a byte between the kernel and a process, nanoseconds: half the rate of memory at 10 GB/s.
const COPIED_BYTE_NS: f64 = 0.1;
/// Time of a random read of a solid-state disk, nanoseconds (R-FS-16).
const DISK_NS: f64 = 100_000.0;

pub fn predicted(point: &Point, known: &Known) -> Prediction {
    let bytes = point.number(&BLOCK);
    match (point.name(&PROTOCOL), point.name(&STATE)) {
        (LOCAL, _) | (_, CLIENT_CACHED) => from_page_cache(Prediction::new(), bytes, known),
        (through, NO_DATA) => exchange(through, known),
        // The figure is a median over blocks: that of a block that was read ahead.
        (through, _) if through.ends_with(" mount") && is_read_ahead(point) => {
            from_page_cache(Prediction::new(), bytes, known)
        }
        (through, state) => {
            let prediction = network(through, point, known);
            let prediction = from_server_cache(prediction, point, known);
            if state == SERVER_COLD || state == UNPROVED { from_disk(prediction, point) } else { prediction }
        }
    }
}

/// Whether most blocks of a mounted file are in this machine's cache before they are asked for: the kernel reads ahead in files of mounts
/// as well, by default 128 KiB at once.
fn is_read_ahead(point: &Point) -> bool {
    point.name(&ORDER) != RANDOM && point.number(&BLOCK) <= 65_536
}

fn from_page_cache(prediction: Prediction, bytes: u64, known: &Known) -> Prediction {
    let copy = Basis::assumed(COPIED_BYTE_NS, "memory copied at 10 GB/s");
    let prediction = prediction.hardware("a byte copied from the page cache", bytes as f64, copy);
    kernel_service::entering(prediction, "a system call", 1.0, known)
}

/// A request and an answer without data.
fn exchange(through: &str, known: &Known) -> Prediction {
    let (ns, why) = round_trip(known);
    let (software, what) = match through {
        "sftp" => (60_000.0, "ssh, sshd and sftp-server woken in turn"),
        _ => (20_000.0, "two network stacks and a server's thread woken"),
    };
    Prediction::new()
        .hardware("a round trip", 1.0, Basis::assumed(ns, why))
        .software(what, 1.0, Basis::assumed(software, "five microseconds for each wake-up"))
        .being(TermEvent::WakeUp)
}

/// The network's round trip, before any request to the server.
fn round_trip(known: &Known) -> (f64, &'static str) {
    if known.machine.storage.remote.as_ref().is_some_and(Remote::is_here) {
        return (10_000.0, "the server is this machine: no wire, 10 µs in the kernel");
    }
    (ROUND_TRIP_NS, "a switched local network: 0.2 ms")
}

/// Round trips, and the transfer of the bytes.
fn network(through: &str, point: &Point, known: &Known) -> Prediction {
    let bytes = point.number(&BLOCK);
    let requests = (bytes as f64 / most(through)).max(1.0);
    let overlapped = requests / point.number(&QUEUE_DEPTH) as f64;
    let round_trips = match known.measured(NAME, &no_data(through)) {
        Some(exchange) => {
            let what = "an exchange without data, of those that do not overlap";
            Prediction::new().hardware(what, overlapped, exchange)
        }
        None => scaled(&exchange(through, known), overlapped),
    };
    let carried = round_trips.hardware("a byte over the network", bytes as f64, byte_on_the_wire(known));
    if !through.starts_with("ssh") && through != "sftp" {
        return carried;
    }
    let ciphers =
        Basis::assumed(3.0, "encrypted, decrypted, and copied through three more processes in sequence");
    carried.software("a byte through the ciphers and pipes of ssh", bytes as f64, ciphers)
}

fn scaled(prediction: &Prediction, times: f64) -> Prediction {
    let mut scaled = prediction.clone();
    scaled.terms.iter_mut().for_each(|term| term.times *= times);
    scaled
}

/// The maximum bytes per request that common servers accept.
fn most(through: &str) -> f64 {
    match through {
        "sftp" => 131_072.0,
        "sshfs mount" => 65_536.0,
        _ => 1_048_576.0,
    }
}

fn byte_on_the_wire(known: &Known) -> Basis {
    let remote = known.machine.storage.remote.as_ref();
    let here = remote.is_some_and(Remote::is_here);
    let way = remote.and_then(|remote| remote.route.as_ref());
    match known.machine.adapter_of(way).filter(|_| !here) {
        Some((adapter, bits)) if takes_turns(adapter) => {
            let what = format!("half of the declared rate of {}, which sends or receives", adapter.name);
            Basis::fact(16e9 / bits as f64, &what)
        }
        Some((adapter, bits)) => {
            Basis::fact(8e9 / bits as f64, &format!("the declared rate of {}", adapter.name))
        }
        None if here => Basis::assumed(0.5, "within this machine: 2 GB/s"),
        None => Basis::assumed(GIGABIT_BYTE_NS, "1 Gbit/s, because no adapter reports its rate"),
    }
}

fn from_server_cache(prediction: Prediction, point: &Point, known: &Known) -> Prediction {
    let (order, bytes) = (point.name(&ORDER), point.number(&BLOCK));
    let local = block(LOCAL, CLIENT_CACHED, order, bytes);
    match known.measured(NAME, &local) {
        Some(read) => {
            let what = "the read from the server's page cache, as from this machine's";
            prediction.software(what, 1.0, read)
        }
        None => from_page_cache(prediction, bytes, known),
    }
}

fn from_disk(prediction: Prediction, point: &Point) -> Prediction {
    let bytes = point.number(&BLOCK) as f64;
    let disk =
        Basis::assumed(DISK_NS, "a solid-state disk answers in 0.1 ms, as those of reports 000 and 003 do");
    let rate = Basis::assumed(1.0, "a solid-state disk reads 1 GB/s");
    // A server reads ahead for sequential readers, 128 KiB by Linux's default.
    let answers = if point.name(&ORDER) == RANDOM { 1.0 } else { bytes / 131_072.0 };
    prediction.hardware("an answer of the server's disk", answers, disk).hardware(
        "a byte from the server's disk",
        bytes,
        rate,
    )
}
