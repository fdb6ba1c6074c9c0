//! Section 3: CPU, scheduling and operating-system services.

#[cfg(not(target_arch = "x86_64"))]
#[path = "compiled.rs"]
pub mod unoptimised;
#[cfg(target_arch = "x86_64")]
pub mod unoptimised;

use crate::experiment::{Failure, ensure, errno};
use crate::replicate::pace::reduced;
use crate::replicate::report_000::boilerplate::{ITERATIONS, TRIALS, Timed, series, timed_once, trials};
use crate::replicate::timer::{start, stop_with_trailing_cpuid};
use crate::replicate::usage::Usage;
use crate::replicate::{Series, Stage};
use crate::sampling::partner::{Process, pipe};
use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{null, null_mut};

const INSIDE: &str = "between the readings";
const WHOLE: &str = "with what stands around them";
const AROUND: &str = "around a loop";
const STORE: &str = "loop";
const BOTH: &str = "readings and loop";

pub fn timing(stage: &Stage) -> Result<Series, Failure> {
    let (inside, whole, said) = inside(stage)?;
    let around = trials(stage, ITERATIONS, 0.1, |n| {
        unoptimised::empty(n);
        Ok(())
    })?;
    let store = trials(stage, 100_000_000, 0.4, |n| {
        unoptimised::store(n);
        Ok(())
    })?;
    let both = inside.iter().zip(&store.values).map(|(inside, store)| inside + store).collect();
    let series = Series::default().and(INSIDE, 0.0, inside).and(WHOLE, 0.0, whole);
    let series = series.and(AROUND, 0.0, around.values).and(STORE, 0.0, store.values).and(BOTH, 0.0, both);
    Ok(series.having_seen(said).having_seen(store.reduced))
}

/// The trials of the differences and of the whole time, and the sentences on reduced counts.
type Inside = (Vec<f64>, Vec<f64>, Option<String>);

