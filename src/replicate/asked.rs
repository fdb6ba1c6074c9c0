//! Fathom's points, named as a person would with `--help` at hand: by the names of parameters, not by their constants.

use crate::experiment::{Parameter, Placement, Point, Scale};
use crate::experiments;
use crate::machine::Machine;

/// A point of these variants and numbers.
pub fn point(
    placement: Placement,
    names: &[(&'static str, &str)],
    numbers: &[(&'static str, u64)],
) -> Point {
    let parameter = |name, scale| Parameter { name, meaning: "", scale };
    let named = names.iter().fold(Point::at(placement), |point, (name, value)| {
        point.named(&parameter(name, Scale::Name), value)
    });
    numbers
        .iter()
        .fold(named, |point, (name, value)| point.with(&parameter(name, Scale::Count), *value))
}

/// The point of an experiment that differs from `like` in one number only, which is as near to `wanted` as the sweep has
/// one, as a ratio; `like` itself with that number where the sweep has none.
pub fn nearest(
    experiment: &str,
    (along, wanted): (&'static str, u64),
    like: &Point,
    machine: &Machine,
) -> Point {
    let parameter = Parameter { name: along, meaning: "", scale: Scale::Count };
    let sweep = experiments::find(experiment).map(|found| found.sweep(machine)).unwrap_or_default();
    let mine = sweep.into_iter().filter(|point| point.get(along).is_some() && point.without(along) == *like);
    let distance = |point: &Point| (point.number(&parameter) as f64 / wanted as f64).ln().abs();
    let found = mine.min_by(|one, other| distance(one).total_cmp(&distance(other)));
    found.unwrap_or_else(|| like.clone().with(&parameter, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_size_is_nearest_as_a_ratio() {
        let machine = Machine::describe(std::path::Path::new("/"));
        let like = point(Placement::OneCpu, &[("order", "random cycle"), ("pages", "base")], &[]);
        let found = nearest("memory/load_latency", ("size", 33_000), &like, &machine);
        assert_eq!(found.without("size"), like);
        assert_eq!(found.get("size").map(ToString::to_string).as_deref(), Some("32768"));
    }
}
