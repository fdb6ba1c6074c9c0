//! A peer inside the test: what it does for whom it lets in, and its limits.

use crate::tier::{Outcome, Test, alone};
use fathom::peer::server::{PeerEnd, PeerLimits, Server};
use fathom::peer::service::Transport;
use fathom::peer::{PeerAddress, PeerSession, Service, Token};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

pub const TESTS: &[Test] = &alone![
    a_run_is_served_and_nothing_listens_when_it_has_left,
    a_service_ends_with_the_trial_that_asked_for_it,
    a_peer_is_held_by_one_run,
    a_service_is_for_its_caller_alone,
    it_ends_when_nobody_is_heard_of,
    it_ends_when_it_has_lived_or_moved_as_much_as_it_may,
    it_takes_only_so_many_connections,
];

pub const ECHO: Service = Service::Echo { transport: Transport::Tcp, bytes: 4 };

/// A peer on loopback, where it is, and what it says at its end.
pub fn peer(limits: PeerLimits) -> (PeerAddress, JoinHandle<PeerEnd>) {
    let token = Token("0123456789abcdef".to_owned());
    let server = Server::bind(&[SocketAddr::from(([127, 0, 0, 1], 0))], token.clone(), limits).unwrap();
    let there = server.addresses().unwrap()[0];
    let address =
        PeerAddress { address: there.ip(), also: None, port: there.port(), token, is_virtual: false };
    (address, std::thread::spawn(move || server.run().unwrap()))
}

pub fn where_is(peer: &PeerAddress) -> SocketAddr {
    SocketAddr::new(peer.address, peer.port)
}

/// Whether anything on this machine listens at a port.
pub fn listens(port: u16) -> bool {
    !listeners(port).is_empty()
}

/// What listens at a port, at any address (`0A` in the kernel's table): its lines there, so that a failure says which it is.
fn listeners(port: u16) -> Vec<String> {
    let (there, mut table) = (format!(":{port:04X} "), String::new());
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        table += &std::fs::read_to_string(file).unwrap_or_default();
    }
    let is_there = |line: &&str| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next().unwrap_or_default().to_owned() + " ";
        local.ends_with(&there) && fields.nth(1) == Some("0A")
    };
    table.lines().filter(is_there).map(str::to_owned).collect()
}

/// That nothing listens any more at the address of one of these peers or services, which are at 127.0.0.1. Others may have the port at
/// another address.
fn assert_left(port: u16) {
    let mut at_address = listeners(port);
    let local = |line: &str| line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    at_address.retain(|line| ["0100007F:", "00000000:"].iter().any(|own| local(line).starts_with(own)));
    assert!(at_address.is_empty(), "{at_address:?} listens at port {port} of 127.0.0.1");
}

fn echoed(stream: &mut TcpStream) -> bool {
    let mut back = [0; 4];
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    stream.write_all(b"ping").and_then(|()| stream.read_exact(&mut back)).is_ok() && &back == b"ping"
}

fn a_run_is_served_and_nothing_listens_when_it_has_left() -> Outcome {
    let (address, end) = peer(PeerLimits::default());
    let mut run = PeerSession::open(&address).unwrap();
    run.hold().unwrap();
    assert!(listens(address.port));
    let mut trial = PeerSession::open(&address).unwrap();
    let service = trial.start(&ECHO, None).unwrap();
    assert!(echoed(&mut TcpStream::connect(service).unwrap()));
    let report = trial.stop().unwrap();
    assert_eq!((report.connections, report.messages, report.received_bytes), (1, 1, 4));
    assert_left(service.port());
    run.touch().unwrap();
    assert!(run.describe().is_ok());
    drop(run);
    assert_eq!(end.join().unwrap(), PeerEnd::ClientLeft);
    assert_left(address.port);
    Ok(())
}

