//! Why a result is as far from its prediction as it is, in a few words.

use super::quotation;
use crate::paper::{Key, Text};
use crate::words;
use fathom_core::experiment::{Found, Prediction};
use fathom_core::quantities;
use fathom_engine::results::{CLOSE, Explanation, FAIR, PointResult, distance};

/// Its cause, or where it has none how much of what was not predicted a mechanism of this run accounts for.
pub(super) fn of_point(point: &PointResult) -> Text {
    let cause = cause(point);
    if let Some(of) = point.miss_mechanism.as_ref().filter(|_| [WITHIN, FURTHER].contains(&cause.as_str())) {
        let lead = if of.accounts { String::new() } else { cause + "; " };
        return Text::plain(lead + &crate::finding::text(&of.statement) + ": ")
            .and(Text::to(&Key::of("mechanisms")));
    }
    let part = point.influence.as_ref().filter(|_| cause == WITHIN);
    match part.and_then(|part| part.of_difference.as_ref()) {
        Some(part) => Text::plain(crate::finding::text(part) + ": ").and(Text::to(&Key::of("mechanisms"))),
        None => or_by_input(cause, point.factor_by_end()).into(),
    }
}

/// What is said of a miss without a cause, of which an input became another: with its ratio to the prediction from that.
fn or_by_input(cause: String, by_end: Option<f64>) -> String {
    match by_end.filter(|_| cause == FURTHER) {
        Some(by_end) => format!("{cause}; {}", became(by_end)),
        None => cause,
    }
}

/// That an input of the prediction became another figure, with the ratio to the prediction from that.
fn became(by_end: f64) -> String {
    format!("an input became another: with it {}", quantities::factor(by_end))
}

/// A verdict that rests on what an input no longer is: with what it became the result is further off.
fn by_former(verdict: &str, by_end: f64) -> String {
    format!("{verdict} by what an input was, and {} with what it became", quantities::factor(by_end))
}

/// Where a result lies beside the range of the published values behind its prediction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PublishedPlace {
    /// In no such range.
    Elsewhere,
    /// In one that not every result lies in.
    Among,
    /// In one of a factor of four or more: that says as little of what is near its middle as of what is far from it.
    TooWide,
}

impl PublishedPlace {
    fn of(prediction: &Prediction, figure: &Found) -> Self {
        match () {
            () if prediction.is_range_of(figure) => PublishedPlace::Among,
            () if figure.is_of_one_state() && prediction.spans(figure) => PublishedPlace::TooWide,
            () => PublishedPlace::Elsewhere,
        }
    }
}

const PUBLISHED: &str = "among the published values";

/// What is said of a result whose interval, or a state of the machine, or what an input is by the end of the run, is within a factor of two of the prediction.
const NOT_CERTAIN: &str = "its interval, state or input reaches to within a factor of two";

/// Why a result is as far from its prediction as it is, in a few words.
fn cause(point: &PointResult) -> String {
    let range = point
        .prediction
        .as_ref()
        .zip(point.figure())
        .map_or(PublishedPlace::Elsewhere, |(prediction, figure)| PublishedPlace::of(prediction, &figure));
    match (&point.explanation, point.factor()) {
        // An input that became another is named with both its values.
        (Some(explanation @ Explanation::Cause { mechanism, .. }), _) if explanation.is_of_input() => {
            point.because.as_ref().map_or_else(|| mechanism.clone(), crate::finding::text)
        }
        (Some(Explanation::Cause { mechanism, .. }), _) => format!("{mechanism}, measured in this run"),
        (Some(Explanation::Distance), _) => point.because.as_ref().map_or_else(
            || FURTHER.to_owned(),
            |because| words::uncapitalised(crate::finding::text(because).trim_end_matches('.')),
        ),
        (Some(Explanation::Overstated { term }), _) => format!("{OVERSTATED}: {term}"),
        (Some(Explanation::Probable { cause }), _) => format!("probably {cause}"),
        (Some(Explanation::OwnCurve { end }), _) => format!("{end}, as its own curve shows"),
        (Some(Explanation::NotCertain | Explanation::InRange), _) if range == PublishedPlace::Among => {
            PUBLISHED.to_owned()
        }
        (Some(Explanation::NotCertain), _) if range == PublishedPlace::TooWide => WIDE_RANGE.to_owned(),
        (Some(Explanation::NotCertain), _) => NOT_CERTAIN.to_owned(),
        (Some(Explanation::InDoubt), _) => "in doubt: its evidence fails".to_owned(),
        (Some(Explanation::InRange), _) => WIDE_RANGE.to_owned(),
        (Some(Explanation::NotExplained), _) => FURTHER.to_owned(),
        (None, Some(factor)) => match (point.factor_by_end(), point.figure(), &point.prediction) {
            (Some(by_end), measured, prediction) => {
                let further =
                    measured.zip(prediction.as_ref()).filter(|_| distance(by_end) > distance(factor));
                further.map_or_else(
                    || became(by_end),
                    |(measured, prediction)| by_former(&near(&measured, prediction.total(), range), by_end),
                )
            }
            (None, Some(measured), Some(prediction)) => {
                let by_end = point.by_end.as_ref().map(Prediction::total);
                or_by_end(near(&measured, prediction.total(), range), &measured, by_end)
            }
            _ => WITHIN.to_owned(),
        },
        (None, None) if quotation::is_limit(point) => "set, not predicted".to_owned(),
        (None, None) => "no prediction to judge".to_owned(),
    }
}

