//! The levels that a curve of latency shows, beside those that the machine declares, in sentences.

use super::hierarchy;
use crate::experiment::{Known, Parameter, Point};
use crate::machine::Machine;
use crate::quantity::declared::size;
use crate::statistics::{Crossing, CurvePoint, Interval, Plateau, plateaus};

/// What a run has found along a parameter, with its logarithm to the base 2 as x.
pub fn curve(known: &Known, experiment: &str, group: &Point, along: &Parameter) -> Vec<CurvePoint> {
    let findings = known.findings_along(experiment, group, along);
    let point = |(x, finding): (u64, crate::experiment::Finding)| {
        let interval = finding.interval.map(|(low, high)| Interval { low, high });
        ((x as f64).log2(), finding.median, interval)
    };
    findings.into_iter().map(point).collect()
}

/// A declared limit that a plateau may end at.
pub struct Limit {
    /// `L1`.
    pub name: String,
    /// Its value.
    pub at: u64,
}

/// How a limit is met by a plateau.
#[derive(Debug, PartialEq)]
enum Met<'found> {
    /// A plateau ends about there.
    By(&'found Plateau),
    /// None does.
    ByNone,
    /// The curve does not go that far.
    Beyond,
}

/// How far from a declared limit a level may be found to end, in octaves: what lies beside the array in a cache, what others
/// have of it, and sets that fill unevenly let it end earlier; a replacement that is not strictly by age, later.
const EARLIER: f64 = 0.75;
const LATER: f64 = 0.5;

/// Where a plateau ends: half way to the next, or, where the curve has no next, where it ceases to be flat.
fn boundary(plateau: &Plateau) -> Option<Crossing> {
    let flat = |ends: Interval| Crossing { at: plateau.to, interval: ends };
    plateau.half_way.or(plateau.ends.map(flat))
}

/// The plateau that ends about a limit; of several, the one that ends nearest to it.
fn met(found: &[Plateau], limit: f64, last: f64) -> Met<'_> {
    if limit >= last {
        return Met::Beyond;
    }
    let near = found.iter().filter_map(|plateau| {
        let ends = boundary(plateau)?;
        let fits = ends.interval.high >= limit - EARLIER && ends.interval.low <= limit + LATER;
        fits.then_some((plateau, (ends.at - limit).abs()))
    });
    near.min_by(|one, other| one.1.total_cmp(&other.1)).map_or(Met::ByNone, |(plateau, _)| Met::By(plateau))
}

/// What a curve over sizes shows of the caches, on pages of this name.
pub fn of_caches(machine: &Machine, pages: &str, curve: &[CurvePoint]) -> Vec<String> {
    let limits = hierarchy::declared(machine).into_iter();
    let limits: Vec<Limit> = limits.map(|(level, at)| Limit { name: format!("L{level}"), at }).collect();
    let mut said = sentences(&limits, curve, &|x| size(x.exp2().round() as u64));
    if let Some(memory) = last_plateau(curve, &limits) {
        said.push(format!("memory: {}", value(&memory)));
    }
    if said.is_empty() {
        return vec![];
    }
    vec![format!("Found from the curve on {pages} pages: {}.", said.join("; "))]
}

