//! Predicted rate of a kernel: the lower of the rates of its instructions and of the buses between the caches.

use crate::apparatus::memory::pages::Pages;
use crate::apparatus::memory::stream::kernel::{KERNELS, Kernel, Kind, Maker, PER_LINE};
use crate::apparatus::memory::stream::working_set::Level;
use crate::expected::{core_facts, hierarchy};
use crate::questions::memory::load_latency;
use crate::questions::memory::memory_parallelism;
use fathom_core::prelude::*;
use fathom_core::quantities;
use fathom_core::sorting;

const FOG: &str = "Fog 2022, Microarchitecture and Instruction tables: current x86-64 cores load twice and store once a \
                   cycle, 32 bytes each; vectors of 64 bytes as much in a cycle on AMD's up to Zen 4, twice that on Intel's";
const ARM: &str = "Arm, Neoverse N1 Software Optimization Guide: two loads or stores a cycle, 16 bytes each";
const WIRES: &str = "Fog 2022, Microarchitecture: 32 bytes a cycle between the first two caches, half of that to a third, \
                     on current cores";

/// The read kernel that shows what the buses of a level carry: the widest vectors of this processor.
pub fn reference(machine: &Machine) -> &'static Kernel {
    references(machine).first().copied().unwrap_or(&KERNELS[0])
}

/// The read kernels of whole lines that this processor offers, the widest first; of equals not the compiler's, which has no
/// counterpart of every kind.
pub fn references(machine: &Machine) -> Vec<&'static Kernel> {
    let offered = |kernel: &&Kernel| {
        let unmet = kernel.needs.and_then(|name| Requirement::Instructions(name).unmet_reason(machine));
        unmet.is_none() && kernel.kind == Kind::Read && !kernel.method.ends_with("prefetching")
    };
    let usual = KERNELS.iter().filter(|kernel| kernel.used_of_line() == 64);
    let mut reads: Vec<&Kernel> = usual.filter(offered).collect();
    sorting::by_key(&mut reads, |kernel| {
        (std::cmp::Reverse(width(kernel)), matches!(kernel.maker, Maker::Compiler))
    });
    reads
}

/// Bytes of one load or store.
pub fn width(kernel: &Kernel) -> u64 {
    match (kernel.maker, kernel.method) {
        (_, "word loop" | "8 words unrolled" | PER_LINE) => 8,
        (Maker::Assembly(_), "rep stos" | "rep movs") | (Maker::Library, _) => 32,
        (Maker::Assembly(width), _) => width,
        // The baseline of both x86-64 and aarch64 has vectors of 16 bytes.
        (Maker::Compiler, _) => 16,
    }
}

/// Cycles of the instructions for one line of every array if nothing waits for data.
fn cycles_per_line(kernel: &Kernel, machine: &Machine) -> f64 {
    let accesses = (kernel.used_of_line() / width(kernel)) as f64;

    let path = match kernel.maker {
        Maker::Assembly(_) if is_neon(kernel) => 16,
        _ if core_facts::is_intels(machine) => 64,
        _ => 32,
    };
    // If the paths are 32 bytes wide, an access of 64 bytes uses them twice.
    let twice = (width(kernel) as f64 / f64::from(path)).max(1.0);
    match kernel.method {
        // One word per iteration of the loop.
        "word loop" => accesses,
        "rep lods" => 2.0 * accesses,
        _ => {
            let (loaded, stored) = (kernel.kind.loaded() as f64, kernel.kind.stored() as f64);
            (accesses * loaded / 2.0 * twice).max(accesses * stored * twice)
        }
    }
}

fn is_neon(kernel: &Kernel) -> bool {
    kernel.method.starts_with("neon")
}

/// Bytes that the program moves per line of every array.
fn bytes_per_line(kernel: &Kernel) -> f64 {
    (kernel.kind.arrays() * kernel.used_of_line()) as f64
}

/// The prediction for a kernel at a level. `reference_rate` is the rate of the reference kernel there, as measured in this run,
/// unless this is the point of the reference itself.
pub fn predict(kernel: &Kernel, level: Level, reference_rate: Option<Basis>, known: &Known) -> Prediction {
    let per_cycle = bytes_per_line(kernel) / cycles_per_line(kernel, known.machine);
    let cycle = known.cycle();
    let hertz = 1e9 / cycle.value;
    let design = if is_neon(kernel) { ARM } else { FOG };
    let instructions = (
        "bytes that its instructions move per cycle, times the frequency",
        per_cycle,
        Basis::published(
            hertz,
            &format!("{}, {}; {design}", quantities::frequency(hertz), clock_source(known)),
        )
        .of_cycle(cycle.cycle_ns),
    );
    let from = if kernel.avoids_caches() { Level::Memory } else { level };
    let wires = wires(from, reference_rate, hertz, known);
    let is_in_turn =
        matches!(level, Level::Cache(2..)) && kernel.kind.stored() > 0 && takes_turns(known.machine);
    let wires = wires.map(|(what, times, each)| {
        let what = if is_in_turn && matches!(each.source, Source::Measured { .. }) { IN_TURN } else { what };
        (what, times / crossing(kernel, level, known.machine), each)
    });
    let slower = match wires {
        Some(wires) if wires.1 * wires.2.value < instructions.1 * instructions.2.value => wires,
        _ => instructions,
    };
    Prediction::new().hardware(slower.0, slower.1, slower.2)
}

