//! No figure changes with the length of a trial: round trips and switches between two CPUs, whose beginning is cut off, in trials of
//! 20 ms, 400 ms and 2 s by turns.
//!
//! The intervals decide. A ratio to the longest trials is refuted where its whole interval lies beyond the margin, on the same side in
//! every one of three sessions, so chance does not fail the test. States of the machine that last for seconds leave a ratio open:
//! that is counted, and the test is inconclusive only if nothing is decided at all.

use crate::claim::Figure;
use crate::network::{fathom, trial, values};
use crate::tier::{Outcome, Test, alone, inconclusive, skipped};
use fathom::sampling::{Setting, affinity};
use fathom::statistics::{Estimate, estimate};
use std::time::Duration;

pub const TESTS: &[Test] = &alone![no_figure_of_work_between_cpus_changes_with_the_length_of_its_trials];

/// The lengths of trials, milliseconds; the last is the one that the others are held against.
const LENGTHS_MS: [u64; 3] = [20, 400, 2_000];

/// Trials of each length in a session.
const TRIALS: usize = 4;

/// Sessions that must refute a ratio.
const SESSIONS: usize = 3;

/// The factor between two figures beyond which they differ.
const MARGIN: f64 = 1.1;

type PointFilter = &'static [(&'static str, &'static str)];

const WORK: [(&str, PointFilter); 5] = [
    (
        "network/round_trip",
        &[("transport", "TCP"), ("path", "loopback"), ("payload", "1"), ("loop", "closed"), ACROSS],
    ),
    ("network/round_trip", &[("transport", "UNIX socket"), ("payload", "1"), ACROSS]),
    ("network/round_trip", &[("transport", "pipe"), ("payload", "1"), ACROSS]),
    ("cpu/context_switch", &[("mechanism", "pipe"), ("between", "processes"), ACROSS]),
    ("cpu/context_switch", &[("mechanism", "futex"), ("between", "threads"), ACROSS]),
];

const ACROSS: (&str, &str) = ("placement", "across-cpus");

/// What a session says of a ratio: beyond the margin with its whole interval, on which side, or not; or undecided.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Differs {
    Less,
    Same,
    More,
    Undecided,
}

fn no_figure_of_work_between_cpus_changes_with_the_length_of_its_trials() -> Outcome {
    let cpus = affinity::current();
    let [home, partner, ..] = cpus[..] else { return skipped("two CPUs") };
    let (mut decided, mut undecided, mut wrong) = (0, vec![], vec![]);
    for (experiment, wanted) in WORK {
        let mut sessions = vec![];
        while sessions.len() < SESSIONS && sessions.iter().all(|session: &Vec<_>| any_differs(session)) {
            sessions.push(session(experiment, wanted, (home, partner))?);
        }
        for (place, length) in LENGTHS_MS.iter().enumerate().take(LENGTHS_MS.len() - 1) {
            let all: Vec<_> = sessions.iter().map(|session| session[place].0).collect();
            let words = format!("{wanted:?}, {length} ms: {}", sessions[sessions.len() - 1][place].1);
            let differs = matches!(all[0], Differs::Less | Differs::More);
            match () {
                () if differs && all.len() == SESSIONS && all.iter().all(|one| *one == all[0]) => {
                    wrong.push(words);
                }
                () if all.contains(&Differs::Same) => decided += 1,
                () => undecided.push(words),
            }
        }
    }
    assert!(wrong.is_empty(), "figures change with the length of their trials: {}", wrong.join("; "));
    let count = format!("{decided} ratios are within {MARGIN}, undecided: {}", undecided.len());
    println!("{count}; {}", undecided.join("; "));
    if decided == 0 { inconclusive(format!("{count}: {}", undecided.join("; "))) } else { Ok(()) }
}

fn any_differs(session: &[(Differs, String)]) -> bool {
    session.iter().any(|(length, _)| matches!(length, Differs::Less | Differs::More))
}

/// The verdict on each of the shorter lengths, of trials that take turns.
fn session(
    experiment: &str,
    wanted: PointFilter,
    (home, partner): (usize, usize),
) -> Outcome<Vec<(Differs, String)>> {
    let mut trials = [const { Vec::<Vec<f64>>::new() }; LENGTHS_MS.len()];
    for _ in 0..TRIALS {
        for (length, of_length) in LENGTHS_MS.iter().zip(&mut trials) {
            let observe = Duration::from_millis(*length);
            let setting = crate::described::setting(7, observe.as_nanos() as u64);
            let setting = Setting { home: Some(home), partner: Some(partner), ..setting };
            of_length.push(values(&trial(fathom(), experiment, wanted, setting)?));
        }
    }
    let figures: Vec<Figure> = trials
        .iter()
        .map(|of_length| figure(of_length))
        .collect::<Option<_>>()
        .ok_or("no interval".to_owned())?;
    let longest = figures[figures.len() - 1];
    Ok(figures.iter().take(figures.len() - 1).map(|figure| verdict(figure.over(longest))).collect())
}

fn figure(trials: &[Vec<f64>]) -> Option<Figure> {
    let Estimate { value, interval, .. } = estimate(trials)?;
    let interval = interval?;
    Some(Figure { value, low: interval.low, high: interval.high })
}

fn verdict(ratio: Figure) -> (Differs, String) {
    let length = match () {
        () if ratio.high < 1.0 / MARGIN => Differs::Less,
        () if ratio.low > MARGIN => Differs::More,
        () if ratio.low >= 1.0 / MARGIN && ratio.high <= MARGIN => Differs::Same,
        () => Differs::Undecided,
    };
    (length, format!("{:.3} ({:.3} to {:.3})", ratio.value, ratio.low, ratio.high))
}
