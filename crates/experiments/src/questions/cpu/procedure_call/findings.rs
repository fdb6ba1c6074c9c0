//! Findings on procedure calls: what one more argument costs, by the line through all and step by step, and what the lack of optimisation does.

use super::{ABOUT, ARGUMENTS, Convention, expected_instructions, point};
use crate::expected::core_facts;
use fathom_core::experiment::CurveSteps;
use fathom_core::prelude::*;

pub fn findings(known: &Known) -> Vec<Finding> {
    let of_form = |form| [one_more(form, known).or_else(|| by_steps(form, known)), growth(form, known)];
    ["abi", "spilled"]
        .into_iter()
        .flat_map(of_form)
        .flatten()
        .chain([on_the_stack(known), unoptimised(known)].into_iter().flatten())
        .collect()
}

/// From this share on the beginning of a line is not the call without arguments that it stands for, if their intervals say so too.
const BESIDE: f64 = 0.1;

/// The line through the calls of a form: the cost of one more argument, and that of a call without one. `None` where the line misses
/// the call without arguments: they do not add up on a line.
fn line(form: &str, known: &Known) -> Option<(Found, Found)> {
    let (slope, call) = known.line(ABOUT.name, &point(form, 0), &ARGUMENTS)?;
    let bare = known.found(ABOUT.name, &point(form, 0))?;
    let misses = (call.value / bare.value - 1.0).abs() > BESIDE && call.differs_from(&bare) != Some(false);
    (!misses).then_some((slope, call))
}

/// The cost of one more argument: the slope of the line through the calls of a form.
fn one_more(form: &str, known: &Known) -> Option<Finding> {
    let (slope, call) = line(form, known)?;
    let form = if form == "spilled" {
        "as unoptimised code passes it"
    } else {
        "as the ABI passes it to calls that may overlap"
    };
    let name = format!("one more argument, {form}");
    let costs = match slope.interval {
        Some(interval) if interval.high < 0.0 => statement!(
            "costs nothing that shows (the line through all calls falls by {slope})",
            slope = slope.scaled(-1.0).named(&name)
        ),
        Some(interval) if interval.contains(0.0) && slope.value < 0.0 => statement!(
            "costs nothing that shows, and at most {most}",
            most = slope.upper_bound().named(&name)
        ),
        Some(interval) if interval.contains(0.0) => statement!(
            "costs {slope}, which is not significantly different from zero",
            slope = slope.named(&name)
        ),
        _ => statement!("costs {slope}", slope = slope.named(&name)),
    };
    Some(
        finding!(
            Question::Argument,
            "One more argument, {form}, {costs}, on a line that begins without arguments at {call}.",
            costs,
            call = call.named(&format!("the line without arguments, {form}"))
        )
        .about(form),
    )
}

/// The share of the greatest step below which a step is none.
const NO_STEP: f64 = 0.01;

/// What all arguments of a form add, and by what steps, where their calls lie on no line: then one more has no one cost.
fn by_steps(form: &str, known: &Known) -> Option<Finding> {
    let along = known.found_along(ABOUT.name, &point(form, 0), &ARGUMENTS);
    CurveSteps::of(&along)?;
    let ((few, first), (many, last)) = (along.first()?, along.last()?);
    let steps = along.windows(2).map(|pair| pair[1].1.minus(pair[0].1));
    let by_value = |one: &Found, other: &Found| one.value.total_cmp(&other.value);
    let (least, most) = (steps.clone().min_by(by_value)?, steps.max_by(by_value)?);
    let passed = if form == "spilled" {
        "as unoptimised code passes it"
    } else {
        "as the ABI passes it to calls that may overlap"
    };
    let bare = |of: Found, name: &str| Found::bare(of.value, of.dimension).named(name);
    let most_step = bare(most, &format!("the greatest step, {passed}"));
    let steps = if least.value > NO_STEP * most.value {
        statement!(
            "in steps from {least} to {most}",
            least = bare(least, &format!("the least step, {passed}")),
            most = most_step
        )
    } else {
        statement!("up to {most} with one of them and nothing with another", most = most_step)
    };
    Some(
        finding!(
            Question::Argument,
            "One more argument, {passed}, has no one cost, because the calls lie on no line: from {few} to {many} arguments a call takes \
             {more} more, {steps}.",
            few = few.to_string(),
            many = many.to_string(),
            more = last.minus(*first).named(&format!("all arguments, {passed}")),
            steps
        )
        .about(form),
    )
}

