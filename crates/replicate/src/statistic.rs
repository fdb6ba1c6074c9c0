//! The statistics by which the reports made one figure from their trials. These are theirs, not Fathom's: means that an outlier
//! moves, minima and maxima of many trials, lines through two chosen points.

use super::{Series, Trials};
use fathom_core::statistics;
use serde::Deserialize;

/// How one figure is computed from a method's series.
#[derive(Debug, Clone, Copy)]
pub struct Statistic {
    /// The variant of the series; empty for a method that has only one.
    pub variant: &'static str,
    pub fit: Fit,
}

/// A computation on the trials of one variant.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The mean over trials, with the deviation that the report printed.
    Mean(Deviation),
    Minimum,
    Maximum,
    Median,
    /// The mean of the trials at one setting of a sweep.
    MeanAt(f64),
    /// The mean of some of the trials, from the first to the last, numbered from 1.
    MeanOf {
        first: usize,
        last: usize,
    },
    /// The mean without the one trial that lies farthest from the others, which the report left out by hand.
    MeanButFarthest,
    /// The mean of the means at the settings from one to another.
    MeanOver {
        from: f64,
        to: f64,
    },
    /// The mean at the setting whose trials deviate least: of several repetitions the report chose the calmest.
    MeanOfCalmest,
    /// The slope of a least-squares line through the means, per unit of the setting, from one setting to another.
    Slope {
        from: f64,
        to: f64,
    },
    /// The slope of a line through the least and the greatest of the means, from one setting to another.
    SlopeThroughExtremes {
        from: f64,
        to: f64,
    },
    /// The first setting whose mean differs from the last one's by less than this factor: where a curve has settled, which the
    /// report found by eye.
    WhereSettled(f64),
    /// The last setting before the mean grows by this factor and stays there: where a curve jumps, which the report found by eye.
    BeforeJump(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deviation {
    /// Divided by one less than the number of trials.
    Sample,
    /// Divided by the number of trials.
    Population,
    None,
}

/// A figure made by a report's statistic.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplicatedFigure {
    /// The figure, in the row's unit.
    pub value: f64,
    /// The deviation of the trials, by the report's formula.
    pub deviation: Option<f64>,
    pub trials: usize,
    /// A 95 % interval of the figure over its trials by Student's t, if it is a mean of at least two. The reports gave none.
    pub interval: Option<(f64, f64)>,
}

impl Statistic {
    /// Its name in a table: "mean of the trials".
    pub fn name(self) -> String {
        match self.fit {
            Fit::Mean(_) | Fit::MeanAt(_) => "mean of the trials".to_owned(),
            Fit::MeanOf { first, last } => format!("mean of trials {first} to {last}"),
            Fit::MeanButFarthest => "mean without the trial farthest from the others".to_owned(),
            Fit::MeanOver { .. } => "mean of the means over the sweep".to_owned(),
            Fit::MeanOfCalmest => "mean of the repetition with the smallest deviation".to_owned(),
            Fit::Minimum => "minimum of the trials".to_owned(),
            Fit::Maximum => "maximum of the trials".to_owned(),
            Fit::Median => "median of the trials".to_owned(),
            Fit::Slope { .. } => "slope of a least-squares line".to_owned(),
            Fit::SlopeThroughExtremes { .. } => {
                "slope of a line through the smallest and the greatest mean".to_owned()
            }
            Fit::WhereSettled(_) => "first size at which the time has settled".to_owned(),
            Fit::BeforeJump(factor) => format!("last size before the time grows by a factor of {factor}"),
        }
    }

