//! The report as JSON. Its schema is typed here, described field by field in `docs/report-json.md`, and stable: fields are
//! added, never renamed, and `schema` grows when a meaning changes.
//!
//! Numbers are not rounded. An absent number is `null`: it is never 0, never left out, and NaN cannot occur.

mod accuracy;
mod core_state;
mod published_statistics;
mod statement;
mod with_interval;

use self::accuracy::AccuracyReport;
use self::core_state::{CoreReport, CoreSharedReport};
use self::published_statistics::PublishedStatisticsReport;
use self::statement::{CrossCheckReport, MechanismReport, StatementReport};
use self::with_interval::{WithInterval, high, low};
use super::beside::{self, Published};
use super::form;
use fathom_core::experiment::registry::OtherVersion;
use fathom_core::experiment::{Bound, Check, Finding, Part, Point, Prediction, Term};
use fathom_core::machine::{Machine, Warning};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sampling::Qualification;
use fathom_core::statistics::{Estimate, Interval, Mode, Outliers};
use fathom_engine::record::{Closing, Peer, Resumed, Settings, Tool, Verification};
use fathom_engine::results::{Disturbance, Outcome, PointResult, Results, TrendResult};
use serde::Serialize;

/// The version of this schema.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Report<'run> {
    schema: u32,
    started: &'run str,
    tool: &'run Tool,
    settings: &'run Settings,
    clock: &'run Qualification,
    machine: &'run Machine,
    /// The second host; absent if the run has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<&'run Peer>,
    /// The last verification of this same program on this same machine; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<&'run Verification>,
    conditions: Conditions<'run>,
    points: Vec<PointReport<'run>>,
    trends: Vec<TrendReport<'run>>,
    findings: Vec<Findings<'run>>,
    overall: Vec<StatementReport<'run>>,
    mechanisms: Vec<MechanismReport<'run>>,
    cross_checks: Vec<CrossCheckReport<'run>>,
    accuracy: AccuracyReport<'run>,
    /// Published figures next to those of the run; absent if none were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<Vec<beside::Entry<'run>>>,
}

#[derive(Serialize)]
struct Conditions<'run> {
    core_hz: Option<f64>,
    core_shared: Option<CoreSharedReport>,
    warnings: Vec<Warning>,
    resumed: &'run [Resumed],
    closing: Option<&'run Closing>,
}

#[derive(Serialize)]
struct PointReport<'run> {
    experiment: &'run str,
    parameters: &'run Point,
    method: Method<'run>,
    unit: Unit,
    kind: Kind,
    outcome: &'static str,
    reason: Option<String>,
    median: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    level: Option<f64>,
    best: Option<f64>,
    quantiles: Vec<Quantile>,
    trials: usize,
    trials_attempted: usize,
    trials_left_out: usize,
    observations: usize,
    below: Option<f64>,
    bound: Option<&'run Bound>,
    unusable: Option<WithInterval>,
    baseline: Option<WithInterval>,
    core: Option<CoreReport>,
    each: bool,
    modes: &'run [Mode],
    outliers: Option<Outliers>,
    negative: usize,
    published_statistics: Option<PublishedStatisticsReport>,
    predicted: Option<Predicted<'run>>,
    unpredicted: Option<&'run str>,
    factor: Option<f64>,
    evidence: &'run [Check],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unasked: Vec<Unasked<'run>>,
    not_judged: Option<String>,
    disturbance: DisturbanceReport,
}

#[derive(Serialize)]
struct Method<'run> {
    id: &'run str,
    version: u32,
}

#[derive(Serialize)]
struct Quantile {
    level: f64,
    value: f64,
}

#[derive(Serialize)]
struct Predicted<'run> {
    hardware: Option<f64>,
    software: Option<f64>,
    total: f64,
    derivation: &'run [Term],
}

#[derive(Serialize)]
struct DisturbanceReport {
    trials_with_steal: Option<usize>,
    trials_throttled: Option<usize>,
    migrations: u64,
    involuntary_switches: u64,
    lost_share: Option<f64>,
    core_hz_low: Option<f64>,
    core_hz_high: Option<f64>,
}

#[derive(Serialize)]
struct TrendReport<'run> {
    experiment: &'run str,
    held: &'run Point,
    along: &'run str,
    step: f64,
    slope_of: &'run str,
    unit: Unit,
    slope: f64,
    slope_low: Option<f64>,
    slope_high: Option<f64>,
    intercept: f64,
    intercept_low: Option<f64>,
    intercept_high: Option<f64>,
    r_squared: Option<f64>,
    largest_residual: Option<f64>,
    robust_slope: Option<f64>,
    points: usize,
}

#[derive(Serialize)]
struct Findings<'run> {
    experiment: &'run str,
    sentences: Vec<String>,
    statements: Vec<StatementReport<'run>>,
}

/// The whole report in lines.
pub(super) fn pretty(results: &Results, published: Option<&Published>) -> String {
    form::pretty(&report(results, published))
}

/// The report on one line, to be embedded in a page.
pub(super) fn compact(results: &Results, published: Option<&Published>) -> String {
    serde_json::to_string(&report(results, published)).unwrap_or_default()
}