/// What is said of a result that is within [`FAIR`] of its prediction, and not like it.
const WITHIN: &str = "within a factor of two, not explained";

/// What is said of a result that is further than [`FAIR`] from its prediction for certain, without a cause.
const FURTHER: &str = "further than a factor of two, not explained";

/// What is said of a result in two states, of which each is near its prediction, or one, or of which one is within [`FAIR`] of it.
const EACH_STATE: &str = "each of its states is within a factor of 1.25";
const ONE_STATE_ONLY: &str = "one of its states is within a factor of two, another is not";
const ONE_STATE: &str = "one of its states is within a factor of 1.25";

/// What is said of a result whose interval would hold nearly any prediction.
const TOO_WIDE: &str = "cannot tell: its interval reaches over a factor of four or more";

/// What is said of a result in a range of the published values behind its prediction that would hold nearly any result.
const WIDE_RANGE: &str = "cannot tell: it lies in the range of its prediction, of a factor of four or more";

/// What is said of a prediction that is too high because of one term, whose name follows.
const OVERSTATED: &str = "the prediction is too high in one term, which takes less here";

/// The factor of the prediction within which nothing is left to explain, whatever the interval: 10 %.
const NEAR: f64 = 1.1;

/// How near a slope is to that of its points' predictions.
pub(super) fn of_slope(slope: &Found, predicted: f64) -> String {
    near(slope, predicted, PublishedPlace::Elsewhere)
}

/// How near a result is that is within [`FAIR`] of its prediction: as predicted only by the rule by which values of this paper are alike.
fn near(measured: &Found, predicted: f64, range: PublishedPlace) -> String {
    let predicted = Found::exact(predicted, measured.dimension);
    // A median over two states is of neither, and so is its interval.
    if let Some(states) = measured.states {
        let within = |limit: f64| {
            states.iter().filter(|state| distance(state.value / predicted.value) <= limit).count()
        };
        return match (within(CLOSE), within(FAIR)) {
            (2, _) => EACH_STATE,
            (1, _) => ONE_STATE,
            (_, 1) => ONE_STATE_ONLY,
            _ => WITHIN,
        }
        .to_owned();
    }
    if range == PublishedPlace::TooWide {
        WIDE_RANGE.to_owned()
    } else if measured.is_like(&predicted) {
        "as predicted".to_owned()
    } else if range == PublishedPlace::Among {
        PUBLISHED.to_owned()
    } else if distance(measured.value / predicted.value) <= NEAR {
        "within 10 % of the prediction".to_owned()
    } else if measured.holds(predicted.value) && !measured.tells() {
        TOO_WIDE.to_owned()
    } else if measured.holds(predicted.value) {
        "its interval holds the prediction".to_owned()
    } else {
        WITHIN.to_owned()
    }
}

