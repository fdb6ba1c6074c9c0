//! What does it cost to open a connection, and to end it?

mod findings;

use super::round_trip;
use crate::apparatus::network::caller::{self, ACCEPTED, CONNECTED, Caller, OPENED_AGAIN, OVERFLOWS, timed};
use crate::apparatus::network::path::{LOOPBACK, PATH, PEER, required};
use crate::expected::{self, kernel_service, mode_switch, published, virtual_exit};
use fathom_core::prelude::*;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_equipment::peer::other_side::{OtherSide, Version};
use fathom_equipment::peer::service::accept;
use fathom_equipment::peer::{Service, ports};
use std::net::TcpStream;
use std::rc::Rc;
use std::time::Duration;

const PHASE: Parameter = Parameter::of(
    "phase",
    "which part of a connection's lifetime is timed",
    &[CONNECT, TO_ACCEPT, GRACEFUL, RESET, CLOSE],
);
const IP_VERSION: Parameter = Parameter::of("ip_version", "version of the Internet protocol", &[FOUR, SIX]);

/// Phase: connect, as the client sees it.
const CONNECT: &str = "connect";
/// Phase: until accept returns at the server.
const TO_ACCEPT: &str = "connect to accept";
/// Phase: until both sides have closed.
const GRACEFUL: &str = "graceful end";
/// Phase: reset without waiting.
const RESET: &str = "reset";
/// Phase: the `close()` call alone.
const CLOSE: &str = "close";
/// Version: IPv4.
const FOUR: &str = "IPv4";
/// Version: IPv6.
const SIX: &str = "IPv6";

/// The point of a phase over IPv4, with its two sides on two CPUs or hosts.
fn phase(phase: &str, path: &str) -> Point {
    point(phase, path, FOUR, Placement::AcrossCpus)
}

fn point(phase: &str, path: &str, version: &str, placement: Placement) -> Point {
    Point::at(placement).named(&PHASE, phase).named(&PATH, path).named(&IP_VERSION, version)
}

/// Every point, in the order of the table.
fn all() -> Vec<Point> {
    let mut points = vec![];
    for version in [FOUR, SIX] {
        for phase in [CONNECT, TO_ACCEPT, GRACEFUL, RESET, CLOSE] {
            let places = [Placement::OneCpu, Placement::AcrossCpus];
            points.extend(places.map(|placement| point(phase, LOOPBACK, version, placement)));
        }
        for phase in [CONNECT, GRACEFUL, RESET, CLOSE] {
            points.push(point(phase, PEER, version, Placement::AcrossCpus));
        }
    }
    points
}

pub struct Connection;

static ABOUT: About = About {
    name: "network/connection",
    question: "What does it cost to open a connection, and to end it?",
    operation: "one TCP connection, without data; the named part of its lifetime",
    method: "A server accepts each connection, sends one byte and waits for its end. Connections are made one after \
             the other, each only after the previous one was accepted and ended, so that no backlog ever fills. \
             Retransmitted opening segments and full backlogs are counted.\n\n`connect` is the system call as the \
             client sees it: it returns when the answer to its first segment has arrived, before the server has the \
             last one. `connect to accept` ends when accept returns at the server (on loopback, where both sides read \
             the same clock). `graceful end` is shutdown, then reading until the other side has read to the end of \
             its stream and closed as well. `reset` is close with SO_LINGER of zero, which waits for nothing. `close` \
             is the call alone: it queues the last segment and releases the descriptor.\n\nThe cost of the two clock \
             readings, some tens of nanoseconds, is not subtracted. Connections whose end is not timed are reset, so \
             that their ports are free at once; of the others, a trial makes at most a hundred, and half of the \
             machine's ephemeral ports are left to other programs.",
    caveats: "`close` is what the published reports called teardown; it does not wait for the other side, and its \
              cost does not depend on the distance. A very long `connect` means a lost segment: the first segment is \
              retransmitted after a second.",
    version: 1,
    timed: Some(TimedCode { of: "connecting", source: include_str!("mod.rs"), begins: "fn connect<" }),
    parameters: &[PHASE, PATH, IP_VERSION],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "connect over loopback, across CPUs",
            &[
                ("phase", At::Name("connect")),
                ("path", At::Name("loopback")),
                ("placement", At::Name("across-cpus")),
            ],
        ),
        MainFigure::of(
            "close over loopback, across CPUs",
            &[
                ("phase", At::Name("close")),
                ("path", At::Name("loopback")),
                ("placement", At::Name("across-cpus")),
            ],
        ),
        MainFigure::of("connect to the peer", &[("phase", At::Name("connect")), ("path", At::PEER)]),
    ])
    .clauses(&[
        Clause::of("what it costs to open a connection", |point, _| {
            [CONNECT, TO_ACCEPT].contains(&point.name(&PHASE))
        }),
        Clause::of("what it costs to end a connection", |point, _| {
            [GRACEFUL, RESET, CLOSE].contains(&point.name(&PHASE))
        }),
    ]),
};

