//! What this machine is good and bad at, in one paragraph: the first of the conclusion.

use super::most_moved;
use super::nearest::{Nearest, times_by};
use super::neighbour;
use super::quotable;
use super::standing::{Balance, Standing};
use crate::finding;
use crate::main_figures;
use crate::occupancy;
use crate::paper::Text;
use crate::usual::{self, UsualFigures};
use crate::verdict::Trust;
use crate::words::{self, plural};
use fathom_core::experiment::{Found, family};
use fathom_core::quantities;
use fathom_core::quantity::Kind;
use fathom_core::sorting;
use fathom_engine::results::{CLOSE, PointResult, Results};

/// The sentences of it that the run has.
pub(super) fn of(results: &Results, nearest: &Nearest, usual: &UsualFigures) -> Text {
    let areas = Areas::of(nearest);
    let sentences = [
        areas
            .sentence(nearest.path_to_storage())
            .map(|sentence| Text::prose(&(sentence + &where_time_goes(nearest)))),
        by_itself(results, &areas).map(Text::plain),
        shared(results),
        most_moved::sentence(results),
        beside_the_atlas(results, nearest, usual).map(Text::plain),
        Some(Text::plain(trusted(results))),
    ];
    Text::joined(sentences.into_iter().flatten(), " ")
}

/// The main figures of the chapters of which sources time so little alike that nothing is said of them beside other machines.
fn by_itself(results: &Results, areas: &Areas) -> Option<String> {
    let all = main_figures::all(results);
    let chapter = |chapter: &'static str| {
        let mine = all.iter().filter(|figure| figure.main.leads && figure.family() == chapter);
        let is_compared =
            |figure: &&main_figures::Ranked| figure.main.point().is_some_and(|point| areas.has(area(point)));
        let each: Vec<String> = mine
            .filter(|figure| !is_compared(figure))
            .map(|figure| format!("{} {}", figure.main.brief_label(), figure.main.written().median))
            .filter(|words| !words.ends_with(words::ABSENT))
            .collect();
        (!each.is_empty()).then(|| format!("Its {chapter}: {}.", each.join("; ")))
    };
    let chapters: Vec<String> = ["memory", "network"].into_iter().filter_map(chapter).collect();
    (!chapters.is_empty()).then(|| chapters.join(" "))
}

/// What is done, in words for those who choose a machine.
fn area(point: &PointResult) -> &'static str {
    let is_of_the_peer = point.point.name_of("path") == Some("peer");
    let is_warm = point.point.name_of("state") == Some("warm");
    match (point.experiment.as_str(), family(&point.experiment)) {
        ("cpu/system_call", _) => "system calls",
        ("cpu/process_creation" | "cpu/thread_creation" | "cpu/context_switch", _) => "processes and threads",
        ("cpu/timing_overhead", _) => "reading the time",
        (_, "cpu") => "the processor's own work",
        (_, "memory") => "memory",
        (_, "network") if is_of_the_peer => "the network",
        (_, "network") => "the network within the machine",
        _ if is_warm => "the page cache",
        _ => STORAGE,
    }
}

const STORAGE: &str = "storage";

/// What this machine takes beside the nearest published ones in an area.
struct Area {
    name: &'static str,
    /// The first of its figures: of a single one nothing else is said to be so.
    first: String,
    /// Its time over theirs in the median of all its figures, whatever they show.
    times: f64,
    /// In how many of them this machine is better and worse.
    balance: Balance,
}

impl Area {
    /// With what it rests on.
    fn words(&self) -> String {
        let times = quantities::factor(self.times);
        let Balance { better, worse, worse_while_shared, all } = self.balance;
        let counted = [
            (worse, "slower"),
            (worse_while_shared, "slower and only measured with the core shared"),
            (better, "quicker"),
        ];
        let counted = counted.into_iter().filter(|(number, _)| *number > 0);
        let counted: Vec<String> = counted.map(|(number, how)| format!("{number} {how}")).collect();
        let counted =
            if counted.is_empty() { "none shown to be either".to_owned() } else { counted.join(", ") };
        // A median of one or two figures says nothing of an area.
        let times = if all > 2 { format!("{times}, ") } else { String::new() };
        format!("{} ({times}{}: {counted})", self.name, plural(all, "figure"))
    }
}

