//! What does reading a file again cost when it fits into the page cache, and when it does not?

use super::{cache_size, read};
use crate::apparatus::filesystem::reader::{Call, ReadAhead, Reader};
use fathom_core::prelude::*;
use fathom_equipment::test_file::{
    DiskQuota, Passing, TestFile, cached_within, direct, ensure_accounted, evict, served,
};
use std::cell::Cell;
use std::fs::File;
use std::rc::Rc;
use std::time::Duration;

const STATE: Parameter = Parameter::of(
    "state",
    "whether the file was read just before, or is read past the page cache (direct)",
    &[READ_BEFORE, DIRECT],
);
const ORDER: Parameter = Parameter::of("order", "the order in which it is read again", &[FORWARD, BACKWARD]);
const FILE: Parameter = Parameter::bytes("file", "how much of a file is read");

const READ_BEFORE: &str = "read before";
const DIRECT: &str = "direct";
const FORWARD: &str = "forward";
const BACKWARD: &str = "backward";

/// Bytes per read: large enough that a device gets requests of its maximum size.
const BLOCK: u64 = 1 << 20;
/// File sizes in sixteenths of the available memory, dense around all of it, and the least effort at which each is read.
const SIXTEENTHS: [(u64, Effort); 10] = [
    (4, Effort::Thorough),
    (8, Effort::Standard),
    (12, Effort::Thorough),
    (14, Effort::Thorough),
    (15, Effort::Standard),
    (16, Effort::Thorough),
    (17, Effort::Standard),
    (18, Effort::Thorough),
    (20, Effort::Thorough),
    (24, Effort::Standard),
];
/// All of the available memory, sixteenths: a file of this size is not said to fit.
const WHOLE: u64 = 16;
/// Sizes at which the device alone is read, sixteenths: below, at and above the available memory.
const ALONG_THE_DEVICE: [u64; 3] = [8, 16, 24];
/// Bytes read from the device at each of them.
const STRETCH: u64 = 64 << 20;
/// Bytes of a file that are read again forward: those met first when the reading restarts. If they miss, so do all that follow.
const FIRST: u64 = 256 << 20;

pub struct Reread;

static ABOUT: About = About {
    name: "filesystem/reread",
    question: "What does reading a file again cost when it fits into the page cache, and when it does not?",
    operation: "one MiB of the file, read for the second time",
    method: "Within the memory limit of filesystem/cache_size, a file of random bytes is evicted, and the given size \
             is read from its beginning, and read again: `forward`, the first 256 MiB; `backward`, all of it from the \
             end. The first reading is read ahead as usual, so that the cache holds the file in pieces of the usual size. \
             Only the second is timed, in blocks of 1 MiB (pread, without read-ahead), and the mean of its blocks is an \
             observation. For comparison, `direct` reads the 64 MiB before each size past the page \
             cache (O_DIRECT), in the same blocks: the rate of the device.\n\nOf a file that is too large, a \
             least-recently-used cache holds the end. When it is read again forward, each block evicts the next one \
             needed: all of a file that is a little too large comes from the device. Backward, only the part that \
             does not fit does. The kernel counts how much of the file the cache holds between the readings, and the \
             bytes from the device during the second.",
    caveats: "Where the kernel protects pages that were read twice, reading forward also finds some of the file. What was first \
              read without read-ahead is held page by page, and costs more to read again: 170 µs per MiB beside 60 µs on an \
              ext4 of Linux 6.18 that holds folios of many pages.",
    version: 3,
    timed: Some(TimedCode {
        of: "a pass over blocks",
        source: include_str!("reread.rs"),
        begins: "fn pass(",
    }),
    parameters: &[STATE, ORDER, FILE],
    trends: &[],
    shown: Shown::by(&[MainFigure::of(
        "1 MiB of a file too large for the page cache, read again",
        &[("state", At::Name(READ_BEFORE)), ("order", At::Name(FORWARD)), ("file", At::Most)],
    )])
    .clauses(&[
        Clause::of(
            "what a MiB read again costs where the file fits into the page cache",
            |point, machine| {
                point.name(&STATE) == READ_BEFORE && point.number(&FILE) < cache_size::allowed(machine).0
            },
        ),
        Clause::of("what a MiB read again costs where the file does not fit", |point, machine| {
            point.name(&STATE) == READ_BEFORE && point.number(&FILE) > cache_size::allowed(machine).0
        }),
    ])
    .landmarks(|machine| {
        let (at, name) = cache_size::allowed(machine);
        vec![Landmark { along: FILE.name, at: at as f64, name: name.to_owned(), is_share: false }]
    }),
};

