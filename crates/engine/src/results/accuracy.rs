//! The accuracy of the predictions of a run: by experiment, by chapter, and in all; and the distance of its results from their base
//! hardware and from their predictions (R-CMP-01).

use super::{PointResult, PredictionNearness};
use fathom_core::experiment::{
    Dimension, Finding, Found, Ground, Part, Point, Prediction, Question, Statement, Term, family, finding,
    statement,
};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sorting;
use fathom_core::statistics::{self, Interval};

pub use super::nearness::distance;

/// A prediction is close if the result is within this factor of it, above or below.
pub const CLOSE: f64 = 1.25;

/// A prediction is fair if the result is within this factor of it, above or below.
pub const FAIR: f64 = 2.0;

/// The accuracy of the predictions of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    /// One per chapter (family of experiments), in the order of the plan; those without a judged point are left out.
    pub chapters: Vec<Tally>,
    /// One per experiment, in the order of the plan; those without a judged point are left out.
    pub experiments: Vec<Tally>,
    /// All predictions by what they rest on, the hardest first; kinds of which none could be judged are left out. Those that rest on
    /// a measurement of the same run follow its errors, so they are the easier ones.
    pub grounds: Vec<(Ground, Tally)>,
    /// Over the whole run; `None` if no point has both a value and a prediction.
    pub total: Option<Tally>,
}

/// The predictions of a group of points, compared with the results.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// The group: the name of a chapter or an experiment, the kind of the predictions, or `all` for the whole run.
    pub name: String,
    /// Points that have both a value and a prediction; only these are judged.
    pub judged: usize,
    /// Points that have a value but no prediction.
    pub unpredicted: usize,
    /// The judged points within a factor of [`CLOSE`], of a machine in several states in each.
    pub close: Share,
    /// The judged points within a factor of [`FAIR`], of a machine in several states in each.
    pub fair: Share,
    /// The judged points within a factor of [`FAIR`] in one state of the machine and not in another: neither hits nor misses.
    pub fair_in_one_state: usize,
    /// The median of measured over predicted: above 1 where predictions are too low.
    pub median_factor: f64,
    /// The median of what was found over what was predicted as costs, of rates predicted over measured: above 1 where the machine is
    /// worse than predicted, whatever the kinds of its figures.
    pub median_cost_factor: f64,
    /// The prediction furthest from its result.
    pub worst: Worst,
}

/// A share of the judged points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The number of points.
    pub points: usize,
    /// Their share of all judged points, 0 to 1.
    pub share: f64,
    /// The 95 % interval of the share by Wilson's score (1927). The points of one sweep resemble each other, so it is rather
    /// too narrow.
    pub interval: Option<Interval>,
}

/// The prediction furthest from its result, of a machine in several states from the nearest.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst {
    /// The experiment's name.
    pub experiment: String,
    /// Its point.
    pub point: Point,
    /// Measured over predicted.
    pub factor: f64,
}

impl Accuracy {
    /// Compares the predictions of all points with their results.
    pub fn of(points: &[PointResult]) -> Self {
        Accuracy {
            chapters: tallies(points, chapter),
            experiments: tallies(points, |point| &point.experiment),
            grounds: Ground::ALL
                .into_iter()
                .filter_map(|ground| Some((ground, on_ground(points, ground)?)))
                .collect(),
            total: tally("all", points.iter()),
        }
    }

    /// How many of these points have a value but no prediction.
    pub fn unpredicted<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> usize {
        points.into_iter().filter(|point| is_unpredicted(point)).count()
    }

    /// The predictions by what they rest on; empty if all of them are of one kind.
    pub fn by_ground(&self) -> Vec<&Tally> {
        let all: Vec<&Tally> = self.grounds.iter().map(|(_, tally)| tally).collect();
        if all.len() > 1 { all } else { vec![] }
    }

