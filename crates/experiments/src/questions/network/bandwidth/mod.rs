//! How many bytes per second reach the other side, and how much processor time do they cost?

mod chunks;
mod directions;
mod fastest;
mod figures;
mod findings;
mod order;
mod points;
mod predicted;
mod processor_cost;

use crate::apparatus::network::account::{self, Account};
use crate::apparatus::network::acknowledged;
use crate::apparatus::network::arrival_rate::least_interval_ns;
use crate::apparatus::network::path::{PATH, required};
use crate::apparatus::network::sending::ZERO_COPY;
use fathom_core::prelude::*;
use points::{
    ACKNOWLEDGED, CHUNK, DIRECTION, FIGURE, LOSS, MESSAGES, PIPE, RAMP, READ, RECEIVER, SEND, SENDER, START,
    STEADY, STREAMS, TRANSPORT, UDP, UNIX, WHOLE,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

pub struct Bandwidth;

static ABOUT: About = About {
    name: "network/bandwidth",
    question: "How many bytes a second reach the other side, and how much processor time do they cost?",
    operation: "one byte of payload moved from one process to another",
    method: "One side writes as fast as it can, the other reads; both use buffers of one chunk. The receiver counts \
             the bytes and times them with its own clock, from the first byte to the last: neither the latency of the \
             path nor data still in the sender's buffers count. Each trial is one transfer of at least 15 ms (200 ms \
             of TCP between two CPUs, 100 ms with a peer) and four chunks (with a peer at most 4 MiB, or one chunk). The transfer is divided into \
             forty intervals, and the marginal standard error rule (White 1997) removes its beginning: the steady \
             part begins where the mean of the rest has the smallest standard error. `steady` is all bytes over all \
             time after that; the processor time and the mean bytes of a read are those of the same transfer. \
             `window` is the rate of the beginning, and `ramp` its length.\n\nWhere a TCP stream stays on this \
             machine, its receiver does not read for the first 10 ms, in which the sender fills its buffers (except \
             where the beginning or the whole transfer is measured). Otherwise a sender that is slower than its path \
             shows congestion control no limit, and BBR stays in its startup phase, which does not pace, for a random \
             time: with version 1 of this method, streams of 64 KiB stayed there in one direction; in the other, \
             where the reader started late, they left it at once and moved a third as much. With version 3 a third of \
             the streams was still in it after 25 ms. So the sender asks the kernel for the phase (`TCP_CC_INFO`), and \
             the transfer counts from the end of the startup, or from half a second where it lasts longer. Between two \
             CPUs it may pace nothing for a tenth of a second more, where bursts of acknowledgements make it overestimate \
             the bandwidth; transfers of 200 ms outlast that in most trials. A transfer that counts from the end of the \
             startup ends once its rate is steady by its own readings, forty windows of the shortest transfer and those \
             that follow, four times in a row by the rule that removes the beginning, and after a second at the latest. The lasting rate is the paced one: pacing then set some 15 timers a millisecond, which took two thirds of the sender's \
             time in a virtual machine. The findings compare the rates of both directions.\n\nThe system chooses and adapts the \
             socket buffers; the evidence lists their sizes, the processor time of both sides and the retransmitted \
             segments. Rates are of payload: on Ethernet with packets of 1500 bytes TCP's headers take another 6 % of \
             the wire.\n\n`sendfile` and `splice` send a file in memory, and `MSG_ZEROCOPY` sends without copying to \
             the kernel. UDP sends as fast as it can: `steady` is the rate of what arrives, `loss` the part that does \
             not, in parts per million.",
    caveats: "`TCP, a byte back per chunk` is the method of report 000: chunks of 16,000,000 bytes, each acknowledged \
              by one byte, with socket buffers of the same size requested (granted in full with the privilege \
              CAP_NET_ADMIN, otherwise up to the system's limit); it includes a round trip per chunk. `whole` over 1 \
              MiB messages is the method of report 001 (10,240 of them; fewer where time is short): it includes the \
              slow beginning. Over loopback both sides, and the kernel's work for each, share this machine's \
              processors and memory. Several streams run wherever the scheduler puts them.",
    version: 5,
    timed: Some(TimedCode {
        of: "the sender",
        source: include_str!("../../../apparatus/network/transfer.rs"),
        begins: "fn send_until(",
    }),
    parameters: &[TRANSPORT, PATH, DIRECTION, CHUNK, STREAMS, FIGURE, START, MESSAGES],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::leading(
            "one TCP stream, loopback",
            &[
                ("transport", At::Name("TCP")),
                ("path", At::Name("loopback")),
                ("figure", At::Name("steady")),
                ("streams", At::Number(1)),
                ("chunk", At::Best),
                ("placement", At::Best),
            ],
        )
        .called("TCP stream, loopback"),
        MainFigure::of(
            "best stream without a network",
            &[
                ("path", At::Name("within")),
                ("figure", At::Name("steady")),
                ("transport", At::Best),
                ("chunk", At::Best),
                ("placement", At::Best),
            ],
        ),
        MainFigure::of(
            "one TCP stream to the peer, across CPUs",
            &[
                ("transport", At::Name("TCP")),
                ("path", At::PEER),
                ("figure", At::Name("steady")),
                ("streams", At::Number(1)),
                ("placement", At::Name("across-cpus")),
                ("chunk", At::Best),
            ],
        ),
    ])
    .clauses(points::CLAUSES),
};

