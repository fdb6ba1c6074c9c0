//! Files of trials: those of this run are removed with it, those of a killed run by the next one.

use fathom_core::sampling::owner::Owner;
use fathom_equipment::peer::proof::chance;
use std::path::{Path, PathBuf};

/// Removes the files of processes that no longer exist from a folder. Whatever cannot be removed is left, because it belongs
/// to somebody else. A link is removed, not followed (`remove_dir_all` promises it).
pub fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let unwanted = |name: &str| Owner::of_name(name).is_some_and(|owner| owner.is_gone());
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(unwanted)) {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let _ = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
}

/// The folder in which the trials of this run create their files; removed with its contents when it is dropped.
pub struct OwnFiles {
    folder: PathBuf,
}

impl OwnFiles {
    /// A name for it in the measured folder: it identifies the run, so that the next one removes it after a kill, and is
    /// unpredictable. The first trial that creates a file creates the folder (`sampling/own_folder.rs` of `fathom-core`).
    pub fn of_this_run(measured: &Path) -> Self {
        // Without a random number, a folder created by somebody else under this name is still refused.
        let drawn = chance(8).unwrap_or_default();
        let owner = Owner::of(std::process::id());
        let name = owner.map_or_else(|| format!(".fathom-{drawn}"), |owner| owner.name(&drawn));
        OwnFiles { folder: measured.join(name) }
    }

    /// The path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for OwnFiles {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::sampling::own_folder;

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
        let dead = Owner::ended().name("there");
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
        let dead = Owner::ended().name("drawn");
        std::fs::create_dir(path.join(&dead)).unwrap();
        std::fs::write(path.join(&dead).join("file"), "").unwrap();
        let shared = OwnFiles::of_this_run(path);
        assert_ne!(OwnFiles::of_this_run(path).folder(), shared.folder(), "nobody can foresee it");
        let file = own_folder::path(shared.folder(), "file").unwrap();
        std::fs::write(&file, "").unwrap();
        sweep(path);
        assert!(names(path).len() == 1 && file.exists());
        drop(shared);
        assert!(names(path).is_empty());
    }
}
