//! From the levels of each phase to verdicts.
//!
//! Every later phase is compared with the first. The difference of two levels is taken on logarithms (of shares linearly), with
//! the errors of both by their trials, each of which is a fresh process.
//!
//! *Moved* is a change that is certainly greater than half of the margin ([`STILL`]), and not shown to be within the whole of it.
//! Trials of one phase share its seconds, and what a phase has once shows in no trial of it, so phases of a host that does nothing
//! differ by more than their trials say. That is a change of the host, but none that matters: half of the margin is allowed for it.
//! (The errors could be multiplied instead, as for runs that are hours apart. Then what varies from trial to trial is taken to
//! vary from phase to phase as well, and the more it varies the less can be said of it.) Certain is what false-discovery control over
//! all dimensions and phases together accepts (Benjamini & Hochberg 1995, "Controlling the false discovery rate", J. R. Stat. Soc. B
//! 57, on the test of an interval by Hodges & Lehmann 1954): where nothing moved, any false discovery is the whole of the discoveries,
//! so the rate is the chance that a quiet host is said to have moved at all, 5 % at most.
//!
//! *Held still within x* is a statement of equivalence: x is the end of the 95 % interval that is farther from no change, in each
//! phase. It is made up to the margin and not beyond; a wide interval *cannot say*. The test errs once in twenty for each dimension
//! by itself (Schuirmann 1987, "A comparison of the two one-sided tests procedure", J. Pharmacokinet. Biopharm. 15, asks for a
//! 90 % interval; the 95 % interval that reports print is wider).

use super::anchors::{MARGIN_OF_SHARES, margin};
use super::levels::{Leveled, PhaseLevel};
use super::verdict::{ChangeScale, HostDimension, Source, Verdict};
use crate::comparison::FALSE_DISCOVERIES;
use crate::results::CoreState;
use fathom_core::statistics::{self, Contrast, LogLevel};

/// The part of a margin up to which a change is none that matters.
const STILL: f64 = 0.5;

/// The least error of a share in a phase, in points: with fewer than a hundred readings, none has less.
const LEAST_ERROR_OF_SHARES: f64 = 0.005;

/// The least error of a level, as of a run's families: the layout that its processes have in common.
const LEAST_ERROR: f64 = 0.001;

/// The verdict on every dimension; `requested` is the margin of all of them.
pub(super) fn judged(dimensions: Vec<Leveled>, requested: Option<f64>) -> Vec<HostDimension> {
    let contrasts: Vec<Vec<Result<Contrast, String>>> = dimensions.iter().map(contrasts).collect();
    let with_margin = dimensions.iter().zip(&contrasts).flat_map(|(dimension, contrasts)| {
        let margin = margin_of(dimension, requested);
        contrasts.iter().flatten().map(move |contrast| (contrast, dimension.scale, margin))
    });
    let chance = |(contrast, scale, margin): (&Contrast, ChangeScale, f64)| {
        contrast.chance_within(scale.ratio_of(STILL * margin))
    };
    let chances: Vec<f64> = with_margin.map(chance).collect();
    let mut changed = statistics::discoveries(&chances, FALSE_DISCOVERIES).into_iter();
    let mut judged = vec![];
    for (dimension, contrasts) in dimensions.into_iter().zip(contrasts) {
        let changes: Vec<Result<Change, String>> = contrasts
            .into_iter()
            .map(|contrast| Ok(Change::of(contrast?, dimension.scale, changed.next() == Some(true))))
            .collect();
        judged.push(dimension_of(dimension, &changes, requested));
    }
    judged
}

/// The margin of a dimension: the requested one, or its own.
fn margin_of(dimension: &Leveled, requested: Option<f64>) -> f64 {
    requested.unwrap_or_else(|| match dimension.scale {
        ChangeScale::Ratio => margin(&dimension.name),
        ChangeScale::Points => MARGIN_OF_SHARES,
    })
}

impl ChangeScale {
    /// A change as one of a ratio, in whose logarithm changes of shares are compared.
    fn ratio_of(self, change: f64) -> f64 {
        match self {
            ChangeScale::Ratio => change,
            ChangeScale::Points => change.exp_m1(),
        }
    }
}

