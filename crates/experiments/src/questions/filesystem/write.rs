//! What does writing a block to a file cost, and what does it cost to make it durable on the device?

use super::read;
use crate::expected::{kernel_service, mode_switch};
use fathom_core::prelude::*;
use fathom_equipment::test_file::blocks::{BlockWalk, Order};
use fathom_equipment::test_file::{Aligned, DiskQuota, TestFile, cached, direct, existing};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

const DURABILITY: Parameter = Parameter::of(
    "durability",
    "where the bytes are when the operation ends",
    &[CACHED, SENT, DATA_SYNCED, SYNCED],
);
const ORDER: Parameter = Parameter::of("order", "the order of the blocks", &[RANDOM, SEQUENTIAL]);
const BLOCK: Parameter = Parameter::bytes("block", "bytes of one operation");

pub struct Write;

static ABOUT: About = About {
    name: "filesystem/write",
    question: "What does writing a block to a file cost, and what does it cost to have it on the device?",
    operation: "one block of an existing file overwritten, and flushed where the point says so",
    method: "A fully allocated file of 4 MiB is overwritten block by block with pwrite. `in the page cache`: the call \
             returns when the block is copied; the kernel's count of dirty pages (cachestat) shows that it is still \
             to be written. `sent to the device` writes past the page cache (O_DIRECT); the device may hold the block \
             in its own cache. `on the device, fdatasync` and `on the device, fsync` flush after every block, \
             including the device's cache; the same count shows that nothing is left to write. After each trial the \
             file is flushed, so that no other trial pays for its blocks.",
    caveats: "Whether a device, or the host of a virtual one, really flushes its cache is not visible from here. \
              Blocks that extend a file cost more, because they must be allocated.",
    version: 1,
    timed: Some(TimedCode {
        of: "a block, and what makes it last",
        source: include_str!("write.rs"),
        begins: "fn write(",
    }),
    parameters: &[DURABILITY, ORDER, BLOCK],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "4 KiB in random order into the page cache",
            &[
                ("block", At::Number(4_096)),
                ("order", At::Name("random")),
                ("durability", At::Name("in the page cache")),
            ],
        ),
        MainFigure::leading(
            "4 KiB in random order and fsync",
            &[
                ("block", At::Number(4_096)),
                ("order", At::Name("random")),
                ("durability", At::Name("on the device, fsync")),
            ],
        )
        .called("write 4 KiB at random and fsync"),
    ])
    .clauses(&[
        Clause::of("what a block in the page cache costs", |point, _| point.name(&DURABILITY) == CACHED),
        Clause::of("what it costs to have a block on the device", |point, _| {
            [DATA_SYNCED, SYNCED].contains(&point.name(&DURABILITY))
        }),
    ]),
};

const CACHED: &str = "in the page cache";
const SENT: &str = "sent to the device";
const DATA_SYNCED: &str = "on the device, fdatasync";
const SYNCED: &str = "on the device, fsync";
const RANDOM: &str = "random";
const SEQUENTIAL: &str = "sequential";

/// Bytes of a usual block.
pub const USUAL_BLOCK: u64 = 4096;
const LARGE_BLOCK: u64 = 1 << 20;
/// Size of the file, bytes: small, so that flushing it after a trial is quick and the kernel never throttles the writer.
const FILE: u64 = 4 << 20;

/// Witness: bytes that are waiting to be written.
const WAITING: &str = "bytes_waiting";
/// Stated: whether the kernel counts them.
const COUNTED: &str = "dirty_pages_are_counted";

