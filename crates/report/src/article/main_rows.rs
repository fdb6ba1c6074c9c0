//! The few rows that represent an experiment in the paper: all of its points, or its main figures if there are too many
//! points.

use crate::main_figures::{self, FigureSource, Main};
use crate::paper::{Column, Key, Row, Sign, Table, Text, Tone};
use crate::{at_usual, cpu_distance, occupancy, states, summary, words};
use fathom_core::experiment::{CoreUse, Part, Prediction};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{Estimate, Mode};
use fathom_engine::results::{Outcome, PointResult, PredictedStep, Results};

/// The most rows that fit on a page.
const MOST: usize = 8;

/// The rows of an experiment, and the parameters common to its points if these are all shown.
pub(super) struct MainRows<'run> {
    rows: Vec<Main<'run>>,
    shared: String,
    /// Whether the core was shared for part of the run, so that a slope is of one of two states.
    has_states: bool,
}

impl<'run> MainRows<'run> {
    pub(super) fn of(results: &'run Results, name: &'run str) -> Self {
        let measured: Vec<&PointResult> =
            results.of_experiment(name).filter(|point| summary::is_in_table(point)).collect();
        let mut rows = main_figures::of(results, name);
        let has_states = occupancy::share_of_time(results).is_some();
        if measured.is_empty() || measured.len() > MOST {
            rows.truncate(MOST);
            return MainRows { rows, shared: String::new(), has_states };
        }
        let shared = words::shared_parameters(&measured);
        let words = |point: &PointResult| words::differing_label(point, &shared);
        let all = measured.iter().map(|point| Main::unchosen(words(point), String::new(), point));
        let slopes = rows.into_iter().filter(|row| matches!(row.source, FigureSource::Slope(_)));
        let rows = all.chain(slopes).take(MOST).collect();
        MainRows { rows, shared: words::shared_label(measured[0], &shared), has_states }
    }

    pub(super) fn points(&self) -> Vec<&'run PointResult> {
        self.rows.iter().filter_map(Main::point).collect()
    }

    /// The modes of rows whose observations gather around values far apart, which one median does not tell; `None` without any.
    pub(super) fn modes(&self) -> Option<String> {
        let rows = self.rows.iter().filter_map(|row| Some((row, row.point()?)));
        let each: Vec<String> =
            rows.filter_map(|(row, point)| Some(format!("{}: {}", row.words, far_modes(point)?))).collect();
        let lead =
            "Observations gather at values far apart, which a median does not tell, with so many at each";
        (!each.is_empty()).then(|| format!("{lead}: {}.", each.join("; ")))
    }

    /// How one of several settings was chosen, if a row is of one.
    fn of_best(&self) -> &'static str {
        let best = |kind: Kind| {
            let is_such = |row: &Main| row.is_best && unit(&row.source).kind() == kind;
            self.rows.iter().any(is_such)
        };
        how_chosen(best(Kind::Rate), best(Kind::Cost))
    }

    /// The table; `None` if nothing has a figure. `all` are the tables with every row and column.
    pub(super) fn table(&self, experiment: &str, key: Key, all: &[&Key]) -> Option<Table> {
        let units = || self.rows.iter().map(|row| unit(&row.source));
        let first = units().next()?;
        let same = units().all(|unit| unit == first);
        let figures = self.rows.iter().filter_map(|row| figure(&row.source));
        let shared = Measure::shared(first, figures).filter(|_| same);
        let in_unit = |head: &str| match shared {
            Some(measure) => Column::number(head, measure.symbol),
            None => Column::mixed(head),
        };
        let columns = [
            Column::words("operation"),
            in_unit("hardware"),
            in_unit("software"),
            in_unit("predicted"),
            Column::words("from"),
            in_unit("median"),
            in_unit("95 % interval"),
            Column::ratio("measured / predicted"),
            Column::signs("checked"),
        ];
        let place = if self.shared.is_empty() { String::new() } else { format!(" ({})", self.shared) };
        let caption = Text::code(experiment).and(format!(": medians over trials{place}. All rows: "));
        let all = Text::joined(all.iter().map(|key| Text::to(key)), ", ");
        let rows = self.rows.iter().flat_map(|main| rows(main, shared, self.has_states));
        let legend =
            at_usual::legend(self.points()) + &occupancy::of_unmarked(self.points()) + self.of_best();
        let table = Table::new(key, caption.and(all).and(format!(".{legend}"))).columns(columns).rows(rows);
        Some(table.without_empty_columns(words::ABSENT))
    }
}

