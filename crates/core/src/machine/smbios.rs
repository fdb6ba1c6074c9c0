//! Memory devices in the firmware's tables: structure type 17 of SMBIOS 3.8 (DMTF DSP0134, section 7.18).
//!
//! A table is a row of structures: type, length of the fixed part, a handle, fields at fixed offsets; then the strings that fields
//! name by number, each ended by a zero, and a further zero. Firmware may write anything, and only root reads it: no field is
//! taken from outside of its structure's fixed part, and no string from outside of its strings.

use serde::{Deserialize, Serialize};

const MEMORY_DEVICE: u8 = 17;
const END_OF_TABLE: u8 = 127;

/// The bytes before the fields: type, length and handle.
const HEADER: usize = 4;

/// Every memory device of a table; none if it is not such a table.
pub(super) fn modules(table: &[u8]) -> Vec<Module> {
    let devices = Structures(table).filter(|structure| structure.fixed.first() == Some(&MEMORY_DEVICE));
    devices.map(|device| module(&device)).collect()
}

/// One structure: its fixed part, and its strings.
struct Structure<'a> {
    fixed: &'a [u8],
    strings: &'a [u8],
}

/// The structures of a table, as far as they are whole.
struct Structures<'a>(&'a [u8]);

impl<'a> Iterator for Structures<'a> {
    type Item = Structure<'a>;

    fn next(&mut self) -> Option<Structure<'a>> {
        let length = usize::from(*self.0.get(1)?);
        let (fixed, rest) = self.0.split_at_checked(length).filter(|(fixed, _)| fixed.len() >= HEADER)?;
        if fixed[0] == END_OF_TABLE {
            return None;
        }
        // Two zeros end the strings; where there is none, these two are all.
        let end = rest.windows(2).position(|pair| pair == [0, 0])?;
        let (strings, next) = rest.split_at(end + 2);
        self.0 = next;
        Some(Structure { fixed, strings })
    }
}

impl Structure<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.fixed.get(at).copied()
    }

    fn word(&self, at: usize) -> Option<u16> {
        self.fixed.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes)
    }

    fn double(&self, at: usize) -> Option<u32> {
        self.fixed.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
    }

    /// The string that a field names; 0 names none.
    fn text(&self, at: usize) -> Option<String> {
        let number = usize::from(self.byte(at)?).checked_sub(1)?;
        let mut strings = self.strings.split(|byte| *byte == 0).take_while(|string| !string.is_empty());
        let text = String::from_utf8_lossy(strings.nth(number)?).trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    }
}

fn module(device: &Structure) -> Module {
    Module {
        slot: device.text(0x10).unwrap_or_default(),
        bank: device.text(0x11).unwrap_or_default(),
        size_bytes: size(device).unwrap_or_default(),
        kind: device.byte(0x12).and_then(kind).map(str::to_owned),
        rated_mts: rate(device, 0x15, 0x54),
        configured_mts: rate(device, 0x20, 0x58),
        data_bits: bits(device, 0x0a),
        total_bits: bits(device, 0x08),
        part_number: device.text(0x1a),
    }
}

/// In mebibytes, or in kibibytes if the highest bit is set; 0x7fff refers to the extended size; 0xffff is unknown.
fn size(device: &Structure) -> Option<u64> {
    const EXTENDED: u16 = 0x7fff;
    const KIBIBYTES: u16 = 0x8000;
    match device.word(0x0c)? {
        u16::MAX => None,
        EXTENDED => device.double(0x1c).map(|number| u64::from(number & 0x7fff_ffff) << 20),
        number if number & KIBIBYTES != 0 => Some(u64::from(number & !KIBIBYTES) << 10),
        number => Some(u64::from(number) << 20),
    }
}

/// Million transfers per second; 0 is unknown, and 0xffff refers to a field that later versions have.
fn rate(device: &Structure, at: usize, extended: usize) -> Option<u32> {
    let number = match device.word(at)? {
        u16::MAX => device.double(extended)? & 0x7fff_ffff,
        number => u32::from(number),
    };
    (number != 0).then_some(number)
}

