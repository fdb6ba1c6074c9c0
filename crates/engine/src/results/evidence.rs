//! The evidence that a point measured the operation named, as far as it can be judged.

use fathom_core::experiment::registry::OtherVersion;
use fathom_core::experiment::{Check, Experiment, Observed, Point};
use fathom_core::sampling::Sample;

/// The evidence that a point measured the operation named.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// The claims were judged as far as they could be checked.
    Judged {
        /// Every judged claim; empty if nothing was measured or nothing is claimed.
        checks: Vec<Check>,
        /// Claims that could not be checked on this machine, with the reasons.
        unasked: Vec<Check>,
    },
    /// The point was measured by a method that this program does not have, so its evidence neither holds nor fails.
    NotJudged(OtherVersion),
}

impl Evidence {
    /// The evidence of these claims.
    pub(super) fn judged(checks: Vec<Check>) -> Self {
        let (unasked, checks) = checks.into_iter().partition(|check| check.unasked);
        Evidence::Judged { checks, unasked }
    }

    /// The claims judged over all samples, with the remark on trials that fail by themselves, unless the same claim fails
    /// over all samples.
    pub(super) fn of(
        method: Result<&dyn Experiment, OtherVersion>,
        point: &Point,
        measured: &[&Sample],
        remark: Option<Check>,
    ) -> Self {
        if measured.is_empty() {
            return Evidence::judged(vec![]);
        }
        let experiment = match method {
            Ok(experiment) => experiment,
            Err(other) => return Evidence::NotJudged(other),
        };
        let mut checks = experiment.evidence(point, &observed(measured));
        let has_failed = checks.iter().any(Check::fails);
        checks.extend(remark.filter(|remark| remark.holds || !has_failed));
        Evidence::judged(checks)
    }

    /// The judged claims.
    pub fn checks(&self) -> &[Check] {
        match self {
            Evidence::Judged { checks, .. } => checks,
            Evidence::NotJudged(_) => &[],
        }
    }

    /// The claims that could not be checked, with the reasons.
    pub fn unasked(&self) -> &[Check] {
        match self {
            Evidence::Judged { unasked, .. } => unasked,
            Evidence::NotJudged(_) => &[],
        }
    }

    /// Whether the evidence was judged and all of it holds.
    pub fn holds(&self) -> bool {
        matches!(self, Evidence::Judged { checks, .. } if checks.iter().all(|check| check.holds))
    }

    /// Whether a judged claim does not hold.
    pub fn fails(&self) -> bool {
        self.checks().iter().any(|check| !check.holds)
    }

    /// The reason why the evidence is not judged; `None` if it is.
    pub fn not_judged(&self) -> Option<&OtherVersion> {
        match self {
            Evidence::Judged { .. } => None,
            Evidence::NotJudged(other) => Some(other),
        }
    }
}

/// The sums over trials of the counted events.
pub(super) fn observed(measured: &[&Sample]) -> Observed {
    let mut sums = Observed { trials: measured.len() as u64, ..Observed::default() };
    for sample in measured {
        sums.stated.extend(sample.stated.clone());
        count(&mut sums.operations, sample.operations);
        count(&mut sums.baseline_iterations, sample.baseline_iterations);
        let (sum, counters) = (&mut sums.counters, &sample.counters);
        count(&mut sum.minor_faults, counters.minor_faults);
        count(&mut sum.major_faults, counters.major_faults);
        count(&mut sum.voluntary_switches, counters.voluntary_switches);
        count(&mut sum.involuntary_switches, counters.involuntary_switches);
        count(&mut sum.user_ns, counters.user_ns);
        count(&mut sum.system_ns, counters.system_ns);
        sum.instructions = add(sum.instructions, counters.instructions);
        sum.cycles = add(sum.cycles, counters.cycles);
        for (name, seen_here) in &sample.witnessed {
            *sums.witnessed.entry(name.clone()).or_default() += seen_here;
        }
    }
    sums
}

/// Saturating addition: a run file may have been edited.
fn count(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn add(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    }
}
