//! How fast a kernel should stream: as fast as the slower of its instructions and of the wires between the caches.

use super::stream_kernel::{KERNELS, Kernel, Kind, Maker, PER_LINE};
use super::stream_size::Level;
use crate::experiment::{Basis, Bound, Known, Prediction, Requirement};
use crate::machine::Machine;

const FOG: &str = "Fog 2022, Microarchitecture and Instruction tables: current x86-64 cores load twice and store once a \
                   cycle, 32 bytes each";
const WIRES: &str = "Fog 2022, Microarchitecture: 32 bytes a cycle between the first two caches, half of that to a third, \
                     on current cores";
const LITTLE: &str = "Little's law: a core keeps some 24 lines in flight (10 to 16 line fill buffers or 22 to 24 miss \
                      addresses, and the prefetchers of the second cache; Fog 2022), each for some 90 ns";

/// Lines that one core keeps in flight to memory.
const LINES_IN_FLIGHT: f64 = 24.0;
/// A line from memory, nanoseconds.
const MEMORY_NS: f64 = 90.0;

/// The read that says what the wires of a level carry: the widest vectors of this processor.
pub fn reference(machine: &Machine) -> &'static Kernel {
    let offered = |kernel: &&Kernel| {
        let lacking = kernel.needs.and_then(|name| Requirement::Instructions(name).lacking(machine));
        lacking.is_none() && kernel.kind == Kind::Read && !kernel.method.ends_with("prefetching")
    };
    let usual = KERNELS.iter().filter(|kernel| kernel.used_of_line() == 64);
    usual.filter(offered).max_by_key(|kernel| width(kernel)).unwrap_or(&KERNELS[0])
}

/// Bytes of one load or store.
fn width(kernel: &Kernel) -> u64 {
    match (kernel.maker, kernel.method) {
        (Maker::Assembly(_), "rep stos" | "rep movs") | (Maker::Library, _) => 32,
        (Maker::Assembly(width), _) => width,
        // The baseline of both x86-64 and aarch64 has vectors of 16 bytes.
        (Maker::Compiler, _) => 16,
    }
}

/// Cycles that the instructions for one line of every array take if nothing waits for data.
fn cycles_per_line(kernel: &Kernel) -> f64 {
    let accesses = (kernel.used_of_line() / width(kernel)) as f64;
    match kernel.method {
        // One word each time round the loop.
        "word loop" => accesses,
        "rep lods" => 2.0 * accesses,
        _ => {
            // A store of 64 bytes takes two cycles where the path is 32 wide.
            let store = if width(kernel) > 32 { 2.0 } else { 1.0 };
            let (loaded, stored) = (kernel.kind.loaded() as f64, kernel.kind.stored() as f64);
            (accesses * loaded / 2.0).max(accesses * stored * store)
        }
    }
}

/// Bytes that the program moves in a line of every array.
fn bytes_per_line(kernel: &Kernel) -> f64 {
    (kernel.kind.arrays() * kernel.used_of_line()) as f64
}

/// What is expected of a kernel at a level. `reference_rate` is what this run has found the reference to read there, if
/// this is not that point itself.
pub fn predict(kernel: &Kernel, level: Level, reference_rate: Option<Basis>, known: &Known) -> Prediction {
    let per_cycle = bytes_per_line(kernel) / cycles_per_line(kernel);
    let hertz = 1e9 / known.cycle().value;
    let instructions = (
        "bytes that its instructions move in a cycle, times the clock",
        per_cycle,
        Basis::published(hertz, &format!("{:.3} GHz, {}; {FOG}", hertz / 1e9, clock_source(known))),
    );
    // Where the processor chooses, it reads lines before it writes them: the usual case.
    let crossing = if kernel.is_non_temporal() { kernel.bus_bytes().0 } else { kernel.bus_bytes().1 };
    let level = if kernel.is_non_temporal() { Level::Memory } else { level };
    let wires = wires(level, reference_rate, hertz).map(|(what, times, each)| (what, times / crossing, each));
    let slower = match wires {
        Some(wires) if wires.1 * wires.2.value < instructions.1 * instructions.2.value => wires,
        _ => instructions,
    };
    Prediction::new().hardware(slower.0, slower.1, slower.2)
}

fn clock_source(known: &Known) -> &'static str {
    match (known.core_hz, known.machine.nominal_hz()) {
        (Some(_), _) => "as calibrated chains showed it",
        (None, Some(_)) => "as declared",
        (None, None) => "assumed",
    }
}

/// Bytes a second that the wires behind the first cache carry in lines; `None` where nothing leaves it.
fn wires(level: Level, reference_rate: Option<Basis>, hertz: f64) -> Option<(&'static str, f64, Basis)> {
    let measured = |what| reference_rate.map(|rate| (what, 1.0, rate));
    let published = |what, per_cycle| (what, per_cycle, Basis::published(hertz, WIRES));
    match level {
        Level::Cache(1) => None,
        Level::Cache(2) => measured(
            "what the widest vectors read of this level, by the bytes that must cross its wires",
        )
        .or(Some(published(
            "bytes in a cycle from the second cache, by the bytes that must cross, times the clock",
            32.0,
        ))),
        Level::Cache(_) => measured(
            "what the widest vectors read of this level, by the bytes that must cross its wires",
        )
        .or(Some(published(
            "bytes in a cycle from a farther cache, by the bytes that must cross, times the clock",
            16.0,
        ))),
        Level::Memory => measured(
            "what the widest vectors read of memory, by the bytes that must cross the bus",
        )
        .or(Some((
            "lines in flight, by the bytes that must cross the bus",
            LINES_IN_FLIGHT,
            Basis::published(64.0 / MEMORY_NS * 1e9, LITTLE),
        ))),
    }
}

/// No core sold loads more than four times or 192 bytes a cycle, nor stores more than twice or 128 bytes.
pub fn bound(kernel: &Kernel, known: &Known) -> Bound {
    // Nothing is known of the accesses that a compiler, the library or microcode choose.
    let width = match (kernel.maker, kernel.method) {
        (Maker::Assembly(width), "word loop" | "8 words unrolled" | PER_LINE) => width,
        (Maker::Assembly(width), _) if width > 8 => width,
        _ => 64,
    } as f64;
    let load = (4.0 * width).min(192.0);
    let store = (2.0 * width).min(128.0);
    let line = kernel.used_of_line() as f64;
    let cycles = (line * kernel.kind.loaded() as f64 / load).max(line * kernel.kind.stored() as f64 / store);
    Bound {
        limit: bytes_per_line(kernel) / cycles / (known.shortest_cycle() * 1e-9),
        because: "no core loads more than four times or 192 bytes in a cycle, nor stores more than twice or 128 bytes"
            .to_owned(),
    }
}