/// Report 000's median of `connect` over loopback, nanoseconds.
const REPORT_000_CONNECT_NS: f64 = 8_300.0;

impl Experiment for Connection {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        all()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        required(point)
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if point.name(&IP_VERSION) == FOUR { Effort::Quick } else { Effort::Standard }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let (what, each) = expected::network::hand_over(point.placement(), known);
        let woken = expected::network::woken(point.placement());
        let handshake = |prediction| {
            kernel_service::scaled(
                prediction,
                "three segments through this kernel",
                1.0,
                REPORT_000_CONNECT_NS,
                known,
            )
        };
        let segment = |prediction| {
            kernel_service::assumed(prediction, "one segment through this kernel", 2_500.0, known)
        };
        let calls = |count| kernel_service::entering(Prediction::new(), "system calls", count, known);
        let software = match point.name(&PHASE) {
            CONNECT if point.name(&PATH) != PEER => published::connect(Prediction::new()),
            CONNECT => handshake(calls(1.0)),
            TO_ACCEPT => handshake(calls(2.0)).software(what, 1.0, each).being(woken),
            GRACEFUL => segment(segment(calls(4.0))).software(what, 2.0, each).being(woken),
            // On one CPU the other side preempts the caller when the last segment of either kind wakes it.
            _ if point.placement() == Placement::OneCpu => published::close(Prediction::new()).software(
                &format!(
                    "to the other side, which is woken and runs before the call returns, and back: {what}"
                ),
                2.0,
                each,
            ),
            // To a peer the call sends a segment, which wakes nobody on this machine.
            _ if point.name(&PATH) == PEER => published::close(Prediction::new()),
            // Across CPUs it is queued on its own, which is interrupted, and the call returns.
            _ => virtual_exit::interrupting_a_cpu(published::close(Prediction::new()), known),
        };
        let waits = matches!(point.name(&PHASE), CONNECT | GRACEFUL) && point.name(&PATH) == PEER;
        Ok(if waits { software.hardware("the path to the peer and back", 1.0, way(known)) } else { software })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let ping = known.median("network/round_trip", &round_trip::ping(PEER));
        match (point.name(&PHASE), point.name(&PATH), ping) {
            (CONNECT | GRACEFUL, PEER, Some(ping)) => Some(Bound::of(
                ping / 2.0,
                "both kernels must answer each other, as for a ping, whose median is twice this bound",
            )),
            _ => Some(mode_switch::bound(1.0, "it enters", known)),
        }
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::Sockets]
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let version = if point.name(&IP_VERSION) == SIX { Version::Six } else { Version::Four };
        if point.name(&PHASE) == TO_ACCEPT {
            return until_accepted(version, site);
        }
        let other = OtherSide::by_version(&Service::Accept, version, point.name(&PATH), site)?;
        let caller = Caller::of(other.address, other);
        let calls = Rc::clone(&caller.calls);
        let workload = match point.name(&PHASE) {
            CONNECT => Workload::recorded(connect(caller, site)),
            RESET => Workload::recorded(ended(caller, site, u64::MAX, caller::to_be_reset, close)),
            GRACEFUL => {
                Workload::recorded(ended(caller, site, ports::allowance()?, as_it_is, caller::end_gracefully))
            }
            _ => Workload::recorded(ended(caller, site, ports::allowance()?, as_it_is, close)),
        };
        Ok(workload.with_a_partner(point.placement()).witnessed(move || calls.witness()))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let (Some(connected), Some(accepted)) = (observed.witness(CONNECTED), observed.witness(ACCEPTED))
        else {
            return vec![Check::missing("every connect had an accept")];
        };
        let again = if point.name(&PATH) == PEER { 0.02 } else { 0.0 };
        let mut checks = vec![
            Check::equal(
                "every connect had an accept: accepted connections per connection made",
                accepted / connected,
                1.0,
            ),
            Check::within(
                "connections made per one that is observed",
                connected / observed.operations as f64,
                1.0,
                1.01,
            ),
            Check::witnessed(
                "retransmitted opening segments per connection",
                observed,
                OPENED_AGAIN,
                0.0,
                again,
            ),
        ];
        // Counted for all programs of the network namespace: overflows of others must not invalidate this measurement.
        if let Some(overflows) = observed.witness(OVERFLOWS) {
            checks.push(Check::within(
                "full backlogs per connection, of all programs",
                overflows / connected,
                0.0,
                0.01,
            ));
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }
}

