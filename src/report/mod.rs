//! What was found, for human eyes and for other programs. A report decides nothing: every figure in it stands in
//! [`Results`](crate::results::Results) already, and is only rounded, given its unit, and put in its place.
//!
//! [`render`] is the one door: a [`Subject`] in a [`Form`]. What is no document, such as a machine, is [`Facts`].
//!
//! Everything here is a pure function of the run file: neither the present time nor the environment enters, so the same
//! run file gives the same bytes.

mod accuracy;
mod alike;
mod article;
mod beside;
pub mod catalogue;
mod comparison;
mod csv;
pub mod description;
mod figure;
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
