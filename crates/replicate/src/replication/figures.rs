//! The report's figures, redrawn, with their numbers.

use super::drawn;
use crate::record::Replication;
use crate::{Drawn, FigureForm, FigureShape, Picture, Report, Series, Trials};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::statistics;
use fathom_engine::record::TrialOutcome;
use fathom_report::paper::{Block, Column, Group, Key, Row, Section, Table, Text};
use fathom_report::words;
use fathom_report::words::ABSENT;

/// The section; `None` where the report has no figures.
pub(super) fn section(report: &Report, replication: &Replication) -> Option<Section> {
    let is_asked = |picture: &Picture| match picture.drawn {
        Drawn::By { method, .. } => replication.has_asked_for(method),
        Drawn::Not(_) => replication.header.only.is_empty(),
    };
    report.figures.iter().any(is_asked).then_some(())?;
    let mut section = Section::new(Key::of("figures"), "The report's figures, with this machine's results").say(
        "The report's figures, redrawn from the results of its own methods on this machine. Means are over the trials \
         at each setting.",
    );
    let mut tables: Vec<Key> = vec![];
    let mut not = vec![];
    for (place, picture) in report.figures.iter().enumerate().filter(|(_, picture)| is_asked(picture)) {
        match drawn(place, picture, replication) {
            Ok((figures, table)) => {
                section.blocks.extend(figures);
                if !tables.contains(&table.key) {
                    tables.push(table.key.clone());
                    section.blocks.push(folded(table));
                }
            }
            Err(reason) => not.push(Text::strong(titled(picture)).and(": ").and(Text::prose(&reason))),
        }
    }
    Some(if not.is_empty() { section } else { section.under("Not drawn here", vec![Block::List(not)]) })
}

/// "Figure 3 (block read time against file size)".
fn titled(picture: &Picture) -> String {
    match picture.number {
        0 => picture.shows.to_owned(),
        number => format!("Figure {number} ({})", picture.shows),
    }
}

/// The drawings of one figure of the report and the table of their numbers, or why there are none.
fn drawn(place: usize, picture: &Picture, replication: &Replication) -> Result<(Vec<Block>, Table), String> {
    let (method, form) = match picture.drawn {
        Drawn::By { method, form } => (method, form),
        Drawn::Not(reason) => return Err(reason.to_owned()),
    };
    let series = series_of(method, replication)?;
    let numbers = table(method, series, form);
    let figures = drawn::figures((method, series), form, &numbers.key, |part| {
        let key = Key::of("figure").within(&format!("picture-{place}-{part}"));
        (key, format!("{} of the report.", titled(picture)))
    });
    if figures.is_empty() {
        return Err("too few settings or trials were measured".to_owned());
    }
    Ok((figures, numbers))
}

pub(super) fn series_of<'a>(method: &str, replication: &'a Replication) -> Result<&'a Series, String> {
    match replication.of(method).map(|line| &line.outcome) {
        Some(TrialOutcome::Measured { sample }) => Ok(sample),
        Some(TrialOutcome::Skipped { reason } | TrialOutcome::Failed { reason }) => Err(reason.clone()),
        Some(TrialOutcome::TimedOut { after_s }) => {
            Err(format!("the method did not end within {}", quantities::duration(*after_s)))
        }
        None => Err("the method was not reached".to_owned()),
    }
}

fn folded(table: Table) -> Block {
    let settings: usize = table.groups.iter().map(|group| group.rows.len()).sum();
    let summary = format!("The numbers: {}", words::plural(settings, "setting"));
    Block::Folded { summary: summary.into(), appendix: false, open: false, blocks: vec![table.into()] }
}

/// A row for every setting.
pub(super) fn table(method: &str, series: &Series, form: FigureForm) -> Table {
    let variants = form.variants_of(series);
    let (along, scale) = match form.shape {
        FigureShape::Sweep(along, scale) => (along, scale),
        FigureShape::Distribution(_) => ("setting", fathom_core::experiment::Scale::Count),
    };
    let first = variants.first().map_or("", |(name, _)| *name);
    let key = Key::of("numbers").within(&format!("{method}-{first}").to_lowercase());
    let caption = format!("{method}: the trials at each setting.");
    let table = Table::new(key, caption).columns([
        Column::words(along),
        Column::count("trials"),
        Column::mixed("mean"),
        Column::mixed("deviation"),
        Column::mixed("least"),
        Column::mixed("greatest"),
    ]);
    variants.into_iter().fold(table, |table, (name, settings)| {
        let row = |trials: &&Trials| row(words::number(scale, trials.at as u64), trials, form.unit);
        let rows: Vec<Row> = settings.iter().map(row).collect();
        table.group(Group { head: Text::plain(name), rows })
    })
}

fn row(setting: String, trials: &Trials, unit: Unit) -> Row {
    let mean = statistics::mean(&trials.values);
    let written =
        |value: Option<f64>| value.map_or(ABSENT.to_owned(), |value| quantities::value(unit, value));
    let values = || trials.values.iter().copied();
    Row::of([
        setting,
        trials.values.len().to_string(),
        written(mean.as_ref().map(|mean| mean.value)),
        written(mean.and_then(|mean| mean.deviation)),
        written(values().reduce(f64::min)),
        written(values().reduce(f64::max)),
    ])
}
