//! The verdict on a ratio, judged against a margin, and the decision of a gate: a first finding is a suspect, and only a confirmed one is
//! a regression.

use super::{Comparison, NotCompared, Obstacle, PooledFamily, Row};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{self, Contrast};

/// The accepted share of false ones among the reported differences.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// The verdict on one point of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It costs more than before, or brings less, by more than the margin.
    Worse,
    /// It costs less than before, or brings more, by more than the margin.
    Better,
    /// It differs by more than the margin, and neither way is better: a size.
    Changed,
    /// The difference is smaller than the margin: the whole interval of the ratio is within it.
    Equivalent,
    /// The data were not conclusive.
    Inconclusive,
}

impl Verdict {
    /// Every verdict, in the order of importance.
    pub const ALL: [Verdict; 5] =
        [Verdict::Worse, Verdict::Better, Verdict::Changed, Verdict::Equivalent, Verdict::Inconclusive];

    /// The name in every form.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Changed => "changed",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
        }
    }

    /// Whether a difference was found.
    pub fn is_difference(self) -> bool {
        matches!(self, Verdict::Worse | Verdict::Better | Verdict::Changed)
    }
}

/// A ratio to be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    /// The contrast from the first side to the second.
    pub contrast: Contrast,
    /// The largest difference that does not matter: 0.05 for 5 %.
    pub margin: f64,
    /// The unit, which determines whether more is worse.
    pub unit: Unit,
}

/// The part of the accepted share that families have among themselves; the points have the rest. There are few families and
/// many points: in one list, a family would have to be as certain as the most certain of hundreds.
const OF_FAMILIES: f64 = 0.5;

/// The chance below which a family is called changed although no other ratio is: the least that any of so many families needs.
pub(super) fn chance_of_a_family(families: usize) -> f64 {
    FALSE_DISCOVERIES * OF_FAMILIES / families.max(1) as f64
}

/// Which families have changed at all, and the verdicts on all points. Differences are reported such that the share of false
/// ones among families and points together is small ([`FALSE_DISCOVERIES`]); this depends on their numbers, but not on their
/// order. Chances are weighted (Genovese, Roeder & Wasserman 2006, "False discovery control with p-value weighting", Biometrika
/// 93), so that families and points each have their part.
pub(super) fn verdicts(families: &[Contrast], points: &[Judged]) -> (Vec<bool>, Vec<Verdict>) {
    let all = (families.len() + points.len()) as f64;
    let part = if families.is_empty() { 0.0 } else { OF_FAMILIES };
    let weighted = |chance: f64, part: f64, count: usize| chance * count as f64 / (part * all);
    let of_families = families.iter().map(|each| weighted(each.chance_within(0.0), part, families.len()));
    let of_points = points
        .iter()
        .map(|each| weighted(each.contrast.chance_within(each.margin), 1.0 - part, points.len()));
    let chances: Vec<f64> = of_families.chain(of_points).collect();
    let mut changed = statistics::discoveries(&chances, FALSE_DISCOVERIES);
    let of_points = changed.split_off(families.len());
    // Among many differences the list accepts one whose own interval contains no change: it is none.
    let is_certain = |family: &Contrast| !family.interval().contains(1.0);
    let changed =
        changed.into_iter().zip(families).map(|(changed, family)| changed && is_certain(family)).collect();
    let of_points = of_points
        .into_iter()
        .zip(points)
        .map(|(changed, point)| changed && point.contrast.chance_within(point.margin) <= FALSE_DISCOVERIES);
    (changed, points.iter().zip(of_points).map(|(each, is_discovery)| verdict(each, is_discovery)).collect())
}

fn verdict(judged: &Judged, is_discovery: bool) -> Verdict {
    let more = judged.contrast.ratio() > 1.0;
    match judged.unit.kind() {
        _ if !is_discovery && judged.contrast.is_within(judged.margin) => Verdict::Equivalent,
        _ if !is_discovery => Verdict::Inconclusive,
        Kind::Size => Verdict::Changed,
        kind if more == (kind == Kind::Rate) => Verdict::Better,
        _ => Verdict::Worse,
    }
}

/// The decision of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// No regression was found, and one of the size of the margin would have been in every family.
    Passed,
    /// A suspect could neither be confirmed nor cleared, a point that had a value has failed, nothing could be compared, or the
    /// runs could not see a change of the size of the margin.
    Inconclusive,
    /// Something got worse by more than its margin.
    Regressed,
}

impl Decision {
    /// The name in every form.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Passed => "passed",
            Decision::Inconclusive => "inconclusive",
            Decision::Regressed => "regressed",
        }
    }
}

/// The decision for a comparison with a baseline.
pub fn decide(comparison: &Comparison) -> Decision {
    if comparison.rows.iter().any(|row| row.verdict == Verdict::Worse)
        || comparison.families.iter().any(PooledFamily::regressed)
    {
        Decision::Regressed
    } else if comparison.rows.is_empty()
        || comparison.of_itself
        || comparison.families.iter().any(PooledFamily::is_unseen)
        || comparison.rows.iter().any(Row::is_suspect)
        || has_broken(comparison)
    {
        Decision::Inconclusive
    } else {
        Decision::Passed
    }
}

/// Whether a point with a value in the baseline failed.
fn has_broken(comparison: &Comparison) -> bool {
    let broken = |point: &NotCompared| matches!(point.because, Obstacle::NoValueAfter { failed: true, .. });
    comparison.not_compared.iter().any(broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::statistics::LogLevel;

    fn contrast(ratio: f64, error: f64) -> Contrast {
        let level = |value, error| LogLevel { value, below: error, above: error, freedom: 8.0 };
        Contrast::between(level(0.0, 0.0), level(f64::ln(ratio), error))
    }

    /// Two machines that differ in hundreds of points: the list of differences is long, and one in twenty of it may be false.
    #[test]
    fn among_many_differences_one_that_its_own_interval_does_not_show_is_none() {
        let point =
            |ratio, error| Judged { contrast: contrast(ratio, error), margin: 0.05, unit: Unit::Nanoseconds };
        let mut points = vec![point(1.6, 0.01); 300];
        points.push(point(1.12, 0.06));
        let families = [contrast(1.087, 0.06), contrast(1.3, 0.03)];
        assert!(families[0].interval().contains(1.0) && !families[1].interval().contains(1.0));
        let (changed, verdicts) = verdicts(&families, &points);
        assert_eq!(changed, [false, true]);
        assert_eq!((verdicts[0], verdicts[300]), (Verdict::Worse, Verdict::Inconclusive));
    }
}
