//! Memory shared by forked children and the process that created them.

use crate::os;
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
    let page = os::map_shared(size_of::<T>())?;
    // SAFETY: a new mapping, aligned to a page, zeroed, large enough, and never unmapped.
    Ok(unsafe { &*page.cast::<T>() })
}
