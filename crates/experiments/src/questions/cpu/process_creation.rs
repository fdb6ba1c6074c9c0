//! What does it cost to create a process?

use super::system_call;
use crate::apparatus::cpu::program::{self, Program, reap};
use crate::expected::kernel_service::assumed;
use crate::expected::published;
use crate::expected::rule_of_thumb::{self, RuleOfThumb};
use fathom_core::prelude::*;
use std::ptr::null_mut;

const MEASURE: Parameter = Parameter::named("measure", "what is created, and up to which event");
const RESIDENT: Parameter = Parameter::bytes("resident", "memory that the parent has written before");

pub struct ProcessCreation;

static ABOUT: About = About {
    name: "cpu/process_creation",
    question: "What does it cost to create a process, with and without executing another program?",
    operation: "one process created, up to the event named; every exit status is checked",
    method: "A small process creates others; each creation is an observation. Measured are: `fork` with a child that \
             exits at once, until the parent has waited for it; the same `fork` until it returns in the parent; the \
             same until the child's first instruction, where the child reads the clock; `vfork` (clone with CLONE_VM \
             and CLONE_VFORK, with a separate stack for the child); `posix_spawn`, and `fork` and `exec`, of a static \
             program (an ELF file of one page, kept in memory, that exits with its first system call) and of a \
             dynamic one (/bin/true); and a shell that runs a program (`/bin/sh -c /bin/true`), as in \
             lmbench.\n\nAnother series forks from parents with 1 MiB to 1 GiB of written memory in 4 KiB pages: fork \
             copies the page tables, so the cost grows with the number of pages.",
    caveats: "`fork, as its parent sees it` does not include the start and the end of the child; two reports called \
              this process creation.",
    version: 1,
    timed: Some(TimedCode {
        of: "fork and wait",
        source: include_str!("process_creation.rs"),
        begins: "fn fork_and_wait(",
    }),
    parameters: &[MEASURE, RESIDENT],
    trends: &[Trend { along: "resident", step: 4096.0, slope: "per page of 4 KiB of the parent's memory" }],
    shown: Shown::by(&[
        MainFigure::leading("fork, exit, wait", &[("measure", At::Name("fork, exit, wait"))])
            .called("process, fork, exit, wait"),
        MainFigure::of(
            "fork and exec of a static program",
            &[("measure", At::Name("fork and exec of a static program"))],
        ),
    ]),
};

const FORK: &str = "fork, exit, wait";
const FORK_SEEN: &str = "fork, as its parent sees it";
const FORK_FIRST: &str = "fork to first instruction";
const VFORK: &str = "vfork, exit, wait";
const SPAWN: &str = "posix_spawn of a static program";
const EXEC_STATIC: &str = "fork and exec of a static program";
const EXEC_DYNAMIC: &str = "fork and exec of a dynamic program";
const SHELL: &str = "sh -c of a program";
const FORK_LARGE: &str = "fork of a large parent";

