//! What does calling a procedure cost, and what does one more argument add?

use crate::apparatus::cpu::call_kernel;
use crate::arch::ARGUMENT_REGISTERS;
use crate::expected::core_facts;
use fathom_core::experiment::CurveSteps;
use fathom_core::prelude::*;

const FORM: Parameter = Parameter::named("form", "how arguments are passed, and what depends on what");
const ARGUMENTS: Parameter = Parameter::count("arguments", "integer arguments");

pub struct ProcedureCall;

static ABOUT: About = About {
    name: "cpu/procedure_call",
    question: "What does calling a procedure cost, and what does one more argument add?",
    operation: "placing the arguments, calling a procedure that returns their sum, and returning",
    method: "Eight procedures of 0 to 7 integer arguments return the sum of their arguments, so that every argument \
             is used. On x86-64 six arguments are passed in registers and the seventh on the stack (System V ABI); on \
             aarch64 all seven are passed in registers (AAPCS64). A loop contains sixteen calls and adds at most a \
             sixteenth of a cycle to each; nothing is subtracted.\n\nForms: `abi`, as an optimising compiler writes \
             it; `chained`, where each result is the first argument of the next call, so that calls cannot overlap \
             (latency, whereas `abi` is throughput); `indirect`, through a pointer; and `spilled`, as a compiler \
             writes it without optimisation: both sides store the arguments to the stack and load them again. The \
             reports measured this form, at -O0. The instructions are counted by disassembling these loops in the \
             running binary, and the sums are checked. `timed singly` is the method of report 003: one call between \
             two readings of the clock, minus the cost of a reading.",
    caveats: "`spilled` is naive: it measures stores and loads more than calls. `abi` calls overlap with each other: \
              a cost below a few cycles is a throughput, not a latency. `timed singly` is naive: a call is shorter \
              than the clock's resolution, and fences separate it from its neighbours.",
    version: 1,
    timed: Some(TimedCode {
        of: "calls in a loop, with 0 to 7 arguments, on x86-64",
        source: include_str!("../../arch/x86_64/call_loops.rs"),
        begins: "global_asm!(",
    }),
    parameters: &[FORM, ARGUMENTS],
    trends: &[Trend { along: "arguments", step: 1.0, slope: "per argument" }],
    shown: Shown::by(&[
        MainFigure::of("call without arguments", &[("form", At::Name("abi")), ("arguments", At::Number(0))]),
        MainFigure::slope(
            "each argument more, calls that wait for the last (chained)",
            &[("form", At::Name("chained"))],
        ),
    ]),
};

/// The forms in the order of the kernels' table.
const FORMS: [&str; 5] = ["abi", "chained", "indirect", "spilled", SINGLE];

/// Report 003: each call between two readings of the clock.
const SINGLE: &str = "timed singly";
const CHAINED: usize = 1;

const ARM: &str = "Arm, Neoverse N1 Software Optimization Guide";
/// Stated: number of arguments passed in registers.
const REGISTERS: &str = "argument_registers";

/// The convention by which arguments are passed.
#[derive(Clone, Copy)]
enum Convention {
    /// System V on x86-64: six arguments in registers.
    SystemV,
    /// AAPCS64: eight.
    Aapcs64,
}

impl Convention {
    fn of(machine: &Machine) -> Self {
        if machine.is_aarch64() { Convention::Aapcs64 } else { Convention::SystemV }
    }

    /// That of a trial, by what it states; runs without it are of x86-64.
    fn stated(observed: &Observed) -> Self {
        let passes_all = observed.witness(REGISTERS).is_some_and(|registers| registers > 6.0);
        if passes_all { Convention::Aapcs64 } else { Convention::SystemV }
    }
}

