//! Naming points of an experiment by their settings: in constants, and in the data files of the program.

use super::found::Found;
use super::known::Known;
use super::point::{AXIS_PLACEMENT, PEER, Placement, Point, VIRTUAL_PEER};
use crate::machine::Machine;
use crate::sorting;
use serde::Deserialize;

/// A limit declared by the machine that a sweep may show: the size of a cache, the entries of a TLB.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmark {
    /// The parameter of which it is a value.
    pub along: &'static str,
    /// Its value.
    pub at: f64,
    /// Its name: `L2 1 MiB`.
    pub name: String,
    /// Whether it is no limit as declared, but the share of one that the CPUs here have.
    pub is_share: bool,
}

/// Points of one experiment, by the names of their parameters: for rules over several experiments, whose constructors of
/// points belong to themselves and whose sizes depend on the machine.
///
/// In a data file: `{ experiment = "filesystem/read", point = { state = "warm", block = { nearest = 5000 } } }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selector {
    /// The name of the experiment.
    pub experiment: &'static str,
    /// The settings of the points.
    pub settings: PointSettings,
    /// The required placement; `None` if it may be any, or is one of the settings.
    pub placement: Option<Placement>,
    /// The parameters that points may have besides.
    pub others: Others,
}

/// The parameters that selected points may have besides those named by the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Others {
    /// Any others.
    #[default]
    Any,
    /// As few as a point of the others has.
    Fewest,
    /// None, except the placement.
    None,
}

/// Required values of parameters, applied one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PointSettings(pub &'static [(&'static str, At)]);

/// The required value of a parameter. In a data file a string, a number, a list of strings, a table such as `{ nearest = 4096 }`,
/// or `{ take = "most" }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// This name.
    Name(&'static str),
    /// The first of these names that any point has.
    OneOf(&'static [&'static str]),
    /// This number.
    Number(u64),
    /// The number nearest to this one in powers of two; of several such parameters, the least sum of distances.
    Nearest(u64),
    /// Any value, but there must be one.
    Any,
    /// The smallest among the points that satisfy all conditions before.
    Least,
    /// The greatest among them.
    Most,
    /// Well within the machine's declared limit with this number, from 1, and in no smaller cache: at most half of the limit, and of
    /// the sizes from twice the limit before it on the smallest, whose lines and translations others push out least; of the
    /// first limit the greatest.
    Within(usize),
    /// The smallest size that represents this level of the data caches: at least twice the capacity of the level before, and at
    /// most half of a CPU's share of this one.
    Cache(u8),
    /// The greatest size, if it represents memory: at least four times the last-level cache.
    Memory,
    /// Any: of the settings that satisfy the other conditions, the one with the best result is taken, and this parameter's value
    /// named.
    Best,
}

