//! What does it cost to read a clock, and how finely does it tell time?

mod around_work;
mod clock_checks;
mod predicted;

pub use predicted::{between_readings, clock_gettime, measured_exit, published_exit};

use crate::arch::{CounterForm, FORMS, KEEPS_WORK};
use crate::expected::mode_switch;
use fathom_core::machine::ClockReading;
use fathom_core::prelude::*;
use fathom_core::sampling::clock::{kernel_clock, kernel_clock_step, leave_the_step, smallest_step};
use predicted::{predicted_cost, predicted_tick};
use std::cell::Cell;
use std::hint::black_box;

const NAME: &str = "cpu/timing_overhead";

const READING: Parameter = Parameter::named("reading", "the instructions or the call");
const MEASURE: Parameter = Parameter::of(
    "measure",
    "cost: one reading of many back to back; pair: the difference of two readings with nothing between them; \
              around work: their difference with 64 dependent multiplications between them; resolution: the smallest \
              non-zero step",
    &[COST, PAIR, AROUND, RESOLUTION],
);

/// Measure: the cost of a reading, many back to back.
const COST: &str = "cost";
/// Measure: the difference between two readings back to back.
const PAIR: &str = "pair";
/// Measure: the difference between two readings around known work.
const AROUND: &str = "around work";
/// Measure: the smallest step other than zero.
const RESOLUTION: &str = "resolution";

pub struct TimingOverhead;

static ABOUT: About = About {
    name: NAME,
    question: "What does reading a clock cost, and what is its resolution?",
    operation: "one reading of the clock (cost), two with nothing between them (pair) or with work between them \
                (around work), or the smallest step between successive readings (resolution)",
    method: "Each way to read a clock is repeated back to back between two readings of the measuring clock: that is \
             its cost. The overhead of a measurement is the pair: the difference between two consecutive readings. \
             A counter may advance in steps as long as that, so an observation of a pair is the mean of \
             64, begun at changing distances from a step. The resolution is the smallest non-zero difference, without the \
             tick by which some counters keep readings within a step apart. Readings around work of known length show whether \
             the work stays between them: a reading that does not wait is made before the work has ended.\n\nThe ways \
             are those of the reports: a bare `rdtsc`; `rdtscp`, which waits for earlier instructions; `lfence; \
             rdtsc; lfence` with `rdtscp; lfence`, which orders the work on both sides and is what Fathom uses; \
             `mfence; lfence; rdtsc`; on aarch64 `mrs cntvct_el0` with an `isb` before it, on both sides or on \
             neither; the two CPUID forms (Paoloni 2010, with and without the trailing CPUID); and `clock_gettime` on \
             each clock, through the library (which may answer in user space, from the vDSO) and as a system call.",
    caveats: "The bare `rdtsc` pair is naive: the processor reorders it against the work. The CPUID forms exit to the \
              hypervisor in a virtual machine and cost thousands of ticks there. Ticks of the time-stamp counter count \
              time, not core cycles.",
    version: 2,
    timed: Some(TimedCode {
        of: "a form of reading the counter, on x86-64",
        source: include_str!("../../../arch/x86_64/counter.rs"),
        begins: "macro_rules! form",
    }),
    parameters: &[READING, MEASURE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "two readings of the clock with nothing between",
            &[("measure", At::Name("pair")), ("reading", At::Name("lfence-rdtsc-lfence rdtscp-lfence"))],
        ),
        MainFigure::of(
            "clock_gettime",
            &[("measure", At::Name("cost")), ("reading", At::Name("monotonic by library"))],
        ),
    ]),
};

const KERNEL_CLOCKS: [(&str, libc::clockid_t); 7] = [
    ("monotonic", libc::CLOCK_MONOTONIC),
    ("monotonic-raw", libc::CLOCK_MONOTONIC_RAW),
    ("monotonic-coarse", libc::CLOCK_MONOTONIC_COARSE),
    ("realtime", libc::CLOCK_REALTIME),
    ("boottime", libc::CLOCK_BOOTTIME),
    ("process-cputime", libc::CLOCK_PROCESS_CPUTIME_ID),
    ("thread-cputime", libc::CLOCK_THREAD_CPUTIME_ID),
];

