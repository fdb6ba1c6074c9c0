//! The sizes of caches and of arrays beyond them, as reports 001 and 003 chose them.

use fathom_core::machine::Machine;

/// The caches to assume where the machine does not report its own: those of report 001, bytes.
const THEIR_CACHES: [u64; 3] = [32 << 10, 256 << 10, 6 << 20];
/// The least and the greatest of report 003's largest arrays here, bytes.
pub const LEAST_LARGEST: u64 = 64 << 20;
const LARGEST: u64 = 512 << 20;

/// The data cache at a level of a CPU, bytes; that of report 001 where none is declared.
pub fn of_report_001(machine: &Machine, level: u8, cpu: Option<usize>) -> u64 {
    let cpu = cpu.or_else(|| machine.allowed_cpus().first().copied()).unwrap_or(0);
    machine.data_cache_bytes(cpu, level).unwrap_or(THEIR_CACHES[usize::from(level.clamp(1, 3)) - 1])
}

/// The declared data cache at a level of the CPU on which pinned work usually runs, bytes.
fn declared(machine: &Machine, level: u8) -> Option<u64> {
    let cpu = machine.allowed_cpus().last().copied().unwrap_or(0);
    machine.data_cache_bytes(cpu, level)
}

/// A power of two in the middle of a cache: the geometric mean of its size and that of the cache before it.
pub fn middle(machine: &Machine, level: u8) -> Option<u64> {
    let mine = declared(machine, level)?;
    let before = if level > 1 { declared(machine, level - 1) } else { None }.unwrap_or(mine / 4);
    let middle = ((mine as f64) * (before as f64)).sqrt();
    Some(1 << (middle as u64).max(1).ilog2())
}

/// Report 003's largest array, bytes: a power of two, so many times as large as all last-level caches.
pub fn beyond(machine: &Machine, times: u64) -> u64 {
    let beyond = machine.last_level_caches_bytes().unwrap_or(0).saturating_mul(times);
    let available = machine.available_bytes().unwrap_or(u64::MAX) / 4;
    let most = LARGEST.min(1 << available.max(LEAST_LARGEST).ilog2());
    beyond.clamp(LEAST_LARGEST, LARGEST).next_power_of_two().min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_levels_are_powers_of_two_between_one_cache_and_the_next() {
        let machine = fathom_described::machine();
        for level in 1..=3 {
            let (middle, mine) = (middle(&machine, level).unwrap(), declared(&machine, level).unwrap());
            assert!(middle.is_power_of_two() && middle <= mine, "level {level}: {middle} of {mine}");
            let before = if level > 1 { declared(&machine, level - 1) } else { None };
            assert!(before.is_none_or(|before| middle * 2 > before), "level {level}: {middle}");
        }
        assert!(beyond(&machine, 4).is_power_of_two());
    }
}
