//! A file of the kernel whose value is a setting: in `/proc`, in `/sys`, or in a control group, by its place and by its file
//! system. Any other file has content that a short value would destroy.

use anyhow::{Context, Result, anyhow, bail};
use fathom_core::machine::bracketed;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

/// The types of the file systems that consist of settings (statfs(2)): procfs, sysfs, and control groups of both versions.
const KINDS: [u32; 4] = [0x0000_9fa0, 0x6265_6572, 0x0027_e0eb, 0x6367_7270];

/// The most bytes of a value: files of this kind have at most a page of them, and those with more are no settings.
const LONGEST: u64 = 1 << 16;

/// A path that may be a setting; what is there is known when it is opened.
pub(super) fn place(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    let plain = !path.components().any(|part| part == Component::ParentDir);
    if is_below(&path) && plain {
        Ok(path)
    } else {
        Err("`file:` only sets files below /proc and /sys".to_owned())
    }
}

fn is_below(path: &Path) -> bool {
    ["/proc", "/sys"].iter().any(|root| path.starts_with(root) && path != Path::new(root))
}

/// Its value: in a list with one word in brackets that word, as in `always [madvise] never`.
pub(super) fn value(path: &Path) -> Result<String> {
    let mut text = String::new();
    opened(path, OpenOptions::new().read(true))
        .and_then(|file| Ok(file.take(LONGEST).read_to_string(&mut text)?))
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(chosen(&text))
}

pub(super) fn put(path: &Path, value: &str) -> Result<()> {
    let file = opened(path, OpenOptions::new().write(true));
    let result = file.and_then(|mut file| Ok(file.write_all(value.as_bytes())?));
    result.map_err(|error| {
        anyhow!("{} cannot be set to `{value}`: {error:#} (kernel settings need root)", path.display())
    })
}

/// Opens it where its links lead, if that is still a file of the kernel. `/proc/PID/root` and `/proc/PID/fd` lead anywhere, and
/// other file systems may be mounted below `/sys`.
fn opened(path: &Path, options: &mut OpenOptions) -> Result<File> {
    let real = path.canonicalize()?;
    if !is_below(&real) {
        bail!("it leads to {}, which is no setting of the kernel", real.display());
    }
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&real)?;
    ensure_kernels(&file)?;
    Ok(file)
}

/// Refuses what is no file of a file system of settings.
fn ensure_kernels(file: &File) -> Result<()> {
    // SAFETY: a statfs is plain integers, which the call fills if it succeeds.
    let kind = unsafe {
        let mut status: libc::statfs = std::mem::zeroed();
        (libc::fstatfs(file.as_raw_fd(), &raw mut status) == 0).then_some(status.f_type as u32)
    };
    if kind.is_some_and(|kind| KINDS.contains(&kind)) && file.metadata()?.is_file() {
        return Ok(());
    }
    bail!("it is no setting of the kernel: only files of procfs, sysfs and control groups are")
}

/// The value of a file: in a list with one word in brackets that word.
pub(super) fn chosen(text: &str) -> String {
    bracketed(text).unwrap_or(text.trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_word_of_a_list_is_its_value() {
        assert_eq!(chosen("always [madvise] never\n"), "madvise");
        assert_eq!(chosen("7\n"), "7");
    }

    #[test]
    fn an_ordinary_file_is_no_setting_by_whatever_way_it_is_reached() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes");
        std::fs::write(&file, "three\nlines\n[section]\n").unwrap();
        let open = File::open(&file).unwrap();
        for way in [
            format!("/proc/self/root{}", file.display()),
            format!("/proc/self/fd/{}", open.as_raw_fd()),
            format!("/proc/self/cwd/{}", "../".repeat(20) + &file.display().to_string()),
        ] {
            let way = PathBuf::from(way);
            assert!(value(&way).is_err() && put(&way, "x").is_err(), "{}", way.display());
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "three\nlines\n[section]\n");
        let refused = ensure_kernels(&open).unwrap_err().to_string();
        assert!(refused.contains("procfs"), "{refused}");
    }

    #[test]
    fn a_file_of_the_kernel_is_one() {
        // The name of this thread: its own, and without effect.
        // SAFETY: asks for a number.
        let path = PathBuf::from(format!("/proc/self/task/{}/comm", unsafe { libc::gettid() }));
        let before = value(&path).unwrap();
        put(&path, "another").unwrap();
        assert_eq!(value(&path).unwrap(), "another");
        put(&path, &before).unwrap();
        assert_eq!(value(&path).unwrap(), before);
    }
}
