//! Memory devices in the firmware's tables (SMBIOS structure type 17), decoded by smbios-lib.

use smbioslib::{
    MemoryDeviceTypeData, MemorySize, MemorySizeExtended, MemorySpeed, SMBiosData, SMBiosMemoryDevice,
    SMBiosString,
};

use super::memory_module::Module;

/// Every memory device of a table; none if it is not such a table.
pub(super) fn modules(table: &[u8]) -> Vec<Module> {
    let table = SMBiosData::from_vec_and_version(table.to_vec(), None);
    table.defined_struct_iter::<SMBiosMemoryDevice<'_>>().map(|device| module(&device)).collect()
}

fn module(device: &SMBiosMemoryDevice<'_>) -> Module {
    Module {
        slot: text(&device.device_locator()).unwrap_or_default(),
        bank: text(&device.bank_locator()).unwrap_or_default(),
        size_bytes: size(device),
        kind: device.memory_type().and_then(|kind| name(&kind)),
        rated_mts: device.speed().and_then(|speed| rate(&speed)),
        configured_mts: device.configured_memory_speed().and_then(|speed| rate(&speed)),
        data_bits: device.data_width().and_then(bits),
        total_bits: device.total_width().and_then(bits),
        part_number: text(&device.part_number()),
    }
}

fn text(text: &SMBiosString) -> Option<String> {
    Some(text.to_utf8_lossy()?.trim().to_owned()).filter(|text| !text.is_empty())
}

fn size(device: &SMBiosMemoryDevice<'_>) -> u64 {
    match device.size() {
        Some(MemorySize::Kilobytes(number)) => u64::from(number) << 10,
        Some(MemorySize::Megabytes(number)) => u64::from(number) << 20,
        Some(MemorySize::SeeExtendedSize) => match device.extended_size() {
            Some(MemorySizeExtended::Megabytes(number)) => u64::from(number) << 20,
            _ => 0,
        },
        _ => 0,
    }
}

/// Rates of 65535 MT/s and more have a separate field; no memory reaches it yet.
fn rate(speed: &MemorySpeed) -> Option<u32> {
    match speed {
        MemorySpeed::MTs(number) => Some(u32::from(*number)),
        MemorySpeed::Unknown | MemorySpeed::SeeExtendedSpeed => None,
    }
}

/// 0xffff means unknown, and 0 an empty slot.
fn bits(number: u16) -> Option<u32> {
    (number != 0 && number != 0xffff).then(|| u32::from(number))
}

/// `Ddr4` → `DDR4`, `Lpddr5` → `LPDDR5`.
fn name(kind: &MemoryDeviceTypeData) -> Option<String> {
    let name = format!("{:?}", kind.value).to_ascii_uppercase();
    (!matches!(name.as_str(), "OTHER" | "UNKNOWN" | "NONE")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A type-17 structure of SMBIOS 2.8 with two strings, and the end-of-table structure.
    fn table() -> Vec<u8> {
        let mut device = vec![17, 40, 0x11, 0x00];
        device.extend([0, 0, 0, 0]); // array and error handles
        device.extend(72u16.to_le_bytes());
        device.extend(64u16.to_le_bytes());
        device.extend(16384u16.to_le_bytes()); // MiB
        device.extend([9, 0, 1, 2, 26, 0, 0]); // form, set, locator 1, bank 2, DDR4, detail
        device.extend(3200u16.to_le_bytes());
        device.extend([0, 0, 0, 0, 0]); // maker, serial, tag, part, attributes
        device.extend(0u32.to_le_bytes());
        device.extend(2933u16.to_le_bytes());
        device.extend([0; 6]);
        assert_eq!(device.len(), 40);
        device.extend(b"DIMM_A1\0P0 CHANNEL A\0\0");
        device.extend([127, 4, 0x12, 0, 0, 0]);
        device
    }

    #[test]
    fn a_module_is_read_with_the_rate_it_runs_at() {
        let modules = modules(&table());
        assert_eq!(modules.len(), 1);
        let module = &modules[0];
        assert_eq!((module.slot.as_str(), module.bank.as_str()), ("DIMM_A1", "P0 CHANNEL A"));
        assert_eq!((module.size_bytes, module.kind.as_deref()), (16 << 30, Some("DDR4")));
        assert_eq!((module.rated_mts, module.configured_mts), (Some(3200), Some(2933)));
        assert_eq!((module.data_bits, module.total_bits), (Some(64), Some(72)));
    }

    proptest! {
        #[test]
        fn no_table_makes_it_panic(noise in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..70, at in 0usize..60) {
            let _ = modules(&noise);
            let mut torn = table();
            torn.truncate(cut);
            let _ = modules(&torn);
            let mut bent = table();
            if let (Some(place), Some(byte)) = (bent.get_mut(at), noise.first()) {
                *place = *byte;
            }
            let _ = modules(&bent);
        }
    }
}
