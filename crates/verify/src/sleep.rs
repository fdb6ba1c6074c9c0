//! A system call that sleeps, compared with the time that it really slept by the kernel's own clock.

use super::prelude::*;
use super::spin::now;
use fathom_core::statistics;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub static RIG: Rig = Rig::of_known_work(
    "sleep",
    "a system call that sleeps for a time known from the kernel's clock",
    Duration::from_secs(3),
    |_| Ok(vec![(NAME, Point::new())]),
    judge,
);

pub static WORK: KnownWork = KnownWork::of(
    &about(
        NAME,
        "Is the time of a sleeping call measured correctly?",
        "one clock_nanosleep of 100 µs",
        "The call sleeps for longer than requested: timer slack and the wake-up are added (time(7)). So the kernel's \
         clock is read directly before and after each call, and the medians of these times are the truth.",
        &[],
    ),
    prepare,
);

const NAME: &str = "verify/sleep";

/// The requested time, nanoseconds.
const ASKED: libc::c_long = 100_000;

/// Witness: the median of the times that the calls slept, by the kernel's clock, nanoseconds.
const SLEPT: &str = "slept_median_ns";

fn prepare<'site>(_: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
    let slept = Rc::new(RefCell::new(Vec::with_capacity(4096)));
    let (begun, ended) = (Rc::clone(&slept), Rc::clone(&slept));
    let call = move |n: u64| {
        let time = libc::timespec { tv_sec: 0, tv_nsec: ASKED };
        (0..n).try_for_each(|_| {
            let began = now();
            // SAFETY: a valid time; what is left of it after a signal is not wanted.
            let failed = unsafe {
                libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const time, std::ptr::null_mut())
            };
            slept.borrow_mut().push((now() - began) as f64);
            errno("clock_nanosleep", -failed).map(drop)
        })
    };
    let mut observing = false;
    Ok(Workload::each(call)
        // Called before the first observation and after the last: times before the first are discarded.
        .witnessed(move || {
            if !std::mem::replace(&mut observing, true) {
                begun.borrow_mut().clear();
            }
            vec![]
        })
        .gauged(move || {
            statistics::median(&ended.borrow()).map(|median| (SLEPT, median)).into_iter().collect()
        }))
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let slept = slept(results);
    let set = statistics::median(&slept.values().copied().collect::<Vec<_>>()).unwrap_or_default();
    let figure = result(results, &(NAME, Point::new())).and_then(|point| against(point, &slept, set));
    vec![Claim::time(rig, "median of sleeps of 100 µs", set).judged(figure)]
}

/// The witness of each trial, by round.
fn slept(results: &Results) -> BTreeMap<u32, f64> {
    let of_rig = results.run.trials.iter().filter(|trial| trial.experiment == NAME);
    of_rig.filter_map(|trial| Some((trial.round, *trial.sample()?.witnessed.get(SLEPT)?))).collect()
}

/// The measured time over the time really slept, trial by trial, because it differs in each; multiplied by the usual time.
fn against(point: &PointResult, slept: &BTreeMap<u32, f64>, usual: f64) -> Result<TruthFigure, NoFigure> {
    estimate(point)?;
    let share = |(round, ns): &(u32, f64)| slept.get(round).map(|slept| [ns / slept * usual]);
    let trials: Vec<[f64; 1]> = point.by_round.iter().filter_map(share).collect();
    let estimate = statistics::estimate(&trials);
    let estimate = estimate.ok_or_else(|| NoFigure::inconclusive("no trial reported how long it slept"))?;
    Ok(TruthFigure::of(&estimate, &[point]))
}
