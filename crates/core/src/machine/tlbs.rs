//! Translation look-aside buffers, which only CPUID reports (Intel leaves 0x18 and 2, AMD leaves `0x8000_0005`,
//! `0x8000_0006` and `0x8000_0019`).

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::host::Host;

/// The accesses for which a TLB translates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TlbKind {
    /// Loads and stores.
    Data,
    /// Instruction fetch.
    Instruction,
    /// All accesses.
    Unified,
    /// Loads.
    Load,
    /// Stores.
    Store,
}

/// One translation look-aside buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tlb {
    /// The level; 1 is looked up first.
    pub level: u8,
    /// The accesses for which it translates.
    pub kind: TlbKind,
    /// The page sizes of its translations, bytes.
    pub page_bytes: Vec<u64>,
    /// The number of translations.
    pub entries: u32,
    /// Ways of associativity; equal to the entries if fully associative; 0 if unknown.
    pub ways: u32,
}

/// The TLBs of the current CPU, from the best leaf that this processor has.
pub(super) fn read(host: &dyn Host) -> Fact<Vec<Tlb>> {
    if host.cpuid(0, 0).is_none() {
        return Fact::unknown("this architecture has no instruction that reports it", "CPUID");
    }
    let candidates = [
        ("CPUID leaf 0x18", x86::translation_parameters(host)),
        ("CPUID leaves 0x80000005, 0x80000006, 0x80000019", x86::amd(host)),
        ("CPUID leaf 0x2", x86::descriptors(host)),
    ];
    match candidates.into_iter().find(|(_, tlbs)| !tlbs.is_empty()) {
        Some((source, tlbs)) => Fact::known(tlbs, source),
        None => Fact::unknown(
            "the processor, or its hypervisor, does not report it",
            "CPUID leaves 0x18, 0x80000005, 0x2",
        ),
    }
}

mod x86 {
    use super::super::cpuid;
    use super::{Host, Tlb, TlbKind};
    use raw_cpuid::{Associativity, CacheInfoType, CpuId, CpuIdReader, CpuIdResult, DatInfo, DatType};

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    /// The decoder reads as many subleaves as the first one announces; a hypervisor that announces four thousand million
    /// would delay this for minutes. Real processors have fewer than ten.
    const LAST_SUBLEAF: u32 = 31;

    fn identify(host: &dyn Host) -> CpuId<impl CpuIdReader> {
        CpuId::with_cpuid_reader(move |leaf, subleaf| {
            let [mut eax, ebx, ecx, edx] = host.cpuid(leaf, subleaf).unwrap_or_default();
            if leaf == 0x18 && subleaf == 0 {
                eax = eax.min(LAST_SUBLEAF);
            }
            CpuIdResult { eax, ebx, ecx, edx }
        })
    }

    /// Leaf 0x18: one subleaf per buffer.
    pub(super) fn translation_parameters(host: &dyn Host) -> Vec<Tlb> {
        let Some(parameters) = identify(host).get_deterministic_address_translation_info() else {
            return Vec::new();
        };
        parameters.filter_map(|info| translation_parameter(&info)).collect()
    }

    fn translation_parameter(info: &DatInfo) -> Option<Tlb> {
        let kind = match info.cache_type() {
            DatType::DataTLB => TlbKind::Data,
            DatType::InstructionTLB => TlbKind::Instruction,
            DatType::UnifiedTLB => TlbKind::Unified,
            DatType::LoadOnly => TlbKind::Load,
            DatType::StoreOnly => TlbKind::Store,
            DatType::Null | DatType::Unknown => return None,
        };
        let entries = u32::from(info.ways()).saturating_mul(info.sets());
        let sizes = [
            (info.has_4k_entries(), 4 * KIB),
            (info.has_2mb_entries(), 2 * MIB),
            (info.has_4mb_entries(), 4 * MIB),
            (info.has_1gb_entries(), GIB),
        ];
        let page_bytes = sizes.into_iter().filter(|(has, _)| *has).map(|(_, size)| size).collect();
        let ways = if info.is_fully_associative() { entries } else { u32::from(info.ways()) };
        (entries > 0).then(|| Tlb { level: info.cache_level(), kind, page_bytes, entries, ways })
    }

