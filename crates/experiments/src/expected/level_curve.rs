//! The curve in which levels of the memory hierarchy are found: of one state of the core.

use fathom_core::prelude::*;
use fathom_core::statistics::CurvePoint;

/// The results of a run along a parameter.
pub struct LevelCurve {
    /// In the order of x, the parameter's logarithm to base 2.
    pub points: Vec<CurvePoint>,
    /// The state of the core that its points are of; `Both` if they are of unlike ones.
    pub core: Option<CoreUse>,
    /// Results with the core alone, of a curve that is of the core shared.
    pub alone: Vec<CurvePoint>,
}

impl LevelCurve {
    /// The results along a parameter. A neighbour on the core takes part of its caches and of its time: where at least half of the
    /// results are of the core alone, the others are left out, as steps between the two states are no levels.
    pub fn along(known: &Known, experiment: &str, group: &Point, along: &Parameter) -> Self {
        let mut results = known.found_along(experiment, group, along);
        let is_alone = |(_, result): &(u64, Found)| result.core == Some(CoreUse::Alone);
        if 2 * results.iter().filter(|result| is_alone(result)).count() >= results.len() {
            results.retain(|result| result.1.core.is_none() || is_alone(result));
        }
        let core = results.iter().map(|(_, result)| result.core).reduce(CoreUse::of_both).flatten();
        let point = |(x, result): &(u64, Found)| ((*x as f64).log2(), result.value, result.interval);
        let main = known.decided_by.filter(|_| core == Some(CoreUse::Shared));
        let main = main.map(|main| main.found_along(experiment, group, along)).unwrap_or_default();
        let alone = main.iter().filter(|result| is_alone(result)).map(point).collect();
        LevelCurve { points: results.iter().map(point).collect(), core, alone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Parameter = Parameter::bytes("x", "a size");

    /// The curve of results with these states of the core; a result with a neighbour takes ten times as long.
    fn curve(states: &[CoreUse]) -> LevelCurve {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        for (power, core) in states.iter().enumerate() {
            let ns = if *core == CoreUse::Alone { 5.0 } else { 50.0 };
            let bare = Found::bare(ns, Unit::Nanoseconds);
            known.learn("loads", &Point::new().with(&X, 1 << power), Found { core: Some(*core), ..bare });
        }
        LevelCurve::along(&known, "loads", &Point::new(), &X)
    }

    #[test]
    fn a_neighbours_steps_are_no_levels_where_half_of_the_results_are_without() {
        use CoreUse::{Alone, Shared};
        let half = curve(&[Alone, Shared, Alone, Shared]);
        assert_eq!(
            half.points.iter().map(|point| (point.0, point.1)).collect::<Vec<_>>(),
            [(0.0, 5.0), (2.0, 5.0)]
        );
        assert_eq!(half.core, Some(Alone));
        let fewer = curve(&[Alone, Shared, Shared]);
        assert_eq!((fewer.points.len(), fewer.core), (3, Some(CoreUse::Both)));
        assert_eq!(curve(&[Shared, Shared]).core, Some(Shared));
    }
}
