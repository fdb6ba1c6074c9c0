//! Threads that do the same operation at the same time, each on its own CPU, and count how often.
//!
//! The measuring thread is one of them, so that no further thread needs a CPU. They exist before anything is timed. In a round all
//! begin together, and what is timed begins when each of them has counted, and ends before any of them stops: only time in which
//! all of them run counts. Between two rounds they spin.

use super::thread_checks::{CPUS, ELSEWHERE, OPERATIONS, PREEMPTED, ROUNDS, TOTAL};
use fathom_core::prelude::*;
use fathom_core::sampling::{OnCpu, affinity, partner};
use fathom_core::statistics;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};

/// What the threads do together.
pub trait CommonWork: Send + Sync {
    /// Does it so many times, as the thread with this number.
    fn repeat(&self, member: usize, operations: u64);

    /// How often the work itself says that it was done; all threads rest meanwhile.
    fn total(&self) -> u64;

    /// Operations after which a thread counts and looks whether the round is over.
    fn piece(&self) -> u64 {
        PIECE
    }
}

/// Of short operations, so many: the look costs little beside them.
pub const PIECE: u64 = 16;

/// How long the measuring thread works between two looks at the clock, nanoseconds: long against the look.
const BETWEEN_LOOKS_NS: f64 = 5e3;

/// The most operations between two looks: so many of the shortest take longer than that.
const MOST_IN_A_PIECE: u64 = 1 << 14;

/// The most operations of a round that are timed one by one, so that a trial has some hundreds: each is a pause as well.
const MOST_SINGLES: usize = 15;

/// The number of the last round: the threads end.
const END: u64 = u64::MAX;

/// One thread's account, in lines of its own: two, for processors that fetch lines in pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Contender {
    operations: AtomicU64,
    /// The last round after which it rests.
    rests_after: AtomicU64,
    rounds: AtomicU64,
    elsewhere: AtomicU64,
    preempted: AtomicU64,
    ended: AtomicBool,
}

/// The number of the round: odd while the threads work.
#[repr(align(128))]
#[derive(Debug, Default)]
struct RoundNumber(AtomicU64);

struct Team {
    work: Box<dyn CommonWork>,
    round: RoundNumber,
    members: Vec<Contender>,
    cpus: Vec<usize>,
}

/// The threads; they end when it is dropped.
pub struct Contenders {
    team: Arc<Team>,
    round: u64,
    /// Operations of the measuring thread between two looks at the clock.
    piece: u64,
    /// The cost of a look at the clock, nanoseconds.
    look_ns: f64,
    /// A thread that sleeps until this is dropped: a process of one thread has locks of the C library that lock nothing.
    _second_thread: Sender<()>,
}

/// What was done in a time in which all threads worked.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonTime {
    /// Its length, nanoseconds.
    pub lasted_ns: f64,
    /// Operations of each thread.
    pub operations: Vec<u64>,
    /// The time of some operations of the measuring thread, nanoseconds.
    pub singles_ns: Vec<f64>,
}

impl CommonTime {
    /// Time per operation of all threads together, nanoseconds; `None` if there was none.
    pub fn per_operation(&self) -> Option<f64> {
        let all: u64 = self.operations.iter().sum();
        (all > 0).then(|| self.lasted_ns / all as f64)
    }

    /// By how much the share of the thread with fewest operations is below an equal share, in parts of that.
    pub fn shortfall(&self) -> Option<f64> {
        let equal = self.operations.iter().sum::<u64>() as f64 / self.operations.len() as f64;
        let fewest = self.operations.iter().copied().min()? as f64;
        (equal > 0.0).then(|| 1.0 - fewest / equal)
    }
}

impl Contenders {
    /// A thread on each of these CPUs; the first is the calling one.
    pub fn start(cpus: &[usize], work: Box<dyn CommonWork>, clock: &dyn Stopwatch) -> Result<Self, Failure> {
        let home = cpus.first().ok_or_else(|| Failure::Broke("there is no thread".to_owned()))?;
        affinity::pin(*home)?;
        let (members, piece) = (cpus.iter().map(|_| Contender::default()).collect(), work.piece());
        let team = Arc::new(Team { work, round: RoundNumber::default(), members, cpus: cpus.to_vec() });
        let (look_ns, asleep) = (look_ns(clock), sleeping_thread()?);
        let contenders = Contenders { team, round: 0, piece, look_ns, _second_thread: asleep };
        for (member, cpu) in cpus.iter().enumerate().skip(1) {
            let (team, cpu) = (Arc::clone(&contenders.team), *cpu);
            let thread = partner::thread(None, move || {
                let served = affinity::pin(cpu).map(|()| team.serve(member));
                team.members[member].end();
                served
            });
            // The threads that there are not need not be waited for.
            let never = |_: &Failure| contenders.team.members[member..].iter().for_each(Contender::end);
            thread.inspect_err(never)?;
        }
        Ok(contenders)
    }

