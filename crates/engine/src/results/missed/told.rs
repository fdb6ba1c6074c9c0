//! The sentences about misses.

use super::reason::{Missed, Reason};
use crate::results::ProcessorTime;
use crate::results::accuracy::distance;
use fathom_core::experiment::{
    Dimension, Finding, Found, Known, Part, Prediction, Question, Source, Statement, said,
};
use fathom_core::quantity::Unit;
use fathom_core::statistics::Measured;

/// A value that is within this factor of another has not changed in a way that explains a factor of two.
const UNCHANGED: f64 = 1.25;

/// Terms with a smaller share of their prediction do not explain a factor of two.
const WORTH_TELLING: f64 = 0.1;

impl Missed<'_> {
    fn point(&self) -> Statement {
        Statement::point(&self.result.experiment, &self.result.point)
    }

    fn figure(&self, value: f64) -> Found {
        Found::exact(value, self.measured.dimension)
    }

    /// The measured and the predicted value.
    fn against(&self) -> Statement {
        said![
            self.measured.named("measured"),
            " measured, ",
            self.figure(self.prediction.total()).named("predicted"),
            " predicted"
        ]
    }
}

/// The finding about a group of misses with the same reason, with the figures of the furthest.
pub fn finding(reason: &Reason, group: &[Missed], known: &Known) -> Option<Finding> {
    let furthest =
        group.iter().rev().max_by(|one, other| distance(one.factor).total_cmp(&distance(other.factor)))?;
    let lead = match group {
        [one] => said![one.point(), ": ", one.against()],
        many => {
            let count = Found::exact(many.len() as f64, Dimension::Count);
            let (point, against) = (furthest.point(), furthest.against());
            said![count.named("points"), " points missed; the furthest is ", point, ": ", against]
        }
    };
    let factor = furthest.measured.scaled(1.0 / furthest.prediction.total());
    let factor = Found { dimension: Dimension::Ratio, ..factor };
    // A measured value of zero gives no factor.
    let lead = if furthest.measured.value > 0.0 {
        said![lead, ": a factor of ", factor.named("measured over predicted"), ". "]
    } else {
        said![lead, ". "]
    };
    Some(Finding::of(Question::Miss, said![lead, because(reason, furthest, known)]))
}

fn because(reason: &Reason, furthest: &Missed, known: &Known) -> Statement {
    match reason {
        Reason::Doubt => {
            "The measurement is in doubt, not the prediction: its evidence does not hold.".into()
        }
        Reason::TooHigh(names) => terms_told(names, furthest, known),
        Reason::TogetherTooHigh => together(furthest),
        Reason::Waiting | Reason::Kernel | Reason::Program => lacking(reason, furthest, known),
        Reason::AllowTooLittle(names) => {
            said![
                "The measured value exceeds the prediction even before its deductions. These terms are too low: ",
                listed(names),
                "."
            ]
        }
        Reason::TakeTooMuch(names) => {
            said!["The deductions of the prediction are too large: ", listed(names), "."]
        }
        Reason::Alone(name) => {
            let wrong = if furthest.factor > 1.0 {
                "something else costs time, or this term is too low"
            } else {
                "this term is too high"
            };
            said![format!("The prediction has a single term, {name}: {wrong}."), aged(name, furthest, known)]
        }
        Reason::Untold => untold(furthest, known),
    }
}

fn listed(names: &[String]) -> String {
    names.join("; ")
}

/// Terms that each exceed the whole.
fn terms_told(names: &[String], furthest: &Missed, known: &Known) -> Statement {
    let terms = furthest.terms(false).filter(|term| names.contains(&term.what));
    let each = terms.map(|term| {
        let value = furthest.figure(term.value()).named(&format!("term: {}", term.what));
        said![format!("{}, ", term.what), value]
    });
    let each = Statement::joined(each.collect(), "; ").unwrap_or_default();
    let aged = names.iter().map(|name| aged(name, furthest, known)).collect();
    let all = furthest.measured.named("all that was measured");
    let aged = Statement::joined(aged, "").unwrap_or_default();
    said!["The whole operation took ", all, "; these terms alone are larger: ", each, ".", aged]
}

fn together(furthest: &Missed) -> Statement {
    let largest = furthest.terms(false).max_by(|one, other| one.value().total_cmp(&other.value()));
    let Some(largest) = largest else { return Statement::default() };
    said![
        "No single term exceeds the measured value; together they are too high by ",
        furthest
            .figure(furthest.prediction.total())
            .minus(furthest.measured)
            .named("predicted less measured"),
        format!(". Which of them is wrong is unknown; the largest is: {} (", largest.what),
        furthest.figure(largest.value()).named("largest term"),
        ")."
    ]
}

