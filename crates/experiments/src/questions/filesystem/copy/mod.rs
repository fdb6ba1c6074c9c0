//! What does it cost to copy a file, by the way of its bytes?

mod copier;

use crate::expected::{kernel_service, mode_switch};
use copier::{CALLS, COPIES, Copier, CopyWay, EQUAL, HELD, LENGTHS, PIECE, SHARED, SOURCE_HELD};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use std::time::Duration;

const WAY: Parameter = Parameter::of(
    "way",
    "how the bytes get from one file to the other",
    &[
        CopyWay::ReadAndWrite.name(),
        CopyWay::Sendfile.name(),
        CopyWay::CopyFileRange.name(),
        CopyWay::Reflink.name(),
    ],
);
const SIZE: Parameter = Parameter::bytes("size", "bytes of the file");

pub struct FileCopy;

static ABOUT: About = About {
    name: "filesystem/copy",
    question: "What does it cost to copy a file, depending on the way its bytes take?",
    operation: "all bytes of a file copied to an empty one of the same file system, without flushing",
    method: "The source is a file of random bytes that is on the device and in the page cache. The copy is emptied before \
             each operation, untimed, so that its pages and blocks are new. `read and write` moves 128 KiB at a time \
             through a buffer, as cp did for decades. `sendfile` and `copy_file_range` leave the work to the kernel, in \
             as few calls as it needs for the whole file. `reflink` (FICLONE) lets the copy share the blocks of the \
             source. The copy stays in the page cache; when it reaches the device is another question.\
             \n\nAfter the last copy of a trial its bytes are compared with those of the source, and the file system is \
             asked which of its blocks are shared with another file (FIEMAP): that shows whether anything was moved. A \
             file system may share blocks with copy_file_range too; the evidence says so then. The pages of source and \
             copy in the page cache are counted, and so are the system calls of one copy, by tracing.",
    caveats: "A copy that shares blocks pays for them when they are changed. If the source is not in the page cache, every \
             way but reflink waits for the device first (filesystem/read).",
    version: 1,
    timed: Some(TimedCode { of: "a copy", source: include_str!("copier.rs"), begins: "fn transfer(" }),
    parameters: &[WAY, SIZE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "1 MiB copied by read and write",
            &[("way", At::Name(CopyWay::ReadAndWrite.name())), ("size", At::Number(USUAL))],
        ),
        MainFigure::of(
            "1 MiB copied by copy_file_range",
            &[("way", At::Name(CopyWay::CopyFileRange.name())), ("size", At::Number(USUAL))],
        ),
    ]),
};

/// A source file, a picture, a film's minute.
const SIZES: [u64; 3] = [64 << 10, USUAL, LARGE];
const USUAL: u64 = 1 << 20;
const LARGE: u64 = 64 << 20;

