//! The distance of results from their base hardware and from their predictions, over the run (R-CMP-01).

use super::PointResult;
use fathom_core::experiment::{
    Dimension, Finding, Found, Part, Prediction, Question, Statement, finding, statement,
};
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics;

/// The finding about that distance.
pub fn finding(points: &[PointResult]) -> Option<Finding> {
    let over = |part: &dyn Fn(&Prediction) -> Option<f64>| {
        let ratio = |point: &PointResult| {
            let base = part(point.prediction.as_ref()?).filter(|base| *base > 0.0)?;
            Some(point.estimate()?.value / base)
        };
        let costs = points.iter().filter(|point| point.unit == Unit::Nanoseconds && point.evidence_holds());
        let mut ratios: Vec<f64> = costs.filter_map(ratio).collect();
        sorting::numbers(&mut ratios);
        ratios
    };
    let hardware = quarters("base hardware", &over(&|prediction| prediction.part(Part::Hardware)))?;
    let predicted = quarters("prediction", &over(&|prediction| Some(prediction.total())))?;
    Some(finding!(
        Question::Prediction,
        "Measured times over the predicted cost of the base hardware: {hardware}; over the whole prediction: \
         {predicted}.",
        hardware,
        predicted
    ))
}

/// The median and the middle half of ratios.
fn quarters(of: &str, ratios: &[f64]) -> Option<Statement> {
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
    use super::quarters;

    #[test]
    fn the_median_and_the_middle_half_are_told_with_their_number() {
        let text = quarters("prediction", &[1.0, 2.0, 3.0, 4.0, 5.0]).map(|text| text.plain());
        assert_eq!(
            text.as_deref(),
            Some("{3} times in the median of {5}, half of them from {2} to {4} times")
        );
        assert_eq!(quarters("prediction", &[]), None);
    }
}
