//! Published figures of processor cores by design, for predictions made before any measurement.
//!
//! A core whose model number is hidden, as by hypervisors, is treated as the oldest design of its vendor that has its flags:
//! later ones have at least its capabilities.

use fathom_core::prelude::*;
use fathom_core::quantities;
use std::borrow::Cow;

/// A core design. Times in core cycles.
#[derive(Debug, Clone, PartialEq)]
pub struct Core {
    /// Beginnings of its name in the description of the machine; empty for the other designs of x86-64 and Arm.
    designs: &'static [&'static str],
    /// The vendor, and the flag that its earlier designs lack; `None` if no flag identifies it.
    recognised_by: Option<(&'static str, &'static str)>,
    /// Instructions per cycle that its front end issues.
    width: f64,
    /// Taken branches per cycle of a loop in its branch predictor.
    pub taken_branches: f64,
    /// Multiplications of integers that begin in a cycle.
    pub multipliers: f64,
    /// Latency of an addition of doubles.
    pub double_add: f64,
    /// Latency of a multiplication of doubles.
    pub double_multiply: f64,
    /// Where a load of data just stored at the same address has them from.
    pub forwards: Forwards,
    /// Load latencies of the first- and second-level caches.
    pub cache_cycles: [f64; 2],
    /// Entries of the data TLBs for base pages, first and second level; `None` if designs differ.
    pub tlb_entries: Option<[u64; 2]>,
    /// Misses of the first-level data cache that are in flight at once; `None` if designs differ or no manual says it.
    pub misses: Option<f64>,
    pub source: Cow<'static, str>,
}

/// Where a load of data just stored at the same address has them from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwards {
    /// From a register, at rename.
    AtRename,
    /// From a register at rename, or from the buffer of stores: published is that both occur, and not when.
    Either,
    /// From the buffer of stores.
    FromBuffer,
}

const INTEL: &str = "GenuineIntel";
const AMD: &str = "AuthenticAMD";

/// The newer designs of a vendor before its older ones.
const CORES: &[Core] = &[
    Core {
        designs: &[
            "Sapphire Rapids",
            "Emerald Rapids",
            "Granite Rapids",
            "Alder Lake",
            "Raptor Lake",
            "Meteor Lake",
        ],
        recognised_by: Some((INTEL, "amx_tile")),
        width: 6.0,
        taken_branches: 1.0,
        multipliers: 1.0,
        double_add: 2.0,
        double_multiply: 4.0,
        forwards: Forwards::Either,
        cache_cycles: [5.0, 15.0],
        tlb_entries: Some([96, 2048]),
        misses: Some(16.0),
        source: Cow::Borrowed("Intel 64 and IA-32 Architectures Optimization Reference Manual, Golden Cove"),
    },
    Core {
        designs: &["Lunar Lake", "Arrow Lake"],
        recognised_by: None,
        width: 8.0,
        taken_branches: 1.0,
        multipliers: 1.0,
        double_add: 3.0,
        double_multiply: 4.0,
        forwards: Forwards::AtRename,
        cache_cycles: [4.0, 17.0],
        tlb_entries: None,
        misses: None,
        source: Cow::Borrowed("Intel, Lunar Lake Architecture, Lion Cove (Intel Tech Tour 2024)"),
    },
    Core {
        designs: &["Ice Lake", "Rocket Lake", "Tiger Lake"],
        recognised_by: Some((INTEL, "avx512_vbmi2")),
        width: 5.0,
        taken_branches: 1.0,
        multipliers: 1.0,
        double_add: 4.0,
        double_multiply: 4.0,
        forwards: Forwards::FromBuffer,
        cache_cycles: [5.0, 14.0],
        tlb_entries: Some([64, 2048]),
        misses: None,
        source: Cow::Borrowed(
            "Intel 64 and IA-32 Architectures Optimization Reference Manual, Ice Lake Client",
        ),
    },
    Core {
        designs: &["Skylake", "Kaby Lake", "Comet Lake", "Cannon Lake"],
        recognised_by: Some((INTEL, "avx512f")),
        width: 4.0,
        taken_branches: 1.0,
        multipliers: 1.0,
        double_add: 4.0,
        double_multiply: 4.0,
        forwards: Forwards::FromBuffer,
        cache_cycles: [5.0, 14.0],
        tlb_entries: Some([64, 1536]),
        misses: None,
        source: Cow::Borrowed("Intel 64 and IA-32 Architectures Optimization Reference Manual, Skylake"),
    },
    Core {
        designs: &["Zen 5"],
        recognised_by: Some((AMD, "avx_vnni")),
        width: 8.0,
        taken_branches: 2.0,
        multipliers: 3.0,
        double_add: 2.0,
        double_multiply: 3.0,
        forwards: Forwards::AtRename,
        cache_cycles: [4.0, 14.0],
        tlb_entries: Some([96, 4096]),
        misses: None,
        source: Cow::Borrowed("AMD, Software Optimization Guide for the Zen 5 Microarchitecture (58455)"),
    },
    Core {
        designs: &["Zen 4"],
        recognised_by: Some((AMD, "avx512f")),
        width: 6.0,
        taken_branches: 1.0,
        multipliers: 1.0,
        double_add: 3.0,
        double_multiply: 3.0,
        forwards: Forwards::AtRename,
        cache_cycles: [4.0, 14.0],
        tlb_entries: Some([72, 3072]),
        misses: Some(24.0),
        source: Cow::Borrowed("AMD, Software Optimization Guide for the Zen 4 Microarchitecture (57647)"),
    },
    Core {
        designs: &["Zen 2", "Zen 3"],
        recognised_by: None,
        width: 6.0,
        taken_branches: 1.0,
        multipliers: 1.0,
        double_add: 3.0,
        double_multiply: 3.0,
        forwards: Forwards::AtRename,
        cache_cycles: [4.0, 12.0],
        tlb_entries: Some([64, 2048]),
        misses: None,
        source: Cow::Borrowed(
            "AMD, Software Optimization Guides for the family 17h models 30h and family 19h (56305, 56665)",
        ),
    },
    Core {
        designs: &["Neoverse N1"],
        recognised_by: None,
        width: 4.0,
        taken_branches: 1.0,
        multipliers: 1.0,
        double_add: 2.0,
        double_multiply: 3.0,
        forwards: Forwards::FromBuffer,
        cache_cycles: [4.0, 11.0],
        tlb_entries: Some([48, 1280]),
        misses: None,
        source: Cow::Borrowed("Arm, Neoverse N1 Software Optimization Guide and Technical Reference Manual"),
    },
];

