//! Names of files in one folder, and what is done with each of them.

use fathom_core::prelude::*;
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::refused;
use rand_xoshiro::SplitMix64;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What is done with every name, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameTask {
    Create,
    LookUp,
    Miss,
    List,
    Rename,
    Remove,
}

impl NameTask {
    pub const ALL: [NameTask; 6] = [
        NameTask::Create,
        NameTask::LookUp,
        NameTask::Miss,
        NameTask::List,
        NameTask::Rename,
        NameTask::Remove,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            NameTask::Create => "create",
            NameTask::LookUp => "look up",
            NameTask::Miss => "look up a missing name",
            NameTask::List => "read the directory",
            NameTask::Rename => "rename",
            NameTask::Remove => "remove",
        }
    }

    /// System calls for each name; reading a directory takes one for hundreds of names.
    pub const fn calls(self) -> f64 {
        match self {
            NameTask::Create => 2.0,
            NameTask::List => 0.0,
            _ => 1.0,
        }
    }
}

/// Bytes for the entries of one call, as C libraries have it.
const ENTRIES: usize = 32 << 10;

/// Bytes of a name with the zero at its end: a letter and eleven digits.
const LENGTH: usize = 13;
pub type Name = [u8; LENGTH];

/// The first letter of a name: of a new file, of one that is never made, of a renamed one.
pub const MADE: u8 = b'f';
const MISSING: u8 = b'm';
pub const RENAMED: u8 = b'r';

/// A folder that is emptied when this is dropped. The empty folder stays until the run's own folder is removed: a file system that
/// spreads folders over the device puts the next one elsewhere as long as it is there.
#[derive(Debug)]
pub struct NameFolder {
    pub file: File,
    pub path: PathBuf,
}

impl NameFolder {
    pub fn new(path: &Path) -> Result<Self, Failure> {
        let created = DirBuilder::new().mode(0o700).create(path);
        let opened = created.and_then(|()| {
            OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)
        });
        opened
            .map(|file| NameFolder { file, path: path.to_owned() })
            .map_err(|error| refused("made", path, &error))
    }

    /// The names in it that begin with this letter, as the standard library reads a directory.
    pub fn count(&self, letter: u8) -> Result<f64, Failure> {
        let entries = std::fs::read_dir(&self.path).map_err(|error| unreadable(&self.path, &error))?;
        let mut count = 0_u64;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&self.path, &error))?;
            count += u64::from(entry.file_name().as_encoded_bytes().first() == Some(&letter));
        }
        Ok(count as f64)
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::Broke(format!("reading {}: {error}", path.display()))
}

