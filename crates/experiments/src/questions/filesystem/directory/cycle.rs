//! A fresh directory filled with names, used and emptied, by one thread or by several at once.

use super::names::{MADE, NameFolder, NameTask, RENAMED, ThreadNames};
use crate::apparatus::filesystem::apart;
use fathom_core::prelude::*;
use fathom_core::sampling::affinity;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Witnesses, summed over cycles: names worked on; those that an independent reading of the directory finds after they were made,
/// after they were renamed, and after they were removed; CPUs of the threads, and tasks.
pub const NAMES: &str = "names";
pub const SEEN_MADE: &str = "names_seen_after_create";
pub const SEEN_RENAMED: &str = "names_seen_after_rename";
pub const SEEN_LEFT: &str = "names_seen_after_remove";
pub const ON_CPUS: &str = "cpus_of_the_threads";
pub const TASKS: &str = "tasks";

#[derive(Debug, Default)]
struct NameCounts {
    names: Cell<f64>,
    created: Cell<f64>,
    renamed: Cell<f64>,
    remaining: Cell<f64>,
    cpus: Cell<f64>,
    tasks: Cell<f64>,
}

fn add(to: &Cell<f64>, count: f64) {
    to.set(to.get() + count);
}

/// The threads with their names, and the folder in which they make directories.
pub struct DirectoryCycle {
    parent: PathBuf,
    /// The CPU of each thread; `None` for the only one, which is where it should be already.
    cpus: Option<Vec<usize>>,
    names: Vec<ThreadNames>,
    one_directory: bool,
    /// Distinguishes the directories of a trial from those of others, with its process and the cycle.
    seed: u64,
    cycles: u64,
    counts: Rc<NameCounts>,
}

impl DirectoryCycle {
    pub fn new(
        cpus: Option<Vec<usize>>,
        count: u64,
        one_directory: bool,
        site: &Site,
    ) -> Result<Self, Failure> {
        let mut chance = SplitMix64::seed_from_u64(site.seed);
        let threads = cpus.as_ref().map_or(1, Vec::len);
        let names = (0..threads).map(|thread| ThreadNames::new(thread, count, &mut chance)).collect();
        let (parent, seed) = (apart::directories(site)?, site.seed);
        Ok(DirectoryCycle { parent, cpus, names, one_directory, seed, cycles: 0, counts: Rc::default() })
    }

    /// Makes fresh directories, performs every task in turn, and returns the time of each for one name.
    pub fn run(&mut self, watch: &dyn Stopwatch) -> Result<Vec<FigureValue>, Failure> {
        let folders = self.folders()?;
        let mut figures = Vec::with_capacity(NameTask::ALL.len());
        for task in NameTask::ALL {
            figures.push((task.name(), self.timed(task, &folders, watch)?));
            self.count(task, &folders)?;
        }
        Ok(figures)
    }

    fn folders(&mut self) -> Result<Vec<NameFolder>, Failure> {
        self.cycles += 1;
        let count = if self.one_directory { 1 } else { self.names.len() };
        let path = |number| format!("{:x}-{}-{}-{number}", self.seed, std::process::id(), self.cycles);
        (0..count).map(|number| NameFolder::new(&self.parent.join(path(number)))).collect()
    }

    /// The time of a task from the start of the first thread to the end of the last, for one name of a thread, nanoseconds.
    fn timed(
        &mut self,
        task: NameTask,
        folders: &[NameFolder],
        watch: &dyn Stopwatch,
    ) -> Result<f64, Failure> {
        let spans = match &self.cpus {
            None => vec![span(task, &mut self.names[0], &folders[0], watch)?],
            Some(cpus) => together(task, &mut self.names, cpus, folders, watch)?,
        };
        let began = spans.iter().map(|span| span.began).fold(f64::INFINITY, f64::min);
        let ended = spans.iter().map(|span| span.ended).fold(0.0, f64::max);
        add(&self.counts.cpus, spans.iter().map(|span| span.cpu).collect::<BTreeSet<_>>().len() as f64);
        add(&self.counts.tasks, 1.0);
        Ok((ended - began) / spans[0].names as f64)
    }

    fn count(&self, task: NameTask, folders: &[NameFolder]) -> Result<(), Failure> {
        let seen = |letter| folders.iter().map(|folder| folder.count(letter)).sum::<Result<f64, Failure>>();
        match task {
            NameTask::Create => {
                add(&self.counts.names, self.names.iter().map(|names| names.count() as f64).sum());
                add(&self.counts.created, seen(MADE)?);
            }
            NameTask::Rename => add(&self.counts.renamed, seen(RENAMED)?),
            NameTask::Remove => add(&self.counts.remaining, seen(MADE)? + seen(RENAMED)?),
            _ => {}
        }
        Ok(())
    }

    pub fn account(&self) -> impl FnMut() -> Vec<(&'static str, f64)> + use<> {
        let counts = Rc::clone(&self.counts);
        move || {
            vec![
                (NAMES, counts.names.get()),
                (SEEN_MADE, counts.created.get()),
                (SEEN_RENAMED, counts.renamed.get()),
                (SEEN_LEFT, counts.remaining.get()),
                (ON_CPUS, counts.cpus.get()),
                (TASKS, counts.tasks.get()),
            ]
        }
    }
}

/// When a thread began and ended a task, on which CPU, and for how many names.
#[derive(Debug, Clone, Copy)]
struct TaskSpan {
    began: f64,
    ended: f64,
    cpu: libc::c_int,
    names: u64,
}

