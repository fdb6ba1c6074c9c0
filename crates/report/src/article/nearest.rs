//! This machine and the nearest published ones: figures by the same methods, without the doubtful ones. Where a source timed something
//! else its figure stands there without a ratio. `--beside` shows all of a machine's, with their doubts.

use super::sections::{linked, title};
use super::standing::{Balance, Standing, alike, are_beyond, merit};
use crate::paper::{Block, Column, Group, Key, Row, Section, Table, Text};
use crate::references::{self, Beside, Machine, Value};
use crate::words::ABSENT;
use crate::{at_usual, cpu_distance, finding, occupancy, words};
use fathom_core::experiment::{Piece, Statement, family};
use fathom_core::machine::Device;
use fathom_core::quantities;
use fathom_core::quantity::Kind;
use fathom_core::statistics;
use fathom_engine::results::{CLOSE, PointResult, Results, distance};

/// The number of machines.
const MACHINES: usize = 3;

/// The most points of one experiment.
const MOST_POINTS: usize = 3;

/// Beyond this factor a ratio of two methods that differ says more of the methods than of the machines.
pub(super) const OF_THE_METHOD: f64 = 5.0;

/// The nearest machines, and the points of the run with the sound figures of each.
pub(super) struct Nearest<'run> {
    machines: Vec<&'static Machine>,
    /// Whether a clock had a part in the choice: this machine's is known, and one of theirs.
    by_clock: bool,
    /// Whether this machine's storage is a virtual disk.
    is_on_a_virtual_disk: bool,
    points: Vec<(&'run PointResult, Vec<Beside<'run>>)>,
}

