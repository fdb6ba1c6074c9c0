//! What does it cost to append a block to a log and to have it on the device, how often, and how late at worst?

mod findings;
mod log;
mod series;

use super::{read, write};
use crate::expected::{device_facts, kernel_service, mode_switch};
use fathom_core::prelude::*;
use log::{
    APPENDS, AppendLog, COUNTED, DEVICE_WROTE, Durability, FLUSHES, GROWN, LOG, MOST_STREAMED, STREAMED,
    WAITING,
};
use series::{DUE, IN_TIME, PASSED, SCHEDULED};
use std::time::Duration;

const DURABILITY: Parameter = Parameter::of(
    "durability",
    "what makes an append durable: a call after it, or a flag of the open file or of the call",
    &[FSYNC, FDATASYNC, DSYNC, RWF_DSYNC],
);
const BLOCK: Parameter = Parameter::bytes("block", "bytes of one append");
const BESIDE: Parameter =
    Parameter::of("beside", "what another thread does to another file meanwhile", &[NOTHING, STREAM]);
const SERIES: Parameter = Parameter::of(
    "series",
    "how many appends follow each other in one trial: as many as a usual trial has; or those of half a second, 299 at least",
    &[SHORT, LONG],
);
const FIGURE: Parameter = Parameter::named(
    "figure",
    "append: of every append; longest: of the longest one of a trial; rate: the most bytes a second of which 99 in 100 are \
     durable within 10 ms of when they were due",
);

pub struct DurableAppend;

static ABOUT: About = About {
    name: "filesystem/durable_append",
    question: "What does it cost to append a block to a log and have it on the device, how often can that be done, and how late \
               is it at worst?",
    operation: "one block appended to a file, durable when the operation ends",
    method: "The logs of databases and of consensus protocols grow block by block, and each block must be durable before the \
             next. A file without a name that begins empty is extended by pwrite at its end, followed by `fsync` or \
             `fdatasync`, or opened with `O_DSYNC`, or by pwritev2 with `RWF_DSYNC`. Every append allocates, so the file \
             system's journal is written too. Every append is timed by itself, so there is a distribution.\n\nA long series \
             lasts for half a second and has 299 appends at least, the fewest that carry a p99, and 4096 at most. Then \
             appends are made evenly due, in series of a quarter of a second and of 100 at least, each after a pause: at 0.98 \
             times the rate of those without a pause, and where more than one in 100 are not durable within 10 ms of when \
             they were due, at lower rates, found by halving. A late start counts. The highest rate is the highest of these \
             that was kept, known to within 9 % in each trial. Where times without a pause, each waiting for the one before \
             (a queue with a single server; Lindley 1952), say that it cannot be kept, the search \
             begins 9 % above it and goes down in steps of 3 % until a series of three seconds is kept. The times of appends without a pause do not give \
             the rate: a device with a limit that is granted by slices of time delays what is in excess of a slice, and \
             nothing at a rate below the limit. Beside a stream, another thread on another CPU writes 64 KiB every \
             millisecond to another file, through the page cache and without flushing.\n\nThe file system's account of the \
             length, the system calls, and the device's own counters of bytes written and of flushes show that the appends \
             were made. Where the device has no counters of its own (an overlay, a network) or declares no cache that could \
             be flushed, the evidence says so.",
    caveats: "Whether a device, or the host of a virtual one, really flushes its cache is not visible from here. A database that \
              makes several entries durable with one flush (group commit) has a higher rate of entries. A log begins again after \
              64 MiB; one that is allocated in advance is filesystem/write, which costs less.",
    version: 2,
    timed: Some(TimedCode {
        of: "an append, and what makes it durable",
        source: include_str!("log.rs"),
        begins: "pub fn append(",
    }),
    parameters: &[DURABILITY, BLOCK, BESIDE, SERIES, FIGURE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "8 KiB appended, and fdatasync",
            &[
                ("durability", At::Name(FDATASYNC)),
                ("block", At::Number(USUAL_BLOCK)),
                ("series", At::Name(SHORT)),
            ],
        ),
        MainFigure::of(
            "8 KiB appended: the highest rate with p99 within 10 ms",
            &[("figure", At::Name(RATE)), ("block", At::Number(USUAL_BLOCK))],
        ),
        MainFigure::of(
            "8 KiB appended beside a stream, and fdatasync",
            &[("beside", At::Name(STREAM)), ("figure", At::Name(APPEND))],
        ),
    ])
    .clauses(&[
        Clause::of("what an append costs", |point, _| point.name(&FIGURE) != RATE && !is_longest(point)),
        Clause::of("how often a block can be appended so", |point, _| point.name(&FIGURE) == RATE),
        Clause::of("how late an append is at worst", |point, _| is_longest(point)),
    ]),
};

