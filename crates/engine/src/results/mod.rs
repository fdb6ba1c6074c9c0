//! From a run file to results: estimates, outcomes, evidence, fits and findings. Pure functions of the run file; the reports
//! only show what is computed here.

mod accuracy;
mod at_usual;
mod beginnings;
pub mod bounds;
mod by_end;
mod choices;
mod clauses;
mod core_cycles;
mod counter_step;
mod core_frequency;
mod core_state;
mod core_use;
pub(crate) mod cpu_distance;
mod cpu_positions;
mod cross_checks;
mod device_time;
mod distinct_modes;
mod disturbance;
mod drift;
mod evidence;
mod explanation;
mod farther;
mod furthest;
mod headline;
mod influence_part;
mod inputs_elsewhere;
mod inputs_unusable;
mod known_states;
mod line_groups;
mod mechanisms;
mod missed;
mod mixture;
mod nearness;
pub mod other_work;
mod open_levels;
mod outcome;
#[cfg(test)]
mod planted;
mod placements;
mod predicted_elsewhere;
mod point;
mod point_states;
mod point_estimate;
mod processor_time;
mod published_statistics;
mod valid_trials;
mod time_spent;
mod trend;
mod unlike_cpus;
pub(crate) mod virtual_peer;
mod visit;
mod visits;
mod vm_exit;

pub use accuracy::{Accuracy, CLOSE, FAIR, Share, Tally, Worst, distance};
pub use at_usual::AtUsual;
pub use beginnings::Beginnings;
pub use choices::ChoiceResult;
pub use clauses::ClauseAnswer;
pub use core_frequency::{by_chain, core_hz, core_hz_of, step_of_chain};
pub(crate) use core_state::shared_on_arrivals;
pub use core_state::{CoreLevels, CoreShared, CoreState};
pub use counter_step::CounterStep;
pub use cpu_distance::{CpuDistance, CpuDistances, LINE_HAND_OVER, is_of_both};
pub use cpu_positions::{CpuPosition, LoadSlowing, StreamSlowing, WHAT_CPUS_SHARE};
pub use cross_checks::{Agreement, CrossCheck};
pub use device_time::DeviceTime;
pub use disturbance::Disturbance;
pub use drift::{Drift, ExperimentDrift, FEWEST as FEWEST_FOR_DRIFT, TrialSpans};
pub use evidence::Evidence;
pub use explanation::{Explanation, MissTally};
pub use furthest::FurthestMisses;
pub(crate) use headline::COARSE;
pub use headline::{Headline, InterimEstimate};
pub use influence_part::{InfluencePart, MissMechanism};
pub use inputs_elsewhere::WITHDRAWN;
pub use known_states::KnownStates;
pub(crate) use known_states::moves_to_one_frequency;
pub use mechanisms::{Mechanism, MechanismKind};
pub use mixture::{MachineState, Mixture, StatePart, TrialState};
pub use nearness::PredictionNearness;
pub use outcome::{Outcome, budget, rounded};
pub(crate) use point::is_each;
pub use point::{PointResult, REMAINDER};
pub use point_states::{PointAtDevice, PointCore, PointDistance};
pub use processor_time::ProcessorTime;
pub use published_statistics::{PublishedStatistics, mean_over_time, ticks_and_cycles};
pub use time_spent::{RunTime, TimeSpent};
pub use trend::{PredictedStep, TrendResult};
pub use unlike_cpus::{UnlikeCpu, is_on_unlike};
pub(crate) use valid_trials::ValidTrials;
pub use visits::CoreTrials;
pub(crate) use visits::Visits;

use crate::record::{Method, Run};
use by_end::WholeRun;
use core_frequency::UsualFrequency;
use core_use::OfEitherState;
use fathom_core::experiment::{Experiment, Finding, Found, Known, Levels, Point};
use fathom_core::statistics::Interval;
use known_states::RunStates;
use missed::Figures;
use point::first_of_each;
use std::borrow::Cow;

