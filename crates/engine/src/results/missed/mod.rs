//! The reasons why predictions missed: what is known about results further than a factor of two from their prediction.
//!
//! A cause is stated only if this run measured its mechanism and its size accounts for the miss:
//!
//! - The prediction, with that measurement in it, agrees with the result: their intervals overlap, and the one holds the other's value.
//! - The measurement changes the prediction significantly: without that, it explains nothing.
//! - It does not take longer by itself than the whole of which it is a part.
//! - All this is true at each level at which it was measured, where there were several: their median is of none.
//!
//! How far the measurement is from the value that the prediction used excludes nothing: a published figure may be of a machine on
//! which the mechanism costs a tenth, as an exit to a hypervisor that is a guest itself.
//!
//! The first candidate of which all this is true is the cause, and the only one. Without one it may be the distance of the two CPUs, if the
//! value at another of them is near its prediction, or the miss may lie in one assumed term, which
//! what was measured bounds, or the experiment knows what makes such results exceed their predictions, which is then called probable.
//! Otherwise it is not explained, and the candidates are listed with the measurement that excludes each.
//! Whether something that the run cannot separate took part (mitigations, a paravirtual hypervisor) is said as such.

mod candidate;
mod excluded;
mod foreign_terms;
mod level_end;
mod measured_terms;
mod miss;
mod nearer_cpus;
mod other_distance;
mod overstated;
#[cfg(test)]
mod parts_of_misses;
mod seldom_distance;
mod sentences;
mod set_loads;
#[cfg(test)]
mod tests;

use super::by_end::WholeRun;
use super::placements::is_of_several_placements;
use super::{Explanation, PointResult};
use candidate::MissCandidate;
use fathom_core::experiment::{Excess, Finding, Found, Known, Levels, Point};
use miss::Missed;
use other_distance::DistanceHit;
use overstated::Overstated;

/// The findings about all misses of a run.
pub struct Misses {
    /// How many there are, and the causes of several, each with the predictions that it explains.
    pub overall: Vec<Finding>,
    /// The findings about the other misses, by experiment.
    pub others: Vec<(String, Vec<Finding>)>,
}

/// A miss with all that is known about its reason.
struct Judged<'run> {
    missed: Missed<'run>,
    explanation: Explanation,
    /// The cause, if there is one.
    cause: Option<MissCandidate>,
    /// The candidates that account for nothing.
    rejected: Vec<MissCandidate>,
    /// The value at another distance of the CPUs that is near its prediction, if the miss has no cause.
    elsewhere: Option<DistanceHit>,
    /// The assumed term in which the miss lies, if it has neither.
    overstated: Option<Overstated>,
    /// What the experiment knows to exceed its prediction, if it has none of these.
    excess: Option<Excess>,
}

impl<'run> Judged<'run> {
    /// A miss for which no candidate is judged.
    fn without_candidates(missed: Missed<'run>, explanation: Explanation) -> Self {
        Judged {
            missed,
            explanation,
            cause: None,
            rejected: vec![],
            elsewhere: None,
            overstated: None,
            excess: None,
        }
    }
}

/// The figures of the finished run: those supported by their evidence, and all.
#[derive(Clone, Copy)]
pub struct Figures<'run> {
    /// The figures on which conclusions may rest.
    pub supported: &'run Known<'run>,
    /// All figures, as predictions use them.
    pub whole: &'run WholeRun<'run>,
    /// The values with the core shared, by experiment and point.
    pub shared: &'run [(String, Point, Found)],
    /// The levels of memory that the results show, by experiment.
    pub levels: &'run [(String, Levels)],
    /// What a line takes between the two CPUs where they are probably two threads of one core, nanoseconds.
    pub one_core_ns: &'run [f64],
}

