//! A run in the form that was asked for.

use crate::cli::{self, Format};
use crate::report::{self, terminal::Style};
use crate::results::Results;
use std::path::Path;

/// The screen, the tables, or another form.
pub(super) fn report_of(
    results: &Results,
    asked: &cli::Report,
    files: &[(&str, &Path)],
    style: Style,
) -> String {
    match asked.format {
        Format::Text if asked.full => report::terminal::summary(results, files, style),
        format => rendered(results, format, files, style),
    }
}

/// The screen, or another form.
pub(super) fn rendered(results: &Results, format: Format, files: &[(&str, &Path)], style: Style) -> String {
    match format {
        Format::Text => report::screen::page(results, files, style),
        Format::Html => report::html::render(results),
        Format::Markdown => report::markdown::render(results),
        Format::Latex => report::latex::render(results),
        Format::Synopsis => report::markdown::synopsis(results),
        Format::Json => report::json::render(results),
    }
}
