//! Operations that several experiments measure.

use super::Agreement;

use crate::results::accuracy::CLOSE;
use crate::results::place::Place;
use fathom_core::experiment::{Found, Known, Placement, Statement, capitalize, statement};

/// One operation, and the points that measure it.
pub(super) struct Equal {
    what: &'static str,
    readings: &'static [Reading],
    /// What differs between the points, as an explanation if the figures differ.
    because: &'static str,
}

/// A point that measures the operation, the factor on its figure, and a word for the way of measuring.
struct Reading {
    place: Place,
    times: f64,
    how: &'static str,
}

const fn once(place: Place, how: &'static str) -> Reading {
    Reading { place, times: 1.0, how }
}

const SWITCH: Place = Place::of("cpu/context_switch", &[("between", "processes"), ("mechanism", "pipe")]);
const TURN: Place = Place::of("cpu/synchronisation", &[("mechanism", "pipe")]);
const MESSAGE: Place =
    Place::of("network/round_trip", &[("loop", "closed"), ("path", "within"), ("transport", "pipe")])
        .with(&[("payload", 1)]);
const TCP: &[(&str, &str)] =
    &[("direction", "send"), ("figure", "steady"), ("path", "loopback"), ("transport", "TCP")];
const TCP_RECEIVED: &[(&str, &str)] =
    &[("direction", "receive"), ("figure", "steady"), ("path", "loopback"), ("transport", "TCP")];
const USUAL_STREAM: &[(&str, u64)] = &[("chunk", 131_072), ("streams", 1)];
const BLOCK: &[(&str, u64)] = &[("block", 4096), ("file", 64 << 20)];

pub(super) const EQUAL: &[Equal] = &[
    Equal {
        what: "a pipe's hand-over on one CPU",
        readings: &[
            once(SWITCH, "switching"),
            once(TURN, "taking turns"),
            Reading { place: MESSAGE, times: 2.0, how: "half of a round trip" },
        ],
        because: "one experiment hands over a byte between two processes, another a message",
    },
    Equal {
        what: "a pipe's hand-over across CPUs",
        readings: &[
            once(SWITCH.at(Placement::AcrossCpus), "switching"),
            once(TURN.at(Placement::AcrossCpus), "taking turns"),
            Reading { place: MESSAGE.at(Placement::AcrossCpus), times: 2.0, how: "half of a round trip" },
        ],
        because: "how deeply the other CPU sleeps depends on the length of the previous turn",
    },
    Equal {
        what: "a load from memory",
        readings: &[
            once(
                Place::of("memory/memory_parallelism", &[("level", "memory"), ("pages", "huge")])
                    .with(&[("chases", 1)])
                    .any(&["size"]),
                "one chase",
            ),
            once(
                Place::of(
                    "memory/loaded_latency",
                    &[("figure", "latency"), ("level", "memory"), ("load", "nothing")],
                )
                .with(&[("delay", 0), ("load_threads", 0)])
                .any(&["size"])
                .at(Placement::Spread),
                "without load",
            ),
        ],
        because: "the arrays lie at different addresses, and the part of them in the shared cache varies",
    },
    Equal {
        what: "a child's first instruction after fork",
        readings: &[
            once(Place::of("cpu/process_creation", &[("measure", "fork to first instruction")]), "creating"),
            once(
                Place::of("cpu/context_switch", &[("between", "processes"), ("mechanism", "start of child")]),
                "switching",
            ),
        ],
        because: "both do the same work, in separate trials",
    },
    Equal {
        what: "the time from the library",
        readings: &[
            once(Place::of("cpu/system_call", &[("call", "clock_gettime by library")]), "as a call"),
            once(
                Place::of("cpu/timing_overhead", &[("measure", "cost"), ("reading", "monotonic by library")]),
                "as a clock",
            ),
        ],
        because: "the loops around the calls differ by fractions of a nanosecond",
    },
    Equal {
        what: "opening and closing a file",
        readings: &[
            once(Place::of("cpu/system_call", &[("call", "open and close")]), "as a system call"),
            once(
                Place::of("filesystem/metadata", &[("operation", "open and close")]),
                "in the measured folder",
            ),
        ],
        because: "the paths have different lengths, on different file systems",
    },
    Equal {
        what: "a random block of 4 KiB from the device",
        readings: &[
            once(
                Place::of("filesystem/read", &[("call", "pread"), ("order", "random"), ("state", "direct")])
                    .with(BLOCK),
                "pread",
            ),
            once(
                Place::of(
                    "filesystem/read",
                    &[
                        ("call", "io_uring"),
                        ("figure", "each request"),
                        ("order", "random"),
                        ("state", "direct"),
                    ],
                )
                .with(&[("block", 4096), ("file", 64 << 20), ("queue_depth", 1)]),
                "io_uring",
            ),
            once(
                Place::of("filesystem/contention", &[("figure", "each process"), ("pattern", "all random")])
                    .with(&[("file", 4_096_000), ("processes", 1)])
                    .at(Placement::Free),
                "one process of a fleet",
            ),
        ],
        because: "calls and placement differ; the scheduler may move the process of a fleet",
    },
    Equal {
        what: "a page of a cold file by a fault, without read-ahead",
        readings: &[
            once(Place::of("memory/major_fault", &[("access", "shuffled pages, no read-ahead")]), "faulting"),
            once(
                Place::of(
                    "filesystem/read",
                    &[("call", "mmap"), ("order", "random"), ("read_ahead", "off"), ("state", "cold")],
                )
                .with(BLOCK),
                "reading by mapping",
            ),
        ],
        because: "the mapped files have different sizes",
    },
    Equal {
        what: "TCP over loopback, sent and received",
        readings: &[
            once(Place::of("network/bandwidth", TCP).with(USUAL_STREAM).at(Placement::AcrossCpus), "sent"),
            once(
                Place::of("network/bandwidth", TCP_RECEIVED).with(USUAL_STREAM).at(Placement::AcrossCpus),
                "received",
            ),
        ],
        because: "both directions are the same work here; the state of congestion control or the use of the CPUs \
                  differed",
    },
];

