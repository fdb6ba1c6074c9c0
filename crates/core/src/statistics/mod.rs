//! Numbers in, numbers out; the same numbers give the same result, bit for bit.
//!
//! This module knows no file, no clock and no report, and uses no random numbers. Three words are used throughout:
//!
//! - an **observation** is one timed batch, a plain `f64` in whatever unit the caller measures in;
//! - a **sample** is the set of observations of one trial, that is of one fresh process;
//! - an **estimate** is a value with an interval taken over trials.
//!
//! Nothing here removes an observation. An input with an observation that is not finite is refused (`None`) rather than repaired:
//! such a number was never measured, and the caller must decide what to do about it.

mod alone_means;
mod change_points;
mod contrast;
mod covariate;
mod cut;
mod dip;
mod distribution;
mod estimate;
mod false_discovery;
mod levels;
mod line;
mod line_over_rounds;
mod measured;
mod mean;
mod mode_list;
mod modes;
mod order;
mod outlier;
mod over_trials;
mod plateau;
mod plateaus;
mod pool;
mod precision;
mod proportion;
mod quantile;
mod rank_sum;
mod rounded;
mod segments;
mod sequential;
mod signed_rank;
mod steady;
mod stretch;
mod two_groups;

pub use alone_means::AloneMeans;
pub use change_points::{change_points, errors_of_a_series};
pub use contrast::{Contrast, LogLevel};
pub use covariate::CovariateFit;
pub use distribution::middle_half_of_student;
pub use estimate::{Estimate, MINIMUM_TRIALS, difference, estimate, estimate_in_proportion};
pub use false_discovery::discoveries;
pub use levels::{LevelHistogram, Levels, Occupancy, levels};
pub use line::{Line, RobustLine, fit_line, residuals, theil_sen};
pub use line_over_rounds::line_over_rounds;
pub use mean::{Mean, Summary, TRIMMED, mean, summary};
pub use measured::{Interval, Measured, Ratio, are_telling, ratio};
pub use mode_list::{ModeList, are_of_one_level};
pub use modes::{Mode, modes, modes_by_ratio};
pub use outlier::{Outliers, Spread, normal_deviation, outliers, spread};
pub use plateau::{Crossing, CurvePoint, OF_LEVEL, Plateau};
pub use plateaus::plateaus;
pub use precision::{further_trials, relative_half_width, relative_reach};
pub use proportion::share_interval;
pub use quantile::{
    SortedSample, median, midmean, minimum_sample, quantile, quantile_interval, supported_percentiles,
};
pub use rank_sum::{RankSum, chance_of_at_least, rank_sum};
pub use rounded::{FARTHEST_FROM_ITS_TIMES, between_steps};
pub use segments::{Segments, SegmentsOverRounds, segments_over_rounds, two_segments};
pub use sequential::{
    SequentialEstimate, SideErrors, SideOfMean, fewest_to_show, sequential_mean, sequential_quantile,
    side_of_mean,
};
pub use steady::{settled_from, steady_from};
pub use stretch::stretch_between;
pub use two_groups::two_groups;
