//! The report on a terminal: the summary table, points without a value with their reasons, trends, findings, disturbances,
//! precision.

use super::precision::Precision;
use super::summary::{OperationGroup, OperationRow, RowOf, Unmeasured};
use super::text::{Style, clean, display_width, lines, places};
use super::usual::UsualFigures;
use super::words::plural;
use super::{
    cpu_distance, description, finding, occupancy, run, screen, states, summary, verdict, warned, words,
};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, TableComponent, presets};
use fathom_core::experiment::Finding;
use fathom_core::quantities;
use fathom_engine::results::{
    Accuracy, Agreement, CLOSE, CrossCheck, FAIR, Mechanism, Outcome, Results, Tally, TrendResult,
};
use std::path::Path;

/// The width from which the table has all columns.
const WIDE: usize = 110;

/// Spaces between two columns.
const GAP: usize = 2;

/// The least width to which an operation is wrapped.
const LEAST_ROOM: usize = 14;

/// The width from which the table has the ends of the intervals.
const MEDIUM: usize = 84;

/// The number of intervals wider than their target that are named.
const MOST_MISSED: usize = 5;

/// The summary of a run. `files` are the written files with their names: `("run file", path)`.
pub(crate) fn summary(
    results: &Results,
    usual: &UsualFigures,
    files: &[(&str, &Path)],
    style: Style,
) -> String {
    let first = [head(results, style), screen::trust_text(results, style), stands_out(results, usual, style)];
    let then = [mechanisms(results, style), cross_checks(results, style), findings(results, style)];
    let parts = first.into_iter().chain(tables(results, style)).chain(then);
    joined(parts.chain(judged(results, files, style)))
}

/// The named experiments of a run: what was found, the main figures, then every figure.
pub(crate) fn part(results: &Results, usual: &UsualFigures, files: &[(&str, &Path)], style: Style) -> String {
    let first = [
        head(results, style),
        findings(results, style),
        mechanisms(results, style),
        cross_checks(results, style),
        screen::main_rows(results, usual, style),
    ];
    joined(first.into_iter().chain(tables(results, style)).chain(judged(results, files, style)))
}

/// The parts that are not empty, with an empty line between them.
fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Every figure, what has none, and the lines through them.
fn tables(results: &Results, style: Style) -> [String; 3] {
    [
        table(&summary::groups(results), style),
        unmeasured(&summary::unmeasured(&results.points), style),
        trends(results, style),
    ]
}

/// How far predictions and evidence hold, and what disturbed; then the files.
fn judged(results: &Results, files: &[(&str, &Path)], style: Style) -> [String; 8] {
    [
        misses(results, style),
        accuracy(&results.accuracy, style),
        doubts(results, style),
        not_judged(results, style),
        disturbances(results, style),
        description::warnings(&warned::of(results), style),
        precision(results, style),
        places(files, style),
    ]
}

fn head(results: &Results, style: Style) -> String {
    let header = &results.run.header;
    let title = format!("{} on {}", header.started, run::machine_in_full(&header.machine));
    let peer = run::peer(header).map(|peer| style.wrapped("", &peer)).unwrap_or_default();
    style.title(style.wrapped("", &title).trim_end())
        + "\n"
        + &peer
        + &style.wrapped("", &run::ending(results))
        + &style.wrapped("", &verdict::sentence(results))
}

/// All that stands out. The mechanisms have a part of their own, with the figures that support them.
fn stands_out<'run>(results: &'run Results<'run>, usual: &UsualFigures<'run>, style: Style) -> String {
    let line = |(mark, sentence): (&str, String)| style.wrapped(&format!("  {mark} "), &sentence);
    let text: String = screen::everything_notable(results, usual).into_iter().map(line).collect();
    titled(screen::NOTABLE, text, style)
}

/// A part below its title; empty if the part is.
fn titled(title: &str, text: String, style: Style) -> String {
    if text.is_empty() { text } else { style.title(title) + "\n" + &text }
}

