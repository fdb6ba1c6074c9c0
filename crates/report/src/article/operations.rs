//! Every operation of a run, each list in the appendix: the summary table, from the same records as everything else (R-FIX-65),
//! what has no value and why, and the statistics of published reports, for comparison with any of them.

use super::sections::linked;
use crate::csv;
use crate::paper::{Block, Column, Group, Key, Row, Section, Sign, Table, Text, Tone};
use crate::summary::{self, RowOf, Unmeasured};
use crate::words::ABSENT;
use crate::words::{self, plural};
use fathom_core::quantities;
use fathom_core::statistics::TRIMMED;
use fathom_engine::results::{PointResult, Results, ticks_and_cycles};

pub(super) fn every_operation(results: &Results) -> Section {
    let mut table = Table::new(
        Key::of("summary-table"),
        "Every operation: the predicted cost of the hardware, the predicted overhead of the operating system, their \
         sum, and the measured value. “<” is an upper limit.",
    )
    .columns(columns());
    table.searched = true;
    for group in summary::groups(results) {
        table = table.group(rows(results, &group));
    }
    let groups = summary::groups(results);
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let count = |of| rows().filter(|row| row.of == of).count();
    let (shared, own) = (count(RowOf::CoreShared), count(RowOf::Figure));
    let shared = (shared > 0).then(|| format!(", and {} with the core shared", plural(shared, "value")));
    let number = plural(own, "operation") + &shared.unwrap_or_default();
    Section::new(Key::of("summary"), "Every operation")
        .lettered()
        .say(
            Text::to(&table.key)
                .and(" lists every operation; points without a value are in ")
                .and(Text::to(&Key::of("without")))
                .and("."),
        )
        .with(Block::Folded {
            summary: number.into(),
            appendix: true,
            open: false,
            blocks: vec![table.without_columns_of(ABSENT).into()],
        })
}

fn columns() -> [Column; 9] {
    [
        Column::words("operation"),
        Column::mixed("base hardware").optional(),
        Column::mixed("software overhead").optional(),
        Column::mixed("predicted"),
        Column::mixed("measured, median"),
        Column::mixed("95 % interval").optional(),
        Column::number("median", "core cycles").optional(),
        Column::ratio("measured / predicted"),
        Column::signs("operation checked"),
    ]
}

fn rows(results: &Results, group: &summary::OperationGroup) -> Group {
    let mut head = linked(results, group.experiment);
    if let Some(placement) = group.placement {
        head = head.and(" ").and(Text::toned(Tone::Faint, placement));
    }
    Group::named(head).rows(group.rows.iter().map(row))
}

fn row(row: &summary::OperationRow) -> Row {
    let sign = if row.of == RowOf::Figure { words::evidence_sign(row.point) } else { Sign::Unasked };
    Row::of([
        Text::plain(&*row.operation),
        Text::plain(&*row.hardware),
        Text::plain(&*row.software),
        Text::plain(&*row.predicted),
        Text::strong(&*row.measured),
        Text::plain(&*row.interval),
        Text::plain(cycles(row)),
        Text::plain(&*row.factor),
        Text::sign(sign),
    ])
}

/// The median in cycles of the core; none of the row of another state.
fn cycles(row: &summary::OperationRow) -> String {
    let of_point = row.point.core_cycles.as_ref().filter(|_| row.of == RowOf::Figure);
    of_point
        .map_or(ABSENT.to_owned(), |cycles| quantities::number_within(cycles.value, quantities::ends(cycles)))
}

/// The number of reasons named in an experiment's section; the appendix has all.
const MOST_REASONS: usize = 2;

/// The section: the failures, and all points without a value, folded.
pub(super) fn without_value(results: &Results) -> Section {
    let section = Section::new(Key::of("without"), "What has no value").lettered();
    let groups = summary::unmeasured(&results.points);
    if groups.is_empty() {
        return section.say("Every planned point has a value or an upper limit.");
    }
    let item = |group: &Unmeasured| {
        let link = linked(results, group.experiment);
        outcome(group).and(" ").and(link).and(": ").and(counted(group))
    };
    let broken: Vec<Text> = groups.iter().filter(|group| group.failure).map(item).collect();
    let section = if broken.is_empty() {
        section.say(without_failure(groups.iter().map(|group| group.points.len()).sum()))
    } else {
        section.say("What failed:").with(Block::List(broken))
    };
    let number = groups.iter().map(|group| group.points.len()).sum();
    section.with(Block::Folded {
        summary: format!("{} without a value, and why", plural(number, "point")).into(),
        appendix: true,
        open: false,
        blocks: vec![
            Block::Paragraph("Points without a value, each with the reason.".into()),
            Block::List(groups.iter().map(item).collect()),
        ],
    })
}

/// What is said of so many points where no trial failed: not that none did, because their evidence may.
fn without_failure(points: usize) -> String {
    format!(
        "{} {} no value, for the reasons given.",
        plural(points, "point"),
        if points == 1 { "has" } else { "have" }
    )
}

fn outcome(group: &Unmeasured) -> Text {
    Text::toned(if group.failure { Tone::Bad } else { Tone::Careful }, group.outcome)
}