    /// The accuracy of the predictions that rest on this; `None` if none could be judged.
    pub fn on(&self, ground: Ground) -> Option<&Tally> {
        self.grounds.iter().find(|(of, _)| *of == ground).map(|(_, tally)| tally)
    }

    /// The accuracy of one experiment's predictions; `None` if none could be judged.
    pub fn of_experiment(&self, name: &str) -> Option<&Tally> {
        self.experiments.iter().find(|tally| tally.name == name)
    }
}

/// The predictions that rest on this.
fn on_ground(points: &[PointResult], ground: Ground) -> Option<Tally> {
    let of = |point: &PointResult| point.prediction.as_ref().map(Prediction::ground);
    tally(ground.name(), points.iter().filter(|point| of(point) == Some(ground)))
}

/// The family of a point's experiment.
fn chapter(point: &PointResult) -> &str {
    family(&point.experiment)
}

fn tallies(points: &[PointResult], group: fn(&PointResult) -> &str) -> Vec<Tally> {
    let mut names: Vec<&str> = vec![];
    for point in points {
        if !names.contains(&group(point)) {
            names.push(group(point));
        }
    }
    let of = |name: &str| tally(name, points.iter().filter(|point| group(point) == name));
    names.into_iter().filter_map(of).collect()
}

fn tally<'run>(name: &str, points: impl Iterator<Item = &'run PointResult> + Clone) -> Option<Tally> {
    let judged: Vec<(&PointResult, f64)> =
        points.clone().filter_map(|point| Some((point, point.factor()?))).collect();
    let factors: Vec<f64> = judged.iter().map(|(_, factor)| *factor).collect();
    let as_cost = |(point, factor): &(&PointResult, f64)| match point.unit.kind() {
        Kind::Rate => 1.0 / factor,
        Kind::Cost | Kind::Size => *factor,
    };
    let as_costs: Vec<f64> = judged.iter().map(as_cost).collect();
    let nearest = judged.iter().filter_map(|(point, _)| Some((point, point.nearest_factor()?)));
    // The first in the table of several at the same distance.
    let (worst, factor) = nearest.rev().max_by(|one, other| distance(one.1).total_cmp(&distance(other.1)))?;
    let standing = |limit: f64, how: PredictionNearness| {
        judged.iter().filter(|(point, _)| point.nearness(limit) == Some(how)).count()
    };
    let within = |limit: f64| share(standing(limit, PredictionNearness::Within), judged.len());
    Some(Tally {
        name: name.to_owned(),
        judged: judged.len(),
        unpredicted: Accuracy::unpredicted(points),
        close: within(CLOSE),
        fair: within(FAIR),
        fair_in_one_state: standing(FAIR, PredictionNearness::InOneState),
        median_factor: statistics::median(&factors)?,
        median_cost_factor: statistics::median(&as_costs)?,
        worst: Worst { experiment: worst.experiment.clone(), point: worst.point.clone(), factor },
    })
}

fn is_unpredicted(point: &PointResult) -> bool {
    point.estimate().is_some() && point.prediction.is_none()
}

fn share(points: usize, of: usize) -> Share {
    Share {
        points,
        share: points as f64 / of as f64,
        interval: statistics::share_interval(points as u64, of as u64),
    }
}

/// The finding about that distance, of what was predicted from outside the run: a result near what was measured before it says nothing of
/// hardware. `None` if that is too few.
pub fn finding(points: &[PointResult]) -> Option<Finding> {
    let hardware = |prediction: &Prediction| {
        let mut terms = prediction.terms.iter().filter(|term| term.part == Part::Hardware);
        let is_measured = |term: &Term| term.is_measured() && !term.is_scaled();
        if terms.any(is_measured) { None } else { prediction.part(Part::Hardware) }
    };
    let whole =
        |prediction: &Prediction| (prediction.ground() != Ground::ThisRun).then(|| prediction.total());
    let hardware = quarters("base hardware", &ratios(points, hardware));
    let whole = quarters("prediction", &ratios(points, whole));
    let of_hardware = hardware.map(|ratios| statement!("cost of the base hardware: {ratios}", ratios));
    let of_whole = whole.map(|ratios| statement!("whole cost: {ratios}", ratios));
    let each = Statement::joined([of_hardware, of_whole].into_iter().flatten(), "; over the predicted ")?;
    Some(finding!(
        Question::Prediction,
        "Of predictions from outside this run (independent, or scaled from a published machine), measured times over the predicted {each}.",
        each
    ))
}

