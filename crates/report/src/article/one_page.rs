//! The operations of the published reports on a page, and those that represent a machine: base hardware, software overhead, prediction, measurement with the core alone and
//! shared, their ratio, and its cause (R-REP-03).

use super::quotation;
use super::sections::title;
use crate::main_figures::{self, FigureSource, Main, Ranked, WrittenFigure};
use crate::paper::{Column, Group, Key, Row, Section, Table, Text};
use crate::summary::{self, OperationRow, RowOf};
use crate::words::{self, ABSENT};
use crate::{at_usual, cpu_distance, denied, occupancy};
use fathom_core::experiment::{Dimension, Found, Prediction};
use fathom_core::quantities;
use fathom_core::statistics::Measured;
use fathom_engine::results::{CLOSE, Explanation, FAIR, PointResult, Results, TrendResult, distance};

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
                near(&slope_of(trend), step.total, false).into()
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
        influenced(point, cause(point)),
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

/// Its cause, or where it has none how much of what was not predicted a mechanism of this run accounts for.
fn influenced(point: &PointResult, cause: String) -> Text {
    if let Some(of) = point.miss_mechanism.as_ref().filter(|_| [WITHIN, FURTHER].contains(&cause.as_str())) {
        let lead = if of.accounts { String::new() } else { cause + "; " };
        return Text::plain(lead + &crate::finding::text(&of.statement) + ": ")
            .and(Text::to(&Key::of("mechanisms")));
    }
    let part = point.influence.as_ref().filter(|_| cause == WITHIN);
    match part.and_then(|part| part.of_difference.as_ref()) {
        Some(part) => Text::plain(crate::finding::text(part) + ": ").and(Text::to(&Key::of("mechanisms"))),
        None => cause.into(),
    }
}

const PUBLISHED: &str = "among the published values";

/// What is said of a result whose interval, or a state of the machine, or what an input is by the end of the run, is within a factor of two of the prediction.
const NOT_CERTAIN: &str = "its interval, state or input reaches to within a factor of two";

/// Why a result is as far from its prediction as it is, in a few words.
fn cause(point: &PointResult) -> String {
    let is_among_published = point
        .prediction
        .as_ref()
        .zip(point.figure())
        .is_some_and(|(prediction, figure)| prediction.is_range_of(&figure));
    match (&point.explanation, point.factor()) {
        // An input that became another is named with both its values.
        (Some(explanation @ Explanation::Cause { mechanism, .. }), _) if explanation.is_of_input() => {
            point.because.as_ref().map_or_else(|| mechanism.clone(), crate::finding::text)
        }
        (Some(Explanation::Cause { mechanism, .. }), _) => format!("{mechanism}, measured in this run"),
        (Some(Explanation::Distance), _) => point.because.as_ref().map_or_else(
            || FURTHER.to_owned(),
            |because| words::uncapitalised(crate::finding::text(because).trim_end_matches('.')),
        ),
        (Some(Explanation::Overstated { term }), _) => format!("{OVERSTATED}: {term}"),
        (Some(Explanation::Probable { cause }), _) => format!("probably {cause}"),
        (Some(Explanation::OwnCurve { end }), _) => format!("{end}, as its own curve shows"),
        (Some(Explanation::NotCertain | Explanation::InRange), _) if is_among_published => {
            PUBLISHED.to_owned()
        }
        (Some(Explanation::NotCertain), _) => NOT_CERTAIN.to_owned(),
        (Some(Explanation::InDoubt), _) => "in doubt: its evidence fails".to_owned(),
        (Some(Explanation::InRange), _) => WIDE_RANGE.to_owned(),
        (Some(Explanation::NotExplained), _) => FURTHER.to_owned(),
        (None, Some(factor)) => match (point.factor_by_end(), point.figure(), &point.prediction) {
            (Some(by_end), measured, prediction) => {
                let became = format!("an input became another: with it {}", quantities::factor(by_end));
                let further =
                    measured.zip(prediction.as_ref()).filter(|_| distance(by_end) > distance(factor));
                further.map_or_else(
                    || became.clone(),
                    |(measured, prediction)| {
                        near(&measured, prediction.total(), is_among_published) + ", but " + &became
                    },
                )
            }
            (None, Some(measured), Some(prediction)) => {
                let by_end = point.by_end.as_ref().map(Prediction::total);
                or_by_end(near(&measured, prediction.total(), is_among_published), &measured, by_end)
            }
            _ => WITHIN.to_owned(),
        },
        (None, None) if quotation::is_limit(point) => "set, not predicted".to_owned(),
        (None, None) => "no prediction to judge".to_owned(),
    }
}

/// What is said of a result that is within [`FAIR`] of its prediction, and not like it.
const WITHIN: &str = "within a factor of two, not explained";

/// What is said of a result that is further than [`FAIR`] from its prediction for certain, without a cause.
const FURTHER: &str = "further than a factor of two, not explained";

