//! The peer's end of one conversation: a caller must prove that it knows the token; its requests are served; when it leaves,
//! its service ends.

use super::proof::{Nonces, ProofSide, chance, proof, proves};
use super::protocol::{ControlRequest, Description, Hello, LONGEST_REPLY, LONGEST_REQUEST, Reply, mismatch};
use super::seals::Seals;
use super::service::{self, Place, Running};
use super::shared::{PeerEnd, PeerShared};
use super::wire::{ControlWire, WireError};
use fathom_core::machine::Machine;
use std::io::Read;
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// The total time that a caller may take to prove the token, and the time to take an answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The interval at which a running service is checked: long, because it is being measured.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Serves the caller with this number until it leaves.
pub fn serve(stream: TcpStream, number: u64, shared: &PeerShared) {
    let Ok(mut wire) = ControlWire::new(stream, LONGEST_REPLY, LONGEST_REQUEST) else { return };
    match authenticate(&mut wire, number, shared) {
        Ok(()) => {}
        Err(Some(reason)) => return refuse(wire, reason),
        Err(None) => return,
    }
    let mut connection = ControlConnection { wire, shared, service: None, holds: false };
    let reason = connection.converse();
    // The last activity of a service counts too.
    connection.end_service();
    if connection.holds {
        shared.end(PeerEnd::ClientLeft);
    }
    if let Some(reason) = reason {
        refuse(connection.wire, reason);
    }
}

/// Sends the reason and hangs up. Further data of the caller are read for a moment: unread, they would make the system reset
/// the connection before the reason has arrived.
fn refuse(mut wire: ControlWire, reason: String) {
    let result = wire.send(&Reply::Refused { reason }, TIMEOUT);
    let mut stream = wire.stream();
    let _ = result.map(|()| stream.shutdown(Shutdown::Write));
    let _ = stream.set_read_timeout(Some(POLL_INTERVAL));
    let (deadline, mut rest) = (Instant::now() + Duration::from_secs(1), [0; 4096]);
    while Instant::now() < deadline && stream.read(&mut rest).is_ok_and(|some| some > 0) {}
}

/// The greeting and the proofs. The error is the reason to send, or none if the caller has gone.
fn authenticate(wire: &mut ControlWire, number: u64, shared: &PeerShared) -> Result<(), Option<String>> {
    let deadline = Instant::now() + TIMEOUT;
    let ControlRequest::Hello(hello) = receive(wire, deadline)? else {
        return Err(Some("the first message must be a greeting".to_owned()));
    };
    let nonce = chance(32).map_err(|error| Some(format!("no random number could be made: {error}")))?;
    let ours = Hello::ours(nonce.clone());
    if let Some(difference) = mismatch(&hello, &ours) {
        return Err(Some(difference));
    }
    send(wire, &Reply::Challenge(ours))?;
    let nonces = Nonces { client: &hello.nonce, peer: &nonce };
    match receive(wire, deadline)? {
        ControlRequest::Proof { proof: digest }
            if proves(&digest, &shared.token, ProofSide::Client, nonces) => {}
        ControlRequest::Proof { .. } => return Err(Some("the token is not that of this peer".to_owned())),
        _ => return Err(Some("the token must be presented before any request".to_owned())),
    }
    if !shared.authenticate(number) {
        return Err(Some("it has its maximum of connections".to_owned()));
    }
    shared.touch();
    send(wire, &Reply::Welcome { proof: proof(&shared.token, ProofSide::Peer, nonces) })?;
    wire.seal(Seals::of(ProofSide::Peer, &shared.token, nonces));
    Ok(())
}

fn receive(wire: &mut ControlWire, deadline: Instant) -> Result<ControlRequest, Option<String>> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    wire.receive(remaining).map_err(|error| reason_to_send(&error))
}

fn send(wire: &mut ControlWire, reply: &Reply) -> Result<(), Option<String>> {
    wire.send(reply, TIMEOUT).map_err(|error| reason_to_send(&error))
}

/// The reason to send to a caller that cannot be understood; `None` for one that has gone.
fn reason_to_send(error: &WireError) -> Option<String> {
    match error {
        WireError::Closed | WireError::Broken(_) => None,
        WireError::Silence(_) | WireError::Malformed(_) | WireError::Forged => Some(error.to_string()),
    }
}

