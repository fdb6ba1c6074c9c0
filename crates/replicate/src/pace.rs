//! The counts of a report that fit into a method's time. Some took the authors an hour, and what took them a second may take a
//! virtual machine a minute. Such a count is reduced, and a sentence with the method's result says so.

use super::Stage;
use super::method::THOROUGH;
use fathom_core::experiment::Failure;

/// The time for all timed work of a method, nanoseconds.
const USUAL_NS: f64 = 15e9;
/// The same where it should be quick.
const QUICK_NS: f64 = 1.5e9;
/// A first look is long enough when it takes this, nanoseconds: many times the clock's resolution and most wake-ups.
const LOOK_NS: f64 = 2e6;

impl Stage<'_> {
    /// What the method may take for all that it times, nanoseconds.
    pub fn time_ns(&self) -> f64 {
        match (self.quick, self.thorough) {
            (true, _) => QUICK_NS,
            (_, true) => USUAL_NS * f64::from(THOROUGH),
            _ => USUAL_NS,
        }
    }

    /// `theirs`, or as many as fit into this share of the method's time, at least one, judged by a few.
    pub fn count_within_budget(
        &self,
        theirs: u64,
        share: f64,
        mut few: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let mut count = 1;
        loop {
            let began = self.site.stopwatch.now_ns();
            few(count)?;
            let took = self.site.stopwatch.now_ns() - began;
            if took >= LOOK_NS || count >= theirs {
                return Ok(fitting(theirs, took / count as f64, self.time_ns() * share));
            }
            count = (count * 4).min(theirs);
        }
    }
}

/// So many of `theirs` as fit, when each takes this long.
fn fitting(theirs: u64, each_ns: f64, time_ns: f64) -> u64 {
    ((time_ns / each_ns.max(1e-3)) as u64).clamp(1, theirs.max(1))
}

/// What is said of a count that was reduced; `None` where it was not.
pub fn reduced(what: &str, theirs: u64, here: u64) -> Option<String> {
    (here < theirs).then(|| format!("{here} {what} instead of the report's {theirs}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_fit_are_counted_and_never_more_than_theirs_or_none() {
        assert_eq!(fitting(1000, 1e6, 1e8), 100);
        assert_eq!(fitting(1000, 10.0, 1e8), 1000);
        assert_eq!(fitting(1000, 1e9, 1e8), 1);
        assert_eq!(fitting(1000, 0.0, 1e8), 1000);
    }

    #[test]
    fn a_reduced_count_is_told_and_a_whole_one_is_not() {
        assert!(reduced("connections", 1000, 10).is_some_and(|sentence| sentence.contains("10 connections")));
        assert_eq!(reduced("connections", 1000, 1000), None);
    }
}
