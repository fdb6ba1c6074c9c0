//! The comparison of a tool's figure with Fathom's: whether they agree, and what the tool's own statistic makes of Fathom's
//! observations.

use super::opinion::ToolStatistic;
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{self, Estimate, Interval, Measured, Ratio, ratio, relative_half_width};
use fathom_engine::record::Trial;
use fathom_engine::results::{Results, mean_over_time};
use serde::Serialize;

/// The relative distance within which two figures of one operation agree.
pub const NEAR: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// The whole interval of their ratio is within 5 % of one.
    Agree,
    /// The whole interval is outside of that range.
    Differ,
    /// The interval is partly outside of that range.
    Open,
    /// One of the figures is missing.
    Skipped,
}

impl Agreement {
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Agree => "agree",
            Agreement::Differ => "differ",
            Agreement::Open => "open",
            Agreement::Skipped => "skipped",
        }
    }
}

/// The ratio of Fathom's figure to the tool's, and the agreement.
pub(super) fn compare(fathom: Measured, tool: Measured) -> (Option<Ratio>, Agreement) {
    let quotient = ratio(fathom, tool);
    let interval = quotient.and_then(|quotient| quotient.interval);
    let agreement = match interval {
        Some(ends) if 1.0 - NEAR <= ends.low && ends.high <= 1.0 + NEAR => Agreement::Agree,
        Some(ends) if ends.high < 1.0 - NEAR || 1.0 + NEAR < ends.low => Agreement::Differ,
        _ => Agreement::Open,
    };
    (quotient.map(Ratio::from), agreement)
}

/// The figures of both for an operation.
#[derive(Debug, Clone, Serialize)]
pub struct ToolComparison {
    pub operation: &'static str,
    pub tool: &'static str,
    pub command: &'static str,
    pub point: String,
    pub unit: Option<Unit>,
    /// The estimate of the tool's runs.
    #[serde(rename = "theirs")]
    pub tool_estimate: Option<Estimate>,
    #[serde(rename = "ours")]
    pub fathom_estimate: Option<Estimate>,
    /// Fathom's estimate over the tool's.
    pub ratio: Option<Ratio>,
    /// The duration of the tool's runs, and of Fathom's trials, seconds.
    pub took_s: [f64; 2],
    pub agreement: Agreement,
    /// The tool's own statistic from Fathom's observations; absent where there are too few.
    pub reproduced: Option<Reproduced>,
    /// The known reason for a difference, or the reason why a figure is missing.
    pub because: Option<String>,
}

impl ToolComparison {
    /// Half the width of the 95 % interval over the median: the tool's and Fathom's.
    pub fn spreads(&self) -> [Option<f64>; 2] {
        [&self.tool_estimate, &self.fathom_estimate].map(|side| side.as_ref().and_then(relative_half_width))
    }

    /// The tool's relative half-width over Fathom's.
    pub fn spread_ratio(&self) -> Option<f64> {
        let [tool, fathom] = self.spreads();
        tool.zip(fathom).map(|(tool, fathom)| tool / fathom).filter(|ratio| ratio.is_finite())
    }
}

/// What the tool would have reported of Fathom's own observations: of all of them, whatever state the core was in.
#[derive(Debug, Clone, Serialize)]
pub struct Reproduced {
    /// The statistic of the tool, in a word.
    pub statistic: &'static str,
    pub value: f64,
    pub interval: Option<Interval>,
    /// It over the tool's figure.
    pub ratio: Option<Ratio>,
    pub agreement: Agreement,
}

impl Reproduced {
    /// From a point's trials; `counts` of Fathom's operations are one of the tool's.
    pub fn of(
        (statistic, counts): (ToolStatistic, f64),
        unit: Unit,
        trials: &[&Trial],
        results: &Results,
        tool: Option<&Estimate>,
    ) -> Option<Self> {
        let reproduced = match statistic {
            ToolStatistic::Mean => mean_over_time(results.run, unit, trials, results.core_shared.as_ref()),
            ToolStatistic::Median => median(unit, trials, results),
        }?;
        let factor = if unit.kind() == Kind::Rate { 1.0 / counts } else { counts };
        let measured = reproduced.scaled(factor);
        let Measured { value, interval } = measured;
        let (ratio, agreement) =
            tool.map_or((None, Agreement::Skipped), |tool| compare(measured, tool.measured()));
        Some(Reproduced { statistic: statistic.name(), value, interval, ratio, agreement })
    }
}

/// The median of all observations of all trials.
fn median(unit: Unit, trials: &[&Trial], results: &Results) -> Option<Measured> {
    let hz = results.run.header.clock.ticks_per_second;
    let samples = trials.iter().filter_map(|trial| trial.sample());
    let observed: Vec<Vec<f64>> = samples.map(|sample| sample.observations.operation(unit, hz)).collect();
    statistics::estimate(&observed).map(|estimate| estimate.measured())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, off: f64) -> Estimate {
        let interval = Some(Interval { low: value * (1.0 - off), high: value * (1.0 + off) });
        Estimate { value, interval, level: 0.95, min: None, max: None, trials: 8, observations: 8 }
    }

    #[test]
    fn whole_intervals_agree_or_differ() {
        let judged = |fathom: f64, off: f64| {
            compare(estimate(fathom, off).measured(), estimate(100.0, 0.001).measured()).1
        };
        assert_eq!(judged(102.0, 0.01), Agreement::Agree);
        assert_eq!(judged(102.0, 0.05), Agreement::Open);
        assert_eq!(judged(110.0, 0.01), Agreement::Differ);
        assert_eq!(judged(90.0, 0.01), Agreement::Differ);
        assert_eq!(judged(106.0, 0.02), Agreement::Open);
    }

    #[test]
    fn a_spread_is_half_of_the_interval_over_the_median() {
        let comparison = ToolComparison {
            operation: "",
            tool: "",
            command: "",
            point: String::new(),
            unit: None,
            tool_estimate: Some(estimate(100.0, 0.04)),
            fathom_estimate: Some(estimate(50.0, 0.01)),
            ratio: None,
            took_s: [1.0, 1.0],
            agreement: Agreement::Open,
            reproduced: None,
            because: None,
        };
        let [tool, fathom] = comparison.spreads().map(Option::unwrap);
        assert!((tool - 0.04).abs() < 1e-9 && (fathom - 0.01).abs() < 1e-9);
        assert!((comparison.spread_ratio().unwrap() - 4.0).abs() < 1e-9);
    }
}
