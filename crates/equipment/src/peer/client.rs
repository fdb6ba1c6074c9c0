//! The client's end of the protocol, for a run or a trial. Every step has a timeout: a peer that hangs costs seconds, not
//! the run.

use super::proof::{Nonces, ProofSide, chance, proof, proves};
use super::protocol::{
    ControlRequest, Description, Hello, LONGEST_REPLY, LONGEST_REQUEST, Reply, mismatch, plain,
};
use super::seals::Seals;
use super::service::{Service, ServiceReport};
use super::wire::{ControlWire, WireError};
use super::{PeerAddress, Token};
use fathom_core::experiment::Failure;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// The longest time that the peer may take to be reached, and to answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The longest time that it may take to end a service or to describe its machine.
const LONG_TIMEOUT: Duration = Duration::from_secs(10);

/// A conversation with the peer. One service at a time; when this is dropped, the service ends.
#[derive(Debug)]
pub struct PeerSession {
    wire: ControlWire,
    there: SocketAddr,
}

impl PeerSession {
    /// Connects to the peer, and authenticates both sides.
    pub fn open(peer: &PeerAddress) -> Result<Self, Failure> {
        let there = SocketAddr::new(peer.address, peer.port);
        let broke = |error| Failure::Broke(format!("the peer at {there}: {}", words(&error)));
        let stream =
            TcpStream::connect_timeout(&there, TIMEOUT).map_err(|error| broke(WireError::Broken(error)))?;
        let wire = ControlWire::new(stream, LONGEST_REQUEST, LONGEST_REPLY).map_err(broke)?;
        let mut session = PeerSession { wire, there };
        session.introduce(&peer.token)?;
        Ok(session)
    }

    /// Each side proves to the other that it knows the token; all later messages are sealed.
    fn introduce(&mut self, token: &Token) -> Result<(), Failure> {
        let nonce = chance(32).map_err(|error| self.broke(&WireError::Broken(error)))?;
        let hello = Hello::ours(nonce.clone());
        let challenge = match self.ask(&ControlRequest::Hello(hello.clone()), TIMEOUT)? {
            Reply::Challenge(challenge) => challenge,
            other => return Err(self.unexpected(&other)),
        };
        if let Some(difference) = mismatch(&hello, &challenge) {
            return Err(Failure::Broke(difference));
        }
        let nonces = Nonces { client: &nonce, peer: &challenge.nonce };
        let digest = proof(token, ProofSide::Client, nonces);
        match self.ask(&ControlRequest::Proof { proof: digest }, TIMEOUT)? {
            Reply::Welcome { proof } if proves(&proof, token, ProofSide::Peer, nonces) => {
                self.wire.seal(Seals::of(ProofSide::Client, token, nonces));
                Ok(())
            }
            Reply::Welcome { .. } => Err(Failure::Broke(format!(
                "the program that answers at {} does not have this run's token: it is not the peer",
                self.there
            ))),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Ties the peer's lifetime to this session.
    pub fn hold(&mut self) -> Result<(), Failure> {
        self.done(&ControlRequest::Hold)
    }

    /// Checks that the peer is still there, which also shows it that this side is.
    pub fn touch(&mut self) -> Result<(), Failure> {
        self.done(&ControlRequest::Touch)
    }

    /// The description of the peer's machine.
    pub fn describe(&mut self) -> Result<Description, Failure> {
        match self.ask(&ControlRequest::Describe, LONG_TIMEOUT)? {
            Reply::Description(description) => Ok(*description),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Starts a service on the peer, pinned to `cpu` if given (for a virtual peer: the trial's partner), and returns its
    /// address.
    pub fn start(&mut self, service: &Service, cpu: Option<usize>) -> Result<SocketAddr, Failure> {
        match self.ask(&ControlRequest::Start { service: service.clone(), cpu }, TIMEOUT)? {
            Reply::Started { port } => Ok(SocketAddr::new(self.there.ip(), port)),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Ends the service and returns its report.
    pub fn stop(&mut self) -> Result<ServiceReport, Failure> {
        match self.ask(&ControlRequest::Stop, LONG_TIMEOUT)? {
            Reply::Stopped(report) => Ok(*report),
            other => Err(self.unexpected(&other)),
        }
    }

    fn done(&mut self, request: &ControlRequest) -> Result<(), Failure> {
        match self.ask(request, TIMEOUT)? {
            Reply::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn ask(&mut self, request: &ControlRequest, timeout: Duration) -> Result<Reply, Failure> {
        let answer = self.wire.send(request, timeout).and_then(|()| self.wire.receive(timeout));
        answer.map_err(|error| {
            // A later answer would belong to another request.
            let _ = self.wire.stream().shutdown(Shutdown::Both);
            self.broke(&error)
        })
    }

    fn broke(&self, error: &WireError) -> Failure {
        Failure::Broke(format!("the peer at {}: {}", self.there, words(error)))
    }

    fn unexpected(&self, reply: &Reply) -> Failure {
        Failure::Broke(match reply {
            Reply::Refused { reason } => format!("the peer at {} refuses: {}", self.there, plain(reason)),
            _ => format!("the peer at {} gave an answer to another question", self.there),
        })
    }
}

/// The meaning of an error for the peer's user.
fn words(error: &WireError) -> String {
    match error {
        WireError::Silence(_) => format!("{error}: it hangs, or its answers are lost"),
        WireError::Closed => "it has closed the connection: it has ended, or it was killed".to_owned(),
        WireError::Forged => format!("{error}, and its session is over"),
        WireError::Malformed(_) => format!("the program that answers there is not a peer: {error}"),
        WireError::Broken(error) => match error.kind() {
            std::io::ErrorKind::ConnectionRefused => {
                "nothing listens there: it has ended, or it was killed".to_owned()
            }
            std::io::ErrorKind::TimedOut => {
                "it cannot be reached: it is down, or a firewall on the way drops what is sent to it"
                    .to_owned()
            }
            std::io::ErrorKind::AddrNotAvailable => {
                "this host has no port left to call from: connections in TIME_WAIT hold them all".to_owned()
            }
            _ => error.to_string(),
        },
    }
}
