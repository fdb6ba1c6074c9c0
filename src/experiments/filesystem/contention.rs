//! What do processes that read at the same time cost one another?

use super::blocks::Order;
use super::fleet::{Fleet, Member, Progress};
use super::read;
use crate::experiment::{
    About, Asked, At, Basis, Bound, Check, Dimension, Effort, Experiment, Failure, FigureValue, Finding,
    Found, Known, MainFigure, Observed, Parameter, Placement, Point, Prediction, Question, Scale, Site,
    Statement, Trend, Workload, said,
};
use crate::experiments::device_facts;
use crate::machine::Machine;
use crate::quantity::Unit;
use crate::statistics::{Segments, two_segments};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Who reads how.
const PATTERN: Parameter =
    Parameter { name: "pattern", meaning: "the order in which the processes read", scale: Scale::Name };
/// What of it is told.
const FIGURE: Parameter = Parameter {
    name: "figure",
    meaning: "a process's time for a block, the rate of all together, or by how much the slowest falls behind",
    scale: Scale::Name,
};
/// How large a file each has.
const FILE: Parameter =
    Parameter { name: "file", meaning: "size of each process's file", scale: Scale::Bytes };
/// How many.
const PROCESSES: Parameter =
    Parameter { name: "processes", meaning: "processes that read at the same time", scale: Scale::Count };

/// What is timed.
pub struct Contention;

static ABOUT: About = About {
    name: "filesystem/contention",
    question: "What do processes that read at the same time cost one another?",
    operation: "one block of 4 KiB read by a process while all others read",
    method: "Each process has a file of its own and reads blocks of 4 KiB from the device (O_DIRECT), over and over, in \
             sequence or in random order: all alike, or every second one in random order. They are held at a barrier \
             until all are ready, and go on until they are stopped; what is counted lies between two moments at which all of \
             them run. Each tells when it completed how many blocks; its time for a block is the time between two \
             completions over the blocks between them, and the mean over processes is the observation. The rate of \
             all together is the sum of their rates, over the same time. Fairness is told as the share by which the slowest process's \
             rate lies below the mean one.\n\nThe slope along the number of processes is fitted by least squares \
             with its interval; two lines that meet are fitted as well, and preferred where the data prefer them.",
    caveats: "The files are small, and lie close together on a disk that turns: far apart, seeks would be longer. In `all \
              sequential` the device sees the blocks of many files interleaved, which is not a sequence to it.",
    version: 1,
    parameters: &[PATTERN, FIGURE, FILE, PROCESSES],
    trends: &[Trend { along: "processes", step: 1.0, slope: "per process" }],
};

const ALL_SEQUENTIAL: &str = "all sequential";
const ALL_RANDOM: &str = "all random";
const SEQUENTIAL_AMONG: &str = "sequential among mixed";
const RANDOM_AMONG: &str = "random among mixed";
const PATTERNS: [&str; 4] = [ALL_SEQUENTIAL, ALL_RANDOM, SEQUENTIAL_AMONG, RANDOM_AMONG];
const EACH: &str = "each process";
const TOGETHER: &str = "all together";
const UNFAIRNESS: &str = "slowest behind the mean";

const BLOCK: u64 = 4096;
/// A thousand blocks, as in report 000.
const USUAL_FILE: u64 = 1000 * BLOCK;
/// Other sizes, for a thorough run: whether the knee moves with them (R-FS-33).
const OTHER_FILES: [u64; 2] = [1 << 20, 64 << 20];
const COUNTS: [u64; 11] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 50];
const QUICK_COUNTS: [u64; 5] = [1, 2, 4, 8, 32];
/// Of the other sizes.
const FEW_COUNTS: [u64; 5] = [1, 2, 4, 8, 16];

