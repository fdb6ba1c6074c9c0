//! How precise the values of a run are, and of how many trials each was made.

use super::words::plural;
use fathom_core::quantities;
use fathom_core::sorting;
use fathom_core::statistics;
use fathom_engine::results::{PointResult, Results};

/// Within how much of itself a value is known that shows differences of a tenth.
pub(crate) const USEFUL: f64 = 0.05;

/// The precision of a run: how far the farther ends of the 95 % intervals are from their values, as shares of these.
pub(crate) struct Precision<'run> {
    pub target: f64,
    /// Number of points that have reached it.
    pub reached: usize,
    /// Number of points with a value.
    pub values: usize,
    /// The median of these distances; `None` if no value has an interval.
    pub median: Option<f64>,
    /// Number of points known within [`USEFUL`].
    pub useful: usize,
    /// Points whose interval reaches further than the target, with the distance, the furthest first.
    pub missed: Vec<(&'run PointResult, f64)>,
    /// Number of points with a value but no interval.
    pub without: usize,
}

impl<'run> Precision<'run> {
    pub fn of(results: &'run Results) -> Self {
        let target = results.run.header.settings.precision;
        let estimates = || results.points.iter().filter_map(PointResult::estimate);
        let values = estimates().count();
        // A share of zero has an interval but no relative width.
        let without = estimates().filter(|estimate| estimate.interval.is_none()).count();
        let mut widths = reaches(results);
        sorting::by_number(&mut widths, |(_, width)| -width);
        let all: Vec<f64> = widths.iter().map(|(_, width)| *width).collect();
        let median = statistics::median(&all);
        let useful = all.iter().filter(|width| **width <= USEFUL).count();
        let reached = all.iter().filter(|width| **width <= target).count();
        widths.retain(|(_, width)| *width > target);
        Precision { target, reached, values, median, useful, missed: widths, without }
    }

    /// The points that missed the target, the furthest first. Where an end is further off than the value is large, as of one near
    /// zero, a relative distance says nothing.
    pub fn relative(&self) -> impl Iterator<Item = &(&'run PointResult, f64)> {
        self.missed.iter().filter(|(_, width)| *width <= 1.0)
    }

    /// The share of the values known within [`USEFUL`]; `None` without values.
    pub fn share_useful(&self) -> Option<f64> {
        (self.values > 0).then(|| self.useful as f64 / self.values as f64)
    }

    /// Whether every value has an interval that reaches the target.
    pub(crate) fn is_complete(&self) -> bool {
        self.missed.is_empty() && self.without == 0
    }

    /// The points that reached the target and those that missed it, in a sentence.
    pub fn sentence(&self) -> String {
        let target = quantities::target(self.target);
        let share = match self.values {
            0 => String::new(),
            values => format!(" ({})", quantities::percent(self.reached as f64 / values as f64)),
        };
        let values = plural(self.values, "value");
        let mut parts = vec![format!("{} of {values}{share} are known within {target}", self.reached)];
        if let Some(median) = self.median {
            parts.push(format!("the median is known within {}", quantities::plus_minus(median)));
        }
        // A value of zero has no relative width.
        let zeros = self.values.saturating_sub(self.reached + self.missed.len() + self.without);
        if zeros > 0 {
            parts.push(format!("{} of zero without a relative width", plural(zeros, "value")));
        }
        let wide = self.missed.len() - self.relative().count();
        if wide > 0 {
            let is = if wide == 1 { "is" } else { "are" };
            parts.push(format!("{} {is} uncertain by more than their own size", plural(wide, "value")));
        }
        if self.without > 0 {
            parts.push(format!("{} without an interval (fewer than four trials)", self.without));
        }
        parts.join("; ") + "."
    }
}

/// The values that have an interval, with the distance of its farther end.
fn reaches<'run>(results: &'run Results) -> Vec<(&'run PointResult, f64)> {
    results.points.iter().filter_map(|point| Some((point, reach(point)?))).collect()
}

/// The distance of the farther end of a point's interval as a share of its value; `None` without an interval.
pub(crate) fn reach(point: &PointResult) -> Option<f64> {
    statistics::relative_reach(point.estimate()?)
}

/// The trials of the median value; `None` if nothing was measured.
pub(crate) fn usual_trials(results: &Results) -> Option<f64> {
    statistics::median(&trials_of_values(results).map(|trials| trials as f64).collect::<Vec<_>>())
}

/// The trials of each value. A point that was left out for want of time had one, and has none.
pub(crate) fn trials_of_values(results: &Results) -> impl Iterator<Item = usize> {
    let valued = results.points.iter().filter(|point| point.estimate().is_some());
    valued.map(|point| point.trials.0).filter(|trials| *trials > 0)
}