/// Whether each argument adds the same cost, and whether fewer arguments cost more than noise explains (R-CPU-12, R-CPU-13).
fn growth(form: &'static str, known: &Known) -> Option<Finding> {
    let along = known.found_along(ABOUT.name, &point(form, 0), &ARGUMENTS);
    let most = along.len().checked_sub(1).filter(|most| *most >= 2)?;
    // Nothing is said if a step is not judged, as one between unlike states of the core.
    let steps = CurveSteps::of(&along)?;
    let passed = if form == "spilled" { "as unoptimised code passes them" } else { "as the ABI passes them" };
    let judged = step_by_step(&steps, most, passed);
    let by = Convention::of(known.machine);
    let added = expected_instructions(form, 6, by) - expected_instructions(form, 5, by);
    let instruction = core_facts::instruction(known).value;
    let of = along[0].1;
    let issued = Found { core: of.core, ..Found::exact(added as f64 * instruction, of.dimension) };
    let beside = line(form, known).and_then(|(slope, _)| beside_issue(slope, &issued));
    Some(
        finding!(
            Question::Argument,
            "{judged}. The {added} further instructions of an argument take {issued} of a core that \
         completes independent ones all the time{beside}.",
            judged,
            issued = issued.named(&format!("one more argument, {passed}, predicted")),
            beside = beside.unwrap_or("")
        )
        .about(form),
    )
}

/// At which of so many arguments a call becomes slower or faster, as far as intervals show it; a rise is named only where the largest shows,
/// because a lesser one that happens to show is none that stands out.
fn step_by_step(steps: &CurveSteps, most: usize, passed: &str) -> Statement {
    let CurveSteps { rises, falls, steepest, .. } = steps;
    let largest = steps.outstanding().filter(|_| rises.len() > 1).map(|(at, step)| {
        let step = step.named(&format!("the largest step, {passed}"));
        statement!(", the most with argument {at}, by {step}", at = at.to_string(), step)
    });
    let (up, down) = (CurveSteps::arguments(rises), CurveSteps::arguments(falls));
    let faster = if falls.is_empty() { String::new() } else { format!(", and faster with {down}") };
    match (rises.len(), steepest) {
        (0, _) if falls.is_empty() => statement!(
            "No single argument of {most} makes a call significantly slower than one fewer, {passed}"
        ),
        (0, _) => statement!("A call becomes significantly faster with {down}, {passed}"),
        (_, None) => statement!(
            "No single argument of {most} stands out, {passed}: the largest step is not significant{faster}",
            faster =
                if falls.is_empty() { String::new() } else { format!("; a call becomes faster with {down}") }
        ),
        (all, _) if all == most => {
            statement!("Each argument makes a call significantly slower, {passed}{largest}", largest)
        }
        _ => statement!("A call becomes significantly slower with {up}, {passed}{largest}{faster}", largest),
    }
}

/// How the cost of one more argument, the slope of a line, compares with the time in which its instructions are issued.
fn beside_issue(slope: Found, issued: &Found) -> Option<&'static str> {
    let interval = slope.interval?;
    if interval.low > issued.value {
        Some("; an argument costs more than that, so a call waits for something besides their number")
    } else if interval.high < issued.value {
        Some("; an argument costs less than that, so they overlap with other work of the call")
    } else {
        None
    }
}

/// The cost of the seventh argument, which x86-64 passes on the stack, where it is the largest step and shows; else that of all seven.
fn on_the_stack(known: &Known) -> Option<Finding> {
    if known.machine.is_aarch64() {
        return None;
    }
    let cost = |arguments| known.found(ABOUT.name, &point("abi", arguments));
    let (none, six, seven) = (cost(0)?, cost(6)?, cost(7)?);
    let steps = CurveSteps::of(&known.found_along(ABOUT.name, &point("abi", 0), &ARGUMENTS));
    let is_step = steps.and_then(|steps| steps.outstanding()).is_some_and(|(at, _)| at == 7);
    let seven = seven.named("call with seven arguments");
    let passed = if is_step {
        let six = six.named("call with six arguments");
        statement!("{six} with six in registers; a seventh, on the stack, makes it {seven}", six, seven)
    } else {
        statement!("{seven} with seven, six in registers and one on the stack", seven)
    };
    Some(finding!(
        Question::Argument,
        "A call takes {none} without arguments and {passed}.",
        none = none.named("call without arguments"),
        passed
    ))
}

