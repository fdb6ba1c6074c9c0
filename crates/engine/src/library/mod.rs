//! Measuring a program's own operations, with the sampler and the statistics of `fathom run`.
//!
//! ```no_run
//! use fathom_engine::{Operation, child_main};
//! use std::hint::black_box;
//!
//! fn main() -> Result<(), fathom_engine::Error> {
//!     let session = child_main([
//!         Operation::new("parse a number", || black_box("12345").parse::<u64>()),
//!         Operation::prepared("sort 1000 numbers", || {
//!             let numbers: Vec<u32> = (0..1000).rev().collect();
//!             move || {
//!                 let mut sorted = numbers.clone();
//!                 sorted.sort_unstable();
//!                 sorted
//!             }
//!         })
//!         .baseline(|| Vec::<u32>::with_capacity(1000)),
//!     ])?;
//!     let measured = session.measure()?;
//!     println!("{measured}");
//!     let parsing = measured.result("parse a number").and_then(|result| result.estimate());
//!     if let Some(interval) = parsing.and_then(|estimate| estimate.interval) {
//!         println!("between {} and {} ns", interval.low, interval.high);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A program with a benchmark of its own asks whether the host held still while it ran:
//!
//! ```no_run
//! # fn benchmark() -> f64 { 0.0 }
//! # fn main() -> Result<(), fathom_engine::Error> {
//! # let session = fathom_engine::child_main([])?;
//! let (result, surroundings) = session.around(benchmark)?;
//! for dimension in surroundings.dimensions() {
//!     println!("{}: {:?}", dimension.name, dimension.verdict);
//! }
//! println!("{result}, and the host: {:?}", surroundings.verdict());
//! # Ok(())
//! # }
//! ```
//!
//! Every trial runs in a fresh process, which is the program executed again: it reaches [`child_main`], measures there the
//! requested operation, and ends. So `child_main` must be first in `main`; anything before it runs in every measuring
//! process as well, with the argument `trial`, a nearly empty environment, an empty standard input and a standard output
//! without reader. Operations are found by their names, and must be the same in every process.
//!
//! Only the [`Session`] that `child_main` returns can measure, and there is one per process, so that no measuring process
//! starts others. If a program does not reach `child_main` when it is executed again, or without its operation, its trials
//! fail with that as the reason.

mod child;
mod operation;
mod session;

pub use child::child_main;
pub use operation::Operation;
pub use session::{Error, Measured, Session};