fn table(groups: &[OperationGroup], style: Style) -> String {
    if groups.is_empty() {
        return "No point has a value.\n".to_owned();
    }
    let columns = columns(style.width);
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    // A line under the head, and none elsewhere.
    for part in [TableComponent::HeaderLines, TableComponent::MiddleHeaderIntersections] {
        table.set_style(part, '─');
    }
    table.set_width(u16::try_from(style.width).unwrap_or(u16::MAX));
    table.set_header(chosen(&HEAD.map(str::to_owned), columns));
    let rows: Vec<Vec<[String; 9]>> =
        groups.iter().map(|group| group.rows.iter().map(cells).collect()).collect();
    let room = room(&rows, columns, style.width);
    for (index, rows) in rows.into_iter().enumerate() {
        table.add_row([marker(index)]);
        for mut row in rows {
            row[0] = indented(&row[0], room);
            table.add_row(chosen(&row, columns));
        }
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    let text: String = table.lines().map(|line| painted(&line, groups, style) + "\n").collect();
    text + &left_out(style) + &legend(groups, style)
}

/// The columns that there is no room for, and how to see them.
fn left_out(style: Style) -> String {
    let shown = columns(style.width);
    // The half-width stands for the interval's ends where these are not shown.
    let missing = (0..HEAD.len()).filter(|column| *column != HALF_WIDTH && !shown.contains(column));
    let missing: Vec<&str> = missing.map(|column| HEAD[column]).collect();
    let text = format!(
        "Left out for want of room: {}. They are shown from {WIDE} columns on (in a pipe: `COLUMNS={WIDE}`).",
        missing.join(", ")
    );
    if missing.is_empty() { String::new() } else { style.wrapped("", &text) }
}

/// The place of the half-width.
const HALF_WIDTH: usize = 6;

const HEAD: [&str; 9] = [
    "operation",
    "hardware",
    "software",
    "predicted",
    "measured",
    "95 % interval",
    "±",
    "meas./pred.",
    "check",
];

/// The columns that fit: below [`WIDE`] without the prediction's parts, below [`MEDIUM`] with the half-width instead of the
/// interval's ends.
fn columns(width: usize) -> &'static [usize] {
    match width {
        WIDE.. => &[0, 1, 2, 3, 4, 5, 7, 8],
        MEDIUM.. => &[0, 3, 4, 5, 7, 8],
        _ => &[0, 3, 4, 6, 7, 8],
    }
}

fn chosen(cells: &[String; 9], columns: &[usize]) -> Vec<String> {
    columns.iter().map(|column| cells[*column].clone()).collect()
}

fn cells(row: &OperationRow) -> [String; 9] {
    [
        clean(&row.operation),
        row.hardware.clone(),
        row.software.clone(),
        row.predicted.clone(),
        row.measured.clone(),
        row.interval.clone(),
        row.half_width.clone(),
        row.factor.clone(),
        row.evidence.to_owned(),
    ]
}

/// The width for the operation, after that of the figures.
fn room(rows: &[Vec<[String; 9]>], columns: &[usize], width: usize) -> usize {
    let widest = |column: &usize| {
        let cells = rows.iter().flatten().map(|row| display_width(&row[*column]));
        cells.chain([display_width(HEAD[*column])]).max().unwrap_or(0) + GAP
    };
    width.saturating_sub(columns.iter().skip(1).map(widest).sum::<usize>() + GAP).max(LEAST_ROOM)
}

/// An operation below its experiment's name, in lines that are indented further from the second on.
fn indented(operation: &str, room: usize) -> String {
    let lines = lines(operation, room.saturating_sub(4));
    let text = lines.join("\n\u{a0}\u{a0}\u{a0}\u{a0}");
    format!("\u{a0}\u{a0}{}", text.replace(' ', "\u{a0}"))
}

/// A placeholder in the table for the name of a group, which may be longer than its column and is inserted after the layout.
/// No operation's row can look like it: they begin with a space.
fn marker(group: usize) -> String {
    format!("#{group}")
}