/// The cost that report 000 and others added by compiling without optimisation.
fn unoptimised(known: &Known) -> Option<Finding> {
    let (good, spilled) =
        (known.found(ABOUT.name, &point("abi", 7))?, known.found(ABOUT.name, &point("spilled", 7))?);
    Some(finding!(
        Question::Argument,
        "A call with seven arguments takes {good} in optimised code and {spilled} in unoptimised code: {ratio}.",
        good = good.named("call with seven arguments, optimised"),
        spilled = spilled.named("call with seven arguments, unoptimised"),
        ratio = spilled.times_as("much", good, "unoptimised over optimised, seven arguments")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A finding for calls with so many arguments, from none on, of these costs in nanoseconds, known to a percent.
    fn said(costs: &[f64], finding: impl Fn(&Known) -> Option<Finding>) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, Some(2e9));
        let costs = (0..).zip(costs).map(|(arguments, ns)| (point("abi", arguments), *ns));
        fathom_described::plant(&mut known, &super::super::ProcedureCall, costs);
        finding(&known).expect("a finding").statement.plain()
    }

    #[test]
    fn steps_are_told_from_noise() {
        let said_of = |costs: [f64; 4]| said(&costs, |known| growth("abi", known));
        let each = said_of([1.0, 1.25, 1.75, 2.0]);
        assert!(each.starts_with("Each argument makes a call significantly slower, as the ABI"), "{each}");
        assert!(each.contains("passes them, the most with argument 2, by {0.5}. The"), "{each}");
        let alike = said_of([1.0, 1.25, 1.5, 1.75]);
        assert!(!alike.contains("the most"), "steps that may be as large: {alike}");
        let noise = said_of([1.0, 1.005, 1.001, 1.4]);
        assert!(
            noise.contains("significantly slower with argument 3, as the ABI passes them. The"),
            "{noise}"
        );
        let falls = said_of([1.0, 1.2, 1.1, 1.4]);
        assert!(
            falls.contains("slower with arguments 1 and 3, as the ABI passes them, the most with argument 3")
                && falls.contains(", and faster with argument 2. The"),
            "{falls}"
        );
    }

    #[test]
    fn calls_that_lie_on_no_line_are_told_by_their_steps() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, Some(2e9));
        let costs = (0..).zip([1.0, 1.25, 1.25, 2.0]).map(|(arguments, ns)| (point("abi", arguments), ns));
        fathom_described::plant(&mut known, &super::super::ProcedureCall, costs);
        known.learn_line(ABOUT.name, &point("abi", 0), ARGUMENTS.name, None);
        let text = findings(&known).remove(0).statement.plain();
        assert!(
            text.contains(
                "has no one cost, because the calls lie on no line: from 0 to 3 arguments a call takes {1}"
            ) && text.contains("more, up to {0.75} with one of them and nothing with another."),
            "{text}"
        );
    }

    #[test]
    fn a_lesser_step_is_not_named_where_the_largest_does_not_show() {
        let found = |value: f64, width: f64| fathom_described::found_within(width, value, Unit::Nanoseconds);
        // The step to the second argument is the largest, and its interval holds none.
        let curve =
            [found(1.0, 0.001), found(1.1, 0.4), found(1.9, 0.5), found(1.92, 0.001), found(2.0, 0.001)];
        let curve: Vec<(u64, Found)> = (0..).zip(curve).collect();
        let steps = CurveSteps::of(&curve).expect("judged");
        assert_eq!((steps.rises.as_slice(), steps.steepest), (&[4][..], None));
        let text = step_by_step(&steps, 4, "as the ABI passes them").plain();
        assert!(
            text.starts_with("No single argument of 4 stands out") && !text.contains("argument 4"),
            "{text}"
        );
    }

    #[test]
    fn the_step_to_the_stack_is_named_where_it_is_the_largest() {
        let said_of = |costs: [f64; 8]| said(&costs, on_the_stack);
        let stack = said_of([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1, 1.5]);
        assert!(stack.ends_with("a seventh, on the stack, makes it {1.5}."), "{stack}");
        let other = said_of([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.5, 1.6]);
        assert!(other.ends_with("and {1.6} with seven, six in registers and one on the stack."), "{other}");
    }

    #[test]
    fn an_argument_s_cost_is_told_beside_its_instructions_where_it_is_another() {
        let found = |value| fathom_described::found(value, Unit::Nanoseconds);
        let issued = found(0.25);
        assert!(beside_issue(found(0.5), &issued).unwrap().contains("costs more than that"));
        assert!(beside_issue(found(0.02), &issued).unwrap().contains("costs less than that"));
        assert_eq!(beside_issue(found(0.251), &issued), None, "known to a percent");
        assert_eq!(beside_issue(Found::bare(0.5, issued.dimension), &issued), None, "without an interval");
    }
}
