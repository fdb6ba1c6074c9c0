//! What does calling a procedure cost, and what does one more argument add?

mod findings;

use crate::apparatus::cpu::call_kernel;
use crate::apparatus::listing::LISTED;
use crate::arch::ARGUMENT_REGISTERS;
use crate::expected::core_facts;
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
        source: include_str!("../../../arch/x86_64/call_loops.rs"),
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
        (point.name(&FORM) != SINGLE).then(|| Bound::of(0.45 * known.shortest_cycle(), "a call and a return are two taken branches, of which no core takes more than two in half a cycle"))
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
        Ok(workload.stating(LISTED, kernel.instructions(calls)))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let by = Convention::stated(observed);
        let expected = expected_instructions(point.name(&FORM), point.number(&ARGUMENTS), by);
        let claim = format!("instructions of one call in the running binary, by disassembly: {expected}");
        let mut checks = vec![Check::equal(claim, observed.witness(LISTED), expected as f64)];
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
        findings::findings(known)
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
