//! Section 3: CPU, scheduling and operating-system services, each operation between two readings of the clock.

mod empty_functions;

use crate::protocol::{Repetitions, TrialProtocol, mean};
use crate::timer::{CpuidRdtscRdtscpCpuid, Timer};
use crate::{Series, Stage, timer};
use empty_functions::{
    fathom_empty_0, fathom_empty_1, fathom_empty_2, fathom_empty_3, fathom_empty_4, fathom_empty_5,
    fathom_empty_6, fathom_empty_7,
};
use fathom_core::experiment::{Failure, ensure, errno};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::pipe;
use fathom_core::statistics;
use std::os::fd::AsRawFd;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

/// Results that the report prints for each of its tests of the processor.
const RUNS: u64 = TrialProtocol::TEN.trials as u64;
/// The report's repetitions of a pair, and of a loop of one iteration.
const READINGS: u64 = 100_000;

pub(super) fn reading(stage: &Stage) -> Result<Series, Failure> {
    let repetitions = Repetitions::of(stage, READINGS, RUNS)?;
    let values = repetitions.averages_ns(|| CpuidRdtscRdtscpCpuid::ticks(|| ()));
    Ok(Series::of(values).with_notes(repetitions.reduced()))
}

pub(super) fn loops(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    // All counts together have about three times as many repetitions as the first alone.
    let repetitions = Repetitions::of(stage, READINGS, 3)?;
    let mut series = Series::default().with_notes(repetitions.reduced());
    for count in std::iter::once(0).chain((0..14).map(|power| 1 << power)) {
        let times = (repetitions.count / count.max(1)).max(12);
        let total = mean(times, || CpuidRdtscRdtscpCpuid::ticks(|| empty_loop(count))) * ns;
        series = series.and("whole loop", count as f64, vec![total]);
        series = series.and("per iteration", count as f64, vec![total / count.max(1) as f64]);
    }
    Ok(series)
}

/// `for (i = 0; i < count; i++);` as compiled without optimisation: every use of `i` and `count` is a load, every change of `i` a
/// store.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn empty_loop(count: u64) {
    let (mut counter, count) = (0_u32, count as u32);
    // SAFETY: reads and writes the two variables that it is given the addresses of.
    unsafe {
        core::arch::asm!(
            "mov dword ptr [{counter}], 0",
            "2:",
            "mov {scratch:e}, dword ptr [{counter}]",
            "cmp {scratch:e}, dword ptr [{count}]",
            "jge 4f",
            "jmp 3f",
            "3:",
            "mov {scratch:e}, dword ptr [{counter}]",
            "add {scratch:e}, 1",
            "mov dword ptr [{counter}], {scratch:e}",
            "jmp 2b",
            "4:",
            counter = in(reg) &raw mut counter, count = in(reg) &raw const count, scratch = out(reg) _,
            options(nostack)
        );
    }
    debug_assert_eq!(counter, count, "the loop makes as many iterations as it was asked for");
}

/// On other architectures the compiler is made to keep the counter in memory.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn empty_loop(count: u64) {
    let (mut counter, count) = (0_u32, count as u32);
    while std::hint::black_box(&counter) < std::hint::black_box(&count) {
        *std::hint::black_box(&mut counter) += 1;
    }
}

/// The report's repetitions in an average.
const CALLS: u64 = 100_000;

/// A function that times one call, in ticks.
type Timed = fn() -> i64;

/// The timed calls, indexed by the number of arguments.
const TIMED: [Timed; 8] = [
    || CpuidRdtscRdtscpCpuid::ticks(|| fathom_empty_0()),
    || CpuidRdtscRdtscpCpuid::ticks(|| fathom_empty_1(1)),
    || CpuidRdtscRdtscpCpuid::ticks(|| fathom_empty_2(1, 2)),
    || CpuidRdtscRdtscpCpuid::ticks(|| fathom_empty_3(1, 2, 3)),
    || CpuidRdtscRdtscpCpuid::ticks(|| fathom_empty_4(1, 2, 3, 4)),
    || CpuidRdtscRdtscpCpuid::ticks(|| fathom_empty_5(1, 2, 3, 4, 5)),
    || CpuidRdtscRdtscpCpuid::ticks(|| fathom_empty_6(1, 2, 3, 4, 5, 6)),
    || CpuidRdtscRdtscpCpuid::ticks(|| fathom_empty_7(1, 2, 3, 4, 5, 6, 7)),
];

pub(super) fn procedures(stage: &Stage) -> Result<Series, Failure> {
    let repetitions = Repetitions::of(stage, CALLS, RUNS * TIMED.len() as u64)?;
    let mut series = Series::default().with_notes(repetitions.reduced());
    for (arguments, timed) in TIMED.into_iter().enumerate() {
        series = series.and("", arguments as f64, repetitions.averages_ns(timed));
    }
    Ok(series)
}

pub(super) fn services(stage: &Stage) -> Result<Series, Failure> {
    let repetitions = Repetitions::of(stage, CALLS, 2 * RUNS)?;
    // SAFETY: takes and keeps nothing.
    let getppid = || CpuidRdtscRdtscpCpuid::ticks(|| _ = unsafe { libc::getppid() });
    // SAFETY: as above.
    let getpid = || CpuidRdtscRdtscpCpuid::ticks(|| _ = unsafe { libc::getpid() });
    let (getppid, getpid) = (repetitions.averages_ns(getppid), repetitions.averages_ns(getpid));
    let series = Series::default().with_notes(repetitions.reduced());
    Ok(series.and("getppid", 0.0, getppid).and("getpid", 0.0, getpid))
}

