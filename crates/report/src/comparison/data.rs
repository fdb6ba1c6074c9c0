//! A comparison for programs: as JSON, and as comma-separated values.

use super::families;
use super::rows::because;
use super::usual::{BothUsual, SideUsual};
use crate::usual::UsualReport;
use crate::{csv, form};
use fathom_atlas::Atlas;
use fathom_core::experiment::Point;
use fathom_core::quantity::Unit;
use fathom_core::statistics::{Contrast, Measured};
use fathom_engine::comparison::{Comparison, PooledFamily, Row as Compared, Side};
use serde::Serialize;

#[derive(Serialize)]
struct ComparisonEntry<'a> {
    before: SideEntry<'a>,
    /// The decision of the gate; absent if none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    comparisons: Vec<SideComparison<'a>>,
}

#[derive(Serialize)]
struct SideEntry<'a> {
    name: &'a str,
    started: Vec<&'a str>,
}

/// A side compared with the first. The intervals are of 95 %.
#[derive(Serialize)]
struct SideComparison<'a> {
    after: SideEntry<'a>,
    differences: Vec<DifferenceEntry<'a>>,
    variance_factor: f64,
    verdict: String,
    of_itself: bool,
    /// Whether the side called after is the older one.
    reversed: bool,
    families: Vec<FamilyEntry>,
    points: Vec<PointEntry<'a>>,
    not_compared: Vec<Missing<'a>>,
}

#[derive(Serialize)]
struct DifferenceEntry<'a> {
    what: &'a str,
    before: &'a str,
    after: &'a str,
    doubtful: Option<&'a str>,
}

/// A family of points. `cost` is after over before, rates turned round; the others are shares.
#[derive(Serialize)]
struct FamilyEntry {
    name: &'static str,
    /// The experiments in its ratio.
    experiments: Vec<String>,
    /// The experiments of the family that were not compared.
    not_compared: Vec<String>,
    points: usize,
    same_direction: usize,
    /// Those that moved by more than the margin, in whichever direction.
    beyond_margin: usize,
    cost: IntervalEntry,
    margin: f64,
    smallest_visible: f64,
    further_runs: Option<u32>,
    verdict: &'static str,
}

/// A point. Levels are in `unit`; `ratio` is after over before.
#[derive(Serialize)]
struct PointEntry<'a> {
    experiment: &'a str,
    family: Option<&'static str>,
    parameters: &'a Point,
    parameters_after: Option<&'a Point>,
    unit: Unit,
    before: IntervalEntry,
    after: IntervalEntry,
    ratio: IntervalEntry,
    margin: f64,
    verdict: &'static str,
    /// The values of the nearest machines of the atlas, and where each side lies among them.
    usual_before: Option<UsualReport>,
    usual_after: Option<UsualReport>,
}

#[derive(Serialize)]
struct IntervalEntry {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct Missing<'a> {
    experiment: &'a str,
    parameters: &'a Point,
    because: String,
}

pub(super) fn pretty(
    first: &Side,
    others: &[(&Side, Comparison)],
    atlas: &Atlas,
    decision: Option<&'static str>,
) -> String {
    let before = SideUsual::of(first, atlas);
    let comparisons =
        others.iter().map(|(after, comparison)| entry(after, comparison, &before, atlas)).collect();
    form::pretty(&ComparisonEntry { before: side(first), decision, comparisons })
}

fn side(side: &Side) -> SideEntry<'_> {
    SideEntry { name: &side.name, started: side.runs.iter().map(|run| run.header.started.as_str()).collect() }
}

fn entry<'a>(
    after: &'a Side,
    comparison: &'a Comparison,
    before: &SideUsual,
    atlas: &Atlas,
) -> SideComparison<'a> {
    let usual_after = SideUsual::of(after, atlas);
    let usual = BothUsual { before, after: &usual_after };
    let differences = comparison.differences.iter().map(|difference| DifferenceEntry {
        what: difference.what,
        before: &difference.before,
        after: &difference.after,
        doubtful: difference.doubtful,
    });
    let missing = comparison.not_compared.iter().map(|point| Missing {
        experiment: &point.experiment,
        parameters: &point.point,
        because: because(&point.because),
    });
    SideComparison {
        after: side(after),
        differences: differences.collect(),
        variance_factor: comparison.repeatability.overall(),
        verdict: families::verdict_in_words(comparison),
        of_itself: comparison.of_itself,
        reversed: comparison.is_reversed,
        families: comparison.families.iter().map(family).collect(),
        points: comparison.rows.iter().map(|row| point(row, usual)).collect(),
        not_compared: missing.collect(),
    }
}

fn family(pooled: &PooledFamily) -> FamilyEntry {
    FamilyEntry {
        name: pooled.name,
        experiments: pooled.composition.pooled.clone(),
        not_compared: pooled.composition.missing.iter().map(|(name, _)| name.clone()).collect(),
        points: pooled.points,
        same_direction: pooled.agreeing,
        beyond_margin: pooled.moved,
        cost: ratio(pooled.contrast),
        margin: pooled.margin,
        smallest_visible: pooled.smallest_visible,
        further_runs: pooled.further_runs,
        verdict: pooled.verdict.name(),
    }
}

