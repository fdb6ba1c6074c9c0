//! Misses of a value at another distance of the two CPUs than that of most of the time: for how much of the time it holds, what it is at
//! most times, and whether the two were then two threads of one core, which no prediction for two cores knows.

use super::Figures;
use super::miss::Missed;
use crate::results::CpuDistance;
use crate::results::accuracy::distance;
use crate::results::cpu_distance::is_same;
use fathom_core::experiment::{Dimension, Excess, Figure, Found, Placement, Statement, statement};
use fathom_core::quantities;
use fathom_core::quantity::{Kind, Unit};

/// At which distance of the CPUs a value was measured, and for how much of the time; `None` of one at the distance of most of the time.
pub(super) fn sentence(missed: &Missed, figures: Figures) -> Option<Statement> {
    let own = own(missed)?;
    Some(statement!(
        "It is of {time}{threads}{usually}",
        time = of_the_time(own),
        threads = if are_of_one_core(own, figures) {
            ", the two CPUs then probably threads of one core"
        } else {
            ""
        },
        usually = usually(missed)
    ))
}

/// That the two CPUs were then threads of one core, nearer than the cores that were predicted, as the probable cause of a quick hand-over;
/// `None` where it is not quicker than at most times.
pub(super) fn nearness(missed: &Missed, figures: Figures) -> Option<Excess> {
    let own = own(missed).filter(|own| are_of_one_core(*own, figures))?;
    let is_rate = missed.result.unit.kind() == Kind::Rate;
    let is_quick = (missed.factor > 1.0) == is_rate;
    let is_between = missed.result.point.placement() == Placement::AcrossCpus;
    let off = |value: f64| distance(value / missed.prediction.total());
    let is_farther_off = |(_, there, _): (CpuDistance, Found, usize)| off(there.value) < missed.distance();
    let is_nearness = is_quick && is_between && at_most_times(missed).is_none_or(is_farther_off);
    is_nearness.then(|| {
        let shown =
            statement!("it is of {time}{usually}", time = of_the_time(own), usually = usually(missed));
        Excess::shown_by(
            "the nearness of the two CPUs, then threads of one core, where two cores are predicted",
            shown,
        )
    })
}

/// The distance of the value, if it is not that of most of the time.
fn own(missed: &Missed) -> Option<CpuDistance> {
    Some(missed.result.cpu_distance.as_ref().filter(|_| missed.result.is_elsewhere())?.at)
}

fn are_of_one_core(at: CpuDistance, figures: Figures) -> bool {
    figures.one_core_ns.iter().any(|line_ns| is_same(*line_ns, at.line_ns))
}

/// The value at the distance of most of the time, and its trials; `None` without one.
fn at_most_times(missed: &Missed) -> Option<(CpuDistance, Found, usize)> {
    let (at, estimate) = missed.result.at_other_distance().filter(|(at, _)| at.is_usual)?;
    Some((*at, Found::of(estimate, missed.result.unit), estimate.trials))
}

fn of_the_time(at: CpuDistance) -> Statement {
    statement!(
        "{share} of the time, at {line}",
        share = quantities::percent_of_few(at.share),
        line = line(at, "a line while it was measured")
    )
}

fn usually(missed: &Missed) -> Option<Statement> {
    let (at, value, trials) = at_most_times(missed)?;
    let trials = Found::exact(trials as f64, Dimension::Count);
    Some(statement!(
        "; at most times, at {line}, it is {value} ({trials} trials)",
        line = line(at, "a line at most times"),
        value = value.named("measured at most times"),
        trials = trials.named("trials at most times")
    ))
}

fn line(at: CpuDistance, name: &str) -> Figure {
    Found::bare(at.line_ns, Dimension::Of(Unit::Nanoseconds)).named(name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::result;
    use super::*;
    use crate::results::PointResult;
    use crate::results::by_end::WholeRun;
    use crate::results::missed::{Explanation, explain};
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::{Basis, Known, Prediction, Selector};
    use fathom_core::statistics::Estimate;

    /// A line in 15.9 ns at a distance of 18.5, where 60 is predicted; this at most times, in three trials.
    fn said(usually: f64, one_core_ns: &[f64]) -> (Explanation, String) {
        let predicted = Prediction::new().hardware("a line", 1.0, Basis::published(60.0, "a paper"));
        let (trials, observations) = (3, 9);
        let there = Estimate {
            value: usually,
            interval: None,
            level: 0.95,
            trials,
            observations,
            min: None,
            max: None,
        };
        let mut apart = planted::at_distances(18.5, Some((39.3, there)));
        let own = apart.as_mut().expect("two");
        (own.at.is_usual, own.at.share) = (false, 0.065);
        let at = Selector::only("a/test", &[]).at(Placement::AcrossCpus).point(&[]);
        let mut points =
            [PointResult { cpu_distance: apart, point: at, ..result(Unit::Nanoseconds, 15.9, predicted) }];
        let machine = planted::machine();
        let known = Known::new(&machine, None);
        let whole = WholeRun::of_one_state(&known);
        let figures = Figures { supported: &known, whole: &whole, shared: &[], levels: &[], one_core_ns };
        let misses = explain(&["a/test"], &mut points, figures);
        let all = misses.others.iter().flat_map(|(_, of)| of);
        let text = all.map(|finding| finding.statement.plain()).collect();
        (points[0].explanation.clone().expect("it missed"), text)
    }

    /// 15.9 ns beside 60.0 predicted was "not explained", of 6.5 % of the time; at most times three trials took 41.3.
    #[test]
    fn a_line_between_threads_of_one_core_is_none_between_cores() {
        let (explanation, text) = said(41.3, &[18.5]);
        assert!(matches!(explanation, Explanation::Probable { .. }), "{text}");
        assert!(
            text.contains(
                "Probably the nearness of the two CPUs, then threads of one core, where two cores are predicted; it is of 6.5 % of the time, \
                 at {18.5}; at most times, at {39.3}, it is {41.3} ({3} trials)."
            ),
            "{text}"
        );
        let (explanation, text) = said(12.0, &[18.5]);
        assert_eq!(explanation, Explanation::NotExplained, "it is no farther at most times: {text}");
        assert!(text.contains("the two CPUs then probably threads of one core"), "{text}");
    }

    #[test]
    fn a_value_of_a_seldom_distance_says_so() {
        let (explanation, text) = said(41.3, &[]);
        assert_eq!(explanation, Explanation::NotExplained);
        assert!(
            text.contains("Not explained. It is of 6.5 % of the time, at {18.5}; at most times, at {39.3}, it is {41.3} ({3} trials)."),
            "{text}"
        );
    }
}