/// An x86-64 core of unknown design.
const X86_64: Core = Core {
    designs: &[],
    recognised_by: None,
    width: 4.0,
    taken_branches: 1.0,
    multipliers: 1.0,
    double_add: 4.0,
    double_multiply: 4.0,
    forwards: Forwards::FromBuffer,
    cache_cycles: [4.0, 12.0],
    tlb_entries: None,
    misses: None,
    source: Cow::Borrowed(
        "Fog, Instruction tables and Microarchitecture manual, 2022: typical of current x86-64 cores",
    ),
};

/// An Arm core of unknown design.
const AARCH64: Core = Core {
    designs: &[],
    recognised_by: None,
    width: 4.0,
    taken_branches: 1.0,
    multipliers: 1.0,
    double_add: 2.0,
    double_multiply: 3.0,
    forwards: Forwards::FromBuffer,
    cache_cycles: [4.0, 11.0],
    tlb_entries: None,
    misses: None,
    source: Cow::Borrowed("Arm, Neoverse N1 Software Optimization Guide, typical of current cores of Arm"),
};

impl Core {
    /// Taken branches per cycle of a loop of so many iterations. Two in a cycle are predicted of code that fits the first level of the
    /// branch predictor's history; an exit after few iterations does, one after hundreds does not.
    pub fn taken_branches_of(&self, iterations: f64) -> f64 {
        if iterations <= SHORT_LOOP { self.taken_branches } else { 1.0 }
    }
}

/// Iterations of a loop whose exit is in the branch history, order of magnitude.
const SHORT_LOOP: f64 = 16.0;

/// The published figures of this machine's cores; of a core that the machine does not name, the source says so.
pub fn of(machine: &Machine) -> Core {
    let other = if machine.is_aarch64() { AARCH64 } else { X86_64 };
    let named = machine.processor.microarchitecture.value();
    match named {
        Some(name) => {
            let is_it = |core: &&Core| core.designs.iter().any(|design| name.starts_with(design));
            CORES.iter().find(is_it).cloned()
        }
        None => CORES.iter().find_map(|core| {
            let (_, flag) = core.recognised_by.filter(|(vendor, flag)| has(machine, vendor, flag))?;
            let source =
                format!("{}: this core is not named, but has {flag} and so is no older", core.source);
            Some(Core { source: source.into(), ..core.clone() })
        }),
    }
    .unwrap_or(other)
}

