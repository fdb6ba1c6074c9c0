//! The mount table, `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`).

use std::path::{Path, PathBuf};

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// `major:minor` of the file system.
    pub device: String,
    /// The folder of the file system that is mounted here.
    pub root: String,
    pub point: PathBuf,
    pub options: String,
    pub file_system: String,
    pub source: String,
    pub super_options: String,
}

/// Every line that can be parsed; the last of two mounts on one point hides the first.
pub(super) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(line).collect()
}

fn line(text: &str) -> Option<Mount> {
    let (before, after) = text.split_once(" - ")?;
    let before: Vec<&str> = before.split(' ').collect();
    let [_, _, device, root, point, options, ..] = before.as_slice() else { return None };
    let mut after = after.split(' ');
    Some(Mount {
        device: (*device).to_owned(),
        root: unescape(root),
        point: PathBuf::from(unescape(point)),
        options: (*options).to_owned(),
        file_system: after.next()?.to_owned(),
        source: unescape(after.next()?),
        super_options: after.next().unwrap_or_default().to_owned(),
    })
}

/// The mount that contains a folder: the longest mount point above it, and of equal ones the latest.
pub(super) fn holding<'a>(mounts: &'a [Mount], folder: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| folder.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.components().count())
}

/// The kernel writes space, tab, newline and backslash as three octal digits.
fn unescape(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, octal(after)) {
            (b'\\', Some(byte)) => {
                plain.push(byte);
                rest = &after[3..];
            }
            _ => plain.push(*first),
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

fn octal(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..3)?).ok()?;
    u8::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 27 0:40 / /with\\040space rw - tmpfs none rw
31 27 8:1 /sub /data rw,noatime - xfs /dev/sda1 rw
32 27 8:2 / /data rw - btrfs /dev/sda2 rw";

    #[test]
    fn the_nearest_and_latest_mount_holds_a_folder() {
        let mounts = parse(TABLE);
        assert_eq!(mounts.len(), 4);
        assert_eq!(holding(&mounts, Path::new("/data/x")).unwrap().file_system, "btrfs");
        assert_eq!(holding(&mounts, Path::new("/database")).unwrap().file_system, "ext4");
        assert_eq!(holding(&mounts, Path::new("/with space/a")).unwrap().file_system, "tmpfs");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*", escape in "\\\\[0-9]{0,4}\\PC*") {
            let _ = parse(&format!("1 2 3:4 {text} {escape} rw - x y z\n{text}"));
            let _ = unescape(&escape);
        }
    }
}
