//! Messages over a connection, each within a time.

use super::protocol::{Frames, Malformed, framed};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Why a message did not come or go.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// Nothing came in time.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Silence(Duration),
    /// The other end has closed the connection.
    #[error("the other end has closed the connection")]
    Closed,
    /// What came is no message.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The connection broke.
    #[error(transparent)]
    Broken(#[from] std::io::Error),
}

/// A connection that carries messages.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    frames: Frames,
    most_said: usize,
}

impl Wire {
    /// A connection on which messages of up to so many bytes are said and heard.
    pub fn new(stream: TcpStream, most_said: usize, most_heard: usize) -> Result<Self, Trouble> {
        stream.set_nodelay(true)?;
        Ok(Wire { stream, frames: Frames::new(most_heard), most_said })
    }

    /// The connection itself.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Says something; the other end must take it within `patience`.
    pub fn say(&mut self, message: &impl Serialize, patience: Duration) -> Result<(), Trouble> {
        let frame = framed(message, self.most_said)?;
        self.stream.set_write_timeout(Some(patience))?;
        self.stream.write_all(&frame).map_err(|error| trouble(error, patience))
    }

    /// Hears the next message, which must be whole within `patience`, however slowly its bytes drip.
    pub fn hear<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<T, Trouble> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(message) = self.frames.take()? {
                return Ok(message);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Trouble::Silence(patience));
            }
            self.read(left, patience)?;
        }
    }

    fn read(&mut self, left: Duration, patience: Duration) -> Result<(), Trouble> {
        let mut piece = [0; 16 << 10];
        self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match self.stream.read(&mut piece) {
            Ok(0) => Err(Trouble::Closed),
            Ok(some) => {
                self.frames.extend(&piece[..some]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(trouble(error, patience)),
        }
    }
}

fn trouble(error: std::io::Error, patience: Duration) -> Trouble {
    match error.kind() {
        // Which of the two a time that ran out is depends on the system.
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Trouble::Silence(patience),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => Trouble::Closed,
        _ => Trouble::Broken(error),
    }
}
