//! What `fathom ab` has set, recorded on disk before it is set: the guard beside the run restores it however the run ends
//! (`restoring.rs`), unless both are killed together, as with their control group. Then the next run of the same user restores it.
//!
//! Run and guard hold a lock on the record, which the kernel releases with the last of them. Unlike a process number it means the
//! same in every container of the machine.

use super::setting_file::{place, put, value};
use super::variation::{Originals, every};
use crate::record::store;
use anyhow::{Context, Result, bail};
use fathom_core::sampling::own_folder::user;
use fathom_core::sampling::owner::Owner;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The most bytes of an entry; a governor for each of a thousand CPUs is a tenth of it.
const LONGEST: u64 = 1 << 20;

/// Places whose files are the whole machine's. Others, such as `/proc/sys/net`, may be one container's own.
const OF_THE_MACHINE: [&str; 4] = ["/proc/sys/vm", "/sys/devices/system", "/sys/kernel/mm", "/sys/module"];

/// What a run sets, and the namespaces in which it does so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    namespaces: Vec<PathBuf>,
    files: BTreeMap<PathBuf, LedgerEntry>,
}

/// A file that is set: its value before, and those that a run gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LedgerEntry {
    original: String,
    set: Vec<String>,
}

/// The record of one run, removed when everything is restored.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Ledger {
    /// Records what will be set, and what it was before.
    pub fn begin(originals: &Originals, set: &[&BTreeMap<PathBuf, String>]) -> Result<Self> {
        let folder =
            store::set_ledger().context("there is no home directory for the record of what is set")?;
        Ledger::begin_in(&folder, originals, set)
    }

    fn begin_in(folder: &Path, originals: &Originals, set: &[&BTreeMap<PathBuf, String>]) -> Result<Self> {
        let entry = |(file, original): (&PathBuf, &String)| {
            let set = set.iter().filter_map(|files| files.get(file)).cloned().collect();
            (file.clone(), LedgerEntry { original: original.clone(), set })
        };
        let files = originals.0.iter().map(entry).collect();
        let record = Record { namespaces: namespaces(), files };
        let owner = Owner::of(std::process::id()).context("/proc does not show this process")?;
        let path = folder.join(owner.name("set"));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        ensure_private(folder)?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        // Before there is anything to read in it.
        flock(&file, libc::LOCK_SH)?;
        file.write_all(&serde_json::to_vec(&record)?)?;
        Ok(Ledger { path, _file: file })
    }

    /// The file, for the guard, which removes it when it has restored everything.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Restores what runs of this user have left set that no longer exist; what was restored, and what could not be, in words.
pub fn restore_what_was_left() -> Vec<String> {
    store::set_ledger().map(|folder| restored_from(&folder)).unwrap_or_default()
}

fn restored_from(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    if let Err(error) = ensure_private(folder) {
        return vec![format!("{error:#}, so nothing was restored by it")];
    }
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let owned = names.filter_map(|name| Owner::of_name(&name).map(|owner| (name, owner)));
    owned
        .flat_map(|(name, owner)| {
            let path = folder.join(name);
            // A machine that has booted since has its own settings again.
            let (messages, is_done) =
                if owner.is_of_this_boot() { undone(&path) } else { (vec![], owner.is_gone()) };
            if is_done {
                let _ = std::fs::remove_file(path);
            }
            messages
        })
        .collect()
}

/// Restores one run's settings: those that are still as it set them. What it did in words, and whether nothing is left to do.
fn undone(path: &Path) -> (Vec<String>, bool) {
    let left_alone =
        |why: &dyn std::fmt::Display| (vec![format!("{} is left alone: {why}", path.display())], false);
    let file = match opened(path) {
        Ok(file) => file,
        Err(error) => return left_alone(&error),
    };
    match flock(&file, libc::LOCK_EX | libc::LOCK_NB) {
        Ok(()) => {}
        // The run lives, or its guard does.
        Err(error) if error.kind() == ErrorKind::WouldBlock => return (vec![], false),
        Err(error) => return left_alone(&error),
    }
    match parsed(&file) {
        Ok(Some(record)) => record.restore(path),
        // A run that is about to record something.
        Ok(None) => (vec![], false),
        Err(error) => left_alone(&format_args!("{error:#}")),
    }
}

