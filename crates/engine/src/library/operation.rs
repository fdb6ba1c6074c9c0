//! An operation of a program that uses this library, as an experiment with one point.

use fathom_core::experiment::{
    About, Check, Experiment, Failure, Known, Observed, Point, Prediction, Shown, Site, Workload,
};
use fathom_core::machine::Machine;
use std::any::Any;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

pub(super) const FAMILY: &str = "own";

const METHOD: &str = "The operation is called in a loop, in batches long against the clock and short against the timer tick, \
                      and its result is handed to an optimisation barrier. A baseline, where there is one, is interleaved in \
                      the same process and subtracted.";

/// Repeats the operation a given number of times.
type Repeated = Box<dyn FnMut(u64) -> Result<(), Failure>>;

/// Prepares the operation, in the measuring process.
type Prepare = Box<dyn Fn() -> Result<Repeated, Failure> + Send + Sync>;

/// An operation of this program to be timed.
///
/// Its return value is not optimised away. Its inputs are, if the compiler knows them: pass constants through
/// [`std::hint::black_box`]. It should panic if it fails, because failing calls are fast; the trial then fails with that
/// reason.
pub struct Operation {
    about: &'static About,
    work: Prepare,
    baseline: Option<Prepare>,
    each: bool,
    limit: Duration,
}

impl Operation {
    /// An operation that needs no preparation; the name is that of its result.
    pub fn new<T>(name: &str, work: impl Fn() -> T + Send + Sync + 'static) -> Self {
        let work = leaked(work);
        Operation::prepared(name, move || work)
    }

    /// An operation on data that are prepared, untimed, once in each trial's process.
    pub fn prepared<W, T>(name: &str, prepare: impl Fn() -> W + Send + Sync + 'static) -> Self
    where
        W: FnMut() -> T + 'static,
    {
        Operation {
            about: leaked(about(name)),
            work: repeated(prepare),
            baseline: None,
            each: false,
            limit: Duration::from_secs(10),
        }
    }

    /// Subtracts the time of this baseline: work of the same form without the operation of interest.
    #[must_use]
    pub fn baseline<T>(self, work: impl Fn() -> T + Send + Sync + 'static) -> Self {
        let work = leaked(work);
        self.prepared_baseline(move || work)
    }

    /// Subtracts the time of this baseline, which works on data that are prepared, untimed, once in each trial's process.
    #[must_use]
    pub fn prepared_baseline<W, T>(mut self, prepare: impl Fn() -> W + Send + Sync + 'static) -> Self
    where
        W: FnMut() -> T + 'static,
    {
        self.baseline = Some(repeated(prepare));
        self
    }

    /// Times every call separately, which gives percentiles: for operations of a microsecond or more, twenty times the time
    /// of reading the clock.
    #[must_use]
    pub fn each(mut self) -> Self {
        self.each = true;
        self
    }

    /// The time limit of a trial with its preparation; ten seconds by default. An operation is called at least twice in a
    /// trial if every call is timed separately, and four times otherwise.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    pub(super) fn name(&self) -> &'static str {
        named(self.about.name)
    }
}

/// The name of an operation, from that of its experiment.
pub(super) fn named(experiment: &str) -> &str {
    experiment.strip_prefix(FAMILY).and_then(|name| name.strip_prefix('/')).unwrap_or(experiment)
}

/// Work without preparation, kept for the lifetime of the process.
fn leaked<F>(work: F) -> &'static F {
    Box::leak(Box::new(work))
}

/// The loop around the calls is compiled with them, so a call costs no more than in the program itself.
fn repeated<W, T>(prepare: impl Fn() -> W + Send + Sync + 'static) -> Prepare
where
    W: FnMut() -> T + 'static,
{
    Box::new(move || {
        let mut once = unpanicked(&prepare)?;
        Ok(Box::new(move |n| {
            unpanicked(|| {
                for _ in 0..n {
                    black_box(once());
                }
            })
        }))
    })
}

/// Runs work; a panic becomes a failure of the trial.
fn unpanicked<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    let words = |panic: &(dyn Any + Send)| match panic.downcast_ref::<String>() {
        Some(words) => words.clone(),
        None => panic.downcast_ref::<&str>().copied().unwrap_or("without a message").to_owned(),
    };
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| Failure::Broke(format!("the operation panicked: {}", words(panic.as_ref()))))
}

fn about(name: &str) -> About {
    About {
        name: format!("{FAMILY}/{name}").leak(),
        question: format!("How long does this operation of the program take: {name}?").leak(),
        operation: format!("One call of what the program names: {name}.").leak(),
        method: METHOD,
        caveats: "",
        version: 1,
        timed: None,
        parameters: &[],
        trends: &[],
        shown: Shown::by(&[]),
    }
}

impl Experiment for Operation {
    fn about(&self) -> &'static About {
        self.about
    }

    fn sweep(&self, _machine: &Machine) -> Vec<Point> {
        vec![Point::new()]
    }

    fn predict(&self, _point: &Point, _known: &Known) -> Result<Prediction, String> {
        Err("there is no prediction for a program's own operation".to_owned())
    }

    fn prepare<'site>(&self, _point: &Point, _site: &'site Site) -> Result<Workload<'site>, Failure> {
        let work = (self.work)()?;
        let workload = if self.each { Workload::each(work) } else { Workload::batched(work) };
        Ok(match &self.baseline {
            Some(baseline) => workload.against(baseline()?),
            None => workload,
        })
    }

    fn evidence(&self, _point: &Point, _seen: &Observed) -> Vec<Check> {
        vec![]
    }

    fn time_limit(&self, _point: &Point) -> Duration {
        self.limit
    }
}
