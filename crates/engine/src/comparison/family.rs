//! The families of points that are judged together, because one cause moves all of them.

use fathom_core::experiment::Point;

/// The cycle of the core, which has no points: every trial shows it.
pub(super) const CYCLE: &str = "cycle of the core";

pub(super) const INSTRUCTIONS: &str = "instructions";
const CALLS: &str = "system calls";
const SWITCHES: &str = "switches and wake-ups";
const PROCESSES: &str = "processes and threads";
const FAULTS: &str = "faults and mapping";
const CACHES: &str = "caches";
const MEMORY: &str = "memory";
const PIPES: &str = "pipes and sockets";
const NETWORK: &str = "TCP and UDP";
const CACHED_FILES: &str = "files in the page cache";
const DEVICE: &str = "storage device";
const REMOTE_FILES: &str = "remote files";

/// Every family of points, in the order of reports.
pub(super) const FAMILIES: [&str; 12] = [
    INSTRUCTIONS,
    CALLS,
    SWITCHES,
    PROCESSES,
    FAULTS,
    CACHES,
    MEMORY,
    PIPES,
    NETWORK,
    CACHED_FILES,
    DEVICE,
    REMOTE_FILES,
];

/// From this size on, loads are taken for those of memory where a point does not name its level, in bytes: no core has so
/// much cache of its own.
const OF_MEMORY: u64 = 64 << 20;

/// What the points of an experiment belong to.
#[derive(Debug, Clone, Copy)]
enum Membership {
    /// All of them to this family.
    Family(&'static str),
    /// To that of the caches or of memory, by where the data lie.
    ByLevel,
    /// To that of pipes or of the network's protocols, by the way that the bytes take.
    ByPath,
    /// To that of files in the page cache or of the device, by where the bytes come from or must be in the end.
    BySource,
    /// Each is judged by itself: it varies by nature (noise, a neighbour on the core, heat), is a tool of the measurement, or is of
    /// several families at once (a file read again of which a part was evicted).
    Alone,
}

use Membership::{Alone, ByLevel, ByPath, BySource, Family};

/// Every experiment. A test has each one that is registered here, and none that is not.
const MEMBERSHIPS: &[(&str, Membership)] = &[
    ("cpu/arithmetic", Family(INSTRUCTIONS)),
    ("cpu/procedure_call", Family(INSTRUCTIONS)),
    ("cpu/loop_overhead", Family(INSTRUCTIONS)),
    ("cpu/system_call", Family(CALLS)),
    ("cpu/context_switch", Family(SWITCHES)),
    ("cpu/synchronisation", Family(SWITCHES)),
    ("cpu/wake_up", Family(SWITCHES)),
    ("cpu/spin_or_sleep", Family(SWITCHES)),
    ("cpu/scheduling_latency", Alone),
    ("cpu/process_creation", Family(PROCESSES)),
    ("cpu/thread_creation", Family(PROCESSES)),
    ("cpu/core_to_core", Family(CACHES)),
    ("cpu/false_sharing", Family(CACHES)),
    ("cpu/contention", Family(CACHES)),
    ("cpu/timing_overhead", Alone),
    ("cpu/noise", Alone),
    ("cpu/shared_core", Alone),
    ("cpu/sustained", Alone),
    ("memory/minor_fault", Family(FAULTS)),
    ("memory/major_fault", Family(DEVICE)),
    ("memory/fault_extent", Family(FAULTS)),
    ("memory/mapping", Family(FAULTS)),
    ("memory/user_fault", Family(FAULTS)),
    ("memory/swap_in", Family(DEVICE)),
    ("memory/tlb_reach", Family(CACHES)),
    ("memory/load_latency", ByLevel),
    ("memory/bandwidth", ByLevel),
    ("memory/parallel_bandwidth", Family(MEMORY)),
    ("memory/loaded_latency", Family(MEMORY)),
    ("memory/memory_parallelism", Family(MEMORY)),
    ("network/round_trip", ByPath),
    ("network/bandwidth", ByPath),
    ("network/connection", ByPath),
    ("network/sustained", ByPath),
    ("filesystem/cache_size", Family(CACHED_FILES)),
    ("filesystem/durable_append", Family(DEVICE)),
    ("filesystem/copy", Family(CACHED_FILES)),
    ("filesystem/metadata", Family(CACHED_FILES)),
    ("filesystem/directory", Family(CACHED_FILES)),
    ("filesystem/read", BySource),
    ("filesystem/reread", Alone),
    ("filesystem/remote_read", Family(REMOTE_FILES)),
    ("filesystem/write", BySource),
    ("filesystem/contention", Family(DEVICE)),
    ("filesystem/sustained", Family(DEVICE)),
];

/// The family of a point; `None` for one that is judged by itself, and for those of experiments that are not Fathom's.
pub(super) fn family(experiment: &str, point: &Point) -> Option<&'static str> {
    let (_, membership) = MEMBERSHIPS.iter().find(|(name, _)| *name == experiment)?;
    match membership {
        Family(name) => Some(name),
        ByLevel => Some(if is_of_memory(point) { MEMORY } else { CACHES }),
        ByPath => Some(if is_local(point) { PIPES } else { NETWORK }),
        BySource => Some(if is_cached(point) { CACHED_FILES } else { DEVICE }),
        Alone => None,
    }
}

