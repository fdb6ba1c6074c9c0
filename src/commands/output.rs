//! Reports on standard output or in files: one, and a second with the appendix if the form has one.

use super::page;
use super::streams::print_by_pages;
use crate::report::{self, Form, Style, Subject};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// A report in a form, as text.
pub(super) struct Rendered {
    text: String,
    appendix: Option<String>,
}

impl Rendered {
    /// A text without an appendix.
    pub(super) fn text(text: String) -> Self {
        Rendered { text, appendix: None }
    }

    /// The report of a subject.
    pub(super) fn of(subject: &dyn Subject, form: Form, style: Style) -> Self {
        Rendered { text: report::render(subject, form, style), appendix: report::appendix(subject, form) }
    }
}

/// Prints a report, or writes it to a file other than its sources, with its appendix next to it.
pub(super) fn written(report: &Rendered, output: Option<&Path>, sources: &[PathBuf]) -> Result<()> {
    let Some(output) = output else { return print_by_pages(&report.text) };
    if sources.iter().any(|source| page::is_same_file(output, source)) {
        bail!("the report would overwrite the run file");
    }
    let beside = report.appendix.as_ref().map(|text| (beside(output), text));
    if let Some((path, _)) = &beside {
        ensure_earlier_appendix(path)?;
    }
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    write(output, &report.text)?;
    beside.map_or(Ok(()), |(path, text)| write(&path, text))
}

/// The path of a paper's appendix: `x-appendix.md` next to `x.md`.
fn beside(paper: &Path) -> PathBuf {
    let stem = paper.file_stem().unwrap_or_default().to_string_lossy();
    let ending = paper.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    paper.with_file_name(format!("{stem}-appendix{}", ending.unwrap_or_default()))
}

/// Refuses to overwrite any file except an earlier appendix, because the user has not named this path.
fn ensure_earlier_appendix(path: &Path) -> Result<()> {
    let earlier = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        read => read.with_context(|| format!("cannot look at {}", path.display()))?,
    };
    if [b"# Appendix: ", b"% Appendix: "].iter().any(|head| earlier.starts_with(*head)) {
        return Ok(());
    }
    bail!(
        "{} is there already and is no appendix of a report: choose another name with `--output FILE`, whose appendix is \
         written beside it",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_appendix_stands_beside_its_paper() {
        assert_eq!(beside(Path::new("a/x.md")), Path::new("a/x-appendix.md"));
        assert_eq!(beside(Path::new("x")), Path::new("x-appendix"));
    }
}
