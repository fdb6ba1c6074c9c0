//! Files without a name: gone when the last process that holds them ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Makes a file in a folder that no folder lists. Where the file system cannot (NFS, older overlays) it is made with a name
/// that is taken away at once.
pub fn unnamed_file(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let unnamed = options.clone().custom_flags(libc::O_TMPFILE).open(folder);
    unnamed.or_else(|_| {
        // Swept by the next run if this process is killed between the two calls (`run/leftovers.rs`).
        let path = folder.join(format!(".fathom-{}-unnamed", std::process::id()));
        let file = options.create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_does_not_show_it_and_who_holds_it_can_use_it() {
        use std::os::unix::fs::FileExt;
        let folder = tempfile::tempdir().unwrap();
        let file = unnamed_file(folder.path()).unwrap();
        file.write_all_at(b"content", 0).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(file.metadata().unwrap().len(), 7);
        assert!(unnamed_file(&folder.path().join("missing")).is_err());
    }
}
