//! The figures of a disk's data sheet, as the user gives them: no kernel tells them (R-MAC-06, R-PRE-06).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a data sheet says of the measured folder's disk; predictions use it in place of figures typical of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatedDisk {
    /// Time until a read at a random place begins (average seek; of flash, the latency of a read), nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek_ns: Option<f64>,
    /// Rate of large reads, bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_bytes_per_second: Option<f64>,
    /// Size of its buffer, bytes; described, and no part of a prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_bytes: Option<f64>,
}

/// Units by their names, in nanoseconds and bytes per second.
const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6)];
const RATES: [(&str, f64); 3] = [("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)];

const SIZES: [(&str, f64); 4] = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("MiB", 1_048_576.0)];

const EXPECTED: &str = "expected figures of a data sheet, such as seek=8.5ms,transfer=150MB/s,buffer=64MB: seek in ns, us or ms, \
                        transfer in kB/s, MB/s or GB/s, buffer in kB, MB, MiB or GB";

fn amount(text: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let of = |(name, size): &(&str, f64)| Some(text.strip_suffix(name)?.trim().parse::<f64>().ok()? * size);
    let amount = units.iter().find_map(of).filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| EXPECTED.to_owned())
}

impl FromStr for RatedDisk {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rated = RatedDisk::default();
        for part in text.split(',') {
            match part.trim().split_once('=') {
                Some(("seek", time)) => rated.seek_ns = Some(amount(time, &TIMES)?),
                Some(("transfer", rate)) => rated.transfer_bytes_per_second = Some(amount(rate, &RATES)?),
                Some(("buffer", size)) => rated.buffer_bytes = Some(amount(size, &SIZES)?),
                _ => return Err(EXPECTED.to_owned()),
            }
        }
        Ok(rated)
    }
}

impl fmt::Display for RatedDisk {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        use crate::quantities::value;
        use crate::quantity::Unit;
        let seek = self.seek_ns.map(|ns| format!("seek {}", value(Unit::Nanoseconds, ns)));
        let rate = self.transfer_bytes_per_second;
        let rate = rate.map(|rate| format!("transfer {}", value(Unit::BytesPerSecond, rate)));
        let buffer = self.buffer_bytes.map(|bytes| format!("buffer {}", value(Unit::Bytes, bytes)));
        let parts: Vec<String> = seek.into_iter().chain(rate).chain(buffer).collect();
        to.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_sheet_is_read_with_its_units_and_nothing_else() {
        let rated: RatedDisk = "seek=8.5ms, transfer=150MB/s".parse().unwrap();
        assert_eq!((rated.seek_ns, rated.transfer_bytes_per_second), (Some(8.5e6), Some(150e6)));
        assert_eq!(rated.to_string(), "seek 8.50 ms, transfer 150 MB/s");
        let rated: RatedDisk = "buffer=64MiB".parse().unwrap();
        assert_eq!(rated.buffer_bytes, Some(67_108_864.0));
        assert_eq!(rated.to_string(), "buffer 64.0 MiB");
        for wrong in [
            "",
            "seek=8.5",
            "seek=-1ms",
            "transfer=150MB",
            "cache=64MB",
            "seek",
            "seek=nanms",
            "buffer=64",
            "buffer=64MB/s",
        ] {
            assert!(wrong.parse::<RatedDisk>().is_err(), "{wrong}");
        }
    }
}
