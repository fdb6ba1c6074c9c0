//! How a call's cost grows with the number of its arguments: one by one, in steps, or not monotonically.

use super::{Conclusion, Rule, Seen};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{Found, Selector, Statement, statement};

pub(super) const RULE: Rule = Rule {
    name: "growth_with_arguments",
    condition: "calls with at least three different numbers of arguments were measured; a step is a significant \
                difference",
    judge,
    #[cfg(test)]
    points: &[BY_ABI, UNOPTIMISED],
};

const BY_ABI: Selector = Selector::only("cpu/procedure_call", &[("form", Name("abi")), ("arguments", Any)]);
const UNOPTIMISED: Selector =
    Selector::only("cpu/procedure_call", &[("form", Name("spilled")), ("arguments", Any)]);

/// The fewest points for a line.
const FEWEST: usize = 3;

fn judge(seen: &Seen) -> Option<Conclusion> {
    let [abi, other] = [BY_ABI, UNOPTIMISED].map(|place| place.along("arguments", seen.known));
    let headline = statement!("As the ABI passes arguments, a call's cost {growth}.", growth = growth(&abi)?);
    let unoptimised = growth(&other).map(|growth| statement!(" In unoptimised code it {growth}.", growth));
    let because = statement!(
        "{ends}{unoptimised} An argument adds work: where the cost falls, that work overlaps with the call, \
         and the alignment of the code decides.",
        ends = ends(&abi),
        unoptimised
    );
    Some(Conclusion { headline, because })
}

/// The cost of a call with the fewest and with the most arguments.
fn ends(curve: &[(u64, Found)]) -> Statement {
    let (Some((few, low)), Some((many, high))) = (curve.first(), curve.last()) else {
        return Statement::default();
    };
    statement!(
        "With {few} arguments it takes {low}, with {many} {high}.",
        low = low.named("call with the fewest arguments"),
        high = high.named("call with the most arguments")
    )
}

/// The numbers of arguments at which the cost rises and falls, as far as intervals show it.
fn growth(curve: &[(u64, Found)]) -> Option<Statement> {
    let steps = curve.windows(2).map(|pair| {
        let [(_, before), (arguments, after)] = pair else { return (0, Some(false), 0.0) };
        (*arguments, after.differs_from(before), after.value - before.value)
    });
    let steps: Vec<(u64, Option<bool>, f64)> = steps.collect();
    if curve.len() < FEWEST || steps.iter().any(|(_, differs, _)| differs.is_none()) {
        return None;
    }
    let at = |rising: bool| -> Vec<u64> {
        let differs = steps.iter().filter(|(_, differs, by)| *differs == Some(true) && (*by > 0.0) == rising);
        differs.map(|(arguments, ..)| *arguments).collect()
    };
    let (rises, falls) = (at(true), at(false));
    Some(match (rises.len(), falls.len()) {
        (0, 0) => "does not grow significantly".into(),
        (all, 0) if all == steps.len() => "grows with each of them".into(),
        (_, 0) => format!("grows in steps, with argument {}", listed(&rises)).into(),
        (0, _) => format!("falls, with argument {}", listed(&falls)).into(),
        _ => format!("falls with argument {} and rises with {}", listed(&falls), listed(&rises)).into(),
    })
}

fn listed(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Known;
    use serde_json::json;

    fn text(costs: &[f64]) -> Option<String> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (arguments, ns) in costs.iter().enumerate() {
            BY_ABI.plant_at(&mut known, &[("arguments", json!(arguments))], *ns);
        }
        judge(&Seen { known: &known, points: &[] }).map(|conclusion| conclusion.headline.plain())
    }

    #[test]
    fn steady_growth_steps_falls_and_noise_are_told_apart() {
        let cases = [
            (&[1.0, 1.1, 1.2, 1.3][..], "grows with each of them."),
            (&[1.0, 1.0, 1.5, 1.505], "grows in steps, with argument 2."),
            (&[1.0, 0.8, 0.8, 1.5], "falls with argument 1 and rises with 3."),
            (&[1.0, 0.8, 0.8, 0.8], "falls, with argument 1."),
            (&[1.0, 1.005, 0.995, 1.0], "does not grow significantly."),
        ];
        for (costs, end) in cases {
            assert!(
                text(costs).is_some_and(|conclusion| conclusion.ends_with(end)),
                "{costs:?}: {:?}",
                text(costs)
            );
        }
        assert_eq!(text(&[1.0, 2.0]), None);
    }
}
