//! The processor: its manufacturer, name and clocks.

use serde::{Deserialize, Serialize};

use super::cpuid;
use super::fact::Fact;
use super::host::Host;
use super::microarchitecture;
use super::source::{Root, decimal, field, parse_hex};
use super::tlbs::{self, Tlb};

/// The processor, as the CPU with the lowest number shows it (`topology.classes` shows where CPUs differ).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Processor {
    /// The CPU from which it was read, by instructions and files; absent where no CPU was known. A run reads the CPU that it
    /// measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    /// `GenuineIntel`, `AuthenticAMD`, `Arm`.
    pub vendor: Fact<String>,
    /// The marketing name.
    pub model_name: Fact<String>,
    /// The design (`Zen 4`, `Golden Cove`, `Neoverse N1`).
    pub microarchitecture: Fact<String>,
    /// Family number (x86).
    pub family: Fact<u32>,
    /// Model number (x86), or part number (Arm).
    pub model: Fact<u32>,
    /// Stepping (x86), or revision (Arm).
    pub stepping: Fact<u32>,
    /// Microcode revision.
    pub microcode: Fact<String>,
    /// Nominal (base) clock, Hz; the source says when it is assumed.
    pub nominal_hz: Fact<f64>,
    /// Highest clock the processor may take, Hz.
    pub maximum_hz: Fact<f64>,
    /// Lowest clock, Hz.
    pub minimum_hz: Fact<f64>,
    /// Clock that calibrated chains of instructions showed when the machine was described, Hz; it is observed again with each
    /// sample. Files do not have it, so it is unknown until the sampler has filled it in.
    pub observed_hz: Fact<f64>,
    /// Core cycles for an instruction that waits for nothing (CPI), measured when the machine was described; unknown until the
    /// sampler has filled it in.
    #[serde(default = "unmeasured")]
    pub cycles_per_instruction: Fact<f64>,
    /// The clock at one moment according to the kernel, Hz.
    pub momentary_hz: Fact<f64>,
    /// The counter that ticks at a constant rate.
    pub tick_counter: TickCounter,
    /// Bits of a physical address.
    pub physical_address_bits: Fact<u32>,
    /// Bits of a virtual address.
    pub virtual_address_bits: Fact<u32>,
    /// `little endian` or `big endian`.
    pub byte_order: Fact<String>,
    /// Instruction-set extensions that matter to what is measured here.
    pub features: Fact<Vec<String>>,
    /// Translation look-aside buffers.
    pub tlbs: Fact<Vec<Tlb>>,
}

/// The time-stamp counter (x86), or the generic timer's virtual count (Arm).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TickCounter {
    /// Rate as declared by processor, hypervisor or kernel, Hz. The sampler measures the actual rate.
    pub declared_hz: Fact<f64>,
    /// Whether it ticks alike in every frequency and idle state.
    pub invariant: Fact<bool>,
    /// Whether `rdtscp`, the reading that waits for earlier instructions, exists (x86).
    pub rdtscp: Fact<bool>,
}

/// Extensions that change how memory is copied, fenced, read or timed.
const FEATURES_OF_INTEREST: &str = "sse4_2 avx avx2 avx512f avx512_vbmi2 avx512_fp16 avx_vnni amx_tile \
    erms fsrm clflushopt clwb movdiri movdir64b rdtscp constant_tsc nonstop_tsc tsc_reliable pcid invpcid \
    smep smap pdpe1gb la57 waitpkg hybrid_cpu aperfmperf atomics sve sve2 dcpop lrcpc asimd paca bti";

/// The value that no file contains.
fn unmeasured() -> Fact<f64> {
    Fact::unknown("it was not measured", "counters, or calibrated streams of instructions")
}

