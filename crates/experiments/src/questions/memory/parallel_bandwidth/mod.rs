//! How many bytes per second do several cores move together?

mod findings;

use super::bandwidth::{self, KIND, METHOD};
use crate::apparatus::memory::stream::fleet::{self, Fleet, Streaming, Task};
use crate::apparatus::memory::stream::kernel::{KERNELS, Kernel, Kind, PER_LINE};
use crate::apparatus::memory::stream::working_set::{self, LEVEL, Level, SIZE};
use crate::apparatus::spread_cpus::{cpus, thread_counts};
use crate::expected;
use fathom_core::prelude::*;
use fathom_core::quantities;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

const THREADS: Parameter = Parameter::count("threads", "threads that stream at the same time");

pub struct ParallelBandwidth;

static ABOUT: About = About {
    name: "memory/parallel_bandwidth",
    question: "How many bytes a second do several cores move together?",
    operation: "one byte that any of the threads loads or stores; a copied byte counts twice, as in STREAM",
    method: "Each thread is pinned to its own CPU, one per core before the second hardware threads of cores, and \
             initialises its own arrays, so that on a NUMA machine they are on its node. The threads stream in pieces \
             of 64 KiB from before the first observation until after the last; after each piece a thread records in \
             its own cache line how many bytes it has moved. The measuring thread sleeps for 1 ms and reads all \
             counters and the clock before and after: the rate is the bytes of all threads over the time between. \
             Windows in which a thread moved nothing are counted, as evidence.\n\nAll arrays together are four times \
             the last-level caches of the CPUs in use (at most 2 GiB). The kernels are those of memory/bandwidth with \
             the widest vectors: for reading, and for writing, copying and triads with and without read for ownership \
             (2, 1.5 and 1.33 bytes on the bus for each byte moved, or 1). The same threads run them one after the \
             other, on the same arrays.",
    caveats: "The measuring thread runs on one of the busy CPUs for some microseconds in each window. With a CPU \
              quota below the number of threads, the quota is measured.",
    version: 3,
    timed: Some(TimedCode {
        of: "one of the threads",
        source: include_str!("../../../apparatus/memory/stream/fleet.rs"),
        begins: "fn serve(",
    }),
    parameters: &[KIND, METHOD, LEVEL, SIZE, THREADS],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::leading(
            "read, all cores",
            &[("kind", At::Name("read")), ("threads", At::Most), ("method", At::Best)],
        )
        .called("read memory, all cores"),
        MainFigure::of(
            "write, all cores",
            &[("kind", At::Name("write")), ("threads", At::Most), ("method", At::Best)],
        ),
        MainFigure::of(
            "copy, all cores, each byte counted twice",
            &[("kind", At::Name("copy")), ("threads", At::Most), ("method", At::Best)],
        ),
        MainFigure::of(
            "triad, all cores, all three arrays counted",
            &[("kind", At::Name("triad")), ("threads", At::Most), ("method", At::Best)],
        ),
    ]),
};

/// Time that the measuring thread sleeps between two readings of the counters.
const WINDOW: Duration = Duration::from_millis(1);
/// Bytes that a thread passes over between two counts: about ten microseconds.
const PIECE_BYTES: usize = 64 << 10;
/// Maximum size of the arrays of all threads together, bytes.
const LARGEST: u64 = 2 << 30;

/// Witnessed: threads that moved bytes, summed over windows.
const RUNNING: &str = "threads_running";
/// Witnessed: the fewest bytes that a thread moved, as a share of an equal share, summed over windows.
const LEAST: &str = "least_share_of_an_equal_share";

