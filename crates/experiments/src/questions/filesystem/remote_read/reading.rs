//! Blocks of a file as timed work: their order and cache state, with their content verified.

use super::points::{CLIENT_CACHED, SERVER_CACHED, SERVER_COLD, UNPROVED};
use crate::apparatus::filesystem::vmstat;
use fathom_core::machine::{Protocol, Remote, RemoteAddress, Root};
use fathom_core::prelude::*;
use fathom_equipment::remote::{self, Client, Mounted, ReadStream, ServerCache, read_block};
use fathom_equipment::test_file::{Content, Dropped, SECTOR, TestFile, drop_caches};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// Maximum bytes that a trial reads repeatedly: quickly brought to the server's cache, also over a long path.
const AGAIN: u64 = 8 << 20;

/// Blocks read by a trial if each may be read only once: more than a trial observes.
const ONCE: u64 = 2048;

/// Blocks read by a trial otherwise.
const BLOCKS: u64 = 256;

/// The part of a file that a trial reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    start: u64,
    bytes: u64,
    block: u64,
    /// Offsets of its blocks, in the order in which they are read.
    offsets: Vec<u64>,
}

impl FilePart {
    /// A part at a position of the file that changes with the trial; large enough that each block need be read only once, or
    /// small enough to be read before.
    pub fn of(file_bytes: u64, block: u64, random: bool, once: bool, seed: u64) -> Result<Self, Failure> {
        let most = if once { ONCE } else { BLOCKS.min(AGAIN / block) };
        let (whole, mut chance) = (file_bytes / block, SplitMix64::seed_from_u64(seed));
        let blocks = whole.min(most);
        if blocks < 2 {
            return Err(Failure::Unsupported(format!(
                "a file of {file_bytes} bytes has no two blocks of {block}"
            )));
        }
        let start = chance.next_u64() % (whole - blocks + 1) * block;
        Ok(FilePart::at(start, blocks, block, random.then_some(&mut chance)))
    }

    /// The beginning of a file, which is read as a file of `bytes`.
    pub fn beginning(
        (file_bytes, bytes): (u64, u64),
        block: u64,
        random: bool,
        seed: u64,
    ) -> Result<Self, Failure> {
        if file_bytes < bytes {
            return Err(Failure::Unsupported(format!("the file has {file_bytes} bytes, fewer than {bytes}")));
        }
        let mut chance = SplitMix64::seed_from_u64(seed);
        Ok(FilePart::at(0, bytes / block, block, random.then_some(&mut chance)))
    }

    /// The blocks from `start` on, shuffled if there is a random generator.
    fn at(start: u64, blocks: u64, block: u64, chance: Option<&mut SplitMix64>) -> Self {
        let mut offsets: Vec<u64> = (0..blocks).map(|index| start + index * block).collect();
        if let Some(chance) = chance {
            for last in (1..offsets.len()).rev() {
                offsets.swap(last, (chance.next_u64() % (last as u64 + 1)) as usize);
            }
        }
        FilePart { start, bytes: blocks * block, block, offsets }
    }
}

/// The file being read, and its expected content.
pub struct RemoteReading {
    stream: ReadStream,
    part: FilePart,
    block: Vec<u8>,
    known: Expected,
    /// Whether this machine caches what it reads.
    mounted: bool,
    blocks: u64,
    compared: u64,
    stated: Vec<(&'static str, f64)>,
    /// Whether bytes sent by this machine's devices are counted: it is the server.
    counts_devices: bool,
}

/// The content known before timing.
enum Expected {
    /// All content: this run has created the file.
    Made(Content),
    /// The first words of the blocks in the order of the file, from an earlier read.
    Seen(Vec<[u8; 8]>),
}

impl RemoteReading {
    /// Reads a part of a remote file that is already open.
    pub fn new(
        client: Box<dyn Client>,
        file: &RemoteFile,
        part: &FilePart,
        queue_depth: usize,
    ) -> Result<Self, Failure> {
        let name = remote::path(&file.address);
        let generated = || Expected::Made(Content::of(Path::new(&name)));
        let known = if file.own { generated() } else { Expected::Seen(vec![]) };
        Ok(RemoteReading::over(
            client,
            known,
            matches!(file.address, RemoteAddress::Mounted(_)),
            part,
            queue_depth,
        ))
    }

