//! What does an arithmetic instruction cost, alone and with others in flight?

use crate::apparatus::cpu::arithmetic_kernel;
use crate::apparatus::listing::LISTED;
use crate::arch;
use crate::expected::core_facts;
use fathom_core::prelude::*;

const INSTRUCTION: Parameter = Parameter::named("instruction", "what is computed");
const CHAINS: Parameter =
    Parameter::count("chains", "independent chains of dependent instructions in flight");

pub struct Arithmetic;

static ABOUT: About = About {
    name: "cpu/arithmetic",
    question: "What does an arithmetic instruction cost, alone and with others in flight?",
    operation: "one instruction; for the branch, one misprediction",
    method: "Unrolled chains of dependent instructions on registers are timed. With one chain the time per \
             instruction is its latency; with more chains in flight it falls, and the least that a number of them \
             reaches is the reciprocal of the throughput. The ratio of the two is the instruction-level parallelism \
             of the core (lmbench's par_ops). The loop around \
             256 instructions takes less than one per cent of the time.\n\nThe integer division divides 64-bit \
             numbers by 1, so the quotient keeps all its bits: the slow case. Floating point is scalar double \
             precision.\n\nThe mispredicted branch depends on bits of a pseudo-random number that is computed in the \
             loop, so no predictor can learn them, and half of the branches are mispredicted. The baseline is the \
             same loop with a branch that always goes the same way.",
    caveats: "The processor may eliminate an addition with an immediate operand (`add rax, 1`) at rename, and it \
              would seem to cost nothing; so all operands are registers.",
    version: 1,
    timed: Some(TimedCode {
        of: "chains of integer operations, on x86-64",
        source: include_str!("../../arch/x86_64/arithmetic.rs"),
        begins: "macro_rules! integer",
    }),
    parameters: &[INSTRUCTION, CHAINS],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "integer addition, each waiting for the last",
            &[("instruction", At::Name("integer-add")), ("chains", At::Number(1))],
        ),
        MainFigure::of(
            "double division, each waiting for the last",
            &[("instruction", At::Name("double-divide")), ("chains", At::Number(1))],
        ),
        MainFigure::of("mispredicted branch", &[("instruction", At::Name("mispredicted-branch"))]),
    ]),
};

/// An instruction: its name, and its expected latency (cycles) and parallelism (instructions in flight) on a current core.
struct ExpectedInstruction {
    name: &'static str,
    latency: f64,
    parallelism: f64,
}

/// Figures for current x86-64 cores.
const X86_64: [ExpectedInstruction; 6] = [
    ExpectedInstruction { name: "integer-add", latency: 1.0, parallelism: 4.0 },
    ExpectedInstruction { name: "integer-multiply", latency: 3.0, parallelism: 3.0 },
    ExpectedInstruction { name: "integer-divide", latency: 18.0, parallelism: 1.6 },
    ExpectedInstruction { name: "double-add", latency: 4.0, parallelism: 8.0 },
    ExpectedInstruction { name: "double-multiply", latency: 4.0, parallelism: 8.0 },
    ExpectedInstruction { name: "double-divide", latency: 13.0, parallelism: 3.0 },
];
/// Figures for current Arm cores: three units for simple integer operations, one of which also multiplies and divides; two for
/// doubles, one of which also divides.
const AARCH64: [ExpectedInstruction; 6] = [
    ExpectedInstruction { name: "integer-add", latency: 1.0, parallelism: 3.0 },
    ExpectedInstruction { name: "integer-multiply", latency: 4.0, parallelism: 1.3 },
    ExpectedInstruction { name: "integer-divide", latency: 20.0, parallelism: 1.0 },
    ExpectedInstruction { name: "double-add", latency: 2.0, parallelism: 4.0 },
    ExpectedInstruction { name: "double-multiply", latency: 3.0, parallelism: 6.0 },
    ExpectedInstruction { name: "double-divide", latency: 15.0, parallelism: 2.0 },
];
/// Additions of doubles that begin in a cycle, by the ports of current cores, and multiplications: so many latencies are in flight at once.
const OF_DOUBLES: f64 = 2.0;

const BRANCH: &str = "mispredicted-branch";
const FOG: &str = "Fog, Instruction tables, 2022, typical of current x86-64 cores";
const ARM: &str = "Arm, Neoverse N1 Software Optimization Guide, typical of current cores of Arm";

/// The figures expected on this machine, and their source.
fn expected_on(machine: &Machine) -> (&'static [ExpectedInstruction], &'static str) {
    if machine.is_aarch64() { (&AARCH64, ARM) } else { (&X86_64, FOG) }
}

