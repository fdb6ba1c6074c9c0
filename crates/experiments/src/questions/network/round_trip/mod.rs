//! How long does a message take to another process or host and back?

mod findings;
mod points;
mod predicted;

pub use points::{TCP, closed, message_ns, packet_ns, ping};

use crate::apparatus::network::conversation::{self, Conversation};
use crate::apparatus::network::datagrams::{self, DatagramCounts, LATE, LOST, SENT, Udp};
use crate::apparatus::network::open_loop::open_loop;
use crate::apparatus::network::path::{PATH, PEER, required};
use crate::apparatus::network::tcp_info::tcp_info;
use fathom_core::prelude::*;
use fathom_core::quantities;
use fathom_core::statistics::share_interval;
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::OtherSide;
use fathom_equipment::peer::ping::{Ping, THIS_HOST};
use fathom_equipment::peer::service::Transport;
use points::{
    CLOSED, ICMP, INTERVAL, LOOP, OPEN, PAYLOAD, PIPE, QUICK_PAYLOADS, QUICK_PAYLOADS_BETWEEN_CPUS,
    TRANSPORT, UDP, UNIX,
};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::rc::Rc;

pub struct RoundTrip;

static ABOUT: About = About {
    name: "network/round_trip",
    question: "How long does a message take to another process or host and back?",
    operation: "one message sent, and its echo received",
    method: "A process sends a message and waits for its echo; each round trip is an observation, so there are \
             percentiles. Through two pipes or a UNIX stream socket, the other side is a process on this machine; \
             over UDP and TCP it is a process on loopback, or the peer; the other kernel answers an ICMP echo without \
             a process. Payloads are those of the published reports: 56 bytes as ping sends them, 44 so that a TCP \
             packet is as long as ping's, 1400 for one full packet, 8192 for several.\n\nTCP_NODELAY is set on both \
             sides: with Nagle's algorithm a message would wait for the acknowledgement of the previous one, which \
             the receiver may delay. Acknowledgements travel with the echoes. The evidence includes the kernel's own \
             estimate of the round trip (TCP_INFO).\n\nThe closed loop sends the next message when the answer has \
             arrived. The open loop sends on a schedule and measures from the time at which a message should have \
             been sent, so that a stall counts for all messages that it delays; its sender polls. Datagrams are \
             numbered: one that does not come back within 250 ms is counted as lost, is not sent again, and gives no \
             observation. The cost of the two clock readings, some tens of nanoseconds, is not subtracted.\n\nOn \
             loopback both sides are pinned, to one CPU or to two; round trips between two are observed once they are \
             steady (after 100 ms at least, in every trial), because hosts and governors learn how long a CPU \
             sleeps. With a peer this side is pinned; a virtual peer is pinned to the other CPU.",
    caveats: "A closed loop sends nothing while an answer is late (coordinated omission), so its percentiles are \
              those of a single client. On loopback nothing leaves the machine; the difference from the peer is the \
              network's share.",
    version: 4,
    timed: Some(TimedCode {
        of: "a message and its echo",
        source: include_str!("../../../apparatus/network/conversation.rs"),
        begins: "pub fn round_trip(",
    }),
    parameters: &[TRANSPORT, PATH, PAYLOAD, LOOP, INTERVAL],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::leading(
            "TCP over loopback, 1 byte",
            &[
                ("transport", At::Name("TCP")),
                ("path", At::Name("loopback")),
                ("loop", At::Name("closed")),
                ("payload", At::Least),
            ],
        )
        .called("TCP round trip, loopback, 1 byte"),
        MainFigure::of(
            "TCP to the peer, 1 byte",
            &[
                ("transport", At::Name("TCP")),
                ("path", At::PEER),
                ("loop", At::Name("closed")),
                ("payload", At::Least),
            ],
        ),
        MainFigure::of("ICMP to the peer", &[("transport", At::Name("ICMP echo")), ("path", At::PEER)]),
    ]),
};

