//! Disassembly of our own kernels in the running binary, so that claims about them are about the instructions executed
//! (R-CPU-11).

use crate::arch::listing as decoded;

/// Stated: instructions in the disassembled loop, for each operation of which it consists.
pub const LISTED: &str = "instructions_listed";

/// Bytes of code within which a kernel must return.
const LONGEST_KERNEL: usize = 4096;

/// Memory traffic of one iteration of a kernel's loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Round {
    /// Bytes of an array by which one iteration advances.
    pub advances: u64,
    pub loads: u64,
    pub loaded: u64,
    /// Store instructions.
    pub stores: u64,
    pub stored: u64,
    /// Store instructions that bypass the caches.
    pub non_temporal: u64,
    pub prefetches: u64,
}

impl Round {
    /// A count of this iteration per 64 bytes of advance; `None` if that is not a whole number.
    pub fn per_line(&self, count: u64) -> Option<u64> {
        let of_lines = count * 64;
        (self.advances > 0 && of_lines % self.advances == 0).then(|| of_lines / self.advances)
    }
}

/// The number of instructions between two labels of this program; `None` if the code does not end with a whole instruction.
pub fn instructions(start: *const u8, end: *const u8) -> Option<u64> {
    let length = (end as usize).checked_sub(start as usize)?;
    // SAFETY: both labels are in one kernel of this program's text, which is readable.
    decoded::count(unsafe { std::slice::from_raw_parts(start, length) })
}

/// One iteration of the only loop of a kernel that begins at `start` and counts its bytes down: from the target of the backward
/// jump to that jump. `None` if there is no such loop.
///
/// # Safety
///
/// `start` is the first instruction of a function of this program that returns within 4096 bytes, and calls nothing.
pub unsafe fn round(start: *const u8) -> Option<Round> {
    // SAFETY: as promised.
    let kernel = unsafe { until_it_returns(start, decoded::kernel) }?;
    decoded::round(&kernel)
}

/// The number of instructions of each loop of a function that ends with a conditional backward jump, including that jump, in the
/// order of the jumps.
///
/// # Safety
///
/// As of [`round`]; it may call other functions.
pub unsafe fn loops(start: *const u8) -> Vec<u64> {
    // SAFETY: as promised.
    let kernel = unsafe { until_it_returns(start, decoded::kernel) };
    kernel.map_or_else(Vec::new, |kernel| decoded::loops(&kernel))
}

/// The least size of a page, of which every other is a multiple: what begins in one is mapped to its end.
const PAGE: usize = 4096;

/// What `decode` finds in a function, in as many pages as it takes until the function returns; `None` if it does not within
/// [`LONGEST_KERNEL`] bytes. No byte of a page after the function is referred to: there may be none.
///
/// # Safety
///
/// As of [`round`].
unsafe fn until_it_returns<T>(start: *const u8, decode: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    let first = PAGE - start as usize % PAGE;
    (first..=first + LONGEST_KERNEL).step_by(PAGE).find_map(|length| {
        // SAFETY: the first page has the function's first byte; a later one is looked at only if the function did not return
        // before it, and so goes on in it.
        decode(unsafe { std::slice::from_raw_parts(start, length) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETURN: &[u8] = if matches!(std::env::consts::ARCH.as_bytes(), b"x86_64") {
        &[0xc3]
    } else {
        &[0xc0, 0x03, 0x5f, 0xd6]
    };

    /// Two pages, of which the second may not be touched.
    fn before_a_forbidden_page(code: &[u8]) -> *const u8 {
        // SAFETY: a new mapping of two pages of any size, of which the second loses its permissions.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let (both, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let start = libc::mmap(std::ptr::null_mut(), 2 * page, both, flags, -1, 0).cast::<u8>();
            assert_eq!(libc::mprotect(start.add(page).cast(), page, libc::PROT_NONE), 0);
            let at = start.add(page - code.len());
            std::ptr::copy_nonoverlapping(code.as_ptr(), at, code.len());
            at
        }
    }

    #[test]
    fn nothing_is_read_after_the_page_in_which_a_function_returns() {
        let start = before_a_forbidden_page(RETURN);
        // SAFETY: a function that returns at once.
        assert!(unsafe { loops(start) }.is_empty());
        // What is decoded is all of the page and no more: whoever looked at all of `LONGEST_KERNEL` would be killed here.
        // SAFETY: as above.
        let seen = unsafe { until_it_returns(start, |code| Some(code.to_vec())) };
        assert_eq!(seen.as_deref(), Some(RETURN));
    }
}
