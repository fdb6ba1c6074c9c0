//! Files that trials have made: those of this run go with it, those of a killed one are swept by the next.

use crate::sampling::owner::Owner;
use std::path::{Path, PathBuf};

/// Removes the files of processes that no longer live from a folder. Whatever cannot be removed is left: it is not ours.
pub fn sweep(folder: &Path) {
    remove(folder, |name| Owner::of_name(name).is_some_and(|owner| owner.is_gone()));
}

fn remove(folder: &Path, unwanted: impl Fn(&str) -> bool) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(&unwanted)) {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let _ = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
}

/// The files that this run shares between its trials: removed when it is dropped.
pub struct Shared {
    folder: PathBuf,
    owner: Option<Owner>,
}

impl Shared {
    /// Whatever trials of this process make in a folder and name after it.
    pub fn of_this_run(folder: &Path) -> Self {
        Shared { folder: folder.to_owned(), owner: Owner::of(std::process::id()) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mine = |name: &str| self.owner.is_some() && Owner::of_name(name) == self.owner;
        remove(&self.folder, mine);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_what_dead_trials_left_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let own = Owner::of(std::process::id()).unwrap().name("here");
        let dead = Owner::of(1).unwrap().name("there").replacen("-1-", "-4194999-", 1);
        for name in [dead.as_str(), own.as_str(), "somebody-elses", ".fathom-x"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        sweep(folder.path());
        let mut expected = vec![own, ".fathom-x".to_owned(), "somebody-elses".to_owned()];
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn what_trials_of_a_run_share_goes_with_the_run_and_after_a_kill_with_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let dead = Owner::of(1).unwrap().name("file").replacen("-1-", "-4194999-", 1);
        let own = Owner::of(std::process::id()).unwrap().name("file");
        std::fs::write(path.join(&dead), "").unwrap();
        std::fs::write(path.join(&own), "").unwrap();
        std::fs::create_dir(path.join(own.replace("file", "tree"))).unwrap();
        let shared = Shared::of_this_run(path);
        sweep(path);
        assert_eq!(names(path), [own.clone(), own.replace("file", "tree")]);
        drop(shared);
        assert!(names(path).is_empty());
    }
}