/// Judges every miss: marks the points, and returns the findings, by experiment in the order of `names`.
pub fn explain(names: &[&str], points: &mut [PointResult], figures: Figures) -> Misses {
    let is_ambiguous = |experiment: &str, point: &Point| is_of_several_placements(points, experiment, point);
    let reason = |point| {
        let judged = judge(Missed::of(point)?, figures);
        let mut because = sentences::because(&judged, figures);
        let mut part = sentences::explained_part(&judged);
        because.place(is_ambiguous);
        if let Some(part) = &mut part {
            part.place(is_ambiguous);
        }
        Some((judged.explanation, because, part))
    };
    let reasons: Vec<_> = points.iter().map(reason).collect();
    for (point, reason) in points.iter_mut().zip(reasons) {
        let Some((explanation, because, part)) = reason else {
            (point.explanation, point.because, point.explained_part) = (None, None, None);
            continue;
        };
        (point.explanation, point.because) = (Some(explanation), Some(because));
        point.explained_part = part;
    }
    let judged: Vec<Judged> =
        points.iter().filter_map(Missed::of).map(|missed| judge(missed, figures)).collect();
    let (shared, rest) = sentences::shared_causes(&judged);
    let others = names.iter().map(|name| {
        let mine: Vec<&Judged> = rest.iter().copied().filter(|miss| miss.missed.place().0 == *name).collect();
        ((*name).to_owned(), sentences::findings(&mine, figures))
    });
    let mut others: Vec<(String, Vec<Finding>)> = others.collect();
    let mut overall: Vec<Finding> = sentences::count(&judged).into_iter().chain(shared).collect();
    for finding in overall.iter_mut().chain(others.iter_mut().flat_map(|(_, findings)| findings)) {
        finding.statement.place(|experiment, point| is_of_several_placements(points, experiment, point));
    }
    Misses { overall, others }
}

fn judge<'run>(missed: Missed<'run>, figures: Figures) -> Judged<'run> {
    if missed.result.evidence.fails() {
        return Judged::without_candidates(missed, Explanation::InDoubt);
    }
    if !missed.is_certain() || missed.alone_near(&figures.whole.own).is_some() {
        return Judged::without_candidates(missed, Explanation::NotCertain);
    }
    // What takes longer by itself than the whole was measured with more around it: as a part of this it is neither cause nor near it.
    let mut rejected = candidate::all(&missed, figures);
    let is_too_long = |one: &MissCandidate| one.is_at_each_level(|one| one.exceeds(&missed));
    rejected.retain(|candidate| candidate.is_of_input() || !is_too_long(candidate));
    let is_cause = |one: &MissCandidate| one.is_at_each_level(|one| one.accounts_for(&missed));
    let cause = rejected.iter().position(is_cause);
    let cause = cause.map(|place| rejected.remove(place));
    let takes_part = |one: &MissCandidate| one.is_at_each_level(|one| one.takes_part_as_input(&missed));
    let is_part = rejected.iter().any(takes_part);
    if cause.is_none() && !is_part && missed.is_near_by_end(figures.whole) {
        return Judged::without_candidates(missed, Explanation::NotCertain);
    }
    // Of a term that the same experiment measures it would be untrue that this run does not measure it.
    let lands = |one: &MissCandidate| one.at_each_level().iter().any(|one| one.lands_on(&missed));
    let is_again = rejected.iter().any(|candidate| candidate.is_again && lands(candidate));
    let elsewhere = DistanceHit::of(&missed).filter(|_| cause.is_none());
    let is_open = cause.is_none() && elsewhere.is_none();
    let overstated = overstated::of(&missed, figures).filter(|_| is_open && !is_again);
    let is_open = is_open && overstated.is_none();
    let excess = || missed.exceeded_for(figures).or_else(|| seldom_distance::nearness(&missed, figures));
    let excess = is_open.then(excess).flatten();
    let explanation = match (&cause, &overstated, &excess) {
        (Some(cause), ..) if cause.is_of_own_curve() => {
            Explanation::OwnCurve { end: cause.mechanism.clone() }
        }
        (Some(cause), ..) => {
            Explanation::Cause { mechanism: cause.mechanism.clone(), changes: cause.changes }
        }
        _ if elsewhere.is_some() => Explanation::Distance,
        (None, Some(term), _) => Explanation::Overstated { term: term.name.clone() },
        (None, None, Some(excess)) if excess.is_of_own_curve => {
            Explanation::OwnCurve { end: excess.cause.clone() }
        }
        (None, None, Some(excess)) => Explanation::Probable { cause: excess.cause.clone() },
        (None, None, None) if missed.is_in_range() => Explanation::InRange,
        (None, None, None) => Explanation::NotExplained,
    };
    Judged { missed, explanation, cause, rejected, elsewhere, overstated, excess }
}