impl Experiment for Write {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let mut points = vec![];
        for durability in [CACHED, SENT, DATA_SYNCED, SYNCED] {
            points.extend([SEQUENTIAL, RANDOM].map(|order| point(durability, order, USUAL_BLOCK)));
            points.push(point(durability, SEQUENTIAL, LARGE_BLOCK));
        }
        points
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        let usual = point.number(&BLOCK) == USUAL_BLOCK && point.name(&ORDER) == RANDOM;
        if usual && point.name(&DURABILITY) != DATA_SYNCED { Effort::Quick } else { Effort::Standard }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let bytes = point.number(&BLOCK) as f64;
        let calls = kernel_service::entering(Prediction::new(), "entering the kernel", calls(point), known);
        let device = |prediction: Prediction, times, what| {
            prediction.hardware(what, times, read::request(known)).hardware(
                "the bytes beyond a small block's, at the device's rate",
                (bytes - USUAL_BLOCK as f64).max(0.0),
                read::direct_byte(known),
            )
        };
        Ok(match point.name(&DURABILITY) {
            CACHED => {
                let read = read::from_the_cache(point.name(&ORDER) == RANDOM, point.number(&BLOCK), known);
                let copied = read.unwrap_or_else(|| {
                    let copy = known.assumed_cycles(0.25, "a byte copied: some 4 bytes a cycle");
                    calls.hardware("the copy", bytes, copy)
                });
                let batches = (bytes / 4096.0 / read::PAGES_AT_ONCE).max(1.0);
                kernel_service::assumed(copied, "pages marked dirty, 15 at once", 300.0 * batches, known)
            }
            SENT => device(calls, 1.0, "a request to the device, as long as a small read"),
            // The file's length and blocks stay as they are, so the journal has nothing that must be on the device with the block.
            _ => device(calls, 2.0, "the block and a flush, each a request as long as a small read"),
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        Some(mode_switch::bound(calls(point), "every call enters", known))
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::File(FILE)]
    }

