//! Whether a machine is good enough: requirements, read from a file, and what the trials of a run decide about them.
//!
//! A *demand* is one line of such a file: a figure by the names that reports use, a limit, and which share of the observations has to
//! keep it. "The median is at most 2 ms" demands it of half of them, "p99 is at most 10 ms" of 99 in 100. So each demand says of a share
//! that it is at least so large, and is *met* where the trials show that it is greater, *failed* where they show that it is smaller, and
//! undecided otherwise. Both are shown by the sequential test of `statistics/sequential.rs`, which may be made after every trial: a
//! decision is wrong in at most 5 of 100 for a machine that is exactly at the limit, and less often for every other one.
//!
//! - **Trials are the units.** The share of a trial's observations that keep the limit is one number, whatever they are among
//!   themselves. Trials follow each other in rounds over all demands that are still open, each in a fresh process.
//! - **The zone of indifference.** Whether a machine within 2 % of the limit is on this side of it or on the other is a question that
//!   takes forever and matters to no user. Once the whole interval lies in that zone, measuring ends, and the demand is undecided: the
//!   value is *at the limit*. The zone ends measuring and never decides: at its ends, as at the limit, a wrong decision has at most 5
//!   chances in 100 (`tests/statistics/sequential.rs` simulates it).
//! - **The machine as its user has it.** The median of a report is that of the core alone, where work is short and the core is shared
//!   at times. A requirement is not about that machine, so all sound observations count, whatever the core did, unless the demand says
//!   `core = "alone"`.
//! - **Several demands.** All of a file are met only if each is shown to be, so "meets" is wrong in at most 5 of 100 for the whole file
//!   although each demand is tested at 5 % (an intersection-union test: Berger 1982, "Multiparameter hypothesis testing and acceptance
//!   sampling", Technometrics 24). A file fails if any demand does, so of *n* demands each is tested at 5/*n* % for that (Bonferroni,
//!   whatever the demands have in common): "fails" is wrong in at most 5 of 100 for the whole file too. The gambler needs *n* times as
//!   much, which is two or three trials more of a median. Demands that are facts of the machine are not tested.
//! - **Percentiles** need a sample that supports them (`statistics::minimum_sample`): before it is there, nothing is decided.
//!
//! Everything here is a pure function of a file and a run. `run/checking.rs` makes the trials.

mod conditions;
mod decision;
mod file;
mod limit;
mod naming;
mod targets;

pub use decision::{Assessment, ERROR, Judgement, judge};
pub use file::{Condition, Demand, Measurand, Per, Publication, Requirements, RightSide};
pub use limit::{Threshold, ThresholdKind};
pub use targets::{DemandTarget, Targets};