pub(super) fn read(root: &Root, host: &dyn Host, cpu: Option<usize>) -> Processor {
    let all = root.text("/proc/cpuinfo");
    let info = all.clone().map(|info| of_cpu(&info, cpu).to_owned());
    let folder = format!("/sys/devices/system/cpu/cpu{}", cpu.unwrap_or(0));
    let tick_counter = tick_counter(&info, &all, host);
    let [family, model, stepping] = signature(root, &folder, &info, host);
    let (specified_base, specified_maximum) = cpuid::specified_frequencies(host);
    let vendor = vendor(root, &folder, &info, host);
    let design = microarchitecture::of(&vendor, &family, &model, &line(&info, "flags"));
    Processor {
        cpu,
        nominal_hz: nominal(root, &folder, &info, specified_base, &tick_counter.declared_hz),
        maximum_hz: root
            .frequency(&format!("{folder}/cpufreq/cpuinfo_max_freq"))
            .or_else(|| specified_maximum),
        minimum_hz: root.frequency(&format!("{folder}/cpufreq/cpuinfo_min_freq")),
        observed_hz: Fact::unknown("it was not measured", "calibrated chains of instructions"),
        cycles_per_instruction: unmeasured(),
        momentary_hz: momentary(root, &folder, &info),
        model_name: model_name(root, &info, &vendor, &design),
        microcode: line(&info, "microcode").or_else(|| root.word(&format!("{folder}/microcode/version"))),
        physical_address_bits: address_bits(&info, host, 0, "physical"),
        virtual_address_bits: address_bits(&info, host, 1, "virtual"),
        byte_order: Fact::known(byte_order().to_owned(), "the build target"),
        features: features(&info).or_else(|| executed(host)),
        tlbs: tlbs::read(host),
        microarchitecture: design,
        vendor,
        family,
        model,
        stepping,
        tick_counter,
    }
}

/// The part of /proc/cpuinfo about one CPU: its paragraph, or everything if it has none.
fn of_cpu(info: &str, cpu: Option<usize>) -> &str {
    let is_its = |part: &&str| cpu.is_some() && field(part, "processor").and_then(|n| n.parse().ok()) == cpu;
    info.split("\n\n").find(is_its).unwrap_or(info)
}

/// One `key : value` line of /proc/cpuinfo.
fn line(info: &Fact<String>, key: &str) -> Fact<String> {
    match info {
        Fact::Known { value, source } => match field(value, key).filter(|value| !value.is_empty()) {
            Some(value) => Fact::known(value.to_owned(), format!("{source} \"{key}\"")),
            None => {
                Fact::unknown(format!("this architecture's cpuinfo has no line \"{key}\""), source.clone())
            }
        },
        Fact::Unknown { unknown, source } => Fact::unknown(unknown.clone(), source.clone()),
    }
}

fn number(info: &Fact<String>, key: &str) -> Fact<u32> {
    line(info, key).parse("a number", |text| match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    })
}

fn vendor(root: &Root, folder: &str, info: &Fact<String>, host: &dyn Host) -> Fact<String> {
    line(info, "vendor_id").or_else(|| cpuid::vendor(host)).or_else(|| {
        midr(root, folder, info).parse("an implementer known here", |midr| {
            microarchitecture::implementer((midr >> 24 & 0xff) as u32).map(str::to_owned)
        })
    })
}

/// The processor's own name; on Arm, if it has none, its designer and part; otherwise the firmware's name of the board.
fn model_name(
    root: &Root,
    info: &Fact<String>,
    vendor: &Fact<String>,
    design: &Fact<String>,
) -> Fact<String> {
    let part = match (line(info, "CPU implementer").value(), vendor.value()) {
        (Some(_), Some(vendor)) => design.clone().map(|part| format!("{vendor} {part}")),
        _ => Fact::unknown("it has a name of its own", design.source()),
    };
    line(info, "model name")
        .or_else(|| part)
        .or_else(|| root.word("/sys/firmware/devicetree/base/model").map(|text| text.replace('\0', "")))
        .because("neither the kernel nor the firmware names it")
}

/// Arm's main identification register, from its file or composed from cpuinfo.
fn midr(root: &Root, folder: &str, info: &Fact<String>) -> Fact<u64> {
    root.text(&format!("{folder}/regs/identification/midr_el1"))
        .parse("a hexadecimal number", |text| parse_hex(text))
        .or_else(|| {
            let implementer = number(info, "CPU implementer");
            let part = number(info, "CPU part").value().copied().unwrap_or_default();
            let revision = number(info, "CPU revision").value().copied().unwrap_or_default();
            implementer
                .map(|implementer| u64::from(implementer) << 24 | u64::from(part) << 4 | u64::from(revision))
        })
}