    /// A round in which all work for this time together; some operations of this thread are timed one by one if `singles`.
    pub fn together(
        &mut self,
        for_ns: f64,
        singles: bool,
        clock: &dyn Stopwatch,
    ) -> Result<CommonTime, Failure> {
        let team = Arc::clone(&self.team);
        let (before, on_cpu) = (team.operations(), OnCpu::begin());
        self.begin()?;
        while team.operations().iter().zip(&before).skip(1).any(|(now, before)| now <= before) {
            team.ensure_all_run()?;
            team.work(0, team.work.piece());
        }
        let (began, first) = (clock.now_ns(), team.operations());
        let singles_ns = self.work_until(began + for_ns, singles, clock);
        let (ended, last) = (clock.now_ns(), team.operations());
        self.end()?;
        team.members[0].account(team.cpus[0], on_cpu);
        let operations = last.iter().zip(&first).map(|(last, first)| last - first).collect();
        Ok(CommonTime { lasted_ns: ended - began, operations, singles_ns })
    }

    /// The part of the measuring thread, whose pieces grow until they are long against a look at the clock.
    fn work_until(&mut self, until: f64, singles: bool, clock: &dyn Stopwatch) -> Vec<f64> {
        let (mut times, mut now) = (vec![], clock.now_ns());
        while now < until {
            self.team.work(0, self.piece);
            let then = std::mem::replace(&mut now, clock.now_ns());
            self.piece = next_piece(self.piece, now - then);
            if singles && times.len() < MOST_SINGLES {
                let began = clock.now_ns();
                self.team.work(0, 1);
                now = clock.now_ns();
                times.push(without_grain(now - began - self.look_ns));
            }
        }
        times
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.team.ensure_all_run()?;
        self.round += 1;
        self.team.round.0.store(self.round, Ordering::Release);
        Ok(())
    }

    /// Ends the round, and returns when all rest.
    fn end(&mut self) -> Result<(), Failure> {
        let round = self.round;
        self.round += 1;
        self.team.round.0.store(self.round, Ordering::Release);
        let rests = |member: &Contender| member.rests_after.load(Ordering::Acquire) == round;
        while !self.team.members.iter().skip(1).all(rests) {
            self.team.ensure_all_run()?;
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Counts for the evidence; all threads rest while they are read.
    pub fn account(&self) -> Vec<(&'static str, f64)> {
        let sum = |of: fn(&Contender) -> &AtomicU64| {
            self.team.members.iter().map(|member| of(member).load(Ordering::Acquire)).sum::<u64>() as f64
        };
        vec![
            (OPERATIONS, sum(|member| &member.operations)),
            (TOTAL, self.team.work.total() as f64),
            (ROUNDS, sum(|member| &member.rounds)),
            (ELSEWHERE, sum(|member| &member.elsewhere)),
            (PREEMPTED, sum(|member| &member.preempted)),
        ]
    }

    /// The number of different CPUs of the threads.
    pub fn cpus(&self) -> f64 {
        self.team.cpus.iter().collect::<BTreeSet<_>>().len() as f64
    }
}

/// The time per operation of all threads together, `times` over, in rounds of so many nanoseconds.
pub fn per_operation<'site>(
    cpus: &[usize],
    work: Box<dyn CommonWork>,
    (round_ns, times): (f64, f64),
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let contenders = Contenders::start(cpus, work, site.stopwatch)?;
    let different = contenders.cpus();
    let contenders = Rc::new(RefCell::new(contenders));
    let accounted = Rc::clone(&contenders);
    let observe = move || {
        let time = contenders.borrow_mut().together(round_ns, false, site.stopwatch)?;
        Ok(time.per_operation().map(|ns| times * ns))
    };
    let workload = Workload::recorded(observe).stating(CPUS, different);
    Ok(workload.witnessed(move || accounted.borrow().account()))
}

/// The CPUs of two threads: the run's own, and its partner.
pub fn two_cpus(site: &Site) -> Result<[usize; 2], Failure> {
    let cpus = site.home.zip(site.partner).map(|(home, partner)| [home, partner]);
    cpus.ok_or_else(|| Failure::Broke("the CPUs of the two threads are unknown".to_owned()))
}

impl Drop for Contenders {
    fn drop(&mut self) {
        self.team.round.0.store(END, Ordering::Release);
        while !self.team.members.iter().skip(1).all(|member| member.ended.load(Ordering::Acquire)) {
            std::hint::spin_loop();
        }
    }
}

impl Team {
    /// The main function of a further thread: a round after the other.
    fn serve(&self, member: usize) {
        let (own, piece) = (&self.members[member], self.work.piece());
        let mut last = 0;
        loop {
            let round = self.round.0.load(Ordering::Acquire);
            if round == END {
                return;
            }
            if round <= last || round % 2 == 0 {
                std::hint::spin_loop();
                continue;
            }
            let on_cpu = OnCpu::begin();
            while self.round.0.load(Ordering::Relaxed) == round {
                self.work(member, piece);
            }
            own.account(self.cpus[member], on_cpu);
            last = round;
            own.rests_after.store(round, Ordering::Release);
        }
    }

