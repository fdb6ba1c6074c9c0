//! Comparisons of two runs, or of two groups of runs: what got better, what worse, by how much, and with what certainty. A
//! pure function of run files.
//!
//! Each point's ratio has an interval, and is judged against a margin ([`Verdict`]). The differences between the machines
//! and their settings ([`Difference`]) come before any figure, and points that must not be compared are not
//! ([`NotCompared`]).

mod composition;
mod differences;
mod equal_frequency;
mod families;
mod family;
mod history;
mod like_with_like;
mod margins;
mod measured_again;
mod pairing;
mod repeatability;
mod side;
mod verdict;

pub use composition::{Composition, UnjudgedFamily};
pub use differences::{Difference, REFUSED};
pub use families::PooledFamily;
pub use history::{History, histories};
pub use margins::Margins;
pub use repeatability::Repeatability;
pub use side::{Level, ReducedRun, Side};
pub use verdict::{Decision, FALSE_DISCOVERIES, Verdict, decide};

use self::equal_frequency::EqualFrequency;
use self::like_with_like::{LevelsOfSide, like_with_like};
use crate::record::MethodParameter;
use crate::results::LINE_HAND_OVER;
use fathom_core::experiment::Point;
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sorting;
use fathom_core::statistics::{Contrast, LogLevel, Measured};
use std::collections::BTreeMap;
use verdict::Judged;

/// The comparison of one side with another.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The differences between the machines and their settings.
    pub differences: Vec<Difference>,
    /// The families of these points that have enough of them, each with one ratio.
    pub families: Vec<PooledFamily>,
    /// The families that have no ratio, because both sides have too few of their points.
    pub unjudged: Vec<UnjudgedFamily>,
    /// The points with a level on both sides, in the order of the first.
    pub rows: Vec<Row>,
    /// The other points.
    pub not_compared: Vec<NotCompared>,
    /// How much more levels vary from run to run than the trials of one run suggest.
    pub repeatability: Repeatability,
    /// Whether the two were measured alternately, so that each trial of the one has a partner of the same minute in the
    /// other.
    pub interleaved: bool,
    /// Whether a run is on both sides, so that it is compared with itself.
    pub of_itself: bool,
    /// Whether every run of the second side is older than all of the first: what is called better is then a loss since.
    pub is_reversed: bool,
    /// Who decides which cores CPUs run on.
    pub placing: CpuPlacing,
}

/// Who decides which core a CPU runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuPlacing {
    /// Each CPU is a core, or a hardware thread of one.
    Machine,
    /// The host of a virtual machine, which may move them.
    Host,
}

impl CpuPlacing {
    fn of(sides: [&Side; 2]) -> Self {
        let is_virtual = |side: &&Side| side.runs.iter().any(|run| run.header.machine.is_virtual());
        let mut designs = sides.iter().flat_map(|side| &side.runs).map(|run| run.header.machine.design());
        let first = designs.next();
        // Of two designs the hand-overs themselves differ.
        let is_one_design = designs.all(|of_run| Some(of_run) == first);
        if is_one_design && sides.iter().any(is_virtual) { CpuPlacing::Host } else { CpuPlacing::Machine }
    }
}

/// A point with a level on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the experiment.
    pub experiment: String,
    /// The setting of its parameters on the first side.
    pub point: Point,
    /// The setting on the second side, if it differs: the same role (L2, memory) with another size.
    pub other_point: Option<Point>,
    /// The parameters declared by its method.
    pub parameters: Vec<MethodParameter>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The level of the first side, in the unit, with its uncertainty from run to run.
    pub before: Measured,
    /// The level of the second side, likewise.
    pub after: Measured,
    /// The contrast from the first to the second side.
    pub contrast: Contrast,
    /// The largest difference that does not matter.
    pub margin: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// How both levels were moved to one frequency of the core; `None` if they are as they were observed.
    at_frequency: Option<EqualFrequency>,
}

