//! What is said to a peer and by one: the parser never panics, never holds more than it was given and does not care in which
//! pieces the bytes come; a peer serves its run whoever else calls, and a client says what is wrong with an answer.

use super::input::Input;
use fathom::peer::protocol::{
    ControlRequest, Frames, Hello, LONGEST_REPLY, LONGEST_REQUEST, Malformed, Reply, framed,
};
use fathom::peer::server::{PeerLimits, Server};
use fathom::peer::service::Transport;
use fathom::peer::{PeerAddress, PeerSession, Service, Token};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a proper client would say, all of it.
fn requests() -> Vec<Vec<u8>> {
    let requests = [
        ControlRequest::Hello(Hello::ours("ab".repeat(32))),
        ControlRequest::Proof { proof: "cd".repeat(32) },
        ControlRequest::Hold,
        ControlRequest::Touch,
        ControlRequest::Describe,
        ControlRequest::Start {
            service: Service::Echo { transport: Transport::Tcp, bytes: 4 },
            cpu: Some(1),
        },
        ControlRequest::Stop,
    ];
    requests.iter().map(|request| framed(request, LONGEST_REQUEST).unwrap()).collect()
}

/// What a peer would say.
fn replies() -> Vec<Vec<u8>> {
    let replies = [
        Reply::Challenge(Hello::ours("ab".repeat(32))),
        Reply::Welcome { proof: "cd".repeat(32) },
        Reply::Done,
        Reply::Started { port: 7 },
        Reply::Stopped(Box::default()),
        Reply::Refused { reason: "no".to_owned() },
    ];
    replies.iter().map(|reply| framed(reply, LONGEST_REPLY).unwrap()).collect()
}

/// A few messages, spoilt; or bytes that never were any.
fn conversation(messages: &[Vec<u8>], input: &mut Input) -> Vec<u8> {
    if input.below(8) == 1 {
        return input.rest();
    }
    let count = input.below(4) + 1;
    let bytes = (0..count).flat_map(|_| messages[input.below(messages.len())].clone()).collect();
    input.spoil(bytes)
}

/// Every message in these bytes, and what ends them, when they come in these pieces.
fn taken(pieces: &[&[u8]]) -> (Vec<ControlRequest>, Option<Malformed>) {
    let (mut frames, mut messages) = (Frames::new(LONGEST_REQUEST), vec![]);
    for piece in pieces {
        frames.extend(piece);
        loop {
            match frames.take() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(malformed) => return (messages, Some(malformed)),
            }
        }
    }
    (messages, None)
}

fn parsed(bytes: &[u8], cut: usize) -> Result<(), String> {
    let whole = taken(&[bytes]);
    let (one, other) = bytes.split_at(cut);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    if taken(&[one, other]) != whole || taken(&single) != whole {
        return Err("pieces matter".to_owned());
    }
    // What was understood can be said again and means the same.
    let again = |message: &ControlRequest| {
        let said = framed(message, LONGEST_REQUEST).unwrap();
        taken(&[&said]) == (vec![message.clone()], None)
    };
    if whole.0.iter().all(again) { Ok(()) } else { Err("said again it means something else".to_owned()) }
}

/// A peer that serves a run, and somebody who answers in a peer's place.
struct Ends {
    peer: PeerAddress,
    run: Mutex<PeerSession>,
    impostor: PeerAddress,
    answer: Arc<Mutex<Vec<u8>>>,
}

fn at(there: SocketAddr) -> PeerAddress {
    let token = Token("0123456789abcdef".to_owned());
    PeerAddress { address: there.ip(), also: None, port: there.port(), token, is_virtual: false }
}

impl Ends {
    fn begin() -> Self {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let token = at(anywhere).token;
        let server = Server::bind(&[anywhere], token, PeerLimits::default()).unwrap();
        let peer = at(server.addresses().unwrap()[0]);
        std::thread::spawn(move || server.run().unwrap());
        let mut run = PeerSession::open(&peer).unwrap();
        run.hold().unwrap();
        let listener = TcpListener::bind(anywhere).unwrap();
        let impostor = at(listener.local_addr().unwrap());
        let answer = Arc::new(Mutex::new(vec![]));
        let answers = Arc::clone(&answer);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.write_all(&answers.lock().unwrap());
                let _ = stream.shutdown(Shutdown::Write);
                let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
                let _ = stream.read_to_end(&mut vec![]);
            }
        });
        Ends { peer, run: Mutex::new(run), impostor, answer }
    }

    /// Somebody calls and says this; the run is served all the same.
    fn called(&self, bytes: &[u8]) -> Result<(), String> {
        let there = SocketAddr::new(self.peer.address, self.peer.port);
        let mut stream = TcpStream::connect(there).map_err(|error| error.to_string())?;
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.set_read_timeout(Some(Duration::from_secs(8)));
        let _ = stream.read_to_end(&mut vec![]);
        self.run.lock().unwrap().touch().map_err(|failure| failure.to_string())
    }

    /// The answer of somebody who does not know the token.
    fn answered(&self, bytes: Vec<u8>) -> Result<(), String> {
        *self.answer.lock().unwrap() = bytes;
        match PeerSession::open(&self.impostor) {
            Ok(_) => Err("an impostor was believed".to_owned()),
            Err(failure) if failure.to_string().is_empty() => Err("a failure without a word".to_owned()),
            Err(_) => Ok(()),
        }
    }
}

pub fn case() -> impl Fn(&mut Input) -> Result<(), String> {
    let (ends, requests, replies) = (Ends::begin(), requests(), replies());
    move |input| match input.below(8) {
        1 => ends.called(&conversation(&requests, input)),
        2 => ends.answered(conversation(&replies, input)),
        _ => {
            let bytes = conversation(&requests, input);
            parsed(&bytes, input.below(bytes.len() + 1))
        }
    }
}
