//! A client of SMB 2.1 (Microsoft's MS-SMB2): one share, one file; anonymous, or as a user with a password.
//!
//! A user's requests and the answers are signed from the log-in on, whatever the negotiation said: the negotiation is not signed,
//! so an attacker on the path could have altered it. An anonymous session has no password, and so no key for signatures.

mod ntlm;
mod session;

use super::client::{Client, EntryKind, Ticket};
use super::deadline::Deadline;
use super::wire::{Message, Wire};
use fathom_core::experiment::{Access, Failure};
use fathom_core::machine::RemoteUrl;
use ntlm::{Challenge, User, utf16};
use session::{HEADER, MORE, PER_CREDIT, SmbAnswer, SmbSession};

const PORT: u16 = 445;

const NEGOTIATE: u16 = 0;
const SESSION_SETUP: u16 = 1;
const TREE_CONNECT: u16 = 3;
const CREATE: u16 = 5;
const CLOSE: u16 = 6;
const READ: u16 = 8;
const WRITE: u16 = 9;
const ECHO: u16 = 13;

/// The supported dialects: 2.0.2 and 2.1.
const DIALECTS: [u16; 2] = [0x0202, 0x0210];

/// The capability of a server to transfer more than 64 KiB at once.
const LARGE: u32 = 4;

/// The client's signing modes: enabled, and required.
const SIGNING_ENABLED: u8 = 1;
const SIGNING_REQUIRED: u8 = 2;

/// The flags of guest and anonymous sessions, neither of which can be signed.
const UNSIGNED: u16 = 3;

/// Maximum size of a request, if the server accepts more.
const MOST: u32 = 1 << 20;

/// Access rights, disposition and options for opening: to read, to create and write, to remove.
const TO_READ: [u32; 3] = [0x0012_0089, 1, 0];
const TO_MAKE: [u32; 3] = [0x0012_019f, 2, 0x40];
const TO_REMOVE: [u32; 3] = [0x0001_0000, 1, 0x1000];

const END_OF_FILE: u32 = 0xc000_0011;

pub struct Smb {
    session: SmbSession,
    share: String,
    handle: [u8; 16],
    most: usize,
}

/// The result of opening a file.
struct Opened {
    handle: [u8; 16],
    kind: EntryKind,
}

impl Smb {
    /// Connects, negotiates a dialect, authenticates, and connects to the share: the first name of the path.
    pub fn connect(url: &RemoteUrl, access: &Access, deadline: Deadline) -> Result<Self, Failure> {
        let share = url.path.split('/').find(|name| !name.is_empty());
        let share = share.ok_or_else(|| Failure::Broke(format!("{url} names no share")))?.to_owned();
        let user = user(url, access)?;
        let signing = if user.is_some() { SIGNING_REQUIRED } else { SIGNING_ENABLED };
        let session = SmbSession::over(Wire::connect(&url.host, url.port.unwrap_or(PORT), deadline)?);
        let mut client = Smb { session, share, handle: [0; 16], most: PER_CREDIT };
        client.negotiate(signing)?;
        client.log_in(user.as_ref(), signing)?;
        client.choose(&url.host)?;
        Ok(client)
    }

    /// Negotiates a dialect and the maximum sizes of requests.
    fn negotiate(&mut self, signing: u8) -> Result<(), Failure> {
        let dialects: Vec<u8> = DIALECTS.iter().flat_map(|dialect| dialect.to_le_bytes()).collect();
        let own = drawn::<16>()?;
        let client = [&[36, 0, 2, 0, signing, 0, 0, 0][..], &LARGE.to_le_bytes(), &own, &[0; 8]].concat();
        let answer = self.exchange(NEGOTIATE, "a dialect", &[&client, &dialects])?;
        let mut message = answer.body();
        message.bytes(4)?;
        let dialect = message.u16_le()?;
        message.bytes(18)?;
        let capabilities = message.u32_le()?;
        let (_, read, write) = (message.u32_le()?, message.u32_le()?, message.u32_le()?);
        self.session.large = dialect != DIALECTS[0] && capabilities & LARGE != 0;
        let most = if self.session.large { MOST } else { PER_CREDIT as u32 };
        self.most = read.min(write).clamp(4096, most) as usize;
        Ok(())
    }

    fn log_in(&mut self, user: Option<&User>, signing: u8) -> Result<(), Failure> {
        let answer = self.set_up(&ntlm::hello(), signing)?;
        if answer.status != MORE {
            return Err(self.refused("logging in", answer.status));
        }
        self.session.id = u64::from_le_bytes(*answer.bytes[40..].first_chunk().unwrap_or(&[0; 8]));
        let challenge = Challenge::parse(token(&answer)?)?;
        let own = u64::from_le_bytes(drawn()?);
        let answer = ntlm::answer(&challenge, user, own);
        let logged_in = self.set_up(&answer.message, signing)?;
        if logged_in.status != 0 {
            let who = user.map_or("nobody".to_owned(), |user| format!("user {}", user.name));
            return Err(self.refused(&format!("logging in as {who}"), logged_in.status));
        }
        let mut message = logged_in.body();
        let (_, flags) = (message.u16_le()?, message.u16_le()?);
        if let Some(user) = user.filter(|_| flags & UNSIGNED != 0) {
            return Err(Failure::Broke(format!(
                "{}: it logged user {} in as a guest, and does not sign its answers to guests: name no user to read \
                 anonymously",
                self.session.server(),
                user.name
            )));
        }
        self.session.key = answer.key;
        Ok(())
    }

