//! The published reports' rows: each is whole, and each asks Fathom for points that exist.

use fathom::experiment::{Point, SweepOptions};
use fathom::experiments;
use fathom::machine::{Fact, Machine};
use fathom::record::TrialOutcome;
use fathom::references::{self, Figure, Kind, SameMethod};
use fathom::replicate::record::{Header, Line, MethodLine, Replication, ReplicationEnd, SCHEMA_VERSION};
use fathom::replicate::{Replica, Report, Row, SameQuestion, Series, Theirs, find, reports};
use std::collections::BTreeSet;

fn rows() -> impl Iterator<Item = (&'static Report, &'static Row)> {
    reports().iter().flat_map(|report| report.rows.iter().map(move |row| (report, row)))
}

#[test]
fn reports_are_found_by_number_and_by_machine() {
    for report in reports() {
        assert_eq!(find(report.id).map(|found| found.id), Some(report.id));
        let by_machine = find(report.machine).expect(report.machine);
        assert_eq!(by_machine.machine, report.machine);
        assert!(
            !report.rows.is_empty() && !report.title.is_empty() && !report.methodology.is_empty(),
            "{}",
            report.id
        );
    }
    assert!(find("zzz").is_none() && find("").is_none());
}

#[test]
fn every_row_says_what_it_is_how_it_is_done_and_where_it_misleads() {
    for (report, row) in rows() {
        let name = format!("{} {}", report.id, row.operation);
        assert!(!row.section.is_empty() && !row.operation.is_empty() && !row.misleads.is_empty(), "{name}");
        match row.replica {
            Replica::By(method) => assert!(method.text.len() > 40 && !method.name.is_empty(), "{name}"),
            Replica::NotHere(reason) => assert!(reason.len() > 20, "{name}: {reason}"),
        }
        if let SameQuestion::Nowhere { nowhere: reason } = &row.fathom {
            assert!(reason.len() > 20, "{name}: {reason}");
        }
    }
}

#[test]
fn methods_of_a_report_have_names_of_their_own() {
    for report in reports() {
        let methods = report.methods();
        for row in report.rows {
            if let Replica::By(method) = row.replica {
                let same = methods.iter().find(|known| known.name == method.name).expect(method.name);
                assert_eq!(same.text, method.text, "{} has two methods `{}`", report.id, method.name);
            }
        }
        let operations: BTreeSet<&str> = report.rows.iter().map(|row| row.operation).collect();
        assert_eq!(operations.len(), report.rows.len(), "{} has two rows of one name", report.id);
    }
}

#[test]
fn fathoms_points_are_in_the_sweeps_of_a_described_machine() {
    let machine = crate::described::machine();
    for (report, row) in rows() {
        let points = row.fathom.points(&machine);
        assert_eq!(
            points.is_empty(),
            matches!(row.fathom, SameQuestion::Nowhere { .. }),
            "{} {}",
            report.id,
            row.operation
        );
        for (name, point) in points {
            let experiment = experiments::find(name).expect(name);
            assert!(
                experiment
                    .sweep_for(&machine, &SweepOptions { peer: true, ..SweepOptions::default() })
                    .contains(&point),
                "{} {}: {name} {point}",
                report.id,
                row.operation
            );
        }
    }
}

#[test]
fn every_experiment_that_a_report_has_figures_of_has_its_row() {
    for report in reports() {
        let measured = |figure: &&Figure| matches!(figure.kind(), Kind::Measured | Kind::Summary);
        let wanted: BTreeSet<&str> =
            references::of_report(report.id).filter(measured).map(Figure::operation).collect();
        assert!(wanted.len() > 10, "{}: {wanted:?}", report.id);
        let told: BTreeSet<&str> = report.rows.iter().filter_map(figure).map(Figure::operation).collect();
        let missing: Vec<&&str> = wanted.difference(&told).collect();
        assert!(missing.is_empty(), "report {} has no row for {missing:?}", report.id);
    }
}

fn figure(row: &Row) -> Option<&'static Figure> {
    match row.theirs {
        Theirs::Printed(id) => Some(references::figure(id).unwrap_or_else(|| panic!("no figure {id}"))),
        Theirs::NotPrinted(_) => None,
    }
}

#[test]
fn rows_count_what_the_figures_beside_them_count() {
    for (report, row) in rows() {
        let Some(figure) = figure(row) else { continue };
        assert_eq!(figure.source(), report.id, "{}", row.operation);
        if let Some(unit) = figure.unit().quantity() {
            assert_eq!(unit, row.unit, "{} {} and {}", report.id, row.operation, figure.id());
        }
    }
}

