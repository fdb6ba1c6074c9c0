//! Two threads that contend for a lock which each holds for a known time, and two counters on a machine whose lines are made longer:
//! the time without the hand-over is that for which the lock is held, and the counters disturb each other up to that length.

use super::prelude::*;
use super::spin::spin;
use fathom_experiments::apparatus::cpu::contenders::{CommonWork, per_operation, two_cpus};
use fathom_experiments::apparatus::cpu::counters::{TwoCounters, incremented, undisturbed_from};
use fathom_experiments::apparatus::cpu::locks::{Lock, Locked, Objects, QueueLock, TicketLock};

pub static RIG: Rig = Rig::of_known_work(
    "held-lock",
    "a lock that two threads hold for a known time; two counters within units of a known size",
    Duration::from_secs(10),
    |_| Ok(points().into_iter().map(|point| (NAME, point)).collect()),
    judge,
);

pub static WORK: KnownWork = KnownWork {
    points,
    requires: &[Requirement::Cpus(2)],
    block: Some("two threads"),
    ..KnownWork::of(
        &about(
            NAME,
            "Is the time for which a lock is held known from outside, and the distance of counters that do not disturb each other?",
            "one operation of both threads together, or one increment of a thread",
            "Two threads take a lock in turn, and the one that has it spins for a known time by the kernel's clock, so that the other \
             waits. An operation of both together takes that time and a hand-over; the difference of two such times is the \
             difference of what was set, because a hand-over costs the same. The locks are those whose waiters spin: what it \
             takes to wake a waiter is no time for which a lock is held. Two threads \
             increment a counter each; with every increment they also write a word at the beginning of the unit of 256 bytes \
             that the counter is in, so that they meet in one line as long as both counters are in one unit.",
            &[LOCK, HELD, DISTANCE],
        ),
        prepare,
    )
};

const NAME: &str = "verify/held_lock";
const LOCK: Parameter = Parameter::of("lock", "the lock", &LOCKS);
const HELD: Parameter = Parameter::nanoseconds("held", "how long it is held");
const DISTANCE: Parameter = Parameter::bytes("distance", "bytes from one counter to the other");
const LOCKS: [&str; 2] = [TICKET, QUEUE];
const TICKET: &str = "ticket lock";
const QUEUE: &str = "queue lock";

/// How long the lock is held, nanoseconds: long against a hand-over, short against a round.
const SHORT: u64 = 5_000;
const LONG: u64 = 25_000;

/// The time of a round, nanoseconds: some hundred operations.
const ROUND_NS: f64 = 4e6;

/// The planted size within which counters disturb each other, bytes, and the distances that are tried.
const UNIT: u64 = 256;
const DISTANCES: [u64; 4] = [64, 248, UNIT, 512];

fn held(lock: &str, ns: u64) -> Point {
    Point::at(Placement::AcrossCpus).named(&LOCK, lock).with(&HELD, ns)
}

fn apart(distance: u64) -> Point {
    Point::at(Placement::AcrossCpus).with(&DISTANCE, distance)
}

fn points() -> Vec<Point> {
    let locks = LOCKS.into_iter().flat_map(|lock| [SHORT, LONG].map(|ns| held(lock, ns)));
    locks.chain(DISTANCES.map(apart)).collect()
}

fn prepare<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let ns = point.number(&HELD);
    let work = match point.name(&LOCK) {
        TICKET => locked::<TicketLock>(ns),
        QUEUE => locked::<QueueLock>(ns),
        _ => return two_counters(point.number(&DISTANCE), site),
    };
    per_operation(&two_cpus(site)?, work, (ROUND_NS, 1.0), site)
}

fn locked<L: Lock + 'static>(ns: u64) -> Box<dyn CommonWork> {
    Box::new(Objects::<Locked<L>, _>::common(2, move || spin(ns)).one_by_one())
}

fn two_counters<'site>(distance: u64, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let two = TwoCounters::at(distance as usize)
        .ok_or_else(|| Failure::Broke(format!("no two counters are {distance} bytes from each other")))?;
    incremented(two.disturbed_within(UNIT as usize), site)
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let reading = results.run.header.clock.overhead_ns();
    let claim = |lock: &str, what: &str, set: u64| {
        Claim::time(rig, format!("{}, {what}", capitalize(lock)), set as f64).within(reading)
    };
    let times = |lock: &str| {
        let of = |ns| result(results, &(NAME, held(lock, ns)));
        let longer = || by_rounds([of(LONG)?, of(SHORT)?], |[long, short]| long - short);
        [
            claim(lock, "the time for which it is held", LONG)
                .judged(figure(results, &(NAME, held(lock, LONG)))),
            claim(lock, "the time for which it is held longer", LONG - SHORT).judged(longer()),
        ]
    };
    let units = "the least distance at which two counters do not disturb each other";
    let units = Claim::of(rig, units, Some(Unit::Bytes), UNIT as f64).judged(least_distance(results));
    LOCKS.into_iter().flat_map(times).chain([units]).collect()
}

fn least_distance(results: &Results) -> Result<TruthFigure, NoFigure> {
    let time = |distance: u64| {
        let at: PointRef = (NAME, apart(distance));
        let estimate = estimate(result(results, &at)?)?;
        Ok((distance, Found::of(estimate, Unit::Nanoseconds)))
    };
    let times: Vec<(u64, Found)> = DISTANCES.into_iter().map(time).collect::<Result<_, NoFigure>>()?;
    let (least, _) = undisturbed_from(&times)
        .ok_or_else(|| NoFigure::inconclusive("the counters disturbed each other at no distance"))?;
    Ok(TruthFigure::exactly(least as f64))
}
