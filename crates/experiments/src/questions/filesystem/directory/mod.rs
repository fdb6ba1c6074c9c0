//! What does it cost to create, look up, list, rename and remove a name, by the number of names and of threads?

mod cycle;
mod findings;
mod names;

use crate::apparatus::spread_cpus;
use crate::expected::{kernel_service, mode_switch};
use cycle::{DirectoryCycle, NAMES, ON_CPUS, SEEN_LEFT, SEEN_MADE, SEEN_RENAMED, TASKS};
use fathom_core::prelude::*;
use names::NameTask;
use std::time::Duration;

const NAMES_OF_A_THREAD: Parameter = Parameter::count("names", "names that each thread makes");
const THREADS: Parameter = Parameter::count("threads", "threads, each on its own CPU");
const DIRECTORY: Parameter = Parameter::of(
    "directory",
    "whether each thread has a directory of its own, or all of them use one",
    &[OWN, SHARED],
);
const OPERATION: Parameter = Parameter::named("operation", "what is done with each name");

pub struct Directory;

static ABOUT: About = About {
    name: "filesystem/directory",
    question: "What does it cost to create, look up, list, rename and remove a name in a directory, depending on the number \
             of names and of threads?",
    operation: "the named operation on one name; a thread's time for all its names, divided by their number",
    method: "Every trial begins with an empty directory. A thread creates a number of empty files in it (open with \
             O_CREAT and O_EXCL, close), in the order of their names. Then it looks up the attributes of each, then those \
             of as many names that do not exist, each for the first time; it reads the directory (getdents64 with 32 \
             KiB), renames every file, and removes it. All but the creation is done in random order, with paths of a \
             single name relative to the open directory. Several threads begin each operation together, each on its own \
             CPU and with its own names, in a directory each or in one that they share; the time runs from the start of \
             the first to the end of the last. Every return value is checked. After creating, renaming and removing, the \
             names are counted by another reading of the directory, untimed. The system calls for a small directory are \
             counted by tracing.\
             \n\nNothing is flushed, because programs do not flush after every name: the file system writes its journal \
             later. The directories of a run lie in one that is marked as the top of a hierarchy (chattr +T), so that a \
             file system that heeds the mark (ext4) spreads them over the device. They stay there, empty, until the run \
             ends.",
    caveats: "Names that were just created are in the kernel's caches; a look-up after a restart reads the device first. \
             Without the mark, files are created where those of earlier trials were just removed, and ext4 without a \
             journal passes over every inode that was freed within the last minutes: after some ten thousand removals a \
             create took 500 to 900 µs instead of 18 (Linux 6.18; its profile shows find_inode_bit and recently_deleted). \
             A workload that creates and removes files in one directory for minutes takes that long.",
    version: 1,
    timed: Some(TimedCode {
        of: "what is done with every name",
        source: include_str!("names.rs"),
        begins: "pub fn perform(",
    }),
    parameters: &[NAMES_OF_A_THREAD, THREADS, DIRECTORY, OPERATION],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "a file created, one of 1000 in its directory",
            &[
                ("operation", At::Name(NameTask::Create.name())),
                ("names", At::Number(USUAL)),
                ("threads", At::Number(1)),
            ],
        ),
        MainFigure::of(
            "a file renamed, one of 1000 in its directory",
            &[
                ("operation", At::Name(NameTask::Rename.name())),
                ("names", At::Number(USUAL)),
                ("threads", At::Number(1)),
            ],
        ),
    ])
    .clauses(&[
        Clause::of("what a name costs in a larger directory", |point, _| {
            point.number(&NAMES_OF_A_THREAD) > USUAL
        }),
        Clause::of("what a name costs with several threads", |point, _| point.number(&THREADS) > 1),
    ]),
};

const OWN: &str = "own";
const SHARED: &str = "shared";

/// Names of a thread: as in a folder of sources, of a mailbox, of a cache.
const USUAL: u64 = 1000;
const MANY: u64 = 10_000;
const MOST: u64 = 100_000;