/// The architecture that this program was built for, whose forms of reading the counter apply.
const HERE: &[&str] = &[std::env::consts::ARCH];

impl Experiment for TimingOverhead {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let counter = FORMS.iter().flat_map(|CounterForm { name, .. }| {
            // The cost of a no-op between two readings (report 000's question) shows in the pair alone.
            let measures: &[&str] =
                if name.contains("nop") { &[PAIR] } else { &[COST, PAIR, AROUND, RESOLUTION] };
            measures.iter().map(|measure| Point::new().named(&READING, name).named(&MEASURE, measure))
        });
        let kernel = KERNEL_CLOCKS.iter().flat_map(|(name, _)| {
            [("library", COST), ("syscall", COST), ("library", RESOLUTION)].map(|(way, measure)| {
                Point::new().named(&READING, &format!("{name} by {way}")).named(&MEASURE, measure)
            })
        });
        counter.chain(kernel).collect()
    }

    /// The step of a clock is of the clock; a reading is made by the core.
    fn core_share(&self, point: &Point, machine: &Machine) -> Option<CoreShare> {
        if point.name(&MEASURE) == RESOLUTION {
            return None;
        }
        let is_of_the_counter = FORMS.iter().any(|form| form.name == point.name(&READING));
        if is_of_the_counter { Some(CoreShare::NEARLY_WHOLE) } else { CoreShare::of_kernel_clock(machine) }
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if point.name(&MEASURE) == AROUND { Effort::Standard } else { Effort::Quick }
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let reading = point.name(&READING);
        let form = FORMS.iter().any(|form| form.name == reading);
        let architecture = form.then_some(Requirement::Architecture(HERE));
        let instruction = reading.contains("rdtscp").then_some(Requirement::Instructions("rdtscp"));
        architecture.into_iter().chain(instruction).collect()
    }

    fn exceeded_for(&self, point: &Point, known: &Known) -> Option<Excess> {
        if point.name(&MEASURE) == AROUND {
            return around_work::seen_without_a_wait(point, known);
        }
        let nested = known.machine.nested().filter(|_| point.name(&READING).contains("cpuid"))?;
        let why = "an exit then leaves through two of them, where the published one leaves through one";
        let says = "on the kernel's command line suggests";
        Some(Excess::of(format!("the guest's hypervisor is a guest itself, as {nested} {says}: {why}")))
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let reading = point.name(&READING);
        if point.name(&MEASURE) == RESOLUTION {
            let is_coarse = reading.starts_with("monotonic-coarse");
            // Two readings are at least the cost of one reading apart.
            return Ok(if is_coarse { predicted_tick(known) } else { predicted_cost(reading, PAIR, known) });
        }
        Ok(predicted_cost(reading, point.name(&MEASURE), known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        // A form that serialises twice cannot take less than a cycle per instruction (R-FIX-03: 15.4 cycles for CPUID + RDTSC +
        // RDTSCP + CPUID were believed because they equalled the instruction count).
        let reading = point.name(&READING);
        if point.name(&MEASURE) == PAIR && ["fence", "cpuid"].iter().any(|order| reading.contains(order)) {
            return Some(Bound::of(
                6.0 * known.shortest_cycle(),
                "the time between two ordered readings includes one reading, which takes at least six cycles \
                          on any core",
            ));
        }
        if point.name(&MEASURE) != COST {
            return None;
        }
        if enters_the_kernel(reading) {
            return Some(mode_switch::bound(1.0, "it enters", known));
        }
        reading.contains("cpuid").then(|| {
            Bound::of(
                20.0 * known.shortest_cycle(),
                "a serialising CPUID empties the pipeline, which takes tens of cycles on every core",
            )
        })
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let reading = point.name(&READING);
        let measure = point.name(&MEASURE);
        if let Some(form) = FORMS.iter().find(|form| form.name == reading) {
            let ns_per_tick = 1e9 / site.ticks_per_second;
            return Ok(form_workload(form, measure, ns_per_tick));
        }
        let unknown = || Failure::no_variant(&READING, reading);
        let (name, way) = reading.split_once(" by ").ok_or_else(unknown)?;
        let clock = KERNEL_CLOCKS.iter().find(|(clock, _)| *clock == name).map(|(_, id)| *id);
        let clock = clock.ok_or_else(unknown)?;
        match (measure, way) {
            (RESOLUTION, "library") => Ok(Workload::recorded(move || Ok(Some(step_of_kernel_clock(clock))))),
            (COST, "syscall") => Ok(kernel_workload(clock, read_by_system_call)),
            (COST, "library") => Ok(kernel_workload(clock, read_by_library)),
            _ => Err(unknown()),
        }
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        if let Some(negative) = observed.witness("negative") {
            return vec![Check::equal("readings that ran backwards", negative, 0.0)];
        }
        let reading = point.name(&READING);
        if observed.witness("clock_advanced_ns").is_none() {
            return vec![];
        }
        vec![clock_checks::advanced(reading, observed), clock_checks::calls(reading, observed)]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let all = [costs_and_steps(known), around_work::kept_between(known), read_by_the_kernel(known)];
        all.into_iter().flatten().collect()
    }
}

/// What a reading costs and the least step that it shows: of the first form of the counter, of the one that is used here, and of the
/// kernel's clocks.
fn costs_and_steps(known: &Known) -> Option<Finding> {
    let readings = [FORMS.first()?.name, KEEPS_WORK, "monotonic by library", "monotonic-coarse by library"];
    let each = readings.into_iter().filter_map(|reading| {
        let of = |measure| known.found(NAME, &Point::new().named(&READING, reading).named(&MEASURE, measure));
        Some(statement!(
            "`{reading}` {cost} and {step}",
            cost = of(COST)?.named(&format!("{reading}, a reading")),
            step = of(RESOLUTION)?.named(&format!("{reading}, least step"))
        ))
    });
    let each = Statement::joined(each, "; ")?;
    Some(finding!(
        Question::Experiment,
        "A reading costs, and the least step between two that differ is: {each}. `{KEEPS_WORK}` is what Fathom times with; a form that \
         takes longer than the counter's own step shows several of them as one.",
        each
    ))
}

/// Whether the library's clocks are system calls on this machine, and their cost.
fn read_by_the_kernel(known: &Known) -> Option<Finding> {
    let kernel = &known.machine.kernel;
    if kernel.clock_reading()? != ClockReading::SystemCall {
        return None;
    }
    let cost = |way: &str| {
        let reading = format!("monotonic by {way}");
        known.found(ABOUT.name, &Point::new().named(&READING, &reading).named(&MEASURE, COST))
    };
    let library = cost("library")?;
    Some(finding!(
        Question::Experiment,
        "The kernel's clock is {value}, which programs cannot read directly: `clock_gettime` of the C \
         library is a system call and takes {library}.",
        value = kernel.clocksource.value()?,
        library = library.named("clock_gettime by the library, through the kernel")
    ))
}

/// Whether a reading is a system call: the vDSO provides clocks of real time only.
fn enters_the_kernel(reading: &str) -> bool {
    reading.ends_with("syscall") || reading.contains("cputime")
}

/// Pairs of readings in an observation.
const PAIRS: u32 = 64;

fn form_workload<'site>(form: &CounterForm, measure: &str, ns_per_tick: f64) -> Workload<'site> {
    let pair = if measure == AROUND { form.around } else { form.pair };
    match measure {
        PAIR | AROUND => {
            let negative = std::rc::Rc::new(Cell::new(0_u32));
            let counted = negative.clone();
            let observe = move || {
                let mut ticks = 0;
                for count in 0..PAIRS {
                    leave_the_step(count);
                    let difference = pair();
                    negative.set(negative.get() + u32::from(difference < 0));
                    ticks += difference;
                }
                Ok(Some(ticks as f64 / f64::from(PAIRS) * ns_per_tick))
            };
            Workload::recorded(observe).witnessed(move || vec![("negative", f64::from(counted.get()))])
        }
        RESOLUTION => Workload::recorded(move || {
            let differences: Vec<i64> = (0..200).map(|_| pair()).collect();
            Ok(smallest_step(&differences).map(|ticks| ticks as f64 * ns_per_tick))
        }),
        _ => Workload::batched(move |n| {
            for _ in 0..n {
                black_box(pair());
            }
            Ok(())
        })
        .per_iteration(2),
    }
}

fn kernel_workload<'site>(
    clock: libc::clockid_t,
    read: fn(libc::clockid_t) -> libc::c_int,
) -> Workload<'site> {
    let operation = move |n| {
        for _ in 0..n {
            errno("clock_gettime", read(clock))?;
        }
        Ok(())
    };
    let advance = move || {
        let raw = kernel_clock(libc::CLOCK_MONOTONIC_RAW) as f64;
        vec![("clock_advanced_ns", kernel_clock(clock) as f64), ("raw_advanced_ns", raw)]
    };
    Workload::batched(operation).traced().witnessed(advance).stating("step_ns", kernel_clock_step(clock))
}

