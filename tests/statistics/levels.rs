//! Whether a core is its own: simulated machines whose states are known.

use fathom::statistics::{Levels, Occupancy, levels};
use fathom::verify::population::Chance;

/// A machine: what its gauge reads, in ticks.
#[derive(Clone, Copy)]
struct Machine {
    /// Ticks of the stream and of the chain with the core alone.
    ticks: (f64, f64),
    /// How many times as long the stream takes on a shared core: from and to.
    longer: (f64, f64),
    /// The share of the time in which the core is shared.
    shared: f64,
    /// The clock's step, ticks.
    step: f64,
    /// By what share readings waver.
    noise: f64,
    /// The share of readings that something interrupts, the chain's as well as the stream's.
    interrupted: f64,
    /// The slowest frequency, as a share of the fastest.
    slowest: f64,
}

const QUIET: Machine = Machine {
    ticks: (770.0, 1000.0),
    longer: (1.4, 2.0),
    shared: 0.0,
    step: 1.0,
    noise: 0.004,
    interrupted: 0.002,
    slowest: 1.0,
};

impl Machine {
    /// A quotient, and whether the core was shared; `None` where an interruption hides it.
    fn read(self, chance: &mut Chance) -> (f64, Option<bool>) {
        let shared = chance.uniform() < self.shared;
        let (from, to) = self.longer;
        let longer = if shared { from + (to - from) * chance.uniform() } else { 1.0 };
        let slower = 1.0 / (self.slowest + (1.0 - self.slowest) * chance.uniform());
        let mut met = false;
        let mut ticks = |ticks: f64| {
            let interrupted = chance.uniform() < self.interrupted;
            met |= interrupted;
            // From half a microsecond to a millisecond.
            let besides = if interrupted { 1000.0 * (8.0 * chance.uniform()).exp() } else { 0.0 };
            let lasts = ticks * slower * (1.0 + self.noise * chance.normal()) + besides;
            let began = self.step * chance.uniform();
            ((began + lasts) / self.step).floor() * self.step
        };
        let (stream, chain) = (ticks(self.ticks.0 * longer), ticks(self.ticks.1));
        (stream / chain, (!met).then_some(shared))
    }

    fn readings(self, count: usize) -> Vec<(f64, Option<bool>)> {
        let mut chance = Chance::new(7 + (1000.0 * self.shared) as u64);
        (0..count).map(|_| self.read(&mut chance)).collect()
    }

    /// By what share the clock's step can make a quotient wrong.
    fn coarseness(self) -> f64 {
        self.step * (1.0 / self.ticks.0 + 1.0 / self.ticks.1)
    }

    fn levels(self, count: usize) -> Option<Levels> {
        let quotients: Vec<f64> = self.readings(count).into_iter().map(|(quotient, _)| quotient).collect();
        levels(&quotients, self.coarseness())
    }

    /// The levels among 20,000 readings; that at most so many in a hundred are taken for the other state.
    fn is_told(self, wrong: f64) -> Levels {
        let found = self.levels(20_000).expect("the core alone");
        let alone = self.ticks.0 / self.ticks.1;
        assert!((found.alone / alone - 1.0).abs() < 0.01 + self.coarseness() / 2.0, "{found:?}");
        for (shared, mistaken) in [(false, Occupancy::Shared), (true, Occupancy::Alone)] {
            let all: Vec<Occupancy> = self
                .readings(20_000)
                .into_iter()
                .filter(|(_, state)| *state == Some(shared))
                .map(|(quotient, _)| found.state(quotient))
                .collect();
            let count = |wanted: Occupancy| all.iter().filter(|state| **state == wanted).count() as f64;
            let share = 100.0 * count(mistaken) / all.len().max(1) as f64;
            assert!(share <= wrong, "{share} in 100 of {shared} for {mistaken:?}: {found:?}");
            let unclear = 100.0 * count(Occupancy::Unclear) / all.len().max(1) as f64;
            assert!(unclear <= 5.0, "{unclear} in 100 unclear: {found:?}");
        }
        found
    }
}