fn dimension_of(
    dimension: Leveled,
    changes: &[Result<Change, String>],
    requested: Option<f64>,
) -> HostDimension {
    let margin = margin_of(&dimension, requested);
    HostDimension {
        verdict: verdict(changes, margin),
        name: dimension.name,
        source: Source::Anchors,
        scale: dimension.scale,
        unit: dimension.unit,
        readings: dimension.phases.iter().map(|phase| Some(phase.as_ref().ok()?.reading)).collect(),
        margin,
        follows: None,
    }
}

/// A change of a dimension, a share of one or in points, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Change {
    by: f64,
    low: f64,
    high: f64,
    /// Whether it is certain that it is one that matters.
    certain: bool,
    scale: ChangeScale,
}

impl Change {
    fn of(contrast: Contrast, scale: ChangeScale, certain: bool) -> Self {
        let interval = contrast.interval();
        let share = |ratio: f64| match scale {
            ChangeScale::Ratio => ratio - 1.0,
            // Shares were compared as if they were logarithms.
            ChangeScale::Points => ratio.ln(),
        };
        let (by, low, high) = (share(contrast.ratio()), share(interval.low), share(interval.high));
        Change { by, low, high, certain, scale }
    }

    /// The largest change that the interval allows: a halving counts as much as a doubling.
    fn within(&self) -> f64 {
        let down = match self.scale {
            ChangeScale::Ratio => 1.0 / (1.0 + self.low) - 1.0,
            ChangeScale::Points => -self.low,
        };
        self.high.max(down).max(0.0)
    }
}

/// The verdict from the change of each later phase against the first.
fn verdict(changes: &[Result<Change, String>], margin: f64) -> Verdict {
    let known = || changes.iter().filter_map(|change| change.as_ref().ok());
    let moved = known().filter(|change| change.certain && change.within() > margin);
    let largest = moved.max_by(|one, other| one.within().total_cmp(&other.within()));
    if let Some(change) = largest {
        return Verdict::Moved { by: change.by, low: Some(change.low), high: Some(change.high) };
    }
    if let Some(reason) = changes.iter().find_map(|change| change.as_ref().err()) {
        return Verdict::CannotSay { reason: reason.clone() };
    }
    let farthest = known().max_by(|one, other| one.within().total_cmp(&other.within()));
    match farthest.map(|change| (change.within(), change.scale)) {
        Some((within, _)) if within <= margin => Verdict::HeldStill { within },
        Some((within, scale)) => {
            let reason = format!("any change up to {} would be possible", scale.amount(within));
            Verdict::CannotSay { reason }
        }
        None => Verdict::CannotSay { reason: "nothing was measured after the work".to_owned() },
    }
}

/// Each later phase of a dimension against the first.
fn contrasts(dimension: &Leveled) -> Vec<Result<Contrast, String>> {
    let Some((first, later)) = dimension.phases.split_first() else { return vec![] };
    later.iter().map(|phase| contrast(first.as_ref(), phase.as_ref(), dimension.scale)).collect()
}

