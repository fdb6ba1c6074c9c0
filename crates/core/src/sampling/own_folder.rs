//! The folder of a run with all its files: created with the first of them, accessible to this user only, under an unpredictable
//! name. Files of others in its place are refused, never followed: the measured folder may be writable by anybody, such as /tmp,
//! and the run may be root's.

use super::owner::Owner;
use crate::experiment::Failure;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Permissions of the folder: access for its owner only.
const MODE: u32 = 0o700;

/// A path in a run's folder, which is created if it does not exist.
pub fn path(folder: &Path, what: &str) -> Result<PathBuf, Failure> {
    match DirBuilder::new().mode(MODE).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(refused("made", &folder.join(what), &error));
        }
        _ => ensure_own(folder)?,
    }
    Ok(folder.join(what))
}

/// The user with whose rights this process acts.
pub fn user() -> u32 {
    // SAFETY: geteuid touches nothing.
    unsafe { libc::geteuid() }
}

/// Refuses a link, another user's folder, and one that others may write to.
fn ensure_own(folder: &Path) -> Result<(), Failure> {
    let metadata = folder.symlink_metadata();
    let metadata = metadata.map_err(|error| refused("looked for", &folder.join("file"), &error))?;
    if metadata.is_dir() && metadata.uid() == user() && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(Failure::Unsupported(format!(
        "{} is not a private folder of this user (owner {}, mode {:o}): another user created it, or the file system \
         maps root to another user; choose another folder with `--dir`",
        folder.display(),
        metadata.uid(),
        metadata.mode() & 0o7777
    )))
}

/// A new file accessible to this user only; fails if the name exists, even as a link.
pub fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Options for reopening a file of the run: a link is refused.
pub fn existing() -> OpenOptions {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).clone()
}

/// The failure for a system error about a file: for lack of permission or space, the point is skipped.
pub fn refused(attempt: &str, path: &Path, error: &io::Error) -> Failure {
    let words = format!("a test file in {} could not be {attempt}: {error}", measured(path).display());
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM | libc::EROFS | libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => {
            Failure::Unsupported(format!("{words}; choose another folder with `--dir`"))
        }
        _ => Failure::Broke(words),
    }
}

/// The measured folder: the parent of the run's own.
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
        let message = refused("made", &path, &io::Error::from_raw_os_error(libc::EROFS)).to_string();
        assert!(message.starts_with("a test file in /data could not be made"), "{message}");
    }
}