    /// The figure; `None` where the series lacks the trials that it needs.
    pub fn summary(self, series: &Series) -> Option<ReplicatedFigure> {
        let mine: Vec<&Trials> = series.variant(self.variant).collect();
        let all: Vec<f64> = mine.iter().flat_map(|trials| trials.values.iter().copied()).collect();
        let chosen = |value: Option<f64>| {
            value.map(|value| ReplicatedFigure { value, deviation: None, trials: all.len(), interval: None })
        };
        match self.fit {
            Fit::Mean(deviation) => mean(&all, deviation),
            Fit::MeanAt(at) => {
                mean(&mine.iter().find(|trials| same(trials.at, at))?.values, Deviation::Sample)
            }
            Fit::MeanOf { first, last } => {
                mean(all.get(first.checked_sub(1)?..last.min(all.len()))?, Deviation::Sample)
            }
            Fit::MeanButFarthest => mean(&but_farthest(&all), Deviation::Sample),
            Fit::MeanOver { from, to } => {
                let means: Vec<f64> = means(&mine, from, to).into_iter().map(|(_, mean)| mean).collect();
                mean(&means, Deviation::Sample)
            }
            Fit::MeanOfCalmest => mean(&calmest(&mine)?.values, Deviation::Sample),
            Fit::Minimum => chosen(all.iter().copied().reduce(f64::min)),
            Fit::Maximum => chosen(all.iter().copied().reduce(f64::max)),
            Fit::Median => chosen(statistics::median(&all)),
            Fit::Slope { from, to } => chosen(slope(&means(&mine, from, to))),
            Fit::SlopeThroughExtremes { from, to } => chosen(through_extremes(&means(&mine, from, to))),
            Fit::WhereSettled(factor) => chosen(where_settled(&means(&mine, f64::MIN, f64::MAX), factor)),
            Fit::BeforeJump(factor) => chosen(before_jump(&means(&mine, f64::MIN, f64::MAX), factor)),
        }
    }
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}

/// The mean, with the deviation by the report's formula.
fn mean(values: &[f64], deviation: Deviation) -> Option<ReplicatedFigure> {
    let mean = statistics::mean(values)?;
    let count = values.len() as f64;
    let printed = match deviation {
        Deviation::Sample => mean.deviation,
        Deviation::Population => mean.deviation.map(|sample| sample * ((count - 1.0) / count).sqrt()),
        Deviation::None => None,
    };
    let interval = mean.interval.map(|interval| (interval.low, interval.high));
    Some(ReplicatedFigure { value: mean.value, deviation: printed, trials: values.len(), interval })
}

fn means(mine: &[&Trials], from: f64, to: f64) -> Vec<(f64, f64)> {
    let within = mine.iter().filter(|trials| trials.at >= from && trials.at <= to);
    within.filter_map(|trials| Some((trials.at, statistics::mean(&trials.values)?.value))).collect()
}

/// All trials except the one that is left out.
fn but_farthest(values: &[f64]) -> Vec<f64> {
    let left_out = farthest(values);
    let others = values.iter().enumerate().filter(|(index, _)| *index != left_out);
    others.map(|(_, value)| *value).collect()
}

/// The index of the trial that is farthest from the mean of the others.
pub fn farthest(values: &[f64]) -> usize {
    let sum: f64 = values.iter().sum();
    let others = |value: f64| (sum - value) / (values.len() as f64 - 1.0);
    let distance = |index: &usize| (values[*index] - others(values[*index])).abs();
    (0..values.len()).max_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap_or(0)
}

/// The setting with the smallest deviation; a single trial has none.
fn calmest<'a>(mine: &[&'a Trials]) -> Option<&'a Trials> {
    let deviation = |trials: &Trials| statistics::mean(&trials.values)?.deviation;
    let known = mine.iter().filter_map(|trials| Some((*trials, deviation(trials)?)));
    known.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(trials, _)| trials)
}

fn slope(points: &[(f64, f64)]) -> Option<f64> {
    statistics::fit_line(points).map(|line| line.slope)
}

fn through_extremes(points: &[(f64, f64)]) -> Option<f64> {
    let least = points.iter().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let greatest = points.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (least.0 < greatest.0 || greatest.0 < least.0).then(|| (greatest.1 - least.1) / (greatest.0 - least.0))
}

/// A single disturbed setting is not a jump of the curve, because the settings after it are as before.
fn before_jump(points: &[(f64, f64)], factor: f64) -> Option<f64> {
    let jumps = |index: &usize| points[*index..].iter().all(|(_, mean)| *mean > factor * points[index - 1].1);
    (1..points.len()).find(jumps).map(|index| points[index - 1].0)
}

