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
    .rows(time.experiments.iter().map(|(name, spent)| row(results, name, spent, time.whole_s())));
    let number = plural(time.experiments.len(), "experiment");
    Some(Section::new(Key::of("time"), "What the time of the run bought").lettered().say(line(&time)).with(
        Block::Folded { summary: number.into(), appendix: true, open: false, blocks: vec![table.into()] },
    ))
}

/// The whole run in a line.
fn line(time: &RunTime) -> String {
    let (spent, whole) = (&time.trials, time.whole_s());
    let part = |seconds: f64| format!("{} ({})", duration(seconds), quantities::percent(seconds / whole));
    format!(
        "Of {}, {} were observed in {}; {} prepared trials, {} started processes and prepared what trials share, {} waited for \
         the core to be alone, and {} passed between trials.",
        duration(whole),
        part(spent.observed_s),
        plural(spent.trials, "trial"),
        part(spent.prepared_s),
        part(spent.started_s),
        part(spent.waited_s),
        part(time.between_s)
    )
}

fn row(results: &Results, name: &str, spent: &TimeSpent, whole: f64) -> Row {
    let time = |seconds: f64| duration(seconds).into();
    Row::of([
        linked(results, name),
        spent.trials.to_string().into(),
        time(spent.observed_s),
        time(spent.prepared_s),
        time(spent.started_s),
        time(spent.waited_s),
        quantities::number(spent.whole_s() / whole * 100.0).into(),
    ])
}

/// A part of a run's time; what is shorter than a microsecond is none.
fn duration(seconds: f64) -> String {
    if seconds < 1e-6 { "0 s".to_owned() } else { quantities::duration(seconds) }
}
