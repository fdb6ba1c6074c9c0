//! The main figures of a run: those that represent its experiments if there is little room. Every form takes them, and their
//! text, from here.

use super::main_figure_names::{of_experiment, placement, shown_peer};
use super::paper::Sign;
use super::precision;
use super::states;
use super::summary;
use super::words;
use super::words::ABSENT;
use super::{at_usual, cpu_distance, denied, occupancy, of_level};
use fathom_core::experiment;
use fathom_core::experiment::{Landmark, MainFigure, Point, Shown, Value};
use fathom_core::quantities::{self, Measure};
use fathom_engine::results::{Outcome, PointResult, Results, TrendResult};

pub(super) struct Main<'run> {
    /// Its name, in a few words next to the experiment's name.
    pub words: String,
    /// Its name for readers who know no experiment, or that of the experiment with its words.
    pub name: String,
    /// What it represents on any machine, whatever its setting is on this one; `None` for a point that no name chose.
    pub role: Option<&'static str>,
    /// Whether it is one of the dozen that represent a machine.
    pub leads: bool,
    /// Whether it is the best of several settings.
    pub is_best: bool,
    /// How many other settings its run does not tell apart from it.
    pub alike: usize,
    /// Whether it is of a level of a hierarchy, and in part of the level before.
    pub is_of_two_levels: bool,
    pub source: FigureSource<'run>,
}

#[derive(Clone, Copy)]
pub(super) enum FigureSource<'run> {
    /// The figure of a point, which may be an upper limit.
    Point(&'run PointResult),
    /// The slope of a line through a sweep.
    Slope(&'run TrendResult),
}

/// A main figure with its experiment, and its position among the experiment's own.
pub(super) struct Ranked<'run> {
    pub experiment: &'run str,
    rank: usize,
    pub main: Main<'run>,
}

/// A main figure as text; a missing value is `–`.
#[derive(Default)]
pub(super) struct WrittenFigure {
    pub median: String,
    /// The ends of the interval, in the same unit.
    pub interval: String,
    /// Measured over predicted.
    pub factor: String,
    /// The result of its evidence; `None` for a slope.
    pub evidence: Option<Sign>,
}

/// The main figures of all experiments, in the order of the run.
pub(super) fn all<'run>(results: &'run Results) -> Vec<Ranked<'run>> {
    let of = |experiment: &'run str| {
        let figures = of(results, experiment).into_iter().enumerate();
        figures.map(move |(rank, main)| Ranked { experiment, rank, main })
    };
    // The names are those of the points, which live as long as the results.
    let mut names: Vec<&str> = results.points.iter().map(|point| point.experiment.as_str()).collect();
    names.dedup();
    names.into_iter().flat_map(of).collect()
}

/// The meaning of a name with several settings; `None` if no figure has one.
pub(super) fn legend_of_alike<'a>(mut figures: impl Iterator<Item = &'a Main<'a>>) -> Option<&'static str> {
    figures.any(|main| main.alike > 0).then_some(
        "A or b, or n others, in a name: settings that this run does not distinguish from the best; the value is of the first in the plan, as \
         the highest of them would be so by chance",
    )
}

/// Removes figures until `most` remain: first those that do not lead, the last ranks first, and within a rank from the family that
/// has most.
pub(super) fn keep(all: &mut Vec<Ranked>, most: usize) {
    while all.len() > most {
        let of_family = |family: &str| all.iter().filter(|other| other.family() == family).count();
        let last = all.iter().enumerate().max_by_key(|(place, figure)| {
            (!figure.main.leads, figure.rank, of_family(figure.family()), *place)
        });
        let Some((place, _)) = last else { break };
        all.remove(place);
    }
}

/// The number of figures that represent a machine.
pub(super) fn leading(all: &[Ranked]) -> usize {
    all.iter().filter(|figure| figure.main.leads).count()
}

impl<'run> Ranked<'run> {
    /// Whether both are the same figure of an experiment.
    pub(super) fn is_same(&self, other: &Ranked) -> bool {
        (self.experiment, self.rank) == (other.experiment, other.rank)
    }

    /// Whether it has a value for each of two states of the machine.
    pub(super) fn has_states(&self) -> bool {
        matches!(self.main.source, FigureSource::Point(point) if point.mixture.is_some())
    }

    /// Whether its value is of one of two states of the core.
    pub(super) fn has_core_state(&self) -> bool {
        matches!(self.main.source, FigureSource::Point(point) if occupancy::state(point).is_some())
    }

