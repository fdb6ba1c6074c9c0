//! Of the dimensions that moved, which can have moved the others.
//!
//! A CPU quota or a busy neighbour stops a thread in the middle of an operation, and another program leaves its own data in the
//! caches: every operation takes longer, and that is one event and not five. What can follow from a condition that moved as well is
//! said to, and is named behind it. It is not proved: the disk may have become slow by itself in the same seconds. So
//! it remains a dimension that moved, with its change and its interval.

use super::anchors::{FSYNC, PROCESSOR_TIME, READ};
use super::levels::{CORE_SHARED, CORE_WIDTH, FREQUENCY};
use super::meanwhile::{
    DEVICE_WAITED, GAPS, HIGHEST_FREQUENCY, HYPERVISOR, MEMORY_WAITED, OTHERS, QUOTA, TASKS_WAITED,
};
use super::verdict::{HostDimension, Source, Verdict};
use fathom_core::quantity::{Kind, Unit};
use std::cmp::Ordering;

/// What a condition can do to others.
struct Cause {
    name: &'static str,
    /// The conditions that rise with it.
    conditions: &'static [&'static str],
    /// The operations that take longer with it.
    operations: fn(&HostDimension) -> bool,
}

/// Those that stop a thread come first, the weightier ones before what they bring about.
const CAUSES: [Cause; 8] = [
    Cause { name: QUOTA, conditions: &[PROCESSOR_TIME, GAPS, TASKS_WAITED], operations: is_operation },
    Cause {
        name: OTHERS,
        conditions: &[PROCESSOR_TIME, GAPS, TASKS_WAITED, HYPERVISOR, MEMORY_WAITED],
        operations: is_operation,
    },
    Cause { name: HYPERVISOR, conditions: &[PROCESSOR_TIME, GAPS, TASKS_WAITED], operations: is_operation },
    Cause { name: DEVICE_WAITED, conditions: &[], operations: on_device },
    Cause { name: FREQUENCY, conditions: &[HIGHEST_FREQUENCY], operations: in_memory },
    Cause { name: HIGHEST_FREQUENCY, conditions: &[], operations: in_memory },
    Cause { name: CORE_SHARED, conditions: &[], operations: in_memory },
    Cause { name: CORE_WIDTH, conditions: &[], operations: in_memory },
];

fn on_device(dimension: &HostDimension) -> bool {
    [FSYNC, READ].contains(&dimension.name.as_str())
}

fn in_memory(dimension: &HostDimension) -> bool {
    is_operation(dimension) && !on_device(dimension)
}

/// An anchor with a unit is an operation of an experiment; what is known from the core's own readings has none.
fn is_operation(dimension: &HostDimension) -> bool {
    dimension.source == Source::Anchors && dimension.unit.is_some()
}

/// Which way a dimension went: greater where its condition weighs more on a program or its operation takes longer, less the other
/// way, equal where it did not move.
fn burden(dimension: &HostDimension) -> Ordering {
    let Verdict::Moved { by, .. } = dimension.verdict else { return Ordering::Equal };
    let went = by.total_cmp(&0.0);
    let more_is_better = dimension.unit.map(Unit::kind) == Some(Kind::Rate)
        || [PROCESSOR_TIME, FREQUENCY, HIGHEST_FREQUENCY].contains(&dimension.name.as_str());
    if more_is_better { went.reverse() } else { went }
}

/// Notes for each dimension that moved the one that can have moved it, in the same direction.
pub fn attributed(mut dimensions: Vec<HostDimension>) -> Vec<HostDimension> {
    let burdens: Vec<(String, Ordering)> =
        dimensions.iter().map(|dimension| (dimension.name.clone(), burden(dimension))).collect();
    let moved = |cause: &Cause, burden: Ordering| {
        burdens.iter().any(|(name, of_cause)| name == cause.name && *of_cause == burden)
    };
    for dimension in &mut dimensions {
        let cause = CAUSES.iter().find(|cause| {
            let can = cause.conditions.contains(&dimension.name.as_str()) || (cause.operations)(dimension);
            can && moved(cause, burden(dimension))
        });
        dimension.follows = cause.filter(|_| dimension.moved()).map(|cause| cause.name.to_owned());
    }
    dimensions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::around::verdict::ChangeScale;

    fn dimension(name: &str, unit: Option<Unit>, by: f64) -> HostDimension {
        let verdict = match by {
            0.0 => Verdict::HeldStill { within: 0.01 },
            by => Verdict::Moved { by, low: None, high: None },
        };
        HostDimension {
            name: name.to_owned(),
            source: Source::Anchors,
            scale: ChangeScale::Ratio,
            unit,
            readings: vec![],
            margin: 0.1,
            verdict,
            follows: None,
        }
    }

    fn time(name: &str, by: f64) -> HostDimension {
        dimension(name, Some(Unit::Nanoseconds), by)
    }

    fn condition(name: &str, by: f64) -> HostDimension {
        HostDimension { source: Source::Meanwhile, ..dimension(name, None, by) }
    }

    /// What each of them follows, in order.
    fn followed(dimensions: Vec<HostDimension>) -> Vec<Option<String>> {
        attributed(dimensions).into_iter().map(|dimension| dimension.follows).collect()
    }

    #[test]
    fn what_a_neighbour_slows_follows_from_it_and_the_neighbour_from_nothing() {
        let bandwidth = dimension("memory bandwidth", Some(Unit::BytesPerSecond), -0.3);
        let all = vec![
            condition(OTHERS, 1.2),
            dimension(PROCESSOR_TIME, None, -0.5),
            bandwidth,
            time("memory latency", 0.25),
            condition(HYPERVISOR, 0.06),
            time("system call", 0.0),
        ];
        let others = || Some(OTHERS.to_owned());
        assert_eq!(followed(all), [None, others(), others(), others(), others(), None]);
    }

    #[test]
    fn a_slow_disk_by_itself_follows_from_nothing_and_its_queue_explains_it() {
        assert_eq!(followed(vec![time(FSYNC, 3.0), time(READ, 2.0)]), [None, None]);
        let queue = followed(vec![time(FSYNC, 3.0), condition(DEVICE_WAITED, 0.4), time("L1 latency", 0.2)]);
        assert_eq!(queue, [Some(DEVICE_WAITED.to_owned()), None, None]);
    }

    #[test]
    fn what_became_faster_is_no_consequence_of_a_burden() {
        assert_eq!(followed(vec![condition(QUOTA, 0.4), time("system call", -0.2)]), [None, None]);
        let slower_clock = vec![dimension(FREQUENCY, None, -0.2), time("L1 latency", 0.25)];
        assert_eq!(followed(slower_clock), [None, Some(FREQUENCY.to_owned())]);
        let faster_clock = vec![dimension(FREQUENCY, None, 0.2), time("L1 latency", 0.25)];
        assert_eq!(followed(faster_clock), [None, None]);
    }
}