/// Whether its package consists of tiles: Intel's servers since Sapphire Rapids, the first with matrix instructions.
pub fn has_tiles(machine: &Machine) -> bool {
    has(machine, INTEL, "amx_tile")
}

/// Whether the processor is one of Intel's.
pub fn is_intels(machine: &Machine) -> bool {
    machine.processor.vendor.value().is_some_and(|vendor| vendor == INTEL)
}

/// A time that Intel publishes of its cores: on another's it is assumed.
pub fn as_on_intels(cycles: f64, citation: &str, known: &Known) -> Basis {
    if is_intels(known.machine) {
        return known.cycles(cycles, citation);
    }
    known.assumed_cycles(
        cycles,
        &format!("as on Intel's cores, for want of a figure of this design ({citation})"),
    )
}

/// Whether the machine is of this vendor and has this flag.
fn has(machine: &Machine, vendor: &str, flag: &str) -> bool {
    let processor = &machine.processor;
    let shown = |features: &Vec<String>| features.iter().any(|feature| feature == flag);
    processor.vendor.value().is_some_and(|known| known == vendor)
        && processor.features.value().is_some_and(shown)
}

/// The time of an independent instruction, nanoseconds: from the observed CPI of this core, else from the width of its design.
pub fn instruction(known: &Known) -> Basis {
    let cycle = known.cycle();
    if let Some(cpi) = known.machine.processor.cycles_per_instruction.value() {
        let fact = format!(
            "{} cycles of {} ns an instruction (CPI), measured on this core",
            quantities::number(*cpi),
            quantities::number(cycle.value)
        );
        return Basis::fact(cpi * cycle.value, &fact).of_cycle(cycle.value);
    }
    let core = of(known.machine);
    known.cycles(1.0 / core.width, &format!("{} instructions a cycle: {}", core.width, core.source))
}
const RENAMED: &str = "Fog, Microarchitecture manual, 2022: since Zen 2 and Golden Cove a store may be forwarded with zero latency";

/// Cycles of a store forwarded at rename: none or one.
const AT_RENAME: f64 = 0.5;

/// Cycles of a store forwarded from the buffer, to a load of a first-level cache of five.
const FROM_BUFFER: f64 = 5.0;

/// Adds additions to one counter in memory, each of which loads what the one before it has stored.
pub fn increments_in_memory(prediction: Prediction, times: f64, known: &Known) -> Prediction {
    let core = of(known.machine);
    let added = |prediction: Prediction| {
        prediction.hardware("an addition to a counter in memory", times, known.cycles(1.0, &core.source))
    };
    match core.forwards {
        Forwards::AtRename => added(prediction).hardware(
            "its store forwarded to the next load at rename, in no cycle or one",
            times,
            known.cycles(AT_RENAME, RENAMED),
        ),
        Forwards::Either => added(prediction)
            .hardware(
                "its store forwarded to the next load, at rename in no cycle or one, or from the buffer in five (geometric mean)",
                times,
                known.cycles((AT_RENAME * FROM_BUFFER).sqrt(), RENAMED),
            )
            .within(Some([AT_RENAME, FROM_BUFFER].map(|cycles| known.cycles(cycles, RENAMED).value))),
        Forwards::FromBuffer => prediction.hardware(
            "an addition to a counter in memory: a store forwarded to the next load",
            times,
            known.cycles(FROM_BUFFER, &core.source),
        ),
    }
}

/// What is published of the lines in flight of a vendor's cores where that of this core is not known; `None` for other vendors.
fn in_flight_by_vendor(machine: &Machine) -> Option<&'static str> {
    let is_intel = machine.processor.vendor.value().is_some_and(|vendor| vendor == "GenuineIntel");
    is_intel.then_some("10 to 16 fill buffers on Intel's cores: optimization manual")
}

/// By what some lines in flight are assumed of a core of which no number is known: what is published of the cores of one vendor is not said of another's.
pub fn assumed_in_flight(machine: &Machine) -> &'static str {
    in_flight_by_vendor(machine).unwrap_or("assumed, as no number of lines in flight is known of this core")
}

/// A time, nanoseconds, that rests on so many lines in flight: published where their number is.
pub fn of_assumed_in_flight(machine: &Machine, ns: f64, lines: u32) -> Basis {
    let why = format!("{lines} lines in flight per core ({})", assumed_in_flight(machine));
    let is_published = in_flight_by_vendor(machine).is_some();
    if is_published { Basis::published(ns, &why) } else { Basis::assumed(ns, &why) }
}
