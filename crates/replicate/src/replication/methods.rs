//! How each figure of a replication was measured: the report's method, how Fathom's replication differs, what was observed, and Fathom's
//! point; and every trial of the small sets.

use super::cells::operation;
use crate::record::Replication;
use crate::table::Compared;
use crate::{Fit, Method, Replica, Report, SameQuestion, Series, farthest};
use fathom_core::experiment::Point;
use fathom_core::quantities::{self, Measure};
use fathom_engine::record::TrialOutcome;
use fathom_report::paper::{Block, Column, Key, Row, Section, Table, Text};
use fathom_report::words;

pub(super) fn section(report: &Report, replication: &Replication, rows: &[Compared]) -> Section {
    let mut section = Section::new(Key::of("methods"), "Methods")
        .say(Text::prose(report.methodology))
        .with(compared_points(rows))
        .with_all(trials(replication, rows));
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
        Some(line) => section.with(observed(&line.outcome, line.took_s)),
    }
}

fn observed(outcome: &TrialOutcome<Series>, took_s: f64) -> Block {
    let took = quantities::duration(took_s);
    let text = match outcome {
        TrialOutcome::Measured { sample: series } => {
            let trials: usize = series.points.iter().map(|trials| trials.values.len()).sum();
            let mut observations =
                vec![Text::plain(format!("{} in {took}.", words::plural(trials, "trial value")))];
            observations.extend(series.notes.iter().map(|sentence| Text::prose(sentence)));
            return Block::List(observations);
        }
        TrialOutcome::Skipped { reason } => Text::plain("Not measured: ").and(Text::prose(reason)),
        TrialOutcome::Failed { reason } => Text::plain("It failed: ").and(Text::prose(reason)),
        TrialOutcome::TimedOut { after_s } => {
            Text::plain(format!("It did not end within {}.", quantities::duration(*after_s)))
        }
    };
    Block::Paragraph(text)
}

/// The most trials that the table shows; the replication's file has all.
const MOST: usize = 20;

/// Every trial of the small sets, one by one, with the one that an author left out by hand; `None` where no set is small.
fn trials(replication: &Replication, rows: &[Compared]) -> Option<Block> {
    let rows: Vec<Row> = rows.iter().filter_map(|compared| trials_of(replication, compared)).collect();
    let summary = format!("Every trial, one by one: {}", words::plural(rows.len(), "row"));
    let caption = format!("Trials in order of time, where there are at most {MOST}, all at one setting.");
    let table = Table::new(Key::of("trials"), caption)
        .columns([Column::words("operation"), Column::count("trials"), Column::words("each, in order")])
        .rows(rows.clone());
    let blocks = vec![table.into()];
    (!rows.is_empty()).then(|| Block::Folded { summary: summary.into(), appendix: true, open: false, blocks })
}

fn trials_of(replication: &Replication, compared: &Compared) -> Option<Row> {
    let Replica::By(method) = compared.row.replica else { return None };
    let statistic = compared.row.statistic;
    let TrialOutcome::Measured { sample } = &replication.of(method.name)?.outcome else { return None };
    let mut settings = sample.variant(statistic.variant);
    let values = &settings.next()?.values;
    let is_small_set = settings.next().is_none() && (2..=MOST).contains(&values.len());
    is_small_set.then_some(())?;
    let measure = Measure::of(compared.row.unit, values[0]);
    let each: Vec<String> = values.iter().map(|value| measure.number(*value, None)).collect();
    let left_out = matches!(statistic.fit, Fit::MeanButFarthest)
        .then(|| format!("; trial {} was left out of the mean", farthest(values) + 1));
    let trials = format!("{} {}{}", each.join(", "), measure.symbol, left_out.unwrap_or_default());
    let cells = [operation(compared.row), values.len().to_string(), trials];
    Some(Row::of(cells.map(Text::plain)))
}