impl Selector {
    /// Points with these settings, whatever their other parameters.
    pub const fn of(experiment: &'static str, settings: &'static [(&'static str, At)]) -> Self {
        Selector { experiment, settings: PointSettings(settings), placement: None, others: Others::Any }
    }

    /// Points on one CPU with these settings and no other parameters.
    pub const fn only(experiment: &'static str, settings: &'static [(&'static str, At)]) -> Self {
        Selector {
            placement: Some(Placement::OneCpu),
            others: Others::None,
            ..Self::of(experiment, settings)
        }
    }

    /// The same with this placement.
    #[must_use]
    pub const fn at(self, placement: Placement) -> Self {
        Selector { placement: Some(placement), ..self }
    }

    /// Those of the experiment's points that are selected, in their order.
    pub fn among<'a>(
        &self,
        points: impl IntoIterator<Item = &'a Point>,
        machine: &Machine,
    ) -> Vec<&'a Point> {
        let mut candidates: Vec<&Point> = points.into_iter().filter(|point| self.admits(point)).collect();
        self.settings.narrow(&mut candidates, Some(machine), &[]);
        if self.others == Others::Fewest {
            let least = candidates.iter().map(|point| point.parameters().count()).min();
            candidates.retain(|point| Some(point.parameters().count()) == least);
        }
        self.settings.approach(&mut candidates);
        candidates
    }

    /// Whether this point, taken alone, is selected.
    pub fn selects(&self, experiment: &str, point: &Point, machine: &Machine) -> bool {
        self.experiment == experiment && !self.among([point], machine).is_empty()
    }

    /// Whether placement and other parameters are as required.
    fn admits(&self, point: &Point) -> bool {
        let is_named = |name: &str| name == AXIS_PLACEMENT.name || self.settings.name(name);
        self.placement.is_none_or(|placement| placement == point.placement())
            && (self.others != Others::None || point.parameters().all(|(name, _)| is_named(name)))
    }

    /// Every selected point with its figure.
    pub fn all<'a>(&self, known: &'a Known) -> Vec<(&'a Point, Found)> {
        let with_figure = |point: &'a Point| Some((point, known.found(self.experiment, point)?));
        self.among(known.points(self.experiment), known.machine).into_iter().filter_map(with_figure).collect()
    }

    /// The figure, if exactly one point is selected.
    pub fn found(&self, known: &Known) -> Option<Found> {
        match self.all(known)[..] {
            [(_, figure)] => Some(figure),
            _ => None,
        }
    }

    /// The figures along a parameter that is a number, in ascending order of that number.
    pub fn along(&self, parameter: &str, known: &Known) -> Vec<(u64, Found)> {
        let all = self.all(known).into_iter();
        let mut curve: Vec<(u64, Found)> =
            all.filter_map(|(point, figure)| Some((point.number_of(parameter)?, figure))).collect();
        sorting::by_key(&mut curve, |(number, _)| *number);
        curve
    }

    /// The best of the selected points, with its figure.
    pub fn best(&self, known: &Known) -> Option<(Point, Found)> {
        let all = self.among(known.deciding().points(self.experiment), known.machine);
        known.best(self.experiment, all.into_iter().map(|point| (point.clone(), point.clone())))
    }

    /// The point with the greatest figure.
    pub fn greatest<'a>(&self, known: &'a Known) -> Option<(&'a Point, Found)> {
        self.all(known).into_iter().max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))
    }
}

impl PointSettings {
    /// Keeps the points that satisfy each setting in turn. Without a machine no point represents a cache, and memory is what lies far
    /// beyond the greatest landmark.
    pub fn narrow(&self, points: &mut Vec<&Point>, machine: Option<&Machine>, landmarks: &[Landmark]) {
        for (name, at) in self.0 {
            at.keep(points, name, machine, landmarks);
        }
    }

    /// Keeps the points whose numbers together are nearest to those wanted.
    fn approach(&self, points: &mut Vec<&Point>) {
        let distance = |point: &Point| {
            let each = self.0.iter().filter_map(|(name, at)| match at {
                At::Nearest(value) => Some(octaves(point.number_of(name)?, *value)),
                _ => None,
            });
            each.sum::<f64>()
        };
        let least = points.iter().map(|point| distance(point)).min_by(f64::total_cmp);
        points.retain(|point| Some(distance(point)) == least);
    }

    fn name(&self, parameter: &str) -> bool {
        self.0.iter().any(|(name, _)| *name == parameter)
    }
}

impl At {
    /// The peer, real or virtual.
    pub const PEER: At = At::OneOf(&[PEER, VIRTUAL_PEER]);

