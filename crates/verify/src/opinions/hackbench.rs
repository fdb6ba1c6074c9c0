//! `hackbench`, the scheduler's benchmark, with one sender and one receiver.

use super::opinion::{Opinion, OtherTool, behind};
use crate::prelude::{Name, Number, Selector};

static TOOL: OtherTool = OtherTool { name: "hackbench", program: "hackbench", package: "rt-tests" };

/// Bytes moved by a run, according to its command line.
const MOVED: f64 = 200_000.0 * 4096.0;

pub(super) const OPINIONS: &[Opinion] = &[Opinion {
    operation: "bytes through a pipe, by 4 KiB",
    points: Selector::of(
        "network/bandwidth",
        &[
            ("transport", Name("pipe")),
            ("path", Name("within")),
            ("chunk", Number(4096)),
            ("streams", Number(1)),
            ("figure", Name("steady")),
            ("placement", Name("across-cpus")),
        ],
    ),
    command: "hackbench -p -g 1 -f 1 -s 4096 -l 200000",
    read: |output| Some(MOVED / behind(output, "Time:")?),
    otherwise: "its two processes run where the scheduler puts them, and may share a CPU for a while",
    ..Opinion::by(&TOOL)
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_moved_is_divided_by_the_time() {
        let said = "Running in process mode with 1 groups using 2 file descriptors each (== 2 tasks)\n\
                    Each sender will pass 200000 messages of 4096 bytes\nTime: 0.289\n";
        assert_eq!((OPINIONS[0].read)(said), Some(MOVED / 0.289));
        assert!(OPINIONS[0].command.contains("-s 4096 -l 200000"), "as the command line says");
    }
}