impl Experiment for Contention {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn main_figures(&self) -> &'static [MainFigure] {
        const {
            &[
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
            ]
        }
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        self.sweep_for(machine, &Asked::default())
    }

    /// With numbers of processes that were asked for these and no others.
    fn sweep_for(&self, _: &Machine, asked: &Asked) -> Vec<Point> {
        let given = asked.processes.as_slice();
        let counts = |usual: &'static [u64]| if given.is_empty() { usual.to_vec() } else { given.to_vec() };
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

    fn effort(&self, point: &Point) -> Effort {
        let (count, pattern) = (point.number(&PROCESSES), point.name(&PATTERN));
        let ours = COUNTS.contains(&count);
        match point.name(&FIGURE) {
            _ if point.number(&FILE) != USUAL_FILE => Effort::Thorough,
            // Numbers that are not in the usual sweep were asked for.
            _ if !ours => Effort::Quick,
            EACH if QUICK_COUNTS.contains(&count) && [ALL_SEQUENTIAL, ALL_RANDOM].contains(&pattern) => {
                Effort::Quick
            }
            TOGETHER if [8, 32].contains(&count) => Effort::Quick,
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
        Ok(predicted(point, known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let (soonest, because) = device_facts::soonest_answer(known)?;
        let limit = match point.name(&FIGURE) {
            EACH => soonest,
            TOGETHER => point.number(&PROCESSES) as f64 * BLOCK as f64 * 1e9 / soonest,
            _ => return None,
        };
        let because = format!("each process waits for one block before it asks for the next: {because}");
        Some(Bound { limit, because })
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        point.ensure_variant(&PATTERN, &PATTERNS)?;
        let members: Vec<Member> =
            (0..point.number(&PROCESSES)).map(|number| member(point, number)).collect();
        let timed: Vec<usize> = (0..members.len()).filter(|number| is_timed(point, *number)).collect();
        let fleet = Rc::new(RefCell::new(Fleet::start(&members, site)?));
        let (watched, mut asked) = (Rc::clone(&fleet), false);
        let observe = move || {
            // The untimed first observation lets all get under way.
            let whole = std::mem::replace(&mut asked, true);
            let seen = fleet.borrow_mut().watch(if whole { 1.0 } else { 0.2 }, site)?;
            let mine: Vec<Progress> = timed.iter().map(|number| seen[*number]).collect();
            Ok(figures(&mine))
        };
        Ok(Workload::figures(observe).witnessed(move || watched.borrow().account()))
    }

    fn evidence(&self, point: &Point, seen: &Observed) -> Vec<Check> {
        let (device, read) = (seen.witness(Fleet::SERVED), seen.witness(Fleet::READ));
        let claim = "every block came from the device: bytes that the kernel accounts to the processes per byte they read";
        let served = match (device, read) {
            (Some(device), Some(read)) if read > 0.0 => {
                // At either end of an observation each process has one block under way.
                let under_way = (seen.trials * point.number(&PROCESSES) * BLOCK) as f64 / read;
                Check::within(claim, device / read, 0.98 - under_way, 1.02 + under_way)
            }
            _ => Check::missing(claim),
        };
        let all = "all processes read all the time: fewest blocks of one of them in an observation, mean over trials";
        let fewest = seen.witness(Fleet::FEWEST);
        vec![
            served,
            fewest
                .map_or_else(|| Check::missing(all), |fewest| Check::within(all, fewest, 1.0, f64::INFINITY)),
        ]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let grows = PATTERNS.into_iter().filter_map(|pattern| growth(pattern, known));
        let rates = [ALL_SEQUENTIAL, ALL_RANDOM].into_iter().filter_map(|pattern| best_rate(pattern, known));
        grows.chain(rates).collect()
    }

    /// A disk that turns needs half a second for every block of fifty processes; files are made in the first trial.
    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_mins(1)
    }
}

fn point(pattern: &str, figure: &str, file: u64, processes: u64) -> Point {
    let point = Point::at(Placement::Free).named(&PATTERN, pattern).named(&FIGURE, figure);
    point.with(&FILE, file).with(&PROCESSES, processes)
}

/// Every second process of a mixture reads in random order; the first in sequence.
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
        SEQUENTIAL_AMONG => number.is_multiple_of(2),
        RANDOM_AMONG => !number.is_multiple_of(2),
        _ => true,
    }
}

