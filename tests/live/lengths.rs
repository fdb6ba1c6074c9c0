//! No figure changes with the length of a trial: round trips and switches between two CPUs, whose beginning is cut off, in trials of
//! 20 ms, 400 ms and 2 s by turns.
//!
//! The intervals decide. A ratio to the longest trials is refuted where its whole interval lies beyond the margin, on the same side in
//! every one of three sessions, so chance does not fail the test. States of the machine that last for seconds leave a ratio open:
//! that is counted, and more trials are made while nothing is decided at all. If nothing is decided by those either, the trials of
//! one length are held against each other: how a host wakes another CPU is seen in no account of the machine, but in them.

use crate::claim::Figure;
use crate::network::{fathom, trial, values};
use crate::tier::{Outcome, Test, alone, inconclusive, skipped, unsteady};
use fathom::sampling::{Setting, affinity};
use fathom::statistics::{Estimate, estimate, median};
use std::time::Duration;

pub const TESTS: &[Test] = &alone![no_figure_of_work_between_cpus_changes_with_the_length_of_its_trials];

/// The lengths of trials, milliseconds; the last is the one that the others are held against.
const LENGTHS_MS: [u64; 3] = [20, 400, 2_000];

/// Trials of each length in a session.
const TRIALS: usize = 4;

/// Those of a ratio, where none is decided by a session's.
const MOST_TRIALS: usize = 16;

/// Sessions that must refute a ratio.
const SESSIONS: usize = 3;

/// The factor between two figures beyond which they differ.
const MARGIN: f64 = 1.1;

/// Trials of each of the lengths, each with its observations.
type OfLengths = [Vec<Vec<f64>>; LENGTHS_MS.len()];

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
    let mut trials = vec![];
    for (experiment, wanted) in WORK {
        let turns = || turns(experiment, wanted, (home, partner));
        let mut sessions = vec![turns()?];
        while sessions.len() < SESSIONS && verdicts(&sessions).iter().all(|session| any_differs(session)) {
            sessions.push(turns()?);
        }
        let verdicts = verdicts(&sessions);
        for (place, length) in LENGTHS_MS.iter().enumerate().take(LENGTHS_MS.len() - 1) {
            let all: Vec<_> = verdicts.iter().map(|session| session[place].0).collect();
            let words = format!("{wanted:?}, {length} ms: {}", verdicts[verdicts.len() - 1][place].1);
            let differs = matches!(all[0], Differs::Less | Differs::More);
            match () {
                () if differs && all.len() == SESSIONS && all.iter().all(|one| *one == all[0]) => {
                    wrong.push(words);
                }
                () if all.contains(&Differs::Same) => decided += 1,
                () => undecided.push(words),
            }
        }
        trials.push(joined(sessions));
    }
    assert!(wrong.is_empty(), "figures change with the length of their trials: {}", wrong.join("; "));
    let count = format!("{decided} ratios are within {MARGIN}, undecided: {}", undecided.len());
    println!("{count}; {}", undecided.join("; "));
    if decided > 0 { Ok(()) } else { decided_by_more(trials, (home, partner)) }
}

/// Trials of all works by turns until one ratio is decided.
fn decided_by_more(mut trials: Vec<OfLengths>, cpus: (usize, usize)) -> Outcome {
    while trials.iter().any(|of_work| of_work[0].len() < MOST_TRIALS) {
        for ((experiment, wanted), so_far) in WORK.into_iter().zip(&mut trials) {
            *so_far = joined([std::mem::take(so_far), turns(experiment, wanted, cpus)?]);
            if verdicts(std::slice::from_ref(so_far))[0].iter().any(|(length, _)| *length == Differs::Same) {
                return Ok(());
            }
        }
    }
    let seen: Vec<String> = WORK
        .iter()
        .zip(&trials)
        .map(|((_, wanted), of_work)| {
            format!(
                "{wanted:?}: {:?}, its middle half spans {:.2}",
                verdicts(std::slice::from_ref(of_work))[0],
                middle_half(of_work)
            )
        })
        .collect();
    let seen = format!("no ratio is within {MARGIN} with {MOST_TRIALS} trials: {}", seen.join("; "));
    if trials.iter().all(|of_work| middle_half(of_work) > MARGIN) {
        unsteady(seen)
    } else {
        inconclusive(seen)
    }
}

/// The factor between the quartiles of the longest trials of a work, by their medians.
fn middle_half(of_work: &OfLengths) -> f64 {
    let mut medians: Vec<f64> =
        of_work[LENGTHS_MS.len() - 1].iter().filter_map(|trial| median(trial)).collect();
    medians.sort_by(f64::total_cmp);
    medians[medians.len() * 3 / 4] / medians[medians.len() / 4]
}

fn any_differs(session: &[(Differs, String)]) -> bool {
    session.iter().any(|(length, _)| matches!(length, Differs::Less | Differs::More))
}

/// Trials of each length that take turns.
fn turns(experiment: &str, wanted: PointFilter, (home, partner): (usize, usize)) -> Outcome<OfLengths> {
    let mut trials = OfLengths::default();
    for _ in 0..TRIALS {
        for (length, of_length) in LENGTHS_MS.iter().zip(&mut trials) {
            let observe = Duration::from_millis(*length);
            let setting = crate::described::setting(7, observe.as_nanos() as u64);
            let setting = Setting { home: Some(home), partner: Some(partner), ..setting };
            of_length.push(values(&trial(fathom(), experiment, wanted, setting)?));
        }
    }
    Ok(trials)
}

fn joined(sessions: impl IntoIterator<Item = OfLengths>) -> OfLengths {
    let mut all = OfLengths::default();
    for session in sessions {
        all.iter_mut().zip(session).for_each(|(all, more)| all.extend(more));
    }
    all
}

/// Each session's verdicts on the shorter lengths.
fn verdicts(sessions: &[OfLengths]) -> Vec<Vec<(Differs, String)>> {
    sessions
        .iter()
        .map(|trials| {
            let figures: Vec<Option<Figure>> = trials.iter().map(|of_length| figure(of_length)).collect();
            let longest = figures[figures.len() - 1];
            let over = |figure: &Option<Figure>| match (figure, longest) {
                (Some(figure), Some(longest)) => verdict(figure.over(longest)),
                _ => (Differs::Undecided, "no interval".to_owned()),
            };
            figures.iter().take(figures.len() - 1).map(over).collect()
        })
        .collect()
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
