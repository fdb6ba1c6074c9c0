//! What does a loop cost by itself?

use crate::apparatus::cpu::loop_kernel;
use crate::apparatus::listing::LISTED;
use crate::arch;
use crate::expected::core_facts;
use crate::questions::cpu::timing_overhead;
use fathom_core::prelude::*;

const FORM: Parameter = Parameter::named("form", "where the counter lives");
const COUNT: Parameter = Parameter::count("iterations", "iterations of the loop");

pub struct LoopOverhead;

static ABOUT: About = About {
    name: "cpu/loop_overhead",
    question: "What does one iteration of a loop cost, and what does entering the loop cost?",
    operation: "one whole loop of the given number of iterations, including entry and exit",
    method: "Sixteen whole loops of 0 to 8192 iterations follow one another, so that the outer loop that repeats them \
             adds at most a sixteenth of a cycle to each; nothing is subtracted. The slope over the number of \
             iterations is the cost of one iteration in long loops, stated from the number on from which each further \
             iteration costs that; a loop of no iteration is entry and exit.\n\nThree forms: a \
             counter in a register; a counter in memory, loaded, incremented, stored and compared in each iteration, \
             as compilers write it without optimisation; and the same with a store through a pointer in the body \
             (report 000).",
    caveats: "The memory forms measure store-to-load forwarding, not the loop; the reports measured these, at -O0. A \
              loop with its counter in a register overlaps with the surrounding code.",
    version: 1,
    timed: Some(TimedCode {
        of: "a loop with its counter in a register, on x86-64",
        source: include_str!("../../../arch/x86_64/loops.rs"),
        begins: "nested!(\n    register",
    }),
    parameters: &[FORM, COUNT],
    trends: &[Trend { along: "iterations", step: 1.0, slope: "per iteration" }],
    shown: Shown::by(&[
        MainFigure::slope("each iteration, counter in a register", &[("form", At::Name("register"))]),
        MainFigure::slope("each iteration, counter in memory", &[("form", At::Name("memory"))]),
    ])
    .divided_by("iterations"),
};

/// Loops of up to so many iterations overlap with their neighbours, and say nothing of longer ones.
const OVERLAPPING: u64 = 64;

/// The longest measured loop of this form that has fewer iterations, from as many on as overlap: the design of a core does not tell whether
/// it forwards a store at rename (of two guests of one design, one took 1.4 cycles an iteration, the other 6).
fn shorter(form: &str, count: u64, known: &Known) -> Option<(u64, Basis)> {
    let mut fewer =
        (0..14).rev().map(|power| 1 << power).filter(|fewer| (OVERLAPPING..count).contains(fewer));
    fewer.find_map(|fewer| {
        let point = Point::new().named(&FORM, form).with(&COUNT, fewer);
        Some((fewer, known.measured(ABOUT.name, &point)?))
    })
}

/// An addition to a counter in memory, as in the longest loop of this run.
pub fn increment(known: &Known) -> Option<Basis> {
    let (count, whole) = shorter("memory", u64::MAX, known)?;
    Some(Basis { value: whole.value / count as f64, ..whole })
}

const FORMS: [&str; 3] = ["register", "memory", "memory-and-pointer"];

