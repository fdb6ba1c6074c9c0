//! The page cache and the memory of a machine belong to all its programs: what a run takes of them.

use super::{fathom, points};
use crate::tier::{Outcome, Test, alone, needs_root, skipped};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;

pub const TESTS: &[Test] = &alone![
    what_another_program_has_in_the_page_cache_is_still_there_after_a_thorough_run,
    a_file_system_in_memory_is_refused_before_a_file_is_made_there,
];

/// Bytes of another program's file.
const THEIRS: u64 = 256 << 20;

/// The bytes of a file in the page cache (mincore).
fn cached(path: &Path) -> u64 {
    let file = File::open(path).unwrap();
    let (length, page) = (file.metadata().unwrap().len() as usize, 4096);
    let mut pages = vec![0_u8; length.div_ceil(page)];
    // SAFETY: a new mapping of the file, of which no page is touched, with a byte of answer for each.
    unsafe {
        let descriptor = file.as_raw_fd();
        let start =
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, descriptor, 0);
        assert_ne!(start, libc::MAP_FAILED);
        assert_eq!(libc::mincore(start, length, pages.as_mut_ptr()), 0);
        libc::munmap(start, length);
    }
    pages.iter().filter(|page| **page & 1 == 1).count() as u64 * page as u64
}

fn what_another_program_has_in_the_page_cache_is_still_there_after_a_thorough_run() -> Outcome {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let theirs = folder.path().join("theirs");
    std::fs::write(&theirs, vec![7; THEIRS as usize]).unwrap();
    File::open(&theirs).unwrap().sync_all().unwrap();
    assert_eq!(std::fs::read(&theirs).unwrap().len() as u64, THEIRS);
    let before = cached(&theirs);
    if before < THEIRS / 20 * 19 {
        return skipped("needs memory in which a file of 256 MiB stays");
    }
    let mut run = Command::new(fathom());
    run.args([
        "run",
        "filesystem/cache_size",
        "--thorough",
        "--budget",
        "20s",
        "--alongside",
        "--format",
        "json",
    ]);
    let output =
        run.arg("--dir").arg(folder.path()).arg("-o").arg(folder.path().join("run.jsonl")).output().unwrap();
    let measured = points(&output);
    let after = cached(&theirs);
    assert!(
        after >= before / 20 * 19,
        "{} of {} MiB of another program's file are left in the page cache",
        after >> 20,
        before >> 20
    );
    let whole = measured.iter().find(|point| point["parameters"].to_string().contains("holes"));
    let reason = whole.map(|point| point["reason"].to_string()).unwrap_or_default();
    assert!(reason.contains("--whole-memory"), "{measured:#?}");
    Ok(())
}

fn a_file_system_in_memory_is_refused_before_a_file_is_made_there() -> Outcome {
    needs_root()?;
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "mount -t tmpfs none {0} && cd / && {1} run filesystem/read --quick --budget 4s --alongside --format json --dir {0} -o \
         {2} && ls -A {0} >&2 && df --output=used {0} >&2",
        folder.path().display(),
        fathom().display(),
        folder.path().with_extension("jsonl").display(),
    );
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .output()
        .unwrap();
    let _ = std::fs::remove_file(folder.path().with_extension("jsonl"));
    let _ = std::fs::remove_file(folder.path().with_extension("html"));
    let measured = points(&output);
    // What the plan leaves out is not tried: what takes long, and what takes more of the page cache than a run may.
    let tried = |point: &&serde_json::Value| {
        let reason = point["reason"].to_string();
        !reason.contains("left out") && !reason.contains("--whole-memory")
    };
    let reasons: Vec<String> =
        measured.iter().filter(tried).map(|point| point["reason"].to_string()).collect();
    assert!(!reasons.is_empty());
    for reason in reasons {
        assert!(reason.contains("is in memory (tmpfs)") && reason.contains("--dir"), "{reason}");
    }
    Ok(())
}