impl Experiment for Arithmetic {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let chains = X86_64.iter().flat_map(|expected| {
            [1, 2, 4, 8].map(|chains| Point::new().named(&INSTRUCTION, expected.name).with(&CHAINS, chains))
        });
        // A division's operands are in fixed registers: either one chain, or independent instructions.
        let divides = |point: &Point| point.name(&INSTRUCTION) == "integer-divide";
        chains
            .filter(|point| !divides(point) || [1, 8].contains(&point.number(&CHAINS)))
            .chain([Point::new().named(&INSTRUCTION, BRANCH).with(&CHAINS, 1)])
            .collect()
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::ASSEMBLY]
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let name = point.name(&INSTRUCTION);
        if name == BRANCH {
            let (cycles, citation) = if known.machine.is_aarch64() {
                (11.0, "Arm, Neoverse N1 Technical Overview: a pipeline of 11 stages")
            } else {
                (17.0, "Fog, Microarchitecture manual, 2022: 15 to 20 cycles on current x86-64 cores")
            };
            return Ok(Prediction::new().hardware(
                "refilling the pipeline",
                1.0,
                known.cycles(cycles, citation),
            ));
        }
        let (expected, source) = expected_on(known.machine);
        let expected =
            expected.iter().find(|expected| expected.name == name).ok_or("an unknown instruction")?;
        let core = core_facts::of(known.machine);
        let (basis, at_once) = match name {
            "double-add" => (known.cycles(core.double_add, &core.source), OF_DOUBLES * core.double_add),
            "double-multiply" => {
                (known.cycles(core.double_multiply, &core.source), OF_DOUBLES * core.double_multiply)
            }
            "integer-multiply" => {
                (known.cycles(expected.latency, source), core.multipliers * expected.parallelism)
            }
            _ => (known.cycles(expected.latency, source), expected.parallelism),
        };
        let in_flight = (point.number(&CHAINS) as f64).min(at_once);
        Ok(Prediction::new().hardware("latency shared by the chains in flight", 1.0 / in_flight, basis))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let latency_bound = point.number(&CHAINS) == 1;
        let (cycles, because) = if latency_bound {
            (0.9, "a dependent instruction takes at least one cycle")
        } else {
            (0.1, "no core retires ten instructions in a cycle")
        };
        Some(Bound::of(cycles * known.shortest_cycle(), because))
    }
    fn waits_for_the_core_alone(&self, _: &Point) -> bool {
        true
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        arch::ensure_assembly("the chains are written in assembly")?;
        if point.name(&INSTRUCTION) == BRANCH {
            return Ok(branch_workload(site.seed));
        }
        let kernel = arithmetic_kernel::find(point.name(&INSTRUCTION), point.number(&CHAINS))
            .ok_or_else(|| Failure::no_variant(&INSTRUCTION, point.name(&INSTRUCTION)))?;
        let run = move |n| {
            kernel(n);
            Ok(())
        };
        let workload = Workload::batched(run).per_iteration(arithmetic_kernel::UNROLLED);
        Ok(workload.stating(LISTED, arithmetic_kernel::instructions_each(kernel)))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        if point.name(&INSTRUCTION) == BRANCH {
            let claim = "share of the random branches that were taken: 0.5, so that half are mispredicted";
            return vec![Check::within(claim, observed.ratio("taken", "branches"), 0.48, 0.52)];
        }
        let most = if point.name(&INSTRUCTION) == "integer-divide" { 3.2 } else { 1.05 };
        let listed = observed.witness(LISTED).map(|listed| ("in the disassembled loop", listed));
        let retired = observed.counters.instructions.map(|count| ("retired", observed.per_operation(count)));
        let check = |(how, count)| {
            Check::within(format!("instructions {how} per instruction claimed"), count, 1.0, most)
        };
        listed.into_iter().chain(retired).map(check).collect()
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let cost = |name, chains| {
            known.found(ABOUT.name, &Point::new().named(&INSTRUCTION, name).with(&CHAINS, chains))
        };
        let describe = |expected: &ExpectedInstruction| {
            let name = expected.name;
            let latency = cost(name, 1)?;
            let (chains, throughput) = at_best(&known.found_along(ABOUT.name, &point(name, 1), &CHAINS))?;
            let cycles = known.counted_in_cycles(latency)?;
            let in_flight = Found { dimension: Dimension::Count, ..latency.over(throughput) };
            let best = if chains == MOST_CHAINS {
                String::new()
            } else {
                format!(" (with {chains} chains; with more it takes longer)")
            };
            Some(statement!(
                "{name} {cycles}, {in_flight} in flight{best}",
                cycles = cycles.named(&format!("{name}, latency")),
                in_flight = in_flight.named(&format!("{name}, in flight"))
            ))
        };
        let described = Statement::joined(X86_64.iter().filter_map(describe), "; ");
        let latencies = || X86_64.iter().filter_map(|expected| cost(expected.name, 1));
        let at = if latencies().all(|latency| latency.at_hz.is_some()) {
            "at its usual frequency"
        } else {
            "at its observed frequency, whose spread over trials is in the intervals"
        };
        let finding = |all| {
            finding!(
                Question::Experiment,
                "Latency and parallelism, in cycles of the core {at}: {all}. In flight are at most the eight chains of this experiment; the instructions a cycle in the table of the \
                 machine are of a stream of more, its loop's instructions counted.",
                all
            )
        };
        described.map(finding).into_iter().collect()
    }
}