/// Ten trials of the timer inside the loop: the difference that it reads, and the time of the loop, nanoseconds per iteration.
fn inside(stage: &Stage) -> Result<Inside, Failure> {
    let tick = stage.ns_per_tick()?;
    let count = stage.afforded(ITERATIONS, 0.5 / TRIALS as f64, |n| {
        pairs(n);
        Ok(())
    })?;
    let (mut read, mut whole) = (vec![], vec![]);
    for _ in 0..TRIALS {
        let mut sum = 0;
        let ticks = timed_once(|| {
            sum = pairs(count);
            Ok(())
        })?;
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

pub fn procedures(stage: &Stage) -> Result<Series, Failure> {
    let mut all = Series::default();
    for arguments in 0..=7 {
        let timed = trials(stage, ITERATIONS, 0.12, |n| {
            unoptimised::calls(arguments, n);
            Ok(())
        })?;
        all = all.and("", arguments as f64, timed.values).having_seen(timed.reduced);
    }
    Ok(all)
}

pub fn write_nothing(stage: &Stage) -> Result<Series, Failure> {
    let opened = OpenOptions::new().write(true).open("/dev/null");
    let null = opened.map_err(|error| Failure::Broke(format!("/dev/null: {error}")))?;
    let descriptor = null.as_raw_fd();
    let timed = trials(stage, ITERATIONS, 0.9, |n| {
        for _ in 0..n {
            // SAFETY: no byte of the buffer is read.
            errno("write", unsafe { libc::write(descriptor, c"".as_ptr().cast(), 0) })?;
        }
        Ok(())
    })?;
    Ok(series(timed))
}

extern "C" fn enter(_: *mut libc::c_void) -> *mut libc::c_void {
    null_mut()
}

pub fn threads(stage: &Stage) -> Result<Series, Failure> {
    let timed = trials(stage, 10_000, 0.9, |n| {
        for _ in 0..n {
            create_and_join()?;
        }
        Ok(())
    })?;
    Ok(series(timed))
}

fn create_and_join() -> Result<(), Failure> {
    // SAFETY: the thread takes nothing and is joined before its id goes.
    unsafe {
        let mut thread: libc::pthread_t = std::mem::zeroed();
        let created = libc::pthread_create(&raw mut thread, null(), enter, null_mut());
        ensure(created == 0, "pthread_create failed: raise the limit on tasks (ulimit -u, pids cgroup)")?;
        ensure(libc::pthread_join(thread, null_mut()) == 0, "pthread_join failed")
    }
}

pub fn processes(stage: &Stage) -> Result<Series, Failure> {
    let timed = trials(stage, 100, 0.9, |n| {
        for _ in 0..n {
            fork_and_wait()?;
        }
        Ok(())
    })?;
    Ok(series(timed))
}

fn fork_and_wait() -> Result<(), Failure> {
    // SAFETY: this process has one thread, so its child may call what it likes; it calls exit alone.
    unsafe {
        if errno("fork", libc::fork())? == 0 {
            libc::exit(0);
        }
        errno("wait", libc::wait(null_mut())).map(drop)
    }
}

const ALONE: &str = "pipe alone";
const BETWEEN_THREADS: &str = "threads";
const BETWEEN_PROCESSES: &str = "processes";
const THREADS_LESS: &str = "threads less pipe";
const PROCESSES_LESS: &str = "processes less pipe";

pub fn switches(stage: &Stage) -> Result<Series, Failure> {
    let alone = pipe_alone(stage)?;
    let (threads, seen_of_threads) = counted("Between threads", 2.0, || between_threads(stage))?;
    let (processes, seen_of_processes) = counted("Between processes", 1.0, || between_processes(stage))?;
    let pipe = alone.values.iter().sum::<f64>() / alone.values.len() as f64;
    let less = |timed: &Timed| timed.values.iter().map(|value| value - pipe).collect();
    let (threads_less, processes_less) = (less(&threads), less(&processes));
    let said = [alone.reduced, threads.reduced, processes.reduced].into_iter().flatten();
    let series = Series::default()
        .and(ALONE, 0.0, alone.values)
        .and(BETWEEN_THREADS, 0.0, threads.values)
        .and(BETWEEN_PROCESSES, 0.0, processes.values)
        .and(THREADS_LESS, 0.0, threads_less)
        .and(PROCESSES_LESS, 0.0, processes_less);
    Ok(series.having_seen(said).seen(seen_of_threads).seen(seen_of_processes))
}

/// Trials, with the switches of this process that the kernel counted per iteration; `proving` switches would prove that an
/// iteration is two.
fn counted(
    between: &str,
    proving: f64,
    measure: impl FnOnce() -> Result<(Timed, Usage, u64), Failure>,
) -> Result<(Timed, String), Failure> {
    let (timed, usage, iterations) = measure()?;
    let each = usage.switches() as f64 / iterations as f64;
    let told = format!(
        "{between}, the kernel counted {each:.2} switches of the measuring process per iteration; {proving} would prove that an iteration \
         is two switches"
    );
    Ok((timed, told + "."))
}

fn write_byte(descriptor: &OwnedFd) -> Result<(), Failure> {
    // SAFETY: one byte of a constant is read.
    let wrote = errno("write", unsafe { libc::write(descriptor.as_raw_fd(), c"x".as_ptr().cast(), 1) })?;
    ensure(wrote == 1, "a pipe accepted no byte")
}

fn read_byte(descriptor: &OwnedFd) -> Result<(), Failure> {
    let mut byte = 0_u8;
    // SAFETY: the buffer has room for the byte.
    let read = errno("read", unsafe { libc::read(descriptor.as_raw_fd(), (&raw mut byte).cast(), 1) })?;
    ensure(read == 1, "the other side has ended")
}

fn pipe_alone(stage: &Stage) -> Result<Timed, Failure> {
    let (from, to) = pipe()?;
    trials(stage, ITERATIONS, 0.2, |n| {
        for _ in 0..n {
            write_byte(&to)?;
            read_byte(&from)?;
        }
        Ok(())
    })
}

/// The two pipe ends of one side.
struct Ends {
    from: OwnedFd,
    to: OwnedFd,
}

fn two_sides() -> Result<(Ends, Ends), Failure> {
    let ((from_first, to_second), (from_second, to_first)) = (pipe()?, pipe()?);
    Ok((Ends { from: from_second, to: to_second }, Ends { from: from_first, to: to_first }))
}

/// The side that begins, for so many iterations.
fn produce(ends: &Ends, n: u64) -> Result<(), Failure> {
    for _ in 0..n {
        write_byte(&ends.to)?;
        read_byte(&ends.from)?;
    }
    Ok(())
}

/// The other side, which answers until the first has closed its pipe.
fn consume(ends: &Ends) {
    while read_byte(&ends.from).and_then(|()| write_byte(&ends.to)).is_ok() {}
}

/// Trials of the side that begins, with what the kernel counted in all of its iterations.
fn watched(stage: &Stage, ends: &Ends) -> Result<(Timed, Usage, u64), Failure> {
    let (before, mut iterations) = (Usage::now(), 0);
    let timed = trials(stage, ITERATIONS, 0.35, |n| {
        iterations += n;
        produce(ends, n)
    })?;
    Ok((timed, Usage::now().since(before), iterations))
}

fn between_processes(stage: &Stage) -> Result<(Timed, Usage, u64), Failure> {
    let (first, second) = two_sides()?;
    let _second = Process::start(stage.site.partner, move || {
        consume(&second);
        Ok(())
    })?;
    watched(stage, &first)
}

fn between_threads(stage: &Stage) -> Result<(Timed, Usage, u64), Failure> {
    let (first, second) = two_sides()?;
    std::thread::scope(|scope| {
        scope.spawn(move || consume(&second));
        let found = watched(stage, &first);
        // When the ends are closed, the other thread reads the end of the pipe and ends.
        drop(first);
        found
    })
}