/// What can be told of processes that were watched together.
fn figures(seen: &[Progress]) -> Vec<FigureValue> {
    let told = [(EACH, each(seen)), (TOGETHER, together(seen)), (UNFAIRNESS, unfairness(seen))];
    told.into_iter().filter_map(|(figure, value)| Some((figure, value?))).collect()
}

/// Nanoseconds for a block, mean over the processes.
fn each(seen: &[Progress]) -> Option<f64> {
    let times: Vec<f64> = seen.iter().filter_map(|one| Some(1.0 / one.blocks_per_ns()?)).collect();
    (times.len() == seen.len()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

/// Bytes a second of all.
fn together(seen: &[Progress]) -> Option<f64> {
    let rates: Vec<f64> = seen.iter().filter_map(Progress::blocks_per_ns).collect();
    (rates.len() == seen.len()).then(|| rates.iter().sum::<f64>() * BLOCK as f64 * 1e9)
}

/// By how many millionths of the mean rate the slowest lies below it.
fn unfairness(seen: &[Progress]) -> Option<f64> {
    let rates: Vec<f64> = seen.iter().filter_map(Progress::blocks_per_ns).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    (rates.len() == seen.len()).then(|| (1.0 - slowest / mean) * 1e6)
}

/// What one process alone needs, and what it waits for the others: as long as this run has found requests to wait when one
/// process has as many in flight. Before that was found the device is assumed to serve 8 at once.
fn predicted(point: &Point, known: &Known) -> Prediction {
    let processes = point.number(&PROCESSES);
    let (what, alone) = alone(point, known);
    let waiting = read::waiting(processes, known).unwrap_or_else(|| {
        let lines = (processes as f64 / AT_ONCE).max(1.0);
        Basis { value: (lines - 1.0) * alone.value, source: alone.source.clone() }
    });
    match point.name(&FIGURE) {
        UNFAIRNESS => Prediction::new().software(
            "one standard deviation of what chance alone leaves, of some hundred blocks each",
            1.0,
            Basis::published(
                0.1e6,
                "one over the root of the blocks counted, as they come by chance (Poisson)",
            ),
        ),
        TOGETHER => together_at(processes as f64, what, alone, waiting),
        _ if waiting.value <= 0.0 => Prediction::new().hardware(what, 1.0, alone),
        _ => {
            let behind = format!("waiting for the others, as with {processes} in flight");
            Prediction::new().hardware(what, 1.0, alone).hardware(&behind, 1.0, waiting)
        }
    }
}

/// Requests that a device is assumed to serve at once where nothing was found.
const AT_ONCE: f64 = 8.0;

/// The rate of so many processes, less what they lose by waiting for one another.
fn together_at(processes: f64, what: &str, alone: Basis, waiting: Basis) -> Prediction {
    let rate = |ns: f64| processes * BLOCK as f64 * 1e9 / ns;
    let (unhindered, reached) = (rate(alone.value), rate(alone.value + waiting.value));
    let unhindered = Basis { value: unhindered, source: alone.source };
    let prediction = Prediction::new().hardware(&format!("{what}, as a rate, of all"), 1.0, unhindered);
    if waiting.value <= 0.0 {
        return prediction;
    }
    let lost = Basis { value: reached - rate(alone.value), source: waiting.source };
    prediction.hardware("less waiting for one another, as with as many in flight", 1.0, lost)
}

fn alone(point: &Point, known: &Known) -> (&'static str, Basis) {
    let random = [ALL_RANDOM, RANDOM_AMONG].contains(&point.name(&PATTERN));
    let direct = read::direct_point(random);
    let device = if random { device_facts::random_read(known) } else { device_facts::sequential_read(known) };
    (
        "one block of one process alone",
        match known.median("filesystem/read", &direct) {
            Some(_) => known.measured_or("filesystem/read", &direct, 0.0, ""),
            None => device,
        },
    )
}

/// How a block's time grows with the processes: one line, or two that meet; and how that compares with a device that serves
/// one process after the other, where each further one adds what one alone takes.
fn growth(pattern: &str, known: &Known) -> Option<Finding> {
    let group = point(pattern, EACH, USUAL_FILE, 1);
    let found = known.along(ABOUT.name, &group, &PROCESSES);
    let curve: Vec<(f64, f64)> = found.into_iter().map(|(processes, ns)| (processes as f64, ns)).collect();
    let (told, slope) = match two_segments(&curve) {
        Some(two) => two_lines(pattern, &two),
        None => one_line(pattern, known.line(ABOUT.name, &group, &PROCESSES)?),
    };
    let serial = serial(pattern, slope, known).unwrap_or_default();
    Some(Finding::of(Question::Contention, said![capital(pattern), ": a block costs ", told, ".", serial]))
}

fn time(value: f64) -> Found {
    Found::bare(value, Dimension::Of(Unit::Nanoseconds))
}

/// Of two lines the slopes have no intervals: where they meet was searched for.
fn two_lines(pattern: &str, two: &Segments) -> (Statement, Found) {
    let (before, after) = (time(two.slope_before), time(two.slope_after));
    let knee = Found::bare(two.break_at, Dimension::Count);
    let told = said![
        before.named(&format!("{pattern}, each further process, first")),
        " for every further process up to ",
        knee.named(&format!("{pattern}, processes at the knee")),
        " processes, and ",
        after.named(&format!("{pattern}, each further process, beyond")),
        " beyond; two lines fit better than one"
    ];
    (told, after)
}

fn one_line(pattern: &str, (slope, besides): (Found, Found)) -> (Statement, Found) {
    let told = said![
        slope.named(&format!("{pattern}, each further process")),
        " for every further process, and ",
        besides.named(&format!("{pattern}, besides")),
        " besides; one line suffices"
    ];
    (told, slope)
}

/// A slope as a share of what one process alone takes for a block.
fn serial(pattern: &str, slope: Found, known: &Known) -> Option<Statement> {
    let alone = known.found(ABOUT.name, &point(alike(pattern), EACH, USUAL_FILE, 1))?;
    let share = slope.share_of(alone);
    let serial = match share.interval {
        Some(ends) if ends.contains(1.0) => ", which is served one after the other",
        Some(ends) if ends.high < 1.0 => ": the device serves several at once",
        Some(_) => ": they hinder one another more than by waiting in line",
        None => "",
    };
    Some(said![
        " A further process adds ",
        share.named(&format!("{pattern}, slope over one process alone")),
        " of what one alone takes (",
        alone.named(&format!("{pattern}, one process alone")),
        ")",
        serial,
        "."
    ])
}

/// One process alone reads in its own order: the mixtures have no point of one.
fn alike(pattern: &str) -> &str {
    match pattern {
        SEQUENTIAL_AMONG => ALL_SEQUENTIAL,
        RANDOM_AMONG => ALL_RANDOM,
        pattern => pattern,
    }
}

fn best_rate(pattern: &str, known: &Known) -> Option<Finding> {
    let found = known.found_along(ABOUT.name, &point(pattern, TOGETHER, USUAL_FILE, 1), &PROCESSES);
    let (_, one) = found.iter().find(|(processes, _)| *processes == 1)?;
    let (processes, best) = found.iter().max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))?;
    Some(Finding::of(
        Question::Contention,
        said![
            format!("{}: together they read most, ", capital(pattern)),
            best.named(&format!("{pattern}, most together")),
            format!(", when there are {processes}; one reads "),
            one.named(&format!("{pattern}, one process's rate")),
            ": ",
            best.times_as("much", *one, &format!("{pattern}, most over one")),
            "."
        ],
    ))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
