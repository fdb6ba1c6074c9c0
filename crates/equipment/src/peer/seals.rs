//! Seals of the messages after the handshake: an attacker on the network can suppress a message, but do nothing else with
//! it.
//!
//! The seal of a message is an HMAC-SHA256 of the number of earlier messages in its direction, and of its text, with a key
//! of this conversation and this direction (`peer/proof.rs`). So a message that was altered, repeated, dropped, reordered,
//! reflected or forged has an invalid seal.

use super::Token;
use super::proof::{Nonces, ProofSide, key};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

pub const SEAL: usize = 32;

/// The seals of a conversation, in both directions.
pub struct Seals {
    sent: SealDirection,
    received: SealDirection,
}

struct SealDirection {
    key: Hmac<Sha256>,
    /// The number of messages so far.
    messages: u64,
}

impl SealDirection {
    fn from(side: ProofSide, token: &Token, nonces: Nonces) -> Self {
        let key = Hmac::new_from_slice(&key(token, side, nonces)).expect("HMAC takes keys of any length");
        SealDirection { key, messages: 0 }
    }

    /// The code of the next message.
    fn next(&mut self, text: &[u8]) -> Hmac<Sha256> {
        let code = self.key.clone().chain_update(self.messages.to_be_bytes()).chain_update(text);
        self.messages += 1;
        code
    }
}

impl Seals {
    /// The seals of this side of the conversation with these nonces.
    pub fn of(side: ProofSide, token: &Token, nonces: Nonces) -> Self {
        let direction = |side| SealDirection::from(side, token, nonces);
        Seals { sent: direction(side), received: direction(side.other()) }
    }

    /// The seal of the next sent message.
    pub fn seal(&mut self, text: &[u8]) -> [u8; SEAL] {
        self.sent.next(text).finalize().into_bytes().into()
    }

    /// The text after the seal of the next received message; `None` if it is not the other end's next message.
    pub fn open<'frame>(&mut self, frame: &'frame [u8]) -> Option<&'frame [u8]> {
        let (seal, text) = frame.split_first_chunk::<SEAL>()?;
        self.received.next(text).verify_slice(seal).is_ok().then_some(text)
    }
}

impl fmt::Debug for Seals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seals(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two ends of a conversation.
    fn ends() -> (Seals, Seals) {
        let (token, nonces) = (Token("t".repeat(16)), Nonces { client: "1", peer: "2" });
        (Seals::of(ProofSide::Client, &token, nonces), Seals::of(ProofSide::Peer, &token, nonces))
    }

    fn sealed(seals: &mut Seals, text: &[u8]) -> Vec<u8> {
        [&seals.seal(text)[..], text].concat()
    }

    #[test]
    fn messages_are_opened_in_their_order_and_at_the_other_end_alone() {
        let (mut client, mut peer) = ends();
        let (one, two) = (sealed(&mut client, b"one"), sealed(&mut client, b"two"));
        assert_eq!((peer.open(&one), peer.open(&two)), (Some(&b"one"[..]), Some(&b"two"[..])));
        assert_eq!(ends().0.open(&one), None, "sent back");
        let (mut other, _) = ends();
        assert_eq!(sealed(&mut other, b"one"), one, "the same conversation has the same seals");
    }

    #[test]
    fn what_is_altered_repeated_left_out_or_moved_is_not_opened() {
        let (mut client, _) = ends();
        let (one, two) = (sealed(&mut client, b"one"), sealed(&mut client, b"two"));
        let peer = || ends().1;
        for place in 0..one.len() {
            let mut altered = one.clone();
            altered[place] ^= 1;
            assert_eq!(peer().open(&altered), None, "byte {place}");
        }
        let mut twice = peer();
        assert!(twice.open(&one).is_some() && twice.open(&one).is_none());
        assert_eq!(peer().open(&two), None, "the first is missing");
        for short in [&b""[..], &one[..SEAL - 1], &one[..SEAL]] {
            assert_eq!(peer().open(short), None);
        }
    }
}
