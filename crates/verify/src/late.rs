//! Work of a real-time policy that takes the measured CPU for a known part of every period: who wakes up meanwhile is late by a
//! known amount.

use super::prelude::*;
use super::spin::{now, spin};
use fathom_core::sampling::affinity;
use std::io;

pub static RIG: Rig = Rig {
    name: "late-wake-up",
    sets: "a thread of SCHED_FIFO that takes the measured CPU for 5 of every 20 ms",
    touches: &[
        "CPUs: a thread of this process, under SCHED_FIFO, takes the measured CPU for a quarter of the time",
    ],
    budget: Duration::from_secs(12),
    arrange: Some(arrange),
    points: |machine| {
        let settings = &[("wake", Name("timer")), ("busy", Number(0)), ("figure", Name("lateness"))];
        points_of(machine, &Selector::of("cpu/scheduling_latency", settings))
    },
    judge,
};

/// How often the CPU is taken, and for how long, nanoseconds.
const PERIOD_NS: u64 = 20_000_000;
const TAKEN_NS: u64 = 5_000_000;

/// What counts as late, nanoseconds.
const LATE_NS: f64 = 1e6;

/// The share of wake-ups later than this, if they are due at random moments: those due while more than this is left of the work that
/// takes the CPU.
fn share_later_than(ns: f64) -> f64 {
    (TAKEN_NS as f64 - ns) / PERIOD_NS as f64
}

/// The lateness that this share of the wake-ups does not exceed.
fn lateness_of(level: f64) -> f64 {
    TAKEN_NS as f64 - (1.0 - level) * PERIOD_NS as f64
}

/// How exact a share of some thousand random moments is.
const TO: f64 = 0.05;

/// Some periods in every trial.
const TRIAL: Duration = Duration::from_millis(250);

fn arrange(options: &mut Options) -> Result<Arranged, String> {
    options.trial = Some(TRIAL);
    let (_, home) = fixed_cpu(options)?;
    taker(home).map(Arranged::holding)
}

/// The thread that takes a CPU.
fn taker(cpu: usize) -> Result<RigThread<()>, String> {
    let (answer, answers) = std::sync::mpsc::channel();
    let taker = RigThread::start(move |is_over| {
        let begun = first_in_line(cpu);
        let may = begun.is_ok();
        // If nobody waits for the answer, there is nothing to take either.
        let is_heard = answer.send(begun).is_ok();
        let mut next = now();
        while may && is_heard && !is_over() {
            spin(TAKEN_NS);
            next += PERIOD_NS;
            std::thread::sleep(Duration::from_nanos(next.saturating_sub(now())));
        }
    });
    let begun = answers.recv().unwrap_or_else(|_| Err("the thread has ended".to_owned()));
    begun.map(|()| taker)
}

fn first_in_line(cpu: usize) -> Result<(), String> {
    affinity::pin(cpu).map_err(|failure| failure.to_string())?;
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: valid parameters for this thread.
    let set = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if set == 0 { Ok(()) } else { Err(format!("SCHED_FIFO needs root: {}", io::Error::last_os_error())) }
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let Some(point) = results.points.first() else {
        return vec![NoFigure::skipped("it is not in the plan").of(rig)];
    };
    let share = Claim::share(rig, "wake-ups more than 1 ms late", share_later_than(LATE_NS));
    let of_level = |level: f64, words: &str| {
        let of = Claim::time(rig, words, lateness_of(level));
        of.to(TO).judged(tail(point, level).map(TruthFigure::whatever_disturbs))
    };
    vec![
        share.to(TO).judged(late(point)),
        of_level(0.9, "90th percentile of the lateness"),
        of_level(0.95, "95th percentile of the lateness"),
    ]
}

fn late(point: &PointResult) -> Result<TruthFigure, NoFigure> {
    estimate(point)?;
    let all = point.samples.iter().flatten().count() as u64;
    let late = point.samples.iter().flatten().filter(|ns| **ns > LATE_NS).count() as u64;
    TruthFigure::share(late, all).ok_or_else(|| NoFigure::inconclusive("there are no wake-ups"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_percentiles_say_the_same() {
        assert!((share_later_than(1e6) - 0.2).abs() < 1e-9 && (share_later_than(0.0) - 0.25).abs() < 1e-9);
        for level in [0.8, 0.9, 0.95] {
            assert!((share_later_than(lateness_of(level)) - (1.0 - level)).abs() < 1e-9);
        }
    }
}
