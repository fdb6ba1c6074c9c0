//! Figures that another measurement of the same operation denies.

use crate::results::accuracy::distance;
use crate::results::point::PointResult;
use fathom_core::experiment::{Found, Point, Selector};

/// A figure that another measurement of a cross-check denies: their intervals are apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Denial {
    experiment: &'static str,
    point: Point,
    figure: Found,
    /// The value of the other, in the unit and the number of operations of this figure.
    by: Found,
}

impl Denial {
    pub(super) fn of(selector: &Selector, point: &Point, figure: Found, by: Found) -> Self {
        Denial { experiment: selector.experiment, point: point.clone(), figure, by }
    }

    /// Of figures of one operation, each with how many operations it is of, those that another is apart from, with the furthest of these.
    pub(super) fn among(figures: &[(&Selector, &Point, Found, f64)]) -> Vec<Self> {
        let of_one = |(of, point, figure, times): &(&Selector, &Point, Found, f64)| {
            let others = figures.iter().map(|(.., other, of_times)| other.scaled(times / of_times));
            let others = others.filter(|other| other.differs_from(figure) == Some(true));
            let furthest = others.max_by(|one, other| apart(one, figure).total_cmp(&apart(other, figure)))?;
            Some(Denial::of(of, point, *figure, furthest))
        };
        figures.iter().filter_map(of_one).collect()
    }

    /// Whether it is of this point's own figure: a check may be of the core shared where that is not.
    fn is_of(&self, point: &PointResult) -> bool {
        let is_same = |figure: Found| {
            figure.value.total_cmp(&self.figure.value).is_eq() && figure.core == self.figure.core
        };
        point.experiment == self.experiment
            && point.point == self.point
            && point.figure().is_some_and(is_same)
    }
}

/// How far two figures are from each other, either way, as a factor.
fn apart(one: &Found, other: &Found) -> f64 {
    distance(one.value / other.value)
}

/// Marks the points whose figures are denied, each with the value that is furthest from its own.
pub(crate) fn mark<'check>(points: &mut [PointResult], denials: impl Iterator<Item = &'check Denial>) {
    for denial in denials {
        let Some(point) = points.iter_mut().find(|point| denial.is_of(point)) else { continue };
        let is_further = |other: Found| apart(&other, &denial.figure) < apart(&denial.by, &denial.figure);
        if point.denied_by.is_none_or(is_further) {
            point.denied_by = Some(denial.by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Dimension;
    use fathom_core::quantity::Unit;

    #[test]
    fn what_intervals_deny_is_named_with_the_furthest_value_in_its_own_unit() {
        let (of, point) = (Selector::only("a/test", &[]), Point::new());
        let denied = |values: [(f64, f64); 3]| -> Vec<(f64, f64)> {
            let found = |value| fathom_described::found_within(0.01, value, Dimension::Of(Unit::Nanoseconds));
            let figures = values.map(|(value, times)| (&of, &point, found(value), times));
            Denial::among(&figures).iter().map(|one| (one.figure.value, one.by.value)).collect()
        };
        let with_far = denied([(1000.0, 1.0), (1010.0, 1.0), (2400.0, 2.0)]);
        assert_eq!(with_far, [(1000.0, 1200.0), (1010.0, 1200.0), (2400.0, 2000.0)]);
        assert_eq!(denied([(1000.0, 1.0), (1010.0, 1.0), (2010.0, 2.0)]), []);
    }
}
