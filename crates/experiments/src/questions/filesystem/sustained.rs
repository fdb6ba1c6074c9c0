//! Does a storage device keep its speed under continuous load?

use super::{read, write};
use crate::apparatus::filesystem::reader::{Call, ReadAhead, Reader};
use crate::apparatus::filesystem::uring::Queue;
use crate::apparatus::lasting::{self, COMPARED, FIGURE, LASTING, WINDOW};
use fathom_core::prelude::*;
use fathom_core::quantity::Kind;
use fathom_equipment::test_file::blocks::{BlockWalk, Order};
use fathom_equipment::test_file::{DiskQuota, TestFile, direct, ensure_accounted, served};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

const REQUEST: Parameter =
    Parameter::named("request", "the requests to the device, without a pause and past the page cache");

pub struct Sustained;

static ABOUT: About = About {
    name: "filesystem/sustained",
    question: "Does a storage device keep its speed under continuous load?",
    operation: "one block read or written past the page cache, of many without a pause",
    method: "The direct requests of `read` and `write` (O_DIRECT) continue for a second, and the number completed is \
             recorded at the end of every twentieth of the trial: the first twentieth shows the speed at the \
             beginning, the second half the sustained speed. Both are means, the time over the number of requests: \
             where some take several times as long as most, they are above the median of single requests that \
             `read` gives. Cloud disks and control-group limits often allow a \
             burst and then throttle; the write cache of a solid-state disk fills. With 32 requests in flight the \
             figure is the time from one completion to the next, the inverse of the device's rate in requests a \
             second.",
    caveats: "Limits whose burst lasts for minutes or half an hour, like those of some cloud disks, need `--thorough` \
              (20 s), or an even longer time; earlier parts of the run use up the same burst. Writes go to the same 4 \
              MiB repeatedly.",
    version: 1,
    timed: Some(TimedCode {
        of: "a request and its completion",
        source: include_str!("../../apparatus/filesystem/uring.rs"),
        begins: "pub fn next(",
    }),
    parameters: &[REQUEST, LASTING, FIGURE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "4 KiB at random, from the device, without a pause",
            &[
                ("request", At::Name("random read")),
                ("figure", At::Name("sustained")),
                ("lasting", At::Least),
            ],
        ),
        MainFigure::of(
            "4 KiB at random, 32 in flight, without a pause",
            &[
                ("request", At::Name("random read, 32 in flight")),
                ("figure", At::Name("sustained")),
                ("lasting", At::Least),
            ],
        ),
    ])
    .in_order(|point| point.name(&FIGURE) == WINDOW),
};

const RANDOM_READ: &str = "random read";
const QUEUED_READ: &str = "random read, 32 in flight";
const SEQUENTIAL_READ: &str = "sequential read of 1 MiB";
const RANDOM_WRITE: &str = "random write";
const REQUESTS: [&str; 4] = [RANDOM_READ, QUEUED_READ, SEQUENTIAL_READ, RANDOM_WRITE];

const DEPTH: u64 = 32;
const BLOCK: u64 = 4096;
const LARGE_BLOCK: u64 = 1 << 20;
const FILE: u64 = 64 << 20;

/// Witnesses: bytes read, and bytes sent by the device.
const READ: &str = "bytes_read";
const SERVED: &str = "bytes_from_device";

/// The experiment and point that measure the same request in short trials.
fn in_short_trials(request: &str) -> (&'static dyn Experiment, Point) {
    match request {
        RANDOM_READ => (&read::Read, read::direct_point(true)),
        QUEUED_READ => (&read::Read, read::queued_point(DEPTH)),
        SEQUENTIAL_READ => (&read::Read, read::largest_direct_point()),
        _ => (&write::Write, write::sent_point()),
    }
}

