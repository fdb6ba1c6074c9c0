//! Page faults, counted by the kernel around the timed part of every observation: one fault may map hundreds of pages, and one
//! touch may need none (R-FIX-38).

use fathom_core::experiment::{Check, Observed};
use std::cell::Cell;
use std::rc::Rc;

/// Faults of this process, as `getrusage(2)` counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Faults without device access.
    pub minor: u64,
    /// Faults that waited for a device.
    pub major: u64,
}

impl Faults {
    /// Faults until now, of all threads of this process.
    pub fn so_far() -> Self {
        // SAFETY: an rusage is plain integers, of which zero is a valid value; the call writes no more than it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage
        };
        Faults { minor: usage.ru_minflt as u64, major: usage.ru_majflt as u64 }
    }

    #[must_use]
    pub fn since(self, earlier: Faults) -> Self {
        Faults { minor: self.minor - earlier.minor, major: self.major - earlier.major }
    }

    /// Faults of both kinds.
    pub fn all(self) -> u64 {
        self.minor + self.major
    }
}

const CLAIMED: &str = "faults_claimed";
const MINOR: &str = "minor_faults_in_timed_parts";
const MAJOR: &str = "major_faults_in_timed_parts";
const PAGES: &str = "pages_touched";

/// Sums over the timed parts of a trial, shared between the work that adds to them and the witness that reads them.
#[derive(Debug, Default)]
pub struct FaultTally {
    claimed: Cell<f64>,
    minor: Cell<f64>,
    major: Cell<f64>,
    pages: Cell<f64>,
}

impl FaultTally {
    /// A tally without counts.
    pub fn new() -> Rc<Self> {
        Rc::default()
    }

    /// Adds one timed part: the number of faults claimed, the faults counted, and the number of pages touched.
    pub fn add(&self, claimed: f64, faults: Faults, pages: u64) {
        let add = |sum: &Cell<f64>, more: f64| sum.set(sum.get() + more);
        add(&self.claimed, claimed);
        add(&self.minor, faults.minor as f64);
        add(&self.major, faults.major as f64);
        add(&self.pages, pages as f64);
    }

    /// The sums by name.
    pub fn counts(&self) -> Vec<(&'static str, f64)> {
        vec![
            (CLAIMED, self.claimed.get()),
            (MINOR, self.minor.get()),
            (MAJOR, self.major.get()),
            (PAGES, self.pages.get()),
        ]
    }
}

/// The kind that the claimed faults must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Minor faults, and no major ones.
    Minor,
    /// Major faults, and hardly any minor ones.
    Major,
    /// Either: whether they count as minor or as major is up to the kernel.
    Either,
}

/// Checks that as many faults were counted as claimed, to within one percent, and of the claimed kind.
pub fn checks(observed: &Observed, kind: FaultKind) -> Vec<Check> {
    let share = |counted: &[&str]| {
        let claimed = observed.witness(CLAIMED).filter(|claimed| *claimed > 0.0)?;
        let counted: Option<Vec<f64>> = counted.iter().map(|name| observed.witness(name)).collect();
        Some(counted?.iter().sum::<f64>() / claimed)
    };
    let check = |claim: &str, counted: &[&str], low, high| Check::within(claim, share(counted), low, high);
    match kind {
        FaultKind::Minor => vec![
            check("minor faults counted by the kernel, per fault claimed", &[MINOR], 0.99, 1.01),
            check("no fault waited for a device: major faults per fault claimed", &[MAJOR], 0.0, 0.001),
        ],
        FaultKind::Major => vec![
            check("major faults counted by the kernel, per fault claimed", &[MAJOR], 0.99, 1.01),
            check(
                "almost every fault needed the device: minor faults per fault claimed",
                &[MINOR],
                0.0,
                0.02,
            ),
        ],
        FaultKind::Either => {
            vec![check("faults counted by the kernel, per fault claimed", &[MINOR, MAJOR], 0.99, 1.01)]
        }
    }
}

/// Checks that there was no fault in the timed parts.
pub fn none(observed: &Observed) -> Check {
    let claim = "faults counted by the kernel in the timed parts";
    let both = observed.witness(MINOR).zip(observed.witness(MAJOR));
    Check::equal(claim, both.map(|(minor, major)| minor + major), 0.0)
}

/// Major faults in the timed parts; `None` if they were not counted.
pub fn major(observed: &Observed) -> Option<f64> {
    observed.witness(MAJOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(claimed: f64, minor: u64, major: u64) -> Observed {
        let tally = FaultTally::default();
        tally.add(claimed, Faults { minor, major }, minor * 16);
        fathom_described::observed(0, tally.counts())
    }

    fn hold(observed: &Observed, kind: FaultKind) -> bool {
        checks(observed, kind).iter().all(|check| check.holds)
    }

    #[test]
    fn faults_must_be_as_many_as_claimed_and_of_the_kind_claimed() {
        assert!(
            hold(&seen(1000.0, 1000, 0), FaultKind::Minor) && hold(&seen(1000.0, 5, 1000), FaultKind::Major)
        );
        assert!(!hold(&seen(1000.0, 985, 0), FaultKind::Minor), "too few");
        assert!(!hold(&seen(1000.0, 1000, 10), FaultKind::Minor), "some waited");
        assert!(!hold(&seen(1000.0, 30, 1000), FaultKind::Major), "some did not wait");
        assert!(!hold(&seen(1000.0, 0, 980), FaultKind::Major), "too few waited");
        assert!(
            hold(&seen(1000.0, 400, 600), FaultKind::Either)
                && !hold(&seen(1000.0, 400, 500), FaultKind::Either)
        );
        assert!(!hold(&Observed::default(), FaultKind::Minor), "nothing was counted");
        assert!(none(&seen(0.0, 0, 0)).holds && !none(&seen(0.0, 1, 0)).holds);
    }
}
