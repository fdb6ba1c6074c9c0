//! Work on two CPUs that takes less while they are farther apart: whatever passes between them takes longer then, so that this is worth a
//! sentence where it is certain.

use super::accuracy::CLOSE;
use super::cpu_distance::LINE_HAND_OVER;
use super::{CpuDistance, PointResult};
use fathom_core::experiment::{Dimension, Figure, Finding, Found, Question, Statement, finding, statement};
use fathom_core::quantity::{Kind, Unit};

/// A cost at two distances of the CPUs.
struct AtBoth<'run> {
    point: &'run PointResult,
    near: (&'run CpuDistance, Found),
    far: (&'run CpuDistance, Found),
}

impl<'run> AtBoth<'run> {
    /// Of a cost with an interval at both.
    fn of(point: &'run PointResult) -> Option<Self> {
        let is_cost = point.unit.kind() == Kind::Cost && point.experiment != LINE_HAND_OVER;
        let [near, far] = point.near_and_far().filter(|_| is_cost && point.evidence_holds())?;
        let cost = |estimate| Found::of(estimate, point.unit);
        let (near, far) = ((near.0, cost(near.1)), (far.0, cost(far.1)));
        (near.1.ends().is_some() && far.1.ends().is_some()).then_some(AtBoth { point, near, far })
    }

    /// How many times as long it takes nearer, for certain; `None` if that is not certain, or less than a factor of [`CLOSE`] in the median.
    fn times_nearer(&self) -> Option<f64> {
        let (near, far) = (self.near.1, self.far.1);
        let is_more = near.value > CLOSE * far.value && near.differs_from(&far) == Some(true);
        near.over(far).ends().map(|(low, _)| low).filter(|_| is_more)
    }
}

/// What the points of an experiment show of it; `None` if none does for certain.
pub(super) fn finding<'run>(points: impl Iterator<Item = &'run PointResult>) -> Option<Finding> {
    let all: Vec<AtBoth> = points.filter_map(AtBoth::of).collect();
    let certain = || all.iter().filter_map(|at| Some((at, at.times_nearer()?)));
    let (AtBoth { point, near, far }, _) = certain().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let of = |what: &str| format!("{} on CPUs {what}", point.experiment);
    Some(finding!(
        Question::Experiment,
        "On CPUs farther apart it takes less: {point} takes {near_time} while a line takes {near_line} between them, and {far_time} while it \
         takes {far_line}, {ratio}{several}. No measurement of this run says why.",
        point = Statement::point(&point.experiment, &point.point),
        near_time = near.1.named(&of("nearer to each other")),
        near_line = line(near.0, "a line between CPUs nearer to each other"),
        far_time = far.1.named(&of("farther apart")),
        far_line = line(far.0, "a line between CPUs farther apart"),
        ratio = near.1.times_as("long", far.1, &of("nearer to each other over farther apart")),
        several = several(&point.experiment, certain().count(), all.len())
    ))
}

/// How many points show it, of several.
fn several(experiment: &str, certain: usize, all: usize) -> Statement {
    if all == 1 {
        return Statement::default();
    }
    let number = |of: usize, what: &str| {
        Found::exact(of as f64, Dimension::Count).named(&format!("points of {experiment} {what}"))
    };
    statement!(
        "; of {all} points with an interval at both distances this is certain of {certain}",
        all = number(all, "with an interval at both distances"),
        certain = number(certain, "that take less farther apart")
    )
}

fn line(at: &CpuDistance, name: &str) -> Figure {
    Found::bare(at.line_ns, Dimension::Of(Unit::Nanoseconds)).named(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Outcome, planted};
    use fathom_core::statistics::{Estimate, Interval};

    /// A point that takes this at 32 ns, within a twentieth, and that at 167 ns.
    fn point(near: f64, far: f64) -> PointResult {
        let estimate = |value: f64| {
            let interval = Some(Interval { low: 0.95 * value, high: 1.05 * value });
            Estimate { value, interval, level: 0.95, trials: 9, observations: 9, min: None, max: None }
        };
        PointResult {
            outcome: Outcome::Value(estimate(near)),
            cpu_distance: planted::at_distances(32.0, Some((167.0, estimate(far)))),
            ..planted::result("cpu/false_sharing", estimate(near), None)
        }
    }

    fn text(points: &[PointResult]) -> Option<String> {
        finding(points.iter()).map(|finding| finding.statement.plain())
    }

    #[test]
    fn what_is_cheaper_for_certain_on_cpus_farther_apart_is_remarked() {
        let said = text(&[point(1.6, 1.25), point(1.8, 1.2), point(1.0, 1.0)]).expect("it is certain");
        assert!(
            said.contains("{1.8} while a line takes {32} between them, and {1.2} while it takes {167}"),
            "{said}"
        );
        assert!(
            said.contains("of {3} points with an interval at both distances this is certain of {2}"),
            "{said}"
        );
        let alone = text(&[point(1.8, 1.2)]).expect("it is certain");
        assert!(!alone.contains("points"), "{alone}");
    }

    #[test]
    fn what_is_dearer_or_hardly_cheaper_is_not_remarked() {
        assert_eq!(text(&[point(1.2, 1.8), point(1.2, 1.0)]), None);
        let mut rate = point(1.8, 1.2);
        rate.unit = Unit::BytesPerSecond;
        assert_eq!(text(&[rate]), None, "a rate that is lower is no less of a cost");
    }
}
