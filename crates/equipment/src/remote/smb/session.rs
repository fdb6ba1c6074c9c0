//! Messages of SMB 2 (Microsoft's MS-SMB2) over TCP: numbered, with credits, and signed for a user.

use crate::remote::unanswered::Unanswered;
use crate::remote::wire::{Message, Wire};
use fathom_core::experiment::Failure;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Length of the header before a message's body, bytes.
pub const HEADER: usize = 64;

/// Maximum length of an answer, bytes; a file server sends no longer ones.
const LONGEST: usize = 16 << 20;

/// Credits requested with every message: enough for 16 requests of a megabyte each in flight.
const WANTED_CREDITS: u16 = 512;

/// Bytes per credit.
pub const PER_CREDIT: usize = 64 << 10;

/// Status: more processing is required, and the answer comes later.
pub const MORE: u32 = 0xc000_0016;
const PENDING: u32 = 0x0000_0103;

const SIGNED: u32 = 8;

/// A connection with its session and its share.
pub struct SmbSession {
    wire: Wire,
    next: u64,
    credits: u64,
    /// The session's number, as the server gave it.
    pub id: u64,
    /// The share's number, as the server gave it.
    pub tree: u32,
    /// Signs sent messages and verifies received ones, for a user with a password.
    pub key: Option<[u8; 16]>,
    /// Whether the server accepts requests of more than one credit.
    pub large: bool,
    requests: u64,
    unanswered: Unanswered,
    message: Vec<u8>,
}

/// An answer: its status, and the whole message.
pub struct SmbAnswer {
    /// Zero for success.
    pub status: u32,
    /// Header and body.
    pub bytes: Vec<u8>,
}

impl SmbAnswer {
    /// The bytes after the header.
    pub fn body(&self) -> Message<'_> {
        Message::new(&self.bytes[HEADER..])
    }

    /// A part of the message, by its offset in the whole.
    pub fn part(&self, offset: usize, bytes: usize) -> Result<&[u8], Failure> {
        let end = offset.checked_add(bytes);
        let part = end.and_then(|end| self.bytes.get(offset..end));
        part.ok_or_else(|| Failure::Broke("the server sent a message that ends too soon".to_owned()))
    }

    fn number(&self, place: usize) -> u64 {
        self.bytes[place..].first_chunk().map_or(0, |number| u64::from_le_bytes(*number))
    }
}

impl SmbSession {
    /// A session without messages; it has one credit.
    pub fn over(wire: Wire) -> Self {
        let (unanswered, message) = (Unanswered::default(), vec![]);
        SmbSession {
            wire,
            next: 0,
            credits: 1,
            id: 0,
            tree: 0,
            key: None,
            large: false,
            requests: 0,
            unanswered,
            message,
        }
    }

    /// Sends a request that transfers this many bytes; returns its number.
    pub fn send(&mut self, command: u16, moved: usize, body: &[&[u8]]) -> Result<u64, Failure> {
        let charge = if self.large { moved.div_ceil(PER_CREDIT).max(1) as u16 } else { 1 };
        self.credits = self.credits.checked_sub(u64::from(charge)).ok_or_else(|| {
            Failure::Unsupported("the server grants too few credits for so many requests at once".to_owned())
        })?;
        let number = self.next;
        self.next += u64::from(charge);
        self.header(command, charge, number);
        for part in body {
            self.message.extend_from_slice(part);
        }
        // The length is before the message, and is not signed.
        let length = (self.message.len() as u32 - 4).to_be_bytes();
        self.message[..4].copy_from_slice(&length);
        if let Some(key) = &self.key {
            let signature = signature(key, &self.message[4..]);
            self.message[4 + 48..4 + HEADER].copy_from_slice(&signature);
        }
        self.requests += 1;
        self.unanswered.add(number);
        self.wire.send(&self.message)?;
        Ok(number)
    }