/// The number of points, and the reason.
fn counted(group: &Unmeasured) -> Text {
    let points = match group.points.as_slice() {
        [one] => format!("{one}: "),
        many => format!("{}: ", plural(many.len(), "point")),
    };
    Text::plain(points).and(Text::prose(&group.reason))
}

/// The reasons why points of an experiment have no value, in a sentence or two; `None` if all have one.
pub(super) fn reasons_without_value(groups: &[Unmeasured]) -> Option<Text> {
    let reasons = groups.iter().take(MOST_REASONS).map(|group| {
        let number = format!("{} {}, ", plural(group.points.len(), "point"), group.outcome);
        Text::plain(number).and(Text::prose(group.reason.trim_end_matches('.')))
    });
    let rest: usize = groups.iter().skip(MOST_REASONS).map(|group| group.points.len()).sum();
    let rest = (rest > 0).then(|| Text::plain(format!("{} for other reasons", plural(rest, "point"))));
    let all: Vec<Text> = reasons.chain(rest).collect();
    (!all.is_empty()).then(|| Text::joined(all, "; ").and("."))
}

/// An item for each reason why points of an experiment have no value, with all their names.
pub(super) fn items_without_value(groups: &[Unmeasured]) -> Vec<Text> {
    let item = |group: &Unmeasured| {
        let points = match group.points.as_slice() {
            [one] => format!(": {one}: "),
            many => format!(": {} points ({}): ", many.len(), many.join("; ")),
        };
        outcome(group).and(points).and(Text::prose(&group.reason))
    };
    groups.iter().map(item).collect()
}

pub(super) fn published_statistics(results: &Results) -> Section {
    let mut table = Table::new(
        Key::of("published-statistics-table"),
        "Every value, in the statistics that published reports use.",
    )
    .columns([
        Column::words("operation"),
        Column::mixed("mean"),
        Column::mixed("deviation of observations"),
        Column::mixed("deviation of trials"),
        Column::mixed("trimmed mean"),
        Column::mixed("minimum"),
        Column::mixed("maximum"),
        Column::number("median", "clock ticks"),
        Column::number("median", "core cycles"),
        Column::count("operations per reading"),
    ]);
    table.searched = true;
    for experiment in results.experiments() {
        let rows: Vec<Row> =
            results.of_experiment(experiment).filter_map(|point| statistics_row(results, point)).collect();
        if !rows.is_empty() {
            table = table.group(Group::named(linked(results, experiment)).rows(rows));
        }
    }
    let summary = format!(
        "The statistics of {}",
        plural(table.groups.iter().map(|group| group.rows.len()).sum(), "value")
    );
    Section::new(Key::of("published-statistics"), "Other statistics").lettered().with(Block::Folded {
        summary: summary.into(),
        appendix: true,
        open: false,
        blocks: vec![Block::Paragraph(statistics_method().into()), table.into()],
    })
}

/// The meaning of the columns.
fn statistics_method() -> String {
    format!(
        "Published reports print different statistics. Those below are of the same observations as the median, each \
         minus the median of its trial’s baseline where there is one. Standard deviations (divisor n − 1) are given \
         of single observations and of the means of trials. The trimmed mean leaves out {} of the observations \
         at either end. Ticks are clock ticks; cycles are core cycles, at the frequency at which chains of dependent \
         instructions ran. An observation is the time between two clock readings divided by the operations between \
         them; 1 operation means that each was timed separately, and “own reading” that the work itself takes each reading or \
         count, around what its method names, and nothing is divided.",
        quantities::percent(TRIMMED)
    )
}

/// What is written of work that reads the clock, or counts, by itself.
const OWN_READING: &str = "own reading";

/// A deviation below this share of the mean is the error of its arithmetic.
const ARITHMETIC: f64 = 1e-9;

fn statistics_row(results: &Results, point: &PointResult) -> Option<Row> {
    let (published, median) = (point.published.as_ref()?, point.estimate()?.value);
    let (of_observations, unit) = (&published.observations, point.unit);
    let in_clock = ticks_and_cycles(results.run, results.core_hz, unit, median);
    let optional =
        |value: Option<f64>| value.map_or(ABSENT.to_owned(), |value| quantities::value(unit, value));
    let count = |value: Option<f64>| value.map_or(ABSENT.to_owned(), quantities::number);
    // Equal readings differ by the error of their arithmetic.
    let deviation = |value: Option<f64>| {
        optional(value.map(|value| if value < ARITHMETIC * of_observations.mean.abs() { 0.0 } else { value }))
    };
    Some(Row::of([
        words::label(point, &point.point),
        optional(Some(of_observations.mean)),
        deviation(of_observations.deviation),
        deviation(published.trials.deviation),
        optional(Some(of_observations.trimmed_mean)),
        optional(csv::least(point, of_observations.minimum)),
        optional(Some(of_observations.maximum)),
        count(in_clock.map(|(ticks, _)| ticks)),
        count(in_clock.and_then(|(_, cycles)| cycles)),
        published.operations.map_or(OWN_READING.to_owned(), quantities::number),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "No point failed" stood in a report of which the evidence of two points failed.
    #[test]
    fn that_no_trial_failed_is_not_that_nothing_did() {
        assert_eq!(without_failure(520), "520 points have no value, for the reasons given.");
        assert_eq!(without_failure(1), "1 point has no value, for the reasons given.");
    }
}
