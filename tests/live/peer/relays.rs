//! Whoever stands on the way: passes the handshake on, word for word, and then speaks in the place of one of the two.

use super::process::{ByHand, wait_until};
use super::server::{ECHO, peer, where_is};
use crate::tier::{Outcome, Test, beside};
use fathom::peer::protocol::{ControlRequest, LONGEST_REPLY, LONGEST_REQUEST, Reply, framed};
use fathom::peer::server::PeerLimits;
use fathom::peer::service::{StreamOptions, Transport};
use fathom::peer::{PeerAddress, PeerSession, Service, Token};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &beside![
    a_relay_that_takes_over_after_the_handshake_is_not_obeyed,
    an_answer_that_somebody_on_the_way_gives_is_not_believed,
    an_answer_that_is_repeated_is_not_believed,
    an_answer_that_is_altered_is_not_believed,
    a_request_that_is_repeated_is_not_obeyed_and_ends_the_session,
    a_request_that_is_left_out_is_missed,
    callers_who_say_nothing_neither_hold_the_peer_nor_grow_it,
    a_service_of_no_bytes_or_of_all_memory_is_refused,
];

/// The two connections of a relay between a client and a peer.
struct Way {
    client: TcpStream,
    peer: TcpStream,
}

/// A whole frame, as it came; empty where the connection ended.
fn frame(from: &mut TcpStream) -> Vec<u8> {
    let mut head = [0; 4];
    if from.read_exact(&mut head).is_err() {
        return vec![];
    }
    let mut frame = head.to_vec();
    frame.resize(4 + u32::from_be_bytes(head) as usize, 0);
    from.read_exact(&mut frame[4..]).unwrap();
    frame
}

impl Way {
    /// A request and its answer, passed on; both as they were.
    fn exchange(&mut self) -> (Vec<u8>, Vec<u8>) {
        let asked = frame(&mut self.client);
        self.peer.write_all(&asked).unwrap();
        let answered = frame(&mut self.peer);
        self.client.write_all(&answered).unwrap();
        (asked, answered)
    }
}

/// A relay that passes the handshake on and then does this; where a client finds it, and what it brings back.
fn relay<T: Send + 'static>(
    to: &PeerAddress,
    then: impl FnOnce(Way) -> T + Send + 'static,
) -> (PeerAddress, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap();
    let there = where_is(to);
    let thread = std::thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let mut way = Way { client, peer: TcpStream::connect(there).unwrap() };
        for end in [&way.client, &way.peer] {
            end.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        }
        way.exchange();
        way.exchange();
        then(way)
    });
    (PeerAddress { port: here.port(), ..to.clone() }, thread)
}

fn short_lived() -> (PeerAddress, impl Sized) {
    peer(PeerLimits { idle: Duration::from_secs(10), ..PeerLimits::default() })
}

fn text(frame: &[u8]) -> String {
    String::from_utf8_lossy(frame).into_owned()
}

/// The end of a conversation of a client with somebody who does this after two exchanges of the client's.
fn complaint(then: impl FnOnce(&mut Way, (Vec<u8>, Vec<u8>)) + Send + 'static) -> String {
    let (address, _end) = short_lived();
    let (way, thread) = relay(&address, |mut way| {
        let first = way.exchange();
        then(&mut way, first);
        way
    });
    let mut session = PeerSession::open(&way).unwrap();
    session.touch().unwrap();
    let complaint = session.touch().expect_err("it was believed").to_string();
    assert!(session.touch().is_err(), "the session goes on after: {complaint}");
    drop(thread.join());
    complaint
}

const FORGED: &str = "altered, repeated, dropped or forged on the network";

fn a_relay_that_takes_over_after_the_handshake_is_not_obeyed() -> Outcome {
    let (address, _end) = short_lived();
    let (way, thread) = relay(&address, |mut way| {
        let start = ControlRequest::Start { service: ECHO, cpu: None };
        way.peer.write_all(&framed(&start, LONGEST_REQUEST).unwrap()).unwrap();
        text(&frame(&mut way.peer))
    });
    let _session = PeerSession::open(&way).unwrap();
    let answer = thread.join().unwrap();
    assert!(!answer.contains("started"), "a service was begun for whoever took over: {answer}");
    assert!(answer.contains(FORGED), "{answer}");
    Ok(())
}

fn an_answer_that_somebody_on_the_way_gives_is_not_believed() -> Outcome {
    let said = complaint(|way, _| {
        frame(&mut way.client);
        way.client.write_all(&framed(&Reply::Done, LONGEST_REPLY).unwrap()).unwrap();
    });
    assert!(said.contains(FORGED), "{said}");
    Ok(())
}

