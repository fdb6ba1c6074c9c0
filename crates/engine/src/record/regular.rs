//! Opening files that somebody named, or that stand in somebody's folder: regular files only. A device may have no end, and a
//! pipe may never begin.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// The largest file that is read whole: files of the kernel, and those with holes, may claim to be of any size.
const LARGEST: u64 = 4 << 30;

/// Opens a regular file to be read, also behind a link.
pub fn open(path: &Path) -> io::Result<File> {
    // To open a device may do something already, so it is looked at first; afterwards again, in case the name has changed hands.
    ensure_regular(path.metadata()?.file_type())?;
    opened(path, 0)
}

/// Opens a regular file that is no link.
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    ensure_regular(path.symlink_metadata()?.file_type())?;
    opened(path, libc::O_NOFOLLOW)
}

fn opened(path: &Path, flags: i32) -> io::Result<File> {
    // A pipe that has taken the name meanwhile must not be waited for.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | flags).open(path)?;
    ensure_regular(file.metadata()?.file_type())?;
    Ok(file)
}

fn ensure_regular(kind: FileType) -> io::Result<()> {
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe: save what comes out of it to a file first",
        () if kind.is_symlink() => "a link",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is no file, but {what}")))
}

/// The whole text of an opened file.
pub fn text(file: File) -> io::Result<String> {
    text_within(file, LARGEST)
}

fn text_within(file: File, largest: u64) -> io::Result<String> {
    let length = file.metadata()?.len();
    let mut text = String::new();
    if length <= largest {
        file.take(largest + 1).read_to_string(&mut text)?;
    }
    if length.max(text.len() as u64) > largest {
        let message = format!("it is larger than {largest} bytes, and no file of fathom is");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

/// The whole text of a regular file.
pub fn read(path: &Path) -> io::Result<String> {
    text(open(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::io::Write;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn devices_pipes_folders_and_asked_for_links_are_refused_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, file, link] = ["pipe", "file", "link"].map(|name| folder.path().join(name));
        let name = CString::new(pipe.as_os_str().as_bytes()).unwrap();
        // SAFETY: the name ends in a zero.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        std::fs::write(&file, "text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let error_of = |path: &Path| open(path).unwrap_err().to_string();
        assert!(error_of(Path::new("/dev/zero")).contains("a device"));
        assert!(error_of(&pipe).contains("a pipe"));
        assert!(error_of(folder.path()).contains("a folder"));
        assert_eq!(read(&link).unwrap(), "text");
        assert!(open_unlinked(&link).unwrap_err().to_string().contains("a link"));
        assert!(open_unlinked(&file).is_ok());
    }

    #[test]
    fn a_file_larger_than_any_of_ours_is_not_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"12345").unwrap();
        assert_eq!(text_within(open(file.path()).unwrap(), 5).unwrap(), "12345");
        assert!(text_within(open(file.path()).unwrap(), 4).is_err());
    }
}