/// What a curve shows of each limit; without limits, its plateaus.
pub fn sentences(limits: &[Limit], curve: &[CurvePoint], write: &dyn Fn(f64) -> String) -> Vec<String> {
    let found = plateaus(curve);
    let Some(last) = curve.iter().map(|point| point.0).reduce(f64::max).filter(|_| !found.is_empty()) else {
        return vec![];
    };
    if limits.is_empty() {
        return found
            .iter()
            .map(|plateau| format!("a plateau of {}{}", value(plateau), end(plateau, write)))
            .collect();
    }
    let mut claimed: Vec<f64> = vec![];
    let mut said: Vec<String> = vec![];
    for limit in limits {
        let declared = write((limit.at as f64).log2());
        said.push(match met(&found, (limit.at as f64).log2(), last) {
            // A plateau is that of one level: what ends nowhere else cannot be told from its neighbour.
            Met::By(plateau) if !claimed.contains(&plateau.from) => {
                claimed.push(plateau.from);
                format!("{}: {}{}, declared {declared}", limit.name, value(plateau), end(plateau, write))
            }
            Met::Beyond => format!("{} ({declared} declared) reaches beyond the sweep", limit.name),
            _ => format!(
                "{} ({declared} declared) cannot be told apart from its neighbours: no plateau ends there",
                limit.name
            ),
        });
    }
    let undeclared =
        found.iter().filter(|plateau| boundary(plateau).is_some() && !claimed.contains(&plateau.from));
    said.extend(undeclared.map(|plateau| {
        format!("a plateau of {}{}, where nothing is declared to end", value(plateau), end(plateau, write))
    }));
    said
}

/// The plateau that goes on to the end of the curve, beyond every limit.
fn last_plateau(curve: &[CurvePoint], limits: &[Limit]) -> Option<Plateau> {
    let beyond = limits.iter().map(|limit| (limit.at as f64).log2()).fold(0.0, f64::max);
    plateaus(curve).into_iter().next_back().filter(|plateau| plateau.ends.is_none() && plateau.to > beyond)
}

fn value(plateau: &Plateau) -> String {
    format!("{:.2} ns [{:.2}, {:.2}]", plateau.value, plateau.interval.low, plateau.interval.high)
}

/// Where a plateau ends, and whether it was flat so far.
fn end(plateau: &Plateau, write: &dyn Fn(f64) -> String) -> String {
    let Some(ends) = boundary(plateau) else { return String::new() };
    let (low, high) = (write(ends.interval.low), write(ends.interval.high));
    let flat = plateau.ends.filter(|flat| flat.high < ends.interval.low - 0.5);
    let sloping = flat.map_or(String::new(), |_| format!(" (rising from {} on)", write(plateau.to)));
    format!(" up to {} [{low}, {high}]{sloping}", write(ends.at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(steps: &[(f64, f64)], last: f64) -> Vec<CurvePoint> {
        let quarters = (40..=(last * 4.0) as u32).map(|quarter| f64::from(quarter) / 4.0);
        let y = |x: f64| steps.iter().rev().find(|(from, _)| x > *from).map_or(1.0, |(_, y)| *y);
        quarters.map(|x| (x, y(x), None)).collect()
    }

    fn limits(at: &[u32]) -> Vec<Limit> {
        at.iter()
            .enumerate()
            .map(|(index, at)| Limit { name: format!("L{}", index + 1), at: 1 << at })
            .collect()
    }

    fn said(limits: &[Limit], curve: &[CurvePoint]) -> String {
        sentences(limits, curve, &|x| size(x.exp2().round() as u64)).join("; ")
    }

    #[test]
    fn levels_that_end_where_they_are_declared_are_named() {
        let said = said(&limits(&[15, 20]), &steps(&[(15.0, 4.0), (20.0, 100.0)], 24.0));
        assert!(
            said.contains("L1: 1.00 ns")
                && said.contains("[32 KiB, 38.05 KiB]")
                && said.contains("L2: 4.00 ns"),
            "{said}"
        );
    }

    #[test]
    fn a_level_without_a_plateau_of_its_own_is_said_not_to_be_told_apart() {
        let said = said(&limits(&[15, 20, 25]), &steps(&[(15.0, 4.0), (20.0, 100.0)], 28.0));
        assert!(said.contains("L3 (32 MiB declared) cannot be told apart"), "{said}");
    }

    #[test]
    fn what_the_sweep_does_not_reach_is_said_so() {
        let said = said(&limits(&[15, 40]), &steps(&[(15.0, 4.0)], 24.0));
        assert!(said.contains("L2 (1 TiB declared) reaches beyond the sweep"), "{said}");
    }
}