fn span(
    task: NameTask,
    names: &mut ThreadNames,
    folder: &NameFolder,
    watch: &dyn Stopwatch,
) -> Result<TaskSpan, Failure> {
    // SAFETY: returns a number.
    let cpu = unsafe { libc::sched_getcpu() };
    let began = watch.now_ns();
    let names = names.perform(task, &folder.file)?;
    Ok(TaskSpan { began, ended: watch.now_ns(), cpu, names })
}

/// The same for all threads, each on its own CPU, which begin when all are ready.
fn together(
    task: NameTask,
    names: &mut [ThreadNames],
    cpus: &[usize],
    folders: &[NameFolder],
    watch: &dyn Stopwatch,
) -> Result<Vec<TaskSpan>, Failure> {
    let waiting = AtomicUsize::new(names.len());
    let (waiting, ended) = (&waiting, "a thread of a directory's users has ended");
    std::thread::scope(|scope| {
        let begin = |(number, names)| {
            let (cpu, folder) = (cpus[number], &folders[number % folders.len()]);
            let run = move || {
                let pinned = affinity::pin(cpu);
                meet(waiting);
                pinned.and_then(|()| span(task, names, folder, watch))
            };
            std::thread::Builder::new()
                .spawn_scoped(scope, run)
                .inspect_err(|_| {
                    waiting.fetch_sub(1, Ordering::AcqRel);
                })
                .map_err(|error| Failure::no_process("making a thread that uses a directory", &error))
        };
        let threads: Vec<_> = names.iter_mut().enumerate().map(begin).collect();
        let end = |thread: Result<std::thread::ScopedJoinHandle<_>, Failure>| {
            thread?.join().unwrap_or_else(|_| Err(Failure::Broke(ended.to_owned())))
        };
        threads.into_iter().map(end).collect()
    })
}

/// Waits until all have come: without sleeping, so that they begin together.
fn meet(waiting: &AtomicUsize) {
    waiting.fetch_sub(1, Ordering::AcqRel);
    while waiting.load(Ordering::Acquire) > 0 {
        std::thread::yield_now();
    }
}

/// Names of the small cycle whose system calls are traced.
const TRACED: u64 = 16;

/// The system calls of a small cycle of one thread, with the number of its names, as facts for the evidence.
pub fn traced(site: &Site) -> Result<Vec<(&'static str, f64)>, Failure> {
    let folder = NameFolder::new(&apart::directories(site)?.join(format!(
        "{:x}-{}-traced",
        site.seed,
        std::process::id()
    )))?;
    let mut names = ThreadNames::new(0, TRACED, &mut SplitMix64::seed_from_u64(site.seed));
    fathom_core::sampling::tracer::stated(TRACED, || {
        NameTask::ALL.into_iter().try_for_each(|task| names.perform(task, &folder.file).map(drop))
    })
}

/// System calls of a cycle for one name of the traced one: those for each, and four that read the directory (open, twice
/// getdents64, close).
pub fn traced_calls() -> f64 {
    NameTask::ALL.into_iter().map(NameTask::calls).sum::<f64>() + 4.0 / TRACED as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    struct Steps(AtomicUsize);

    impl Stopwatch for Steps {
        fn stamp(&self) {}

        fn now_ns(&self) -> f64 {
            self.0.fetch_add(1000, Ordering::Relaxed) as f64
        }

        fn spin(&self, _: f64) -> Spin {
            Spin::default()
        }

        fn core(&self) -> CoreWidth {
            CoreWidth { addition_ns: 0.1, quotient: 1.0 }
        }
    }

    fn cycle(place: &Path, cpus: Option<Vec<usize>>, one_directory: bool) -> DirectoryCycle {
        let threads = cpus.as_ref().map_or(1, Vec::len);
        let mut chance = SplitMix64::seed_from_u64(1);
        let names = (0..threads).map(|thread| ThreadNames::new(thread, 50, &mut chance)).collect();
        let parent = place.to_owned();
        DirectoryCycle { parent, cpus, names, one_directory, seed: 1, cycles: 0, counts: Rc::default() }
    }

    #[test]
    fn threads_work_on_as_many_names_each_in_one_directory_or_in_their_own() {
        let (place, cpu) = (tempfile::tempdir().unwrap(), affinity::current()[0]);
        for one_directory in [false, true] {
            let mut cycle = cycle(place.path(), Some(vec![cpu, cpu, cpu]), one_directory);
            cycle.seed = u64::from(one_directory);
            let figures = cycle.run(&Steps(AtomicUsize::new(0))).unwrap();
            assert_eq!(figures.len(), NameTask::ALL.len());
            let counted = cycle.account()();
            let expected = [
                (NAMES, 150.0),
                (SEEN_MADE, 150.0),
                (SEEN_RENAMED, 150.0),
                (SEEN_LEFT, 0.0),
                (ON_CPUS, 6.0),
                (TASKS, 6.0),
            ];
            assert_eq!(counted, expected, "{one_directory}");
        }
        let folders = std::fs::read_dir(place.path()).unwrap().map(|folder| folder.unwrap().path());
        let counts = folders.map(|folder| std::fs::read_dir(folder).unwrap().count());
        assert_eq!(counts.collect::<Vec<_>>(), [0; 4], "three directories, and one, all of them empty");
    }
}
