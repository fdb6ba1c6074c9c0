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
    /// Rate of large writes, bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_second: Option<f64>,
    /// Reads at random places that it completes per second with many in flight (IOPS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_per_second: Option<f64>,
    /// The same of writes; described, and no part of a prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes_per_second: Option<f64>,
    /// Size of its buffer, bytes; described, and no part of a prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_bytes: Option<f64>,
}

/// Units by their names, in nanoseconds and bytes per second.
const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6)];
const RATES: [(&str, f64); 3] = [("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)];

/// Requests per second: data sheets count them in thousands.
const COUNTS: [(&str, f64); 3] = [("k", 1e3), ("M", 1e6), ("", 1.0)];

const SIZES: [(&str, f64); 4] = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("MiB", 1_048_576.0)];

const EXPECTED: &str = "expected figures of a data sheet, such as seek=8.5ms,transfer=150MB/s,write=140MB/s,reads=380k,writes=330k,\
                        buffer=64MB: seek in ns, us or ms, transfer and write in kB/s, MB/s or GB/s, random reads and writes a \
                        second as a number, with k or M, buffer in kB, MB, MiB or GB";

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
                Some(("write", rate)) => rated.write_bytes_per_second = Some(amount(rate, &RATES)?),
                Some(("reads", count)) => rated.reads_per_second = Some(amount(count, &COUNTS)?),
                Some(("writes", count)) => rated.writes_per_second = Some(amount(count, &COUNTS)?),
                Some(("buffer", size)) => rated.buffer_bytes = Some(amount(size, &SIZES)?),
                _ => return Err(EXPECTED.to_owned()),
            }
        }
        Ok(rated)
    }
}

impl fmt::Display for RatedDisk {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        use crate::quantities::{self, value};
        use crate::quantity::Unit;
        let part = |name: &str, unit, amount: Option<f64>| Some(format!("{name} {}", value(unit, amount?)));
        let count = |name: &str, count: Option<f64>| {
            Some(format!("{} {name} at random places a second", quantities::count(count? as usize)))
        };
        let parts = [
            part("seek", Unit::Nanoseconds, self.seek_ns),
            part("transfer", Unit::BytesPerSecond, self.transfer_bytes_per_second),
            part("write", Unit::BytesPerSecond, self.write_bytes_per_second),
            count("reads", self.reads_per_second),
            count("writes", self.writes_per_second),
            part("buffer", Unit::Bytes, self.buffer_bytes),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
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
        let rated: RatedDisk = "write=955MB/s,reads=380k,writes=330000".parse().unwrap();
        assert_eq!((rated.reads_per_second, rated.writes_per_second), (Some(380e3), Some(330e3)));
        assert_eq!(rated.write_bytes_per_second, Some(955e6));
        let said = rated.to_string();
        assert!(
            said.starts_with("write 955 MB/s, 380") && said.ends_with("writes at random places a second"),
            "{said}"
        );
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
            "reads=380kB/s",
            "writes=",
        ] {
            assert!(wrong.parse::<RatedDisk>().is_err(), "{wrong}");
        }
    }
}