/// Inserts names and colours a finished line: column widths are those of the plain text.
fn painted(line: &str, groups: &[OperationGroup], style: Style) -> String {
    let named = groups.iter().enumerate().find(|(index, _)| line.trim_end() == marker(*index));
    if let Some((_, group)) = named {
        let placement = group.placement.map(|placement| format!(" ({placement})")).unwrap_or_default();
        return style.title(&(clean(group.experiment) + &placement));
    }
    let line = line.trim_end().replace('✓', &style.good("✓"));
    line.replace('✗', &style.bad("✗"))
}

fn legend(groups: &[OperationGroup], style: Style) -> String {
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let below = rows().any(|row| matches!(row.point.outcome, Outcome::BelowResolution { .. }));
    let neighbour = rows().any(|row| row.of == RowOf::CoreShared);
    let states = rows().any(|row| row.point.mixture.is_some());
    let unpredicted = rows().any(|row| row.point.prediction.is_none());
    let unjudged = rows().any(|row| row.point.method().is_err());
    let mut text = String::new();
    if below {
        text += &style.wrapped(
            "",
            "<  below resolution: not distinguishable from zero; an upper limit at 95 % \
                                    confidence.",
        );
    }
    if neighbour {
        text += &style.wrapped("", &occupancy::legend(rows().map(|row| row.point)));
    }
    if rows().any(|row| cpu_distance::name(row.point).is_some()) {
        text += &style.wrapped("", cpu_distance::LEGEND);
    }
    if states {
        text += &style.wrapped("", states::LEGEND_OF_ROWS);
    }
    if unpredicted {
        text += &style.wrapped("", "–  no prediction, or no such part; the full report says why.");
    }
    if unjudged {
        text += &style.wrapped("", "?  not checked: another version of the method measured it.");
    }
    text
}

fn unmeasured(groups: &[Unmeasured], style: Style) -> String {
    let mut text = String::new();
    for group in groups {
        let points = match group.points.as_slice() {
            [one] => clean(one),
            many => plural(many.len(), "point"),
        };
        let lead = format!("  {:11}  ", group.outcome);
        let line = style.wrapped(&lead, &format!("{}, {points}: {}", group.experiment, group.reason));
        let word = if group.failure { style.bad(group.outcome) } else { style.careful(group.outcome) };
        text += &line.replacen(group.outcome, &word, 1);
    }
    titled("Without a value", text, style)
}

/// Where the slopes of trends have two estimates, which differ where points lie on no straight line.
const OF_TRENDS: &str = "Trends (least squares, 95 % intervals over rounds; by medians: another estimate)";

fn trends(results: &Results, style: Style) -> String {
    let line = |trend: &TrendResult| {
        let name = format!("{} {}", trend.experiment, run::trend_label(trend));
        style.wrapped("  ", &format!("{}: {}", name.trim_end(), run::trend(trend)))
    };
    let text = results.trends.iter().map(line).collect();
    titled(OF_TRENDS, text, style)
}

/// Causes, each with the figures that support it.
fn mechanisms(results: &Results, style: Style) -> String {
    let line = |mechanism: &Mechanism| {
        let headline = style.wrapped("  ", &finding::text(&mechanism.headline));
        headline + &style.wrapped("    ", &finding::text(&mechanism.because))
    };
    let text: String = results.mechanisms.iter().map(line).collect();
    titled("Mechanisms", text, style)
}

/// Operations measured more than once; a contradiction is marked.
fn cross_checks(results: &Results, style: Style) -> String {
    let line = |check: &CrossCheck| {
        let text = finding::text(&check.statement);
        match check.agreement {
            Agreement::Contradicts => style.wrapped("  ✗ ", &text).replacen('✗', &style.bad("✗"), 1),
            Agreement::Agrees | Agreement::Differs | Agreement::Undecided => style.wrapped("    ", &text),
        }
    };
    let text: String = results.cross_checks.iter().map(line).collect();
    titled("Cross-checks", text, style)
}

fn findings(results: &Results, style: Style) -> String {
    let overall =
        results.overall.iter().map(|finding| style.wrapped("  ", &finding::text(&finding.statement)));
    let text = overall.collect::<String>() + &by_experiment(results, |finding| !finding.is_miss(), style);
    let legend = if text.contains('~') { style.wrapped("  ", finding::APPROXIMATE) } else { String::new() };
    titled("Findings", text + &legend, style)
}