/// Bytes on the bus behind a level per byte that the program moves, in the busier direction.
fn crossing(kernel: &Kernel, level: Level, machine: &Machine) -> f64 {
    let (least, most) = kernel.bus_bytes();
    match level {
        // One bus carries both directions. If the processor chooses, it is assumed to read lines before it writes them.
        Level::Memory if kernel.avoids_caches() => least,
        Level::Memory => most,
        // The arrays read stay in the cache; only the stores go to memory.
        Level::Cache(_) if kernel.avoids_caches() => {
            kernel.kind.stored() as f64 / kernel.kind.arrays() as f64
        }
        Level::Cache(_) if takes_turns(machine) => {
            let (arrays, stored) = (kernel.kind.arrays() as f64, kernel.kind.stored() as f64);
            64.0 / kernel.used_of_line() as f64 * (arrays + stored) / arrays
        }
        // Between caches each direction has its own bus: as many lines come in as the arrays have, fewer go out.
        Level::Cache(_) => 64.0 / kernel.used_of_line() as f64,
    }
}

const IN_TURN: &str = "the read bandwidth of the widest vectors from this cache, shared by lines that come and lines that go, in turn on \
    Intel's cores (Hofmann et al. 2020)";

/// Whether a line that comes into a cache and one that leaves it follow each other: the transfers of a core between its caches do not
/// overlap on Intel's, and do on others (Hofmann et al. 2020).
fn takes_turns(machine: &Machine) -> bool {
    core_facts::is_intels(machine)
}

fn clock_source(known: &Known) -> &'static str {
    match (known.core_hz, known.machine.nominal_hz()) {
        (Some(_), _) => "measured with calibrated chains",
        (None, Some(_)) => "as declared",
        (None, None) => "assumed",
    }
}

/// The rate of the bus behind a level for whole lines, bytes per second, as times × each; `None` if nothing leaves the
/// first-level cache.
fn wires(
    level: Level,
    reference_rate: Option<Basis>,
    hertz: f64,
    known: &Known,
) -> Option<(&'static str, f64, Basis)> {
    let per_cycle = match level {
        Level::Cache(1) => return None,
        Level::Cache(2) => 32.0,
        Level::Cache(_) => 16.0,
        Level::Memory => {
            let what = "the read bandwidth of the widest vectors, scaled by the bytes on the bus";
            let measured = reference_rate.map(|rate| (what, 1.0, rate));
            let what = "lines in flight, each for one latency, scaled by the bytes on the bus";
            return Some(measured.unwrap_or_else(|| {
                (what, hierarchy::lines_in_flight(known.machine), one_line_at_a_time(known))
            }));
        }
    };
    let what = "the read bandwidth of the widest vectors from this cache, scaled by the bytes on its bus";
    let measured = reference_rate.map(|rate| (what, 1.0, rate));
    let what = "bytes that the bus of this cache carries per cycle, times the frequency";
    Some(measured.unwrap_or_else(|| (what, per_cycle, Basis::published(hertz, WIRES))))
}

/// Bytes per second if lines were fetched one after the other: 64 per latency, as measured in this run.
fn one_line_at_a_time(known: &Known) -> Basis {
    let size = memory_parallelism::set_bytes(known.machine);
    let point = load_latency::cycle_point(Pages::Huge, size);
    if let Some(ns) = known.median("memory/load_latency", &point) {
        return Basis::measured(64.0 / ns * 1e9, "memory/load_latency", point);
    }
    let latency = hierarchy::of_memory(known);
    Basis { value: 64.0 / latency.value * 1e9, ..latency }
}

/// No core on the market loads more than four times or 192 bytes per cycle, nor stores more than twice or 128 bytes.
pub fn bound(kernel: &Kernel, known: &Known) -> Bound {
    // The accesses of a compiler, the library or microcode are unknown.
    let width = match (kernel.maker, kernel.method) {
        (_, "word loop" | "8 words unrolled" | PER_LINE) => 8,
        (Maker::Assembly(width), _) if width > 8 => width,
        _ => 64,
    } as f64;
    let load = (4.0 * width).min(192.0);
    let store = (2.0 * width).min(128.0);
    let line = kernel.used_of_line() as f64;
    let cycles = (line * kernel.kind.loaded() as f64 / load).max(line * kernel.kind.stored() as f64 / store);
    Bound::of(
        bytes_per_line(kernel) / cycles / (known.shortest_cycle() * 1e-9),
        "no core loads more than four times or 192 bytes in a cycle, nor stores more than twice or 128 bytes",
    )
}