    fn set_up(&mut self, token: &[u8], signing: u8) -> Result<SmbAnswer, Failure> {
        let place = (HEADER as u16 + 24).to_le_bytes();
        let length = (token.len() as u16).to_le_bytes();
        let before = [&[25, 0, 0, signing, 0, 0, 0, 0, 0, 0, 0, 0][..], &place, &length, &[0; 8]].concat();
        self.session.call(SESSION_SETUP, &[&before, token])
    }

    fn choose(&mut self, host: &str) -> Result<(), Failure> {
        let path = utf16(&format!("\\\\{host}\\{}", self.share));
        let place = (HEADER as u16 + 8).to_le_bytes();
        let before = [&[9, 0, 0, 0][..], &place, &(path.len() as u16).to_le_bytes()].concat();
        let what = format!("share {}", self.share);
        let answer = self.exchange(TREE_CONNECT, &what, &[&before, &path])?;
        self.session.tree = u32::from_le_bytes(*answer.bytes[36..].first_chunk().unwrap_or(&[0; 4]));
        Ok(())
    }

    /// An exchange that must succeed; else the server's reason as the failure.
    fn exchange(&mut self, command: u16, what: &str, body: &[&[u8]]) -> Result<SmbAnswer, Failure> {
        let answer = self.session.call(command, body)?;
        if answer.status == 0 { Ok(answer) } else { Err(self.refused(what, answer.status)) }
    }

    fn refused(&self, what: &str, status: u32) -> Failure {
        Failure::Broke(format!("{}: {what}: {}", self.session.server(), words(status)))
    }

    /// Opens a path of the URL, which begins with the share.
    fn opened(&mut self, path: &str, how: [u32; 3]) -> Result<Opened, Failure> {
        let below = path.trim_start_matches('/').strip_prefix(&*self.share).unwrap_or(path);
        let name = utf16(&below.trim_matches('/').replace('/', "\\"));
        let [rights, disposition, options] = how.map(u32::to_le_bytes);
        let before = [
            &[57, 0, 0, 0, 2, 0, 0, 0][..],
            &[0; 16],
            &rights,
            &0x80_u32.to_le_bytes(),
            &7_u32.to_le_bytes(),
            &disposition,
            &options,
            &(HEADER as u16 + 56).to_le_bytes(),
            &(name.len() as u16).to_le_bytes(),
            &[0; 8],
        ]
        .concat();
        // The name has at least one byte, also that of the share itself.
        let filled = if name.is_empty() { vec![0] } else { name };
        opened(&self.exchange(CREATE, path, &[&before, &filled])?)
    }

    fn closed(&mut self, handle: [u8; 16]) -> Result<(), Failure> {
        self.exchange(CLOSE, "closing", &[&[24, 0, 0, 0, 0, 0, 0, 0], &handle]).map(drop)
    }
}

/// The user: `user` or `domain;user` of the URL with the given password; `None` for an anonymous session.
fn user<'session>(
    url: &'session RemoteUrl,
    access: &'session Access,
) -> Result<Option<User<'session>>, Failure> {
    let Some(name) = url.user.as_deref() else { return Ok(None) };
    let (domain, name) = name.split_once(';').unwrap_or(("", name));
    let password = access.password.as_ref().map(|password| password.0.as_str());
    let password = password.ok_or_else(|| {
        Failure::Broke(format!(
            "user {name} needs a password: give it by the environment variable FATHOM_REMOTE_PASSWORD, or name no user"
        ))
    })?;
    Ok(Some(User { domain, name, password }))
}

/// Random bytes of the system: the client's identifier, and the number with which it answers a challenge. Answers with a number
/// that others can foresee could be prepared for (MS-NLMP, section 3.1.5.1.2).
fn drawn<const BYTES: usize>() -> Result<[u8; BYTES], Failure> {
    let mut drawn = [0; BYTES];
    let filled = getrandom::fill(&mut drawn);
    filled.map_err(|error| Failure::Broke(format!("the system gives no random number: {error}")))?;
    Ok(drawn)
}

/// The token in the answer to a session set-up.
fn token(answer: &SmbAnswer) -> Result<&[u8], Failure> {
    let mut message = answer.body();
    let (_, _, place, length) = (message.u16_le()?, message.u16_le()?, message.u16_le()?, message.u16_le()?);
    answer.part(usize::from(place), usize::from(length))
}

