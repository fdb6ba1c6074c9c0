//! Opening files that somebody named, or that stand in somebody's folder: regular files only. A device may have no end, and a
//! pipe may never begin. What gzip has packed is unpacked, up to a size that no run file has.

use flate2::read::MultiGzDecoder;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// The largest file that is read whole: files of the kernel, and those with holes, may claim to be of any size.
const LARGEST: u64 = 4 << 30;

/// The largest content of a packed file: a small one may claim to hold any amount. Runs of half an hour have some hundred million
/// bytes.
const LARGEST_UNPACKED: u64 = 1 << 30;

/// The first bytes of what gzip has packed (RFC 1952, 2.3.1).
const PACKED: [u8; 2] = [0x1f, 0x8b];

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

/// Whether gzip has packed the file at a path.
pub fn is_packed(path: &Path) -> io::Result<bool> {
    has_packed(&open(path)?)
}

fn has_packed(file: &File) -> io::Result<bool> {
    let mut first = [0; PACKED.len()];
    Ok(file.read_at(&mut first, 0)? == PACKED.len() && first == PACKED)
}

/// What an opened file contains, unpacked if gzip has packed it. It may be of any length.
pub fn content(file: File) -> io::Result<Box<dyn Read>> {
    Ok(if has_packed(&file)? { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

/// The whole text of an opened file.
pub fn text(file: File) -> io::Result<String> {
    let largest = if has_packed(&file)? { LARGEST_UNPACKED } else { LARGEST };
    text_within(file, largest)
}

fn text_within(file: File, largest: u64) -> io::Result<String> {
    let length = file.metadata()?.len();
    let is_packed = has_packed(&file)?;
    let mut text = String::new();
    if length <= largest {
        let read = content(file)?.take(largest + 1).read_to_string(&mut text);
        read.map_err(|error| if is_packed { of_packed(&error) } else { error })?;
    }
    if length.max(text.len() as u64) > largest {
        let message = format!("it is larger than {largest} bytes, and no file of fathom is");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

/// The error of a packed file, with what can still be done.
fn of_packed(error: &io::Error) -> io::Error {
    let words = match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "it was packed by gzip and is torn, its end is missing: `gzip -dc` unpacks what comes before"
                .to_owned()
        }
        _ => format!("it was packed by gzip and is damaged ({error})"),
    };
    io::Error::new(error.kind(), words)
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

    fn packed(text: &str) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn what_gzip_has_packed_is_unpacked_whatever_its_name_up_to_a_size() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let twice = [packed("one\n"), packed("two\n")].concat();
        std::fs::write(file.path(), &twice).unwrap();
        assert!(is_packed(file.path()).unwrap());
        assert_eq!(read(file.path()).unwrap(), "one\ntwo\n");
        // A thousand times as much as the file itself has.
        std::fs::write(file.path(), packed(&"0".repeat(1 << 20))).unwrap();
        let large = text_within(open(file.path()).unwrap(), 1 << 19).unwrap_err();
        assert_eq!(large.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_packed_file_that_is_torn_or_damaged_says_so() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let whole = packed("a line\nanother line\n");
        for end in 3..whole.len() {
            std::fs::write(file.path(), &whole[..end]).unwrap();
            let torn = read(file.path()).unwrap_err().to_string();
            assert!(torn.contains("torn") && torn.contains("gzip -dc"), "{end}: {torn}");
        }
        let mut damaged = whole.clone();
        let checksum = damaged.len() - 8;
        damaged[checksum] ^= 1;
        std::fs::write(file.path(), &damaged).unwrap();
        assert!(read(file.path()).unwrap_err().to_string().contains("damaged"));
    }
}
