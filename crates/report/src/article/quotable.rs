//! Which main figures of a run may be quoted, and of which state of the core they are.

use super::one_page;
use super::quotation::Quotation;
use crate::main_figures::{self, FigureSource, Main, Ranked};
use crate::paper::{Block, Column, Key, Row, Table, Text};
use crate::precision::USEFUL;
use crate::summary::{self, RowOf};
use crate::verdict::Trust;
use crate::words::ABSENT;
use crate::{at_usual, denied, occupancy};
use fathom_core::quantities;
use fathom_engine::results::{PointResult, Results};

/// The figures that are judged: the operations of the published reports, or of a run without these all main figures.
fn judged<'run>(results: &'run Results) -> Vec<Ranked<'run>> {
    let operations = one_page::operations(results);
    if operations.is_empty() { main_figures::all(results) } else { operations }
}

/// How many may be quoted, in words.
pub(super) fn quoted(certain: usize) -> String {
    match certain {
        0 => "none may be quoted by itself".to_owned(),
        1 => "1 may be quoted by itself".to_owned(),
        certain => format!("{certain} may be quoted by themselves"),
    }
}

/// How many figures may be quoted by themselves, of how many.
pub(super) fn certain(results: &Results) -> (usize, usize) {
    number_certain(&judged(results))
}

fn number_certain(all: &[Ranked]) -> (usize, usize) {
    let is_certain = |figure: &&Ranked| Quotation::of(&figure.main) == Quotation::ByItself;
    (all.iter().filter(is_certain).count(), all.len())
}

/// In a sentence, how many figures may be quoted; `None` without figures.
pub(super) fn count(results: &Results) -> Option<Text> {
    let (certain, all) = certain(results);
    (all > 0).then(|| {
        Text::plain(format!("Of its {all} main operations {}; ", quoted(certain)))
            .and(Text::to(&Key::of("conclusion")))
            .and(" says which, and how the others may be.")
    })
}

/// Which figures may be quoted, and as what; nothing without figures.
pub(super) fn verdict(results: &Results) -> Vec<Block> {
    let all = judged(results);
    if all.is_empty() {
        return vec![];
    }
    let table = table(results, &all);
    let planned =
        main_figures::without_value(results, |name| all.iter().any(|figure| figure.experiment == name));
    let (certain, number) = number_certain(&all);
    let lead = Text::strong("What may be quoted.")
        .and(" ")
        .and(Text::to(&table.key))
        .and(" says it of each main operation.")
        .and(reconciled(Trust::of(results), certain, number))
        .and(Text::prose(&without(&planned)));
    vec![Block::Paragraph(lead), table.into()]
}

/// Why figures of a run of low trust may be quoted by themselves; nothing of another run, and without such figures.
fn reconciled(trust: Trust, certain: usize, all: usize) -> String {
    if trust != Trust::Low || certain == 0 {
        return String::new();
    }
    format!(
        " Trust in the run is low because most of all its values have wider intervals; that of these {all} main operations {} is no contradiction: each is judged by its own interval.",
        quoted(certain)
    )
}

fn table(results: &Results, all: &[Ranked]) -> Table {
    let caption = format!(
        "What may be quoted. By itself: within {}, not of a core that was shared, always or at times, and without another measurement of the same operation that is further away than that. ±: how far the farther end of the 95 % interval, not rounded outwards as it is elsewhere, is from the \
         value.{}{}{}{}",
        quantities::target(USEFUL),
        of_repetition(results, all),
        occupancy::mark_legend(all.iter().filter_map(|figure| figure.main.point())),
        at_usual::legend(all.iter().filter_map(|figure| figure.main.point())),
        denied::legend(all.iter().filter_map(|figure| figure.main.point()))
    );
    let columns = [
        Column::words("figure"),
        Column::mixed("value"),
        Column::number("±", "%"),
        Column::mixed(occupancy::SHARED),
        Column::words("to be quoted"),
    ];
    Table::new(Key::of("quotable-table"), caption)
        .columns(columns)
        .rows(all.iter().map(|figure| row(results, &figure.main)))
        .without_empty_columns(ABSENT)
}

/// That the interval of a figure in cycles of the core, as observed, which is narrower than the core's frequency varied in its trials, is of what
/// this run finds again; empty without one.
fn of_repetition(results: &Results, all: &[Ranked]) -> String {
    let varied = |main: &Main| {
        let [low, high] = clock_as_observed(results, main)?;
        let reaches = main.reaches();
        let is_narrower = |reach: &Option<f64>| reach.is_some_and(|reach| reach < high / low - 1.0);
        (!reaches.is_empty() && reaches.iter().all(is_narrower)).then_some([low, high])
    };
    let those: Vec<(&str, [f64; 2])> =
        all.iter().filter_map(|figure| Some((figure.main.name.as_str(), varied(&figure.main)?))).collect();
    repeated(&those)
}

