//! `stress-ng`, a load generator that counts its operations.

use super::opinion::{Opinion, OtherTool, before};
use super::perf_bench::SWITCH_PROCESSES;
use crate::prelude::{Name, Selector};

static TOOL: OtherTool = OtherTool { name: "stress-ng", program: "stress-ng", package: "stress-ng" };

pub(super) const OPINIONS: &[Opinion] = &[
    Opinion {
        operation: "switch between processes, by pipes",
        points: SWITCH_PROCESSES,
        command: "stress-ng --stdout --switch 1 --switch-method pipe --timeout 1 --metrics-brief",
        read: |output| before(output, "nanosecs"),
        counts: 2.0,
        otherwise: "its switch is two switches: the kernel counts 2.0 for each (`perf stat -e context-switches`)",
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "thread, to its first instruction",
        points: Selector::of(
            "cpu/thread_creation",
            &[("measure", Name("to first instruction")), ("placement", Name("one-cpu"))],
        ),
        command: "stress-ng --stdout --pthread 1 --pthread-max 1 --timeout 1 --metrics-brief",
        read: |output| before(output, "nanosecs"),
        otherwise: "on one CPU a thread starts when its creator waits, and the creator does other work before that",
        ..Opinion::by(&TOOL)
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_own_figure_is_read_and_not_its_bogus_operations() {
        let said = "stress-ng: metrc: [14945] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s\n\
                    stress-ng: metrc: [14945]                           (secs)    (secs)    (secs)   (real time) (usr+sys time)\n\
                    stress-ng: metrc: [14945] switch           224174      1.01      0.04      0.42    221445.41      488442.27\n\
                    stress-ng: metrc: [14945] miscellaneous metrics:\n\
                    stress-ng: metrc: [14945] switch              4405.93 nanosecs per context switch (pipe method) (geometic mean of 1 \
                    instances)\n";
        assert_eq!((OPINIONS[0].read)(said), Some(4405.93));
        let said = "stress-ng: metrc: [15745] pthread            17499.26 nanosecs to start a pthread (geometic mean of 1 instances)\n\
                    stress-ng: metrc: [15745] pthread              100.00 % of 1 pthreads created (geometic mean of 1 instances)\n";
        assert_eq!((OPINIONS[1].read)(said), Some(17499.26));
    }
}