impl Experiment for Directory {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        let alone = [USUAL, MANY, MOST].map(|names| (names, 1, OWN));
        let counts = spread_cpus::thread_counts(machine.allowed_cpus().len());
        let several = counts.into_iter().filter(|threads| *threads > 1);
        let together = several.flat_map(|threads| [OWN, SHARED].map(|directory| (USUAL, threads, directory)));
        let settings = alone.into_iter().chain(together);
        settings.flat_map(|setting| NameTask::ALL.map(|task| point(task, setting))).collect()
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&OPERATION)
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let threads = point.number(&THREADS) as usize;
        if threads > 1 { vec![Requirement::Cpus(threads)] } else { vec![] }
    }

    fn effort(&self, point: &Point, machine: &Machine) -> Effort {
        let all = machine.allowed_cpus().len() as u64;
        match (point.number(&NAMES_OF_A_THREAD), point.number(&THREADS)) {
            (USUAL, 1) => Effort::Quick,
            (USUAL, threads) if threads == 2 || threads == all => Effort::Standard,
            (MANY, _) => Effort::Standard,
            _ => Effort::Thorough,
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let task = task(point).map_err(|failure| failure.to_string())?;
        let waits =
            if changes(task) && point.name(&DIRECTORY) == SHARED { point.number(&THREADS) } else { 1 };
        let entered = kernel_service::entering(Prediction::new(), "entering the kernel", task.calls(), known);
        let (work, ns) = match task {
            NameTask::Create => ("a name and its inode made, with their part of the journal", None),
            NameTask::LookUp => ("a name found in the kernel's cache, and attributes copied", Some(300.0)),
            NameTask::Miss => ("a name searched for in the blocks of the directory", Some(1_500.0)),
            // Hashed directories are listed in the order of the hash: some 40 ns for the hash of a name, 40 to allocate and free its
            // entry, 40 to put it into a tree and take it out, and 30 to copy it to the user.
            NameTask::List => ("an entry hashed, sorted and copied", Some(150.0)),
            NameTask::Rename => ("a name made and another removed, with their part of the journal", None),
            NameTask::Remove => ("a name and its inode removed, with their part of the journal", None),
        };
        let by_one = self::point(task, (point.number(&NAMES_OF_A_THREAD), 1, OWN));
        if let Some(alone) = known.measured(ABOUT.name, &by_one).filter(|_| point.number(&THREADS) > 1) {
            let what = if waits > 1 {
                "the same by one thread, one after the other"
            } else {
                "the same by one thread"
            };
            return Ok(Prediction::new().software(what, waits as f64, alone));
        }
        let work = if waits > 1 { format!("{work}, by one thread after the other") } else { work.to_owned() };
        Ok(match ns {
            Some(ns) => kernel_service::assumed(entered, &work, ns * waits as f64, known),
            None => kernel_service::names_changed(entered, &work, waits as f64, known),
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let calls = task(point).ok()?.calls();
        (calls > 0.0).then(|| mode_switch::bound(calls, "every call enters", known))
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        let names = vec![Touch::Names];
        if is_of_all_cpus(point) { [names, vec![Touch::EveryCpu]].concat() } else { names }
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let threads = point.number(&THREADS) as usize;
        let cpus = (threads > 1).then(|| spread_cpus::cpus(site, threads)).transpose()?;
        let shared = point.name(&DIRECTORY) == SHARED;
        let facts = cycle::traced(site)?;
        let mut cycle = DirectoryCycle::new(cpus, point.number(&NAMES_OF_A_THREAD), shared, site)?;
        let account = cycle.account();
        let work = Workload::figures(move || cycle.run(site.stopwatch)).cold().witnessed(account);
        Ok(facts.into_iter().fold(work, |work, (name, value)| work.stating(name, value)))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let seen = |claim: &str, name, expected| Check::equal(claim, observed.ratio(name, NAMES), expected);
        let on_cpus = "CPUs on which the threads ran: one each";
        vec![
            seen(
                "names that another reading of the directory finds after they were made, for each",
                SEEN_MADE,
                1.0,
            ),
            seen("the same under their new names after they were renamed", SEEN_RENAMED, 1.0),
            seen("the same after they were removed", SEEN_LEFT, 0.0),
            Check::equal(on_cpus, observed.ratio(ON_CPUS, TASKS), point.number(&THREADS) as f64),
            Check::system_calls(observed, cycle::traced_calls()),
        ]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }

    /// A hundred thousand names over a network, a millisecond each.
    fn time_limit(&self, point: &Point) -> Duration {
        if point.number(&NAMES_OF_A_THREAD) == USUAL {
            Duration::from_secs(60)
        } else {
            Duration::from_secs(10 * 60)
        }
    }
}

/// What creating and removing a name take together, by one thread in a directory of the usual size; in nanoseconds.
pub(super) fn made_and_removed(known: &Known) -> Option<Found> {
    let of = |task| known.found(ABOUT.name, &point(task, (USUAL, 1, OWN)));
    Some(of(NameTask::Create)?.plus(of(NameTask::Remove)?))
}

/// The point of a task with so many names for each of so many threads.
fn point(task: NameTask, (names, threads, directory): (u64, u64, &str)) -> Point {
    let placement = if threads > 1 { Placement::Spread } else { Placement::OneCpu };
    Point::at(placement)
        .with(&NAMES_OF_A_THREAD, names)
        .with(&THREADS, threads)
        .named(&DIRECTORY, directory)
        .named(&OPERATION, task.name())
}

fn task(point: &Point) -> Result<NameTask, Failure> {
    let name = point.name(&OPERATION);
    let task = NameTask::ALL.into_iter().find(|task| task.name() == name);
    task.ok_or_else(|| Failure::no_variant(&OPERATION, name))
}

/// Whether a task changes the directory, which one thread at a time may do.
fn changes(task: NameTask) -> bool {
    [NameTask::Create, NameTask::Rename, NameTask::Remove].contains(&task)
}

fn is_of_all_cpus(point: &Point) -> bool {
    point.number(&THREADS) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The evidence of a flawless trial, with one count replaced.
    fn judged(otherwise: (&str, f64)) -> bool {
        let usual = [
            (NAMES, 4000.0),
            (SEEN_MADE, 4000.0),
            (SEEN_RENAMED, 4000.0),
            (SEEN_LEFT, 0.0),
            (ON_CPUS, 24.0),
            (TASKS, 12.0),
            (TRACED_CALLS, 16.0 * cycle::traced_calls()),
            (TRACED_OPERATIONS, 16.0),
        ];
        let seen = fathom_described::observed(2, usual.into_iter().chain([otherwise]));
        let point = point(NameTask::Create, (USUAL, 2, SHARED));
        Directory.evidence(&point, &seen).iter().all(|check| check.holds)
    }

    #[test]
    fn names_that_were_not_made_renamed_or_removed_fail() {
        assert!(judged(("nothing", 0.0)));
        assert!(!judged((SEEN_MADE, 3999.0)), "a name was not made");
        assert!(!judged((SEEN_RENAMED, 0.0)), "nothing was renamed");
        assert!(!judged((SEEN_LEFT, 1.0)), "a name is left");
        assert!(!judged((ON_CPUS, 12.0)), "both threads were on one CPU");
        assert!(!judged((TRACED_CALLS, 16.0 * 5.0)), "an operation was left out");
    }
}
