//! Blocks read one after the other, with several requests in flight if requested.

use super::client::{Client, Ticket, read_block};
use fathom_core::experiment::Failure;
use std::collections::VecDeque;

/// Blocks of a file, read repeatedly in a given order.
pub struct ReadStream {
    client: Box<dyn Client>,
    /// Offsets of the blocks, in the order in which they are read.
    offsets: Vec<u64>,
    block: usize,
    /// Bytes per request.
    piece: usize,
    /// Requests in flight, including the one whose answer is awaited.
    queue_depth: usize,
    requests: usize,
    read: usize,
    waiting: VecDeque<(Ticket, u64)>,
}

impl ReadStream {
    /// A stream that has not sent a request yet.
    pub fn new(client: Box<dyn Client>, offsets: Vec<u64>, block: usize, queue_depth: usize) -> Self {
        let piece = piece(block, client.most());
        let waiting = VecDeque::with_capacity(queue_depth);
        ReadStream { client, offsets, block, piece, queue_depth, requests: 0, read: 0, waiting }
    }

    /// Requests per block.
    pub fn requests_per_block(&self) -> usize {
        self.block / self.piece
    }

    /// Reads the next block into `block` and returns its offset.
    pub fn read(&mut self, block: &mut [u8]) -> Result<u64, Failure> {
        for piece in block[..self.block].chunks_mut(self.piece) {
            self.fill()?;
            let Some((ticket, offset)) = self.waiting.pop_front() else { continue };
            let came = self.client.answer(ticket, piece)?;
            if came < piece.len() {
                read_block(self.client.as_mut(), offset + came as u64, &mut piece[came..])?;
            }
        }
        let offset = self.offsets[self.read % self.offsets.len()];
        self.read += 1;
        Ok(offset)
    }

    fn fill(&mut self) -> Result<(), Failure> {
        let each = self.block / self.piece;
        while self.waiting.len() < self.queue_depth {
            let (block, piece) = (self.requests / each, self.requests % each);
            let offset = self.offsets[block % self.offsets.len()] + (piece * self.piece) as u64;
            self.waiting.push_back((self.client.ask(offset, self.piece)?, offset));
            self.requests += 1;
        }
        Ok(())
    }

    /// Whether every block was read equally often, and at least once.
    pub fn is_through(&self) -> bool {
        self.read > 0 && self.read % self.offsets.len() == 0
    }

    pub fn client(&mut self) -> &mut dyn Client {
        self.client.as_mut()
    }
}

/// The largest part of a block that one request may transfer, if all parts have equal size.
pub fn piece(block: usize, most: usize) -> usize {
    let parts = (block.div_ceil(most)..=block).find(|parts| block % parts == 0);
    block / parts.unwrap_or(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_asked_for_in_equal_parts() {
        assert_eq!(piece(4096, 32 << 10), 4096);
        assert_eq!(piece(1 << 20, 32 << 10), 32 << 10);
        assert_eq!(piece(1 << 20, 258_048), 131_072);
        assert_eq!(piece(512, 100), 64);
    }
}
