//! One memory module, as the firmware reports it.

use serde::{Deserialize, Serialize};

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