fn a_service_ends_with_the_trial_that_asked_for_it() -> Outcome {
    let (address, end) = peer(PeerLimits::default());
    let mut run = PeerSession::open(&address).unwrap();
    run.hold().unwrap();
    let mut trial = PeerSession::open(&address).unwrap();
    let service = trial.start(&ECHO, None).unwrap();
    assert!(trial.start(&ECHO, None).is_err(), "one service at a time");
    drop(trial);
    super::process::wait_until("the service ends", || !listens(service.port()));
    // And with the run, whoever asked for it.
    let mut other = PeerSession::open(&address).unwrap();
    let service = other.start(&ECHO, None).unwrap();
    drop(run);
    assert_eq!(end.join().unwrap(), PeerEnd::ClientLeft);
    assert_left(service.port());
    Ok(())
}

fn a_peer_is_held_by_one_run() -> Outcome {
    let (address, _end) = peer(PeerLimits { idle: Duration::from_secs(3), ..PeerLimits::default() });
    let mut one = PeerSession::open(&address).unwrap();
    one.hold().unwrap();
    let refused = PeerSession::open(&address).unwrap().hold().unwrap_err().to_string();
    assert!(refused.contains("another run"), "{refused}");
    Ok(())
}

fn a_service_is_for_its_caller_alone() -> Outcome {
    let (address, _end) = peer(PeerLimits { idle: Duration::from_secs(3), ..PeerLimits::default() });
    let mut trial = PeerSession::open(&address).unwrap();
    let service = trial.start(&Service::Echo { transport: Transport::Udp, bytes: 4 }, None).unwrap();
    let answered = |from: &str| {
        let socket = UdpSocket::bind((from, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        socket.send_to(b"ping", service).unwrap();
        socket.recv(&mut [0; 4]).is_ok()
    };
    assert!(answered("127.0.0.1"));
    assert!(!answered("127.0.0.2"), "somebody else was served");
    Ok(())
}

fn it_ends_when_nobody_is_heard_of() -> Outcome {
    let idle = Duration::from_millis(300);
    let (address, end) = peer(PeerLimits { idle, ..PeerLimits::default() });
    assert_eq!(end.join().unwrap(), PeerEnd::Idle(idle));
    assert_left(address.port);
    // A client that holds it and then says nothing has gone too: its network may have.
    let (address, end) = peer(PeerLimits { idle, ..PeerLimits::default() });
    let mut run = PeerSession::open(&address).unwrap();
    run.hold().unwrap();
    assert_eq!(end.join().unwrap(), PeerEnd::Idle(idle));
    Ok(())
}

fn it_ends_when_it_has_lived_or_moved_as_much_as_it_may() -> Outcome {
    let lifetime = Duration::from_millis(300);
    let (_, end) = peer(PeerLimits { lifetime, ..PeerLimits::default() });
    assert_eq!(end.join().unwrap(), PeerEnd::Lifetime(lifetime));
    let (address, end) = peer(PeerLimits { bytes: 7, ..PeerLimits::default() });
    let mut trial = PeerSession::open(&address).unwrap();
    let service = trial.start(&ECHO, None).unwrap();
    assert!(echoed(&mut TcpStream::connect(service).unwrap()));
    assert_eq!(end.join().unwrap(), PeerEnd::Bytes(7), "4 bytes there and 4 back are 8");
    assert_left(service.port());
    Ok(())
}

fn it_takes_only_so_many_connections() -> Outcome {
    let (address, _end) =
        peer(PeerLimits { connections: 2, idle: Duration::from_secs(3), ..PeerLimits::default() });
    let (_one, two) = (PeerSession::open(&address).unwrap(), PeerSession::open(&address).unwrap());
    let refused = PeerSession::open(&address).unwrap_err().to_string();
    assert!(refused.contains("its maximum of connections"), "{refused}");
    drop(two);
    super::process::wait_until("a place becomes free", || PeerSession::open(&address).is_ok());
    Ok(())
}
