//! Gaps in a spinning loop: time in which this CPU did other work.

use super::clock::Clock;
use crate::experiment::Spin;

/// This file's text, of which a method section shows a function.
pub const SOURCE: &str = include_str!("gaps.rs");

/// A spin is interrupted if two successive readings are further apart than this many times the clock's cost. A reading's own
/// jitter (a cache miss, a busy sibling) stays below three; the shortest interrupt takes longer.
const FACTOR: f64 = 10.0;

/// A gap also lasts at least this long, so that the steps of clocks with a resolution of few ticks are not counted.
const SHORTEST_NS: f64 = 150.0;

/// The shortest pause between two readings that counts as a gap, nanoseconds.
pub fn threshold_ns(overhead_ns: f64) -> f64 {
    (overhead_ns * FACTOR).max(SHORTEST_NS)
}

/// Reads the clock as often as possible for `duration_ns` and keeps every gap. The cost of a reading is not part of the gap.
/// `gaps` are reserved beforehand: nothing is allocated while it spins, and it ends early when full.
pub fn spin<C: Clock>(clock: &C, ticks_per_second: f64, overhead_ticks: f64, duration_ns: f64) -> Spin {
    let ticks = |ns: f64| (ns / 1e9 * ticks_per_second) as i64;
    let threshold = ticks(threshold_ns(overhead_ticks / ticks_per_second * 1e9));
    let mut gaps: Vec<i64> = Vec::with_capacity(4096);
    let start = clock.stop();
    let mut last = start;
    let mut longest = 0;
    while gaps.len() < gaps.capacity() {
        let now = clock.stop();
        let step = now.since(last).0;
        longest = longest.max(step);
        if step > threshold {
            gaps.push(step);
        }
        last = now;
        if now.since(start).0 >= ticks(duration_ns) {
            break;
        }
    }
    let ns = |ticks: f64| ticks / ticks_per_second * 1e9;
    let gaps_ns = gaps.iter().map(|gap| ns(*gap as f64 - overhead_ticks)).collect();
    Spin { lasted_ns: ns(last.since(start).0 as f64), gaps_ns, longest_ns: ns(longest as f64) }
}
