//! What the trials of a run decide about each requirement.

use super::conditions;
use super::file::{Condition, Demand, Measurand, Per, Requirements, RightSide};
use super::targets::{DemandTarget, Targets};
use crate::record::{PlannedPoint, Run, Trial};
use crate::results::{CoreLevels, CoreState, KnownStates, Outcome, ValidTrials, Visits, is_each};
use fathom_core::experiment::{Bound, Point};
use fathom_core::quantity::Unit;
use fathom_core::statistics::{self, Levels, SequentialEstimate, SideErrors, SideOfMean};

/// The greatest probability that one requirement is said to be met that is not, and that any of a file is said not to be met
/// where all are.
pub const ERROR: f64 = 0.05;

/// No decision rests on fewer trials: those of a plan.
const LEAST_TRIALS: usize = crate::plan::PROMISED_TRIALS;

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// The requirement is met.
    Meets,
    /// Neither was shown.
    Undecided,
    /// The requirement is not met.
    Fails,
}

impl Judgement {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Meets => "meets",
            Judgement::Undecided => "undecided",
            Judgement::Fails => "fails",
        }
    }
}

/// A requirement, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// What was decided.
    pub judgement: Judgement,
    /// Why nothing was decided; `None` if something was.
    pub reason: Option<String>,
    /// Whether more trials may decide it.
    pub is_open: bool,
    /// The point of the figure; `None` if there is none.
    pub point: Option<(String, Point)>,
    /// The unit of the numbers; `None` for a count, and where there are none.
    pub unit: Option<Unit>,
    /// The limit, in that unit.
    pub limit: f64,
    /// The right side of the limit in that unit: a least rate of operations is a greatest time.
    pub direction: RightSide,
    /// Whether operations a second were asked of a figure that is the time of one.
    pub asked_as_rate: bool,
    /// The figure with its interval; `None` if nothing was measured, or the sample does not support it.
    pub estimate: Option<SequentialEstimate>,
    /// The share of observations (or trials) on the right side of the limit.
    pub share: Option<f64>,
    /// The trials on which it rests.
    pub trials: usize,
    /// Their observations.
    pub observations: usize,
    /// The trials after which it was decided.
    pub after_trials: Option<usize>,
    /// When it was decided, seconds from the start of the run.
    pub at_s: Option<f64>,
    /// The trials that a decision for it needs at least.
    pub fewest_trials: Option<usize>,
    /// What the figure cannot pass on this machine, with the reason.
    pub bound: Option<Bound>,
    /// The greatest probability that it is said not to be met although it is; `None` if it is not decided by trials.
    pub failure_error: Option<f64>,
}

impl Assessment {
    fn undecided(demand: &Demand, reason: impl Into<String>) -> Self {
        Assessment {
            judgement: Judgement::Undecided,
            reason: Some(reason.into()),
            is_open: false,
            point: None,
            unit: None,
            limit: demand.limit.value,
            direction: demand.direction,
            asked_as_rate: false,
            estimate: None,
            share: None,
            trials: 0,
            observations: 0,
            after_trials: None,
            at_s: None,
            fewest_trials: None,
            bound: None,
            failure_error: None,
        }
    }

    /// How far the value stays clear of the limit, as a share of the limit as it was asked: negative on the wrong side.
    pub fn margin(&self) -> Option<f64> {
        self.clearance(self.estimate?.value)
    }

    /// The same of the end of the interval that is nearer to the limit, or beyond it: what the trials have shown.
    pub fn shown_margin(&self) -> Option<f64> {
        let estimate = self.estimate?;
        let (worst, best) = match self.direction {
            RightSide::AtMost => (estimate.high, estimate.low),
            RightSide::AtLeast => (estimate.low, estimate.high),
        };
        match self.judgement {
            Judgement::Fails => self.clearance(best?),
            Judgement::Meets | Judgement::Undecided => self.clearance(worst?),
        }
    }

    fn clearance(&self, value: f64) -> Option<f64> {
        if self.asked_as_rate {
            let more = self.limit / value - 1.0;
            return Some(if self.direction == RightSide::AtMost { more } else { -more });
        }
        let beyond = (self.limit - value) / self.limit;
        Some(match self.direction {
            RightSide::AtMost => beyond,
            RightSide::AtLeast => -beyond,
        })
    }
}

