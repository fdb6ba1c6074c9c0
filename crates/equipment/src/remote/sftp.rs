//! A client of the SSH file transfer protocol, version 3 (draft-ietf-secsh-filexfer-02), over the user's own `ssh`.

use super::client::{Client, EntryKind, Ticket};
use super::deadline::Deadline;
use super::ssh::Ssh;
use super::unanswered::Unanswered;
use super::wire::{Message, Wire};
use fathom_core::experiment::{Access, Failure};
use fathom_core::machine::RemoteUrl;

const INIT: u8 = 1;
const OPEN: u8 = 3;
const CLOSE: u8 = 4;
const READ: u8 = 5;
const WRITE: u8 = 6;
const FSTAT: u8 = 8;
const REMOVE: u8 = 13;
const STAT: u8 = 17;
const EXTENDED: u8 = 200;

const VERSION: u8 = 2;
const STATUS: u8 = 101;
const HANDLE: u8 = 102;
const DATA: u8 = 103;
const ATTRIBUTES: u8 = 105;
const EXTENDED_REPLY: u8 = 201;

/// The data size that every server must accept (section 3 of the draft), less the header.
const PROMISED: usize = 32 << 10;

/// Maximum length of an answer, bytes; a file server sends no longer ones.
const LONGEST: usize = 1 << 20;

const END_OF_FILE: u32 = 1;

pub struct Sftp {
    ssh: Ssh,
    wire: Wire,
    handle: Vec<u8>,
    most: usize,
    next: u32,
    requests: u64,
    unanswered: Unanswered,
    message: Vec<u8>,
}

/// An answer: its type and the bytes after the request's number.
struct SftpAnswer {
    kind: u8,
    body: Vec<u8>,
}

impl Sftp {
    /// Connects, and learns the maximum size of a request.
    pub fn connect(url: &RemoteUrl, access: &Access, deadline: Deadline) -> Result<Self, Failure> {
        let (ssh, wire) = Ssh::subsystem(url, access, "sftp", deadline)?;
        let (handle, unanswered, message) = (vec![], Unanswered::default(), vec![]);
        let mut client =
            Sftp { ssh, wire, handle, most: PROMISED, next: 0, requests: 0, unanswered, message };
        client.greet().map_err(|failure| client.ssh.explain(failure))?;
        Ok(client)
    }

    fn greet(&mut self) -> Result<(), Failure> {
        self.wire.send(&[0, 0, 0, 5, INIT, 0, 0, 0, 3])?;
        let (kind, body) = self.packet()?;
        let mut message = Message::new(&body);
        if kind != VERSION || message.u32()? < 3 {
            return Err(Failure::Broke("the server does not speak version 3 of sftp".to_owned()));
        }
        while !message.rest().is_empty() {
            let name = message.counted()?;
            message.counted()?;
            if name == b"limits@openssh.com" {
                return self.learn_limits();
            }
        }
        Ok(())
    }

    /// OpenSSH reports its limits (`PROTOCOL` of its sources, section 4.8): packet, read, write, open handles.
    fn learn_limits(&mut self) -> Result<(), Failure> {
        let answer = self.exchanged(EXTENDED, |message| text(message, b"limits@openssh.com"))?;
        if answer.kind != EXTENDED_REPLY {
            return Ok(());
        }
        let mut message = Message::new(&answer.body);
        let (_, read, write) = (message.u64()?, message.u64()?, message.u64()?);
        let most = read.min(write) as usize;
        if most > 0 {
            // A multiple of the page size, so that no page of the file is requested twice.
            self.most = (most.min(LONGEST / 2) / 4096 * 4096).max(4096);
        }
        Ok(())
    }

    /// Sends a request with the arguments appended by `fill`.
    fn request(&mut self, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) -> Result<Ticket, Failure> {
        self.next = self.next.wrapping_add(1);
        self.message.clear();
        self.message.extend_from_slice(&[0, 0, 0, 0, kind]);
        self.message.extend_from_slice(&self.next.to_be_bytes());
        fill(&mut self.message);
        let length = self.message.len() as u32 - 4;
        self.message[..4].copy_from_slice(&length.to_be_bytes());
        self.requests += 1;
        self.unanswered.add(u64::from(self.next));
        self.wire.send(&self.message)?;
        Ok(Ticket(u64::from(self.next)))
    }

    /// The type and the body of the next packet.
    fn packet(&mut self) -> Result<(u8, Vec<u8>), Failure> {
        let (kind, length) = self.header()?;
        Ok((kind, self.wire.take(length)?))
    }

