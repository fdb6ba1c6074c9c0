//! What the core did at one point.

use super::core_state::{CoreState, shared_share};
use super::headline;
use super::visits::Visits;
use crate::quantity::Unit;
use crate::record::Run;
use crate::sampling::Sample;
use crate::statistics::{self, Estimate, Levels, Occupancy};

/// What the core did at one point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointCore {
    /// Which observations the point's estimate is of.
    pub state: CoreState,
    /// The share of the time observed in which the core was shared, mean over trials; `None` where nothing was clear.
    pub shared_share: Option<f64>,
    /// The same estimate of what was observed while the core was shared, of short work; `None` where that was too little.
    pub shared: Option<Estimate>,
    /// Observations of all trials made with the core alone, shared, and neither for certain.
    pub observations: [usize; 3],
}

impl PointCore {
    /// Of the trials of a point; `None` where nothing is known of the core.
    pub fn of(run: &Run, unit: Unit, visits: &Visits, samples: &[&Sample], levels: &Levels) -> Option<Self> {
        let state = visits.state?;
        let shared = (state != CoreState::AtEnds).then(|| visits.shared()).filter(|found| !found.is_empty());
        let shares: Vec<f64> = samples.iter().filter_map(|sample| shared_share(sample, levels)).collect();
        Some(PointCore {
            state,
            shared_share: statistics::mean(&shares).map(|mean| mean.value),
            shared: shared.and_then(|found| headline::estimate(run, unit, samples, &found)).map(|(of, _)| of),
            observations: [Occupancy::Alone, Occupancy::Shared, Occupancy::Unclear]
                .map(|state| visits.count(state)),
        })
    }
}