impl Experiment for FileCopy {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        SIZES.into_iter().flat_map(|size| CopyWay::ALL.map(|way| point(way, size))).collect()
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if point.number(&SIZE) == USUAL { Effort::Quick } else { Effort::Standard }
    }

    fn sized(&self, point: &Point, bytes: u64) -> Option<Point> {
        Some(point.clone().with(&SIZE, bytes))
    }

    /// Source and copy in the page cache, without making the kernel write the copy meanwhile.
    fn requires(&self, point: &Point) -> Vec<Requirement> {
        vec![Requirement::MemoryBytes(4 * point.number(&SIZE))]
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let way = way(point).map_err(|failure| failure.to_string())?;
        let bytes = point.number(&SIZE) as f64;
        let entered = kernel_service::entering(
            Prediction::new(),
            "entering the kernel",
            least_calls(way, point),
            known,
        );
        if way == CopyWay::Reflink {
            return Ok(kernel_service::assumed(
                entered,
                "extents entered twice, and journalled",
                10_000.0,
                known,
            ));
        }
        let copies = if way == CopyWay::ReadAndWrite { 2.0 } else { 1.0 };
        let byte = known.assumed_cycles(0.25, "a byte copied: some 4 bytes a cycle");
        let copied = entered.hardware("the bytes copied, through a buffer twice", copies * bytes, byte);
        let pages =
            "pages of the copy allocated, entered into its page cache, marked dirty and counted as blocks";
        Ok(kernel_service::assumed(copied, pages, 300.0 * bytes / 4096.0, known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        Some(mode_switch::bound(least_calls(way(point).ok()?, point), "every call enters", known))
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        vec![Touch::File(2 * point.number(&SIZE))]
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let mut copier = Copier::new(way(point)?, point.number(&SIZE), site)?;
        let facts = copier.traced()?;
        let (account, inspected) = (copier.account(), copier.inspected());
        let work = Workload::recorded(move || copier.copy(site.stopwatch).map(Some));
        let work = work.witnessed(account).gauged(inspected);
        Ok(facts.into_iter().fold(work, |work, (name, value)| work.stating(name, value)))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let size = point.number(&SIZE) as f64;
        let (copies, trials) = (observed.witness(COPIES).unwrap_or(0.0), observed.trials.max(1) as f64);
        let each = |claim: &str, name, of: f64, low: f64, high: f64| {
            let value = observed.witness(name).filter(|_| of > 0.0);
            Check::within(claim, value.map(|value| value / of), low, high)
        };
        let length = each("bytes of a copy, as the file system tells", LENGTHS, copies, size, size);
        let equal = each("bytes of the last copy that are equal to the source's", EQUAL, trials, size, size);
        let source =
            each("share of the source in the page cache", SOURCE_HELD, trials * size, 0.99, f64::INFINITY);
        let calls = observed.witness(CALLS).unwrap_or(0.0) / copies.max(1.0);
        let shared = observed.witness(SHARED).map(|bytes| bytes / trials / size);
        let held = observed.witness(HELD).map(|bytes| bytes / trials / size);
        let moved = moved(point, shared, held);
        [vec![length, equal, source], moved, vec![Check::system_calls(observed, calls + positioned(point))]]
            .concat()
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        SIZES.into_iter().filter_map(|size| ways(size, known)).collect()
    }

    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_secs(60)
    }
}

fn point(way: CopyWay, size: u64) -> Point {
    Point::new().named(&WAY, way.name()).with(&SIZE, size)
}

fn way(point: &Point) -> Result<CopyWay, Failure> {
    let name = point.name(&WAY);
    CopyWay::ALL.into_iter().find(|way| way.name() == name).ok_or_else(|| Failure::no_variant(&WAY, name))
}

/// The fewest calls of a copy.
fn least_calls(way: CopyWay, point: &Point) -> f64 {
    if way == CopyWay::ReadAndWrite { 2.0 * point.number(&SIZE).div_ceil(PIECE) as f64 } else { 1.0 }
}

/// Calls beside those that move bytes.
fn positioned(point: &Point) -> f64 {
    if point.is(WAY.name, CopyWay::Sendfile.name()) { 1.0 } else { 0.0 }
}

/// What a part counts as all: an extent may end with its block.
const ALL: f64 = 0.99;

/// Whether bytes were moved or blocks shared: by the file system's account of the last copies, and by the page cache, which has the
/// pages of what was moved and none of what was not.
fn moved(point: &Point, shared: Option<f64>, held: Option<f64>) -> Vec<Check> {
    let may_share = [CopyWay::CopyFileRange, CopyWay::Reflink].map(CopyWay::name).contains(&point.name(&WAY));
    let must_share = point.is(WAY.name, CopyWay::Reflink.name());
    let has_shared = shared.map_or(must_share, |share| share >= ALL);
    let claim = "share of the copy's blocks that belong to the source too";
    let blocks = match shared {
        Some(share) if must_share => Check::within(claim, share, ALL, f64::INFINITY),
        Some(share) if may_share && has_shared => {
            Check::within(format!("{claim}: this file system moves nothing"), share, ALL, f64::INFINITY)
        }
        Some(share) => Check::equal(claim, share, 0.0),
        None => {
            Check::unasked(claim, "this file system does not tell the extents of a file (FIEMAP)".to_owned())
        }
    };
    let claim = "share of the copy in the page cache";
    // The kernel may begin to write and drop them where memory is short.
    let (least, most) = if has_shared { (0.0, 0.1) } else { (0.5, f64::INFINITY) };
    vec![blocks, Check::within(claim, held, least, most)]
}

