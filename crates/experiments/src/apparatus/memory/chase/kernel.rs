//! Pointer chases: the address of each load is the result of the load before it.

use std::ptr::NonNull;

/// The text of this file.
pub const SOURCE: &str = include_str!("kernel.rs");
/// The beginning of the chase of this architecture.
pub const CHASE: &str = if cfg!(target_arch = "x86_64") {
    "#[cfg(target_arch = \"x86_64\")]"
} else if cfg!(target_arch = "aarch64") {
    "#[cfg(target_arch = \"aarch64\")]"
} else {
    "#[cfg(not("
};

/// Loads in one iteration of the loop of [`chase`]: the loop's own instructions overlap with them.
pub const UNROLLED: u64 = 64;

/// Follows pointers for `turns` × [`UNROLLED`] loads and returns the final address; the result is used, so nothing can be dropped
/// (R-MEM-08).
///
/// # Safety
/// Every visited location holds a pointer to another such location.
#[cfg(target_arch = "x86_64")]
pub unsafe fn chase(from: NonNull<u8>, turns: u64) -> NonNull<u8> {
    let mut at = from.as_ptr();
    // SAFETY: loads along the pointers that the caller guarantees.
    unsafe {
        core::arch::asm!(
            ".p2align 6", "2:", ".rept 64", "mov {at}, [{at}]", ".endr", "dec {turns}", "jnz 2b",
            at = inout(reg) at, turns = inout(reg) turns.max(1) => _, options(nostack, readonly)
        );
        NonNull::new_unchecked(at)
    }
}

/// As on x86-64.
///
/// # Safety
/// As on x86-64.
#[cfg(target_arch = "aarch64")]
pub unsafe fn chase(from: NonNull<u8>, turns: u64) -> NonNull<u8> {
    let mut at = from.as_ptr();
    // SAFETY: loads along the pointers that the caller guarantees.
    unsafe {
        core::arch::asm!(
            ".p2align 6", "2:", ".rept 64", "ldr {at}, [{at}]", ".endr", "subs {turns}, {turns}, #1", "b.ne 2b",
            at = inout(reg) at, turns = inout(reg) turns.max(1) => _, options(nostack, readonly)
        );
        NonNull::new_unchecked(at)
    }
}

/// As on x86-64, in Rust: volatile loads are not dropped, joined or reordered.
///
/// # Safety
/// As on x86-64.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub unsafe fn chase(from: NonNull<u8>, turns: u64) -> NonNull<u8> {
    // SAFETY: as the caller guarantees.
    unsafe { chase_rolled(from, turns.max(1) * UNROLLED) }
}

/// One load per iteration of the loop, as report 003 first wrote it.
///
/// # Safety
/// As of [`chase`].
#[inline(never)]
pub unsafe fn chase_rolled(from: NonNull<u8>, loads: u64) -> NonNull<u8> {
    let mut at = from;
    for _ in 0..loads {
        // SAFETY: as the caller guarantees. Volatile, so that the compiler neither drops loads nor merges them when unrolling.
        at = unsafe { at.cast::<NonNull<u8>>().as_ptr().read_volatile() };
    }
    at
}

/// `K` independent chases at once, each for `turns` loads.
///
/// In Rust, because no architecture has registers for 32 chases: spilling one costs a few cycles of a hundred nanoseconds.
///
/// # Safety
/// As of [`chase`], for every starting point.
#[inline(never)]
pub unsafe fn chase_many<const K: usize>(mut at: [NonNull<u8>; K], turns: u64) -> [NonNull<u8>; K] {
    for _ in 0..turns {
        for here in &mut at {
            // SAFETY: as the caller guarantees.
            *here = unsafe { here.cast::<NonNull<u8>>().as_ptr().read_volatile() };
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of seven pointers.
    fn ring() -> Vec<NonNull<u8>> {
        let mut ring = vec![NonNull::<u8>::dangling(); 7];
        for index in 0..7 {
            ring[index] = NonNull::from(&mut ring[(index + 1) % 7]).cast();
        }
        ring
    }

    #[test]
    fn a_chase_arrives_where_so_many_loads_lead() {
        let mut ring = ring();
        let place: Vec<NonNull<u8>> = ring.iter_mut().map(|link| NonNull::from(link).cast()).collect();
        // SAFETY: a ring.
        unsafe {
            assert_eq!(chase(place[0], 3), place[(3 * UNROLLED % 7) as usize]);
            assert_eq!(chase_rolled(place[0], 5), place[5]);
            let arrived = chase_many([place[0], place[3]], 2);
            assert_eq!(arrived, [place[2], place[5]]);
        }
    }
}
