//! How many bytes a second reach the other side, and what do they cost?

use super::account::{self, Account};
use super::other_side::{self, LOOPBACK, PATH, PEER, WITHIN, required};
use super::sending::{SENDFILE, SPLICE, ZERO_COPY};
use super::{acknowledged, carried, figures, order, throughput};
use crate::experiment::{
    About, At, Bound, Check, Effort, Experiment, Failure, Finding, Found, Known, MainFigure, Observed,
    Parameter, Placement, Point, Prediction, Requirement, Scale, Site, Workload,
};
use crate::machine::Machine;
use crate::quantity::Unit;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// How bytes travel.
pub const BY: Parameter = Parameter { name: "by", meaning: "how bytes travel", scale: Scale::Name };
/// Which side sends.
pub const DIRECTION: Parameter =
    Parameter { name: "direction", meaning: "whether this side sends or receives", scale: Scale::Name };
/// Size of reads and writes.
pub const CHUNK: Parameter = Parameter {
    name: "chunk",
    meaning: "bytes of each write and of each read's buffer",
    scale: Scale::Bytes,
};
/// Connections.
pub const STREAMS: Parameter =
    Parameter { name: "streams", meaning: "connections beside each other", scale: Scale::Count };
/// What is asked of a stream.
pub const ASPECT: Parameter = Parameter {
    name: "aspect",
    meaning: "what is asked: the steady rate, the rate of the whole or of a window, the ramp's length, losses, or \
              processor time per MiB",
    scale: Scale::Name,
};
/// Where a window begins.
pub const SINCE: Parameter = Parameter {
    name: "since",
    meaning: "from where on after the first byte a stream's beginning is looked at: a window is as long again (the first, \
              as the second), the ramp is all of the beginning",
    scale: Scale::Nanoseconds,
};
/// How many messages.
pub const MESSAGES: Parameter = Parameter {
    name: "messages",
    meaning: "messages of one chunk in the whole transfer",
    scale: Scale::Count,
};

/// What is timed.
pub struct Bandwidth;

static ABOUT: About = About {
    name: "network/bandwidth",
    question: "How many bytes a second reach the other side, and what do they cost?",
    operation: "one byte of payload moved from one process to another",
    method: "One side writes as fast as it can, the other reads; both use buffers of one chunk. Bytes are counted and \
             timed where they arrive, by the receiver's clock, from the first to the last: the way there is not part \
             of it, and what still waits in the sender's buffers does not count. Each trial is one transfer of 15 ms at \
             least (100 ms with a peer) and four chunks (with a peer at most 4 MiB, or one chunk). Cut into forty \
             intervals, its beginning is left out by the marginal standard error rule (White 1997): from where on the mean \
             of the rest is known best. `steady` is all bytes over all time after that; the processor time is that of the \
             same transfer. `window` shows the beginning itself, and `ramp` its length.\n\nWhere a TCP stream stays on this \
             machine, its receiver does not read for the first 10 ms, in which the sender fills its buffers (not where the \
             beginning or the whole is asked for). Without that a sender that is slower than what it sends over shows \
             congestion control no limit, and BBR stays in its startup, which does not pace, for as long as chance wants: \
             of version 1 of this method streams of 64 KiB were seen to stay there in one direction, and in the other, where \
             the reader came late, to leave it at once and move a third. What lasts is the paced rate: pacing then set \
             some 15 timers a millisecond, which took the sender two thirds of its time in a virtual machine. Rates of both \
             directions are compared in the findings.\n\nSocket \
             buffers are the system's choice (it adapts them); what was granted stands in the evidence, with the \
             processor time of both sides and the segments that were sent again. Rates are those of the payload: on \
             Ethernet with packets of 1500 bytes TCP's headers take another 6 % of the wire.\n\n`sendfile` and \
             `splice` send a file in memory, `MSG_ZEROCOPY` lends memory to the kernel. UDP sends as fast as it can: \
             `steady` is what arrives, `loss` what does not, in parts of a million.",
    caveats: "`TCP, a byte back per chunk` is report 000's: chunks of 16,000,000 bytes, each acknowledged by one byte, \
              with buffers of as much asked for; it contains a round trip per chunk. `whole` over 1 MiB messages is \
              report 001's (10,240 of them; fewer where time is short): its slow beginning is part of it. Over loopback \
              both sides, and the kernel's work for each, share this machine's processors and memory. Several streams \
              run wherever the scheduler likes.",
    version: 2,
    parameters: &[BY, PATH, DIRECTION, CHUNK, STREAMS, ASPECT, SINCE, MESSAGES],
    trends: &[],
};