/// 0xffff means unknown, and 0 an empty slot.
fn bits(device: &Structure, at: usize) -> Option<u32> {
    let number = device.word(at)?;
    (number != 0 && number != u16::MAX).then(|| u32::from(number))
}

/// The kind of memory (table 78); none for what is unknown or other.
fn kind(number: u8) -> Option<&'static str> {
    Some(match number {
        0x03 => "DRAM",
        0x04 => "EDRAM",
        0x05 => "VRAM",
        0x06 => "SRAM",
        0x07 => "RAM",
        0x08 => "ROM",
        0x09 => "FLASH",
        0x0a => "EEPROM",
        0x0b => "FEPROM",
        0x0c => "EPROM",
        0x0d => "CDRAM",
        0x0e => "3DRAM",
        0x0f => "SDRAM",
        0x10 => "SGRAM",
        0x11 => "RDRAM",
        0x12 => "DDR",
        0x13 => "DDR2",
        0x14 => "DDR2 FB-DIMM",
        0x18 => "DDR3",
        0x19 => "FBD2",
        0x1a => "DDR4",
        0x1b => "LPDDR",
        0x1c => "LPDDR2",
        0x1d => "LPDDR3",
        0x1e => "LPDDR4",
        0x1f => "logical non-volatile device",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x24 => "HBM3",
        0x25 => "MRDIMM",
        _ => return None,
    })
}

/// One slot for a memory module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Module {
    /// The slot's name on the board.
    pub slot: String,
    /// The bank's name, where boards often write the channel.
    pub bank: String,
    /// Size, bytes; 0 for an empty slot.
    pub size_bytes: u64,
    /// `DDR5`, `LPDDR4`.
    pub kind: Option<String>,
    /// The rate that the module supports, million transfers per second.
    pub rated_mts: Option<u32>,
    /// The rate at which the board runs it, million transfers per second.
    pub configured_mts: Option<u32>,
    /// Data bits moved in one transfer, without those of error correction.
    pub data_bits: Option<u32>,
    /// Bits with those of error correction.
    pub total_bits: Option<u32>,
    /// Maker's number.
    pub part_number: Option<String>,
}

impl Module {
    pub(super) fn is_present(&self) -> bool {
        self.size_bytes > 0
    }

