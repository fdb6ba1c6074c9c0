//! How much do processes that read at the same time slow each other down?

mod competition;
mod findings;
mod predicted;

use crate::apparatus::filesystem::fleet::{Member, ReadProgress, Readers};
use crate::expected::device_facts;
use fathom_core::prelude::*;
use fathom_equipment::test_file::blocks::Order;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

const NAME: &str = "filesystem/contention";

const PATTERN: Parameter = Parameter::of("pattern", "the order in which the processes read", &PATTERNS);
const FIGURE: Parameter = Parameter::named(
    "figure",
    "the time of a process for a block, the total rate, or how far the slowest process is behind the mean",
);
const FILE: Parameter = Parameter::bytes("file", "size of each process's file");
const PROCESSES: Parameter = Parameter::count("processes", "processes that read at the same time");

/// Pattern: all processes read sequentially.
const ALL_SEQUENTIAL: &str = "all sequential";
/// Pattern: all processes read in random order.
const ALL_RANDOM: &str = "all random";
/// Pattern: the sequential readers of a mixture.
const SEQUENTIAL_AMONG: &str = "sequential among mixed";
/// Pattern: the random readers of a mixture.
const RANDOM_AMONG: &str = "random among mixed";
const PATTERNS: [&str; 4] = [ALL_SEQUENTIAL, ALL_RANDOM, SEQUENTIAL_AMONG, RANDOM_AMONG];
/// Figure: the time per block.
const EACH: &str = "each process";
/// Figure: the total rate.
const TOGETHER: &str = "all together";
/// Figure: how far the slowest process falls behind.
const UNFAIRNESS: &str = "slowest behind the mean";

/// Size of a block, bytes.
const BLOCK: u64 = 4096;
/// The usual size of a file, bytes: a thousand blocks, as in report 000.
const USUAL_FILE: u64 = 1000 * BLOCK;
/// Other sizes, the second only for a thorough run: whether the knee moves with them (R-FS-33).
const OTHER_FILES: [u64; 2] = [1 << 20, 64 << 20];
/// Number of processes with files of other sizes in a default run.
const OTHER_FILE_COUNT: u64 = 8;
/// Numbers of processes for files of the usual size: each up to ten, as in report 001 (R-FS-27), and up to the fifty of report 000.
const COUNTS: [u64; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 50];
/// Numbers of processes in a quick run.
const QUICK_COUNTS: [u64; 2] = [1, 8];
/// Numbers of processes for files of other sizes.
const FEW_COUNTS: [u64; 5] = [1, 2, 4, 8, 16];

fn point(pattern: &str, figure: &str, file: u64, processes: u64) -> Point {
    let point = Point::at(Placement::Free).named(&PATTERN, pattern).named(&FIGURE, figure);
    point.with(&FILE, file).with(&PROCESSES, processes)
}

pub struct Contention;

static ABOUT: About = About {
    name: NAME,
    question: "How much do processes that read at the same time slow each other down?",
    operation: "one block of 4 KiB read by a process while all others read",
    method: "Each process has its own file and continuously reads blocks of 4 KiB from the device (O_DIRECT), \
             sequentially or in random order: all in the same order, or every second one in random order. They wait \
             at a barrier until all are ready, and read until they are stopped; only the time in which all of them \
             run counts. Each records when it has completed how many blocks; its time per block is the time between \
             two completions over the blocks between them, and the observation is the mean over processes. The total \
             rate is the sum of their rates over the same time. Fairness is the share by which the rate of the \
             slowest process is below the mean rate.\n\nThe slope over the number of processes is fitted by least \
             squares, with its interval; two connected lines are fitted as well, and used where they fit \
             significantly better.",
    caveats: "The files are small and close together; where a device seeks, files that are far apart cost more. In \
              `all sequential` the device sees the interleaved blocks of many files, which is not a sequential \
              pattern.",
    version: 1,
    timed: Some(TimedCode {
        of: "one of the processes",
        source: include_str!("../../../apparatus/filesystem/fleet.rs"),
        begins: "fn read_on(",
    }),
    parameters: &[PATTERN, FIGURE, FILE, PROCESSES],
    trends: &[Trend { along: "processes", step: 1.0, slope: "per process" }],
    shown: Shown::by(&[
        MainFigure::of(
            "4 KiB block, one process alone",
            &[
                ("figure", At::Name("each process")),
                ("pattern", At::Name("all sequential")),
                ("file", At::Number(4_096_000)),
                ("processes", At::Least),
            ],
        ),
        MainFigure::of(
            "4 KiB block, most processes",
            &[
                ("figure", At::Name("each process")),
                ("pattern", At::Name("all sequential")),
                ("file", At::Number(4_096_000)),
                ("processes", At::Most),
            ],
        ),
    ]),
};

