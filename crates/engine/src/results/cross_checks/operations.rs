//! The operations that are measured more than once.

use super::equal::{Equal, EqualFigure};
use fathom_core::experiment::At::{self, Any, Name, Number};
use fathom_core::experiment::{Placement, Selector};

const fn once(points: Selector, how: &'static str) -> EqualFigure {
    EqualFigure { points, times: 1.0, how }
}

const fn across(reading: EqualFigure) -> EqualFigure {
    EqualFigure { points: reading.points.at(Placement::AcrossCpus), ..reading }
}

const fn switch(mechanism: &'static str) -> [(&'static str, At); 2] {
    [("between", Name("processes")), ("mechanism", Name(mechanism))]
}

const fn turn(mechanism: &'static str) -> [(&'static str, At); 1] {
    [("mechanism", Name(mechanism))]
}

const PIPE_SWITCH: EqualFigure = once(Selector::only("cpu/context_switch", &switch("pipe")), "switching");
/// A switch that is what a hand-over takes beyond its pipe.
/// What two experiments' ways of switching are compared as.
pub(super) const SWITCH: &str = "a switch between two processes on one CPU, less its pipe";
pub(super) const LESS_ITS_PIPE: EqualFigure =
    once(Selector::only("cpu/context_switch", &switch("pipe less its cost")), "two processes");
pub(super) const IN_A_RING: EqualFigure = once(
    Selector::only(
        "cpu/context_switch",
        &[
            ("between", Name("processes")),
            ("mechanism", Name("ring of pipes")),
            ("members", Number(2)),
            ("working_set", Number(0)),
        ],
    ),
    "a ring of two",
);
const PIPE_TURN: EqualFigure = once(Selector::only("cpu/synchronisation", &turn("pipe")), "taking turns");
const FUTEX_SWITCH: EqualFigure = once(Selector::only("cpu/context_switch", &switch("futex")), "switching");
const FUTEX_TURN: EqualFigure = once(Selector::only("cpu/synchronisation", &turn("futex")), "taking turns");
const EVENT_SWITCH: EqualFigure = once(Selector::only("cpu/context_switch", &switch("eventfd")), "switching");
const EVENT_TURN: EqualFigure = once(Selector::only("cpu/synchronisation", &turn("eventfd")), "taking turns");
const MESSAGE: EqualFigure = EqualFigure {
    points: Selector::only(
        "network/round_trip",
        &[
            ("loop", Name("closed")),
            ("path", Name("within")),
            ("transport", Name("pipe")),
            ("payload", Number(1)),
        ],
    ),
    times: 2.0,
    how: "half of a round trip",
};
/// What differs between hand-overs across CPUs.
const HOW_DEEPLY: &str = "how deeply the other CPU sleeps depends on the length of the previous turn";
const SENT: Selector = Selector::only("network/bandwidth", &usual_stream("send")).at(Placement::AcrossCpus);
const RECEIVED: Selector =
    Selector::only("network/bandwidth", &usual_stream("receive")).at(Placement::AcrossCpus);

const fn usual_stream(direction: &'static str) -> [(&'static str, At); 6] {
    [
        ("direction", Name(direction)),
        ("figure", Name("steady")),
        ("path", Name("loopback")),
        ("transport", Name("TCP")),
        ("chunk", Number(131_072)),
        ("streams", Number(1)),
    ]
}