fn where_settled(points: &[(f64, f64)], factor: f64) -> Option<f64> {
    let rest = points.last()?.1;
    points.iter().find(|(_, mean)| (rest / factor..=rest * factor).contains(mean)).map(|(at, _)| *at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(fit: Fit, series: &Series) -> Option<ReplicatedFigure> {
        Statistic { variant: "", fit }.summary(series)
    }

    fn value(fit: Fit, series: &Series) -> Option<f64> {
        figure(fit, series).map(|figure| figure.value)
    }

    fn along(points: &[(f64, f64)]) -> Series {
        points.iter().fold(Series::default(), |series, (at, value)| series.and("", *at, vec![*value]))
    }

    #[test]
    fn deviations_are_what_they_are_called() {
        let series = Series::of(vec![1.0, 3.0]);
        let of = |deviation| figure(Fit::Mean(deviation), &series).unwrap();
        assert!((of(Deviation::Population).deviation.unwrap() - 1.0).abs() < 1e-12);
        assert!((of(Deviation::Sample).deviation.unwrap() - 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(of(Deviation::None).deviation, None);
        assert!(of(Deviation::None).interval.is_some());
    }

    #[test]
    fn trials_are_left_out_as_the_reports_left_them_out() {
        let value = |fit, values: &[f64]| value(fit, &Series::of(values.to_vec()));
        assert_eq!(value(Fit::MeanOf { first: 2, last: 3 }, &[9.0, 1.0, 3.0, 8.0]), Some(2.0));
        assert_eq!(value(Fit::MeanOf { first: 5, last: 10 }, &[1.0]), None);
        // Report 003's creation of threads: its ninth run was dropped, and this is the mean that it prints.
        let threads =
            [55235.1, 54100.3, 54276.0, 52773.3, 52967.2, 54189.3, 58955.4, 53524.3, 540_676.0, 54703.8];
        let mean = value(Fit::MeanButFarthest, &threads).unwrap();
        assert!((mean - 54_524.97).abs() < 0.01, "{mean}");
    }

    #[test]
    fn means_are_taken_over_a_part_of_a_sweep_and_of_the_calmest_repetition() {
        let series = along(&[(1.0, 100.0), (2.0, 2.0), (4.0, 6.0), (8.0, 50.0)]);
        let over = value(Fit::MeanOver { from: 2.0, to: 4.0 }, &series).unwrap();
        assert!((over - 4.0).abs() < 1e-12);
        let repeated = Series::default().and("", 1.0, vec![1.0, 9.0]).and("", 2.0, vec![6.0, 8.0]);
        let calmest = value(Fit::MeanOfCalmest, &repeated.and("", 3.0, vec![2.0])).unwrap();
        assert!((calmest - 7.0).abs() < 1e-12);
    }

    #[test]
    fn a_line_through_two_points_is_not_a_fit() {
        let series = along(&[(1.0, 10.0), (2.0, 20.0), (3.0, 70.0), (4.0, 50.0)]);
        let slope = |fit| value(fit, &series).unwrap();
        assert!((slope(Fit::Slope { from: 1.0, to: 4.0 }) - 17.0).abs() < 1e-9);
        assert!((slope(Fit::SlopeThroughExtremes { from: 1.0, to: 4.0 }) - 30.0).abs() < 1e-9);
        assert!((slope(Fit::Slope { from: 1.0, to: 2.0 }) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_curve_has_settled_where_it_is_like_its_end() {
        // Report 003's finer sizes, MB, with the time of a byte: it read 4 GB off them.
        let rates = [0.813_587, 0.517_686, 0.358_726, 0.366_098, 0.357_054, 0.356_015, 0.352_255];
        let sizes = [3072.0, 3570.0, 4070.0, 4570.0, 5070.0, 5570.0, 6070.0];
        let points: Vec<(f64, f64)> = sizes.into_iter().zip(rates.map(|rate| 1.0 / rate)).collect();
        assert_eq!(value(Fit::WhereSettled(1.1), &along(&points)), Some(4070.0));
    }

    #[test]
    fn a_jump_is_found_where_it_is_and_only_there() {
        let series = along(&[(1.0, 10.0), (2.0, 11.0), (3.0, 30.0), (4.0, 31.0)]);
        assert_eq!(value(Fit::BeforeJump(2.0), &series), Some(2.0));
        assert_eq!(value(Fit::BeforeJump(5.0), &series), None);
        let disturbed = along(&[(1.0, 10.0), (2.0, 90.0), (3.0, 11.0), (4.0, 30.0), (5.0, 31.0)]);
        assert_eq!(value(Fit::BeforeJump(2.0), &disturbed), Some(3.0), "a disturbed setting is no jump");
    }
}
