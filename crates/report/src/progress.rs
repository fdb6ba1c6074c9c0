//! Messages of a run in progress: to a person, to a program, or none.

use super::live::Live;
use clap::ValueEnum;
use fathom_core::message::{clean, escaped_json, tell};
use fathom_engine::plan::Settlement;
use fathom_engine::run::{Tick, Watcher};
use serde::Serialize;
use std::time::{Duration, Instant};

/// In which form a run tells how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgressForm {
    /// A table on a terminal, otherwise a line every ten seconds.
    Auto,
    /// Errors only.
    Quiet,
    /// JSON Lines: notes, progress every ten seconds, and the end.
    Json,
}

/// The interval between lines of progress.
const INTERVAL: Duration = Duration::from_secs(10);

/// The progress messages of a run in the requested form, on standard error.
pub enum Telling {
    Person(Box<Live>),
    /// Messages to a program, with the time of the last progress line.
    Program(Option<Instant>),
    Nobody,
}

/// A line of [`ProgressForm::Json`]; times are in seconds.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum ProgressEvent<'a> {
    Note {
        text: &'a str,
    },
    Settled {
        points: usize,
        left_out: usize,
        expected_end_s: f64,
    },
    Progress {
        elapsed_s: f64,
        budget_s: f64,
        round: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        rounds: Option<u32>,
        measuring: &'a str,
        points: usize,
        precise: usize,
    },
    Finished {
        run_file: &'a str,
        failed: usize,
        status: u8,
    },
}

impl Telling {
    pub fn of(form: ProgressForm) -> Self {
        match form {
            ProgressForm::Auto => Telling::Person(Box::default()),
            ProgressForm::Json => Telling::Program(None),
            ProgressForm::Quiet => Telling::Nobody,
        }
    }

    /// Prints a note before anything is measured.
    pub fn note(&self, text: &str) {
        match self {
            Telling::Person(_) => tell(format!("note: {}", clean(text))),
            Telling::Program(_) => write(&ProgressEvent::Note { text }),
            Telling::Nobody => {}
        }
    }

    /// Prints a problem that does not end the run.
    pub fn problem(&self, text: &str) {
        match self {
            Telling::Person(_) | Telling::Nobody => tell(format!("fathom: {}", clean(text))),
            Telling::Program(_) => write(&ProgressEvent::Note { text }),
        }
    }

    /// Ends the display of progress.
    pub fn finish(&mut self) {
        if let Telling::Person(live) = self {
            live.finish();
        }
    }

    /// Prints how the run ended: the path of its file, the number of failed points, and the exit status.
    pub fn finished(&self, run_file: &str, failed: usize, status: u8) {
        if let Telling::Program(_) = self {
            write(&ProgressEvent::Finished { run_file, failed, status });
        }
    }
}

fn write(event: &ProgressEvent) {
    // Serializing cannot fail: these are plain structures of numbers and texts.
    tell(escaped_json(&serde_json::to_string(event).unwrap_or_default()));
}

impl Watcher for Telling {
    fn trial(&mut self, tick: &Tick) {
        match self {
            Telling::Person(live) => live.trial(tick),
            Telling::Program(last) if last.is_none_or(|last| last.elapsed() >= INTERVAL) => {
                *last = Some(Instant::now());
                write(&ProgressEvent::Progress {
                    elapsed_s: tick.elapsed.as_secs_f64(),
                    budget_s: tick.budget.as_secs_f64(),
                    round: tick.round,
                    rounds: tick.rounds,
                    measuring: &tick.planned.experiment,
                    points: tick.points,
                    precise: tick.precise,
                });
            }
            Telling::Program(_) | Telling::Nobody => {}
        }
    }

    fn settled(&mut self, settlement: &Settlement) {
        match self {
            Telling::Person(live) => live.settled(settlement),
            Telling::Program(_) => write(&ProgressEvent::Settled {
                points: settlement.points,
                left_out: settlement.without_interval(),
                expected_end_s: settlement.end.as_secs_f64(),
            }),
            Telling::Nobody => {}
        }
    }

    fn preparing(&mut self, doing: &str) {
        if let Telling::Person(live) = self {
            live.preparing(doing);
        }
    }
}
