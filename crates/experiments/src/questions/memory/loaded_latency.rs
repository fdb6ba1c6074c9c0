//! What is the latency of memory while other cores use its bandwidth?

use super::load_latency::{self, SIZE};
use super::{memory_parallelism, parallel_bandwidth};
use crate::apparatus::memory::backing::Backing;
use crate::apparatus::memory::chase::{cycle, walk};
use crate::apparatus::memory::pages::Pages;
use crate::apparatus::memory::stream::drawn::{self, DRAWN, LATENCY};
use crate::apparatus::memory::stream::fleet::{Fleet, Streaming, Task};
use crate::apparatus::memory::stream::kernel::{KERNELS, Kernel, Kind};
use crate::apparatus::memory::stream::working_set::{self, LEVEL, Level};
use crate::apparatus::spread_cpus;
use crate::expected;
use crate::expected::hierarchy;
use fathom_core::prelude::*;
use fathom_core::sampling::affinity;
use fathom_core::sorting;

const LOAD: Parameter = Parameter::of(
    "load",
    "what the other threads do meanwhile",
    &[NOTHING, Kind::Read.name(), Kind::Write.name()],
);
const DELAY: Parameter = Parameter::count(
    "delay",
    "empty iterations of other threads after each 4 KiB; 0: none, and 64 KiB at a time",
);
const LOAD_THREADS: Parameter = Parameter::count("load_threads", "other threads, each on its own CPU");
const FIGURE: Parameter = Parameter::named(
    "figure",
    "latency: of a load; drawn: the bandwidth that the other threads use meanwhile",
);

const NOTHING: &str = "nothing";

pub struct LoadedLatency;

static ABOUT: About = About {
    name: "memory/loaded_latency",
    question: "What is the latency of memory while other cores use its bandwidth?",
    operation: "one dependent load; for `drawn`, one byte that the other threads load or store",
    method: "One thread chases pointers through a random cycle of lines on huge pages, too large for the caches, as \
             in memory/load_latency. Every other CPU that this process may use runs a thread that reads or writes its \
             own arrays with the widest vectors, 4 KiB at a time, and pauses after each 4 KiB for some iterations of \
             an empty loop; without a pause they go through 64 KiB at a time and use all the bandwidth they can (after \
             4 KiB a core's loads begin again, and it would draw as little as half). All of them run from before the \
             first observation until after the last. Every thread, including the chase, is pinned to its own CPU \
             and records on which CPU it ran.\n\nAn observation is a window of 4096 loads. Its time divided by the \
             number of loads is the latency; the bytes that the others moved in the window divided by the same time \
             are their bandwidth. So both coordinates of the curve come from the same windows. Beside others they are \
             observed once their cost is steady: for some ten milliseconds after the others begin, a load takes up to \
             half as long again.",
    caveats: "On few cores the others cannot saturate memory, and the curve ends before its knee. The bandwidth of \
              the others is counted in bytes of the program; for writes the bus moves twice as much.",
    version: 4,
    timed: Some(TimedCode {
        of: "the chase",
        source: crate::arch::CHASE_SOURCE,
        begins: "pub unsafe fn chase(",
    }),
    parameters: &[LOAD, DELAY, LOAD_THREADS, LEVEL, SIZE, FIGURE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of("idle memory", &[("load", At::Name("nothing"))]),
        MainFigure::of(
            "while others read at full speed",
            &[("load", At::Name("read")), ("figure", At::Name("latency")), ("delay", At::Least)],
        ),
    ])
    .clauses(&[Clause::of("what a load takes while others read at full speed", |point, _| {
        point.name(&LOAD) == Kind::Read.name() && point.number(&DELAY) == 0
    })
    .at_each_distance()])
    .against(against),
};

/// Pauses of readers and of writers.
const READERS_PAUSE: [u64; 4] = [4096, 1024, 256, 0];
const WRITERS_PAUSE: [u64; 2] = [1024, 0];
/// Bytes that another thread moves before it pauses and counts: few, so that a slow stream is an even one.
const PIECE_BYTES: u64 = 4096;
/// Bytes before it counts where it does not pause: so many that beginning again takes no time that shows.
const LONG_PIECE_BYTES: u64 = 64 << 10;

