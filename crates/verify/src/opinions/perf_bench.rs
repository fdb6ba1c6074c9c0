//! `perf bench` of the kernel's own tools (tools/perf/bench).

use super::opinion::{Opinion, OtherTool, before};
use fathom_core::experiment::At::{Most, Name};
use fathom_core::experiment::Selector;

static TOOL: OtherTool = OtherTool { name: "perf bench", program: "perf", package: "linux-perf" };

pub(super) const OPINIONS: &[Opinion] = &[
    Opinion {
        operation: "getppid",
        points: Selector::of("cpu/system_call", &[("call", Name("getppid"))]),
        command: "perf bench syscall basic --loop 1000000",
        read: |output| Some(before(output, "usecs/op")? * 1e3),
        otherwise: "it reports a mean, which includes interruptions",
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "switch between processes, by pipes",
        points: SWITCH_PROCESSES,
        command: "perf bench sched pipe -l 20000",
        read: half_of_a_round_trip,
        otherwise: "it hands over four bytes, Fathom one, and it reports a mean, which includes interruptions",
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "switch between threads, by pipes",
        points: Selector::of(
            "cpu/context_switch",
            &[("mechanism", Name("pipe")), ("between", Name("threads")), ("placement", Name("one-cpu"))],
        ),
        command: "perf bench sched pipe -T -l 20000",
        read: half_of_a_round_trip,
        otherwise: "it hands over four bytes, Fathom one, and it reports a mean, which includes interruptions",
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "memcpy within L2",
        points: Selector::of(
            "memory/bandwidth",
            &[("kind", Name("copy")), ("method", Name("memcpy")), ("level", Name("L2"))],
        ),
        command: "perf bench mem memcpy -f default -s {half} -l 8000",
        read: copied,
        otherwise: "it uses base pages, Fathom huge pages",
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "memcpy in memory",
        points: super::mbw::MEMCPY,
        command: "perf bench mem memcpy -f default -s {half} -l 2",
        read: copied,
        otherwise: "it uses base pages, Fathom huge pages, and all its bytes are zero",
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "a thread woken by futex, the waking call",
        points: Selector::of(
            "cpu/spin_or_sleep",
            &[("way", Name("futex")), ("figure", Name("call")), ("length", Most)],
        ),
        command: "perf bench -r 20 futex wake -t 1 -w 1",
        read: |output| Some(before(&last_line_of(output, "Wokeup")?, "ms")? * 1e6),
        otherwise: "its threads are on any CPU and have slept for 100 ms; where the woken one preempts the waker, its end is counted too",
        ..Opinion::by(&TOOL)
    },
    Opinion {
        operation: "a waiter moved to another futex",
        points: Selector::of("cpu/spin_or_sleep", &[("way", Name("requeue")), ("figure", Name("call"))]),
        command: "perf bench -r 20 futex requeue -t 128",
        read: |output| Some(before(&last_line_of(output, "Requeued")?, "ms")? * 1e6 / REQUEUED),
        otherwise: "it moves 128 waiters at a stretch, the first of which takes as long as some others together: of one waiter, with \
                    `-t 1`, that is all it measures",
        ..Opinion::by(&TOOL)
    },
];

/// The waiters that it moves, one with each call.
const REQUEUED: f64 = 128.0;

/// The last line that begins with this word: a summary of several runs.
fn last_line_of(output: &str, word: &str) -> Option<String> {
    output.lines().rfind(|line| line.trim_start().starts_with(word)).map(str::to_owned)
}

/// The point of a switch between two processes, which `stress-ng` measures too.
pub(super) const SWITCH_PROCESSES: Selector = Selector::of(
    "cpu/context_switch",
    &[("mechanism", Name("pipe")), ("between", Name("processes")), ("placement", Name("one-cpu"))],
);

/// An operation of `sched pipe` is a round trip: two switches.
fn half_of_a_round_trip(output: &str) -> Option<f64> {
    Some(before(output, "usecs/op")? * 1e3 / 2.0)
}

/// Bytes copied per second, each read and written. Its GB is 2^30 bytes (`mem-functions.c`).
fn copied(output: &str) -> Option<f64> {
    let units = [("GB/sec", 30), ("MB/sec", 20), ("KB/sec", 10)];
    let (unit, power) = units.into_iter().find(|(unit, _)| output.contains(unit))?;
    Some(before(output, unit)? * f64::from(1 << power) * 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_a_call_or_a_round_trip() {
        let call = "# Running 'syscall/basic' benchmark:\n# Executed 1000000 getppid() calls\n     Total time: 0.382 [sec]\n\n\
                    \x20      0.382564 usecs/op\n        2613941 ops/sec\n";
        assert_eq!((OPINIONS[0].read)(call), Some(382.564));
        let pipe = "# Running 'sched/pipe' benchmark:\n# Executed 20000 pipe operations between two processes\n\n\
                    \x20    Total time: 0.255 [sec]\n\n      12.751750 usecs/op\n          78420 ops/sec\n";
        assert_eq!((OPINIONS[1].read)(pipe), Some(6375.875));
    }

    #[test]
    fn of_several_runs_of_a_wake_up_the_mean_counts() {
        let woken = "[Run 1]: Wokeup 1 of 1 threads in 0.0210 ms\n[Run 2]: Wokeup 1 of 1 threads in 0.0070 ms\n\
                     Wokeup 1 of 1 threads in 0.0140 ms (+-49.05%)\n";
        let opinion = OPINIONS.iter().find(|opinion| opinion.command.contains("futex wake"));
        assert_eq!(opinion.and_then(|opinion| (opinion.read)(woken)), Some(14_000.0));
    }

    #[test]
    fn of_waiters_that_are_moved_each_counts() {
        let moved = "[Run 1]: Requeued 128 of 128 threads in 0.0872 ms\nRequeued 128 of 128 threads in 0.0896 ms (+-3.09%)\n";
        let opinion = OPINIONS.iter().find(|opinion| opinion.command.contains("requeue"));
        assert_eq!(opinion.and_then(|opinion| (opinion.read)(moved)), Some(700.0));
    }

    #[test]
    fn a_copied_byte_counts_twice() {
        let said = |rate: &str| {
            format!(
                "# Running 'mem/memcpy' benchmark:\n# function 'default' (Default memcpy() provided by glibc)\n\
                     # Copying 16MB bytes ...\n\n       {rate}\n"
            )
        };
        assert_eq!(copied(&said("2.500000 GB/sec")), Some(5.0 * f64::from(1 << 30)));
        assert_eq!(copied(&said("913.5 MB/sec")), Some(1827.0 * f64::from(1 << 20)));
        assert_eq!(copied("# Copying 16MB bytes ...\n"), None);
    }
}
