//! The time that a trial has observed.

use super::clock::Reading;

/// How many times as long as the shortest observation the longest may take before the rest of it is a stall.
const STALL: i64 = 10;

/// When the observations of a trial began, and the shortest and the longest of them, ticks.
///
/// A trial ends when its time is over. If one observation meets a stall (a device pauses, a host takes the CPU away), it would hold few
/// others, in the extreme none, and its median would be the stall's while that of a trial which met the stall at its end would not. So the
/// longest stall of a trial is not counted as time that it has observed: the trial lasts longer by that, and holds as many observations as
/// others. A second one counts, so that work which often takes long does not exceed its time.
#[derive(Clone, Copy)]
pub(super) struct ObservedTime {
    pub began: Reading,
    shortest: i64,
    longest: i64,
}

impl ObservedTime {
    /// Before the first observation; `quickest` is how long the work took at its quickest before, if it is known.
    pub fn new(began: Reading, quickest: Option<i64>) -> Self {
        ObservedTime { began, shortest: quickest.unwrap_or(i64::MAX), longest: 0 }
    }

    /// Takes an observation into account.
    pub fn add(&mut self, took: i64) {
        self.shortest = self.shortest.min(took);
        self.longest = self.longest.max(took);
    }

    /// Counts from another moment, and forgets the longest observation before it.
    pub fn restart(&mut self, began: Reading) {
        (self.began, self.longest) = (began, 0);
    }

    /// The time that counts until a reading, ticks.
    pub fn until(&self, now: Reading) -> i64 {
        now.since(self.began).0 - (self.longest - self.shortest.saturating_mul(STALL)).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Reading {
        Reading { ticks, cpu: 0 }
    }

    #[test]
    fn one_stall_is_not_counted_and_a_second_is() {
        let mut time = ObservedTime::new(at(100), Some(40));
        time.add(70_000);
        assert_eq!(time.until(at(70_100)), 400, "a single observation that stalled");
        time.add(50);
        time.add(60_000);
        assert_eq!(time.until(at(130_150)), 60_450);
        time.restart(at(130_150));
        assert_eq!(time.until(at(130_450)), 300);
    }

    #[test]
    fn work_that_always_takes_long_is_counted_wholly() {
        let mut time = ObservedTime::new(at(0), None);
        time.add(70_000);
        assert_eq!(time.until(at(70_000)), 70_000);
        time.add(300_000);
        assert_eq!(time.until(at(370_000)), 370_000, "less than ten times as long");
    }
}
