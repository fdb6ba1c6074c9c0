//! What an experiment's section says of the parts of its question that no finding answers.

use super::operations;
use crate::paper::Text;
use crate::words::{self, plural};
use crate::{cpu_distance, finding, occupancy, summary};
use fathom_core::experiment::{Clause, Finding, Statement, capitalize};
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
    let sentence = |(clause, answer): (&Clause, ClauseAnswer)| match answer {
        ClauseAnswer::Finding(_) => None,
        ClauseAnswer::Values(points) => Some(values(clause.question, &points)),
        ClauseAnswer::Open(points) => Some(open(clause.question, &points)),
    };
    let unanswered = cpu_distance::unanswered(results, name).map(Text::plain);
    answers.filter_map(sentence).chain(unanswered).collect()
}

/// The most values of an answer; the appendix has all.
const MOST: usize = 3;

/// In one statement, so that its rates have one unit.
fn values(question: &str, points: &[&PointResult]) -> Text {
    let one = |point: &&PointResult| {
        let name = words::label(*point, &point.point);
        let state = occupancy::beside_a_neighbour(point).map(|state| format!(" ({state})"));
        let value = point.figure().map(|figure| Statement::from(figure.named(&name)));
        let parts = [format!("{name} ").into(), value.unwrap_or_default(), state.unwrap_or_default().into()];
        Statement::joined(parts, "")
    };
    let more = points.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("the appendix has {more} more").into());
    let each = Statement::joined(points.iter().take(MOST).filter_map(one).chain(more), "; ");
    Text::prose(&format!("{}: {}.", capitalize(question), finding::text(&each.unwrap_or_default())))
}

fn open(question: &str, points: &[&PointResult]) -> Text {
    let lead = Text::plain("Not answered in this run: ").and(question).and(". ");
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
