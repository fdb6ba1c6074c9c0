//! The highest rate of a single queue: how often appends may be due so that nearly all of them are durable in time.

/// The share of appends that may be late: what p99 leaves.
const LATE: f64 = 0.01;

/// Halvings of the search: more digits than a clock has.
const HALVINGS: usize = 50;

/// The fewest appends that support a p99 (`statistics::supported_percentiles`).
pub const FEWEST: usize = 299;

/// The most appends a second, evenly due, of which 99 in 100 end within `within_ns` of when they were due, if each takes as long as
/// these did, in their order, and waits until the one before has ended (Lindley 1952, "The theory of queues with a single server").
/// No more than one after the other without a pause: a series that ends hides a queue that grows. 0 if there is no such rate.
pub fn highest(services_ns: &[f64], within_ns: f64) -> f64 {
    let allowed = LATE * services_ns.len() as f64;
    let in_time = |interval_ns: f64| late(services_ns, interval_ns, within_ns) as f64 <= allowed;
    let whole: f64 = services_ns.iter().sum();
    if services_ns.is_empty() || !in_time(f64::INFINITY) {
        return 0.0;
    }
    let (mut short, mut long) = (whole / services_ns.len() as f64, whole);
    if in_time(short) {
        return 1e9 / short;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(short, long);
        if in_time(middle) { long = middle } else { short = middle }
    }
    1e9 / long
}

/// How many end later than `within_ns` after they were due, if one is due every `interval_ns`.
fn late(services_ns: &[f64], interval_ns: f64, within_ns: f64) -> usize {
    let mut waits = 0.0;
    let is_late = |service: &&f64| {
        let response = waits + **service;
        waits = (response - interval_ns).max(0.0);
        response > within_ns
    };
    services_ns.iter().filter(is_late).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: f64 = 10e6;

    /// Appends of 2 ms, of which every `each`th takes `long_ns`.
    fn with_stalls(each: usize, long_ns: f64) -> Vec<f64> {
        (1..=6000).map(|number| if number % each == 0 { long_ns } else { 2e6 }).collect()
    }

    #[test]
    fn even_appends_may_follow_each_other_without_a_pause() {
        assert!((highest(&[2e6; 400], WITHIN) - 500.0).abs() < 1e-9);
        assert!((highest(&[9.9e6; 400], WITHIN) - 1e9 / 9.9e6).abs() < 1e-9);
    }

    #[test]
    fn appends_that_are_late_by_themselves_have_no_rate() {
        let has_none = |services: &[f64]| highest(services, WITHIN).abs() < f64::EPSILON;
        assert!(has_none(&[10.1e6; 400]));
        assert!(has_none(&with_stalls(50, 11e6)), "two in a hundred");
        assert!(has_none(&[]));
    }

    /// A stall of 20 ms every 300 appends: it is late, and so are those behind it that wait for more than 8 ms. Due every T, the
    /// nth behind it waits for 20 - T - (n - 1)(T - 2) ms; three of 300 may be late, so the third behind it must not be: 24 - 3 T
    /// is 8 ms where T is 16/3 ms.
    #[test]
    fn the_queue_behind_a_stall_is_as_long_as_the_rate_makes_it() {
        let rate = highest(&with_stalls(300, 20e6), WITHIN);
        assert!((rate / (1e9 / (16e6 / 3.0)) - 1.0).abs() < 1e-6, "{rate}");
    }
}