impl Experiment for LoopOverhead {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let counts = || std::iter::once(0).chain((0..14).map(|power| 1 << power));
        let points = FORMS.iter().flat_map(|form| counts().map(|count| (*form, count)));
        points.map(|(form, count)| Point::new().named(&FORM, form).with(&COUNT, count)).collect()
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::ASSEMBLY]
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        // The odd powers of two only make the fitted line more precise.
        let count = point.number(&COUNT);
        let odd_power = count > 1 && count.trailing_zeros() % 2 == 1 && count < 8192;
        if odd_power { Effort::Standard } else { Effort::Quick }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let count = point.number(&COUNT) as f64;
        let core = core_facts::of(known.machine);
        let prediction = Prediction::new();
        let round = match point.name(&FORM) {
            "register" => prediction.hardware(
                "a taken branch per iteration",
                count / core.taken_branches_of(count),
                known.cycles(1.0, &core.source),
            ),
            form => match shorter(form, point.number(&COUNT), known) {
                Some((fewer, of_fewer)) => prediction.hardware(
                    &format!("a loop of {fewer} iterations, for as many more as this one has"),
                    count / fewer as f64,
                    of_fewer,
                ),
                None => core_facts::increments_in_memory(prediction, count, known),
            },
        };
        Ok(round.software("entering and leaving the loop", 3.0, core_facts::instruction(known)))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        // Small loops overlap with their neighbours; a long one cannot run more than two iterations per cycle.
        let count = point.number(&COUNT) as f64;
        (count >= 64.0).then(|| {
            Bound::of(count * known.shortest_cycle() * 0.3, "no core takes more than two branches in a cycle")
        })
    }
    fn waits_for_the_core_alone(&self, _: &Point) -> bool {
        true
    }

    fn prepare<'site>(&self, point: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
        arch::ensure_assembly("the loops are written in assembly")?;
        let count = point.number(&COUNT);
        let form = point.name(&FORM);
        let run = loop_kernel::find(form).ok_or_else(|| Failure::no_variant(&FORM, form))?;
        let repeated = move |n| {
            run(n, count);
            Ok(())
        };
        let listed = loop_kernel::round(run).map(|count| count as f64);
        Ok(Workload::batched(repeated).per_iteration(loop_kernel::INNER_LOOPS).stating(LISTED, listed))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let count = point.number(&COUNT);
        // Runs without this value are of x86-64.
        let per_round = observed.witness(LISTED).unwrap_or(match point.name(&FORM) {
            "register" => 2.0,
            "memory" => 4.0,
            _ => 6.0,
        });
        let expected = count as f64 * per_round;
        let claim = "instructions of an iteration in the disassembled loop, those of its form";
        let listed = observed.witness(LISTED).map(|listed| {
            let of = written(point.name(&FORM));
            Check::within(claim, listed, of[0], of[1])
        });
        let retired = observed.counters.instructions.filter(|_| count >= 64).map(|instructions| {
            let claim = format!("instructions retired per loop, at least {per_round} per iteration");
            Check::within(claim, observed.per_operation(instructions), expected, expected * 1.2 + 60.0)
        });
        listed.into_iter().chain(retired).collect()
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let each = |form: &str| {
            let group = Point::new().named(&FORM, form);
            known.line(ABOUT.name, &group, &COUNT).map(|(slope, _)| slope)
        };
        let findings = entered(known).into_iter().chain(against_a_cycle(known)).chain(overhead(known));
        let (Some(register), Some(memory)) = (each("register"), each("memory")) else {
            return findings.collect();
        };
        let loops = of_one_state(known, "memory");
        let from = straight_from(&loops, memory);
        let forms = finding!(
            Question::Experiment,
            "A loop that keeps its counter in memory, as unoptimised code does, costs {memory} {range}, one in a register \
             {register}: {ratio}.{pointer}{shorter}",
            memory = memory.named("iteration, counter in memory"),
            range = match from {
                Some(0) => "per iteration".to_owned(),
                // Those before may take longer: it is no mean over all of a loop.
                Some(from) => format!("for each further iteration {}", from_on(from)),
                None => "per iteration by a line that even the longest loops are not on".to_owned(),
            },
            register = register.named("iteration, counter in a register"),
            ratio = memory.times_as("much", register, "memory over register"),
            // Of another state of the core part of what it costs more is a neighbour's.
            pointer = each("memory-and-pointer").filter(|pointer| pointer.is_of_the_state_of(&memory)).map(
                |pointer| statement!(
                    " With a store through a pointer in its body an iteration costs {pointer}.",
                    pointer = pointer.named("iteration, counter in memory, and a store through a pointer")
                )
            ),
            shorter = from.and_then(|from| shorter_loops(&loops, from, memory))
        );
        [forms].into_iter().chain(findings).collect()
    }
}

