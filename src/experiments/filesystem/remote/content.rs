//! What a file made for remote reads holds: random bytes that follow from a seed, so that any word of any block can be
//! checked, and none can be compressed or guessed on the way.

use crate::experiment::Failure;

/// The word (eight bytes, little-endian) that begins `8 * index` bytes into a file made from `seed`: the output of the
/// splitmix64 generator (Steele, Lea and Flood, OOPSLA 2014) at that place.
pub fn word(seed: u64, index: u64) -> u64 {
    let mut mixed = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Fills a block as it stands `offset` bytes into the file; both are multiples of eight.
pub fn fill(seed: u64, offset: u64, block: &mut [u8]) {
    for (index, bytes) in block.chunks_exact_mut(8).enumerate() {
        bytes.copy_from_slice(&word(seed, offset / 8 + index as u64).to_le_bytes());
    }
}

/// The first and the last word of a block: which block it is, and that it came whole.
pub fn stamp(block: &[u8]) -> Option<(u64, u64)> {
    let first = block.first_chunk()?;
    let last = block.last_chunk()?;
    Some((u64::from_le_bytes(*first), u64::from_le_bytes(*last)))
}

/// The stamp that a block must have.
pub fn expected(seed: u64, offset: u64, bytes: u64) -> (u64, u64) {
    (word(seed, offset / 8), word(seed, (offset + bytes) / 8 - 1))
}

/// Checks every word of a block.
pub fn check(seed: u64, offset: u64, block: &[u8]) -> Result<(), Failure> {
    let mut words = block.chunks_exact(8).enumerate();
    let wrong = words.find(|(index, bytes)| **bytes != word(seed, offset / 8 + *index as u64).to_le_bytes());
    match wrong {
        None => Ok(()),
        Some((index, _)) => Err(Failure::Broke(format!(
            "what was read is not what was written, from byte {} of the file on",
            offset + 8 * index as u64
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_stamp_and_another_has_not() {
        let mut block = vec![0; 4096];
        fill(7, 8192, &mut block);
        assert_eq!(stamp(&block), Some(expected(7, 8192, 4096)));
        assert_ne!(stamp(&block), Some(expected(7, 4096, 4096)));
        assert!(check(7, 8192, &block).is_ok());
        block[4000] ^= 1;
        let said = check(7, 8192, &block).unwrap_err().to_string();
        assert!(said.contains("12192"), "{said}");
        assert!(check(8, 8192, &block).is_err() && stamp(&block[..4]).is_none());
    }
}