    pub fn of_local(test: TestFile, part: &FilePart) -> Self {
        RemoteReading::over(
            Box::new(Mounted::holding(test.file)),
            Expected::Made(test.content),
            true,
            part,
            1,
        )
    }

    fn over(
        client: Box<dyn Client>,
        known: Expected,
        mounted: bool,
        part: &FilePart,
        queue_depth: usize,
    ) -> Self {
        let stream = ReadStream::new(client, part.offsets.clone(), part.block as usize, queue_depth);
        let stated = vec![("requests_per_block", stream.requests_per_block() as f64)];
        let block = vec![0; part.block as usize];
        RemoteReading {
            stream,
            part: part.clone(),
            block,
            known,
            mounted,
            blocks: 0,
            compared: 0,
            stated,
            counts_devices: false,
        }
    }

    /// Reads the part once, so that the caches on its path hold it.
    fn bring(&mut self) -> Result<(), Failure> {
        let block = self.part.block as usize;
        let mut piece = vec![0; (1 << 20).max(block)];
        let end = self.part.start + self.part.bytes;
        for offset in (self.part.start..end).step_by(piece.len()) {
            let bytes = piece.len().min((end - offset) as usize);
            read_block(self.stream.client(), offset, &mut piece[..bytes])?;
            match &mut self.known {
                Expected::Made(content) => whole(*content, &piece[..bytes], offset)?,
                Expected::Seen(words) => words.extend(piece[..bytes].chunks(block).map(first_word)),
            }
        }
        Ok(())
    }

    /// State: all of the part in the page cache of this machine.
    pub fn client_cached(mut self) -> Result<Self, Failure> {
        self.bring()?;
        let resident = self.stream.client().resident(self.part.start, self.part.bytes)?;
        if resident < self.part.bytes {
            return Err(Failure::Unsupported(format!(
                "this machine's page cache holds {resident} of {} bytes just read: the mount does not cache",
                self.part.bytes
            )));
        }
        self.stated.push(("resident_share", resident as f64 / self.part.bytes as f64));
        Ok(self)
    }

    /// State: all of the part read by this machine just before, and none of it cached here.
    pub fn server_cached(mut self) -> Result<Self, Failure> {
        self.bring()?;
        self.stream.client().forget()?;
        let resident = self.stream.client().resident(self.part.start, self.part.bytes)?;
        self.stated.push(("resident_share", resident as f64 / self.part.bytes as f64));
        Ok(self)
    }

    /// State: none of the file in the page cache of the server.
    pub fn server_cold(mut self, file: &RemoteFile) -> Result<Self, Failure> {
        match &file.address {
            RemoteAddress::Url(url) if url.protocol == Protocol::Sftp => {
                let remaining = ServerCache::of(url, &file.access).emptied()?;
                self.stated.push(("server_resident_bytes", remaining as f64));
                Ok(self)
            }
            address => {
                let server = Remote::find(&Root::default(), address).map_err(Failure::Unsupported)?;
                if !server.is_here() {
                    return Err(Failure::Unsupported(
                        "the protocol has no way to evict the server's cache".to_owned(),
                    ));
                }
                drop_caches(Dropped::Contents)?;
                self.counts_devices = true;
                Ok(self)
            }
        }
    }

    /// State: blocks that this run has not read before.
    pub fn possibly_cached(self, file: &RemoteFile) -> Result<Self, Failure> {
        if file.own {
            return Err(Failure::Unsupported(
                "this run made the file, so the server's cache holds it: name an older file to read blocks that the \
                 server may not have cached"
                    .to_owned(),
            ));
        }
        Ok(self)
    }

