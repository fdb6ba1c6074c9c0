//! The families of points that are judged together, because one cause moves all of them.

use fathom_core::experiment::Point;

const INSTRUCTIONS: &str = "instructions";
const CALLS: &str = "system calls";
const SWITCHES: &str = "switches and wake-ups";
const PROCESSES: &str = "processes and threads";
const FAULTS: &str = "faults and mapping";
const CACHES: &str = "caches";
const MEMORY: &str = "memory";
const PIPES: &str = "pipes and sockets";
const NETWORK: &str = "TCP and UDP";
const FILES: &str = "files";

/// Every family, in the order of reports.
pub(super) const FAMILIES: [&str; 10] =
    [INSTRUCTIONS, CALLS, SWITCHES, PROCESSES, FAULTS, CACHES, MEMORY, PIPES, NETWORK, FILES];

/// From this size on, loads are taken for those of memory where a point does not name its level, in bytes: no core has so
/// much cache of its own.
const OF_MEMORY: u64 = 64 << 20;

/// The family of a point; `None` for one that varies by nature (noise, a neighbour on the core) or is a tool of the measurement
/// (clocks), and is judged by itself.
pub(super) fn family(experiment: &str, point: &Point) -> Option<&'static str> {
    Some(match experiment {
        "cpu/arithmetic" | "cpu/procedure_call" | "cpu/loop_overhead" => INSTRUCTIONS,
        "cpu/system_call" => CALLS,
        "cpu/context_switch" | "cpu/synchronisation" | "cpu/wake_up" => SWITCHES,
        "cpu/process_creation" | "cpu/thread_creation" => PROCESSES,
        "memory/minor_fault"
        | "memory/major_fault"
        | "memory/fault_extent"
        | "memory/mapping"
        | "memory/user_fault"
        | "memory/swap_in" => FAULTS,
        "cpu/core_to_core" | "memory/tlb_reach" => CACHES,
        "memory/load_latency" | "memory/bandwidth" if !is_of_memory(point) => CACHES,
        "memory/load_latency"
        | "memory/bandwidth"
        | "memory/parallel_bandwidth"
        | "memory/loaded_latency"
        | "memory/memory_parallelism" => MEMORY,
        "network/round_trip" | "network/bandwidth" | "network/connection" | "network/sustained" => {
            if is_local(point) { PIPES } else { NETWORK }
        }
        _ if experiment.starts_with("filesystem/") => FILES,
        _ => return None,
    })
}

fn is_of_memory(point: &Point) -> bool {
    point.is("level", "memory") || point.number_of("size").is_some_and(|bytes| bytes >= OF_MEMORY)
}

/// Whether the bytes stay between processes, without a network's protocol.
fn is_local(point: &Point) -> bool {
    point.is("path", "within") || point.name_of("transport").is_some_and(|name| name.starts_with("UNIX"))
}