/// The report's repetitions in an average.
pub const TASKS: u64 = 200;

pub(super) fn processes(stage: &Stage) -> Result<Series, Failure> {
    runs(stage, || {
        let mut forked = 0;
        let mut status = 0;
        let ticks = CpuidRdtscRdtscpCpuid::ticks(|| {
            // SAFETY: this process has one thread; the child only ends.
            unsafe {
                forked = libc::fork();
                if forked == 0 {
                    libc::exit(1);
                }
                libc::wait(&raw mut status);
            }
        });
        errno("fork", forked)?;
        ensure(
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1,
            "the child did not end with exit status 1",
        )?;
        Ok(ticks)
    })
}

extern "C" fn at_once(_: *mut libc::c_void) -> *mut libc::c_void {
    null_mut()
}

pub(super) fn threads(stage: &Stage) -> Result<Series, Failure> {
    runs(stage, || {
        let mut created = 0;
        let ticks = CpuidRdtscRdtscpCpuid::ticks(|| {
            // SAFETY: the thread does nothing, and is joined where it was made.
            unsafe {
                let mut thread = 0;
                created = libc::pthread_create(&raw mut thread, null(), at_once, null_mut());
                if created == 0 {
                    libc::pthread_join(thread, null_mut());
                }
            }
        });
        ensure(created == 0, "a thread could not be created")?;
        Ok(ticks)
    })
}

/// Ten averages, each of the report's number of repetitions.
pub(super) fn runs(stage: &Stage, mut once: impl FnMut() -> Result<i64, Failure>) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let repetitions = Repetitions::of(stage, TASKS, RUNS)?;
    let (mut values, mut all) = (vec![], vec![]);
    for _ in 0..RUNS {
        let some = (0..repetitions.count).map(|_| once()).collect::<Result<Vec<_>, _>>()?;
        values.push(some.iter().sum::<i64>() as f64 / some.len() as f64 * ns);
        all.extend(some.into_iter().map(|ticks| ticks as f64 * ns));
    }
    let series = Series::of(values).with_notes(repetitions.reduced());
    Ok(distribution(&all).into_iter().fold(series, Series::with_note))
}

/// What the averages hide: the median of all differences, and how many are negative.
fn distribution(all: &[f64]) -> Vec<String> {
    let median = statistics::median(all)
        .map(|median| quantities::value(Unit::Nanoseconds, median))
        .map(|median| format!("The median of all {} differences is {median}.", quantities::count(all.len())));
    let negative = all.iter().filter(|ns| **ns < 0.0).count();
    let early = (negative > 0).then(|| {
        format!(
            "{negative} of {} differences are negative: the new process or thread ran before the first reading.",
            all.len()
        )
    });
    median.into_iter().chain(early).collect()
}

pub(super) fn process(stage: &Stage) -> Result<Series, Failure> {
    let (reader, writer) = pipe()?;
    let (from, to) = (reader.as_raw_fd(), writer.as_raw_fd());
    runs(stage, || {
        let mut end = 0_u64;
        let start;
        // SAFETY: this process has one thread; the child reads the clock, writes eight bytes that it owns, and ends.
        let read = unsafe {
            let forked = libc::fork();
            if forked == 0 {
                end = timer::stop_with_trailing_cpuid();
                libc::write(to, (&raw const end).cast(), size_of::<u64>());
                libc::exit(1);
            }
            start = timer::start();
            errno("fork", forked)?;
            libc::wait(null_mut());
            libc::read(from, (&raw mut end).cast(), size_of::<u64>())
        };
        ensure(read == size_of::<u64>() as isize, "the child did not report when it began")?;
        Ok(end.wrapping_sub(start) as i64)
    })
}

static END: AtomicU64 = AtomicU64::new(0);

extern "C" fn foo(_: *mut libc::c_void) -> *mut libc::c_void {
    END.store(timer::stop_with_trailing_cpuid(), Ordering::Release);
    null_mut()
}

pub(super) fn thread(stage: &Stage) -> Result<Series, Failure> {
    runs(stage, || {
        let mut thread = 0;
        // SAFETY: the thread stores into a static, and is joined where it was made.
        let start = unsafe {
            let created = libc::pthread_create(&raw mut thread, null(), foo, null_mut());
            let start = timer::start();
            ensure(created == 0, "a thread could not be created")?;
            libc::pthread_join(thread, null_mut());
            start
        };
        Ok(END.load(Ordering::Acquire).wrapping_sub(start) as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_loop_goes_round_as_often_as_asked() {
        // `debug_assert` above looks at the counter.
        [0, 1, 2, 8192].into_iter().for_each(empty_loop);
    }

    #[test]
    fn what_the_averages_hide_is_noted() {
        let notes = distribution(&[-100.0, 2000.0, 3000.0, 50_000.0]);
        assert!(notes[0].contains("2.50 µs") && notes[0].contains("4 differences"), "{notes:?}");
        assert!(notes[1].starts_with("1 of 4"), "{notes:?}");
        assert_eq!(distribution(&[1.0, 2.0]).len(), 1);
    }
}
