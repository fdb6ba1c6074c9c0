//! The microarchitecture of a processor, by its identification numbers.
//!
//! Sources: Intel SDM volume 4 table 2-1 and the kernel's intel-family.h; AMD's revision guides; Arm's
//! technical reference manuals (MIDR) and the kernel's arch/arm64/include/asm/cputype.h. A number that is not here stays unknown rather than guessed.

use super::fact::Fact;

/// The microarchitecture of a vendor's family and model (x86) or part (Arm), if the processor has no flag that contradicts
/// it: hypervisors hide a model more often than they add flags, so a flag that the named design never had shows that it is
/// another.
pub(super) fn of(
    vendor: &Fact<String>,
    family: &Fact<u32>,
    model: &Fact<u32>,
    flags: &Fact<String>,
) -> Fact<String> {
    let source = format!("table of model numbers, from {}", model.source());
    let Some(vendor) = vendor.value() else {
        return Fact::unknown("the vendor is unknown", source);
    };
    let Some(model) = model.value().copied() else {
        return Fact::unknown("the model number is unknown", source);
    };
    let family = family.value().copied().unwrap_or_default();
    let name = match vendor.as_str() {
        "GenuineIntel" if family == 6 => intel(model),
        "AuthenticAMD" | "HygonGenuine" => amd(family, model),
        _ => arm(vendor, model),
    };
    let flags = flags.value().map_or("", String::as_str);
    match name.map(|name| (name, foreign_flag(name, flags))) {
        Some((name, None)) => Fact::known(name.to_owned(), source),
        Some((name, Some(flag))) => Fact::unknown(
            format!("model {model:#x} is {name}, which never had {flag}: a hypervisor hides the model"),
            format!("{source}, and its flags"),
        ),
        None => Fact::unknown(
            "the model number is not in the table",
            format!("{vendor} family {family:#x} model {model:#x}"),
        ),
    }
}

/// Flags that only some designs have, in the kernel's spelling, with how the names of these designs begin. Sources: Intel, Architecture
/// Instruction Set Extensions Programming Reference (319433), table 1-2; AMD, revision guides.
const FLAGS: [(&str, &str); 5] = [
    ("amx_tile", "Sapphire Rapids; Emerald Rapids; Granite Rapids"),
    ("avx512_fp16", "Sapphire Rapids; Emerald Rapids; Granite Rapids; Alder Lake"),
    (
        "avx_vnni",
        "Sapphire Rapids; Emerald Rapids; Granite Rapids; Sierra Forest; Alder Lake; Raptor Lake; Meteor Lake; \
         Lunar Lake; Arrow Lake; Gracemont; Zen 5",
    ),
    (
        "avx512_vbmi2",
        "Ice Lake; Rocket Lake; Tiger Lake; Sapphire Rapids; Emerald Rapids; Granite Rapids; Alder Lake; \
         Zen 4; Zen 5",
    ),
    (
        "avx512f",
        "Xeon Phi; Skylake, Cascade Lake; Cannon Lake; Ice Lake; Rocket Lake; Tiger Lake; Sapphire Rapids; \
         Emerald Rapids; Granite Rapids; Alder Lake; Zen 4; Zen 5",
    ),
];

/// A flag that the design of this name does not have.
fn foreign_flag(name: &str, flags: &str) -> Option<&'static str> {
    let shown = |name: &str| flags.split_whitespace().any(|flag| flag == name);
    let has = |designs: &str| designs.split("; ").any(|design| name.starts_with(design));
    FLAGS.iter().find(|(flag, designs)| shown(flag) && !has(designs)).map(|(flag, _)| *flag)
}