/// A point that is not compared.
#[derive(Debug, Clone, PartialEq)]
pub struct NotCompared {
    /// Name of the experiment.
    pub experiment: String,
    /// The setting of its parameters.
    pub point: Point,
    /// The parameters declared by its method.
    pub parameters: Vec<MethodParameter>,
    /// The reason.
    pub because: Obstacle,
}

/// The reason why a point is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// The other side has another version of its method.
    OtherMethod {
        /// The version on the first side.
        before: u32,
        /// The version on the second side.
        after: u32,
    },
    /// Only the first side has a value; the outcome on the second.
    NoValueAfter {
        /// The outcome in a word.
        outcome: &'static str,
        /// Whether something went wrong; something that was absent is not a failure.
        failed: bool,
    },
    /// Only the second side has a value; the outcome on the first.
    NoValueBefore(&'static str),
    /// The evidence of a side's figure does not hold: it may be of another operation.
    Refuted,
    /// One side has its value for the core alone and the other for the core shared, and no state was measured on both.
    OtherCoreState,
    /// The CPUs of work on two were at distances that no value of the other side has.
    OtherCpuDistance,
    /// It is a multiple of a step, and not how long something takes.
    Step,
    /// A side has no interval above zero.
    NoInterval,
}

impl Obstacle {
    /// Whether only the moment at which a side was measured stands in the way.
    pub fn is_of_the_moment(self) -> bool {
        matches!(self, Obstacle::OtherCoreState | Obstacle::OtherCpuDistance)
    }
}

type ByPoint<'a> = BTreeMap<(&'a str, &'a Point), Vec<&'a Level>>;

impl Comparison {
    /// Compares the second side with the first. With `any_method`, figures of different versions of a method are compared
    /// too.
    pub fn of(before: &Side, after: &Side, margins: &Margins, any_method: bool) -> Self {
        let repeatability = Repeatability::of(&[before, after]);
        let (first, second) = (before.by_point(), after.by_point());
        // The same role with another size is of a machine with other caches; where they are equal, sizes are.
        let by_role =
            if have_equal_caches(before, after) { BTreeMap::new() } else { by_role(&first, &second) };
        let interleaved = pairing::are_interleaved(before, after);
        let reference = families::reference(before, after).filter(|_| !interleaved);
        let (mut rows, mut not_compared) = (vec![], vec![]);
        for level in in_order(before) {
            let key = (level.experiment.as_str(), &level.point);
            let Some(other) = second
                .get_key_value(&key)
                .or_else(|| by_role.get(&key).and_then(|other| second.get_key_value(other)))
            else {
                continue;
            };
            let sides = [LevelsOfSide { levels: &first[&key] }, LevelsOfSide { levels: other.1 }];
            match compared(&sides, &repeatability, any_method, reference) {
                Ok(levels) => {
                    let paired = if interleaved {
                        pairing::contrast(sides.each_ref().map(|side| side.levels))
                    } else {
                        None
                    };
                    rows.push(row(level, other.0.1, levels, paired, margins));
                }
                Err(Some(because)) => not_compared.push(NotCompared {
                    experiment: level.experiment.clone(),
                    point: level.point.clone(),
                    parameters: level.parameters.clone(),
                    because,
                }),
                Err(None) => {}
            }
        }
        let mut families = families::of((&rows, &not_compared), before, after, interleaved);
        judge(&mut families, &mut rows);
        let names: Vec<&str> = families.iter().map(|family| family.name).collect();
        let unjudged = composition::unjudged(&names, &rows, &not_compared);
        let differences = differences::between(before, after);
        let of_itself = before.runs.iter().any(|run| after.runs.contains(run));
        let is_reversed = !interleaved && !of_itself && is_earlier(after, before);
        Comparison {
            differences,
            families,
            unjudged,
            rows,
            not_compared,
            repeatability,
            interleaved,
            of_itself,
            is_reversed,
            placing: CpuPlacing::of([before, after]),
        }
    }