impl Record {
    /// Restores what is still as it was set and surely the same file here; the rest is told.
    fn restore(self, path: &Path) -> (Vec<String>, bool) {
        let is_here = self.namespaces == namespaces();
        let (mut messages, mut is_done) = (vec![], true);
        let settings = self.files.into_iter().filter(|(file, _)| place(&file.to_string_lossy()).is_ok());
        for (file, entry) in settings {
            if !is_here && !OF_THE_MACHINE.iter().any(|place| file.starts_with(place)) {
                messages.push(format!(
                    "a run of `fathom ab` in another container was killed and may have left {} set there; it was `{}` before: \
                     restore it if that container still exists, then remove {}",
                    file.display(),
                    entry.original,
                    path.display()
                ));
                is_done = false;
                continue;
            }
            match entry.restore(&file) {
                Ok(restored) => messages.extend(restored),
                // A CPU that is offline now may come back: the next run tries again.
                Err(error) => {
                    messages.push(format!("a run of `fathom ab` that was killed left a setting: {error:#}"));
                    is_done = false;
                }
            }
        }
        (messages, is_done)
    }
}

/// The namespaces of this process, in which the same path may be another setting.
fn namespaces() -> Vec<PathBuf> {
    let link = |name| std::fs::read_link(format!("/proc/self/ns/{name}")).unwrap_or_default();
    ["net", "ipc", "uts", "user", "cgroup", "pid"].map(link).to_vec()
}

impl LedgerEntry {
    /// Restores the file if it still has a value that the run gave it; what was done, in words.
    fn restore(&self, file: &Path) -> Result<Option<String>> {
        let now = value(file)?;
        let is = |other: &str| other.split_whitespace().eq(now.split_whitespace());
        if is(&self.original) || !self.set.iter().any(|set| is(set)) {
            return Ok(None);
        }
        put(file, &self.original)?;
        Ok(Some(format!(
            "{} was left at `{now}` by a run of `fathom ab` that was killed, and is `{}` again",
            file.display(),
            self.original
        )))
    }
}

/// A record of this user's own; anybody else's is not believed.
fn opened(path: &Path) -> Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file()
        || metadata.uid() != user()
        || metadata.mode() & 0o022 != 0
        || metadata.len() > LONGEST
    {
        bail!("it is not a file that this user alone can write");
    }
    Ok(file)
}

