//! What the time of the run bought.

use super::sections::linked;
use crate::paper::{Block, Column, Key, Row, Section, Table};
use crate::words::plural;
use fathom_core::quantities;
use fathom_engine::results::{Results, RunTime, TimeSpent};

/// The section: a line about the run, and a row for each experiment; `None` if the run has not ended.
pub(super) fn of(results: &Results) -> Option<Section> {
    let time = RunTime::of(results.run)?;
    let table = Table::new(
        Key::of("time-table"),
        "Where the time of the trials went, by experiment, the longest first. A trial is prepared with its warm-up and all that \
         is read around it; what several trials of one process share is with the start of the process.",
    )
    .columns([
        Column::words("experiment"),
        Column::count("trials"),
        Column::words("observed"),
        Column::words("prepared"),
        Column::words("started"),
        Column::words("waited"),
        Column::number("of the run", "%"),
    ])
    .rows(time.experiments.iter().map(|(name, seconds)| row(results, name, seconds, time.whole_s())));
    let number = plural(time.experiments.len(), "experiment");
    Some(Section::new(Key::of("time"), "What the time of the run bought").lettered().say(line(&time)).with(
        Block::Folded { summary: number.into(), appendix: true, open: false, blocks: vec![table.into()] },
    ))
}

/// The whole run in a line.
fn line(time: &RunTime) -> String {
    let (seconds, whole) = (&time.trials, time.whole_s());
    let part = |seconds: f64| format!("{} ({})", duration(seconds), quantities::percent(seconds / whole));
    format!(
        "Of {}, {} were observed in {}, each counted once though it may give several figures; in {} the other side's core was read between observations, {} prepared trials, {} started processes and prepared what trials share, {} waited for \
         the core to be alone, and {} passed between trials.",
        duration(whole),
        part(seconds.observed_s),
        plural(seconds.trials, "trial"),
        part(seconds.reading_s),
        part(seconds.prepared_s),
        part(seconds.started_s),
        part(seconds.waited_s),
        part(time.between_s)
    )
}

fn row(results: &Results, name: &str, seconds: &TimeSpent, whole: f64) -> Row {
    let time = |seconds: f64| duration(seconds).into();
    Row::of([
        linked(results, name),
        seconds.trials.to_string().into(),
        time(seconds.observed_s),
        time(seconds.prepared_s),
        time(seconds.started_s),
        time(seconds.waited_s),
        quantities::number(seconds.whole_s() / whole * 100.0).into(),
    ])
}

/// A part of a run's time; what is shorter than a microsecond is none.
fn duration(seconds: f64) -> String {
    if seconds < 1e-6 { "0 s".to_owned() } else { quantities::duration(seconds) }
}
