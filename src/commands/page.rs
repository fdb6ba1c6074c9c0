//! The page that a run writes next to its run file. It overwrites nothing except an earlier page of the same run.

use anyhow::{Result, bail};
use fathom_engine::record::door::Door;
use fathom_engine::record::regular;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

const EXTENSION: &str = "html";

pub(super) fn beside(run_file: &Path) -> PathBuf {
    run_file.with_extension(EXTENSION)
}

/// Refuses the name of a run file that its own page would overwrite, regardless of case: on some file systems such names are
/// equal.
pub(super) fn ensure_other_ending(run_file: &Path) -> Result<()> {
    if run_file.extension().is_some_and(|ending| ending == "gz") {
        bail!(
            "{} has the ending of a packed file, and a run is written line by line, unpacked: name it without .gz, and pack it \
             when it is complete",
            run_file.display()
        );
    }
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

/// Refuses the name of a new file that is in use, before anything is measured.
pub(super) fn ensure_free(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        bail!("{} already exists: choose another name with `--output FILE`", path.display());
    }
    Ok(())
}

/// Writes the page of a run file if its name is free, or over an earlier page of the same run. A link of that name is not
/// followed.
pub(super) fn write(page: &Path, text: &str, run_file: &Path) -> Result<()> {
    let is_earlier = |earlier: &str| {
        title(earlier.as_bytes()).is_some() && title(earlier.as_bytes()) == title(text.as_bytes())
    };
    let earlier = page.symlink_metadata().ok();
    let is_own = |earlier: &Metadata| {
        earlier.is_file() && regular::read(page).is_ok_and(|earlier| is_earlier(&earlier))
    };
    if earlier.is_some_and(|earlier| !is_own(&earlier)) {
        bail!(
            "a file that is not this run's page has that name; `fathom report --format html -o FILE` writes the page \
             elsewhere"
        );
    }
    Door { sources: &[run_file.to_owned()], force: false }.write(page, text, &is_earlier)
}

/// The head of a page up to the end of its title, which contains the machine and the start of the run; `None` for other
/// files.
fn title(page: &[u8]) -> Option<&[u8]> {
    const END: &[u8] = b"</title>";
    let end = page.windows(END.len()).position(|part| part == END)?;
    page.starts_with(b"<!doctype html>").then_some(&page[..end])
}
