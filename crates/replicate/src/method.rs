//! A method of a published report, and the place where it is measured.

use super::series::Series;
use fathom_core::experiment::{Failure, Placement, Requirement, Site};
use fathom_equipment::test_file::{DiskQuota, TestFile};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::time::Duration;

pub type MeasureFn = fn(&Stage) -> Result<Series, Failure>;

/// A method of a report, as its authors described it.
pub struct Method {
    /// Its name, unique within its report.
    pub name: &'static str,
    /// What the report's programs do: sizes, counts, cache control, what stands between the readings of the clock and by what the
    /// difference is divided.
    pub text: &'static str,
    /// How Fathom's replication differs, and why: the operating system, counts that would take hours. Empty where it does not.
    pub differs: &'static str,
    /// The CPUs on which it runs.
    pub placement: Placement,
    pub needs: &'static [Requirement],
    /// The time after which it is stopped.
    pub limit: Duration,
    /// Whether it asks for the highest priority that `nice` gives, as its authors did.
    pub raised_priority: bool,
    pub measure: MeasureFn,
}

/// The place where a method is measured: inside a fresh process, pinned as its placement says.
pub struct Stage<'a> {
    /// CPUs, folder, seed, peer.
    pub site: &'a Site<'a>,
    /// Whether counts are reduced.
    pub quick: bool,
    /// Whether every setting of the report is measured, in as many minutes as that takes.
    pub thorough: bool,
}

impl Method {
    /// The time after which it is stopped: of a thorough replication more, as its methods have.
    pub fn limit(&self, thorough: bool) -> Duration {
        if thorough { self.limit * THOROUGH } else { self.limit }
    }
}

/// How many times the usual time a method has in a thorough replication.
pub const THOROUGH: u32 = 8;

impl Stage<'_> {
    /// A count: `theirs`, or the smaller one with `--quick`.
    pub fn count(&self, theirs: u64, quick: u64) -> u64 {
        if self.quick { quick } else { theirs }
    }

    /// The generator of what is drawn at random.
    pub fn chance(&self) -> SplitMix64 {
        SplitMix64::seed_from_u64(self.site.seed)
    }

    /// A file of so many bytes that has no name any more.
    pub fn nameless(&self, bytes: u64) -> Result<TestFile, Failure> {
        TestFile::nameless(self.site, bytes, DiskQuota::DEFAULT)
    }

    /// Nanoseconds per tick of the counter that the reports' timers read, or a reason where there is no such counter.
    pub fn ns_per_tick(&self) -> Result<f64, Failure> {
        // The other clock counts nanoseconds already, and the report's instructions do not read it.
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