/// The round trip to the peer between the kernels: a ping of this run, else an assumed one.
fn way(known: &Known) -> Basis {
    let ping = known.measured("network/round_trip", &round_trip::ping(PEER));
    ping.unwrap_or_else(expected::network::network_round_trip)
}

fn connect<'site>(caller: Caller, site: &'site Site) -> impl FnMut() -> Result<Option<f64>, Failure> + 'site {
    move || {
        let socket = caller.socket()?;
        let ((), ns) = timed(site.stopwatch, || caller.connect(&socket))?;
        caller::to_be_reset(&caller.await_greeting(socket)?)?;
        Ok(Some(ns))
    }
}

/// Opens connections, does `before`, and times how they are ended. At most `remaining` connections: each may leave a port in
/// `TIME_WAIT`.
fn ended<'site>(
    caller: Caller,
    site: &'site Site,
    mut remaining: u64,
    before: fn(&TcpStream) -> Result<(), Failure>,
    end: fn(TcpStream) -> Result<Option<TcpStream>, Failure>,
) -> impl FnMut() -> Result<Option<f64>, Failure> + 'site {
    move || {
        let Some(fewer) = remaining.checked_sub(1) else { return Ok(rest()) };
        remaining = fewer;
        let stream = caller.open()?;
        before(&stream)?;
        let (_ended, ns) = timed(site.stopwatch, || end(stream))?;
        Ok(Some(ns))
    }
}

fn as_it_is(_: &TcpStream) -> Result<(), Failure> {
    Ok(())
}

fn close(stream: TcpStream) -> Result<Option<TcpStream>, Failure> {
    drop(stream);
    Ok(None)
}

/// No further observation until the trial's time is over.
fn rest() -> Option<f64> {
    std::thread::sleep(Duration::from_millis(1));
    None
}

/// From before connect until accept returns in the other process, which stamps the clock.
fn until_accepted<'site>(version: Version, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let (listener, address) = version.listen()?;
    let watch = site.stopwatch;
    let process = PartnerProcess::start(site.partner, move || {
        loop {
            let (stream, _) = listener.accept().map_err(|error| Failure::Broke(error.to_string()))?;
            watch.stamp();
            // The client resets the connection.
            let _ = accept::greet_and_await_end(&stream);
        }
    })?;
    let caller = Caller::of(address, process);
    let calls = Rc::clone(&caller.calls);
    let act = move |n| {
        for _ in 0..n {
            let socket = caller.socket()?;
            caller.connect(&socket)?;
            caller::to_be_reset(&caller.await_greeting(socket)?)?;
        }
        Ok(())
    };
    Ok(Workload::until_marked(act).witnessed(move || calls.witness()))
}