/// The most chains of the experiment.
const MOST_CHAINS: u64 = 8;

/// The number of chains with which an instruction takes least, and what it takes: the most, unless fewer take less for certain. More chains
/// than a unit has places for can be slower than as many as it has. `None` without the most.
fn at_best(by_chains: &[(u64, Found)]) -> Option<(u64, Found)> {
    let (most, with_most) = by_chains.iter().copied().find(|(chains, _)| *chains == MOST_CHAINS)?;
    let is_less =
        |of: &Found| of.value < with_most.value && of.differs_in_one_core_state(&with_most) == Some(true);
    let fewer = by_chains.iter().copied().filter(|(_, of)| is_less(of));
    let least = fewer.min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    Some(least.unwrap_or((most, with_most)))
}

/// The point of an instruction with this many chains.
pub fn point(instruction: &str, chains: u64) -> Point {
    Point::new().named(&INSTRUCTION, instruction).with(&CHAINS, chains)
}

/// Branches in one iteration of the random loop.
const BRANCHES: u64 = 64;

fn branch_workload<'site>(seed: u64) -> Workload<'site> {
    let counts = std::rc::Rc::new(std::cell::Cell::new((0_u64, 0_u64)));
    let counted = counts.clone();
    let mut state = seed | 1;
    let mut idle_state = seed | 1;
    let random = move |n| {
        let (hits, all) = counts.get();
        counts
            .set((hits + arithmetic_kernel::branches(n * BRANCHES, &mut state, 1 << 40), all + n * BRANCHES));
        Ok(())
    };
    let never = move |n| {
        arithmetic_kernel::branches(n * BRANCHES, &mut idle_state, 0);
        Ok(())
    };
    // Half of the random branches are mispredicted.
    Workload::batched(random).against(never).per_iteration(BRANCHES / 2).witnessed(move || {
        let (hits, all) = counted.get();
        vec![("taken", hits as f64), ("branches", all as f64)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::statistics::Interval;

    #[test]
    fn the_throughput_is_that_of_the_chains_that_take_least() {
        let of = |times: [f64; 4]| {
            let of = |ns| fathom_described::found(ns, Dimension::Of(Unit::Nanoseconds));
            let chains: Vec<(u64, Found)> = [1, 2, 4, 8].into_iter().zip(times.map(of)).collect();
            at_best(&chains).map(|(chains, _)| chains)
        };
        assert_eq!(of([3.5, 1.9, 1.22, 1.35]), Some(4), "eight take longer than four");
        assert_eq!(of([3.5, 1.9, 1.22, 1.221]), Some(8), "not for certain");
        assert_eq!(of([3.5, 1.9, 1.22, 0.6]), Some(8));
        assert_eq!(at_best(&[]), None);
    }

    /// Since Zen 2 a multiplication of doubles takes three cycles (AMD's guides; Fog's tables), where four were predicted as on Intel's cores.
    #[test]
    fn a_multiplication_of_doubles_takes_what_is_published_of_the_design() {
        let cycles = |design: &str, chains| {
            let mut machine = fathom_described::machine();
            machine.processor.microarchitecture =
                fathom_core::machine::Fact::known(design.to_owned(), "a test");
            let known = Known::new(&machine, Some(1e9));
            let point = Point::new().named(&INSTRUCTION, "double-multiply").with(&CHAINS, chains);
            Arithmetic.predict(&point, &known).map(|prediction| prediction.total())
        };
        for (design, chains, expected) in [
            ("Zen 3", 1, 3.0),
            ("Zen 5", 1, 3.0),
            ("Ice Lake", 1, 4.0),
            ("Zen 3", 8, 0.5),
            ("Ice Lake", 8, 0.5),
        ] {
            let predicted = cycles(design, chains).expect("a prediction");
            assert!((predicted - expected).abs() < 1e-9, "{design}, {chains}: {predicted}");
        }
    }

    #[test]
    fn a_time_stated_at_one_frequency_has_no_more_cycles_than_that() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, Some(2e9));
        known.core_hz_ends = Some(Interval { low: 1.8e9, high: 2.2e9 });
        let exact = |ns: f64| Found::exact(ns, Unit::Nanoseconds);
        let ends = |time: Found| known.counted_in_cycles(time).and_then(|cycles| cycles.ends());
        let within = |ends: Option<(f64, f64)>, low: f64, high: f64| {
            ends.is_some_and(|ends| (ends.0 - low).abs() < 1e-9 && (ends.1 - high).abs() < 1e-9)
        };
        assert!(within(ends(exact(2.0)), 3.6, 4.4), "at whatever frequency it was");
        let stated = Found { at_hz: Some(2e9), ..exact(2.0) };
        assert!(within(ends(stated), 4.0, 4.0), "at one frequency");
        assert!(within(ends(stated.plus(stated)), 8.0, 8.0));
        assert!(within(ends(stated.plus(exact(2.0))), 7.2, 8.8));
    }
}
