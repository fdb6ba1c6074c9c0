//! Does a core keep its speed under continuous load?

use super::arithmetic;
use crate::apparatus::cpu::arithmetic_kernel;
use crate::apparatus::lasting::{self, COMPARED, FIGURE, FIRST, LASTING, WINDOW};
use crate::apparatus::listing::LISTED;
use crate::arch;
use fathom_core::prelude::*;
use fathom_core::quantity::Kind;
use std::time::Duration;

const INSTRUCTION: Parameter = Parameter::named("instruction", "what is computed without a pause");

pub struct Sustained;

static ABOUT: About = About {
    name: "cpu/sustained",
    question: "Does a core keep its speed under continuous load?",
    operation: "one multiplication of doubles, of eight chains in flight",
    method: "The unrolled chains of `arithmetic` run for a second without a pause. The number of instructions is \
             recorded at the end of every twentieth of the trial: the first twentieth shows what a short trial would \
             measure, the second half shows the sustained speed. Thermal and power limits, CPU quotas and other \
             programs on the same core appear here, and hardly in trials of milliseconds.",
    caveats: "Only one core is loaded: a processor whose cores are all busy is slower for other reasons as well. \
              Limits that take effect after minutes need `--thorough`, or an even longer time.",
    version: 1,
    timed: Some(TimedCode {
        of: "chains of operations on doubles, on x86-64",
        source: include_str!("../../arch/x86_64/arithmetic.rs"),
        begins: "macro_rules! double",
    }),
    parameters: &[INSTRUCTION, LASTING, FIGURE],
    trends: &[],
    shown: Shown::by(&[MainFigure::of(
        "multiplication of doubles, without a pause",
        &[("figure", At::Name("sustained")), ("lasting", At::Least)],
    )])
    .in_order(|point| point.name(&FIGURE) == WINDOW),
};

const MULTIPLY: &str = "double-multiply";
const CHAINS: u64 = 8;

/// Iterations of the loop between two readings of the clock: some hundred microseconds.
const BETWEEN_LOOKS: u64 = 2_000;

impl Experiment for Sustained {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        lasting::points(Point::new().named(&INSTRUCTION, MULTIPLY)).collect()
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::ASSEMBLY]
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        lasting::effort(point)
    }

    fn predict(&self, _: &Point, known: &Known) -> Result<Prediction, String> {
        lasting::predicted((&arithmetic::Arithmetic, &arithmetic::point(MULTIPLY, CHAINS)), known)
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        let because = "no core retires ten instructions in a cycle".to_owned();
        Some(Bound::of(0.1 * known.shortest_cycle(), because))
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        arch::ensure_assembly("the chains are written in assembly")?;
        let kernel = arithmetic_kernel::find(point.name(&INSTRUCTION), CHAINS)
            .ok_or_else(|| Failure::no_variant(&INSTRUCTION, point.name(&INSTRUCTION)))?;
        let lasting_ns = point.number(&LASTING) as f64;
        let act = move || {
            kernel(BETWEEN_LOOKS);
            Ok(BETWEEN_LOOKS * arithmetic_kernel::UNROLLED)
        };
        let observe = move || {
            let progress = lasting::observed(lasting_ns, || site.stopwatch.now_ns(), act)?;
            Ok(lasting::each_ns(&progress))
        };
        // The CPU time that other tasks take is part of the question.
        let work = Workload::figures(observe).cold().about_its_cpu();
        Ok(work.stating(LISTED, arithmetic_kernel::instructions_each(kernel)))
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        let claim = "instructions in the disassembled loop per instruction claimed";
        vec![Check::within(claim, observed.witness(LISTED), 1.0, 1.05)]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let one = ("a multiplication of doubles".to_owned(), Point::new().named(&INSTRUCTION, MULTIPLY));
        let compared = lasting::compared_in(ABOUT.name, [one], Kind::Cost, known);
        let finding = |compared| finding!(Question::Experiment, "Time {COMPARED}: {compared}.", compared);
        compared.map(finding).into_iter().chain(beside_short_trials(known)).collect()
    }

    fn least_time(&self, point: &Point) -> Duration {
        Duration::from_nanos(point.number(&LASTING))
    }

    fn time_limit(&self, point: &Point) -> Duration {
        Duration::from_secs(10) + 4 * Duration::from_nanos(point.number(&LASTING))
    }
}

/// The beginning of a trial beside short trials of the same instruction, where their intervals are apart.
fn beside_short_trials(known: &Known) -> Option<Finding> {
    let usual = Point::new().named(&INSTRUCTION, MULTIPLY).with(&LASTING, lasting::USUAL);
    let first = known.found(ABOUT.name, &usual.named(&FIGURE, FIRST))?;
    let short = known.found(arithmetic::Arithmetic.about().name, &arithmetic::point(MULTIPLY, CHAINS))?;
    (first.differs_from(&short) == Some(true)).then(|| {
        finding!(
            Question::Experiment,
            "Already its first twentieth is not what short trials measure: {first} against {short}, {times} times.",
            first = first.named("a multiplication of doubles, first twentieth"),
            short = short.named("a multiplication of doubles, short trials"),
            times = first.over(short).named("a multiplication of doubles, first twentieth over short trials")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first 50 ms took 6 % more than short trials, intervals apart, and only the halves of the trial were compared.
    #[test]
    fn a_first_twentieth_apart_from_short_trials_is_said() {
        let machine = fathom_described::machine();
        let said = |first: f64| {
            let mut known = Known::new(&machine, None);
            let point = Point::new().named(&INSTRUCTION, MULTIPLY).with(&LASTING, lasting::USUAL);
            fathom_described::plant(&mut known, &Sustained, [(point.named(&FIGURE, FIRST), first)]);
            let short = [(arithmetic::point(MULTIPLY, CHAINS), 0.16)];
            fathom_described::plant(&mut known, &arithmetic::Arithmetic, short);
            beside_short_trials(&known).map(|finding| finding.statement.plain())
        };
        let apart = said(0.2).expect("they are apart");
        assert!(apart.contains("{0.2} against {0.16}, {1.25} times."), "{apart}");
        assert_eq!(said(0.16), None);
    }
}