/// How far the cost of a further iteration may be from the slope of a line that is said to hold there, as a share of it.
const STRAIGHT: f64 = 0.1;

/// The loops of a form in the state of the core that most of them are in, by their iterations.
fn of_one_state(known: &Known, form: &str) -> Vec<(u64, Found)> {
    let mut along = known.found_along(ABOUT.name, &Point::new().named(&FORM, form), &COUNT);
    let is_alone = |total: &Found| total.core == Some(CoreUse::Alone);
    // The line is of one state of the core: a total with the core shared is not on that of the core alone.
    let alone = along.iter().filter(|(_, total)| is_alone(total)).count();
    let are_alone = 2 * alone >= along.len();
    along.retain(|(_, total)| total.core.is_none() || is_alone(total) == are_alone);
    along
}

/// `from 128 iterations on`.
fn from_on(count: u64) -> String {
    if count == 1 { "from the first iteration on".to_owned() } else { format!("from {count} iterations on") }
}

/// The number of iterations from which on every further iteration that was measured costs what the line says, as far as intervals tell;
/// `None` if not even the last ones do.
fn straight_from(along: &[(u64, Found)], slope: Found) -> Option<u64> {
    let is_straight = |pair: &&[(u64, Found)]| {
        let further = (pair[1].0 - pair[0].0) as f64;
        let each = pair[1].1.minus(pair[0].1).scaled(1.0 / further);
        let (low, high) = each.ends().unwrap_or((each.value, each.value));
        low <= (1.0 + STRAIGHT) * slope.value && high >= (1.0 - STRAIGHT) * slope.value
    };
    along.windows(2).rev().take_while(is_straight).last().map(|pair| pair[0].0)
}

/// What an iteration costs in loops of memory that are too short for the line, where it costs more: that of the costliest one, beyond a loop of none.
fn shorter_loops(along: &[(u64, Found)], from: u64, slope: Found) -> Option<Statement> {
    let (_, none) = *along.first().filter(|(count, _)| *count == 0)?;
    let each = along
        .iter()
        .filter(|(count, _)| (2..from).contains(count))
        .map(|(count, total)| (*count, total.minus(none).scaled(1.0 / *count as f64)));
    let (count, most) = each.max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
    let is_more = most.ends().is_some_and(|(low, _)| low > (1.0 + STRAIGHT) * slope.value);
    is_more.then(|| {
        statement!(
            " An iteration of shorter loops costs more, up to {most} (at {count}).",
            most = most.named("iteration of a short loop, memory"),
            count = count.to_string()
        )
    })
}

/// What entering and leaving a loop costs: a loop of no iteration, and what the line leaves at none.
fn entered(known: &Known) -> Option<Finding> {
    let point = Point::new().named(&FORM, "register").with(&COUNT, 0);
    let none = known.found(ABOUT.name, &point)?;
    // A longer loop that takes less shows that a loop of no iteration takes more than its ends.
    let is_surely_less =
        |longer: &Found| longer.value < none.value && longer.differs_from(&none) == Some(true);
    if known
        .found_along(ABOUT.name, &point, &COUNT)
        .iter()
        .any(|(count, longer)| *count > 0 && is_surely_less(longer))
    {
        return None;
    }
    let intercept = known.line(ABOUT.name, &point, &COUNT).map(|(_, intercept)| intercept);
    let at_none = intercept.and_then(|intercept| {
        intercept.ends()?;
        if let Some(most) = intercept.at_most() {
            let most = most.named("what the line leaves at no iteration, at most");
            return Some(statement!("; the line through the longer ones begins there at nothing certain, {most} at most", most));
        }
        if !intercept.is_positive() {
            return Some(
                "; the line through the longer ones lies below zero there, so it does not hold for the shortest".into(),
            );
        }
        let judged = match intercept.differs_from(&none) {
            Some(true) if intercept.value > none.value => "more than that: short loops take less than it says",
            Some(true) => "less than that: short loops take more than it says",
            _ => "not significantly different from that",
        };
        Some(statement!(
            "; the line through the longer ones begins at {intercept} there, {judged}",
            intercept = intercept.named("what the line leaves at no iteration")
        ))
    });
    Some(finding!(
        Question::Experiment,
        "Entering and leaving a loop, of no iteration, costs {none}{at_none}.",
        none = none.named("entering and leaving a loop"),
        at_none
    ))
}