/// All results that follow from a run file.
pub struct Results<'run> {
    /// The run file.
    pub run: &'run Run,
    /// One result per point, in the order of the plan.
    pub points: Vec<PointResult>,
    /// The lines fitted through sweeps.
    pub trends: Vec<TrendResult>,
    /// The findings, by experiment.
    pub findings: Vec<(String, Vec<Finding>)>,
    /// The levels of a memory hierarchy that the results show, by experiment.
    pub levels: Vec<(String, Levels)>,
    /// The findings over all experiments together.
    pub overall: Vec<Finding>,
    /// What a program can choose, and what either way costs here, the greatest differences first.
    pub choices: Vec<ChoiceResult>,
    /// What the rules over figures, of several experiments or of one, conclude: causes, and what is none.
    pub mechanisms: Vec<Mechanism>,
    /// Comparisons of figures of several experiments that should agree.
    pub cross_checks: Vec<CrossCheck>,
    /// The accuracy of the predictions.
    pub accuracy: Accuracy,
    /// The observed core frequency, median over trials, hertz.
    pub core_hz: Option<f64>,
    /// What most trials' frequencies lie between, hertz.
    pub core_hz_ends: Option<Interval>,
    /// The step in which the clock's counter advances; `None` where the recorded durations show none.
    pub counter_step: Option<CounterStep>,
    /// CPUs of the run's kind that are unlike its own, and whose trials are left out.
    pub unlike_cpus: Vec<UnlikeCpu>,
    /// The share of the time in which the core was shared, with its derivation; `None` if the run file does not contain it.
    pub core_shared: Option<CoreShared>,
    /// The distances of the run's two CPUs; `None` if there was one, or they were not looked at.
    pub cpu_distances: Option<CpuDistances>,
    /// The positions of the run's two CPUs, the seldom ones too, with what lies at each; none if they were at one, or were not looked at.
    pub cpu_positions: Vec<CpuPosition>,
    /// What a direct read of the device took at the trials that waited for it; `None` if none did, or it was not read.
    pub device_time: Option<DeviceTime>,
}

impl<'run> Results<'run> {
    /// Computes all results; the same run file gives the same results.
    pub fn of(run: &'run Run) -> Self {
        let states = RunStates::of(run);
        let unlike_cpus = UnlikeCpu::all(run, states.core.as_ref());
        let mut points = point::results(run, states.known(), &unlike_cpus);
        let mut known = supported(run, &points, &states, PointResult::figure);
        if bounds::mark(&mut points, &known) {
            known = supported(run, &points, &states, PointResult::figure);
        }
        let mut beside_a_neighbour = core_use::are_unlike(&points)
            .then(|| supported(run, &points, &states, core_use::with_the_core_shared));
        if let Some(beside) = &mut beside_a_neighbour {
            beside.decided_by = Some(&known);
        }
        let either = OfEitherState { main: &known, shared: beside_a_neighbour.as_ref().unwrap_or(&known) };
        let mut whole = WholeRun::of(&points, &without_points(run, states.frequency));
        if let Some(distances) = &states.distances {
            let on_both = points.iter().filter(|point| is_of_both(&run.header, &point.point));
            whole.teach_usual_line(distances, on_both);
        }
        let is_on_both = |point: &Point| is_of_both(&run.header, point);
        predicted_elsewhere::mark(&mut points, is_on_both, &without_points(run, states.frequency));
        if let Some(distances) = &states.distances {
            inputs_elsewhere::withdraw(run, &mut points, distances);
        }
        inputs_unusable::withdraw(&mut points);
        by_end::mark(&mut points, &whole);
        let methods: Vec<&dyn Experiment> = experiments_of(&points).collect();
        let names: Vec<String> = first_of_each(&points).map(|point| point.experiment.clone()).collect();
        let shared = with_the_core_shared(&points);
        let levels = methods.iter().filter_map(|experiment| {
            let about = experiment.about();
            let shown = |known| (about.shown.levels)(known);
            // Where too little is known of one state of the core, the other says what levels there are.
            let states = [shown(either.main), shown(either.shared)];
            Some((about.name.to_owned(), states.into_iter().flatten().reduce(Levels::beside)?))
        });
        let levels: Vec<(String, Levels)> = levels.collect();
        let cpu_positions = CpuPosition::all(run, &points, states.distances.as_ref(), states.core.as_ref());
        let of_one_core = cpu_positions.iter().filter(|position| position.is_of_one_core());
        let one_core_ns: Vec<f64> = of_one_core.map(|position| position.at.line_ns).collect();
        let misses = missed::explain(
            &names.iter().map(String::as_str).collect::<Vec<_>>(),
            &mut points,
            Figures {
                supported: &known,
                whole: &whole,
                shared: &shared,
                levels: &levels,
                one_core_ns: &one_core_ns,
            },
        );
        // Of another version of a method there are no findings, but its predictions missed nevertheless.
        let of_method = |name: &str| methods.iter().find(|experiment| experiment.about().name == name);
        let mut findings: Vec<(String, Vec<Finding>)> = misses
            .others
            .into_iter()
            .map(|(name, missed)| {
                let own = of_method(&name)
                    .map(|experiment| core_use::findings(*experiment, either))
                    .unwrap_or_default();
                let farther = farther::finding(points.iter().filter(|point| point.experiment == name));
                (name, own.into_iter().chain(farther).chain(missed).collect())
            })
            .filter(|(_, findings): &(String, Vec<Finding>)| !findings.is_empty())
            .collect();
        let choices = core_use::choices(either);
        let mut mechanisms = core_use::mechanisms(either, &points);
        mechanisms::mark_influences(&mut points, &known, &mechanisms);
        let mut cross_checks = core_use::cross_checks(either);
        cross_checks::tell_apart(&mut cross_checks, &mut points, &run.header.machine);
        cross_checks::mark_denied(&mut points, cross_checks.iter().flat_map(|check| &check.denials));
        let mut trends = trend::trends(run, &points, |_| true);
        let mut overall: Vec<Finding> =
            accuracy::finding(&points).into_iter().chain(misses.overall).collect();
        if virtual_peer::has_one(run) {
            virtual_peer::name(&mut points, &mut trends, &mut findings);
            let causes = mechanisms.iter_mut().flat_map(|cause| [&mut cause.headline, &mut cause.because]);
            let checks = cross_checks.iter_mut().flat_map(|check| [&mut check.statement, &mut check.brief]);
            let overall = overall.iter_mut().map(|finding| &mut finding.statement);
            causes.chain(checks).chain(overall).for_each(virtual_peer::name_in);
        }
        let accuracy = Accuracy::of(&points);
        let core_shared = states.core.and_then(|levels| CoreShared::of(run, &levels));
        Results {
            run,
            points,
            trends,
            findings,
            levels,
            overall,
            choices,
            mechanisms,
            cross_checks,
            accuracy,
            core_hz: states.frequency.hz,
            core_hz_ends: states.frequency.ends,
            counter_step: CounterStep::of(run),
            unlike_cpus,
            core_shared,
            cpu_distances: states.distances,
            cpu_positions,
            device_time: states.device,
        }
    }

