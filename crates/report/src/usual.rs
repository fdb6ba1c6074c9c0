//! What is usual for the figures of a run among the nearest machines of the atlas, in words.

use crate::main_figures::{self, FigureSource};
use crate::run::Precision;
use crate::summary::ABSENT;
use crate::verdict::Trust;
use fathom_atlas::{Atlas, Entry, Measured, Neighbours, Query, Usual, UsualPlace};
use fathom_core::experiment::Point;
use fathom_core::quantities::Measure;
use fathom_core::quantity::Unit;
use fathom_engine::results::{PointResult, Results};
use serde::Serialize;
use std::collections::BTreeMap;

/// The usual values for the figures of one run.
pub(crate) struct UsualFigures<'run> {
    neighbours: Neighbours<'run>,
    /// What main figures represent on any machine, by experiment and point.
    roles: BTreeMap<(&'run str, &'run Point), &'static str>,
}

/// What the points of a run represent on any machine, by experiment and point: those that are main figures.
pub(crate) fn roles<'run>(results: &'run Results<'run>) -> BTreeMap<(&'run str, &'run Point), &'static str> {
    let role = |figure: main_figures::Ranked<'run>| match figure.main.source {
        FigureSource::Point(point) => Some(((figure.experiment, &point.point), figure.main.role?)),
        FigureSource::Slope(_) => None,
    };
    main_figures::all(results).into_iter().filter_map(role).collect()
}

/// A run, reduced to what may stand in the atlas.
pub fn atlas_entry(results: &Results) -> Entry {
    let roles = roles(results);
    let role = |point: &PointResult| roles.get(&(point.experiment.as_str(), &point.point)).copied();
    let known = Precision::of(results).share_useful();
    Entry::of(&Measured { results, trust: Trust::of(results).name(), known, role: &role })
}

impl<'run> UsualFigures<'run> {
    pub(crate) fn of(results: &'run Results<'run>, atlas: &'run Atlas) -> Self {
        let neighbours = Neighbours::of(atlas, &results.run.header);
        let roles = if neighbours.machines().is_empty() { BTreeMap::new() } else { roles(results) };
        UsualFigures { neighbours, roles }
    }

    /// What is usual for a point; `None` if no neighbour has it.
    pub(crate) fn of_point(&self, point: &PointResult) -> Option<Usual> {
        if self.neighbours.machines().is_empty() {
            return None;
        }
        let role = self.roles.get(&(point.experiment.as_str(), &point.point)).copied();
        self.neighbours.usual(&Query::of(point, role)?)
    }

    /// The same for a main figure.
    pub(crate) fn of_source(&self, source: &FigureSource) -> Option<Usual> {
        match source {
            FigureSource::Point(point) => self.of_point(point),
            FigureSource::Slope(_) => None,
        }
    }

    /// The cell of a main figure: `above 108–116 ns (3)`; `–` where nothing is usual.
    pub(crate) fn cell(&self, source: &FigureSource) -> String {
        let FigureSource::Point(point) = source else { return ABSENT.to_owned() };
        self.of_point(point).map_or(ABSENT.to_owned(), |usual| cell(point.unit, &usual))
    }

    /// The meaning of the column, for a legend; `None` if there are no neighbours.
    pub(crate) fn legend(&self) -> Option<String> {
        let is_empty = self.neighbours.machines().is_empty();
        (!is_empty)
            .then(|| format!("the range among {} of the atlas, and their number", self.neighbours.in_words()))
    }

    /// The points outside of what is usual, each with its usual values: first those that `leads` says to name first.
    pub(crate) fn unusual(&self, results: &'run Results<'run>) -> Vec<(&'run PointResult, Usual)> {
        let of = |point: &'run PointResult| {
            let usual = self.of_point(point).filter(|usual| usual.place.is_unusual())?;
            Some((point, usual))
        };
        let (main, other): (Vec<_>, Vec<_>) = results
            .points
            .iter()
            .filter_map(of)
            .partition(|(point, _)| self.roles.contains_key(&(point.experiment.as_str(), &point.point)));
        main.into_iter().chain(other).collect()
    }

    /// The sentence about a figure outside of what is usual.
    pub(crate) fn sentence(&self, point: &PointResult, usual: &Usual) -> String {
        format!(
            "{} what is usual, {} among {} {}.",
            usual.place.name(),
            range(point.unit, usual),
            usual.machines,
            self.neighbours.in_words()
        )
    }
}

/// The range of the usual values with its unit: `108–116 ns`, or one value.
pub(crate) fn range(unit: Unit, usual: &Usual) -> String {
    let measure = Measure::of(unit, usual.high);
    let [low, high] = [usual.low, usual.high].map(|value| measure.number(value, None));
    if low == high {
        format!("{high} {}", measure.symbol)
    } else {
        format!("{low}–{high} {}", measure.symbol)
    }
}

/// Where the figure lies, the range, and the number of machines: `above 108–116 ns (3)`, `few: 112 ns (1)`.
pub(crate) fn cell(unit: Unit, usual: &Usual) -> String {
    let (range, machines) = (range(unit, usual), usual.machines);
    match usual.place {
        UsualPlace::Few => format!("few: {range} ({machines})"),
        UsualPlace::Unknown => format!("range {range} ({machines})"),
        place => format!("{} {range} ({machines})", place.name()),
    }
}

/// What is usual for a figure, for programs.
#[derive(Serialize)]
pub(crate) struct UsualReport {
    low: f64,
    high: f64,
    machines: usize,
    place: &'static str,
}

impl UsualReport {
    pub(crate) fn of(usual: &Usual) -> Self {
        let Usual { low, high, machines, place } = *usual;
        UsualReport { low, high, machines, place: place.name() }
    }
}
