//! The CPUID instruction, on the current CPU. Leaf numbers and bits: Intel SDM volume 2 (CPUID), AMD APM volume 3 appendix
//! E, and the hypervisors' leaves from `0x4000_0000`.

use super::fact::Fact;
use super::host::Host;

const NO_INSTRUCTION: &str = "this architecture has no CPUID instruction";

/// The first leaf of a range, which reports the last leaf of the range.
fn range_of(leaf: u32) -> u32 {
    leaf & 0xf000_0000
}

/// The four registers, if the processor has this leaf.
fn leaf(host: &dyn Host, leaf: u32) -> Fact<[u32; 4]> {
    let source = format!("CPUID leaf {leaf:#x}");
    let Some([highest, ..]) = host.cpuid(range_of(leaf), 0) else {
        return Fact::unknown(NO_INSTRUCTION, source);
    };
    match host.cpuid(leaf, 0) {
        Some(registers) if (leaf..=leaf | 0xffff).contains(&highest) => Fact::known(registers, source),
        _ => Fact::unknown(format!("the leaves of this processor end at {highest:#x}"), source),
    }
}

/// One bit of a leaf's register (0 = EAX … 3 = EDX).
pub(super) fn bit(host: &dyn Host, number: u32, register: usize, bit: u32) -> Fact<bool> {
    leaf(host, number).map(|registers| registers[register] >> bit & 1 == 1)
}

/// Characters in registers, as vendors spell names.
fn letters(registers: &[u32]) -> String {
    let bytes: Vec<u8> = registers.iter().flat_map(|register| register.to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned()
}

/// The vendor (`GenuineIntel`).
pub(super) fn vendor(host: &dyn Host) -> Fact<String> {
    leaf(host, 0).map(|[_, b, c, d]| letters(&[b, d, c]))
}

/// Family, model and stepping, with the extended bits folded in.
pub(super) fn signature(host: &dyn Host) -> Fact<[u32; 3]> {
    leaf(host, 1).map(|[eax, ..]| {
        let (family, model) = (eax >> 8 & 0xf, eax >> 4 & 0xf);
        let full_family = if family == 0xf { family + (eax >> 20 & 0xff) } else { family };
        let full_model = if family == 0xf || family == 6 { model | (eax >> 12 & 0xf0) } else { model };
        [full_family, full_model, eax & 0xf]
    })
}

/// Base and maximum frequency, Hz, as the vendor specifies them.
pub(super) fn specified_frequencies(host: &dyn Host) -> (Fact<f64>, Fact<f64>) {
    let frequency = |register: usize| {
        leaf(host, 0x16)
            .map(|registers| registers[register] & 0xffff)
            .parse("given", |&megahertz| (megahertz > 0).then(|| f64::from(megahertz) * 1e6))
    };
    (frequency(0), frequency(1))
}

/// Frequency of the time-stamp counter as declared by processor or hypervisor, Hz.
pub(super) fn tsc_frequency(host: &dyn Host) -> Fact<f64> {
    from_crystal(host).or_else(|| from_hypervisor(host))
}

/// Leaf 0x15: crystal × numerator ÷ denominator. Only used if the processor reports the crystal: values guessed from the
/// model have been wrong (server parts of one model differ).
fn from_crystal(host: &dyn Host) -> Fact<f64> {
    leaf(host, 0x15).parse(
        "complete (the crystal's frequency is missing)",
        |&[denominator, numerator, crystal, _]| {
            let known = denominator > 0 && numerator > 0 && crystal > 0;
            known.then(|| f64::from(crystal) * f64::from(numerator) / f64::from(denominator))
        },
    )
}

/// Leaf `0x4000_0010`: kilohertz, a convention that `VMware` began and others follow.
fn from_hypervisor(host: &dyn Host) -> Fact<f64> {
    if bit(host, 1, 2, 31).value() != Some(&true) {
        return Fact::unknown("no hypervisor declares it", "CPUID leaf 0x40000010");
    }
    leaf(host, 0x4000_0010)
        .parse("given", |&[kilohertz, ..]| (kilohertz > 0).then(|| f64::from(kilohertz) * 1e3))
}

/// The hypervisor's own name (`KVMKVMKVM`); unknown on bare hardware.
pub(super) fn hypervisor(host: &dyn Host) -> Fact<String> {
    if bit(host, 1, 2, 31).value() != Some(&true) {
        return Fact::unknown("the processor reports no hypervisor", "CPUID leaf 0x1, ECX bit 31");
    }
    let source = "CPUID leaf 0x40000000";
    let registers = host.cpuid(0x4000_0000, 0).unwrap_or_default();
    let name = letters(&registers[1..]);
    if name.is_empty() {
        Fact::unknown("the hypervisor does not name itself", source)
    } else {
        Fact::known(name, source)
    }
}

/// Physical and virtual address bits.
pub(super) fn address_bits(host: &dyn Host) -> Fact<[u32; 2]> {
    leaf(host, 0x8000_0008).map(|[eax, ..]| [eax & 0xff, eax >> 8 & 0xff])
}
