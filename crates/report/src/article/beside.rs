//! Published figures next to those of the run. The doubt about a doubtful figure is in a note below its table, and every row
//! has a note on how the methods differ.

use super::sections::linked;
use crate::paper::{Column, Group, Key, Row, Section, Table, Text, Tone};
use crate::references::{self, Beside, Figure, Machine, Ratio, Value};
use crate::words::ABSENT;
use crate::{published, words};
use fathom_core::quantities;
use fathom_engine::results::{Outcome, Results};

/// Published machines, and their figures next to those of a run.
pub struct Published<'run> {
    pub machines: Vec<&'static Machine>,
    /// Their figures, by the points of the run that repeat their methods.
    pub rows: Vec<Beside<'run>>,
}

impl<'run> Published<'run> {
    pub fn beside(results: &'run Results, machines: &[&'static Machine]) -> Self {
        Published { machines: machines.to_vec(), rows: references::beside(results, machines) }
    }
}

pub(crate) const READING: &str = "Ratios are this machine over the published one: above 1, a time is \
    longer here, or a rate or size larger. Published figures have no interval, so a ratio is no more certain than \
    they are. Marked figures are doubtful, and the notes say why. Where the source itself implies a corrected figure, \
    the ratio uses that; a figure that is implausible or was not measured has no ratio.";

pub(crate) fn of(results: &Results, published: &Published) -> Section {
    let mut section = Section::new(Key::of("beside"), "Beside published figures").say(READING);
    for (place, machine) in published.machines.iter().enumerate() {
        section = match table(results, published, machine, place) {
            Some(table) => section.with(table),
            None => section.say(nothing(machine)),
        };
    }
    match not_compared(results) {
        Some(sentence) => section.say(sentence),
        None => section,
    }
}

/// A sentence that names the experiments measured by other versions of their methods, whose figures are not compared.
pub(crate) fn not_compared(results: &Results) -> Option<String> {
    let is_other = |name: &&str| {
        let first = results.of_experiment(name).next();
        first.is_some_and(|point| point.method().is_err_and(|other| other.here.is_some()))
    };
    let names: Vec<&str> = results.experiments().into_iter().filter(is_other).collect();
    let sentence =
        || format!("No figure is compared with {}: they were measured by other methods.", names.join(", "));
    (!names.is_empty()).then(sentence)
}

/// The sentence about a machine without comparable figures.
pub(crate) fn nothing(machine: &Machine) -> String {
    format!("No figure of {} measures the same as a point of this run.", machine.id)
}

/// The figures of one machine, by experiment; `None` if there are none.
pub(crate) fn table(
    results: &Results,
    published: &Published,
    machine: &Machine,
    place: usize,
) -> Option<Table> {
    let mut groups: Vec<(&str, Group)> = vec![];
    for row in published.rows.iter().filter(|row| row.machine.id == machine.id) {
        let name = row.here.experiment.as_str();
        if groups.last().is_none_or(|(last, _)| *last != name) {
            groups.push((name, Group::named(linked(results, name))));
        }
        if let Some((_, group)) = groups.last_mut() {
            group.rows.push(cells(row));
        }
    }
    let columns = [
        Column::words("operation"),
        Column::mixed("here"),
        Column::mixed("95 % interval").optional(),
        Column::mixed("there"),
        Column::mixed("deviation there").optional(),
        Column::ratio("here/there"),
        // An id is not broken across lines, like a number.
        Column::ratio("figure").optional(),
    ];
    let mut table = Table::new(Key::numbered("beside", place + 1), caption(machine)).columns(columns);
    table.groups = groups.into_iter().map(|(_, group)| group).collect();
    (!table.groups.is_empty()).then_some(table)
}

fn caption(machine: &Machine) -> Text {
    let sources = machine.sources.iter().filter_map(|source| references::source(source));
    let caption = Text::plain(format!("Beside {}", published::title(machine)));
    sources.fold(caption, |caption, source| caption.cite(&*source.title)).and(".")
}

fn cells(row: &Beside) -> Row {
    let (here, unit) = (row.here, row.here.unit);
    let median = match &here.outcome {
        Outcome::Value(estimate) => quantities::estimate(unit, estimate),
        other => words::outcome(other).to_owned(),
    };
    let interval = here.estimate().and_then(|estimate| quantities::interval(unit, estimate));
    let deviation = row.there.deviation.map(|deviation| quantities::value(unit, deviation));
    let ratio = row.ratio.map(|ratio| quantities::factor(ratio.value));
    let or_absent = |text: Option<String>| Text::plain(text.unwrap_or(ABSENT.to_owned()));
    Row::of([
        Text::plain(words::short_label(here, &here.point)).noted(row.differs),
        Text::plain(median),
        or_absent(interval),
        there(row),
        or_absent(deviation),
        or_absent(ratio),
        Text::code(row.figure.id()),
    ])
}

/// The published value; a doubtful one with its mark.
fn there(row: &Beside) -> Text {
    let number = quantities::value(row.here.unit, row.there.value.printed());
    match doubt(row) {
        None => Text::plain(number),
        Some(doubt) => Text::toned(Tone::Careful, number).noted(doubt),
    }
}

/// The doubt in words: the error, the corrected value, and the value used for the ratio.
fn doubt(row: &Beside) -> Option<String> {
    let Value::Doubtful { doubt, corrected, .. } = row.there.value else { return None };
    let mut text = format!("Doubtful ({}): {}", doubt.name(), doubt_note(row.figure));
    if let Some(corrected) = corrected {
        text += &format!(" Corrected: {}.", quantities::value(row.here.unit, corrected));
    }
    text += match row.ratio {
        Some(Ratio { corrected: true, .. }) => " The ratio uses the corrected figure.",
        Some(_) => " The ratio uses the printed figure.",
        None if doubt.excluded_from_ratios() => " No ratio is given.",
        None => "",
    };
    Some(text)
}

fn doubt_note(figure: &Figure) -> String {
    let note = figure.doubt_note().unwrap_or_default();
    if note.ends_with('.') { note.to_owned() } else { format!("{note}.") }
}
