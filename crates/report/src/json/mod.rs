//! The report as JSON. Its schema is typed here, described field by field in `docs/report-json.md`, and stable: fields are
//! added, never renamed, and `schema` grows when a meaning changes.
//!
//! Numbers are not rounded. An absent number is `null`: it is never 0, never left out, and NaN cannot occur.

mod at_usual;
mod point;
mod statement;
mod time;
mod with_interval;

use self::at_usual::{DeviceTimeReport, device_time};
use self::point::{
    CoreSharedReport, CpuDistanceReport, CpuPositionReport, PointReport, core_shared, cpu_distances,
    cpu_position, point,
};
use self::statement::{CrossCheckReport, MechanismReport, StatementReport};
use self::time::{BeginningReport, DriftReport, TimeReport, beginning, drift, time};
use super::beside::{self, Published};
use super::form;
use super::usual::UsualFigures;
use super::warned;
use fathom_core::experiment::{Finding, Ground, Point};
use fathom_core::machine::{Machine, Warning};
use fathom_core::quantity::Unit;
use fathom_core::sampling::Qualification;
use fathom_core::statistics::Interval;
use fathom_engine::record::{Closing, Peer, Resumed, Settings, Tool, Verification};
use fathom_engine::results::{
    Accuracy, Beginnings, CLOSE, CounterStep, Drift, FAIR, Results, RunTime, Share, Tally, TrendResult,
};
use serde::Serialize;

pub(crate) const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct RunEntry<'run> {
    schema: u32,
    started: &'run str,
    tool: &'run Tool,
    settings: &'run Settings,
    clock: &'run Qualification,
    /// Absent where the recorded durations show none.
    #[serde(skip_serializing_if = "Option::is_none")]
    counter_step: Option<CounterStepReport>,
    machine: &'run Machine,
    /// The second host; absent if the run has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<&'run Peer>,
    /// The last verification of this same program on this same machine; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<&'run Verification>,
    conditions: ConditionsReport<'run>,
    points: Vec<PointReport<'run>>,
    trends: Vec<TrendReport<'run>>,
    findings: Vec<Findings<'run>>,
    overall: Vec<StatementReport<'run>>,
    choices: Vec<StatementReport<'run>>,
    mechanisms: Vec<MechanismReport<'run>>,
    cross_checks: Vec<CrossCheckReport<'run>>,
    accuracy: AccuracyReport<'run>,
    beginnings: Vec<BeginningReport>,
    time: Option<TimeReport>,
    /// Published figures next to those of the run; absent if none were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<Vec<beside::BesideEntry<'run>>>,
}

#[derive(Serialize)]
struct ConditionsReport<'run> {
    core_hz: Option<f64>,
    core_shared: Option<CoreSharedReport>,
    /// The distances of the two CPUs, that of most of the time first; absent if there was one, or they were not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_distances: Option<Vec<CpuDistanceReport>>,
    /// The positions of the two CPUs, the seldom ones too, with what lies at each; absent if there was one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cpu_positions: Vec<CpuPositionReport>,
    /// What a direct read of the device took; absent where no trial waited for it or could read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_time: Option<DeviceTimeReport>,
    /// Whether values changed while the run went on; absent where no point has enough trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<DriftReport>,
    warnings: Vec<Warning>,
    resumed: &'run [Resumed],
    closing: Option<&'run Closing>,
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
    /// Whether the points lie on it.
    is_line: bool,
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

pub(super) fn pretty<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
    published: Option<&Published<'run>>,
) -> String {
    form::pretty(&report(results, usual, published))
}

/// The report on one line, to be embedded in a page.
pub(super) fn compact<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
    published: Option<&Published<'run>>,
) -> String {
    serde_json::to_string(&report(results, usual, published)).unwrap_or_default()
}

