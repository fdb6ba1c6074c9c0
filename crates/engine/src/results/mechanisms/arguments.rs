//! How a call's cost grows with the number of its arguments: by the line through all calls, and step by step.

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{CurveSteps, Found, Known, Parameter, Selector, Statement, statement};

pub(super) const RULE: Rule = Rule {
    name: "growth_with_arguments",
    condition: "calls with at least three different numbers of arguments were measured; a step is a significant \
                difference, and both its ends are of one state of the core",
    judge,
    #[cfg(test)]
    points: &[BY_ABI, UNOPTIMISED],
};

const BY_ABI: Selector = Selector::only("cpu/procedure_call", &[("form", Name("abi")), ("arguments", Any)]);
const UNOPTIMISED: Selector =
    Selector::only("cpu/procedure_call", &[("form", Name("spilled")), ("arguments", Any)]);

const ARGUMENTS: Parameter = Parameter::count("arguments", "the number of arguments");

/// The fewest points for a line.
const FEWEST: usize = 3;

fn judge(premises: &Premises) -> Option<Conclusion> {
    let curve = BY_ABI.along("arguments", premises.known);
    let by_abi = growth(&curve, &BY_ABI, premises.known)?;
    let other = UNOPTIMISED.along("arguments", premises.known);
    let unoptimised = growth(&other, &UNOPTIMISED, premises.known);
    let is_seen = |growth: &Growth| growth.is_seen;
    let of_other = unoptimised.as_ref().is_some_and(is_seen);
    let abi = statement!(
        "As the ABI passes arguments to calls that may overlap, {growth}.",
        growth = by_abi.statement.clone()
    );
    let other = unoptimised.as_ref().map(|growth| {
        statement!("As unoptimised code passes arguments, {growth}.", growth = growth.statement.clone())
    });
    let ends = ends(&curve);
    // What has an effect leads.
    let (headline, rest) = match other {
        Some(other) if of_other && !by_abi.is_seen => (other, statement!("{abi} {ends}", abi, ends)),
        Some(other) => (abi, statement!("{ends} {other}", ends, other)),
        None => (abi, ends),
    };
    Some(Conclusion::of(headline, rest).effective(by_abi.is_seen || of_other))
}

/// How a cost grows, in a clause, and whether it does so at all.
struct Growth {
    statement: Statement,
    is_seen: bool,
}

/// The cost of a call with the fewest and with the most arguments.
fn ends(curve: &[(u64, Found)]) -> Statement {
    let (Some((few, low)), Some((many, high))) = (curve.first(), curve.last()) else {
        return Statement::default();
    };
    statement!(
        "A call with {few} arguments takes {low}, with {many} {high}.",
        low = low.named("call with the fewest arguments"),
        high = high.named("call with the most arguments")
    )
}

/// The growth along the line through all calls, and the arguments at which the cost rises and falls, as far as intervals show it.
fn growth(curve: &[(u64, Found)], calls: &Selector, known: &Known) -> Option<Growth> {
    if curve.len() < FEWEST {
        return None;
    }
    let CurveSteps { rises, falls } = CurveSteps::of(curve)?;
    let listed = CurveSteps::listed;
    let steps = match (rises.len(), falls.len()) {
        (0, 0) => "no single step is significant".to_owned(),
        (all, 0) if all == curve.len() - 1 => "every step is significant".to_owned(),
        (_, 0) => format!("the steps to {} are significant", listed(&rises)),
        (0, _) => format!("the cost falls at {}", listed(&falls)),
        _ => format!("the cost falls at {} and rises at {}", listed(&falls), listed(&rises)),
    };
    let (slope, is_slope) = slope(calls, known);
    let is_seen = is_slope || !rises.is_empty() || !falls.is_empty();
    Some(Growth { statement: statement!("{slope}{steps}", slope, steps), is_seen })
}

