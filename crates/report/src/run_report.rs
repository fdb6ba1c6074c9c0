//! The report of a run, optionally next to published machines.

use super::beside::{self, Published};
use super::form::{Facts, Subject};
use super::paper::Document;
use super::text::Style;
use super::usual::UsualFigures;
use super::{article, csv, figure, json, screen, terminal};
use crate::figure::Svg;
use crate::references::Machine;
use fathom_atlas::Atlas;
use fathom_engine::results::Results;
use std::path::Path;

pub struct RunReport<'run> {
    results: &'run Results<'run>,
    published: Option<Published<'run>>,
    usual: UsualFigures<'run>,
    files: &'run [(&'run str, &'run Path)],
    extent: TextExtent,
}

/// What a terminal shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextExtent {
    /// One screen.
    Screen,
    /// All tables.
    Full,
    /// All tables of the experiments that were named, behind what was found.
    Part,
}

impl<'run> RunReport<'run> {
    /// The report of these results only.
    pub fn of(results: &'run Results<'run>) -> Self {
        RunReport {
            results,
            published: None,
            usual: UsualFigures::of(results, fathom_atlas::compiled()),
            files: &[],
            extent: TextExtent::Screen,
        }
    }

    /// The report with what is usual in another atlas than the program's.
    #[must_use]
    pub fn among(mut self, atlas: &'run Atlas) -> Self {
        self.usual = UsualFigures::of(self.results, atlas);
        self
    }

    /// The report with the figures of published machines next to those of the run; unchanged without machines.
    #[must_use]
    pub fn beside(mut self, machines: &[&'static Machine]) -> Self {
        self.published = (!machines.is_empty()).then(|| Published::beside(self.results, machines));
        self
    }

    /// The report with the paths of the written files, for a terminal: `("run file", path)`.
    #[must_use]
    pub fn written_to(mut self, files: &'run [(&'run str, &'run Path)]) -> Self {
        self.files = files;
        self
    }

    /// The report as text with all of its tables instead of on one screen.
    #[must_use]
    pub fn in_full(mut self, full: bool) -> Self {
        if full {
            self.extent = TextExtent::Full;
        }
        self
    }

    /// The report of some experiments that were named: as text, what was found comes first.
    #[must_use]
    pub fn of_part(mut self, is_part: bool) -> Self {
        if is_part {
            self.extent = TextExtent::Part;
        }
        self
    }
}

impl Facts for RunReport<'_> {
    fn text(&self, style: Style) -> String {
        let text = match self.extent {
            TextExtent::Screen => screen::page,
            TextExtent::Full => terminal::summary,
            TextExtent::Part => terminal::part,
        };
        let beside = |published| format!("\n{}", beside::text(self.results, published, style));
        text(self.results, &self.usual, self.files, style)
            + &self.published.as_ref().map(beside).unwrap_or_default()
    }

    fn json(&self) -> String {
        json::pretty(self.results, &self.usual, self.published.as_ref())
    }
}

impl Subject for RunReport<'_> {
    fn rows(&self) -> String {
        csv::points(self.results)
    }

    fn document(&self) -> Document {
        article::of(self.results, &self.usual, self.published.as_ref())
    }

    fn synopsis(&self) -> Document {
        article::synopsis::alone(self.results, &self.usual, self.published.as_ref(), self.files)
    }

    fn picture(&self) -> Option<Svg> {
        figure::of_machine(self.results).map(|drawn| drawn.svg)
    }

    fn embedded(&self) -> Option<String> {
        Some(json::compact(self.results, &self.usual, self.published.as_ref()))
    }
}
