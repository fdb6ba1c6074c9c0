//! Which CPUs share a core, and how often?

use crate::apparatus::cpu::pairs::{self, FROM, TO};
use fathom_core::prelude::*;
use fathom_core::sampling::{affinity, occupancy, partner};
use fathom_core::statistics;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const FIGURE: Parameter = Parameter::named(
    "figure",
    "the time of an addition while the other CPU is idle or busy, or the share of time in which the other \
              CPU's load slows the additions",
);

pub struct SharedCore;

static ABOUT: About = About {
    name: "cpu/shared_core",
    question: "Which CPUs share a core, and how often?",
    operation: "one addition in a stream of independent additions that fills the core's width",
    method: "A thread on the first CPU times a stream of independent additions and a chain of dependent ones, 64 \
             times, while the other CPU is idle (its thread sleeps), and then while a thread on the other CPU runs \
             such a stream as well; the two states alternate. The stream fills the core's width; the chain needs one \
             unit in every cycle and shows the frequency. If the two CPUs are threads of one core, the stream gets \
             about half of the width while the other CPU is busy. The load counts as slowing the stream where the \
             median quotient of stream over chain is greater by a quarter. The pairs are those of \
             `cpu/core_to_core`.\n\nThe topology that a guest sees may not be the real one, and the host may move its \
             CPUs; so the figure is a share of time. What slows the stream while the other CPU is idle is a hardware \
             thread that this machine does not see.",
    caveats: "A slowdown of less than a quarter is not detected. Nothing is detected while neither CPU has a core to \
              itself, for example on an overcommitted host.",
    version: 1,
    timed: Some(TimedCode {
        of: "times of the stream beside the chain",
        source: include_str!("shared_core.rs"),
        begins: "fn readings(",
    }),
    parameters: &[FROM, TO, FIGURE],
    trends: &[],
    shown: Shown::by(&[]),
};

const IDLE: &str = "other idle";
const WORKING: &str = "other working";
const SLOWED: &str = "slowed";

/// Readings in each half of a window: about 50 µs.
const READINGS: usize = 64;
/// Windows per observation of the share.
const WINDOWS: usize = 8;
/// The growth of the quotient from which a load counts as slowing the stream: two threads that share a core slow each other at
/// least this much on processors with two threads per core (their combined gain is below 1.6), and a core without a load on it
/// varies less.
const SLOWED_FROM: f64 = 1.25;

/// Witnessed: streams that the other side ran while told to work, and while told to be idle.
const WORKED: &str = "streams_of_the_other_while_working";
const RESTED: &str = "streams_of_the_other_while_idle";
/// Stated: whether the other side ran on its CPU.
const ELSEWHERE: &str = "other_on_its_cpu";