/// Locks an open file (flock(2)), until it is closed.
fn flock(file: &File, kind: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is that of an open file.
    match unsafe { libc::flock(file.as_raw_fd(), kind) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `None` for an empty file.
fn parsed(file: &File) -> Result<Option<Record>> {
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(if text.is_empty() { None } else { Some(serde_json::from_str(&text)?) })
}

/// Refuses a folder in which others could have put an entry.
fn ensure_private(folder: &Path) -> Result<()> {
    let metadata = folder.symlink_metadata()?;
    if metadata.is_dir() && metadata.uid() == user() && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    bail!("{} is not a folder that this user alone can write", folder.display())
}

/// What the guard of a run restores, as it receives it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedValues {
    /// The values from before.
    pub originals: BTreeMap<PathBuf, String>,
    /// The record on disk.
    pub ledger: PathBuf,
}

impl SavedValues {
    /// Holds the record's lock, so that no other run takes this one for dead.
    pub fn hold(&self) -> Result<File> {
        let held = opened(&self.ledger).and_then(|file| Ok(flock(&file, libc::LOCK_SH).map(|()| file)?));
        held.with_context(|| format!("{} cannot be locked", self.ledger.display()))
    }

    pub fn restore(&self) -> Result<()> {
        every(self.originals.iter().map(|(file, original)| put(file, original)))?;
        match std::fs::remove_file(&self.ledger) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("{} cannot be removed", self.ledger.display()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A setting of one thread of these tests alone, which it may always write: its name.
    fn own_setting() -> PathBuf {
        // SAFETY: asks for a number.
        let thread = unsafe { libc::gettid() };
        format!("/proc/self/task/{thread}/comm").into()
    }

    /// A folder with the record of a run that is gone, which set this file from `before` to `set`.
    fn left_by_a_dead_run(file: &Path, before: &str, set: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let originals = Originals(BTreeMap::from([(file.to_owned(), before.to_owned())]));
        let set = BTreeMap::from([(file.to_owned(), set.to_owned())]);
        let ledger = Ledger::begin_in(folder.path(), &originals, &[&set]).unwrap();
        assert_eq!(restored_from(folder.path()), Vec::<String>::new(), "its run lives");
        let guard = SavedValues { originals: originals.0, ledger: ledger.path().to_owned() }.hold().unwrap();
        drop(ledger);
        assert_eq!(restored_from(folder.path()), Vec::<String>::new(), "its guard lives");
        let path = std::fs::read_link(format!("/proc/self/fd/{}", guard.as_raw_fd())).unwrap();
        (folder, path)
    }

    #[test]
    fn what_a_dead_run_left_set_is_restored_once() {
        let file = own_setting();
        let before = value(&file).unwrap();
        put(&file, "as set").unwrap();
        let (folder, entry) = left_by_a_dead_run(&file, &before, "as set");
        let messages = restored_from(folder.path());
        assert_eq!(value(&file).unwrap(), before);
        assert!(
            messages.len() == 1 && messages[0].contains("as set") && messages[0].contains(&before),
            "{messages:?}"
        );
        assert!(!entry.exists());
    }

    /// Two containers of a machine that share a home directory: process numbers of the one say nothing in the other.
    #[test]
    fn of_what_another_container_left_set_the_machines_own_is_restored_and_the_rest_told() {
        let file = own_setting();
        let before = value(&file).unwrap();
        put(&file, "as set").unwrap();
        let (folder, entry) = left_by_a_dead_run(&file, &before, "as set");
        let there = folder.path().join(Owner::of_another_host().name("set"));
        std::fs::rename(&entry, &there).unwrap();
        let record = Record { namespaces: vec![], ..parsed(&opened(&there).unwrap()).unwrap().unwrap() };
        std::fs::write(&there, serde_json::to_vec(&record).unwrap()).unwrap();
        let messages = restored_from(folder.path());
        assert!(
            messages.len() == 1 && messages[0].contains("another container") && messages[0].contains(&before),
            "{messages:?}"
        );
        assert_eq!(value(&file).unwrap(), "as set");
        assert!(there.exists());
        put(&file, &before).unwrap();
        let machines = PathBuf::from("/sys/devices/system/gone");
        let files = record.files.into_values().map(|entry| (machines.clone(), entry)).collect();
        std::fs::write(&there, serde_json::to_vec(&Record { files, ..record }).unwrap()).unwrap();
        let messages = restored_from(folder.path());
        assert!(
            messages.len() == 1 && messages[0].contains("cannot read /sys/devices/system/gone"),
            "{messages:?}"
        );
    }

    #[test]
    fn what_somebody_has_set_since_stays() {
        let file = own_setting();
        let before = value(&file).unwrap();
        put(&file, "since").unwrap();
        let (folder, entry) = left_by_a_dead_run(&file, &before, "as set");
        assert_eq!(restored_from(folder.path()), Vec::<String>::new());
        assert_eq!(value(&file).unwrap(), "since");
        assert!(!entry.exists());
        put(&file, &before).unwrap();
    }

    #[test]
    fn an_entry_that_others_may_have_written_or_of_another_file_is_not_believed() {
        let file = own_setting();
        let before = value(&file).unwrap();
        put(&file, "as set").unwrap();
        let (folder, entry) = left_by_a_dead_run(&file, "theirs", "as set");
        std::fs::set_permissions(&entry, PermissionsExt::from_mode(0o666)).unwrap();
        assert!(restored_from(folder.path())[0].contains("left alone"));
        let (folder, entry) = left_by_a_dead_run(&file, "theirs", "as set");
        let elsewhere = folder.path().join("elsewhere");
        std::fs::rename(&entry, &elsewhere).unwrap();
        symlink(&elsewhere, &entry).unwrap();
        assert!(restored_from(folder.path())[0].contains("left alone"));
        let (folder, _) = left_by_a_dead_run(&file, "theirs", "as set");
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        assert!(restored_from(folder.path())[0].contains("nothing was restored"));
        assert_eq!(value(&file).unwrap(), "as set");
        put(&file, &before).unwrap();
        let notes = folder.path().join("notes");
        std::fs::write(&notes, "as set").unwrap();
        let (folder, _) = left_by_a_dead_run(&notes, "theirs", "as set");
        assert_eq!(restored_from(folder.path()), Vec::<String>::new());
        let through = PathBuf::from(format!("/proc/self/root{}", notes.display()));
        let (folder, _) = left_by_a_dead_run(&through, "theirs", "as set");
        assert!(restored_from(folder.path())[0].contains("no setting"));
        assert_eq!(std::fs::read_to_string(&notes).unwrap(), "as set");
    }
}