impl Drop for NameFolder {
    fn drop(&mut self) {
        // What cannot be removed here is removed with the run's folder.
        for entry in std::fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[derive(Debug)]
pub struct ThreadNames {
    in_order: Vec<Name>,
    shuffled: Vec<Name>,
    entries: Vec<u8>,
}

impl ThreadNames {
    /// So many names, different from those of the other threads.
    pub fn new(thread: usize, count: u64, chance: &mut SplitMix64) -> Self {
        let in_order: Vec<Name> = (0..count).map(|number| name(thread, number)).collect();
        let mut shuffled = in_order.clone();
        for place in (1..shuffled.len()).rev() {
            shuffled.swap(place, below(chance, place as u64 + 1) as usize);
        }
        ThreadNames { in_order, shuffled, entries: vec![0; ENTRIES] }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.in_order.len()
    }

    /// Performs a task on each name, new files in the order of their names, all else in random order; returns for how many names.
    pub fn perform(&mut self, task: NameTask, folder: &File) -> Result<u64, Failure> {
        let (at, count) = (folder.as_raw_fd(), self.shuffled.len() as u64);
        match task {
            NameTask::Create => self.in_order.iter().try_for_each(|name| create(at, name))?,
            NameTask::LookUp => self.shuffled.iter().try_for_each(|name| look_up(at, name))?,
            NameTask::Miss => {
                self.shuffled.iter().try_for_each(|name| miss(at, &beginning(MISSING, name)))?;
            }
            NameTask::List => return list(at, &mut self.entries),
            NameTask::Rename => self.shuffled.iter().try_for_each(|name| rename(at, name))?,
            NameTask::Remove => {
                self.shuffled.iter().try_for_each(|name| remove(at, &beginning(RENAMED, name)))?;
            }
        }
        Ok(count)
    }
}

fn name(thread: usize, number: u64) -> Name {
    let mut name = [0; LENGTH];
    let text = format!("f{:03x}{number:08}", thread & 0xfff);
    name[..LENGTH - 1].copy_from_slice(&text.as_bytes()[..LENGTH - 1]);
    name
}

fn beginning(letter: u8, name: &Name) -> Name {
    let mut other = *name;
    other[0] = letter;
    other
}

fn create(folder: libc::c_int, name: &Name) -> Result<(), Failure> {
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC;
    // SAFETY: the name ends with a zero, and the descriptor is closed once.
    unsafe {
        let file = libc::openat(folder, name.as_ptr().cast(), flags, 0o600);
        if file < 0 {
            return Err(refused("made", Path::new("directory"), &io::Error::last_os_error()));
        }
        errno("close", libc::close(file)).map(drop)
    }
}

fn status(folder: libc::c_int, name: &Name) -> libc::c_int {
    // SAFETY: the name ends with a zero; a stat is plain integers, for which zero is valid.
    unsafe {
        let mut attributes: libc::stat = std::mem::zeroed();
        libc::fstatat(folder, name.as_ptr().cast(), &raw mut attributes, libc::AT_SYMLINK_NOFOLLOW)
    }
}

fn look_up(folder: libc::c_int, name: &Name) -> Result<(), Failure> {
    errno("fstatat of a name in the directory", status(folder, name)).map(drop)
}

fn miss(folder: libc::c_int, name: &Name) -> Result<(), Failure> {
    ensure(status(folder, name) == -1, "a name that was never made was found")?;
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::NotFound {
        return Ok(());
    }
    Err(Failure::of("fstatat of a missing name", &error))
}

/// Reads the whole directory from its beginning, and returns the number of its entries.
fn list(folder: libc::c_int, entries: &mut [u8]) -> Result<u64, Failure> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero.
    let own = errno("opening a directory to read it", unsafe { libc::openat(folder, c".".as_ptr(), flags) })?;
    let mut count = 0;
    let read = loop {
        // SAFETY: room for as many bytes as are asked for.
        let bytes = unsafe { libc::syscall(libc::SYS_getdents64, own, entries.as_mut_ptr(), entries.len()) };
        match bytes {
            1.. => count += entries_in(&entries[..bytes as usize]),
            ended => break errno("getdents64", ended),
        }
    };
    // SAFETY: opened above, and closed once.
    errno("close", unsafe { libc::close(own) })?;
    read.map(|_| count)
}

/// Where an entry of getdents64(2) has its length, and its name; it is no shorter than that.
const ENTRY_LENGTH: usize = 16;
const ENTRY_NAME: usize = 19;

/// The entries in a buffer of getdents64(2), without the folder itself and its parent.
fn entries_in(mut buffer: &[u8]) -> u64 {
    let mut count = 0;
    while let Some(first) = buffer.get(ENTRY_NAME) {
        count += u64::from(*first != b'.');
        let length = u16::from_ne_bytes([buffer[ENTRY_LENGTH], buffer[ENTRY_LENGTH + 1]]);
        buffer = buffer.get(usize::from(length).max(ENTRY_NAME)..).unwrap_or_default();
    }
    count
}

fn rename(folder: libc::c_int, name: &Name) -> Result<(), Failure> {
    let to = beginning(RENAMED, name);
    // SAFETY: both names end with a zero.
    let renamed = unsafe { libc::renameat(folder, name.as_ptr().cast(), folder, to.as_ptr().cast()) };
    errno("renameat", renamed).map(drop)
}

fn remove(folder: libc::c_int, name: &Name) -> Result<(), Failure> {
    // SAFETY: the name ends with a zero.
    errno("unlinkat", unsafe { libc::unlinkat(folder, name.as_ptr().cast(), 0) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn every_task_does_what_it_is_named_after_and_nothing_stays() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("names");
        let folder = NameFolder::new(&path).unwrap();
        let mut names = ThreadNames::new(3, 2000, &mut SplitMix64::seed_from_u64(7));
        let mut perform = |task| names.perform(task, &folder.file).unwrap();
        assert_eq!(perform(NameTask::Create), 2000);
        assert!((folder.count(MADE).unwrap() - 2000.0).abs() < 0.5);
        assert_eq!((perform(NameTask::LookUp), perform(NameTask::Miss)), (2000, 2000));
        assert_eq!(perform(NameTask::List), 2000, "more than one call returns");
        perform(NameTask::Rename);
        let counted = [MADE, RENAMED].map(|letter| folder.count(letter).unwrap() as u64);
        assert_eq!(counted, [0, 2000]);
        perform(NameTask::Remove);
        assert_eq!(folder.count(RENAMED).unwrap() as u64, 0);
        perform(NameTask::Create);
        drop(folder);
        assert_eq!(std::fs::read_dir(path).unwrap().count(), 0, "a folder is emptied");
    }

    #[test]
    fn what_is_not_there_is_no_success() {
        let place = tempfile::tempdir().unwrap();
        let folder = NameFolder::new(&place.path().join("names")).unwrap();
        let mut names = ThreadNames::new(0, 2, &mut SplitMix64::seed_from_u64(7));
        for task in [NameTask::LookUp, NameTask::Rename, NameTask::Remove] {
            assert!(names.perform(task, &folder.file).is_err(), "{task:?} of names that were not made");
        }
        names.perform(NameTask::Create, &folder.file).unwrap();
        assert!(names.perform(NameTask::Create, &folder.file).is_err(), "names that are there are not new");
    }
}