#[test]
fn a_machine_that_shows_one_level_has_one() {
    for interrupted in [0.0, 0.002, 0.01] {
        let machine = Machine { interrupted, ..QUIET };
        assert_eq!(machine.is_told(0.0).shared, None, "{interrupted}");
    }
}

#[test]
fn both_states_are_told_at_every_share_and_ratio() {
    for shared in [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95] {
        for longer in [(1.2, 1.2), (1.25, 1.35), (1.4, 2.0), (2.0, 2.0)] {
            let found = Machine { longer, shared, ..QUIET }.is_told(0.2);
            let ratio = found.shared.expect("two levels") / found.alone;
            let middle = f64::midpoint(longer.0, longer.1);
            assert!((ratio / middle - 1.0).abs() < 0.05, "{shared} {longer:?}: {ratio}");
        }
    }
}

#[test]
fn neighbours_of_every_kind_are_told_from_none() {
    for shared in [0.2, 0.5, 0.8] {
        let found = Machine { longer: (1.05, 2.0), shared, ..QUIET }.levels(20_000).expect("the core alone");
        assert!((found.alone / 0.77 - 1.0).abs() < 0.01, "{found:?}");
        assert!(found.shared.is_some_and(|shared| shared > 1.0), "{shared}: {found:?}");
        assert_eq!(found.state(1.02 * 0.77), Occupancy::Alone);
        let states = [1.15, 1.5, 1.9].map(|longer| found.state(longer * 0.77));
        assert_eq!(states, [Occupancy::Shared; 3], "{shared}: {found:?}");
    }
}

/// Quotients between the quantiles of a run's, a thousand in each part.
fn by_parts(quantiles: &[f64]) -> Vec<f64> {
    let between = |ends: &[f64]| {
        let (first, last) = (ends[0], ends[1]);
        (0..1000).map(move |step| first + (last - first) * (f64::from(step) + 0.5) / 1000.0)
    };
    quantiles.windows(2).flat_map(between).collect()
}

#[test]
fn a_neighbour_whose_work_varies_leaves_no_valley_and_is_told_all_the_same() {
    // The fortieths of 1,139,939 readings in a default run of a guest of Zen 3: alone in three eighths, and from there spread evenly.
    let fortieths = [
        1.940, 1.949, 1.949, 1.950, 1.956, 1.957, 1.958, 1.965, 1.966, 1.967, 1.974, 1.974, 1.974, 1.975,
        1.975, 1.992, 2.026, 2.082, 2.132, 2.180, 2.230, 2.283, 2.339, 2.398, 2.459, 2.525, 2.590, 2.659,
        2.732, 2.809, 2.892, 2.974, 3.033, 3.125, 3.222, 3.323, 3.441, 3.566, 3.704, 3.841, 4.500,
    ];
    let found = levels(&by_parts(&fortieths), 0.0125).expect("the core alone");
    assert!((found.alone / 1.965 - 1.0).abs() < 0.01, "{found:?}");
    let states = [1.945, 1.965, 1.99].map(|quotient| found.state(quotient));
    assert_eq!(states, [Occupancy::Alone; 3], "{found:?}");
    let states = [2.06, 2.2, 2.6, 3.2, 3.8].map(|quotient| found.state(quotient));
    assert_eq!(states, [Occupancy::Shared; 5], "{found:?}");
}

#[test]
fn readings_that_waver_upwards_are_no_neighbour() {
    // One level with a tail: what lies above the peak is as high as its foot.
    let mut chance = Chance::new(6);
    for tail in [0.05, 0.1, 0.2, 0.4] {
        let quotients: Vec<f64> = (0..20_000).map(|_| 0.77 * (1.0 - tail * chance.uniform().ln())).collect();
        let found = levels(&quotients, 0.002);
        assert!(found.as_ref().is_none_or(|found| found.shared.is_none()), "{tail}: {found:?}");
    }
}

