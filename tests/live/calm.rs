//! Whether the machine was calm while a test ran: what others took of its CPUs, by the kernel's own account, and whether
//! another hardware thread used a core, by a stream of additions beside a chain of them.
//!
//! Cores are read at both ends of a test and once a second between them: another guest comes and goes for seconds. What a
//! reading of a core alone is like is known from all readings of the program, so that a core that is shared all the time
//! of a test is not the usual one.

use fathom::sampling::clock::MonotonicRaw;
use fathom::sampling::{affinity, occupancy};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What others may take of one CPU's time before they are an excuse.
const TAKEN: f64 = 0.02;

/// A share of readings in which another hardware thread used the core that is an excuse.
const SHARED: f64 = 0.05;

/// Readings of each core at a time: half a microsecond each.
const READINGS: usize = 20;

/// The time between two looks at the cores.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// Readings of all tests so far.
static KNOWN: Mutex<Vec<f64>> = Mutex::new(Vec::new());

/// A look at the machine's accounts.
pub struct Watch {
    began: Instant,
    busy_s: f64,
    own_s: f64,
    throttled: u64,
    cores: CoreWatch,
}

impl Watch {
    pub fn begin() -> Self {
        Watch {
            began: Instant::now(),
            busy_s: busy_seconds(),
            own_s: own_seconds(),
            throttled: throttled_periods(),
            cores: CoreWatch::begin(),
        }
    }

    /// What disturbed since the beginning, in words; `None` where nothing did.
    pub fn disturbance(self) -> Option<String> {
        let wall = self.began.elapsed().as_secs_f64();
        let others = (busy_seconds() - self.busy_s) - (own_seconds() - self.own_s);
        if others > TAKEN * wall {
            return Some(format!("others, or the host, took {:.0} % of a CPU", 100.0 * others / wall));
        }
        let throttled = throttled_periods() - self.throttled;
        if throttled > 0 {
            return Some(format!("throttled by a CPU quota in {throttled} periods"));
        }
        let shared = shared(&self.cores.end());
        (shared > SHARED).then(|| format!("the core was shared in {:.0} % of readings", 100.0 * shared))
    }
}

/// Time that all CPUs were busy or taken by the host since the start of the machine, seconds.
fn busy_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let ticks: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    // user, nice, system, irq, softirq, steal; idle and iowait (3, 4) are nobody's.
    let busy: f64 = [0, 1, 2, 5, 6, 7].iter().filter_map(|field| ticks.get(*field)).sum();
    // SAFETY: asks for a number.
    busy / unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64
}

/// CPU time of this program and of the children that it has waited for, seconds.
fn own_seconds() -> f64 {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(used_by).iter().sum()
}

fn used_by(whom: libc::c_int) -> f64 {
    // SAFETY: zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place for it.
    unsafe { libc::getrusage(whom, &raw mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// How often a CPU quota has stopped the control group that this program is in, by its nearest account.
fn throttled_periods() -> u64 {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let paths = groups.lines().filter_map(|line| line.rsplit(':').next());
    let read = |path: &str| {
        let stat = std::fs::read_to_string(format!("/sys/fs/cgroup{path}/cpu.stat"))
            .or_else(|_| std::fs::read_to_string(format!("/sys/fs/cgroup/cpu{path}/cpu.stat")))
            .ok()?;
        stat.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse().ok())
    };
    paths.filter_map(read).max().unwrap_or(0)
}

/// A thread that reads the cores now and then.
struct CoreWatch {
    ended: Sender<()>,
    thread: JoinHandle<Vec<f64>>,
}

impl CoreWatch {
    fn begin() -> Self {
        let (ended, end) = channel();
        let thread = std::thread::spawn(move || {
            let cpus = affinity::current();
            let mut quotients = quotients(&cpus);
            while end.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                quotients.extend(self::quotients(&cpus));
            }
            quotients.extend(self::quotients(&cpus));
            quotients
        });
        CoreWatch { ended, thread }
    }

    fn end(self) -> Vec<f64> {
        drop(self.ended);
        self.thread.join().unwrap_or_default()
    }
}

/// Readings of each of these CPUs' cores.
fn quotients(cpus: &[usize]) -> Vec<f64> {
    let read = |cpu: &usize| {
        affinity::set(&[*cpu]);
        (0..READINGS).map(|_| occupancy::quotient(occupancy::read(&MonotonicRaw, 1))).collect::<Vec<_>>()
    };
    cpus.iter().flat_map(read).filter(|one| one.is_finite()).collect()
}

/// The share of readings that are far above the least usual one that was ever met, as with another thread on the core.
fn shared(quotients: &[f64]) -> f64 {
    /// Alone and shared differ by a third at least, on every core that was met.
    const ABOVE: f64 = 1.2;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.extend(quotients);
    known.sort_by(f64::total_cmp);
    let Some(usual) = known.get(known.len() / 20) else { return 0.0 };
    let above = quotients.iter().filter(|quotient| **quotient > ABOVE * usual).count();
    above as f64 / quotients.len().max(1) as f64
}