fn is_of_memory(point: &Point) -> bool {
    point.is("level", "memory") || point.number_of("size").is_some_and(|bytes| bytes >= OF_MEMORY)
}

/// Whether the bytes stay between processes, without a network's protocol.
fn is_local(point: &Point) -> bool {
    point.is("path", "within") || point.name_of("transport").is_some_and(|name| name.starts_with("UNIX"))
}

/// Whether no device takes part: what is read is in the page cache, or what is written stays there.
fn is_cached(point: &Point) -> bool {
    point.is("state", "warm") || point.is("durability", "in the page cache")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::{Parameter, registry};
    use std::collections::BTreeSet;

    #[test]
    fn every_experiment_has_its_family_or_is_judged_by_itself_and_no_name_is_of_none() {
        fathom_experiments::register();
        let registered: BTreeSet<&str> = registry::all().map(|experiment| experiment.about().name).collect();
        let named: BTreeSet<&str> = MEMBERSHIPS.iter().map(|(name, _)| *name).collect();
        assert_eq!(registered, named);
        assert_eq!(named.len(), MEMBERSHIPS.len(), "each once");
    }

    #[test]
    fn every_family_has_an_experiment_and_stands_once_in_the_order_of_reports() {
        let of = |membership: &Membership| match membership {
            Family(name) => vec![*name],
            ByLevel => vec![CACHES, MEMORY],
            ByPath => vec![PIPES, NETWORK],
            BySource => vec![CACHED_FILES, DEVICE],
            Alone => vec![],
        };
        let with_members: BTreeSet<&str> =
            MEMBERSHIPS.iter().flat_map(|(_, membership)| of(membership)).collect();
        assert_eq!(with_members, BTreeSet::from(FAMILIES));
        assert_eq!(with_members.len(), FAMILIES.len());
    }

    #[test]
    fn where_data_lie_and_which_way_they_take_is_known_by_their_point() {
        let sized = |bytes| Point::new().with(&Parameter::bytes("size", ""), bytes);
        assert_eq!(family("memory/load_latency", &sized(32 << 10)), Some(CACHES));
        assert_eq!(family("memory/load_latency", &sized(512 << 20)), Some(MEMORY));
        let named = |name: &'static str, value| Point::new().named(&Parameter::named(name, ""), value);
        assert_eq!(family("memory/bandwidth", &named("level", "memory")), Some(MEMORY));
        assert_eq!(family("network/round_trip", &named("path", "within")), Some(PIPES));
        assert_eq!(family("network/bandwidth", &named("transport", "UNIX socket")), Some(PIPES));
        assert_eq!(family("network/round_trip", &named("path", "loopback")), Some(NETWORK));
        assert_eq!(family("filesystem/read", &named("state", "warm")), Some(CACHED_FILES));
        assert_eq!(family("filesystem/read", &named("state", "cold")), Some(DEVICE));
        assert_eq!(family("filesystem/read", &named("state", "direct")), Some(DEVICE));
        assert_eq!(family("filesystem/write", &named("durability", "in the page cache")), Some(CACHED_FILES));
        assert_eq!(family("filesystem/write", &named("durability", "on the device, fsync")), Some(DEVICE));
        assert_eq!(family("cpu/noise", &Point::new()), None);
        assert_eq!(family("own/operation", &Point::new()), None);
    }
}