impl Experiment for LoadedLatency {
    fn about(&self) -> &'static About {
        &ABOUT
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

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        let ends = point.name(&LOAD) != Kind::Write.name() && point.number(&DELAY) == 0;
        let some_writing = point.name(&LOAD) == Kind::Write.name() && point.number(&DELAY) > 0;
        match () {
            () if ends => Effort::Quick,
            () if some_writing => Effort::Thorough,
            () => Effort::Standard,
        }
    }

    fn unit(&self, point: &Point) -> Unit {
        if point.name(&FIGURE) == DRAWN { Unit::BytesPerSecond } else { Unit::Nanoseconds }
    }

    /// All loads use the same chase, and the same threads with their arrays.
    fn block(&self, _: &Point) -> Option<String> {
        Some("all loads".to_owned())
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let size = point.number(&SIZE);
        let modelled =
            hierarchy::answered(Prediction::new(), known, size as f64, Pages::Huge.bytes() as u64).total();
        let idle = known.measured_or(
            "memory/load_latency",
            &load_latency::cycle_point(Pages::Huge, size),
            modelled,
            "the loads of this set as declared sizes and published latencies give them",
        );
        let busy = busy_share(point, idle.value, known);
        if point.name(&FIGURE) == DRAWN {
            let kernel =
                kernel(point.name(&LOAD), known.machine).ok_or("there is no such background load")?;
            let one = parallel_bandwidth::one_thread(kernel, known);
            let what = "the bandwidth of one thread alone, for the share of time in which it neither pauses nor, after a pause, waits for \
                        the first line";
            let what = parallel_bandwidth::of_one(what, &one);
            return Ok(Prediction::new().hardware(&what, busy * point.number(&LOAD_THREADS) as f64, one));
        }
        let queue = Basis::published(
            idle.value,
            "near saturation a load takes about twice as long as in an idle memory (Esmaili-Dokht et al. 2024)",
        );
        let prediction = Prediction::new().hardware("a load while no other core uses memory", 1.0, idle);
        Ok(if busy > 0.0 {
            prediction.hardware("waiting in the queue behind the others' lines", busy, queue)
        } else {
            prediction
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        if point.name(&FIGURE) == LATENCY {
            let because = "a dependent load takes at least two cycles".to_owned();
            return Some(Bound::of(2.0 * known.shortest_cycle(), because));
        }
        let mut bound = expected::stream::bound(kernel(point.name(&LOAD), known.machine)?, known);
        bound.limit *= point.number(&LOAD_THREADS) as f64;
        Some(bound)
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        point.ensure_variant(&LEVEL, &[Level::Memory.name()])?;
        let cpus = spread_cpus::cpus(site, point.number(&LOAD_THREADS) as usize + 1)?;
        affinity::pin(cpus[0])?;
        let bytes = point.number(&SIZE) as usize;
        let cycle = site.shared.get_or_make(|| load_latency::random_cycle(bytes, Pages::Huge, site))?;
        let others = start(point, &cpus[1..], site)?;
        let is_loaded = others.is_some();
        Ok(drawn::windows(walk::one(cycle, bytes, false), others, site.stopwatch)?.settling(is_loaded))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let mut checks = Backing::evidence(true, observed);
        checks.push(cycle::whole(observed));
        checks.extend(cycle::unpredictable(observed));
        checks.extend(drawn::evidence(point.number(&LOAD_THREADS), observed));
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        latencies(known).into_iter().collect()
    }
}

/// The latency beside one load of the other threads, and what they drew.
struct LoadedLoad {
    load: &'static str,
    pause: u64,
    latency: Found,
    drawn: Found,
}

impl LoadedLoad {
    fn of(load: &'static str, pause: u64, known: &Known) -> Option<Self> {
        let measured = |result| known.found(ABOUT.name, &point(load, pause, result, known.machine));
        Some(LoadedLoad { load, pause, latency: measured(LATENCY)?, drawn: measured(DRAWN)? })
    }

    /// The name of its settings.
    fn setting(&self) -> String {
        format!("{}, pause {}", self.load, self.pause)
    }

    /// Its traffic, to be named once more: without the interval that was told.
    fn place(&self) -> Found {
        if self.drawn.states.is_some() {
            self.drawn
        } else {
            Found::bare(self.drawn.value, self.drawn.dimension)
        }
    }

    fn takes_longer_than(&self, other: &Found) -> bool {
        let both_of_one = self.latency.is_of_one_state() && other.is_of_one_state();
        let is_longer = self.latency.value > other.value;
        both_of_one && is_longer && self.latency.differs_in_one_core_state(other) == Some(true)
    }

    fn statement(&self, idle: Found) -> Statement {
        let setting = self.setting();
        let times = self.takes_longer_than(&idle).then(|| {
            let ratio = self.latency.over(idle).named(&format!("loaded over idle, {setting}"));
            statement!(", {ratio} times as long as in idle memory", ratio)
        });
        statement!(
            "{drawn} {latency}{times}",
            drawn = self.drawn.named(&format!("drawn, {setting}")),
            latency = self.latency.named(&format!("load, {setting}")),
            times
        )
    }
}

/// The latency beside every load, and from which traffic on it is longer than at the lowest.
fn latencies(known: &Known) -> Option<Finding> {
    let idle = known.found(ABOUT.name, &point(NOTHING, 0, LATENCY, known.machine))?;
    let loads = settings().into_iter().filter_map(|(load, pause)| LoadedLoad::of(load, pause, known));
    let mut loads: Vec<LoadedLoad> = loads.collect();
    sorting::by_number(&mut loads, |load| load.drawn.value);
    let beside = |kind: Kind| {
        let mine = loads.iter().filter(|load| load.load == kind.name());
        let loads = Statement::joined(mine.map(|load| load.statement(idle)), ", ")?;
        Some(statement!("beside others that {kind} {loads}", kind = kind.name(), loads))
    };
    let all = Statement::joined([Kind::Read, Kind::Write].into_iter().filter_map(beside), "; ")?;
    Some(finding!(
        Question::Experiment,
        "A load takes {idle} while no other core uses memory; {all}.{longer}{alike}",
        idle = idle.named("load, idle"),
        all,
        longer = longer(idle, &loads),
        alike = STATES
    ))
}

/// From which traffic on a load takes longer than at the lowest latency that is well known, that of the lowest upper end: the idle memory's
/// may be the least known of all.
fn longer(idle: Found, loads: &[LoadedLoad]) -> Option<Statement> {
    let upper =
        |time: &Found| time.ends().filter(|_| time.is_of_one_state()).map_or(f64::INFINITY, |(_, high)| high);
    let lowest = loads.iter().min_by(|one, other| upper(&one.latency).total_cmp(&upper(&other.latency)))?;
    // Beside the idle memory every load is compared already.
    if upper(&idle) <= upper(&lowest.latency) {
        return None;
    }
    let least = lowest.latency;
    let times = [Kind::Read, Kind::Write].into_iter().filter_map(|kind| {
        let mine: Vec<&LoadedLoad> = loads.iter().filter(|load| load.load == kind.name()).collect();
        let as_long = mine.iter().rposition(|load| !load.takes_longer_than(&least));
        let first = mine.get(as_long.map_or(0, |place| place + 1))?;
        // Of one kind of traffic that is always longer it is not known from which on.
        let (from, on) = if as_long.is_some() { ("from", " on") } else { ("beside", "") };
        Some(statement!(
            "{ratio} times as long {from} {drawn}{on} ({kind})",
            ratio = first.latency.over(least).named(&format!("load over the lowest, {}", first.setting())),
            drawn = first.place().named(&format!("drawn, longer than the lowest, {}", first.setting())),
            kind = kind.name()
        ))
    });
    let times = Statement::joined(times, " and ")?;
    Some(statement!(
        " Against the lowest that is well known, beside {drawn} ({kind}), it takes {times}.",
        drawn = lowest.place().named("drawn, lowest latency"),
        kind = lowest.load,
        times
    ))
}

/// Why the traffic is not to be compared with one thread's rate elsewhere.
const STATES: &str = " The traffic is of the widest vectors, whatever else used the cores of its threads: beside it a rate of \
                      memory/bandwidth may be of another method and of another state of its core.";

/// The latency is plotted against the bandwidth that the others drew.
fn against(point: &Point) -> Option<Point> {
    let drawn = point.clone().named(&FIGURE, DRAWN);
    (point.name(&FIGURE) == LATENCY && point.name(&LOAD) != NOTHING).then_some(drawn)
}

/// The activities of the other threads with their pauses, from none to the maximum.
fn settings() -> Vec<(&'static str, u64)> {
    let reading = READERS_PAUSE.map(|pause| (Kind::Read.name(), pause));
    let writing = WRITERS_PAUSE.map(|pause| (Kind::Write.name(), pause));
    [(NOTHING, 0)].into_iter().chain(reading).chain(writing).collect()
}

/// The coordinates of a setting: without other threads nothing is drawn.
fn results(load: &str) -> &'static [&'static str] {
    if load == NOTHING { &[LATENCY] } else { &[LATENCY, DRAWN] }
}