const FSYNC: &str = "fsync";
const FDATASYNC: &str = "fdatasync";
const DSYNC: &str = "O_DSYNC";
const RWF_DSYNC: &str = "RWF_DSYNC";
const NOTHING: &str = "nothing";
const STREAM: &str = "a stream through the page cache";
const SHORT: &str = "short";
const LONG: &str = "half a second";
const APPEND: &str = "append";
const LONGEST: &str = "longest";
const RATE: &str = "rate";

fn is_longest(point: &Point) -> bool {
    point.name(&FIGURE) == LONGEST
}

/// A record of a sector, a page of a database's log, a batch.
const BLOCKS: [u64; 3] = [512, USUAL_BLOCK, 65_536];
const USUAL_BLOCK: u64 = 8192;

/// The limit on p99 of the highest rate, nanoseconds.
const WITHIN_NS: f64 = 10e6;

impl Experiment for DurableAppend {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let of_block =
            |block| [FSYNC, FDATASYNC, DSYNC, RWF_DSYNC].map(|durability| short(durability, block));
        let alone = [APPEND, LONGEST, RATE].map(|figure| long(NOTHING, figure));
        let beside = [APPEND, LONGEST].map(|figure| long(STREAM, figure));
        BLOCKS.into_iter().flat_map(of_block).chain(alone).chain(beside).collect()
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        if is_beside_a_stream(point) { vec![Requirement::Cpus(2)] } else { vec![] }
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        let usual = point.number(&BLOCK) == USUAL_BLOCK && point.name(&SERIES) == SHORT;
        let quick = usual && [FSYNC, FDATASYNC].contains(&point.name(&DURABILITY));
        if quick { Effort::Quick } else { Effort::Standard }
    }

    fn unit(&self, point: &Point) -> Unit {
        if point.name(&FIGURE) == RATE { Unit::BytesPerSecond } else { Unit::Nanoseconds }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let append = append_predicted(point, known);
        let one = append.total();
        Ok(match point.name(&FIGURE) {
            RATE => {
                // It rests on what the time rests on.
                let measured =
                    append.terms.iter().find(|term| term.is_measured()).map(|term| term.source.clone());
                let value = point.number(&BLOCK) as f64 / one * 1e9;
                let assumed = Basis::assumed(value, "the bytes of an append over the time predicted for it");
                let basis = measured.map_or(assumed, |source| Basis { value, source, cycle_ns: None });
                Prediction::new().hardware(
                    "one append after the other, each as long as predicted",
                    1.0,
                    basis,
                )
            }
            LONGEST => append.hardware(
                "requests of others, or the device's own work, in the way of one of some hundred appends",
                2.0,
                Basis::assumed(one, "as long as an append each, an order of magnitude"),
            ),
            _ => append,
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let Bound { limit: shortest, because } = device_facts::soonest_answer(known)
            .unwrap_or_else(|| mode_switch::bound(calls(point), "every call enters", known));
        let is_rate = point.name(&FIGURE) == RATE;
        let limit = if is_rate { point.number(&BLOCK) as f64 / shortest * 1e9 } else { shortest };
        Some(Bound::of(limit, because))
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        vec![Touch::File(if is_beside_a_stream(point) { 2 * LOG } else { LOG })]
    }

    /// A stream beside it would be in the way of the readings as well.
    fn waits_for_the_device(&self, point: &Point) -> bool {
        !is_beside_a_stream(point)
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let mut log = AppendLog::new(point.number(&BLOCK), durability(point)?, site)?;
        let (account, waiting) = (log.account(), log.waiting());
        let counted = f64::from(u8::from(AppendLog::counts_dirty_pages(site)?));
        let work = match point.name(&SERIES) {
            SHORT => {
                let append = move |n| (0..n).try_for_each(|_| log.append());
                Workload::each(append).traced().witnessed(account)
            }
            _ => series::observed(log, point, account, site)?,
        };
        Ok(work.gauged(waiting).stating(COUNTED, counted))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let block = point.number(&BLOCK) as f64;
        let Some(appends) = observed.witness(APPENDS).filter(|appends| *appends > 0.0) else {
            return vec![Check::missing("appends")];
        };
        let per_append = |name: &str| observed.witness(name).map(|count| count / appends);
        let mut checks =
            vec![Check::equal("bytes by which the log grew per append", per_append(GROWN), block)];
        if observed.witness(COUNTED) == Some(1.0) {
            let claim = "nothing is left to write when the appends have ended: dirty bytes of the log";
            checks.push(Check::equal(claim, observed.witness(WAITING), 0.0));
        }
        checks.push(written(per_append(DEVICE_WROTE), block));
        checks.push(flushed(per_append(FLUSHES)));
        match point.name(&SERIES) {
            SHORT => checks.push(Check::system_calls(observed, calls(point))),
            _ if is_beside_a_stream(point) => checks.push(streamed(observed)),
            _ => checks.extend(scheduled(observed)),
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }

    fn least_time(&self, point: &Point) -> Duration {
        if point.name(&SERIES) == LONG { Duration::from_millis(500) } else { Duration::ZERO }
    }

    /// A rotating disk takes tens of milliseconds for an append.
    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_secs(60)
    }
}

fn short(durability: &str, block: u64) -> Point {
    Point::new()
        .named(&DURABILITY, durability)
        .with(&BLOCK, block)
        .named(&BESIDE, NOTHING)
        .named(&SERIES, SHORT)
        .named(&FIGURE, APPEND)
}

fn long(beside: &str, figure: &str) -> Point {
    let placement = if beside == STREAM { Placement::AcrossCpus } else { Placement::OneCpu };
    Point::at(placement)
        .named(&DURABILITY, FDATASYNC)
        .with(&BLOCK, USUAL_BLOCK)
        .named(&BESIDE, beside)
        .named(&SERIES, LONG)
        .named(&FIGURE, figure)
}

fn is_beside_a_stream(point: &Point) -> bool {
    point.name(&BESIDE) == STREAM
}

fn durability(point: &Point) -> Result<Durability, Failure> {
    match point.name(&DURABILITY) {
        FSYNC => Ok(Durability::Synced(libc::fsync)),
        FDATASYNC => Ok(Durability::Synced(libc::fdatasync)),
        DSYNC => Ok(Durability::OfTheFile),
        RWF_DSYNC => Ok(Durability::OfTheCall),
        name => Err(Failure::no_variant(&DURABILITY, name)),
    }
}

fn calls(point: &Point) -> f64 {
    if [FSYNC, FDATASYNC].contains(&point.name(&DURABILITY)) { 2.0 } else { 1.0 }
}

/// An existing block is overwritten and flushed; an appended one changes the file's length and extents as well, which the journal
/// records.
fn append_predicted(point: &Point, known: &Known) -> Prediction {
    let request = read::request(known);
    let overwritten = known.measured_or_assumed(
        "filesystem/write",
        &write::flushed_point(),
        2.0 * request.value,
        "the block and a flush, each a request",
    );
    let more = (point.number(&BLOCK) as f64 - write::USUAL_BLOCK as f64).max(0.0);
    let append = kernel_service::entering(Prediction::new(), "entering the kernel", calls(point), known)
        .hardware("4 KiB of an existing file overwritten and flushed (fdatasync)", 1.0, overwritten)
        .hardware(
            "the journal's record of the longer file, and its commit, each a request as long as a small read",
            2.0,
            request,
        )
        .hardware("the bytes beyond 4 KiB, at the device's rate", more, device_facts::written_byte(known));
    if !is_beside_a_stream(point) {
        return append;
    }
    let meanwhile = MOST_STREAMED * append.total() / 1e9;
    append.hardware(
        "the bytes streamed since the append before, which a journal in order writes first (assumed)",
        meanwhile,
        device_facts::written_byte(known),
    )
}

fn written(per_append: Option<f64>, block: f64) -> Check {
    let claim = "bytes that the device wrote per append, by its own counter";
    match per_append {
        Some(bytes) => Check::within(claim, bytes, block, f64::INFINITY),
        None => Check::unasked(claim, "the file system shows no device with counters of its own".to_owned()),
    }
}

fn flushed(per_append: Option<f64>) -> Check {
    let claim = "flushes of the device's cache per append, by its own counter";
    match per_append {
        Some(flushes) => Check::within(claim, flushes, 0.95, f64::INFINITY),
        None => Check::unasked(
            claim,
            "the device declares no cache that could be flushed, or its flushes are not counted".to_owned(),
        ),
    }
}

fn streamed(observed: &Observed) -> Check {
    let claim = "MB/s that the stream wrote meanwhile";
    let each_ns = observed.ratio(STREAMED, PASSED);
    Check::within(claim, each_ns.map(|bytes| bytes * 1e3), 1.0, 1.1 * MOST_STREAMED / 1e6)
}

/// Of the schedules that the highest rate was kept on.
fn scheduled(observed: &Observed) -> Vec<Check> {
    let count = |name| observed.witness(name).unwrap_or_default();
    let scheduled = count(SCHEDULED);
    if scheduled <= 0.0 {
        return vec![];
    }
    vec![
        Check::within(
            "appends on a schedule of the highest rate: the share durable within 10 ms of when they were due",
            count(IN_TIME) / scheduled,
            0.99,
            1.0,
        ),
        Check::within(
            "appends on that schedule over those due at the rate meanwhile",
            scheduled / count(DUE),
            0.97,
            1.03,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The evidence of a flawless trial, with one count replaced.
    fn judged(point: &Point, otherwise: (&str, f64)) -> bool {
        let block = point.number(&BLOCK) as f64;
        let usual = [
            (APPENDS, 100.0),
            (GROWN, 100.0 * block),
            (DEVICE_WROTE, 100.0 * block.max(4096.0) + 8192.0),
            (FLUSHES, 101.0),
            (COUNTED, 1.0),
            (WAITING, 0.0),
            (SCHEDULED, 300.0),
            (IN_TIME, 298.0),
            (DUE, 300.2),
            (STREAMED, 32e6),
            (PASSED, 0.5e9),
            (TRACED_CALLS, 10.0 * calls(point)),
            (TRACED_OPERATIONS, 10.0),
        ];
        let seen = fathom_described::observed(100, usual.into_iter().chain([otherwise]));
        DurableAppend.evidence(point, &seen).iter().all(|check| check.holds)
    }

    #[test]
    fn appends_that_were_not_made_or_not_durable_fail() {
        for point in BLOCKS.map(|block| short(FSYNC, block)) {
            assert!(judged(&point, ("nothing", 0.0)), "{point}");
            assert!(!judged(&point, (GROWN, 0.0)), "blocks were overwritten");
            assert!(!judged(&point, (WAITING, 4096.0)), "a page waits");
            assert!(!judged(&point, (DEVICE_WROTE, 0.0)), "the device wrote nothing");
            assert!(!judged(&point, (FLUSHES, 3.0)), "the device flushed now and then");
            assert!(!judged(&point, (TRACED_CALLS, 10.0)), "no flush was asked for");
        }
        assert!(!judged(&long(STREAM, APPEND), (STREAMED, 0.0)), "there was no stream");
        assert!(!judged(&long(NOTHING, RATE), (IN_TIME, 290.0)), "the rate cannot be kept");
        assert!(!judged(&long(NOTHING, RATE), (DUE, 320.0)), "the rate is another");
    }

    #[test]
    fn what_is_not_counted_here_is_no_evidence_against_an_append() {
        let seen = fathom_described::observed(0, [(APPENDS, 4.0), (GROWN, 4.0 * 512.0)]);
        let checks = DurableAppend.evidence(&long(NOTHING, APPEND).with(&BLOCK, 512), &seen);
        assert!(
            checks.iter().all(|check| !check.fails()) && checks.iter().any(|check| check.unasked),
            "{checks:?}"
        );
    }
}