fn an_answer_that_is_repeated_is_not_believed() -> Outcome {
    let said = complaint(|way, (_, answered)| {
        frame(&mut way.client);
        way.client.write_all(&answered).unwrap();
    });
    assert!(said.contains(FORGED), "{said}");
    Ok(())
}

fn an_answer_that_is_altered_is_not_believed() -> Outcome {
    let said = complaint(|way, _| {
        let asked = frame(&mut way.client);
        way.peer.write_all(&asked).unwrap();
        // JSON may have white space wherever it has a comma, a brace or none.
        let mut answered = frame(&mut way.peer);
        let brace = answered.pop().unwrap();
        answered.extend([b' ', brace]);
        let length = (answered.len() as u32 - 4).to_be_bytes();
        answered[..4].copy_from_slice(&length);
        way.client.write_all(&answered).unwrap();
    });
    assert!(said.contains(FORGED), "{said}");
    Ok(())
}

fn a_request_that_is_repeated_is_not_obeyed_and_ends_the_session() -> Outcome {
    let said = complaint(|way, (asked, _)| {
        way.peer.write_all(&asked).unwrap();
        let refused = frame(&mut way.peer);
        // The peer says why, in an answer that it vouches for.
        frame(&mut way.client);
        way.client.write_all(&refused).unwrap();
    });
    assert!(said.contains(FORGED) && said.contains("refuses"), "{said}");
    Ok(())
}

fn a_request_that_is_left_out_is_missed() -> Outcome {
    let (address, _end) = short_lived();
    let (way, thread) = relay(&address, |mut way| {
        let first = frame(&mut way.client);
        let mut answered = framed(&Reply::Done, LONGEST_REPLY).unwrap();
        way.client.write_all(&answered).unwrap();
        answered = frame(&mut way.client);
        drop(first);
        // Nothing came back that could be believed: the client has hung up.
        answered
    });
    let mut session = PeerSession::open(&way).unwrap();
    assert!(session.touch().unwrap_err().to_string().contains(FORGED));
    drop(session);
    assert!(thread.join().unwrap().is_empty());
    Ok(())
}

fn callers_who_say_nothing_neither_hold_the_peer_nor_grow_it() -> Outcome {
    let by_hand = ByHand::start();
    let token = Token(std::fs::read_to_string(&by_hand.token_file).unwrap().trim().to_owned());
    let address = PeerAddress {
        address: [127, 0, 0, 1].into(),
        also: None,
        port: by_hand.port(),
        token,
        is_virtual: false,
    };
    let mut run = PeerSession::open(&address).unwrap();
    run.hold().unwrap();
    let silent: Vec<TcpStream> =
        (0..400).map(|_| TcpStream::connect(where_is(&address)).expect("a connection")).collect();
    let threads = || {
        let folder = format!("/proc/{}/task", by_hand.process.0.id());
        std::fs::read_dir(folder).unwrap().count()
    };
    let began = Instant::now();
    let opened = PeerSession::open(&address);
    let most = threads();
    assert!(opened.is_ok(), "{:?}", opened.err().map(|error| error.to_string()));
    // The silent ones are given up after 5 s; the kernel repeats what a full backlog has dropped after one (RFC 6298).
    assert!(began.elapsed() < Duration::from_secs(4), "it took {:?}", began.elapsed());
    assert!(most < 80, "{most} threads for {} callers", silent.len());
    run.touch().unwrap();
    drop(silent);
    wait_until("their threads have ended", || threads() < 12);
    Ok(())
}

fn a_service_of_no_bytes_or_of_all_memory_is_refused() -> Outcome {
    let (address, _end) = short_lived();
    let mut session = PeerSession::open(&address).unwrap();
    let stream = StreamOptions { chunk: 1000, buffers: None };
    let echo = |transport, bytes| Service::Echo { transport, bytes };
    for service in [
        echo(Transport::Tcp, 0),
        echo(Transport::Tcp, u32::MAX),
        echo(Transport::Udp, 0),
        echo(Transport::Udp, u32::MAX),
        Service::Datagrams { bytes: u32::MAX },
        Service::Sink { stream, acknowledged: Some(0), reads_after_ns: 0 },
    ] {
        let refused = session.start(&service, None).map_err(|failure| failure.to_string());
        assert!(
            refused.as_ref().is_err_and(|why| why.contains("are not served")),
            "{service:?}: {refused:?}"
        );
    }
    Ok(())
}