fn point(load: &str, pause: u64, result: &str, machine: &Machine) -> Point {
    let others = machine.allowed_cpus().len().saturating_sub(1).max(1) as u64;
    Point::at(Placement::Spread)
        .named(&LOAD, load)
        .with(&DELAY, pause)
        .with(&LOAD_THREADS, if load == NOTHING { 0 } else { others })
        .named(&LEVEL, Level::Memory.name())
        .with(&SIZE, memory_parallelism::set_bytes(machine))
        .named(&FIGURE, result)
}

/// The kernel of the other threads: the widest vectors.
fn kernel(load: &str, machine: &Machine) -> Option<&'static Kernel> {
    let widest = expected::stream::reference(machine).method;
    KERNELS.iter().find(|kernel| kernel.kind.name() == load && kernel.method == widest)
}

/// The share of the time in which the others stream: they pause, and the first line that they read after a pause takes as long as any
/// load, `idle_ns`, because nothing was requested before it. Stores are not waited for.
fn busy_share(point: &Point, idle_ns: f64, known: &Known) -> f64 {
    let Some(kernel) = kernel(point.name(&LOAD), known.machine) else { return 0.0 };
    let piece_ns = piece_bytes(point) as f64 / parallel_bandwidth::one_thread(kernel, known).value * 1e9;
    let rest_ns = point.number(&DELAY) as f64 * known.cycle().value;
    let begins_again = kernel.kind == Kind::Read && point.number(&DELAY) > 0;
    piece_ns / (piece_ns + rest_ns + if begins_again { idle_ns } else { 0.0 })
}