/// Witness: time during which round trips were made.
const PASSED: &str = "passed_ns";
/// Witness: the kernel's estimate of the round trip at the end.
const KERNEL_ESTIMATE: &str = "kernel_round_trip_ns";
/// Witness: retransmitted segments.
const SENT_AGAIN: &str = "segments_sent_again";
/// Statement: whether `TCP_NODELAY` is set.
const NO_DELAY: &str = "tcp_nodelay";

/// The largest payload that a path through the kernel takes from the nearest cache, bytes.
const MOST_ON_A_PATH: u64 = 4 << 10;

impl Experiment for RoundTrip {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        points::all()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        required(point)
    }

    /// On one CPU, with little to copy and nothing to wait for, an exchange is a path through the kernel.
    fn core_share(&self, point: &Point, _: &Machine) -> Option<CoreShare> {
        let waits = point.get(PEER).is_some() || point.number_of(INTERVAL.name).is_some_and(|ns| ns > 0);
        let is_path = !waits && point.number_of(PAYLOAD.name).is_some_and(|bytes| bytes <= MOST_ON_A_PATH);
        is_path.then_some(CoreShare::NEARLY_WHOLE)
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        let quick: &[u64] =
            if wakes_another_cpu(point) { &QUICK_PAYLOADS_BETWEEN_CPUS } else { &QUICK_PAYLOADS };
        if quick.contains(&point.number(&PAYLOAD)) { Effort::Quick } else { Effort::Standard }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        Ok(predicted::expected(point, known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let entries = if point.name(&TRANSPORT) == ICMP { 2.0 } else { 4.0 };
        Some(Bound::of(
            entries * 40.0 * known.shortest_cycle(),
            format!("a round trip enters the kernel {entries} times, each of which takes some forty cycles"),
        ))
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::Sockets]
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let bytes = point.number(&PAYLOAD) as usize;
        if point.name(&LOOP) == OPEN {
            return open_workload(point, bytes, site);
        }
        let work = match point.name(&TRANSPORT) {
            PIPE => conversed(conversation::pipes(bytes, site)?),
            UNIX => conversed(conversation::unix(bytes, site)?),
            TCP => tcp_workload(conversation::tcp(bytes, echo(Transport::Tcp, point, site)?)?, site)?,
            ICMP => return ping_workload(point, bytes, site),
            UDP => numbered(Udp::open(bytes, echo(Transport::Udp, point, site)?)?, site),
            transport => return Err(Failure::no_variant(&TRANSPORT, transport)),
        };
        let work = work.with_a_partner(point.placement()).settling(wakes_another_cpu(point));
        Ok(if wakes_another_cpu(point) { work.whose_partner_reads_its_core() } else { work })
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let mut checks = vec![switches(point, observed)];
        match point.name(&TRANSPORT) {
            TCP => checks.extend(segments(point, observed)),
            UDP | ICMP => checks.push(losses(point, observed)),
            _ => {}
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }
}

/// Whether a message wakes a process on another CPU of this machine, from which the next one follows.
fn wakes_another_cpu(point: &Point) -> bool {
    let elsewhere = point.name(&PATH) == PEER || point.name(&LOOP) == OPEN;
    point.placement() != Placement::OneCpu && !elsewhere
}

fn echo(transport: Transport, point: &Point, site: &Site) -> Result<OtherSide, Failure> {
    let service = Service::Echo { transport, bytes: point.number(&PAYLOAD) as u32 };
    OtherSide::start(&service, point.name(&PATH), site)
}

fn conversed<'site, S: Read + Write + 'site>(mut conversation: Conversation<S>) -> Workload<'site> {
    Workload::each(move |n| {
        for _ in 0..n {
            conversation.round_trip()?;
        }
        Ok(())
    })
}