impl Experiment for SharedCore {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        self.sweep_for(machine, &SweepOptions::default())
    }

    fn sweep_for(&self, machine: &Machine, options: &SweepOptions) -> Vec<Point> {
        let figures = |pair: Point| [IDLE, WORKING, SLOWED].map(|figure| pair.clone().named(&FIGURE, figure));
        pairs::sweep(machine, options).into_iter().flat_map(figures).collect()
    }

    fn cpus(&self, point: &Point) -> Option<(usize, usize)> {
        Some(pairs::of(point))
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::Cpus(2)]
    }

    fn effort(&self, point: &Point, machine: &Machine) -> Effort {
        pairs::effort(point, machine)
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn unit(&self, point: &Point) -> Unit {
        if point.name(&FIGURE) == SLOWED { Unit::PartsPerMillion } else { Unit::Nanoseconds }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let (from, to) = pairs::of(point);
        let siblings = known.machine.smt_siblings(from).contains(&to);
        if point.name(&FIGURE) == SLOWED {
            if !siblings {
                return Err("the kernel declares that the two CPUs are on different cores, which predicts a share of \
                            zero; measured over predicted is undefined"
                    .to_owned());
            }
            let share = Basis::fact(1e6, "the kernel declares that the two CPUs are threads of one core");
            return Ok(Prediction::new().hardware(
                "the share of time in which they share a core",
                1.0,
                share,
            ));
        }
        let halves = siblings && point.name(&FIGURE) == WORKING;
        let (shared, what) = if halves {
            (2.0, "a cycle for four additions (Fog, Instruction tables), the width halved by a second thread")
        } else {
            (1.0, "a cycle for four additions (Fog, Instruction tables)")
        };
        Ok(Prediction::new().hardware(what, shared / 4.0, known.cycle()))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let because = "no core makes more than twelve additions per cycle".to_owned();
        (point.name(&FIGURE) != SLOWED).then(|| Bound::of(known.shortest_cycle() / 12.0, because))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let other = Arc::new(CoreLoad::default());
        let theirs = Arc::clone(&other);
        let cpu = point.number(&TO) as usize;
        partner::thread(Some(cpu), move || {
            theirs.work(cpu);
            Ok(())
        })?;
        let (worked, rested) = (Rc::new(Cell::new(0.0)), Rc::new(Cell::new(0.0)));
        let shared = (Rc::clone(&worked), Rc::clone(&rested), Arc::clone(&other));
        let observe = move || {
            let windows: Vec<Window> = (0..WINDOWS)
                .map(|_| Window::observe(&other, site.stopwatch, (&worked, &rested)))
                .collect::<Result<_, _>>()?;
            Ok(numbers(&windows))
        };
        Ok(Workload::figures(observe).witnessed(move || {
            let on_its_cpu = f64::from(u8::from(shared.2.on_its_cpu.load(Ordering::Relaxed)));
            vec![(WORKED, shared.0.get()), (RESTED, shared.1.get()), (ELSEWHERE, shared.0.get() * on_its_cpu)]
        }))
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        let count = |claim: &str, name, low, high| Check::within(claim, observed.witness(name), low, high);
        let worked = observed.witness(WORKED).unwrap_or(0.0);
        vec![
            count("streams that the other CPU ran while it should be busy", WORKED, 1.0, f64::INFINITY),
            count("streams that it ran while it should be idle", RESTED, 0.0, 0.0),
            count("share of its streams on the intended CPU", ELSEWHERE, worked, worked),
        ]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let pairs = known.points(ABOUT.name).filter(|point| point.name(&FIGURE) == SLOWED);
        pairs.filter_map(|point| slowing(&point.without(FIGURE.name), known)).collect()
    }
}

/// Maximum attempts to read a window until the other CPU has run in it: some tens of milliseconds.
const MOST_ATTEMPTS: usize = 1_000;

/// One window: the median readings of both halves.
struct Window {
    idle_ns: f64,
    working_ns: f64,
    /// The quotient of the second half divided by that of the first.
    growth: f64,
}

impl Window {
    fn observe(
        other: &CoreLoad,
        stopwatch: &dyn Stopwatch,
        (worked, rested): (&Cell<f64>, &Cell<f64>),
    ) -> Result<Self, Failure> {
        let before = other.streams();
        let idle = readings(stopwatch);
        rested.set(rested.get() + (other.streams() - before) as f64);
        other.begin()?;
        let begun = other.streams();
        let mut working = readings(stopwatch);
        // If CPUs are threads of a hypervisor, it may have paused the other one: those readings are of a core without load.
        for _ in 0..MOST_ATTEMPTS {
            if other.streams() > begun {
                break;
            }
            working = readings(stopwatch);
        }
        worked.set(worked.get() + (other.streams() - begun) as f64);
        other.end()?;
        Ok(Window { idle_ns: idle.0, working_ns: working.0, growth: working.1 / idle.1 })
    }
}

/// The median time of an addition, and the median quotient.
fn readings(stopwatch: &dyn Stopwatch) -> (f64, f64) {
    let (mut times, mut quotients) = ([0.0; READINGS], [0.0; READINGS]);
    for (time, quotient) in times.iter_mut().zip(&mut quotients) {
        let width = stopwatch.core();
        (*time, *quotient) = (width.addition_ns, width.quotient);
    }
    (statistics::median(&times).unwrap_or(f64::NAN), statistics::median(&quotients).unwrap_or(f64::NAN))
}

