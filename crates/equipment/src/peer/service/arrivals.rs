//! How bytes arrived over time.

use serde::{Deserialize, Serialize};

/// The most entries kept: their text fits into one message of the protocol.
const MOST: usize = 1000;

/// The number of bytes that had arrived at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    /// Time since the service began, nanoseconds of its host's clock.
    pub at_ns: u64,
    /// Bytes received so far.
    pub bytes: u64,
    /// Reads by which they came; zero where these are not counted.
    #[serde(default)]
    pub reads: u64,
}

/// A growing count over time, as finely as a bounded list can hold it. The first and the last entry are always kept; when
/// the list is full every second entry is removed, which reduces resolution but loses no byte, because counts are sums.
#[derive(Debug, Default)]
pub struct Arrivals {
    every_ns: u64,
    list: Vec<Arrival>,
}

impl Arrivals {
    /// Adds an entry.
    pub fn push(&mut self, arrival: Arrival) {
        let count = self.list.len();
        if count >= 2 && arrival.at_ns < self.list[count - 2].at_ns + self.every_ns {
            self.list[count - 1] = arrival;
            return;
        }
        self.list.push(arrival);
        if self.list.len() > MOST {
            self.thin_out();
        }
    }

    fn thin_out(&mut self) {
        let span = self.list.last().map_or(0, |last| last.at_ns - self.list[0].at_ns);
        self.every_ns = (span / MOST as u64).max(self.every_ns) * 2;
        for arrival in std::mem::take(&mut self.list) {
            self.push(arrival);
        }
    }

    /// The entries, in order of time.
    pub fn take(&mut self) -> Vec<Arrival> {
        std::mem::take(&mut self.list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_count_is_thinned_out_and_keeps_its_ends() {
        let mut arrivals = Arrivals::default();
        for step in 0..1_000_000_u64 {
            arrivals.push(Arrival { at_ns: 1000 + step * 7, bytes: step, reads: 0 });
        }
        let list = arrivals.take();
        assert!((MOST / 8..=MOST).contains(&list.len()), "{}", list.len());
        assert_eq!(list[0].at_ns, 1000);
        assert_eq!(list[list.len() - 1], Arrival { at_ns: 1000 + 999_999 * 7, bytes: 999_999, reads: 0 });
        assert!(list.is_sorted_by_key(|arrival| arrival.bytes));
        assert!(
            list.iter().all(|arrival| arrival.at_ns == 1000 + arrival.bytes * 7),
            "every entry is as noted"
        );
    }
}
