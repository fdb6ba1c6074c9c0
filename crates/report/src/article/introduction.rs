//! What was asked, of which machine, and where the answers are: the introduction, made of facts of the run.

use super::neighbour;
use super::quotable;
use super::sections::{has_section, title};
use super::works::cited;
use crate::lost;
use crate::occupancy;
use crate::paper::{Key, Section, Text};
use crate::run;
use crate::words::plural;
use fathom_core::experiment::family;
use fathom_core::quantities;
use fathom_engine::results::{MechanismKind, Results};

/// A paragraph each for what was asked and where the answers are, of which machine, and what was seen.
pub(super) fn of(results: &Results) -> Section {
    let opening = [Some(Text::plain(question(results))), without_values(results), Some(places(results))];
    let values = [Some(predicted(results)), causes(results), quotable::count(results)];
    Section::new(Key::of("introduction"), "Introduction")
        .say(Text::joined(opening.into_iter().flatten(), " "))
        .say(Text::joined(machine(results), " "))
        .say(Text::joined(values.into_iter().flatten(), " "))
}

fn question(results: &Results) -> String {
    format!(
        "What do the operations of an operating system cost on this machine, what should they cost, and why do they differ? {} \
         ask it of {}.",
        plural(measured(results).count(), "experiment"),
        chapters(results)
    )
}

/// The experiments that were tried and have no value, and why; `None` if each has one.
fn without_values(results: &Results) -> Option<Text> {
    let losses = lost::whole_experiments(results);
    let each = losses.iter().map(|(name, cause)| Text::code(*name).and(format!(" ({cause})")));
    let each = Text::joined(each, ", ");
    let text = match losses.len() {
        0 => return None,
        1 => Text::plain("Of one more all values were lost: "),
        number => Text::plain(format!("Of {number} more all values were lost: ")),
    };
    Some(text.and(each).and("."))
}

/// The machine, and whether something else used its core.
fn machine(results: &Results) -> Vec<Text> {
    let header = &results.run.header;
    let machine = format!(
        "The machine is {}. It was measured at {} by {} {} ({}), pinned to CPU {}, with nothing of it changed.",
        run::machine_in_full(&header.machine),
        header.started,
        header.tool.name,
        header.tool.version,
        header.tool.compiler.as_deref().unwrap_or("compiler not recorded"),
        header.settings.home
    );
    let neighbour = occupancy::share_of_time(results).map(|text| {
        let expected = neighbour::expected(results).map(|text| Text::plain(" ").and(text));
        seen_while_measuring(&text).and(OF_WHICH_STATE).and(expected.unwrap_or_default())
    });
    [Some(machine.into()), neighbour].into_iter().flatten().collect()
}

/// A sentence with the place of its figures.
fn from(sentence: &str, place: Text) -> Text {
    cited(sentence.trim_end_matches('.')).and(" (").and(place).and(").")
}

fn seen_while_measuring(sentence: &str) -> Text {
    from(sentence, Text::to(&Key::of("conditions")))
}

/// How the state of the core is told.
const OF_WHICH_STATE: &str = " Figures of short work are of the core alone where it was alone often enough.";

/// The experiments with a value.
fn measured<'run>(results: &'run Results) -> impl Iterator<Item = &'run str> {
    results.experiments().into_iter().filter(|name| has_section(results, name))
}

/// The chapters with the number of their experiments: "processor and services (12), memory (11) and file system (6)".
fn chapters(results: &Results) -> String {
    let mut counted: Vec<(&str, usize)> = vec![];
    for name in measured(results) {
        match counted.iter_mut().find(|(of, _)| *of == family(name)) {
            Some((_, number)) => *number += 1,
            None => counted.push((family(name), 1)),
        }
    }
    let named = |(family, number): &(&str, usize)| format!("{} ({number})", title(family).to_lowercase());
    counted.iter().map(named).collect::<Vec<_>>().join(", ")
}

fn predicted(results: &Results) -> Text {
    let estimates = || results.points.iter().filter_map(|point| point.estimate());
    let values = estimates().count();
    let with_interval = estimates().filter(|estimate| estimate.interval.is_some()).count();
    let intervals = if with_interval == values {
        "with its interval".to_owned()
    } else {
        format!("{} of them with an interval", quantities::count(with_interval))
    };
    let cost = results.accuracy.total.as_ref().map_or(String::new(), |total| {
        format!(
            " {} of them were predicted, each before its own first trial, and {} of these came within a factor of two",
            quantities::count(total.judged),
            quantities::percent(total.fair.share)
        )
    });
    let accuracy = if cost.is_empty() {
        Text::default()
    } else {
        Text::plain(" (").and(Text::to(&Key::of("accuracy"))).and(").")
    };
    Text::plain(format!(
        "The run gave {}, each a median of fresh processes, {intervals}.{cost}",
        plural(values, "value")
    ))
    .and(accuracy)
}

/// How many causes the run found; `None` without any.
fn causes(results: &Results) -> Option<Text> {
    let causes = results.mechanisms.iter().filter(|one| one.kind == MechanismKind::Effect).count();
    let stand = if causes == 1 { "stands" } else { "stand" };
    (causes > 0).then(|| {
        Text::plain(format!("{} that it found {stand} in ", plural(causes, "cause")))
            .and(Text::to(&Key::of("mechanisms")))
            .and(".")
    })
}

/// Where what is.
fn places(results: &Results) -> Text {
    let to = |name: &str| Text::to(&Key::of(name));
    let text = to("machine")
        .and(" describes the machine, ")
        .and(to("method"))
        .and(" the method that all experiments share; then each experiment has its question and method, its prediction, its result and \
              its analysis. ");
    let text = if super::one_page::operations(results).is_empty() {
        text
    } else {
        text.and(to("one-page")).and(" has the operations of the published reports on a page, ")
    };
    text.and(to("conclusion")).and(" what this machine is good and bad at, and what programs can choose.")
}
