//! What the kernel's counters and a sleeping thread say of the time in which the work went on, compared with the seconds before
//! it.
//!
//! These have no trials: a rate over the whole of the work is compared with the rates in the slices before it, of about a second
//! each. It moved where it exceeds the largest of them by more than its margin, and held still where it differs from their mean by
//! no more than that. In between nothing can be said: what varies from second to second hides it. CPU time of other programs has
//! moved as well where it fell below the smallest; what else fell may have done so because the work wanted less than the anchors.
//!
//! Pressure (tasks that wait for a CPU or a device) does not say who made them wait, and work with more threads than CPUs, or one that
//! reads a file, makes itself wait. So it is a dimension only where it held still, or where the work cannot have been the cause: of
//! waiting for CPUs where other programs ran, of waiting for devices where the work read and wrote nothing. A host that is short of
//! memory moved, whoever made it so.

use super::verdict::{ChangeScale, DimensionReading, HostDimension, Source, Verdict};
use fathom_core::quantities;
use fathom_core::sampling::HostSlice;
use fathom_core::statistics;

pub(super) const OTHERS: &str = "CPU time of other programs";
pub(super) const HYPERVISOR: &str = "CPU time that the hypervisor took";
pub(super) const QUOTA: &str = "stopped by a CPU quota";
pub(super) const GAPS: &str = "gaps of a sleeping thread";
pub(super) const TASKS_WAITED: &str = "tasks that waited for a CPU";
pub(super) const DEVICE_WAITED: &str = "tasks that waited for a device";
pub(super) const MEMORY_WAITED: &str = "tasks that waited for memory";
pub(super) const HIGHEST_FREQUENCY: &str = "highest frequency of a CPU";

/// The shortest work of which a share of time is known: the kernel counts CPU time in ticks of up to 10 ms.
const SHORTEST_S: f64 = 0.5;

/// A share of time.
struct WatchedCondition {
    name: &'static str,
    /// The increase from which it matters, in points.
    margin: f64,
    /// The seconds of a slice that count.
    seconds: fn(&HostSlice) -> Option<f64>,
    /// Whether others than the work made it rise, as far as these slices show; `None` where that does not matter.
    by_others: Option<fn(&[HostSlice]) -> bool>,
    /// Whether a fall is the host's too, and not of work that wants less than the anchors did.
    both_ways: bool,
}

impl WatchedCondition {
    const fn of(name: &'static str, margin: f64, seconds: fn(&HostSlice) -> Option<f64>) -> Self {
        WatchedCondition { name, margin, seconds, by_others: None, both_ways: false }
    }

    const fn only_by(self, others: fn(&[HostSlice]) -> bool) -> Self {
        WatchedCondition { by_others: Some(others), ..self }
    }

    const fn both_ways(self) -> Self {
        WatchedCondition { both_ways: true, ..self }
    }
}

/// Each as seconds per second: 1 is one CPU, or all of the time.
const CONDITIONS: [WatchedCondition; 7] = [
    WatchedCondition::of(OTHERS, 0.10, others_s).both_ways(),
    WatchedCondition::of(HYPERVISOR, 0.05, |slice| slice.steal_s),
    WatchedCondition::of(QUOTA, 0.02, |slice| slice.throttled_s),
    WatchedCondition::of(GAPS, 0.02, |slice| Some(slice.late_s)),
    WatchedCondition::of(TASKS_WAITED, 0.10, |slice| slice.cpu_pressure_s).only_by(others_ran),
    WatchedCondition::of(DEVICE_WAITED, 0.10, |slice| slice.io_pressure_s).only_by(only_others_used_devices),
    WatchedCondition::of(MEMORY_WAITED, 0.02, |slice| slice.memory_pressure_s),
];

fn others_s(slice: &HostSlice) -> Option<f64> {
    Some(slice.busy_s? - slice.own_s)
}

/// From this share of a CPU on other programs may have made the work wait.
const OTHERS_RAN: f64 = 0.05;

fn others_ran(during: &[HostSlice]) -> bool {
    rate(others_s, during).is_some_and(|rate| rate > OTHERS_RAN)
}

fn only_others_used_devices(during: &[HostSlice]) -> bool {
    during.iter().all(|slice| slice.own_blocks == 0)
}

/// The share of memory by which the page cache may change.
const MARGIN_OF_PAGE_CACHE: f64 = 0.05;

/// The change of the highest frequency of a CPU that matters, a share of one.
const MARGIN_OF_FREQUENCY: f64 = 0.10;

