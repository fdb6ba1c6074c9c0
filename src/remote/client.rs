//! What every client of a protocol can do: one request at a time, each counted.

use crate::experiment::Failure;

/// A read that was asked for and not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(pub u64);

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file of so many bytes.
    File(u64),
    /// A folder.
    Folder,
}

/// A connection to a server, with at most one file open.
pub trait Client {
    /// What a path names.
    fn kind(&mut self, path: &str) -> Result<Kind, Failure>;

    /// Opens a file for reading.
    fn open(&mut self, path: &str) -> Result<(), Failure>;

    /// Makes a file that is not there yet, and opens it for writing.
    fn create(&mut self, path: &str) -> Result<(), Failure>;

    /// Writes all of a block, of at most [`Client::most`] bytes.
    fn write(&mut self, offset: u64, block: &[u8]) -> Result<(), Failure>;

    /// Has the server put what was written where it stays, and closes the file.
    fn close(&mut self) -> Result<(), Failure>;

    /// Removes a file.
    fn remove(&mut self, path: &str) -> Result<(), Failure>;

    /// The smallest exchange that the protocol knows: a request and an answer about no data.
    fn exchange(&mut self) -> Result<(), Failure>;

    /// Asks for bytes of the open file, at most [`Client::most`].
    fn ask(&mut self, offset: u64, bytes: usize) -> Result<Ticket, Failure>;

    /// Waits for the answer and tells how many bytes came; fewer than asked for is not an error.
    fn answer(&mut self, ticket: Ticket, into: &mut [u8]) -> Result<usize, Failure>;

    /// The most that one request may ask for, bytes.
    fn most(&self) -> usize;

    /// Requests that were sent so far.
    fn requests(&self) -> u64;

    /// Has this machine forget the file, and sees to it that it has. Clients of protocols cache nothing.
    fn forget(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The bytes of a part of the file that this machine holds.
    fn resident(&self, _start: u64, _bytes: u64) -> Result<u64, Failure> {
        Ok(0)
    }

    /// Bytes that the kernel has received over the connection; `None` where it does not tell.
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
