//! What an experiment's predictions and results say together, in a sentence: the part of its section that asks why.

use super::prediction;
use crate::paper::Text;
use fathom_core::{quantities, statistics};
use fathom_engine::results::{
    CLOSE, Explanation, FAIR, MissTally, PointResult, PredictionNearness, Results, Tally, distance,
};
use std::collections::BTreeSet;

/// How many results were as predicted, and what is known of the others; `None` if nothing was predicted.
pub(super) fn lead(results: &Results, points: &[&PointResult]) -> Option<Text> {
    let tally = results.accuracy.of_experiment(&points.first()?.experiment)?;
    let of_all =
        if tally.judged == 1 { "The one value".to_owned() } else { format!("Of {} values", tally.judged) };
    let in_one_state = in_one_state(tally);
    let within = match (tally.judged, tally.fair.points) {
        (1, 1) => format!("{of_all} is within a factor of {FAIR} of its prediction"),
        (1, _) if tally.fair_in_one_state == 1 => {
            format!(
                "{of_all} is within a factor of {FAIR} of its prediction in one state of the machine, and not in another"
            )
        }
        (1, _) => format!("{of_all} is further than a factor of {FAIR} from its prediction"),
        (_, 0) => format!("{of_all} none is within a factor of {FAIR} of the prediction{in_one_state}"),
        (_, fair) => {
            let verb = if fair == 1 { "is" } else { "are" };
            let close = match tally.close.points {
                0 => "none".to_owned(),
                close => close.to_string(),
            };
            format!(
                "{of_all} {fair} {verb} within a factor of {FAIR} of the prediction{in_one_state}, {close} within {CLOSE}"
            )
        }
    };
    let median = quantities::factor(tally.median_factor);
    let median =
        if tally.judged > 1 { format!("; the median is {median} the prediction") } else { String::new() };
    let reasons = reasons(points);
    let reasons = if reasons.is_empty() { reasons } else { format!(" {reasons}") };
    let unlike = prediction::of_unlike_states(results, points);
    let moved: Vec<MovedRatio> = points.iter().filter_map(|point| MovedRatio::of(point)).collect();
    let moved = of_moved_inputs(&moved);
    Some(Text::plain(format!("{within}{median}.{reasons}{unlike}{moved}")))
}

/// What is counted beside the values within the factor, of which all states of the machine are.
fn in_one_state(tally: &Tally) -> String {
    let more = if tally.fair.points == 0 { "" } else { " more" };
    match tally.fair_in_one_state {
        0 => String::new(),
        1 => format!(" (1{more} only in one of its states)"),
        number => format!(" ({number}{more} only in one of their states)"),
    }
}

/// A result over its prediction, of which an input became another figure of the run.
struct MovedRatio {
    before: f64,
    /// Over the prediction from what the input became.
    by_end: f64,
    /// Whether it came within [`FAIR`] and misses that prediction.
    by_wrong: bool,
}

impl MovedRatio {
    fn of(point: &PointResult) -> Option<Self> {
        let near = [point.nearness(FAIR)?, point.nearness_by_end(FAIR)?];
        let by_wrong = near == [PredictionNearness::Within, PredictionNearness::Beyond];
        Some(MovedRatio { before: point.factor()?, by_end: point.factor_by_end()?, by_wrong })
    }
}

/// What the ratios of predictions that took a figure of the run which became another are, and from what it became, where that is another.
fn of_moved_inputs(factors: &[MovedRatio]) -> String {
    let median =
        |part: fn(&MovedRatio) -> f64| statistics::median(&factors.iter().map(part).collect::<Vec<_>>());
    let Some((before, by_end)) = median(|moved| moved.before).zip(median(|moved| moved.by_end)) else {
        return String::new();
    };
    if distance(before / by_end) <= CLOSE {
        return String::new();
    }
    let [before, by_end] = [before, by_end].map(quantities::factor);
    let by_wrong = match factors.iter().filter(|moved| moved.by_wrong).count() {
        0 => String::new(),
        1 => format!(
            " 1 that came within a factor of {FAIR} did so by the wrong figure: from what it became it would have missed."
        ),
        number => format!(
            " {number} that came within a factor of {FAIR} did so by the wrong figure: from what it became they would have missed."
        ),
    };
    match factors.len() {
        1 => format!(
            " 1 prediction took a figure that became another during the run: the ratio to it is {before}, and from what it became {by_end}.{by_wrong}"
        ),
        number => format!(
            " {number} predictions took figures that became others during the run: the ratios to them are {before} in the median, and from what these became {by_end}.{by_wrong}"
        ),
    }
}