fn ratio(contrast: Contrast) -> IntervalEntry {
    let interval = contrast.interval();
    IntervalEntry { value: contrast.ratio(), low: Some(interval.low), high: Some(interval.high) }
}

fn point<'a>(row: &'a Compared, usual: BothUsual) -> PointEntry<'a> {
    let [usual_before, usual_after] =
        usual.of_row(row).map(|usual| usual.map(|usual| UsualReport::of(&usual)));
    PointEntry {
        experiment: &row.experiment,
        family: row.family(),
        parameters: &row.point,
        parameters_after: row.other_point.as_ref(),
        unit: row.unit,
        before: level(row.before),
        after: level(row.after),
        ratio: ratio(row.contrast),
        margin: row.margin,
        verdict: row.verdict.name(),
        usual_before,
        usual_after,
    }
}

fn level(level: Measured) -> IntervalEntry {
    let ends = level.interval;
    IntervalEntry { value: level.value, low: ends.map(|ends| ends.low), high: ends.map(|ends| ends.high) }
}

/// A family, or a point. Levels of a point are in `unit`, and `ratio` is after over before; a family has neither, and its ratio is one of
/// costs.
#[derive(Default, Serialize)]
struct ComparisonRow {
    side: String,
    experiment: String,
    parameters: String,
    unit: Option<Unit>,
    before: Option<f64>,
    before_low: Option<f64>,
    before_high: Option<f64>,
    after: Option<f64>,
    after_low: Option<f64>,
    after_high: Option<f64>,
    ratio: f64,
    ratio_low: f64,
    ratio_high: f64,
    margin: f64,
    verdict: &'static str,
    /// The family itself, or that of the point.
    family: Option<&'static str>,
    /// Of a family: its points, and those that moved as it did.
    points: Option<usize>,
    same_direction: Option<usize>,
    smallest_visible: Option<f64>,
    further_runs: Option<u32>,
    /// Of a point: the range among the nearest machines of the atlas, their number, and where each side lies.
    usual_before: Option<&'static str>,
    usual_before_low: Option<f64>,
    usual_before_high: Option<f64>,
    usual_before_machines: Option<usize>,
    usual_after: Option<&'static str>,
    usual_after_low: Option<f64>,
    usual_after_high: Option<f64>,
    usual_after_machines: Option<usize>,
}

/// The families of each side, and then its points.
pub(super) fn rows(first: &Side, others: &[(&Side, Comparison)], atlas: &Atlas) -> String {
    let before = SideUsual::of(first, atlas);
    let of_side = |(side, comparison): &(&Side, Comparison)| {
        let after = SideUsual::of(side, atlas);
        let usual = BothUsual { before: &before, after: &after };
        let families = comparison.families.iter().map(|pooled| family_row(side, pooled));
        families
            .chain(comparison.rows.iter().map(|compared| csv_row(side, compared, usual)))
            .collect::<Vec<_>>()
    };
    csv::table(others.iter().flat_map(of_side))
}

fn family_row(side: &Side, pooled: &PooledFamily) -> ComparisonRow {
    let ratio = pooled.contrast.interval();
    ComparisonRow {
        side: csv::cell(&side.name),
        ratio: pooled.contrast.ratio(),
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        margin: pooled.margin,
        verdict: pooled.verdict.name(),
        family: Some(pooled.name),
        points: Some(pooled.points),
        same_direction: Some(pooled.agreeing),
        smallest_visible: Some(pooled.smallest_visible),
        further_runs: pooled.further_runs,
        ..ComparisonRow::default()
    }
}

fn csv_row(side: &Side, compared: &Compared, usual: BothUsual) -> ComparisonRow {
    let [usual_before, usual_after] = usual.of_row(compared);
    let ratio = compared.contrast.interval();
    let (before, after) = (compared.before.interval, compared.after.interval);
    ComparisonRow {
        side: csv::cell(&side.name),
        experiment: csv::cell(&compared.experiment),
        parameters: csv::cell(&compared.point.to_string()),
        unit: Some(compared.unit),
        before: Some(compared.before.value),
        before_low: before.map(|interval| interval.low),
        before_high: before.map(|interval| interval.high),
        after: Some(compared.after.value),
        after_low: after.map(|interval| interval.low),
        after_high: after.map(|interval| interval.high),
        ratio: compared.contrast.ratio(),
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        margin: compared.margin,
        verdict: compared.verdict.name(),
        family: compared.family(),
        usual_before: usual_before.map(|usual| usual.place.name()),
        usual_before_low: usual_before.map(|usual| usual.low),
        usual_before_high: usual_before.map(|usual| usual.high),
        usual_before_machines: usual_before.map(|usual| usual.machines),
        usual_after: usual_after.map(|usual| usual.place.name()),
        usual_after_low: usual_after.map(|usual| usual.low),
        usual_after_high: usual_after.map(|usual| usual.high),
        usual_after_machines: usual_after.map(|usual| usual.machines),
        ..ComparisonRow::default()
    }
}
