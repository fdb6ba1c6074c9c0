//! Direct I/O: reading from the device past the page cache, and the kernel's account of bytes read from devices.

use super::{TestFile, evict, existing, page_bytes, refused};
use fathom_core::experiment::Failure;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

/// A file opened for direct I/O.
#[derive(Debug)]
pub struct Direct {
    /// Its open description.
    pub file: File,
}

/// Opens a test file so that its blocks are read from the device (`O_DIRECT`), or gives the reason why that is impossible.
/// Whether it is honoured is shown by the contents of the cache and the device's bytes: some file systems accept the flag and
/// read through the cache.
pub fn direct(test: &TestFile, block: u64) -> Result<Direct, Failure> {
    let opened = existing().custom_flags(libc::O_DIRECT | libc::O_NOFOLLOW).open(&test.path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => Failure::Unsupported(
            "this file system has no direct reads (O_DIRECT), like those in memory; choose a folder on a disk with \
             `--dir`"
                .to_owned(),
        ),
        _ => refused("opened for direct reads", &test.path, &error),
    })?;
    takes(&file, block)?;
    Ok(Direct { file })
}

/// Checks the block size: a device reads only whole blocks of its own size.
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

/// Bytes that this process has read from devices so far, as the kernel accounts them when it sends the request (`read_bytes` in
/// /proc/self/io); `None` if it does not.
pub fn served() -> Option<f64> {
    accounted("/proc/self/io")
}

fn accounted(path: &str) -> Option<f64> {
    let account = std::fs::read_to_string(path).ok()?;
    account.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.trim().parse().ok())
}

/// The same for another process of this user.
pub fn served_to(process: libc::pid_t) -> Option<f64> {
    accounted(&format!("/proc/{process}/io"))
}

/// Evicts a test file, and verifies that the kernel accounts later reads of it to this process. If it does not, nothing shows
/// whether a device was involved: a server in user space, a cache of the file system's own, or another machine may have answered,
/// even though the page cache is empty.
pub fn ensure_accounted(test: &TestFile) -> Result<(), Failure> {
    if let Some(reason) = answers_itself(&test.file) {
        return Err(unaccounted(reason));
    }
    evict(&test.file)?;
    let (before, mut page) = (served(), vec![0; page_bytes().min(test.bytes) as usize]);
    // Without read-ahead, which may still be in progress when the file is evicted again.
    advise(&test.file, libc::POSIX_FADV_RANDOM);
    let read = test.file.read_exact_at(&mut page, 0);
    advise(&test.file, libc::POSIX_FADV_NORMAL);
    read.map_err(|error| Failure::Broke(format!("reading the test file: {error}")))?;
    let (before, after) = before.zip(served()).ok_or_else(|| {
        unaccounted("this kernel does not count the bytes that a process reads from devices (/proc/self/io)")
    })?;
    if after - before < page.len() as f64 {
        return Err(unaccounted("reads of this file system are not accounted to a device"));
    }
    evict(&test.file)
}

/// Gives advice that may be refused: then more than a page is read.
fn advise(file: &File, advice: libc::c_int) {
    // SAFETY: takes no pointers; length 0 is the whole file.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice) };
}

fn unaccounted(reason: &str) -> Failure {
    Failure::Unsupported(format!(
        "whether a block comes from a device or from a cache is not visible here: {reason}; choose a folder on a disk \
         of this machine with `--dir`"
    ))
}

/// The reason why a file system may serve reads from memory other than the page cache (`statfs(2)` tells its type); `None` if no
/// such memory is known.
fn answers_itself(file: &File) -> Option<&'static str> {
    of_kind(kind_of(file)?)
}

/// A file system whose server is a program of this machine (FUSE).
const OF_A_DAEMON: i64 = 0x6573_5546;

/// Whether a program of this machine serves a file.
pub(crate) fn is_served_by_a_daemon(file: &File) -> bool {
    kind_of(file) == Some(OF_A_DAEMON)
}

/// The type of a file's file system, by its magic number; the field is signed where it has 32 bits.
fn kind_of(file: &File) -> Option<i64> {
    // SAFETY: a statfs is plain integers, which the call fills if it succeeds.
    let kind = unsafe {
        let mut status: libc::statfs = std::mem::zeroed();
        (libc::fstatfs(file.as_raw_fd(), &raw mut status) == 0).then_some(status.f_type as i64)
    };
    kind.map(unsigned)
}

/// A magic number as the field has it, of 32 or 64 bits, without the sign of the narrower one.
const fn unsigned(kind: i64) -> i64 {
    kind & 0xffff_ffff
}

/// The same for a type of file system, by its magic number (`linux/magic.h`, statfs(2); of Lustre, GPFS and `BeeGFS` by their own
/// sources).
fn of_kind(kind: i64) -> Option<&'static str> {
    const ANOTHER_MACHINE: &str = "another machine answers, and may have a cache";
    match kind {
        OF_A_DAEMON => Some("a server in user space answers (FUSE), and may have a cache"),
        0x2fc1_2fc1 => Some("ZFS has a cache of its own beside the page cache, the ARC"),
        // 9p, NFS, SMB of three kinds, Ceph, AFS of two kinds, Coda, Lustre, GPFS, BeeGFS.
        0x0102_1997 | 0x6969 | 0x517b | 0xff53_4d42 | 0xfe53_4d42 | 0x00c3_6400 | 0x5346_414f
        | 0x6b41_4653 | 0x7375_7245 | 0x0bd0_0bd0 | 0x4750_4653 | 0x1983_0326 => Some(ANOTHER_MACHINE),
        // Folders of a virtual machine's host: VirtualBox, VMware.
        0x786f_4256 | 0xbacb_acbc => Some("the host of this virtual machine answers, and may have a cache"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_machine_answers_is_no_read_of_a_device() {
        for (name, kind) in
            [("NFS", 0x6969), ("SMB", 0xfe53_4d42), ("Ceph", 0x00c3_6400), ("9p", 0x0102_1997)]
        {
            assert!(of_kind(kind).is_some_and(|reason| reason.contains("another machine")), "{name}");
        }
        let signed = i64::from(0xff53_4d42_u32 as i32);
        assert!(of_kind(unsigned(signed)).is_some(), "CIFS where the field has 32 bits");
        for (name, kind) in
            [("ext4", 0xef53), ("XFS", 0x5846_5342), ("Btrfs", 0x9123_683e), ("tmpfs", 0x0102_1994)]
        {
            assert_eq!(of_kind(kind), None, "{name}");
        }
    }
}
