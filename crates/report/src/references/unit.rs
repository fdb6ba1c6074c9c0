//! Units of published figures.

use fathom_core::quantity;
use serde::{Deserialize, Serialize};

/// The unit of a published figure. Times are in nanoseconds, rates in bytes per second, sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Time of one operation.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Time for a block of a file.
    #[serde(rename = "ns/block")]
    NanosecondsPerBlock,
    #[serde(rename = "ns/page")]
    NanosecondsPerPage,
    #[serde(rename = "ns/byte")]
    NanosecondsPerByte,
    /// Time for one more argument of a call.
    #[serde(rename = "ns/arg")]
    NanosecondsPerArgument,
    /// Time for one more competing process.
    #[serde(rename = "ns/process")]
    NanosecondsPerProcess,
    /// Payload per time.
    #[serde(rename = "bytes/s")]
    BytesPerSecond,
    #[serde(rename = "bytes")]
    Bytes,
    /// One figure over another.
    #[serde(rename = "ratio")]
    Ratio,
    #[serde(rename = "percent")]
    Percent,
    /// Cycles as the source counts them: ticks of its time-stamp counter.
    #[serde(rename = "cycles")]
    Cycles,
    /// Operations per second.
    #[serde(rename = "ops/s")]
    OperationsPerSecond,
    /// A plain number.
    #[serde(rename = "count")]
    Count,
}

impl Unit {
    /// The unit as printed: `ns per block`.
    pub fn label(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::NanosecondsPerBlock => "ns per block",
            Unit::NanosecondsPerPage => "ns per page",
            Unit::NanosecondsPerByte => "ns per byte",
            Unit::NanosecondsPerArgument => "ns per argument",
            Unit::NanosecondsPerProcess => "ns per process",
            Unit::BytesPerSecond => "B/s",
            Unit::Bytes => "B",
            Unit::Ratio => "ratio",
            Unit::Percent => "%",
            Unit::Cycles => "cycles",
            Unit::OperationsPerSecond => "operations/s",
            Unit::Count => "",
        }
    }

    /// The object of one figure, if it is not one operation: `per block`.
    pub fn per(self) -> Option<&'static str> {
        match self {
            Unit::NanosecondsPerBlock => Some("per block"),
            Unit::NanosecondsPerPage => Some("per page"),
            Unit::NanosecondsPerByte => Some("per byte"),
            Unit::NanosecondsPerArgument => Some("per argument"),
            Unit::NanosecondsPerProcess => Some("per process"),
            _ => None,
        }
    }

    /// The corresponding unit of a run's results, if there is one.
    pub fn quantity(self) -> Option<quantity::Unit> {
        match self {
            Unit::Nanoseconds
            | Unit::NanosecondsPerBlock
            | Unit::NanosecondsPerPage
            | Unit::NanosecondsPerByte
            | Unit::NanosecondsPerArgument
            | Unit::NanosecondsPerProcess => Some(quantity::Unit::Nanoseconds),
            Unit::BytesPerSecond => Some(quantity::Unit::BytesPerSecond),
            Unit::Bytes => Some(quantity::Unit::Bytes),
            Unit::Ratio | Unit::Percent | Unit::Cycles | Unit::OperationsPerSecond | Unit::Count => None,
        }
    }
}