    /// Reads the next block; an error if it is not the right one.
    fn read(&mut self) -> Result<(), Failure> {
        let offset = self.stream.read(&mut self.block)?;
        self.blocks += 1;
        self.compare(offset)
    }

    #[inline]
    fn compare(&mut self, offset: u64) -> Result<(), Failure> {
        let right = match &self.known {
            Expected::Made(content) => {
                let last = self.block.len() - SECTOR;
                content.is_at(&self.block, offset) && content.is_at(&self.block[last..], offset + last as u64)
            }
            Expected::Seen(words) if words.is_empty() => return Ok(()),
            Expected::Seen(words) => {
                let index = (offset - self.part.start) / self.part.block;
                words.get(index as usize) == Some(&first_word(&self.block))
            }
        };
        self.compared += 1;
        ensure(right, "the block read is not the one requested")
    }

    /// Each block timed between two clock readings.
    pub fn timed(self) -> Workload<'static> {
        self.workload(|reading| Workload::each(move |n| (0..n).try_for_each(|_| reading.borrow_mut().read())))
    }

    /// Each block read once, because reading brings it into a cache; when none is left, this machine's cache is emptied again, if
    /// that is the only cache concerned.
    pub fn once<'site>(self, site: &'site Site) -> Workload<'site> {
        self.workload(|reading| {
            Workload::recorded(move || {
                let mut reading = reading.borrow_mut();
                if reading.stream.is_through() && !reading.again()? {
                    return Ok(None);
                }
                let began = site.stopwatch.now_ns();
                let offset = reading.fetch()?;
                let ended = site.stopwatch.now_ns();
                reading.compare(offset)?;
                Ok(Some(ended - began))
            })
        })
    }

    /// As [`RemoteReading::once`] if this machine caches the file, else as [`RemoteReading::timed`].
    pub fn timed_or_once<'site>(self, site: &'site Site) -> Workload<'site> {
        if self.mounted { self.once(site) } else { self.timed() }
    }

    fn fetch(&mut self) -> Result<u64, Failure> {
        self.blocks += 1;
        self.stream.read(&mut self.block)
    }

    /// Prepares the blocks for another pass, if they may be read once more.
    fn again(&mut self) -> Result<bool, Failure> {
        let from_server = self.mounted && self.stated.iter().any(|(name, _)| *name == "resident_share");
        if from_server {
            self.stream.client().forget()?;
        }
        Ok(from_server)
    }

    fn workload<'site>(mut self, work: impl FnOnce(Rc<RefCell<Self>>) -> Workload<'site>) -> Workload<'site> {
        let stated = std::mem::take(&mut self.stated);
        self.stated.extend(stated.iter().copied());
        let reading = Rc::new(RefCell::new(self));
        let counted = Rc::clone(&reading);
        let workload = work(reading).witnessed(move || counted.borrow_mut().counts());
        stated.into_iter().fold(workload, |workload, (name, value)| workload.stating(name, value))
    }

    fn counts(&mut self) -> Vec<(&'static str, f64)> {
        let client = self.stream.client();
        let mut counts = vec![("requests", client.requests() as f64)];
        counts.extend(client.received().map(|bytes| ("received", bytes as f64)));
        counts
            .extend(sent_by_devices().filter(|_| self.counts_devices).map(|bytes| (SENT_BY_DEVICES, bytes)));
        counts.extend([("blocks", self.blocks as f64), ("compared", self.compared as f64)]);
        counts
    }
}

/// Witness: bytes sent by all devices of this machine, which is the server.
const SENT_BY_DEVICES: &str = "bytes_sent_by_devices";

/// The kernel counts them in KiB.
fn sent_by_devices() -> Option<f64> {
    vmstat::sum(&["pgpgin"]).map(|kib| kib * 1024.0)
}

