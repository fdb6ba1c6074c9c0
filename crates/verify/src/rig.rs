//! The form of a rig: a known condition on this machine, and the result that the instrument must find.

use anyhow::{Result, bail};
use fathom_core::experiment::{Point, Selector, registry};
use fathom_core::machine::Machine;
use fathom_engine::record::Truth;
use fathom_engine::results::Results;
use fathom_engine::run::{Options, Peering, described};
use std::any::Any;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A known condition on this machine, and the result that the instrument must find.
pub struct Rig {
    /// Its name on the command line.
    pub name: &'static str,
    pub sets: &'static str,
    /// What it does to the machine as a whole while it is measured; gone with the rig, also after a kill.
    pub touches: &'static [&'static str],
    pub budget: Duration,
    /// The arrangement during the measurement; `None` if the work itself is known. Such rigs are measured in one run.
    pub arrange: Option<Arrange>,
    /// The points to measure, by the names of experiments; or the reason why that is impossible here.
    pub points: fn(&Machine) -> Result<Vec<PointRef>, String>,
    /// Compares the results with the condition, with the arrangement's own account of the truth if it has one.
    pub judge: fn(&Rig, &Results, Option<f64>) -> Vec<Truth>,
}

impl Rig {
    /// A rig whose work itself is known: nothing is arranged for it, and nothing else on the machine is touched.
    pub(super) const fn of_known_work(
        name: &'static str,
        sets: &'static str,
        budget: Duration,
        points: fn(&Machine) -> Result<Vec<PointRef>, String>,
        judge: fn(&Rig, &Results, Option<f64>) -> Vec<Truth>,
    ) -> Self {
        Rig { name, sets, touches: &[], budget, arrange: None, points, judge }
    }
}

/// A point of the experiment of this name.
pub type PointRef = (&'static str, Point);

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

/// This machine, and the CPU that is measured on; the run is made to use it.
pub fn fixed_cpu(options: &mut Options) -> Result<(Machine, usize), String> {
    let (machine, cpus) = described(&options.folder, None, options.cpu).map_err(|error| error.to_string())?;
    options.cpu = Some(cpus.home);
    Ok((machine, cpus.home))
}

/// A thread that works beside the measurement until this ends or is dropped.
pub struct RigThread<T> {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<T>>,
}

impl<T: Send + 'static> RigThread<T> {
    /// Starts it; the work asks whether it is over.
    pub fn start(work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let run = move || work(&|| flag.load(Ordering::Relaxed));
        RigThread { stop, thread: Some(std::thread::spawn(run)) }
    }
}

impl<T> RigThread<T> {
    /// Ends it, and returns its result; `None` if it has none, or was ended before.
    pub fn end(&mut self) -> Option<T> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl<T> Drop for RigThread<T> {
    fn drop(&mut self) {
        self.end();
    }
}

/// The selected points of this machine; or the reason why there are none.
pub fn points_of(machine: &Machine, selector: &Selector) -> Result<Vec<PointRef>, String> {
    let name = selector.experiment;
    let known = registry::find(name).ok_or_else(|| format!("there is no {name}"))?;
    let points: Vec<PointRef> = selector
        .among(&known.sweep(machine), machine)
        .into_iter()
        .map(|point| (name, point.clone()))
        .collect();
    if points.is_empty() { Err(format!("{name} has no such point on this machine")) } else { Ok(points) }
}

/// Runs a program of this package; an error says why it could not be run, or what failed and its first message.
pub fn run_program(command: &mut Command, package: &str, what: Option<&str>) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|error| format!("needs the program `{name}` ({package}): {error}"))?;
    let message = String::from_utf8_lossy(&output.stderr);
    let reason = message.lines().next().unwrap_or("failed without a message");
    if output.status.success() { Ok(()) } else { Err(format!("{}: {reason}", what.unwrap_or(&name))) }
}

/// The first arrangement that could not be undone.
static LEFT: Mutex<Option<String>> = Mutex::new(None);

/// Notes that an arrangement is still there; of several the first counts.
pub fn cannot_undo(what: String) {
    LEFT.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(what);
}

/// Fails if an arrangement is still there: everything that follows would be measured under it, or leave it behind unsaid.
pub fn ensure_undone() -> Result<()> {
    match &*LEFT.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(what) => bail!("a rig could not be undone, so the verification ends: {what}"),
        None => Ok(()),
    }
}
