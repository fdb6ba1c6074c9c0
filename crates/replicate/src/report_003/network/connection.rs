//! Section 4.3 (network): `connect` and `close`.

use super::round_trip::of_peer;
use super::{LOOPBACK, PEER, TIMEOUT, broke, on_path};
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Requirement};
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::OtherSide;
use socket2::{Domain, Socket, Type};
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_mins(1);
const CONNECTIONS: usize = 100;
const SETUP: &str = "connect";
const TEARDOWN: &str = "close";

const LOCAL: Method = Method {
    name: "connection, loopback",
    text: "The client calls connect() to a server that accepts, timed from before the call until it returns; then close(), timed in the \
           same way. No data are sent.",
    differs: "The report does not print how often: here 100 times.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: local,
};

const REMOTE: Method = Method {
    name: "connection, remote",
    text: "The client calls connect() to a server on a second machine, timed from before the call until it returns; then close(), timed in \
           the same way.",
    differs: "The report does not print how often: here 100 times. The server is Fathom's peer, which sends a byte when it has accepted; \
              the client reads it, untimed, before close(), because otherwise close() would reset the connection. The host that --peer \
              names replaces the second Mac on Wi-Fi.",
    placement: Placement::AcrossCpus,
    needs: &[Requirement::Peer],
    limit: LIMIT,
    measure: remote,
};

/// Opening over loopback.
pub const SETUP_LOCAL_ROW: Row = Row {
    section: "4.3 (network)",
    operation: "connection setup, loopback",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0534"),
    replica: Replica::By(&LOCAL),
    statistic: Statistic::variant(SETUP, Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("network/connection", |machine| end(machine, LOOPBACK, "connect")),
    misleads: "Both methods time the call as the client sees it; when it returns, the server does not yet know of the connection. The mean \
               includes the first connections. On one CPU the server has not yet handled the end of the previous connection, so connect() \
               wakes no process. In Fathom's method the server waits and must be woken.",
};

/// Opening to a second machine.
pub const SETUP_REMOTE_ROW: Row = Row {
    operation: "connection setup, remote",
    theirs: Theirs::Printed("s003-0535"),
    replica: Replica::By(&REMOTE),
    fathom: SameQuestion::Point("network/connection", |machine| end(machine, PEER, "connect")),
    misleads: "Both methods time the same call. The report takes a mean, which single slow answers move; Fathom takes a median. The \
               report's table compares a mean of 2.6 ms with a round trip of 1.1 ms that is the least of a hundred.",
    ..SETUP_LOCAL_ROW
};

const CLOSE_MISLEADS: &str = "close() releases the descriptor and queues a last segment; it does not wait for the other side. Fathom times \
                              until both sides have ended the connection, which takes a round trip and wakes two processes.";

/// Ending over loopback.
pub const TEARDOWN_LOCAL_ROW: Row = Row {
    operation: "connection teardown, loopback",
    theirs: Theirs::Printed("s003-0536"),
    statistic: Statistic::variant(TEARDOWN, Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("network/connection", |machine| end(machine, LOOPBACK, "graceful end")),
    misleads: CLOSE_MISLEADS,
    ..SETUP_LOCAL_ROW
};

/// Ending with a second machine.
pub const TEARDOWN_REMOTE_ROW: Row = Row {
    operation: "connection teardown, remote",
    theirs: Theirs::Printed("s003-0537"),
    replica: Replica::By(&REMOTE),
    fathom: SameQuestion::Point("network/connection", |machine| end(machine, PEER, "graceful end")),
    ..TEARDOWN_LOCAL_ROW
};

fn end(
    machine: &fathom_core::machine::Machine,
    path: &'static str,
    part: &'static str,
) -> fathom_core::experiment::Point {
    on_path("network/connection", machine, path, &[("phase", part), ("ip_version", "IPv4")], &[])
}

fn local(stage: &Stage) -> Result<Series, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| broke("bind", &error))?;
    let address = listener.local_addr().map_err(|error| broke("getsockname", &error))?;
    let _server = PartnerProcess::start(stage.site.partner, move || {
        loop {
            let (mut client, _) = listener.accept().map_err(|error| broke("accept", &error))?;
            client.read(&mut [0]).map_err(|error| broke("waiting for the client", &error))?;
        }
    })?;
    connections(address, false)
}

fn remote(stage: &Stage) -> Result<Series, Failure> {
    let other = OtherSide::start(&Service::Accept, PEER, stage.site)?;
    let series = connections(other.address, true)?;
    other.stop()?;
    Ok(of_peer(stage, series))
}

/// Connections to a server, one after the other: the times of opening and of closing each.
pub fn connections(server: SocketAddr, greeted: bool) -> Result<Series, Failure> {
    let (mut opened, mut closed) = (vec![], vec![]);
    for _ in 0..CONNECTIONS {
        let socket = Socket::new(Domain::for_address(server), Type::STREAM, None);
        let mut socket = socket.map_err(|error| broke("socket", &error))?;
        socket.set_read_timeout(Some(TIMEOUT)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
        let began = Instant::now();
        socket.connect(&server.into()).map_err(|error| broke("connect", &error))?;
        opened.push(began.elapsed().as_nanos() as f64);
        if greeted {
            socket.read_exact(&mut [0]).map_err(|error| broke("the server's greeting", &error))?;
        }
        let began = Instant::now();
        drop(socket);
        closed.push(began.elapsed().as_nanos() as f64);
    }
    Ok(Series::default().and(SETUP, 0.0, opened).and(TEARDOWN, 0.0, closed))
}
