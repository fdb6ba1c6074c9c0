//! The published figures measured by the method that a point of an experiment repeats: `references/points.toml`.
//!
//! The *same method* compares like with like, mistakes included: a ratio of the two compares machines. A replication relates
//! its rows to points by the *same question* instead, whichever method answers it correctly: there a ratio compares methods.
//! `tests/hermetic/replication.rs` lists the figures for which the two relations name different points, each with its reason.

use super::data;
use super::figure::Figure;
use fathom_core::experiment::{Point, PointSettings, Selector};
use fathom_core::machine::Machine;
use serde::Deserialize;
use std::sync::LazyLock;

/// Figures by the method that points of one experiment repeat.
#[derive(Debug, Clone)]
pub struct SameMethod {
    pub points: Selector,
    /// The parameter whose value is that of each figure's own parameter.
    pub along: Option<String>,
    /// Added to that value.
    pub plus: u64,
    /// The factor that converts the printed figure to Fathom's operation: half of a round trip is one switch.
    pub times: f64,
    pub figures: Vec<&'static Figure>,
    /// How the methods differ.
    pub note: String,
    /// Whether the difference is of what was timed, so that a ratio would compare more than two machines.
    pub is_unlike: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SameMethodRow {
    experiment: String,
    point: PointSettings,
    along: Option<String>,
    #[serde(default)]
    plus: u64,
    #[serde(default = "one")]
    times: f64,
    figures: Vec<String>,
    note: String,
    #[serde(default)]
    unlike: bool,
}

fn one() -> f64 {
    1.0
}

#[derive(Deserialize)]
struct SameMethodFile {
    map: Vec<SameMethodRow>,
}

static ALL: LazyLock<Vec<SameMethod>> = LazyLock::new(read);

/// All of them, in the order of the experiments.
pub fn same_methods() -> &'static [SameMethod] {
    &ALL
}

/// # Panics
/// If the file is invalid: it is part of the program, and a test reads all of it.
fn read() -> Vec<SameMethod> {
    let text = include_str!("../../references/points.toml");
    data::<SameMethodFile>("points.toml", text).map.into_iter().map(SameMethod::of).collect()
}

/// The ids of a range, `s000-0016..0023`, or a single id.
fn ids(text: &str) -> Vec<String> {
    let run = || {
        let (first, last) = text.split_once("..")?;
        let (source, first) = first.rsplit_once('-')?;
        let numbers = first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?;
        Some(numbers.map(|number| format!("{source}-{number:04}")).collect())
    };
    run().unwrap_or_else(|| vec![text.to_owned()])
}

impl SameMethod {
    fn of(row: SameMethodRow) -> Self {
        let known = |id: String| {
            super::figure(&id).unwrap_or_else(|| panic!("references/points.toml: there is no figure {id}"))
        };
        SameMethod {
            points: Selector::of(String::leak(row.experiment), row.point.0),
            along: row.along,
            plus: row.plus,
            times: row.times,
            figures: row.figures.iter().flat_map(|text| ids(text)).map(known).collect(),
            note: row.note,
            is_unlike: row.unlike,
        }
    }

    /// The point of the experiment that repeats the figure's method; of several the first.
    pub fn choose(&self, figure: &Figure, points: &[&Point], machine: &Machine) -> Option<usize> {
        let along = self.along.as_deref();
        let is_at = |point: &&&Point| along.is_none_or(|along| point.number_of(along) == self.at(figure));
        let chosen = *self.points.among(points.iter().filter(is_at).copied(), machine).first()?;
        points.iter().position(|point| std::ptr::eq(*point, chosen))
    }

    /// The value of the parameter `along` for the figure.
    fn at(&self, figure: &Figure) -> Option<u64> {
        let (_, at) = figure.parameter()?;
        Some(at + self.plus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_single_or_in_runs() {
        assert_eq!(ids("s000-0027"), ["s000-0027"]);
        assert_eq!(ids("s001-0009..0011"), ["s001-0009", "s001-0010", "s001-0011"]);
    }
}