fn report<'run>(results: &'run Results, published: Option<&Published<'run>>) -> Report<'run> {
    let run = results.run;
    Report {
        schema: SCHEMA,
        started: &run.header.started,
        tool: &run.header.tool,
        settings: &run.header.settings,
        clock: &run.header.clock,
        machine: &run.header.machine,
        peer: run.header.peer.as_deref(),
        verification: run.header.verification.as_deref(),
        conditions: Conditions {
            core_hz: results.core_hz,
            core_shared: results.core_shared.as_ref().map(core_state::core_shared),
            warnings: run.header.machine.warnings(),
            resumed: &run.resumed,
            closing: run.closing.as_ref(),
        },
        points: results.points.iter().map(|result| point(results, result)).collect(),
        trends: results.trends.iter().map(trend).collect(),
        findings: results
            .findings
            .iter()
            .map(|(experiment, findings)| self::findings(experiment, findings))
            .collect(),
        overall: results.overall.iter().map(StatementReport::of).collect(),
        mechanisms: results.mechanisms.iter().map(MechanismReport::of).collect(),
        cross_checks: results.cross_checks.iter().map(CrossCheckReport::of).collect(),
        accuracy: accuracy::accuracy(&results.accuracy),
        beside: published.map(|published| beside::entries(&published.rows)),
    }
}

fn findings<'run>(experiment: &'run str, findings: &'run [Finding]) -> Findings<'run> {
    let statements: Vec<StatementReport> = findings.iter().map(StatementReport::of).collect();
    let sentences = statements.iter().map(|statement| statement.text.clone()).collect();
    Findings { experiment, sentences, statements }
}

fn point<'run>(found: &Results, result: &'run PointResult) -> PointReport<'run> {
    let (usable, unusable) = (result.estimate(), result.outcome.unusable());
    let (below, bound) = match &result.outcome {
        Outcome::BelowResolution { below, .. } => (Some(*below), None),
        Outcome::Implausible { bound, .. } => (None, Some(bound)),
        _ => (None, None),
    };
    PointReport {
        experiment: &result.experiment,
        parameters: &result.point,
        method: Method { id: &result.experiment, version: result.method_version },
        unit: result.unit,
        kind: result.unit.kind(),
        outcome: result.outcome.name(),
        reason: result.outcome.reason(),
        median: usable.map(|estimate| estimate.value),
        low: usable.and_then(low),
        high: usable.and_then(high),
        level: usable.filter(|estimate| estimate.interval.is_some()).map(|estimate| estimate.level),
        best: result.best(),
        quantiles: quantiles(result, usable),
        trials: result.trials.0,
        trials_attempted: result.trials.1,
        trials_left_out: result.left_out,
        observations: result.outcome.observed().map_or(0, |estimate| estimate.observations),
        below,
        bound,
        unusable: unusable.map(WithInterval::of),
        baseline: result.baseline.as_ref().map(WithInterval::of),
        core: result.core.as_ref().map(core_state::core),
        each: result.each,
        modes: &result.modes,
        outliers: result.outliers,
        negative: result.negative,
        published_statistics: PublishedStatisticsReport::of(found, result),
        predicted: result.prediction.as_ref().map(predicted),
        unpredicted: result.unpredicted.as_deref(),
        factor: result.factor(),
        evidence: result.evidence.checks(),
        unasked: result.evidence.unasked().iter().map(Unasked::of).collect(),
        not_judged: result.evidence.not_judged().map(OtherVersion::to_string),
        disturbance: disturbance(&result.disturbance),
    }
}

/// A claim that could not be checked, and why.
#[derive(Serialize)]
struct Unasked<'run> {
    claim: &'run str,
    reason: &'run str,
}

impl<'run> Unasked<'run> {
    fn of(check: &'run Check) -> Self {
        Unasked { claim: &check.claim, reason: &check.seen }
    }
}

fn quantiles(result: &PointResult, usable: Option<&Estimate>) -> Vec<Quantile> {
    let supported = result.percentiles.iter().filter(|_| usable.is_some());
    supported.map(|(level, value)| Quantile { level: *level, value: *value }).collect()
}

fn predicted(prediction: &Prediction) -> Predicted<'_> {
    Predicted {
        hardware: prediction.part(Part::Hardware),
        software: prediction.part(Part::Software),
        total: prediction.total(),
        derivation: &prediction.terms,
    }
}

fn disturbance(seen: &Disturbance) -> DisturbanceReport {
    DisturbanceReport {
        trials_with_steal: seen.trials_with_steal,
        trials_throttled: seen.trials_throttled,
        migrations: seen.migrations,
        involuntary_switches: seen.involuntary_switches,
        lost_share: seen.lost_share,
        core_hz_low: seen.core_hz.map(|(low, _)| low),
        core_hz_high: seen.core_hz.map(|(_, high)| high),
    }
}

fn trend(result: &TrendResult) -> TrendReport<'_> {
    let line = &result.line;
    let ends = |interval: Option<Interval>| interval.map(|interval| (interval.low, interval.high)).unzip();
    let (slope_low, slope_high) = ends(result.slope_interval());
    let (intercept_low, intercept_high) = ends(line.intercept_interval);
    TrendReport {
        experiment: &result.experiment,
        held: &result.group,
        along: &result.along,
        step: result.step,
        slope_of: &result.slope_of,
        unit: result.unit,
        slope: result.slope(),
        slope_low,
        slope_high,
        intercept: line.intercept,
        intercept_low,
        intercept_high,
        r_squared: line.r_squared,
        largest_residual: result.largest_residual().map(|(_, left)| left),
        robust_slope: result.robust_slope(),
        points: line.points,
    }
}