/// A figure that a source timed alike.
struct InArea {
    area: &'static str,
    /// The operation.
    what: String,
    /// How many times as good it is here.
    merit: f64,
    standing: Standing,
}

/// The areas in which the nearest published machines have figures that are alike.
struct Areas(Vec<Area>);

impl Areas {
    /// Of the same figures, by the same judgement, as the section beside those machines.
    fn of(nearest: &Nearest) -> Self {
        let of_one = |(point, merit): (&PointResult, f64)| InArea {
            area: area(point),
            what: format!("{} {}", point.experiment, words::short_label(point, &point.point)),
            merit,
            standing: nearest.standing(point, merit),
        };
        Areas::by_name(&nearest.comparable().into_iter().map(of_one).collect::<Vec<_>>())
    }

    fn by_name(figures: &[InArea]) -> Self {
        let times = times_by(figures.iter().map(|figure| (figure.area, figure.merit)));
        let area = |(name, times, _)| {
            let mine = || figures.iter().filter(|figure| figure.area == name);
            let balance = Balance::of(mine().map(|figure| figure.standing));
            let first = mine().next().map(|figure| figure.what.clone()).unwrap_or_default();
            Area { name, first, times, balance }
        };
        Areas(times.into_iter().map(area).collect())
    }

    /// Those of several figures: of a single one nothing follows for an area.
    fn several(&self) -> impl Iterator<Item = &Area> {
        self.0.iter().filter(|area| area.balance.all > 1)
    }

    fn has(&self, name: &str) -> bool {
        self.several().any(|area| area.name == name)
    }

    /// The only figures of their areas, for which no verdict follows, with how they stand; empty without any.
    fn single(&self) -> String {
        let of_one = |area: &Area| {
            let how = match area.balance.of_most() {
                Standing::Better => "quicker",
                Standing::Worse => "slower",
                Standing::WorseWhileShared => "slower, and only measured with the core shared",
                Standing::Neither => "not shown to be either",
            };
            format!("{} ({}, {how})", area.first, quantities::factor(area.times))
        };
        let all: Vec<String> = self.0.iter().filter(|area| area.balance.all == 1).map(of_one).collect();
        if all.is_empty() {
            return String::new();
        }
        format!(" A single figure is no verdict: {}.", all.join(", "))
    }

    /// In which areas this machine is slower, quicker and neither, by what most figures of each are; and, where storage is one, what there is
    /// to say of a path to it.
    fn sentence(&self, path_to_storage: Option<&str>) -> Option<String> {
        // Of a value with the core alone it would be untrue that it is only known with the core shared.
        let named = [
            ("slower in", Standing::Worse, false),
            ("slower, in part only measured with the core shared, in", Standing::WorseWhileShared, true),
            ("slower, only measured with the core shared, in", Standing::WorseWhileShared, false),
            ("quicker in", Standing::Better, false),
            ("not shown to be slower or quicker in", Standing::Neither, false),
        ];
        let in_part =
            |area: &Area, standing| standing == Standing::WorseWhileShared && area.balance.worse > 0;
        let areas = |(how, standing, part): (&str, Standing, bool)| {
            let of = |area: &&Area| area.balance.of_most() == standing && in_part(area, standing) == part;
            let mine = self.several().filter(of);
            let areas: Vec<String> = mine.map(Area::words).collect();
            (!areas.is_empty()).then(|| format!("{how} {}", areas.join(", ")))
        };
        let named: Vec<String> = named.into_iter().filter_map(areas).collect();
        let path = path_to_storage.filter(|_| self.has(STORAGE)).map(|path| format!(" {path}"));
        (!named.is_empty()).then(|| {
            format!(
                "Beside the nearest published machines this machine is {}. That is said where more than half of the figures are so by more than a factor of {CLOSE}, each with its whole interval (published ones have none); × is its time over theirs (of rates the inverse), the median of all figures.{}{}",
                named.join("; "),
                self.single(),
                path.unwrap_or_default()
            )
        })
    }
}