impl Experiment for ProcessCreation {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let measures = [FORK, FORK_SEEN, FORK_FIRST, VFORK, SPAWN, EXEC_STATIC, EXEC_DYNAMIC, SHELL];
        let small = measures.map(point);
        let free = [FORK, EXEC_DYNAMIC].map(|measure| Point::at(Placement::Free).named(&MEASURE, measure));
        let large = [1, 4, 16, 64, 256, 1024].map(|mib: u64| point(FORK_LARGE).with(&RESIDENT, mib << 20));
        small.into_iter().chain(free).chain(large).collect()
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if point.number(&RESIDENT) > 64 << 20 { Effort::Standard } else { Effort::Quick }
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let mut needs = match point.name(&MEASURE) {
            EXEC_DYNAMIC => vec![Requirement::File("/bin/true")],
            SHELL => vec![Requirement::File("/bin/sh"), Requirement::File("/bin/true")],
            _ => vec![],
        };
        if point.placement() == Placement::Free {
            needs.push(Requirement::Cpus(2));
        }
        needs.push(Requirement::MemoryBytes(point.number(&RESIDENT)));
        needs
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let whole = published::process(Prediction::new());
        if *point == self::point(FORK) {
            return Ok(whole);
        }
        let citation = "fork, exit and wait on published machines (reports 000, 002 and 003)";
        let fork = known.measured_or(ABOUT.name, &self::point(FORK), whole.total(), citation);
        let share = |times, what| Prediction::new().software(what, times, fork.clone());
        let exec =
            |prediction, ns| assumed(prediction, "a new address space and loading a program", ns, known);
        Ok(match point.name(&MEASURE) {
            FORK_SEEN => share(0.5, "the parent's part of fork, exit and wait"),
            FORK_FIRST => share(0.7, "fork, exit and wait, up to the child's start"),
            VFORK => share(0.3, "fork, exit and wait without page tables to copy and faults to take"),
            SPAWN => exec(share(0.3, "vfork"), 35_000.0),
            EXEC_STATIC => exec(share(1.0, "fork, exit and wait"), 35_000.0),
            EXEC_DYNAMIC => exec(share(1.0, "fork, exit and wait"), 180_000.0),
            SHELL => exec(share(2.0, "fork, exit and wait of the shell and of its program"), 360_000.0),
            FORK_LARGE => {
                let pages = point.number(&RESIDENT) as f64 / 4096.0;
                assumed(
                    share(1.0, "fork, exit and wait"),
                    "page-table entries copied and freed",
                    50.0 * pages,
                    known,
                )
            }
            _ => share(1.0, "the same on one CPU"),
        })
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        Some(Bound::of(
            1_000.0 * known.shortest_cycle(),
            "copying a task takes thousands of instructions in the kernel",
        ))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let reaped = || vec![("children_reaped", program::reaped())];
        let workload = match point.name(&MEASURE) {
            FORK_SEEN => Workload::until_marked(fork_as_seen(site)),
            FORK_FIRST => Workload::until_marked(fork_to_first_instruction(site)),
            VFORK => Workload::each(program::vfork_and_wait()),
            SPAWN => Workload::each(spawn(Program::of_one_page()?)),
            EXEC_STATIC => Workload::each(fork_and_exec(Program::of_one_page()?)),
            EXEC_DYNAMIC => Workload::each(fork_and_exec(Program::installed(&["/bin/true"])?)),
            SHELL => Workload::each(fork_and_exec(Program::installed(&["/bin/sh", "-c", "/bin/true"])?)),
            FORK_LARGE => fork_large(point.number(&RESIDENT) as usize)?,
            FORK => Workload::each(fork_and_wait),
            measure => return Err(Failure::no_variant(&MEASURE, measure)),
        };
        Ok(workload.witnessed(reaped))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let claim = "children reaped with exit status 0, per process claimed";
        let mut checks = vec![Check::witnessed(claim, observed, "children_reaped", 1.0, 1.0)];
        let resident = point.number(&RESIDENT) as f64;
        if resident > 0.0 {
            // The program itself has about ten MiB, a debug build more.
            let claim = "MiB resident in the parent beyond the memory claimed";
            let beyond =
                observed.witness("resident_bytes").map(|bytes| (bytes - resident) / f64::from(1 << 20));
            checks.push(Check::within(claim, beyond, 0.0, 64.0));
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        [against_thread(known), with_a_program(known), by_rules(known)].into_iter().flatten().collect()
    }
}

fn point(measure: &str) -> Point {
    Point::new().named(&MEASURE, measure)
}

/// The point of a process's complete lifetime, for comparisons.
pub fn whole() -> Point {
    point(FORK)
}

/// The rules by which reports 000 and 001 predicted it.
fn by_rules(known: &Known) -> Option<Finding> {
    let process = known.found(ABOUT.name, &whole())?;
    let scaled = "lmbench's 0.4 ms at 167 MHz, scaled by clock frequency";
    let calls = known.found("cpu/system_call", &system_call::bare()).map(|call| RuleOfThumb {
        text: "about 200 system calls, according to Plan 9's authors (report 001)",
        says: call.scaled(200.0),
    });
    let rules = RuleOfThumb::by_clock_ratio(scaled, 0.4e6, process, known).into_iter().chain(calls);
    rule_of_thumb::beside("a process created and ended", process, rules)
}

