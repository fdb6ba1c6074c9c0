//! Operations that several experiments measure.

use super::{Agreement, CrossCheck, Denial, OF_STATES, are_apart};
use crate::results::accuracy::CLOSE;
use fathom_core::experiment::At::{self, Any, Name, Number};
use fathom_core::experiment::{
    CoreUse, Found, Known, Placement, Point, Selector, Statement, capitalize, statement,
};

/// One operation, and the points that measure it.
pub(super) struct Equal {
    what: &'static str,
    readings: &'static [EqualFigure],
    /// What differs between the points, as an explanation if the figures differ.
    because: &'static str,
}

/// A point that measures the operation, the factor on its figure, and a word for the way of measuring.
#[derive(Clone, Copy)]
struct EqualFigure {
    points: Selector,
    times: f64,
    how: &'static str,
}

impl EqualFigure {
    /// The one selected point with its figure; of points of several sizes that of this size.
    fn of_size<'known>(&self, size: Option<u64>, known: &'known Known) -> Option<(&'known Point, Found)> {
        let is_of_it =
            |point: &Point| size.is_none() || point.number_of("size").is_none_or(|of| Some(of) == size);
        let mut of_size = self.points.all(known).into_iter().filter(|(point, _)| is_of_it(point));
        let one = of_size.next()?;
        of_size.next().is_none().then_some(one)
    }
}

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
];

impl Equal {
    /// The check; `None` with fewer than two intervals.
    pub(super) fn judge(&self, known: &Known) -> Option<CrossCheck> {
        let size = self.size(known);
        let figure = |reading: &'static EqualFigure| {
            let (point, measured) = reading.of_size(size, known)?;
            measured.interval.is_some().then_some((reading, point, measured))
        };
        let measured: Vec<(&'static EqualFigure, &Point, Found)> =
            self.readings.iter().filter_map(figure).collect();
        let of_one = |(reading, _, value): &(&'static EqualFigure, &Point, Found)| {
            (*reading, value.scaled(1.0 / reading.times))
        };
        let all: Vec<(&EqualFigure, Found)> = measured.iter().map(of_one).collect();
        let by_value = |(_, one): &&(&EqualFigure, Found), (_, two): &&(&EqualFigure, Found)| {
            one.value.total_cmp(&two.value)
        };
        let ((by_least, least), (by_most, most)) =
            (all.iter().min_by(by_value)?, all.iter().max_by(by_value)?);
        let readings = all.iter().map(|(reading, value)| {
            let name = format!("{}, {}", self.what, reading.how);
            statement!(
                "{value} ({how}, {experiment})",
                value = value.named(&name),
                how = reading.how,
                experiment = reading.points.experiment
            )
        });
        let readings = Statement::joined(readings, ", ").filter(|_| all.len() > 1)?;
        // That one is of a known state of the core and another of none is among what differs.
        let apart = Found { whatever_shared: None, ..most.over(*least) };
        let apart = apart.named(&format!("{}, most over least", self.what));
        let is_of_states = all.iter().any(|(_, value)| value.is_mixture);
        let agreement = if is_of_states { Agreement::Undecided } else { Self::agreement(least, most) };
        let verdict = if is_of_states {
            OF_STATES.into()
        } else if agreement == Agreement::Undecided {
            TOO_WIDE.into()
        } else if agreement == Agreement::Agrees {
            statement!("their intervals overlap")
        } else {
            statement!(
                "they differ by a factor of {apart}. What differs between them, not measured by itself: {because}{states}",
                apart,
                because = self.because,
                states = beside_unknown(all.iter().map(|(_, value)| value.core))
            )
        };
        let statement =
            statement!("{what}: {readings}; {verdict}.", what = capitalize(self.what), readings, verdict);
        let bare = |value: &Found, how| Found::bare(value.value, value.dimension).named(how);
        let brief = statement!(
            "{what}: {most} ({by_most}), {least} ({by_least})",
            what = self.what,
            most = bare(most, by_most.how),
            by_most = by_most.how,
            least = bare(least, by_least.how),
            by_least = by_least.how
        );
        let denials = match agreement {
            Agreement::Agrees | Agreement::Undecided => vec![],
            Agreement::Differs | Agreement::Contradicts => Denial::among(
                &measured
                    .iter()
                    .map(|(of, point, value)| (&of.points, *point, *value, of.times))
                    .collect::<Vec<_>>(),
            ),
        };
        Some(CrossCheck { what: self.what, agreement, statement, brief, denials })
    }

    /// The size of the arrays that are compared: that of the first reading which has one.
    fn size(&self, known: &Known) -> Option<u64> {
        self.readings.iter().find_map(|reading| match reading.points.all(known)[..] {
            [(point, _)] => point.number_of("size"),
            _ => None,
        })
    }

    /// Figures whose intervals overlap agree, unless these are so wide that nearly any two would; they contradict each other where the whole interval of their ratio is beyond a factor
    /// that different code around one operation explains.
    fn agreement(least: &Found, most: &Found) -> Agreement {
        if most.differs_from(least) == Some(false) {
            return if most.over(*least).tells() { Agreement::Agrees } else { Agreement::Undecided };
        }
        let is_far = most.over(*least).ends().is_some_and(|(low, _)| low > CLOSE);
        if is_far && are_apart(least, most) { Agreement::Contradicts } else { Agreement::Differs }
    }
}

/// What is said where of some figures the state of the core is known and of others it is whatever the core did.
fn beside_unknown(cores: impl Iterator<Item = Option<CoreUse>>) -> &'static str {
    let cores: Vec<Option<CoreUse>> = cores.collect();
    let (known, unknown) = (cores.iter().any(Option::is_some), cores.iter().any(Option::is_none));
    if known && unknown { OF_UNKNOWN } else { "" }
}

/// The words of that.
const OF_UNKNOWN: &str =
    "; and the state of the core, which is known of one part of these figures and not of the other";

/// What is said of intervals that overlap because they are wide.
const TOO_WIDE: &str = "their intervals overlap, and are so wide that they could hardly do otherwise, so this run does not decide it";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};

    #[test]
    fn wide_intervals_that_overlap_decide_nothing() {
        let of = |value, within| {
            fathom_described::found_within(within, value, fathom_core::quantity::Unit::Nanoseconds)
        };
        assert_eq!(Equal::agreement(&of(100.0, 0.1), &of(110.0, 0.1)), Agreement::Agrees);
        assert_eq!(Equal::agreement(&of(100.0, 0.7), &of(250.0, 0.7)), Agreement::Undecided);
    }

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

    #[test]
    fn figures_of_a_known_and_of_an_unknown_state_are_told_apart() {
        let alone = Some(CoreUse::Alone);
        assert_eq!(beside_unknown([alone, None].into_iter()), OF_UNKNOWN);
        assert_eq!(beside_unknown([alone, alone].into_iter()), "");
        assert_eq!(
            beside_unknown([None, None].into_iter()),
            "",
            "as on a machine whose core is never looked at"
        );
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