/// How one of several settings is [chosen](fathom_core::experiment::MainFigure::choose_best), in rows of rates and of costs.
fn how_chosen(of_rates: bool, of_costs: bool) -> &'static str {
    match (of_rates, of_costs) {
        (true, true) => {
            " Of several settings the best is the rate whose interval begins highest, or the time whose interval ends lowest; a row has the first \
             in the plan that is not significantly worse than that and whose own begins or ends no more than a quarter worse."
        }
        (true, false) => {
            " Of several settings the best is the one whose interval begins highest; a row has the first in the plan that is not significantly \
             worse than that and whose own begins no more than a quarter lower."
        }
        (false, true) => {
            " Of several settings the best is the one whose interval ends lowest; a row has the first in the plan that is not significantly worse \
             than that and whose own ends no more than a quarter higher."
        }
        (false, false) => "",
    }
}

/// The factor between the outermost modes from which they are far apart.
const FAR_MODES: f64 = 2.0;

/// The modes of a point with their shares, if they are far apart and the point is not given by its states.
fn far_modes(point: &PointResult) -> Option<String> {
    let is_shown = point.estimate().is_some() && point.baseline.is_none() && point.mixture.is_none();
    (is_shown && are_far(&point.modes)).then(|| words::modes(point))
}

/// Whether the outermost of some modes, in ascending order, are far apart.
fn are_far(modes: &[Mode]) -> bool {
    let ends = modes.first().zip(modes.last());
    ends.is_some_and(|(first, last)| first.centre > 0.0 && last.centre > FAR_MODES * first.centre)
}

fn unit(source: &FigureSource) -> Unit {
    match source {
        FigureSource::Point(point) => point.unit,
        FigureSource::Slope(trend) => trend.unit,
    }
}

fn step<'run>(source: &FigureSource<'run>) -> Option<&'run PredictedStep> {
    match source {
        FigureSource::Point(_) => None,
        FigureSource::Slope(trend) => trend.predicted.as_ref(),
    }
}

fn figure(source: &FigureSource) -> Option<f64> {
    match source {
        FigureSource::Point(point) => summary::figure(point),
        FigureSource::Slope(trend) => Some(trend.slope()),
    }
}

/// The numbers of a row's source: the value, the interval's ends, and whether it is an upper limit.
fn measured(source: &FigureSource) -> (f64, Option<(f64, f64)>, bool) {
    let value = figure(source).unwrap_or(f64::NAN);
    match source {
        FigureSource::Slope(trend) => (value, main_figures::slope_ends(trend), false),
        FigureSource::Point(point) => {
            let limit = matches!(point.outcome, Outcome::BelowResolution { .. });
            (value, point.estimate().and_then(quantities::ends), limit)
        }
    }
}

/// A row for a figure, and others for its value while the core was shared and at another distance of its CPUs.
fn rows(main: &Main, shared: Option<Measure>, has_states: bool) -> Vec<Row> {
    let Some(point) = main.point() else { return vec![row(main, shared, has_states)] };
    let second = |name: String, estimate: &Estimate, predicted: Option<(&Prediction, f64)>| {
        let own = || Measure::of(point.unit, point.estimate().map_or(0.0, |all| all.value));
        let measure = shared.unwrap_or_else(own);
        let written = |number: String| match shared {
            Some(_) => number,
            None => format!("{number} {}", measure.symbol),
        };
        let ends = quantities::ends(estimate);
        let absent = || Text::plain(words::ABSENT);
        Row::of([
            Text::toned(Tone::Faint, name),
            absent(),
            absent(),
            predicted.map_or_else(absent, |(of, _)| written(measure.number(of.total(), None)).into()),
            predicted.map_or_else(absent, |(of, _)| summary::ground(of).into()),
            written(measure.number(estimate.value, ends)).into(),
            ends.map_or_else(absent, |(low, high)| written(measure.range(estimate.value, low, high)).into()),
            predicted.map_or_else(absent, |(_, factor)| quantities::factor(factor).into()),
            Text::sign(Sign::Unasked),
        ])
    };
    let of_shared = point.shared().map(|estimate| second(occupancy::SHARED.to_owned(), estimate, None));
    let elsewhere = point.at_other_distance().map(|(at, estimate)| {
        second(cpu_distance::of_another(at, estimate), estimate, point.predicted_at_other_distance())
    });
    let at_device = point.at_device.as_ref();
    let at_device = at_device.map(|at| second(at_usual::while_the_device(at), &at.estimate, None));
    [row(main, shared, has_states)].into_iter().chain(of_shared).chain(elsewhere).chain(at_device).collect()
}