/// Bytes that another thread moves before it pauses, if it does, and counts.
fn piece_bytes(point: &Point) -> u64 {
    if point.number(&DELAY) > 0 { PIECE_BYTES } else { LONG_PIECE_BYTES }
}

/// Starts the other threads; `None` if there are none.
fn start(point: &Point, cpus: &[usize], site: &Site) -> Result<Option<Streaming>, Failure> {
    if cpus.is_empty() {
        return Ok(None);
    }
    let load = point.name(&LOAD);
    // The widest kernel that this CPU executes is the one offered by the machine's description.
    let of_kind = KERNELS.iter().filter(|kernel| kernel.kind.name() == load && kernel.runs_here());
    let widest = of_kind
        .filter(|kernel| !kernel.is_non_temporal())
        .max_by_key(|kernel| expected::stream::width(kernel));
    let kernel = widest.ok_or_else(|| Failure::Broke(format!("there is no load called {load}")))?;
    let bytes = working_set::SMALLEST.max(point.number(&SIZE)) / cpus.len() as u64;
    let fleet = site.shared.get_or_make(|| Fleet::new(cpus, bytes, site.seed))?;
    let task = Task { kernel, piece_bytes: piece_bytes(point) as usize, pause: point.number(&DELAY) };
    fleet.stream(task).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of an idle latency known to this share, and of loads with their latency and traffic known to one percent.
    fn text(idle: (f64, f64), loads: &[(&'static str, u64, f64, f64)]) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let at = |load, pause, figure| point(load, pause, figure, &machine);
        let (ns, share) = idle;
        let idle = fathom_described::found_within(share, ns, Unit::Nanoseconds);
        known.learn(ABOUT.name, &at(NOTHING, 0, LATENCY), idle);
        for (load, pause, ns, rate) in loads {
            let both = [(at(load, *pause, LATENCY), *ns), (at(load, *pause, DRAWN), *rate)];
            fathom_described::plant(&mut known, &LoadedLatency, both);
        }
        latencies(&known).map(|finding| finding.statement.plain()).unwrap_or_default()
    }

    const READ: &str = Kind::Read.name();
    const WRITE: &str = Kind::Write.name();

    #[test]
    fn a_load_is_compared_with_the_lowest_level_where_idle_memory_is_little_known() {
        let loads = [(READ, 256, 160.0, 6e9), (READ, 1024, 161.0, 4e9), (READ, 0, 200.0, 20e9)];
        let all = [&loads[..], &[(WRITE, 0, 240.0, 23e9)]].concat();
        let said = text((180.0, 0.2), &all);
        assert!(
            said.starts_with(
                "A load takes {180} while no other core uses memory; beside others that read {4000000000} {161}, {6000000000} \
                 {160}, {20000000000} {200}; beside others that write {23000000000} {240}, {1.3333333333333333} times as long \
                 as in idle memory. Against the lowest that is well known, beside {6000000000} (read), it takes \
                 {1.25} times as long from {20000000000} on (read) and {1.5} times as long beside {23000000000} (write)."
            ),
            "{said}"
        );
    }

    #[test]
    fn nothing_is_longer_without_a_significant_difference() {
        let flat = text((165.0, 0.2), &[(READ, 256, 160.0, 6e9), (READ, 0, 161.0, 20e9)]);
        assert!(!flat.contains("times") && !flat.contains("lowest"), "{flat}");
        let dips = text((165.0, 0.2), &[(READ, 1024, 200.0, 4e9), (READ, 0, 160.0, 20e9)]);
        assert!(!dips.contains("lowest"), "not from a traffic on: {dips}");
    }
}
