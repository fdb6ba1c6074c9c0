//! Section 4.1 (network): the round trip of a message and its echo.

use super::{LOOPBACK, PEER, TIMEOUT, broke, on_path};
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Requirement};
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::OtherSide;
use fathom_equipment::peer::ping::{Ping, THIS_HOST};
use fathom_equipment::peer::service::Transport;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_mins(1);
/// The report's payload, which is that of ping, bytes.
const PAYLOAD: usize = 56;
const SAMPLES: u64 = 100;
/// The pause between two pings.
const PAUSE: Duration = Duration::from_millis(100);
const QUICK_PAUSE: Duration = Duration::from_millis(10);

const TCP_LOCAL: Method = Method {
    name: "TCP ping, loopback",
    text: "A client sends 56 bytes over an open TCP connection and waits until all of them have come back from an echo server, which \
           serves many clients with select(). This is done 100 times, each timed from before send() to after the last recv().",
    differs: "The server is one process without a thread for each client.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: tcp_local,
};

const TCP_REMOTE: Method = Method {
    name: "TCP ping, remote",
    text: "The client exchanges the same messages with an echo server on a second machine.",
    differs: "The echo server is Fathom's peer, which waits in read() and sends without delay (TCP_NODELAY); with one message at a time, \
              neither makes much difference. The host that --peer names replaces the second Mac on Wi-Fi.",
    placement: Placement::AcrossCpus,
    needs: &[Requirement::Peer],
    limit: LIMIT,
    measure: tcp_remote,
};

const PING_LOCAL: Method = Method {
    name: "ping, loopback",
    text: "The program sends 100 ICMP echo requests of 56 data bytes one after the other, as ping does. Runs that lost a request were \
           repeated.",
    differs: "ping waits one second between requests; Fathom waits 0.1 s (with --quick 0.01 s).",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: ping_local,
};

const PING_REMOTE: Method = Method {
    name: "ping, remote",
    text: "The program sends 100 ICMP echo requests of 56 data bytes to a second machine one after the other, as ping does. Runs that lost \
           a request were repeated.",
    differs: "ping waits one second between requests; Fathom waits 0.1 s (with --quick 0.01 s). The host that --peer names replaces the \
              second Mac on Wi-Fi.",
    placement: Placement::AcrossCpus,
    needs: &[Requirement::Peer],
    limit: LIMIT,
    measure: ping_remote,
};

const LEAST: Statistic = Statistic::of(Fit::Minimum);

/// TCP over loopback.
pub const TCP_LOCAL_ROW: Row = Row {
    section: "4.1 (network)",
    operation: "round trip, TCP, loopback",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0530"),
    replica: Replica::By(&TCP_LOCAL),
    statistic: LEAST,
    fathom: SameQuestion::Point("network/round_trip", |machine| {
        on_path(
            "network/round_trip",
            machine,
            LOOPBACK,
            &[("transport", "TCP"), ("loop", "closed")],
            &[("payload", 56)],
        )
    }),
    misleads: "The least of a hundred shows how fast a message can be, not how fast it usually is: the section prints a mean 1.8 times as \
               long. For every message the server makes one more system call, select(), and there is no warm-up before the hundred \
               messages. Nagle's algorithm stays on, which does not matter while only one message is in flight.",
};

/// TCP to a second machine.
pub const TCP_REMOTE_ROW: Row = Row {
    operation: "round trip, TCP, remote",
    theirs: Theirs::Printed("s003-0531"),
    replica: Replica::By(&TCP_REMOTE),
    fathom: SameQuestion::Point("network/round_trip", |machine| {
        on_path(
            "network/round_trip",
            machine,
            PEER,
            &[("transport", "TCP"), ("loop", "closed")],
            &[("payload", 56)],
        )
    }),
    misleads: "The least of a hundred shows how fast a message can be; on the report's Wi-Fi the mean was 1.7 times as long.",
    ..TCP_LOCAL_ROW
};

/// ICMP over loopback.
pub const PING_LOCAL_ROW: Row = Row {
    operation: "round trip, ping, loopback",
    theirs: Theirs::Printed("s003-0349"),
    replica: Replica::By(&PING_LOCAL),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("network/round_trip", |machine| {
        on_path(
            "network/round_trip",
            machine,
            LOOPBACK,
            &[("transport", "ICMP echo"), ("loop", "closed")],
            &[("payload", 56)],
        )
    }),
    misleads: "The processor idles between two pings; when it wakes, its caches and branch predictors are cold and its frequency is low. \
               The figure is therefore for a rare message. The report explains by ARP that TCP is faster, but loopback does not use ARP.",
    ..TCP_LOCAL_ROW
};

/// ICMP to a second machine.
pub const PING_REMOTE_ROW: Row = Row {
    operation: "round trip, ping, remote",
    theirs: Theirs::Printed("s003-0351"),
    replica: Replica::By(&PING_REMOTE),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("network/round_trip", |machine| {
        on_path(
            "network/round_trip",
            machine,
            PEER,
            &[("transport", "ICMP echo"), ("loop", "closed")],
            &[("payload", 56)],
        )
    }),
    misleads: "One answer of 137 ms moves the mean (the deviation was twice the mean), and the messages are so rare that both hosts idle \
               between them. Runs with a lost message were discarded, so loss is not reported.",
    ..TCP_LOCAL_ROW
};