fn read_by_library(clock: libc::clockid_t) -> libc::c_int {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec.
    unsafe { libc::clock_gettime(clock, &raw mut time) }
}

fn read_by_system_call(clock: libc::clockid_t) -> libc::c_int {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec.
    unsafe { libc::syscall(libc::SYS_clock_gettime, clock, &raw mut time) as libc::c_int }
}

/// The smallest step of a kernel clock, nanoseconds: over two hundred readings, and until one differs.
fn step_of_kernel_clock(clock: libc::clockid_t) -> f64 {
    let mut smallest = u64::MAX;
    let mut last = kernel_clock(clock);
    for reading in 0.. {
        let now = kernel_clock(clock);
        if now > last {
            smallest = smallest.min(now - last);
        }
        last = now;
        if reading >= 200 && smallest < u64::MAX {
            break;
        }
    }
    smallest as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::CoreUse;
    use fathom_core::machine::Fact;

    #[test]
    fn an_exit_is_no_difference_between_a_core_alone_and_one_that_is_shared() {
        let mut machine = fathom_described::machine();
        machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "a test");
        let exit = |of_two, of_one| {
            let mut known = Known::new(&machine, Some(3e9));
            let both = [("cpuid-rdtsc rdtscp-cpuid", 1040.0, of_two), ("cpuid-rdtsc rdtscp", 690.0, of_one)];
            for (reading, ns, core) in both {
                let cost = fathom_described::found_within(0.01, ns, Unit::Nanoseconds);
                let point = Point::new().named(&READING, reading).named(&MEASURE, COST);
                known.learn(NAME, &point, Found { core, ..cost });
            }
            measured_exit(&known).map(|exit| exit.value)
        };
        let (alone, shared) = (Some(CoreUse::Alone), Some(CoreUse::Shared));
        assert_eq!([exit(shared, shared), exit(None, None)], [Some(350.0); 2]);
        assert_eq!([exit(alone, shared), exit(shared, alone)], [None; 2]);
    }

    #[test]
    fn fifteen_cycles_are_no_reading_that_empties_the_pipeline() {
        // R-FIX-03: report 000 took an average of 15.4 cycles for CPUID, RDTSC and RDTSCP.
        let machine = fathom_described::machine();
        let known = Known::new(&machine, Some(3e9));
        let limit = |measure: &'static str, reading: &str| {
            let point = Point::new().named(&READING, reading).named(&MEASURE, measure);
            TimingOverhead.bound(&point, &known).map(|bound| bound.limit / known.shortest_cycle())
        };
        for reading in ["cpuid-rdtsc rdtscp-cpuid", "cpuid-rdtsc"] {
            assert!(limit(COST, reading).is_some_and(|cycles| cycles > 15.4), "{reading}");
        }
        assert!(limit(PAIR, "lfence-rdtsc-lfence rdtscp-lfence").is_some_and(|cycles| cycles >= 6.0));
        assert_eq!(limit(COST, "rdtsc"), None, "nothing orders it");
    }
}
