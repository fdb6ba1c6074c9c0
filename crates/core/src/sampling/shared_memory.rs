//! Memory shared by forked children and the process that created them.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// Types that may be placed in zeroed memory shared by several processes.
///
/// # Safety
///
/// All zeros must be a valid value, and every access through a shared reference must be sound from several processes.
pub unsafe trait Shareable {}

// SAFETY: atomics are made for this, and zero is one of their values.
unsafe impl Shareable for AtomicU32 {}
// SAFETY: as above.
unsafe impl Shareable for AtomicU64 {}

/// Maps a zeroed `T`; it stays mapped until the process ends.
pub fn shared_memory<T: Shareable>() -> std::io::Result<&'static T> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new anonymous mapping, aligned to a page, zeroed, large enough, and never unmapped.
    unsafe {
        let page = libc::mmap(std::ptr::null_mut(), size_of::<T>(), protection, flags, -1, 0);
        if page == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(&*page.cast::<T>())
    }
}
