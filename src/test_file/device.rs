//! Past the page cache: reading from the device itself, and the kernel's account of what came from there.

use super::{TestFile, existing, refused};
use crate::experiment::Failure;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// A file opened past the page cache.
#[derive(Debug)]
pub struct Direct {
    /// Its open description.
    pub file: File,
}

/// Opens a test file so that its blocks are read from the device (`O_DIRECT`), or says why that cannot be. That it is
/// honoured is shown by what the cache holds and the device delivers: some file systems take the flag and read through
/// the cache.
pub fn direct(test: &TestFile, block: u64) -> Result<Direct, Failure> {
    let opened = existing().custom_flags(libc::O_DIRECT | libc::O_NOFOLLOW).open(&test.path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => Failure::Unsupported(
            "this file system has no direct reads (O_DIRECT), as those in memory; `--dir` names a folder on a disk"
                .to_owned(),
        ),
        _ => refused("opened for direct reads", &test.path, &error),
    })?;
    takes(&file, block)?;
    Ok(Direct { file })
}

/// A device reads whole blocks of its own size only.
fn takes(file: &File, block: u64) -> Result<(), Failure> {
    let buffer = super::Aligned::new(block as usize)?;
    // SAFETY: the buffer has room for a block.
    let read = unsafe { libc::pread(file.as_raw_fd(), buffer.start().cast(), block as usize, 0) };
    if read == block as isize {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EINVAL) if read < 0 => Err(Failure::Unsupported(format!(
            "the device or its file system does not read {block} bytes directly: its own blocks are larger"
        ))),
        _ => Err(Failure::Broke(format!("a direct read of {block} bytes gave {read}: {error}"))),
    }
}

/// Bytes that this process has had from devices so far, as the kernel accounts them when it sends the request
/// (`read_bytes` in /proc/self/io); `None` where it does not.
pub fn served() -> Option<f64> {
    accounted("/proc/self/io")
}

fn accounted(path: &str) -> Option<f64> {
    let account = std::fs::read_to_string(path).ok()?;
    account.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.trim().parse().ok())
}

/// Whether the kernel accounts what comes from below a file's file system: not where a server in user space, another
/// machine's protocol or memory serves it (`statfs(2)` tells the kind).
pub fn accounts(file: &File) -> bool {
    const FUSE: i64 = 0x6573_5546;
    const PLAN_9: i64 = 0x0102_1997;
    const TMPFS: i64 = 0x0102_1994;
    const ZFS: i64 = 0x2fc1_2fc1;
    // SAFETY: a statfs is plain integers, which the call fills where it succeeds.
    let kind = unsafe {
        let mut told: libc::statfs = std::mem::zeroed();
        (libc::fstatfs(file.as_raw_fd(), &raw mut told) == 0).then_some(told.f_type as i64)
    };
    kind.is_some_and(|kind| ![FUSE, PLAN_9, TMPFS, ZFS].contains(&kind))
}

/// The same for another process of this user.
pub fn served_to(process: libc::pid_t) -> Option<f64> {
    accounted(&format!("/proc/{process}/io"))
}