fn tcp_workload<'site>(
    conversation: Conversation<TcpStream>,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let no_delay = conversation.stream.nodelay().map_err(|error| Failure::Broke(error.to_string()))?;
    let stream = again(&conversation.stream)?;
    let counted = Rc::clone(&stream);
    let work = conversed(conversation).stating(NO_DELAY, f64::from(u8::from(no_delay)));
    Ok(work.witnessed(move || tcp_counts(&counted, site)).gauged(move || tcp_estimate(&stream)))
}

/// The kernel's counts for the connection.
fn tcp_counts(stream: &TcpStream, site: &Site) -> Vec<(&'static str, f64)> {
    let sent_again = tcp_info(stream).map(|info| (SENT_AGAIN, info.sent_again as f64));
    [(PASSED, site.stopwatch.now_ns())].into_iter().chain(sent_again).collect()
}

/// The kernel's own estimate of the round trip.
fn tcp_estimate(stream: &TcpStream) -> Vec<(&'static str, f64)> {
    tcp_info(stream).map(|info| (KERNEL_ESTIMATE, info.round_trip_ns as f64)).into_iter().collect()
}

/// A second descriptor of a connection, for the evidence.
fn again(stream: &TcpStream) -> Result<Rc<TcpStream>, Failure> {
    stream.try_clone().map(Rc::new).map_err(|error| Failure::Broke(format!("dup of a socket: {error}")))
}

fn ping_workload<'site>(point: &Point, bytes: usize, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let host = match (point.name(&PATH), &site.peer) {
        (PEER, Some(peer)) => peer.by_ipv4().map_or(peer.address, |peer| peer.address),
        _ => THIS_HOST,
    };
    let ping = Ping::open(host, bytes)?;
    ping.set_timeout(datagrams::TIMEOUT).map_err(|error| Failure::Broke(format!("SO_RCVTIMEO: {error}")))?;
    Ok(numbered(ping, site))
}

fn numbered<'site>(way: impl datagrams::Numbered + 'site, site: &'site Site) -> Workload<'site> {
    let counts = Rc::new(DatagramCounts::default());
    let counted = Rc::clone(&counts);
    Workload::recorded(datagrams::closed_loop(way, site.stopwatch, counts))
        .witnessed(move || counted.witness())
}

fn open_workload<'site>(point: &Point, bytes: usize, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let (counts, interval) = (Rc::new(DatagramCounts::default()), point.number(&INTERVAL) as f64);
    let counted = Rc::clone(&counts);
    let broke = |error: std::io::Error| Failure::Broke(format!("O_NONBLOCK: {error}"));
    if point.name(&TRANSPORT) == TCP {
        let way = conversation::tcp(bytes, echo(Transport::Tcp, point, site)?)?;
        way.stream.set_nonblocking(true).map_err(broke)?;
        let stream = again(&way.stream)?;
        let of_kernel = Rc::clone(&stream);
        let workload = Workload::recorded(open_loop(way, interval, site.stopwatch, counts));
        let witness = move || counted.witness().into_iter().chain(tcp_counts(&of_kernel, site)).collect();
        let workload = workload.witnessed(witness).gauged(move || tcp_estimate(&stream));
        return Ok(workload.stating(NO_DELAY, 1.0));
    }
    if point.name(&TRANSPORT) != UDP {
        return Err(Failure::Broke(format!("there is no open loop by `{}`", point.name(&TRANSPORT))));
    }
    let way = Udp::open(bytes, echo(Transport::Udp, point, site)?)?;
    way.socket.set_nonblocking(true).map_err(broke)?;
    let workload = Workload::recorded(open_loop(way, interval, site.stopwatch, counts));
    Ok(workload.witnessed(move || counted.witness()))
}

