//! The compared points, by verdict, and the points that were not compared.

use super::usual::BothUsual;
use crate::paper::{Block, Column, Group, Key, Row, Section, Table, Text, Tone};
use crate::words::ABSENT;
use crate::words::{self, Declares, plural};
use fathom_core::quantities;
use fathom_core::statistics::{Interval, Measured};
use fathom_engine::comparison::{Comparison, NotCompared, Obstacle, Row as Compared, Verdict};
use fathom_engine::record::MethodParameter;
use std::borrow::Cow;

impl Declares for Compared {
    fn parameters(&self) -> Cow<'_, [MethodParameter]> {
        Cow::Borrowed(&self.parameters)
    }
}

impl Declares for NotCompared {
    fn parameters(&self) -> Cow<'_, [MethodParameter]> {
        Cow::Borrowed(&self.parameters)
    }
}

/// The section with the points that got worse and better, at most `most` rows of each.
pub(super) fn moved(
    section: Section,
    comparison: &Comparison,
    usual: BothUsual,
    key: &Key,
    most: usize,
) -> Section {
    let moved = [
        (Verdict::Worse, "worse", "Points that got worse, the largest change first."),
        (Verdict::Better, "better", "Points that got better, the largest change first."),
        (Verdict::Changed, "changed", "Sizes that changed, where neither is better."),
    ];
    moved.into_iter().fold(section, |section, (verdict, name, caption)| {
        let rows = comparison.with(verdict);
        if rows.is_empty() {
            return section;
        }
        let rest = rows.len().saturating_sub(most);
        let table =
            table(key.within(name), caption).rows(rows.into_iter().take(most).map(|row| named(row, usual)));
        let table = table.without_columns_of(ABSENT);
        let section = section.with(table);
        if rest == 0 {
            section
        } else {
            section.say(format!("And {} more with --full.", quantities::count(rest)))
        }
    })
}

/// The margins that the rows were judged against: `margin 5 %`, `margins 5 to 100 %`.
pub(super) fn margins(comparison: &Comparison) -> String {
    let all = || comparison.rows.iter().map(|row| row.margin);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    if least < most {
        return format!("margins {} to {}", quantities::target(least), quantities::target(most));
    }
    format!("margin {}", quantities::target(most))
}

/// The section with all rows and the points that were not compared; on one screen, only their numbers.
pub(super) fn others(
    section: Section,
    comparison: &Comparison,
    usual: BothUsual,
    key: &Key,
    most: usize,
) -> Section {
    if most < usize::MAX {
        return section.with_all(counted_only(comparison));
    }
    section.with(folded(comparison, usual, key)).with_all(not_compared(comparison))
}

fn table(key: Key, caption: &str) -> Table {
    Table::new(key, caption).columns([
        Column::words("operation"),
        Column::mixed("before"),
        Column::mixed("after"),
        Column::ratio("change"),
        Column::ratio("95 % interval"),
        Column::words("verdict").optional(),
        Column::words("usual").optional(),
    ])
}

/// A row of a table with several experiments.
fn named(row: &Compared, usual: BothUsual) -> Row {
    cells(row, usual, Text::plain(format!("{} {}", row.experiment, label(row))))
}

fn cells(row: &Compared, usual: BothUsual, operation: Text) -> Row {
    let operation = match &row.other_point {
        Some(other) => operation.noted(format!("After: {}.", words::label(row, other))),
        None => operation,
    };
    let (value, interval) = change(row);
    Row::of([
        operation,
        level(row, row.before),
        level(row, row.after),
        Text::plain(value),
        Text::plain(interval),
        verdict(row.verdict),
        usual.cell(row),
    ])
}

fn level(row: &Compared, level: Measured) -> Text {
    let ends = level.interval.map(|interval| (interval.low, interval.high));
    Text::plain(quantities::rounded(row.unit, level.value, ends))
}

pub(super) fn verdict(verdict: Verdict) -> Text {
    match verdict {
        Verdict::Worse => Text::toned(Tone::Bad, verdict.name()),
        Verdict::Better => Text::toned(Tone::Good, verdict.name()),
        Verdict::Changed => Text::toned(Tone::Careful, verdict.name()),
        Verdict::Equivalent => Text::plain(verdict.name()),
        Verdict::Inconclusive => Text::toned(Tone::Faint, verdict.name()),
    }
}

/// The setting of a row's parameters.
pub(super) fn label(row: &Compared) -> String {
    words::short_label(row, &row.point)
}

/// A change with its interval.
pub(super) fn change(row: &Compared) -> (String, String) {
    signed_row(row.contrast.ratio(), row.contrast.interval())
}

/// A ratio as a change, the one form of all comparisons: `+5.2 %`, `−12 %`, `+286 %`.
pub(crate) fn signed(ratio: f64) -> String {
    quantities::change(ratio - 1.0)
}

pub(super) fn signed_row(ratio: f64, interval: Interval) -> (String, String) {
    (signed(ratio), format!("{} to {}", signed(interval.low), signed(interval.high)))
}

