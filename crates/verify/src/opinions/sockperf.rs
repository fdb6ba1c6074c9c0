//! `sockperf ping-pong`.

use super::opinion::{Opinion, OtherTool, ToolServer, ToolStatistic, behind};
use crate::prelude::{At, Name, Number, Selector};

static TOOL: OtherTool = OtherTool { name: "sockperf", program: "sockperf", package: "sockperf" };

/// The points of a round trip of 56 bytes over loopback, which `qperf` measures too.
pub(super) const TCP: Selector = Selector::of("network/round_trip", &round_trip("TCP"));
pub(super) const UDP: Selector = Selector::of("network/round_trip", &round_trip("UDP"));

const fn round_trip(transport: &'static str) -> [(&'static str, At); 5] {
    [
        ("transport", Name(transport)),
        ("path", Name("loopback")),
        ("payload", Number(56)),
        ("loop", Name("closed")),
        ("placement", Name("across-cpus")),
    ]
}

pub(super) const OPINIONS: &[Opinion] = &[
    Opinion {
        operation: "round trip by TCP over loopback",
        points: TCP,
        command: "sockperf ping-pong --tcp -i 127.0.0.1 -p {port} -t 1 -m 56",
        server: ToolServer::on_loopback("sockperf server --tcp -i 127.0.0.1 -p {port}"),
        ..PING_PONG
    },
    Opinion {
        operation: "round trip by UDP over loopback",
        points: UDP,
        command: "sockperf ping-pong -i 127.0.0.1 -p {port} -t 1 -m 56",
        server: ToolServer::on_loopback("sockperf server -i 127.0.0.1 -p {port}"),
        ..PING_PONG
    },
];

const PING_PONG: Opinion = Opinion {
    read: there_and_back,
    statistic: ToolStatistic::Median,
    otherwise: "how soon an idle CPU wakes depends on its recent past, which differs between a second of its messages and \
                Fathom's trials",
    ..Opinion::by(&TOOL)
};

/// The median round trip; the tool prints half of each round trip, in microseconds.
fn there_and_back(output: &str) -> Option<f64> {
    Some(behind(output, "percentile 50.000")? * 1e3 * 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_median_is_half_of_a_round_trip() {
        let said = "sockperf: Summary: Latency is 12.887 usec\nsockperf: Total 59966 observations; each percentile contains 599.66 \
                    observations\nsockperf: ---> <MAX> observation = 8003.845\nsockperf: ---> percentile 90.000 =    2.929\n\
                    sockperf: ---> percentile 75.000 =    2.893\nsockperf: ---> percentile 50.000 =    2.838\n\
                    sockperf: ---> percentile 25.000 =    2.796\nsockperf: ---> <MIN> observation =    2.286\n";
        assert_eq!(there_and_back(said), Some(5676.0));
    }
}
