//! `OpenMetrics` text: <https://prometheus.io/docs/specs/om/open_metrics_spec/>. Base units throughout (seconds, bytes, ratios), a family a
//! unit, each with the ends of its 95 % interval as families of their own.

use super::figures::figures;
use fathom_core::quantity::Unit;
use fathom_engine::results::{PointResult, Results};
use std::fmt::Write;

/// A family of metrics: its unit here, its name, its unit in the format, and the factor between the two.
struct MetricFamily {
    of: Unit,
    name: &'static str,
    unit: &'static str,
    scale: f64,
    help: &'static str,
}

const FAMILIES: [MetricFamily; 4] = [
    MetricFamily {
        of: Unit::Nanoseconds,
        name: "fathom_time",
        unit: "seconds",
        scale: 1e-9,
        help: "Median time of an operation",
    },
    MetricFamily {
        of: Unit::BytesPerSecond,
        name: "fathom_rate",
        unit: "bytes_per_second",
        scale: 1.0,
        help: "Median rate of an operation",
    },
    MetricFamily { of: Unit::Bytes, name: "fathom_size", unit: "bytes", scale: 1.0, help: "Median size" },
    MetricFamily {
        of: Unit::PartsPerMillion,
        name: "fathom_share",
        unit: "ratio",
        scale: 1e-6,
        help: "Median share of time",
    },
];

/// The parts of an estimate, each a family: the suffix of its name and of its help text.
const PARTS: [(&str, &str); 3] =
    [("", ""), ("_low", ", lower end of its 95 % interval"), ("_high", ", upper end of its 95 % interval")];

/// Every figure, and the start of the run.
pub(super) fn of(results: &Results) -> String {
    let mut text = String::new();
    for family in &FAMILIES {
        let mine: Vec<&PointResult> = figures(results).filter(|point| point.unit == family.of).collect();
        if mine.is_empty() {
            continue;
        }
        for (part, meaning) in PARTS {
            let name = format!("{}{part}_{}", family.name, family.unit);
            let _ = writeln!(
                text,
                "# TYPE {name} gauge\n# UNIT {name} {}\n# HELP {name} {}{meaning}.",
                family.unit, family.help
            );
            for point in &mine {
                if let Some(value) = number(point, part) {
                    let _ = writeln!(text, "{name}{{{}}} {}", labels(point), value * family.scale);
                }
            }
        }
    }
    if let Some(began) = seconds(&results.run.header.started) {
        let name = "fathom_run_started_timestamp_seconds";
        let _ = writeln!(
            text,
            "# TYPE {name} gauge\n# UNIT {name} seconds\n# HELP {name} When the run began, Unix time.\n{name} {began}"
        );
    }
    text + "# EOF\n"
}

fn number(point: &PointResult, part: &str) -> Option<f64> {
    let estimate = point.estimate()?;
    match part {
        "_low" => estimate.interval.map(|interval| interval.low),
        "_high" => estimate.interval.map(|interval| interval.high),
        _ => Some(estimate.value),
    }
}

/// `experiment="cpu/system_call",call="getppid"`: names of parameters become names of labels, with underscores for other
/// characters.
fn labels(point: &PointResult) -> String {
    let usable = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let setting = |(name, value): (&str, &fathom_core::experiment::Value)| {
        format!(",{}=\"{}\"", name.chars().map(usable).collect::<String>(), escaped(&value.to_string()))
    };
    let settings: String = point.point.parameters().map(setting).collect();
    format!("experiment=\"{}\"{settings}", escaped(&point.experiment))
}

fn escaped(text: &str) -> String {
    crate::clean(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// RFC 3339 time as Unix time.
fn seconds(time: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339_weak(time).ok()?;
    Some(time.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs())
}