/// Operations, each with how many times as good it is here.
type Merits<'run> = Vec<(&'run PointResult, f64)>;

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
        let is_known = |machine: &&Machine| references::clock(machine).is_some();
        let by_clock = references::own_clock(&results.run.header.machine).is_some()
            && machines.iter().copied().any(|machine| is_known(&machine));
        let own = &results.run.header.machine;
        let is_virtual = |device: &Device| device.kind.starts_with("virtual disk");
        let is_on_a_virtual_disk = own.is_virtual() && own.storage.device.value().is_some_and(is_virtual);
        Nearest { machines, by_clock, is_on_a_virtual_disk, points }
    }

    /// The section; `None` if no figure is comparable.
    pub(super) fn section(&self, results: &Results) -> Option<Section> {
        let columns = [Column::words("operation"), Column::mixed("here")];
        let there = self.machines.iter().map(|machine| Column::mixed(name(machine)));
        let notes = [Column::words("how their sources measured")];
        let caption = self.machines.iter().fold(
            Text::plain("Beside the nearest published machines: "),
            |caption, machine| {
                let sources = machine.sources.iter().filter_map(|source| references::source(source));
                sources
                    .fold(caption.and(machine.title() + &self.clock(machine)), |caption, source| {
                        caption.cite(&*source.title)
                    })
                    .and("; ")
            },
        );
        let points = || self.points.iter().map(|(point, _)| *point);
        let apart = if points().any(|point| cpu_distance::name(point).is_some()) {
            ", or where this run's CPUs were at several distances"
        } else {
            ""
        };
        let caption = caption.and(format!(
            "in brackets, this machine over that one; no ratio where the source timed another operation, at another placement or path{apart}."
        ));
        let caption = caption.and(occupancy::mark_legend(points()) + &at_usual::legend(points()));
        let of_each = || self.points.chunk_by(|(one, _), (other, _)| one.experiment == other.experiment);
        let rows: usize = of_each().map(|of_one| chosen(of_one).len()).sum();
        let caption = caption.and(excerpt(rows, self.points.len()));
        let mut table = Table::new(Key::of("nearest-table"), caption)
            .columns(columns.into_iter().chain(there).chain(notes));
        for of_one in of_each() {
            let rows = chosen(of_one).into_iter().map(|(point, rows)| self.row(point, rows));
            table = table.group(Group::named(linked(results, &of_one[0].0.experiment)).rows(rows));
        }
        (!self.points.is_empty()).then(|| {
            Section::new(Key::of("nearest"), "Beside the nearest published machines")
                .say(Text::prose(&self.reading(results)))
                .with_all(self.learnt().map(|sentences| Block::Paragraph(Text::plain(sentences))))
                .with(table.without_empty_columns(ABSENT))
        })
    }

    /// Which machines these are, and what follows of them.
    fn reading(&self, results: &Results) -> String {
        let own = references::own_clock(&results.run.header.machine).filter(|_| self.by_clock);
        let of_storage = |(point, _): &(&PointResult, _)| family(&point.experiment) == "filesystem";
        let path = self.path_to_storage().filter(|_| self.points.iter().any(of_storage));
        let path = path.map(|path| format!(" {path}")).unwrap_or_default();
        format!("The published machines that are nearest by {}: {READING}{path}", nearest_by(own))
    }

    /// What is compared where storage is, of a guest: nothing tells it which device its host has, nor what of it the host keeps in memory.
    pub(super) fn path_to_storage(&self) -> Option<&'static str> {
        self.is_on_a_virtual_disk.then_some(
            "Storage here is a virtual disk: what is compared is a host's path to an unknown device, perhaps through a cache of the host, with \
             a published machine's own drive.",
        )
    }

    /// A machine's clock behind its name, where it was chosen by it.
    fn clock(&self, machine: &Machine) -> String {
        let clock = references::clock(machine).filter(|_| self.by_clock);
        clock.map(|hz| format!(" (declared {})", quantities::frequency(hz))).unwrap_or_default()
    }

    fn row(&self, point: &PointResult, rows: &[Beside]) -> Row {
        let there = self.machines.iter().map(|machine| {
            let row = rows.iter().find(|row| row.machine.id == machine.id);
            row.map_or(Text::plain(ABSENT), |row| Text::plain(value(row)))
        });
        let marks = occupancy::mark(point) + &at_usual::mark(point);
        let name = words::short_label(point, &point.point) + &marks;
        let cells = [Text::plain(name), Text::strong(written_with_state(point))];
        Row::of(cells.into_iter().chain(there).chain([notes(rows)]))
    }

    /// What the ratios say together: in how many operations this machine is better and worse, and by how much in each chapter.
    fn learnt(&self) -> Option<String> {
        let [of_the_method, merits] = self.judged();
        let balance = self.balance();
        let Balance { better, worse, all, .. } = balance;
        let by_chapter = times_by(merits.iter().map(|(point, merit)| (family(&point.experiment), *merit)));
        let of_chapter = |(name, times, number): &(&str, f64, usize)| {
            let figures = words::plural(*number, "figure");
            format!("{} {} ({figures})", title(name).to_lowercase(), quantities::factor(*times))
        };
        let chapters: Vec<String> = by_chapter.iter().map(of_chapter).collect();
        let chapters = format!(
            " The time here over the time there (of rates the inverse), in the median of each chapter: {}.",
            chapters.join(", ")
        );
        (!merits.is_empty()).then(|| {
            format!(
                "Of {} that sources measured alike this machine is better by more than a factor of {CLOSE} in {better}, worse in {worse}{}, each with its whole \
                 interval beyond that factor, and not shown to be either in {}.{chapters}{}",
                words::plural(all, "operation"),
                balance.more_while_shared(),
                balance.neither(),
                rejected(&of_the_method)
            )
        })
    }

    /// The operations that sources timed alike with how many times as good they are here: those of which the ratio says more of the
    /// method, and the others.
    fn judged(&self) -> [Merits<'_>; 2] {
        let all = self.points.iter().filter_map(|(point, rows)| Some((*point, merit(point, rows)?)));
        let (of_the_method, others) = all.partition(|(point, merit)| self.is_of_the_method(point, *merit));
        [of_the_method, others]
    }

    /// The operations that sources timed alike, without those of which the ratio says more of the method.
    pub(super) fn comparable(&self) -> Vec<(&PointResult, f64)> {
        let [_, merits] = self.judged();
        merits
    }

    /// In how many of them this machine is better and worse.
    pub(super) fn balance(&self) -> Balance {
        let [_, merits] = self.judged();
        Balance::of(merits.iter().map(|(point, merit)| self.standing(point, *merit)))
    }

    /// How a point that is so many times as good here stands to what the sources timed alike.
    pub(super) fn standing(&self, point: &PointResult, merit: f64) -> Standing {
        let mut mine = self.points.iter().filter(|(other, _)| std::ptr::eq(*other, point));
        let is_beyond = mine.any(|(_, rows)| are_beyond(rows));
        Standing::of(merit, is_beyond, occupancy::beside_a_neighbour(point).is_some())
    }

    /// Whether a ratio says more of methods that differ than of the machines.
    pub(super) fn is_of_the_method(&self, point: &PointResult, merit: f64) -> bool {
        distance(merit) > OF_THE_METHOD && !self.differences(point).is_empty()
    }

    /// The number of machines whose sources timed the point's operation, and that of all.
    pub(super) fn number_alike(&self, point: &PointResult) -> (usize, usize) {
        let rows = self.points.iter().find(|(other, _)| std::ptr::eq(*other, point)).map(|(_, rows)| rows);
        (rows.map_or(0, |rows| alike(rows).count()), self.machines.len())
    }

    /// Every point that is better or worse for certain, with the core alone if that may matter, with how many times as good it is here as on those machines, in the geometric mean;
    /// the best first. Figures of another operation count for nothing.
    pub(super) fn merits(&self) -> Vec<(&'run PointResult, f64)> {
        let merit = |(point, rows): &(&'run PointResult, Vec<Beside>)| Some((*point, merit(point, rows)?));
        let all = self.points.iter().filter_map(merit);
        let mut merits: Vec<(&PointResult, f64)> = all
            .filter(|(point, merit)| {
                matches!(self.standing(point, *merit), Standing::Better | Standing::Worse)
            })
            .collect();
        fathom_core::sorting::by_number(&mut merits, |(_, merit)| -merit);
        merits
    }

    /// Whether a source timed an operation of this family of experiments as this run did.
    pub(super) fn compares(&self, of: &str) -> bool {
        self.points
            .iter()
            .any(|(point, rows)| family(&point.experiment) == of && alike(rows).next().is_some())
    }

    /// A point's figures on those machines, as the table has them: `Intel Core i7 6700HQ: 41.5 µs (0.0536×)`.
    pub(super) fn others(&self, point: &PointResult) -> String {
        let rows = self.points.iter().find(|(other, _)| std::ptr::eq(*other, point)).map(|(_, rows)| rows);
        let named = |row: &Beside| format!("{}: {}", name(row.machine), value(row));
        rows.map(|rows| alike(rows).map(named).collect::<Vec<_>>().join(", ")).unwrap_or_default()
    }

    /// How the methods of the figures that are compared differ from the point's, each note once.
    pub(super) fn differences(&self, point: &PointResult) -> Vec<&'static str> {
        let rows = self.points.iter().find(|(other, _)| std::ptr::eq(*other, point)).map(|(_, rows)| rows);
        let mut notes: Vec<&str> = vec![];
        for row in rows.into_iter().flat_map(|rows| alike(rows)).filter(|row| !row.differs.is_empty()) {
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

/// The operations that no count and no median has, because their ratio is of the methods.
fn rejected(all: &[(&PointResult, f64)]) -> String {
    let name = |(point, _): &(&PointResult, f64)| {
        format!("{} {}", point.experiment, words::short_label(*point, &point.point))
    };
    let names: Vec<String> = all.iter().map(name).collect();
    without(&names)
}

fn without(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(
        " {} in none of these numbers, because methods differ and the ratio is beyond {OF_THE_METHOD}: {}.",
        words::plural(names.len(), "more operation") + if names.len() == 1 { " is" } else { " are" },
        names.join("; ")
    )
}

const READING: &str = "laptops, measured without a hypervisor. \
    Where both have an operation this shows what a program finds here that was tuned on such a laptop. Doubtful figures are left out; \
    `fathom report RUN --beside MACHINE` has them with the reasons. Published figures have no interval, so a ratio is no more certain than \
    they are.";

/// The time here over the time there, of rates the inverse, in the median of each group, and the number of its figures: the groups in the
/// order in which they come.
pub(super) fn times_by<'name>(
    merits: impl Iterator<Item = (&'name str, f64)>,
) -> Vec<(&'name str, f64, usize)> {
    let mut groups: Vec<(&str, Vec<f64>)> = vec![];
    for (group, merit) in merits {
        // Of an even number the middle two by their ratio: here over there is then the inverse of there over here.
        let logarithm = -merit.ln();
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, all)) => all.push(logarithm),
            None => groups.push((group, vec![logarithm])),
        }
    }
    let median =
        |(group, all): (&'name str, Vec<f64>)| Some((group, statistics::median(&all)?.exp(), all.len()));
    groups.into_iter().filter_map(median).collect()
}

