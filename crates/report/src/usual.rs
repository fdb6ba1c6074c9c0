//! What is usual for the figures of a run among the nearest machines of the atlas, in words.

use crate::main_figures::{self, FigureSource};
use crate::precision::Precision;
use crate::verdict::Trust;
use crate::words::ABSENT;
use fathom_atlas::{Atlas, Entry, FEWEST, Measured, Neighbours, Query, Usual, UsualPlace};
use fathom_core::experiment::Point;
use fathom_core::quantities::Measure;
use fathom_core::quantity::Unit;
use fathom_engine::results::{PointResult, Results};
use serde::Serialize;
use std::collections::BTreeMap;

/// What an entry and this machine have in common if they may be the same.
const SAME_SETUP: &str = "same stepping, memory, kernel";

/// The most neighbours that are named.
const MOST_NAMED: usize = 6;

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

    /// The cell of a main figure: `above 108–116 ns (3)`; `–` where nothing is usual, or only what this machine itself may have shown.
    pub(crate) fn cell(&self, source: &FigureSource) -> String {
        let FigureSource::Point(point) = source else { return ABSENT.to_owned() };
        let usual = self.of_point(point).filter(|_| !self.has_only_itself());
        usual.map_or(ABSENT.to_owned(), |usual| cell(point.unit, &usual))
    }

    /// The head and the cells of a column for these figures. Where none of them has a verdict, the head says so: `others`, and if all
    /// have the same number of machines, `others (1)`.
    pub(crate) fn column<'a>(
        &self,
        sources: impl Iterator<Item = &'a FigureSource<'a>>,
    ) -> (String, Vec<String>) {
        let sources: Vec<&FigureSource> = sources.collect();
        let all: Vec<Usual> = sources.iter().filter_map(|source| self.of_source(source)).collect();
        let kind = all.first().and_then(|usual| without_verdict(usual.place));
        let is_one_kind = all.iter().all(|usual| without_verdict(usual.place) == kind);
        let is_one_number = all.windows(2).all(|pair| pair[0].machines == pair[1].machines);
        match kind.filter(|_| is_one_kind && !self.has_only_itself()) {
            Some(kind) => {
                let cell = |source: &&FigureSource| {
                    let FigureSource::Point(point) = source else { return ABSENT.to_owned() };
                    self.of_point(point).map_or(ABSENT.to_owned(), |usual| {
                        let range = range(point.unit, &usual);
                        if is_one_number { range } else { format!("{range} ({})", usual.machines) }
                    })
                };
                let head =
                    if is_one_number { format!("{kind} ({})", all[0].machines) } else { kind.to_owned() };
                (head, sources.iter().map(cell).collect())
            }
            _ => (USUAL.to_owned(), sources.iter().map(|source| self.cell(source)).collect()),
        }
    }

    /// What is usual for a point among machines of its kind and in its state, of which one at least is another than this one.
    pub(crate) fn standard(&self, point: &PointResult) -> Option<Usual> {
        let is_standard = |usual: &Usual| usual.machines > 0 && usual.place != UsualPlace::Unlike;
        self.of_point(point).filter(|usual| is_standard(usual) && !self.has_only_itself())
    }

    /// The kind of the machines: `Zen 5 guests`.
    pub(crate) fn kind(&self) -> String {
        self.neighbours.in_words()
    }

    /// Whether the only neighbour may be this machine itself: its values are no standard, so a column of them says nothing.
    fn has_only_itself(&self) -> bool {
        self.neighbours.are_alike() && self.neighbours.has_itself() && self.neighbours.machines().len() == 1
    }

    /// The meaning of the column, for a legend; `None` if there are no neighbours.
    pub(crate) fn legend(&self) -> Option<String> {
        let near = &self.neighbours;
        let (words, machines) = (near.in_words(), near.machines().len());
        match (near.are_alike(), near.has_itself()) {
            _ if machines == 0 => None,
            (false, _) => Some(format!(
                "the atlas has no other {}; the nearest are {words}, whose range is no standard here",
                near.own_kind()
            )),
            (true, true) if machines == 1 => Some(format!(
                "unknown, as the atlas has no {} but perhaps this machine itself ({SAME_SETUP})",
                near.own_kind()
            )),
            (true, true) => Some(format!(
                "the range among {words} of the atlas, each at its own frequency, and their number without one that may be this machine ({SAME_SETUP})"
            )),
            (true, false) => Some(format!(
                "the range among {words} of the atlas, each at its own frequency, and their number"
            )),
        }
    }

    /// The nearest machines of the atlas by name, and how another is added, in sentences; `None` if there are none.
    pub(crate) fn machines(&self) -> Option<String> {
        let machines = self.neighbours.machines();
        let named: Vec<String> = machines
            .iter()
            .take(MOST_NAMED)
            .map(|entry| format!("{} ({}; {})", entry.id, entry.machine.title(), entry.run.measured_in()))
            .collect();
        let more = machines.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let few = if machines.len() < FEWEST || !self.neighbours.are_alike() {
            " Too few of a kind for a verdict: `fathom publish RUN` makes an entry of this machine (docs/atlas.md)."
        } else {
            ""
        };
        (!named.is_empty())
            .then(|| format!("Nearest machines of the atlas: {}{more}.{few}", named.join("; ")))
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

/// The head of the column.
const USUAL: &str = "usual";

/// The name of a place that is no verdict, for the head of a column.
fn without_verdict(place: UsualPlace) -> Option<&'static str> {
    match place {
        UsualPlace::Few => Some("few"),
        UsualPlace::Unlike => Some("others"),
        _ => None,
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

/// Where the figure lies, the range, and the number of machines: `above 108–116 ns (3)`, `few: 112 ns (1)`, `others: 108–188 ns (2)`;
/// without a number, of what may be the machine itself.
pub(crate) fn cell(unit: Unit, usual: &Usual) -> String {
    let (range, machines) = (range(unit, usual), usual.machines);
    match usual.place {
        UsualPlace::Few => format!("few: {range} ({machines})"),
        UsualPlace::Itself => format!("itself? {range}"),
        UsualPlace::Unlike => format!("others: {range} ({machines})"),
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
