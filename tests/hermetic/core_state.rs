//! Whether the core was its own: run files of a simulated machine whose states are known give the figures of the core alone.

use crate::described::{measured, sample_of, samples};
use fathom::experiment::{Counters, Placement, Point, TRACED_CALLS, TRACED_OPERATIONS};
use fathom::record::{PlannedPoint, Run};
use fathom::results::{CoreLevels, CoreState, InterimEstimate, KnownStates, PointResult, Results};
use fathom::sampling::{CoreReadings, Observations, OnCpu, Sample};
use fathom::verify::population::Chance;

const OPERATIONS: f64 = 100.0;

/// Nanoseconds of an operation and of its baseline with the core alone.
const COST: f64 = 233.0;
const BASE: f64 = 40.0;

/// A machine and what is observed on it.
#[derive(Clone, Copy)]
struct Simulated {
    /// The share of the time in which the core is shared.
    shared: f64,
    /// How many readings a state lasts on average.
    lasts: f64,
    trials: u32,
    observations: usize,
    baseline: bool,
    /// How often the work goes to sleep in each trial.
    sleeps: u64,
    /// How many times as long a batch takes.
    times: f64,
    /// Every how many trials a neighbour polls: it lengthens the stream by 2 % and the work by a quarter; 0 for never.
    polled: u32,
}

const BUSY: Simulated = Simulated {
    shared: 0.3,
    lasts: 40.0,
    trials: 12,
    observations: 150,
    baseline: false,
    sleeps: 0,
    times: 1.0,
    polled: 0,
};

/// A core that changes hands.
struct Core {
    shared: bool,
    is_polled: bool,
    chance: Chance,
    machine: Simulated,
}

impl Core {
    /// The time passes of one batch, and with it perhaps the state.
    fn moves_on(&mut self) {
        if self.chance.uniform() * self.machine.lasts < 1.0 {
            self.shared = self.chance.uniform() < self.machine.shared;
        }
    }

    fn readings(&mut self, core: &mut CoreReadings) {
        let alone = if self.is_polled { 1.02 } else { 1.0 };
        let longer = if self.shared { 1.4 + 0.5 * self.chance.uniform() } else { alone };
        core.stream.push((770.0 * longer * (1.0 + 0.004 * self.chance.normal())) as u32);
        core.chain.push((1000.0 * (1.0 + 0.002 * self.chance.normal())) as u32);
    }

    /// Ticks of a batch of operations of this cost, which a neighbour makes longer.
    fn batch(&mut self, cost: f64) -> i64 {
        let alone = if self.is_polled { 1.25 } else { 1.0 };
        let longer = if self.shared { 1.15 + 0.15 * self.chance.uniform() } else { alone };
        (20.0 + self.machine.times * OPERATIONS * cost * longer * (1.0 + 0.003 * self.chance.normal())) as i64
    }
}

impl Simulated {
    fn sample(self, round: u32) -> Sample {
        let mut chance = Chance::new(u64::from(round) * 77 + (100.0 * self.shared) as u64);
        let shared = chance.uniform() < self.shared;
        let is_polled = self.polled > 0 && round % self.polled == 0;
        let mut seen = Core { shared, is_polled, chance, machine: self };
        let (mut operation, mut baseline, mut core) = (vec![], vec![], CoreReadings::default());
        seen.readings(&mut core);
        for _ in 0..self.observations {
            seen.moves_on();
            operation.push(seen.batch(COST + if self.baseline { BASE } else { 0.0 }));
            seen.moves_on();
            seen.readings(&mut core);
            if self.baseline {
                seen.moves_on();
                baseline.push(seen.batch(BASE));
                seen.moves_on();
                seen.readings(&mut core);
            }
        }
        let (operations, each) = (OPERATIONS as u64, false);
        let observations = Observations::Ticks {
            operations,
            each,
            overhead_ticks: 20.0,
            beyond_ns: 0.0,
            operation,
            baseline,
        };
        let counters = Counters { voluntary_switches: self.sleeps, ..Counters::default() };
        Sample { observations, counters, core: Some(core), home: Some(1), ..Sample::default() }
    }

    fn run(self) -> Run {
        let mut run = crate::described::fake_run();
        self.visit(&mut run, &crate::described::planned());
        run
    }

    /// Adds the trials of a point.
    fn visit(self, run: &mut Run, planned: &PlannedPoint) {
        for round in 1..=self.trials {
            run.trials.push(measured(planned, round, self.sample(round)));
        }
    }
}

fn first(run: &Run) -> PointResult {
    Results::of(run).points[0].clone()
}

