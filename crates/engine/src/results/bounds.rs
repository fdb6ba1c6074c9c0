//! Orders between figures: one figure cannot exceed another that contains all of it. If their intervals show without doubt
//! that it does, neither is a value, because one of the two is not what its name says.
//!
//! The limits of a single figure (a cost below zero or below the instructions that it takes, a rate above what a core can
//! move, a difference that the clock does not resolve) are judged with its own trials (`outcome.rs`, `Experiment::bound`).

use super::PointResult;
use fathom_core::experiment::At::{self, Any, Cache, Memory, Name, Number};
use fathom_core::experiment::{Bound, Dimension, Found, Known, Placement, Point, Selector};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;

/// Two figures of which the first never exceeds the second.
#[derive(Debug)]
pub struct Order {
    /// The lower figure, in words.
    pub less: &'static str,
    lower: Side,
    /// The upper figure, in words.
    pub more: &'static str,
    upper: Side,
    /// The reason for the order.
    pub because: &'static str,
}

/// One figure of an order.
#[derive(Debug)]
enum Side {
    /// The figure of the point selected; the greatest if there are several points.
    At(Selector),
    /// A multiple of that figure.
    Share(f64, Selector),
    /// The rate of the adapter that leads to the peer, if it is a real one.
    Link,
}

const CALL: Selector =
    Selector::only("cpu/procedure_call", &[("form", Name("abi")), ("arguments", Number(0))]);
const GETPPID: Selector = Selector::only("cpu/system_call", &[("call", Name("getppid"))]);
const SWITCH: Selector =
    Selector::only("cpu/context_switch", &[("between", Name("processes")), ("mechanism", Name("pipe"))]);
const THREAD: Selector = Selector::only("cpu/thread_creation", &[("measure", Name("create and join"))]);
const PROCESS: Selector = Selector::only("cpu/process_creation", &[("measure", Name("fork, exit, wait"))]);
const PROGRAM: Selector =
    Selector::only("cpu/process_creation", &[("measure", Name("fork and exec of a static program"))]);
const COPY: Selector = Selector::only(
    "memory/bandwidth",
    &[("kind", Name("copy")), ("method", Any), ("level", Any), ("size", Any)],
);
const LOOPBACK: Selector = Selector::only("network/bandwidth", &stream("loopback")).at(Placement::AcrossCpus);
const REMOTE: Selector = Selector::only("network/bandwidth", &stream("peer")).at(Placement::AcrossCpus);
const FIRST: Side = Side::At(Selector::only("memory/load_latency", &load(Cache(1))));
const SECOND: Side = Side::At(Selector::only("memory/load_latency", &load(Cache(2))));
const THIRD: Side = Side::At(Selector::only("memory/load_latency", &load(Cache(3))));
const MEMORY: Side = Side::At(Selector::only("memory/load_latency", &load(Memory)));
const CACHED: Side = Side::At(Selector::only("filesystem/read", &block("warm")));
const FETCHED: Side = Side::At(Selector::only("filesystem/read", &block("cold")));

const fn stream(path: &'static str) -> [(&'static str, At); 6] {
    [
        ("transport", Name("TCP")),
        ("path", Name(path)),
        ("figure", Name("steady")),
        ("streams", Number(1)),
        ("direction", Any),
        ("chunk", Any),
    ]
}

const fn load(size: At) -> [(&'static str, At); 3] {
    [("order", Name("random cycle")), ("pages", Name("huge")), ("size", size)]
}

const fn block(state: &'static str) -> [(&'static str, At); 5] {
    [
        ("call", Name("pread")),
        ("order", Name("random")),
        ("state", Name(state)),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
    ]
}

