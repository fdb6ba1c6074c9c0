//! A watcher beside work of others: a thread that sleeps, notes how late it wakes, and once a second reads what the kernel
//! counts. It costs the machine some ten microseconds a hundred times a second.
//!
//! A thread that asks for 10 ms of sleep and wakes 30 ms later was kept from its CPU: by the hypervisor, by a quota, by a
//! machine that was paused, or by more work than CPUs. Delays up to [`SCHEDULING`] are ordinary: a scheduler may let a woken
//! thread wait for the slice of another.

use super::host_counts::{HostCounts, HostSlice};
use crate::os::kernel_clock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const SLEEP: Duration = Duration::from_millis(10);

/// The longest delay that scheduling explains: some slices of a fair scheduler (3 to 4 ms on a few CPUs, sched(7)).
const SCHEDULING: Duration = Duration::from_millis(10);

/// How often the counters are read, in sleeps.
const READING: u64 = 100;

/// The slices so far, and the beginning of the current one.
#[derive(Debug)]
struct Log {
    last: HostCounts,
    slices: Vec<HostSlice>,
    wakes: u64,
    late: Duration,
    longest: Duration,
    /// CPU time of the watching thread, nanoseconds.
    watching_ns: u64,
    process: Option<u32>,
}

/// A watcher at work; it ends when it is dropped.
#[derive(Debug)]
pub struct HostWatch {
    log: Arc<Mutex<Log>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HostWatch {
    /// Starts the watcher; fails if there is no thread for it.
    pub fn begin() -> std::io::Result<Self> {
        let log = Arc::new(Mutex::new(Log {
            last: HostCounts::take(None),
            slices: vec![],
            wakes: 0,
            late: Duration::ZERO,
            longest: Duration::ZERO,
            watching_ns: 0,
            process: None,
        }));
        let (end, ended) = channel();
        let shared = Arc::clone(&log);
        let thread = std::thread::Builder::new()
            .name("fathom-watch".to_owned())
            .stack_size(128 << 10)
            .spawn(move || watch(&shared, &ended))?;
        Ok(HostWatch { log, end: Some(end), thread: Some(thread) })
    }

    /// From now on the throttling of this process's control group is counted; that of this program for `None`.
    pub fn follow(&self, process: Option<u32>) {
        self.lock().process = process;
    }

    /// Ends the current slice, and gives those since the last call.
    pub fn take(&self) -> Vec<HostSlice> {
        let mut log = self.lock();
        log.cut();
        std::mem::take(&mut log.slices)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HostWatch {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Log {
    fn cut(&mut self) {
        let now = HostCounts::take(self.process);
        let slice = HostSlice {
            wakes: std::mem::take(&mut self.wakes),
            late_s: std::mem::take(&mut self.late).as_secs_f64(),
            longest_delay_s: std::mem::take(&mut self.longest).as_secs_f64(),
            watching_s: std::mem::take(&mut self.watching_ns) as f64 / 1e9,
            ..now.since(&self.last)
        };
        self.slices.push(slice);
        self.last = now;
    }

    /// Notes a wake-up so much later than requested.
    fn woke(&mut self, delay: Duration) {
        self.wakes += 1;
        self.longest = self.longest.max(delay);
        if delay > SCHEDULING {
            self.late += delay;
        }
        if self.wakes >= READING {
            self.cut();
        }
    }
}

/// Sleeps and notes delays until the watch is dropped.
fn watch(log: &Mutex<Log>, ended: &Receiver<()>) {
    let mut before_ns = 0;
    loop {
        let began = Instant::now();
        match ended.recv_timeout(SLEEP) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return,
        }
        let delay = began.elapsed().saturating_sub(SLEEP);
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let used_ns = kernel_clock(libc::CLOCK_THREAD_CPUTIME_ID);
        log.watching_ns += used_ns - std::mem::replace(&mut before_ns, used_ns);
        log.woke(delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Log {
        let (late, longest) = (Duration::ZERO, Duration::ZERO);
        let last = HostCounts::take(None);
        Log { last, slices: vec![], wakes: 0, late, longest, watching_ns: 0, process: None }
    }

    #[test]
    fn only_delays_beyond_scheduling_are_gaps() {
        let mut log = log();
        log.woke(Duration::from_millis(9));
        log.woke(Duration::from_millis(40));
        log.cut();
        let slice = &log.slices[0];
        assert!((slice.late_s - 0.04).abs() < 1e-9, "{slice:?}");
        assert!((slice.longest_delay_s - 0.04).abs() < 1e-9 && slice.wakes == 2, "{slice:?}");
    }

    #[test]
    fn the_counters_are_read_after_every_hundredth_wake_up() {
        let mut log = log();
        (0..250).for_each(|_| log.woke(Duration::ZERO));
        assert_eq!(log.slices.iter().map(|slice| slice.wakes).collect::<Vec<_>>(), [100, 100]);
    }

    #[test]
    fn a_watch_gives_the_slice_that_has_just_ended_and_each_once() {
        let watch = HostWatch::begin().expect("a thread");
        std::thread::sleep(Duration::from_millis(50));
        let slices = watch.take();
        assert!(slices.len() == 1 && slices[0].lasted_s >= 0.05, "{slices:?}");
        assert!(slices[0].watching_s > 0.0 && slices[0].watching_s < slices[0].lasted_s, "{slices:?}");
        assert!(watch.take()[0].lasted_s < slices[0].lasted_s);
    }
}