    /// AMD's leaves: the levels for small, 2 MiB and 1 GiB pages.
    pub(super) fn amd(host: &dyn Host) -> Vec<Tlb> {
        use TlbKind::{Data, Instruction};
        let cpu = identify(host);
        let mut tlbs = Vec::new();
        let second_unit = unit_of_second_level(host);
        let mut add = |level, kind, page, entries: u16, ways: Associativity| {
            if entries > 0 && !matches!(ways, Associativity::Disabled) {
                let entries = u32::from(entries) * if level == 2 { second_unit } else { 1 };
                tlbs.push(Tlb { level, kind, page_bytes: vec![page], entries, ways: number(&ways, entries) });
            }
        };
        if let Some(first) = cpu.get_l1_cache_and_tlb_info() {
            add(1, Data, 4 * KIB, first.dtlb_4k_size().into(), first.dtlb_4k_associativity());
            add(1, Data, 2 * MIB, first.dtlb_2m_4m_size().into(), first.dtlb_2m_4m_associativity());
            add(1, Instruction, 4 * KIB, first.itlb_4k_size().into(), first.itlb_4k_associativity());
            add(1, Instruction, 2 * MIB, first.itlb_2m_4m_size().into(), first.itlb_2m_4m_associativity());
        }
        if let Some(second) = cpu.get_l2_l3_cache_and_tlb_info() {
            add(2, Data, 4 * KIB, second.dtlb_4k_size(), second.dtlb_4k_associativity());
            add(2, Data, 2 * MIB, second.dtlb_2m_4m_size(), second.dtlb_2m_4m_associativity());
            add(2, Instruction, 4 * KIB, second.itlb_4k_size(), second.itlb_4k_associativity());
            add(2, Instruction, 2 * MIB, second.itlb_2m_4m_size(), second.itlb_2m_4m_associativity());
        }
        if let Some(huge) = cpu.get_tlb_1gb_page_info() {
            add(1, Data, GIB, huge.dtlb_l1_1gb_size().into(), huge.dtlb_l1_1gb_associativity());
            add(1, Instruction, GIB, huge.itlb_l1_1gb_size().into(), huge.itlb_l1_1gb_associativity());
            add(2, Data, GIB, huge.dtlb_l2_1gb_size().into(), huge.dtlb_l2_1gb_associativity());
            add(2, Instruction, GIB, huge.itlb_l2_1gb_size().into(), huge.itlb_l2_1gb_associativity());
        }
        tlbs
    }

    /// The translations in one unit of what AMD's leaves say of a second level: 32 where bit 14 (`L2TlbSizeX32`) of leaf `0x8000_0021` is
    /// set (AMD APM volume 3, appendix E), as on Zen 5 (family 0x1a), whose 4,096 do not fit into the field. Hypervisors pass
    /// the sizes on and clear the bit, so the family counts as well.
    fn unit_of_second_level(host: &dyn Host) -> u32 {
        let says_so = cpuid::bit(host, 0x8000_0021, 0, 14).value().copied().unwrap_or_default();
        let is_of_family = cpuid::signature(host).value().is_some_and(|[family, ..]| *family >= 0x1a);
        if says_so || is_of_family { 32 } else { 1 }
    }

    fn number(ways: &Associativity, entries: u32) -> u32 {
        match ways {
            Associativity::DirectMapped => 1,
            Associativity::NWay(ways) => u32::from(*ways),
            Associativity::FullyAssociative => entries,
            Associativity::Disabled | Associativity::Unknown => 0,
        }
    }

    /// Leaf 2 of older Intel processors: codes of a table in the manual, whose wording is parsed.
    pub(super) fn descriptors(host: &dyn Host) -> Vec<Tlb> {
        let Some(descriptors) = identify(host).get_cache_info() else { return Vec::new() };
        let tlbs = descriptors.filter(|info| {
            matches!(info.typ, CacheInfoType::TLB | CacheInfoType::DTLB | CacheInfoType::STLB)
        });
        tlbs.flat_map(|info| from_wording(info.desc())).collect()
    }

    fn from_wording(text: &str) -> Vec<Tlb> {
        let Some((name, rest)) = text.split_once(':') else { return Vec::new() };
        let name = name.to_ascii_lowercase();
        let level = if name.contains("2nd") { 2 } else { 1 };
        let kind = match name.as_str() {
            name if name.contains("instruction") => TlbKind::Instruction,
            name if name.contains("shared") => TlbKind::Unified,
            _ => TlbKind::Data,
        };
        let arrays = rest.replace(" and a separate array with", ";").replace(". Also", ";");
        arrays.split(';').filter_map(|array| from_array(array, level, kind)).collect()
    }

    fn from_array(text: &str, level: u8, kind: TlbKind) -> Option<Tlb> {
        let (pages, _) = text.split_once("page")?;
        let entries: u32 = last_number(text.split_once("entries")?.0)?;
        let ways = match text.split_once("-way") {
            Some((before, _)) => last_number(before).unwrap_or(0),
            None if text.contains("fully") => entries,
            None => 0,
        };
        Some(Tlb { level, kind, page_bytes: page_sizes(pages), entries, ways })
    }

    fn last_number(text: &str) -> Option<u32> {
        text.trim().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    fn page_sizes(text: &str) -> Vec<u64> {
        let text = text.to_ascii_lowercase().replace([' ', '-'], "");
        let spellings = [("4k", 4 * KIB), ("2m", 2 * MIB), ("4m", 4 * MIB), ("1g", GIB)];
        spellings.into_iter().filter(|(spelling, _)| text.contains(spelling)).map(|(_, size)| size).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_manuals_wording_is_taken_apart() {
            let skylake = from_wording(
                "Shared 2nd-Level TLB: 4 KByte /2 MByte pages, 6-way associative, 1536 entries. Also 1GBbyte pages, 4-way, 16 entries.",
            );
            let expected = |page_bytes, entries, ways| Tlb {
                level: 2,
                kind: TlbKind::Unified,
                page_bytes,
                entries,
                ways,
            };
            assert_eq!(skylake, [expected(vec![4 * KIB, 2 * MIB], 1536, 6), expected(vec![GIB], 16, 4)]);
            let fully = from_wording("Instruction TLB: 2M/4M pages, fully associative, 8 entries");
            assert_eq!((fully[0].entries, fully[0].ways, fully[0].kind), (8, 8, TlbKind::Instruction));
        }
    }
}