/// The text of a replication that has measured one method.
pub fn recorded() -> String {
    let header = Header {
        schema: SCHEMA_VERSION,
        tool: crate::described::header(vec![]).tool,
        report: "000".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        quick: true,
        thorough: false,
        only: vec![],
        run: "run.jsonl".to_owned(),
    };
    let outcome =
        TrialOutcome::Measured { sample: Series::of(vec![1.0, 2.0]).with_notes(["one fault".to_owned()]) };
    let method = MethodLine { method: "any".to_owned(), took_s: 1.0, outcome };
    let lines =
        [Line::Replication(header), Line::Method(method), Line::Closing(ReplicationEnd { took_s: 1.0 })];
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

#[test]
fn what_was_written_is_read_back_and_a_torn_end_is_left_out() {
    let text = recorded();
    let whole = Replication::parse(&text).unwrap();
    assert_eq!(whole.header.report, "000");
    assert!(whole.of("any").is_some() && whole.of("other").is_none());
    let torn = &text[..text.find("\"seen\"").unwrap()];
    assert_eq!(Replication::parse(torn).unwrap().methods, vec![]);
}

#[test]
fn a_file_of_schema_1_whose_samples_are_called_series_is_read() {
    let text = recorded();
    let old = text.replacen("\"schema\":2", "\"schema\":1", 1).replacen("\"sample\"", "\"series\"", 1);
    assert_ne!(old, text);
    assert_eq!(Replication::parse(&old).unwrap().methods, Replication::parse(&text).unwrap().methods);
}

#[test]
fn a_file_that_is_empty_edited_or_newer_is_refused_with_its_reason() {
    let refused = |text: &str| Replication::parse(text).unwrap_err().to_string();
    assert!(refused("").contains("empty"));
    assert!(refused("{}\n").contains("line 1"));
    let text = recorded();
    assert!(refused(&text.replacen("\"schema\":2", "\"schema\":3", 1)).contains("newer"));
    assert!(refused(&text.replacen("\"values\"", "\"valu\"", 1)).contains("line 2"));
    let twice = text.lines().next().unwrap().to_owned() + "\n";
    assert!(refused(&(twice.clone() + &twice)).contains("second header"));
}

#[test]
fn reports_are_listed_and_an_unknown_one_is_told() {
    let fathom = || assert_cmd::Command::cargo_bin("fathom").unwrap();
    let list = fathom().arg("replicate").assert().success().get_output().stdout.clone();
    let list = String::from_utf8(list).unwrap();
    assert!(reports().iter().all(|report| list.contains(report.id)), "{list}");
    let output = fathom().args(["replicate", "005"]).assert().code(2).get_output().clone();
    assert!(String::from_utf8_lossy(&output.stderr).contains("fathom replicate"), "{output:?}");
}

const COMPILED: &str = "they time a call that was compiled without optimisation; what a call costs is that of an optimising compiler";
const END: &str = "they time a close() that waits for nobody; a connection has ended when both sides know";
const LOOP: &str = "they time a loop; what one core can move is told by the widest instructions that it has";

/// Printed figures whose method one point repeats, while another answers their question rightly; and why.
const METHOD_AND_QUESTION: [(&str, &str); 13] = [
    ("s000-0016", COMPILED),
    ("s000-0023", COMPILED),
    ("s001-0005", COMPILED),
    ("s001-0012", COMPILED),
    ("s001-0055", END),
    ("s001-0058", END),
    (
        "s002-0014",
        "they time minor faults and a flush; the service of a page fault is that of one that waits for its device",
    ),
    (
        "s003-0203",
        "their order is random within a stride; what a level of the caches takes is told by one random cycle",
    ),
    ("s003-0207", LOOP),
    ("s003-0208", LOOP),
    ("s003-0209", LOOP),
    ("s003-0210", LOOP),
    ("s003-0211", LOOP),
];

/// The point that repeats the method of a figure, where there is one.
fn same_method(figure: &Figure, machine: &Machine) -> Option<(&'static str, Point)> {
    let of_it = |same: &&SameMethod| same.figures.iter().any(|assigned| assigned.id() == figure.id());
    let same = references::same_methods().iter().find(of_it)?;
    let asked = SweepOptions { peer: true, ..SweepOptions::default() };
    let sweep = experiments::find(same.points.experiment)?.sweep_for(machine, &asked);
    let points: Vec<&Point> = sweep.iter().collect();
    let chosen = same.choose(figure, &points, machine).expect("a mapped figure has its point");
    Some((same.points.experiment, sweep[chosen].clone()))
}

/// On other processors than that of the described machine some points are not in the sweeps.
#[cfg(target_arch = "x86_64")]
#[test]
fn where_the_same_method_and_the_same_question_are_different_points_is_known_with_its_reason() {
    let mut machine = crate::described::machine();
    let widest = ["avx2", "avx512f"].map(str::to_owned).to_vec();
    machine.processor.features = Fact::known(widest, "described");
    let mut related = BTreeSet::new();
    let mut different = BTreeSet::new();
    for (_, row) in rows() {
        let Some((figure, method)) =
            figure(row).and_then(|figure| Some((figure, same_method(figure, &machine)?)))
        else {
            continue;
        };
        related.insert(figure.id());
        if row.fathom.points(&machine) != [method] {
            different.insert(figure.id());
        }
    }
    assert_eq!(related.len(), 29, "figures that both relations have: {related:?}");
    let known: BTreeSet<&str> = METHOD_AND_QUESTION.iter().map(|(figure, _)| *figure).collect();
    assert_eq!(different, known, "name the new one with its reason, or make the two agree");
}