fn misses(results: &Results, style: Style) -> String {
    let text = by_experiment(results, Finding::is_miss, style);
    titled("Predictions that missed, and why", text, style)
}

/// Findings of a kind below the names of their experiments.
fn by_experiment(results: &Results, is_shown: impl Fn(&Finding) -> bool, style: Style) -> String {
    let mut text = String::new();
    for (experiment, findings) in &results.findings {
        let findings: Vec<&Finding> = findings.iter().filter(|finding| is_shown(finding)).collect();
        if !findings.is_empty() {
            text += &style.wrapped("  ", experiment);
            text.extend(
                findings.iter().map(|finding| style.wrapped("    ", &finding::text(&finding.statement))),
            );
        }
    }
    text
}

fn doubts(results: &Results, style: Style) -> String {
    let line = |doubt: &run::FailingClaim| {
        let text = format!("{} {}", doubt.experiment, doubt.sentence());
        style.wrapped("  ✗ ", &text).replacen('✗', &style.bad("✗"), 1)
    };
    let text: String = run::doubts(results).iter().map(line).collect();
    titled("Evidence that fails", text, style)
}

fn not_judged(results: &Results, style: Style) -> String {
    let text: String =
        run::not_judged(results).iter().map(|sentence| style.wrapped("  ? ", sentence)).collect();
    titled("Evidence that is not judged", text, style)
}

fn disturbances(results: &Results, style: Style) -> String {
    let sentences = run::disturbances(results).into_iter().chain(cpu_distance::sentence(results));
    let text = sentences.map(|sentence| style.wrapped("  ", &sentence)).collect();
    titled("Disturbances", text, style)
}

fn precision(results: &Results, style: Style) -> String {
    let precision = Precision::of(results);
    let mut text = style.title("Precision") + "\n" + &style.wrapped("  ", &precision.sentence());
    if precision.relative().next().is_some() {
        text += &style.wrapped("  ", "The widest of those below ±100 %:");
    }
    for (point, width) in precision.relative().take(MOST_MISSED) {
        let label = words::label(*point, &point.point);
        let line = format!("{} {} {label}", quantities::plus_minus(*width), point.experiment);
        text += &style.wrapped("    ", &line);
    }
    text
}

/// The lines with their title; empty if nothing could be judged.
fn accuracy(accuracy: &Accuracy, style: Style) -> String {
    let Some(total) = &accuracy.total else { return String::new() };
    // In a run of one chapter the whole is that chapter.
    let chapters = if accuracy.chapters.len() > 1 { accuracy.chapters.as_slice() } else { &[] };
    let tallies: Vec<&Tally> = chapters.iter().chain(accuracy.by_ground()).chain([total]).collect();
    let room = tallies.iter().map(|tally| display_width(&tally.name)).max().unwrap_or(0);
    let line = |tally: &&Tally| {
        let lead = format!("  {:room$}  ", clean(&tally.name));
        style.wrapped(&lead, &accuracy_sentence(tally))
    };
    style.title("How good the predictions were") + "\n" + &tallies.iter().map(line).collect::<String>()
}

fn accuracy_sentence(tally: &Tally) -> String {
    let unpredicted = match tally.unpredicted {
        0 => String::new(),
        some => format!("; {} without a prediction", plural(some, "value")),
    };
    let in_one_state = match tally.fair_in_one_state {
        0 => String::new(),
        some => format!(", {some} more in one state of the machine only"),
    };
    format!(
        "{}: {} within {CLOSE}×, {} within {FAIR}×{in_one_state}; measured over predicted is {} in the median (of rates the \
         inverse), and {} at worst ({}){unpredicted}",
        plural(tally.judged, "point"),
        quantities::percent(tally.close.share),
        quantities::percent(tally.fair.share),
        quantities::factor(tally.median_cost_factor),
        quantities::factor(tally.worst.factor),
        tally.worst.experiment,
    )
}
