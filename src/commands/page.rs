//! The page that a run writes next to its run file. It overwrites nothing except an earlier page of the same run.

use anyhow::{Context, Result, bail};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The extension of pages.
const EXTENSION: &str = "html";

/// The path of a run file's page.
pub(super) fn beside(run_file: &Path) -> PathBuf {
    run_file.with_extension(EXTENSION)
}

/// Refuses the name of a run file that its own page would overwrite, regardless of case: on some file systems such names are
/// equal.
pub(super) fn ensure_other_ending(run_file: &Path) -> Result<()> {
    if run_file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(EXTENSION)) {
        bail!(
            "{} is the name of a page, and the run's own page would overwrite its data: give the run file another \
             ending, such as .jsonl",
            run_file.display()
        );
    }
    Ok(())
}

/// Refuses the name of a new run file whose page's name is in use, before anything is measured.
pub(super) fn ensure_place(run_file: &Path) -> Result<()> {
    ensure_other_ending(run_file)?;
    let page = beside(run_file);
    if page.symlink_metadata().is_ok() {
        bail!(
            "{} already exists, and the run's page would overwrite it: choose another name with `--output FILE`",
            page.display()
        );
    }
    Ok(())
}

/// Writes the page if its name is free, or over an earlier page of the same run.
pub(super) fn write(page: &Path, text: &str) -> Result<()> {
    match File::create_new(page) {
        Ok(mut file) => Ok(file.write_all(text.as_bytes())?),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => replace(page, text),
        Err(error) => Err(error.into()),
    }
}

/// Writes the new page completely before it gets the name; a file to which the name was a link is not changed.
fn replace(page: &Path, text: &str) -> Result<()> {
    let is_file = page.symlink_metadata()?.is_file();
    let earlier = if is_file { std::fs::read(page)? } else { vec![] };
    if title(&earlier).is_none() || title(&earlier) != title(text.as_bytes()) {
        bail!(
            "a file that is not this run's page has that name; `fathom report --format html -o FILE` writes the page \
             elsewhere"
        );
    }
    let unfinished = page.with_extension(format!("{EXTENSION}.{}", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&unfinished).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        std::fs::rename(&unfinished, page)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    written.with_context(|| format!("writing {}", unfinished.display()))
}

/// The head of a page up to the end of its title, which contains the machine and the start of the run; `None` for other
/// files.
fn title(page: &[u8]) -> Option<&[u8]> {
    const END: &[u8] = b"</title>";
    let end = page.windows(END.len()).position(|part| part == END)?;
    page.starts_with(b"<!doctype html>").then_some(&page[..end])
}

/// Whether two paths, with links followed, are the same file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| path.metadata().ok().map(|file| (file.dev(), file.ino()));
    identity(one).is_some() && identity(one) == identity(other)
}
