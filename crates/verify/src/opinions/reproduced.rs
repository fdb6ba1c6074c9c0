//! A tool's own statistic, computed from Fathom's observations: of all of them, whatever state the core was in.

use super::agreement::{Agreement, judged};
use super::opinion::ToolStatistic;
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{self, Estimate, Interval, Measured, Ratio};
use fathom_engine::record::Trial;
use fathom_engine::results::{Results, mean_over_time};
use serde::Serialize;

/// What the tool would have reported of Fathom's own observations.
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
            tool.map_or((None, Agreement::Skipped), |tool| judged(measured, tool.measured()));
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
