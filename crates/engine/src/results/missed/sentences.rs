//! The sentences about misses.

use super::UNCHANGED;
use super::reason::{Missed, Reason, Spender};
use crate::results::ProcessorTime;
use crate::results::accuracy::distance;
use fathom_core::experiment::{
    Dimension, Finding, Found, Known, Part, Prediction, Question, Source, Statement, finding, statement,
};
use fathom_core::quantity::Unit;
use fathom_core::statistics::Measured;

/// Terms with a smaller share of their prediction do not explain a factor of two.
const NEGLIGIBLE: f64 = 0.1;

/// The finding about a group of misses with the same reason, with the figures of the furthest.
pub fn finding(reason: &Reason, group: &[Missed], known: &Known) -> Option<Finding> {
    let furthest = group.iter().rev().max_by(|one, other| one.distance().total_cmp(&other.distance()))?;
    let summary = furthest.summary();
    let lead = match group.len() {
        1 => summary,
        many => {
            let count = Found::exact(many as f64, Dimension::Count).named("points");
            statement!("{count} points missed; the furthest is {summary}", count, summary)
        }
    };
    let factor = furthest.measured.scaled(1.0 / furthest.prediction.total());
    let factor = Found { dimension: Dimension::Ratio, ..factor }.named("measured over predicted");
    // A measured value of zero gives no factor.
    let factor = (furthest.measured.value > 0.0).then(|| statement!(": a factor of {factor}", factor));
    let because = because(reason, furthest, known);
    Some(finding!(Question::Miss, "{lead}{factor}. {because}", lead, factor, because))
}

fn because(reason: &Reason, furthest: &Missed, known: &Known) -> Statement {
    match reason {
        Reason::Stated(sentence) => sentence.into(),
        Reason::TooHigh(names) if names.is_empty() => together(furthest),
        Reason::TooHigh(names) => too_high(names, furthest, known),
        Reason::MissingTime(spender) => lacking(*spender, furthest, known),
        Reason::Single(name) => {
            let wrong = if furthest.factor > 1.0 {
                "something else costs time, or this term is too low"
            } else {
                "this term is too high"
            };
            let change = change(name, furthest, known);
            statement!("The prediction has a single term, {name}: {wrong}.{change}", change)
        }
        Reason::Unknown => unknown(furthest, known),
    }
}

/// Terms that each exceed the whole.
fn too_high(names: &[String], furthest: &Missed, known: &Known) -> Statement {
    let terms = furthest.terms(false).filter(|term| names.contains(&term.what));
    let each = terms.map(|term| {
        let value = furthest.figure(term.value()).named(&format!("term: {}", term.what));
        statement!("{term}, {value}", term = &term.what, value)
    });
    statement!(
        "The whole operation took {all}; these terms alone are larger: {each}.{changes}",
        all = furthest.measured.named("all that was measured"),
        each = Statement::joined(each, "; "),
        changes = changes(names.iter(), furthest, known)
    )
}

fn together(furthest: &Missed) -> Statement {
    let largest = furthest.terms(false).max_by(|one, other| one.value().total_cmp(&other.value()));
    let Some(largest) = largest else { return Statement::default() };
    let excess = furthest.figure(furthest.prediction.total()).minus(furthest.measured);
    statement!(
        "No single term exceeds the measured value; together they are too high by {excess}. Which of them is \
         wrong is unknown; the largest is: {term} ({value}).",
        excess = excess.named("predicted less measured"),
        term = &largest.what,
        value = furthest.figure(largest.value()).named("largest term")
    )
}

