//! Blocks one after the other, with requests sent ahead of the answers.

use super::{Client, Ticket, read_block};
use crate::experiment::{Failure, ensure};
use std::collections::VecDeque;

/// A part of a file, read from front to back again and again.
pub struct Stream {
    client: Box<dyn Client>,
    start: u64,
    bytes: u64,
    /// Bytes that one request asks for.
    piece: usize,
    /// Requests that are kept waiting for answers.
    ahead: usize,
    /// Where in the part the next request asks.
    next: u64,
    waiting: VecDeque<(Ticket, u64)>,
}

impl Stream {
    /// A stream over `bytes` bytes from `start` on, a multiple of the block, in blocks of `block` bytes.
    pub fn new(client: Box<dyn Client>, start: u64, bytes: u64, block: usize, ahead: usize) -> Self {
        // Pieces of equal size that fill a block: the largest power of two that one request may ask for.
        let piece = block.min(1 << client.most().ilog2());
        Stream { client, start, bytes, piece, ahead, next: 0, waiting: VecDeque::with_capacity(ahead) }
    }

    /// Reads the next block and tells where it stood.
    pub fn read(&mut self, block: &mut [u8]) -> Result<u64, Failure> {
        let mut began = None;
        for piece in block.chunks_mut(self.piece) {
            self.fill()?;
            let (ticket, offset) = self.waiting.pop_front().unwrap_or((Ticket(0), self.start));
            let came = self.client.answer(ticket, piece)?;
            if came < piece.len() {
                read_block(self.client.as_mut(), offset + came as u64, &mut piece[came..])?;
            }
            began.get_or_insert(offset);
        }
        ensure(began.is_some(), "a block without bytes")?;
        Ok(began.unwrap_or(self.start))
    }

    /// Keeps as many requests waiting as are wanted ahead, besides the one that is waited for.
    fn fill(&mut self) -> Result<(), Failure> {
        while self.waiting.len() <= self.ahead {
            let offset = self.start + self.next;
            self.waiting.push_back((self.client.ask(offset, self.piece)?, offset));
            self.next = (self.next + self.piece as u64) % self.bytes;
        }
        Ok(())
    }

    /// Requests that were sent so far.
    pub fn requests(&self) -> u64 {
        self.client.requests()
    }
}
