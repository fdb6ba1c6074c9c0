//! Sun remote procedure calls over TCP (RFC 5531) and their data format (XDR, RFC 4506), as far as NFS needs them.

use super::deadline::Deadline;
use super::unanswered::Unanswered;
use super::wire::{Message, Wire};
use fathom_core::experiment::Failure;

/// Maximum length of an answer, bytes; a file server sends no longer ones.
const LONGEST: usize = 4 << 20;

/// Port mapper: its port, number and version (RFC 1833).
const MAPPER_PORT: u16 = 111;
const MAPPER: RpcProgram = RpcProgram { number: 100_000, version: 2, name: "the port mapper" };
const GETPORT: u32 = 3;
const TCP: u32 = 6;

#[derive(Debug, Clone, Copy)]
pub struct RpcProgram {
    pub number: u32,
    pub version: u32,
    /// Its name in error messages.
    pub name: &'static str,
}

impl RpcProgram {
    /// The port of the program on a server, by the server's port mapper.
    pub fn port(self, host: &str, deadline: Deadline) -> Result<u16, Failure> {
        let mut mapper = Rpc::over(Wire::connect(host, MAPPER_PORT, deadline)?, MAPPER);
        let answer = mapper.call(GETPORT, |call| {
            for number in [self.number, self.version, TCP, 0] {
                call.extend_from_slice(&number.to_be_bytes());
            }
        })?;
        match Message::new(&answer).u32()? {
            0 => Err(Failure::Broke(format!(
                "{host}: its port mapper knows no {} of version {} over TCP",
                self.name, self.version
            ))),
            port => Ok(port as u16),
        }
    }
}

/// A connection to one program of a server.
pub struct Rpc {
    wire: Wire,
    program: RpcProgram,
    /// The caller's credentials: machine name, user and groups (`AUTH_SYS`, RFC 5531, appendix A).
    credentials: Vec<u8>,
    next: u32,
    requests: u64,
    unanswered: Unanswered,
    message: Vec<u8>,
}

impl Rpc {
    /// Connects, from a privileged port if this process is the superuser's: many servers require it.
    pub fn connect(host: &str, port: u16, program: RpcProgram, deadline: Deadline) -> Result<Self, Failure> {
        Ok(Rpc::over(Wire::connect_as_superuser(host, port, deadline)?, program))
    }

    fn over(wire: Wire, program: RpcProgram) -> Self {
        let next = std::process::id().wrapping_mul(0x9e37_79b9);
        let (unanswered, message) = (Unanswered::default(), vec![]);
        Rpc { wire, program, credentials: credentials(), next, requests: 0, unanswered, message }
    }

    /// Sends a call whose arguments are appended by `fill`.
    pub fn send(&mut self, procedure: u32, fill: impl FnOnce(&mut Vec<u8>)) -> Result<u64, Failure> {
        self.next = self.next.wrapping_add(1);
        self.message.clear();
        self.message.extend_from_slice(&[0; 4]);
        // A call (0) by version 2 of the protocol.
        for number in [self.next, 0, 2, self.program.number, self.program.version, procedure] {
            self.message.extend_from_slice(&number.to_be_bytes());
        }
        self.message.extend_from_slice(&self.credentials);
        fill(&mut self.message);
        // One record, in one fragment that is marked as the last (the highest bit).
        let length = (self.message.len() as u32 - 4) | 1 << 31;
        self.message[..4].copy_from_slice(&length.to_be_bytes());
        self.requests += 1;
        self.unanswered.add(u64::from(self.next));
        self.wire.send(&self.message)?;
        Ok(u64::from(self.next))
    }

    /// Waits for the results of a call. The data of large ones are copied once more by the caller.
    pub fn receive(&mut self, ticket: u64) -> Result<Vec<u8>, Failure> {
        loop {
            if let Some(record) = self.unanswered.take(ticket) {
                return self.results(record);
            }
            let record = self.record()?;
            self.unanswered.keep(u64::from(Message::new(&record).u32()?), record)?;
        }
    }