    /// The type of the next packet and the number of bytes after it.
    fn header(&mut self) -> Result<(u8, usize), Failure> {
        let mut header = [0; 5];
        self.wire.receive(&mut header)?;
        let length = u32::from_be_bytes([header[0], header[1], header[2], header[3]]) as usize;
        // Text instead of a length is the output of a log-in script.
        if !(1..=LONGEST).contains(&length) {
            return Err(Failure::Broke(
                "what came is not sftp: does a start-up file of the account print something?".to_owned(),
            ));
        }
        Ok((header[4], length - 1))
    }

    fn wait(&mut self, ticket: Ticket) -> Result<SftpAnswer, Failure> {
        loop {
            if let Some(mut bytes) = self.unanswered.take(ticket.0) {
                let kind = bytes.remove(0);
                return Ok(SftpAnswer { kind, body: bytes });
            }
            let (kind, body) = self.packet()?;
            let id = Message::new(&body).u32()?;
            let mut bytes = vec![kind];
            bytes.extend_from_slice(&body[4..]);
            self.unanswered.keep(u64::from(id), bytes)?;
        }
    }

    fn exchanged(&mut self, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) -> Result<SftpAnswer, Failure> {
        let ticket = self.request(kind, fill)?;
        self.wait(ticket)
    }

    /// A request with its answer, which must be of this type; else the server's message as the failure.
    fn exchange(
        &mut self,
        kind: u8,
        expected: u8,
        what: &str,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Vec<u8>, Failure> {
        let answer = self.exchanged(kind, fill).map_err(|failure| self.ssh.explain(failure))?;
        let refused = answer.kind == STATUS && Message::new(&answer.body).u32()? != 0;
        if answer.kind == expected && !refused {
            return Ok(answer.body);
        }
        Err(Failure::Broke(format!("{}: {what}: {}", self.wire.server(), complaint(&answer)?)))
    }

    /// Reads the data of an answer whose packet has begun directly into `into`.
    fn data(&mut self, length: usize, into: &mut [u8]) -> Result<usize, Failure> {
        let mut header = [0; 4];
        self.wire.receive(&mut header)?;
        let count = u32::from_be_bytes(header) as usize;
        if count > into.len() || length < 8 + count {
            return Err(Failure::Broke("the server sent more than it was asked for".to_owned()));
        }
        self.wire.receive(&mut into[..count])?;
        self.wire.take(length - 8 - count)?;
        Ok(count)
    }

    fn answered(&mut self, ticket: Ticket, into: &mut [u8]) -> Result<usize, Failure> {
        if let Some(bytes) = self.unanswered.take(ticket.0) {
            return late(&SftpAnswer { kind: bytes[0], body: bytes[1..].to_vec() }, into);
        }
        loop {
            let (kind, length) = self.header()?;
            let mut id = [0; 4];
            self.wire.receive(&mut id)?;
            let id = u64::from(u32::from_be_bytes(id));
            if id == ticket.0 {
                self.unanswered.answered(id);
            }
            if id == ticket.0 && kind == DATA {
                return self.data(length, into);
            }
            let body = self.wire.take(length.saturating_sub(4))?;
            if id == ticket.0 {
                return late(&SftpAnswer { kind, body }, into);
            }
            self.unanswered.keep(id, [vec![kind], body].concat())?;
        }
    }
}

/// The data of an answer that was received earlier.
fn late(answer: &SftpAnswer, into: &mut [u8]) -> Result<usize, Failure> {
    let mut message = Message::new(&answer.body);
    match answer.kind {
        DATA => {
            let data = message.counted()?;
            let place = into.get_mut(..data.len());
            place
                .ok_or_else(|| Failure::Broke("the server sent more than it was asked for".to_owned()))?
                .copy_from_slice(data);
            Ok(data.len())
        }
        STATUS if message.u32()? == END_OF_FILE => Ok(0),
        _ => Err(Failure::Broke(format!("a read: {}", complaint(answer)?))),
    }
}

/// The message of a server's refusal.
fn complaint(answer: &SftpAnswer) -> Result<String, Failure> {
    if answer.kind != STATUS {
        return Ok(format!("an answer of another kind ({})", answer.kind));
    }
    let mut message = Message::new(&answer.body);
    let code = message.u32()?;
    let words = message.counted().map(String::from_utf8_lossy).unwrap_or_default();
    Ok(if words.is_empty() { format!("status {code}") } else { words.into_owned() })
}

fn text(message: &mut Vec<u8>, text: &[u8]) {
    message.extend_from_slice(&(text.len() as u32).to_be_bytes());
    message.extend_from_slice(text);
}

/// A path in the form the server expects: `/~/x` is below the log-in folder.
pub fn named(path: &str) -> &str {
    path.strip_prefix("/~/").map_or(path, |below| if below.is_empty() { "." } else { below })
}

/// Size and permissions: the first fields of the attributes if present.
fn attributes(body: &[u8]) -> Result<EntryKind, Failure> {
    let mut message = Message::new(body);
    let flags = message.u32()?;
    let size = if flags & 1 != 0 { message.u64()? } else { 0 };
    if flags & 2 != 0 {
        message.bytes(8)?;
    }
    let mode = if flags & 4 != 0 { message.u32()? } else { 0 };
    Ok(if mode & libc::S_IFMT == libc::S_IFDIR { EntryKind::Folder } else { EntryKind::File(size) })
}

impl Client for Sftp {
    fn kind(&mut self, path: &str) -> Result<EntryKind, Failure> {
        attributes(&self.exchange(STAT, ATTRIBUTES, path, |message| text(message, named(path).as_bytes()))?)
    }