    /// The family of its experiment, which begins the experiment's name.
    pub(super) fn family(&self) -> &'run str {
        experiment::family(self.experiment)
    }
}

impl<'run> Main<'run> {
    /// That of a point which no name chose.
    pub(super) fn unchosen(words: String, name: String, point: &'run PointResult) -> Self {
        let source = FigureSource::Point(point);
        let (role, leads, is_best, alike, is_of_two_levels) = (None, false, false, 0, false);
        Main { words, name, role, leads, is_best, alike, is_of_two_levels, source }
    }

    /// The point whose figure it is; `None` of a slope.
    pub(super) fn point(&self) -> Option<&'run PointResult> {
        match self.source {
            FigureSource::Point(point) => Some(point),
            FigureSource::Slope(_) => None,
        }
    }

    /// Its words, with the state of the core behind its value.
    pub(super) fn label(&self) -> String {
        self.labelled(&self.words, true, |_| true) + &self.levels()
    }

    /// Its name for readers, beside a column for the shared core, which says whether the value is a mixture: another state is named only
    /// if it is not the core alone.
    pub(super) fn reader_label(&self) -> String {
        self.brief_label() + &self.levels()
    }

    /// The same without the levels between which its interval leaves it open, where there is no room for them.
    pub(super) fn brief_label(&self) -> String {
        self.labelled(&self.name, true, |state| ![occupancy::ALONE, occupancy::MIXTURE].contains(&state))
    }

    /// The signs behind its name in a table that says what they mean: of the core alone, and at the usual frequency.
    pub(super) fn marks(&self, results: &Results) -> String {
        match self.source {
            FigureSource::Point(point) => {
                occupancy::mark(point) + &at_usual::mark(point) + &denied::mark(point)
            }
            FigureSource::Slope(trend) => occupancy::mark_of_use(results, trend.core),
        }
    }

    /// The same beside one column for each state of the core, which say of which it is; `names_distance` where no legend says at which
    /// distance of the CPUs.
    pub(super) fn label_beside_states(&self, names_distance: bool) -> String {
        self.labelled(&self.name, names_distance, |state| {
            ![occupancy::ALONE, occupancy::SHARED, occupancy::MIXTURE].contains(&state)
        }) + &self.levels()
    }

    fn levels(&self) -> String {
        self.point().map_or_else(String::new, states::open_levels)
    }

    /// Whether its value is of the core shared, because it was too rarely alone.
    pub(super) fn is_of_shared_core(&self) -> bool {
        matches!(self.source, FigureSource::Point(point) if occupancy::state(point) == Some(occupancy::SHARED))
    }

    fn labelled(&self, words: &str, names_distance: bool, is_named: fn(&str) -> bool) -> String {
        let state = match self.source {
            FigureSource::Point(point) => occupancy::state(point).filter(|state| is_named(state)),
            FigureSource::Slope(_) => None,
        };
        let words = state.map_or_else(|| words.to_owned(), |state| format!("{words} ({state})"));
        match self.source {
            FigureSource::Point(point) => {
                let words = match cpu_distance::name(point).filter(|_| names_distance) {
                    Some(distance) => format!("{words} ({distance})"),
                    None => words,
                };
                states::named(point, words)
            }
            FigureSource::Slope(_) => words,
        }
    }

    /// How far the farther end of its interval is from it, as a share of it, `None` without an interval; of a machine in several states
    /// of each.
    pub(super) fn reaches(&self) -> Vec<Option<f64>> {
        let of_states = match self.source {
            FigureSource::Point(point) => states::reaches(point),
            FigureSource::Slope(_) => vec![],
        };
        if of_states.is_empty() { vec![self.reach()] } else { of_states }
    }

    fn reach(&self) -> Option<f64> {
        match self.source {
            FigureSource::Point(point) => precision::reach(point),
            FigureSource::Slope(trend) => {
                let (low, high) = slope_ends(trend)?;
                let share = (high - trend.slope()).max(trend.slope() - low) / trend.slope().abs();
                share.is_finite().then_some(share)
            }
        }
    }

    pub(super) fn written(&self) -> WrittenFigure {
        match self.source {
            FigureSource::Point(point) => of_point(point),
            FigureSource::Slope(trend) => of_slope(trend),
        }
    }

    /// The value while the core was shared, in the same unit, or that the value is a mixture; `–` otherwise.
    pub(super) fn shared(&self) -> String {
        let FigureSource::Point(point) = self.source else { return ABSENT.to_owned() };
        if occupancy::state(point) == Some(occupancy::MIXTURE) {
            return occupancy::MIXTURE.to_owned();
        }
        let (Some(shared), Some(value)) = (point.shared(), point.estimate()) else {
            return ABSENT.to_owned();
        };
        let measure = Measure::of(point.unit, value.value);
        format!("{} {}", measure.number(shared.value, quantities::ends(shared)), measure.symbol)
    }
}