fn report<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
    published: Option<&Published<'run>>,
) -> RunEntry<'run> {
    let run = results.run;
    RunEntry {
        schema: SCHEMA,
        started: &run.header.started,
        tool: &run.header.tool,
        settings: &run.header.settings,
        clock: &run.header.clock,
        counter_step: results.counter_step.map(CounterStepReport::from),
        machine: &run.header.machine,
        peer: run.header.peer.as_deref(),
        verification: run.header.verification.as_deref(),
        conditions: ConditionsReport {
            core_hz: results.core_hz,
            core_shared: results.core_shared.as_ref().map(core_shared),
            cpu_distances: results.cpu_distances.as_ref().map(cpu_distances),
            cpu_positions: results.cpu_positions.iter().map(cpu_position).collect(),
            device_time: results.device_time.as_ref().map(device_time),
            drift: Drift::of(&results.points).map(drift),
            warnings: warned::of(results),
            resumed: &run.resumed,
            closing: run.closing.as_ref(),
        },
        points: results.points.iter().map(|result| point(results, usual, result)).collect(),
        trends: results.trends.iter().map(trend).collect(),
        findings: results
            .findings
            .iter()
            .map(|(experiment, findings)| self::findings(experiment, findings))
            .collect(),
        overall: results.overall.iter().map(StatementReport::of).collect(),
        choices: results.choices.iter().map(|choice| StatementReport::of(&choice.finding)).collect(),
        mechanisms: results.mechanisms.iter().map(MechanismReport::of).collect(),
        cross_checks: results.cross_checks.iter().map(CrossCheckReport::of).collect(),
        accuracy: accuracy(&results.accuracy),
        beginnings: Beginnings::of(run).into_iter().map(beginning).collect(),
        time: RunTime::of(run).map(time),
        beside: published.map(|published| beside::entries(&published.rows)),
    }
}

fn findings<'run>(experiment: &'run str, findings: &'run [Finding]) -> Findings<'run> {
    let statements: Vec<StatementReport> = findings.iter().map(StatementReport::of).collect();
    let sentences = statements.iter().map(|statement| statement.text.clone()).collect();
    Findings { experiment, sentences, statements }
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
        is_line: result.is_line(),
        largest_residual: result.largest_residual().map(|(_, residual)| residual),
        robust_slope: result.robust_slope(),
        points: line.points,
    }
}

#[derive(Serialize)]
struct AccuracyReport<'run> {
    close_factor: f64,
    fair_factor: f64,
    chapters: Vec<TallyReport<'run>>,
    experiments: Vec<TallyReport<'run>>,
    independent: Option<TallyReport<'run>>,
    scaled: Option<TallyReport<'run>>,
    dependent: Option<TallyReport<'run>>,
    total: Option<TallyReport<'run>>,
}

#[derive(Serialize)]
struct TallyReport<'run> {
    name: &'run str,
    judged: usize,
    unpredicted: usize,
    close: ShareReport,
    fair: ShareReport,
    /// Within the fair factor in one state of the machine and not in another, and so neither in `fair` nor a miss.
    fair_in_one_state: usize,
    median_factor: f64,
    median_cost_factor: f64,
    worst: WorstReport<'run>,
}

#[derive(Serialize)]
struct ShareReport {
    points: usize,
    share: f64,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct WorstReport<'run> {
    experiment: &'run str,
    parameters: &'run Point,
    factor: f64,
}

fn accuracy(accuracy: &Accuracy) -> AccuracyReport<'_> {
    AccuracyReport {
        close_factor: CLOSE,
        fair_factor: FAIR,
        chapters: accuracy.chapters.iter().map(tally).collect(),
        experiments: accuracy.experiments.iter().map(tally).collect(),
        independent: accuracy.on(Ground::Independent).map(tally),
        scaled: accuracy.on(Ground::Scaled).map(tally),
        dependent: accuracy.on(Ground::ThisRun).map(tally),
        total: accuracy.total.as_ref().map(tally),
    }
}

fn tally(tally: &Tally) -> TallyReport<'_> {
    let worst = &tally.worst;
    TallyReport {
        name: &tally.name,
        judged: tally.judged,
        unpredicted: tally.unpredicted,
        close: share(&tally.close),
        fair: share(&tally.fair),
        fair_in_one_state: tally.fair_in_one_state,
        median_factor: tally.median_factor,
        median_cost_factor: tally.median_cost_factor,
        worst: WorstReport { experiment: &worst.experiment, parameters: &worst.point, factor: worst.factor },
    }
}

fn share(share: &Share) -> ShareReport {
    let (low, high) = share.interval.map(|interval| (interval.low, interval.high)).unzip();
    ShareReport { points: share.points, share: share.share, low, high }
}

#[derive(Serialize)]
struct CounterStepReport {
    ticks: u64,
    share: f64,
    durations: usize,
}

impl From<CounterStep> for CounterStepReport {
    fn from(CounterStep { ticks, share, durations }: CounterStep) -> Self {
        CounterStepReport { ticks, share, durations }
    }
}
