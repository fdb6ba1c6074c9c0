//! The names with which a rig's file begins.

pub use super::rig::{Arranged, PointRef, Rig, RigThread, fixed_cpu, points_of};
pub use super::truth::{Claim, NoFigure, TruthFigure, by_rounds, each, estimate, figure, result, tail};
pub use super::work::{KnownWork, about};
pub use fathom_core::experiment::At::{self, Name, Number};
pub use fathom_core::prelude::*;
pub use fathom_engine::record::Truth;
pub use fathom_engine::results::{PointResult, Results};
pub use fathom_engine::run::Options;
pub use std::time::Duration;