/// What executing another program adds to a process.
fn with_a_program(known: &Known) -> Option<Finding> {
    let process = known.found(ABOUT.name, &whole())?;
    let others = [SPAWN, EXEC_STATIC, EXEC_DYNAMIC, SHELL].into_iter().filter_map(|measure| {
        let time = known.found(ABOUT.name, &point(measure))?;
        // Of unlike states of the core a ratio may be the neighbour's.
        let time = if time.is_of_the_state_of(&process) {
            time.beside(process, measure, "fork alone")
        } else {
            statement!("{time}, not compared: of another state of the core", time = time.named(measure))
        };
        Some(statement!("{measure} {time}", measure, time))
    });
    let others = Statement::joined(others, "; ")?;
    Some(finding!(
        Question::Thread,
        "With another program executed, beside the fork alone ({process}): {others}.",
        process = process.named("fork, exit, wait"),
        others
    ))
}

fn against_thread(known: &Known) -> Option<Finding> {
    let process = known.found(ABOUT.name, &whole())?;
    let thread = known.found("cpu/thread_creation", &super::thread_creation::whole())?;
    Some(finding!(
        Question::Thread,
        "Creating and ending a process (fork, exit, wait) takes {process}, a thread (create and join) \
         {thread}: {ratio}.",
        process = process.named("fork, exit, wait"),
        thread = thread.named("create and join"),
        ratio = process.times_as("much", thread, "process over thread, creation")
    ))
}

/// Forks; the child does `first` and exits.
fn fork(first: impl FnOnce()) -> Result<libc::pid_t, Failure> {
    // SAFETY: this process has one thread; the child makes system calls and exits.
    match unsafe { libc::fork() } {
        -1 => Err(Failure::last("fork")),
        0 => {
            first();
            // SAFETY: ends the child without running the parent's destructors.
            unsafe { libc::_exit(0) }
        }
        child => Ok(child),
    }
}

fn fork_and_wait(n: u64) -> Result<(), Failure> {
    (0..n).try_for_each(|_| reap(fork(|| {})?))
}

fn fork_as_seen<'site>(site: &'site Site) -> impl FnMut(u64) -> Result<(), Failure> + 'site {
    move |_| {
        let child = fork(|| {})?;
        site.stopwatch.stamp();
        reap(child)
    }
}

/// Forks children that stop the time at their first instruction.
pub fn fork_to_first_instruction<'site>(site: &'site Site) -> impl FnMut(u64) -> Result<(), Failure> + 'site {
    move |_| reap(fork(|| site.stopwatch.stamp())?)
}

fn fork_and_exec(program: Program) -> impl FnMut(u64) -> Result<(), Failure> {
    move |n| (0..n).try_for_each(|_| reap(fork(|| program.become_it())?))
}

fn spawn(program: Program) -> impl FnMut(u64) -> Result<(), Failure> {
    move |n| (0..n).try_for_each(|_| reap(program.spawn()?))
}

fn fork_large<'site>(bytes: usize) -> Result<Workload<'site>, Failure> {
    let memory = WrittenPages::new(bytes)?;
    let resident = resident_bytes();
    let run = move |n| {
        let _keep = &memory;
        fork_and_wait(n)
    };
    Ok(Workload::each(run).stating("resident_bytes", resident))
}

/// Resident memory now (proc(5), statm: the second word, in pages); the peak of getrusage(2) includes the program before exec.
fn resident_bytes() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = statm.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    // SAFETY: sysconf reads a constant.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64
}

/// Written memory in pages of 4 KiB, so that each page has its own page-table entry to copy.
struct WrittenPages {
    start: *mut libc::c_void,
    bytes: usize,
}

impl WrittenPages {
    fn new(bytes: usize) -> Result<Self, Failure> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, advised and written within its bounds.
        unsafe {
            let start = libc::mmap(null_mut(), bytes, protection, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return Err(Failure::last("mmap of the parent's memory"));
            }
            // Refused if the kernel has no huge pages: then there are none to avoid.
            libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE);
            for offset in (0..bytes).step_by(4096) {
                start.cast::<u8>().add(offset).write_volatile(1);
            }
            Ok(WrittenPages { start, bytes })
        }
    }
}

impl Drop for WrittenPages {
    fn drop(&mut self) {
        // SAFETY: our own mapping.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}
