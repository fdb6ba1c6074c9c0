//! Fathom measures what a machine and its operating system cost: as a program, and as a library.
//!
//! # As a library
//!
//! A program measures operations of its own in fresh processes, beside a baseline where it has one, by the same clock, sampler,
//! planner and statistics that `fathom run` has. What it finds is a median with a 95 % interval over processes, with every
//! observation and what disturbed it:
//!
//! ```no_run
//! use std::hint::black_box;
//!
//! fn sum(numbers: u64) -> u64 {
//!     (0..numbers).fold(0, |sum, number| black_box(sum + number))
//! }
//!
//! fn main() -> Result<(), fathom::Error> {
//!     // In a measuring process this call never returns; make it the first line of main().
//!     let session = fathom::child_main([
//!         fathom::Operation::new("sum of 1000", || sum(black_box(1000))).baseline(|| sum(black_box(0))),
//!         fathom::Operation::new("sum of 2000", || sum(black_box(2000))).baseline(|| sum(black_box(0))),
//!     ])?;
//!     let measured = session.precision(0.01).run_file("sums.jsonl").measure()?;
//!     println!("{measured}");
//!     if let Some(ratio) = measured.ratio("sum of 2000", "sum of 1000") {
//!         println!("{:.2} times as long", ratio.value);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A run file, its own or one of `fathom run`, is read and asked for results:
//!
//! ```no_run
//! use fathom::{record::Run, results::Results};
//!
//! // What `fathom run` measured is judged by the experiments that measured it.
//! fathom::experiments::register();
//! let run = Run::read("sums.jsonl".as_ref())?;
//! for result in &Results::of(&run).points {
//!     if let Some(estimate) = result.estimate() {
//!         println!("{} {}: {} {:?}", result.experiment, result.point, estimate.value, estimate.interval);
//!     }
//! }
//! # Ok::<(), fathom::record::ReadError>(())
//! ```
//!
//! What is supported is what these docs show: the operations of [`library`], and the modules that a run file is made of and
//! that its results are told in. Other modules are public for the tests of this crate alone and are not shown.
//!
//! # Within
//!
//! This package is the command line, and the entry for programs that want all of it. The crates below it, in the order in which
//! data flows, are `fathom-core`, `fathom-equipment`, `fathom-experiments`, `fathom-engine`, `fathom-report`, `fathom-replicate` and
//! `fathom-verify`; a program that measures operations of its own and needs no report depends on `fathom-engine` alone.

#![deny(clippy::disallowed_macros, clippy::disallowed_methods)]

#[doc(hidden)]
pub use fathom_atlas as atlas;
pub use fathom_core::{experiment, machine, quantity, sampling, statistics};
#[doc(hidden)]
pub use fathom_core::{message, quantities};
pub use fathom_engine::library::{self, Error, Measured, Operation, Session, child_main};
#[doc(hidden)]
pub use fathom_engine::{comparison, plan, requirements, run};
pub use fathom_engine::{record, results};
#[doc(hidden)]
pub use fathom_equipment::{peer, remote, test_file};
#[doc(hidden)]
pub use fathom_replicate as replicate;
#[doc(hidden)]
pub use fathom_report::{self as report, export, references};
#[doc(hidden)]
pub use fathom_verify as verify;

pub mod experiments;

/// The report of a program's own operations, as a page that needs no network.
pub fn page(measured: &Measured) -> String {
    let results = results::Results::of(measured.run());
    report::render(&report::RunReport::of(&results), report::Form::Html, report::Style::default())
}
#[allow(clippy::struct_field_names, reason = "fields are named as the flags are")]
mod cli;
mod commands;

#[doc(hidden)]
pub use cli::definition as command_line_definition;
#[doc(hidden)]
pub use commands::main as command_line;