/// A caller that has proved the token.
struct ControlConnection<'peer> {
    wire: ControlWire,
    shared: &'peer PeerShared,
    service: Option<Served>,
    holds: bool,
}

/// A running service of a caller.
struct Served {
    running: Running,
    began: Instant,
    /// Bytes already added to the peer's total.
    counted: u64,
}

impl ControlConnection<'_> {
    /// Serves requests until the caller leaves; returns the reason to send if it is dismissed.
    fn converse(&mut self) -> Option<String> {
        loop {
            match self.wire.receive(POLL_INTERVAL) {
                Ok(request) => {
                    self.shared.touch();
                    let reply = self.answer(request);
                    if let Err(error) = self.wire.send(&reply, TIMEOUT) {
                        return reason_to_send(&error);
                    }
                }
                Err(WireError::Silence(_)) => {
                    if let Some(reason) = self.check_service() {
                        return Some(reason);
                    }
                }
                Err(error) => return reason_to_send(&error),
            }
        }
    }

    fn answer(&mut self, request: ControlRequest) -> Reply {
        match request {
            ControlRequest::Touch => Reply::Done,
            ControlRequest::Hold if self.holds || self.shared.hold() => {
                self.holds = true;
                Reply::Done
            }
            ControlRequest::Hold => refused("it serves another run"),
            ControlRequest::Describe => {
                Reply::Description(Box::new(Description { machine: Machine::describe(Path::new(".")) }))
            }
            ControlRequest::Start { .. } if self.service.is_some() => {
                refused("this connection already has a running service")
            }
            ControlRequest::Start { service, cpu } => self.start(&service, cpu),
            ControlRequest::Stop => match self.end_service() {
                Some(report) => Reply::Stopped(Box::new(report)),
                None => refused("there is no running service to end"),
            },
            ControlRequest::Hello(_) | ControlRequest::Proof { .. } => {
                refused("this message was already sent")
            }
        }
    }

    fn start(&mut self, service: &service::Service, cpu: Option<usize>) -> Reply {
        let begun = self
            .place(cpu)
            .and_then(|place| service::serve(service, &place).map_err(|failure| failure.to_string()));
        match begun {
            Ok(running) => {
                let port = running.port();
                self.service = Some(Served { running, began: Instant::now(), counted: 0 });
                Reply::Started { port }
            }
            Err(reason) => refused(&reason),
        }
    }

    /// The place of a service: the address at which this caller has reached the peer, for this caller only.
    fn place(&self, cpu: Option<usize>) -> Result<Place, String> {
        let ends =
            self.wire.stream().local_addr().and_then(|ours| Ok((ours, self.wire.stream().peer_addr()?)));
        let (ours, theirs) = ends.map_err(|error| format!("the ends of the connection: {error}"))?;
        Ok(Place { listen: ours.ip().to_canonical(), only: Some(theirs.ip().to_canonical()), cpu })
    }

    /// Enforces the limits on a running service; returns the reason to send if it exceeds one.
    fn check_service(&mut self) -> Option<String> {
        let served = self.service.as_mut()?;
        self.shared.touch();
        let moved = served.running.moved_bytes();
        let more = moved - std::mem::replace(&mut served.counted, moved);
        if let Some(end) = self.shared.add_bytes(more) {
            let reason = end.to_string();
            self.shared.end(end);
            return Some(reason);
        }
        let most = self.shared.limits.service;
        (served.began.elapsed() > most)
            .then(|| format!("a service runs for {} s at most, and this one was not ended", most.as_secs()))
    }

    fn end_service(&mut self) -> Option<service::ServiceReport> {
        let Served { running, counted, .. } = self.service.take()?;
        let moved = running.moved_bytes();
        let report = running.stop();
        if let Some(end) = self.shared.add_bytes(moved.saturating_sub(counted)) {
            self.shared.end(end);
        }
        Some(report)
    }
}

fn refused(reason: &str) -> Reply {
    Reply::Refused { reason: reason.to_owned() }
}
