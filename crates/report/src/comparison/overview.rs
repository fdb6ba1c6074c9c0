//! The differences of machines and settings, the number of changed points, and several sides at a glance.

use super::rows::{change, label};
use crate::figure;
use crate::paper::{Block, Column, Figure, Group, Key, Row, Section, Table, Text, Tone};
use crate::words::ABSENT;
use fathom_core::{quantities, statistics};
use fathom_engine::comparison::{Comparison, Row as Compared, Side, Verdict};

/// The section with the differences between the machines and settings; one that makes the comparison doubtful is emphasised,
/// with the name that accepts it.
pub(super) fn differences(
    section: Section,
    comparison: &Comparison,
    accepted: &[String],
    key: &Key,
) -> Section {
    if comparison.differences.is_empty() {
        return section.say("According to the run files, machine and settings are the same.");
    }
    let open = |name: &&str| !accepted.iter().any(|accepted| accepted == name);
    let mut doubts: Vec<&str> =
        comparison.differences.iter().filter_map(|difference| difference.doubtful).filter(open).collect();
    doubts.dedup();
    let section = if doubts.is_empty() {
        section
    } else {
        section.with(Block::Aside(Tone::Careful, doubtful(&doubts)))
    };
    let rows = comparison.differences.iter().map(|difference| {
        let tone = if difference.doubtful.as_ref().is_some_and(open) { Tone::Careful } else { Tone::Faint };
        Row::of([
            Text::toned(tone, difference.what),
            Text::plain(short(&difference.before)),
            Text::plain(short(&difference.after)),
        ])
    });
    section.with(
        Table::new(
            key.within("differences"),
            "Differences between the machines and between the settings of their runs.",
        )
        .columns([Column::words("what"), Column::words("before"), Column::words("after")])
        .rows(rows),
    )
}

fn doubtful(names: &[&str]) -> Text {
    let list = names.join(",");
    Text::plain(
        "This comparison is doubtful: the two sides differ in something that may affect every figure below. \
                 If that difference is what you want to compare, accept it with ",
    )
    .and(Text::code(format!("--accept {list}")))
    .and(".")
}

/// A text shortened to fit its cell: lists of mitigations would fill pages.
fn short(text: &str) -> String {
    const MOST: usize = 160;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The number of changed points of each experiment, and the median change.
pub(super) fn counts(comparison: &Comparison, key: &Key) -> Table {
    let mut table = Table::new(
        key.within("counts"),
        "Points by verdict; the median change of the values of an experiment (of rates, a rise is better), as measured, at whatever frequency \
         the core had.",
    )
    .columns([
        Column::words("experiment"),
        Column::count("worse"),
        Column::count("better"),
        Column::count("changed").optional(),
        Column::count("equivalent"),
        Column::count("inconclusive"),
        Column::ratio("median change"),
    ]);
    table = table.rows(comparison.by_experiment().into_iter().map(|(name, rows)| {
        let count = |verdict: Verdict| match rows.iter().filter(|row| row.verdict == verdict).count() {
            0 => Text::toned(Tone::Faint, ABSENT),
            some => Text::plain(quantities::count(some)),
        };
        let ratios: Vec<f64> = rows.iter().map(|row| row.contrast.ratio().ln()).collect();
        let median =
            statistics::median(&ratios).map_or(ABSENT.to_owned(), |log| super::rows::signed(log.exp()));
        Row::of([
            Text::code(name),
            count(Verdict::Worse),
            count(Verdict::Better),
            count(Verdict::Changed),
            count(Verdict::Equivalent),
            count(Verdict::Inconclusive),
            Text::plain(median),
        ])
    }));
    table.without_columns_of(ABSENT)
}

/// Several sides at a glance: a row for each point that changed on any of them, a column per side.
pub(super) fn matrix(first: &Side, others: &[(&Side, Comparison)]) -> Section {
    let mut table = Table::new(Key::of("matrix"), format!("Change from {}, for points of which any side changed by \
        more than the margin; bold where the change is established, plain where it is undecided or within the margin.", first.name))
        .columns(std::iter::once(Column::words("operation")).chain(others.iter().map(|(side, _)| Column::ratio(side.name.clone()))));
    let moved = |row: &&Compared| {
        others.iter().any(|(_, other)| same(other, row).is_some_and(|row| row.verdict.is_difference()))
    };
    let mut shown: Vec<&Compared> = vec![];
    for row in others.iter().flat_map(|(_, comparison)| &comparison.rows).filter(moved) {
        if !shown.iter().any(|known| known.experiment == row.experiment && known.point == row.point) {
            shown.push(row);
        }
    }
    let mut groups: Vec<Group> = vec![];
    let mut last = "";
    for row in &shown {
        if row.experiment != last {
            groups.push(Group::named(Text::code(row.experiment.clone())));
            last = &row.experiment;
        }
        let cells = others.iter().map(|(_, other)| same(other, row).map_or(Text::plain(ABSENT), cell));
        if let Some(group) = groups.last_mut() {
            group.rows.push(Row::of(std::iter::once(Text::plain(label(row))).chain(cells)));
        }
    }
    table.groups = groups;
    let section = Section::new(Key::of("overview"), "All sides");
    if shown.is_empty() {
        section.say(format!("No change from {} by more than the margin was found.", first.name))
    } else {
        section.with(table)
    }
}

fn same<'a>(comparison: &'a Comparison, compared: &Compared) -> Option<&'a Compared> {
    comparison.rows.iter().find(|row| row.experiment == compared.experiment && row.point == compared.point)
}

fn cell(row: &Compared) -> Text {
    let (value, _) = change(row);
    if row.verdict.is_difference() { Text::strong(value) } else { Text::plain(value) }
}

/// The section of one comparison; `None` if nothing was swept.
pub(super) fn curves(names: [&str; 2], comparison: &Comparison, place: usize) -> Option<Section> {
    let key = Key::numbered("curves", place + 1);
    let data = Key::numbered("against", place + 1).within("all");
    let drawn = comparison.by_experiment().into_iter().flat_map(|(name, rows)| {
        let figures = figure::of_both_sides(names, &rows);
        figures.into_iter().map(|drawn| (name.to_owned(), drawn)).collect::<Vec<_>>()
    });
    let numbered = |(place, (name, drawn)): (usize, (String, figure::DrawnFigure))| Figure {
        key: key.within(&format!("figure-{}", place + 1)),
        caption: Text::code(name).and(": ").and(drawn.explained()),
        data: Some(data.clone()),
        drawing: drawn.svg,
        otherwise: drawn.otherwise,
        spread: drawn.spread,
    };
    let blocks: Vec<Block> = drawn.enumerate().map(numbered).map(Block::from).collect();
    let title = format!("Curves: {} and {}", names[0], names[1]);
    (!blocks.is_empty()).then(|| Section::new(key.clone(), title).with_all(blocks))
}