fn tcp_local(stage: &Stage) -> Result<Series, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| broke("bind", &error))?;
    let address = listener.local_addr().map_err(|error| broke("getsockname", &error))?;
    let _server = PartnerProcess::start(stage.site.partner, move || echo_server(&listener))?;
    let stream = TcpStream::connect(address).map_err(|error| broke("connect", &error))?;
    conversation(stream)
}

fn tcp_remote(stage: &Stage) -> Result<Series, Failure> {
    let echo = Service::Echo { transport: Transport::Tcp, bytes: PAYLOAD as u32 };
    let other = OtherSide::start(&echo, PEER, stage.site)?;
    let connected = TcpStream::connect_timeout(&other.address, TIMEOUT);
    let series = conversation(connected.map_err(|error| broke("connect", &error))?)?;
    other.stop()?;
    Ok(of_peer(stage, series))
}

/// Adds a sentence where the peer is a virtual one.
pub fn of_peer(stage: &Stage, series: Series) -> Series {
    match &stage.site.peer {
        Some(peer) if peer.is_virtual => series.seen(
            "The remote side is a virtual peer, a network namespace of this machine: no wire is between them."
                .to_owned(),
        ),
        _ => series,
    }
}

/// A hundred messages and their echoes.
pub fn conversation(mut stream: TcpStream) -> Result<Series, Failure> {
    stream.set_read_timeout(Some(TIMEOUT)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
    let (message, mut echo) = ([0x5a; PAYLOAD], [0; PAYLOAD]);
    let mut values = vec![];
    for _ in 0..SAMPLES {
        let began = Instant::now();
        stream.write_all(&message).map_err(|error| broke("send", &error))?;
        stream.read_exact(&mut echo).map_err(|error| broke("recv of the echo", &error))?;
        values.push(began.elapsed().as_nanos() as f64);
    }
    Ok(Series::of(values))
}

/// Waits with `select` for clients and their data, and sends the data back.
pub fn echo_server(listener: &TcpListener) -> Result<(), Failure> {
    let mut clients: Vec<TcpStream> = vec![];
    let mut buffer = [0; 4096];
    loop {
        let descriptors = clients.iter().map(AsRawFd::as_raw_fd).chain([listener.as_raw_fd()]);
        let ready = select(&descriptors.collect::<Vec<_>>())?;
        if ready.contains(&listener.as_raw_fd()) {
            let (client, _) = listener.accept().map_err(|error| broke("accept", &error))?;
            clients.push(client);
        }
        let heard = |mut client: &TcpStream, buffer: &mut [u8]| {
            let bytes = client.read(buffer)?;
            client.write_all(&buffer[..bytes]).map(|()| bytes > 0)
        };
        clients.retain(|client| {
            !ready.contains(&client.as_raw_fd()) || heard(client, &mut buffer).unwrap_or(false)
        });
    }
}

/// Waits until some of the descriptors can be read, and returns these.
fn select(descriptors: &[i32]) -> Result<Vec<i32>, Failure> {
    let most = descriptors.iter().copied().max().unwrap_or(0);
    if most >= libc::FD_SETSIZE as i32 {
        return Err(Failure::Broke("more descriptors than select() takes".to_owned()));
    }
    // SAFETY: descriptors are below the number of bits of the set; select changes the set alone.
    unsafe {
        let mut set: libc::fd_set = std::mem::zeroed();
        for descriptor in descriptors {
            libc::FD_SET(*descriptor, &raw mut set);
        }
        let null = std::ptr::null_mut();
        if libc::select(most + 1, &raw mut set, null, null, null.cast()) < 0 {
            return Err(Failure::last("select"));
        }
        Ok(descriptors
            .iter()
            .copied()
            .filter(|descriptor| libc::FD_ISSET(*descriptor, &raw const set))
            .collect())
    }
}

fn ping_local(stage: &Stage) -> Result<Series, Failure> {
    pings(THIS_HOST, stage)
}

fn ping_remote(stage: &Stage) -> Result<Series, Failure> {
    match &stage.site.peer {
        Some(peer) => Ok(of_peer(stage, pings(peer.address, stage)?)),
        None => Err(Failure::Unsupported("there is no peer".to_owned())),
    }
}

fn pings(host: IpAddr, stage: &Stage) -> Result<Series, Failure> {
    let mut ping = Ping::open(host, PAYLOAD)?;
    ping.set_timeout(Duration::from_secs(1)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
    let pause = if stage.quick { QUICK_PAUSE } else { PAUSE };
    let (mut values, mut lost) = (vec![], 0_u64);
    for sequence in 0.. {
        if values.len() as u64 == SAMPLES {
            break;
        }
        if lost == SAMPLES / 4 {
            return Err(Failure::Broke(format!("{lost} echo requests were not answered within a second")));
        }
        std::thread::sleep(pause);
        match answered(&mut ping, sequence)? {
            Some(ns) => values.push(ns),
            None => lost += 1,
        }
    }
    let series = Series::of(values);
    Ok(if lost == 0 {
        series
    } else {
        series.seen(format!("{lost} requests were not answered; they are not in the figure."))
    })
}

/// Nanoseconds until the answer; `None` if none arrived.
fn answered(ping: &mut Ping, sequence: u16) -> Result<Option<f64>, Failure> {
    let began = Instant::now();
    ping.send(sequence).map_err(|error| broke("an echo request", &error))?;
    loop {
        match ping.receive() {
            // The answer to an earlier request that was given up.
            Ok(other) if other != sequence => {}
            Ok(_) => return Ok(Some(began.elapsed().as_nanos() as f64)),
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(broke("an echo reply", &error)),
        }
    }
}
