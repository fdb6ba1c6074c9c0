//! A client of NFS version 3 over TCP (RFC 1813): mount protocol, look-up, read; one file at a time.

use super::client::{Client, EntryKind, Ticket};
use super::deadline::Deadline;
use super::rpc::{Rpc, RpcProgram, counted, opaque};
use super::wire::Message;
use fathom_core::experiment::Failure;
use fathom_core::machine::RemoteUrl;

const NFS: RpcProgram = RpcProgram { number: 100_003, version: 3, name: "NFS" };
const MOUNT: RpcProgram = RpcProgram { number: 100_005, version: 3, name: "the mount protocol of NFS" };

const MOUNT_MNT: u32 = 1;
const MOUNT_EXPORT: u32 = 5;

const NULL: u32 = 0;
const GETATTR: u32 = 1;
const LOOKUP: u32 = 3;
const READ: u32 = 6;
const WRITE: u32 = 7;
const CREATE: u32 = 8;
const REMOVE: u32 = 12;
const FSINFO: u32 = 19;

/// Maximum size of a request, if the server accepts more.
const MOST: u32 = 1 << 20;

/// Length of a file's attributes, bytes.
const ATTRIBUTES: usize = 84;

/// A connection to an export that is mounted by the protocol only: this machine's mounts do not change.
pub struct Nfs {
    rpc: Rpc,
    export: String,
    root: Vec<u8>,
    /// The handle of the open file: NFS 3 has no open call, only handles.
    handle: Vec<u8>,
    most: usize,
}

impl Nfs {
    /// Finds the export that contains the path and requests its handle.
    pub fn connect(url: &RemoteUrl, deadline: Deadline) -> Result<Self, Failure> {
        // A server without a port mapper offers both protocols at the port of the URL.
        let mount_port = MOUNT.port(&url.host, deadline).or_else(|failure| url.port.ok_or(failure))?;
        let mut mount = Rpc::connect(&url.host, mount_port, MOUNT, deadline)?;
        let export = export_of(&mut mount, &url.path)?;
        let root = mounted(&mut mount, &export)?;
        let port = url.port.map_or_else(|| NFS.port(&url.host, deadline), Ok)?;
        let rpc = Rpc::connect(&url.host, port, NFS, deadline)?;
        let mut client = Nfs { rpc, export, root, handle: vec![], most: 0 };
        client.most = client.limits()?;
        Ok(client)
    }

    /// The maximum request size of the server, for both reading and writing.
    fn limits(&mut self) -> Result<usize, Failure> {
        let root = self.root.clone();
        let answer = self.exchange(FSINFO, "the limits of the server", |call| opaque(call, &root))?;
        let mut message = Message::new(&answer);
        optional_attributes(&mut message)?;
        let numbers = [message.u32()?, message.u32()?, message.u32()?, message.u32()?];
        let [read, _, _, write] = numbers;
        Ok(read.min(write).clamp(512, MOST) as usize)
    }

    /// A call whose results begin with a status; returns what follows it, or the meaning of the error status.
    fn exchange(
        &mut self,
        procedure: u32,
        what: &str,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Vec<u8>, Failure> {
        let answer = self.rpc.call(procedure, fill)?;
        match Message::new(&answer).u32()? {
            0 => Ok(answer[4..].to_vec()),
            status => Err(Failure::Broke(format!("{}: {what}: {}", self.rpc.server(), words(status)))),
        }
    }

    /// The handle of a path, looked up name by name.
    fn find(&mut self, path: &str) -> Result<Vec<u8>, Failure> {
        let below = path.strip_prefix(self.export.as_str()).unwrap_or(path).to_owned();
        let mut handle = self.root.clone();
        for name in below.split('/').filter(|name| !name.is_empty()) {
            let answer = self.exchange(LOOKUP, path, |call| {
                opaque(call, &handle);
                opaque(call, name.as_bytes());
            })?;
            handle = counted(&mut Message::new(&answer))?.to_vec();
        }
        Ok(handle)
    }

    /// The handle of the folder of a path, and the name in it.
    fn parent<'path>(&mut self, path: &'path str) -> Result<(Vec<u8>, &'path str), Failure> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok((self.find(folder)?, name))
    }
}