/// Family, model, stepping; on Arm no family, the part number and the revision.
fn signature(root: &Root, folder: &str, info: &Fact<String>, host: &dyn Host) -> [Fact<u32>; 3] {
    let from_instruction = |index: usize| cpuid::signature(host).map(|signature| signature[index]);
    let from_midr =
        |shift: u32, mask: u64| midr(root, folder, info).map(|midr| (midr >> shift & mask) as u32);
    [
        number(info, "cpu family").or_else(|| from_instruction(0)),
        number(info, "model").or_else(|| from_instruction(1)).or_else(|| from_midr(4, 0xfff)),
        number(info, "stepping").or_else(|| from_instruction(2)).or_else(|| from_midr(0, 0xf)),
    ]
}

/// The nominal clock, from the most to the least direct source.
fn nominal(
    root: &Root,
    folder: &str,
    info: &Fact<String>,
    specified: Fact<f64>,
    ticks: &Fact<f64>,
) -> Fact<f64> {
    specified
        .or_else(|| root.frequency(&format!("{folder}/cpufreq/base_frequency")))
        .or_else(|| {
            root.decimal(&format!("{folder}/acpi_cppc/nominal_freq"))
                .parse("a frequency", |megahertz| (*megahertz > 0.0).then_some(megahertz * 1e6))
        })
        .or_else(|| {
            line(info, "model name").parse("a name that ends with the clock", |name| clock_in_name(name))
        })
        .or_else(|| {
            if line(info, "flags").value().is_none() {
                return Fact::unknown(
                    "only on x86 does the tick counter run at the nominal clock",
                    ticks.source(),
                );
            }
            ticks.clone().via(" (assumed: an invariant time-stamp counter ticks at the nominal clock)")
        })
        .because("neither the processor, the kernel nor the firmware reports it")
}

/// `Intel(R) Xeon(R) CPU @ 2.20GHz` → 2.2e9.
fn clock_in_name(name: &str) -> Option<f64> {
    let clock = name.rsplit_once('@')?.1.trim();
    let (number, unit) = match (clock.strip_suffix("GHz"), clock.strip_suffix("MHz")) {
        (Some(number), _) => (number, 1e9),
        (_, Some(number)) => (number, 1e6),
        _ => return None,
    };
    decimal(number).filter(|number| *number > 0.0).map(|number| number * unit)
}

fn momentary(root: &Root, folder: &str, info: &Fact<String>) -> Fact<f64> {
    line(info, "cpu MHz")
        .parse("a number", |text| decimal(text))
        .map(|megahertz| megahertz * 1e6)
        .or_else(|| root.frequency(&format!("{folder}/cpufreq/scaling_cur_freq")))
}

/// The first of all CPUs in /proc/cpuinfo whose counter is not constant if others' are (R-TIM-07): an instruction reports
/// only one CPU.
fn inconstant(all: &Fact<String>) -> Option<Fact<bool>> {
    let constant = |part| Some((field(part, "processor")?, field(part, "flags")?.contains("constant_tsc")));
    let cpus: Vec<(&str, bool)> = all.value()?.split("\n\n").filter_map(constant).collect();
    let differ = cpus.iter().any(|(_, constant)| *constant);
    let (cpu, _) = cpus.iter().find(|(_, constant)| differ && !constant)?;
    Some(Fact::known(false, format!("{}: CPU {cpu} has no constant_tsc, others have", all.source())))
}

fn tick_counter(info: &Fact<String>, all: &Fact<String>, host: &dyn Host) -> TickCounter {
    let flags = line(info, "flags");
    let has = |flag: &str| flags.clone().map(|flags| flags.split_whitespace().any(|name| name == flag));
    TickCounter {
        declared_hz: cpuid::tsc_frequency(host).or_else(|| arm_rate(host)).or_else(|| from_bogomips(info)),
        // The Arm architecture fixes the rate of its generic timer, so knowing that it is Arm is enough.
        invariant: inconstant(all).unwrap_or_else(|| {
            cpuid::bit(host, 0x8000_0007, 3, 8).or_else(|| has("nonstop_tsc")).or_else(|| {
                line(info, "CPU implementer").map(|_| true).via(" (Arm: fixed by the architecture)")
            })
        }),
        rdtscp: cpuid::bit(host, 0x8000_0001, 3, 27).or_else(|| has("rdtscp")),
    }
}