    /// The rows of one verdict, those with the greatest change first.
    pub fn with(&self, verdict: Verdict) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().filter(|row| row.verdict == verdict).collect();
        sorting::by_number(&mut rows, |row| -row.distance());
        rows
    }

    /// The hand-overs of a line between cores that got better or worse, where a host may have moved the CPUs: no difference of the machine is
    /// shown by these.
    pub fn moved_by_host(&self) -> Vec<&Row> {
        let is_moved = |row: &&Row| row.experiment == LINE_HAND_OVER && row.verdict.is_difference();
        match self.placing {
            CpuPlacing::Host => self.rows.iter().filter(is_moved).collect(),
            CpuPlacing::Machine => vec![],
        }
    }

    /// The rows of each experiment, in the order of the first run.
    pub fn by_experiment(&self) -> Vec<(&str, Vec<&Row>)> {
        let mut groups: Vec<(&str, Vec<&Row>)> = vec![];
        for row in &self.rows {
            match groups.iter_mut().find(|(name, _)| *name == row.experiment) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((&row.experiment, vec![row])),
            }
        }
        groups
    }

    /// The number of rows with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }
}

impl Row {
    /// The name of its family, if it has one.
    pub fn family(&self) -> Option<&'static str> {
        family::family(&self.experiment, &self.point)
    }

    /// The setting of its parameters on the first side (0) or the second (1).
    fn point_of(&self, side: usize) -> &Point {
        self.other_point.as_ref().filter(|_| side == 1).unwrap_or(&self.point)
    }

    /// Whether it must be measured again: it got worse, or might have, with a more precise figure.
    pub fn is_suspect(&self) -> bool {
        self.verdict == Verdict::Worse || self.verdict == Verdict::Inconclusive && self.leans_to_worse()
    }

    /// Whether the ratio, without regard to its uncertainty, is worse by more than the margin.
    fn leans_to_worse(&self) -> bool {
        let beyond = self.contrast.ratio().ln();
        match self.unit.kind() {
            Kind::Cost => beyond > self.margin.ln_1p(),
            Kind::Rate => -beyond > self.margin.ln_1p(),
            Kind::Size => false,
        }
    }

    /// The absolute logarithm of the ratio of the two levels.
    pub fn distance(&self) -> f64 {
        self.contrast.ratio().ln().abs()
    }
}

/// Whether all runs of both sides are of machines with the same caches.
fn have_equal_caches(before: &Side, after: &Side) -> bool {
    let mut caches = before.runs.iter().chain(&after.runs).map(|run| run.header.machine.caches.value());
    let first = caches.next();
    caches.all(|of_run| Some(of_run) == first)
}

/// Whether all runs of a side began before all of the other.
fn is_earlier(side: &Side, other: &Side) -> bool {
    let began = |side: &Side| side.runs.iter().map(|run| run.header.started.clone()).collect::<Vec<_>>();
    let (last, first) = (began(side).into_iter().max(), began(other).into_iter().min());
    last.zip(first).is_some_and(|(last, first)| last < first)
}

/// The points of a side's first run, then those that only later ones have.
fn in_order(side: &Side) -> Vec<&Level> {
    let mut distinct = std::collections::BTreeSet::new();
    let all = side.runs.iter().flat_map(|run| &run.levels);
    all.filter(|level| distinct.insert((level.experiment.as_str(), &level.point))).collect()
}

/// The points of the first side that the second has with another size, with the points of the second.
fn by_role<'a>(
    first: &ByPoint<'a>,
    second: &ByPoint<'a>,
) -> BTreeMap<(&'a str, &'a Point), (&'a str, &'a Point)> {
    let role = |(experiment, point): &(&'a str, &'a Point)| (*experiment, point.on_any_machine());
    let mut free: BTreeMap<(&str, Point), Vec<(&'a str, &'a Point)>> = BTreeMap::new();
    for key in second.keys().filter(|key| !first.contains_key(*key)) {
        free.entry(role(key)).or_default().push(*key);
    }
    let lonely = first.keys().filter(|key| !second.contains_key(*key));
    // Several points with one role cannot be matched.
    let matched = lonely.filter_map(|key| match free.get(&role(key)).map(Vec::as_slice) {
        Some([only]) => Some((*key, *only)),
        _ => None,
    });
    matched.collect()
}