    /// The results of the selected experiments, each as in the whole run; findings over several experiments are left out.
    #[must_use]
    pub fn only(mut self, is_wanted: impl Fn(&str) -> bool) -> Self {
        self.points.retain(|point| is_wanted(&point.experiment));
        for point in &mut self.points {
            (point.influence, point.miss_mechanism) = (None, None);
        }
        self.trends.retain(|trend| is_wanted(&trend.experiment));
        self.findings.retain(|(experiment, _)| is_wanted(experiment));
        self.levels.retain(|(experiment, _)| is_wanted(experiment));
        self.overall.clear();
        self.choices.clear();
        self.mechanisms.clear();
        self.cross_checks.clear();
        self.accuracy = Accuracy::of(&self.points);
        self
    }

    /// The figures found by the methods of this program, with the experiments' own names of points.
    pub fn known(&self) -> Known<'run> {
        let mut known = Known::new(&self.run.header.machine, self.core_hz);
        known.core_hz_ends = self.core_hz_ends;
        known.virtual_peer = virtual_peer::has_one(self.run);
        for point in self.points.iter().filter(|point| point.method().is_ok()) {
            if let Some(figure) = point.figure() {
                known.learn(&point.experiment, &virtual_peer::unnamed(&point.point), figure);
            }
        }
        for trend in self.trends.iter().filter(|trend| self.experiment(&trend.experiment).is_some()) {
            trend.teach(&mut known, &virtual_peer::unnamed(&trend.group));
        }
        known
    }

    /// Whether the plan has a point at another placement as well, so that its name has to say where it is.
    pub fn is_of_several_placements(&self, experiment: &str, point: &Point) -> bool {
        placements::is_of_several_placements(&self.points, experiment, point)
    }

    /// A point with the names of these results.
    pub fn shown(&self, point: &Point) -> Point {
        if virtual_peer::has_one(self.run) { virtual_peer::shown(point) } else { point.clone() }
    }

    /// The names of the experiments in the plan, in its order.
    pub fn experiments(&self) -> Vec<&str> {
        first_of_each(&self.points).map(|point| point.experiment.as_str()).collect()
    }

    /// The results of one experiment.
    pub fn of_experiment<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a PointResult> {
        self.points.iter().filter(move |point| point.experiment == name)
    }

    /// The experiment of this name, if this program has the method version that measured the run.
    pub fn experiment(&self, name: &str) -> Option<&'static dyn Experiment> {
        self.of_experiment(name).next()?.method().ok()
    }

    /// The method by which an experiment was measured; `None` if neither this program nor the run file describes it.
    pub fn method(&self, name: &str) -> Option<Cow<'run, Method>> {
        point::method(self.run, name, self.of_experiment(name).next()?.method_version)
    }

    /// The findings about one experiment.
    pub fn findings_of(&self, name: &str) -> &[Finding] {
        let found = self.findings.iter().find(|(experiment, _)| experiment == name);
        found.map_or(&[], |(_, said)| said)
    }

    /// Points whose outcome is a failure of some kind.
    pub fn failures(&self) -> usize {
        self.points.iter().filter(|point| point.outcome.is_failure()).count()
    }

    /// Whether something went wrong: a point failed, or a peer was lost during the run. It determines the exit status.
    pub fn has_failed(&self) -> bool {
        let lost = self.run.closing.as_ref().is_some_and(|closing| closing.peer_lost.is_some());
        lost || self.failures() > 0
    }
}

