//! Where the figures of both sides lie among the machines of the atlas.

use crate::paper::Text;
use crate::usual;
use crate::words::ABSENT;
use fathom_atlas::{Atlas, Neighbours, Query, Usual, UsualPlace};
use fathom_core::experiment::Point;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::statistics::Measured;
use fathom_engine::comparison::{Comparison, Level, Row as Compared, Side};
use std::collections::BTreeMap;

/// What is usual for the figures of a side.
pub(super) struct SideUsual<'a> {
    neighbours: Option<Neighbours<'a>>,
    levels: BTreeMap<(&'a str, &'a Point), &'a Level>,
}

/// What is usual for the figures of two sides.
#[derive(Clone, Copy)]
pub(super) struct BothUsual<'a> {
    pub before: &'a SideUsual<'a>,
    pub after: &'a SideUsual<'a>,
}

impl<'a> SideUsual<'a> {
    pub(super) fn of(side: &'a Side, atlas: &'a Atlas) -> Self {
        let neighbours = side.runs.first().map(|run| Neighbours::of(atlas, &run.header));
        let neighbours = neighbours.filter(|neighbours| !neighbours.machines().is_empty());
        let all = side.runs.iter().flat_map(|run| &run.levels).filter(|_| neighbours.is_some());
        let key = |level: &'a Level| ((level.experiment.as_str(), &level.point), level);
        SideUsual { levels: all.map(key).collect(), neighbours }
    }

    /// What is usual for a point with this value.
    fn of_point(&self, experiment: &str, point: &Point, value: Measured) -> Option<Usual> {
        let query = Query::of_level(self.levels.get(&(experiment, point))?)?;
        self.neighbours.as_ref()?.usual(&Query { value: value.value, interval: value.interval, ..query })
    }
}

impl BothUsual<'_> {
    /// What is usual for a row, before and after.
    pub(super) fn of_row(&self, row: &Compared) -> [Option<Usual>; 2] {
        let after = row.other_point.as_ref().unwrap_or(&row.point);
        [
            self.before.of_point(&row.experiment, &row.point, row.before),
            self.after.of_point(&row.experiment, after, row.after),
        ]
    }

    /// The cell of a row: where each side lies, and the range. What a side may have shown itself is no standard.
    pub(super) fn cell(&self, row: &Compared) -> Text {
        let is_itself =
            |usual: &Option<Usual>| usual.as_ref().is_none_or(|usual| usual.place == UsualPlace::Itself);
        Text::plain(match self.of_row(row) {
            both if both.iter().all(is_itself) => ABSENT.to_owned(),
            [Some(before), Some(after)] if is_same_range(&before, &after) => {
                of_one_range(row.unit, &before, &after)
            }
            [before, after] => [("before", before), ("after", after)]
                .into_iter()
                .filter_map(|(side, usual)| Some(format!("{side} {}", usual::cell(row.unit, &usual?))))
                .collect::<Vec<_>>()
                .join("; "),
        })
    }

    /// How many figures of each side lie where, in a sentence; `None` where nothing can be said.
    pub(super) fn sentence(&self, comparison: &Comparison) -> Option<String> {
        let all: Vec<[Option<Usual>; 2]> = comparison.rows.iter().map(|row| self.of_row(row)).collect();
        let of_side = |side: usize, name: &str| {
            let neighbours = [self.before, self.after][side].neighbours.as_ref()?;
            let places: Vec<UsualPlace> = all.iter().filter_map(|usual| Some(usual[side]?.place)).collect();
            (!places.is_empty()).then(|| format!("{name} {}: {}", in_words(neighbours), counted(&places)))
        };
        let sides: Vec<String> =
            [of_side(0, "before, among"), of_side(1, "after, among")].into_iter().flatten().collect();
        (!sides.is_empty()).then(|| format!("Beside the atlas: {}.", sides.join("; ")))
    }
}

fn in_words(neighbours: &Neighbours) -> String {
    format!("{} ({})", neighbours.in_words(), quantities::count(neighbours.machines().len()))
}

/// `12 within, 1 above`, or that there are too few machines to say.
fn counted(places: &[UsualPlace]) -> String {
    let count = |place: UsualPlace| places.iter().filter(|other| **other == place).count();
    let places = [
        UsualPlace::Below,
        UsualPlace::Within,
        UsualPlace::Above,
        UsualPlace::Few,
        UsualPlace::Itself,
        UsualPlace::Unlike,
    ];
    let counts = places.map(|place| (place, count(place)));
    let words = counts.into_iter().filter(|(_, count)| *count > 0).map(|(place, count)| match place {
        UsualPlace::Few => format!("{} with too few machines for a verdict", quantities::count(count)),
        UsualPlace::Itself => {
            format!(
                "{} of which the atlas may know this machine alone (no verdict)",
                quantities::count(count)
            )
        }
        UsualPlace::Unlike => {
            format!("{} of another family, kind or distance of CPUs (no verdict)", quantities::count(count))
        }
        place => format!("{} {}", quantities::count(count), place.name()),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn is_same_range(one: &Usual, other: &Usual) -> bool {
    (one.low, one.high, one.machines) == (other.low, other.high, other.machines)
}

fn of_one_range(unit: Unit, before: &Usual, after: &Usual) -> String {
    if before.place == after.place {
        return usual::cell(unit, before);
    }
    let range = usual::range(unit, before);
    format!("before {}, after {} {range} ({})", before.place.name(), after.place.name(), before.machines)
}