/// The same run as an old file has it.
fn without_readings(run: &Run) -> Run {
    let mut run = run.clone();
    samples(&mut run.trials).for_each(|sample| sample.core = None);
    run
}

/// The share of a sample's time in which its core was shared, as its batches show.
fn truly_shared(sample: &Sample) -> f64 {
    let Observations::Ticks { operation, .. } = &sample.observations else { return 0.0 };
    let sum =
        |least: f64| operation.iter().map(|ticks| *ticks as f64).filter(|ticks| *ticks > least).sum::<f64>();
    sum(1.1 * COST * OPERATIONS) / sum(0.0)
}

fn holds(point: &PointResult, truth: f64) -> bool {
    let estimate = point.estimate().expect("an estimate");
    estimate.interval.is_some_and(|interval| interval.contains(truth))
}

#[test]
fn figures_of_a_shared_machine_are_of_the_core_alone() {
    for shared in [0.3, 0.7] {
        for baseline in [false, true] {
            let run = Simulated { shared, baseline, ..BUSY }.run();
            let point = first(&run);
            let core = point.core.clone().expect("readings");
            let estimate = point.estimate().cloned().expect("an estimate");
            assert_eq!(core.state, CoreState::Alone);
            assert!(holds(&point, COST), "{shared} {baseline}: {estimate:?}");
            assert!((estimate.value / COST - 1.0).abs() < 0.005, "{estimate:?}");
            let beside = core.shared.as_ref().expect("enough is shared").value / COST;
            assert!((1.15..1.30).contains(&beside), "{shared} {baseline}: {beside}");
            let mixed = first(&without_readings(&run)).estimate().cloned().expect("an estimate");
            assert!(mixed.value > 1.02 * COST || shared < 0.5, "the mixture says something else: {mixed:?}");
        }
    }
}

#[test]
fn every_observation_is_judged_by_the_readings_on_both_of_its_sides() {
    for baseline in [false, true] {
        let point = first(&Simulated { shared: 0.5, lasts: 6.0, baseline, ..BUSY }.run());
        assert_eq!(point.core.as_ref().map(|core| core.state), Some(CoreState::Alone));
        let most = point.samples.iter().flatten().copied().fold(0.0, f64::max);
        let base = if baseline { BASE } else { 0.0 };
        // A core that changes hands twice between two readings is not found out.
        let limit = |cost: f64| 1.05 * cost;
        let over = point.samples.iter().flatten().filter(|value| **value > limit(COST + base)).count();
        let all = point.samples.iter().map(Vec::len).sum::<usize>();
        assert!(all > 100 && 25 * over < all, "{over} of {all}, up to {most}");
    }
}

#[test]
fn the_share_of_the_time_is_told() {
    for shared in [0.0, 0.3, 0.7] {
        let run = Simulated { shared, trials: 40, ..BUSY }.run();
        let results = Results::of(&run);
        let found = results.core_shared.as_ref().expect("readings");
        let truth = run.samples().map(truly_shared).sum::<f64>() / 40.0;
        assert!((found.share - truth).abs() < 0.02, "{truth}: {found:?}");
        let of_point = results.points[0].core.as_ref().and_then(|core| core.shared_share).expect("readings");
        assert!((of_point - found.share).abs() < 1e-9);
        assert_eq!(found.levels.shared.is_some(), shared > 0.0);
    }
}

#[test]
fn trials_with_too_little_of_the_core_alone_are_left_out() {
    let run = Simulated { shared: 0.5, lasts: 300.0, trials: 30, ..BUSY }.run();
    let point = first(&run);
    let estimate = point.estimate().cloned().expect("an estimate");
    assert_eq!(point.core.as_ref().map(|core| core.state), Some(CoreState::Alone));
    assert!((6..30).contains(&estimate.trials), "{estimate:?}");
    assert!(holds(&point, COST) && point.samples.iter().all(|sample| sample.len() >= 6), "{estimate:?}");
    assert_eq!(point.by_round.len(), estimate.trials);
}

#[test]
fn a_few_misjudged_readings_make_no_trial_one_of_the_core_alone() {
    let planned = crate::described::planned();
    let mut run = crate::described::fake_run();
    Simulated { shared: 1.0, trials: 7, ..BUSY }.visit(&mut run, &planned);
    for sample in samples(&mut run.trials) {
        // Each twelfth observation lies between readings that seem to be of the core alone.
        let core = sample.core.as_mut().expect("readings");
        (0..144).step_by(12).for_each(|place| core.stream[place..place + 4].fill(770));
    }
    Simulated { shared: 0.0, trials: 5, ..BUSY }.visit(&mut run, &planned);
    let point = first(&run);
    let estimate = point.estimate().cloned().expect("an estimate");
    assert_eq!(point.core.as_ref().map(|core| core.state), Some(CoreState::Alone));
    assert!(estimate.trials == 5 && (estimate.value / COST - 1.0).abs() < 0.01, "{estimate:?}");
    assert!(estimate.interval.is_some_and(|ends| ends.high < 1.02 * COST), "{estimate:?}");
}

