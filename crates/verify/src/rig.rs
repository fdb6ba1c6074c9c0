//! The form of a rig: a known condition on this machine, and the result that the instrument must find.

use fathom_core::experiment::Point;
use fathom_core::machine::Machine;
use fathom_engine::record::Truth;
use fathom_engine::results::Results;
use fathom_engine::run::{Options, Peering};
use std::any::Any;
use std::time::Duration;

/// A known condition on this machine, and the result that the instrument must find.
pub struct Rig {
    /// Its name on the command line.
    pub name: &'static str,
    /// The condition that it sets.
    pub sets: &'static str,
    /// What it does to the machine as a whole while it is measured; gone with the rig, also after a kill.
    pub touches: &'static [&'static str],
    /// The time for measuring it.
    pub budget: Duration,
    /// The arrangement during the measurement; `None` if the work itself is known. Such rigs are measured in one run.
    pub arrange: Option<Arrange>,
    /// The points to measure, by the names of experiments; or the reason why that is impossible here.
    pub points: fn(&Machine) -> Result<Vec<Wanted>, String>,
    /// Compares the results with the condition, with the arrangement's own account of the truth if it has one.
    pub judge: fn(&Rig, &Results, Option<f64>) -> Vec<Truth>,
}

/// A point of the experiment of this name.
pub type Wanted = (&'static str, Point);

/// Sets up a rig's arrangement for its measurement, and may change the options of the run; an error says why it is
/// impossible here, with the remedy.
pub type Arrange = fn(&mut Options) -> Result<Arranged, String>;

/// An arrangement; it is undone when this is dropped, or when this process dies.
#[derive(Default)]
pub struct Arranged {
    /// The second host of the run.
    pub peering: Option<Peering>,
    /// Resources held during the measurement.
    pub held: Vec<Box<dyn Any>>,
    /// Called at the end for the arrangement's own account of the truth.
    pub account: Option<Box<dyn FnOnce() -> f64>>,
}

impl Arranged {
    /// An arrangement that holds this during the measurement.
    pub fn holding(held: impl Any) -> Self {
        Arranged { held: vec![Box::new(held)], ..Arranged::default() }
    }
}
