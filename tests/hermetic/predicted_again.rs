//! Predictions of stored runs, made again: `fathom report RUN --predict-again`.

use crate::printed_runs::read;
use fathom::results::{Results, predicted_again};

/// The committed runs of real machines, and the least share of their values that today's predictors have within a factor of two: below
/// what they have, so that a predictor that is broken by a change shows.
const RUNS: [(&str, f64); 3] = [
    ("zen3-shared-quick-1.jsonl.gz", 0.8),
    ("emerald-rapids-quick.jsonl.gz", 0.8),
    ("system-calls.jsonl.gz", 0.8),
];

#[test]
fn what_was_predicted_then_has_no_influence_on_what_is_predicted_now() {
    let (name, _) = RUNS[2];
    let run = read(name);
    let mut other = read(name);
    let terms = other.predictions.iter_mut().filter_map(|line| line.prediction.as_mut());
    terms.flat_map(|prediction| &mut prediction.terms).for_each(|term| term.each *= 1e3);
    assert_ne!(run.predictions, other.predictions);
    let (one, two) = (predicted_again(run), predicted_again(other));
    assert_eq!(one.predictions, two.predictions, "the recorded terms are not used");
    assert!(!one.predictions.is_empty());
}

#[test]
fn todays_predictors_are_scored_on_every_committed_run() {
    println!("run, kind, judged, within 2, within 1.25");
    for (name, least) in RUNS {
        let run = predicted_again(read(name));
        let accuracy = Results::of(&run).accuracy;
        for tally in accuracy.by_ground().into_iter().chain(accuracy.total.as_ref()) {
            println!(
                "{name}, {}, {}, {:.3}, {:.3}",
                tally.name, tally.judged, tally.fair.share, tally.close.share
            );
        }
        let total = accuracy.total.as_ref().expect("values that were predicted");
        assert!(total.judged > 20 && total.fair.share >= least, "{name}: {:?}", total.fair);
    }
}
