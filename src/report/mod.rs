//! The results for human readers and for other programs. A report computes nothing: every figure in it is already in
//! [`Results`](crate::results::Results), and is only rounded, given its unit, and placed.
//!
//! [`render`] is the single entry: a [`Subject`] in a [`Form`]. A subject without a document, such as a machine, is
//! [`Facts`].
//!
//! Everything here is a pure function of the run file: it uses neither the current time nor the environment, so the same run
//! file gives the same bytes.

mod accuracy;
mod alike;
mod article;
mod beside;
pub mod catalogue;
mod comparison;
mod csv;
pub mod description;
pub mod figure;
mod finding;
mod form;
mod history;
mod json;
pub mod live;
mod machine;
mod main_figures;
mod occupancy;
mod opinions;
pub mod paper;
pub mod planned;
mod progress;
pub mod published;
pub mod quantities;
pub mod replication;
mod run;
mod run_report;
pub mod screen;
mod summary;
mod terminal;
mod text;
mod verification;
mod words;

pub use comparison::{ComparisonReport, GateReport, PublishedComparison, regression};
pub use form::{Facts, FactsForm, Form, Subject, appendix, render, render_facts};
pub use history::StoredRuns;
pub use opinions::OpinionsReport;
pub use progress::{ProgressForm, Telling};
pub use replication::ReplicationReport;
pub use run_report::RunReport;
pub use text::{Style, clean};
pub use verification::VerificationReport;
