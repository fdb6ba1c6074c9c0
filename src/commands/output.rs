//! Reports on standard output or in files: one, and a second with the appendix if the form has one.

use super::earlier::is_earlier;
use super::streams::print_by_pages;
use anyhow::{Context, Result, bail};
use fathom_core::message::{clean, tell};
use fathom_engine::record::door::{Door, Unfinished};
use fathom_report::{self as report, Form, Style, Subject};
use std::io::Write;
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

    /// The report without its appendix.
    pub(super) fn as_text(&self) -> &str {
        &self.text
    }

    /// The subject in this form; an error if it has no such form.
    pub(super) fn of(subject: &dyn Subject, form: Form, style: Style) -> Result<Self> {
        Ok(Rendered { text: rendered(subject, form, style)?, appendix: report::appendix(subject, form) })
    }
}

/// The subject in this form, as text; an error if it has no such form.
pub(super) fn rendered(subject: &dyn Subject, form: Form, style: Style) -> Result<String> {
    if !report::has(subject, form) {
        bail!(
            "there is no picture of this: `fathom report RUN --format picture` makes one of a run that measured a main operation"
        );
    }
    Ok(report::render(subject, form, style))
}

/// Prints a report, or writes it to a file other than its sources, with its appendix next to it. Both names are looked at
/// before anything is written.
pub(super) fn written(report: &Rendered, output: Option<&Path>, door: Door) -> Result<()> {
    let Some(output) = output else { return print_by_pages(&report.text) };
    let earlier = [Some(output.to_owned()), report.appendix.as_ref().map(|_| beside(output))];
    let earlier: Vec<PathBuf> = earlier.into_iter().flatten().filter(|path| has_content(path)).collect();
    let mut files = vec![(begun(&door, output, &report.text)?, &report.text)];
    if let Some(text) = &report.appendix {
        let path = beside(output);
        let appendix = begun(&door, &path, text).with_context(|| {
            format!("the appendix would be written to {}, beside the report", path.display())
        })?;
        files.push((appendix, text));
    }
    for (file, text) in &mut files {
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", output.display()))?;
    }
    files.into_iter().try_for_each(|(file, _)| file.keep())?;
    for path in earlier {
        tell(format!("note: {} was written over", clean(&path.display().to_string())));
    }
    Ok(())
}

/// Whether something is lost if the file is written over.
fn has_content(path: &Path) -> bool {
    path.metadata().is_ok_and(|there| there.is_file() && there.len() > 0)
}

fn begun(door: &Door, path: &Path, text: &str) -> Result<Unfinished> {
    door.begin(path, &|earlier| is_earlier(text, earlier))
}

/// The path of a paper's appendix: `x-appendix.md` next to `x.md`.
fn beside(paper: &Path) -> PathBuf {
    let stem = paper.file_stem().unwrap_or_default().to_string_lossy();
    let ending = paper.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    paper.with_file_name(format!("{stem}-appendix{}", ending.unwrap_or_default()))
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