fn first_word(block: &[u8]) -> [u8; 8] {
    block.first_chunk().copied().unwrap_or_default()
}

/// Checks that every sector read is the one that was written.
fn whole(content: Content, piece: &[u8], offset: u64) -> Result<(), Failure> {
    let mut sectors = (offset..).step_by(SECTOR).zip(piece.chunks(SECTOR));
    let right = sectors.all(|(offset, sector)| content.is_at(sector, offset));
    ensure(right, "what was read of the file is not what was written")
}

/// The checks that blocks of this size came from the cache or device of the state.
pub fn evidence(block: u64, queue_depth: u64, state: &str, observed: &Observed) -> Vec<Check> {
    let mut checks =
        vec![Check::witnessed("blocks received per block claimed", observed, "blocks", 1.0, 1.0)];
    if state != UNPROVED {
        let claim = "blocks compared with what the file holds, per block claimed";
        checks.push(Check::witnessed(claim, observed, "compared", 1.0, 1.0));
    }
    if let Some(expected) = observed.witness("requests_per_block") {
        let claim = format!("requests sent per block; {expected} are needed");
        checks.push(Check::witnessed(&claim, observed, "requests", expected, expected * 1.02));
    }
    // With several requests in flight, the bytes counted between two times are not those requested between them.
    if queue_depth == 1 && observed.witness("received").is_some() {
        let claim = "bytes that the kernel received over the connection per block";
        let most = block as f64 * 1.1 + 1000.0;
        checks.push(Check::witnessed(claim, observed, "received", block as f64 * 0.98, most));
    }
    if let Some(sent) = observed.witness(SENT_BY_DEVICES).filter(|_| state == SERVER_COLD) {
        let claim = "bytes that the server's devices delivered while the blocks were read, per byte, including \
                     read-ahead";
        let read = block as f64 * observed.operations.max(1) as f64;
        checks.push(Check::within(claim, sent / read, 0.9, f64::INFINITY));
        return checks;
    }
    checks.extend(cached_where(state, observed));
    checks
}

fn cached_where(state: &str, observed: &Observed) -> Option<Check> {
    let (name, claim, expected) = match state {
        CLIENT_CACHED => ("resident_share", "share of the blocks in this machine's page cache before", 1.0),
        SERVER_CACHED => ("resident_share", "share of the blocks in this machine's page cache before", 0.0),
        SERVER_COLD => ("server_resident_bytes", "bytes of the file in the server's page cache before", 0.0),
        _ => return None,
    };
    Some(Check::equal(claim, observed.witness(name), expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_lies_in_the_file_and_has_each_block_once() {
        for seed in 0..50 {
            for (block, random, once) in [(4096, true, false), (4096, false, true), (1 << 20, true, true)] {
                let part = FilePart::of(32 << 20, block, random, once, seed).unwrap();
                let mut offsets = part.offsets.clone();
                assert_eq!(offsets.is_sorted(), !random, "{seed} {block}");
                offsets.sort_unstable();
                offsets.dedup();
                assert_eq!(offsets.len() as u64 * block, part.bytes);
                assert!(offsets[0] == part.start && part.start + part.bytes <= 32 << 20);
            }
        }
        assert!(FilePart::of(1 << 20, 1 << 20, false, false, 1).is_err());
    }

    #[test]
    fn a_beginning_is_all_blocks_of_a_file_of_its_size() {
        let sequential = FilePart::beginning((32 << 20, 64 << 10), 4096, false, 1).unwrap();
        assert_eq!(sequential.offsets, (0..16).map(|number| number * 4096).collect::<Vec<_>>());
        let mut random = FilePart::beginning((32 << 20, 64 << 10), 4096, true, 1).unwrap().offsets;
        assert!(!random.is_sorted());
        random.sort_unstable();
        assert_eq!(random, sequential.offsets);
        assert!(FilePart::beginning((32 << 10, 64 << 10), 4096, false, 1).is_err(), "the file is smaller");
    }
}
