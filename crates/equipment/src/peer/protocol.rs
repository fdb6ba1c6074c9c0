//! The messages between a run and its peer: JSON in frames with a length, and a pure parser without a socket.
//!
//! A frame is four bytes of length, most significant first, and that number of bytes; after the handshake, which ends with
//! the welcome, the JSON follows its seal (`peer/seals.rs`). The first two messages are the same in every version, so that
//! incompatible versions can report it. The conversation:
//!
//! ```text
//! client                        peer
//! Hello{version, nonce}    ──►
//!                          ◄──  Challenge{version, nonce}      or Refused{reason}, at any time, and the end
//! Proof{of the token}      ──►
//!                          ◄──  Welcome{proof of the token}
//! Hold │ Touch │ Describe  ──►
//!                          ◄──  Done │ Description
//! Start{service}           ──►
//!                          ◄──  Started{port}
//! Stop                     ──►
//!                          ◄──  Stopped{report}
//! ```

use super::seals::{SEAL, Seals};
use super::service::{Service, ServiceReport};
use fathom_core::machine::Machine;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub const PROTOCOL: u32 = 2;

/// The longest request, bytes of JSON. Requests are short; a caller that announces more does not speak this protocol.
pub const LONGEST_REQUEST: usize = 64 << 10;

/// The longest reply, bytes of JSON: the description of a machine with many CPUs, or the arrival of bytes over time.
pub const LONGEST_REPLY: usize = 8 << 20;

/// Bytes of the length of a frame.
const HEAD: usize = 4;

/// A message of a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum ControlRequest {
    /// The first message.
    Hello(Hello),
    /// The proof that it knows the token, without the token itself.
    Proof {
        /// See `peer/proof.rs`.
        proof: String,
    },
    /// Ties the peer's lifetime to this connection.
    Hold,
    /// The client is still there, and checks whether the peer is.
    Touch,
    /// Request the description of the peer's machine.
    Describe,
    /// Begin a service.
    Start {
        service: Service,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpu: Option<usize>,
    },
    /// End it and report.
    Stop,
}

/// A message of a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The answer to a greeting of the same version.
    Challenge(Hello),
    /// The client is let in, and the peer shows that it knows the token as well.
    Welcome {
        /// See `peer/proof.rs`.
        proof: String,
    },
    Done,
    /// The description of the peer's machine.
    Description(Box<Description>),
    /// The service has begun.
    Started {
        /// The port on which it listens, at the address that this connection reached.
        port: u16,
    },
    Stopped(Box<ServiceReport>),
    Refused {
        reason: String,
    },
}

/// The identification of the sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    pub version: String,
    pub nonce: String,
}

impl Hello {
    /// The greeting of this program.
    pub fn ours(nonce: String) -> Self {
        Hello { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned(), nonce }
    }

    fn program(&self) -> String {
        format!("fathom {} (protocol {})", plain(&self.version), self.protocol)
    }
}

/// The reason why two ends are incompatible; `None` if they are compatible. Figures of two program versions are not
/// compared, so these must be equal as well.
pub fn mismatch(client: &Hello, peer: &Hello) -> Option<String> {
    let same = (client.protocol, &client.version) == (peer.protocol, &peer.version);
    (!same).then(|| {
        format!(
            "the two ends are of different versions, {} at the client and {} at the peer: use the same on both",
            client.program(),
            peer.program()
        )
    })
}

/// A short text from the other end, safe to be displayed.
pub fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(400).collect()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Its machine, with the source of each fact.
    pub machine: Machine,
}

/// The reason why bytes are not a valid message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// More than the longest message was announced.
    #[error("a message of {length} bytes was announced, and {most} is the most")]
    TooLong {
        /// Bytes announced.
        length: usize,
        /// Bytes that are accepted.
        most: usize,
    },
    /// A whole frame that does not contain a message of this protocol.
    #[error("it does not speak this protocol ({0})")]
    NotUnderstood(String),
}

/// A message in its frame; an error if it is longer than the other end accepts.
pub fn framed(message: &impl Serialize, most: usize) -> Result<Vec<u8>, Malformed> {
    Ok(frame(&[], &text(message, most)?))
}

/// A message in its frame, after its seal.
pub(super) fn sealed(message: &impl Serialize, most: usize, seals: &mut Seals) -> Result<Vec<u8>, Malformed> {
    let text = text(message, most)?;
    Ok(frame(&seals.seal(&text), &text))
}

fn text(message: &impl Serialize, most: usize) -> Result<Vec<u8>, Malformed> {
    let text = serde_json::to_vec(message).map_err(|error| Malformed::NotUnderstood(error.to_string()))?;
    if text.len() > most { Err(Malformed::TooLong { length: text.len(), most }) } else { Ok(text) }
}

fn frame(seal: &[u8], text: &[u8]) -> Vec<u8> {
    [&((seal.len() + text.len()) as u32).to_be_bytes(), seal, text].concat()
}

/// Parses a message.
pub(super) fn understood<T: DeserializeOwned>(text: &[u8]) -> Result<T, Malformed> {
    serde_json::from_slice(text).map_err(|error| Malformed::NotUnderstood(plain(&error.to_string())))
}

/// Splits bytes that arrive in any pieces into messages.
#[derive(Debug)]
pub struct Frames {
    arrived: Vec<u8>,
    most: usize,
}

impl Frames {
    /// A parser that accepts messages of up to `most` bytes.
    pub fn new(most: usize) -> Self {
        Frames { arrived: vec![], most }
    }

    /// Adds arrived bytes. At most one frame and the rest of its last piece are held.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.arrived.extend_from_slice(bytes);
    }

    /// From now on every message follows its seal.
    pub(super) fn expect_seals(&mut self) {
        self.most += SEAL;
    }

    /// The next whole message; `None` while there is none. After an error nothing more can be parsed.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Malformed> {
        self.take_frame()?.map(|text| understood(&text)).transpose()
    }

    /// The content of the next whole frame; `None` while there is none.
    pub(super) fn take_frame(&mut self) -> Result<Option<Vec<u8>>, Malformed> {
        let Some(length) = self.announced() else { return Ok(None) };
        if length > self.most {
            return Err(Malformed::TooLong { length, most: self.most });
        }
        let Some(held) = self.arrived.get(HEAD..HEAD + length) else { return Ok(None) };
        let held = held.to_vec();
        self.arrived.drain(..HEAD + length);
        Ok(Some(held))
    }

    fn announced(&self) -> Option<usize> {
        let head = self.arrived.first_chunk::<HEAD>()?;
        Some(u32::from_be_bytes(*head) as usize)
    }
}
