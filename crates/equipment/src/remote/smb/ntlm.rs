//! Authentication by NTLM version 2 (Microsoft's MS-NLMP), without negotiation around it; anonymous if no user is named.

use crate::remote::wire::Message;
use fathom_core::experiment::Failure;
use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;

const SIGNATURE: &[u8] = b"NTLMSSP\0";

/// Unicode, target requested, signing, NTLM, always sign, extended security, 128 bits. Keys are not exchanged: the session's key
/// follows from the password.
const FLAGS: u32 = 0x1 | 0x4 | 0x10 | 0x200 | 0x8000 | 0x8_0000 | 0x2000_0000;
const ANONYMOUS: u32 = 0x800;

/// The number of the server's time among its target information.
const TIME: u16 = 7;

pub struct User<'session> {
    /// The user's domain; empty for a user known to the server itself.
    pub domain: &'session str,
    pub name: &'session str,
    pub password: &'session str,
}

/// The first message of the conversation.
pub fn hello() -> Vec<u8> {
    let mut message = SIGNATURE.to_vec();
    message.extend_from_slice(&1_u32.to_le_bytes());
    message.extend_from_slice(&FLAGS.to_le_bytes());
    message.resize(32, 0);
    message
}

#[derive(Debug, PartialEq, Eq)]
pub struct Challenge {
    number: [u8; 8],
    facts: Vec<u8>,
}

impl Challenge {
    pub fn parse(bytes: &[u8]) -> Result<Self, Failure> {
        let mut message = Message::new(bytes);
        if message.bytes(8)? != SIGNATURE || message.u32_le()? != 2 {
            return Err(Failure::Broke("the server does not speak NTLM".to_owned()));
        }
        message.bytes(12)?;
        let mut number = [0; 8];
        number.copy_from_slice(message.bytes(8)?);
        message.bytes(8)?;
        let (length, _, offset) = (message.u16_le()?, message.u16_le()?, message.u32_le()?);
        let mut whole = Message::new(bytes);
        whole.bytes(offset as usize)?;
        Ok(Challenge { number, facts: whole.bytes(usize::from(length))?.to_vec() })
    }

    /// The server's time, in the units of its files; 0 if it sends none.
    fn time(&self) -> u64 {
        let mut facts = Message::new(&self.facts);
        while let (Ok(kind), Ok(length)) = (facts.u16_le(), facts.u16_le()) {
            match facts.bytes(usize::from(length)) {
                Ok(fact) if kind == TIME => {
                    return fact.first_chunk().map_or(0, |time| u64::from_le_bytes(*time));
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        0
    }
}

/// The answer to a challenge, and the key of the session that follows from it.
pub struct NtlmAnswer {
    pub message: Vec<u8>,
    /// The key; `None` for an anonymous session.
    pub key: Option<[u8; 16]>,
}

/// Answers a challenge; `own` is a random number.
pub fn answer(challenge: &Challenge, user: Option<&User>, own: u64) -> NtlmAnswer {
    let Some(user) = user else {
        return NtlmAnswer { message: message(FLAGS | ANONYMOUS, &[&[0], &[], &[], &[]]), key: None };
    };
    let owner = owner_key(user);
    let facts = [
        &[1, 1, 0, 0, 0, 0, 0, 0][..],
        &challenge.time().to_le_bytes(),
        &own.to_le_bytes(),
        &[0; 4],
        &challenge.facts,
        &[0; 4],
    ]
    .concat();
    let proof = hmac_md5(&owner, &[&challenge.number, &facts]);
    let response = [&proof[..], &facts].concat();
    let fields = [&[0; 24][..], &response, &utf16(user.domain), &utf16(user.name)];
    NtlmAnswer { message: message(FLAGS, &fields), key: Some(hmac_md5(&owner, &[&proof])) }
}

/// The key of a password (`NTOWFv2`).
fn owner_key(user: &User) -> [u8; 16] {
    let password = Md4::digest(utf16(user.password));
    hmac_md5(&password, &[&utf16(&user.name.to_uppercase()), &utf16(user.domain)])
}

/// Responses, domain, user; no work station and no key. For each field its length twice, then its offset.
fn message(flags: u32, fields: &[&[u8]; 4]) -> Vec<u8> {
    const HEADER: usize = 64;
    let mut message = SIGNATURE.to_vec();
    message.extend_from_slice(&3_u32.to_le_bytes());
    let mut offset = HEADER;
    for field in fields.iter().copied().chain([&[][..], &[]]) {
        let length = (field.len() as u16).to_le_bytes();
        message.extend_from_slice(&[length, length].concat());
        message.extend_from_slice(&(offset as u32).to_le_bytes());
        offset += field.len();
    }
    message.extend_from_slice(&flags.to_le_bytes());
    for field in fields {
        message.extend_from_slice(field);
    }
    message
}

/// Text in the encoding of Microsoft's protocols.
pub fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn hmac_md5(key: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("any length of key is taken");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The worked example of MS-NLMP, section 4.2.4.
    #[test]
    fn the_keys_are_those_of_the_published_example() {
        let user = User { domain: "Domain", name: "User", password: "Password" };
        let expected =
            [0x0c, 0x86, 0x8a, 0x40, 0x3b, 0xfd, 0x7a, 0x93, 0xa3, 0x00, 0x1e, 0xf2, 0x2e, 0xf0, 0x2e, 0x3f];
        assert_eq!(owner_key(&user), expected);
        let facts =
            [&[2, 0, 12, 0][..], &utf16("Domain"), &[1, 0, 12, 0], &utf16("Server"), &[0; 4]].concat();
        let challenge = Challenge { number: [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef], facts };
        let answered = answer(&challenge, Some(&user), u64::from_le_bytes([0xaa; 8]));
        let key =
            [0x8d, 0xe4, 0x0c, 0xca, 0xdb, 0xc1, 0x4a, 0x82, 0xf1, 0x5c, 0xb0, 0xad, 0x0d, 0xe9, 0x5c, 0xa3];
        assert_eq!(answered.key, Some(key));
    }

    #[test]
    fn nobody_has_no_key() {
        let challenge = Challenge { number: [1; 8], facts: vec![] };
        assert_eq!(answer(&challenge, None, 7).key, None);
    }

    proptest! {
        #[test]
        fn no_challenge_makes_it_panic(rest in prop::collection::vec(any::<u8>(), 0..100)) {
            let bytes = [SIGNATURE, &2_u32.to_le_bytes(), &rest].concat();
            if let Ok(challenge) = Challenge::parse(&bytes) {
                challenge.time();
            }
        }
    }
}