fn contrast(
    first: Result<&PhaseLevel, &String>,
    later: Result<&PhaseLevel, &String>,
    scale: ChangeScale,
) -> Result<Contrast, String> {
    let (first, later) = (first?, later.map_err(|reason| format!("after the work: {reason}"))?);
    let has_state = |state: Option<CoreState>| matches!(state, Some(CoreState::Alone | CoreState::Shared));
    if has_state(first.core) && has_state(later.core) && first.core != later.core {
        return Err("the core was shared in one phase and alone in the other".to_owned());
    }
    let least = if scale == ChangeScale::Ratio { LEAST_ERROR } else { LEAST_ERROR_OF_SHARES };
    let known = |level: LogLevel| level.known_no_better_than(least, level.freedom);
    Ok(Contrast::between(known(first.level), known(later.level)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::around::verdict::{DimensionReading, Whole};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// The dimensions of a host that is described, and how many trials each has in a phase.
    const DIMENSIONS: usize = 14;
    const TRIALS: usize = 8;

    /// A host: how much trials of one phase scatter, how much phases differ beyond that, how many of a hundred trials take half as
    /// long again, and how much neighbouring trials have in common, in stretches of a quarter of a phase.
    #[derive(Clone, Copy)]
    struct Described {
        scatter: f64,
        of_phases: f64,
        slow_trials: u32,
        of_stretches: f64,
    }

    struct Draws(Xoshiro256PlusPlus);

    impl Draws {
        fn uniform(&mut self) -> f64 {
            (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// Nearly normal: the sum of twelve uniform numbers.
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }

        /// The level of an operation in a phase, by the estimate of every run.
        fn level(&mut self, host: Described, moved: f64) -> PhaseLevel {
            let phase = host.of_phases * self.normal() + moved.ln();
            let stretches: [f64; 4] = std::array::from_fn(|_| host.of_stretches * self.normal());
            let trials: Vec<Vec<f64>> = (0..TRIALS)
                .map(|place| {
                    let slow = if self.uniform() * 100.0 < f64::from(host.slow_trials) { 0.4 } else { 0.0 };
                    let middle = phase + stretches[place * 4 / TRIALS] + slow + host.scatter * self.normal();
                    (0..20).map(|_| (middle + 0.02 * self.normal()).exp()).collect()
                })
                .collect();
            let estimate = statistics::estimate(&trials).expect("trials");
            let reading = DimensionReading { value: estimate.value, low: None, high: None };
            PhaseLevel { level: LogLevel::of(&estimate).expect("positive"), reading, core: None }
        }

        /// A whole comparison: one dimension moves by a factor, the others hold still.
        fn judged(&mut self, host: Described, moved: f64) -> Vec<HostDimension> {
            let dimension = |place: usize, draws: &mut Draws| Leveled {
                name: format!("operation {place}"),
                scale: ChangeScale::Ratio,
                unit: None,
                phases: vec![
                    Ok(draws.level(host, 1.0)),
                    Ok(draws.level(host, if place == 0 { moved } else { 1.0 })),
                ],
            };
            judged((0..DIMENSIONS).map(|place| dimension(place, self)).collect(), None)
        }
    }

    fn draws() -> Draws {
        Draws(Xoshiro256PlusPlus::seed_from_u64(29))
    }

    const CALM: Described = Described { scatter: 0.01, of_phases: 0.0, slow_trials: 0, of_stretches: 0.0 };
    const NOISY: Described = Described { scatter: 0.05, slow_trials: 10, ..CALM };
    const DRIFTING: Described = Described { scatter: 0.02, of_phases: 0.015, ..CALM };
    const UNSTEADY: Described = Described { scatter: 0.03, of_stretches: 0.03, ..CALM };

    #[test]
    fn a_host_that_holds_still_is_said_to_have_moved_at_most_five_times_in_a_hundred() {
        let mut draws = draws();
        for host in [CALM, NOISY, DRIFTING, UNSTEADY] {
            let alarms =
                (0..400).filter(|_| draws.judged(host, 1.0).iter().any(HostDimension::moved)).count();
            assert!(alarms <= 20, "{alarms} of 400 at a scatter of {}", host.scatter);
        }
    }

    #[test]
    fn what_moves_is_named_and_nothing_else_in_nine_of_ten() {
        let mut draws = draws();
        for (host, factor) in [(CALM, 1.15), (DRIFTING, 1.25), (CALM, 1.0 / 1.15)] {
            let is_named = |dimensions: Vec<HostDimension>| {
                dimensions[0].moved() && !dimensions[1..].iter().any(HostDimension::moved)
            };
            let named = (0..200).filter(|_| is_named(draws.judged(host, factor))).count();
            assert!(named >= 180, "{named} of 200 at {factor}, scatter {}", host.scatter);
        }
    }

    /// Where one trial in ten takes half as long again, the interval of a median reaches to those; what is not found is not said to have
    /// held still.
    #[test]
    fn on_a_noisy_host_a_doubling_is_found_in_nine_of_ten_and_never_still() {
        let mut draws = draws();
        let verdicts: Vec<Verdict> = (0..200).map(|_| draws.judged(NOISY, 2.0).remove(0).verdict).collect();
        let named = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Moved { .. })).count();
        assert!(named >= 180, "{named} of 200");
        assert!(!verdicts.iter().any(|verdict| matches!(verdict, Verdict::HeldStill { .. })));
    }

    /// Trials that differ by 4 % are mostly enough to say that a host held still within the margin.
    #[test]
    fn of_a_host_that_holds_still_little_cannot_be_said() {
        let mut draws = draws();
        for (host, most) in [(CALM, 0), (DRIFTING, 0), (Described { scatter: 0.04, ..CALM }, 25)] {
            let all: Vec<HostDimension> = (0..10).flat_map(|_| draws.judged(host, 1.0)).collect();
            let open = all.iter().filter(|each| matches!(each.verdict, Verdict::CannotSay { .. })).count();
            assert!(
                open * 100 <= most * all.len(),
                "{open} of {} at a scatter of {}",
                all.len(),
                host.scatter
            );
        }
    }

    #[test]
    fn what_held_still_has_a_bound_that_holds_the_change() {
        let mut draws = draws();
        let (mut still, mut outside) = (0, 0);
        for _ in 0..300 {
            let first = &draws.judged(CALM, 1.03)[0];
            if let Verdict::HeldStill { within } = first.verdict {
                still += 1;
                outside += u32::from(within < 0.03);
                assert!(within <= first.margin);
            }
        }
        assert!(still > 200 && outside <= still / 20, "{outside} of {still}");
    }

    fn exactly(value: f64) -> Result<PhaseLevel, String> {
        let level = LogLevel { value: value.ln(), below: 0.005, above: 0.005, freedom: 9.0 };
        Ok(PhaseLevel { level, reading: DimensionReading { value, low: None, high: None }, core: None })
    }

    fn verdict_of(phases: Vec<Result<PhaseLevel, String>>) -> Verdict {
        let name = "operation".to_owned();
        let dimension = Leveled { name, scale: ChangeScale::Ratio, unit: None, phases };
        judged(vec![dimension], None).remove(0).verdict
    }

    #[test]
    fn a_pause_in_which_the_host_was_slow_counts_even_if_it_recovers() {
        assert!(matches!(
            verdict_of(vec![exactly(1.0), exactly(1.5), exactly(1.0)]),
            Verdict::Moved { by, .. } if (by - 0.5).abs() < 1e-9
        ));
        assert!(matches!(verdict_of(vec![exactly(1.0), exactly(1.0)]), Verdict::HeldStill { .. }));
    }

    #[test]
    fn what_was_not_measured_afterwards_is_neither_still_nor_moved() {
        let lost = verdict_of(vec![exactly(1.0), Err("the disk is full".to_owned())]);
        let reason = "after the work: the disk is full".to_owned();
        assert_eq!(lost, Verdict::CannotSay { reason });
        assert!(matches!(verdict_of(vec![exactly(1.0)]), Verdict::CannotSay { .. }));
    }

    #[test]
    fn the_states_of_a_core_are_not_compared_with_each_other() {
        let at = |state| exactly(1.0).map(|level| PhaseLevel { core: Some(state), ..level });
        let mixed = verdict_of(vec![at(CoreState::Alone), at(CoreState::Shared)]);
        assert!(matches!(mixed, Verdict::CannotSay { reason } if reason.contains("shared in one phase")));
    }

    #[test]
    fn a_halving_is_as_far_as_a_doubling() {
        let within = |low: f64, high: f64| {
            Change { by: 0.0, low, high, certain: true, scale: ChangeScale::Ratio }.within()
        };
        assert!((within(-0.5, 0.0) - 1.0).abs() < 1e-12 && (within(0.0, 1.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_dimension_that_moved_is_the_verdict_on_the_host() {
        let dimensions = judged(
            [1.0, 2.0]
                .into_iter()
                .map(|after| Leveled {
                    name: "operation".to_owned(),
                    scale: ChangeScale::Ratio,
                    unit: None,
                    phases: vec![exactly(1.0), exactly(after)],
                })
                .collect(),
            None,
        );
        assert_eq!(Whole::of(&dimensions), Whole::Moved);
        assert_eq!(Whole::of(&dimensions[..1]), Whole::HeldStill);
        assert_eq!(Whole::of(&[]), Whole::CannotSay);
    }
}