/// By what the published machines are nearest, with this machine's clock if that is part of it.
fn nearest_by(own: Option<f64>) -> String {
    match own {
        Some(hz) => {
            let hz = quantities::frequency(hz);
            format!(
                "operating system and declared clock (here {hz}, which need not be that at which the cores ran)"
            )
        }
        None => "operating system".to_owned(),
    }
}

/// How the sources measured, each note behind the numbers of those that it is of.
fn notes(rows: &[Beside]) -> Text {
    let mut all: Vec<(&str, Vec<&Machine>)> = vec![];
    for row in rows.iter().filter(|row| !row.differs.is_empty()) {
        match all.iter_mut().find(|(note, _)| *note == row.differs) {
            Some((_, machines)) => machines.push(row.machine),
            None => all.push((row.differs, vec![row.machine])),
        }
    }
    if all.is_empty() {
        return Text::plain(ABSENT);
    }
    all.iter().enumerate().fold(Text::default(), |text, (place, (note, machines))| {
        let text = if place > 0 { text.and(" ") } else { text };
        let first = |machine: &&Machine| references::source(machine.sources.first()?);
        let noted = text.and(Text::prose(note));
        machines.iter().filter_map(first).fold(noted, |text, source| text.cite(&*source.title))
    })
}

/// The value of a point with its interval: `187 ns (186–188)`.
pub(super) fn written(point: &PointResult) -> String {
    point
        .figure()
        .map(|figure| finding::text(&Statement(vec![Piece::Figure(figure.named("it"))])))
        .unwrap_or_default()
}

