//! Whether creating processes becomes slower, or less regular, as more of them are created in a short time: process ids are
//! allocated, and ended processes are reaped.

use super::{Conclusion, Premises, Rule};
use crate::results::PointResult;
use fathom_core::experiment::At::Name;
use fathom_core::experiment::{Dimension, Found, Selector, Statement, statement};
use fathom_core::statistics;

pub(super) const RULE: Rule = Rule {
    name: "growth_with_processes_made",
    condition: "four trials created at least thirty processes each, one after the other",
    judge,
    points: &[FORK],
};

const FORK: Selector = Selector::only("cpu/process_creation", &[("measure", Name("fork, exit, wait"))]);

/// Ten in each third: quartiles of fewer are unreliable.
const FEWEST: usize = 30;

fn judge(premises: &Premises) -> Option<Conclusion> {
    let is_fork =
        |point: &&PointResult| FORK.selects(&point.experiment, &point.point, premises.known.machine);
    let samples = &premises.results().find(is_fork)?.samples;
    let samples: Vec<&Vec<f64>> = samples.iter().filter(|sample| sample.len() >= FEWEST).collect();
    if samples.len() < statistics::MINIMUM_TRIALS {
        return None;
    }
    let cost = late_over_early(&samples, statistics::median)?;
    let spread = late_over_early(&samples, |third| Some(statistics::spread(third)?.interquartile_range));
    let fewest = samples.iter().map(|sample| sample.len()).min()?;
    let grows = growth(cost);
    let headline = statement!(
        "Creating a process {grows}: the last third of a trial costs {cost} times the first.",
        cost = cost.named("last third over first, cost")
    );
    let deviation = spread.map_or_else(Statement::default, |spread| {
        if spread.ends().is_some_and(|(low, high)| low <= 1.0 && high >= 1.0) {
            return "; the interquartile range of the last third is not significantly different from that of the first".into();
        }
        statement!(
            "; the interquartile range is {spread} times that of the first",
            spread = spread.named("last third over first, spread")
        )
    });
    let because = statement!(
        "{trials} trials created at least {fewest} each (fork, exit, wait){deviation}.",
        trials = samples.len(),
        deviation
    );
    let grows_surely = cost.ends().is_some_and(|(low, _)| low > 1.0);
    Some(Conclusion::of(headline, because).effective(grows_surely))
}

/// What a ratio of late to early cost says.
fn growth(cost: Found) -> &'static str {
    let is_apart = cost.differs_from(&Found::exact(1.0, Dimension::Ratio)) == Some(true);
    match cost.ends() {
        Some((low, _)) if low > 1.0 => "gets slower with the number created",
        Some((_, high)) if high < 1.0 && is_apart => "gets quicker with the number created",
        _ => "does not get significantly slower with the number created",
    }
}

/// A statistic of the last third of each trial over that of its first, with the interval over trials.
fn late_over_early(samples: &[&Vec<f64>], of: impl Fn(&[f64]) -> Option<f64>) -> Option<Found> {
    let ratio = |sample: &&Vec<f64>| {
        let third = sample.len() / 3;
        let (early, late) = (of(&sample[..third])?, of(&sample[sample.len() - third..])?);
        (early > 0.0).then(|| vec![late / early])
    };
    let ratios: Vec<Vec<f64>> = samples.iter().filter_map(ratio).collect();
    let estimate = statistics::estimate(&ratios)?;
    Some(Found::measured(estimate.measured(), Dimension::Ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight trials of sixty processes, each slower than the previous one by this growth.
    fn samples(growth: f64) -> Vec<Vec<f64>> {
        let trial = |trial: usize| {
            let noise = |made: usize| ((made * 7 + trial * 3) % 10) as f64;
            (0..60).map(|made| 1000.0 + growth * made as f64 + noise(made)).collect()
        };
        (0..8).map(trial).collect()
    }

    fn ratio(growth: f64) -> Found {
        let samples = samples(growth);
        let lent: Vec<&Vec<f64>> = samples.iter().collect();
        late_over_early(&lent, statistics::median).expect("a ratio")
    }

    #[test]
    fn growth_that_was_put_in_is_found_and_none_is_not() {
        let grown = ratio(10.0);
        assert!(
            (grown.value - 1500.0 / 1100.0).abs() < 0.02 && grown.ends().is_some_and(|(low, _)| low > 1.0),
            "{grown:?}"
        );
        assert!(ratio(0.0).ends().is_some_and(|(low, high)| low <= 1.0 && high >= 1.0), "{:?}", ratio(0.0));
        assert!(growth(ratio(10.0)).starts_with("gets slower"));
        assert!(growth(ratio(0.0)).contains("significantly"));
        assert!(
            growth(ratio(-1.0)).starts_with("gets quicker"),
            "surely cheaper is not merely insignificant"
        );
    }
}
