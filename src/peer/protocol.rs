//! What a run and its peer say to each other: JSON in frames of a stated length, a pure parser without a socket.
//!
//! A frame is four bytes of length, most significant first, and so many bytes of JSON; after the handshake, which ends with
//! the welcome, the JSON stands behind its seal (`peer/seals.rs`). The first two messages are the same in every version, so
//! that two that do not fit each other can say so. The conversation:
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
use crate::machine::Machine;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of this protocol.
pub const PROTOCOL: u32 = 2;

/// The longest request, bytes of JSON. Requests are short; whoever announces more is not one of us.
pub const LONGEST_REQUEST: usize = 64 << 10;

/// The longest reply, bytes of JSON: a machine of many CPUs described, or how bytes arrived over time.
pub const LONGEST_REPLY: usize = 8 << 20;

/// Bytes of a frame that tell its length.
const HEAD: usize = 4;

/// What a client says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// The first message.
    Hello(Hello),
    /// That it knows the token, shown without telling it.
    Proof {
        /// See `peer/proof.rs`.
        proof: String,
    },
    /// The peer lives as long as this connection.
    Hold,
    /// The client is still there, and asks whether the peer is.
    Touch,
    /// What machine the peer is.
    Describe,
    /// Begin a service.
    Start {
        /// Which.
        service: Service,
        /// The CPU to pin it to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpu: Option<usize>,
    },
    /// End it and report.
    Stop,
}

/// What a peer says.
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
    /// It was done.
    Done,
    /// What machine the peer is.
    Description(Box<Description>),
    /// The service has begun.
    Started {
        /// Where it listens, at the address that this connection reached.
        port: u16,
    },
    /// The service has ended.
    Stopped(Box<ServiceReport>),
    /// It was not done.
    Refused {
        /// Why, for people.
        reason: String,
    },
}

/// Who is speaking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the protocol.
    pub protocol: u32,
    /// Version of the program.
    pub version: String,
    /// A number used once, in hexadecimal.
    pub nonce: String,
}

impl Hello {
    /// Of this program.
    pub fn ours(nonce: String) -> Self {
        Hello { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned(), nonce }
    }

    fn program(&self) -> String {
        format!("fathom {} (protocol {})", plain(&self.version), self.protocol)
    }
}

/// Why these two do not understand each other; `None` where they do. Figures of two versions are not compared, so their
/// versions must be the same as well.
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

/// A short text from the other end, fit to be shown.
pub fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(400).collect()
}

/// What a peer is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Its machine, with where each fact was read.
    pub machine: Machine,
}

/// Bytes that are no message.
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
    /// A whole frame that is no message of this protocol.
    #[error("it does not speak this protocol ({0})")]
    NotUnderstood(String),
}

/// A message in its frame; an error where it is longer than the other end would accept.
pub fn framed(message: &impl Serialize, most: usize) -> Result<Vec<u8>, Malformed> {
    Ok(frame(&[], &text(message, most)?))
}

/// A message in its frame, behind its seal.
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

/// The message that a text is.
pub(super) fn understood<T: DeserializeOwned>(text: &[u8]) -> Result<T, Malformed> {
    serde_json::from_slice(text).map_err(|error| Malformed::NotUnderstood(plain(&error.to_string())))
}

/// Cuts messages out of bytes that arrive in any pieces.
#[derive(Debug)]
pub struct Frames {
    arrived: Vec<u8>,
    most: usize,
}

impl Frames {
    /// Accepts messages of up to `most` bytes.
    pub fn new(most: usize) -> Self {
        Frames { arrived: vec![], most }
    }

    /// More bytes have arrived. Never more is held than one frame and what came with its last piece.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.arrived.extend_from_slice(bytes);
    }

    /// From now on every message stands behind its seal.
    pub(super) fn expect_seals(&mut self) {
        self.most += SEAL;
    }

    /// The next whole message; `None` while there is none. After an error nothing more can be understood.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Malformed> {
        self.take_frame()?.map(|text| understood(&text)).transpose()
    }

    /// What the next whole frame holds; `None` while there is none.
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
