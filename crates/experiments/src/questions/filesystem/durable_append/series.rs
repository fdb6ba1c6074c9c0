//! A long series of appends, one after the other, and the highest rate at which they end in time.

use super::log::{AppendLog, STREAMED, WriteStream};
use super::{APPEND, BLOCK, LONGEST, RATE, WITHIN_NS, is_beside_a_stream};
use crate::apparatus::filesystem::single_server::{
    DueTime, ScheduledSeries, highest_rate, one_after_the_other,
};
use fathom_core::prelude::*;
use std::cell::Cell;
use std::rc::Rc;

/// What the highest rate must keep.
const DUE_TIME: DueTime = DueTime { within_ns: WITHIN_NS, series_ns: 0.25e9 };

/// Witnesses: time of the series without pauses, nanoseconds; appends on the schedules that were kept, those of them that were durable
/// in time, and those that the rates found would have made due meanwhile.
pub const PASSED: &str = "nanoseconds_meanwhile";
pub const SCHEDULED: &str = "appends_on_schedule";
pub const IN_TIME: &str = "appends_in_time";
pub const DUE: &str = "appends_due_at_the_rate";

#[derive(Default)]
struct SeriesCounts {
    passed_ns: Cell<f64>,
    scheduled: Cell<f64>,
    in_time: Cell<f64>,
    due: Cell<f64>,
}

impl SeriesCounts {
    fn add(&self, series: &ScheduledSeries, per_second: f64) {
        let add = |to: &Cell<f64>, more: f64| to.set(to.get() + more);
        add(&self.scheduled, series.count as f64);
        add(&self.in_time, series.in_time as f64);
        add(&self.due, per_second * series.lasted_ns / 1e9);
    }
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
        let mut append = || log.append();
        let services = one_after_the_other(&mut append, watch)?;
        counts.passed_ns.set(counts.passed_ns.get() + services.iter().sum::<f64>());
        let longest = services.iter().copied().fold(0.0, f64::max);
        let mut figures: Vec<FigureValue> = services.iter().map(|ns| (APPEND, *ns)).collect();
        figures.push((LONGEST, longest));
        if stream.is_none() {
            let (rate, series) = highest_rate(&mut append, &services, DUE_TIME, watch)?;
            counts.add(&series, rate);
            figures.push((RATE, rate * block));
        }
        Ok(figures)
    };
    let count = move || {
        let own = [
            (PASSED, witness.passed_ns.get()),
            (SCHEDULED, witness.scheduled.get()),
            (IN_TIME, witness.in_time.get()),
            (DUE, witness.due.get()),
        ];
        let streamed = beside.as_ref().as_ref().and_then(|stream| stream.bytes().ok());
        let streamed = streamed.map(|bytes| (STREAMED, bytes as f64));
        account().into_iter().chain(own).chain(streamed).collect()
    };
    Ok(Workload::figures(observe).cold().witnessed(count))
}
