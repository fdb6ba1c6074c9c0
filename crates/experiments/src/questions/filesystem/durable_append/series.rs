//! A long series of appends, one after the other; the highest rate that follows from it, and appends on a schedule to try it.

use super::log::{AppendLog, STREAMED, WriteStream};
use super::rate;
use super::{APPEND, BLOCK, LONGEST, RATE, WITHIN_NS, is_beside_a_stream};
use fathom_core::prelude::*;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// The time of a series, nanoseconds, and its most appends: 32 MiB of the usual block.
const LASTS_NS: f64 = 500e6;
const MOST: usize = 4096;

/// The share of the highest rate that is tried.
const TRIED: f64 = 0.8;

/// The time before an append is due at which a sleeper gets up, nanoseconds: longer than the timer's slack.
const EARLY_NS: f64 = 200e3;

/// Witnesses: time of the series, nanoseconds; appends on the schedule, and those of them that were durable in time.
pub const PASSED: &str = "nanoseconds_meanwhile";
pub const SCHEDULED: &str = "appends_on_schedule";
pub const IN_TIME: &str = "appends_in_time";

#[derive(Default)]
struct SeriesCounts {
    passed_ns: Cell<f64>,
    scheduled: Cell<f64>,
    in_time: Cell<f64>,
}

/// The series of a point, with the log's `account` as evidence.
pub fn observed<'site>(
    mut log: AppendLog,
    point: &Point,
    mut account: impl FnMut() -> Vec<(&'static str, f64)> + 'site,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let stream = is_beside_a_stream(point).then(|| WriteStream::start(site.partner, site)).transpose()?;
    let (stream, counts) = (Rc::new(stream), Rc::<SeriesCounts>::default());
    let (witness, beside) = (Rc::clone(&counts), Rc::clone(&stream));
    let (block, watch) = (point.number(&BLOCK) as f64, site.stopwatch);
    let observe = move || {
        let services = one_after_the_other(&mut log, watch)?;
        counts.passed_ns.set(counts.passed_ns.get() + services.iter().sum::<f64>());
        let longest = services.iter().copied().fold(0.0, f64::max);
        let mut figures: Vec<FigureValue> = services.iter().map(|ns| (APPEND, *ns)).collect();
        figures.push((LONGEST, longest));
        if stream.is_none() {
            let rate = rate::highest(&services, WITHIN_NS);
            on_schedule(&mut log, TRIED * rate, watch, &counts)?;
            figures.push((RATE, rate * block));
        }
        Ok(figures)
    };
    let count = move || {
        let own = [
            (PASSED, witness.passed_ns.get()),
            (SCHEDULED, witness.scheduled.get()),
            (IN_TIME, witness.in_time.get()),
        ];
        let streamed = beside.as_ref().as_ref().and_then(|stream| stream.bytes().ok());
        let streamed = streamed.map(|bytes| (STREAMED, bytes as f64));
        account().into_iter().chain(own).chain(streamed).collect()
    };
    Ok(Workload::figures(observe).cold().witnessed(count))
}

/// The time of each append of a series without pauses, nanoseconds.
fn one_after_the_other(log: &mut AppendLog, watch: &dyn Stopwatch) -> Result<Vec<f64>, Failure> {
    let (mut services, began) = (Vec::with_capacity(MOST), watch.now_ns());
    let mut before = began;
    while services.len() < rate::FEWEST || (before - began < LASTS_NS && services.len() < MOST) {
        log.append()?;
        let now = watch.now_ns();
        services.push(now - before);
        before = now;
    }
    Ok(services)
}

/// Appends at so many a second for the time of a series, and counts those that are durable in time, from when they were due.
fn on_schedule(
    log: &mut AppendLog,
    per_second: f64,
    watch: &dyn Stopwatch,
    counts: &SeriesCounts,
) -> Result<(), Failure> {
    if per_second <= 0.0 {
        return Ok(());
    }
    let (began, interval) = (watch.now_ns(), 1e9 / per_second);
    for number in 0..(LASTS_NS / interval).min(MOST as f64) as u64 {
        let due = began + number as f64 * interval;
        wait_until(due, watch);
        log.append()?;
        let is_in_time = watch.now_ns() - due <= WITHIN_NS;
        counts.scheduled.set(counts.scheduled.get() + 1.0);
        counts.in_time.set(counts.in_time.get() + f64::from(u8::from(is_in_time)));
    }
    Ok(())
}

/// Sleeps, so that the kernel's threads can use the CPU, and polls at the end, so that no late wake-up is part of an append.
fn wait_until(due: f64, watch: &dyn Stopwatch) {
    loop {
        let remaining = due - watch.now_ns();
        if remaining <= 0.0 {
            return;
        }
        if remaining > EARLY_NS {
            std::thread::sleep(Duration::from_nanos((remaining - EARLY_NS) as u64));
        } else {
            std::hint::spin_loop();
        }
    }
}