/// Of the figure that is furthest behind in each area what a mechanism of this run has of it; nothing without any.
fn where_time_goes(nearest: &Nearest) -> String {
    let all = nearest.comparable().into_iter();
    let slower = all.filter(|(point, merit)| nearest.standing(point, *merit) == Standing::Worse);
    let mut known: Vec<(&PointResult, f64, String)> =
        slower.filter_map(|(point, merit)| Some((point, merit, great_part(point, merit)?))).collect();
    sorting::by_number(&mut known, |(_, merit, _)| *merit);
    let mut areas = vec![];
    let mut named = vec![];
    for (point, _, part) in known {
        if !areas.contains(&area(point)) {
            areas.push(area(point));
            named.push(format!("of `{}` {part}", words::short_label(point, &point.point)));
        }
    }
    if named.is_empty() {
        String::new()
    } else {
        format!(" Where the time goes, as far as this run measured it: {}.", named.join("; "))
    }
}

/// What a mechanism of this run has of a figure that is worse than that of another machine (`merit`: how many times as good it is, below
/// one), where that part is more than all that the other machine takes. Why it takes less there is not known.
pub(super) fn great_part(point: &PointResult, merit: f64) -> Option<String> {
    let part = point.influence.as_ref().filter(|part| part.is_more_than_all(merit))?;
    Some(finding::text(&part.statement))
}

/// In how much of the time the core was shared, and what that costs.
fn shared(results: &Results) -> Option<Text> {
    let (share, expected) = occupancy::share_of_time(results).zip(neighbour::expected(results))?;
    Some(Text::plain(share + " ").and(expected))
}

/// The main figures of the areas of which no published machine has one that is alike, beside the nearest machines of the atlas: those that
/// their intervals show to be outside of what those have; nothing where those are of another design, or their CPUs perhaps at another
/// distance.
fn beside_the_atlas(results: &Results, nearest: &Nearest, usual: &UsualFigures) -> Option<String> {
    let areas = Areas::of(nearest);
    let comparable = nearest.comparable();
    let is_new = |point: &&PointResult| {
        !areas.has(area(point)) && !comparable.iter().any(|(other, _)| std::ptr::eq(*other, *point))
    };
    let mut groups: [Vec<String>; 2] = Default::default();
    let mut machines = 0;
    for figure in main_figures::all(results).iter().filter(|figure| figure.main.leads) {
        let Some(point) = figure.main.point().filter(is_new) else { continue };
        let Some((there, here)) = usual.standard(point).zip(point.figure()) else { continue };
        let Some(place) = side(&here, (there.low, there.high), point.unit.kind()) else { continue };
        machines = machines.max(there.machines);
        groups[usize::from(place == Side::Better)].push(format!(
            "{}: {} (there {})",
            figure.main.name,
            quantities::value(point.unit, here.value),
            usual::range(point.unit, &there)
        ));
    }
    let named = ["worse", "better"].into_iter().zip(&groups).filter(|(_, figures)| !figures.is_empty());
    let named: Vec<String> = named.map(|(how, figures)| format!("{how} in {}", figures.join(", "))).collect();
    (!named.is_empty()).then(|| {
        format!(
            "In figures that none of these has alike, beside {} of the atlas ({}), this machine is {}.",
            if machines == 1 { "the nearest machine".to_owned() } else { format!("{machines} machines") },
            usual.kind(),
            named.join("; ")
        )
    })
}

/// On which side of others a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Better,
    Worse,
}