fn intel(model: u32) -> Option<&'static str> {
    Some(match model {
        0x1a | 0x1e | 0x1f | 0x2e => "Nehalem",
        0x25 | 0x2c | 0x2f => "Westmere",
        0x2a | 0x2d => "Sandy Bridge",
        0x3a | 0x3e => "Ivy Bridge",
        0x3c | 0x3f | 0x45 | 0x46 => "Haswell",
        0x3d | 0x47 | 0x4f | 0x56 => "Broadwell",
        0x4e | 0x5e => "Skylake",
        0x55 => "Skylake, Cascade Lake or Cooper Lake (server)",
        0x66 => "Cannon Lake",
        0x8e | 0x9e => "Kaby Lake or Coffee Lake",
        0xa5 | 0xa6 => "Comet Lake",
        0x7d | 0x7e => "Ice Lake",
        0x6a | 0x6c => "Ice Lake (server)",
        0xa7 => "Rocket Lake",
        0x8c | 0x8d => "Tiger Lake",
        0x97 | 0x9a => "Alder Lake (Golden Cove and Gracemont)",
        0xb7 | 0xba | 0xbf => "Raptor Lake (Raptor Cove and Gracemont)",
        0xaa | 0xac => "Meteor Lake (Redwood Cove and Crestmont)",
        0xbd => "Lunar Lake (Lion Cove and Skymont)",
        0xb5 | 0xc5 | 0xc6 => "Arrow Lake (Lion Cove and Skymont)",
        0x8f => "Sapphire Rapids",
        0xcf => "Emerald Rapids",
        0xad | 0xae => "Granite Rapids",
        0xaf => "Sierra Forest",
        0x37 | 0x4a | 0x4c | 0x4d | 0x5a => "Silvermont or Airmont",
        0x5c | 0x5f => "Goldmont",
        0x7a => "Goldmont Plus",
        0x86 | 0x96 | 0x9c => "Tremont",
        0xbe => "Gracemont",
        0x57 | 0x85 => "Xeon Phi",
        _ => return None,
    })
}

fn amd(family: u32, model: u32) -> Option<&'static str> {
    Some(match (family, model) {
        (0x10, _) => "K10",
        (0x15, 0x00..=0x01) => "Bulldozer",
        (0x15, 0x02 | 0x10..=0x1f) => "Piledriver",
        (0x15, 0x30..=0x3f) => "Steamroller",
        (0x15, 0x60..=0x7f) => "Excavator",
        (0x17, 0x08 | 0x18) => "Zen+",
        (0x17, 0x00..=0x2f) | (0x18, _) => "Zen",
        (0x17, 0x30..=0xaf) => "Zen 2",
        (0x19, 0x00..=0x0f | 0x20..=0x5f) => "Zen 3",
        (0x19, 0x10..=0x1f | 0x60..=0xaf) => "Zen 4",
        (0x1a, 0x00..=0x4f | 0x60..=0x7f) => "Zen 5",
        _ => return None,
    })
}

/// The process by which the processors of a design are made, as their makers name it; `None` for a design of which several processes,
/// or makers that choose one, are known.
///
/// Sources: Intel, product specifications (ark.intel.com, "Lithography"); AMD, product specifications ("Processor Technology for CPU
/// Cores") and the architecture overview of EPYC 9005 (2024).
pub fn process(design: &str) -> Option<&'static str> {
    const PROCESSES: [(&str, &[&str]); 15] = [
        ("45 nm", &["Nehalem"]),
        ("32 nm", &["Westmere", "Sandy Bridge", "Bulldozer", "Piledriver"]),
        ("28 nm", &["Steamroller", "Excavator"]),
        ("22 nm", &["Ivy Bridge", "Haswell"]),
        ("14 nm", &["Broadwell", "Skylake", "Kaby Lake", "Comet Lake", "Rocket Lake", "Goldmont", "Zen"]),
        ("12 nm", &["Zen+"]),
        ("10 nm", &["Cannon Lake", "Ice Lake", "Tiger Lake", "Tremont"]),
        ("Intel 7 (10 nm)", &["Alder Lake", "Raptor Lake", "Sapphire Rapids", "Emerald Rapids", "Gracemont"]),
        ("7 nm", &["Zen 2", "Zen 3"]),
        ("5 nm", &["Zen 4"]),
        ("4 nm (dense cores 3 nm)", &["Zen 5"]),
        ("Intel 4 (7 nm)", &["Meteor Lake"]),
        ("Intel 3", &["Granite Rapids", "Sierra Forest"]),
        ("3 nm", &["Lunar Lake", "Arrow Lake"]),
        ("5 nm (second generation for M2)", &["Icestorm", "Firestorm", "Blizzard", "Avalanche"]),
    ];
    let is_of = |name: &str| match design.strip_prefix(name) {
        Some(rest) => rest.is_empty() || rest.starts_with([',', '(']) || rest.starts_with(" ("),
        None => false,
    };
    let starts = |names: &[&str]| names.iter().any(|name| is_of(name) || two_designs(design, name));
    PROCESSES.into_iter().find(|(_, names)| starts(names)).map(|(process, _)| process)
}

/// Whether a name is of several designs, of which the first is this one: `Kaby Lake or Coffee Lake`.
fn two_designs(design: &str, name: &str) -> bool {
    design.strip_prefix(name).is_some_and(|rest| rest.starts_with(" or ") || rest == " Plus")
}