/// The distribution of the time, and the part that the prediction lacks.
fn lacking(spender: Spender, furthest: &Missed, known: &Known) -> Statement {
    let Some(spent) = furthest.result.processor_time else { return Statement::default() };
    let missing = furthest.measured.minus(furthest.figure(furthest.prediction.total()));
    let part = |part, name| furthest.figure(furthest.prediction.part(part).unwrap_or(0.0)).named(name);
    let verdict = match spender {
        Spender::Waiting => statement!(
            "For most of the time this process did not run, which by itself takes longer than predicted: \
             what it waits for (a device, the other side, the hypervisor) takes longer than predicted."
        ),
        Spender::Kernel => statement!(
            "For most of the time the kernel ran, which by itself takes longer than predicted: the missing \
             time is in the kernel, for which {predicted} was predicted.",
            predicted = part(Part::Software, "software predicted")
        ),
        Spender::Program => {
            let hypervisor = " (time in the hypervisor counts as user mode)";
            let note = if known.machine.is_virtual() { hypervisor } else { "" };
            statement!(
                "For most of the time the program ran in user mode, which by itself takes longer than \
                 predicted: the missing time is in the processor, for which {predicted} was \
                 predicted{note}.",
                predicted = part(Part::Hardware, "hardware predicted")
            )
        }
    };
    let missing = missing.named("measured less predicted");
    statement!("Missing: {missing}. {shares}{verdict}", missing, shares = shares(&spent), verdict)
}

/// The distribution of the time, in shares. That of waiting is exact; program and kernel are distinguished if the kernel's
/// ticks allow it.
fn shares(spent: &ProcessorTime) -> Statement {
    let share = |value: f64, interval| Found::measured(Measured { value, interval }, Dimension::Share);
    let ran = spent.ran_ns / spent.passed_ns;
    let waiting = share(1.0 - ran, None).named("waiting");
    if !spent.is_split_by_ticks() {
        return statement!("This process did not run for {waiting} of the time. ", waiting);
    }
    let kernel = share(spent.kernel_share, spent.kernel_interval).scaled(ran);
    let program = share(spent.kernel_share, spent.kernel_interval).rest().scaled(ran);
    statement!(
        "According to the kernel's accounting, the kernel ran for {kernel} of the time, the program for \
         {program}, and neither for {waiting}. ",
        kernel = kernel.named("kernel"),
        program = program.named("program"),
        waiting
    )
}

/// Nothing follows: the other known figures.
fn unknown(furthest: &Missed, known: &Known) -> Statement {
    let time = match (furthest.result.unit, furthest.factor > 1.0, furthest.result.processor_time) {
        (Unit::Nanoseconds, true, Some(spent)) if spent.is_split_by_ticks() => {
            statement!(" {shares}", shares = shares(&spent))
        }
        (Unit::Nanoseconds, true, Some(_)) => {
            " Too few kernel ticks occurred to separate user time from kernel time.".into()
        }
        (Unit::Nanoseconds, true, None) => {
            " Processor time was not counted separately from other work.".into()
        }
        _ => Statement::default(),
    };
    let least = NEGLIGIBLE * furthest.prediction.total().abs();
    let terms = furthest.prediction.terms.iter().filter(|term| term.value().abs() >= least);
    let changes = changes(terms.map(|term| &term.what), furthest, known);
    statement!("The wrong term is unknown.{time}{changes}", time, changes)
}

fn changes<'a>(
    names: impl Iterator<Item = &'a String>,
    furthest: &Missed,
    known: &Known,
) -> Option<Statement> {
    Statement::joined(names.filter_map(|name| change(name, furthest, known)), "")
}

/// The later value of a term that came from an earlier measurement of the run, predicted again with all figures of the run.
fn change(name: &str, furthest: &Missed, known: &Known) -> Option<Statement> {
    let term = |prediction: &Prediction| prediction.terms.iter().find(|term| term.what == name).cloned();
    let (then, now) = (term(furthest.prediction)?, term(&furthest.predicted_again(known)?)?);
    let Source::Measured { experiment, point } = &then.source else { return None };
    (distance(now.each / then.each) > UNCHANGED).then(|| {
        statement!(
            " Its input, {experiment}, {point}, changed during the run: {before} became {after}.",
            point = Statement::point(experiment, point),
            before = furthest.figure(then.value()).named(&format!("term: {name}")),
            after = furthest.figure(now.value()).named(&format!("term at the end of the run: {name}"))
        )
    })
}