impl Experiment for ParallelBandwidth {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        self.sweep_for(machine, &SweepOptions::default())
    }

    /// If the memory is limited, also arrays of that size, if they are in memory.
    fn sweep_for(&self, machine: &Machine, options: &SweepOptions) -> Vec<Point> {
        let counts = thread_counts(machine.allowed_cpus().len());
        let of_kernel = |kernel: &'static Kernel| {
            let points = |threads: u64| {
                let sizes = [Some(all_bytes(threads, machine)), within(threads, machine, options)];
                sizes.into_iter().flatten().map(move |size| point(kernel, threads, size))
            };
            counts.iter().copied().flat_map(points).collect::<Vec<_>>()
        };
        let all = counts.last().copied().unwrap_or(1);
        let slower = slower(machine).into_iter().map(|kernel| point(kernel, all, all_bytes(all, machine)));
        kernels(machine).into_iter().flat_map(of_kernel).chain(slower.filter(|_| all > 1)).collect()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let needs = bandwidth::kernel_of(point).ok().and_then(|kernel| kernel.needs);
        let needs = needs.map(Requirement::Instructions).into_iter();
        let cpus = Requirement::Cpus(point.number(&THREADS) as usize);
        needs.chain([cpus, Requirement::MemoryBytes(point.number(&SIZE))]).collect()
    }

    fn effort(&self, point: &Point, machine: &Machine) -> Effort {
        // Reading with one thread is also measured by memory/bandwidth.
        let several = point.name(&KIND) == Kind::Read.name() && point.number(&THREADS) > 1;
        let quick = several && point.name(&METHOD) == expected::stream::reference(machine).method;
        if quick { Effort::Quick } else { Effort::Standard }
    }

    fn unit(&self, _: &Point) -> Unit {
        Unit::BytesPerSecond
    }

    /// The same threads, each with its own arrays, are used for all points with this number of threads.
    fn block(&self, point: &Point) -> Option<String> {
        Some(format!("{} threads", point.number(&THREADS)))
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let kernel = bandwidth::kernel_of(point)?;
        let threads = point.number(&THREADS) as f64;
        let one = one_thread(kernel, known);
        let crossing = kernel.bus_bytes().0;
        let theory = known.machine.memory.theoretical_bandwidth.value();
        if let Some(theory) = theory.filter(|theory| theory.bytes_per_second / crossing < threads * one.value)
        {
            let fact = format!("theoretical bandwidth: {}", theory.formula);
            let all = Basis::fact(theory.bytes_per_second, &fact);
            let what = "the bandwidth of the channels, in bytes on the bus";
            return Ok(Prediction::new().hardware(what, 1.0 / crossing, all));
        }
        let on_bus = kernel.bus_bytes().1;
        if let Some(all) = read_by_all(point, known).filter(|all| all.value / on_bus < threads * one.value) {
            // Of what one thread moves alone the core does not put all these bytes on the bus.
            if let Some(alone) = of_one_thread(kernel, known).filter(|alone| all.value / on_bus < alone.value)
            {
                let what = "what one thread moves alone, more than what as many read together over the bytes on the bus";
                return Ok(Prediction::new().hardware(what, 1.0, alone));
            }
            let what = "what as many threads read together, over the bytes on the bus for each byte";
            return Ok(Prediction::new().hardware(what, 1.0 / on_bus, all));
        }
        let what = of_one("the bandwidth of one thread, up to that of the channels", &one);
        Ok(Prediction::new().hardware(&what, threads, one))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let mut bound = expected::stream::bound(bandwidth::kernel_of(point).ok()?, known);
        bound.limit *= point.number(&THREADS) as f64;
        Some(bound)
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::EveryCpu]
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let kernel = bandwidth::kernel_of(point).map_err(Failure::Unsupported)?;
        point.ensure_variant(&LEVEL, &[Level::Memory.name()])?;
        bandwidth::executable(kernel)?;
        let threads = point.number(&THREADS);
        let bytes = point.number(&SIZE) / threads;
        let cpus = cpus(site, threads as usize)?;
        let fleet = site.shared.get_or_make(|| Fleet::new(&cpus, bytes, site.seed))?;
        let streaming = fleet.stream(Task { kernel, piece_bytes: PIECE_BYTES, pause: 0 })?;
        let stated = streaming.stated(Workload::recorded(|| Ok(None))).stated;
        let windows = Rc::new(Windows::default());
        let counted = Rc::clone(&windows);
        let mut workload = Workload::recorded(move || windows.next(&streaming, site.stopwatch));
        workload.stated = stated;
        Ok(workload.witnessed(move || vec![(RUNNING, counted.running.get()), (LEAST, counted.least.get())]))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let threads = point.number(&THREADS) as f64;

        vec![
            // A host may take a CPU away for a whole window; one in twenty does not change a median.
            Check::witnessed(
                "number of threads that moved bytes, in the mean of all spans of time",
                observed,
                RUNNING,
                0.95 * threads,
                threads,
            ),
            Check::witnessed("the slowest thread's share over an equal share", observed, LEAST, 0.1, 1.0),
            Check::equal(
                "CPUs on which the threads ran: one each",
                observed.witness(fleet::STREAMING_CPUS),
                threads,
            ),
        ]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }
}

/// Cumulative counts over the windows.
#[derive(Default)]
struct Windows {
    running: Cell<f64>,
    least: Cell<f64>,
}

