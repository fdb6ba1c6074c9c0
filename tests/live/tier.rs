//! The live tier's own harness: what a test of this machine may end in, and the program that runs them.
//!
//! A test ends in one of four words. It *passed*, or it *failed* (it panicked), as everywhere; it is *inconclusive* where the
//! machine did not allow a verdict, with what was seen and by how much; and it is *skipped* where something is missing, with
//! its name. All four are counted and printed, so that nothing passes by not having been tried. On a machine that was calm
//! while it ran a test has no excuse: it is then a failure to be inconclusive (`calm.rs`).

use crate::calm::Watch;
use fathom::sampling::affinity;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What a test gives back; it fails by a panic.
pub type Outcome<T = ()> = Result<T, Undecided>;

/// Why there is no verdict.
#[derive(Debug, Clone)]
pub enum Undecided {
    /// The machine did not allow one.
    Inconclusive(String),
    /// It did not, and the test itself has seen so: repetitions of the same work differ by more than the verdict needs.
    Unsteady(String),
    /// Something that the test needs is missing.
    Skipped(String),
    /// A program or a library that can be installed is missing.
    NotInstalled(String),
}

/// A session without the figures that it is about.
impl From<String> for Undecided {
    fn from(seen: String) -> Self {
        Undecided::Inconclusive(seen)
    }
}

/// The machine allowed no verdict: what was seen, and by how much it missed one.
pub fn inconclusive<T>(seen: impl Display) -> Outcome<T> {
    Err(Undecided::Inconclusive(seen.to_string()))
}

/// Repetitions of the same work differ by more than a verdict needs, which no account of the machine shows.
pub fn unsteady<T>(seen: impl Display) -> Outcome<T> {
    Err(Undecided::Unsteady(seen.to_string()))
}

/// What the test needs and does not find here.
pub fn skipped<T>(missing: impl Display) -> Outcome<T> {
    Err(Undecided::Skipped(missing.to_string()))
}

/// The program or library that the test needs, with the package that has it: to be installed where that is possible.
pub fn not_installed<T>(package: impl Display) -> Outcome<T> {
    Err(Undecided::NotInstalled(format!("needs {package}")))
}

/// Ends a test that needs root where it is not to be had.
pub fn needs_root() -> Outcome {
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } == 0 { Ok(()) } else { skipped("needs root") }
}

/// A test of the live tier.
pub struct Test {
    /// Its module and name.
    pub name: &'static str,
    /// Whether it measures, so that nothing else may run beside it.
    pub alone: bool,
    pub run: fn() -> Outcome,
}

