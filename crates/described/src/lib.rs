//! Described machines and planted figures, for tests that must not depend on the machine that they run on.

use fathom_core::experiment::{Dimension, Experiment, Finding, Found, Known, Observed, Point};
use fathom_core::machine::{Host, Machine, Root};
use fathom_core::statistics::{Interval, Measured};

// The core's own file: its unit tests cannot use this crate, whose types would be those of a second build of the core.
#[path = "../../core/src/machine/described.rs"]
mod four_cores;

pub use four_cores::machine;

/// A figure that is known to one percent.
pub fn found(value: f64, dimension: impl Into<Dimension>) -> Found {
    found_within(0.01, value, dimension)
}

/// A figure whose interval reaches this share of it to both sides.
pub fn found_within(share: f64, value: f64, dimension: impl Into<Dimension>) -> Found {
    let interval = Some(Interval { low: (1.0 - share) * value, high: (1.0 + share) * value });
    Found::measured(Measured { value, interval }, dimension)
}

/// The observations of a trial of so many operations that counted this, the last of one name.
pub fn observed<'name>(operations: u64, counts: impl IntoIterator<Item = (&'name str, f64)>) -> Observed {
    let witnessed = counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    Observed { operations, trials: 1, witnessed, ..Observed::default() }
}

/// Makes these figures of an experiment known to one percent, each in the unit of its point.
pub fn plant(known: &mut Known, method: &dyn Experiment, figures: impl IntoIterator<Item = (Point, f64)>) {
    for (point, value) in figures {
        known.learn(method.about().name, &point, found(value, method.unit(&point)));
    }
}

/// The findings where these figures of an experiment are known to one percent, on the described machine: a line each, with their
/// values in braces.
pub fn statements<Of: IntoIterator<Item = Finding>>(
    method: &dyn Experiment,
    figures: impl IntoIterator<Item = (Point, f64)>,
    findings: impl FnOnce(&Known) -> Of,
) -> String {
    let machine = machine();
    let mut known = Known::new(&machine, None);
    plant(&mut known, method, figures);
    findings(&known).into_iter().map(|finding| finding.statement.plain() + "\n").collect()
}