    pub fn call(&mut self, procedure: u32, fill: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<u8>, Failure> {
        let ticket = self.send(procedure, fill)?;
        self.receive(ticket)
    }

    /// Calls sent so far.
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

    /// A whole record from all of its fragments.
    fn record(&mut self) -> Result<Vec<u8>, Failure> {
        let mut record = vec![];
        loop {
            let mut header = [0; 4];
            self.wire.receive(&mut header)?;
            let header = u32::from_be_bytes(header);
            let length = (header & !(1 << 31)) as usize;
            if record.len() + length > LONGEST {
                return Err(Failure::Broke(format!("{}: what came is not NFS", self.wire.server())));
            }
            if header == 0 {
                return Err(Failure::Broke(format!(
                    "{}: an empty fragment is no part of an answer",
                    self.wire.server()
                )));
            }
            let begun = record.len();
            record.resize(begun + length, 0);
            self.wire.receive(&mut record[begun..])?;
            if header & (1 << 31) != 0 {
                return Ok(record);
            }
        }
    }

    /// The results in an answer after its header, or the reason why the call was refused.
    fn results(&self, mut record: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let length = record.len();
        let mut message = Message::new(&record);
        let refused =
            |why: String| Failure::Broke(format!("{} ({}): {why}", self.wire.server(), self.program.name));
        let (_, kind, denied) = (message.u32()?, message.u32()?, message.u32()?);
        if kind != 1 {
            return Err(refused("what came is no answer".to_owned()));
        }
        if denied != 0 {
            let why = if message.u32()? == 1 {
                "it does not accept who asks (AUTH_SYS)"
            } else {
                "another version of RPC"
            };
            return Err(refused(why.to_owned()));
        }
        message.u32()?;
        let verifier = message.u32()? as usize;
        message.bytes(verifier.next_multiple_of(4))?;
        match message.u32()? {
            0 => {}
            1 => return Err(refused("it is not there".to_owned())),
            2 => return Err(refused(format!("it has no version {}", self.program.version))),
            other => return Err(refused(format!("it did not understand the call (status {other})"))),
        }
        let rest = message.rest().len();
        record.drain(..length - rest);
        Ok(record)
    }
}

/// Appends bytes after their count, padded to a multiple of four.
pub fn opaque(message: &mut Vec<u8>, bytes: &[u8]) {
    message.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    message.extend_from_slice(bytes);
    message.resize(message.len().next_multiple_of(4), 0);
}

/// Bytes after their count in an answer.
pub fn counted<'bytes>(message: &mut Message<'bytes>) -> Result<&'bytes [u8], Failure> {
    let count = message.u32()? as usize;
    let bytes = message.bytes(count)?;
    message.bytes(count.next_multiple_of(4) - count)?;
    Ok(bytes)
}

/// `AUTH_SYS` with this process's user and group, and an empty verifier.
fn credentials() -> Vec<u8> {
    // SAFETY: both only read what the process is.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let mut body = 0_u32.to_be_bytes().to_vec();
    opaque(&mut body, b"fathom");
    for number in [user, group, 0] {
        body.extend_from_slice(&number.to_be_bytes());
    }
    let mut credentials = 1_u32.to_be_bytes().to_vec();
    opaque(&mut credentials, &body);
    credentials.extend_from_slice(&[0; 8]);
    credentials
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_bytes_are_filled_up_and_read_back() {
        let mut message = vec![];
        opaque(&mut message, b"fathom");
        assert_eq!(message, b"\0\0\0\x06fathom\0\0");
        let mut message = Message::new(&message);
        assert_eq!(counted(&mut message).unwrap(), b"fathom");
        assert!(message.rest().is_empty() && counted(&mut message).is_err());
        assert!(counted(&mut Message::new(&[0xff; 8])).is_err());
        assert_eq!(credentials().len() % 4, 0);
    }
}