/// What is said of a result in two states, of which each is near its prediction, or one, or of which one is within [`FAIR`] of it.
const EACH_STATE: &str = "each of its states is within a factor of 1.25";
const ONE_STATE_ONLY: &str = "one of its states is within a factor of two, another is not";
const ONE_STATE: &str = "one of its states is within a factor of 1.25";

/// What is said of a result whose interval would hold nearly any prediction.
const TOO_WIDE: &str = "cannot tell: its interval reaches over a factor of four or more";

/// What is said of a result in a range of the published values behind its prediction that would hold nearly any result.
const WIDE_RANGE: &str = "cannot tell: it lies in the range of its prediction, of a factor of four or more";

/// What is said of a prediction that is too high because of one term, whose name follows.
const OVERSTATED: &str = "the prediction is too high in one term, which takes less here";

/// The factor of the prediction within which nothing is left to explain, whatever the interval: 10 %.
const NEAR: f64 = 1.1;

/// How near a result is that is within [`FAIR`] of its prediction: as predicted only by the rule by which values of this paper are alike.
fn near(measured: &Found, predicted: f64, is_among_published: bool) -> String {
    let predicted = Found::exact(predicted, measured.dimension);
    // A median over two states is of neither, and so is its interval.
    if let Some(states) = measured.states {
        let within = |limit: f64| {
            states.iter().filter(|state| distance(state.value / predicted.value) <= limit).count()
        };
        return match (within(CLOSE), within(FAIR)) {
            (2, _) => EACH_STATE,
            (1, _) => ONE_STATE,
            (_, 1) => ONE_STATE_ONLY,
            _ => WITHIN,
        }
        .to_owned();
    }
    if measured.is_like(&predicted) {
        "as predicted".to_owned()
    } else if is_among_published {
        PUBLISHED.to_owned()
    } else if distance(measured.value / predicted.value) <= NEAR {
        "within 10 % of the prediction".to_owned()
    } else if measured.holds(predicted.value) && !measured.tells() {
        TOO_WIDE.to_owned()
    } else if measured.holds(predicted.value) {
        "its interval holds the prediction".to_owned()
    } else {
        WITHIN.to_owned()
    }
}

/// What is said of a result that is near its prediction in no other way, where it holds the prediction from what the inputs were by the end of
/// the run: what they were before its first trial is then what it was predicted too low or too high from.
fn or_by_end(verdict: String, measured: &Found, by_end: Option<f64>) -> String {
    let is_held = |by_end: &f64| measured.is_of_one_state() && measured.holds(*by_end) && measured.tells();
    match by_end.filter(|by_end| verdict == WITHIN && is_held(by_end)) {
        Some(by_end) => format!(
            "explained by its inputs, which were others by the end of the run: with them {}, which its interval holds",
            quantities::factor(measured.value / by_end)
        ),
        None => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::Interval;

    fn told(value: f64, width: f64) -> String {
        let interval = Some(Interval { low: value - width, high: value + width });
        near(&Found::measured(Measured { value, interval }, Dimension::Of(Unit::Nanoseconds)), 100.0, false)
    }

    #[test]
    fn what_lies_among_published_values_is_said_to() {
        let interval = Some(Interval { low: 175.0, high: 185.0 });
        let measured = Found::measured(Measured { value: 180.0, interval }, Dimension::Of(Unit::Nanoseconds));
        assert_eq!(near(&measured, 100.0, true), "among the published values");
        assert_eq!(near(&measured, 100.0, false), WITHIN);
    }

    /// A read was predicted from one of round 1, of 38.4 µs, which took 45.9 by the end of the run; it took 42.6 (39.2–49.4), "not explained".
    #[test]
    fn what_its_inputs_were_by_the_end_of_the_run_explains_a_result_that_holds_it() {
        let interval = Some(Interval { low: 39.2, high: 49.4 });
        let measured = Found::measured(Measured { value: 42.6, interval }, Dimension::Of(Unit::Nanoseconds));
        let verdict = |by_end| or_by_end(near(&measured, 38.5, false), &measured, by_end);
        assert_eq!(verdict(None), WITHIN);
        assert_eq!(
            verdict(Some(46.0)),
            "explained by its inputs, which were others by the end of the run: with them 0.926×, which its interval holds"
        );
        assert_eq!(verdict(Some(50.0)), WITHIN, "beyond the interval");
        assert_eq!(or_by_end("as predicted".to_owned(), &measured, Some(46.0)), "as predicted");
    }

    #[test]
    fn only_what_is_like_its_prediction_is_as_predicted() {
        assert_eq!(told(110.0, 5.0), "as predicted");
        assert_eq!(told(199.0, 5.0), WITHIN, "nearly twice what was predicted");
        assert_eq!(told(108.0, 30.0), "within 10 % of the prediction", "an interval says no more than that");
        assert_eq!(told(120.0, 40.0), "its interval holds the prediction", "an interval too wide to tell");
        assert_eq!(
            told(120.0, 80.0),
            TOO_WIDE,
            "from 40 to 200: no prediction near it could be contradicted"
        );
        assert_eq!(told(120.0, 10.0), WITHIN, "beyond 1.25 in part of the interval, and surely another");
    }
}