/// The side on which the whole interval is; `None` where it reaches among the others, or where more is neither better nor worse.
fn side(here: &Found, (least, most): (f64, f64), kind: Kind) -> Option<Side> {
    let (low, high) = here.ends().filter(|_| here.is_of_one_state())?;
    let (is_more, is_less) = (low > most, high < least);
    match kind {
        Kind::Rate if is_more => Some(Side::Better),
        Kind::Rate if is_less => Some(Side::Worse),
        Kind::Cost if is_more => Some(Side::Worse),
        Kind::Cost if is_less => Some(Side::Better),
        _ => None,
    }
}

/// How far the run can be trusted, and how many main figures hold by themselves.
fn trusted(results: &Results) -> String {
    let (certain, all) = quotable::certain(results);
    let known = format!("Trust in the run is {}", Trust::of(results).name());
    if all == 0 {
        return known + ".";
    }
    format!("{known}; of {all} main operations {}.", quotable::quoted(certain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Dimension;
    use fathom_core::quantity::Unit;

    #[test]
    fn an_area_is_what_most_of_its_figures_are() {
        let figure =
            |(area, merit, standing)| InArea { area, what: format!("one of {area}"), merit, standing };
        let figures = [
            ("system calls", 0.5, Standing::Worse),
            ("system calls", 0.25, Standing::Worse),
            ("storage", 2.0, Standing::Better),
            ("storage", 2.0, Standing::Better),
            // Of a single figure nothing follows for all of them.
            ("the processor's own work", 0.7, Standing::Worse),
            // One was only measured with the core shared: slower as far as is known, and not neither.
            ("memory", 0.5, Standing::Worse),
            ("memory", 0.5, Standing::WorseWhileShared),
            // One is slower for certain, one far and not for certain, one near: of a median of those beyond the factor it would be slower.
            ("the network", 0.7, Standing::Worse),
            ("the network", 0.75, Standing::Neither),
            ("the network", 1.1, Standing::Neither),
        ];
        let areas = Areas::by_name(&figures.map(figure));
        let named = areas.sentence(None).expect("three areas");
        assert!(
            named.contains(
                "this machine is slower in system calls (2 figures: 2 slower); slower, in part only measured with the core shared, in memory (2 figures: 1 slower, 1 slower and only measured with the core shared); quicker in storage (2 figures: 2 quicker); not shown to be slower or quicker in the network (1.33×, 3 figures: 1 slower). That is said"
            ),
            "{named}"
        );
        assert!(
            named.ends_with(
                " A single figure is no verdict: one of the processor's own work (1.43×, slower)."
            ),
            "{named}"
        );
        let of_a_guest = areas.sentence(Some("It is a path.")).expect("the same");
        assert_eq!(of_a_guest, named + " It is a path.", "storage is named");
        let without = Areas::by_name(&figures[..2].iter().map(|of| figure(*of)).collect::<Vec<_>>());
        assert_eq!(without.sentence(Some("It is a path.")), without.sentence(None), "no storage, no path");
        assert_eq!(Areas(vec![]).sentence(None), None);
        let shared = [("memory", 0.5, Standing::WorseWhileShared); 2].map(figure);
        let all_shared = Areas::by_name(&shared).sentence(None).expect("an area");
        assert!(
            all_shared.contains("is slower, only measured with the core shared, in memory (2"),
            "{all_shared}"
        );
    }

    #[test]
    fn a_figure_is_worse_or_better_only_by_its_whole_interval() {
        let at = |value| fathom_described::found_within(0.1, value, Dimension::Of(Unit::Nanoseconds));
        let of = |value, kind| side(&at(value), (100.0, 120.0), kind);
        assert_eq!(of(125.0, Kind::Cost), None, "its interval reaches among the others");
        assert_eq!(of(140.0, Kind::Cost), Some(Side::Worse));
        assert_eq!(of(140.0, Kind::Rate), Some(Side::Better));
        assert_eq!(of(80.0, Kind::Cost), Some(Side::Better));
        assert_eq!(of(80.0, Kind::Rate), Some(Side::Worse));
        assert_eq!(of(80.0, Kind::Size), None);
    }
}