/// The dimensions that were watched while the work went on. Counters that this kernel does not have are no dimension.
pub(super) fn judged(before: &[HostSlice], during: &[HostSlice], memory: Option<u64>) -> Vec<HostDimension> {
    let mut dimensions: Vec<HostDimension> =
        CONDITIONS.iter().filter_map(|condition| dimension(condition, before, during)).collect();
    dimensions.extend(memory.and_then(|memory| page_cache(before, during, memory)));
    dimensions.extend(frequency(before, during));
    dimensions
}

/// A rate over slices; `None` where no slice has the counter.
fn rate(seconds: fn(&HostSlice) -> Option<f64>, slices: &[HostSlice]) -> Option<f64> {
    let known = || slices.iter().filter_map(|slice| Some((seconds(slice)?, slice.lasted_s)));
    let time: f64 = known().map(|(_, lasted)| lasted).sum();
    (time > 0.0).then(|| known().map(|(seconds, _)| seconds).sum::<f64>() / time)
}

/// A short slice at the end of a phase has large rates by chance.
fn whole(slices: &[HostSlice]) -> impl Iterator<Item = &HostSlice> {
    slices.iter().filter(|slice| slice.lasted_s >= SHORTEST_S)
}

fn dimension(
    condition: &WatchedCondition,
    before: &[HostSlice],
    during: &[HostSlice],
) -> Option<HostDimension> {
    let WatchedCondition { name, margin, seconds, by_others, .. } = condition;
    let (usual, meanwhile) = (rate(*seconds, before)?, rate(*seconds, during)?);
    let lasted: f64 = during.iter().map(|slice| slice.lasted_s).sum();
    let verdict = if lasted < SHORTEST_S {
        Verdict::CannotSay { reason: format!("the work lasted only {}", quantities::roughly(lasted)) }
    } else {
        let of_slice = |slice| rate(*seconds, std::slice::from_ref(slice));
        let rates: Vec<f64> = whole(before).filter_map(of_slice).collect();
        condition.verdict(&rates, usual, meanwhile)
    };
    let is_still = matches!(verdict, Verdict::HeldStill { .. });
    if !is_still && !by_others.is_none_or(|by_others| by_others(during)) {
        return None;
    }
    Some(watched(name, ChangeScale::Points, [usual, meanwhile], *margin, verdict))
}

impl WatchedCondition {
    /// The verdict on a rate meanwhile, by the usual one and by those of single seconds before.
    fn verdict(&self, rates: &[f64], usual: f64, meanwhile: f64) -> Verdict {
        let least = rates.iter().copied().fold(usual, f64::min);
        let most = rates.iter().copied().fold(usual, f64::max);
        let by = meanwhile - usual;
        let (rose, fell) = (meanwhile > most + self.margin, meanwhile < least - self.margin);
        if rose || fell && self.both_ways {
            Verdict::Moved { by, low: Some(meanwhile - most), high: Some(meanwhile - least) }
        } else if by.abs() <= self.margin {
            Verdict::HeldStill { within: by.abs() }
        } else if fell {
            Verdict::CannotSay {
                reason: "it fell, as it does where work wants less than the anchors".to_owned(),
            }
        } else {
            let [least, most, meanwhile] = [least, most, meanwhile].map(quantities::percent);
            Verdict::CannotSay {
                reason: format!("it was {meanwhile}, and in single seconds before {least} to {most}"),
            }
        }
    }
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
    let scale = ChangeScale::Points;
    Some(watched("page cache, share of memory", scale, [first, farthest], margin, verdict))
}

/// The share of a CPU from which a slice shows the frequency of one that works.
const WORKED: f64 = 0.5;

/// The highest frequency of a CPU, at the end of each second in which one worked: the median while the work went on, which must
/// leave what was seen before by more than its margin.
fn frequency(before: &[HostSlice], during: &[HostSlice]) -> Option<HostDimension> {
    let worked = |slice: &&HostSlice| slice.busy_s.is_some_and(|busy| busy >= WORKED * slice.lasted_s);
    let of = |slices| whole(slices).filter(worked).filter_map(|slice| slice.cpu_hz).collect::<Vec<f64>>();
    let (first, later) = (of(before), of(during));
    let (usual, meanwhile) = (statistics::median(&first)?, statistics::median(&later)?);
    let (least, most) =
        (first.iter().copied().fold(usual, f64::min), first.iter().copied().fold(usual, f64::max));
    let (by, margin) = (meanwhile / usual - 1.0, MARGIN_OF_FREQUENCY);
    let verdict = if meanwhile > most * (1.0 + margin) || meanwhile < least / (1.0 + margin) {
        Verdict::Moved { by, low: None, high: None }
    } else {
        Verdict::HeldStill { within: by.abs() }
    };
    Some(watched(HIGHEST_FREQUENCY, ChangeScale::Ratio, [usual, meanwhile], margin, verdict))
}