fn arm_rate(host: &dyn Host) -> Fact<f64> {
    match host.counter_frequency() {
        Some(rate) => Fact::known(rate as f64, "CNTFRQ_EL0"),
        None => Fact::unknown("this architecture has no such register", "CNTFRQ_EL0"),
    }
}

/// On x86 the kernel sets its delay loop from the TSC's frequency, and "bogomips" is twice that, in MHz.
fn from_bogomips(info: &Fact<String>) -> Fact<f64> {
    let constant = line(info, "flags").value().is_some_and(|flags| flags.contains("constant_tsc"));
    if !constant {
        return Fact::unknown(
            "neither the processor, the hypervisor nor the kernel declares it",
            "CPUID, /proc/cpuinfo",
        );
    }
    line(info, "bogomips")
        .parse("a number", |text| decimal(text).filter(|number| *number > 0.0))
        .map(|bogomips| bogomips * 1e6 / 2.0)
        .via(" ÷ 2 (the kernel sets its delay loop from the counter; to 5 kHz)")
}

fn address_bits(info: &Fact<String>, host: &dyn Host, index: usize, kind: &str) -> Fact<u32> {
    line(info, "address sizes")
        .parse("two numbers of bits", |text| {
            let part = text.split(',').find(|part| part.contains(kind))?;
            part.split_whitespace().next()?.parse().ok()
        })
        .or_else(|| cpuid::address_bits(host).map(|bits| bits[index]))
}

fn byte_order() -> &'static str {
    if cfg!(target_endian = "little") { "little endian" } else { "big endian" }
}

fn features(info: &Fact<String>) -> Fact<Vec<String>> {
    line(info, "flags").or_else(|| line(info, "Features")).map(|flags| {
        let present: Vec<&str> = flags.split_whitespace().collect();
        let features = FEATURES_OF_INTEREST.split(' ').filter(|feature| present.contains(feature));
        features.map(str::to_owned).collect()
    })
}

/// Those of them that the processor itself tells of, where the kernel's list cannot be read.
fn executed(host: &dyn Host) -> Fact<Vec<String>> {
    let source = "instructions (CPUID, XGETBV)";
    let features: Vec<(&str, bool)> =
        FEATURES_OF_INTEREST.split(' ').filter_map(|name| Some((name, host.executes(name)?))).collect();
    if features.is_empty() {
        return Fact::unknown("no instruction tells them", source);
    }
    let present = features.into_iter().filter(|(_, executes)| *executes);
    Fact::known(present.map(|(name, _)| name.to_owned()).collect(), source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_list_of_extensions_is_replaced_by_what_instructions_tell() {
        struct Avx;
        impl Host for Avx {
            fn executes(&self, extension: &str) -> Option<bool> {
                ["avx", "avx2", "avx512f"].contains(&extension).then_some(extension != "avx512f")
            }
        }
        struct Silent;
        impl Host for Silent {}
        let tree = tempfile::tempdir().unwrap();
        let of = |host: &dyn Host| read(&Root::new(tree.path()), host, None).features;
        assert_eq!(of(&Avx).value().unwrap(), &["avx", "avx2"]);
        assert!(of(&Silent).value().is_none());
    }

    #[test]
    fn the_clock_is_read_from_names_that_carry_it() {
        assert_eq!(clock_in_name("Intel(R) Xeon(R) CPU @ 2.20GHz"), Some(2.2e9));
        assert_eq!(clock_in_name("Intel(R) Atom(TM) CPU @ 800MHz"), Some(8e8));
        assert_eq!(clock_in_name("AMD EPYC"), None);
        assert_eq!(clock_in_name("strange @ GHz"), None);
    }
}
