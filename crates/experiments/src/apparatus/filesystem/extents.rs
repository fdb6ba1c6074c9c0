//! Where the blocks of a file lie and which belong to another file too, as the file system tells (FIEMAP).

use std::fs::File;
use std::os::fd::AsRawFd;

/// `struct fiemap` of `linux/fiemap.h`, with room for some extents.
#[repr(C)]
struct ExtentMap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [FileExtent; EXTENTS],
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct FileExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    more: [u32; 3],
}

/// Bytes of the head, without extents: the size that the number of the call contains.
type ExtentMapHead = [u64; 4];

/// Extents that are asked for at once.
const EXTENTS: usize = 64;
/// Flags of an extent: it is the last of the file; its blocks are in another file too.
const LAST: u32 = 0x1;
const SHARED: u32 = 0x2000;

/// Bytes of the file in blocks that it shares with another; `None` if the file system does not tell.
pub fn shared_bytes(file: &File) -> Option<u64> {
    let of = |extent: &FileExtent| if extent.flags & SHARED == 0 { 0 } else { extent.length };
    Some(all(file)?.iter().map(of).sum())
}

/// The number of pieces in which the file lies on its device; `None` if the file system does not tell.
pub fn pieces(file: &File) -> Option<u64> {
    Some(pieces_of(&all(file)?))
}

/// Extents that follow each other in the file and on the device are one piece: the length of one is limited.
fn pieces_of(extents: &[FileExtent]) -> u64 {
    let follows = |pair: &&[FileExtent]| pair[0].physical + pair[0].length == pair[1].physical;
    let joined = extents.windows(2).filter(follows).count();
    (extents.len() - joined) as u64
}

/// All extents of a file, in its order.
fn all(file: &File) -> Option<Vec<FileExtent>> {
    let (mut start, mut all) = (0, vec![]);
    loop {
        let extents = after(file, start)?;
        let last = extents.last().copied();
        all.extend(extents);
        match last {
            Some(last) if last.flags & LAST == 0 => start = last.logical + last.length,
            _ => return Some(all),
        }
    }
}

/// The next extents of a file from an offset on.
fn after(file: &File, start: u64) -> Option<Vec<FileExtent>> {
    let mut map = ExtentMap {
        start,
        length: u64::MAX - start,
        flags: 0,
        mapped: 0,
        count: EXTENTS as u32,
        reserved: 0,
        extents: [FileExtent::default(); EXTENTS],
    };
    // SAFETY: the head says for how many extents there is room, and the map is alive during the call.
    let code = unsafe {
        libc::ioctl(file.as_raw_fd(), libc::_IOWR::<ExtentMapHead>(u32::from(b'f'), 11), &raw mut map)
    };
    (code == 0).then(|| map.extents[..(map.mapped as usize).min(EXTENTS)].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<ExtentMapHead>(), size_of::<FileExtent>()), (32, 56));
        assert_eq!(std::mem::offset_of!(ExtentMap, extents), 32);
    }

    #[test]
    fn what_follows_on_the_device_is_one_piece() {
        let extent = |physical, length| FileExtent { physical, length, ..FileExtent::default() };
        assert_eq!(pieces_of(&[]), 0);
        assert_eq!(pieces_of(&[extent(0, 8), extent(8, 8), extent(16, 8)]), 1);
        assert_eq!(pieces_of(&[extent(0, 8), extent(32, 8), extent(40, 8), extent(8, 8)]), 3);
    }

    /// A file system may not tell; one that does finds nothing shared in a file of its own.
    #[test]
    fn a_file_of_its_own_shares_nothing() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 100_000]).unwrap();
        assert!(shared_bytes(&file).is_none_or(|shared| shared == 0));
    }
}