    fn header(&mut self, command: u16, charge: u16, number: u64) {
        let flags = if self.key.is_some() { SIGNED } else { 0 };
        self.message.clear();
        self.message.extend_from_slice(&[0, 0, 0, 0, 0xfe, b'S', b'M', b'B', 64, 0]);
        self.message.extend_from_slice(&charge.to_le_bytes());
        self.message.extend_from_slice(&[0; 4]);
        self.message.extend_from_slice(&command.to_le_bytes());
        self.message.extend_from_slice(&WANTED_CREDITS.to_le_bytes());
        self.message.extend_from_slice(&flags.to_le_bytes());
        self.message.extend_from_slice(&[0; 4]);
        self.message.extend_from_slice(&number.to_le_bytes());
        self.message.extend_from_slice(&[0; 4]);
        self.message.extend_from_slice(&self.tree.to_le_bytes());
        self.message.extend_from_slice(&self.id.to_le_bytes());
        self.message.extend_from_slice(&[0; 16]);
    }

    /// Waits for the answer to a request.
    pub fn receive(&mut self, number: u64) -> Result<SmbAnswer, Failure> {
        loop {
            if let Some(bytes) = self.unanswered.take(number) {
                return Ok(answered(bytes));
            }
            let answer = self.next_answer()?;
            if answer.status != PENDING {
                self.unanswered.keep(answer.number(24), answer.bytes)?;
            }
        }
    }

    pub fn call(&mut self, command: u16, body: &[&[u8]]) -> Result<SmbAnswer, Failure> {
        let number = self.send(command, body.iter().map(|part| part.len()).sum(), body)?;
        self.receive(number)
    }

    fn next_answer(&mut self) -> Result<SmbAnswer, Failure> {
        let mut length = [0; 4];
        self.wire.receive(&mut length)?;
        let length = u32::from_be_bytes(length) as usize;
        if !(HEADER..=LONGEST).contains(&length) {
            return Err(Failure::Broke(format!("{}: what came is not SMB 2", self.wire.server())));
        }
        let bytes = self.wire.take(length)?;
        if !bytes.starts_with(b"\xfeSMB") {
            return Err(Failure::Broke(format!("{}: what came is not SMB 2", self.wire.server())));
        }
        self.credits += u64::from(u16::from_le_bytes([bytes[14], bytes[15]]));
        let answer = answered(bytes);
        self.proved(&answer)?;
        Ok(answer)
    }

    /// Verifies that an answer of a signed session comes from the server.
    fn proved(&self, answer: &SmbAnswer) -> Result<(), Failure> {
        let Some(key) = self.key.filter(|_| answer.status != PENDING) else { return Ok(()) };
        let mut bytes = answer.bytes.clone();
        bytes[48..HEADER].fill(0);
        if is_signed(&key, &bytes, &answer.bytes[48..HEADER]) {
            return Ok(());
        }
        Err(Failure::Broke(format!("{}: an answer is not signed by the server", self.wire.server())))
    }

    /// Requests sent so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Bytes that the kernel has received over the connection.
    pub fn received(&self) -> Option<u64> {
        self.wire.received()
    }

    pub fn server(&self) -> &str {
        self.wire.server()
    }
}

fn answered(bytes: Vec<u8>) -> SmbAnswer {
    let status = bytes[8..].first_chunk().map_or(u32::MAX, |status| u32::from_le_bytes(*status));
    SmbAnswer { status, bytes }
}

/// Whether a message has this signature, compared in constant time.
fn is_signed(key: &[u8; 16], message: &[u8], signature: &[u8]) -> bool {
    signature.len() == 16 && mac(key, message).verify_truncated_left(signature).is_ok()
}

fn mac(key: &[u8; 16], message: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length of key is taken");
    mac.update(message);
    mac
}

/// The first half of an HMAC over the whole message (MS-SMB2, section 3.1.4.1, dialects before 3).
fn signature(key: &[u8; 16], message: &[u8]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&mac(key, message).finalize().into_bytes()[..16]);
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_signature_signs() {
        let (key, message) = ([7; 16], b"a message");
        let right = signature(&key, message);
        assert!(is_signed(&key, message, &right));
        assert!(!is_signed(&key, message, &right[..15]) && !is_signed(&key, message, &[]));
        assert!(!is_signed(&key, b"another", &right) && !is_signed(&[8; 16], message, &right));
        for place in 0..16 {
            let mut wrong = right;
            wrong[place] ^= 1;
            assert!(!is_signed(&key, message, &wrong));
        }
    }
}