/// Tests that only wait or look: several go on at once.
macro_rules! beside {
    ($($(#[$when:meta])* $test:ident),+ $(,)?) => { crate::tier::tests!(false, $($(#[$when])* $test),+) };
}

/// Tests that measure: one goes on at a time.
macro_rules! alone {
    ($($(#[$when:meta])* $test:ident),+ $(,)?) => { crate::tier::tests!(true, $($(#[$when])* $test),+) };
}

macro_rules! tests {
    ($alone:literal, $($(#[$when:meta])* $test:ident),+) => {
        [$($(#[$when])* crate::tier::Test {
            name: concat!(module_path!(), "::", stringify!($test)),
            alone: $alone,
            run: $test,
        }),+]
    };
}

pub(crate) use {alone, beside, tests};

/// What became of a test.
enum Ending {
    Passed,
    Failed(String),
    Undecided(Undecided),
}

/// The tests' counts, by their four words.
#[derive(Default)]
struct Counts {
    passed: AtomicUsize,
    failed: AtomicUsize,
    inconclusive: AtomicUsize,
    skipped: AtomicUsize,
    /// Whether what can be installed is said to be.
    all_installed: bool,
}

/// Runs the tests whose names have one of the arguments in them: those that wait side by side, then those that measure, one
/// after the other. `--beside` and `--alone` run one kind only, `--list` names them instead; with `--all-installed`, where
/// whatever can be installed is said to be, a test that lacks such a thing fails. Other flags, which are for other harnesses,
/// are ignored.
pub fn main(tests: Vec<&'static [Test]>) -> ExitCode {
    let (flags, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let is_asked = |test: &&Test| {
        let of_kind = if test.alone { !has("--beside") } else { !has("--alone") };
        of_kind && (names.is_empty() || names.iter().any(|name| test.name.contains(name)))
    };
    let asked: Vec<&Test> = tests.into_iter().flatten().filter(is_asked).collect();
    if has("--list") {
        for test in &asked {
            println!("{}: test", test.name);
        }
        return ExitCode::SUCCESS;
    }
    quiet_panics();
    let counts = Counts { all_installed: has("--all-installed"), ..Counts::default() };
    let (alone, beside): (Vec<&Test>, Vec<&Test>) = asked.into_iter().partition(|test| test.alone);
    side_by_side(&beside, &counts);
    for test in alone {
        report(test, &counts);
    }
    counts.conclude()
}

/// Most of their time these tests wait for processes of their own.
fn side_by_side(tests: &[&Test], counts: &Counts) {
    const AT_ONCE: usize = 4;
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
            report(test, counts);
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
}

/// Runs a test and prints its line.
fn report(test: &Test, counts: &Counts) {
    let (began, watch) = (Instant::now(), Watch::begin());
    // A test that pins its thread must not leave the next one a single CPU.
    let free = affinity::current();
    let ending = ended(test, watch);
    affinity::set(&free);
    let name = test.name.trim_start_matches("live::");
    let took = began.elapsed().as_secs_f64();
    let (count, word, why) = match &ending {
        Ending::Passed => (&counts.passed, "passed", ""),
        Ending::Failed(why) => (&counts.failed, "FAILED", why.as_str()),
        Ending::Undecided(Undecided::Inconclusive(why) | Undecided::Unsteady(why)) => {
            (&counts.inconclusive, "inconclusive", why.as_str())
        }
        Ending::Undecided(Undecided::NotInstalled(why)) if counts.all_installed => {
            (&counts.failed, "FAILED", why.as_str())
        }
        Ending::Undecided(Undecided::Skipped(why) | Undecided::NotInstalled(why)) => {
            (&counts.skipped, "skipped", why.as_str())
        }
    };
    count.fetch_add(1, Ordering::Relaxed);
    let separator = if why.is_empty() { "" } else { ": " };
    println!("{word:<12} {name} ({took:.1} s){separator}{why}");
}

/// How a test ends; of one that measures alone, an excuse is held against what the machine did meanwhile.
fn ended(test: &Test, watch: Watch) -> Ending {
    let outcome = catch_unwind(AssertUnwindSafe(test.run));
    let disturbance = watch.disturbance();
    match outcome {
        Ok(Ok(())) => Ending::Passed,
        Ok(Err(Undecided::Inconclusive(seen))) => match disturbance {
            Some(by) => Ending::Undecided(Undecided::Inconclusive(format!("{seen} ({by})"))),
            None if test.alone => {
                Ending::Failed(format!("inconclusive, though the machine was calm: {seen}"))
            }
            None => Ending::Undecided(Undecided::Inconclusive(format!("{seen} (beside other tests)"))),
        },
        Ok(Err(missing)) => Ending::Undecided(missing),
        Err(panic) => Ending::Failed(words(panic.as_ref())),
    }
}

/// The line of a failed test has the words of its panic, with their place.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        PLACES
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push((std::thread::current().id(), place));
    }));
}

/// Where threads have panicked last.
static PLACES: Mutex<Vec<(std::thread::ThreadId, String)>> = Mutex::new(Vec::new());

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    let places = PLACES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let here = std::thread::current().id();
    let place = places.iter().rev().find(|(thread, _)| *thread == here).map(|(_, place)| place.clone());
    format!("{} [{}]", text.unwrap_or_default(), place.unwrap_or_default())
}

impl Counts {
    fn conclude(&self) -> ExitCode {
        let number = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let (passed, failed) = (number(&self.passed), number(&self.failed));
        let (inconclusive, skipped) = (number(&self.inconclusive), number(&self.skipped));
        println!("\nlive: {passed} passed, {failed} failed, {inconclusive} inconclusive, {skipped} skipped");
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
