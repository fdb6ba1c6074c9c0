//! From bytes over time at the receiver to a rate: the initial phase, and the steady state after it.

use fathom_core::statistics::steady_from;
use fathom_equipment::peer::service::Arrival;

/// Intervals into which a stream is divided to find its steady state.
const INTERVALS: usize = 40;

/// Minimum number of intervals for that.
const FEWEST_INTERVALS: usize = 8;

/// The steady state of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steady {
    /// Bytes per second.
    pub rate: f64,
    /// Time from the first byte to the steady state, nanoseconds, to within an interval.
    pub ramp_ns: f64,
    /// Whether it was reached before half of the stream had passed.
    pub is_early: bool,
}

/// The minimum length of the intervals of a stream of this duration: the ramp is known to within one.
pub fn least_interval_ns(lasts_ns: u64) -> f64 {
    lasts_ns as f64 / INTERVALS as f64
}

/// The rate of a stream after its initial phase: all later bytes over all later time. `None` if too little arrived to tell.
pub fn steady(arrivals: &[Arrival]) -> Option<Steady> {
    let (first, last) = ends(arrivals)?;
    let intervals = (arrivals.len() / 2).min(INTERVALS);
    if intervals < FEWEST_INTERVALS {
        return None;
    }
    let step = (last - first) / intervals as f64;
    let at = |interval: usize| first + interval as f64 * step;
    let rates: Option<Vec<f64>> =
        (0..intervals).map(|interval| between(arrivals, at(interval), at(interval + 1))).collect();
    let from = steady_from(&rates?)?;
    let rate = between(arrivals, at(from), last)?;
    Some(Steady { rate, ramp_ns: from as f64 * step, is_early: from < intervals / 2 })
}

/// The rate between two times after the first byte, bytes per second. `None` if the stream did not last until the second.
pub fn since_first_byte(arrivals: &[Arrival], from_ns: f64, to_ns: f64) -> Option<f64> {
    let (first, last) = ends(arrivals)?;
    (first + to_ns <= last).then(|| between(arrivals, first + from_ns, first + to_ns))?
}

/// Bytes received from the first arrival until `after_ns` later. `None` if the stream did not last as long.
pub fn received_by(arrivals: &[Arrival], after_ns: f64) -> Option<f64> {
    let (first, last) = ends(arrivals)?;
    let at = first + after_ns;
    (at <= last).then(|| Some(count_at(arrivals, at, BYTES)? - count_at(arrivals, first, BYTES)?))?
}

fn ends(arrivals: &[Arrival]) -> Option<(f64, f64)> {
    let (first, last) = (arrivals.first()?.at_ns as f64, arrivals.last()?.at_ns as f64);
    (last > first).then_some((first, last))
}

/// The bytes of a read, on average, between two times after the first byte. `None` if the stream did not last until the second, or
/// reads were not counted.
pub fn read_since_first_byte(arrivals: &[Arrival], from_ns: f64, to_ns: f64) -> Option<f64> {
    let (first, last) = ends(arrivals)?;
    let more = |count: fn(&Arrival) -> u64| {
        Some(count_at(arrivals, first + to_ns, count)? - count_at(arrivals, first + from_ns, count)?)
    };
    let each = more(BYTES)? / more(|arrival| arrival.reads)?;
    (first + to_ns <= last && each.is_finite()).then_some(each)
}

/// The bytes recorded with the first arrival came before it: only later ones count.
fn between(arrivals: &[Arrival], from: f64, to: f64) -> Option<f64> {
    let rate = (count_at(arrivals, to, BYTES)? - count_at(arrivals, from, BYTES)?) / (to - from) * 1e9;
    rate.is_finite().then_some(rate)
}

const BYTES: fn(&Arrival) -> u64 = |arrival| arrival.bytes;

/// A count until this time, by linear interpolation between records.
fn count_at(arrivals: &[Arrival], at: f64, count: fn(&Arrival) -> u64) -> Option<f64> {
    let next = arrivals.partition_point(|arrival| (arrival.at_ns as f64) < at);
    let Some(after) = arrivals.get(next) else { return arrivals.last().map(|last| count(last) as f64) };
    let Some(before) = next.checked_sub(1).map(|place| arrivals[place]) else {
        return Some(count(after) as f64);
    };
    let share = (at - before.at_ns as f64) / (after.at_ns - before.at_ns).max(1) as f64;
    Some(count(&before) as f64 + share * (count(after) - count(&before)) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 GB/s after a millisecond at a tenth of it, from 5 ms of the clock on; recorded every 20 µs.
    fn ramp() -> Vec<Arrival> {
        let mut bytes = 70_000;
        let note = |step: u64| {
            bytes += if step < 50 { 2_000 } else { 20_000 };
            Arrival { at_ns: 5_000_000 + step * 20_000, bytes, reads: bytes / 1_000 }
        };
        (0..500).map(note).collect()
    }

    #[test]
    fn the_beginning_is_found_and_not_part_of_the_rate() {
        let found = steady(&ramp()).unwrap();
        assert!((found.rate / 1e9 - 1.0).abs() < 1e-3, "{found:?}");
        assert!((found.ramp_ns / 1e6 - 1.0).abs() < 0.3 && found.is_early, "{found:?}");
    }

    #[test]
    fn what_came_before_the_first_note_is_not_part_of_a_rate() {
        let even: Vec<_> = (0..100)
            .map(|step| Arrival { at_ns: 7 + step * 10_000, bytes: 1_000_000 + step * 5_000, reads: 0 })
            .collect();
        let found = steady(&even).unwrap();
        assert!((found.rate / 5e8 - 1.0).abs() < 1e-6 && found.ramp_ns.abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn windows_count_from_the_first_byte() {
        let slow = since_first_byte(&ramp(), 0.0, 500_000.0).unwrap();
        let fast = since_first_byte(&ramp(), 4e6, 8e6).unwrap();
        assert!((slow / 1e8 - 1.0).abs() < 1e-3 && (fast / 1e9 - 1.0).abs() < 1e-3, "{slow} {fast}");
        assert_eq!(since_first_byte(&ramp(), 8e6, 16e6), None, "it did not last so long");
    }

    #[test]
    fn reads_of_a_window_are_those_counted_in_it() {
        let each = read_since_first_byte(&ramp(), 2e6, 4e6).unwrap();
        assert!((each / 1_000.0 - 1.0).abs() < 1e-2, "{each}");
        assert_eq!(read_since_first_byte(&ramp(), 8e6, 16e6), None, "it did not last so long");
        let uncounted: Vec<_> = ramp().into_iter().map(|arrival| Arrival { reads: 0, ..arrival }).collect();
        assert_eq!(read_since_first_byte(&uncounted, 2e6, 4e6), None);
    }

    #[test]
    fn too_little_is_no_rate() {
        assert_eq!(steady(&ramp()[..15]), None);
        assert_eq!(steady(&[]), None);
    }
}
