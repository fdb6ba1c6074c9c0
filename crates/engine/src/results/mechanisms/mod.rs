//! Mechanisms: rules that combine figures of several experiments into a cause. A rule is a pure function of the run's
//! results; it has a file of its own with its condition and its test on planted figures.

mod adjacent_line;
mod arguments;
mod cache_edge;
mod cache_stream;
mod common_limit;
pub(super) mod device_limit;
mod fault_around;
mod flat_load;
mod guest_exit;
mod idle_causes;
mod idle_time;
mod influence;
mod kernel_entry;
mod lines_in_flight;
pub(super) mod path_of_misses;
mod process;
mod processes_made;
mod read_ahead;
pub(super) mod read_around;
mod remote_order;
mod shared_cache;
mod shared_path;
mod stream_ramp;
mod two_read_times;
mod wake_up;
mod write_allocate;

pub(super) use influence::mark as mark_influences;

use crate::results::PointResult;
use fathom_core::experiment::{Known, Selector, Statement};
use std::collections::BTreeSet;

/// The input of a rule: points whose evidence holds.
struct Premises<'run> {
    known: &'run Known<'run>,
    points: &'run [PointResult],
}

impl<'run> Premises<'run> {
    /// The results of the run but the doubtful ones, for their observations.
    fn results(&self) -> impl Iterator<Item = &'run PointResult> + use<'run> {
        self.points.iter().filter(|point| !point.is_doubtful())
    }
}

/// The conclusion of a rule.
struct Conclusion {
    headline: Statement,
    because: Statement,
    kind: MechanismKind,
}

impl Conclusion {
    /// The conclusion that there is an effect.
    fn of(headline: Statement, because: Statement) -> Self {
        Conclusion { headline, because, kind: MechanismKind::Effect }
    }

    /// The same with whether the effect was seen.
    fn effective(self, is_seen: bool) -> Self {
        let kind = if is_seen { MechanismKind::Effect } else { MechanismKind::NoEffect };
        Conclusion { kind, ..self }
    }
}

/// What a rule says of the figures that it combines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MechanismKind {
    /// Something changes figures, and may be the cause of others.
    Effect,
    /// What was looked for changes nothing that shows.
    NoEffect,
    /// Figures change, and why was not measured.
    Uncaused,
    /// The figures follow from each other by a definition, which is no cause.
    Identity,
}

/// A rule: it concludes nothing if its condition does not hold or a figure that it needs is missing.
struct Rule {
    name: &'static str,
    condition: &'static str,
    judge: fn(&Premises) -> Option<Conclusion>,
    /// The points whose figures it uses.
    points: &'static [Selector],
}

impl Rule {
    /// Whether the run has figures for it of more than one experiment.
    fn joins_several(&self, known: &Known) -> bool {
        let used = self.points.iter().filter(|points| !points.all(known).is_empty());
        used.map(|points| points.experiment).collect::<BTreeSet<&str>>().len() > 1
    }
}

/// In the order of the report: the most far-reaching first.
const RULES: &[Rule] = &[
    wake_up::RULE,
    idle_time::RULE,
    guest_exit::RULE,
    shared_path::RULE,
    kernel_entry::RULE,
    common_limit::RULE,
    lines_in_flight::RULE,
    shared_cache::RULE,
    adjacent_line::RULE,
    flat_load::RULE,
    device_limit::RULE,
    two_read_times::RULE,
    process::RULE,
    read_ahead::RULE,
    read_around::RULE,
    write_allocate::RULE,
    fault_around::RULE,
    stream_ramp::RULE,
    remote_order::RULE,
    arguments::RULE,
    processes_made::RULE,
];

/// A cause behind figures of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Mechanism {
    /// The rule's name in JSON.
    pub name: &'static str,
    /// The condition of the conclusion.
    pub condition: &'static str,
    /// The cause with its figure, in a sentence.
    pub headline: Statement,
    /// The figures that support it.
    pub because: Statement,
    /// Whether it is a cause.
    pub kind: MechanismKind,
    /// Whether it joins figures of several experiments of the run, and not of one alone.
    pub is_of_several: bool,
}

/// Every mechanism whose condition holds, in the order of the rules, of those with these names.
pub(super) fn all(known: &Known, points: &[PointResult], is_of: impl Fn(&str) -> bool) -> Vec<Mechanism> {
    let premises = Premises { known, points };
    let judged = |rule: &Rule| {
        let conclusion = (rule.judge)(&premises)?;
        let Rule { name, condition, .. } = *rule;
        let Conclusion { headline, because, kind } = conclusion;
        let is_of_several = rule.joins_several(known);
        Some(Mechanism { name, condition, headline, because, kind, is_of_several })
    };
    RULES.iter().filter(|rule| is_of(rule.name)).filter_map(judged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{Plant as _, machine};

    #[test]
    fn without_points_nothing_is_concluded() {
        let machine = machine();
        assert_eq!(all(&Known::new(&machine, None), &[], |_| true), []);
    }

    #[test]
    fn a_mechanism_knows_whether_it_joins_figures_of_several_experiments() {
        let machine = machine();
        let mut known = Known::new(&machine, None);
        for points in [process::FORK, process::VFORK] {
            points.plant(&mut known, 200.0);
        }
        assert!(!process::RULE.joins_several(&known), "processes alone");
        process::THREAD.plant(&mut known, 20.0);
        assert!(process::RULE.joins_several(&known));
    }

    #[test]
    fn rules_have_names_of_their_own_and_ask_for_points_that_there_are() {
        let machine = machine();
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), RULES.len());
        for rule in RULES {
            assert!(!rule.condition.ends_with('.'), "{}", rule.name);
            for points in rule.points {
                assert!(points.exist(&machine), "{}: no point is meant by {points:?}", rule.name);
            }
        }
    }
}