    fn keep(self, points: &mut Vec<&Point>, name: &str, machine: Option<&Machine>, landmarks: &[Landmark]) {
        let numbers = || points.iter().filter_map(|point| point.number_of(name));
        let value = match self {
            At::Best => return,
            At::Any => return points.retain(|point| point.get(name).is_some()),
            At::Nearest(_) => return points.retain(|point| point.number_of(name).is_some()),
            At::Name(value) => return points.retain(|point| point.is(name, value)),
            At::OneOf(names) => {
                let any_has = |value: &&&str| points.iter().any(|point| point.is(name, value));
                let first = names.iter().find(any_has);
                return points.retain(|point| first.is_some_and(|value| point.is(name, value)));
            }
            At::Number(value) => Some(value),
            At::Least => numbers().min(),
            At::Most => numbers().max(),
            At::Within(place) => {
                within(name, place, landmarks).and_then(|(before, own)| well_within(before, own, numbers()))
            }
            At::Cache(level) => machine
                .and_then(|machine| capacities(machine, level))
                .and_then(|(before, own)| sizes_within(before, own, numbers()).min()),
            At::Memory => machine
                .and_then(|machine| held(machine, machine.last_level(machine.measured_cpu())?))
                .or_else(|| greatest(name, landmarks).filter(|_| machine.is_none()))
                .and_then(|last| numbers().max().filter(|size| *size >= 4 * last)),
        };
        points.retain(|point| value.is_some() && point.number_of(name) == value);
    }
}

/// The sizes that represent a limit, such as a cache: from twice the limit before it, if there is one, to half of its own.
fn sizes_within(
    before: Option<u64>,
    own: u64,
    sizes: impl Iterator<Item = u64>,
) -> impl Iterator<Item = u64> {
    let least = before.map_or(0, |before| before.saturating_mul(2));
    sizes.filter(move |size| (least..=own / 2).contains(size))
}

/// The size well within a limit: of those that represent it the smallest, whose lines and translations others push out least; of the first
/// limit the greatest.
pub fn well_within(before: Option<u64>, own: u64, sizes: impl Iterator<Item = u64>) -> Option<u64> {
    let within = sizes_within(before, own, sizes);
    if before.is_some() { within.min() } else { within.max() }
}

/// The machine's declared limit with this number along a parameter, after the one before it.
fn within(name: &str, place: usize, landmarks: &[Landmark]) -> Option<(Option<u64>, u64)> {
    let mut limits: Vec<f64> =
        landmarks.iter().filter(|mark| mark.along == name).map(|mark| mark.at).collect();
    sorting::numbers(&mut limits);
    let limit = |number: usize| limits.get(number.checked_sub(1)?).map(|limit| *limit as u64);
    Some((place.checked_sub(1).and_then(limit), limit(place)?))
}

/// The greatest landmark along a parameter.
fn greatest(name: &str, landmarks: &[Landmark]) -> Option<u64> {
    landmarks.iter().filter(|mark| mark.along == name).map(|mark| mark.at as u64).max()
}

fn held(machine: &Machine, level: u8) -> Option<u64> {
    machine.data_cache_bytes(machine.measured_cpu(), level)
}

/// A CPU's share of a level of the caches, after the capacity of the level before it.
fn capacities(machine: &Machine, level: u8) -> Option<(Option<u64>, u64)> {
    let before = if level > 1 { Some(held(machine, level - 1)?) } else { None };
    Some((before, machine.data_cache_share_bytes(machine.measured_cpu(), level)?))
}

/// The distance of two sizes in powers of two, such that 0 is as far from 1 as 1 is from 3.
pub(super) fn octaves(one: u64, other: u64) -> f64 {
    ((one as f64 + 1.0).log2() - (other as f64 + 1.0).log2()).abs()
}

/// Text of a data file, which is read once and is part of the program, as a constant.
fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// A selector as a data file spells it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SelectorRow {
    experiment: String,
    point: PointSettings,
    #[serde(default)]
    others: Others,
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let SelectorRow { experiment, point, others } = SelectorRow::deserialize(from)?;
        Ok(Selector { experiment: leaked(experiment), settings: point, placement: None, others })
    }
}

impl<'de> Deserialize<'de> for PointSettings {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let settings = std::collections::BTreeMap::<String, Written>::deserialize(from)?;
        let settings: Vec<_> =
            settings.into_iter().map(|(name, written)| (leaked(name), written.into())).collect();
        // What chooses among the others' points comes last: tables have no order.
        let (chooses, plain): (Vec<_>, Vec<_>) =
            settings.into_iter().partition(|(_, at): &(_, At)| at.chooses());
        Ok(PointSettings(Vec::leak([plain, chooses].concat())))
    }
}

