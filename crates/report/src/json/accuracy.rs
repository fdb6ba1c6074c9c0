//! The accuracy of the predictions, as JSON.

use fathom_core::experiment::Point;
use fathom_engine::results::{Accuracy, CLOSE, FAIR, Share, Tally};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct AccuracyReport<'run> {
    close_factor: f64,
    fair_factor: f64,
    chapters: Vec<TallyReport<'run>>,
    experiments: Vec<TallyReport<'run>>,
    independent: Option<TallyReport<'run>>,
    dependent: Option<TallyReport<'run>>,
    total: Option<TallyReport<'run>>,
}

#[derive(Serialize)]
struct TallyReport<'run> {
    name: &'run str,
    judged: usize,
    unpredicted: usize,
    close: ShareReport,
    fair: ShareReport,
    median_factor: f64,
    worst: WorstReport<'run>,
}

#[derive(Serialize)]
struct ShareReport {
    points: usize,
    share: f64,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct WorstReport<'run> {
    experiment: &'run str,
    parameters: &'run Point,
    factor: f64,
}

pub(super) fn accuracy(found: &Accuracy) -> AccuracyReport<'_> {
    AccuracyReport {
        close_factor: CLOSE,
        fair_factor: FAIR,
        chapters: found.chapters.iter().map(tally).collect(),
        experiments: found.experiments.iter().map(tally).collect(),
        independent: found.independent.as_ref().map(tally),
        dependent: found.dependent.as_ref().map(tally),
        total: found.total.as_ref().map(tally),
    }
}

fn tally(found: &Tally) -> TallyReport<'_> {
    let worst = &found.worst;
    TallyReport {
        name: &found.name,
        judged: found.judged,
        unpredicted: found.unpredicted,
        close: share(&found.close),
        fair: share(&found.fair),
        median_factor: found.median_factor,
        worst: WorstReport { experiment: &worst.experiment, parameters: &worst.point, factor: worst.factor },
    }
}

fn share(found: &Share) -> ShareReport {
    let (low, high) = found.interval.map(|interval| (interval.low, interval.high)).unzip();
    ShareReport { points: found.points, share: found.share, low, high }
}