    fn waits_for_the_device(&self, point: &Point) -> bool {
        point.name(&DURABILITY) != CACHED
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let (durability, block) = (point.name(&DURABILITY), point.number(&BLOCK));
        let test = TestFile::named(site, "written", FILE, DiskQuota::DEFAULT)?;
        let file = if durability == SENT { direct(&test, block)?.file } else { reopened(&test)? };
        let order = if point.name(&ORDER) == RANDOM { Order::Random } else { Order::Sequential };
        let flush: Flush = match durability {
            DATA_SYNCED => |file| errno("fdatasync", unsafe_sync(file, libc::fdatasync)),
            SYNCED => |file| errno("fsync", unsafe_sync(file, libc::fsync)),
            _ => |_| Ok(0),
        };
        let mut writer =
            BlockWriter::new(file, BlockWalk::through(FILE, block, order, site.seed), block, flush)?;
        let counted = counts_dirty_pages(&test)?;
        let settled = FlushedFile(test);
        let waiting = move || {
            let held = cached(&settled.0.file).ok();
            held.map(|held| (WAITING, held.unwritten as f64)).into_iter().collect()
        };
        let write = move |n| (0..n).try_for_each(|_| writer.write());
        let work = if durability == CACHED { Workload::batched(write) } else { Workload::each(write) };
        Ok(work.gauged(waiting).stating(COUNTED, f64::from(u8::from(counted))))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        if observed.witness(COUNTED) != Some(1.0) {
            return vec![];
        }
        vec![if point.name(&DURABILITY) == CACHED {
            let claim = "blocks stayed in the cache: dirty bytes at the end, per trial";
            Check::within(claim, observed.per_trial(WAITING), point.number(&BLOCK) as f64, FILE as f64)
        } else {
            let claim = "nothing is left to write when the operation has ended: dirty bytes";
            Check::equal(claim, observed.witness(WAITING), 0.0)
        }]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        [random(known), beyond_sending(known), in_order(known), without_metadata(known)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// A rotating disk takes tens of milliseconds for a flush.
    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_secs(30)
    }
}

fn random(known: &Known) -> Option<Finding> {
    let result = |durability| known.found(ABOUT.name, &point(durability, RANDOM, USUAL_BLOCK));
    let (cached, synced) = (result(CACHED)?, result(SYNCED)?);
    Some(finding!(
        Question::Experiment,
        "Writing 4 KiB in random order takes {cached}; to have them on the device takes {synced}: \
         {ratio}.",
        cached = cached.named("write, in the page cache"),
        synced = synced.named("write, on the device"),
        ratio = synced.times_as("long", cached, "on the device over in the page cache")
    ))
}

/// Blocks in order, against the same at random, and large ones.
fn in_order(known: &Known) -> Option<Finding> {
    let result = |durability, order, block| known.found(ABOUT.name, &point(durability, order, block));
    let each = [CACHED, SYNCED].into_iter().filter_map(|durability| {
        let small = result(durability, SEQUENTIAL, USUAL_BLOCK)?;
        let name = format!("write in order, {durability}");
        let random = result(durability, RANDOM, USUAL_BLOCK).map(|random| {
            let ratio = small.times_as("long", random, &format!("{name}, over in random order"));
            statement!(
                " (in random order {random}: {ratio})",
                random = random.named(&format!("write, {durability}")),
                ratio
            )
        });
        let large = result(durability, SEQUENTIAL, LARGE_BLOCK).map(|large| {
            let large = large.named(&format!("write of 1 MiB, {durability}"));
            statement!(", 1 MiB at once {large}", large)
        });
        Some(statement!(
            "{durability} {small}{random}{large}",
            durability,
            small = small.named(&name),
            random,
            large
        ))
    });
    Some(finding!(
        Question::Order,
        "A block of 4 KiB in order takes {each}.",
        each = Statement::joined(each, "; ")?
    ))
}

/// What fdatasync takes beside fsync, which also writes the file's metadata.
fn without_metadata(known: &Known) -> Option<Finding> {
    let each =
        [(RANDOM, "in random order"), (SEQUENTIAL, "in order")].into_iter().filter_map(|(order, name)| {
            let of = |durability| known.found(ABOUT.name, &point(durability, order, USUAL_BLOCK));
            let (data, all) = (of(DATA_SYNCED)?, of(SYNCED)?);
            let data = data.beside(all, &format!("fdatasync, {name}"), "fsync");
            Some(statement!(
                "{name} {all} by fsync, and by fdatasync {data}",
                name,
                data,
                all = all.named(&format!("fsync, {name}"))
            ))
        });
    Some(finding!(
        Question::Experiment,
        "To have 4 KiB on the device takes {each}.",
        each = Statement::joined(each, "; ")?
    ))
}

/// What having a block on the device takes beyond sending it there, where that is significant.
fn beyond_sending(known: &Known) -> Option<Finding> {
    let result = |durability| known.found(ABOUT.name, &point(durability, RANDOM, USUAL_BLOCK));
    let (sent, synced) = (result(SENT)?, result(SYNCED)?);
    Some(finding!(
        Question::Experiment,
        "Sent to the device past the page cache, with no flush after it, a block takes {sent}: {more} of the {synced} until it is on the \
         device are beyond that, the flush of the device's own cache and what the file system does for it, which are not measured apart.",
        sent = sent.named("write, sent to the device"),
        more = synced.beyond(sent)?.named("write, on the device beyond sent to it"),
        synced = synced.named("write, on the device")
    ))
}

/// The point of random blocks sent to the device with direct I/O.
pub fn sent_point() -> Point {
    point(SENT, RANDOM, USUAL_BLOCK)
}

/// The point of blocks in order that are each flushed, as a log's are.
pub fn flushed_point() -> Point {
    point(DATA_SYNCED, SEQUENTIAL, USUAL_BLOCK)
}

/// Writes random blocks of a file of this run with direct I/O; the file is flushed when the writer is dropped.
pub fn writing(site: &Site) -> Result<impl FnMut() -> Result<(), Failure>, Failure> {
    let test = TestFile::named(site, "written", FILE, DiskQuota::DEFAULT)?;
    let file = direct(&test, USUAL_BLOCK)?.file;
    let walk = BlockWalk::through(FILE, USUAL_BLOCK, Order::Random, site.seed);
    let mut writer = BlockWriter::new(file, walk, USUAL_BLOCK, |_| Ok(0))?;
    let settled = FlushedFile(test);
    Ok(move || {
        let _kept = &settled;
        writer.write()
    })
}

fn point(durability: &str, order: &str, block: u64) -> Point {
    Point::new().named(&DURABILITY, durability).named(&ORDER, order).with(&BLOCK, block)
}

fn calls(point: &Point) -> f64 {
    if [CACHED, SENT].contains(&point.name(&DURABILITY)) { 1.0 } else { 2.0 }
}

fn reopened(test: &TestFile) -> Result<File, Failure> {
    let opened = existing().open(&test.path);
    opened.map_err(|error| Failure::Broke(format!("the test file is gone: {error}")))
}

/// Whether this kernel reports the dirty pages of a file (cachestat, since 6.5): tested with one written byte.
fn counts_dirty_pages(test: &TestFile) -> Result<bool, Failure> {
    use std::os::unix::fs::FileExt;
    let broke = |error: std::io::Error| Failure::Broke(format!("writing to the test file: {error}"));
    test.file.write_all_at(&[0], FILE - 1).map_err(broke)?;
    let counted = cached(&test.file)?.unwritten > 0;
    test.file.sync_all().map_err(broke)?;
    Ok(counted)
}

/// The call after every block.
type Flush = fn(&File) -> Result<libc::c_int, Failure>;

fn unsafe_sync(file: &File, call: unsafe extern "C" fn(libc::c_int) -> libc::c_int) -> libc::c_int {
    // SAFETY: both calls that come here take a descriptor, which is open.
    unsafe { call(file.as_raw_fd()) }
}

/// Writes blocks without counting.
struct BlockWriter {
    file: File,
    walk: BlockWalk,
    buffer: Aligned,
    block: usize,
    flush: Flush,
}

impl BlockWriter {
    fn new(file: File, walk: BlockWalk, block: u64, flush: Flush) -> Result<Self, Failure> {
        let mut buffer = Aligned::new(block as usize)?;
        // Incompressible bytes: consecutive words differ by an odd constant.
        for (number, word) in (1_u64..).zip(buffer.bytes_mut().chunks_exact_mut(8)) {
            word.copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
        }
        Ok(BlockWriter { file, walk, buffer, block: block as usize, flush })
    }