/// The levels of a point on both sides, or the reason why they are not compared; `None` if neither side has a value.
fn compared(
    sides: &[LevelsOfSide; 2],
    repeatability: &Repeatability,
    any_method: bool,
    reference: Option<f64>,
) -> Result<LevelsAlike, Option<Obstacle>> {
    let [before, after] = sides;
    let (Some(one), Some(other)) = (before.levels.first(), after.levels.first()) else { return Err(None) };
    let values = (before.has_value(), after.has_value());
    // What neither side measured is no point that could have been compared, whatever its method.
    if values != (false, false) && one.method_version != other.method_version && !any_method {
        return Err(Some(Obstacle::OtherMethod { before: one.method_version, after: other.method_version }));
    }
    match values {
        (true, true) => {}
        (true, false) => {
            let (outcome, failed) = (other.outcome.name(), other.outcome.is_failure());
            return Err(Some(Obstacle::NoValueAfter { outcome, failed }));
        }
        (false, true) => return Err(Some(Obstacle::NoValueBefore(one.outcome.name()))),
        (false, false) => return Err(None),
    }
    if is_step_of_clock(one) {
        return Err(Some(Obstacle::Step));
    }
    if before.is_refuted() || after.is_refuted() {
        return Err(Some(Obstacle::Refuted));
    }
    let factor = repeatability.factor(&one.experiment);
    let alike = like_with_like(before, after, reference).map_err(Some)?;
    let both = before.level(factor, &alike.logarithm).zip(after.level(factor, &alike.logarithm));
    both.map(|(before, after)| ([before, after], alike.frequency)).ok_or(Some(Obstacle::NoInterval))
}

/// The levels of a point on both sides, and how they were moved to one frequency.
type LevelsAlike = ([LogLevel; 2], Option<EqualFrequency>);

/// Whether a point is the least distance of two readings of a clock: which multiple of the clock's step that is depends on how long
/// a reading takes, so a faster core halves or doubles it.
fn is_step_of_clock(level: &Level) -> bool {
    level.experiment == "cpu/timing_overhead" && level.point.is("measure", "resolution")
}

fn row(
    level: &Level,
    other: &Point,
    ([before, after], at_frequency): LevelsAlike,
    paired: Option<Contrast>,
    margins: &Margins,
) -> Row {
    let measured = |level: LogLevel| {
        let alone = Contrast::of(level);
        Measured { value: alone.ratio(), interval: Some(alone.interval()) }
    };
    Row {
        experiment: level.experiment.clone(),
        point: level.point.clone(),
        other_point: (*other != level.point).then(|| other.clone()),
        parameters: level.parameters.clone(),
        unit: level.unit,
        before: measured(before),
        after: measured(after),
        contrast: paired.unwrap_or_else(|| Contrast::between(before, after)),
        margin: margins.of(&level.experiment),
        verdict: Verdict::Inconclusive,
        at_frequency,
    }
}

fn judge(families: &mut [PooledFamily], rows: &mut [Row]) {
    let judged: Vec<Judged> = rows
        .iter()
        .map(|row| Judged { contrast: row.contrast, margin: row.margin, unit: row.unit })
        .collect();
    let contrasts: Vec<Contrast> = families.iter().map(|family| family.contrast).collect();
    let (changed, verdicts) = verdict::verdicts(&contrasts, &judged);
    families.iter_mut().zip(changed).for_each(|(family, changed)| family.judge(changed));
    rows.iter_mut().zip(verdicts).for_each(|(row, verdict)| row.verdict = verdict);
}
