//! Three units of time that must never be mixed, and the kinds of quantity a result can be.
//!
//! The time-stamp counter counts *ticks* of a constant clock, people read *nanoseconds*, a core works in *cycles* whose length
//! changes with its frequency. Two of the reports printed one as another (R-FIX-05, R-FIX-07).

pub mod declared;

use serde::{Deserialize, Serialize};

/// A difference between two readings of the measuring clock. Signed, because a clock that runs backwards must be
/// seen, not wrapped into 585 years (R-FIX-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub i64);

impl Ticks {
    /// Converts at the clock's measured frequency in ticks per second.
    pub fn nanoseconds(self, ticks_per_second: f64) -> Nanoseconds {
        Nanoseconds(self.0 as f64 / ticks_per_second * 1e9)
    }
}

/// Elapsed time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Nanoseconds(pub f64);

impl Nanoseconds {
    /// The same time in cycles of a core that runs at `core_hz`.
    pub fn cycles(self, core_hz: f64) -> Cycles {
        Cycles(self.0 * core_hz / 1e9)
    }
}

/// Core clock cycles: only from a hardware counter, or from a calibrated chain of dependent instructions.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Cycles(pub f64);

impl Cycles {
    /// The same number of cycles as time on a core that runs at `core_hz`.
    pub fn nanoseconds(self, core_hz: f64) -> Nanoseconds {
        Nanoseconds(self.0 / core_hz * 1e9)
    }
}

/// The unit of a point's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time of one operation.
    Nanoseconds,
    /// Payload per time, decimal prefixes.
    BytesPerSecond,
    /// A size, binary prefixes.
    Bytes,
    /// Parts of a million, for shares of time.
    PartsPerMillion,
}

/// Which direction is better, and how such numbers are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Less is better; averages are arithmetic.
    Cost,
    /// More is better; averaged as total work over total time.
    Rate,
    /// Neither direction is better by itself.
    Size,
}

impl Unit {
    /// The kind of quantity with this unit.
    pub fn kind(self) -> Kind {
        match self {
            Unit::Nanoseconds | Unit::PartsPerMillion => Kind::Cost,
            Unit::BytesPerSecond => Kind::Rate,
            Unit::Bytes => Kind::Size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_not_a_cycle() {
        let elapsed = Ticks(2_600).nanoseconds(2.6e9);
        assert_eq!(elapsed, Nanoseconds(1000.0));
        assert_eq!(elapsed.cycles(3.5e9), Cycles(3500.0));
        assert_eq!(Cycles(3500.0).nanoseconds(3.5e9), elapsed);
    }

    #[test]
    fn a_clock_that_runs_backwards_shows_a_negative_time() {
        assert!(Ticks(-3).nanoseconds(1e9).0 < 0.0);
    }
}
