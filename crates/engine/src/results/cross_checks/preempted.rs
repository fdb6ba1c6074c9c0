//! Switches that seem to be one operation and are not: of two processes that hand a turn to each other on one CPU the woken one may preempt its
//! waker, which then finds the next turn there without having slept; in a ring under `SCHED_BATCH` every member sleeps and is woken.

use super::equal::EqualFigure;
use super::operations::{IN_A_RING, LESS_ITS_PIPE, SWITCH};
use super::{Agreement, CrossCheck};
use crate::results::PointResult;
use fathom_core::experiment::{OFTEN_PREEMPTED, statement};
use fathom_core::machine::Machine;
use fathom_core::quantities;

/// The share up to which it always sleeps.
const SELDOM: f64 = 0.02;

/// Says of the check of a switch less its pipe that its two operations differ, where the kernel's counts of their switches show it: then neither
/// denies the other, and the point of the two processes is marked with how many of its switches are preemptions.
pub(crate) fn tell_apart(checks: &mut [CrossCheck], points: &mut [PointResult], machine: &Machine) {
    let place = |figure: &EqualFigure| {
        points.iter().position(|point| figure.points.selects(&point.experiment, &point.point, machine))
    };
    let Some((place, other)) = place(&LESS_ITS_PIPE).zip(place(&IN_A_RING)) else { return };
    let share = |place: usize| points[place].disturbance.preempted_share();
    let Some((pair, ring)) = share(place).zip(share(other)) else { return };
    let is_apart = |check: &&mut CrossCheck| {
        check.what == SWITCH && matches!(check.agreement, Agreement::Contradicts | Agreement::Differs)
    };
    if pair < OFTEN_PREEMPTED || ring > SELDOM {
        return;
    }
    for check in checks.iter_mut().filter(is_apart) {
        check.agreement = Agreement::Differs;
        check.denials.clear();
        points[place].by_preemption = Some(pair);
        check.statement.push(statement!(
            " They are not the same operation: of two processes the measured one was preempted by the one that it had woken in {pair} of its \
             switches, and found its next turn there without having slept; in a ring it sleeps and is woken in every turn ({ring} by preemption).",
            pair = quantities::percent(pair),
            ring = quantities::percent(ring)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::operations::EQUAL;
    use super::*;
    use crate::results::planted::{self, Plant};
    use fathom_core::experiment::{Known, Point};
    use fathom_core::statistics::Estimate;

    /// The points of a pair and a ring, of whose switches so many were voluntary and by preemption.
    fn points(known: &Known, pair: [u64; 2], ring: [u64; 2]) -> Vec<PointResult> {
        let of = |figure: &EqualFigure, [voluntary, preempted]: [u64; 2]| {
            let point: Point = figure.points.all(known)[0].0.clone();
            let mut result = planted::result("cpu/context_switch", planted_estimate(), None);
            result.point = point;
            result.disturbance.voluntary_switches = voluntary;
            result.disturbance.involuntary_switches = preempted;
            result
        };
        vec![of(&LESS_ITS_PIPE, pair), of(&IN_A_RING, ring)]
    }

    fn planted_estimate() -> Estimate {
        Estimate { value: 1.0, interval: None, level: 0.95, min: None, max: None, trials: 8, observations: 8 }
    }

    #[test]
    fn a_pair_that_preempts_and_a_ring_that_sleeps_deny_each_other_nothing() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        LESS_ITS_PIPE.points.plant(&mut known, 1890.0);
        IN_A_RING.points.plant(&mut known, 2450.0);
        let judged = |pair, ring| {
            let mut checks: Vec<CrossCheck> = EQUAL.iter().filter_map(|equal| equal.judge(&known)).collect();
            let mut points = points(&known, pair, ring);
            tell_apart(&mut checks, &mut points, &machine);
            let is_marked = points.iter().map(|point| point.by_preemption.is_some()).collect::<Vec<_>>();
            assert_eq!(is_marked, [checks[0].agreement == Agreement::Differs, false]);
            checks.remove(0)
        };
        let apart = judged([250, 750], [990, 10]);
        let text = apart.statement.plain();
        assert!(apart.agreement == Agreement::Differs && apart.denials.is_empty(), "{text}");
        assert!(
            text.contains("in 75.0 % of its switches") && text.contains("(1.00 % by preemption)"),
            "{text}"
        );
        assert_eq!(judged([990, 10], [990, 10]).agreement, Agreement::Contradicts, "both sleep");
        assert_eq!(judged([250, 750], [250, 750]).agreement, Agreement::Contradicts, "both are preempted");
        assert_eq!(judged([0, 0], [0, 0]).agreement, Agreement::Contradicts, "nothing was counted");
    }
}
