//! Work on two CPUs by their distance, where the host changed it.

use super::sections::linked;
use crate::cpu_distance;
use crate::paper::{Block, Column, Key, Row, Section, Table, Text};
use crate::words::{self, plural};
use fathom_core::experiment::Found;
use fathom_core::quantities::{self, Measure};
use fathom_core::statistics::Estimate;
use fathom_engine::results::{PointResult, Results};

/// The section: all work on both CPUs with a value at two distances; `None` if there is none.
pub(super) fn of(results: &Results) -> Option<Section> {
    let sentence = cpu_distance::sentence(results)?;
    let both: Vec<NearAndFar> = results.points.iter().filter_map(NearAndFar::of).collect();
    let table = Table::new(
        Key::of("distance-table"),
        "Work on two CPUs, near and far apart; a value of fewer than four trials has no interval. The ratio is that of the value far apart over \
         the value near.",
    )
    .columns([
        Column::words("operation"),
        Column::mixed(cpu_distance::NEAR),
        Column::mixed(cpu_distance::FAR),
        Column::ratio("far over near"),
    ])
    .rows(both.iter().map(|one| one.row(results)));
    let number = plural(both.len(), "operation");
    (!both.is_empty()).then(|| {
        Section::new(Key::of("distance"), "CPUs near and far apart")
            .lettered()
            .say(Text::plain(sentence))
            .with(Block::Folded {
                summary: number.into(),
                appendix: true,
                open: false,
                blocks: vec![table.into()],
            })
    })
}

/// A point with its values at two distances.
struct NearAndFar<'run> {
    point: &'run PointResult,
    near: &'run Estimate,
    far: &'run Estimate,
}

impl<'run> NearAndFar<'run> {
    /// Of a point; `None` if it has one value, or neither of two is near.
    fn of(point: &'run PointResult) -> Option<Self> {
        let (own, (at, other)) = (point.estimate()?, point.at_other_distance()?);
        match (cpu_distance::name(point)?, cpu_distance::of(at)) {
            (cpu_distance::NEAR, cpu_distance::FAR) => Some(NearAndFar { point, near: own, far: other }),
            (cpu_distance::FAR, cpu_distance::NEAR) => Some(NearAndFar { point, near: other, far: own }),
            _ => None,
        }
    }

    fn row(&self, results: &Results) -> Row {
        let NearAndFar { point, near, far } = *self;
        let measure = Measure::of(point.unit, near.value);
        let ratio = Found::of(far, point.unit).over(Found::of(near, point.unit));
        Row::of([
            linked(results, &point.experiment).and(" ").and(words::short_label(point, &point.point)),
            words::with_interval(measure, near).into(),
            words::with_interval(measure, far).into(),
            Text::strong(quantities::factor_within(ratio.value, ratio.ends())),
        ])
    }
}