impl Experiment for ProcedureCall {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let points = FORMS.iter().flat_map(|form| (0..8).map(move |arguments| (*form, arguments)));
        points
            // A call without arguments has no argument through which to chain.
            .filter(|(form, arguments)| *form != "chained" || *arguments > 0)
            .map(|(form, arguments)| Point::new().named(&FORM, form).with(&ARGUMENTS, arguments))
            .collect()
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::ASSEMBLY]
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let is_arm = known.machine.is_aarch64();
        let fog = if is_arm { ARM } else { "Fog, Microarchitecture manual, 2022" };
        let arguments = point.number(&ARGUMENTS) as f64;
        let every_second = if is_arm {
            known.cycles(
                2.0,
                "Arm, Neoverse N1 Software Optimization Guide: one branch a cycle, and a call is two",
            )
        } else {
            known
                .cycles(2.0, "Fog, Instruction tables, 2022: a near call every second cycle, and so a return")
        };
        let moved = if is_arm { 0.0 } else { 1.0 };
        let branches = Prediction::new().hardware("a call and a return", 2.0, every_second);
        // Additions do not wait for calls: the slower of the two determines the rate.
        let chain = Prediction::new()
            .hardware("a chain of dependent additions", (arguments - 1.0).max(0.0), known.cycles(1.0, fog))
            .hardware("the result moved to the first argument", moved, known.cycles(1.0, fog));
        Ok(match point.name(&FORM) {
            SINGLE => branches.hardware(
                "the call, with the pipeline drained by the fences before and after it",
                1.0,
                known.assumed_cycles(15.0, "the depth of a pipeline"),
            ),
            "chained" => slower(branches, chain),
            form => slower(branches, instructions(form, point.number(&ARGUMENTS), known)),
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        // A call timed singly may be shorter than the clock's resolution.
        (point.name(&FORM) != SINGLE).then(|| Bound {
            limit: 0.45 * known.shortest_cycle(),
            because: "a call and a return are two taken branches, of which no core takes more than two in half a cycle"
                .to_owned(),
        })
    }
    fn waits_for_the_core_alone(&self, _: &Point) -> bool {
        true
    }

    fn prepare<'site>(&self, point: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
        let arguments = point.number(&ARGUMENTS);
        let form = FORMS.iter().position(|form| *form == point.name(&FORM));
        let form = form.ok_or_else(|| Failure::no_variant(&FORM, point.name(&FORM)))?;
        let kernel = call_kernel::kernel(form, arguments as usize)
            .ok_or_else(|| Failure::Unsupported("the calls are written in assembly".to_owned()))?;
        let once = arguments * (arguments + 1) / 2;
        // A chained call adds the constants 2, 3, … to the last result, in 32 bits; the first result is zero.
        let chained = move |n: u64| u64::from((once - 1).wrapping_mul(n * call_kernel::CALLS) as u32);
        let expected = move |n| if form == CHAINED { chained(n) } else { once };
        let call = move |n| ensure(kernel.sum(n) == expected(n), "a procedure returned a wrong sum");
        let (workload, calls) = if point.name(&FORM) == SINGLE {
            (Workload::each(call), 1)
        } else {
            (Workload::batched(call).per_iteration(call_kernel::CALLS), call_kernel::CALLS)
        };
        let workload = workload.stating(REGISTERS, ARGUMENT_REGISTERS as f64);
        Ok(match kernel.instructions(calls) {
            Some(count) => workload.stating("instructions_listed", count),
            None => workload,
        })
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let by = Convention::stated(observed);
        let expected = expected_instructions(point.name(&FORM), point.number(&ARGUMENTS), by);
        let claim = format!("instructions of one call in the running binary, by disassembly: {expected}");
        let mut checks = vec![match observed.witness("instructions_listed") {
            Some(listed) => Check::equal(claim, listed, expected as f64),
            None => Check::missing(claim),
        }];
        let batched = point.name(&FORM) != SINGLE;
        if let Some(instructions) = observed.counters.instructions.filter(|_| batched) {
            let claim = "instructions retired per call, by the processor's counter";
            // The loop's own two instructions are shared by sixteen calls. Calls timed singly are between readings of the clock.
            let per_call = observed.per_operation(instructions);
            checks.push(Check::within(claim, per_call, expected as f64, expected as f64 * 1.1 + 0.5));
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let of_form = |form| [one_more(form, known), growth(form, known)];
        ["abi", "spilled"]
            .into_iter()
            .flat_map(of_form)
            .flatten()
            .chain([on_the_stack(known), unoptimised(known)].into_iter().flatten())
            .collect()
    }
}

/// The slower of two activities that a core overlaps.
fn slower(one: Prediction, other: Prediction) -> Prediction {
    if other.total() > one.total() { other } else { one }
}

/// All instructions of a call at the core's throughput without waits (R-PRE-01: count × CPI × cycle time).
fn instructions(form: &str, arguments: u64, known: &Known) -> Prediction {
    let count = expected_instructions(form, arguments, Convention::of(known.machine)) as f64;
    Prediction::new().software(
        "instructions of a call, by disassembly",
        count,
        core_facts::instruction(known),
    )
}

/// The point of a call without arguments, for comparisons.
pub fn bare() -> Point {
    point("abi", 0)
}

fn point(form: &str, arguments: u64) -> Point {
    Point::new().named(&FORM, form).with(&ARGUMENTS, arguments)
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
            most = Found::exact(interval.high, slope.dimension).named(&name)
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
    let CurveSteps { rises, falls, steepest } = steps;
    let largest = steepest.filter(|_| rises.len() > 1).map(|(at, step)| {
        let step = step.named(&format!("the largest step, {passed}"));
        statement!(", the most with argument {at}, by {step}", at = at.to_string(), step)
    });
    let (up, down) = (CurveSteps::listed(rises), CurveSteps::listed(falls));
    let faster = if falls.is_empty() { String::new() } else { format!(", and faster with {down}") };
    match (rises.len(), steepest) {
        (0, _) if falls.is_empty() => statement!(
            "No single argument of {most} makes a call significantly slower than one fewer, {passed}"
        ),
        (0, _) => statement!("A call becomes significantly faster with argument {down}, {passed}"),
        (_, None) => statement!(
            "No single argument of {most} stands out, {passed}: the largest step is not significant{faster}",
            faster =
                if falls.is_empty() { String::new() } else { format!("; a call becomes faster with {down}") }
        ),
        (all, _) if all == most => {
            statement!("Each argument makes a call significantly slower, {passed}{largest}", largest)
        }
        _ => statement!(
            "A call becomes significantly slower with argument {up}, {passed}{largest}{faster}",
            largest
        ),
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
    let is_step = steps.and_then(|steps| steps.steepest).is_some_and(|(at, _)| at == 7);
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
        "A call with seven arguments takes {spilled} in unoptimised code: {ratio}.",
        spilled = spilled.named("call with seven arguments, unoptimised"),
        ratio = spilled.times_as("much", good, "unoptimised over optimised, seven arguments")
    ))
}