/// The distribution of the time, and the part that the prediction lacks.
fn lacking(reason: &Reason, furthest: &Missed, known: &Known) -> Statement {
    let Some(spent) = furthest.result.processor_time else { return Statement::default() };
    let missing = furthest.measured.minus(furthest.figure(furthest.prediction.total()));
    let part = |part| furthest.prediction.part(part).unwrap_or(0.0);
    let verdict = match reason {
        Reason::Waiting => said![
            "For most of the time this process did not run, and that alone is longer than the prediction: what it \
             waits for (a device, the other side, the hypervisor) takes longer than predicted."
        ],
        Reason::Kernel => said![
            "For most of the time the kernel ran, and that alone is longer than the prediction: the missing time is \
             in the kernel, for which ",
            furthest.figure(part(Part::Software)).named("software predicted"),
            " was predicted."
        ],
        _ => said![
            "For most of the time the program ran in user mode, and that alone is longer than the prediction: the \
             missing time is in the processor, for which ",
            furthest.figure(part(Part::Hardware)).named("hardware predicted"),
            if known.machine.is_virtual() {
                " was predicted (time in the hypervisor counts as user mode)."
            } else {
                " was predicted."
            }
        ],
    };
    said!["Missing: ", missing.named("measured less predicted"), ". ", shares(&spent), verdict]
}

/// The distribution of the time, in shares. That of waiting is exact; program and kernel are distinguished if the kernel's
/// ticks allow it.
fn shares(spent: &ProcessorTime) -> Statement {
    let share = |value: f64, interval| Found::measured(Measured { value, interval }, Dimension::Share);
    let ran = spent.ran_ns / spent.passed_ns;
    let waiting = share(1.0 - ran, None).named("waiting");
    if !spent.is_split_by_ticks() {
        return said!["This process did not run for ", waiting, " of the time. "];
    }
    let kernel = share(spent.kernel_share, spent.kernel_interval).scaled(ran);
    let program = share(spent.kernel_share, spent.kernel_interval).rest().scaled(ran);
    said![
        "According to the kernel's accounting, the kernel ran for ",
        kernel.named("kernel"),
        " of the time, the program for ",
        program.named("program"),
        ", and neither for ",
        waiting,
        ". "
    ]
}

/// Nothing follows: the other known figures.
fn untold(furthest: &Missed, known: &Known) -> Statement {
    let counted = match (furthest.result.unit, furthest.factor > 1.0, furthest.result.processor_time) {
        (Unit::Nanoseconds, true, Some(spent)) if spent.is_split_by_ticks() => {
            said![" ", shares(&spent)]
        }
        (Unit::Nanoseconds, true, Some(_)) => {
            " Too few kernel ticks occurred to separate user time from kernel time.".into()
        }
        (Unit::Nanoseconds, true, None) => {
            " Processor time was not counted separately from other work.".into()
        }
        _ => Statement::default(),
    };
    let least = WORTH_TELLING * furthest.prediction.total().abs();
    let terms = furthest.prediction.terms.iter().filter(|term| term.value().abs() >= least);
    let aged = terms.map(|term| aged(&term.what, furthest, known)).collect();
    let aged = Statement::joined(aged, "").unwrap_or_default();
    said!["The wrong term is unknown.", counted, aged]
}

/// The later value of a term that came from an earlier measurement of the run, predicted again with all figures of the run.
fn aged(name: &str, furthest: &Missed, known: &Known) -> Statement {
    let of = |prediction: &Prediction| prediction.terms.iter().find(|term| term.what == name).cloned();
    let method = furthest.result.method().ok();
    let again = method.and_then(|experiment| experiment.predict(&furthest.result.point, known).ok());
    let (Some(then), Some(now)) = (of(furthest.prediction), again.as_ref().and_then(of)) else {
        return Statement::default();
    };
    let Source::Measured { experiment, point } = &then.source else { return Statement::default() };
    let source = said![format!("{experiment}, "), Statement::point(experiment, point)];
    if distance(now.each / then.each) <= UNCHANGED {
        return Statement::default();
    }
    said![
        " Its input, ",
        source,
        ", changed during the run: ",
        furthest.figure(then.value()).named(&format!("term: {name}")),
        " became ",
        furthest.figure(now.value()).named(&format!("term at the end of the run: {name}")),
        "."
    ]
}
