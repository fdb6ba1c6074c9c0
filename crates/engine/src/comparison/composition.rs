//! What was pooled of a family: where some of its experiments could not be compared, the ratio is of the others alone.

use super::family::{FAMILIES, family};
use super::{NotCompared, Obstacle, Row};
use std::collections::BTreeMap;

/// The parts of a family that are in its ratio, and those that are not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Composition {
    /// The experiments with points in the ratio, in the order of the run.
    pub pooled: Vec<String>,
    /// The experiments of the family with points of which none could be compared, each with the commonest reason.
    pub missing: Vec<(String, Obstacle)>,
    /// The number of the family's points with a value on a side that are not in its ratio.
    pub points_missing: usize,
}

impl Composition {
    /// The composition of the family of this name.
    pub(super) fn of(name: &str, members: &[&Row], not_compared: &[NotCompared]) -> Self {
        let mut pooled: Vec<String> = vec![];
        for row in members {
            if !pooled.contains(&row.experiment) {
                pooled.push(row.experiment.clone());
            }
        }
        let others: Vec<&NotCompared> = not_compared
            .iter()
            .filter(|point| family(&point.experiment, &point.point) == Some(name))
            .collect();
        let points_missing = others.len();
        let missing = by_experiment(&others).into_iter().filter(|(name, _)| !pooled.contains(name)).collect();
        Composition { pooled, missing, points_missing }
    }
}

/// A family that has no ratio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnjudgedFamily {
    /// Its name.
    pub name: &'static str,
    /// The number of its points that both sides have: too few for a family, or none.
    pub points: usize,
    /// The commonest reason why its other points were not compared; `None` if neither side measured one.
    pub because: Option<Obstacle>,
}

/// The families that have no ratio, in the order of reports.
pub(super) fn unjudged(judged: &[&str], rows: &[Row], not_compared: &[NotCompared]) -> Vec<UnjudgedFamily> {
    let without = FAMILIES.into_iter().filter(|name| !judged.contains(name));
    let of = |name: &'static str| {
        let mut counted: BTreeMap<Obstacle, usize> = BTreeMap::new();
        for point in not_compared.iter().filter(|point| family(&point.experiment, &point.point) == Some(name))
        {
            *counted.entry(point.because).or_default() += 1;
        }
        let because = counted.into_iter().max_by_key(|(_, count)| *count).map(|(obstacle, _)| obstacle);
        let points = rows.iter().filter(|row| row.family() == Some(name)).count();
        UnjudgedFamily { name, points, because }
    };
    without.map(of).collect()
}

/// The commonest obstacle of each experiment, in the order of names.
fn by_experiment(points: &[&NotCompared]) -> Vec<(String, Obstacle)> {
    let mut counted: BTreeMap<&str, BTreeMap<Obstacle, usize>> = BTreeMap::new();
    for point in points {
        *counted.entry(&point.experiment).or_default().entry(point.because).or_default() += 1;
    }
    let commonest = |(name, obstacles): (&str, BTreeMap<Obstacle, usize>)| {
        let most = obstacles.into_iter().max_by_key(|(_, count)| *count)?;
        Some((name.to_owned(), most.0))
    };
    counted.into_iter().filter_map(commonest).collect()
}
