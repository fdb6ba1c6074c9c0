//! What does a load from memory cost while other cores draw bandwidth?

use super::backing::Backing;
use super::chase::cycle;
use super::chase::hierarchy;
use super::chase::walk;
use super::load_latency::{self, SIZE};
use super::memory_parallelism;
use super::pages::Pages;
use super::parallel_bandwidth;
use super::stream::fleet::{Fleet, Task};
use super::stream::kernel::{KERNELS, Kernel, Kind};
use super::stream::prediction;
use super::stream::working_set;
use crate::experiment::{
    About, At, Basis, Bound, Check, Effort, Experiment, Failure, Finding, Known, MainFigure, Observed,
    Parameter, Placement, Point, Prediction, Question, Requirement, Scale, Site, Statement, Stopwatch, Work,
    Workload, said,
};
use crate::machine::Machine;
use crate::quantity::Unit;
use crate::sampling::affinity;
use std::cell::Cell;
use std::rc::Rc;

/// What the other threads do.
const LOAD: Parameter =
    Parameter { name: "load", meaning: "what the other threads do meanwhile", scale: Scale::Name };
/// How much of the time they rest.
const PAUSE: Parameter = Parameter {
    name: "pause",
    meaning: "turns of an empty loop, about a core cycle each, that every other thread rests after each 4 KiB",
    scale: Scale::Count,
};
/// The other threads.
const OTHERS: Parameter =
    Parameter { name: "others", meaning: "other threads, each on a CPU of its own", scale: Scale::Count };
/// Which of the two coordinates of the curve.
const RESULT: Parameter = Parameter {
    name: "result",
    meaning: "latency: of a load; drawn: what the others move meanwhile",
    scale: Scale::Name,
};

const NOTHING: &str = "nothing";
const LATENCY: &str = "latency";
const DRAWN: &str = "drawn";

/// What is timed.
pub struct LoadedLatency;

static ABOUT: About = About {
    name: "memory/loaded_latency",
    question: "What does a load from memory cost while other cores draw bandwidth?",
    operation: "one dependent load; of `drawn`, one byte that the other threads load or store",
    method: "One thread chases pointers through a random cycle of lines on huge pages, too large for the caches, as \
             memory/load_latency does. Every other CPU that this process may use runs a thread that reads or writes \
             arrays of its own with the widest vectors, 4 KiB at a time, and rests after each 4 KiB for some turns of an \
             empty loop: with no rest they draw all that they can. All of them run before the first observation and \
             after the last.\n\nEach setting is visited twice: once the loads are timed, once the bytes that the others \
             moved are counted while the same loads go on, so that latency can be drawn against bandwidth. The trials \
             that time loads count the others' bytes as well, as evidence.",
    caveats: "On few cores the others cannot saturate memory, and the curve ends before its knee. What the others draw is \
              counted in bytes of the program; writes move twice that on the bus.",
    version: 1,
    parameters: &[LOAD, PAUSE, OTHERS, SIZE, RESULT],
    trends: &[],
};

/// Rests of readers and of writers.
const READERS_PAUSE: [u64; 4] = [4096, 1024, 256, 0];
const WRITERS_PAUSE: [u64; 2] = [1024, 0];
/// What another thread moves before it rests and counts.
const PIECE_BYTES: u64 = 4096;

/// Witnessed: bytes that the others have moved, and nanoseconds since some moment.
const MOVED: &str = "bytes_moved_by_others";
const PASSED: &str = "nanoseconds_meanwhile";
/// Witnessed: threads that moved bytes, window by window.
const DRAWING: &str = "threads_drawing";