/// TCP, written from memory.
pub const TCP: &str = "TCP";
/// Report 000's form.
const ACKNOWLEDGED: &str = "TCP, a byte back per chunk";
/// A UNIX stream socket.
pub const UNIX: &str = "UNIX socket";
/// A pipe.
pub const PIPE: &str = "pipe";
/// Datagrams.
pub const UDP: &str = "UDP";
/// This side sends.
pub const SEND: &str = "send";
/// The other side sends.
pub const RECEIVE: &str = "receive";
/// The rate once it is steady.
pub const STEADY: &str = "steady";
/// The rate of the whole transfer.
pub const WHOLE: &str = "whole";
/// The rate of a part of the beginning.
pub const WINDOW: &str = "window";
/// How long the beginning lasts.
pub const RAMP: &str = "ramp";
/// Datagrams that did not arrive.
pub const LOSS: &str = "loss";
/// Processor time of the sender.
pub const SENDER: &str = "sender's processor time";
/// Processor time of the receiver.
pub const RECEIVER: &str = "receiver's processor time";

const CHUNKS: [u64; 9] = [512, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 512 << 10, 1 << 20, 4 << 20, 32 << 20];
const QUICK_CHUNKS: [u64; 4] = [512, 16 << 10, 128 << 10, 4 << 20];
/// The chunk of everything that does not sweep it.
const USUAL_CHUNK: u64 = 128 << 10;
const REPORT_000_CHUNK: u64 = 16_000_000;
const REPORT_001_MESSAGES: [u64; 2] = [256, 10_240];
/// Beginnings of windows, nanoseconds.
pub const WINDOWS: [u64; 6] = [0, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000];

fn point(by: &str, path: &str, direction: &str, chunk: u64, placement: Placement) -> Point {
    let point = Point::at(placement).named(&BY, by).named(&PATH, path).named(&DIRECTION, direction);
    point.with(&CHUNK, chunk).with(&STREAMS, 1).named(&ASPECT, STEADY)
}

/// TCP's points on one path.
fn of_tcp(path: &str, points: &mut Vec<Point>) {
    let at = |direction, chunk| point(TCP, path, direction, chunk, Placement::AcrossCpus);
    for direction in [SEND, RECEIVE] {
        points.extend(CHUNKS.map(|chunk| at(direction, chunk)));
        let usual = point(TCP, path, direction, USUAL_CHUNK, Placement::Free);
        points.extend([1, 2, 4, 8].map(|streams| usual.clone().with(&STREAMS, streams)));
        points.push(point(ACKNOWLEDGED, path, direction, REPORT_000_CHUNK, Placement::AcrossCpus));
    }
    let usual = at(SEND, USUAL_CHUNK);
    points.extend([SENDER, RECEIVER].map(|aspect| usual.clone().named(&ASPECT, aspect)));
    let beginning = |aspect, since| usual.clone().named(&ASPECT, aspect).with(&SINCE, since);
    points.push(beginning(RAMP, 0));
    points.extend(WINDOWS.map(|since| beginning(WINDOW, since)));
    let whole = at(RECEIVE, 1 << 20).named(&ASPECT, WHOLE);
    points.extend(REPORT_001_MESSAGES.map(|messages| whole.clone().with(&MESSAGES, messages)));
    points.extend(
        [SENDFILE, SPLICE, ZERO_COPY].map(|by| point(by, path, SEND, USUAL_CHUNK, Placement::AcrossCpus)),
    );
    for bytes in [1400, 8192] {
        let udp = point(UDP, path, SEND, bytes, Placement::AcrossCpus);
        points.extend([STEADY, LOSS].map(|aspect| udp.clone().named(&ASPECT, aspect)));
    }
}

