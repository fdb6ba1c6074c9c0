//! The operations of the published reports on a page, and those that represent a machine: base hardware, software overhead, prediction, measurement with the core alone and
//! shared, their ratio, and its cause (R-REP-03).

use super::cause;
use super::quotation;
use super::sections::title;
use crate::main_figures::{self, FigureSource, Main, Ranked, WrittenFigure};
use crate::paper::{Column, Group, Key, Row, Section, Table, Text};
use crate::summary::{self, OperationRow, RowOf};
use crate::words::ABSENT;
use crate::{at_usual, cpu_distance, denied, occupancy};
use fathom_core::experiment::{Dimension, Found};
use fathom_core::quantities;
use fathom_core::statistics::Measured;
use fathom_engine::results::{FAIR, PointResult, Results, TrendResult, distance};

/// The experiments of the reports, each with how many of its main figures they have.
const EXPERIMENTS: [(&str, usize); 18] = [
    ("cpu/timing_overhead", 2),
    ("cpu/loop_overhead", 1),
    ("cpu/procedure_call", 2),
    ("cpu/system_call", 4),
    ("cpu/thread_creation", 1),
    ("cpu/process_creation", 1),
    ("cpu/context_switch", 4),
    ("memory/load_latency", 4),
    ("memory/bandwidth", 2),
    ("memory/minor_fault", 1),
    ("memory/major_fault", 1),
    ("network/round_trip", 3),
    ("network/bandwidth", 3),
    ("network/connection", 4),
    ("filesystem/cache_size", 1),
    ("filesystem/read", 3),
    ("filesystem/remote_read", 2),
    ("filesystem/contention", 2),
];

/// The main figures of the reports' experiments, and those that represent a machine, in the order of the run.
pub(super) fn operations<'run>(results: &'run Results) -> Vec<Ranked<'run>> {
    let room = |name: &str| EXPERIMENTS.iter().find(|(of, _)| *of == name).map_or(0, |(_, room)| *room);
    let mut so_far: (&str, usize) = ("", 0);
    let fits = |figure: &Ranked<'run>| {
        so_far =
            if so_far.0 == figure.experiment { (so_far.0, so_far.1 + 1) } else { (figure.experiment, 1) };
        figure.main.leads || so_far.1 <= room(figure.experiment)
    };
    main_figures::all(results).into_iter().filter(fits).collect()
}

/// An operation of an experiment, by its label.
pub(super) type OperationText = fn(&Results, &str, &str) -> Text;

/// The section; `None` if the run has none of these operations. `named` writes an operation, with a link where its section is in the document.
pub(super) fn of(results: &Results, named: OperationText) -> Option<Section> {
    let operations = operations(results);
    let columns = [
        Column::words("operation"),
        Column::mixed("base hardware"),
        Column::mixed("software overhead"),
        Column::mixed("predicted"),
        Column::words("from"),
        Column::mixed("measured"),
        Column::mixed("core shared"),
        Column::ratio("ratio"),
        Column::words("cause"),
    ];
    let points = || operations.iter().filter_map(|figure| figure.main.point());
    let caption = format!(
        "The operations of the published reports, and those that represent a machine: predicted before, measured after, medians with 95 % intervals.{}{}",
        legends(points),
        quotation::legend(operations.iter().map(|figure| &figure.main))
    );
    let mut table = Table::new(Key::of("one-page-table"), caption).columns(columns);
    for family in operations.chunk_by(|one, other| one.family() == other.family()) {
        let rows = family.iter().map(|figure| row(results, figure, named));
        table = table.group(Group::named(title(family[0].family())).rows(rows));
    }
    (!operations.is_empty()).then(|| {
        Section::new(Key::of("one-page"), "Every operation on a page")
            .say(format!(
                "{READING} {RATIO} As predicted: the whole interval of the ratio is within a factor of 1.25 of one; within 10 % of the prediction: it is, and its interval reaches further; its interval holds the prediction: it is further off, and the interval holds it; among the published values: it lies within the range behind the prediction, which is narrower than a factor of four; cannot tell: an interval of a factor of four or more holds nearly any prediction, and such a range of a prediction nearly any result. A slope's prediction is the slope of its points' predictions."
            ))
            .with(table.without_empty_columns(ABSENT))
    })
}

const RATIO: &str = "Ratio: measured over predicted; of a time more than one is worse than predicted, of a rate (GB/s, MB/s, a second) less.";

const READING: &str = "Base hardware is what the bare machine costs, software overhead what operating system and libraries add. From: \
    what the prediction rests on; independent is of data sheets, publications and first principles alone, scaled takes the proportions \
    of one published machine, this run uses another of its measurements. The experiments' sections of the whole report have the derivations \
    and what excludes a cause.";

fn row(results: &Results, figure: &Ranked, named: OperationText) -> Row {
    let name = named(results, figure.experiment, &figure.main.reader_label());
    let name = name.and(figure.main.marks(results) + &quotation::mark(&figure.main));
    match figure.main.source {
        FigureSource::Point(point) => of_point(name, point, &figure.main),
        FigureSource::Slope(trend) => of_slope(name, trend, &figure.main),
    }
}