/// The sentence on figures with the least and the greatest frequency of the core in their trials, hertz.
fn repeated(those: &[(&str, [f64; 2])]) -> String {
    let named = |(name, [low, high]): &(&str, [f64; 2])| {
        format!("{name} (the core at {} to {})", quantities::frequency(*low), quantities::frequency(*high))
    };
    let all: Vec<String> = those.iter().map(named).collect();
    if all.is_empty() {
        return String::new();
    }
    format!(
        " As observed, and narrower than the core's frequency varied, ± says how well this run finds the value again, and not how far it is from that \
         at one frequency: {}.",
        all.join("; ")
    )
}

/// Between which frequencies the core ran in the trials of a figure that follows it and is not moved to the usual one; `None` of others.
fn clock_as_observed(results: &Results, main: &Main) -> Option<[f64; 2]> {
    let own = |point: &PointResult| {
        let follows = point.core_cycles.is_some() && point.at_frequency.is_none();
        point.disturbance.core_hz.filter(|(low, _)| follows && *low > 0.0).map(|(low, high)| [low, high])
    };
    match main.source {
        FigureSource::Point(point) => own(point),
        FigureSource::Slope(trend) => {
            let is_on_it = |point: &&PointResult| point.point.without(&trend.along) == trend.group;
            let all = results.of_experiment(&trend.experiment).filter(is_on_it).filter_map(own);
            all.reduce(|[low, high], [other_low, other_high]| [low.min(other_low), high.max(other_high)])
        }
    }
}

fn row(results: &Results, main: &Main) -> Row {
    let quotation = Quotation::of(main);
    // Of a limit neither says anything of the machine.
    let (value, reach) = match quotation {
        Quotation::OfALimit => (ABSENT.to_owned(), ABSENT.to_owned()),
        _ => (main.written().median, widest(&main.reaches())),
    };
    let name = main.reader_label() + &main.marks(results);
    Row::of([name, value, reach, with_the_core_shared(main), quotation.words(main)])
}

/// The value that programs find while the core is shared, beside one of the core alone.
fn with_the_core_shared(main: &Main) -> String {
    let rows = main.point().map(summary::of_point).unwrap_or_default();
    let shared = rows.into_iter().find(|row| row.of == RowOf::CoreShared);
    shared.map_or(ABSENT.to_owned(), |row| row.measured)
}

/// The least width that is told, in per cent: no value has digits for less.
const LEAST: f64 = 0.01;

/// How far the farthest end of all states is, in per cent of the value; absent where one has no interval.
fn widest(reaches: &[Option<f64>]) -> String {
    let all: Option<Vec<f64>> = reaches.iter().copied().collect();
    let farthest = all.and_then(|all| all.into_iter().reduce(f64::max));
    match farthest.map(|reach| reach * 100.0) {
        None => ABSENT.to_owned(),
        Some(percent) if percent < LEAST => format!("< {LEAST}"),
        Some(percent) => quantities::number(percent),
    }
}

/// In a sentence, the planned figures that have no value, those of one reason together: ` Without a value: a; b (the reason).`; nothing
/// without any.
fn without(planned: &[(String, String)]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = vec![];
    for (name, reason) in planned {
        match reasons.iter_mut().find(|(of, _)| of == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let of_one = |(reason, names): &(&str, Vec<&str>)| {
        let reason = reason.trim_end_matches('.');
        let names = names.join(", ");
        if reason.is_empty() { names } else { format!("{names} ({reason})") }
    };
    let all: Vec<String> = reasons.iter().map(of_one).collect();
    if all.is_empty() { String::new() } else { format!(" Without a value: {}.", all.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_trust_and_what_may_be_quoted_are_reconciled() {
        assert!(reconciled(Trust::Low, 14, 34).contains("of these 34 main operations 14 may"));
        assert_eq!(reconciled(Trust::Low, 0, 34) + &reconciled(Trust::Fair, 14, 34), "");
    }

    #[test]
    fn a_width_below_the_spread_of_the_clock_is_of_repetition() {
        assert_eq!(repeated(&[]), "");
        let said = repeated(&[("loop overhead: each iteration", [3.526e9, 3.718e9])]);
        assert!(said.contains("± says how well this run finds the value again"), "{said}");
        assert!(
            said.ends_with(": loop overhead: each iteration (the core at 3.526 GHz to 3.718 GHz)."),
            "{said}"
        );
    }

    #[test]
    fn what_has_no_value_is_named_with_its_reason() {
        let of = |name: &str, reason: &str| (name.to_owned(), reason.to_owned());
        let all = [of("a load", "no time."), of("a trip", "no peer"), of("a stream", "no peer")];
        assert_eq!(
            without(&all),
            " Without a value: a load (no time); a trip, a stream (no peer).",
            "those of one reason together"
        );
        assert_eq!(without(&[]), "");
    }

    #[test]
    fn the_farthest_end_of_all_states_is_shown() {
        assert_eq!(widest(&[Some(0.04), Some(0.3)]), "30.0");
        assert_eq!(widest(&[Some(0.04), None]), ABSENT, "a state without an interval");
        assert_eq!((widest(&[]), widest(&[Some(0.000_012)])), (ABSENT.to_owned(), "< 0.01".to_owned()));
    }
}