/// The mechanisms that account for misses, each once.
fn mechanisms(points: &[&PointResult]) -> String {
    let of = |point: &&PointResult| match &point.explanation {
        Some(Explanation::Cause { mechanism, .. }) => Some(mechanism.clone()),
        _ => None,
    };
    let names: BTreeSet<String> = points.iter().filter_map(of).collect();
    names.into_iter().collect::<Vec<_>>().join("; ")
}

/// What is known of the results that missed: of how many the cause is known, open, or not certain; nothing where none did, because the
/// counts before it say so.
fn reasons(points: &[&PointResult]) -> String {
    let tally = MissTally::of(points.iter().filter_map(|point| point.explanation.as_ref()));
    let kinds = [
        (tally.explained, "accounted for by a measurement of this run"),
        (tally.in_own_curve, "of loads that hit another level than predicted, by its end in their curve"),
        (tally.at_distance, "at one distance of the two CPUs and not at another"),
        (tally.overstated, "in one term that was not measured and that the result bounds"),
        (tally.probable, "of a probable cause, whose part is not measured"),
        (tally.uncertain, "whose interval, state or input reaches to within that factor"),
        (tally.in_range, "in the range that published values give for the prediction"),
        (tally.in_doubt, "whose evidence fails"),
        (tally.unexplained, "of unknown cause"),
    ];
    let missed = tally.all();
    if missed == 0 {
        return String::new();
    }
    let named = mechanisms(points);
    let each =
        kinds.iter().enumerate().filter(|(_, (number, _))| *number > 0).map(|(place, (number, what))| {
            if place == 0 { format!("{number} {what} ({named})") } else { format!("{number} {what}") }
        });
    let each: Vec<String> = each.collect();
    match missed {
        1 => format!("1 miss, {}.", each[0].trim_start_matches("1 ")),
        _ => format!("{missed} misses: {}.", each.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::MovedRatio;
    use fathom_engine::results::{FAIR, distance};

    fn of_moved_inputs(factors: &[(f64, f64)]) -> String {
        let of = |(before, by_end): &(f64, f64)| {
            let by_wrong = distance(*before) <= FAIR && distance(*by_end) > FAIR;
            MovedRatio { before: *before, by_end: *by_end, by_wrong }
        };
        super::of_moved_inputs(&factors.iter().map(of).collect::<Vec<_>>())
    }

    #[test]
    fn ratios_from_what_inputs_became_are_told_with_their_number() {
        assert_eq!(of_moved_inputs(&[]), "");
        assert_eq!(of_moved_inputs(&[(0.9, 1.2), (1.5, 1.1)]), "", "they are others, and together the same");
        let one = of_moved_inputs(&[(0.563, 0.854)]);
        assert!(one.ends_with("the ratio to it is 0.563×, and from what it became 0.854×."), "{one}");
        let wrong = of_moved_inputs(&[(1.49, 6.42), (1.52, 6.5), (3.0, 12.0)]);
        assert!(
            wrong.ends_with(" 2 that came within a factor of 2 did so by the wrong figure: from what it became they would have missed."),
            "{wrong}"
        );
        assert!(!one.contains("wrong figure"), "{one}");
        let many = of_moved_inputs(&[(0.5, 0.9), (0.5, 0.8), (4.0, 4.1)]);
        assert!(
            many.starts_with(" 3 predictions took figures") && many.contains("0.500× in the median, and"),
            "{many}"
        );
    }
}
