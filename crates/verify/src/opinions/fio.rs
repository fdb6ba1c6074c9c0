//! `fio`.

use super::opinion::{Opinion, OtherTool, ToolStatistic};
use crate::prelude::{At, Name, Number, Selector};
use serde_json::Value;

static TOOL: OtherTool = OtherTool { name: "fio", program: "fio", package: "fio" };

const DIRECT: &[(&str, At)] = &[
    ("state", Name("direct")),
    ("order", Name("random")),
    ("call", Name("pread")),
    ("block", Number(4096)),
    ("file", Number(67_108_864)),
];

const IN_FLIGHT: &[(&str, At)] = &[
    ("state", Name("direct")),
    ("order", Name("random")),
    ("call", Name("io_uring")),
    ("block", Number(4096)),
    ("file", Number(67_108_864)),
    ("queue_depth", Number(8)),
    ("figure", Name("between completions")),
];

pub(super) const OPINIONS: &[Opinion] = &[
    Opinion {
        operation: "random block of 4 KiB past the page cache",
        points: Selector::of("filesystem/read", DIRECT),
        command: "fio --output-format=json --name=blocks --thread --filename={file} --size=64m --rw=randread --bs=4k --direct=1 \
                  --ioengine=psync --runtime=1 --time_based",
        read: |output| read_of(output)?["clat_ns"]["percentile"]["50.000000"].as_f64(),
        statistic: ToolStatistic::Median,
        otherwise: "its percentiles are rounded up to a 64th of a power of two, and it reads another file",
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "random block of 4 KiB, eight in flight",
        points: Selector::of("filesystem/read", IN_FLIGHT),
        command: "fio --output-format=json --name=blocks --thread --filename={file} --size=64m --rw=randread --bs=4k --direct=1 \
                  --ioengine=io_uring --iodepth=8 --runtime=1 --time_based",
        read: |output| Some(1e9 / read_of(output)?["iops"].as_f64()?),
        otherwise: "it reports the requests completed per second, including every pause; Fathom reports the median \
                    time between two",
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "8 KiB appended to a file, and fdatasync",
        points: Selector::of(
            "filesystem/durable_append",
            &[("durability", Name("fdatasync")), ("block", Number(8192)), ("series", Name("short"))],
        ),
        command: "fio --output-format=json --name=log --thread --filename={file}-log --unlink=1 --rw=write --bs=8k --ioengine=psync \
                  --fallocate=none --fdatasync=1 --size=4g --runtime=1 --time_based",
        read: appended,
        statistic: ToolStatistic::Median,
        otherwise: "its percentiles are rounded up to a 64th of a power of two, and it adds the median write and the median flush",
        ..Opinion::by(&TOOL)
    },
];

/// The median of a write and that of the flush after it.
fn appended(output: &str) -> Option<f64> {
    let job = job_of(output)?;
    let median = |of: &Value| of["percentile"]["50.000000"].as_f64();
    Some(median(&job["write"]["clat_ns"])? + median(&job["sync"]["lat_ns"])?)
}

fn read_of(output: &str) -> Option<Value> {
    Some(job_of(output)?["read"].take()).filter(|read| read["total_ios"].as_u64() > Some(0))
}

fn job_of(output: &str) -> Option<Value> {
    let mut json: Value = serde_json::from_str(&output[output.find('{')?..]).ok()?;
    Some(json["jobs"][0].take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_append_is_a_write_and_its_flush() {
        let said = r#"{"jobs": [{"write": {"clat_ns": {"percentile": {"50.000000": 4704}}},
            "sync": {"total_ios": 0, "lat_ns": {"percentile": {"50.000000": 156672}}}}]}"#;
        assert_eq!(appended(said), Some(161_376.0));
        assert_eq!(appended(&said.replace("clat_ns", "lat_ns")), None);
    }

    #[test]
    fn the_median_and_the_rate_of_reads_are_found() {
        let said = r#"note: both iodepth >= 1 and synchronous I/O engine are selected
            {"fio version": "fio-3.33", "jobs": [{"jobname": "x", "error": 0,
            "read": {"iops": 8970.029970, "total_ios": 17958, "clat_ns": {"percentile": {"40.000000": 50432, "50.000000": 51456}}}}]}"#;
        assert_eq!((OPINIONS[0].read)(said), Some(51456.0));
        assert_eq!((OPINIONS[1].read)(said), Some(1e9 / 8_970.029_97));
        let none = said.replace("17958", "0");
        assert_eq!((OPINIONS[0].read)(&none), None);
    }
}
