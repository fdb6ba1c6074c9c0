//! Section 5.2: the round trip of a message.

use super::{PEER_IS, broke};
use crate::report_000::boilerplate::{series, trials};
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, PEER, PeerAddress, Placement, Point, Requirement};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::{LOOPBACK, OtherSide};
use fathom_equipment::peer::ping::{Ping, THIS_HOST};
use fathom_equipment::peer::service::Transport;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};
use std::time::Duration;

static PING_LOOPBACK: Method = Method {
    name: "ICMP round trip, loopback",
    text: "The ping utility sends one ICMP echo of 56 bytes per second to 127.0.0.1; the figures are its own mean and deviation.",
    differs: "Fathom sends the echoes itself, a hundred of them, ten per second (with --quick ten echoes); the report does not give their \
              number. The utility takes the kernel's time of arrival; here the time ends when the reply has been read.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(1),
    measure: |stage| pings(stage, THIS_HOST),
};

static PING_REMOTE: Method = Method {
    name: "ICMP round trip, remote",
    text: "The ping utility sends one ICMP echo of 56 bytes per second to the other machine; the figures are its own mean and deviation.",
    differs: PEER_IS,
    placement: Placement::AcrossCpus,
    needs: &[Requirement::Peer],
    limit: Duration::from_mins(1),
    measure: |stage| match stage.site.peer.as_ref().and_then(PeerAddress::by_ipv4) {
        Some(peer) => pings(stage, peer.address),
        None => Err(Failure::Unsupported("the peer has no IPv4 address".to_owned())),
    },
};

/// The ping utility's default payload, bytes.
const PAYLOAD: usize = 56;
/// Between two echoes.
const PAUSE: Duration = Duration::from_millis(100);
/// A reply that takes longer than this is lost.
const TIMEOUT: Duration = Duration::from_secs(2);

fn pings(stage: &Stage, host: IpAddr) -> Result<Series, Failure> {
    let mut ping = Ping::open(host, PAYLOAD)?;
    ping.set_timeout(TIMEOUT).map_err(broke("SO_RCVTIMEO"))?;
    let count = stage.count(100, 10) as u16;
    let (mut values, mut lost) = (vec![], 0);
    for sequence in 1..=count {
        match echoed(&mut ping, sequence, stage) {
            Ok(ns) => values.push(ns),
            Err(_) => lost += 1,
        }
        std::thread::sleep(PAUSE);
    }
    if values.is_empty() {
        return Err(Failure::Broke(format!("none of {count} echo requests to {host} was answered")));
    }
    let series = Series::of(values);
    Ok(if lost > 0 { series.seen(format!("{lost} of {count} echoes were lost.")) } else { series })
}

fn echoed(ping: &mut Ping, sequence: u16, stage: &Stage) -> std::io::Result<f64> {
    let began = stage.site.stopwatch.now_ns();
    ping.send(sequence)?;
    while ping.receive()? != sequence {}
    Ok(stage.site.stopwatch.now_ns() - began)
}

static TCP_HERE: Method = Method {
    name: "TCP round trip, loopback",
    text: "A client sends and then receives, the server receives and then sends, 1000 times with the timer around the loop; ten trials. \
           Everything is on one CPU.",
    differs: "A message is one byte here; the report does not give its size.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(1),
    measure: |stage| turns(stage, LOOPBACK),
};

static TCP_THERE: Method = Method {
    name: "TCP round trip, remote",
    text: "The method over loopback, with the server on the other machine.",
    differs: PEER_IS,
    placement: Placement::AcrossCpus,
    needs: &[Requirement::Peer],
    limit: Duration::from_mins(1),
    measure: |stage| turns(stage, PEER),
};

fn turns(stage: &Stage, path: &str) -> Result<Series, Failure> {
    let other = OtherSide::start(&Service::Echo { transport: Transport::Tcp, bytes: 1 }, path, stage.site)?;
    let mut stream = TcpStream::connect(other.address).map_err(broke("connect"))?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(broke("SO_RCVTIMEO"))?;
    let timed = trials(stage, 1000, 0.9, |n| {
        for _ in 0..n {
            stream.write_all(&[1]).map_err(broke("send"))?;
            stream.read_exact(&mut [0]).map_err(broke("recv"))?;
        }
        Ok(())
    })?;
    drop(stream);
    other.stop()?;
    Ok(series(timed))
}

const ROUND_TRIP: &str = "network/round_trip";

fn by(machine: &Machine, by: &'static str, path: &'static str, payload: u64) -> Point {
    let placement: &[&str] = if path == PEER { &["across-cpus"] } else { &["one-cpu"] };
    let names: &[(&str, &[&str])] =
        &[("transport", &[by]), ("path", &[path]), ("placement", placement), ("loop", &["closed"])];
    nearest(ROUND_TRIP, machine, names, &[("payload", payload)])
}

const fn trip(
    operation: &'static str,
    theirs: &'static str,
    method: &'static Method,
    deviation: Deviation,
    point: fn(&Machine) -> Point,
    misleads: &'static str,
) -> Row {
    Row {
        section: "5.2",
        operation,
        unit: Unit::Nanoseconds,
        per: "",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(method),
        statistic: Statistic::of(Fit::Mean(deviation)),
        fathom: SameQuestion::Point(ROUND_TRIP, point),
        misleads,
    }
}

/// The summary's row; table 14.
pub const ICMP_LOOPBACK: Row = trip(
    "round trip, ICMP, loopback",
    "s000-0286",
    &PING_LOOPBACK,
    Deviation::Population,
    |machine| by(machine, "ICMP echo", LOOPBACK, PAYLOAD as u64),
    "The report's echoes are rare, so each finds the caches and branch predictors cold and the processor asleep; Fathom sends them in \
     close succession. Both results are valid, but the first is not a property of the network alone. The report prints its 0.03 ms with \
     one digit.",
);

/// The summary's row; table 15.
pub const ICMP_REMOTE: Row = trip(
    "round trip, ICMP, remote",
    "s000-0287",
    &PING_REMOTE,
    Deviation::Population,
    |machine| by(machine, "ICMP echo", PEER, PAYLOAD as u64),
    "A few slow round trips dominate a mean over Wi-Fi whose deviation is larger than the mean; the median is typical. With ten echoes per \
     second, each finds both processors asleep.",
);

/// The summary's row; table 16.
pub const TCP_LOOPBACK: Row = trip(
    "round trip, TCP, loopback",
    "s000-0288",
    &TCP_HERE,
    Deviation::Sample,
    |machine| by(machine, "TCP", LOOPBACK, 1),
    "Only slightly misleading: a round trip is two messages, two switches, and TCP. Single interrupts affect the mean of 1000.",
);

/// The summary's row; table 17.
pub const TCP_REMOTE: Row = trip(
    "round trip, TCP, remote",
    "s000-0289",
    &TCP_THERE,
    Deviation::Sample,
    |machine| by(machine, "TCP", PEER, 1),
    "The method is right, but where times vary widely, the slow ones dominate the mean.",
);