impl Targets {
    /// The points about which more trials may decide something, as indices.
    pub fn open_points(&self, judged: &[Assessment]) -> Vec<usize> {
        let open = |(target, judged): (&DemandTarget, &Assessment)| match target {
            _ if !judged.is_open => None,
            DemandTarget::Point(point) => Some(*point),
            DemandTarget::Condition => self.shows_the_core,
            DemandTarget::Missing(_) => None,
        };
        self.targets.iter().zip(judged).filter_map(open).collect()
    }
}

/// Judges every requirement by the trials of a run so far.
pub fn judge(requirements: &Requirements, targets: &Targets, run: &Run) -> Vec<Assessment> {
    let levels = CoreLevels::of(run);
    let errors = errors(requirements, targets);
    let judged = |(demand, target): (&Demand, &DemandTarget)| match target {
        DemandTarget::Missing(reason) => Assessment::undecided(demand, reason),
        DemandTarget::Condition => condition(demand, errors, run),
        DemandTarget::Point(index) => point(demand, errors, run, (&run.header.plan[*index], levels.as_ref())),
    };
    requirements.demands.iter().zip(&targets.targets).map(judged).collect()
}

/// The errors of one requirement of a file, about the share that keeps its limit. The file fails if any requirement does, so these have
/// the error of a failure among them in equal parts (Bonferroni); it is met only if all are, so for that each has the whole.
fn errors(requirements: &Requirements, targets: &Targets) -> SideErrors {
    let by_trials = |(demand, target): &(&Demand, &DemandTarget)| match target {
        DemandTarget::Point(_) => true,
        DemandTarget::Condition => demand.measurand == Measurand::Condition(Condition::CoreShared),
        DemandTarget::Missing(_) => false,
    };
    let count = requirements.demands.iter().zip(&targets.targets).filter(by_trials).count();
    SideErrors { below: ERROR / count.max(1) as f64, above: ERROR }
}

fn condition(demand: &Demand, errors: SideErrors, run: &Run) -> Assessment {
    let Measurand::Condition(condition) = demand.measurand else {
        return Assessment::undecided(demand, "it is no condition");
    };
    let unit = conditions::unit(condition);
    if condition == Condition::CoreShared {
        return core_shared(demand, errors, unit, run);
    }
    let Some(value) = conditions::fact(condition, &run.header.machine) else {
        return Assessment::undecided(demand, "this machine does not say");
    };
    let meets = match demand.direction {
        RightSide::AtMost => value <= demand.limit.value,
        RightSide::AtLeast => value >= demand.limit.value,
    };
    Assessment {
        judgement: if meets { Judgement::Meets } else { Judgement::Fails },
        reason: None,
        unit,
        estimate: Some(SequentialEstimate { value, low: Some(value), high: Some(value) }),
        ..Assessment::undecided(demand, "")
    }
}

fn core_shared(demand: &Demand, errors: SideErrors, unit: Option<Unit>, run: &Run) -> Assessment {
    let arrivals = match conditions::core_shared(run) {
        Ok(arrivals) => arrivals,
        Err(reason) => return Assessment { is_open: true, unit, ..Assessment::undecided(demand, reason) },
    };
    let shared: Vec<f64> = arrivals.iter().map(|(_, shared)| *shared).collect();
    let keeping: Vec<f64> = shared.iter().map(|shared| 1.0 - shared).collect();
    let ends = arrivals.iter().map(|(end, _)| *end).collect();
    let millions = |share: f64| share * 1e6;
    let estimate =
        statistics::sequential_mean(&shared, errors.of_the_rest()).map(|mean| SequentialEstimate {
            value: millions(mean.value),
            low: mean.low.map(millions),
            high: mean.high.map(millions),
        });
    let series =
        KeepingShares { observations: keeping.len(), keeping, ends, errors, estimate, supported: true };
    let needed = 1.0 - demand.limit.value / 1e6;
    series.judged(demand, needed, Assessment { unit, ..Assessment::undecided(demand, "") })
}