#[test]
fn where_the_core_was_never_alone_the_figure_is_that_of_the_core_shared_and_says_so() {
    // The levels are known from another point's trials.
    let planned = crate::described::planned();
    let other = PlannedPoint { experiment: "cpu/other".to_owned(), ..planned.clone() };
    let mut run = Run::begun(crate::described::header(vec![planned.clone(), other.clone()]));
    Simulated { shared: 1.0, trials: 8, ..BUSY }.visit(&mut run, &planned);
    BUSY.visit(&mut run, &other);
    let point = first(&run);
    let core = point.core.clone().expect("readings");
    assert_eq!((core.state, core.observations[0]), (CoreState::Shared, 0));
    assert!(core.shared_share.is_some_and(|share| share > 0.99));
    assert_eq!(point.estimate(), core.shared.as_ref());
}

#[test]
fn work_that_hands_its_cpu_over_is_short_work_too() {
    let run = Simulated { sleeps: 900, ..BUSY }.run();
    let point = first(&run);
    assert_eq!(point.core.as_ref().map(|core| core.state), Some(CoreState::Alone));
    assert!(holds(&point, COST), "{:?}", point.estimate());
}

#[test]
fn of_work_as_long_as_a_state_lasts_only_the_share_is_told() {
    let run = Simulated { times: 100.0, ..BUSY }.run();
    let point = first(&run);
    assert_eq!(
        point.core.as_ref().map(|core| (core.state, core.shared.is_none())),
        Some((CoreState::AtEnds, true))
    );
    assert!(point.core.as_ref().is_some_and(|core| core.shared_share.is_some()));
    assert_eq!(point.estimate(), first(&without_readings(&run)).estimate());
}

#[test]
fn readings_that_do_not_stand_beside_every_observation_tell_the_share_alone() {
    let mut run = BUSY.run();
    for sample in samples(&mut run.trials[..6]) {
        let core = sample.core.as_mut().expect("readings");
        core.stream.truncate(2);
        core.chain.truncate(2);
    }
    let found = first(&run).estimate().cloned().expect("an estimate");
    assert_eq!(found.trials, 6, "of the others none is known to be alone");
}

#[test]
fn a_file_without_readings_says_nothing_of_the_core() {
    let run = without_readings(&BUSY.run());
    let results = Results::of(&run);
    assert!(results.core_shared.is_none() && results.points[0].core.is_none());
    assert!(CoreLevels::of(&run).is_none());
}

#[test]
fn on_another_cpu_the_levels_are_not_looked_for() {
    let mut run = BUSY.run();
    run.header.settings.home = 3;
    assert!(CoreLevels::of(&run).is_none(), "its core may be of another kind");
}

/// Work between two cores: the one that measures is alone all the time, and the other has a neighbour of its own, who makes a batch
/// longer.
fn between_two_cores(lasts: f64, told: bool) -> Run {
    let planned = crate::described::planned();
    let other = PlannedPoint { experiment: "cpu/other".to_owned(), ..planned.clone() };
    let mut run = Run::begun(crate::described::header(vec![planned.clone(), other.clone()]));
    let far = Simulated { shared: 0.5, lasts, trials: 30, ..BUSY };
    far.visit(&mut run, &planned);
    for trial in &mut run.trials {
        trial.point = Point::at(Placement::AcrossCpus);
        let Some(sample) = sample_of(trial) else { continue };
        let core = sample.core.as_mut().expect("readings");
        let reading = |nth: usize| [nth as u32 + 1, core.stream[nth], core.chain[nth]];
        // The other side reads less often.
        let taken = (0..core.stream.len()).step_by(5).map(reading);
        core.partner = if told { taken.collect() } else { vec![] };
        core.stream.iter_mut().for_each(|ticks| *ticks = 770);
    }
    run.header.plan[0].point = run.trials[0].point.clone();
    // The levels are known from work on one CPU.
    BUSY.visit(&mut run, &other);
    run
}

