//! The sizes of a sweep over memory.

use fathom_core::machine::Root;

/// Sizes from `smallest` to `largest` (bytes), four per octave: 4, 5, 6 and 7 quarters of a power of two, the usual sizes of
/// caches and their shares.
pub fn four_an_octave(smallest: u64, largest: u64) -> Vec<u64> {
    let octaves = (2..62).map(|power| 1_u64 << power);
    let quarters = octaves.flat_map(|octave| [4, 5, 6, 7].map(|quarters| octave / 4 * quarters));
    quarters.filter(|size| (smallest..=largest).contains(size)).collect()
}

/// The fineness of a sweep that contains this size: 1, 2 or 4 sizes per octave.
pub fn fineness(size: u64) -> u32 {
    match size >> size.ilog2().saturating_sub(2) {
        4 => 1,
        6 => 2,
        _ => 4,
    }
}

/// The size of a cache line of this CPU, bytes; 64, the most common, if the kernel does not tell.
pub fn line_bytes(cpu: Option<usize>) -> usize {
    let cpu = cpu.unwrap_or(0);
    let file = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index0/coherency_line_size");
    let bytes = Root::default().number::<usize>(&file);
    bytes.value().copied().filter(|bytes| bytes.is_power_of_two() && *bytes >= 16).unwrap_or(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rise_by_quarters_of_powers_of_two() {
        assert_eq!(four_an_octave(16, 40), [16, 20, 24, 28, 32, 40]);
        assert_eq!(four_an_octave(1 << 10, 1 << 30).len(), 81);
        assert_eq!([16, 20, 24, 28, 32].map(fineness), [1, 4, 2, 4, 1]);
    }
}
