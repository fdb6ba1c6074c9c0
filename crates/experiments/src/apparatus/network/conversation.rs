//! A request and its echo over a stream of bytes.

use super::datagrams::Numbered;
use fathom_core::prelude::*;
use fathom_core::sampling::partner::{PartnerProcess, pipe};
use fathom_core::sampling::partner_core;
use fathom_equipment::peer::other_side::OtherSide;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A stream that is silent for longer is broken: TCP itself has retransmitted several times by then.
const TIMEOUT: Duration = Duration::from_secs(5);

/// One side of a conversation, and the other side, which it keeps alive.
pub struct Conversation<S> {
    pub stream: S,
    message: Vec<u8>,
    back: Vec<u8>,
    /// Bytes of the next answer received so far, on a socket that does not wait.
    come: usize,
    _other: Other,
}

/// The echoing side.
pub enum Other {
    Process(#[expect(dead_code, reason = "kept alive until the conversation is dropped")] PartnerProcess),
    /// A service on loopback or on the peer.
    Service(#[expect(dead_code, reason = "kept alive until the conversation is dropped")] OtherSide),
}

impl<S: Read + Write> Conversation<S> {
    fn new(stream: S, bytes: usize, other: Other) -> Self {
        Conversation { stream, message: vec![1; bytes], back: vec![0; bytes], come: 0, _other: other }
    }

    /// One round trip. Every message differs from the one before, so that a late echo is not taken for an answer.
    pub fn round_trip(&mut self) -> Result<(), Failure> {
        self.message[0] = self.message[0].wrapping_add(1);
        self.stream.write_all(&self.message).map_err(|error| broke("sending", &error))?;
        self.stream.read_exact(&mut self.back).map_err(|error| broke("waiting for the answer", &error))?;
        ensure(self.back[0] == self.message[0], "an answer was not the echo of its message")
    }
}

/// Numbered messages on a non-blocking socket, for open loops.
impl Numbered for Conversation<TcpStream> {
    fn send(&mut self, number: u64) -> std::io::Result<()> {
        let bytes = self.message.len().min(8);
        self.message[..bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
        self.stream.write_all(&self.message)
    }

    fn receive(&mut self) -> std::io::Result<u64> {
        match self.stream.read(&mut self.back[self.come..])? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            more => self.come += more,
        }
        if self.come < self.back.len() {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.come = 0;
        let bytes = self.back.len().min(8);
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(&self.back[..bytes]);
        Ok(u64::from_le_bytes(number))
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.message.len().min(8))
    }
}

/// The echoing side of pipes and UNIX sockets.
fn echo(mut stream: impl Read + Write, bytes: usize) -> Result<(), Failure> {
    let mut message = vec![0; bytes];
    loop {
        stream.read_exact(&mut message).map_err(|error| broke("reading", &error))?;
        stream.write_all(&message).map_err(|error| broke("echoing", &error))?;
        partner_core::answer();
    }
}

/// Two pipes, one for each direction.
pub struct Pipes {
    read: File,
    write: File,
}

impl Read for Pipes {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.read.read(buffer)
    }
}

impl Write for Pipes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.write.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A conversation over two pipes with a forked process.
pub fn pipes(bytes: usize, site: &Site) -> Result<Conversation<Pipes>, Failure> {
    let ((read_there, write_here), (read_here, write_there)) = (pipe()?, pipe()?);
    let far = Pipes { read: read_there.into(), write: write_there.into() };
    let near = Pipes { read: read_here.into(), write: write_here.into() };
    let process = PartnerProcess::start(site.partner, move || echo(far, bytes))?;
    Ok(Conversation::new(near, bytes, Other::Process(process)))
}

/// A conversation over a UNIX stream socket with a forked process.
pub fn unix(bytes: usize, site: &Site) -> Result<Conversation<UnixStream>, Failure> {
    let (near, far) = UnixStream::pair().map_err(|error| broke("socketpair", &error))?;
    let process = PartnerProcess::start(site.partner, move || echo(far, bytes))?;
    Ok(Conversation::new(near, bytes, Other::Process(process)))
}

/// A conversation over TCP with an echo service.
pub fn tcp(bytes: usize, other: OtherSide) -> Result<Conversation<TcpStream>, Failure> {
    let stream =
        TcpStream::connect_timeout(&other.address, TIMEOUT).map_err(|error| broke("connect", &error))?;
    // Without it, a message that follows unacknowledged data waits for the acknowledgement (Nagle, RFC 896), which the
    // receiver may delay (RFC 1122, 4.2.3.2).
    stream.set_nodelay(true).map_err(|error| broke("TCP_NODELAY", &error))?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
    Ok(Conversation::new(stream, bytes, Other::Service(other)))
}

fn broke(attempt: &str, error: &std::io::Error) -> Failure {
    Failure::Broke(format!("a conversation: {attempt}: {error}"))
}