/// The same with the state of the core, where it is not that of the core alone: a published machine had its core to itself.
pub(super) fn written_with_state(point: &PointResult) -> String {
    let apart = cpu_distance::unless_usual(point).unwrap_or_default();
    let state = occupancy::beside_a_neighbour(point).map(|state| format!(" ({state})")).unwrap_or_default();
    written(point) + &state + &apart
}

/// Whether more of it is better.
fn name(machine: &Machine) -> String {
    machine.text("cpu").or(machine.text("model")).unwrap_or(&machine.id).to_owned()
}

fn value(row: &Beside) -> String {
    let value = quantities::value(row.here.unit, row.there.value.printed());
    match row.ratio.filter(|_| !row.is_unlike) {
        Some(ratio) => format!("{value} ({})", quantities::factor(ratio.value)),
        None => value,
    }
}

/// What a caption says of a table that has some of the operations only.
fn excerpt(rows: usize, all: usize) -> String {
    if rows == all {
        return String::new();
    }
    format!(
        " An excerpt: {} of {}, of each experiment the first, the last and one between them.",
        quantities::count(rows),
        words::plural(all, "operation")
    )
}

/// The rows of an experiment that the excerpt has.
fn chosen<'all, 'run>(
    all: &'all [(&'run PointResult, Vec<Beside<'run>>)],
) -> Vec<&'all (&'run PointResult, Vec<Beside<'run>>)> {
    let merits: Vec<Option<f64>> = all.iter().map(|(point, rows)| merit(point, rows)).collect();
    places(&merits).into_iter().map(|place| &all[place]).collect()
}

/// The places of the best and the worst of so many operations, which the conclusion may quote, and of the first and the last, until there
/// are [`MOST_POINTS`]; in their order.
fn places(merits: &[Option<f64>]) -> Vec<usize> {
    if merits.len() <= MOST_POINTS {
        return (0..merits.len()).collect();
    }
    let judged = || merits.iter().enumerate().filter_map(|(place, merit)| Some((place, (*merit)?)));
    let best = judged().max_by(|(_, one), (_, other)| one.total_cmp(other));
    let worst = judged().min_by(|(_, one), (_, other)| one.total_cmp(other));
    let furthest = [best, worst].into_iter().flatten().map(|(place, _)| place);
    let last = merits.len() - 1;
    let mut places: Vec<usize> = vec![];
    for place in furthest.chain([0, last, last / 2]) {
        if places.len() < MOST_POINTS && !places.contains(&place) {
            places.push(place);
        }
    }
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_some_operations_says_that_it_is_an_excerpt() {
        assert_eq!(excerpt(7, 7), "");
        assert!(excerpt(7, 9).contains("An excerpt: 7 of 9 operations"), "{}", excerpt(7, 9));
    }

    #[test]
    fn the_clock_by_which_machines_are_nearest_is_not_called_that_of_the_cores() {
        assert_eq!(nearest_by(None), "operating system");
        let by = nearest_by(Some(2.596e9));
        assert_eq!(
            by,
            "operating system and declared clock (here 2.596 GHz, which need not be that at which the cores ran)"
        );
    }

    #[test]
    fn an_excerpt_has_the_best_and_the_worst() {
        assert_eq!(places(&[None; 5]), [0, 2, 4], "the first, the last and one between");
        assert_eq!(places(&[Some(1.0), Some(0.4), Some(1.2), Some(3.0), Some(1.1)]), [0, 1, 3]);
        assert_eq!(places(&[Some(3.0), None, Some(0.4), None, None]), [0, 2, 4]);
        assert_eq!(places(&[None, Some(2.0)]), [0, 1], "all");
    }

    #[test]
    fn what_is_in_no_median_is_named() {
        assert_eq!(without(&[]), "");
        let text = without(&["cpu/context_switch pipe".to_owned()]);
        assert!(
            text.starts_with(" 1 more operation is in none") && text.ends_with(": cpu/context_switch pipe."),
            "{text}"
        );
    }
}