/// Witnesses: bytes cached before they were read again, bytes from the device meanwhile, and bytes read.
const HELD: &str = "bytes_cached_before";
const SENT: &str = "bytes_from_device";
const READ: &str = "bytes_read_again";

impl Experiment for Reread {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        let before = |order| SIXTEENTHS.map(|(part, _)| point(READ_BEFORE, order, size(machine, part)));
        let device = ALONG_THE_DEVICE.map(|part| point(DIRECT, FORWARD, size(machine, part)));
        [before(FORWARD).to_vec(), before(BACKWARD).to_vec(), device.to_vec()].concat()
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::MemoryLimit]
    }

    fn effort(&self, point: &Point, machine: &Machine) -> Effort {
        if point.name(&ORDER) == BACKWARD {
            return Effort::Thorough;
        }
        let is_this = |(part, _): &&(u64, Effort)| size(machine, *part) == point.number(&FILE);
        SIXTEENTHS.iter().find(is_this).map_or(Effort::Standard, |(_, effort)| *effort)
    }

    /// Bytes that fit are copied, the others come from the device: read forward, all of a file that does not fit.
    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let device = read::direct_block(BLOCK, known);
        if point.name(&STATE) == DIRECT {
            return Ok(Prediction::new().hardware("the device's time for 1 MiB", 1.0, device));
        }
        let (file, cache) = (point.number(&FILE) as f64, cache_size::held(known));
        let hits = match point.name(&ORDER) {
            BACKWARD => (cache / file).min(1.0),
            _ => f64::from(file <= cache),
        };
        let copied = read::cached_block(BLOCK, known);
        let prediction = Prediction::new();
        let prediction = if hits > 0.0 {
            prediction.software("the share that the cache holds, copied from it", hits, copied)
        } else {
            prediction
        };
        Ok(if hits < 1.0 {
            prediction.hardware("the rest, from the device", 1.0 - hits, device)
        } else {
            prediction
        })
    }

    /// All points read one file.
    fn block(&self, _: &Point) -> Option<String> {
        Some("one file".to_owned())
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::File(Requirement::LIMIT_BYTES / 2 * 3)]
    }

    fn waits_for_the_device(&self, point: &Point) -> bool {
        point.name(&STATE) == DIRECT
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let test = site.shared.get_or_make(|| file(site))?;
        let again = |file| Rereader::of(file, &test.0, site);
        let bytes = point.number(&FILE);
        if bytes > test.0.bytes {
            return Err(Failure::Broke(format!("the file has {} bytes, not {bytes}", test.0.bytes)));
        }
        let blocks = bytes / BLOCK;
        if point.name(&STATE) == DIRECT {
            let stretch = bytes.saturating_sub(STRETCH) / BLOCK..blocks;
            let again = again(direct(&test.0, BLOCK)?.file)?;
            return Ok(again.observing(move |again| again.pass(&stretch.clone().collect::<Vec<_>>())));
        }
        let order: Vec<u64> = match point.name(&ORDER) {
            BACKWARD => (0..blocks).rev().collect(),
            _ => (0..blocks.min(FIRST / BLOCK)).collect(),
        };
        let mut first = reader(opened(&test.0)?, &test.0, ReadAhead::Usual)?;
        let again = again(opened(&test.0)?)?;
        Ok(again.observing(move |again| {
            evict(&test.0.file)?;
            (0..blocks).try_for_each(|number| first.read(number * BLOCK))?;
            again.expect(&test.0, order.len() as u64)?;
            again.pass(&order)
        }))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let claim = "what the page cache did not hold came from the device: bytes that it delivered per byte read again";
        let (Some(held), Some(sent), Some(read)) =
            (observed.witness(HELD), observed.witness(SENT), observed.witness(READ))
        else {
            return vec![Check::missing(claim)];
        };
        let missing = if point.name(&STATE) == DIRECT { 1.0 } else { 1.0 - held / read };
        // If the file is cached completely, no bytes come from the device; if it is not, up to all: reading evicts blocks to be
        // read later.
        let most = if missing > 0.0 { 1.05 } else { 0.01 };
        vec![Check::within(claim, sent / read, (missing - 0.02).max(0.0), most)]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        cliff(known).into_iter().collect()
    }

    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_secs(3 * 60)
    }
}

fn point(state: &str, order: &str, file: u64) -> Point {
    Point::new().named(&STATE, state).named(&ORDER, order).with(&FILE, file)
}

/// This many sixteenths of the available memory, in whole blocks.
fn size(machine: &Machine, sixteenths: u64) -> u64 {
    (cache_size::allowed(machine).0 / 16 * sixteenths / BLOCK).max(1) * BLOCK
}

