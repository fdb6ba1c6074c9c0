//! A method of a published report, and the place where it is measured.

use super::series::Series;
use crate::experiment::{Failure, Placement, Requirement, Site};
use std::time::Duration;

/// A method of a report, as its authors described it.
pub struct Method {
    /// Its name, unique within its report.
    pub name: &'static str,
    /// What they did: sizes, counts, cache control, what stands between the readings of the clock and what it is divided by.
    pub text: &'static str,
    /// What is different here, and why: the operating system, counts that would take hours; empty where nothing is.
    pub differs: &'static str,
    /// Where they ran it.
    pub placement: Placement,
    /// What it needs of the machine.
    pub needs: &'static [Requirement],
    /// How long it may take before it is given up.
    pub limit: Duration,
    /// Measures.
    pub measure: fn(&Stage) -> Result<Series, Failure>,
}

/// The place where a method is measured: inside a fresh process, pinned as its placement says.
pub struct Stage<'a> {
    /// CPUs, folder, seed, peer.
    pub site: &'a Site<'a>,
    /// Whether counts are reduced.
    pub quick: bool,
}

impl Stage<'_> {
    /// How often: `theirs`, or less where it should be quick.
    pub fn count(&self, theirs: u64, quick: u64) -> u64 {
        if self.quick { quick } else { theirs }
    }

    /// Nanoseconds of one tick of the counter that the reports' timers read; a reason where there is none to convert with.
    pub fn ns_per_tick(&self) -> Result<f64, Failure> {
        // The other clock counts nanoseconds already, and is not what their instructions read.
        const NANOSECONDS: f64 = 1e9;
        let ticks = self.site.ticks_per_second;
        if (ticks - NANOSECONDS).abs() < 1.0 {
            return Err(Failure::Unsupported(
                "the report's timer reads the time-stamp counter, which this machine does not have or does not keep \
                 invariant"
                    .to_owned(),
            ));
        }
        Ok(1e9 / ticks)
    }
}