    fn write(&mut self) -> Result<(), Failure> {
        let (descriptor, offset) = (self.file.as_raw_fd(), self.walk.step() as libc::off_t);
        // SAFETY: the buffer holds a block.
        let written = unsafe { libc::pwrite(descriptor, self.buffer.start().cast(), self.block, offset) };
        if written != self.block as isize {
            return Err(Failure::last(&format!("pwrite gave {written} of {} bytes", self.block)));
        }
        (self.flush)(&self.file).map(drop)
    }
}

/// The file, flushed at the end of the trial, so that its dirty pages do not delay another trial.
struct FlushedFile(TestFile);

impl Drop for FlushedFile {
    fn drop(&mut self) {
        // If the device fails here, the trial has failed already, or the next one will.
        let _ = self.0.file.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_after_a_block_is_sent_is_told_where_it_takes_longer_for_certain() {
        let said = |sent: f64| {
            let of = |(durability, ns)| (point(durability, RANDOM, USUAL_BLOCK), ns);
            let planted = [(CACHED, 2e3), (SENT, sent), (SYNCED, 120e3)].map(of);
            fathom_described::statements(&Write, planted, |known| Write.findings(known))
        };
        assert!(
            said(40e3).contains("a block takes {40000}: {80000} of the {120000} until it is on the device")
        );
        assert!(!said(120e3).contains("Sent to the device"), "{}", said(120e3));
    }

    #[test]
    fn writes_in_order_and_without_metadata_stand_beside_the_usual_ones() {
        let at = |durability, order, block, ns| (point(durability, order, block), ns);
        let all = [
            at(CACHED, SEQUENTIAL, USUAL_BLOCK, 2e3),
            at(CACHED, RANDOM, USUAL_BLOCK, 4e3),
            at(CACHED, SEQUENTIAL, LARGE_BLOCK, 1e5),
            at(SYNCED, SEQUENTIAL, USUAL_BLOCK, 1e5),
            at(DATA_SYNCED, SEQUENTIAL, USUAL_BLOCK, 5e4),
        ];
        assert_eq!(
            fathom_described::statements(&Write, all, |known| Write.findings(known)),
            "A block of 4 KiB in order takes in the page cache {2000} (in random order {4000}: {0.5} times as long), 1 MiB at once {100000}; \
             on the device, fsync {100000}.\nTo have 4 KiB on the device takes in order {100000} by fsync, and by fdatasync {50000}, {0.5} times.\n"
        );
    }
}
