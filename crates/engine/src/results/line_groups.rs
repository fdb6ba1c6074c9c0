//! Times of a cache line in groups that are apart: the distances at which a host has two virtual CPUs.

use fathom_core::sorting;

/// The ratio from which two distances are two: between cores of one cache it is smaller, and to those of another it is several.
const APART: f64 = 1.4;

/// A look belongs to a distance if at least this share of all looks, and three, are within the ratio [`NEAR`] of it; and it is a distance
/// if the CPUs were at it for this share of the time.
pub(super) const OFTEN: f64 = 0.005;
pub(super) const NEAR: f64 = 1.15;

/// The ratio of two neighbouring times between distances at which readings are times.
const BETWEEN: f64 = 1.05;

/// Whether two times of a line are of one distance.
pub(crate) fn is_same(one_ns: f64, other_ns: f64) -> bool {
    one_ns.max(other_ns) <= APART * one_ns.min(other_ns)
}

/// The groups of ascending readings that are apart: the least of each, its median, and its greatest. Each is around readings that are
/// frequent, with seldom ones between it and any other. Single readings, which something interrupted, belong to none.
pub(super) fn groups(ascending: &[f64]) -> Vec<[f64; 3]> {
    let often = (OFTEN * ascending.len() as f64).max(3.0) as usize;
    let times = ascending.iter().map(|ns| LineTime { ns: *ns, near: near(ascending, *ns) });
    let times: Vec<LineTime> = times.filter(|reading| reading.near >= often).collect();
    let frequent: Vec<f64> = times.iter().map(|reading| reading.ns).collect();
    let centres = centres(ascending, times);
    let nearest = |reading: f64| {
        let ratio = |centre: &&LineTime| (reading / centre.ns).ln().abs();
        let nearest = centres.iter().min_by(|one, other| ratio(one).total_cmp(&ratio(other)));
        nearest.map(|centre| centre.ns.to_bits())
    };
    let group = |readings: &[f64]| [readings[0], readings[readings.len() / 2], readings[readings.len() - 1]];
    frequent.chunk_by(|one, next| nearest(*one) == nearest(*next)).map(group).collect()
}

/// A reading, and how many are near it: counted once each, because a run groups its looks after every visit of work on both CPUs.
struct LineTime {
    ns: f64,
    near: usize,
}

/// How many readings are within the ratio [`NEAR`] of a time.
fn near(ascending: &[f64], ns: f64) -> usize {
    let up_to = |most: f64| ascending.partition_point(|other| *other <= most);
    up_to(ns * NEAR) - up_to(ns / NEAR)
}

/// The readings around which the most others are, one of each group: they are apart, and somewhere between two of them are at most half as
/// many as around the lesser one.
fn centres(ascending: &[f64], mut frequent: Vec<LineTime>) -> Vec<LineTime> {
    sorting::by_key(&mut frequent, |reading| std::cmp::Reverse(reading.near));
    let is_divided = |one: &LineTime, other: &LineTime| {
        let most = one.near.min(other.near);
        let (low, high) = (one.ns.min(other.ns), one.ns.max(other.ns));
        let between = std::iter::successors(Some(low * BETWEEN), |ns| Some(ns * BETWEEN));
        between.take_while(|ns| *ns < high).any(|ns| 2 * near(ascending, ns) <= most)
    };
    let mut centres: Vec<LineTime> = vec![];
    for reading in frequent {
        if centres.iter().all(|centre| !is_same(centre.ns, reading.ns) && is_divided(centre, &reading)) {
            centres.push(reading);
        }
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As on a guest whose two CPUs were hardware threads of one core at times: no gap divides the readings, but their number does.
    #[test]
    fn two_distances_with_a_few_looks_between_them_are_two() {
        let of = |number: usize, from: f64, to: f64| {
            (0..number).map(move |index| from * (to / from).powf(index as f64 / number as f64))
        };
        let looks =
            of(36, 16.0, 17.0).chain(of(58, 17.0, 19.0)).chain(of(26, 19.0, 21.0)).chain(of(6, 21.0, 25.0));
        let looks = looks.chain(of(2, 31.0, 33.0)).chain(of(300, 35.0, 39.0)).chain(of(700, 39.0, 44.0));
        let mut looks: Vec<f64> = looks.chain(of(12, 44.0, 56.0)).chain(of(300, 182.0, 250.0)).collect();
        looks.sort_by(f64::total_cmp);
        let apart = groups(&looks);
        assert_eq!(apart.len(), 3, "{apart:?}");
        assert!(apart[0][2] < 27.0 && apart[1][0] > 30.0, "{apart:?}");
        let wide: Vec<f64> = of(400, 100.0, 220.0).collect();
        assert_eq!(groups(&wide).len(), 1, "one distance, however wide");
    }
}