impl Experiment for LoadedLatency {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn main_figures(&self) -> &'static [MainFigure] {
        const {
            &[
                MainFigure::of("idle memory", &[("load", At::Name("nothing"))]),
                MainFigure::of(
                    "while others read at full speed",
                    &[("load", At::Name("read")), ("result", At::Name("latency")), ("pause", At::Least)],
                ),
            ]
        }
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        let settings = settings().into_iter();
        settings
            .flat_map(|(load, pause)| results(load).iter().map(move |result| (load, pause, *result)))
            .map(|(load, pause, result)| point(load, pause, result, machine))
            .collect()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let others = working_set::SMALLEST.max(point.number(&SIZE));
        vec![Requirement::Cpus(2), Requirement::MemoryBytes(point.number(&SIZE) + others)]
    }

    fn effort(&self, point: &Point) -> Effort {
        let ends = point.name(&LOAD) != Kind::Write.name() && point.number(&PAUSE) == 0;
        let some_writing = point.name(&LOAD) == Kind::Write.name() && point.number(&PAUSE) > 0;
        match () {
            () if ends => Effort::Quick,
            () if some_writing => Effort::Thorough,
            () => Effort::Standard,
        }
    }

    fn unit(&self, point: &Point) -> Unit {
        if point.name(&RESULT) == DRAWN { Unit::BytesPerSecond } else { Unit::Nanoseconds }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let busy = busy_share(point, known);
        if point.name(&RESULT) == DRAWN {
            let kernel = kernel(point.name(&LOAD), known.machine).ok_or("there is no such load")?;
            let one = parallel_bandwidth::one_thread(kernel, known);
            let what = "what one thread alone moves, for the share of the time in which it does not rest";
            return Ok(Prediction::new().hardware(what, busy * point.number(&OTHERS) as f64, one));
        }
        let size = point.number(&SIZE);
        let modelled = hierarchy::answered(Prediction::new(), known, size as f64).total();
        let idle = known.measured_or(
            "memory/load_latency",
            &load_latency::cycle_point(Pages::Huge, size),
            modelled,
            "the loads of this set as declared sizes and published latencies give them",
        );
        let queue = Basis::published(
            idle.value,
            "near saturation a load takes about twice as long as in an idle memory (Esmaili-Dokht et al. 2024)",
        );
        let prediction = Prediction::new().hardware("a load while nobody else uses memory", 1.0, idle);
        Ok(if busy > 0.0 {
            prediction.hardware("waiting behind the others' lines", busy, queue)
        } else {
            prediction
        })
    }

    fn against(&self, point: &Point) -> Option<Point> {
        let drawn = point.clone().named(&RESULT, DRAWN);
        (point.name(&RESULT) == LATENCY && point.name(&LOAD) != NOTHING).then_some(drawn)
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        if point.name(&RESULT) == LATENCY {
            let because = "a load that depends on another takes two cycles at least".to_owned();
            return Some(Bound { limit: 2.0 * known.shortest_cycle(), because });
        }
        let mut bound = prediction::bound(kernel(point.name(&LOAD), known.machine)?, known);
        bound.limit *= point.number(&OTHERS) as f64;
        Some(bound)
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let cpus = parallel_bandwidth::cpus(site, point.number(&OTHERS) as usize + 1)?;
        affinity::pin(cpus[0])?;
        let bytes = point.number(&SIZE) as usize;
        let walk = walk::one(load_latency::random_cycle(bytes, Pages::Huge, site)?, bytes, false);
        let others = start(point, &cpus[1..], site)?;
        if point.name(&RESULT) == LATENCY {
            return Ok(meanwhile(walk, others, site.stopwatch));
        }
        counting(walk, others.ok_or_else(|| Failure::Broke("nothing is drawn".to_owned()))?, site.stopwatch)
    }

    fn evidence(&self, point: &Point, seen: &Observed) -> Vec<Check> {
        let mut checks = Backing::evidence(true, seen);
        checks.push(cycle::whole(seen));
        checks.extend(cycle::unpredictable(seen));
        if point.name(&RESULT) == LATENCY {
            checks.extend(walk::evidence(seen, walk::UNROLLED_MOST));
            checks.push(drawn_evidence(point.name(&LOAD) != NOTHING, seen));
        } else {
            let (claim, others) =
                ("other threads that moved bytes, in the average window", point.number(&OTHERS));
            checks.push(Check::witnessed(claim, seen, DRAWING, 0.95 * others as f64, others as f64));
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let idle = known.found(ABOUT.name, &point(NOTHING, 0, LATENCY, known.machine));
        let Some(idle) = idle else { return vec![] };
        let told = |(load, pause): &(&'static str, u64)| {
            let found = |result| known.found(ABOUT.name, &point(load, *pause, result, known.machine));
            let (latency, drawn) = (found(LATENCY)?, found(DRAWN)?);
            let setting = format!("{load}, pause {pause}");
            Some(said![
                latency.named(&format!("load, {setting}")),
                " while others draw ",
                drawn.named(&format!("drawn, {setting}")),
                format!(" ({load}), "),
                latency.times_as("long", idle, &format!("loaded over idle, {setting}"))
            ])
        };
        let told = Statement::joined(settings().iter().filter_map(told).collect(), "; ");
        let said = |told| {
            said!["A load takes ", idle.named("load, idle"), " while nobody else uses memory; ", told, "."]
        };
        told.map(|told| Finding::of(Question::Experiment, said(told))).into_iter().collect()
    }
}

/// What the others do, and how long they rest: from nothing to all they can.
fn settings() -> Vec<(&'static str, u64)> {
    let reading = READERS_PAUSE.map(|pause| (Kind::Read.name(), pause));
    let writing = WRITERS_PAUSE.map(|pause| (Kind::Write.name(), pause));
    [(NOTHING, 0)].into_iter().chain(reading).chain(writing).collect()
}

/// The coordinates of a setting: where nothing runs, nothing is drawn.
fn results(load: &str) -> &'static [&'static str] {
    if load == NOTHING { &[LATENCY] } else { &[LATENCY, DRAWN] }
}

fn point(load: &str, pause: u64, result: &str, machine: &Machine) -> Point {
    let others = machine.allowed_cpus().len().saturating_sub(1).max(1) as u64;
    Point::at(Placement::Spread)
        .named(&LOAD, load)
        .with(&PAUSE, pause)
        .with(&OTHERS, if load == NOTHING { 0 } else { others })
        .with(&SIZE, memory_parallelism::set_bytes(machine))
        .named(&RESULT, result)
}

