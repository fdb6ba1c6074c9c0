//! `iperf3`.

use super::opinion::{Opinion, OtherTool, ToolServer};
use crate::prelude::{Name, Number, Selector};
use serde_json::Value;

static TOOL: OtherTool = OtherTool { name: "iperf3", program: "iperf3", package: "iperf3" };

/// The point of a stream over loopback, which `qperf` measures too.
pub(super) const STREAM: Selector = Selector::of(
    "network/bandwidth",
    &[
        ("transport", Name("TCP")),
        ("path", Name("loopback")),
        ("direction", Name("send")),
        ("chunk", Number(131_072)),
        ("streams", Number(1)),
        ("figure", Name("steady")),
        ("placement", Name("across-cpus")),
    ],
);

pub(super) const OPINIONS: &[Opinion] = &[Opinion {
    operation: "bytes by TCP over loopback",
    points: STREAM,
    command: "iperf3 -J -c 127.0.0.1 -p {port} -t 1 -l 128K",
    server: ToolServer::on_loopback("iperf3 -s -1 -B 127.0.0.1 -p {port}"),
    read: received,
    otherwise: "its mean includes the beginning of each transfer, and its timers wake it ten times a second",
    ..Opinion::by(&TOOL)
}];

/// Bytes per second, as the receiver counts them.
fn received(output: &str) -> Option<f64> {
    let json: Value = serde_json::from_str(output).ok()?;
    Some(json["end"]["sum_received"]["bits_per_second"].as_f64()? / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_received_counts() {
        let said = r#"{"start": {}, "end": {"sum_sent": {"bytes": 634388480, "bits_per_second": 2534530225.44},
            "sum_received": {"start": 0, "end": 2.010376, "bytes": 630456320, "bits_per_second": 2508809576.0}}}"#;
        assert_eq!(received(said), Some(313_601_197.0));
        assert_eq!(received(r#"{"error": "unable to connect to server"}"#), None);
    }
}
