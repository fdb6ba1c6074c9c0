//! A running service: its port, its counts, its threads, and how they are ended.

use super::arrivals::{Arrival, Arrivals};
use super::place::Place;
use fathom_core::experiment::Failure;
use fathom_core::sampling::affinity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServiceReport {
    pub connections: u64,
    /// Messages or datagrams handled completely.
    pub messages: u64,
    pub received_bytes: u64,
    pub sent_bytes: u64,
    /// Those of them that were sent in the beginnings of streams, if it counts from their ends.
    #[serde(default)]
    pub beginning_bytes: u64,
    /// The arrival of received bytes over time, if the service records it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<Arrival>,
    /// Processor time of the service's process during the service, nanoseconds; absent if the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The failure, in the service's words; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

type Wake = Box<dyn Fn() + Send>;

/// The counts of a service's threads, and the signal that ends them.
pub struct ServiceTally {
    ending: AtomicBool,
    began: Instant,
    pub connections: AtomicU64,
    /// Messages or datagrams handled completely.
    pub messages: AtomicU64,
    pub received_bytes: AtomicU64,
    pub sent_bytes: AtomicU64,
    /// Those of them that were sent in the beginnings of streams.
    pub beginning_bytes: AtomicU64,
    arrivals: Mutex<Arrivals>,
    failure: Mutex<Option<String>>,
    /// Functions that wake a thread waiting for its socket.
    wakers: Mutex<BTreeMap<u64, Wake>>,
}

impl ServiceTally {
    fn new() -> Self {
        ServiceTally {
            ending: AtomicBool::new(false),
            began: Instant::now(),
            connections: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            beginning_bytes: AtomicU64::new(0),
            arrivals: Mutex::new(Arrivals::default()),
            failure: Mutex::new(None),
            wakers: Mutex::new(BTreeMap::new()),
        }
    }

    /// Whether the service must end.
    pub fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Records that all bytes received so far have arrived by now; returns the time in nanoseconds since the service began.
    pub fn arrived(&self) -> u64 {
        let mut arrivals = locked(&self.arrivals);
        // Read under the lock, so that the threads' entries are in order of time.
        let at_ns = self.began.elapsed().as_nanos() as u64;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        arrivals.push(Arrival { at_ns, bytes: count(&self.received_bytes), reads: count(&self.messages) });
        at_ns
    }

    /// Registers `wake`, called when the service ends, or at once if it is ending already, to make a thread that waits for
    /// its socket check again. Deregistered when the guard is dropped.
    pub fn on_end(self: &Arc<Self>, wake: impl Fn() + Send + 'static) -> Waking {
        let mut wakers = locked(&self.wakers);
        // Checked under the lock: `end` raises the flag before it takes the lock, so one of the two calls `wake`.
        if self.is_ending() {
            wake();
        }
        let number = wakers.last_key_value().map_or(0, |(last, _)| last + 1);
        wakers.insert(number, Box::new(wake));
        Waking { tally: Arc::clone(self), number }
    }

    fn end(&self) {
        self.ending.store(true, Ordering::Release);
        locked(&self.wakers).values().for_each(|wake| wake());
    }

    fn broke(&self, failure: &Failure) {
        // Failures while the service ends come from shutting its sockets.
        if !self.is_ending() {
            locked(&self.failure).get_or_insert(failure.to_string());
        }
    }

    fn report(&self, cpu_ns: Option<u64>) -> ServiceReport {
        let count = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        ServiceReport {
            connections: count(&self.connections),
            messages: count(&self.messages),
            received_bytes: count(&self.received_bytes),
            sent_bytes: count(&self.sent_bytes),
            beginning_bytes: count(&self.beginning_bytes),
            arrivals: locked(&self.arrivals).take(),
            cpu_ns,
            failure: locked(&self.failure).clone(),
        }
    }
}

/// While this exists, the end of the service wakes a thread.
pub struct Waking {
    tally: Arc<ServiceTally>,
    number: u64,
}

impl Drop for Waking {
    fn drop(&mut self) {
        locked(&self.tally.wakers).remove(&self.number);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A thread that panicked while counting leaves consistent numbers.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A service that runs until this handle is stopped or dropped.
pub struct Running {
    port: u16,
    tally: Arc<ServiceTally>,
    threads: Vec<JoinHandle<()>>,
    used_before: Option<Duration>,
}

impl Running {
    /// A service that listens on `port`, without threads yet.
    pub fn new(port: u16) -> Self {
        Running { port, tally: Arc::new(ServiceTally::new()), threads: vec![], used_before: processor_time() }
    }

    /// Starts one of its threads, pinned if the place has a CPU.
    pub fn thread(
        &mut self,
        place: &Place,
        work: impl FnOnce(&Arc<ServiceTally>) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let (tally, cpu) = (Arc::clone(&self.tally), place.cpu);
        let run = move || {
            let done = cpu.map_or(Ok(()), affinity::pin).and_then(|()| work(&tally));
            if let Err(failure) = done {
                tally.broke(&failure);
            }
        };
        let named = std::thread::Builder::new().name("service".to_owned()).stack_size(128 << 10);
        let thread = named.spawn(run).map_err(|error| {
            Failure::Broke(format!("a thread for the service could not be made: {error}"))
        })?;
        self.threads.push(thread);
        Ok(())
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The state shared by its threads.
    pub fn tally(&self) -> &Arc<ServiceTally> {
        &self.tally
    }

    /// Bytes moved so far, in both directions together.
    pub fn moved_bytes(&self) -> u64 {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        count(&self.tally.received_bytes) + count(&self.tally.sent_bytes)
    }

    /// Ends it, waits for its threads, and returns its counts.
    pub fn stop(mut self) -> ServiceReport {
        self.end();
        let used = processor_time().zip(self.used_before);
        self.tally.report(used.map(|(after, before)| after.saturating_sub(before).as_nanos() as u64))
    }

    fn end(&mut self) {
        self.tally.end();
        for thread in self.threads.drain(..) {
            // A panic of a thread is ignored here.
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Processor time of this process, in user mode and in the kernel together; `None` if the system does not report it.
pub fn processor_time() -> Option<Duration> {
    // SAFETY: a rusage is plain integers, which the call fills.
    let (code, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_SELF, &raw mut usage), usage)
    };
    let time = |of: libc::timeval| Duration::new(of.tv_sec as u64, of.tv_usec as u32 * 1000);
    (code == 0).then(|| time(usage.ru_utime) + time(usage.ru_stime))
}
