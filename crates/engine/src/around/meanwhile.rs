//! What the kernel's counters and a sleeping thread say of the time in which the work went on, compared with the seconds before
//! it.
//!
//! These have no trials: a rate over the whole of the work is compared with the largest of the rates in the slices before it, of
//! about a second each. It moved where it exceeds that by more than its margin. So what a host does all the time is no
//! movement, and what varies from second to second has to be exceeded.

use super::verdict::{ChangeScale, DimensionReading, HostDimension, Source, Verdict};
use fathom_core::quantities;
use fathom_core::sampling::HostSlice;

/// The shortest work of which a share of time is known: the kernel counts CPU time in ticks of up to 10 ms.
const SHORTEST_S: f64 = 0.5;

/// A share of time, or of memory.
struct WatchedCondition {
    name: &'static str,
    /// The increase from which it matters, in points.
    margin: f64,
    /// The seconds of a slice that count.
    seconds: fn(&HostSlice) -> Option<f64>,
}

/// Each as seconds per second: 1 is one CPU, or all of the time.
const CONDITIONS: [WatchedCondition; 4] = [
    WatchedCondition {
        name: "CPU time of other programs",
        margin: 0.10,
        seconds: |slice| Some(slice.busy_s? - slice.own_s),
    },
    WatchedCondition {
        name: "CPU time that the hypervisor took",
        margin: 0.05,
        seconds: |slice| slice.steal_s,
    },
    WatchedCondition { name: "stopped by a CPU quota", margin: 0.02, seconds: |slice| slice.throttled_s },
    WatchedCondition { name: "gaps of a sleeping thread", margin: 0.02, seconds: |slice| Some(slice.late_s) },
];

/// The share of memory by which the page cache may change.
const MARGIN_OF_PAGE_CACHE: f64 = 0.05;

/// The dimensions that were watched while the work went on. Counters that this kernel does not have are no dimension.
pub(super) fn judged(before: &[HostSlice], during: &[HostSlice], memory: Option<u64>) -> Vec<HostDimension> {
    let mut dimensions: Vec<HostDimension> =
        CONDITIONS.iter().filter_map(|condition| dimension(condition, before, during)).collect();
    dimensions.extend(memory.and_then(|memory| page_cache(before, during, memory)));
    dimensions
}

/// A rate over slices; `None` where no slice has the counter.
fn rate(condition: &WatchedCondition, slices: &[HostSlice]) -> Option<f64> {
    let known = || slices.iter().filter_map(|slice| Some(((condition.seconds)(slice)?, slice.lasted_s)));
    let time: f64 = known().map(|(_, lasted)| lasted).sum();
    (time > 0.0).then(|| known().map(|(seconds, _)| seconds).sum::<f64>() / time)
}

fn dimension(
    condition: &WatchedCondition,
    before: &[HostSlice],
    during: &[HostSlice],
) -> Option<HostDimension> {
    let (usual, meanwhile) = (rate(condition, before)?, rate(condition, during)?);
    // A short slice at the end of a phase has large rates by chance.
    let whole = before.iter().filter(|slice| slice.lasted_s >= SHORTEST_S);
    let most = whole.filter_map(|slice| rate(condition, std::slice::from_ref(slice))).fold(usual, f64::max);
    let margin = condition.margin;
    let lasted: f64 = during.iter().map(|slice| slice.lasted_s).sum();
    let by = meanwhile - usual;
    let verdict = if lasted < SHORTEST_S {
        Verdict::CannotSay { reason: format!("the work lasted only {}", quantities::roughly(lasted)) }
    } else if meanwhile > most + margin {
        Verdict::Moved { by, low: None, high: None }
    } else {
        Verdict::HeldStill { within: by.abs() }
    };
    Some(watched(condition.name, [usual, meanwhile], margin, verdict))
}