/// The slope of the line, and whether it differs from zero; nothing if it has no interval.
fn slope(calls: &Selector, known: &Known) -> (Statement, bool) {
    let slope = calls.all(known).first().and_then(|(point, _)| {
        let (slope, _) = known.line(calls.experiment, point, &ARGUMENTS)?;
        slope.ends().map(|ends| (slope, ends, point.name_of("form").unwrap_or_default()))
    });
    let Some((slope, (low, high), form)) = slope else { return (Statement::default(), false) };
    let name = format!("one more argument, {form}");
    let clause = if low > 0.0 {
        statement!("one more costs {slope} on the line through all; ", slope = slope.named(&name))
    } else if high < 0.0 {
        let falls = slope.scaled(-1.0).named(&name);
        statement!("the line through all falls by {falls} for one more; ", falls)
    } else if slope.value < 0.0 {
        let most = Found::exact(high, slope.dimension).named(&name);
        statement!("the line through all shows no growth (at most {most} for one more); ", most)
    } else {
        statement!(
            "the line through all shows no significant growth ({slope} for one more); ",
            slope = slope.named(&name)
        )
    };
    (clause, low > 0.0 || high < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::mechanisms::MechanismKind;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::CoreUse;
    use serde_json::json;

    fn text(costs: &[f64]) -> Option<String> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (arguments, ns) in costs.iter().enumerate() {
            BY_ABI.plant_at(&mut known, &[("arguments", json!(arguments))], *ns);
        }
        judge(&Premises { known: &known, points: &[] }).map(|conclusion| conclusion.headline.plain())
    }

    /// The conclusion for calls of each form with these costs.
    fn of_both(abi: &[f64], unoptimised: &[f64]) -> Conclusion {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (calls, costs) in [(&BY_ABI, abi), (&UNOPTIMISED, unoptimised)] {
            for (arguments, ns) in costs.iter().enumerate() {
                calls.plant_at(&mut known, &[("arguments", json!(arguments))], *ns);
            }
        }
        judge(&Premises { known: &known, points: &[] }).expect("a conclusion")
    }

    #[test]
    fn arguments_that_cost_nothing_are_no_effect_and_never_lead_those_that_do() {
        let (flat, steps) = ([1.0, 1.005, 0.995], [1.0, 1.0, 1.5]);
        let none = of_both(&flat, &flat);
        assert_eq!(none.kind, MechanismKind::NoEffect);
        let one = of_both(&flat, &steps);
        assert_eq!(one.kind, MechanismKind::Effect);
        let (headline, because) = (one.headline.plain(), one.because.plain());
        assert!(
            headline.starts_with("As unoptimised code") && because.contains("no single step"),
            "{headline} {because}"
        );
        let headline = of_both(&steps, &flat).headline.plain();
        assert!(headline.starts_with("As the ABI"), "{headline}");
    }

    #[test]
    fn steady_growth_steps_falls_and_noise_are_told_apart() {
        let cases = [
            (&[1.0, 1.1, 1.2, 1.3][..], "every step is significant."),
            (&[1.0, 1.0, 1.5, 1.505], "the steps to 2 are significant."),
            (&[1.0, 0.8, 0.8, 1.5], "the cost falls at 1 and rises at 3."),
            (&[1.0, 0.8, 0.8, 0.8], "the cost falls at 1."),
            (&[1.0, 1.005, 0.995, 1.0], "no single step is significant."),
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

    #[test]
    fn a_neighbours_step_is_no_arguments_step() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (arguments, core) in [CoreUse::Shared, CoreUse::Alone, CoreUse::Alone].into_iter().enumerate() {
            BY_ABI.plant_at(&mut known, &[("arguments", json!(arguments))], 1.0);
            let point = BY_ABI.point(&[("arguments", json!(arguments))]);
            let planted = known.found(BY_ABI.experiment, &point).expect("a figure");
            known.learn(BY_ABI.experiment, &point, Found { core: Some(core), ..planted });
        }
        assert!(judge(&Premises { known: &known, points: &[] }).is_none());
    }
}