/// Checks that the sides slept and were woken as the placement implies.
fn switches(point: &Point, observed: &Observed) -> Check {
    let each = observed.per_operation(observed.switches());
    let slept = observed.per_operation(observed.counters.voluntary_switches);
    let others = observed.others_per_operation(1.0);
    let (claim, switches, least, most) = match (point.name(&TRANSPORT), point.placement(), point.name(&LOOP))
    {
        (_, _, OPEN) => ("the sender polled: it slept less than once in ten messages", slept, 0.0, 0.1),
        // A slow or busy kernel leaves some answers to a kernel thread, and this side sleeps meanwhile; the median is of
        // immediate answers as long as these are clearly the majority.
        (ICMP, Placement::OneCpu, _) => (
            "the kernel answered most requests at once: sleeps of this side per round trip",
            slept,
            0.0,
            0.25,
        ),
        // A reader of a UNIX socket wakes the process that sleeps on the other end, even if that waits for something else
        // (`unix_write_space` of net/unix/af_unix.c): up to one switch more.
        (UNIX, Placement::OneCpu, _) => (
            "switches of this side per round trip: to the other process and back, sometimes with a spurious one",
            each,
            0.97,
            2.1 + others,
        ),
        (_, Placement::OneCpu, _) => {
            ("switches of this side per round trip: to the other process and back", each, 0.97, 1.1 + others)
        }
        (UNIX, _, _) => (
            "sleeps of this side per round trip: at most two, one of them spurious",
            slept,
            0.0,
            2.1 + others,
        ),
        _ => ("sleeps of this side per round trip: at most one", slept, 0.0, 1.05 + others),
    };
    Check::within(claim, switches, least, most)
}

fn segments(point: &Point, observed: &Observed) -> Vec<Check> {
    let no_delay = observed.witness(NO_DELAY);
    let claim = if no_delay.is_some() { "TCP_NODELAY is set (1 is yes)" } else { "TCP_NODELAY is set" };
    let mut checks = vec![Check::equal(claim, no_delay, 1.0)];
    let claim = "retransmitted segments per message";
    checks.push(match observed.witness(SENT_AGAIN) {
        Some(_) => Check::witnessed(claim, observed, SENT_AGAIN, 0.0, 0.01),
        None => Check::unasked(claim, "the kernel does not report on its connections (TCP_INFO)".to_owned()),
    });
    let estimate = observed.per_trial(KERNEL_ESTIMATE);
    let mean = observed.witness(PASSED).map(|passed| passed / observed.operations.max(1) as f64);
    // The messages of an open loop overlap, and its schedule sets the rate.
    if let (Some(estimate), Some(mean), CLOSED) = (estimate, mean, point.name(&LOOP)) {
        checks.push(Check::within(
            format!(
                "the kernel's own smoothed estimate ({}, TCP_INFO) over the mean time of a round trip ({})",
                quantities::value(Unit::Nanoseconds, estimate),
                quantities::value(Unit::Nanoseconds, mean)
            ),
            estimate / mean,
            0.02,
            // Smoothed over about the last eight, of a few trials.
            3.0,
        ));
    }
    checks
}

/// Losses are reported, and fail the check only if so many round trips are missing that the others are not a fair sample.
fn losses(point: &Point, observed: &Observed) -> Check {
    let claim = "datagrams lost are few, counted, and not sent again";
    let (Some(sent), Some(lost), Some(late)) =
        (observed.witness(SENT), observed.witness(LOST), observed.witness(LATE))
    else {
        return Check::missing(claim);
    };
    let limit = match (point.name(&PATH), point.name(&LOOP)) {
        (PEER, _) => 0.1,
        // Sending continues while the other side is kept from its CPU, until the buffer of its socket is full.
        (_, OPEN) => 0.01,
        _ => 0.001,
    };
    let Some(interval) = share_interval(lost as u64, sent as u64) else { return Check::missing(claim) };
    Check::judged(
        claim,
        lost / sent <= limit,
        format!(
            "{} of {} lost: {} ({} at 95 %), {} late",
            quantities::plain(lost),
            quantities::plain(sent),
            quantities::percent(lost / sent),
            quantities::percent_range(lost / sent, interval.low, interval.high),
            quantities::plain(late)
        ),
    )
}
