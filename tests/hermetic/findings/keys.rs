//! Findings of every experiment: each has a key and a question of its own, and without results there is none.

use super::machine;
use fathom::experiment::{Dimension, Experiment, Known, Point, Question};
use fathom::experiments;
use fathom::machine::Machine;
use fathom::quantity::Unit;
use fathom_described::found_within;

#[test]
fn every_question_has_words_and_a_name_of_its_own() {
    for (place, question) in Question::ALL.iter().enumerate() {
        assert!(question.text().ends_with('?'), "{question:?}");
        assert!(Question::ALL[..place].iter().all(|other| other.name() != question.name()), "{question:?}");
    }
}

/// Every point of an experiment, each with a value of its own.
fn all_learned<'run>(experiment: &dyn Experiment, machine: &'run Machine) -> Known<'run> {
    let mut known = Known::new(machine, Some(3e9));
    for (place, point) in experiment.sweep(machine).iter().enumerate() {
        // In no order of the sweep.
        let value = 1e6 * (1 + place * 37 % 101) as f64 + place as f64;
        let dimension = Dimension::Of(experiment.unit(point));
        known.learn(experiment.about().name, point, found_within(0.001, value, dimension));
    }
    known
}

#[test]
fn headlines_are_of_the_settings_that_findings_compare() {
    let machine = machine();
    for name in ["network/bandwidth", "network/connection", "filesystem/write"] {
        let experiment = experiments::find(name).expect("an experiment");
        let known = all_learned(experiment, &machine);
        let found: Vec<f64> = experiment
            .findings(&known)
            .iter()
            .flat_map(|said| said.statement.figures().map(|figure| figure.found.value).collect::<Vec<_>>())
            .collect();
        for figure in experiment.about().shown.main_figures {
            let worth = |point: &Point| {
                let value = known.median(name, point)?;
                Some(if experiment.unit(point) == Unit::Nanoseconds { [-value; 2] } else { [value; 2] })
            };
            let alike = figure.choose_best(known.points(name), &[], worth);
            let point = *alike.first().expect("a point");
            let headline = known.median(name, point).expect("a value");
            assert!(found.contains(&headline), "{name}: {} ({point}) is in no finding", figure.words);
        }
    }
}

#[test]
fn of_nothing_nothing_is_said() {
    let machine = machine();
    let known = Known::new(&machine, None);
    for experiment in experiments::all() {
        let said = experiment.findings(&known);
        assert!(said.is_empty(), "{}: {said:?}", experiment.about().name);
    }
}

#[test]
fn a_finding_is_told_from_the_others_of_its_experiment_by_its_key() {
    let machine = machine();
    let mut known = Known::new(&machine, Some(3e9));
    for experiment in experiments::all() {
        for (place, point) in experiment.sweep(&machine).into_iter().enumerate() {
            let value = 100.0 * (place + 1) as f64;
            let dimension = Dimension::Of(experiment.unit(&point));
            known.learn(experiment.about().name, &point, found_within(0.01, value, dimension));
        }
    }
    let mut findings = 0;
    for experiment in experiments::all() {
        let mut keys: Vec<String> =
            experiment.findings(&known).into_iter().map(|finding| finding.key).collect();
        findings += keys.len();
        keys.sort();
        let twice = keys.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None, "{}", experiment.about().name);
    }
    assert!(findings > 100, "{findings} findings");
}
