//! What was found, for human eyes and for other programs. A report decides nothing: every figure in it stands in
//! [`Results`](crate::results::Results) already, and is only rounded, given its unit, and put in its place.
//!
//! Everything here is a pure function of the run file: neither the present time nor the environment enters, so the same
//! run file gives the same bytes.

mod accuracy;
pub mod article;
pub mod beside;
mod catalogue;
pub mod description;
mod figure;
mod finding;
pub mod html;
pub mod json;
pub mod latex;
pub mod live;
mod machine;
mod main_figures;
pub mod markdown;
mod occupancy;
pub mod paper;
pub mod planned;
pub mod published;
pub mod quantities;
pub mod replication;
mod run;
pub mod screen;
mod summary;
pub mod terminal;
mod text;
mod words;