/// Every order.
pub static ORDERS: &[Order] = &[
    Order {
        less: "a load from the first cache",
        lower: FIRST,
        more: "one from the second",
        upper: SECOND,
        because: "a load asks the second cache after the first",
    },
    Order {
        less: "a load from the second cache",
        lower: SECOND,
        more: "one from the third",
        upper: THIRD,
        because: "a load asks the third cache after the second",
    },
    Order {
        less: "a load from the third cache",
        lower: THIRD,
        more: "one from memory",
        upper: MEMORY,
        because: "a load asks memory after the last cache",
    },
    Order {
        less: "a procedure call",
        lower: Side::At(CALL),
        more: "a system call",
        upper: Side::At(GETPPID),
        because: "a system call also calls and returns, and changes the privilege level as well",
    },
    Order {
        less: "a system call",
        lower: Side::At(GETPPID),
        more: "a switch between processes by a pipe",
        upper: Side::At(SWITCH),
        because: "a hand-over enters the kernel to write and again to read",
    },
    Order {
        less: "creating and joining a thread",
        lower: Side::At(THREAD),
        more: "fork, exit and wait",
        upper: Side::At(PROCESS),
        because: "a process is a thread with its own address space",
    },
    Order {
        less: "fork, exit and wait",
        lower: Side::At(PROCESS),
        more: "fork, exec of another program, exit and wait",
        upper: Side::At(PROGRAM),
        because: "exec replaces the program in the process that fork created",
    },
    Order {
        less: "the rate of one TCP stream over loopback",
        lower: Side::At(LOOPBACK),
        more: "the best copy rate of one core",
        upper: Side::Share(0.5, COPY),
        because: "the receiver copies every byte, and a copied byte is counted twice",
    },
    Order {
        less: "the rate of one TCP stream to or from the peer",
        lower: Side::At(REMOTE),
        more: "the rate of the adapter that leads to the peer",
        upper: Side::Link,
        because: "the payload goes through it, with its headers",
    },
    Order {
        less: "a random block from the page cache",
        lower: CACHED,
        more: "one from the device through it",
        upper: FETCHED,
        because: "a block that is not cached is fetched, and then copied like a cached one",
    },
];

/// The figure found for a side, and its place.
struct SideValue {
    at: Option<(&'static str, Point)>,
    value: Found,
}

impl Order {
    fn readings(&self, known: &Known) -> Option<[SideValue; 2]> {
        let [low, high] = [self.lower.reading(known)?, self.upper.reading(known)?];
        (low.value.interval.is_some() && high.value.interval.is_some()).then_some([low, high])
    }

    /// The points of both sides on this machine, whose experiments have the points `swept`; `None` unless each side is a
    /// single point.
    pub fn points(
        &self,
        machine: &Machine,
        swept: impl Fn(&str) -> Vec<Point>,
    ) -> Option<[(&'static str, Point); 2]> {
        Some([self.lower.point(machine, &swept)?, self.upper.point(machine, &swept)?])
    }

    /// The reason why neither figure is possible, with the end of the other's interval that it exceeds.
    fn broken(&self, [low, high]: &[SideValue; 2]) -> [Bound; 2] {
        let Order { less, more, because, .. } = self;
        let why = format!("{less} cannot be more than {more}, because {because}: one of the two is wrong");
        let bound = |limit: Option<f64>| Bound { limit: limit.unwrap_or_default(), because: why.clone() };
        [bound(high.value.interval.map(|ends| ends.high)), bound(low.value.interval.map(|ends| ends.low))]
    }
}

/// Whether one exceeds the other beyond doubt: their intervals do not overlap.
fn exceeds(low: &Found, high: &Found) -> bool {
    low.interval.zip(high.interval).is_some_and(|(low, high)| low.low > high.high)
}

impl Side {
    fn reading(&self, known: &Known) -> Option<SideValue> {
        match self {
            Side::At(points) => greatest(points, known),
            Side::Share(share, points) => {
                greatest(points, known).map(|most| SideValue { value: most.value.scaled(*share), ..most })
            }
            Side::Link => {
                let machine = known.machine;
                let way = machine.peer_route.as_ref().filter(|_| !machine.is_virtual())?;
                let (_, bits) = machine.adapter_of(Some(way))?;
                let bytes = Dimension::Of(Unit::BytesPerSecond);
                Some(SideValue { at: None, value: Found::exact(bits as f64 / 8.0, bytes) })
            }
        }
    }

