//! Proving knowledge of the token without sending it.
//!
//! Control connections use the measured network, where others may listen; the token itself was sent over ssh. So each side
//! answers the other's nonce with a code that only a holder of the token can compute (HMAC, RFC 2104, of SHA-256): a
//! listener learns nothing that lets it in, and an impostor in the peer's place is detected. The keys of the later messages
//! are derived from the same token and nonces. Each code and key has a different prefix before the nonces, so neither proof
//! can be sent back as the other's, and none is a key.

use super::Token;
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The fewest characters of a token by hand: 32 hexadecimal digits, drawn at random, are 128 bits.
pub const SHORTEST_TOKEN: usize = 32;

/// The end of the conversation that proves its knowledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofSide {
    Client,
    Peer,
}

impl ProofSide {
    pub fn other(self) -> Self {
        match self {
            ProofSide::Client => ProofSide::Peer,
            ProofSide::Peer => ProofSide::Client,
        }
    }
}

/// The two nonces of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct Nonces<'hello> {
    pub client: &'hello str,
    /// The peer's nonce.
    pub peer: &'hello str,
}

pub fn proof(token: &Token, side: ProofSide, nonces: Nonces) -> String {
    HEXLOWER.encode(&code(token, shown_by(side), nonces).finalize().into_bytes())
}

/// Whether a proof is valid, compared in constant time.
pub fn proves(digest: &str, token: &Token, side: ProofSide, nonces: Nonces) -> bool {
    let digest = HEXLOWER.decode(digest.as_bytes());
    digest.is_ok_and(|digest| code(token, shown_by(side), nonces).verify_slice(&digest).is_ok())
}

/// The key of this side's messages after the handshake.
pub fn key(token: &Token, side: ProofSide, nonces: Nonces) -> [u8; 32] {
    let word = match side {
        ProofSide::Client => "said by client",
        ProofSide::Peer => "said by peer",
    };
    code(token, word, nonces).finalize().into_bytes().into()
}

fn shown_by(side: ProofSide) -> &'static str {
    match side {
        ProofSide::Client => "client",
        ProofSide::Peer => "peer",
    }
}

fn code(token: &Token, word: &str, nonces: Nonces) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(token.0.as_bytes()).expect("HMAC takes keys of any length");
    for part in ["fathom peer", word, nonces.client, nonces.peer] {
        // With its length before each part, no two lists of parts have the same bytes.
        code.update(&(part.len() as u64).to_be_bytes());
        code.update(part.as_bytes());
    }
    code
}

/// This number of random bytes from the operating system, in hexadecimal: a token or a nonce.
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
        let digest = proof(&token, ProofSide::Client, nonces);
        assert!(proves(&digest, &token, ProofSide::Client, nonces));
        assert!(!proves(&digest, &token, ProofSide::Peer, nonces), "an answer sent back proves nothing");
        assert!(!proves(&digest, &Token("u".repeat(16)), ProofSide::Client, nonces));
        assert!(!proves(&digest, &token, ProofSide::Client, Nonces { client: "12", peer: "" }));
        for garbage in ["", "zz", "é", &digest[2..], &(digest.clone() + "00")] {
            assert!(!proves(garbage, &token, ProofSide::Client, nonces), "{garbage}");
        }
    }

    #[test]
    fn chance_is_not_repeated() {
        assert_ne!(chance(32).unwrap(), chance(32).unwrap());
        assert_eq!(chance(32).unwrap().len(), 64);
    }
}
