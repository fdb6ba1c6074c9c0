//! The results of a method of a published report, drawn as in the report.

use crate::{FigureForm, FigureShape, Series, Trials};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics;
use fathom_report::figure::DrawnFigure;
use fathom_report::figure::curves::{Curve, Curves};
use fathom_report::figure::distribution;
use fathom_report::figure::mark::Mark;
use fathom_report::figure::svg::SERIES;
use fathom_report::paper::{Block, Figure, Key, Text};
use fathom_report::words;

/// Fewer settings than this make no sweep.
const LEAST: usize = 3;

/// The figures of the selected variants, each with a key and an opening of its caption by its place, and the table of their numbers;
/// empty if nothing was swept and there are too few trials for a distribution.
pub(super) fn figures(
    (method, series): (&str, &Series),
    form: FigureForm,
    numbers: &Key,
    named: impl Fn(usize) -> (Key, String),
) -> Vec<Block> {
    let figure = |(place, drawn): (usize, DrawnFigure)| {
        let (key, opening) = named(place);
        Block::from(Figure {
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
                (marks.len() >= LEAST).then(|| Curve { name: named(name, method), marks, trend: None })
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
    Some(Mark { value: mean.value, ends, states: vec![], predicted: None, core: None, limit: false, words })
}
