//! Sizes of the buffers of translations, as processors declare them.

use crate::described::planted::{Described, empty_tree};
use fathom::machine::{Machine, Root, Tlb, TlbKind};
use std::path::Path;

/// A guest's Zen 5 had "128 pages" in its second level, and a plateau of its loads "where no level is declared to end" at 2,354.
#[test]
fn a_second_level_tlb_may_be_counted_in_units_of_32() {
    let pages = |family: u32, features: u32| {
        let amd = [family << 20 | 0xf00, 0, 0, 0];
        let cpuid = [
            (0, [1, 0x6874_7541, 0x444d_4163, 0x6974_6e65]),
            (1, amd),
            (0x8000_0000, [0x8000_0021, 0, 0, 0]),
            (0x8000_0005, [0xff60_ff40, 0xff60_ff40, 0, 0]),
            (0x8000_0006, [0x4080_2040, 0x6080_4040, 0, 0]),
            (0x8000_0021, [features, 0, 0, 0]),
        ];
        let cpuid = cpuid.into_iter().map(|(leaf, registers)| ((leaf, 0), registers)).collect();
        let host = Described { cpuid, ..Described::default() };
        let machine = Machine::from_root(&Root::new(empty_tree().path()), &host, Path::new("/data"));
        let tlbs = machine.processor.tlbs.value().expect("as CPUID says").clone();
        let of_level = |level| {
            let is_it = |tlb: &&Tlb| {
                tlb.level == level && tlb.kind == TlbKind::Data && tlb.page_bytes.contains(&4096)
            };
            tlbs.iter().find(is_it).expect("one").entries
        };
        (of_level(1), of_level(2))
    };
    assert_eq!(pages(0x0a, 0), (96, 128), "Zen 4 counts them singly");
    assert_eq!(pages(0x0a, 1 << 14), (96, 4096));
    assert_eq!(pages(0x0b, 0), (96, 4096), "a hypervisor cleared the bit");
}
