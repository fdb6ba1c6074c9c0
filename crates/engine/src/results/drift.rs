//! Whether values changed while the run went on: the earlier trials of each point beside its later ones.

use super::PointResult;
use crate::record::Run;
use fathom_core::experiment::Point;
use fathom_core::sorting;
use fathom_core::statistics::{chance_of_at_least, median, quantile, rank_sum};
use std::collections::BTreeMap;

/// The fewest trials of a point that are compared: of four and four the ranks can differ at a level of 5 %.
pub const FEWEST: usize = 8;

/// The level at which the halves of one point differ.
const LEVEL: f64 = 0.05;

/// The chance up to which an experiment has more such points than chance explains: there are some forty experiments.
const NOT_BY_CHANCE: f64 = 0.001;

/// How many points changed while the run went on.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Points with [`FEWEST`] trials or more.
    pub points: usize,
    /// Those whose earlier and later halves differ.
    pub changed: usize,
    /// How many of them would be said to differ if nothing changed.
    pub by_chance: f64,
    /// The experiments of which more points changed than chance explains, those with the greatest share first.
    pub experiments: Vec<ExperimentDrift>,
}

/// The same of one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentDrift {
    /// Its name.
    pub experiment: String,
    /// Its points with enough trials.
    pub points: usize,
    /// Those whose halves differ.
    pub changed: usize,
    /// The one that changed the most.
    pub most: Point,
    /// How many times its earlier value the later one is.
    pub factor: f64,
}

/// The halves of one point's trials.
struct Halves<'run> {
    of: &'run PointResult,
    differ: bool,
    by_chance: f64,
    factor: f64,
}

impl Drift {
    /// Of these points; `None` if none has enough trials.
    pub fn of<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> Option<Self> {
        let halves: Vec<Halves> = points.into_iter().filter_map(Halves::of).collect();
        let mut experiments = BTreeMap::<&str, Vec<&Halves>>::new();
        for one in &halves {
            experiments.entry(&one.of.experiment).or_default().push(one);
        }
        let mut experiments: Vec<ExperimentDrift> =
            experiments.into_values().filter_map(|of| ExperimentDrift::of(&of)).collect();
        let share = |one: &ExperimentDrift| one.changed as f64 / one.points as f64;
        sorting::by_number(&mut experiments, |one| -share(one));
        (!halves.is_empty()).then(|| Drift {
            points: halves.len(),
            changed: halves.iter().filter(|one| one.differ).count(),
            by_chance: halves.iter().map(|one| one.by_chance).sum(),
            experiments,
        })
    }
}

impl ExperimentDrift {
    fn of(halves: &[&Halves]) -> Option<Self> {
        let changed: Vec<&&Halves> = halves.iter().filter(|one| one.differ).collect();
        let by_chance = halves.iter().map(|one| one.by_chance).sum::<f64>() / halves.len() as f64;
        (chance_of_at_least(changed.len(), halves.len(), by_chance) < NOT_BY_CHANCE).then_some(())?;
        let distance = |one: &Halves| one.factor.ln().abs();
        let most = changed.iter().max_by(|one, other| distance(one).total_cmp(&distance(other)))?;
        Some(ExperimentDrift {
            experiment: most.of.experiment.clone(),
            points: halves.len(),
            changed: changed.len(),
            most: most.of.point.clone(),
            factor: most.factor,
        })
    }
}

impl<'run> Halves<'run> {
    /// `None` with too few trials, or with a middle that is not above zero.
    fn of(point: &'run PointResult) -> Option<Self> {
        point.estimate()?;
        let trials: Vec<f64> = point.by_round.iter().map(|(_, value)| *value).collect();
        (trials.len() >= FEWEST).then_some(())?;
        let half = trials.len() / 2;
        let (earlier, later) = (&trials[..half], &trials[trials.len() - half..]);
        let test = rank_sum(earlier, later, LEVEL)?;
        let (before, after) = (median(earlier)?, median(later)?);
        (before > 0.0 && after > 0.0).then(|| Halves {
            of: point,
            differ: test.differs,
            by_chance: test.by_chance,
            factor: after / before,
        })
    }
}

/// How far apart the trials of a point lie that follow its first one, as shares of the run, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialSpans {
    /// In the median over the points.
    pub median: f64,
    /// Of the tenth of the points whose trials lie the nearest to each other at most so much.
    pub tenth: f64,
}

impl TrialSpans {
    /// Of the points with three trials or more; `None` of a run that has not ended, that was resumed, or that has none.
    pub fn of(run: &Run) -> Option<Self> {
        let took_s = run.closing.as_ref().filter(|_| run.resumed.is_empty())?.took_s;
        let mut moments = BTreeMap::<(&str, &Point), Vec<f64>>::new();
        for trial in run.trials.iter().filter(|trial| trial.observed()) {
            moments.entry((&trial.experiment, &trial.point)).or_default().push(trial.began_s);
        }
        let later = |began: &Vec<f64>| Some((began.last()? - began.get(1)?) / took_s);
        let mut spans: Vec<f64> =
            moments.values().filter(|began| began.len() > 2).filter_map(later).collect();
        sorting::numbers(&mut spans);
        Some(TrialSpans { median: quantile(&spans, 0.5)?, tenth: quantile(&spans, 0.1)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted;
    use fathom_core::statistics::Estimate;

    fn point(trials: impl IntoIterator<Item = f64>) -> PointResult {
        let estimate = Estimate {
            value: 100.0,
            interval: None,
            level: 0.95,
            min: None,
            max: None,
            trials: 8,
            observations: 8,
        };
        let mut point = planted::result("memory/tlb_reach", estimate, None);
        point.by_round =
            trials.into_iter().enumerate().map(|(round, value)| (round as u32 + 1, value)).collect();
        point
    }

    /// Trials in an order that has nothing to do with time.
    fn calm() -> PointResult {
        point([4.0, 7.0, 1.0, 6.0, 3.0, 8.0, 2.0, 5.0].map(|value| 100.0 + value))
    }

    #[test]
    fn what_became_slower_is_named_and_calm_points_are_not() {
        let slower = || point((0..8).map(|trial| if trial < 4 { 100.0 } else { 130.0 } + f64::from(trial)));
        let points: Vec<PointResult> = (0..14).map(|_| calm()).chain((0..6).map(|_| slower())).collect();
        let drift = Drift::of(&points).expect("points");
        assert_eq!((drift.points, drift.changed), (20, 6));
        assert!((drift.by_chance - 20.0 * 2.0 / 70.0).abs() < 1e-9, "{}", drift.by_chance);
        let [named] = &drift.experiments[..] else { panic!("{drift:?}") };
        assert!(
            (named.points, named.changed) == (20, 6) && (1.25..1.35).contains(&named.factor),
            "{named:?}"
        );
    }

    #[test]
    fn one_point_of_many_may_differ_by_chance_and_few_trials_say_nothing() {
        let slower = point((0..8).map(|trial| 100.0 + f64::from(trial)));
        let points: Vec<PointResult> = (0..20).map(|_| calm()).chain([slower]).collect();
        let drift = Drift::of(&points).expect("points");
        assert!(drift.changed == 1 && drift.experiments.is_empty(), "{drift:?}");
        assert_eq!(Drift::of(&[point((0..7).map(f64::from))]), None);
    }
}
