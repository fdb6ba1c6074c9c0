//! How each figure of a replication was measured: the report's method, how Fathom's replication differs, what was observed, and Fathom's point.

use crate::record::Replication;
use crate::table::Compared;
use crate::{Method, Replica, Report, SameQuestion, Series};
use fathom_core::experiment::Point;
use fathom_core::quantities;
use fathom_engine::record::TrialOutcome;
use fathom_report::paper::{Block, Column, Key, Row, Section, Table, Text};
use fathom_report::words;

pub(super) fn section(report: &Report, replication: &Replication, rows: &[Compared]) -> Section {
    let mut section = Section::new(Key::of("methods"), "Methods")
        .say(Text::prose(report.methodology))
        .with(compared_points(rows));
    section.sections = report
        .methods()
        .into_iter()
        .filter(|method| replication.has_asked_for(method.name))
        .map(|method| one(method, replication))
        .collect();
    section
}

/// The statistic and the point of each row.
fn compared_points(rows: &[Compared]) -> Table {
    let row = |compared: &Compared| {
        let method = match compared.row.replica {
            Replica::By(method) => Text::to(&key(method)),
            Replica::NotHere(_) => Text::plain("–"),
        };
        let their = Text::plain(compared.row.section);
        let statistic = Text::plain(compared.row.statistic.name());
        Row::of([Text::plain(compared.row.operation), their, method, statistic, fathom(compared)])
    };
    let caption = "Each row's section in the report, its method and statistic, and the point of Fathom that answers \
                   the same question.";
    Table::new(Key::of("asked"), caption)
        .columns([
            Column::words("operation"),
            Column::words("section"),
            Column::words("report's method"),
            Column::words("report's statistic"),
            Column::words("Fathom"),
        ])
        .rows(rows.iter().map(row))
}

fn fathom(compared: &Compared) -> Text {
    match &compared.row.fathom {
        SameQuestion::Nowhere { nowhere } => Text::prose(nowhere),
        SameQuestion::Slope { experiment, along, .. } => Text::code(experiment)
            .and(format!(", slope along {}", words::parameter(experiment.as_str(), along))),
        SameQuestion::Point(_) | SameQuestion::Computed(_) => {
            let points = compared.points.iter().map(point);
            Text::joined(points, "; ")
        }
    }
}

fn point((experiment, point): &(&'static str, Point)) -> Text {
    Text::code(*experiment).and(format!(" {}", words::label(*experiment, point)))
}

fn key(method: &Method) -> Key {
    Key::of("method").within(&method.name.to_lowercase())
}

fn one(method: &'static Method, replication: &Replication) -> Section {
    let section = Section::new(key(method), method.name).say(Text::prose(method.text));
    let section = match method.differs {
        "" => section,
        differs => section.say(Text::strong("Different here: ").and(Text::prose(differs))),
    };
    match replication.of(method.name) {
        None => section.say("The run ended before this method."),
        Some(line) => section.with_all(observed(&line.outcome, line.took_s)),
    }
}

fn observed(outcome: &TrialOutcome<Series>, took_s: f64) -> Vec<Block> {
    let took = quantities::duration(took_s);
    match outcome {
        TrialOutcome::Measured { sample: series } => {
            let trials: usize = series.points.iter().map(|trials| trials.values.len()).sum();
            let mut observations =
                vec![Text::plain(format!("{} in {took}.", words::plural(trials, "trial value")))];
            observations.extend(series.notes.iter().map(|sentence| Text::prose(sentence)));
            vec![Block::List(observations)]
        }
        TrialOutcome::Skipped { reason } => {
            vec![Block::Paragraph(Text::plain("Not measured: ").and(Text::prose(reason)))]
        }
        TrialOutcome::Failed { reason } => {
            vec![Block::Paragraph(Text::plain("It failed: ").and(Text::prose(reason)))]
        }
        TrialOutcome::TimedOut { after_s } => {
            let limit = quantities::duration(*after_s);
            vec![Block::Paragraph(Text::plain(format!("It did not end within {limit}.")))]
        }
    }
}