/// The measurement overhead of the reports' summaries: reading the clock at both ends, and a loop's iteration (R-TIM-15).
fn overhead(known: &Known) -> Option<Finding> {
    let timing = timing_overhead::between_readings(known)?;
    let (iteration, _) = known.line(ABOUT.name, &Point::new().named(&FORM, "register"), &COUNT)?;
    let iteration = Found { dimension: timing.dimension, ..iteration };
    // A line has no value with the core shared beside that with it alone.
    timing.plus(iteration).is_of_one_core_state().then_some(())?;
    Some(finding!(
        Question::Experiment,
        "Timing one operation by itself, in a loop, adds {sum} ({timing} between two readings, {iteration} an iteration).",
        sum = timing.plus(iteration).named("measurement overhead, timing and loop"),
        timing = timing.named("between two readings of the clock"),
        iteration = iteration.named("an iteration of a loop")
    ))
}

/// The fewest and the most instructions with which an iteration of a form is written: x86-64 increments memory in one, aarch64 in three.
fn written(form: &str) -> [f64; 2] {
    match form {
        "register" => [2.0, 2.0],
        "memory" => [4.0, 6.0],
        _ => [6.0, 8.0],
    }
}

/// Maximum relative deviation of the cost per iteration from its plateau, and from a whole number of cycles.
const NEAR: f64 = 0.05;

/// The cost per iteration over all counts, in cycles, and the count from which the total divided by the count is within
/// [`NEAR`] of that: from there on the cost of entering and leaving the loop is negligible (R-CPU-05). An iteration of one cycle shows that
/// the counter resolves a single instruction (Paoloni's test, R-CPU-06).
fn against_a_cycle(known: &Known) -> Option<Finding> {
    let group = Point::new().named(&FORM, "register");
    let (slope, _) = known.line(ABOUT.name, &group, &COUNT)?;
    let cycles = known.counted_in_cycles(slope)?;
    let along = of_one_state(known, "register");
    let each = along.iter().filter(|(count, _)| *count > 0);
    let is_flat =
        |(count, total): &&(u64, Found)| (total.value / *count as f64 / slope.value - 1.0).abs() <= NEAR;
    let from = each.rev().take_while(is_flat).last().map(|(count, _)| *count);
    let judged = beside_an_addition(cycles);
    // The last point alone is no range.
    let longest = along.last().map(|(count, _)| *count);
    let flat = match from.filter(|from| Some(*from) != longest) {
        Some(count) => {
            let lead = from_on(count).replacen('f', "F", 1);
            format!(" {lead}, the total over their number is within 5 % of that.")
        }
        None => String::new(),
    };
    Some(finding!(
        Question::Experiment,
        "An iteration with the counter in a register costs {slope}, or {cycles}: {judged}.{flat}",
        slope = slope.named("iteration, counter in a register"),
        cycles = cycles.named("iteration, cycles")
    ))
}

/// Whether a number of cycles is that of a single addition.
fn beside_an_addition(cycles: Found) -> &'static str {
    let Some(ends) = cycles.interval else {
        return "without an interval, so it is not compared with what a single addition takes";
    };
    if ends.high < 1.0 - NEAR {
        "less than a single addition takes, so the core completes several iterations per cycle"
    } else if ends.low > 1.0 + NEAR {
        "more than a single addition takes"
    } else if ends.low >= 1.0 - NEAR && ends.high <= 1.0 + NEAR {
        "as many as a single addition takes"
    } else {
        "not shown to be more or fewer than the one that a single addition takes"
    }
}

#[cfg(test)]
mod tests;