impl Experiment for Bandwidth {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn main_figures(&self) -> &'static [MainFigure] {
        const {
            &[
                MainFigure::of(
                    "TCP over loopback",
                    &[
                        ("by", At::Name("TCP")),
                        ("path", At::Name("loopback")),
                        ("aspect", At::Name("steady")),
                        ("streams", At::Number(1)),
                        ("chunk", At::Number(1_048_576)),
                    ],
                ),
                MainFigure::of(
                    "TCP to the peer",
                    &[
                        ("by", At::Name("TCP")),
                        ("path", At::Name("peer")),
                        ("aspect", At::Name("steady")),
                        ("streams", At::Number(1)),
                        ("chunk", At::Number(1_048_576)),
                    ],
                ),
            ]
        }
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let mut points = vec![];
        for by in [PIPE, UNIX] {
            let chunks = [4 << 10, 64 << 10, 1 << 20];
            points.extend(chunks.map(|chunk| point(by, WITHIN, SEND, chunk, Placement::AcrossCpus)));
            points.push(point(by, WITHIN, SEND, 64 << 10, Placement::OneCpu));
        }
        points.push(point(TCP, LOOPBACK, SEND, USUAL_CHUNK, Placement::OneCpu));
        of_tcp(LOOPBACK, &mut points);
        of_tcp(PEER, &mut points);
        points
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let mut needed = required(point);
        needed.push(Requirement::MemoryBytes(2 * point.number(&CHUNK) * point.number(&STREAMS) + (16 << 20)));
        needed
    }

    fn effort(&self, point: &Point) -> Effort {
        let chunk = point.number(&CHUNK);
        match (point.name(&BY), point.name(&ASPECT)) {
            (_, WHOLE) if point.number(&MESSAGES) == REPORT_001_MESSAGES[1] => Effort::Thorough,
            (TCP, STEADY) if point.number(&STREAMS) > 1 && point.name(&DIRECTION) == RECEIVE => {
                Effort::Standard
            }
            (TCP, STEADY) => quick(QUICK_CHUNKS.contains(&chunk)),
            (PIPE | UNIX, _) => quick(chunk == 64 << 10),
            (UDP, _) => quick(chunk == 1400),
            (by, aspect) => quick(by == ACKNOWLEDGED || aspect == RAMP),
        }
    }

    fn unit(&self, point: &Point) -> Unit {
        match point.name(&ASPECT) {
            SENDER | RECEIVER | RAMP => Unit::Nanoseconds,
            LOSS => Unit::PartsPerMillion,
            _ => Unit::BytesPerSecond,
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        Ok(throughput::expected(point, known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let copied = |what: &str| {
            format!("the {what} copies every byte, and no core moves more than 64 bytes a cycle")
        };
        match point.name(&ASPECT) {
            SENDER | RECEIVER => Some(Bound {
                limit: f64::from(1 << 20) / 64.0 * known.shortest_cycle(),
                because: copied("side"),
            }),
            _ if self.unit(point) == Unit::BytesPerSecond => Some(Bound {
                limit: 64e9 / known.shortest_cycle() * point.number(&STREAMS) as f64,
                because: copied("receiver"),
            }),
            _ => None,
        }
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&ASPECT)
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        other_side::ensure_path(point)?;
        point.ensure_variant(&BY, &[TCP, SENDFILE, SPLICE, ZERO_COPY, ACKNOWLEDGED, UNIX, PIPE, UDP])?;
        point.ensure_variant(&DIRECTION, &[SEND, RECEIVE])?;
        if point.name(&BY) == ACKNOWLEDGED {
            let chunk = point.number(&CHUNK) as u32;
            return acknowledged::workload(point.name(&DIRECTION) == SEND, point.name(&PATH), chunk, site);
        }
        let (order, point) = (order::of(point, site), point.clone());
        let account = Rc::new(RefCell::new(Account::new()));
        let kept = Rc::clone(&account);
        let mut warmed = false;
        let act = move || {
            // The sampler warms up with one call; a transfer has its own beginning.
            if !std::mem::replace(&mut warmed, true) {
                return Ok(vec![]);
            }
            let began = site.stopwatch.now_ns();
            let transfer = order::transferred(&point, &order, site)?;
            kept.borrow_mut().add(&transfer, site.stopwatch.now_ns() - began);
            figures::of(&point, &transfer)
        };
        Ok(Workload::figures(act).witnessed(move || account.borrow().witness()))
    }

    fn evidence(&self, point: &Point, seen: &Observed) -> Vec<Check> {
        let by = point.name(&BY);
        if by == ACKNOWLEDGED {
            return acknowledged::evidence(point.number(&CHUNK) as f64, seen);
        }
        let streams = point.number(&STREAMS) as f64;
        let mut checks = match by {
            UDP => vec![account::datagrams(point.number(&CHUNK) as f64, seen)],
            _ => vec![account::complete(seen)],
        };
        checks.push(account::processors(point, streams, seen));
        if matches!(point.name(&ASPECT), STEADY | RAMP) && by != UDP {
            checks.push(account::steady(seen));
        }
        if !matches!(by, UDP | UNIX | PIPE) {
            checks.extend(account::socket(point, seen));
        }
        if by == ZERO_COPY {
            checks.push(account::copies(seen));
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        carried::findings(known)
    }

    fn time_limit(&self, point: &Point) -> Duration {
        Duration::from_secs(if point.name(&ASPECT) == WHOLE { 120 } else { 15 })
    }
}

/// The steady rate of TCP, sent on this path by one stream in chunks of the usual size.
pub fn usual(path: &str) -> Point {
    point(TCP, path, SEND, USUAL_CHUNK, Placement::AcrossCpus)
}

/// The same by one or more streams wherever the scheduler likes.
pub fn usual_beside(path: &str) -> Point {
    point(TCP, path, SEND, USUAL_CHUNK, Placement::Free)
}

fn quick(is_quick: bool) -> Effort {
    if is_quick { Effort::Quick } else { Effort::Standard }
}

/// What the reports' comparison wants: the best of a sweep over chunks.
pub fn best(by: &str, path: &str, known: &Known) -> Option<(u64, Found)> {
    let directions = [SEND, RECEIVE].into_iter();
    let groups = directions.map(|direction| point(by, path, direction, 0, Placement::AcrossCpus));
    let all = groups.flat_map(|group| known.found_along(ABOUT.name, &group, &CHUNK));
    all.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))
}
