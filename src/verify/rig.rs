//! What a rig is: something that is set on this machine, and what the instrument must find of it.

use crate::experiment::Point;
use crate::machine::Machine;
use crate::record::Truth;
use crate::results::Results;
use crate::run::{Options, Peering};
use std::any::Any;
use std::time::Duration;

/// Something that is set on this machine, and what the instrument must find of it.
pub struct Rig {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it sets.
    pub sets: &'static str,
    /// The time that measuring it may take.
    pub budget: Duration,
    /// What is arranged while it is measured; `None` where the work itself is what is known. Such rigs are measured in one run.
    pub arrange: Option<Arrange>,
    /// What is measured of it, by the names of experiments; or why it cannot be here.
    pub points: fn(&Machine) -> Result<Vec<Wanted>, String>,
    /// What was set against what was found; with what the arrangement alone could tell of the truth.
    pub judge: fn(&Rig, &Results, Option<f64>) -> Vec<Truth>,
}

/// A point of the experiment of this name.
pub type Wanted = (&'static str, Point);

/// Arranges what a rig needs around its measurement, and alters how that is made; or says why it cannot be had here, and
/// what to do about it.
pub type Arrange = fn(&mut Options) -> Result<Arranged, String>;

/// What is arranged; it is undone when this is dropped, or when this process dies.
#[derive(Default)]
pub struct Arranged {
    /// The second host of the run.
    pub peering: Option<Peering>,
    /// What lasts as long as the measurement.
    pub held: Vec<Box<dyn Any>>,
    /// Asked at its end for what it alone can tell of the truth.
    pub account: Option<Box<dyn FnOnce() -> f64>>,
}

impl Arranged {
    /// This lasts as long as the measurement.
    pub fn holding(held: impl Any) -> Self {
        Arranged { held: vec![Box::new(held)], ..Arranged::default() }
    }
}
