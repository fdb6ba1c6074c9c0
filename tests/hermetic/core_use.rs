//! Like with like in runs of real machines whose core was shared for part of the time: no sentence, mechanism, cross-check or line mixes the
//! core alone and the core shared without saying so; and no ratio compares a published figure of another operation.

use crate::committed::{SHARED_CORES, run};
use fathom::experiment::{CoreUse, Statement};
use fathom::report::{Form, RunReport, Style, render};
use fathom::results::{Agreement, Results};

const SHARED: &str = "with the core shared";
const OF_BOTH: &str = "Not like with like";

fn mixes(statement: &Statement) -> bool {
    let has = |state| statement.figures().any(|figure| figure.found.core == Some(state));
    let states = [CoreUse::Alone, CoreUse::Shared, CoreUse::Mixture];
    has(CoreUse::Both) || states.into_iter().filter(|state| has(*state)).count() > 1
}

/// Whether a figure is of the core shared.
fn is_shared(statement: &Statement) -> bool {
    statement.figures().any(|figure| figure.found.core == Some(CoreUse::Shared))
}

#[test]
fn every_statement_says_so_whose_figures_are_not_of_the_core_alone() {
    let mut instead = 0;
    for (name, compressed) in SHARED_CORES {
        let run = run(compressed);
        let results = Results::of(&run);
        let own = results.findings.iter().flat_map(|(_, of)| of).filter(|finding| !finding.is_miss());
        let headlines = results.mechanisms.iter().map(|mechanism| &mechanism.headline);
        for statement in own.map(|finding| &finding.statement).chain(headlines) {
            let text = statement.plain();
            assert_eq!(mixes(statement), text.contains(OF_BOTH), "{name}: {text}");
            assert!(
                mixes(statement) || !is_shared(statement) || text.to_lowercase().contains(SHARED),
                "{name}: {text}"
            );
            instead += usize::from(text.to_lowercase().contains(SHARED));
        }
        for check in &results.cross_checks {
            let is_open = check.agreement == Agreement::Undecided;
            assert!(!mixes(&check.statement) || is_open, "{name}: {}", check.statement.plain());
            let text = check.statement.plain();
            assert!(
                is_open || !is_shared(&check.statement) || text.to_lowercase().contains(SHARED),
                "{name}: {text}"
            );
            instead += usize::from(text.to_lowercase().contains(SHARED));
        }
    }
    assert!(instead > 0, "there is a statement to judge");
}

#[test]
fn no_line_goes_through_points_of_both_states() {
    let mut left_out = 0;
    for (name, compressed) in SHARED_CORES {
        let run = run(compressed);
        let results = Results::of(&run);
        for trend in &results.trends {
            let along = |point: &&fathom::results::PointResult| {
                point.experiment == trend.experiment
                    && point.point.get(&trend.along).is_some()
                    && point.point.without(&trend.along) == trend.group
                    && point.estimate().is_some()
            };
            let state = |x: f64| {
                let at = |point: &&fathom::results::PointResult| {
                    point.point.number_of(&trend.along).is_some_and(|number| (number as f64 - x).abs() < 0.5)
                };
                let point = results.points.iter().filter(along).find(at)?;
                point.figure()?.core
            };
            let states: Vec<CoreUse> = trend.points.iter().filter_map(|(x, _)| state(*x)).collect();
            let is_one = states.windows(2).all(|pair| pair[0] == pair[1]);
            assert!(is_one, "{name}: {} {}: {states:?}", trend.experiment, trend.group);
            left_out += results.points.iter().filter(along).count() - trend.points.len();
        }
    }
    assert!(left_out > 0, "there is a line that would have mixed them");
}

/// The row of a published figure whose source timed calls of an empty body, beside ours that add up their arguments.
#[test]
fn a_published_figure_of_another_operation_has_no_ratio() {
    let run = run(SHARED_CORES[1].1);
    let results = Results::of(&run);
    let text = render(&RunReport::of(&results), Form::Markdown, Style { width: 2000, colour: false });
    let section = text.split("Beside the nearest published machines\n").last().expect("the section");
    let rows = |word: &str| {
        section.lines().filter(|line| line.contains(word)).map(str::to_owned).collect::<Vec<_>>()
    };
    let unlike = rows("The body is empty");
    assert!(!unlike.is_empty() && unlike.iter().all(|row| !row.contains('×')), "{unlike:?}");
    let alike = rows("which includes the loop and the clock");
    assert!(!alike.is_empty() && alike.iter().all(|row| row.contains('×')), "{alike:?}");
}
