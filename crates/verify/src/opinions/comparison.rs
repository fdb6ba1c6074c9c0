//! The comparison of a tool's figure with Fathom's.

use super::agreement::Agreement;
use super::reproduced::Reproduced;
use fathom_core::quantity::Unit;
use fathom_core::statistics::{Estimate, Ratio, relative_half_width};
use serde::Serialize;

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

#[cfg(test)]
mod tests {
    use super::super::agreement::compare;
    use super::*;
    use fathom_core::statistics::Interval;

    fn estimate(value: f64, off: f64) -> Estimate {
        let interval = Some(Interval { low: value * (1.0 - off), high: value * (1.0 + off) });
        Estimate { value, interval, level: 0.95, min: None, max: None, trials: 8, observations: 8 }
    }

    #[test]
    fn whole_intervals_agree_or_differ() {
        let judged = |fathom: f64, off: f64| compare(&estimate(fathom, off), &estimate(100.0, 0.001)).1;
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