/// The file of all sizes: one and a half times the available memory.
fn file(site: &Site) -> Result<Passing, Failure> {
    let ceiling = fathom_core::machine::memory_ceiling()
        .ok_or_else(|| Failure::Unsupported("the amount of memory is unknown".to_owned()))?;
    let bytes = (ceiling + ceiling / 2).next_multiple_of(BLOCK);
    let test = TestFile::named(site, "reread", bytes, DiskQuota::DEFAULT)?;
    ensure_accounted(&test)?;
    Ok(Passing(test))
}

fn opened(test: &TestFile) -> Result<File, Failure> {
    File::open(&test.path).map_err(|error| Failure::Broke(format!("the test file is gone: {error}")))
}

fn reader(file: File, test: &TestFile, ahead: ReadAhead) -> Result<Reader, Failure> {
    Reader::new(file, (test.bytes, test.content), BLOCK, Call::Pread, ahead)
}

/// Reads blocks and keeps an account.
struct Rereader<'site> {
    reader: Reader,
    site: &'site Site<'site>,
    account: Rc<Cell<ByteSums>>,
}

/// Bytes, summed over all observations.
#[derive(Debug, Clone, Copy, Default)]
struct ByteSums {
    held: f64,
    sent: f64,
    read: f64,
}

impl<'site> Rereader<'site> {
    fn of(file: File, test: &TestFile, site: &'site Site) -> Result<Self, Failure> {
        let reader = reader(file, test, ReadAhead::Off)?;
        Ok(Rereader { reader, site, account: Rc::default() })
    }

    /// Work with these observations and their account.
    fn observing(
        self,
        mut observe: impl FnMut(&mut Self) -> Result<f64, Failure> + 'site,
    ) -> Workload<'site> {
        let (account, mut again) = (Rc::clone(&self.account), self);
        let witness = move || {
            let ByteSums { held, sent, read } = account.get();
            vec![(HELD, held), (SENT, sent), (READ, read)]
        };
        Workload::recorded(move || observe(&mut again).map(Some)).cold().witnessed(witness)
    }

    /// Counts the cached bytes of the first blocks, which will be read again.
    fn expect(&mut self, test: &TestFile, blocks: u64) -> Result<(), Failure> {
        let held = cached_within(&test.file, 0, blocks * BLOCK)?.bytes as f64;
        let account = self.account.get();
        self.account.set(ByteSums { held: account.held + held, ..account });
        Ok(())
    }

    /// The mean time per block, nanoseconds.
    fn pass(&mut self, blocks: &[u64]) -> Result<f64, Failure> {
        let (before, count) = (served(), blocks.len() as f64);
        let began = self.site.stopwatch.now_ns();
        blocks.iter().try_for_each(|number| self.reader.read(number * BLOCK))?;
        let took = self.site.stopwatch.now_ns() - began;
        let account = self.account.get();
        let sent = account.sent + served().zip(before).map_or(f64::NAN, |(after, before)| after - before);
        self.account.set(ByteSums { sent, read: account.read + count * BLOCK as f64, ..account });
        Ok(took / count)
    }
}