    /// The rate at which it runs, if it is known.
    pub(super) fn mts(&self) -> Option<u32> {
        self.configured_mts.or(self.rated_mts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STRINGS: &[u8] = b"DIMM_A1\0P0 CHANNEL A\0 M393A2K43 \0\0";

    /// A structure of type 17 as of version 3.3, 92 bytes, without its strings.
    fn device() -> Vec<u8> {
        let mut device = vec![17, 92, 0x11, 0x00];
        device.extend([0, 0, 0, 0]); // array and error handles
        device.extend(72u16.to_le_bytes());
        device.extend(64u16.to_le_bytes());
        device.extend(16384u16.to_le_bytes()); // MiB
        device.extend([9, 0, 1, 2, 26, 0, 0]); // form, set, locator 1, bank 2, DDR4, detail
        device.extend(3200u16.to_le_bytes());
        device.extend([0, 0, 0, 3, 0]); // maker, serial, tag, part, attributes
        device.extend(0u32.to_le_bytes());
        device.extend(2933u16.to_le_bytes());
        device.resize(92, 0);
        device
    }

    /// A chassis without strings, the device, and the end of the table.
    fn table(device: &[u8]) -> Vec<u8> {
        [&[3, 5, 0, 0, 9, 0, 0], device, STRINGS, &[127, 4, 0x12, 0, 0, 0]].concat()
    }

    fn planted(at: usize, bytes: &[u8]) -> Module {
        let mut device = device();
        device[at..at + bytes.len()].copy_from_slice(bytes);
        modules(&table(&device)).pop().unwrap()
    }

    #[test]
    fn a_module_is_read_with_the_rate_it_runs_at() {
        let modules = modules(&table(&device()));
        assert_eq!(modules.len(), 1);
        let module = &modules[0];
        assert_eq!((module.slot.as_str(), module.bank.as_str()), ("DIMM_A1", "P0 CHANNEL A"));
        assert_eq!((module.size_bytes, module.kind.as_deref()), (16 << 30, Some("DDR4")));
        assert_eq!((module.rated_mts, module.configured_mts), (Some(3200), Some(2933)));
        assert_eq!((module.data_bits, module.total_bits), (Some(64), Some(72)));
        assert_eq!(module.part_number.as_deref(), Some("M393A2K43"));
    }

    #[test]
    fn sizes_are_in_mebibytes_kibibytes_or_a_field_of_their_own() {
        assert_eq!(planted(0x0c, &0u16.to_le_bytes()).size_bytes, 0);
        assert_eq!(planted(0x0c, &0xffffu16.to_le_bytes()).size_bytes, 0);
        assert_eq!(planted(0x0c, &0x8200u16.to_le_bytes()).size_bytes, 512 << 10);
        let mut large = device();
        large[0x0c..0x0e].copy_from_slice(&0x7fffu16.to_le_bytes());
        large[0x1c..0x20].copy_from_slice(&65536u32.to_le_bytes());
        assert_eq!(modules(&table(&large))[0].size_bytes, 64 << 30);
    }

    #[test]
    fn what_is_unknown_is_no_number() {
        assert_eq!(planted(0x15, &0u16.to_le_bytes()).rated_mts, None);
        assert_eq!(planted(0x0a, &0xffffu16.to_le_bytes()).data_bits, None);
        assert_eq!(planted(0x12, &[2]).kind, None);
        assert_eq!(planted(0x10, &[9]).slot, "", "a string that there is not");
        let mut fast = device();
        fast[0x20..0x22].copy_from_slice(&0xffffu16.to_le_bytes());
        fast[0x58..0x5c].copy_from_slice(&70_000u32.to_le_bytes());
        assert_eq!(modules(&table(&fast))[0].configured_mts, Some(70_000));
    }

    #[test]
    fn an_early_version_has_fewer_fields_and_none_is_taken_from_the_strings() {
        // Version 2.1 ends before the rate.
        let mut short = device();
        short.truncate(0x15);
        short[1] = 0x15;
        let module = &modules(&table(&short))[0];
        assert_eq!((module.size_bytes, module.slot.as_str()), (16 << 30, "DIMM_A1"));
        assert_eq!(
            (module.rated_mts, module.configured_mts, module.part_number.as_ref()),
            (None, None, None)
        );
    }

    #[test]
    fn a_damaged_table_ends_where_it_is_damaged() {
        let two = [&device()[..], STRINGS, &table(&device())].concat();
        assert_eq!(modules(&two).len(), 2);
        // A length that is shorter than a structure's head can be, one beyond the end, and strings without an end.
        for length in [0, 3, 255] {
            let mut bent = two.clone();
            let second = device().len() + STRINGS.len() + 7;
            bent[second + 1] = length;
            assert_eq!(modules(&bent).len(), 1, "{length}");
        }
        let unended = [&device()[..], b"DIMM"].concat();
        assert_eq!(modules(&unended), vec![]);
    }

    proptest! {
        #[test]
        fn no_table_makes_it_panic(noise in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..140, at in 0usize..140) {
            let _ = modules(&noise);
            let mut torn = table(&device());
            torn.truncate(cut);
            prop_assert!(modules(&torn).len() <= 1);
            let mut bent = table(&device());
            if let (Some(place), Some(byte)) = (bent.get_mut(at), noise.first()) {
                *place = *byte;
            }
            let _ = modules(&bent);
            // Noise as structures of the right type: every field and every string is asked for.
            let as_device: Vec<u8> = [17, 92].into_iter().chain(noise).collect();
            let _ = modules(&as_device);
        }
    }
}
