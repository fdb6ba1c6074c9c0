//! `qperf`, whose server listens at every address.

use super::iperf3::STREAM;
use super::opinion::{Opinion, OtherTool, ToolServer, behind};
use super::sockperf::{TCP, UDP};

static TOOL: OtherTool = OtherTool { name: "qperf", program: "qperf", package: "qperf" };

const SERVER: Option<ToolServer> = Some(ToolServer { command: "qperf -lp {port}", listens_everywhere: true });

pub(super) const OPINIONS: &[Opinion] = &[
    Opinion {
        operation: "round trip by TCP over loopback",
        points: TCP,
        command: "qperf -lp {port} -t 1 -m 56 -uu 127.0.0.1 tcp_lat",
        server: SERVER,
        read: there_and_back,
        otherwise: MEAN,
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "round trip by UDP over loopback",
        points: UDP,
        command: "qperf -lp {port} -t 1 -m 56 -uu 127.0.0.1 udp_lat",
        server: SERVER,
        read: there_and_back,
        otherwise: MEAN,
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "bytes by TCP over loopback",
        points: STREAM,
        command: "qperf -lp {port} -t 1 -m 128K -uu 127.0.0.1 tcp_bw",
        server: SERVER,
        read: |output| behind(output, " bw "),
        otherwise: "it chooses its socket buffers instead of leaving them to the kernel, and includes the beginning \
                    of each transfer",
        ..Opinion::by(&TOOL)
    },
];

const MEAN: &str =
    "it reports the mean, which includes every interruption of a second; Fathom reports the median";

/// The round trip in nanoseconds; the tool prints half of it.
fn there_and_back(output: &str) -> Option<f64> {
    Some(behind(output, "latency")? * 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_units_are_read() {
        assert_eq!(there_and_back("tcp_lat:\n    latency  =  30994 ns\n"), Some(61988.0));
        assert_eq!((OPINIONS[2].read)("tcp_bw:\n    bw  =  2709258240 bytes/sec\n"), Some(2_709_258_240.0));
    }
}