/// Instructions of one call by the ABI: placing the arguments, call, body, return, and clearing the stack.
fn expected_instructions(form: &str, arguments: u64, by: Convention) -> u64 {
    match by {
        Convention::SystemV => expected_on_x86_64(form, arguments),
        Convention::Aapcs64 => expected_on_aarch64(form, arguments),
    }
}

/// The first argument and the result share a register: nothing is moved, and each other argument takes one addition.
fn expected_on_aarch64(form: &str, arguments: u64) -> u64 {
    let call_and_return = 2;
    let body = if arguments == 0 { 1 } else { arguments - 1 };
    match form {
        "abi" | "indirect" | SINGLE => arguments + body + call_and_return,
        "chained" => arguments - 1 + body + call_and_return,
        // The caller loads each argument; the callee makes and clears its frame, and stores and loads each argument.
        _ => arguments + 2 + 2 * arguments + body + call_and_return,
    }
}

fn expected_on_x86_64(form: &str, arguments: u64) -> u64 {
    let on_stack = u64::from(arguments == 7);
    let in_registers = arguments - on_stack;
    let body = arguments.max(1); // the first is a move, the others are added; none is a zero made
    let call_and_return = 2;
    match form {
        // `chained` moves the last result instead of a constant into the first argument.
        "abi" | "chained" | "indirect" | SINGLE => in_registers + 2 * on_stack + body + call_and_return,
        // The caller loads each argument from its frame; push, mov and pop for the frame; each spilled and added.
        _ => in_registers + 2 * on_stack + 3 + in_registers + body + call_and_return,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Dimension;
    use fathom_core::quantity::Unit;

    /// The findings for calls with none to three arguments of these costs in nanoseconds, known to a percent.
    fn said_of(costs: [f64; 4]) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, Some(2e9));
        for (arguments, value) in costs.into_iter().enumerate() {
            let found = fathom_described::found(value, Dimension::Of(Unit::Nanoseconds));
            known.learn(ABOUT.name, &point("abi", arguments as u64), found);
        }
        growth("abi", &known).unwrap().statement.plain()
    }

    #[test]
    fn steps_are_told_from_noise() {
        let each = said_of([1.0, 1.25, 1.75, 2.0]);
        assert!(each.starts_with("Each argument makes a call significantly slower, as the ABI"), "{each}");
        assert!(each.contains("passes them, the most with argument 2, by {0.5}. The"), "{each}");
        let noise = said_of([1.0, 1.005, 1.001, 1.4]);
        assert!(
            noise.contains("significantly slower with argument 3, as the ABI passes them. The"),
            "{noise}"
        );
        let falls = said_of([1.0, 1.2, 1.1, 1.4]);
        assert!(
            falls.contains("slower with argument 1, 3, as the ABI passes them, the most with argument 3")
                && falls.contains(", and faster with 2. The"),
            "{falls}"
        );
    }

    #[test]
    fn a_lesser_step_is_not_named_where_the_largest_does_not_show() {
        let found = |value: f64, width: f64| {
            fathom_described::found_within(width, value, Dimension::Of(Unit::Nanoseconds))
        };
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
        let said = |costs: [f64; 8]| {
            let machine = fathom_described::machine();
            let mut known = Known::new(&machine, Some(2e9));
            for (arguments, value) in costs.into_iter().enumerate() {
                let found = fathom_described::found(value, Dimension::Of(Unit::Nanoseconds));
                known.learn(ABOUT.name, &point("abi", arguments as u64), found);
            }
            on_the_stack(&known).map(|finding| finding.statement.plain()).unwrap_or_default()
        };
        let stack = said([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1, 1.5]);
        assert!(stack.ends_with("a seventh, on the stack, makes it {1.5}."), "{stack}");
        let other = said([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.5, 1.6]);
        assert!(other.ends_with("and {1.6} with seven, six in registers and one on the stack."), "{other}");
    }

    #[test]
    fn an_argument_s_cost_is_told_beside_its_instructions_where_it_is_another() {
        let found = |value| fathom_described::found(value, Dimension::Of(Unit::Nanoseconds));
        let issued = found(0.25);
        assert!(beside_issue(found(0.5), &issued).unwrap().contains("costs more than that"));
        assert!(beside_issue(found(0.02), &issued).unwrap().contains("costs less than that"));
        assert_eq!(beside_issue(found(0.251), &issued), None, "known to a percent");
        assert_eq!(beside_issue(Found::bare(0.5, issued.dimension), &issued), None, "without an interval");
    }
}
