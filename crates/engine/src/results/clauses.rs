//! Which parts of an experiment's question a run answers: each names its points, and a sentence answers it that shows the value of one.

use super::Results;
use super::point::PointResult;
use fathom_core::experiment::{Clause, Finding, Found, Question};
use fathom_core::statistics::Measured;

/// What a run says of a part of an experiment's question.
#[derive(Debug)]
pub enum ClauseAnswer<'run> {
    /// This finding, the first that shows the value of a point which answers it.
    Finding(&'run Finding),
    /// The values of these points, which no finding shows.
    Values(Vec<&'run PointResult>),
    /// Nothing: none of these points has a value that may be used.
    Open(Vec<&'run PointResult>),
}

impl Results<'_> {
    /// The points that answer a part of an experiment's question.
    pub fn points_of_clause<'a>(&'a self, name: &'a str, clause: &Clause) -> Vec<&'a PointResult> {
        let machine = &self.run.header.machine;
        self.of_experiment(name).filter(|point| (clause.points)(&point.point, machine)).collect()
    }

    /// The parts of an experiment's question with their answers; none where it asks one thing, nothing of it was measured, or this
    /// program has another version of its method.
    pub fn clauses_of<'a>(&'a self, name: &'a str) -> Vec<(&'static Clause, ClauseAnswer<'a>)> {
        let points: Vec<&PointResult> = self.of_experiment(name).collect();
        let is_measured = points.iter().any(|point| point.estimate().is_some());
        let Some(experiment) = self.experiment(name).filter(|_| is_measured) else { return vec![] };
        let answer = |clause: &'static Clause| {
            (clause, answer(self.points_of_clause(name, clause), self.findings_of(name)))
        };
        experiment.about().shown.clauses.iter().map(answer).collect()
    }
}

fn answer<'a>(points: Vec<&'a PointResult>, findings: &'a [Finding]) -> ClauseAnswer<'a> {
    let is_usable = |point: &&PointResult| point.estimate().is_some() && !point.is_doubtful();
    let valued: Vec<&PointResult> = points.iter().copied().filter(is_usable).collect();
    if valued.is_empty() {
        return ClauseAnswer::Open(points);
    }
    let values: Vec<Found> = valued.iter().flat_map(|point| values(point)).collect();
    // Why a prediction missed, and what is published of the operation, are other questions.
    let is_of_results = |finding: &&Finding| !finding.is_miss() && finding.question != Question::Prediction;
    let mut findings = findings.iter().filter(is_of_results);
    findings
        .find(|finding| shows(finding, &values))
        .map_or(ClauseAnswer::Values(valued), ClauseAnswer::Finding)
}

/// The values of a point of which a sentence may be made: its figure, and that with the core shared.
fn values(point: &PointResult) -> impl Iterator<Item = Found> {
    let shared = point.shared().map(|shared| Found::of(shared, point.unit));
    point.figure().into_iter().chain(shared)
}

fn shows(finding: &Finding, values: &[Found]) -> bool {
    let mut figures = finding.statement.figures();
    figures.any(|figure| values.iter().any(|value| is_of(&figure.found, value)))
}

/// Figures that differ by less are the same: the rest is the error of their arithmetic.
const ARITHMETIC: f64 = 1e-9;

/// Whether a figure is a value, or that times or under a number that is certain, such as the rate of which it is the time: its interval then
/// has the ends of the other's, as shares of the value.
fn is_of(figure: &Found, value: &Found) -> bool {
    let is_same = |one: f64, other: f64| (one / other - 1.0).abs() < ARITHMETIC;
    if figure.dimension == value.dimension && is_same(figure.value, value.value) {
        return true;
    }
    let shares = |of: &Measured| {
        let (low, high) = of.ends().filter(|(low, high)| low < high)?;
        Some((low / of.value, high / of.value))
    };
    shares(figure).zip(shares(value)).is_some_and(|((low, high), (least, most))| {
        (is_same(low, least) && is_same(high, most))
            || (is_same(low * most, 1.0) && is_same(high * least, 1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::{Dimension, finding};
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::Interval;

    const TIME: Dimension = Dimension::Of(Unit::Nanoseconds);

    fn found(value: f64, low: f64, high: f64) -> Found {
        Found::measured(Measured { value, interval: Some(Interval { low, high }) }, TIME)
    }

    #[test]
    fn a_figure_is_of_a_value_that_it_is_a_multiple_or_the_rate_of() {
        let time = found(30.0, 27.0, 36.0);
        let rate = time.inverse(8192.0 * 1e9, Dimension::Of(Unit::BytesPerSecond));
        for figure in [time, time.scaled(1e-3), time.counted(3.0, Dimension::Cycles), rate] {
            assert!(is_of(&figure, &time), "{figure:?}");
        }
        for other in
            [found(30.1, 27.0, 36.0), time.minus(found(3.0, 2.0, 4.0)), time.over(found(3.0, 2.0, 4.0))]
        {
            assert!(!is_of(&other, &time), "{other:?}");
        }
        let exact = |value| Found::exact(value, TIME);
        assert!(
            is_of(&exact(4.0), &exact(4.0)) && !is_of(&exact(4.0), &exact(8.0)),
            "every exact one has its ends"
        );
    }

    #[test]
    fn a_finding_answers_only_what_it_shows() {
        let (one, two) = (found(30.0, 27.0, 36.0), found(60.0, 50.0, 69.0));
        let of = |time: Found| finding!(Question::Experiment, "It takes {time}.", time = time.named("it"));
        assert!(shows(&of(one), &[one]) && !shows(&of(two), &[one]));
        let ratio = finding!(Question::Experiment, "It is {times}.", times = two.over(one).named("times"));
        assert!(!shows(&ratio, &[one, two]), "a ratio shows neither of its values");
    }
}
