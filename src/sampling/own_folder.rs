//! The folder of a run, in which all its files lie: made when the first of them is, for this user alone, and under a name that
//! nobody can foresee. What others put in its way is refused, never followed: the measured folder may be one that anybody
//! writes to, such as /tmp, and the run may be root's.

use super::owner::Owner;
use crate::experiment::Failure;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Rights of the folder: its owner's alone.
const MODE: u32 = 0o700;

/// A path in a run's folder, which is made if it is not there.
pub fn path(folder: &Path, what: &str) -> Result<PathBuf, Failure> {
    match DirBuilder::new().mode(MODE).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(refused("made", &folder.join(what), &error));
        }
        _ => ensure_own(folder)?,
    }
    Ok(folder.join(what))
}

/// Refuses a link, another user's folder, and one that others may write to.
fn ensure_own(folder: &Path) -> Result<(), Failure> {
    let found = folder.symlink_metadata();
    let found = found.map_err(|error| refused("looked for", &folder.join("file"), &error))?;
    // SAFETY: geteuid touches nothing.
    let user = unsafe { libc::geteuid() };
    if found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(Failure::Unsupported(format!(
        "{} is not a private folder of this user (owner {}, mode {:o}): another user created it, or the file system \
         maps root to another user; choose another folder with `--dir`",
        folder.display(),
        found.uid(),
        found.mode() & 0o7777
    )))
}

/// A new file of this user alone; nothing may have its name, not even a link.
pub fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// How a file of the run is opened again: what has become a link is refused.
pub fn existing() -> OpenOptions {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).clone()
}

/// What a system says that does not let us have a file: where it is a matter of rights or room, the point is skipped.
pub fn refused(attempt: &str, path: &Path, error: &io::Error) -> Failure {
    let words = format!("a test file in {} could not be {attempt}: {error}", measured(path).display());
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM | libc::EROFS | libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => {
            Failure::Unsupported(format!("{words}; choose another folder with `--dir`"))
        }
        _ => Failure::Broke(words),
    }
}

/// The folder that is measured: the one above the run's own.
fn measured(file: &Path) -> &Path {
    let is_own = |folder: &&Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.and_then(Owner::of_name).is_some()
    };
    let own = file.ancestors().skip(1).find(is_own);
    own.and_then(Path::parent).or_else(|| file.parent()).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn the_folder_is_made_once_and_for_this_user_alone() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("own");
        assert_eq!(path(&own, "a").unwrap(), own.join("a"));
        assert_eq!(own.metadata().unwrap().mode() & 0o7777, MODE);
        assert_eq!(path(&own, "b").unwrap(), own.join("b"));
    }

    #[test]
    fn what_somebody_put_in_the_way_is_refused_and_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (own, target) = (place.path().join("own"), place.path().join("target"));
        std::fs::create_dir(&target).unwrap();
        std::fs::set_permissions(&target, PermissionsExt::from_mode(MODE)).unwrap();
        symlink(&target, &own).unwrap();
        assert!(path(&own, "a").unwrap_err().to_string().contains("not a private folder of this user"));
        std::fs::set_permissions(&target, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(path(&target, "a").is_err(), "others may write to it");

        let (file, link) = (place.path().join("file"), place.path().join("link"));
        symlink(&file, &link).unwrap();
        assert!(new_file(&link).is_err() && !file.exists());
        std::fs::write(&file, "theirs").unwrap();
        assert!(existing().open(&link).is_err() && existing().open(&file).is_ok());
    }

    #[test]
    fn a_refusal_names_the_folder_that_was_asked_for() {
        let own = Owner::of(std::process::id()).unwrap().name("x");
        let path = PathBuf::from(format!("/data/{own}/file"));
        let said = refused("made", &path, &io::Error::from_raw_os_error(libc::EROFS)).to_string();
        assert!(said.starts_with("a test file in /data could not be made"), "{said}");
    }
}
