//! The report's figures, redrawn, with their numbers; and the sweeps that no figure of the report shows.

use super::cells::prediction;
use crate::record::Replication;
use crate::table::Compared;
use crate::{Drawn, FigureForm, FigureShape, Method, Picture, Report, Series, Trials, Variants};
use fathom_core::experiment::Scale;
use fathom_core::quantity::Unit;
use fathom_core::{quantities, sorting, statistics};
use fathom_engine::record::TrialOutcome;
use fathom_report::figure::DrawnFigure;
use fathom_report::figure::curves::{Curve, Curves};
use fathom_report::figure::distribution;
use fathom_report::figure::mark::Mark;
use fathom_report::figure::svg::SERIES;
use fathom_report::paper::{self, Block, Column, Group, Key, Row, Section, Table, Text};
use fathom_report::references::{self, Figure, Kind, Value};
use fathom_report::words::{self, ABSENT};

/// Fewer settings than this make no sweep.
const LEAST: usize = 3;

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
    let figures = figures((method, series), form, &numbers.key, |part| {
        let key = Key::of("figure").within(&format!("picture-{place}-{part}"));
        (key, format!("{} of the report.", titled(picture)))
    });
    if figures.is_empty() {
        return Err("too few settings or trials were measured".to_owned());
    }
    Ok((figures, numbers))
}

fn series_of<'a>(method: &str, replication: &'a Replication) -> Result<&'a Series, String> {
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
fn table(method: &str, series: &Series, form: FigureForm) -> Table {
    let variants = form.variants_of(series);
    let (along, scale) = match form.shape {
        FigureShape::Sweep(along, scale) => (along, scale),
        FigureShape::Distribution(_) => ("setting", Scale::Count),
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

/// What the report's methods measured at several settings and no figure of the report shows, each as a picture and a table; `None` where
/// every sweep is in a figure of the report.
pub(super) fn sweeps(report: &Report, replication: &Replication, rows: &[Compared]) -> Option<Section> {
    let methods = report.methods().into_iter().filter(|method| !is_drawn(report, method));
    let blocks: Vec<Block> = methods.flat_map(|method| sweep(method, replication, rows)).collect();
    (!blocks.is_empty()).then(|| {
        Section::new(Key::of("sweeps"), "Sweeps without a figure in the report")
            .say("What the report's methods give here at each of their settings, where the report has a table or a sentence only.")
            .with_all(blocks)
    })
}

fn is_drawn(report: &Report, method: &Method) -> bool {
    report
        .figures
        .iter()
        .any(|picture| matches!(picture.drawn, Drawn::By { method: of, .. } if of == method.name))
}

/// The rows that a method fills.
fn rows_of<'rows>(method: &Method, rows: &'rows [Compared]) -> impl Iterator<Item = &'rows Compared> {
    rows.iter().filter(|row| row.row.method() == Some(method.name))
}

/// The pictures and the table of one method; none if it was not swept, or not measured.
fn sweep(method: &'static Method, replication: &Replication, rows: &[Compared]) -> Vec<Block> {
    let unit = rows_of(method, rows).next().map_or(Unit::Nanoseconds, |row| row.row.unit);
    let Ok(series) = series_of(method.name, replication) else { return vec![] };
    if !is_swept(series) {
        return vec![];
    }
    let shape = FigureShape::Sweep("setting", Scale::Count);
    let form = FigureForm { variants: Variants::ALL, unit, shape };
    let table = beside_theirs(table(method.name, series, form), method, rows);
    let mut blocks = figures((method.name, series), form, &table.key, |place| {
        let key = Key::of("sweep").within(&format!("{}-{place}", method.name.to_lowercase()));
        (key, format!("{}.", method.name))
    });
    blocks.push(table.into());
    blocks
}

/// The table with what the report predicted and printed at each setting: its instructions, cycles and times.
fn beside_theirs(mut table: Table, method: &Method, rows: &[Compared]) -> Table {
    let Some(first) = rows_of(method, rows).find_map(|row| row.theirs) else { return table };
    let at = |setting: &str| -> Vec<&'static Figure> {
        let is_it = |figure: &&Figure| {
            let is_at = |(_, at): (&str, u64)| words::number(Scale::Count, at) == setting;
            figure.operation() == first.operation() && figure.parameter().is_some_and(is_at)
        };
        references::of_report(first.source()).filter(is_it).collect()
    };
    table.columns.extend([
        Column::count("report, instructions"),
        Column::mixed("report, predicted"),
        Column::mixed("report, measured"),
        Column::number("report, measured", "cycles"),
    ]);
    for row in table.groups.iter_mut().flat_map(|group| &mut group.rows) {
        let figures = at(&row.cells[0].words());
        row.cells.extend(their_cells(&figures).map(Text::plain));
    }
    table.without_empty_columns(ABSENT)
}