    fn open(&mut self, path: &str) -> Result<(), Failure> {
        let body = self.exchange(OPEN, HANDLE, path, |message| {
            text(message, named(path).as_bytes());
            message.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0]);
        })?;
        self.handle = Message::new(&body).counted()?.to_vec();
        Ok(())
    }

    fn create(&mut self, path: &str) -> Result<(), Failure> {
        // Write, create, and only if the file does not exist (flags 2, 8, 32); readable by its owner only.
        let body = self.exchange(OPEN, HANDLE, path, |message| {
            text(message, named(path).as_bytes());
            message.extend_from_slice(&[0, 0, 0, 2 | 8 | 32, 0, 0, 0, 4, 0, 0, 0o1, 0o200]);
        })?;
        self.handle = Message::new(&body).counted()?.to_vec();
        Ok(())
    }

    fn write(&mut self, offset: u64, block: &[u8]) -> Result<(), Failure> {
        let handle = self.handle.clone();
        self.exchange(WRITE, STATUS, "a write", |message| {
            text(message, &handle);
            message.extend_from_slice(&offset.to_be_bytes());
            text(message, block);
        })?;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Failure> {
        let handle = std::mem::take(&mut self.handle);
        self.exchange(CLOSE, STATUS, "closing", |message| text(message, &handle))?;
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<(), Failure> {
        self.exchange(REMOVE, STATUS, path, |message| text(message, named(path).as_bytes()))?;
        Ok(())
    }

    fn exchange(&mut self) -> Result<(), Failure> {
        let handle = std::mem::take(&mut self.handle);
        let answer =
            self.exchange(FSTAT, ATTRIBUTES, "the file's attributes", |message| text(message, &handle));
        self.handle = handle;
        answer.map(drop)
    }

    fn ask(&mut self, offset: u64, bytes: usize) -> Result<Ticket, Failure> {
        let handle = std::mem::take(&mut self.handle);
        let ticket = self.request(READ, |message| {
            text(message, &handle);
            message.extend_from_slice(&offset.to_be_bytes());
            message.extend_from_slice(&(bytes as u32).to_be_bytes());
        });
        self.handle = handle;
        ticket.map_err(|failure| self.ssh.explain(failure))
    }

    fn answer(&mut self, ticket: Ticket, into: &mut [u8]) -> Result<usize, Failure> {
        self.answered(ticket, into).map_err(|failure| self.ssh.explain(failure))
    }

    fn most(&self) -> usize {
        self.most
    }

    fn requests(&self) -> u64 {
        self.requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_may_begin_at_home() {
        assert_eq!((named("/~/x"), named("/~/"), named("/srv/x")), ("x", ".", "/srv/x"));
    }

    #[test]
    fn attributes_tell_files_from_folders() {
        let mut body = vec![0, 0, 0, 0x0f, 0, 0, 0, 0, 0, 0, 0x10, 0];
        body.extend_from_slice(&[0; 8]);
        body.extend_from_slice(&0o100_644_u32.to_be_bytes());
        assert_eq!(attributes(&body).unwrap(), EntryKind::File(4096));
        body[20..24].copy_from_slice(&0o040_755_u32.to_be_bytes());
        assert_eq!(attributes(&body).unwrap(), EntryKind::Folder);
        assert!(attributes(&body[..10]).is_err());
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(kind in 0_u8.., body in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = attributes(&body);
            let answer = SftpAnswer { kind, body };
            let _ = complaint(&answer);
            let _ = late(&answer, &mut [0; 16]);
        }
    }
}