/// The rates of the largest file that is cached, of the smallest that is too large, of the largest, and of the device.
fn cliff(known: &Known) -> Option<Finding> {
    let result = |state, part| known.found(ABOUT.name, &point(state, FORWARD, size(known.machine, part)));
    let most = SIXTEENTHS.last().and_then(|(part, _)| result(READ_BEFORE, *part))?;
    let device = ALONG_THE_DEVICE.last().and_then(|part| result(DIRECT, *part))?;
    let rate = |block: Found| block.inverse(BLOCK as f64 * 1e9, Unit::BytesPerSecond);
    let bytes = |part| Found::exact(size(known.machine, part) as f64, Unit::Bytes);
    let largest = SIXTEENTHS[SIXTEENTHS.len() - 1].0;
    let measured = |(part, _): &(u64, Effort)| Some((*part, result(READ_BEFORE, *part)?));
    let held = cache_size::held(known);
    let fits = |part: u64| size(known.machine, part) as f64 <= held;
    let last_within =
        SIXTEENTHS.iter().filter(|(part, _)| *part < WHOLE && fits(*part)).filter_map(measured).next_back();
    let first_beyond = SIXTEENTHS.iter().filter(|(part, _)| !fits(*part)).find_map(measured);
    let large = || bytes(largest).named("file too large for the page cache");
    let beside = if let Some((part, block)) = last_within {
        let beyond = first_beyond.filter(|(part, _)| *part < largest).map(|(part, beyond)| {
            let times = match beyond.differs_from(&block) {
                Some(true) => {
                    let ratio = beyond.over(block).named("just beyond the page cache over just within");
                    Some(statement!(": a MiB takes {ratio} times as long", ratio))
                }
                Some(false) => Some(", not significantly different".into()),
                None => None,
            };
            statement!(
                "one of {file}, a little too large, at {uncached}{times}; ",
                file = bytes(part).named("file a little too large for the page cache"),
                uncached = rate(beyond).named("rate just beyond the page cache"),
                times
            )
        });
        statement!(
            "a file of {small} comes at {cached}, {beyond}one of {large} at",
            small = bytes(part).named("file that the page cache holds"),
            cached = rate(block).named("rate within the page cache"),
            beyond,
            large = large()
        )
    } else {
        statement!(
            "a file of {large}, which does not fit (of one that fits this run has no value), comes at",
            large = large()
        )
    };
    Some(finding!(
        Question::FileCache,
        "Read again, {beside} {uncached}: {share} of the device's rate past the cache, {direct}.",
        beside,
        uncached = rate(most).named("rate beyond the page cache"),
        share = rate(most).share_of(rate(device)).named("rate beyond the cache over the device's"),
        direct = rate(device).named("rate of direct reads")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::{Host, Root};

    struct Unknown;
    impl Host for Unknown {}

    #[test]
    fn what_is_missing_must_have_come_from_the_device() {
        let seen = |held, sent| fathom_described::observed(0, [(HELD, held), (SENT, sent), (READ, 100.0)]);
        let holds =
            |state, held, sent| Reread.evidence(&point(state, FORWARD, 1 << 30), &seen(held, sent))[0].holds;
        assert!(holds(READ_BEFORE, 100.0, 0.0) && !holds(READ_BEFORE, 100.0, 5.0));
        assert!(holds(READ_BEFORE, 60.0, 40.0) && holds(READ_BEFORE, 60.0, 100.0));
        assert!(!holds(READ_BEFORE, 60.0, 30.0), "some of it was cached by somebody else");
        assert!(holds(DIRECT, 0.0, 100.0) && !holds(DIRECT, 0.0, 50.0));
        assert!(!Reread.evidence(&point(DIRECT, FORWARD, 1), &Observed::default())[0].holds);
    }

    #[test]
    fn sizes_on_both_sides_of_the_limit_are_compared() {
        let machine = fathom_described::machine();
        let said = |sizes: &[(u64, f64)]| {
            let again = |(part, ns): &(u64, f64)| (READ_BEFORE, *part, *ns);
            let all = sizes.iter().map(again).chain([(DIRECT, 24, 1e6)]);
            let planted = all.map(|(state, part, ns)| (point(state, FORWARD, size(&machine, part)), ns));
            fathom_described::statements(&Reread, planted, cliff)
        };
        let [mib_480, mib_544, mib_768] = [15, 17, 24].map(|part| size(&machine, part));
        let both = said(&[(8, 70e3), (15, 80e3), (16, 100e3), (17, 1600e3), (24, 1250e3)]);
        let rate = |ns: f64| BLOCK as f64 * 1e9 / ns;
        let (within, beyond, most) = (rate(80e3), rate(1600e3), rate(1250e3));
        assert!(
            both.starts_with(&format!(
                "Read again, a file of {{{mib_480}}} comes at {{{within}}}, one of {{{mib_544}}}, a little too large, at \
                 {{{beyond}}}: a MiB takes {{20}} times as long; one of {{{mib_768}}} at {{{most}}}: "
            )),
            "{both}"
        );
        let apart = said(&[(15, 80e3), (24, 1250e3)]);
        assert!(apart.contains(&format!("{{{within}}}, one of {{{mib_768}}} at {{{most}}}: ")), "{apart}");
    }

    #[test]
    fn forward_all_of_a_file_that_is_too_large_is_predicted_from_the_device_and_backward_the_rest() {
        let machine = Machine::from_root(&Root::new("/nowhere"), &Unknown, std::path::Path::new("/"));
        let known = Known::new(&machine, None);
        let total = |order, part| {
            Reread.predict(&point(READ_BEFORE, order, size(&machine, part)), &known).unwrap().total()
        };
        let device = Reread.predict(&point(DIRECT, FORWARD, 1), &known).unwrap().total();
        assert!((total(FORWARD, 24) - device).abs() < 1e-6 && total(FORWARD, 8) < device / 2.0);
        let (third, all) = (total(BACKWARD, 24), total(BACKWARD, 8));
        assert!((third - (all * 2.0 + device) / 3.0).abs() < 1e-6 * device, "{third} {all} {device}");
    }
}