impl Equal {
    /// The name of the check, its agreement, and the sentence; `None` with fewer than two intervals.
    pub(super) fn judge(&self, known: &Known) -> Option<(&'static str, Agreement, Statement)> {
        let found = |reading: &'static Reading| {
            let found = reading.place.found(known)?.scaled(1.0 / reading.times);
            found.interval.is_some().then_some((reading, found))
        };
        let all: Vec<(&Reading, Found)> = self.readings.iter().filter_map(found).collect();
        let by_value =
            |(_, one): &&(&Reading, Found), (_, two): &&(&Reading, Found)| one.value.total_cmp(&two.value);
        let ((_, least), (_, most)) = (all.iter().min_by(by_value)?, all.iter().max_by(by_value)?);
        let readings = all.iter().map(|(reading, found)| {
            let name = format!("{}, {}", self.what, reading.how);
            statement!(
                "{found} ({how}, {experiment})",
                found = found.named(&name),
                how = reading.how,
                experiment = reading.place.experiment()
            )
        });
        let readings = Statement::joined(readings, ", ").filter(|_| all.len() > 1)?;
        let apart = most.over(*least).named(&format!("{}, most over least", self.what));
        let (agreement, verdict) = if most.differs_from(least) == Some(false) {
            (Agreement::Agrees, statement!("their intervals agree"))
        } else {
            let far = most.value > CLOSE * least.value;
            let agreement = if far { Agreement::Contradicts } else { Agreement::Differs };
            (agreement, statement!("they differ {apart} times: {because}", apart, because = self.because))
        };
        Some((
            self.what,
            agreement,
            statement!("{what}: {readings}; {verdict}.", what = capitalize(self.what), readings, verdict),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::place::tests as planted;

    fn judged(values: [Option<f64>; 3]) -> Option<(Agreement, String)> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (reading, value) in EQUAL[0].readings.iter().zip(values) {
            if let Some(value) = value {
                reading.place.plant(&mut known, value);
            }
        }
        EQUAL[0].judge(&known).map(|(_, agreement, statement)| (agreement, statement.plain()))
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
            text.contains("{1005} (half of a round trip, network/round_trip); their intervals agree."),
            "{text}"
        );
    }

    #[test]
    fn one_that_is_not_says_how_far_and_why() {
        let (agreement, text) = judged([Some(1000.0), Some(1100.0), None]).expect("a check");
        assert!(
            agreement == Agreement::Differs && text.contains("they differ {1.1} times: one experiment hands"),
            "{text}"
        );
        assert_eq!(judged([Some(1000.0), Some(2080.0), None]).expect("a check").0, Agreement::Contradicts);
    }

    #[test]
    fn one_figure_alone_is_held_against_nothing() {
        assert_eq!(judged([Some(1000.0), None, None]), None);
    }

    #[test]
    fn every_reading_is_of_a_point_that_there_is() {
        let machine = planted::machine();
        for reading in EQUAL.iter().flat_map(|equal| equal.readings) {
            assert!(reading.place.stands(&machine), "no point is meant by {:?}", reading.place);
        }
    }
}