/// What is said of a result that is near its prediction in no other way, where it holds the prediction from what the inputs were by the end of
/// the run: what they were before its first trial is then what it was predicted too low or too high from.
fn or_by_end(verdict: String, measured: &Found, by_end: Option<f64>) -> String {
    let is_held = |by_end: &f64| measured.is_of_one_state() && measured.holds(*by_end) && measured.tells();
    match by_end.filter(|by_end| verdict == WITHIN && is_held(by_end)) {
        Some(by_end) => format!(
            "explained by its inputs, which were others by the end of the run: with them {}, which its interval holds",
            quantities::factor(measured.value / by_end)
        ),
        None => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Dimension;
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::{Interval, Measured};

    fn nanoseconds(value: f64, interval: Option<Interval>) -> Found {
        Found::measured(Measured { value, interval }, Dimension::Of(Unit::Nanoseconds))
    }

    /// Of ranges of a factor of 4.9, 13 and 39 only that of a process "cannot tell": the others were within a factor of two.
    #[test]
    fn a_range_that_holds_nearly_any_result_cannot_tell_of_any() {
        let published = Prediction::new().software_of("a switch", &[0.78, 3.8], "two reports");
        let range = |value: f64| {
            let figure = nanoseconds(value, Some(Interval { low: 0.95 * value, high: 1.05 * value }));
            near(&figure, published.total(), PublishedPlace::of(&published, &figure))
        };
        assert_eq!([1.73, 2.59, 3.5].map(range), [WIDE_RANGE; 3]);
        assert_eq!(range(5.0), WITHIN, "beyond the range");
    }

    fn told(value: f64, width: f64) -> String {
        let interval = Some(Interval { low: value - width, high: value + width });
        near(&nanoseconds(value, interval), 100.0, PublishedPlace::Elsewhere)
    }

    #[test]
    fn what_lies_among_published_values_is_said_to() {
        let interval = Some(Interval { low: 175.0, high: 185.0 });
        let measured = Found::measured(Measured { value: 180.0, interval }, Dimension::Of(Unit::Nanoseconds));
        assert_eq!(near(&measured, 100.0, PublishedPlace::Among), "among the published values");
        assert_eq!(near(&measured, 100.0, PublishedPlace::Elsewhere), WITHIN);
    }

    /// Writing memory took 2.9 times as predicted, from a rate of reading that was another by the end, and was "not explained" without that.
    #[test]
    fn a_miss_whose_input_became_another_says_so() {
        let said = |cause: &str, by_end| or_by_input(cause.to_owned(), by_end);
        assert_eq!(
            said(FURTHER, Some(2.5)),
            "further than a factor of two, not explained; an input became another: with it 2.50×"
        );
        assert_eq!(said(FURTHER, None), FURTHER);
        let former = by_former("as predicted", 1.54);
        assert_eq!(former, "as predicted by what an input was, and 1.54× with what it became");
        assert_eq!(said(NOT_CERTAIN, Some(2.5)), NOT_CERTAIN);
    }

    /// A read was predicted from one of round 1, of 38.4 µs, which took 45.9 by the end of the run; it took 42.6 (39.2–49.4), "not explained".
    #[test]
    fn what_its_inputs_were_by_the_end_of_the_run_explains_a_result_that_holds_it() {
        let interval = Some(Interval { low: 39.2, high: 49.4 });
        let measured = Found::measured(Measured { value: 42.6, interval }, Dimension::Of(Unit::Nanoseconds));
        let verdict = |by_end| or_by_end(near(&measured, 38.5, PublishedPlace::Elsewhere), &measured, by_end);
        assert_eq!(verdict(None), WITHIN);
        assert_eq!(
            verdict(Some(46.0)),
            "explained by its inputs, which were others by the end of the run: with them 0.926×, which its interval holds"
        );
        assert_eq!(verdict(Some(50.0)), WITHIN, "beyond the interval");
        assert_eq!(or_by_end("as predicted".to_owned(), &measured, Some(46.0)), "as predicted");
    }

    #[test]
    fn only_what_is_like_its_prediction_is_as_predicted() {
        assert_eq!(told(110.0, 5.0), "as predicted");
        assert_eq!(told(199.0, 5.0), WITHIN, "nearly twice what was predicted");
        assert_eq!(told(108.0, 30.0), "within 10 % of the prediction", "an interval says no more than that");
        assert_eq!(told(120.0, 40.0), "its interval holds the prediction", "an interval too wide to tell");
        assert_eq!(
            told(120.0, 80.0),
            TOO_WIDE,
            "from 40 to 200: no prediction near it could be contradicted"
        );
        assert_eq!(told(120.0, 10.0), WITHIN, "beyond 1.25 in part of the interval, and surely another");
    }
}
