//! Showing that one knows the token without telling it.
//!
//! Control connections go over the network that is measured, where others may listen; the token itself went over ssh. So
//! each side answers the other's number with a code that only the token's holder can make (HMAC, RFC 2104, of SHA-256):
//! who listens learns nothing to come in with, and who takes the peer's place is found out. From the same token and numbers
//! follow the keys of what they say next. The words before the numbers differ, so that neither answer can be sent back as
//! the other's, and none is a key.

use super::Token;
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The fewest characters of a token: whoever can guess it comes in.
pub const SHORTEST_TOKEN: usize = 16;

/// Which end shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one that calls.
    Client,
    /// The one that listens.
    Peer,
}

impl Side {
    /// The one that it speaks with.
    pub fn other(self) -> Self {
        match self {
            Side::Client => Side::Peer,
            Side::Peer => Side::Client,
        }
    }
}

/// The two numbers of a conversation, each used once.
#[derive(Debug, Clone, Copy)]
pub struct Nonces<'hello> {
    /// The client's.
    pub client: &'hello str,
    /// The peer's.
    pub peer: &'hello str,
}

/// The code that shows it, in hexadecimal.
pub fn proof(token: &Token, side: Side, nonces: Nonces) -> String {
    HEXLOWER.encode(&code(token, shown_by(side), nonces).finalize().into_bytes())
}

/// Whether a code shows it, compared in a time that does not depend on where it differs.
pub fn proves(shown: &str, token: &Token, side: Side, nonces: Nonces) -> bool {
    let shown = HEXLOWER.decode(shown.as_bytes());
    shown.is_ok_and(|shown| code(token, shown_by(side), nonces).verify_slice(&shown).is_ok())
}

/// The key of what this side says after the handshake.
pub fn key(token: &Token, side: Side, nonces: Nonces) -> [u8; 32] {
    let word = match side {
        Side::Client => "said by client",
        Side::Peer => "said by peer",
    };
    code(token, word, nonces).finalize().into_bytes().into()
}

fn shown_by(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Peer => "peer",
    }
}

fn code(token: &Token, word: &str, nonces: Nonces) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(token.0.as_bytes()).expect("HMAC takes keys of any length");
    for part in ["fathom peer", word, nonces.client, nonces.peer] {
        // With its length before it no two lists of parts are the same bytes.
        code.update(&(part.len() as u64).to_be_bytes());
        code.update(part.as_bytes());
    }
    code
}

/// So many bytes of chance from the operating system, in hexadecimal: a token or a number used once.
pub fn chance(bytes: usize) -> std::io::Result<String> {
    let mut drawn = vec![0; bytes];
    getrandom::fill(&mut drawn)?;
    Ok(HEXLOWER.encode(&drawn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_token_side_and_numbers_prove() {
        let (token, nonces) = (Token("t".repeat(16)), Nonces { client: "1", peer: "2" });
        let shown = proof(&token, Side::Client, nonces);
        assert!(proves(&shown, &token, Side::Client, nonces));
        assert!(!proves(&shown, &token, Side::Peer, nonces), "an answer sent back proves nothing");
        assert!(!proves(&shown, &Token("u".repeat(16)), Side::Client, nonces));
        assert!(!proves(&shown, &token, Side::Client, Nonces { client: "12", peer: "" }));
        for garbage in ["", "zz", "é", &shown[2..], &(shown.clone() + "00")] {
            assert!(!proves(garbage, &token, Side::Client, nonces), "{garbage}");
        }
    }

    #[test]
    fn chance_is_not_repeated() {
        assert_ne!(chance(32).unwrap(), chance(32).unwrap());
        assert_eq!(chance(32).unwrap().len(), 64);
    }
}
