//! This machine and the nearest published ones: figures by the same methods, without the doubtful ones. `--beside` shows all of a
//! machine's, with their doubts.

use super::sections::linked;
use crate::paper::{Column, Group, Key, Row, Section, Table, Text};
use crate::references::{self, Beside, Machine, Value};
use crate::words::ABSENT;
use crate::{finding, words};
use fathom_core::experiment::{Piece, Statement};
use fathom_core::quantities;
use fathom_core::quantity::{Kind, Unit};
use fathom_engine::results::{PointResult, Results};

/// The number of machines.
const MACHINES: usize = 3;

/// The most points of one experiment: the first, the last, and those between them at equal distances.
const MOST_POINTS: usize = 3;

/// The nearest machines, and the points of the run with the sound figures of each.
pub(super) struct Nearest<'run> {
    machines: Vec<&'static Machine>,
    points: Vec<(&'run PointResult, Vec<Beside<'run>>)>,
}

impl<'run> Nearest<'run> {
    pub(super) fn of(results: &'run Results) -> Self {
        let machines = references::nearest(&results.run.header.machine, MACHINES);
        // A size may be a limit that was set: more of it is neither better nor worse.
        let is_sound = |row: &Beside| {
            matches!(row.there.value, Value::AsPrinted(_))
                && row.ratio.is_some()
                && row.here.unit.kind() != Kind::Size
        };
        let mut points: Vec<(&PointResult, Vec<Beside>)> = vec![];
        for row in references::beside(results, &machines).into_iter().filter(is_sound) {
            match points.iter_mut().find(|(point, _)| std::ptr::eq(*point, row.here)) {
                Some((_, rows)) => rows.push(row),
                None => points.push((row.here, vec![row])),
            }
        }
        Nearest { machines, points }
    }

    /// The section; `None` if no figure is comparable.
    pub(super) fn section(&self, results: &Results) -> Option<Section> {
        let columns = [Column::words("operation"), Column::mixed("here")];
        let there = self.machines.iter().map(|machine| Column::mixed(name(machine)));
        let notes = [Column::words("what their sources measured, where it is not the same")];
        let caption = self.machines.iter().fold(
            Text::plain("Beside the nearest published machines: "),
            |caption, machine| {
                let sources = machine.sources.iter().filter_map(|source| references::source(source));
                sources
                    .fold(caption.and(format!("{} ", machine.title())), |caption, source| {
                        caption.cite(&*source.title)
                    })
                    .and("; ")
            },
        );
        let caption = caption.and("in brackets, this machine over that one.");
        let mut table = Table::new(Key::of("nearest-table"), caption)
            .columns(columns.into_iter().chain(there).chain(notes));
        for of_one in self.points.chunk_by(|(one, _), (other, _)| one.experiment == other.experiment) {
            let rows = spread(of_one).into_iter().map(|(point, rows)| self.row(point, rows));
            table = table.group(Group::named(linked(results, &of_one[0].0.experiment)).rows(rows));
        }
        (!self.points.is_empty()).then(|| {
            Section::new(Key::of("nearest"), "Beside the nearest published machines")
                .say(Text::prose(READING))
                .with(table.without_empty_columns(ABSENT))
        })
    }

    fn row(&self, point: &PointResult, rows: &[Beside]) -> Row {
        let there = self.machines.iter().map(|machine| {
            let row = rows.iter().find(|row| row.machine.id == machine.id);
            row.map_or(Text::plain(ABSENT), |row| Text::plain(value(row)))
        });
        let cells = [words::short_label(point, &point.point).into(), Text::strong(written(point))];
        let notes = match self.differences(point).as_slice() {
            [] => Text::plain(ABSENT),
            notes => Text::prose(&notes.join(" ")),
        };
        Row::of(cells.into_iter().chain(there).chain([notes]))
    }

    /// Every point with how many times as good it is here as on those machines, in the geometric mean; the best first.
    pub(super) fn merits(&self) -> Vec<(&'run PointResult, f64)> {
        let merit = |(point, rows): &(&'run PointResult, Vec<Beside>)| {
            let logs: Vec<f64> = rows.iter().filter_map(|row| Some(row.ratio?.value.ln())).collect();
            let times = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
            (*point, if is_rate(point.unit) { times } else { 1.0 / times })
        };
        // An interval that contains the published figure shows no difference.
        let differs = |row: &Beside| {
            row.ratio.is_some_and(|ratio| ratio.interval.is_some_and(|ends| !ends.contains(1.0)))
        };
        let certain = self.points.iter().filter(|(_, rows)| rows.iter().all(differs));
        let mut merits: Vec<(&PointResult, f64)> = certain.map(merit).collect();
        fathom_core::sorting::by_number(&mut merits, |(_, merit)| -merit);
        merits
    }

    /// A point's figures on those machines, as the table has them: `Intel Core i7 6700HQ: 41.5 µs (0.0536×)`.
    pub(super) fn others(&self, point: &PointResult) -> String {
        let rows = self.points.iter().find(|(other, _)| std::ptr::eq(*other, point)).map(|(_, rows)| rows);
        let named = |row: &Beside| format!("{}: {}", name(row.machine), value(row));
        rows.map(|rows| rows.iter().map(named).collect::<Vec<_>>().join(", ")).unwrap_or_default()
    }

    /// How the published methods differ from the point's, each note once.
    pub(super) fn differences(&self, point: &PointResult) -> Vec<&'static str> {
        let rows = self.points.iter().find(|(other, _)| std::ptr::eq(*other, point)).map(|(_, rows)| rows);
        let mut notes: Vec<&str> = vec![];
        for row in rows.into_iter().flatten().filter(|row| !row.differs.is_empty()) {
            if !notes.contains(&row.differs) {
                notes.push(row.differs);
            }
        }
        notes
    }

    /// The machines in words: "Intel Core i7 6700HQ, Ubuntu 22.04".
    pub(super) fn names(&self) -> String {
        self.machines.iter().map(|machine| machine.title()).collect::<Vec<_>>().join("; ")
    }
}

const READING: &str = "The published machines that are nearest by operating system and clock, where a point of this run repeats their \
    method. Doubtful figures are left out; `fathom report RUN --beside MACHINE` has them with the reasons. Published figures have no \
    interval, so a ratio is no more certain than they are, and the machines are laptops measured without a hypervisor.";

/// The value of a point with its interval: `187 ns (186–188)`.
pub(super) fn written(point: &PointResult) -> String {
    point
        .figure()
        .map(|figure| finding::text(&Statement(vec![Piece::Figure(figure.named("it"))])))
        .unwrap_or_default()
}

/// Whether more of it is better.
fn is_rate(unit: Unit) -> bool {
    matches!(unit, Unit::BytesPerSecond | Unit::Bytes)
}

fn name(machine: &Machine) -> String {
    machine.text("cpu").or(machine.text("model")).unwrap_or(&machine.id).to_owned()
}

fn value(row: &Beside) -> String {
    let ratio = row.ratio.map_or(ABSENT.to_owned(), |ratio| quantities::factor(ratio.value));
    format!("{} ({ratio})", quantities::value(row.here.unit, row.there.value.printed()))
}

fn spread<T>(all: &[T]) -> Vec<&T> {
    let last = all.len().saturating_sub(1);
    if all.len() <= MOST_POINTS {
        return all.iter().collect();
    }
    (0..MOST_POINTS).map(|place| &all[place * last / (MOST_POINTS - 1)]).collect()
}