/// Every row, by experiment.
fn folded(comparison: &Comparison, usual: BothUsual, key: &Key) -> Block {
    let caption = "Every point that both sides have a value for, in the order of the first run. Values have the \
                   digits that their intervals justify.";
    let mut all = table(key.within("all"), caption);
    all.groups = comparison
        .by_experiment()
        .into_iter()
        .map(|(name, rows)| {
            Group::named(Text::code(name))
                .rows(rows.into_iter().map(|row| cells(row, usual, Text::plain(label(row)))))
        })
        .collect();
    let summary = format!("All rows: {}", plural(comparison.rows.len(), "point"));
    let all = all.without_columns_of(ABSENT);
    Block::Folded { summary: summary.into(), appendix: true, open: false, blocks: vec![all.into()] }
}

/// The reasons why points were not compared, with the number of points of each.
fn counted_only(comparison: &Comparison) -> Vec<Block> {
    reasons(comparison)
        .into_iter()
        .map(|(reason, points)| {
            let (count, of) = (plural(points.len(), "point"), experiments_of(&points, comparison));
            Block::Paragraph(format!("Not compared: {count} ({of}), {reason}.").into())
        })
        .collect()
}

/// The experiments of some points, by name; of one that has other points which are compared, how many these are.
fn experiments_of(points: &[&NotCompared], comparison: &Comparison) -> String {
    let mut counts: Vec<(&str, usize)> = vec![];
    for point in points {
        match counts.iter_mut().find(|(name, _)| *name == point.experiment) {
            Some((_, count)) => *count += 1,
            None => counts.push((&point.experiment, 1)),
        }
    }
    let others = |name: &str| comparison.rows.iter().filter(|row| row.experiment == name).count();
    let written = |(name, count): (&str, usize)| match others(name) {
        0 => name.to_owned(),
        compared => {
            format!("{} of {} of {name}", quantities::count(count), quantities::count(count + compared))
        }
    };
    counts.into_iter().map(written).collect::<Vec<_>>().join(", ")
}

fn not_compared(comparison: &Comparison) -> Vec<Block> {
    let items: Vec<Text> = reasons(comparison)
        .into_iter()
        .map(|(reason, points)| {
            let names = points
                .iter()
                .map(|point| format!("{} {}", point.experiment, words::short_label(*point, &point.point)));
            Text::strong(reason).and(format!(": {}.", names.collect::<Vec<_>>().join("; ")))
        })
        .collect();
    if items.is_empty() {
        vec![]
    } else {
        vec![Block::Heading("Not compared".to_owned()), Block::List(items)]
    }
}

fn reasons(comparison: &Comparison) -> Vec<(String, Vec<&NotCompared>)> {
    let mut by_reason: Vec<(String, Vec<&NotCompared>)> = vec![];
    for point in &comparison.not_compared {
        let reason = because(&point.because);
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, points)) => points.push(point),
            None => by_reason.push((reason, vec![point])),
        }
    }
    by_reason
}

/// The reason why a point is not compared, in words.
pub(super) fn because(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::OtherMethod { before, after } => {
            format!(
                "method version {before} before and {after} after: not the same operation (`--accept method` compares \
                 them anyway)"
            )
        }
        Obstacle::NoValueAfter { outcome, .. } => {
            format!("a value before, {} after", outcome.replace('_', " "))
        }
        Obstacle::NoValueBefore(outcome) => format!("{} before, a value after", outcome.replace('_', " ")),
        Obstacle::Refuted => "the evidence of one side fails".to_owned(),
        Obstacle::OtherCoreState => {
            "the core was alone on one side and shared on the other, and no state was measured on both"
                .to_owned()
        }
        Obstacle::OtherCpuDistance => {
            "the host had moved the two CPUs, and no distance between them was measured on both sides"
                .to_owned()
        }
        Obstacle::Step => {
            "the least distance of a clock's readings, which is a multiple of its step".to_owned()
        }
        Obstacle::NoInterval => format!("one side has no interval above zero ({ABSENT})"),
    }
}

/// The same in two or three words, where the whole reason stands below.
pub(super) fn because_briefly(obstacle: &Obstacle) -> &'static str {
    match obstacle {
        Obstacle::OtherMethod { .. } => "other method version",
        Obstacle::NoValueAfter { .. } => "no value after",
        Obstacle::NoValueBefore(_) => "no value before",
        Obstacle::Refuted => "its evidence fails",
        Obstacle::OtherCoreState => "other state of the core",
        Obstacle::OtherCpuDistance => "other distance of the CPUs",
        Obstacle::Step => "multiples of a clock's step",
        Obstacle::NoInterval => "no interval above zero",
    }
}

#[cfg(test)]
mod tests {
    use super::{signed, signed_row};
    use fathom_core::statistics::Interval;

    #[test]
    fn a_row_has_one_notation() {
        let row = |ratio, low, high| signed_row(ratio, Interval { low, high });
        let texts = |value: &str, interval: &str| (value.to_owned(), interval.to_owned());
        assert_eq!(row(0.69, 0.376, 0.72), texts("−31 %", "−62 % to −28 %"));
        assert_eq!(row(0.71, 0.65, 0.74), texts("−29 %", "−35 % to −26 %"));
        assert_eq!(row(1.9, 1.5, 2.1), texts("+90 %", "+50 % to +110 %"));
    }

    #[test]
    fn small_and_large_changes_have_one_form() {
        let texts = [1.052, 0.88, 1.00001, 3.06, 0.3, 13.34, 0.034, 0.0021].map(signed);
        let expected =
            ["+5.2 %", "−12 %", "0.0 %", "+206 %", "−70 %", "+1\u{202f}230 %", "−96.6 %", "−99.79 %"];
        assert_eq!(texts, expected);
    }
}