/// The state of the core of a slope's points, behind its name.
fn slope_state(source: &FigureSource, has_states: bool) -> String {
    let FigureSource::Slope(trend) = source else { return String::new() };
    match trend.core.filter(|_| has_states) {
        Some(CoreUse::Alone) => format!(" ({})", occupancy::ALONE),
        Some(CoreUse::Shared) => format!(" ({})", occupancy::SHARED),
        Some(CoreUse::Mixture | CoreUse::Both) => format!(" ({})", occupancy::MIXTURE),
        None => String::new(),
    }
}

fn row(main: &Main, shared: Option<Measure>, has_states: bool) -> Row {
    let (value, ends, limit) = measured(&main.source);
    let unit = unit(&main.source);
    let point = main.point();
    let own =
        || point.map_or_else(|| Measure::of_row(unit, value, ends), |point| states::measure(point, value));
    let measure = shared.unwrap_or_else(own);
    let written = |number: String| match shared {
        Some(_) => number,
        None => format!("{number} {}", measure.symbol),
    };
    let expected = |value: f64| match (shared, unit) {
        // A size is declared in its own unit.
        (None, Unit::Bytes) => quantities::value(unit, value),
        _ => written(measure.number(value, None)),
    };
    let step = step(&main.source);
    let of_step = step.map(|step| step.total);
    let predicted = point.and_then(|point| point.prediction.as_ref()).map(Prediction::total).or(of_step);
    let or_absent = |text: Option<String>| text.unwrap_or_else(|| words::ABSENT.to_owned());
    let values = point.and_then(|point| states::values(point, measure));
    let median = written(values.unwrap_or_else(|| measure.number(value, ends)));
    let interval = ends.map(|(low, high)| written(measure.range(value, low, high)));
    let ranges = if shared.is_some() { states::intervals } else { states::intervals_with_unit };
    let interval = point.and_then(|point| ranges(point, measure)).or(interval);
    let part = |part| {
        let of = |point| match shared {
            None => summary::part(point, part, measure),
            Some(_) => summary::part_number(point, part, measure, &written),
        };
        let of_step = || {
            let step = step?;
            if part == Part::Hardware { step.hardware } else { step.software }
        };
        point.map(of).or_else(|| of_step().map(expected))
    };
    let ground = point.and_then(|point| point.prediction.as_ref()).map(summary::ground);
    let ground = ground.or(step.map(|step| step.ground.short_name()));
    let factor = point.map(summary::factor);
    let factor = factor.or(of_step.map(|predicted| quantities::factor(value / predicted)));
    Row::of([
        Text::plain(
            main.label()
                + &slope_state(&main.source, has_states)
                + &point.map(at_usual::mark).unwrap_or_default(),
        ),
        or_absent(part(Part::Hardware)).into(),
        or_absent(part(Part::Software)).into(),
        or_absent(predicted.map(expected)).into(),
        or_absent(ground.map(str::to_owned)).into(),
        Text::strong(if limit { format!("< {median}") } else { median }),
        or_absent(interval).into(),
        or_absent(factor).into(),
        Text::sign(point.map_or(Sign::Unasked, words::evidence_sign)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caption_says_that_a_row_has_the_first_that_is_not_worse_than_the_best() {
        assert_eq!(how_chosen(false, false), "");
        for (of_rates, of_costs) in [(true, true), (true, false), (false, true)] {
            let said = how_chosen(of_rates, of_costs);
            assert!(said.contains("the first in the plan that is not significantly worse"), "{said}");
        }
    }

    #[test]
    fn modes_are_far_apart_from_a_factor_of_two_on() {
        let of = |centres: &[f64]| -> Vec<Mode> {
            centres.iter().map(|centre| Mode { centre: *centre, share: 0.3 }).collect()
        };
        assert!(are_far(&of(&[38.0, 140.0])) && are_far(&of(&[38.0, 60.0, 90.0])));
        assert!(!are_far(&of(&[38.0, 60.0])) && !are_far(&of(&[38.0])) && !are_far(&of(&[-1.0, 9.0])));
    }
}