impl At {
    /// Whether it depends on the other points.
    fn chooses(self) -> bool {
        !matches!(self, At::Name(_) | At::OneOf(_) | At::Number(_) | At::Any)
    }
}

/// A required value as a data file spells it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Name(String),
    Number(u64),
    OneOf(Vec<String>),
    Choice(Choice),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Nearest(u64),
    Within(usize),
    Cache(u8),
    Take(Take),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Take {
    Any,
    Least,
    Most,
    Memory,
    Best,
}

impl From<Written> for At {
    fn from(written: Written) -> Self {
        match written {
            Written::Name(name) => At::Name(leaked(name)),
            Written::Number(number) => At::Number(number),
            Written::OneOf(names) => At::OneOf(Vec::leak(names.into_iter().map(leaked).collect())),
            Written::Choice(Choice::Nearest(number)) => At::Nearest(number),
            Written::Choice(Choice::Within(place)) => At::Within(place),
            Written::Choice(Choice::Cache(level)) => At::Cache(level),
            Written::Choice(Choice::Take(take)) => match take {
                Take::Any => At::Any,
                Take::Least => At::Least,
                Take::Most => At::Most,
                Take::Memory => At::Memory,
                Take::Best => At::Best,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn selected(selector: &Value, points: &[&str]) -> Vec<usize> {
        let selector = Selector::deserialize(selector).unwrap();
        let points: Vec<Point> = points.iter().map(|point| serde_json::from_str(point).unwrap()).collect();
        let selected = selector.among(&points, &crate::machine::described::machine());
        let is_selected = |point: &Point| selected.iter().any(|other| std::ptr::eq(*other, point));
        (0..points.len()).filter(|index| is_selected(&points[*index])).collect()
    }

    const POINTS: &[&str] = &[
        r#"{"call":"read","file":4194304,"block":4096}"#,
        r#"{"call":"read","file":67108864,"block":4096}"#,
        r#"{"call":"mmap","file":67108864,"block":4096}"#,
        r#"{"call":"mmap","file":67108864,"block":4096,"read_ahead":"off"}"#,
        r#"{"call":"pread","file":67108864,"block":1048576}"#,
    ];

    #[test]
    fn a_data_file_selects_by_names_numbers_and_choices() {
        let by = |point: Value| selected(&json!({ "experiment": "x", "point": point }), POINTS);
        assert_eq!(by(json!({})), [0, 1, 2, 3, 4]);
        assert_eq!(by(json!({ "call": "mmap" })), [2, 3]);
        assert_eq!(by(json!({ "call": ["io_uring", "pread", "read"] })), [4], "the first that there is");
        assert_eq!(by(json!({ "call": ["io_uring"] })), [0; 0]);
        assert_eq!(by(json!({ "file": 4_194_304 })), [0]);
        assert_eq!(by(json!({ "file": { "take": "most" }, "call": "read" })), [1]);
        assert_eq!(by(json!({ "file": { "nearest": 9_999_999 }, "block": { "nearest": 5000 } })), [0]);
        assert_eq!(by(json!({ "read_ahead": { "take": "any" } })), [3]);
    }

    #[test]
    fn other_parameters_are_any_few_or_none() {
        let point = json!({ "call": "mmap", "file": { "take": "any" }, "block": 4096 });
        let by =
            |others: &str| selected(&json!({ "experiment": "x", "point": point, "others": others }), POINTS);
        assert_eq!(by("any"), [2, 3]);
        assert_eq!(by("fewest"), [2]);
        assert_eq!(by("none"), [2]);
    }

    #[test]
    fn an_unknown_choice_is_refused() {
        let selector = json!({ "experiment": "x", "point": { "size": { "take": "biggest" } } });
        assert!(Selector::deserialize(selector).is_err());
    }
}
