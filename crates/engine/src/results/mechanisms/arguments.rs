//! How a call's cost grows with the number of its arguments: by the line through all calls, and step by step.

use super::{Conclusion, MechanismKind, Premises, Rule};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{CoreUse, CurveSteps, Found, Known, Parameter, Selector, Statement, statement};

pub(super) const RULE: Rule = Rule {
    name: "growth_with_arguments",
    condition: "calls with at least three different numbers of arguments were measured; a step is a significant \
                difference, and both its ends are of one state of the core; a cause is growth along all arguments without a fall, or \
                a step to the first argument on the stack that is the largest",
    judge,
    points: &[BY_ABI, UNOPTIMISED],
};

const BY_ABI: Selector = Selector::only("cpu/procedure_call", &[("form", Name("abi")), ("arguments", Any)]);
const UNOPTIMISED: Selector =
    Selector::only("cpu/procedure_call", &[("form", Name("spilled")), ("arguments", Any)]);

const ARGUMENTS: Parameter = Parameter::count("arguments", "the number of arguments");

/// The fewest points for a line.
const FEWEST: usize = 3;

fn judge(premises: &Premises) -> Option<Conclusion> {
    let curve = of_one_state(&BY_ABI, premises.known);
    let by_abi = growth(&curve, &BY_ABI, premises.known)?;
    let other = of_one_state(&UNOPTIMISED, premises.known);
    let unoptimised = growth(&other, &UNOPTIMISED, premises.known);
    let clause = |form: &'static str, growth: &Growth| {
        statement!("As {form} arguments, {growth}.", form, growth = growth.statement.clone())
    };
    let abi = statement!(
        "As the ABI passes arguments to calls that may overlap, {growth}.",
        growth = by_abi.statement.clone()
    );
    let ends = ends(&curve);
    // What has a cause leads, and then what changes.
    let (kind, headline, rest) = match unoptimised {
        Some(other) if other.rank() > by_abi.rank() => {
            let leads = clause("unoptimised code passes", &other);
            (other.kind, leads, statement!("{abi} {ends}", abi, ends))
        }
        Some(other) => {
            let follows = clause("unoptimised code passes", &other);
            (by_abi.kind, abi, statement!("{ends} {follows}", ends, follows))
        }
        None => (by_abi.kind, abi, ends),
    };
    Some(Conclusion { kind, ..Conclusion::of(headline, rest) })
}

/// The calls of a form in one state of the core: those with the core alone, as far as they follow each other, where these are enough. Where the
/// values with the core shared are judged, and those with the core alone are enough by themselves, there are none: the same points would say two
/// things of one argument.
fn of_one_state(calls: &Selector, known: &Known) -> Vec<(u64, Found)> {
    let curve = calls.along("arguments", known);
    let own = known.decided_by.map(|main| longest_alone(&calls.along("arguments", main)));
    if own.is_some_and(|own| own.len() >= FEWEST) {
        return vec![];
    }
    let alone = longest_alone(&curve);
    if alone.len() >= FEWEST { alone } else { curve }
}

/// The longest row of calls with the core alone, each with one argument more than the one before it.
fn longest_alone(curve: &[(u64, Found)]) -> Vec<(u64, Found)> {
    let follows = |(one, before): &(u64, Found), (other, after): &(u64, Found)| {
        [before, after].iter().all(|call| call.core == Some(CoreUse::Alone)) && *other == one + 1
    };
    let rows = curve.chunk_by(follows).filter(|row| row[0].1.core == Some(CoreUse::Alone));
    rows.rev().max_by_key(|row| row.len()).map_or_else(Vec::new, <[_]>::to_vec)
}

/// Whether the core alone shows the step to this argument to go the other way than it goes with the core shared.
fn is_denied(at: u64, rises: bool, calls: &Selector, known: &Known) -> bool {
    let Some(main) = known.decided_by else { return false };
    let alone = calls.along("arguments", main);
    let call = |number: u64| alone.iter().find(|(arguments, _)| *arguments == number).map(|(_, call)| *call);
    let Some((before, after)) = at.checked_sub(1).and_then(call).zip(call(at)) else { return false };
    let is_alone = [before, after].iter().all(|call| call.core == Some(CoreUse::Alone));
    is_alone && after.differs_from(&before) == Some(true) && (after.value > before.value) != rises
}

/// How a cost grows, in a clause, and whether that has a cause.
struct Growth {
    statement: Statement,
    kind: MechanismKind,
}

impl Growth {
    /// The more, the more there is to say.
    fn rank(&self) -> u8 {
        match self.kind {
            MechanismKind::Effect => 2,
            MechanismKind::Uncaused => 1,
            MechanismKind::NoEffect | MechanismKind::Identity => 0,
        }
    }
}

