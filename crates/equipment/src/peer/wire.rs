//! Messages over a connection, each with a timeout.

use super::protocol::{Frames, Malformed, framed, sealed, understood};
use super::seals::Seals;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The reason why a message was not sent or received.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// There was no answer in time.
    #[error("no answer within {} s", .0.as_secs_f64().ceil())]
    Silence(Duration),
    /// The other end has closed the connection.
    #[error("the other end has closed the connection")]
    Closed,
    /// The received bytes are not a message.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The received message is not the other end's next one.
    #[error("a message was altered, repeated, dropped or forged on the network")]
    Forged,
    #[error(transparent)]
    Broken(#[from] std::io::Error),
}

/// A connection that carries messages.
#[derive(Debug)]
pub struct ControlWire {
    stream: TcpStream,
    frames: Frames,
    most_sent: usize,
    seals: Option<Seals>,
}

impl ControlWire {
    /// A connection for messages of up to these numbers of bytes, sent and received.
    pub fn new(stream: TcpStream, most_sent: usize, most_received: usize) -> Result<Self, WireError> {
        stream.set_nodelay(true)?;
        Ok(ControlWire { stream, frames: Frames::new(most_received), most_sent, seals: None })
    }

    /// The connection itself.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// From now on every message follows its seal.
    pub fn seal(&mut self, seals: Seals) {
        self.frames.expect_seals();
        self.seals = Some(seals);
    }

    /// Sends a message; the other end must take it within `timeout`.
    pub fn send(&mut self, message: &impl Serialize, timeout: Duration) -> Result<(), WireError> {
        let frame = match &mut self.seals {
            None => framed(message, self.most_sent)?,
            Some(seals) => sealed(message, self.most_sent, seals)?,
        };
        self.stream.set_write_timeout(Some(timeout))?;
        self.stream.write_all(&frame).map_err(|error| wire_error(error, timeout))
    }

    /// Receives the next message, which must be complete within `timeout`, however slowly its bytes arrive.
    pub fn receive<T: DeserializeOwned>(&mut self, timeout: Duration) -> Result<T, WireError> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(frame) = self.frames.take_frame()? {
                return self.opened(&frame);
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Err(WireError::Silence(timeout));
            }
            self.read(remaining, timeout)?;
        }
    }

    fn opened<T: DeserializeOwned>(&mut self, frame: &[u8]) -> Result<T, WireError> {
        let text = match &mut self.seals {
            None => frame,
            Some(seals) => seals.open(frame).ok_or(WireError::Forged)?,
        };
        Ok(understood(text)?)
    }

    fn read(&mut self, remaining: Duration, timeout: Duration) -> Result<(), WireError> {
        let mut piece = [0; 16 << 10];
        self.stream.set_read_timeout(Some(remaining.max(Duration::from_millis(1))))?;
        match self.stream.read(&mut piece) {
            Ok(0) => Err(WireError::Closed),
            Ok(some) => {
                self.frames.extend(&piece[..some]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(wire_error(error, timeout)),
        }
    }
}

fn wire_error(error: std::io::Error, timeout: Duration) -> WireError {
    match error.kind() {
        // The system determines which of the two errors means a timeout.
        ErrorKind::WouldBlock | ErrorKind::TimedOut => WireError::Silence(timeout),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => WireError::Closed,
        _ => WireError::Broken(error),
    }
}
