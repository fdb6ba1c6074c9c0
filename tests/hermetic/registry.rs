//! Rules over all experiments. A message names what to mend.

use crate::described::planted::{Described, described, hybrid, server, workstation};
use fathom::experiment::{AXIS_PLACEMENT, Effort, Experiment, Known, Point, SweepOptions, Value};
use fathom::experiments;
use fathom::plan;
use fathom::quantity::Kind;
use std::collections::BTreeSet;
use std::path::Path;

/// Where experiments stand, each in the folder of its family.
const QUESTIONS: &str = "crates/experiments/src/questions";

fn points(experiment: &dyn Experiment) -> Vec<Point> {
    experiment.sweep(&crate::described::machine())
}

#[test]
fn names_are_those_of_the_files_and_unique() {
    let mut seen = BTreeSet::new();
    for experiment in experiments::all() {
        let name = experiment.about().name;
        assert!(seen.insert(name), "{name} is registered twice");
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(QUESTIONS).join(name);
        let stands = place.with_extension("rs").exists() || place.join("mod.rs").exists();
        assert!(stands, "{name} should stand in {0}.rs or {0}/mod.rs", place.display());
        assert!(std::ptr::addr_eq(experiments::find(name).unwrap(), experiment));
    }
}

/// Two machines measure the same rows where their caches are of other sizes: half of each, and memory.
#[test]
fn rows_of_a_level_match_across_machines_whose_caches_differ() {
    let of = |table: &str, cpus: usize| {
        let plan = Described { affinity: (0..cpus).collect(), ..Described::default() };
        described(table, &plan)
    };
    let (server, laptop) = (of(&server(), 8), of(&hybrid(), 8));
    for name in ["memory/bandwidth", "memory/memory_parallelism"] {
        let rows = |machine, of_point: &dyn Fn(&Point) -> Point| -> BTreeSet<Point> {
            experiments::find(name).unwrap().sweep(machine).iter().map(of_point).collect()
        };
        assert_ne!(
            rows(&server, &Point::clone),
            rows(&laptop, &Point::clone),
            "{name}: the sizes are the machine's"
        );
        assert_eq!(rows(&server, &Point::on_any_machine), rows(&laptop, &Point::on_any_machine), "{name}");
        assert_eq!(rows(&server, &Point::on_any_machine).len(), rows(&server, &Point::clone).len(), "{name}");
    }
}

