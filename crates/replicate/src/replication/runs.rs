//! Every trial of the small sets, one by one, with the one that an author left out by hand.

use super::cells::operation;
use crate::record::Replication;
use crate::table::Compared;
use crate::{Fit, Replica, farthest};
use fathom_core::quantities::Measure;
use fathom_engine::record::TrialOutcome;
use fathom_report::paper::{Block, Column, Key, Row, Table, Text};
use fathom_report::words::plural;

/// The most trials that the table shows; the replication's file has all.
const MOST: usize = 20;

/// The table; `None` where no row has so few trials.
pub(super) fn table(replication: &Replication, rows: &[Compared]) -> Option<Block> {
    let rows: Vec<Row> = rows.iter().filter_map(|compared| row(replication, compared)).collect();
    let summary = format!("Every trial, one by one: {}", plural(rows.len(), "row"));
    let caption = format!("Trials in order of time, where there are at most {MOST}, all at one setting.");
    let table = Table::new(Key::of("trials"), caption)
        .columns([Column::words("operation"), Column::count("trials"), Column::words("each, in order")])
        .rows(rows.clone());
    let blocks = vec![table.into()];
    (!rows.is_empty()).then(|| Block::Folded { summary: summary.into(), appendix: true, open: false, blocks })
}

fn row(replication: &Replication, compared: &Compared) -> Option<Row> {
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
