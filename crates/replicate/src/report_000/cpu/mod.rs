//! Section 3: CPU, scheduling and operating-system services.

#[cfg(not(target_arch = "x86_64"))]
#[path = "compiled.rs"]
pub mod unoptimised;
#[cfg(target_arch = "x86_64")]
pub mod unoptimised;

use crate::operations::broke;
use crate::protocol::{ITERATIONS, LoopTrials, TRIALS, loop_trials, reduced, unsigned_ticks};
use crate::timer::{start, stop_with_trailing_cpuid};
use crate::usage::Usage;
use crate::{Series, Stage, tasks};
use fathom_core::experiment::{Failure, errno};
use fathom_core::quantities;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_core::sampling::turn::{self, AnyEnd};
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

pub(super) fn timing(stage: &Stage) -> Result<Series, Failure> {
    let (inside, whole, reduced) = inside(stage)?;
    let around = loop_trials(stage, ITERATIONS, 0.1, |n| {
        unoptimised::empty(n);
        Ok(())
    })?;
    let store = loop_trials(stage, 100_000_000, 0.4, |n| {
        unoptimised::store(n);
        Ok(())
    })?;
    let both = inside.iter().zip(&store.values).map(|(inside, store)| inside + store).collect();
    let series = Series::default()
        .and("between the readings", 0.0, inside)
        .and("with what stands around them", 0.0, whole)
        .and("around a loop", 0.0, around.values)
        .and("loop", 0.0, store.values)
        .and("readings and loop", 0.0, both);
    Ok(series.with_notes(reduced).with_notes(store.reduced))
}

/// The trials of the differences and of the whole time, and the sentences on reduced counts.
type Inside = (Vec<f64>, Vec<f64>, Option<String>);

/// Ten trials of the timer inside the loop: the difference that it reads, and the time of the loop, nanoseconds per iteration.
fn inside(stage: &Stage) -> Result<Inside, Failure> {
    let tick = stage.ns_per_tick()?;
    let count = stage.count_within_budget(ITERATIONS, 0.5 / TRIALS as f64, |n| {
        pairs(n);
        Ok(())
    })?;
    let (mut read, mut whole) = (vec![], vec![]);
    for _ in 0..TRIALS {
        let mut sum = 0;
        let ticks = unsigned_ticks(|| sum = pairs(count));
        read.push(sum as f64 * tick / count as f64);
        whole.push(ticks * tick / count as f64);
    }
    Ok((read, whole, reduced("timed blocks per trial", ITERATIONS, count)))
}

/// Reads the timer `n` times with nothing to be timed: the sum of the ticks between the two readings.
fn pairs(n: u64) -> u64 {
    let mut sum: u64 = 0;
    for _ in 0..n {
        let began = start();
        sum = sum.wrapping_add(stop_with_trailing_cpuid().wrapping_sub(began));
    }
    sum
}

pub(super) fn procedures(stage: &Stage) -> Result<Series, Failure> {
    let mut all = Series::default();
    for arguments in 0..=7 {
        let timed = loop_trials(stage, ITERATIONS, 0.12, |n| {
            unoptimised::calls(arguments, n);
            Ok(())
        })?;
        all = all.and("", arguments as f64, timed.values).with_notes(timed.reduced);
    }
    Ok(all)
}

pub(super) fn write_nothing(stage: &Stage) -> Result<Series, Failure> {
    let null = OpenOptions::new().write(true).open("/dev/null").map_err(broke("/dev/null"))?;
    let descriptor = null.as_raw_fd();
    let timed = loop_trials(stage, ITERATIONS, 0.9, |n| {
        for _ in 0..n {
            // SAFETY: no byte of the buffer is read.
            errno("write", unsafe { libc::write(descriptor, c"".as_ptr().cast(), 0) })?;
        }
        Ok(())
    })?;
    Ok(timed.into())
}

pub(super) fn threads(stage: &Stage) -> Result<Series, Failure> {
    let one = || tasks::thread().and_then(tasks::join);
    Ok(loop_trials(stage, 10_000, 0.9, |n| (0..n).try_for_each(|_| one()))?.into())
}

pub(super) fn processes(stage: &Stage) -> Result<Series, Failure> {
    let timed = loop_trials(stage, 100, 0.9, |n| {
        for _ in 0..n {
            // SAFETY: this process has one thread, so its child may call what it likes; it calls exit alone.
            unsafe {
                if errno("fork", libc::fork())? == 0 {
                    libc::exit(0);
                }
                errno("wait", libc::wait(null_mut()))?;
            }
        }
        Ok(())
    })?;
    Ok(timed.into())
}

pub(super) fn switches(stage: &Stage) -> Result<Series, Failure> {
    let alone = pipe_alone(stage)?;
    let (threads, thread_switches) = counted("Between threads", 2.0, between_threads(stage)?);
    let (processes, process_switches) = counted("Between processes", 1.0, between_processes(stage)?);
    let pipe = alone.values.iter().sum::<f64>() / alone.values.len() as f64;
    let less = |timed: &LoopTrials| timed.values.iter().map(|value| value - pipe).collect();
    let (threads_less, processes_less) = (less(&threads), less(&processes));
    let reduced = [alone.reduced, threads.reduced, processes.reduced].into_iter().flatten();
    let series = Series::default()
        .and("pipe alone", 0.0, alone.values)
        .and("threads", 0.0, threads.values)
        .and("processes", 0.0, processes.values)
        .and("threads less pipe", 0.0, threads_less)
        .and("processes less pipe", 0.0, processes_less);
    Ok(series.with_notes(reduced).with_note(thread_switches).with_note(process_switches))
}

/// Trials, with the switches of this process that the kernel counted per iteration; `proving` switches would prove that an
/// iteration is two.
fn counted(between: &str, proving: f64, (timed, usage, iterations): SwitchingTrials) -> (LoopTrials, String) {
    let each = quantities::number(usage.switches() as f64 / iterations as f64);
    let sentence = format!(
        "{between}, the kernel counted {each} switches of the measuring process per iteration; {proving} would prove that an iteration \
         is two switches."
    );
    (timed, sentence)
}

fn pipe_alone(stage: &Stage) -> Result<LoopTrials, Failure> {
    let mut own = turn::pipe_to_self()?;
    loop_trials(stage, ITERATIONS, 0.2, |n| (0..n).try_for_each(|_| own.give().and_then(|()| own.wait())))
}

/// Trials of the side that begins, with what the kernel counted in all of its iterations, and how many these were.
type SwitchingTrials = (LoopTrials, Usage, u64);

fn watched(stage: &Stage, mut near: AnyEnd) -> Result<SwitchingTrials, Failure> {
    let (before, mut iterations) = (Usage::now(), 0);
    let timed = loop_trials(stage, ITERATIONS, 0.35, |n| {
        iterations += n;
        (0..n).try_for_each(|_| near.give().and_then(|()| near.wait()))
    })?;
    Ok((timed, Usage::now().since(before), iterations))
}

fn between_processes(stage: &Stage) -> Result<SwitchingTrials, Failure> {
    let (near, far) = turn::pipes()?;
    let _other = PartnerProcess::start(stage.site.partner, move || turn::echo(far))?;
    watched(stage, near)
}

fn between_threads(stage: &Stage) -> Result<SwitchingTrials, Failure> {
    let (near, far) = turn::pipes()?;
    std::thread::scope(|scope| {
        // It ends with the other side, at the end of the pipe.
        scope.spawn(move || turn::echo(far));
        watched(stage, near)
    })
}