fn of_point(point: &PointResult) -> WrittenFigure {
    let factor = summary::factor(point);
    let evidence = Some(words::evidence_sign(point));
    match &point.outcome {
        Outcome::Value(estimate) => {
            let ends = quantities::ends(estimate);
            let measure = states::measure(point, estimate.value);
            let written = numbers(measure, estimate.value, ends, factor, evidence);
            match states::values(point, measure).zip(states::intervals(point, measure)) {
                Some((values, interval)) => {
                    WrittenFigure { median: format!("{values} {}", measure.symbol), interval, ..written }
                }
                None => written,
            }
        }
        Outcome::BelowResolution { below, .. } => {
            let median = format!("< {}", quantities::value(point.unit, *below));
            WrittenFigure { median, interval: ABSENT.into(), factor, evidence }
        }
        _ => {
            let absent = || ABSENT.to_owned();
            WrittenFigure { median: absent(), interval: absent(), factor, evidence }
        }
    }
}

pub(super) fn slope_ends(trend: &TrendResult) -> Option<(f64, f64)> {
    trend.slope_interval().map(|interval| (interval.low, interval.high))
}

fn of_slope(trend: &TrendResult) -> WrittenFigure {
    let slope = trend.slope();
    let factor = trend.predicted.as_ref().map(|step| quantities::factor(slope / step.total));
    let factor = factor.unwrap_or_else(|| ABSENT.to_owned());
    numbers(Measure::of(trend.unit, slope), slope, slope_ends(trend), factor, None)
}

/// A number with its unit, and its interval in the same unit.
fn numbers(
    measure: Measure,
    value: f64,
    ends: Option<(f64, f64)>,
    factor: String,
    evidence: Option<Sign>,
) -> WrittenFigure {
    WrittenFigure {
        median: format!("{} {}", measure.number(value, ends), measure.symbol),
        interval: ends.map_or(ABSENT.to_owned(), |(low, high)| measure.range(value, low, high)),
        factor,
        evidence,
    }
}

/// The main figures of one experiment: those that it names, otherwise its first point; empty if no point has a figure. If
/// several names match one point, as with fewer caches than names, the last is used.
pub(super) fn of<'run>(results: &'run Results, name: &'run str) -> Vec<Main<'run>> {
    let shown = results.experiment(name).map_or(Shown::by(&[]), |known| known.about().shown);
    let landmarks = (shown.landmarks)(&results.run.header.machine);
    let measured: Vec<&PointResult> =
        results.of_experiment(name).filter(|point| summary::is_in_table(point)).collect();
    let named =
        shown.main_figures.iter().filter(|figure| of_level::is_visible(results, name, figure, &landmarks));
    let chosen: Vec<Main> =
        named.filter_map(|figure| choose(results, name, figure, &measured, &landmarks)).collect();
    match (chosen.is_empty(), measured.first()) {
        (true, Some(point)) => {
            let words = words::short_label(*point, &point.point);
            let name = of_experiment(name, &words);
            vec![Main::unchosen(words, name, point)]
        }
        _ => distinct(chosen),
    }
}