/// What the others run: the widest vectors.
fn kernel(load: &str, machine: &Machine) -> Option<&'static Kernel> {
    let widest = prediction::reference(machine).method;
    KERNELS.iter().find(|kernel| kernel.kind.name() == load && kernel.method == widest)
}

/// The share of the time in which the others do not rest.
fn busy_share(point: &Point, known: &Known) -> f64 {
    let Some(kernel) = kernel(point.name(&LOAD), known.machine) else { return 0.0 };
    let piece_ns = PIECE_BYTES as f64 / parallel_bandwidth::one_thread(kernel, known).value * 1e9;
    let rest_ns = point.number(&PAUSE) as f64 * known.cycle().value;
    piece_ns / (piece_ns + rest_ns)
}

/// The other threads at work; `None` where there are none.
fn start(point: &Point, cpus: &[usize], site: &Site) -> Result<Option<Fleet>, Failure> {
    if cpus.is_empty() {
        return Ok(None);
    }
    let load = point.name(&LOAD);
    // The widest kernel that this CPU executes is the one that the machine's description offers.
    let of_kind = KERNELS.iter().filter(|kernel| kernel.kind.name() == load && kernel.runs_here());
    let widest =
        of_kind.filter(|kernel| !kernel.is_non_temporal()).max_by_key(|kernel| prediction::width(kernel));
    let kernel = widest.ok_or_else(|| Failure::Broke(format!("there is no load called {load}")))?;
    let bytes = working_set::SMALLEST.max(point.number(&SIZE)) / cpus.len() as u64;
    let task = Task { kernel, bytes, piece_bytes: PIECE_BYTES as usize, pause: point.number(&PAUSE) };
    Fleet::start(cpus, task, site.seed).map(Some)
}

/// The walk, with what the others move meanwhile counted.
fn meanwhile<'site>(
    mut walk: Workload<'site>,
    others: Option<Fleet>,
    stopwatch: &'site dyn Stopwatch,
) -> Workload<'site> {
    let mut of_walk = walk.witness.take();
    walk.witnessed(move || {
        let mut counts = of_walk.as_mut().map(|count| count()).unwrap_or_default();
        // Of threads that have failed no bytes are told, and the evidence does not hold.
        let moved = others.as_ref().and_then(|others| others.bytes().ok()).unwrap_or_default();
        counts.push((MOVED, moved.iter().sum::<u64>() as f64));
        counts.push((PASSED, stopwatch.now_ns()));
        counts
    })
}

/// Iterations of the walk, of 64 loads each, in one window: half a millisecond to one.
const WINDOW_ITERATIONS: u64 = 64;

/// What the others move while the walk goes on, bytes per second.
fn counting<'site>(
    walk: Workload<'site>,
    others: Fleet,
    stopwatch: &'site dyn Stopwatch,
) -> Result<Workload<'site>, Failure> {
    let Work::Timed { operation: mut walking, .. } = walk.work else {
        return Err(Failure::Broke("a walk that is not timed".to_owned()));
    };
    let drawing = Rc::new(Cell::new(0.0));
    let counted_drawing = Rc::clone(&drawing);
    let window = move || {
        let (before, began) = (others.bytes()?, stopwatch.now_ns());
        walking.run(WINDOW_ITERATIONS)?;
        let (after, ended) = (others.bytes()?, stopwatch.now_ns());
        let moved = || after.iter().zip(&before).map(|(after, before)| after - before);
        drawing.set(drawing.get() + moved().filter(|bytes| *bytes > 0).count() as f64);
        Ok(Some(moved().sum::<u64>() as f64 / (ended - began) * 1e9))
    };
    let mut counted = Workload::recorded(window).witnessed(move || vec![(DRAWING, counted_drawing.get())]);
    counted.stated = walk.stated;
    Ok(counted)
}

fn drawn_evidence(loaded: bool, seen: &Observed) -> Check {
    let claim = "GB/s that the others moved during these observations";
    match (seen.witness(MOVED), seen.witness(PASSED)) {
        (Some(bytes), Some(ns)) if ns > 0.0 => {
            let (low, high) = if loaded { (0.01, 1e4) } else { (0.0, 0.0) };
            Check::within(claim, bytes / ns, low, high)
        }
        _ => Check::missing(claim),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_others_draw_must_be_what_the_point_says() {
        let drawn = |loaded: bool, bytes: f64| {
            let mut seen = Observed::default();
            seen.witnessed.extend([(MOVED.to_owned(), bytes), (PASSED.to_owned(), 1e6)]);
            drawn_evidence(loaded, &seen).holds
        };
        assert!(drawn(true, 1e7) && drawn(false, 0.0));
        assert!(!drawn(true, 0.0), "threads that stood still are no load");
        assert!(!drawn(false, 1e7), "somebody drew where nobody should");
        assert!(!drawn_evidence(true, &Observed::default()).holds, "not counted");
    }
}