pub(super) const EQUAL: &[Equal] = &[
    Equal {
        what: "a pipe's hand-over on one CPU",
        readings: &[PIPE_SWITCH, PIPE_TURN, MESSAGE],
        because: "the code around the hand-over of one byte",
    },
    Equal {
        what: "a pipe's hand-over across CPUs",
        readings: &[across(PIPE_SWITCH), across(PIPE_TURN), across(MESSAGE)],
        because: HOW_DEEPLY,
    },
    Equal {
        what: SWITCH,
        readings: &[LESS_ITS_PIPE, IN_A_RING],
        because: "the members of a ring run under SCHED_BATCH, and the cost of the pipes is subtracted as another loop measures it",
    },
    Equal {
        what: "a futex's hand-over across CPUs",
        readings: &[across(FUTEX_SWITCH), across(FUTEX_TURN)],
        because: HOW_DEEPLY,
    },
    Equal {
        what: "an event counter's hand-over across CPUs",
        readings: &[across(EVENT_SWITCH), across(EVENT_TURN)],
        because: HOW_DEEPLY,
    },
    Equal {
        what: "a load from memory",
        readings: &[
            once(
                Selector::only(
                    "memory/memory_parallelism",
                    &[
                        ("level", Name("memory")),
                        ("pages", Name("huge")),
                        ("chases", Number(1)),
                        ("size", Any),
                    ],
                ),
                "one chase",
            ),
            once(
                Selector::only(
                    "memory/loaded_latency",
                    &[
                        ("figure", Name("latency")),
                        ("level", Name("memory")),
                        ("load", Name("nothing")),
                        ("delay", Number(0)),
                        ("load_threads", Number(0)),
                        ("size", Any),
                    ],
                )
                .at(Placement::Spread),
                "without load",
            ),
            once(
                Selector::only(
                    "memory/load_latency",
                    &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Any)],
                ),
                "among arrays of all sizes",
            ),
        ],
        because: "the arrays lie at different addresses, and the part of them in the shared cache varies",
    },
    Equal {
        what: "a child's first instruction after fork",
        readings: &[
            once(
                Selector::only("cpu/process_creation", &[("measure", Name("fork to first instruction"))]),
                "creating",
            ),
            once(Selector::only("cpu/context_switch", &switch("start of child")), "switching"),
        ],
        because: "both do the same work, in separate trials",
    },
    Equal {
        what: "the time from the library",
        readings: &[
            once(
                Selector::only("cpu/system_call", &[("call", Name("clock_gettime by library"))]),
                "as a call",
            ),
            once(
                Selector::only(
                    "cpu/timing_overhead",
                    &[("measure", Name("cost")), ("reading", Name("monotonic by library"))],
                ),
                "as a clock",
            ),
        ],
        because: "the loops around the calls differ by fractions of a nanosecond",
    },
    Equal {
        what: "opening and closing a file",
        readings: &[
            once(Selector::only("cpu/system_call", &[("call", Name("open and close"))]), "as a system call"),
            once(
                Selector::only("filesystem/metadata", &[("operation", Name("open and close"))]),
                "in the measured folder",
            ),
        ],
        because: "the paths have different lengths, on different file systems",
    },
    Equal {
        what: "a random block of 4 KiB from the device",
        readings: &[
            once(
                Selector::only(
                    "filesystem/read",
                    &[
                        ("call", Name("pread")),
                        ("order", Name("random")),
                        ("state", Name("direct")),
                        ("block", Number(4096)),
                        ("file", Number(64 << 20)),
                    ],
                ),
                "pread",
            ),
            once(
                Selector::only(
                    "filesystem/read",
                    &[
                        ("call", Name("io_uring")),
                        ("figure", Name("each request")),
                        ("order", Name("random")),
                        ("state", Name("direct")),
                        ("block", Number(4096)),
                        ("file", Number(64 << 20)),
                        ("queue_depth", Number(1)),
                    ],
                ),
                "io_uring",
            ),
            once(
                Selector::only(
                    "filesystem/contention",
                    &[
                        ("figure", Name("each process")),
                        ("pattern", Name("all random")),
                        ("file", Number(4_096_000)),
                        ("processes", Number(1)),
                    ],
                )
                .at(Placement::Free),
                "one process of a fleet",
            ),
        ],
        because: "calls and placement differ; the scheduler may move the process of a fleet",
    },
    Equal {
        what: "a page of a cold file by a fault, without read-ahead",
        readings: &[
            once(
                Selector::only("memory/major_fault", &[("access", Name("shuffled pages, no read-ahead"))]),
                "faulting",
            ),
            once(
                Selector::only(
                    "filesystem/read",
                    &[
                        ("call", Name("mmap")),
                        ("order", Name("random")),
                        ("read_ahead", Name("off")),
                        ("state", Name("cold")),
                        ("block", Number(4096)),
                        ("file", Number(64 << 20)),
                    ],
                ),
                "reading by mapping",
            ),
        ],
        because: "the mapped files have different sizes",
    },
    Equal {
        what: "TCP over loopback, sent and received",
        readings: &[once(SENT, "sent"), once(RECEIVED, "received")],
        because: "both directions are the same work here; the state of congestion control or the use of the CPUs \
                  may have differed",
    },
    Equal {
        what: "reading memory by one core",
        readings: &[
            once(
                Selector::only(
                    "memory/bandwidth",
                    &[("kind", Name("read")), ("level", Name("memory")), ("method", Any), ("size", Any)],
                ),
                "whole passes",
            ),
            once(
                Selector::only(
                    "memory/parallel_bandwidth",
                    &[
                        ("kind", Name("read")),
                        ("level", Name("memory")),
                        ("threads", Number(1)),
                        ("method", Any),
                        ("size", Any),
                    ],
                )
                .at(Placement::Spread),
                "a fleet of one",
            ),
        ],
        because: "whole passes are timed by the thread that reads; a fleet counts its pieces of 64 KiB, and the thread that looks at \
                  the counts wakes on one of its CPUs",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Agreement;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Known;
    use serde_json::json;

    fn judged(values: [Option<f64>; 3]) -> Option<(Agreement, String)> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (reading, value) in EQUAL[0].readings.iter().zip(values) {
            if let Some(value) = value {
                reading.points.plant(&mut known, value);
            }
        }
        EQUAL[0].judge(&known).map(|judged| (judged.agreement, judged.statement.plain()))
    }

    #[test]
    fn a_hand_over_that_is_equal_everywhere_agrees() {
        let (agreement, text) = judged([Some(1000.0), Some(1010.0), Some(2010.0)]).expect("a check");
        assert_eq!(agreement, Agreement::Agrees, "{text}");
        assert!(
            text.starts_with(
                "A pipe's hand-over on one CPU: {1000} (switching, cpu/context_switch), {1010} ("
            )
        );
        assert!(
            text.contains("{1005} (half of a round trip, network/round_trip); their intervals overlap."),
            "{text}"
        );
    }

    #[test]
    fn one_that_is_not_says_how_far_and_why() {
        let (agreement, text) = judged([Some(1000.0), Some(1100.0), None]).expect("a check");
        assert!(
            agreement == Agreement::Differs
                && text.contains("they differ by a factor of {1.1}. What differs"),
            "{text}"
        );
        assert_eq!(judged([Some(1000.0), Some(2080.0), None]).expect("a check").0, Agreement::Contradicts);
    }

    /// Both are a switch less its pipe: 1.89 us between two processes and 2.45 us in a ring of two stood beside each other without a word.
    #[test]
    fn a_ring_of_two_is_held_against_two_processes() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        LESS_ITS_PIPE.points.plant(&mut known, 1890.0);
        IN_A_RING.points.plant(&mut known, 2450.0);
        let mut checks = EQUAL.iter().filter_map(|equal| equal.judge(&known));
        let check = checks.next().expect("a check");
        let text = check.statement.plain();
        assert_eq!(check.agreement, Agreement::Contradicts, "{text}");
        assert!(
            text.contains("{2450} (a ring of two, cpu/context_switch); they differ by a factor of {1.296"),
            "{text}"
        );
    }

    /// One reader by one method: in a fleet of one the loads are those of the stream, so that the two rates are of one thing.
    #[test]
    fn one_core_that_reads_by_the_same_method_is_held_against_itself() {
        let machine = planted::machine();
        let check = EQUAL.iter().find(|check| check.what == "reading memory by one core").expect("one");
        let [alone, in_a_fleet] = check.readings else { panic!("two readings") };
        let of = |method: &str, of_fleet: f64| {
            let mut known = Known::new(&machine, None);
            let free = |method: &str| [("method", json!(method)), ("size", json!(128 << 20))];
            alone.points.plant_at(&mut known, &free("sse"), 34e9);
            alone.points.plant_at(&mut known, &free("avx512"), 32.5e9);
            in_a_fleet.points.plant_at(&mut known, &free(method), of_fleet);
            check.judge(&known).map(|check| (check.agreement, check.statement.plain()))
        };
        let (agreement, text) = of("avx512", 29.9e9).expect("a check");
        assert!(
            agreement == Agreement::Differs && text.contains("they differ by a factor of {1.0"),
            "{text}"
        );
        assert_eq!(of("avx512", 32.4e9).expect("a check").0, Agreement::Agrees);
        assert_eq!(of("avx2", 29.9e9), None, "of another method");
    }

    #[test]
    fn one_figure_alone_is_held_against_nothing() {
        assert_eq!(judged([Some(1000.0), None, None]), None);
    }

    #[test]
    fn every_reading_is_of_a_point_that_there_is() {
        let machine = planted::machine();
        for reading in EQUAL.iter().flat_map(|equal| equal.readings) {
            assert!(reading.points.exist(&machine), "no point is meant by {:?}", reading.points);
        }
    }
}
