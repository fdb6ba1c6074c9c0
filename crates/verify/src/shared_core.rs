//! A neighbour on another hardware thread of the core, by a schedule that the instrument does not know: it must distinguish the two
//! states, give each its value, and find the share of the time. A guest cannot plant one, so its readings and its slowdown are
//! simulated in the measuring process; where the machine shows a second hardware thread, a real one is planted too.

use super::neighbour::Spinner;
use super::prelude::*;
use super::spin::{self, spins};
use fathom_core::sampling::occupancy;
use fathom_core::sampling::simulated_core::{self, SimulatedCore, is_shared, now_ns};
use fathom_engine::results::CoreState;

pub static SIMULATED: Rig = Rig {
    name: "shared-core",
    sets: "a simulated neighbour on the core, which slows the work down",
    touches: &[],
    budget: Duration::from_secs(10),
    arrange: Some(simulate),
    points: |_| Ok(vec![slowed()]),
    judge: judge_simulated,
};

pub static PLANTED: Rig = Rig {
    name: "hardware-thread",
    sets: "work on another hardware thread of the measured core, now and then",
    touches: &["CPUs: a thread of this process works on another hardware thread of the measured core"],
    budget: Duration::from_secs(10),
    arrange: Some(plant),
    points: |_| Ok(vec![spin::single()]),
    judge: judge_planted,
};

pub static WORK: KnownWork = KnownWork::of(
    &about(
        NAME,
        "Are the states of a shared core distinguished?",
        "one spin",
        "A loop reads the kernel's clock until a known time has passed: 60 µs while the simulated core is alone, 84 µs while it \
         is shared. The readings of the core are simulated by the same schedule.",
        &[],
    ),
    prepare,
);

const NAME: &str = "verify/shared_core";

/// The time of a spin with the core alone and shared, nanoseconds.
const ALONE: u64 = 60_000;
const SHARED: u64 = 84_000;

/// The tolerance of a value, as a share of it.
const OF_A_VALUE: f64 = 0.01;

/// The tolerance of the share of the time, parts per million: three points in a hundred.
const OF_THE_SHARE: f64 = 30_000.0;

fn slowed() -> PointRef {
    (NAME, Point::new())
}

fn prepare<'site>(_: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
    SimulatedCore::begin_for_good();
    Ok(Workload::each(spins(|| if is_shared(now_ns()) { SHARED } else { ALONE })))
}

fn simulate(options: &mut Options) -> Result<Arranged, String> {
    Ok(by_schedule(options, SimulatedCore::begin()))
}

fn plant(options: &mut Options) -> Result<Arranged, String> {
    let (machine, home) = fixed_cpu(options)?;
    let other = machine.smt_siblings(home).first().copied();
    let other = other.ok_or("no second hardware thread of the measured core is visible here")?;
    let neighbour = Spinner::repeating(other, || {
        if is_shared(now_ns()) { occupancy::fill() } else { std::thread::sleep(PAUSE) }
    });
    Ok(by_schedule(options, neighbour))
}

/// The time for which the planted neighbour sleeps before it looks at the schedule again.
const PAUSE: Duration = Duration::from_micros(200);

/// An arrangement whose account is the share of the time from now on in which the neighbour was there, parts per million. It is
/// measured for the whole budget, however precise the values are: the share needs the time.
fn by_schedule(options: &mut Options, held: impl std::any::Any) -> Arranged {
    options.precision = Some(0.0);
    let began = now_ns();
    let account = move || 1e6 * simulated_core::share_between(began, now_ns());
    Arranged { account: Some(Box::new(account)), ..Arranged::holding(held) }
}

fn judge_simulated(rig: &Rig, results: &Results, share: Option<f64>) -> Vec<Truth> {
    let reading = results.run.header.clock.overhead_ns();
    let value = |what: &str, set| Claim::time(rig, what, set as f64).to(OF_A_VALUE).within(reading);
    let point = result(results, &slowed());
    vec![
        value("a spin with the core alone", ALONE).judged(point.clone().and_then(alone)),
        value("a spin with the core shared", SHARED).judged(point.and_then(shared)),
        share_of_time(rig, results, share),
    ]
}

fn judge_planted(rig: &Rig, results: &Results, share: Option<f64>) -> Vec<Truth> {
    vec![spin::unchanged(rig, results), share_of_time(rig, results, share)]
}

/// The value with the core alone, whatever the simulated neighbour did meanwhile.
fn alone(point: &PointResult) -> Result<TruthFigure, NoFigure> {
    let estimate = estimate(point)?;
    match point.core.as_ref().map(|core| core.state) {
        Some(CoreState::Alone) => Ok(TruthFigure::of(estimate, &[point]).whatever_disturbs()),
        _ => Err(NoFigure::inconclusive("too few trials found the simulated core alone")),
    }
}

fn shared(point: &PointResult) -> Result<TruthFigure, NoFigure> {
    let shared = point.core.as_ref().and_then(|core| core.shared.as_ref());
    let shared =
        shared.ok_or_else(|| NoFigure::inconclusive("too few trials found the simulated core shared"))?;
    Ok(TruthFigure::of(shared, &[point]).whatever_disturbs())
}

/// The share of the time that the instrument found, against the schedule's own account of the same time: no sample of it.
fn share_of_time(rig: &Rig, results: &Results, share: Option<f64>) -> Truth {
    let unit = Some(Unit::PartsPerMillion);
    let claim = Claim::of(rig, "share of the time with the core shared", unit, share.unwrap_or_default());
    let figure = results.core_shared.as_ref().map(|core| TruthFigure::exactly(1e6 * core.share));
    claim.within(OF_THE_SHARE).judged(
        figure.ok_or_else(|| NoFigure::inconclusive("the two states of the core were not distinguished")),
    )
}