    #[inline]
    fn work(&self, member: usize, operations: u64) {
        self.work.repeat(member, operations);
        let own = &self.members[member].operations;
        own.store(own.load(Ordering::Relaxed) + operations, Ordering::Relaxed);
    }

    fn operations(&self) -> Vec<u64> {
        self.members.iter().map(|member| member.operations.load(Ordering::Relaxed)).collect()
    }

    fn ensure_all_run(&self) -> Result<(), Failure> {
        let ended = self.members.iter().any(|member| member.ended.load(Ordering::Acquire));
        ensure(!ended, "a thread could not be pinned to its CPU")
    }
}

impl Contender {
    fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// Notes where a round ended, and whether the kernel took the CPU away meanwhile.
    fn account(&self, cpu: usize, on_cpu: OnCpu) {
        // SAFETY: returns a number.
        let here = unsafe { libc::sched_getcpu() };
        let add = |count: &AtomicU64, so: bool| count.fetch_add(u64::from(so), Ordering::Release);
        add(&self.rounds, true);
        add(&self.elsewhere, here != cpu as i32);
        add(&self.preempted, on_cpu.end().involuntary_switches > 0);
    }
}

/// Operations until the next look at the clock, if so many took so long.
fn next_piece(piece: u64, took_ns: f64) -> u64 {
    if took_ns < BETWEEN_LOOKS_NS {
        (2 * piece).min(MOST_IN_A_PIECE)
    } else if took_ns > 4.0 * BETWEEN_LOOKS_NS {
        (piece / 2).max(1)
    } else {
        piece
    }
}

/// A thread that sleeps until the sender is dropped.
fn sleeping_thread() -> Result<Sender<()>, Failure> {
    let (sender, receiver) = mpsc::channel();
    partner::thread(None, move || {
        // Nothing is ever sent: it ends with an error when the sender is gone.
        let _ = receiver.recv();
        Ok(())
    })?;
    Ok(sender)
}

/// The cost of a look at the clock, nanoseconds.
pub fn look_ns(clock: &dyn Stopwatch) -> f64 {
    let looks: Vec<f64> = (0..64).map(|_| clock.now_ns()).collect();
    let costs: Vec<f64> = looks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    statistics::median(&costs).unwrap_or_default()
}

/// A difference of moments, nanoseconds, without what their last binary digits leave of it: a thousandth of a nanosecond is none. Two
/// readings whose difference is their cost leave 0, and not 1.5e-10.
fn without_grain(ns: f64) -> f64 {
    (ns * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that moves on by a microsecond with every look.
    #[derive(Default)]
    struct Looks(AtomicU64);

    impl Stopwatch for Looks {
        fn stamp(&self) {}

        fn now_ns(&self) -> f64 {
            1e3 * self.0.fetch_add(1, Ordering::Relaxed) as f64
        }

        fn spin(&self, _: f64) -> Spin {
            Spin::default()
        }

        fn core(&self) -> CoreWidth {
            CoreWidth { addition_ns: 1.0, quotient: 1.0 }
        }
    }

    #[derive(Default)]
    struct Adding(AtomicU64);

    impl CommonWork for Adding {
        fn repeat(&self, _: usize, operations: u64) {
            for _ in 0..operations {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }

        fn total(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn time(operations: &[u64]) -> CommonTime {
        CommonTime { lasted_ns: 1000.0, operations: operations.to_vec(), singles_ns: vec![] }
    }

    #[test]
    fn what_the_digits_of_two_moments_leave_is_no_time() {
        assert!(without_grain(1.455e-10).abs() < 1e-15 && (without_grain(12.3456) - 12.346).abs() < 1e-9);
    }

    #[test]
    fn a_round_is_shared_by_the_operations_of_all() {
        assert_eq!(time(&[30, 10]).per_operation(), Some(25.0));
        assert_eq!(time(&[30, 10]).shortfall(), Some(0.5));
        assert_eq!(time(&[0, 0]).per_operation(), None);
    }

    #[test]
    fn all_threads_work_in_every_round_and_their_counts_are_those_of_the_work() {
        // On whatever CPUs there are: two threads on one make progress too.
        let allowed = affinity::current();
        let cpus = [allowed[0], allowed[allowed.len() - 1]];
        let clock = Looks::default();
        let mut contenders = Contenders::start(&cpus, Box::new(Adding::default()), &clock).unwrap();
        for _ in 0..3 {
            let time = contenders.together(2e5, true, &clock).unwrap();
            assert!(time.operations[0] > 0 && !time.singles_ns.is_empty(), "{time:?}");
        }
        let counts = contenders.account();
        assert_eq!(counts[0].1.to_bits(), counts[1].1.to_bits(), "{counts:?}");
        assert_eq!(counts[2], (ROUNDS, 6.0));
        affinity::set(&allowed);
    }
}