#[test]
fn main_figures_are_of_points_that_some_machine_has() {
    let machines = [crate::described::machine(), workstation()];
    let asked = SweepOptions { peer: true, ..SweepOptions::default() };
    for experiment in experiments::all() {
        let about = experiment.about();
        for figure in about.shown.main_figures {
            let found = machines.iter().any(|machine| {
                let points = experiment.sweep_for(machine, &asked);
                let shown: Vec<Point> = match (figure.slope, about.trends.first()) {
                    (false, _) => points,
                    (true, Some(trend)) => points.iter().map(|point| point.without(trend.along)).collect(),
                    (true, None) => vec![],
                };
                figure.choose(shown.iter(), &(about.shown.landmarks)(machine)).is_some()
            });
            assert!(found, "{}: nothing is {}", about.name, figure.words);
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_file_of_a_family_that_asks_a_question_is_registered() {
    let registered: BTreeSet<&str> = experiments::all().map(|experiment| experiment.about().name).collect();
    let families = Path::new(env!("CARGO_MANIFEST_DIR")).join(QUESTIONS);
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    for family in entries(&families).filter(|path| path.is_dir()) {
        for file in entries(&family).filter(|path| path.is_file()) {
            let text = std::fs::read_to_string(&file).unwrap();
            let (family, stem) = (stem(&family), stem(&file));
            assert!(
                !text.contains("impl Experiment for") || registered.contains(&*format!("{family}/{stem}")),
                "add `&{stem}::…` to EXPERIMENTS in {QUESTIONS}/{family}/mod.rs"
            );
        }
    }
}

#[test]
fn headers_say_what_is_asked_and_how() {
    for experiment in experiments::all() {
        let about = experiment.about();
        assert!(about.question.ends_with('?'), "{}: the question is none", about.name);
        assert!(
            about.method.len() > 200,
            "{}: the method section is too short to repeat the work",
            about.name
        );
        assert!(!about.operation.is_empty() && about.version >= 1, "{}", about.name);
    }
}

#[test]
fn points_are_distinct_and_set_only_declared_parameters() {
    for experiment in experiments::all() {
        let about = experiment.about();
        let declared: BTreeSet<&str> =
            about.parameters.iter().map(|parameter| parameter.name).chain([AXIS_PLACEMENT.name]).collect();
        let points = points(experiment);
        let distinct: BTreeSet<&Point> = points.iter().collect();
        assert_eq!(distinct.len(), points.len(), "{}: two points are the same", about.name);
        assert!(!points.is_empty(), "{}: no points", about.name);
        for point in &points {
            assert!(point.get(AXIS_PLACEMENT.name).is_some(), "{} {point}: no placement", about.name);
            for (name, _) in point.parameters() {
                assert!(
                    declared.contains(name),
                    "{} {point}: {name} is not declared in `parameters`",
                    about.name
                );
            }
        }
        for trend in about.trends {
            let along = |point: &&Point| matches!(point.get(trend.along), Some(Value::Number(_)));
            assert!(
                points.iter().filter(along).count() >= 3,
                "{}: nothing to fit along {}",
                about.name,
                trend.along
            );
        }
    }
}

/// Figures of which nothing is published, or which are expected to be nothing at all, so that no factor could tell how far off a
/// prediction was.
const UNPREDICTED: [(&str, &str); 6] = [
    ("cpu/scheduling_latency", "misses"),
    ("cpu/scheduling_latency", "throttling"),
    ("cpu/shared_core", "slowed"),
    ("network/bandwidth", "ramp"),
    ("network/bandwidth", "loss"),
    ("network/bandwidth", "bytes of a read"),
];

#[test]
fn every_point_is_predicted_with_its_derivation_on_a_machine_of_which_nothing_is_known() {
    let machine = crate::described::machine();
    let known = Known::new(&machine, None);
    for experiment in experiments::all() {
        for point in points(experiment) {
            let name = experiment.about().name;
            let figure = point.get("figure").map(ToString::to_string).unwrap_or_default();
            let prediction = match experiment.predict(&point, &known) {
                Ok(prediction) => prediction,
                Err(_) if UNPREDICTED.contains(&(name, figure.as_str())) => continue,
                Err(why) => panic!("{name} {point}: {why}"),
            };
            assert!(
                prediction.total().is_finite() && prediction.total() > 0.0,
                "{name} {point}: {prediction:?}"
            );
            if let Some(bound) = experiment.bound(&point, &known) {
                let possible = match experiment.unit(&point).kind() {
                    Kind::Rate => bound.limit > prediction.total(),
                    Kind::Cost | Kind::Size => bound.limit < prediction.total(),
                };
                assert!(bound.limit.is_finite() && possible, "{name} {point}: {bound:?} {prediction:?}");
            }
        }
    }
}

#[test]
fn every_point_is_either_measured_or_skipped_with_a_reason() {
    let machine = crate::described::machine();
    let all: Vec<_> = experiments::all().collect();
    let expected: usize = all.iter().map(|experiment| points(*experiment).len()).sum();
    for effort in [Effort::Quick, Effort::Standard, Effort::Thorough] {
        let planned = plan::points(&all, &machine, effort, &SweepOptions::default());
        assert_eq!(planned.len(), expected);
        assert!(planned.iter().filter_map(|point| point.skip.as_ref()).all(|reason| reason.len() > 10));
    }
    let skipped = |effort| {
        plan::points(&all, &machine, effort, &SweepOptions::default())
            .iter()
            .filter(|point| point.skip.is_some())
            .count()
    };
    assert!(skipped(Effort::Quick) > skipped(Effort::Standard), "quick leaves something out, and says so");
}