/// The cost of a call with the fewest and with the most arguments.
fn ends(curve: &[(u64, Found)]) -> Statement {
    let (Some((few, low)), Some((many, high))) = (curve.first(), curve.last()) else {
        return Statement::default();
    };
    let noun = if *few == 1 { "argument" } else { "arguments" };
    statement!(
        "A call with {few} {noun} takes {low}, with {many} {high}.",
        low = low.named("call with the fewest arguments"),
        high = high.named("call with the most arguments")
    )
}

/// The growth along the line through all calls, and the arguments at which the cost rises and falls, as far as intervals show it.
fn growth(curve: &[(u64, Found)], calls: &Selector, known: &Known) -> Option<Growth> {
    if curve.len() < FEWEST {
        return None;
    }
    let mut steps = CurveSteps::of(curve)?;
    steps.rises.retain(|at| !is_denied(*at, true, calls, known));
    steps.falls.retain(|at| !is_denied(*at, false, calls, known));
    steps.steepest = steps.steepest.filter(|(at, _)| steps.rises.contains(at));
    // The line is through all calls, whatever their states. On no line only steps at all arguments are growth along them.
    let is_of_all = curve.len() == calls.along("arguments", known).len();
    let line = slope(calls, known).filter(|_| is_of_all);
    let (slope, grows) = line.unwrap_or_else(|| (in_all(curve, calls, known), false));
    let all_rise = steps.rises.len() == curve.len() - 1;
    let (clause, kind) = if all_rise {
        (statement!("every step is significant{largest}", largest = largest(&steps)), MechanismKind::Effect)
    } else {
        let steepest = steps.outstanding().map(|(at, _)| at);
        let stack = first_on_the_stack(known).filter(|first| steepest == Some(*first));
        let is_single = !steps.rises.is_empty() || !steps.falls.is_empty();
        let kind = match (grows && steps.falls.is_empty() || stack.is_some(), is_single) {
            (true, _) => MechanismKind::Effect,
            (false, true) => MechanismKind::Uncaused,
            (false, false) => MechanismKind::NoEffect,
        };
        (single_steps(&steps, stack, grows), kind)
    };
    Some(Growth { statement: statement!("{slope}{clause}", slope, clause), kind })
}

/// The largest of several steps, if it shows.
fn largest(steps: &CurveSteps) -> Option<Statement> {
    let (at, step) = steps.outstanding().filter(|_| steps.rises.len() > 1)?;
    let step = step.named(&format!("the step to argument {at}"));
    Some(statement!(", the largest with argument {at}, {step}", at = at.to_string(), step))
}

/// The first argument that the calling convention passes on the stack, where arguments before it are in registers.
fn first_on_the_stack(known: &Known) -> Option<u64> {
    let architecture = known.machine.kernel.architecture.value()?;
    // System V on x86-64: six arguments in registers; AAPCS64: eight.
    match architecture.as_str() {
        "x86_64" => Some(7),
        "aarch64" => Some(9),
        _ => None,
    }
}

/// Steps at single arguments: the one from registers to the stack, where it is the largest, has a cause, growth along all of them is no
/// surprise at one of them, and any other change at one argument is a finding whose cause was not measured. Where the largest does not
/// show, a lesser one that does is not named.
fn single_steps(steps: &CurveSteps, stack: Option<u64>, grows: bool) -> Statement {
    let arguments = CurveSteps::arguments;
    let of_stack = stack.zip(steps.steepest).map(|(first, (_, step))| {
        let most = if steps.rises.len() > 1 { " most" } else { "" };
        let step = step.named("the step to the first argument on the stack");
        let first = first.to_string();
        statement!(
            "the cost rises{most} with argument {first}, the first that is passed on the stack, by {step}",
            most,
            first = &first,
            step
        )
    });
    if !steps.rises.is_empty() && steps.steepest.is_none() {
        let falls = match arguments(&steps.falls) {
            falls if falls.is_empty() => falls,
            falls => format!("; the cost falls with {falls}, of which no cause was measured"),
        };
        return format!("no single step stands out: the largest is not significant{falls}").into();
    }
    let rises: Vec<u64> = steps.rises.iter().copied().filter(|at| Some(*at) != stack).collect();
    let changes: Vec<String> = [("rises", &rises), ("falls", &steps.falls)]
        .into_iter()
        .filter(|(_, at)| !at.is_empty())
        .map(|(way, at)| format!("{way} with {}", arguments(at)))
        .collect();
    let changes = changes.join(" and ");
    let largest = if stack.is_none() { largest(steps) } else { None };
    let others: Option<Statement> = match (changes.is_empty(), grows) {
        (true, _) if stack.is_some() => None,
        (true, _) => Some("no single step is significant".into()),
        (false, true) if steps.falls.is_empty() => {
            Some(statement!("the cost {changes}{largest}", changes = &changes, largest))
        }
        (false, _) => Some(statement!(
            "the cost {changes}{largest}, of which no cause was measured",
            changes = &changes,
            largest
        )),
    };
    Statement::joined(of_stack.into_iter().chain(others), "; ").unwrap_or_default()
}

