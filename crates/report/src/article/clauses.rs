//! What an experiment's section says of the parts of its question that no finding answers.

use super::operations;
use crate::paper::Text;
use crate::words::{self, plural};
use crate::{cpu_distance, cpu_positions, finding, occupancy, summary};
use fathom_core::experiment::{Clause, Finding, Found, Statement, capitalize, statement};
use fathom_engine::results::{ClauseAnswer, PointResult, Results};

/// The findings that answer parts of the question, each of which stands in the section whatever room there is.
pub(super) fn findings<'a>(results: &'a Results, name: &'a str) -> Vec<&'a Finding> {
    let answers = results.clauses_of(name).into_iter();
    answers
        .filter_map(
            |(_, answer)| if let ClauseAnswer::Finding(finding) = answer { Some(finding) } else { None },
        )
        .collect()
}

/// A sentence for each part of the question that no finding answers: the values that do, or why there are none.
pub(super) fn others(results: &Results, name: &str) -> Vec<Text> {
    let answers = results.clauses_of(name).into_iter();
    let sentences = |(clause, answer): (&Clause, ClauseAnswer)| {
        let own = match answer {
            ClauseAnswer::Finding(_) => None,
            ClauseAnswer::Values(points) => Some(values(clause, &points)),
            ClauseAnswer::Open(points) => Some(open(clause.question, &points)),
        };
        let points = results.points_of_clause(name, clause);
        let elsewhere = clause.is_of_each_distance.then(|| elsewhere(clause.question, &points)).flatten();
        own.into_iter().chain(elsewhere)
    };
    let shared = cpu_positions::what_they_share(results, name).map(Text::plain);
    answers.flat_map(sentences).chain(shared).collect()
}

/// The most values of an answer; the appendix has all.
const MOST: usize = 3;

/// In one statement, so that its rates have one unit.
fn values(clause: &Clause, points: &[&PointResult]) -> Text {
    // What is told once more at another distance is told of few points, by what they differ in.
    let shared = if clause.is_of_each_distance { words::shared_parameters(points) } else { vec![] };
    let one = |point: &&PointResult| {
        let name = words::differing_label(point, &shared);
        let state = occupancy::beside_a_neighbour(point).map(|state| format!(" ({state})"));
        let value = point.figure().map(|figure| Statement::from(figure.named(&name)));
        let apart = cpu_distance::unless_usual(point).unwrap_or_default();
        let parts =
            [format!("{name}{apart} ").into(), value.unwrap_or_default(), state.unwrap_or_default().into()];
        Statement::joined(parts, "")
    };
    let more = points.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("the appendix has {more} more").into());
    let each = Statement::joined(points.iter().take(MOST).filter_map(one).chain(more), "; ");
    Text::prose(&format!("{}: {}.", capitalize(clause.question), finding::text(&each.unwrap_or_default())))
}

/// The values of these points at the distance of the two CPUs that is not their figures'; `None` if none has one.
fn elsewhere(question: &str, points: &[&PointResult]) -> Option<Text> {
    let (at, _, trials) = points.iter().find_map(|point| point.cpu_distance.as_ref()?.other.as_ref())?;
    let shared = words::shared_parameters(points);
    let one = |point: &&PointResult| {
        let name = words::differing_label(point, &shared);
        let value = Found::of(point.at_other_distance()?.1, point.unit).named(&name);
        Some(statement!("{name} {value}", name = name.as_str(), value))
    };
    let each = Statement::joined(points.iter().filter_map(one), "; ")?;
    let at = format!("{}, {}", cpu_distance::of(at), plural(*trials, "trial"));
    Some(Text::prose(&format!("{} ({at}): {}.", capitalize(question), finding::text(&each))))
}

fn open(question: &str, points: &[&PointResult]) -> Text {
    let lead = Text::plain("Not answered in this run: ").and(question).and(". ");
    let doubtful = points.iter().filter(|point| point.is_doubtful()).count();
    if doubtful > 0 {
        let values = plural(doubtful, "value");
        return lead.and(format!("It has {values} that must not be used, because a check fails."));
    }
    match operations::reasons_without_value(&summary::unmeasured(points.iter().copied())) {
        Some(reasons) => lead.and(reasons),
        None if points.is_empty() => lead.and("It planned no such point."),
        None => lead.and(format!("{} without a value.", plural(points.len(), "point"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_a_point_is_said_to_have_none() {
        let text = open("what a name costs with several threads", &[]);
        assert_eq!(
            text,
            Text::plain("Not answered in this run: ")
                .and("what a name costs with several threads")
                .and(". ")
                .and("It planned no such point.")
        );
    }
}
