//! Memory modules, their channels, and the bandwidth that follows.
//!
//! Three sources, in this order: the firmware's own tables (root only), the copy of them that udev made at boot (readable by
//! all), and the memory controllers' driver (EDAC: sizes and channels, no speed).

use super::fact::Fact;
use super::smbios::{self, Module};
use super::source::{Root, parse_size};
use crate::quantities;
use crate::quantity::Unit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The distribution of the populated slots over channels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Channels {
    /// Bytes on each populated channel, by its name.
    pub bytes: BTreeMap<String, u64>,
    /// Channels that have slots but no module.
    pub empty: Vec<String>,
}

impl Channels {
    /// Whether all populated channels carry the same.
    pub fn is_balanced(&self) -> bool {
        let mut sizes = self.bytes.values();
        let first = sizes.next();
        sizes.all(|size| Some(size) == first)
    }
}

/// The theoretical bandwidth of memory, without any wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bandwidth {
    /// Bytes per second, both directions together.
    pub bytes_per_second: f64,
    /// The multiplication, as text.
    pub formula: String,
}

const NO_TABLES: &str = "the firmware tables of memory modules are not readable: a virtual machine usually has none; \
                         on hardware, run as root (or `sudo dmidecode -t memory`)";

pub(super) fn read(root: &Root) -> Fact<Vec<Module>> {
    const TABLE: &str = "/sys/firmware/dmi/tables/DMI";
    let described = |modules: &Vec<Module>| (!modules.is_empty()).then(|| modules.clone());
    root.bytes(TABLE)
        .map(|table| smbios::modules(&table))
        .parse("a table with memory devices", described)
        .or_else(|| udev(root).parse("a record with memory devices", described))
        .or_else(|| edac(root))
        .because(NO_TABLES)
}

/// udev's record of the firmware's tables: `E:MEMORY_DEVICE_0_SIZE=17179869184`.
fn udev(root: &Root) -> Fact<Vec<Module>> {
    root.text("/run/udev/data/+dmi:id").map(|text| {
        let mut slots: BTreeMap<usize, BTreeMap<&str, &str>> = BTreeMap::new();
        for line in text.lines() {
            if let Some((slot, key, value)) = udev_line(line) {
                slots.entry(slot).or_default().insert(key, value);
            }
        }
        slots.values().map(udev_module).collect()
    })
}

fn udev_line(line: &str) -> Option<(usize, &str, &str)> {
    let (name, value) = line.strip_prefix("E:MEMORY_DEVICE_")?.split_once('=')?;
    let (slot, key) = name.split_once('_')?;
    Some((slot.parse().ok()?, key, value.trim()))
}

fn udev_module(keys: &BTreeMap<&str, &str>) -> Module {
    let text = |key: &str| keys.get(key).map(|value| (*value).to_owned());
    let number = |key: &str| keys.get(key)?.parse::<u32>().ok().filter(|number| *number > 0);
    let absent = keys.get("PRESENT") == Some(&"0");
    let size = keys.get("SIZE").and_then(|size| parse_size(size)).unwrap_or_default();
    Module {
        slot: text("LOCATOR").unwrap_or_default(),
        bank: text("BANK_LOCATOR").unwrap_or_default(),
        size_bytes: if absent { 0 } else { size },
        kind: text("TYPE"),
        rated_mts: number("SPEED_MTS"),
        configured_mts: number("CONFIGURED_SPEED_MTS"),
        data_bits: number("DATA_WIDTH"),
        total_bits: number("TOTAL_WIDTH"),
        part_number: text("PART_NUMBER"),
    }
}

/// The memory controllers' driver: `mcN/dimmM/{dimm_location,dimm_label,size,dimm_mem_type}`.
fn edac(root: &Root) -> Fact<Vec<Module>> {
    const FOLDER: &str = "/sys/devices/system/edac/mc";
    let mut modules = Vec::new();
    for controller in root.numbered(FOLDER, "mc") {
        let folder = format!("{FOLDER}/mc{controller}");
        for dimm in root.numbered(&folder, "dimm") {
            modules.push(edac_module(root, &format!("{folder}/dimm{dimm}"), controller));
        }
    }
    if modules.is_empty() {
        Fact::unknown(super::fact::MISSING, FOLDER)
    } else {
        Fact::known(modules, FOLDER)
    }
}

fn edac_module(root: &Root, folder: &str, controller: usize) -> Module {
    let text = |file: &str| root.word(&format!("{folder}/{file}")).value().cloned();
    let megabytes = root.number::<u64>(&format!("{folder}/size")).value().copied().unwrap_or_default();
    Module {
        slot: text("dimm_label").unwrap_or_default(),
        bank: format!("controller {controller} {}", text("dimm_location").unwrap_or_default())
            .trim()
            .to_owned(),
        size_bytes: megabytes.saturating_mul(1 << 20),
        kind: text("dimm_mem_type"),
        ..Module::default()
    }
}

/// The channels, by the slots' names if these contain them, otherwise by the memory controllers' driver.
pub(super) fn channels(root: &Root, modules: &Fact<Vec<Module>>) -> Fact<Channels> {
    named_channels(modules).or_else(|| named_channels(&edac(root)))
}

