//! Work that spins for a known time by the kernel's clock.

use super::prelude::*;
use fathom_core::sampling::clock::kernel_clock;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

pub static RIG: Rig = Rig::of_known_work(
    "spin",
    "a loop that spins for a known time by the kernel's clock",
    Duration::from_secs(8),
    |_| Ok(vec![spin_of(ONE_BY_ONE), spin_of(IN_BATCHES), spin_of(SELDOM_LONG)]),
    judge,
);

pub static WORK: KnownWork = KnownWork {
    points: || [ONE_BY_ONE, LONGER, IN_BATCHES, SELDOM_LONG].map(point).to_vec(),
    ..KnownWork::of(
        &about(
            NAME,
            "Is the time of a spinning loop measured correctly?",
            "one spin",
            "A loop reads the kernel's clock (CLOCK_MONOTONIC_RAW), which is not the measuring clock, until a known time \
             has passed. One by one: 100 µs each, or 2 % more. In batches: 6 µs each, minus spins of 3 µs, so that 3 µs \
             remain. Seldom long: one random spin in ten takes 200 µs and the others 20 µs, so that the median is 20 µs \
             and the 95th percentile 200 µs.",
            &[FORM],
        ),
        prepare,
    )
};

const NAME: &str = "verify/spin";
const FORM: Parameter =
    Parameter::of("form", "how the spins follow each other", &[ONE_BY_ONE, LONGER, IN_BATCHES, SELDOM_LONG]);
const ONE_BY_ONE: &str = "one by one";
const LONGER: &str = "one by one, 2 % longer";
const IN_BATCHES: &str = "in batches";
const SELDOM_LONG: &str = "seldom long";

/// The durations of the spins, nanoseconds.
const SINGLE: u64 = 100_000;
const SINGLE_LONGER: u64 = 102_000;
const SHORT: u64 = 3_000;
const USUAL: u64 = 20_000;
const LONG: u64 = 200_000;

/// One spin in this number is long.
const SELDOM: u64 = 10;

/// A percentile in the middle of the long spins.
const TAIL: f64 = 0.95;

fn point(form: &str) -> Point {
    Point::new().named(&FORM, form)
}

fn spin_of(form: &str) -> PointRef {
    (NAME, point(form))
}

/// The point that spins for 100 µs, each timed singly, for rigs that disturb it.
pub fn single() -> PointRef {
    spin_of(ONE_BY_ONE)
}

/// The same with 2 % more work.
pub fn longer() -> PointRef {
    spin_of(LONGER)
}

/// The truth that the point has its value whatever disturbs it.
pub fn unchanged(rig: &Rig, results: &Results) -> Truth {
    let value = figure(results, &single()).map(TruthFigure::whatever_disturbs);
    Claim::time(rig, "spins of 100 µs, unchanged", SINGLE as f64).judged(value)
}

/// The kernel's clock, nanoseconds.
pub fn now() -> u64 {
    kernel_clock(libc::CLOCK_MONOTONIC_RAW)
}

/// Spins for a duration in nanoseconds. Safe in a freshly forked process.
pub fn spin(ns: u64) {
    let until = now() + ns;
    while now() < until {
        std::hint::spin_loop();
    }
}

/// So many spins, each of a duration that is drawn before it.
pub fn spins(mut ns: impl FnMut() -> u64) -> impl FnMut(u64) -> Result<(), Failure> {
    move |n| {
        (0..n).for_each(|_| spin(ns()));
        Ok(())
    }
}

fn prepare<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let mut chance = SplitMix64::seed_from_u64(site.seed);
    Ok(match point.name(&FORM) {
        ONE_BY_ONE => Workload::each(spins(|| SINGLE)),
        LONGER => Workload::each(spins(|| SINGLE_LONGER)),
        IN_BATCHES => Workload::batched(spins(|| 2 * SHORT)).against(spins(|| SHORT)),
        _ => Workload::each(spins(move || if chance.next_u64() % SELDOM == 0 { LONG } else { USUAL })),
    })
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    // The loop ends up to one reading of its clock late, which limits the resolution.
    let reading = results.run.header.clock.overhead_ns();
    let median = |form: &str, what: &str, set: u64| {
        Claim::time(rig, what, set as f64).within(reading).judged(figure(results, &spin_of(form)))
    };
    let long = Claim::time(rig, "95th percentile, one spin in ten long", LONG as f64);
    vec![
        median(ONE_BY_ONE, "one by one", SINGLE),
        median(IN_BATCHES, "in batches, minus shorter ones", SHORT),
        median(SELDOM_LONG, "median, one spin in ten long", USUAL),
        long.judged(result(results, &spin_of(SELDOM_LONG)).and_then(|point| tail(point, TAIL))),
    ]
}
