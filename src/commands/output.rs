//! Reports on standard output or in files: one, a second with the appendix, and a folder with figures, if the form has them.

use super::earlier::is_earlier;
use super::streams::print_by_pages;
use anyhow::{Context, Result, bail};
use fathom_core::message::{clean, tell};
use fathom_engine::record::door::Door;
use fathom_report::{self as report, Form, ReportFiles, Style, Subject};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A report in a form, as text.
pub(super) struct Rendered(ReportFiles);

impl Rendered {
    /// A text without an appendix.
    pub(super) fn text(text: String) -> Self {
        Rendered(ReportFiles { text, appendix: None, figures: vec![] })
    }

    /// The report without its appendix.
    pub(super) fn as_text(&self) -> &str {
        &self.0.text
    }

    /// The subject in this form, with figures beside it if it is written to a file; an error if it has no such form.
    pub(super) fn of(subject: &dyn Subject, form: Form, style: Style, output: Option<&Path>) -> Result<Self> {
        ensure_form(subject, form)?;
        let is_file = |path: &&Path| path.metadata().map_or(true, |there| there.is_file());
        Ok(match output.filter(is_file) {
            Some(path) => {
                let folder = figures_beside(path);
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                Rendered(report::render_files(subject, form, style, &name))
            }
            None => Rendered(ReportFiles {
                text: report::render(subject, form, style),
                appendix: report::appendix(subject, form),
                figures: vec![],
            }),
        })
    }
}

fn ensure_form(subject: &dyn Subject, form: Form) -> Result<()> {
    if !report::has(subject, form) {
        bail!(
            "there is no picture of this: `fathom report RUN --format picture` makes one of a run that measured a main operation"
        );
    }
    Ok(())
}

/// The subject in this form, as text; an error if it has no such form.
pub(super) fn rendered(subject: &dyn Subject, form: Form, style: Style) -> Result<String> {
    ensure_form(subject, form)?;
    Ok(report::render(subject, form, style))
}

/// Prints a report, or writes it to a file other than its sources, with its appendix and its figures next to it. All names are
/// looked at before anything is written.
pub(super) fn written(report: &Rendered, output: Option<&Path>, door: Door) -> Result<()> {
    let Some(output) = output else { return print_by_pages(report.as_text()) };
    ensure_no_folder(output)?;
    let texts = texts(&report.0, output);
    let earlier: Vec<&PathBuf> =
        texts.iter().map(|(path, _)| path).filter(|path| has_content(path)).collect();
    let folder = FigureFolder::of(&report.0, output)?;
    let mut files = vec![];
    for (path, text) in &texts {
        let file = door.begin(path, &|earlier| is_earlier(text, earlier));
        let beside =
            || format!("the appendix or a figure would be written to {}, beside the report", path.display());
        files.push((if path == output { file? } else { file.with_context(beside)? }, text));
    }
    for (file, text) in &mut files {
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", output.display()))?;
    }
    files.into_iter().try_for_each(|(file, _)| file.keep())?;
    folder.keep();
    // The paper is named for its figures, which may be many.
    let figures = figures_beside(output);
    for path in earlier.into_iter().filter(|path| path.parent() != Some(figures.as_path())) {
        tell(format!("note: {} was written over", clean(&path.display().to_string())));
    }
    Ok(())
}

/// The files of a report with their paths, the report first.
fn texts<'a>(files: &'a ReportFiles, output: &Path) -> Vec<(PathBuf, &'a str)> {
    let folder = figures_beside(output);
    let figures = files.figures.iter().map(|(name, text)| (folder.join(name), text.as_str()));
    let appendix = files.appendix.as_deref().map(|text| (beside(output), text));
    std::iter::once((output.to_owned(), files.text.as_str())).chain(appendix).chain(figures).collect()
}

/// The folder of a report's figures; one that was made for them goes again if the report is not written.
struct FigureFolder(Option<PathBuf>);

impl FigureFolder {
    fn of(files: &ReportFiles, output: &Path) -> Result<Self> {
        let folder = figures_beside(output);
        if files.figures.is_empty() || folder.is_dir() {
            return Ok(FigureFolder(None));
        }
        std::fs::create_dir(&folder)
            .with_context(|| format!("the folder {} for figures cannot be made", folder.display()))?;
        Ok(FigureFolder(Some(folder)))
    }

    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for FigureFolder {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Refuses a folder as the name of a file.
fn ensure_no_folder(output: &Path) -> Result<()> {
    if output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/") {
        bail!("{} is a folder: name the file in it", output.display());
    }
    Ok(())
}

/// Whether something is lost if the file is written over.
fn has_content(path: &Path) -> bool {
    path.metadata().is_ok_and(|there| there.is_file() && there.len() > 0)
}

/// The folder of a report's figures: `x-figures` next to `x.md`.
fn figures_beside(report: &Path) -> PathBuf {
    let stem = report.file_stem().unwrap_or_default().to_string_lossy();
    report.with_file_name(format!("{stem}-figures"))
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
