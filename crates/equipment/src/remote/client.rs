//! The interface of all protocol clients: one request at a time, each counted.

use fathom_core::experiment::Failure;

/// A read that was requested and not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(pub u64);

/// The type of file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file of this many bytes.
    File(u64),
    Folder,
}

/// A connection to a server, with at most one file open.
pub trait Client {
    /// The type of file at a path.
    fn kind(&mut self, path: &str) -> Result<EntryKind, Failure>;

    /// Opens a file for reading.
    fn open(&mut self, path: &str) -> Result<(), Failure>;

    /// Creates a file that does not exist yet, and opens it for writing.
    fn create(&mut self, path: &str) -> Result<(), Failure>;

    /// Writes all of a block, of at most [`Client::most`] bytes.
    fn write(&mut self, offset: u64, block: &[u8]) -> Result<(), Failure>;

    /// Makes the server write the file to stable storage, and closes it.
    fn close(&mut self) -> Result<(), Failure>;

    fn remove(&mut self, path: &str) -> Result<(), Failure>;

    /// The smallest exchange of the protocol: a request and an answer without data.
    fn exchange(&mut self) -> Result<(), Failure>;

    /// Requests bytes of the open file, at most [`Client::most`].
    fn ask(&mut self, offset: u64, bytes: usize) -> Result<Ticket, Failure>;

    /// Waits for the answer and returns the number of bytes received; fewer than requested is not an error.
    fn answer(&mut self, ticket: Ticket, into: &mut [u8]) -> Result<usize, Failure>;

    /// Maximum bytes of one request.
    fn most(&self) -> usize;

    /// Requests sent so far.
    fn requests(&self) -> u64;

    /// Makes this machine evict the file from its cache, and verifies it. Clients of protocols cache nothing.
    fn forget(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The cached bytes of a part of the file on this machine.
    fn resident(&self, _start: u64, _bytes: u64) -> Result<u64, Failure> {
        Ok(0)
    }

    /// Bytes that the kernel has received over the connection; `None` if it does not tell.
    fn received(&self) -> Option<u64> {
        None
    }
}

/// Reads a whole block, one request after the other.
pub fn read_block(client: &mut dyn Client, offset: u64, block: &mut [u8]) -> Result<(), Failure> {
    let (mut done, most) = (0, client.most());
    while done < block.len() {
        let bytes = most.min(block.len() - done);
        let ticket = client.ask(offset + done as u64, bytes)?;
        match client.answer(ticket, &mut block[done..done + bytes])? {
            0 => return Err(Failure::Broke("the file ended before its size".to_owned())),
            some => done += some,
        }
    }
    Ok(())
}