impl Windows {
    /// The rate of all threads together in the next window, bytes per second.
    fn next(&self, streaming: &Streaming, stopwatch: &dyn Stopwatch) -> Result<Option<f64>, Failure> {
        let (before, began) = (streaming.bytes()?, stopwatch.now_ns());
        std::thread::sleep(WINDOW);
        let (after, ended) = (streaming.bytes()?, stopwatch.now_ns());
        let moved: Vec<u64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        let sum = moved.iter().sum::<u64>() as f64;
        let slowest = moved.iter().copied().min().unwrap_or_default() as f64;
        let running = moved.iter().filter(|bytes| **bytes > 0).count() as f64;
        self.running.set(self.running.get() + running);
        self.least.set(self.least.get() + slowest * moved.len() as f64 / sum.max(1.0));
        Ok(Some(sum / (ended - began) * 1e9))
    }
}

fn point(kernel: &Kernel, threads: u64, size: u64) -> Point {
    Point::at(Placement::Spread)
        .named(&KIND, kernel.kind.name())
        .named(&METHOD, kernel.method)
        .named(&LEVEL, Level::Memory.name())
        .with(&SIZE, size)
        .with(&THREADS, threads)
}

/// Four times the last-level caches used by this many threads spread evenly, bytes.
fn all_bytes(threads: u64, machine: &Machine) -> u64 {
    let one = working_set::memory_bytes(machine);
    let cpus = machine.allowed_cpus().len().max(1) as u64;
    let last_levels = machine.last_level_caches_bytes().unwrap_or_default();
    let share = last_levels.saturating_mul(4).saturating_mul(threads) / cpus;
    one.max(share).min(LARGEST)
}

/// The size of all arrays together if the memory is limited, if that is less than usual and the caches of all cores do not hold
/// it.
fn within(threads: u64, machine: &Machine, options: &SweepOptions) -> Option<u64> {
    let most = options.most_bytes.filter(|most| *most < all_bytes(threads, machine))?;
    let cpus = machine.allowed_cpus();
    let second = cpus.first().and_then(|cpu| machine.data_cache_bytes(*cpu, 2)).unwrap_or_default();
    let last = machine.last_level_caches_bytes().unwrap_or_default();
    let counted_on = if machine.is_virtual() { working_set::last_cache_bytes(machine) } else { last };
    working_set::memory_bytes_within(most, counted_on.max(second * cpus.len() as u64))
}

/// The kernels of the threads: the widest vectors, with and without read-for-ownership; else those available.
fn kernels(machine: &Machine) -> Vec<&'static Kernel> {
    let read = expected::stream::reference(machine);
    let around = format!("{} non-temporal", read.method);
    let in_halves = format!("{around}, two halves");
    let of_kind = |(kind, otherwise): (Kind, &str)| {
        let offered = |method: &str| Kernel::find(kind.name(), method);
        let usual = [read.method, &around].map(|method| offered(method).or_else(|| offered(otherwise)));
        usual.into_iter().chain([offered(&in_halves)])
    };
    let written = [(Kind::Write, "memset"), (Kind::Copy, "memcpy"), (Kind::Triad, "compiled loop")];
    let mut kernels = vec![read];
    for kernel in written.into_iter().flat_map(of_kind).flatten() {
        if !kernels.iter().any(|known| std::ptr::eq(*known, kernel)) {
            kernels.push(kernel);
        }
    }
    kernels
}

/// The other methods of reading and writing, which report 003 lists for all cores as well (R-MEM-17); with all threads only.
fn slower(machine: &Machine) -> Vec<&'static Kernel> {
    let usual = kernels(machine);
    let moves_all = |kernel: &&Kernel| {
        [Kind::Read, Kind::Write].contains(&kernel.kind)
            && kernel.method != PER_LINE
            && !usual.iter().any(|known| std::ptr::eq(*known, *kernel))
    };
    KERNELS.iter().filter(moves_all).collect()
}

/// The rate of one thread, from memory/bandwidth at its memory size, else predicted.
pub fn one_thread(kernel: &Kernel, known: &Known) -> Basis {
    if let Some(rate) = of_one_thread(kernel, known) {
        return rate;
    }
    let predicted = {
        let level = Level::Memory;
        expected::stream::predict(kernel, level, bandwidth::reference_rate(kernel, level, known), known)
    };
    let term = &predicted.terms[0];
    match &term.source {
        // What rests on a measurement of the run is not independent of it.
        Source::Measured { experiment, point } => {
            Basis::measured(predicted.total(), experiment, point.clone())
        }
        _ => Basis::published(predicted.total(), &derivation(term)),
    }
}