impl Experiment for Sustained {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let of = |request: &&str| lasting::points(Point::new().named(&REQUEST, request));
        REQUESTS.iter().flat_map(of).collect()
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        lasting::effort(point)
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let (experiment, short) = in_short_trials(point.name(&REQUEST));
        lasting::predicted((experiment, &short), known)
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::File(FILE)]
    }

    fn waits_for_the_device(&self, _: &Point) -> bool {
        true
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let lasting_ns = point.number(&LASTING) as f64;
        let (mut act, bytes_read) = requests(point.name(&REQUEST), site)?;
        let observe = move || {
            let progress = lasting::observed(lasting_ns, || site.stopwatch.now_ns(), &mut act)?;
            Ok(lasting::each_ns(&progress))
        };
        let counts = move || {
            let served = served().map(|bytes| (SERVED, bytes));
            served.into_iter().chain([(READ, bytes_read.get())]).collect()
        };
        Ok(Workload::figures(observe).cold().witnessed(counts))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        if point.name(&REQUEST) == RANDOM_WRITE {
            return vec![];
        }
        let claim = "every block came from the device: bytes read from devices, by the kernel's accounting, per byte \
                     read";
        // The account counts requests when they are sent: those in flight at its first reading were sent before.
        let under_way = (DEPTH * BLOCK * observed.trials) as f64;
        let read = observed.witness(READ).unwrap_or_default();
        vec![Check::within(claim, observed.ratio(SERVED, READ), 0.99 - under_way / read, 1.5)]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let requests = REQUESTS.map(|request| (request.to_owned(), Point::new().named(&REQUEST, request)));
        let requests = lasting::compared_in(ABOUT.name, requests, Kind::Cost, known);
        let finding = |requests| {
            finding!(
                Question::Experiment,
                "Time of the device for a request {COMPARED}: {requests}.",
                requests
            )
        };
        requests.map(finding).into_iter().chain(beside_short_trials(known)).collect()
    }

    fn least_time(&self, point: &Point) -> Duration {
        Duration::from_nanos(point.number(&LASTING))
    }

    fn time_limit(&self, point: &Point) -> Duration {
        Duration::from_secs(90) + 4 * Duration::from_nanos(point.number(&LASTING))
    }
}

/// The sustained random read beside that of short trials, where they certainly differ: the first twentieth of a second may be as slow as the
/// rest.
fn beside_short_trials(known: &Known) -> Option<Finding> {
    let sustained = Point::new().named(&REQUEST, RANDOM_READ).with(&LASTING, lasting::USUAL);
    let sustained = known.found(ABOUT.name, &sustained.named(&FIGURE, lasting::SUSTAINED))?;
    let short = known.found("filesystem/read", &read::direct_point(true))?;
    let is_apart = sustained.differs_from(&short) == Some(true) && !sustained.is_mixture && !short.is_mixture;
    is_apart.then(|| {
        finding!(
            Question::Experiment,
            "A random read takes {sustained_time} in the second half, {times} times the {short} of short trials (filesystem/read): a mean beside a \
             median, and at another time.",
            sustained_time = sustained.named("random read, second half"),
            short = short.named("random read, short trials"),
            times = sustained.over(short).named("random read, second half over short trials")
        )
    })
}

/// Does one request, or waits for the next completion, and returns the number of requests done.
type Act<'site> = Box<dyn FnMut() -> Result<u64, Failure> + 'site>;

/// The function that does the requests, and the bytes that they have read so far.
fn requests<'site>(request: &str, site: &'site Site) -> Result<(Act<'site>, Rc<Cell<f64>>), Failure> {
    if request == RANDOM_WRITE {
        let mut write = write::writing(site)?;
        return Ok((Box::new(move || write().map(|()| 1)), Rc::default()));
    }
    let (order, block) = match request {
        RANDOM_READ | QUEUED_READ => (Order::Random, BLOCK),
        SEQUENTIAL_READ => (Order::Sequential, LARGE_BLOCK),
        request => return Err(Failure::no_variant(&REQUEST, request)),
    };
    let test = TestFile::named(site, "cold", FILE, DiskQuota::DEFAULT)?;
    ensure_accounted(&test)?;
    let file = direct(&test, block)?.file;
    let mut walk = BlockWalk::through(test.bytes, block, order, site.seed);
    if request == QUEUED_READ {
        let mut queue = Queue::new(file, test.content, (walk, block), DEPTH)?;
        let read = queue.bytes_read();
        return Ok((Box::new(move || queue.next(site).map(|_| 1)), read));
    }
    let sizes = (test.bytes, test.content);
    let mut reader = Reader::new(file, sizes, block, Call::Pread, ReadAhead::Usual)?;
    let read = Rc::new(Cell::new(0.0));
    let counted = Rc::clone(&read);
    let act = move || {
        reader.read(walk.step())?;
        counted.set(counted.get() + block as f64);
        Ok(1)
    };
    Ok((Box::new(act), read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sustained_read_that_differs_from_short_ones_stands_beside_them() {
        let machine = fathom_described::machine();
        let said = |sustained: f64| {
            let mut known = Known::new(&machine, None);
            let found = |ns| fathom_described::found_within(0.02, ns, Unit::Nanoseconds);
            let point = Point::new().named(&REQUEST, RANDOM_READ).with(&LASTING, lasting::USUAL);
            known.learn(ABOUT.name, &point.named(&FIGURE, lasting::SUSTAINED), found(sustained));
            known.learn("filesystem/read", &read::direct_point(true), found(40e3));
            beside_short_trials(&known).map(|finding| finding.statement.plain())
        };
        assert!(said(48e3).is_some_and(|text| {
            text.contains("takes {48000} in the second half, {1.2} times the {40000} of short trials")
        }));
        assert_eq!(said(40.2e3), None, "no difference is shown");
    }
}