#[test]
fn of_work_between_two_cores_both_must_have_been_alone() {
    let point = first(&between_two_cores(60.0, true));
    let core = point.core.clone().expect("readings");
    let estimate = point.estimate().cloned().expect("an estimate");
    assert_eq!(core.state, CoreState::Alone);
    assert!(holds(&point, COST) && (estimate.value / COST - 1.0).abs() < 0.005, "{estimate:?}");
    assert!(core.shared.is_some_and(|shared| (1.15..1.30).contains(&(shared.value / COST))));
    // By the core that measures alone all of it would be of the core alone.
    let one = first(&between_two_cores(60.0, false));
    assert_eq!(one.core.as_ref().map(|core| core.state), Some(CoreState::AtEnds));
    let mixed = one.estimate().and_then(|mixed| mixed.interval).expect("an interval");
    assert!(mixed.high > 1.1 * COST, "{mixed:?}");
}

#[test]
fn a_trial_whose_other_core_was_not_read_is_in_no_known_state() {
    let mut run = between_two_cores(60.0, true);
    for sample in samples(&mut run.trials[..20]) {
        sample.core.as_mut().expect("readings").partner.clear();
    }
    let point = first(&run);
    assert_eq!(point.core.as_ref().map(|core| core.state), Some(CoreState::Alone));
    assert!(holds(&point, COST) && point.estimate().is_some_and(|found| found.trials <= 10));
}

#[test]
fn a_trial_beside_a_neighbour_that_polls_is_not_of_the_core_alone() {
    let planned = crate::described::planned();
    let other = PlannedPoint { experiment: "cpu/other".to_owned(), ..planned.clone() };
    for shared in [0.2, 0.45] {
        let mut run = Run::begun(crate::described::header(vec![planned.clone(), other.clone()]));
        // One trial of seven, as in a default run: what other trials read is known.
        Simulated { shared, trials: 7, polled: 5, ..BUSY }.visit(&mut run, &planned);
        Simulated { shared, trials: 30, ..BUSY }.visit(&mut run, &other);
        let point = first(&run);
        let estimate = point.estimate().expect("an estimate");
        assert!((estimate.value / COST - 1.0).abs() < 0.003, "{shared}: {estimate:?}");
        assert!(estimate.interval.is_some_and(|ends| ends.high < 1.02 * COST), "{shared}: {estimate:?}");
        assert_eq!(point.core.expect("readings").state, CoreState::Alone);
    }
}

#[test]
fn a_run_that_adds_trial_by_trial_comes_to_the_same_headline() {
    let run = BUSY.run();
    let mut levels = CoreLevels::default();
    run.trials.iter().for_each(|trial| levels.add(&run.header, trial, levels.levels().as_ref()));
    assert_eq!(levels.levels(), CoreLevels::of(&run));
    let trials: Vec<_> = run.trials.iter().collect();
    let planned = crate::described::planned();
    let known = levels.levels();
    let usual_hz = fathom::results::core_hz(&run);
    let states = KnownStates { core: known.as_ref(), usual_hz, ..KnownStates::default() };
    let interim = InterimEstimate::of(&run, &planned, &trials, states);
    let headline = interim.headline.expect("a headline");
    let point = first(&run);
    assert_eq!((Some(headline.estimate), headline.core), (point.estimate().cloned(), Some(CoreState::Alone)));
}

#[test]
fn no_prediction_rests_on_a_single_trial_that_was_kept_off_its_cpu_or_did_something_else() {
    fathom::experiments::register();
    let planned = crate::described::planned();
    let interim = |cpu_ns: u64, involuntary_switches: u64, calls: f64| {
        let mut run = Run::begun(crate::described::header(vec![planned.clone()]));
        // A quota ended in one of two observations, as in a run with half a CPU.
        let mut sample = crate::described::batches_of_1000(1, vec![86_000, 8_541_000], 2.7e9);
        sample.on_cpu =
            Some(OnCpu { wall_ns: 4_377_000, cpu_ns, voluntary_switches: 0, involuntary_switches });
        let traced = [(TRACED_CALLS, calls), (TRACED_OPERATIONS, 1.0)];
        sample.witnessed = traced.map(|(name, count)| (name.to_owned(), count)).into();
        run.trials.push(measured(&planned, 1, sample));
        let trials: Vec<_> = run.trials.iter().collect();
        InterimEstimate::of(&run, &planned, &trials, KnownStates::default())
    };
    let kept_off = interim(380_000, 1, 1.0);
    assert!(kept_off.is_disturbed && kept_off.headline.is_some());
    assert_eq!(kept_off.basis(planned.unit), None);
    let ran = interim(4_370_000, 0, 1.0);
    assert!(!ran.is_disturbed && ran.basis(planned.unit).is_some());
    let of_three_calls = interim(4_370_000, 0, 3.0);
    assert!(!of_three_calls.is_disturbed && of_three_calls.headline.is_some());
    assert_eq!(of_three_calls.basis(planned.unit), None, "a check fails");
}