/// Instructions, prediction, result and cycles of the report's figures at one setting.
fn their_cells(figures: &[&'static Figure]) -> [String; 4] {
    let measured = || figures.iter().copied().find(|figure| figure.kind() == Kind::Measured);
    let time = |value: Option<f64>| {
        let unit = figures.first().and_then(|figure| figure.unit().quantity());
        value.zip(unit).map(|(value, unit)| quantities::value(unit, value))
    };
    let number = |key: &str| figures.iter().find_map(|figure| figure.number(key)).map(quantities::number);
    let cycles = measured().and_then(|figure| figure.number("cycles")).map(quantities::number);
    let printed = measured().and_then(Figure::value).map(Value::printed);
    let all = [number("instructions"), time(measured().and_then(prediction)), time(printed), cycles];
    all.map(|cell| cell.unwrap_or_else(|| ABSENT.to_owned()))
}

/// Whether a variant has enough settings.
fn is_swept(series: &Series) -> bool {
    series.variants().iter().any(|(_, settings)| settings.len() >= LEAST)
}

/// The figures of the selected variants, each with a key and an opening of its caption by its place, and the table of their numbers;
/// empty if nothing was swept and there are too few trials for a distribution.
fn figures(
    (method, series): (&str, &Series),
    form: FigureForm,
    numbers: &Key,
    named: impl Fn(usize) -> (Key, String),
) -> Vec<Block> {
    let figure = |(place, drawn): (usize, DrawnFigure)| {
        let (key, opening) = named(place);
        Block::from(paper::Figure {
            key,
            caption: Text::plain(format!("{opening} {}", drawn.explained())),
            data: Some(numbers.clone()),
            drawing: drawn.svg,
            otherwise: drawn.otherwise,
            spread: drawn.spread,
        })
    };
    drawings((method, series), form).into_iter().enumerate().map(figure).collect()
}

fn drawings((method, series): (&str, &Series), form: FigureForm) -> Vec<DrawnFigure> {
    let FigureForm { unit, shape, .. } = form;
    let variants = form.variants_of(series);
    match shape {
        FigureShape::Sweep(along, scale) => {
            let curve = |(name, settings): &(&str, Vec<&Trials>)| {
                let marks = settings.iter().filter_map(|trials| {
                    let setting = words::number(scale, trials.at as u64);
                    Some((trials.at, mark(unit, &format!("{name} {along} {setting}"), trials)?))
                });
                let mut marks: Vec<(f64, Mark)> = marks.collect();
                sorting::by_number(&mut marks, |(at, _)| *at);
                (marks.len() >= LEAST).then(|| Curve::of(named(name, method), marks))
            };
            let mut curves: Vec<Curve> = variants.iter().filter_map(curve).collect();
            let mut figures = vec![];
            while !curves.is_empty() {
                let rest = curves.split_off(SERIES.min(curves.len()));
                let shown = Curves {
                    shared: String::new(),
                    of: method,
                    statistic: "Mean",
                    along,
                    named: along.to_owned(),
                    scale,
                    unit,
                    members: curves,
                    elsewhere: 0,
                    landmarks: vec![],
                };
                figures.push(shown.figure());
                curves = rest;
            }
            figures
        }
        FigureShape::Distribution(at) => {
            let is_at = |trials: &&&Trials| at.is_none_or(|at| (trials.at - at).abs() < 0.5);
            let trials = |(name, settings): (&str, Vec<&Trials>)| {
                let values = settings.iter().filter(is_at).flat_map(|trials| &trials.values);
                (named(name, method), values.copied().collect())
            };
            let trials = variants.into_iter().map(trials).collect();
            distribution::of_trials(method, unit, trials).into_iter().collect()
        }
    }
}

/// The name of a variant; that of the method if it has only one variant.
fn named(variant: &str, method: &str) -> String {
    if variant.is_empty() { method.to_owned() } else { variant.to_owned() }
}

/// The mean of the trials with its interval; `None` without trials.
fn mark(unit: Unit, what: &str, trials: &Trials) -> Option<Mark> {
    let mean = statistics::mean(&trials.values).filter(|mean| mean.value.is_finite())?;
    let ends = mean.interval.map(|interval| (interval.low, interval.high));
    let words = format!("{}: {}", what.trim(), quantities::rounded(unit, mean.value, ends));
    Some(Mark::of(mean.value, ends, words))
}