fn point(
    demand: &Demand,
    errors: SideErrors,
    run: &Run,
    (planned, levels): (&PlannedPoint, Option<&Levels>),
) -> Assessment {
    let Ok((limit, turned)) = demand.limit.in_unit(planned.unit) else {
        return Assessment::undecided(demand, "the limit is none of this figure");
    };
    let direction = if turned { demand.direction.opposite() } else { demand.direction };
    let trials: Vec<&Trial> = run.trials.iter().filter(|trial| is_of(trial, planned)).collect();
    let expected = run
        .predictions
        .iter()
        .find(|line| line.experiment == planned.experiment && line.point == planned.point);
    let judged = Assessment {
        point: Some((planned.experiment.clone(), planned.point.clone())),
        unit: Some(planned.unit),
        limit,
        direction,
        asked_as_rate: turned,
        bound: expected.and_then(|expected| expected.bound.clone()),
        is_open: true,
        ..Assessment::undecided(demand, NO_TRIAL)
    };
    if let Some(reason) = unusable(planned, &trials) {
        return Assessment { reason: Some(reason), ..judged };
    }
    let test = LimitTest { limit, direction, errors };
    match KeepingShares::of(demand, run, planned, &trials, levels, test) {
        Ok(series) => series.judged(demand, demand.share, judged),
        Err(Unusable { reason, is_open }) => Assessment { reason: Some(reason), is_open, ..judged },
    }
}

const NO_TRIAL: &str = "no trial of it was made: allow a larger `--budget`";

fn is_of(trial: &Trial, planned: &PlannedPoint) -> bool {
    trial.experiment == planned.experiment && trial.point == planned.point
}

/// Why the trials of a point show nothing; `None` if they do.
fn unusable(planned: &PlannedPoint, trials: &[&Trial]) -> Option<String> {
    if trials.is_empty() {
        return Some(NO_TRIAL.to_owned());
    }
    let observed = trials.iter().any(|trial| trial.observed());
    if !observed {
        return Outcome::unmeasured(planned, trials).reason();
    }
    let valid = ValidTrials::of(planned.method(), trials);
    if let Some(check) = valid.disturbed {
        return Some(format!("disturbed: {}", check.seen));
    }
    let doubt = valid.remark.filter(|check| !check.holds);
    doubt.map(|check| format!("its evidence does not hold: {}", check.seen))
}

/// Why the trials of a point have no figure that is demanded, and whether more of them may have it.
struct Unusable {
    reason: String,
    is_open: bool,
}

const BATCHES: &str =
    "its operations are timed in batches, so there is no share of single ones; `of = \"trials\"` is possible";
const NOT_ALONE: &str = "too few of its trials are known to have had the core alone";

/// A limit in the unit of a figure, its right side, and the errors of the test of the share that keeps it.
#[derive(Clone, Copy)]
struct LimitTest {
    limit: f64,
    direction: RightSide,
    errors: SideErrors,
}

/// The trials of a figure: which share of each keeps the limit.
struct KeepingShares {
    /// The shares, in the order of the trials.
    keeping: Vec<f64>,
    /// When each trial ended, seconds from the start of the run.
    ends: Vec<f64>,
    /// The observations of all trials.
    observations: usize,
    /// The errors of the test of their mean.
    errors: SideErrors,
    estimate: Option<SequentialEstimate>,
    /// Whether the sample is large enough for the figure.
    supported: bool,
}

