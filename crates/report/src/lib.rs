//! The results for human readers and for other programs. A report computes nothing: every figure in it is already in
//! [`Results`](fathom_engine::results::Results), and is only rounded, given its unit, and placed.
//!
//! [`render`] is the single entry: a [`Subject`] in a [`Form`]. A subject without a document, such as a machine, is
//! [`Facts`].
//!
//! Every report is a pure function of the run file: it uses neither the current time nor the environment, so the same run file
//! gives the same bytes. Only [`live`] and `progress`, which show how far a run is, read a clock.

#![deny(clippy::disallowed_macros, clippy::disallowed_methods)]
#![allow(
    missing_docs,
    reason = "for the crates of this workspace: what a name says needs no second sentence"
)]

mod around;
mod article;
mod at_usual;
mod beside;
pub mod catalogue;
mod comparison;
mod cpu_distance;
mod cpu_positions;
pub mod csv;
mod denied;
pub mod description;
mod drift;
pub mod figure;
mod finding;
pub mod form;
mod history;
mod json;
#[allow(clippy::disallowed_methods, reason = "how often a line on a terminal is renewed")]
pub mod live;
mod lost;
mod main_figure_names;
mod main_figures;
mod measured;
mod occupancy;
mod of_level;
pub mod paper;
pub mod planned;
mod precision;
#[allow(clippy::disallowed_methods, reason = "how often a line on a terminal is renewed")]
mod progress;
pub mod published;
pub mod references;
mod requirements;
pub mod export;
pub mod run;
mod run_report;
pub mod screen;
mod states;
pub mod summary;
mod terminal;
pub mod text;
mod usual;
mod verdict;
mod verification;
mod warned;
mod width_causes;
pub mod words;

pub use around::{AroundReport, WorkDone};
pub use comparison::{ComparisonReport, GateReport, PublishedComparison, family_change, regression};
pub use form::{
    Facts, FactsForm, Form, ReportFiles, Subject, appendix, has, render, render_facts, render_files,
};
pub use history::StoredRuns;
pub use measured::AtlasMachine;
pub use progress::{ProgressForm, Telling};
pub use requirements::CheckReport;
pub use run_report::RunReport;
pub use text::{Style, clean};
pub use usual::atlas_entry;
pub use verdict::{Trust, sentence as trust_sentence};
pub use verification::VerificationReport;
