//! Requests of a process whose processor time has a quota.

use super::requests::{RequestWork, WORK_NS, series};
use super::wake::{Intervals, without_slack};
use crate::apparatus::cpu::quota_group::{Periods, QuotaGroup};
use fathom_core::prelude::*;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_core::sampling::shared_memory::{Shareable, shared_memory};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The quota of a period, microseconds: half a CPU. Short against the 100 ms of containers, so that a trial has many.
pub const PERIOD_US: u64 = 20_000;
pub const QUOTA_US: u64 = PERIOD_US / 2;
/// The quota as a share of a CPU.
pub const SHARE: f64 = QUOTA_US as f64 / PERIOD_US as f64;

/// Requests of a series: some hundred milliseconds.
pub const REQUESTS: usize = 500;

/// Periods that a series takes, whose requests use such a share of the quota.
pub fn periods_of_a_series(used_share: f64) -> f64 {
    REQUESTS as f64 * WORK_NS / (used_share.min(1.0) * QUOTA_US as f64 * 1e3)
}

/// The time between two looks at whether a series is complete.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Witnesses: nanoseconds of a CPU that the process used, and that passed meanwhile; periods of the quota; those throttled.
pub const USED: &str = "processor_time_ns";
pub const PASSED: &str = "nanoseconds_meanwhile";
pub const PERIODS: &str = "periods";
pub const THROTTLES: &str = "throttled_periods";

/// What the process is asked for, and what it tells.
struct SeriesBoard {
    /// Series asked for, and complete.
    requested: AtomicU64,
    complete: AtomicU64,
    used_ns: AtomicU64,
    passed_ns: AtomicU64,
    /// The lateness of each request of the last series, as the bits of a number.
    late: [AtomicU64; REQUESTS],
}

// SAFETY: only atomics, for which zero is a valid value.
unsafe impl Shareable for SeriesBoard {}

#[derive(Debug, Default)]
struct QuotaCounts {
    used: Cell<f64>,
    passed: Cell<f64>,
    periods: Cell<f64>,
    throttled: Cell<f64>,
}

/// The process in its group. It is killed before the group is removed.
pub struct UnderQuota {
    board: &'static SeriesBoard,
    process: PartnerProcess,
    group: QuotaGroup,
    counts: Rc<QuotaCounts>,
}

/// A series: how late each request began, nanoseconds, and the periods meanwhile.
pub struct QuotaSeries {
    pub late_ns: Vec<f64>,
    pub throttled_share: f64,
}

impl UnderQuota {
    /// A process on this CPU whose requests use such a share of its quota on average.
    pub fn start(cpu: Option<usize>, used_share: f64, site: &Site) -> Result<Self, Failure> {
        let group = QuotaGroup::new(QUOTA_US, PERIOD_US)?;
        let board: &'static SeriesBoard =
            shared_memory().map_err(|error| Failure::Broke(format!("shared memory: {error}")))?;
        let (watch, seed, work) = (site.stopwatch, site.seed, RequestWork::new(site.stopwatch));
        let process = PartnerProcess::start(cpu, move || {
            without_slack()?;
            let mut intervals = Intervals::new(WORK_NS / (used_share * SHARE), seed);
            loop {
                wait_for(|| board.requested.load(Ordering::Acquire) > board.complete.load(Ordering::Acquire));
                serve(board, &mut intervals, work, watch)?;
            }
        })?;
        let counts = Rc::default();
        let started = UnderQuota { board, process, group, counts };
        started.group.take(started.process.id())?;
        Ok(started)
    }

    pub fn next(&self) -> Result<QuotaSeries, Failure> {
        let before = self.group.periods()?;
        let number = self.board.requested.fetch_add(1, Ordering::AcqRel) + 1;
        wait_for(|| self.board.complete.load(Ordering::Acquire) >= number);
        let periods = self.group.periods()?;
        let passed =
            Periods { all: periods.all - before.all, throttled: periods.throttled - before.throttled };
        let add = |to: &Cell<f64>, count: u64| to.set(to.get() + count as f64);
        add(&self.counts.used, self.board.used_ns.load(Ordering::Acquire));
        add(&self.counts.passed, self.board.passed_ns.load(Ordering::Acquire));
        add(&self.counts.periods, passed.all);
        add(&self.counts.throttled, passed.throttled);
        let late = self.board.late.iter().map(|ns| f64::from_bits(ns.load(Ordering::Acquire)));
        let throttled_share = passed.throttled as f64 / passed.all.max(1) as f64;
        Ok(QuotaSeries { late_ns: late.collect(), throttled_share })
    }

    pub fn account(&self) -> impl FnMut() -> Vec<(&'static str, f64)> + use<> {
        let counts = Rc::clone(&self.counts);
        move || {
            vec![
                (USED, counts.used.get()),
                (PASSED, counts.passed.get()),
                (PERIODS, counts.periods.get()),
                (THROTTLES, counts.throttled.get()),
            ]
        }
    }
}

fn wait_for(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn serve(
    board: &SeriesBoard,
    intervals: &mut Intervals,
    work: RequestWork,
    watch: &dyn Stopwatch,
) -> Result<(), Failure> {
    let (used, began) = (processor_ns(), watch.now_ns());
    let requests = series(REQUESTS, || intervals.independent(), work, watch)?;
    board.passed_ns.store((watch.now_ns() - began) as u64, Ordering::Release);
    board.used_ns.store(processor_ns() - used, Ordering::Release);
    for (request, place) in requests.iter().zip(&board.late) {
        place.store((request.began - request.due).to_bits(), Ordering::Release);
    }
    board.complete.fetch_add(1, Ordering::AcqRel);
    Ok(())
}

/// Time of this process on a CPU, nanoseconds, by the kernel's account.
fn processor_ns() -> u64 {
    // SAFETY: an rusage is plain integers, for which zero is valid, and it is alive during the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let ns = |time: libc::timeval| (time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64) * 1000;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}