impl KeepingShares {
    /// For the trials of a point; an error says why they have no such figure.
    fn of(
        demand: &Demand,
        run: &Run,
        planned: &PlannedPoint,
        trials: &[&Trial],
        levels: Option<&Levels>,
        test: LimitTest,
    ) -> Result<Self, Unusable> {
        let valid = ValidTrials::of(planned.method(), trials);
        let operations = valid
            .trials
            .iter()
            .filter_map(|trial| trial.sample())
            .all(|sample| is_each(&sample.observations));
        let is_median = (demand.share - 0.5).abs() < f64::EPSILON;
        if !operations && !is_median && demand.per == Per::Observations {
            return Err(Unusable { reason: BATCHES.to_owned(), is_open: false });
        }
        let visits =
            Visits::of(run, planned, &valid.trials, KnownStates { core: levels, ..KnownStates::default() });
        let chosen = if demand.core_alone { &visits.chosen } else { &visits.all };
        if demand.core_alone && visits.state != Some(CoreState::Alone) {
            return Err(Unusable { reason: NOT_ALONE.to_owned(), is_open: true });
        }
        let values: Vec<Vec<f64>> = chosen.iter().map(|visit| demand.values(visit.less_baseline())).collect();
        let end = |round: u32| {
            valid
                .trials
                .iter()
                .find(|trial| trial.round == round)
                .map_or(0.0, |trial| trial.began_s + trial.took_s)
        };
        let LimitTest { limit, direction, errors } = test;
        // Of rates that must be at least the limit, a share above it is the rest of the share below it.
        let (level, of_share_below) = match direction {
            RightSide::AtMost => (demand.share, errors),
            RightSide::AtLeast => (1.0 - demand.share, errors.of_the_rest()),
        };
        let observations = values.iter().map(Vec::len).sum();
        Ok(KeepingShares {
            keeping: values.iter().map(|values| share_keeping(values, limit, direction)).collect(),
            ends: chosen.iter().map(|visit| end(visit.round)).collect(),
            observations,
            errors,
            estimate: statistics::sequential_quantile(&values, level, of_share_below),
            supported: observations >= statistics::minimum_sample(level),
        })
    }

    /// The judgement that they allow; `needed` is the share that must keep the limit.
    fn judged(self, demand: &Demand, needed: f64, judged: Assessment) -> Assessment {
        let fewest =
            statistics::fewest_to_show(SideOfMean::Above, needed, self.errors.above).max(LEAST_TRIALS);
        let judged = Assessment {
            estimate: self.estimate.filter(|_| self.supported),
            share: statistics::mean(&self.keeping).map(|mean| mean.value),
            trials: self.keeping.len(),
            observations: self.observations,
            fewest_trials: Some(fewest),
            failure_error: Some(self.errors.below),
            is_open: true,
            ..judged
        };
        let enough = self.supported && self.keeping.len() >= LEAST_TRIALS;
        let side = statistics::side_of_mean(&self.keeping, needed, self.errors).filter(|_| enough);
        let Some((side, after)) = side else {
            let at_the_limit = enough && judged.is_at_the_limit(demand.indifference);
            return Assessment {
                is_open: !at_the_limit,
                reason: Some(judged.open_reason(at_the_limit)),
                ..judged
            };
        };
        let after = after.max(LEAST_TRIALS);
        Assessment {
            judgement: if side == SideOfMean::Above { Judgement::Meets } else { Judgement::Fails },
            reason: None,
            is_open: false,
            after_trials: Some(after),
            at_s: self.ends.get(after - 1).copied(),
            ..judged
        }
    }
}

impl Assessment {
    /// Whether the whole interval is in the zone of indifference.
    fn is_at_the_limit(&self, zone: f64) -> bool {
        let within = |end: f64| (end - self.limit).abs() <= zone * self.limit;
        let ends = self.estimate.map(|estimate| (estimate.low, estimate.high));
        matches!(ends, Some((Some(low), Some(high))) if within(low) && within(high))
    }

    fn open_reason(&self, at_the_limit: bool) -> String {
        match self.fewest_trials {
            _ if at_the_limit => AT_THE_LIMIT.to_owned(),
            Some(fewest) if self.trials < fewest => {
                format!("it has {} trials, and meeting it takes {fewest} at least", self.trials)
            }
            _ => format!("after {} trials its interval still contains the limit", self.trials),
        }
    }
}

/// The reason where a longer measurement would say no more.
const AT_THE_LIMIT: &str = "it is at the limit: its interval lies in the zone of indifference around it";

impl Demand {
    /// The values of a trial that count: its observations, or their median.
    fn values(&self, observations: Vec<f64>) -> Vec<f64> {
        match self.per {
            Per::Observations => observations,
            Per::Trials => statistics::median(&observations).into_iter().collect(),
        }
    }
}

fn share_keeping(values: &[f64], limit: f64, direction: RightSide) -> f64 {
    let keeps = |value: &&f64| match direction {
        RightSide::AtMost => **value <= limit,
        RightSide::AtLeast => **value >= limit,
    };
    values.iter().filter(keeps).count() as f64 / values.len().max(1) as f64
}
