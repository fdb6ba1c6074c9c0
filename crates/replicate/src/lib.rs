//! The published reports replicated: each report's own methods, run here as its authors described them, next to what they printed
//! and what Fathom finds.
//!
//! A [`Report`] has [`Method`]s, each of which measures as its authors did: their sizes, counts, cache control, and timer
//! placement, mistakes included. A [`Row`] of its summary table takes one figure from the results of a method, by the authors'
//! statistic, and names the figure that they printed and the point where Fathom asks the same question. Methods are measured in
//! fresh processes and recorded ([`record`]); the table is a pure function of that record and of Fathom's run ([`table`]).

// Not `disallowed_methods`: where and how the authors read a clock is part of their method.
#![deny(clippy::disallowed_macros)]
#![allow(clippy::inline_always, reason = "a call would stand inside a timed region")]
#![allow(
    missing_docs,
    reason = "for the crates of this workspace: what a name says needs no second sentence"
)]

mod caches;
mod mapping;
mod past_cache;
mod measuring;
mod method;
mod operations;
mod picture;
mod protocol;
mod question;
mod reading;
pub mod record;
mod report;
pub mod replication;
pub mod report_000;
mod report_001;
mod report_002;
pub mod report_003;
mod series;
mod statistic;
mod sweep;
pub mod table;
pub mod tasks;
mod timer;
mod unoptimised;
pub mod usage;

pub use measuring::{MethodRequest, answer, measure};
pub use method::{Method, Stage};
pub use picture::{Drawn, FigureForm, FigureShape, Picture, Variants};
pub use question::SameQuestion;
pub use replication::ReplicationReport;
pub use report::{Replica, Report, Row, Theirs};
pub use series::{Series, Trials};
pub use statistic::{Deviation, Fit, ReplicatedFigure, Statistic, farthest};

use std::sync::LazyLock;

static REPORTS: LazyLock<[Report; 5]> = LazyLock::new(|| {
    [
        report_000::report(),
        report_001::report(),
        report_002::report(),
        report_003::report(),
        report_000::synopsis(),
    ]
});

pub fn reports() -> &'static [Report] {
    &*REPORTS
}

/// The report with this number, or about the machine whose name contains this text; `None` where there is none, or several.
pub fn find(name: &str) -> Option<&'static Report> {
    let lowercase = name.to_lowercase();
    let by_number = reports().iter().find(|report| report.id == lowercase);
    let mut by_machine = reports().iter().filter(|report| report.machine.to_lowercase().contains(&lowercase));
    by_number.or_else(|| {
        let first = by_machine.next()?;
        by_machine.all(|other| other.machine == first.machine).then_some(first)
    })
}
