//! Work on two CPUs by their distance, where the host changed it.

use super::sections::linked;
use crate::cpu_distance;
use crate::paper::{Block, Column, Key, Row, Section, Table, Text};
use crate::words::{self, plural};
use fathom_core::experiment::Found;
use fathom_core::quantities::{self, Measure};
use fathom_core::statistics::Estimate;
use fathom_engine::results::{CpuDistance, PointResult, Results};

/// The section: all work on both CPUs with a value at two distances; `None` if there is none.
pub(super) fn of(results: &Results) -> Option<Section> {
    let sentence = cpu_distance::sentence(results)?;
    let both: Vec<NearAndFar> = results.points.iter().filter_map(NearAndFar::of).collect();
    let table = Table::new(
        Key::of("distance-table"),
        "Work on two CPUs at two distances, each by the time that a cache line takes from one CPU to the other; a value of fewer than four \
         trials has no interval. The ratio is that of the value at the longer distance over the value at the shorter.",
    )
    .columns([
        Column::words("operation"),
        Column::words("a line takes"),
        Column::mixed("nearer"),
        Column::mixed("farther"),
        Column::ratio("farther over nearer"),
    ])
    .rows(both.iter().map(|one| one.row(results)));
    let number = plural(both.len(), "operation");
    (!both.is_empty()).then(|| {
        Section::new(Key::of("distance"), "CPUs at two distances").lettered().say(Text::plain(sentence)).with(
            Block::Folded { summary: number.into(), appendix: true, open: false, blocks: vec![table.into()] },
        )
    })
}

/// A point with its values at two distances.
struct NearAndFar<'run> {
    point: &'run PointResult,
    near: (&'run CpuDistance, &'run Estimate),
    far: (&'run CpuDistance, &'run Estimate),
}

impl<'run> NearAndFar<'run> {
    /// Of a point; `None` if it has one value.
    fn of(point: &'run PointResult) -> Option<Self> {
        let own = (&point.cpu_distance.as_ref()?.at, point.estimate()?);
        let other = point.at_other_distance()?;
        let (near, far) = if own.0.line_ns <= other.0.line_ns { (own, other) } else { (other, own) };
        Some(NearAndFar { point, near, far })
    }

    fn row(&self, results: &Results) -> Row {
        let NearAndFar { point, near: (at_near, near), far: (at_far, far) } = *self;
        let measure = Measure::of(point.unit, near.value);
        let ratio = Found::of(far, point.unit).over(Found::of(near, point.unit));
        Row::of([
            linked(results, &point.experiment).and(" ").and(words::short_label(point, &point.point)),
            format!("{} or {}", cpu_distance::line(at_near), cpu_distance::line(at_far)).into(),
            words::with_interval(measure, near).into(),
            words::with_interval(measure, far).into(),
            Text::strong(quantities::factor_within(ratio.value, ratio.ends())),
        ])
    }
}