/// The longest export that contains a path.
fn export_of(mount: &mut Rpc, path: &str) -> Result<String, Failure> {
    let answer = mount.call(MOUNT_EXPORT, |_| {})?;
    let exports = exports(&answer)?;
    let holds = |export: &&String| {
        let export = export.trim_end_matches('/');
        path.strip_prefix(export).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let export = exports.iter().filter(holds).max_by_key(|export| export.len()).cloned();
    export.ok_or_else(|| {
        Failure::Broke(format!(
            "{} exports {}, and {path} is in none of them",
            mount.server(),
            listed(&exports)
        ))
    })
}

fn listed(exports: &[String]) -> String {
    if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") }
}

/// The paths in a list of exports; the lists of permitted clients are skipped.
fn exports(answer: &[u8]) -> Result<Vec<String>, Failure> {
    let (mut message, mut paths) = (Message::new(answer), vec![]);
    while message.u32()? != 0 {
        paths.push(String::from_utf8_lossy(counted(&mut message)?).into_owned());
        while message.u32()? != 0 {
            counted(&mut message)?;
        }
    }
    Ok(paths)
}

fn mounted(mount: &mut Rpc, export: &str) -> Result<Vec<u8>, Failure> {
    let answer = mount.call(MOUNT_MNT, |call| opaque(call, export.as_bytes()))?;
    let mut message = Message::new(&answer);
    match message.u32()? {
        0 => Ok(counted(&mut message)?.to_vec()),
        status => Err(Failure::Broke(format!("{}: export {export}: {}", mount.server(), words(status)))),
    }
}

fn optional_attributes(message: &mut Message) -> Result<(), Failure> {
    if message.u32()? != 0 {
        message.bytes(ATTRIBUTES)?;
    }
    Ok(())
}

/// The meaning of a status (RFC 1813, section 2.6): below 10000 the numbers are those of the system's errors.
fn words(status: u32) -> String {
    match status {
        70 => "the file handle is stale: the file was removed or the server was restarted".to_owned(),
        10_004 => "the server does not support it".to_owned(),
        10_006 => "the server failed".to_owned(),
        10_008 => "the server is busy fetching the file (try again)".to_owned(),
        1..100 => std::io::Error::from_raw_os_error(status as i32).to_string(),
        other => format!("status {other}"),
    }
}

/// Copies the data of a read to `into`.
fn data(answer: &[u8], into: &mut [u8]) -> Result<usize, Failure> {
    let mut message = Message::new(answer);
    let status = message.u32()?;
    if status != 0 {
        return Err(Failure::Broke(format!("a read: {}", words(status))));
    }
    optional_attributes(&mut message)?;
    let (_count, _end) = (message.u32()?, message.u32()?);
    let data = counted(&mut message)?;
    let place = into.get_mut(..data.len());
    place
        .ok_or_else(|| Failure::Broke("the server sent more than it was asked for".to_owned()))?
        .copy_from_slice(data);
    Ok(data.len())
}

impl Client for Nfs {
    fn kind(&mut self, path: &str) -> Result<EntryKind, Failure> {
        let handle = self.find(path)?;
        let answer = self.exchange(GETATTR, path, |call| opaque(call, &handle))?;
        let mut message = Message::new(&answer);
        let kind = message.u32()?;
        // Mode, links, owner, group, then the size.
        message.bytes(16)?;
        Ok(if kind == 2 { EntryKind::Folder } else { EntryKind::File(message.u64()?) })
    }

    fn open(&mut self, path: &str) -> Result<(), Failure> {
        self.handle = self.find(path)?;
        Ok(())
    }

    fn create(&mut self, path: &str) -> Result<(), Failure> {
        let (folder, name) = self.parent(path)?;
        let answer = self.exchange(CREATE, path, |call| {
            opaque(call, &folder);
            opaque(call, name.as_bytes());
            // Guarded: only if the file does not exist; its mode is set, five other attributes are not.
            for number in [1, 1, 0o600, 0, 0, 0, 0, 0] {
                call.extend_from_slice(&u32::to_be_bytes(number));
            }
        })?;
        let mut message = Message::new(&answer);
        self.handle = if message.u32()? == 0 { self.find(path)? } else { counted(&mut message)?.to_vec() };
        Ok(())
    }

    fn write(&mut self, offset: u64, block: &[u8]) -> Result<(), Failure> {
        let handle = self.handle.clone();
        let answer = self.exchange(WRITE, "a write", |call| {
            opaque(call, &handle);
            call.extend_from_slice(&offset.to_be_bytes());
            // On stable storage before the answer (FILE_SYNC).
            call.extend_from_slice(&(block.len() as u32).to_be_bytes());
            call.extend_from_slice(&2_u32.to_be_bytes());
            opaque(call, block);
        })?;
        let mut message = Message::new(&answer);
        // Size and times before, attributes after, then the number of bytes written.
        if message.u32()? != 0 {
            message.bytes(24)?;
        }
        optional_attributes(&mut message)?;
        match message.u32()? as usize {
            written if written == block.len() => Ok(()),
            written => Err(Failure::Broke(format!("of {} bytes {written} were written", block.len()))),
        }
    }

    fn close(&mut self) -> Result<(), Failure> {
        self.handle.clear();
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<(), Failure> {
        let (folder, name) = self.parent(path)?;
        self.exchange(REMOVE, path, |call| {
            opaque(call, &folder);
            opaque(call, name.as_bytes());
        })
        .map(drop)
    }

    fn exchange(&mut self) -> Result<(), Failure> {
        self.rpc.call(NULL, |_| {}).map(drop)
    }

    fn ask(&mut self, offset: u64, bytes: usize) -> Result<Ticket, Failure> {
        let handle = std::mem::take(&mut self.handle);
        let sent = self.rpc.send(READ, |call| {
            opaque(call, &handle);
            call.extend_from_slice(&offset.to_be_bytes());
            call.extend_from_slice(&(bytes as u32).to_be_bytes());
        });
        self.handle = handle;
        sent.map(Ticket)
    }

    fn answer(&mut self, ticket: Ticket, into: &mut [u8]) -> Result<usize, Failure> {
        data(&self.rpc.receive(ticket.0)?, into)
    }

    fn most(&self) -> usize {
        self.most
    }

    fn requests(&self) -> u64 {
        self.rpc.requests()
    }

    fn received(&self) -> Option<u64> {
        self.rpc.received()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_list_of_exports_is_read() {
        let mut answer = vec![];
        for path in ["/srv", "/home"] {
            answer.extend_from_slice(&1_u32.to_be_bytes());
            opaque(&mut answer, path.as_bytes());
            answer.extend_from_slice(&1_u32.to_be_bytes());
            opaque(&mut answer, b"10.0.0.0/8");
            answer.extend_from_slice(&0_u32.to_be_bytes());
        }
        answer.extend_from_slice(&0_u32.to_be_bytes());
        assert_eq!(exports(&answer).unwrap(), ["/srv", "/home"]);
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(answer in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = exports(&answer);
            let _ = data(&answer, &mut [0; 16]);
            let _ = optional_attributes(&mut Message::new(&answer));
        }
    }
}
