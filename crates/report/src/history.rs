//! The stored runs, and the history of points over them.

use super::form::{Facts, pretty};
use super::run;
use super::text::{Style, clean};
use super::words::{self, Declares};
use fathom_core::quantities;
use fathom_engine::comparison::{History, ReducedRun};
use fathom_engine::record::MethodParameter;
use fathom_engine::results::Outcome;
use serde::Serialize;
use std::borrow::Cow;

impl Declares for History {
    fn parameters(&self) -> Cow<'_, [MethodParameter]> {
        Cow::Borrowed(&self.parameters)
    }
}

/// Runs in order of time, with the names of their files.
pub struct StoredRuns<'a> {
    pub names: &'a [String],
    pub runs: &'a [ReducedRun],
    /// The requested points over time; empty to list the runs.
    pub histories: &'a [History],
}

impl Facts for StoredRuns<'_> {
    fn text(&self, style: Style) -> String {
        if self.histories.is_empty() {
            self.names.iter().zip(self.runs).map(|(name, run)| line(name, run, style)).collect()
        } else {
            self.histories.iter().map(|history| self.over_time(history, style)).collect::<Vec<_>>().join("\n")
        }
    }

    fn json(&self) -> String {
        pretty(&HistoryEntry {
            runs: self
                .names
                .iter()
                .zip(self.runs)
                .map(|(name, run)| StoredRunEntry { name, started: &run.header.started })
                .collect(),
            points: self.histories.iter().map(|history| self.series(history)).collect(),
        })
    }
}

#[derive(Serialize)]
struct HistoryEntry<'a> {
    runs: Vec<StoredRunEntry<'a>>,
    points: Vec<HistorySeries<'a>>,
}

#[derive(Serialize)]
struct StoredRunEntry<'a> {
    name: &'a str,
    started: &'a str,
}

#[derive(Serialize)]
struct HistorySeries<'a> {
    experiment: &'a str,
    method_version: u32,
    parameters: &'a fathom_core::experiment::Point,
    unit: fathom_core::quantity::Unit,
    levels: Vec<LevelEntry<'a>>,
}

/// A level in the unit of its series; `changed` if it begins another stretch than its predecessor.
#[derive(Serialize)]
struct LevelEntry<'a> {
    run: &'a str,
    started: &'a str,
    median: f64,
    low: Option<f64>,
    high: Option<f64>,
    changed: bool,
}

fn line(name: &str, run: &ReducedRun, style: Style) -> String {
    let values = run.levels.iter().filter(|level| matches!(level.outcome, Outcome::Value(_))).count();
    let effort = words::effort(run.header.settings.effort);
    let lead = format!("{}  {effort:<8} {values:>5} values  ", clean(&run.header.started));
    style.wrapped(&lead, &format!("{}  {name}", run::machine(&run.header.machine)))
}

impl StoredRuns<'_> {
    /// One line per run, marked if the level has changed.
    fn over_time(&self, history: &History, style: Style) -> String {
        let mut text =
            style.title(&clean(&format!("{} {}", history.experiment, words::label(history, &history.point))))
                + "\n";
        let widest = history.levels.iter().map(|(_, estimate)| estimate.value).fold(0.0, f64::max);
        for (at, (place, estimate)) in history.levels.iter().enumerate() {
            if history.changes.contains(&at) {
                text += &self.change(history, at);
            }
            let bar = "█".repeat(((estimate.value / widest * 30.0).round() as usize).clamp(1, 30));
            let level = quantities::with_interval(history.unit, estimate);
            text += &format!("  {}  {bar:<30}  {level}\n", clean(&self.runs[*place].header.started));
        }
        if history.changes.is_empty() {
            text += "  no change found\n";
        }
        text
    }

    fn change(&self, history: &History, at: usize) -> String {
        let (before, after) = (&history.levels[at - 1].1, &history.levels[at].1);
        format!(
            "  ── changed: {} times as much, from {} on\n",
            quantities::number(after.value / before.value),
            clean(&self.names[history.levels[at].0])
        )
    }

    fn series<'a>(&'a self, history: &'a History) -> HistorySeries<'a> {
        let level =
            |(at, (place, estimate)): (usize, &'a (usize, fathom_core::statistics::Estimate))| LevelEntry {
                run: &self.names[*place],
                started: &self.runs[*place].header.started,
                median: estimate.value,
                low: estimate.interval.map(|interval| interval.low),
                high: estimate.interval.map(|interval| interval.high),
                changed: history.changes.contains(&at),
            };
        HistorySeries {
            experiment: &history.experiment,
            method_version: history.method_version,
            parameters: &history.point,
            unit: history.unit,
            levels: history.levels.iter().enumerate().map(level).collect(),
        }
    }
}