/// The run with the predictions of this program in place of its own. Points of other versions of a method keep theirs, and bounds stay.
///
/// A run file keeps the predictions that were made before its measurements. These are made afterwards, from the machine's description and
/// the figures of the finished run, to judge today's predictors by machines that were measured earlier. No predictor uses the point that
/// it predicts, nor a later experiment (`tests/hermetic/predictions`), so a result is still not part of its own prediction.
#[must_use]
pub fn predicted_again(mut run: Run) -> Run {
    let states = RunStates::of(&run);
    let unlike = UnlikeCpu::all(&run, states.core.as_ref());
    let results = point::results(&run, states.known(), &unlike);
    let known = by_end::figures(&results, None, without_points(&run, states.frequency));
    let mut lines = run.predictions.clone();
    for line in &mut lines {
        let of_line =
            |result: &&PointResult| result.experiment == line.experiment && result.point == line.point;
        let Some(Ok(method)) = results.iter().find(of_line).map(PointResult::method) else { continue };
        (line.prediction, line.unpredicted) = match method.predict(&line.point, &known) {
            Ok(prediction) => (Some(prediction), None),
            Err(reason) => (None, Some(reason)),
        };
    }
    drop(known);
    run.predictions = lines;
    run
}

/// The experiments that can have findings: those of which this program has the method version that measured the run.
fn experiments_of(points: &[PointResult]) -> impl Iterator<Item = &'static dyn Experiment> {
    first_of_each(points).filter_map(|point| point.method().ok())
}

/// What is known of a run without the figures of its points.
fn without_points(run: &Run, frequency: UsualFrequency) -> Known<'_> {
    let mut known = Known::new(&run.header.machine, frequency.hz);
    known.core_hz_ends = frequency.ends;
    known.virtual_peer = virtual_peer::has_one(run);
    known
}

/// The figures on which findings may rest: supported points that have a value.
fn supported<'run>(
    run: &'run Run,
    points: &[PointResult],
    states: &RunStates,
    figure: fn(&PointResult) -> Option<Found>,
) -> Known<'run> {
    let mut known = without_points(run, states.frequency);
    known.line_looks = states.distances.as_ref().map(CpuDistances::line_looks).unwrap_or_default();
    for point in points.iter().filter(|point| point.is_supported()) {
        if let Some(figure) = figure(point) {
            known.learn(&point.experiment, &point.point, figure);
        }
        if let Some(share) = point.disturbance.preempted_share() {
            known.learn_preempted(&point.experiment, &point.point, share);
        }
    }
    for trend in trend::trends(run, points, PointResult::evidence_holds) {
        trend.teach(&mut known, &trend.group);
    }
    known
}

fn with_the_core_shared(points: &[PointResult]) -> Vec<(String, Point, Found)> {
    let of = |point: &PointResult| {
        Some((point.experiment.clone(), point.point.clone(), Found::of(point.shared()?, point.unit)))
    };
    points.iter().filter(|point| !point.is_doubtful()).filter_map(of).collect()
}
