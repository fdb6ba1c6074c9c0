//! A stream through a set that the last-level cache should hold, beside the same stream of memory.

use super::cache_edge::READ;
use crate::results::accuracy::{CLOSE, FAIR};
use fathom_core::experiment::{CoreUse, Found, Known, Point, Statement, statement};
use fathom_core::quantity::declared;

/// Rates of one method in one state of the core.
pub(super) struct CacheStream {
    /// The set, bytes.
    set: u64,
    rate: Found,
    memory: Found,
}

impl CacheStream {
    /// Of the methods measured in this state of the core at a set of the last level and in memory, the one that is the most times as fast
    /// there. `stated` is what the machine declares of that level, bytes.
    pub(super) fn of(stated: u64, core: Option<CoreUse>, known: &Known) -> Option<Self> {
        let level = format!("L{}", known.machine.last_level(known.machine.measured_cpu())?);
        let all = READ.all(known);
        let of = |level: &str| -> Vec<(&Point, Found)> {
            let is_it = |(point, rate): &&(&Point, Found)| {
                point.is("level", level) && rate.core == core && !rate.is_mixture
            };
            all.iter().filter(is_it).copied().collect()
        };
        let in_memory = of("memory");
        let beside = |(point, rate): (&Point, Found)| {
            let set = point.number_of("size").filter(|set| *set < stated)?;
            let mine =
                in_memory.iter().filter(|(other, _)| other.name_of("method") == point.name_of("method"));
            let (_, memory) = mine.max_by_key(|(other, _)| other.number_of("size"))?;
            Some(CacheStream { set, rate, memory: *memory })
        };
        let streams = of(&level).into_iter().filter_map(beside);
        streams.max_by(|one, other| one.times().at_least().total_cmp(&other.times().at_least()))
    }

    fn times(&self) -> Found {
        self.rate.over(self.memory)
    }

    /// Whether it finds as much of the cache as loads do, of which a set of `within` is surely found and one of `beyond` is not, bytes:
    /// within a factor of two. `None` where its rate is neither surely above that of memory nor surely about as high.
    pub(super) fn agrees_with(&self, within: f64, beyond: f64) -> Option<bool> {
        let (low, high) = self.times().ends()?;
        let set = self.set as f64;
        if low > CLOSE {
            Some(set <= FAIR * beyond)
        } else if high < CLOSE {
            Some(within <= FAIR * set)
        } else {
            None
        }
    }

    pub(super) fn statement(&self) -> Statement {
        statement!(
            "a stream reads {set} at {rate}, {times} times as fast as memory ({memory})",
            set = declared::size(self.set),
            rate = self.rate.named("stream of a set that the last cache should hold"),
            times = self.times().named("that stream over the same of memory"),
            memory = self.memory.named("the same stream of memory")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{Plant as _, machine};
    use fathom_core::machine::Fact;
    use serde_json::json;

    const MIB: u64 = 1 << 20;

    /// A stream of 4 MiB of a third level at this rate, beside memory at 10 GB/s, and whether one says so of loads that end there.
    fn agrees(rate: f64, end_mib: f64) -> Option<bool> {
        let mut machine = machine();
        let cpu = machine.measured_cpu().to_string();
        let fact = |number: u64| json!({ "value": number, "source": "a test" });
        let cache = json!({
            "level": 3, "kind": "unified", "size_bytes": fact(32 * MIB), "ways": fact(8), "line_bytes": fact(64),
            "sets": fact(1 << 16), "instances": [cpu],
        });
        machine.caches = Fact::known(serde_json::from_value(json!([cache])).expect("a cache"), "a test");
        let mut known = Known::new(&machine, None);
        for (level, mib, rate) in [("L3", 4, rate), ("memory", 128, 10e9)] {
            let at = [("level", json!(level)), ("method", json!("sse")), ("size", json!(mib * MIB))];
            READ.plant_at(&mut known, &at, rate);
        }
        let end = end_mib * MIB as f64;
        assert!(CacheStream::of(32 * MIB, Some(CoreUse::Alone), &known).is_none(), "of another state");
        CacheStream::of(32 * MIB, None, &known)?.agrees_with(end, end)
    }

    #[test]
    fn a_stream_agrees_with_loads_within_a_factor_of_two_either_way() {
        assert_eq!(agrees(36e9, 3.0), Some(true));
        assert_eq!(agrees(36e9, 1.25), Some(false), "the stream finds more");
        assert_eq!(agrees(10e9, 3.0), Some(true));
        assert_eq!(agrees(10e9, 16.0), Some(false), "the stream finds less");
        assert_eq!(agrees(12.5e9, 3.0), None, "its rate does not tell");
    }
}