/// Measured times over a part of their predictions, in ascending order.
fn ratios(points: &[PointResult], part: impl Fn(&Prediction) -> Option<f64>) -> Vec<f64> {
    let ratio = |point: &PointResult| {
        let base = part(point.prediction.as_ref()?).filter(|base| *base > 0.0)?;
        Some(point.estimate()?.value / base)
    };
    let costs = points.iter().filter(|point| point.unit == Unit::Nanoseconds && point.evidence_holds());
    let mut ratios: Vec<f64> = costs.filter_map(ratio).collect();
    sorting::numbers(&mut ratios);
    ratios
}

/// The fewest ratios of which a half in the middle says something.
const FEWEST: usize = 8;

/// The median and the middle half of ratios.
fn quarters(of: &str, ratios: &[f64]) -> Option<Statement> {
    if ratios.len() < FEWEST {
        return None;
    }
    let at = |level| statistics::quantile(ratios, level);
    let figure = |value, name: &str| {
        Found::bare(value, Dimension::Ratio).named(&format!("measured over {of}, {name}"))
    };
    let count = Found::exact(ratios.len() as f64, Dimension::Count);
    Some(statement!(
        "{median} times in the median of {count}, half of them from {lower} to {upper} times",
        median = figure(at(0.5)?, "median"),
        count = count.named(&format!("times with a {of}")),
        lower = figure(at(0.25)?, "lower quartile"),
        upper = figure(at(0.75)?, "upper quartile")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Outcome, planted};
    use fathom_core::experiment::{Basis, Source};
    use fathom_core::statistics::Estimate;

    /// A point with the result `measured` and the prediction `predicted`, if any.
    fn result(experiment: &str, measured: f64, predicted: Option<f64>) -> PointResult {
        let estimate = Estimate {
            value: measured,
            interval: None,
            level: 0.95,
            trials: 1,
            observations: 1,
            min: None,
            max: None,
        };
        let said = |total| Prediction::new().hardware("all of it", 1.0, Basis::published(total, "a paper"));
        planted::result(experiment, estimate, predicted.map(said))
    }

    #[test]
    fn above_and_below_are_equally_far() {
        assert!((distance(4.0) - 4.0).abs() < 1e-12 && (distance(0.25) - 4.0).abs() < 1e-12);
        assert!(distance(0.0).is_infinite(), "nothing is infinitely far from something");
    }

    #[test]
    fn points_are_counted_within_both_limits_by_experiment_chapter_and_in_all() {
        let points = [
            result("cpu/a", 10.0, Some(10.0)),
            result("cpu/a", 5.0, Some(10.0)),
            result("cpu/b", 79.0, Some(100.0)),
            result("memory/c", 40.0, Some(10.0)),
            result("memory/c", 40.0, None),
        ];
        let accuracy = Accuracy::of(&points);
        let names = |tallies: &[Tally]| tallies.iter().map(|tally| tally.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&accuracy.chapters), ["cpu", "memory"]);
        assert_eq!(names(&accuracy.experiments), ["cpu/a", "cpu/b", "memory/c"]);
        let total = accuracy.total.clone().unwrap();
        assert_eq!((total.judged, total.unpredicted), (4, 1));
        assert_eq!(
            (total.close.points, total.fair.points),
            (1, 3),
            "79 of 100 is out of 1.25, half is within 2"
        );
        assert!((total.fair.share - 0.75).abs() < 1e-12);
        let interval = total.fair.interval.unwrap();
        assert!(interval.low < 0.75 && 0.75 < interval.high);
        assert_eq!((total.worst.experiment.as_str(), total.worst.factor), ("memory/c", 4.0));
        assert!((total.median_factor - 0.895).abs() < 1e-12);
        assert_eq!(accuracy.of_experiment("cpu/b").unwrap().judged, 1);
    }

    #[test]
    fn a_rate_below_its_prediction_counts_as_a_cost_above_it() {
        let rate =
            |value| PointResult { unit: Unit::BytesPerSecond, ..result("memory/a", value, Some(10.0)) };
        let accuracy = Accuracy::of(&[rate(5.0), result("memory/b", 20.0, Some(10.0)), rate(4.0)]);
        let total = accuracy.total.unwrap();
        assert!((total.median_cost_factor - 2.0).abs() < 1e-12, "{}", total.median_cost_factor);
        assert!((total.median_factor - 0.5).abs() < 1e-12, "{}", total.median_factor);
    }

    #[test]
    fn what_stands_on_the_run_itself_is_counted_apart() {
        let mut follows = result("cpu/a", 10.0, Some(10.0));
        let term = &mut follows.prediction.as_mut().unwrap().terms[0];
        term.source = Source::Measured { experiment: "cpu/b".to_owned(), point: Point::new() };
        let accuracy =
            Accuracy::of(&[follows, result("cpu/b", 40.0, Some(10.0)), result("cpu/b", 1.0, None)]);
        let fair = |ground| accuracy.on(ground).map(|tally| (tally.judged, tally.fair.points));
        assert_eq!(fair(Ground::ThisRun), Some((1, 1)));
        assert_eq!((fair(Ground::Independent), fair(Ground::Scaled)), (Some((1, 0)), None));
    }

    #[test]
    fn what_has_no_value_is_not_judged() {
        let mut skipped = result("cpu/a", 10.0, Some(10.0));
        skipped.outcome = Outcome::Skipped { reason: "no time".to_owned() };
        let accuracy = Accuracy::of(&[skipped]);
        assert_eq!((accuracy.chapters.len(), accuracy.total), (0, None));
    }

    #[test]
    fn the_median_and_the_middle_half_are_told_with_their_number() {
        let ratios = [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 4.0, 5.0, 5.0];
        let text = quarters("prediction", &ratios).map(|text| text.plain());
        assert_eq!(
            text.as_deref(),
            Some("{3} times in the median of {9}, half of them from {2} to {4} times")
        );
        assert_eq!(quarters("prediction", &ratios[..7]), None, "too few");
    }

    #[test]
    fn what_rests_on_the_run_itself_says_nothing_of_hardware() {
        let outside = (0..8).map(|_| result("cpu/a", 30.0, Some(10.0)));
        let tautology = |place: usize| {
            let mut follows = result("cpu/b", 10.0, Some(10.0));
            let measured = Basis::measured(5.0, "cpu/a", Point::new());
            let (one, two) = (Prediction::new(), follows.prediction.take());
            let hardware = two.unwrap_or(one).hardware("measured before", 1.0, measured.clone());
            let software = Prediction::new().hardware("a table", 1.0, Basis::published(10.0, "a paper"));
            let mixed = software.software("measured before", 1.0, measured);
            follows.prediction = Some(if place % 2 == 0 { hardware } else { mixed });
            follows
        };
        let points: Vec<PointResult> = outside.chain((0..20).map(tautology)).collect();
        let text = finding(&points).expect("a finding").statement.plain();
        assert!(
            text.contains("the base hardware: {1} times in the median of {18}"),
            "a measured software term is none of the hardware: {text}"
        );
        assert!(text.contains("whole cost: {3} times in the median of {8}, half"), "{text}");
    }
}