/// The company behind an Arm implementer code.
pub(super) fn implementer(code: u32) -> Option<&'static str> {
    Some(match code {
        0x41 => "Arm",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4e => "NVIDIA",
        0x50 => "Applied Micro",
        0x51 => "Qualcomm",
        0x53 => "Samsung",
        0x61 => "Apple",
        0x6d => "Microsoft",
        0xc0 => "Ampere",
        _ => return None,
    })
}

/// The core behind an implementer's part number.
pub(super) fn arm(vendor: &str, part: u32) -> Option<&'static str> {
    Some(match (vendor, part) {
        ("Arm", 0xd03) => "Cortex-A53",
        ("Arm", 0xd04) => "Cortex-A35",
        ("Arm", 0xd05) => "Cortex-A55",
        ("Arm", 0xd07) => "Cortex-A57",
        ("Arm", 0xd08) => "Cortex-A72",
        ("Arm", 0xd09) => "Cortex-A73",
        ("Arm", 0xd0a) => "Cortex-A75",
        ("Arm", 0xd0b) => "Cortex-A76",
        ("Arm", 0xd0c) => "Neoverse N1",
        ("Arm", 0xd0d) => "Cortex-A77",
        ("Arm", 0xd40) => "Neoverse V1",
        ("Arm", 0xd41) => "Cortex-A78",
        ("Arm", 0xd44) => "Cortex-X1",
        ("Arm", 0xd46) => "Cortex-A510",
        ("Arm", 0xd47) => "Cortex-A710",
        ("Arm", 0xd48) => "Cortex-X2",
        ("Arm", 0xd49) => "Neoverse N2",
        ("Arm", 0xd4a) => "Neoverse E1",
        ("Arm", 0xd4d) => "Cortex-A715",
        ("Arm", 0xd4e) => "Cortex-X3",
        ("Arm", 0xd4f) => "Neoverse V2",
        ("Arm", 0xd80) => "Cortex-A520",
        ("Arm", 0xd81) => "Cortex-A720",
        ("Arm", 0xd84) => "Neoverse V3",
        ("Arm", 0xd8e) => "Neoverse N3",
        ("Arm", 0xd82) => "Cortex-X4",
        ("Arm", 0xd85) => "Cortex-X925",
        ("Arm", 0xd87) => "Cortex-A725",
        ("Microsoft", 0xd49) => "Azure Cobalt 100 (Neoverse N2)",
        ("Qualcomm", 0x001) => "Oryon",
        ("Cavium", 0x0af) => "ThunderX2",
        ("Fujitsu", 0x001) => "A64FX",
        ("HiSilicon", 0xd01) => "TaiShan v110",
        ("HiSilicon", 0xd02) => "TaiShan v120",
        ("NVIDIA", 0x004) => "Carmel",
        ("Ampere", 0xac3) => "Ampere-1",
        ("Ampere", 0xac4) => "Ampere-1A",
        ("Apple", 0x022) => "Icestorm (M1)",
        ("Apple", 0x023) => "Firestorm (M1)",
        ("Apple", 0x032) => "Blizzard (M2)",
        ("Apple", 0x033) => "Avalanche (M2)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_that_of_the_whole_name() {
        assert_eq!(process("Zen"), Some("14 nm"));
        assert_eq!(process("Zen 3"), Some("7 nm"));
        assert_eq!(process("Kaby Lake or Coffee Lake"), Some("14 nm"));
        assert_eq!(process("Skylake, Cascade Lake or Cooper Lake (server)"), Some("14 nm"));
        assert_eq!(process("Alder Lake (Golden Cove and Gracemont)"), Some("Intel 7 (10 nm)"));
        assert_eq!(process("Ice Lake (server)"), Some("10 nm"));
        assert_eq!(
            (process("Zen 6"), process("Neoverse N1"), process("Silvermont or Airmont")),
            (None, None, None)
        );
    }

    /// Every name of the tables of Intel and AMD has one, but for designs of several processes.
    #[test]
    fn designs_without_a_process_are_the_ones_that_have_several() {
        let intel = (0..=0xff).filter_map(intel);
        let amd = [0x10, 0x15, 0x17, 0x19, 0x1a]
            .into_iter()
            .flat_map(|family| (0..=0xff).filter_map(move |model| amd(family, model)));
        let mut without: Vec<&str> = intel.chain(amd).filter(|name| process(name).is_none()).collect();
        without.sort_unstable();
        without.dedup();
        assert_eq!(without, ["K10", "Silvermont or Airmont", "Xeon Phi"]);
    }
}