fn watched(name: &str, scale: ChangeScale, values: [f64; 2], margin: f64, verdict: Verdict) -> HostDimension {
    let reading = |value| Some(DimensionReading { value, low: None, high: None });
    HostDimension {
        name: name.to_owned(),
        source: Source::Meanwhile,
        scale,
        unit: None,
        readings: values.map(reading).to_vec(),
        margin,
        verdict,
        follows: None,
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
    fn what_varied_from_second_to_second_before_hides_a_change_and_is_not_said_to_hold_still() {
        let uneasy = [slice(0.9, 0.9), slice(1.9, 0.9)];
        let of_others = |during: HostSlice| {
            let all = judged(&uneasy, &[during], None);
            all.into_iter().find(|each| each.name == OTHERS).expect("the dimension").verdict
        };
        assert!(
            matches!(of_others(slice(1.8, 0.9)), Verdict::CannotSay { reason } if reason.contains("100 %"))
        );
        assert!(matches!(of_others(slice(1.4, 0.9)), Verdict::HeldStill { .. }));
    }

    #[test]
    fn other_programs_that_end_are_a_movement_and_a_quota_that_the_work_does_not_reach_is_none() {
        let beside = HostSlice { throttled_s: Some(0.4), ..slice(1.9, 0.9) };
        let alone = HostSlice { throttled_s: Some(0.0), ..slice(0.1, 0.1) };
        let judgement = judged(&[beside.clone(), beside], &[alone], None);
        assert_eq!(named(&judgement), [OTHERS]);
        assert!(matches!(judgement[0].verdict, Verdict::Moved { by, .. } if by < -0.9));
        let quota = judgement.iter().find(|each| each.name == QUOTA).expect("the dimension");
        assert!(
            matches!(&quota.verdict, Verdict::CannotSay { reason } if reason.contains("fell")),
            "{quota:?}"
        );
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
    fn pressure_is_named_only_where_the_work_cannot_have_caused_it() {
        let waited = |pressure: f64, slice: HostSlice| HostSlice {
            cpu_pressure_s: Some(pressure),
            io_pressure_s: Some(pressure),
            memory_pressure_s: Some(0.0),
            ..slice
        };
        let before = [waited(0.01, slice(0.9, 0.9)), waited(0.02, slice(0.9, 0.9))];
        let names = |during: HostSlice| -> Vec<String> {
            judged(&before, &[during], None).into_iter().map(|each| each.name).collect()
        };
        // Two threads of the work on one CPU, which reads a file: all of the waiting may be its own.
        let own = waited(0.9, HostSlice { own_blocks: 800, ..slice(1.0, 1.0) });
        assert!(
            names(own.clone()).iter().all(|name| !name.ends_with("a CPU") && !name.ends_with("a device"))
        );
        let other = waited(0.9, slice(1.9, 0.9));
        assert_eq!(
            named(&judged(&before, std::slice::from_ref(&other), None)),
            ["CPU time of other programs", "tasks that waited for a CPU", "tasks that waited for a device"]
        );
        let short_of_memory = HostSlice { memory_pressure_s: Some(0.2), ..own };
        assert_eq!(named(&judged(&before, &[short_of_memory], None)), ["tasks that waited for memory"]);
        let calm = waited(0.01, slice(0.9, 0.9));
        assert_eq!(names(calm).iter().filter(|name| name.starts_with("tasks")).count(), 3);
    }

    #[test]
    fn a_frequency_that_falls_is_named_and_that_of_idle_cpus_is_none() {
        let at = |hz: f64, busy: f64| HostSlice { cpu_hz: Some(hz), ..slice(busy, busy) };
        let before = [at(3.0e9, 1.0), at(3.2e9, 1.0), at(3.1e9, 1.0)];
        assert_eq!(named(&judged(&before, &[at(2.2e9, 1.0)], None)), ["highest frequency of a CPU"]);
        assert_eq!(named(&judged(&before, &[at(2.9e9, 1.0)], None)), [""; 0]);
        let idle = judged(&before, &[at(0.8e9, 0.1)], None);
        assert!(idle.iter().all(|each| each.name != "highest frequency of a CPU"), "{idle:?}");
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