fn opened(answer: &SmbAnswer) -> Result<Opened, Failure> {
    let mut message: Message = answer.body();
    message.bytes(48)?;
    let (bytes, attributes) = (message.u64_le()?, message.u32_le()?);
    message.bytes(4)?;
    let mut handle = [0; 16];
    handle.copy_from_slice(message.bytes(16)?);
    let kind = if attributes & 0x10 != 0 { EntryKind::Folder } else { EntryKind::File(bytes) };
    Ok(Opened { handle, kind })
}

/// The meaning of a status (MS-ERREF, section 2.3), for those that occur when reading files.
fn words(status: u32) -> String {
    let words = match status {
        0xc000_000f | 0xc000_0034 => "there is no such file",
        0xc000_003a => "there is no such folder",
        0xc000_0022 => "permission denied",
        0xc000_0035 => "a file of this name is there already",
        0xc000_0043 => "the file is in use",
        0xc000_006d | 0xc000_006a | 0xc000_0064 => "the server does not accept this user and password",
        0xc000_0072 => "the account is disabled",
        0xc000_007f => "the disk is full",
        0xc000_00cc => "there is no such share",
        0xc000_00bb => "the server does not support it",
        0xc000_0203 => "the session was closed by the server",
        0xc000_00c9 => "the share is gone",
        _ => return format!("status {status:#010x}"),
    };
    words.to_owned()
}

/// Copies the data of a read to `into`.
fn data(answer: &SmbAnswer, into: &mut [u8]) -> Result<usize, Failure> {
    match answer.status {
        0 => {}
        END_OF_FILE => return Ok(0),
        status => return Err(Failure::Broke(format!("a read: {}", words(status)))),
    }
    let mut message = answer.body();
    let (_, place, length) = (message.u16_le()?, message.u16_le()?, message.u32_le()?);
    let data = answer.part(usize::from(place & 0xff), length as usize)?;
    let room = into.get_mut(..data.len());
    room.ok_or_else(|| Failure::Broke("the server sent more than it was asked for".to_owned()))?
        .copy_from_slice(data);
    Ok(data.len())
}

impl Client for Smb {
    fn kind(&mut self, path: &str) -> Result<EntryKind, Failure> {
        let opened = self.opened(path, TO_READ)?;
        self.closed(opened.handle)?;
        Ok(opened.kind)
    }

    fn open(&mut self, path: &str) -> Result<(), Failure> {
        self.handle = self.opened(path, TO_READ)?.handle;
        Ok(())
    }

    fn create(&mut self, path: &str) -> Result<(), Failure> {
        self.handle = self.opened(path, TO_MAKE)?.handle;
        Ok(())
    }

    fn write(&mut self, offset: u64, block: &[u8]) -> Result<(), Failure> {
        let before = [
            &[49, 0][..],
            &(HEADER as u16 + 48).to_le_bytes(),
            &(block.len() as u32).to_le_bytes(),
            &offset.to_le_bytes(),
            &self.handle,
            &[0; 16],
        ]
        .concat();
        self.exchange(WRITE, "a write", &[&before, block]).map(drop)
    }

    fn close(&mut self) -> Result<(), Failure> {
        self.closed(self.handle)
    }

    fn remove(&mut self, path: &str) -> Result<(), Failure> {
        let handle = self.opened(path, TO_REMOVE)?.handle;
        self.closed(handle)
    }

    fn exchange(&mut self) -> Result<(), Failure> {
        self.exchange(ECHO, "an echo", &[&[4, 0, 0, 0]]).map(drop)
    }

    fn ask(&mut self, offset: u64, bytes: usize) -> Result<Ticket, Failure> {
        let mut body = [0; 49];
        body[0] = 49;
        body[4..8].copy_from_slice(&(bytes as u32).to_le_bytes());
        body[8..16].copy_from_slice(&offset.to_le_bytes());
        body[16..32].copy_from_slice(&self.handle);
        self.session.send(READ, bytes, &[&body]).map(Ticket)
    }

    fn answer(&mut self, ticket: Ticket, into: &mut [u8]) -> Result<usize, Failure> {
        data(&self.session.receive(ticket.0)?, into)
    }

    fn most(&self) -> usize {
        self.most
    }

    fn requests(&self) -> u64 {
        self.session.requests()
    }

    fn received(&self) -> Option<u64> {
        self.session.received()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_of_a_drawn_number_is_drawn() {
        let all: Vec<[u8; 16]> = (0..16).map(|_| drawn().unwrap()).collect();
        for place in 0..16 {
            assert!(
                all.iter().any(|one| one[place] != all[0][place]),
                "byte {place} is always {}",
                all[0][place]
            );
        }
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(status in any::<bool>(), rest in prop::collection::vec(any::<u8>(), 64..200)) {
            let answer = SmbAnswer { status: u32::from(status), bytes: rest };
            let _ = (token(&answer).is_ok(), opened(&answer).is_ok(), data(&answer, &mut [0; 16]).is_ok());
        }
    }
}