/// The meaning of what stands beside names and values.
fn legends<'run, P: Iterator<Item = &'run PointResult>>(points: impl Fn() -> P) -> String {
    let are_several = points().any(|point| point.mixture.is_some());
    occupancy::mark_legend(points())
        + &at_usual::legend(points())
        + &denied::legend(points())
        + &cpu_distance::legend(points())
        + if are_several { " a or b: the machine was in several states, each with its value." } else { "" }
}

/// Operations in a line each, for a page that has all else too: without what their predictions consist of and rest on, the value of
/// the core shared, and the cause.
pub(super) fn in_brief(results: &Results, figures: &[Ranked]) -> Table {
    let points = || figures.iter().filter_map(|figure| figure.main.point());
    let caption = format!(
        "Operations: predicted before, measured after, medians with 95 % intervals.{}{}",
        legends(points),
        quotation::legend(figures.iter().map(|figure| &figure.main))
    );
    let mut table = Table::new(Key::of("main-figures"), caption).columns([
        Column::words("operation"),
        Column::mixed("predicted"),
        Column::mixed("measured"),
        Column::ratio("ratio"),
        Column::signs("checked"),
    ]);
    for family in figures.chunk_by(|one, other| one.family() == other.family()) {
        let rows = family.iter().map(|figure| row_in_brief(results, figure));
        table = table.group(Group::named(title(family[0].family())).rows(rows));
    }
    table.without_empty_columns(ABSENT)
}

fn row_in_brief(results: &Results, figure: &Ranked) -> Row {
    let written = figure.main.written();
    let (predicted, factor) = match figure.main.source {
        FigureSource::Point(point) => (summary::of_point(point)[0].predicted.clone(), written.factor.clone()),
        FigureSource::Slope(trend) => match &trend.predicted {
            Some(step) => {
                let factor = quantities::factor(trend.slope() / step.total);
                (quantities::value(trend.unit, step.total), factor)
            }
            None => (ABSENT.to_owned(), ABSENT.to_owned()),
        },
    };
    Row::of([
        (figure.main.brief_label() + &figure.main.marks(results) + &quotation::mark(&figure.main)).into(),
        predicted.into(),
        quotation::value(&figure.main, measured(&written)),
        factor.into(),
        written.evidence.map_or(ABSENT.into(), Text::sign),
    ])
}

/// `187 ns (186–188)`: a median with its interval.
fn measured(written: &WrittenFigure) -> String {
    match written.interval.as_str() {
        ABSENT => written.median.clone(),
        interval => format!("{} ({interval})", written.median),
    }
}

/// A slope, beside the slope of its points' predictions.
fn of_slope(name: Text, trend: &TrendResult, main: &Main) -> Row {
    let step = trend.predicted.as_ref();
    let value = |value: f64| quantities::value(trend.unit, value);
    let or_absent = |text: Option<String>| Text::plain(text.unwrap_or_else(|| ABSENT.to_owned()));
    let factor = step.map(|step| trend.slope() / step.total);
    Row::of([
        name,
        or_absent(step.and_then(|step| step.hardware).map(value)),
        or_absent(step.and_then(|step| step.software).map(value)),
        or_absent(step.map(|step| value(step.total))),
        or_absent(step.map(|step| step.ground.short_name().to_owned())),
        quotation::value(main, measured(&main.written())),
        or_absent(None),
        or_absent(factor.map(quantities::factor)),
        match (step, factor) {
            (Some(step), Some(factor)) if distance(factor) <= FAIR => {
                cause::of_slope(&slope_of(trend), step.total).into()
            }
            (_, Some(_)) => "that of its points".into(),
            (_, None) => "no prediction to judge".into(),
        },
    ])
}

/// The slope with its interval, to compute with.
fn slope_of(trend: &TrendResult) -> Found {
    let measured = Measured { value: trend.slope(), interval: trend.slope_interval() };
    Found::measured(measured, Dimension::Of(trend.unit))
}

fn of_point(name: Text, point: &PointResult, main: &Main) -> Row {
    let rows = summary::of_point(point);
    let shared = rows.iter().find(|row| row.of == RowOf::CoreShared).map_or(ABSENT.to_owned(), with_interval);
    let is_figure = |row: &&OperationRow| matches!(row.of, RowOf::Figure | RowOf::OtherState);
    let states: Vec<String> = rows.iter().filter(is_figure).map(with_interval).collect();
    let first = &rows[0];
    let range = point.prediction.as_ref().and_then(|prediction| summary::range(point, prediction));
    let predicted = first.predicted.clone() + &range.map(|range| format!(" ({range})")).unwrap_or_default();
    let ground = point.prediction.as_ref().map_or(ABSENT, summary::ground);
    Row::of([
        name,
        first.hardware.clone().into(),
        first.software.clone().into(),
        predicted.into(),
        ground.into(),
        quotation::value(main, states.join(" or ")),
        shared.into(),
        summary::factor(point).into(),
        cause::of_point(point),
    ])
}

/// `187 ns (186–188)`: the value of a row with its interval, whose unit is the same.
fn with_interval(row: &OperationRow) -> String {
    match row.interval.rsplit_once(' ') {
        _ if row.interval == ABSENT => row.measured.clone(),
        Some((range, _)) => format!("{} ({range})", row.measured),
        None => format!("{} ({})", row.measured, row.interval),
    }
}