/// The page cache at the end of the first phase and during the work, as a share of memory: it changes where programs read and
/// write files, and with it what the next read costs.
fn page_cache(before: &[HostSlice], during: &[HostSlice], memory: u64) -> Option<HostDimension> {
    let share = |slice: &HostSlice| Some(slice.page_cache? as f64 / memory as f64);
    let first = share(before.last()?)?;
    let farthest = during.iter().filter_map(share);
    let farthest = farthest.max_by(|one, other| (one - first).abs().total_cmp(&(other - first).abs()))?;
    let (by, margin) = (farthest - first, MARGIN_OF_PAGE_CACHE);
    let verdict = if by.abs() > margin {
        Verdict::Moved { by, low: None, high: None }
    } else {
        Verdict::HeldStill { within: by.abs() }
    };
    Some(watched("page cache, share of memory", [first, farthest], margin, verdict))
}

fn watched(name: &str, values: [f64; 2], margin: f64, verdict: Verdict) -> HostDimension {
    let reading = |value| Some(DimensionReading { value, low: None, high: None });
    HostDimension {
        name: name.to_owned(),
        source: Source::Meanwhile,
        scale: ChangeScale::Points,
        unit: None,
        readings: values.map(reading).to_vec(),
        margin,
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(busy_s: f64, own_s: f64) -> HostSlice {
        HostSlice { lasted_s: 1.0, busy_s: Some(busy_s), own_s, page_cache: Some(10), ..HostSlice::default() }
    }

    fn named(dimensions: &[HostDimension]) -> Vec<&str> {
        dimensions.iter().filter(|each| each.moved()).map(|each| each.name.as_str()).collect()
    }

    #[test]
    fn the_work_itself_is_no_other_program_and_a_neighbour_is_one() {
        let before = [slice(0.9, 0.88), slice(0.95, 0.9), slice(0.9, 0.9)];
        let own = [slice(1.0, 0.0), slice(1.0, 1.98)];
        assert_eq!(named(&judged(&before, &own, Some(100))), [""; 0]);
        let neighbour = [slice(2.0, 0.0), slice(2.0, 1.98)];
        assert_eq!(named(&judged(&before, &neighbour, Some(100))), ["CPU time of other programs"]);
    }

    #[test]
    fn what_was_so_before_is_no_movement() {
        let busy = [slice(1.9, 0.9), slice(1.3, 0.9), slice(1.9, 0.9)];
        assert_eq!(named(&judged(&busy, &busy, Some(100))), [""; 0]);
    }

    #[test]
    fn a_quota_and_gaps_are_named_and_absent_counters_are_no_dimension() {
        let stopped = HostSlice { throttled_s: Some(0.5), ..slice(1.0, 0.9) };
        let before = [HostSlice { throttled_s: Some(0.0), ..slice(0.9, 0.9) }];
        assert_eq!(named(&judged(&before, &[stopped], Some(100))), ["stopped by a CPU quota"]);
        let late = HostSlice { late_s: 0.2, ..slice(0.9, 0.9) };
        let judgement = judged(&[slice(0.9, 0.9)], &[late], None);
        assert_eq!(named(&judgement), ["gaps of a sleeping thread"]);
        assert_eq!(judgement.len(), 2, "no steal, no quota, no size of memory");
    }

    #[test]
    fn a_page_cache_that_fills_and_empties_again_is_seen() {
        let full = HostSlice { page_cache: Some(60), ..slice(0.9, 0.9) };
        let during = [slice(0.9, 0.9), full, slice(0.9, 0.9)];
        let judgement = judged(&[slice(0.9, 0.9)], &during, Some(100));
        assert_eq!(named(&judgement), ["page cache, share of memory"]);
    }

    #[test]
    fn of_short_work_no_share_of_time_is_known() {
        let short = HostSlice { lasted_s: 0.1, ..slice(0.1, 0.0) };
        let judgement = judged(&[slice(0.9, 0.9)], &[short], None);
        assert!(judgement.iter().all(|each| matches!(each.verdict, Verdict::CannotSay { .. })));
    }
}
