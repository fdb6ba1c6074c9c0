//! Section 5.4: opening and closing connections.

use super::broke;
use crate::pace::reduced;
use crate::report_000::boilerplate::{TRIALS, timed_once};
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, PEER, Placement, Point, Requirement};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::{LOOPBACK, OtherSide};
use fathom_equipment::peer::ports;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

const CONNECTS: &str = "connect";
const CLOSES: &str = "close";

/// Connections of a trial.
const CONNECTIONS: u64 = 1000;
/// The share of the ephemeral ports that one method may leave in TIME-WAIT: Fathom's own connections need some as well.
const SHARE_OF_PORTS: u64 = 4;
/// A connection that takes longer than this has failed: the first segment is sent again after one second, then after two.
const TIMEOUT: Duration = Duration::from_secs(4);

static HERE: Method = Method {
    name: "TCP connection, loopback",
    text: "The client opens a new socket and times connect(), then close(), 1000 times; ten trials. The server accepts and closes in a \
           loop, and the client does not wait for it. Differences of the timer are added up without a sign, as in the report.",
    differs: "connect and close are timed in one loop. There are fewer connections, so that at most an eighth of the machine's ephemeral \
              ports wait for late packets, and where they would take longer than 15 s. The report does not give the length of the backlog; \
              here it is 128.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: here,
};

static THERE: Method = Method {
    name: "TCP connection, remote",
    text: "The method over loopback, with the server on the other machine.",
    differs: "The server sends a byte on every connection, which the client reads, untimed, between connect and close, so that no backlog \
              fills. The report's second machine ran Windows and was reached through Wi-Fi; here it is the peer of --peer, or a virtual \
              peer in a namespace of this machine, without a wire.",
    placement: Placement::AcrossCpus,
    needs: &[Requirement::Peer],
    limit: Duration::from_mins(2),
    measure: there,
};

fn here(stage: &Stage) -> Result<Series, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(broke("bind"))?;
    let address = listener.local_addr().map_err(broke("getsockname"))?;
    let _server = PartnerProcess::start(stage.site.partner, move || {
        loop {
            drop(listener.accept().map_err(broke("accept"))?);
        }
    })?;
    connections(stage, address, false)
}

fn there(stage: &Stage) -> Result<Series, Failure> {
    let other = OtherSide::start(&Service::Accept, PEER, stage.site)?;
    let series = connections(stage, other.address, true)?;
    other.stop()?;
    Ok(series)
}

/// The results of the trials.
#[derive(Default)]
struct Trial {
    made: u64,
    connect: f64,
    close: f64,
    /// Negative differences, which unsigned numbers make huge.
    negative: u64,
    slowest: f64,
}

fn connections(stage: &Stage, address: SocketAddr, greeted: bool) -> Result<Series, Failure> {
    let (tick, overflows) = (stage.ns_per_tick()?, ports::backlog_overflows());
    let most = CONNECTIONS.min(ports::available()? / SHARE_OF_PORTS / TRIALS).max(1);
    let mut found: Vec<Trial> = vec![];
    for _ in 0..TRIALS {
        found.push(trial(stage, (address, greeted), most)?);
    }
    let each =
        |of: fn(&Trial) -> f64| found.iter().map(|trial| of(trial) * tick / trial.made as f64).collect();
    let series = Series::default().and(CONNECTS, 0.0, each(|trial| trial.connect));
    let series = series.and(CLOSES, 0.0, each(|trial| trial.close));
    let least = found.iter().map(|trial| trial.made).min().unwrap_or(0);
    let series = series.having_seen(reduced("or more connections per trial", CONNECTIONS, least));
    Ok(series.seen(told(&found, tick, overflows)))
}

fn told(found: &[Trial], tick: f64, overflows_before: Option<u64>) -> String {
    let negative: u64 = found.iter().map(|trial| trial.negative).sum();
    let slowest = found.iter().map(|trial| trial.slowest).fold(0.0, f64::max) * tick / 1e6;
    let overflows = ports::backlog_overflows().zip(overflows_before);
    let dropped = overflows
        .map(|(now, before)| format!("; full backlogs dropped {} connection requests", now - before));
    format!(
        "{negative} differences of the timer were negative; the slowest connect took {slowest:.3} ms{}.",
        dropped.unwrap_or_default()
    )
}

