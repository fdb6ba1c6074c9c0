//! A figure does not depend on how long its trials observe. Work that wakes another CPU or adapts has a beginning, which ends
//! before it is observed.

use crate::claim::{Claim, Figure, between, decided};
use crate::single_trial::{self, fathom, values};
use crate::tier::{Outcome, Test, alone, skipped};
use fathom::sampling::{Setting, affinity};
use fathom::statistics::median;
use std::time::Duration;

pub const TESTS: &[Test] = &alone![a_figure_is_the_same_by_trials_of_20_ms_and_of_2_s];

/// A point by its experiment and parameters.
type Named = (&'static str, &'static [(&'static str, &'static str)]);

const POINTS: [Named; 3] = [
    (
        "network/round_trip",
        &[
            ("transport", "TCP"),
            ("path", "loopback"),
            ("payload", "56"),
            ("loop", "closed"),
            ("placement", "across-cpus"),
        ],
    ),
    (
        "network/round_trip",
        &[("transport", "UNIX socket"), ("payload", "56"), ("loop", "closed"), ("placement", "across-cpus")],
    ),
    (
        "network/bandwidth",
        &[
            ("transport", "TCP"),
            ("path", "loopback"),
            ("chunk", "131072"),
            ("streams", "1"),
            ("direction", "send"),
            ("figure", "steady"),
            ("placement", "across-cpus"),
        ],
    ),
];

const LENGTHS: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(400), Duration::from_secs(2)];

/// Trials of each length, alternating.
const ALTERNATIONS: usize = 4;

fn a_figure_is_the_same_by_trials_of_20_ms_and_of_2_s() -> Outcome {
    let cpus = affinity::current();
    let [home, partner, ..] = cpus[..] else { return skipped("a second CPU") };
    decided(|| {
        let mut claims = vec![];
        for (experiment, wanted) in POINTS {
            claims.extend(claims_of(experiment, wanted, [home, partner])?);
        }
        Ok(claims)
    })
}

/// The longer trials over the shortest ones.
fn claims_of(
    experiment: &str,
    wanted: &[(&str, &str)],
    [home, partner]: [usize; 2],
) -> Result<Vec<Claim>, String> {
    let mut medians = LENGTHS.map(|_| vec![]);
    for _ in 0..ALTERNATIONS {
        for (length, medians) in LENGTHS.iter().zip(&mut medians) {
            let setting =
                Setting { home: Some(home), partner: Some(partner), ..single_trial::setting(*length) };
            let sample = single_trial::of(fathom(), experiment, wanted, setting)?;
            medians.push(median(&values(&sample)).ok_or("no observation")?);
        }
    }
    let [shortest, longer @ ..] = medians.map(Figure::spanning);
    let claim = |(length, figure): (&Duration, Figure)| {
        let what = format!("{experiment} {wanted:?}: {length:?} over {:?}", LENGTHS[0]);
        between(what, Some(figure.over(shortest)), 0.9, 1.1)
    };
    Ok(LENGTHS[1..].iter().zip(longer).map(claim).collect())
}