    /// The point of this machine; `None` if no point or several are selected.
    fn point(&self, machine: &Machine, swept: impl Fn(&str) -> Vec<Point>) -> Option<(&'static str, Point)> {
        let Side::At(points) = self else { return None };
        match points.among(&swept(points.experiment), machine)[..] {
            [point] => Some((points.experiment, point.clone())),
            _ => None,
        }
    }
}

fn greatest(points: &Selector, known: &Known) -> Option<SideValue> {
    let (point, value) = points.greatest(known)?;
    Some(SideValue { at: Some((points.experiment, point.clone())), value })
}

/// Marks both figures of each order that is broken beyond doubt as implausible; whether there was any.
pub(super) fn mark(points: &mut [PointResult], known: &Known) -> bool {
    let mut any = false;
    for order in ORDERS {
        let Some(readings) = order.readings(known) else { continue };
        if !exceeds(&readings[0].value, &readings[1].value) {
            continue;
        }
        for (reading, bound) in readings.iter().zip(order.broken(&readings)) {
            let Some((experiment, point)) = &reading.at else { continue };
            let is_it =
                |result: &&mut PointResult| result.experiment == *experiment && result.point == *point;
            if let Some(result) = points.iter_mut().find(is_it) {
                any |= result.outcome.break_a_bound(bound);
            }
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::Plant as _;
    use fathom_core::experiment::registry;
    use fathom_core::experiment::{Parameter, PointSettings};
    use fathom_core::statistics::{Interval, Measured};

    fn swept(name: &str, machine: &Machine) -> Vec<Point> {
        registry::find(name).unwrap().sweep(machine)
    }

    fn learn(known: &mut Known, at: &(&'static str, Point), value: f64, half_width: f64) {
        let interval = Some(Interval { low: value - half_width, high: value + half_width });
        let value = Found::measured(Measured { value, interval }, Dimension::Of(Unit::Nanoseconds));
        known.learn(at.0, &at.1, value);
    }

    /// Whether the known figures keep the order; `None` if a figure or its interval is missing.
    fn is_kept(order: &Order, known: &Known) -> Option<bool> {
        order.readings(known).map(|[low, high]| !exceeds(&low.value, &high.value))
    }

    #[test]
    fn an_order_is_broken_where_the_intervals_exclude_it_alone() {
        let machine = crate::results::planted::machine();
        let mut judged = 0;
        for order in ORDERS {
            let Some([lower, upper]) = order.points(&machine, |name| swept(name, &machine)) else { continue };
            let kept = |less: f64, more: f64, half_width: f64| {
                let mut known = Known::new(&machine, None);
                learn(&mut known, &lower, less, half_width);
                learn(&mut known, &upper, more, half_width);
                is_kept(order, &known)
            };
            assert_eq!(kept(10.0, 20.0, 1.0), Some(true), "{}", order.less);
            assert_eq!(kept(20.0, 10.0, 1.0), Some(false), "{}", order.less);
            assert_eq!(kept(20.0, 10.0, 6.0), Some(true), "the intervals meet: {}", order.less);
            assert_eq!(is_kept(order, &Known::new(&machine, None)), None);
            judged += 1;
        }
        assert!(judged >= 6, "only {judged} orders are about two points of this machine");
    }

    #[test]
    fn a_level_is_told_by_an_array_well_inside_of_it() {
        const SIZE: Parameter = Parameter::bytes("size", "");
        let machine = crate::results::planted::machine();
        let point = |size: u64| Point::new().with(&SIZE, size);
        let sizes = [8 << 10, 32 << 10, 128 << 10, 2 << 20, 16 << 20, 32 << 20, 256 << 20];
        let size = |size: At, sizes: &[u64]| {
            let points: Vec<Point> = sizes.iter().map(|size| point(*size)).collect();
            let mut left = points.iter().collect();
            PointSettings(Vec::leak(vec![("size", size)])).narrow(&mut left, Some(&machine), &[]);
            left.first()?.number_of("size")
        };
        assert_eq!(size(Cache(1), &sizes), Some(8 << 10));
        assert_eq!(size(Cache(2), &sizes), Some(128 << 10));
        assert_eq!(size(Cache(3), &sizes), Some(2 << 20));
        assert_eq!(size(Memory, &sizes), Some(256 << 20));
        assert_eq!(size(Memory, &sizes[..6]), None, "32 MiB may lie in the last cache");
        assert_eq!(size(Cache(4), &sizes), None);
    }

    #[test]
    fn the_best_copy_limits_loopback_and_each_of_its_bytes_counts_twice() {
        let machine = crate::results::planted::machine();
        let order = ORDERS.iter().find(|order| order.less.contains("loopback")).unwrap();
        let kept = |loopback: f64| {
            let mut known = Known::new(&machine, None);
            let sizes = [("direction", "send".into()), ("chunk", 131_072.into())];
            LOOPBACK.plant_at(&mut known, &sizes, loopback);
            for (method, rate) in [("memcpy", 10e9), ("word loop", 20e9)] {
                let free = [("method", method.into()), ("level", "L1".into()), ("size", 24_576.into())];
                COPY.plant_at(&mut known, &free, rate);
            }
            is_kept(order, &known)
        };
        assert_eq!(kept(9e9), Some(true));
        assert_eq!(kept(11e9), Some(false));
    }
}