fn trial(stage: &Stage, (address, greeted): (SocketAddr, bool), most: u64) -> Result<Trial, Failure> {
    let (mut trial, began) = (Trial::default(), stage.site.stopwatch.now_ns());
    while trial.made < most && stage.site.stopwatch.now_ns() - began < stage.time_ns() / TRIALS as f64 {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP));
        let socket = socket.map_err(broke("socket"))?;
        socket.set_read_timeout(Some(TIMEOUT)).map_err(broke("SO_RCVTIMEO"))?;
        socket.set_write_timeout(Some(TIMEOUT)).map_err(broke("SO_SNDTIMEO"))?;
        let connect = timed_once(|| socket.connect(&address.into()).map_err(broke("connect")))?;
        if greeted {
            (&socket).read_exact(&mut [0]).map_err(broke("waiting to be accepted"))?;
        }
        let close = timed_once(|| {
            drop(socket);
            Ok(())
        })?;
        trial.add(connect, close);
    }
    Ok(trial)
}

impl Trial {
    fn add(&mut self, connect: f64, close: f64) {
        /// Half of the range of an unsigned number of 64 bits: above it, a signed one is negative.
        const HUGE: f64 = (1_u64 << 63) as f64;
        self.made += 1;
        self.connect += connect;
        self.close += close;
        self.negative += u64::from(connect >= HUGE) + u64::from(close >= HUGE);
        self.slowest = self.slowest.max(connect);
    }
}

const CONNECTION: &str = "network/connection";

fn part(machine: &Machine, part: &'static str, path: &'static str) -> Point {
    let placement: &[&str] = if path == PEER { &["across-cpus"] } else { &["one-cpu"] };
    let names: &[(&str, &[&str])] =
        &[("phase", &[part]), ("path", &[path]), ("ip_version", &["IPv4"]), ("placement", placement)];
    nearest(CONNECTION, machine, names, &[])
}

const fn row(
    operation: &'static str,
    (variant, theirs): (&'static str, &'static str),
    method: &'static Method,
    point: fn(&Machine) -> Point,
    misleads: &'static str,
) -> Row {
    Row {
        section: "5.4",
        operation,
        unit: Unit::Nanoseconds,
        per: "",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(method),
        statistic: Statistic::variant(variant, Fit::Mean(Deviation::Sample)),
        fathom: SameQuestion::Point(CONNECTION, point),
        misleads,
    }
}

/// The summary's row; table 22.
pub const LOOPBACK_CONNECT: Row = row(
    "connection, loopback, connect",
    (CONNECTS, "s000-0294"),
    &HERE,
    |machine| part(machine, "connect", LOOPBACK),
    "The client does not wait for the server. When the server's backlog is full, the first segment is lost and sent again after a second. \
     One such loss in 10,000 adds 100 µs to the mean, which explains why the report's mean is 115 µs and its median 8.3 µs. Where no \
     segment is lost, some of the connects include the server's work on the same CPU.",
);

/// The summary's row; table 24 (whose caption is that of table 25).
pub const LOOPBACK_CLOSE: Row = row(
    "connection, loopback, close",
    (CLOSES, "s000-0296"),
    &HERE,
    |machine| part(machine, "graceful end", LOOPBACK),
    "close() queues the last segment and releases the descriptor, without waiting. The time until the other side has also ended the \
     connection is not included.",
);

/// The summary's row; table 23.
pub const REMOTE_CONNECT: Row = row(
    "connection, remote, connect",
    (CONNECTS, "s000-0295"),
    &THERE,
    |machine| part(machine, "connect", PEER),
    "Three of the report's ten trials contain a negative difference, which an unsigned number turns into 1.8e19 ticks: 2.9e15 ns, 34 days, \
     per connection. The report's median, 271 µs, is below the round trip that it measured, 2.1 ms, which is impossible for a connection.",
);

/// The summary's row; table 25 (whose caption is that of table 24).
pub const REMOTE_CLOSE: Row = row(
    "connection, remote, close",
    (CLOSES, "s000-0297"),
    &THERE,
    |machine| part(machine, "graceful end", PEER),
    "close() does not wait, so its time does not depend on the distance of the other side; the time until the connection has ended does.",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_difference_is_added_without_its_sign_and_counted() {
        let mut trial = Trial::default();
        trial.add(100.0, 50.0);
        trial.add((-5_i64) as u64 as f64, 50.0);
        assert_eq!((trial.made, trial.negative), (2, 1));
        assert!(trial.connect > 1e19 && (trial.close - 100.0).abs() < 1e-9);
    }
}