impl Experiment for Contention {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        self.sweep_for(machine, &SweepOptions::default())
    }

    /// If numbers of processes were requested, these and no others.
    fn sweep_for(&self, _: &Machine, options: &SweepOptions) -> Vec<Point> {
        let processes = options.processes.as_slice();
        let counts =
            |usual: &'static [u64]| if processes.is_empty() { usual.to_vec() } else { processes.to_vec() };
        let mut points = vec![];
        for pattern in PATTERNS {
            let mixed = [SEQUENTIAL_AMONG, RANDOM_AMONG].contains(&pattern);
            let several = |processes: &u64| *processes > u64::from(mixed);
            let usual = counts(&COUNTS).into_iter().filter(several);
            points.extend(usual.map(|processes| point(pattern, EACH, USUAL_FILE, processes)));
        }
        for pattern in [ALL_SEQUENTIAL, ALL_RANDOM] {
            points
                .extend(counts(&COUNTS).into_iter().map(|count| point(pattern, TOGETHER, USUAL_FILE, count)));
            let several = counts(&[8, 32]).into_iter().filter(|count| *count > 1);
            points.extend(several.map(|count| point(pattern, UNFAIRNESS, USUAL_FILE, count)));
            for file in OTHER_FILES {
                points.extend(counts(&FEW_COUNTS).into_iter().map(|count| point(pattern, EACH, file, count)));
            }
        }
        points
    }

    fn sized(&self, point: &Point, bytes: u64) -> Option<Point> {
        Some(point.clone().with(&FILE, bytes))
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        let (count, pattern) = (point.number(&PROCESSES), point.name(&PATTERN));
        let ours = COUNTS.contains(&count);
        match point.name(&FIGURE) {
            _ if point.number(&FILE) == OTHER_FILES[0] && count == OTHER_FILE_COUNT => Effort::Standard,
            _ if point.number(&FILE) != USUAL_FILE => Effort::Thorough,
            // Numbers outside the usual sweep were requested.
            _ if !ours => Effort::Quick,
            EACH if QUICK_COUNTS.contains(&count) && [ALL_SEQUENTIAL, ALL_RANDOM].contains(&pattern) => {
                Effort::Quick
            }
            TOGETHER if count > 1 && QUICK_COUNTS.contains(&count) => Effort::Quick,
            _ => Effort::Standard,
        }
    }

    fn unit(&self, point: &Point) -> Unit {
        match point.name(&FIGURE) {
            TOGETHER => Unit::BytesPerSecond,
            UNFAIRNESS => Unit::PartsPerMillion,
            _ => Unit::Nanoseconds,
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        Ok(predicted::predicted(point, known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let Bound { limit: soonest, because } = device_facts::soonest_answer(known)?;
        let limit = match point.name(&FIGURE) {
            EACH => soonest,
            TOGETHER => point.number(&PROCESSES) as f64 * BLOCK as f64 * 1e9 / soonest,
            _ => return None,
        };
        let because = format!("each process waits for one block before it asks for the next: {because}");
        Some(Bound::of(limit, because))
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        vec![Touch::Files(point.number(&PROCESSES), point.number(&FILE))]
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let members: Vec<Member> =
            (0..point.number(&PROCESSES)).map(|number| member(point, number)).collect();
        let timed: Vec<usize> = (0..members.len()).filter(|number| is_timed(point, *number)).collect();
        let fleet = Rc::new(RefCell::new(Readers::start(&members, site)?));
        let (watched, mut has_begun) = (Rc::clone(&fleet), false);
        let observe = move || {
            // The untimed first observation lets all processes start reading.
            let whole = std::mem::replace(&mut has_begun, true);
            let progress = fleet.borrow_mut().watch(if whole { 1.0 } else { 0.2 }, site)?;
            let mine: Vec<ReadProgress> = timed.iter().map(|number| progress[*number]).collect();
            Ok(figures(&mine))
        };
        Ok(Workload::figures(observe).witnessed(move || watched.borrow().account()))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let (device, read) = (observed.witness(Readers::SERVED), observed.witness(Readers::READ));
        let claim = "every block came from the device: bytes read from devices, by the kernel's accounting of the \
                     processes, per byte they read";
        let served = match (device, read) {
            (Some(device), Some(read)) if read > 0.0 => {
                // At either end of an observation each process has one block in flight, and the accounts are read one after the
                // other.
                let meanwhile = observed.witness(Readers::MEANWHILE).unwrap_or_default();
                let under_way =
                    ((observed.trials * point.number(&PROCESSES) * BLOCK) as f64 + meanwhile) / read;
                Check::within(claim, device / read, 0.98 - under_way, 1.02 + under_way)
            }
            _ => Check::missing(claim),
        };
        let all = "all processes read all the time: the fewest blocks of a process in an observation, mean over trials";
        vec![served, Check::within(all, observed.witness(Readers::FEWEST), 1.0, f64::INFINITY)]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known).into_iter().chain(competition::findings(known)).collect()
    }

    /// A rotating disk takes half a second for one block of each of fifty processes; the first trial creates the files.
    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_secs(60)
    }
}

