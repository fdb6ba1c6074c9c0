//! A limit as people write it: `10 ms`, `950 MiB/s`, `7000/s`, `32 GB`, `1 %`, `8`.

use fathom_core::quantity::Unit;
use serde::Deserialize;

/// The kind of quantity that a limit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThresholdKind {
    /// A time, nanoseconds.
    Time,
    /// Operations a second.
    PerSecond,
    /// Bytes a second.
    BytesPerSecond,
    /// Bytes.
    Bytes,
    /// A share, parts of a million.
    Share,
    /// A number of things.
    Count,
}

/// A limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// Its value, in the plain unit of its kind.
    pub value: f64,
    /// Its kind.
    pub kind: ThresholdKind,
    /// Its text in the file.
    pub text: String,
}

/// The units that a limit may have, each with its kind and its size in the plain unit. Prefixes of bytes are decimal, and binary with
/// an `i`.
const UNITS: [(&str, ThresholdKind, f64); 26] = [
    ("", ThresholdKind::Count, 1.0),
    ("%", ThresholdKind::Share, 1e4),
    ("/s", ThresholdKind::PerSecond, 1.0),
    ("ns", ThresholdKind::Time, 1.0),
    ("us", ThresholdKind::Time, 1e3),
    ("µs", ThresholdKind::Time, 1e3),
    ("ms", ThresholdKind::Time, 1e6),
    ("s", ThresholdKind::Time, 1e9),
    ("B", ThresholdKind::Bytes, 1.0),
    ("kB", ThresholdKind::Bytes, 1e3),
    ("MB", ThresholdKind::Bytes, 1e6),
    ("GB", ThresholdKind::Bytes, 1e9),
    ("TB", ThresholdKind::Bytes, 1e12),
    ("KiB", ThresholdKind::Bytes, 1024.0),
    ("MiB", ThresholdKind::Bytes, 1_048_576.0),
    ("GiB", ThresholdKind::Bytes, 1_073_741_824.0),
    ("TiB", ThresholdKind::Bytes, 1_099_511_627_776.0),
    ("B/s", ThresholdKind::BytesPerSecond, 1.0),
    ("kB/s", ThresholdKind::BytesPerSecond, 1e3),
    ("MB/s", ThresholdKind::BytesPerSecond, 1e6),
    ("GB/s", ThresholdKind::BytesPerSecond, 1e9),
    ("TB/s", ThresholdKind::BytesPerSecond, 1e12),
    ("KiB/s", ThresholdKind::BytesPerSecond, 1024.0),
    ("MiB/s", ThresholdKind::BytesPerSecond, 1_048_576.0),
    ("GiB/s", ThresholdKind::BytesPerSecond, 1_073_741_824.0),
    ("TiB/s", ThresholdKind::BytesPerSecond, 1_099_511_627_776.0),
];

/// A limit in a file: a text, or a plain number for a count.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ThresholdText {
    Count(f64),
    Text(String),
}

impl ThresholdText {
    /// The limit; an error says what is wrong with it.
    pub fn parsed(&self) -> Result<Threshold, String> {
        match self {
            ThresholdText::Count(count) => Threshold::parse(&count.to_string()),
            ThresholdText::Text(text) => Threshold::parse(text),
        }
    }
}

impl Threshold {
    /// The limit of a text such as `10 ms`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits =
            text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
        let (number, unit) = (&text[..digits], text[digits..].trim());
        let expected = || {
            format!(
                "`{text}` is no limit: expected a number with a unit, such as `10 ms`, `950 MiB/s`, `7000/s`, `32 GB`, \
                 `1 %` or `8`"
            )
        };
        let (_, kind, size) = UNITS.iter().find(|(name, ..)| *name == unit).ok_or_else(expected)?;
        let number: f64 = number.parse().map_err(|_| expected())?;
        if number <= 0.0 || !number.is_finite() {
            return Err(format!("`{text}` is no limit: it must be above zero"));
        }
        Ok(Threshold { value: number * size, kind: *kind, text: text.to_owned() })
    }

    /// The same limit of a figure in this unit, and whether a rate of operations became the time of one, which turns the direction; an
    /// error says which kinds of limits the figure has.
    pub fn in_unit(&self, unit: Unit) -> Result<(f64, bool), String> {
        match (unit, self.kind) {
            (Unit::Nanoseconds, ThresholdKind::Time)
            | (Unit::BytesPerSecond, ThresholdKind::BytesPerSecond)
            | (Unit::Bytes, ThresholdKind::Bytes)
            | (Unit::PartsPerMillion, ThresholdKind::Share) => Ok((self.value, false)),
            (Unit::Nanoseconds, ThresholdKind::PerSecond) => Ok((1e9 / self.value, true)),
            _ => Err(format!("`{}` is no limit of a figure that is {}", self.text, kinds(unit))),
        }
    }
}

fn kinds(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "a time (`10 ms`, or operations a second: `7000/s`)",
        Unit::BytesPerSecond => "bytes a second (`950 MiB/s`)",
        Unit::Bytes => "a size (`32 GB`)",
        Unit::PartsPerMillion => "a share (`1 %`)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_their_units() {
        let value = |text: &str| Threshold::parse(text).map(|limit| (limit.value, limit.kind));
        assert_eq!(value("10 ms"), Ok((1e7, ThresholdKind::Time)));
        assert_eq!(value("0.5us"), Ok((500.0, ThresholdKind::Time)));
        assert_eq!(value("667 µs"), Ok((667_000.0, ThresholdKind::Time)));
        assert_eq!(value("7000/s"), Ok((7000.0, ThresholdKind::PerSecond)));
        assert_eq!(value("2 MiB/s"), Ok((2_097_152.0, ThresholdKind::BytesPerSecond)));
        assert_eq!(value("32 GB"), Ok((32e9, ThresholdKind::Bytes)));
        assert_eq!(value("1 %"), Ok((1e4, ThresholdKind::Share)));
        assert_eq!(value("8"), Ok((8.0, ThresholdKind::Count)));
        for wrong in ["", "ms", "10 mS", "1.2.3 ms", "-1 ms", "0 ms", "10 ms or so"] {
            assert!(Threshold::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rate_of_operations_is_the_time_of_one() {
        let limit = Threshold::parse("500/s").unwrap();
        assert_eq!(limit.in_unit(Unit::Nanoseconds), Ok((2e6, true)));
        assert!(limit.in_unit(Unit::BytesPerSecond).is_err_and(|error| error.contains("bytes a second")));
    }
}