/// What all arguments together add, where their calls lie on no line.
fn in_all(curve: &[(u64, Found)], calls: &Selector, known: &Known) -> Statement {
    let all = calls.all(known);
    let form = all.first().and_then(|(point, _)| point.name_of("form")).unwrap_or_default();
    let more = curve
        .first()
        .zip(curve.last())
        .and_then(|((few, low), (many, high))| Some((few, many, high.beyond(*low)?)));
    more.map_or_else(Statement::default, |(few, many, more)| {
        statement!(
            "{many} cost {more} more than {few}, on no line; ",
            few = few.to_string(),
            many = many.to_string(),
            more = more.named(&format!("a call with the most arguments beyond one with the fewest, {form}"))
        )
    })
}

/// The slope of the line, and whether it is above zero; `None` if there is none, or it has no interval.
fn slope(calls: &Selector, known: &Known) -> Option<(Statement, bool)> {
    let slope = calls.all(known).first().and_then(|(point, _)| {
        let (slope, _) = known.line(calls.experiment, point, &ARGUMENTS)?;
        slope.ends().map(|ends| (slope, ends, point.name_of("form").unwrap_or_default()))
    });
    let (slope, (low, high), form) = slope?;
    let name = format!("one more argument, {form}");
    let clause = if low > 0.0 {
        statement!("one more costs {slope} on the line through all; ", slope = slope.named(&name))
    } else if high < 0.0 {
        let falls = slope.scaled(-1.0).named(&name);
        statement!("the line through all falls by {falls} for one more; ", falls)
    } else if slope.value < 0.0 {
        let most = slope.upper_bound().named(&name);
        statement!("the line through all shows no growth (at most {most} for one more); ", most)
    } else {
        statement!(
            "the line through all shows no significant growth ({slope} for one more); ",
            slope = slope.named(&name)
        )
    };
    Some((clause, low > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::machine::Fact;
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
        let mut machine = planted::machine();
        machine.kernel.architecture = Fact::known("x86_64".to_owned(), "a test");
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
        assert_eq!(one.kind, MechanismKind::Uncaused);
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
            (&[1.0, 1.25, 1.5, 2.0][..], "every step is significant, the largest with argument 3, {0.5}."),
            (&[1.0, 1.0, 1.5, 1.505], "the cost rises with argument 2, of which no cause was measured."),
            (
                &[1.0, 0.8, 0.8, 1.5],
                "the cost rises with argument 3 and falls with argument 1, of which no cause was measured.",
            ),
            (&[1.0, 0.8, 0.8, 0.8], "the cost falls with argument 1, of which no cause was measured."),
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
    fn only_growth_and_the_step_to_the_stack_are_causes() {
        let flat = [1.0; 8];
        let mut stack = flat;
        stack[7] = 1.5;
        let mut fall = stack;
        fall[0] = 1.3;
        let lesser = [1.0, 1.0, 1.0, 1.0, 1.75, 1.75, 1.75, 2.0];
        let cases = [
            (stack, MechanismKind::Effect, "argument 7, the first that is passed on the stack, by {0.5}."),
            (fall, MechanismKind::Effect, "by {0.5}; the cost falls with argument 1, of which no cause"),
            (
                lesser,
                MechanismKind::Uncaused,
                "rises with arguments 4 and 7, the largest with argument 4, {0.75}, of which",
            ),
            ([1.3, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], MechanismKind::Uncaused, "no cause was measured"),
            ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7], MechanismKind::Effect, "every step"),
            (flat, MechanismKind::NoEffect, "no single step"),
        ];
        for (costs, kind, words) in cases {
            let conclusion = of_both(&flat, &costs);
            let text = format!("{} {}", conclusion.headline.plain(), conclusion.because.plain());
            assert!(conclusion.kind == kind && text.contains(words), "{:?} {text}", conclusion.kind);
        }
    }

    /// A cost that rose with six of seven arguments was a cause, "of which no cause was measured" in the same sentence.
    #[test]
    fn calls_on_no_line_grow_along_their_arguments_if_every_step_rises() {
        let of = |costs: &[f64]| {
            let conclusion = of_both(costs, &[]);
            (conclusion.kind, conclusion.headline.plain())
        };
        assert_eq!(of(&[1.0, 1.1, 1.2, 1.4, 1.6]).0, MechanismKind::Effect);
        let (kind, text) = of(&[1.0, 1.1, 1.2, 1.4, 1.4]);
        assert!(kind == MechanismKind::Uncaused && text.contains("4 cost {0.3"), "{text}");
        assert!(
            text.contains("more than 0, on no line; the cost rises with arguments 1, 2 and 3")
                && text.ends_with("of which no cause was measured."),
            "{text}"
        );
        assert_eq!(of(&[1.0, 1.0, 1.5, 1.5, 1.5]).0, MechanismKind::Uncaused, "a single step");
    }

    #[test]
    fn growth_along_the_line_with_a_fall_is_of_no_measured_cause() {
        let machine = planted::machine();
        let kind = |first: f64| {
            let mut known = Known::new(&machine, None);
            for (arguments, ns) in [first, 1.0, 1.5, 1.5, 2.0].into_iter().enumerate() {
                BY_ABI.plant_at(&mut known, &[("arguments", json!(arguments))], ns);
            }
            let group = BY_ABI.point(&[("arguments", json!(0))]);
            let slope =
                fathom_described::found(0.3, known.found(BY_ABI.experiment, &group).unwrap().dimension);
            known.learn_line(BY_ABI.experiment, &group, "arguments", Some((slope, slope)));
            let conclusion = judge(&Premises { known: &known, points: &[] }).expect("a conclusion");
            (conclusion.kind, conclusion.headline.plain())
        };
        let (kind_of_growth, text) = kind(1.0);
        assert_eq!(kind_of_growth, MechanismKind::Effect, "{text}");
        let (kind_with_a_fall, text) = kind(1.2);
        assert!(text.contains("falls with argument 1, of which no cause was measured"), "{text}");
        assert_eq!(kind_with_a_fall, MechanismKind::Uncaused, "{text}");
    }

    #[test]
    fn a_step_to_the_stack_that_is_as_large_as_another_has_no_cause_of_its_own() {
        let alike = of_both(&[1.0; 8], &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.75, 2.5]);
        let headline = alike.headline.plain();
        assert!(
            headline.ends_with("rises with arguments 6 and 7, of which no cause was measured."),
            "{headline}"
        );
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

    /// The calls with these costs, each in a state of the core.
    fn plant_in(known: &mut Known, calls: &[(f64, CoreUse)]) {
        for (arguments, (ns, core)) in calls.iter().enumerate() {
            let point = BY_ABI.point(&[("arguments", json!(arguments))]);
            BY_ABI.plant_at(known, &[("arguments", json!(arguments))], *ns);
            let planted = known.found(BY_ABI.experiment, &point).expect("a figure");
            known.learn(BY_ABI.experiment, &point, Found { core: Some(*core), ..planted });
        }
    }

    /// With the core shared "the cost falls with argument 1", while with the core alone it rose with it.
    #[test]
    fn values_with_the_core_alone_are_told_where_they_are_enough() {
        let (machine, alone, shared) = (planted::machine(), CoreUse::Alone, CoreUse::Shared);
        let text = |known: &Known| {
            judge(&Premises { known, points: &[] }).map(|conclusion| conclusion.headline.plain())
        };
        let mut main = Known::new(&machine, None);
        plant_in(&mut main, &[(1.0, alone), (1.5, alone), (1.5, alone), (2.5, shared), (2.0, alone)]);
        let own = text(&main).expect("three calls with the core alone");
        assert!(own.contains("rises with argument 1,") && !own.contains('4'), "{own}");
        let mut beside = Known::new(&machine, None);
        plant_in(&mut beside, &[(2.0, shared), (1.5, shared), (1.5, shared), (2.5, shared), (2.5, shared)]);
        assert!(text(&beside).is_some_and(|text| text.contains("falls with argument 1")));
        beside.decided_by = Some(&main);
        assert_eq!(text(&beside), None, "the calls with the core alone are told");
        let mut few = Known::new(&machine, None);
        plant_in(&mut few, &[(1.0, alone), (1.5, alone), (3.0, shared), (2.5, shared), (3.0, shared)]);
        beside.decided_by = Some(&few);
        let both = text(&beside).expect("calls with the core shared");
        assert!(both.contains("rises with argument 3") && !both.contains("argument 1"), "{both}");
    }
}
