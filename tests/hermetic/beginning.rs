//! Work that has a beginning, on a clock that we control: what is observed is the lasting state, however long the trial is.

use crate::described::{fake_run, planned, trial};
use crate::known_truth::{FakeClock, interruption, observe_after, observe_in};
use fathom::experiment::{Failure, Shared, Workload};
use fathom::record::{Run, Trial, TrialOutcome};
use fathom::results::{Outcome, Results};
use fathom::sampling::RawSample;
use fathom::statistics;
use std::cell::Cell;
use std::rc::Rc;

/// A host that learns: a hand-over costs more after so much activity. It forgets in a pause of 50 ms.
#[derive(Clone)]
struct Host {
    clock: FakeClock,
    active_ns: Rc<Cell<u64>>,
    last: Rc<Cell<u64>>,
    /// The cost of a hand-over after so much activity, nanoseconds.
    cost_ns: fn(f64) -> f64,
}

impl Host {
    fn new(cost_ns: fn(f64) -> f64) -> Self {
        Host { clock: FakeClock::default(), active_ns: Rc::default(), last: Rc::default(), cost_ns }
    }

    fn hand_over(&self, chance: &mut u64) {
        let pause = self.clock.now.get() - self.last.get();
        if pause > 50_000_000 {
            self.active_ns.set(0);
        }
        let noise = 1.0 + ((*chance >> 40) % 41) as f64 / 1000.0 - 0.02;
        let cost = ((self.cost_ns)(self.active_ns.get() as f64) * noise) as u64 + interruption(chance);
        self.active_ns.set(self.active_ns.get() + cost);
        self.clock.pass(cost);
        self.last.set(self.clock.now.get());
    }

    fn work(&self, seed: u64) -> Workload<'static> {
        let (host, mut chance) = (self.clone(), seed);
        Workload::each(move |n| {
            (0..n).for_each(|_| host.hand_over(&mut chance));
            Ok(())
        })
    }

    /// A trial of this duration, in milliseconds, in a process whose equipment this is.
    fn trial(&self, process: &Shared, duration_ms: u64, seed: u64) -> Result<RawSample, Failure> {
        observe_in(process, duration_ms * 1_000_000, &self.clock, &mut self.work(seed).settling(true))
    }
}

/// As seen on a host: 79 µs at first, 100 after 50 ms.
fn step(active_ns: f64) -> f64 {
    if active_ns < 50e6 { 79e3 } else { 100e3 }
}

/// The same of work ten times as long: of it a trial observes up to 600 operations, which is 600 ms.
fn slow_step(active_ns: f64) -> f64 {
    10.0 * step(active_ns)
}

/// It rises for a third of a second.
fn slow_rise(active_ns: f64) -> f64 {
    100e3 - 30e3 * (-active_ns / 70e6).exp()
}

/// It never ends.
fn drift(active_ns: f64) -> f64 {
    30e3 * (1.0 + active_ns / 1e9)
}

fn median(found: &RawSample) -> f64 {
    statistics::median(&found.observations.operation(fathom::quantity::Unit::Nanoseconds, 1e9)).unwrap()
}

#[test]
fn no_figure_changes_with_the_length_of_the_trial() {
    let hosts = [(step as fn(f64) -> f64, 100e3), (slow_step, 1e6), (slow_rise, 100e3)];
    for (cost_ns, truth) in hosts {
        for (seed, duration_ms) in [20, 400, 2_000, 20, 2_000, 400].into_iter().enumerate() {
            let (host, process) = (Host::new(cost_ns), Shared::new(|| 0));
            let sample = host.trial(&process, duration_ms, seed as u64).unwrap();
            let value = median(&sample);
            assert!((value / truth - 1.0).abs() < 0.01, "{duration_ms} ms: {value}");
        }
    }
}

/// The rule is asked again and again, so it must not be satisfied by chance once.
#[test]
fn the_end_of_a_slow_rise_is_seldom_found_too_early() {
    let is_off = |seed: &u64| {
        let sample = Host::new(slow_rise).trial(&Shared::new(|| 0), 400, seed * 7919 + 13).unwrap();
        (median(&sample) / 100e3 - 1.0).abs() >= 0.01
    };
    let early = (0..100).filter(is_off).count();
    assert!(early <= 5, "{early} of 100 trials are more than 1 % off");
}

#[test]
fn without_the_rule_a_short_trial_finds_the_beginning() {
    let host = Host::new(step);
    let found = observe_in(&Shared::new(|| 0), 20_000_000, &host.clock, &mut host.work(1)).unwrap();
    assert!(median(&found) < 80e3, "{}", median(&found));
}

#[test]
fn the_beginning_is_timed_and_paid_once_for_the_points_of_a_process() {
    let (host, process) = (Host::new(step), Shared::new(|| 0));
    let first = host.trial(&process, 20, 1).unwrap().beginning.unwrap();
    assert!((first.lasted_ns / 50e6 - 1.0).abs() < 0.06, "{first:?}");
    assert!(first.repeated_ns < 130e6, "{first:?}");
    for seed in 2..5 {
        host.clock.pass(3_000_000);
        let found = host.trial(&process, 20, seed).unwrap();
        let later = found.beginning.unwrap();
        assert!(later.repeated_ns < 50e6, "{later:?}");
        assert!((median(&found) / 100e3 - 1.0).abs() < 0.01, "{}", median(&found));
    }
}

/// What a trial has paid for it keeps: the windows by which its beginning was found to have ended.
#[test]
fn the_last_windows_of_the_beginning_are_observations_with_their_readings() {
    let found = Host::new(step).trial(&Shared::new(|| 0), 4, 1).unwrap();
    let (each_ns, observed) = (100e3, found.observations.len());
    assert!((observed as f64 * each_ns / 50e6 - 1.0).abs() < 0.1, "{observed} observations");
    assert_eq!(found.core.stream.len(), observed + 1);
    let beginning = found.beginning.unwrap();
    assert!(beginning.repeated_ns > beginning.lasted_ns && beginning.repeated_ns < 100e6, "{beginning:?}");
}

/// Between the beginning and the observations nothing happens: reading the counters takes long enough for this host to forget.
#[test]
fn what_a_trial_does_before_its_observations_does_not_begin_the_work_anew() {
    let host = Host::new(step);
    let reading_of_counters = || host.clock.pass(60_000_000);
    let mut work = host.work(1).settling(true);
    let sample =
        observe_after(reading_of_counters, &Shared::new(|| 0), 20_000_000, &host.clock, &mut work).unwrap();
    assert!((median(&sample) / 100e3 - 1.0).abs() < 0.01, "{}", median(&sample));
    let timed = sample.observations.len() as u64;
    assert!(sample.operations > 2 * timed, "the counts contain those of the beginning: {sample:?}");
}

#[test]
fn where_the_steady_state_is_not_reached_there_is_no_value_and_the_reason() {
    let visit = |round| {
        let found = Host::new(drift).trial(&Shared::new(|| 0), 20, u64::from(round));
        let failure = found.expect_err("it drifts");
        Trial { outcome: TrialOutcome::from(Err(failure)), ..trial(planned(), round) }
    };
    let run = Run { trials: (1..=6).map(visit).collect(), ..fake_run() };
    let outcome = &Results::of(&run).points[0].outcome;
    let Outcome::Failed { reason } = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("not steady after 1.00 s"), "{reason}");
}