/// What each way costs for a size.
fn ways(size: u64, known: &Known) -> Option<Finding> {
    let usual = known.found(ABOUT.name, &point(CopyWay::ReadAndWrite, size))?;
    let others =
        [CopyWay::Sendfile, CopyWay::CopyFileRange, CopyWay::Reflink].into_iter().filter_map(|way| {
            let time = known.found(ABOUT.name, &point(way, size))?;
            let judged = time.beside_usual(&usual).in_words();
            let name = way.name();
            Some(statement!(
                "{name} {time}{judged}",
                time = time.named(&format!("{name}, {}", declared::size(size)))
            ))
        });
    let others = Statement::joined(others, "; ")?;
    Some(
        finding!(
            Question::Experiment,
            "Copying {size} in the page cache by read and write takes {usual} ({rate}); by {others}.",
            size = declared::size(size),
            usual = usual.named(&format!("read and write, {}", declared::size(size))),
            rate = usual
                .inverse(size as f64 * 1e9, Unit::BytesPerSecond)
                .named(&format!("rate by read and write, {}", declared::size(size))),
            others
        )
        .about(size),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The evidence of two flawless copies in one trial, with some counts replaced.
    fn judged(way: CopyWay, otherwise: &[(&str, f64)]) -> bool {
        let size = USUAL as f64;
        let (point, reflink) = (point(way, USUAL), way == CopyWay::Reflink);
        let calls = least_calls(way, &point);
        let usual = [
            (COPIES, 2.0),
            (LENGTHS, 2.0 * size),
            (CALLS, 2.0 * calls),
            (EQUAL, size),
            (SHARED, if reflink { size } else { 0.0 }),
            (HELD, if reflink { 0.0 } else { size }),
            (SOURCE_HELD, size),
            (TRACED_CALLS, calls + positioned(&point)),
            (TRACED_OPERATIONS, 1.0),
        ];
        let seen = fathom_described::observed(2, usual.into_iter().chain(otherwise.iter().copied()));
        FileCopy.evidence(&point, &seen).iter().all(|check| check.holds)
    }

    #[test]
    fn copies_that_were_not_made_or_made_otherwise_fail() {
        for way in CopyWay::ALL {
            assert!(judged(way, &[]), "{way:?}");
            assert!(!judged(way, &[(LENGTHS, USUAL as f64)]), "one of two copies has no bytes");
            assert!(!judged(way, &[(EQUAL, 4096.0)]), "other bytes");
            assert!(!judged(way, &[(SOURCE_HELD, 0.0)]), "the source came from the device");
            assert!(!judged(way, &[(TRACED_CALLS, 1000.0)]), "other calls");
        }
    }

    #[test]
    fn what_shares_blocks_has_moved_nothing() {
        let size = USUAL as f64;
        let sharing = [(SHARED, size), (HELD, 0.0)];
        assert!(judged(CopyWay::CopyFileRange, &sharing), "it may share");
        assert!(!judged(CopyWay::CopyFileRange, &[(SHARED, size / 2.0)]), "half of each");
        assert!(!judged(CopyWay::ReadAndWrite, &sharing) && !judged(CopyWay::Sendfile, &sharing));
        assert!(!judged(CopyWay::Reflink, &[(SHARED, 0.0), (HELD, size)]), "its bytes were moved");
    }

    #[test]
    fn ways_are_compared_with_read_and_write() {
        let time = |way, ns| (point(way, USUAL), ns);
        let times = [time(CopyWay::ReadAndWrite, 2e5), time(CopyWay::Sendfile, 1e5)];
        let text = fathom_described::statements(&FileCopy, times, |known| FileCopy.findings(known));
        assert!(text.contains("by sendfile {100000}, which is less."), "{text}");
    }
}