/// The figures from the windows of one observation: both times of each, and the share of windows in which the load slowed the
/// stream.
fn numbers(windows: &[Window]) -> Vec<FigureValue> {
    let slowed = windows.iter().filter(|window| window.growth >= SLOWED_FROM).count();
    let times = windows.iter().flat_map(|window| [(IDLE, window.idle_ns), (WORKING, window.working_ns)]);
    times.chain([(SLOWED, slowed as f64 / windows.len() as f64 * 1e6)]).collect()
}

/// The other side: fills its core when told to, and sleeps otherwise.
#[derive(Default)]
struct CoreLoad {
    work_requested: AtomicBool,
    at_work: AtomicBool,
    on_its_cpu: AtomicBool,
    streams: AtomicU64,
}

impl CoreLoad {
    /// Runs until the process ends. It checks for work every 100 µs: a CPU that wakes for a microsecond each time is idle.
    fn work(&self, cpu: usize) {
        self.on_its_cpu.store(affinity::current() == [cpu], Ordering::Relaxed);
        loop {
            while self.work_requested.load(Ordering::Acquire) {
                self.at_work.store(true, Ordering::Release);
                occupancy::fill();
                self.streams.fetch_add(1, Ordering::Relaxed);
            }
            self.at_work.store(false, Ordering::Release);
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    fn streams(&self) -> u64 {
        self.streams.load(Ordering::Relaxed)
    }

    /// Makes it work, and waits until it does.
    fn begin(&self) -> Result<(), Failure> {
        self.work_requested.store(true, Ordering::Release);
        self.wait_for(true)
    }

    /// Makes it stop, and waits until it has.
    fn end(&self) -> Result<(), Failure> {
        self.work_requested.store(false, Ordering::Release);
        self.wait_for(false)
    }

    fn wait_for(&self, at_work: bool) -> Result<(), Failure> {
        const PAUSE: Duration = Duration::from_micros(20);
        const MOST: Duration = Duration::from_secs(2);
        for _ in 0..MOST.as_micros() / PAUSE.as_micros() {
            if self.at_work.load(Ordering::Acquire) == at_work {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        Err(Failure::Broke("the thread on the other CPU does not run".to_owned()))
    }
}

/// The finding on a pair, with the declared relation.
fn slowing(pair: &Point, known: &Known) -> Option<Finding> {
    let result = |figure| known.found(ABOUT.name, &pair.clone().named(&FIGURE, figure));
    let slowed = result(SLOWED)?;
    let (from, to) = pairs::of(pair);
    let declared =
        if known.machine.smt_siblings(from).contains(&to) { "one core" } else { "different cores" };
    let figure = |value: Found, what: &str| value.named(&format!("CPU {to} on CPU {from}, {what}"));
    Some(
        finding!(
            Question::Experiment,
            "CPU {from} and CPU {to} are declared to be of {declared}. Load on the one slows a stream of \
         additions on the other in {share} of the time{verdict}. {times}",
            share = figure(slowed, "share of time slowed"),
            verdict = shown(&slowed, known.line_looks.len() > 1),
            times = match (result(IDLE), result(WORKING)) {
                (Some(idle), Some(working)) => statement!(
                    "An addition takes {idle} while the other is idle and {working} while it works, in streams that last half a \
                     microsecond, with the reading of the clock.",
                    idle = figure(idle, "other idle"),
                    working = figure(working, "other working")
                ),
                _ => "What an addition takes is not resolved: the streams last too few steps of the clock, and the share is by their quotients to \
                      chains.".into(),
            }
        )
        .about(pair),
    )
}

/// What the share of slowed windows shows of a common core. Of CPUs that are `moved` it holds at one of their distances, and at another one's
/// neighbour may be the other.
fn shown(slowed: &Found, moved: bool) -> &'static str {
    match slowed.ends() {
        Some((low, _)) if low > 0.5 => ": for most of the time they share a core",
        Some((low, _)) if low > 0.0 => {
            ": for a part of the time they share a core, or each has another neighbour"
        }
        Some(_) if moved => ": that they share a core is not shown",
        Some(_) => ": that they share a core is not shown, and a neighbour of either is not this run's load",
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::LineLooks;

    #[test]
    fn a_common_core_is_shown_by_the_share_of_slowed_windows_alone() {
        let share = |value: f64, width: f64| fathom_described::found_within(width, value, Dimension::Share);
        let said = |share: &Found| shown(share, false);
        assert!(said(&share(0.97, 0.02)).contains("for most of the time"));
        assert!(said(&share(0.2, 0.5)).contains("for a part of the time"));
        assert!(said(&share(0.06, 1.0)).contains("is not shown"));
        assert_eq!(said(&Found::bare(0.06, Dimension::Share)), "");
    }

    /// "A neighbour of either is not this run's load" stood beside CPUs that were probably threads of one core for 6.5 % of the time.
    #[test]
    fn of_cpus_that_the_host_moves_a_neighbour_may_be_the_other() {
        let machine = fathom_described::machine();
        let told = |lines: &[f64]| {
            let mut known = Known::new(&machine, None);
            let looks = |line_ns: &f64| LineLooks { line_ns: *line_ns, share: 0.5, looks: 100 };
            known.line_looks = lines.iter().map(looks).collect();
            let pair = pairs::point((0, 1));
            let share = fathom_described::found(0.0, Dimension::Share);
            known.learn(ABOUT.name, &pair.clone().named(&FIGURE, SLOWED), share);
            slowing(&pair, &known).expect("a share").statement.plain()
        };
        assert!(
            told(&[39.3]).contains("and a neighbour of either is not this run's load."),
            "{}",
            told(&[39.3])
        );
        let moved = told(&[39.3, 221.0, 18.5]);
        assert!(moved.contains("that they share a core is not shown. What"), "{moved}");
    }

    #[test]
    fn a_share_is_told_where_the_times_are_below_the_resolution() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let pair = pairs::point((0, 1));
        let share = fathom_described::found(0.0, Dimension::Share);
        known.learn(ABOUT.name, &pair.clone().named(&FIGURE, SLOWED), share);
        let told = |known: &Known| slowing(&pair, known).expect("a share").statement.plain();
        assert!(told(&known).contains("What an addition takes is not resolved"), "{}", told(&known));
        for figure in [IDLE, WORKING] {
            let time = fathom_described::found(0.3, Unit::Nanoseconds);
            known.learn(ABOUT.name, &pair.clone().named(&FIGURE, figure), time);
        }
        assert!(told(&known).contains("An addition takes {0.3} while the other is idle"), "{}", told(&known));
    }

    #[test]
    fn the_share_counts_windows_in_which_the_quotient_grew() {
        let window = |growth| Window { idle_ns: 0.1, working_ns: 0.1 * growth, growth };
        let figures = numbers(&[window(1.0), window(1.6), window(1.2), window(2.0)]);
        assert_eq!(figures.last(), Some(&(SLOWED, 5e5)));
        assert_eq!(figures.len(), 9);
    }

    #[test]
    fn a_load_that_rested_or_ran_elsewhere_is_found_out() {
        let holds = |worked: f64, rested: f64, there: f64| {
            let seen =
                fathom_described::observed(0, [(WORKED, worked), (RESTED, rested), (ELSEWHERE, there)]);
            SharedCore.evidence(&Point::new(), &seen).iter().all(|check| check.holds)
        };
        assert!(holds(100.0, 0.0, 100.0));
        assert!(!holds(0.0, 0.0, 0.0), "it never worked");
        assert!(!holds(100.0, 3.0, 100.0), "it worked when it was to rest");
        assert!(!holds(100.0, 0.0, 0.0), "it ran elsewhere");
    }
}