/// In a mixture every second process reads in random order, and the first in sequence.
fn member(point: &Point, number: u64) -> Member {
    let random = match point.name(&PATTERN) {
        ALL_SEQUENTIAL => false,
        ALL_RANDOM => true,
        _ => number % 2 == 1,
    };
    let order = if random { Order::Random } else { Order::Sequential };
    Member { number, file_bytes: point.number(&FILE), block: BLOCK, order }
}

fn is_timed(point: &Point, number: usize) -> bool {
    match point.name(&PATTERN) {
        SEQUENTIAL_AMONG => number % 2 == 0,
        RANDOM_AMONG => number % 2 == 1,
        _ => true,
    }
}

/// The figures from processes observed together.
fn figures(progress: &[ReadProgress]) -> Vec<FigureValue> {
    let figures =
        [(EACH, each(progress)), (TOGETHER, together(progress)), (UNFAIRNESS, unfairness(progress))];
    figures.into_iter().filter_map(|(figure, value)| Some((figure, value?))).collect()
}

/// Time per block, nanoseconds, mean over the processes.
fn each(progress: &[ReadProgress]) -> Option<f64> {
    let times: Vec<f64> = progress.iter().filter_map(|one| Some(1.0 / one.blocks_per_ns()?)).collect();
    (times.len() == progress.len()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

/// Total rate, bytes per second.
fn together(progress: &[ReadProgress]) -> Option<f64> {
    let rates: Vec<f64> = progress.iter().filter_map(ReadProgress::blocks_per_ns).collect();
    (rates.len() == progress.len()).then(|| rates.iter().sum::<f64>() * BLOCK as f64 * 1e9)
}

/// Deviation of the slowest rate below the mean rate, in millionths of the mean.
fn unfairness(progress: &[ReadProgress]) -> Option<f64> {
    let rates: Vec<f64> = progress.iter().filter_map(ReadProgress::blocks_per_ns).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    (rates.len() == progress.len()).then(|| (1.0 - slowest / mean) * 1e6)
}
