//! What another user has put into a folder that anybody writes to, such as /tmp, where root measures.

use super::binary;
use crate::tier::{Outcome, Test, beside, inconclusive, needs_root};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub const TESTS: &[Test] =
    &beside![root_follows_no_link_that_somebody_has_planted_under_names_that_can_be_foreseen,];

/// Somebody else.
const NOBODY: u32 = 65_534;

/// FNV-1a of a line of /proc, as the names of a run's files have it.
fn digest(path: &str) -> u32 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.trim().bytes().fold(0x811c_9dc5, step)
}

/// What names of files of a process begin with: anybody can read all of it.
fn foreseen(process: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
    let (boot, host) = (digest("/proc/sys/kernel/random/boot_id"), digest("/proc/sys/kernel/hostname"));
    format!(".fathom-{process}-{started}-{boot:08x}-{host:08x}")
}

fn plant_link(link: &Path, target: &Path) {
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(target, link).unwrap();
    std::os::unix::fs::lchown(link, Some(NOBODY), Some(NOBODY)).unwrap();
    for folder in link.ancestors().skip(1).take_while(|folder| folder.to_string_lossy().contains(".fathom-"))
    {
        chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// Whatever stands below a folder.
fn everything(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        found.push(entry.path());
        if entry.file_type().unwrap().is_dir() {
            everything(&entry.path(), found);
        }
    }
}

fn root_follows_no_link_that_somebody_has_planted_under_names_that_can_be_foreseen() -> Outcome {
    needs_root()?;
    let place = tempfile::tempdir().unwrap();
    let (shared, targets) = (place.path().join("shared"), place.path().join("targets"));
    std::fs::create_dir(&shared).unwrap();
    std::fs::create_dir(&targets).unwrap();
    std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o1777)).unwrap();
    let mut run = Command::new("sh")
        .args(["-c", "read go; exec \"$0\" \"$@\""])
        .arg(binary())
        .args(["run", "--quick", "--alongside", "--budget", "8s", "--trial", "4ms", "filesystem/metadata"])
        .arg("--dir")
        .arg(&shared)
        .arg("-o")
        .arg(place.path().join("run.jsonl"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let name = foreseen(run.id());
    plant_link(&shared.join(format!("{name}-tree/folder0/file0")), &targets.join("tree"));
    plant_link(&shared.join(format!("{name}/folder0/file0")), &targets.join("folder"));
    plant_link(&shared.join(format!("{name}-")), &targets);
    let mut planted = vec![];
    everything(&shared, &mut planted);
    run.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let ended = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(matches!(ended.status.code(), Some(0 | 3 | 4)), "{}: {said}", ended.status);
    let mut found = vec![];
    everything(&targets, &mut found);
    assert!(found.is_empty(), "made behind a planted link: {found:?}");
    let mut left = vec![];
    everything(&shared, &mut left);
    left.retain(|path| !planted.contains(path));
    assert!(left.is_empty(), "left behind: {left:?}");
    // A run that had no time for a trial has met none of those names.
    let written = std::fs::read_to_string(place.path().join("run.jsonl")).unwrap();
    if written.contains(r#""outcome":"measured""#) { Ok(()) } else { inconclusive(said) }
}