fn named_channels(modules: &Fact<Vec<Module>>) -> Fact<Channels> {
    modules.clone().parse("a list of slots whose names tell the channel", |modules| {
        let named: Option<Vec<(String, u64)>> =
            modules.iter().map(|module| Some((channel(module)?, module.size_bytes))).collect();
        let mut bytes: BTreeMap<String, u64> = BTreeMap::new();
        for (name, size) in named? {
            let sum = bytes.entry(name).or_default();
            *sum = sum.saturating_add(size);
        }
        let empty = bytes.iter().filter(|(_, size)| **size == 0).map(|(name, _)| name.clone()).collect();
        bytes.retain(|_, size| *size > 0);
        (!bytes.is_empty()).then_some(Channels { bytes, empty })
    })
}

/// The channel of a slot, with its prefix (socket, controller) to distinguish equal letters. Boards write it `P0 CHANNEL A`,
/// `Controller0-ChannelB-DIMM1`, `CPU1_DIMM_A2`, `DIMM_B1`, `channel 3 slot 0`.
fn channel(module: &Module) -> Option<String> {
    let spelled = [&module.bank, &module.slot].into_iter().find_map(|text| after_channel_word(text));
    spelled.or_else(|| after_dimm_word(&module.slot))
}

fn after_channel_word(text: &str) -> Option<String> {
    let upper = text.to_ascii_uppercase();
    let at = upper.find("CHANNEL")?;
    let rest = upper[at + "CHANNEL".len()..].trim_start_matches([' ', '_', '-', ':']);
    let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    let before = upper[..at].trim_end_matches([' ', '_', '-', ':', '/']);
    (!name.is_empty()).then(|| format!("{before} {name}").trim().to_owned())
}

/// `CPU1_DIMM_A2` → `CPU1 A`: a letter and the number of the slot in the channel.
fn after_dimm_word(text: &str) -> Option<String> {
    let upper = text.to_ascii_uppercase();
    let at = upper.find("DIMM")?;
    let mut rest = upper[at + "DIMM".len()..].trim_start_matches([' ', '_', '-']).chars();
    let letter = rest.next().filter(char::is_ascii_uppercase)?;
    rest.next().filter(char::is_ascii_digit)?;
    let before = upper[..at].trim_end_matches([' ', '_', '-', '/']);
    Some(format!("{before} {letter}").trim().to_owned())
}

/// Transfer rate × width × populated channels. Two modules on one channel share its wires and count once.
pub(super) fn bandwidth(modules: &Fact<Vec<Module>>, channels: &Fact<Channels>) -> Fact<Bandwidth> {
    let Some(populated) = channels.value().map(|channels| channels.bytes.len()) else {
        return Fact::unknown(
            format!("the populated channels are unknown: {}", channels.reason().unwrap_or_default()),
            channels.source(),
        );
    };
    modules.clone().parse("complete (rate and width of every module)", |modules| {
        let present: Vec<&Module> = modules.iter().filter(|module| module.is_present()).collect();
        // The slowest module sets the rate of all on a controller.
        let rates: Option<Vec<u32>> = present.iter().map(|module| module.mts()).collect();
        let widths: Option<Vec<u32>> = present.iter().map(|module| module.data_bits).collect();
        let (rate, bits) = (rates?.into_iter().min()?, widths?.into_iter().min()?);
        Some(product(rate, bits, populated))
    })
}

fn product(rate: u32, bits: u32, channels: usize) -> Bandwidth {
    let bytes = f64::from(bits) / 8.0;
    let bytes_per_second = f64::from(rate) * 1e6 * bytes * channels as f64;
    let plural = if channels == 1 { "channel" } else { "channels" };
    let formula = format!(
        "{rate} MT/s × {bytes} bytes × {channels} {plural} = {}",
        quantities::value(Unit::BytesPerSecond, bytes_per_second)
    );
    Bandwidth { bytes_per_second, formula }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(slot: &str, bank: &str) -> Module {
        Module { slot: slot.to_owned(), bank: bank.to_owned(), ..Module::default() }
    }

    #[test]
    fn boards_spell_channels_in_their_own_ways() {
        let channel_of = |slot_name, bank| channel(&slot(slot_name, bank));
        assert_eq!(channel_of("DIMM 0", "P0 CHANNEL A").as_deref(), Some("P0 A"));
        assert_eq!(channel_of("Controller1-ChannelB-DIMM1", "BANK 3").as_deref(), Some("CONTROLLER1 B"));
        assert_eq!(channel_of("CPU1_DIMM_A2", "NODE 1").as_deref(), Some("CPU1 A"));
        assert_eq!(channel_of("DIMM_B1", "").as_deref(), Some("B"));
        assert_eq!(channel_of("", "controller 0 channel 3 slot 0").as_deref(), Some("CONTROLLER 0 3"));
        assert_eq!(channel_of("DIMM 1", "BANK 0"), None);
    }

    #[test]
    fn the_published_examples_come_out_right() {
        // One DDR4-2133 module is 17 GB/s; LPDDR4-4267 on two 64-bit channels 68 GB/s, not 136.
        assert!((product(2133, 64, 1).bytes_per_second - 17.064e9).abs() < 1e3);
        let laptop = product(4267, 64, 2);
        assert_eq!(laptop.formula, "4267 MT/s × 8 bytes × 2 channels = 68.3 GB/s");
    }
}