/// The point of the steady rate of one TCP stream on this path, for comparisons.
pub fn usual_point(path: &str) -> Point {
    points::usual(path)
}

impl Experiment for Bandwidth {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        points::all()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let mut needed = required(point);
        needed.push(Requirement::MemoryBytes(2 * point.number(&CHUNK) * point.number(&STREAMS) + (16 << 20)));
        needed
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        points::effort(point)
    }

    fn unit(&self, point: &Point) -> Unit {
        match point.name(&FIGURE) {
            SENDER | RECEIVER | RAMP => Unit::Nanoseconds,
            LOSS => Unit::PartsPerMillion,
            READ => Unit::Bytes,
            _ => Unit::BytesPerSecond,
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        predicted::expected(point, known)
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let copied = |what: &str| {
            format!("the {what} copies every byte, and no core moves more than 64 bytes a cycle")
        };
        match point.name(&FIGURE) {
            SENDER | RECEIVER => {
                Some(Bound::of(f64::from(1 << 20) / 64.0 * known.shortest_cycle(), copied("side")))
            }
            _ if self.unit(point) == Unit::BytesPerSecond => Some(Bound::of(
                64e9 / known.shortest_cycle() * point.number(&STREAMS) as f64,
                copied("receiver"),
            )),
            _ => None,
        }
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    /// A ramp ends with one of the intervals into which the transfer is divided.
    fn step(&self, point: &Point) -> f64 {
        if point.name(&FIGURE) == RAMP { least_interval_ns(order::least_ns(point)) } else { 0.0 }
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::Sockets]
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        if point.name(&TRANSPORT) == ACKNOWLEDGED {
            let chunk = point.number(&CHUNK) as u32;
            return acknowledged::workload(point.name(&DIRECTION) == SEND, point.name(&PATH), chunk, site);
        }
        let (order, point) = (order::of(point, site), point.clone());
        let account = Rc::new(RefCell::new(Account::new()));
        let recorded = Rc::clone(&account);
        let act = move || {
            let began = site.stopwatch.now_ns();
            let transfer = order::transferred(&point, &order, site)?;
            recorded.borrow_mut().add(&transfer, site.stopwatch.now_ns() - began);
            figures::of(&point, &transfer)
        };
        // Each transfer has its own initial phase.
        Ok(Workload::figures(act).cold().witnessed(move || account.borrow().witness()))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let by = point.name(&TRANSPORT);
        if by == ACKNOWLEDGED {
            return acknowledged::evidence(point.number(&CHUNK) as f64, observed);
        }
        let streams = point.number(&STREAMS) as f64;
        let mut checks = match by {
            UDP => vec![account::datagrams(point.number(&CHUNK) as f64, observed)],
            _ => vec![account::complete(observed)],
        };
        checks.push(account::processors(point, streams, observed));
        if is_of_steady_stream(point) && by != UDP {
            checks.push(account::steady(observed));
        }
        if !matches!(by, UDP | UNIX | PIPE) {
            checks.extend(account::socket(point, observed));
        }
        if by == ZERO_COPY {
            checks.push(account::copies(observed));
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }

    fn time_limit(&self, point: &Point) -> Duration {
        Duration::from_secs(if point.name(&FIGURE) == WHOLE { 120 } else { 15 })
    }
}

/// Whether a figure is of a stream that must have become steady: its rate, how long that took, and what else is told of the same transfer.
fn is_of_steady_stream(point: &Point) -> bool {
    match point.name(&FIGURE) {
        STEADY | RAMP => true,
        SENDER | RECEIVER | READ => point.get(START.name).is_none(),
        _ => false,
    }
}