/// What one thread's rate is, in words: with its derivation where it is derived from a measurement of something else.
pub fn of_one(what: &str, one: &Basis) -> String {
    match &one.source {
        Source::Measured { experiment, .. } if experiment != "memory/bandwidth" => {
            format!("{what}: as many lines as a core keeps in flight, each for one latency")
        }
        _ => what.to_owned(),
    }
}

/// The rate of one thread in memory that was measured in this run.
fn of_one_thread(kernel: &Kernel, known: &Known) -> Option<Basis> {
    known.measured("memory/bandwidth", &bandwidth::point(kernel, working_set::in_memory(known.machine)))
}

/// The rate at which as many threads read arrays of the same size with the widest vectors, the limit of the channels that they show;
/// `None` for that point itself and for others that read.
fn read_by_all(of: &Point, known: &Known) -> Option<Basis> {
    let reading = point(expected::stream::reference(known.machine), of.number(&THREADS), of.number(&SIZE));
    let is_read = of.name(&KIND) == Kind::Read.name();
    known.measured(ABOUT.name, &reading).filter(|_| !is_read && of.number(&THREADS) > 1)
}

/// A term in words, without its rate: it stands beside that of all, which would have another unit.
fn derivation(term: &Term) -> String {
    format!("{} × {}", quantities::plain(term.times), term.what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apparatus::memory::pages::Pages;
    use crate::questions::memory::{load_latency, memory_parallelism};
    use fathom_core::experiment::Ground;

    #[test]
    fn threads_that_did_not_run_all_the_time_are_found_out() {
        let machine = fathom_described::machine();
        let point = point(kernels(&machine)[0], 2, all_bytes(2, &machine));
        let holds = |running: f64, least: f64, cpus: f64| {
            let mut seen = fathom_described::observed(10, [(RUNNING, running), (LEAST, least)]);
            seen.stated.insert(fleet::STREAMING_CPUS.to_owned(), cpus);
            ParallelBandwidth.evidence(&point, &seen).iter().all(|check| check.holds)
        };
        assert!(holds(20.0, 9.0, 2.0));
        assert!(!holds(15.0, 9.0, 2.0), "one of the two stood still in half of the windows");
        assert!(!holds(20.0, 0.5, 2.0), "one of them was starved");
        assert!(!holds(20.0, 9.0, 1.0), "both on one CPU");
    }

    #[test]
    fn several_threads_are_predicted_no_slower_than_one_of_them_alone() {
        let machine = fathom_described::machine();
        let find = |kind: Kind| {
            let on_bus = |kernel: &&&Kernel| kernel.kind == kind && kernel.bus_bytes().1 > 1.0;
            kernels(&machine).into_iter().find(|kernel| on_bus(&kernel)).expect("a kernel")
        };
        let (write, size) = (find(Kind::Write), all_bytes(2, &machine));
        let predicted = |alone: f64| {
            let mut known = Known::new(&machine, None);
            let mut learn = |name: &str, point: Point, value: f64| {
                known.learn(name, &point, Found::bare(value, Unit::BytesPerSecond));
            };
            learn(ABOUT.name, point(expected::stream::reference(&machine), 2, size), 27e9);
            learn("memory/bandwidth", bandwidth::point(write, working_set::in_memory(&machine)), alone);
            ParallelBandwidth.predict(&point(write, 2, size), &known).expect("a prediction").total()
        };
        assert!((predicted(9e9) - 27e9 / write.bus_bytes().1).abs() < 1.0, "a byte written is read as well");
        assert!((predicted(25e9) - 25e9).abs() < 1.0, "one thread alone shows that it is not");
    }

    /// A rate of 64 lines in flight over the run's own latency stood as independent of the run.
    #[test]
    fn what_rests_on_the_runs_own_latency_is_of_this_run() {
        let machine = fathom_described::machine();
        let read = point(kernels(&machine)[0], 2, all_bytes(2, &machine));
        let mut known = Known::new(&machine, None);
        let ground = |known: &Known| ParallelBandwidth.predict(&read, known).expect("a prediction").ground();
        assert_eq!(ground(&known), Ground::Independent);
        let size = memory_parallelism::set_bytes(&machine);
        let latency = load_latency::cycle_point(Pages::Huge, size);
        known.learn("memory/load_latency", &latency, Found::bare(100.0, Unit::Nanoseconds));
        assert_eq!(ground(&known), Ground::ThisRun);
    }
}