/// The names of the main figures of these experiments that were planned and have no value, each with the reason; slopes not counted.
pub(super) fn without_value(results: &Results, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let of = |name: &str| {
        let shown = results.experiment(name).map_or(Shown::by(&[]), |known| known.about().shown);
        let landmarks = (shown.landmarks)(&results.run.header.machine);
        let measured: Vec<&PointResult> =
            results.of_experiment(name).filter(|point| summary::is_in_table(point)).collect();
        let planned = |figure: &MainFigure| {
            let planned = results.run.header.plan.iter().filter(|planned| planned.experiment == name);
            figure.choose(planned.map(|planned| &planned.point), &landmarks)
        };
        let figures = shown.main_figures.iter().filter(|figure| !figure.slope);
        let is_visible = |figure: &MainFigure| of_level::is_visible(results, name, figure, &landmarks);
        let is_chosen = |figure: &MainFigure| {
            is_visible(figure) && choose(results, name, figure, &measured, &landmarks).is_some()
        };
        let without = figures.filter(|figure| planned(figure).is_some() && !is_chosen(figure));
        let named = |figure: &MainFigure| match figure.name {
            "" => of_experiment(name, figure.words),
            own => own.to_owned(),
        };
        let reason = |figure: &MainFigure| {
            let point = planned(figure)?;
            let of_point = results.of_experiment(name).find(|one| one.point == *point)?;
            Some(match (is_visible(figure), of_point.estimate()) {
                (false, Some(_)) => "no flat part of the curve is certainly of it".to_owned(),
                (true, Some(_)) => "its points are too uncertain".to_owned(),
                (_, None) => words::reason(of_point),
            })
        };
        let with_reason = |figure| (named(figure), reason(figure).unwrap_or_default());
        without.map(with_reason).collect::<Vec<_>>()
    };
    results.experiments().into_iter().filter(|name| is_wanted(name)).flat_map(of).collect()
}

fn choose<'run>(
    results: &'run Results,
    name: &str,
    figure: &MainFigure,
    measured: &[&'run PointResult],
    landmarks: &[Landmark],
) -> Option<Main<'run>> {
    if figure.slope {
        return slope(results, name, figure, landmarks);
    }
    let of = |point: &Point| measured.iter().copied().find(|one| one.point == *point);
    let worth = |point: &Point| of(point).and_then(PointResult::worth);
    // The largest size that was measured is not the largest: without time for it there is no such figure.
    let planned = results.run.header.plan.iter().filter(|planned| planned.experiment == name);
    let unmeasured = planned.filter(|planned| planned.skip.is_none() && of(&planned.point).is_none());
    let points = measured.iter().map(|point| &point.point).chain(unmeasured.map(|planned| &planned.point));
    let alike = figure.choose_best(points, landmarks, worth);
    let point = of_level::representative(results, figure, of(alike.first()?)?, measured, landmarks)?;
    let written = |of: &Point, name: &str, value: &Value| {
        let result = measured.iter().find(|one| one.point == *of).copied().unwrap_or(point);
        let in_part = of_level::in_part(results, (figure, landmarks), result, (name, measured));
        words::value(result, name, value) + &in_part
    };
    let alike: Vec<&Point> = std::iter::once(&point.point).chain(alike.iter().copied().skip(1)).collect();
    let placement = placement(figure, point, results.of_experiment(name));
    let placed = |words: String| shown_peer(&(words + &placement), &point.point);
    let reader_name = figure.reader_label(&alike, written).map(placed);
    let words = placed(figure.label(&alike, written));
    Some(Main {
        name: reader_name.unwrap_or_else(|| of_experiment(name, &words)),
        words,
        role: Some(figure.words),
        leads: figure.leads,
        is_best: figure.is_best(),
        alike: alike.len().saturating_sub(1),
        is_of_two_levels: of_level::mixed(results, (figure, landmarks), point, measured).is_some(),
        source: FigureSource::Point(point),
    })
}

/// The slope of the line that a figure names.
fn slope<'run>(
    results: &'run Results,
    name: &str,
    figure: &MainFigure,
    landmarks: &[Landmark],
) -> Option<Main<'run>> {
    let groups = || results.trends.iter().filter(|trend| trend.experiment == name);
    let group = figure.choose(groups().map(|trend| &trend.group), landmarks)?;
    let trend = groups().find(|trend| trend.group == *group && trend.is_line())?;
    let words = figure.words.to_owned();
    Some(Main {
        name: of_experiment(name, &words),
        words,
        role: Some(figure.words),
        leads: figure.leads,
        is_best: figure.is_best(),
        alike: 0,
        is_of_two_levels: false,
        source: FigureSource::Slope(trend),
    })
}

fn distinct(chosen: Vec<Main>) -> Vec<Main> {
    let mut distinct: Vec<Main> = vec![];
    for figure in chosen {
        distinct.retain(|earlier| !is_same(&earlier.source, &figure.source));
        distinct.push(figure);
    }
    distinct
}

fn is_same(one: &FigureSource, other: &FigureSource) -> bool {
    match (one, other) {
        (FigureSource::Point(one), FigureSource::Point(other)) => std::ptr::eq(*one, *other),
        (FigureSource::Slope(one), FigureSource::Slope(other)) => std::ptr::eq(*one, *other),
        _ => false,
    }
}