#[test]
fn a_level_that_grows_out_of_the_core_alone_is_one() {
    // The twentieths of 628,880 readings in a run of a guest of Zen 4: alone in a quarter, and of the others none stands out.
    let twentieths = [
        1.88, 1.95, 1.95, 1.96, 1.96, 1.96, 2.06, 2.17, 2.26, 2.35, 2.45, 2.56, 2.67, 2.79, 2.92, 3.05, 3.20,
        3.34, 3.50, 3.69, 5.00,
    ];
    let found = levels(&by_parts(&twentieths), 0.025).expect("the core alone");
    assert!((found.alone / 1.955 - 1.0).abs() < 0.01, "{found:?}");
    assert_eq!(found.state(1.95), Occupancy::Alone);
    let states = [2.15, 2.30, 2.60, 3.00, 3.50].map(|quotient| found.state(quotient));
    assert_eq!(states, [Occupancy::Shared; 5], "{found:?}");
}

#[test]
fn a_level_that_more_than_interrupts_exceed_is_not_the_only_one() {
    // The slightest neighbours are the most frequent: nothing parts them from the core alone.
    let mut chance = Chance::new(5);
    let falling: Vec<f64> = (0..20_000)
        .map(|nth| 0.77 * if nth % 2 == 0 { 1.0 } else { 1.0 - 0.3 * chance.uniform().ln() })
        .collect();
    let found = levels(&falling, 0.002);
    assert!(found.as_ref().is_none_or(|found| found.shared.is_some()), "{found:?}");
}

#[test]
fn chains_that_a_neighbour_begins_in_make_no_level() {
    // Seen on a busy host: of a hundred readings one lay about a tenth below the core alone, most of them close together.
    let busy = Machine { longer: (1.1, 2.0), shared: 0.7, ..QUIET };
    let mut quotients: Vec<f64> = busy.readings(20_000).into_iter().map(|(quotient, _)| quotient).collect();
    quotients.extend((0..200).map(|place| 0.77 * (0.90 + 0.02 * f64::from(place) / 200.0)));
    let found = levels(&quotients, 0.0).expect("the core alone");
    assert!((found.alone / 0.77 - 1.0).abs() < 0.02, "{found:?}");
    assert_eq!(found.state(0.77), Occupancy::Alone);
}

#[test]
fn frequency_makes_no_level() {
    assert_eq!(Machine { slowest: 0.4, ..QUIET }.is_told(0.0).shared, None);
    assert!(Machine { slowest: 0.4, shared: 0.4, ..QUIET }.is_told(0.2).shared.is_some());
}

#[test]
fn a_clock_in_steps_makes_no_level_and_hides_none() {
    for step in [20.0, 30.0, 40.0] {
        let coarse = Machine { step, ..QUIET };
        assert_eq!(coarse.is_told(0.0).shared, None, "{step}");
        for shared in [0.05, 0.5, 0.95] {
            assert!(Machine { shared, ..coarse }.is_told(1.0).shared.is_some(), "{step} {shared}");
            let near = Machine { longer: (1.2, 1.2), shared, ..coarse };
            assert!(near.levels(20_000).is_some_and(|found| found.shared.is_some()), "{step} {shared}");
        }
    }
}

#[test]
fn a_clock_too_coarse_to_tell_levels_apart_tells_none() {
    assert_eq!(Machine { step: 200.0, ..QUIET }.levels(20_000), None);
}

#[test]
fn a_core_that_is_never_alone_shows_one_level() {
    let never = Machine { shared: 1.0, longer: (1.5, 1.5), ..QUIET };
    let found = never.levels(20_000).expect("one level");
    assert_eq!(found.shared, None);
    assert!((found.alone / (1.5 * 0.77) - 1.0).abs() < 0.01, "its own level cannot be known: {found:?}");
}

#[test]
fn what_has_much_below_it_is_not_the_core_alone() {
    // Neighbours of every kind, from hardly any work to all of it: no heap stands above what follows but the last.
    let mut chance = Chance::new(5);
    let rising: Vec<f64> = (0..20_000).map(|_| 0.77 * (1.0 + chance.uniform().sqrt())).collect();
    assert_eq!(levels(&rising, 0.002), None);
}

#[test]
fn few_readings_tell_nothing_and_some_hundred_do() {
    let half = Machine { shared: 0.5, ..QUIET };
    assert_eq!(half.levels(10), None);
    assert!(half.levels(400).is_some_and(|found| found.shared.is_some()));
}
