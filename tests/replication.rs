//! The published reports' rows: each is whole, and each asks Fathom for points that exist.

mod described;

use fathom::experiment::Asked;
use fathom::experiments;
use fathom::replicate::{Fathom, REPORTS, Replica, Report, Row, find};
use std::collections::BTreeSet;

fn rows() -> impl Iterator<Item = (&'static Report, &'static Row)> {
    REPORTS.into_iter().flat_map(|report| report.rows.iter().map(move |row| (report, row)))
}

#[test]
fn reports_are_found_by_number_and_by_machine() {
    for report in REPORTS {
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
        if let Fathom::Nowhere(reason) = row.fathom {
            assert!(reason.len() > 20, "{name}: {reason}");
        }
    }
}

#[test]
fn methods_of_a_report_have_names_of_their_own() {
    for report in REPORTS {
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
    let machine = described::machine();
    for (report, row) in rows() {
        let points = row.fathom.points(&machine);
        assert_eq!(
            points.is_empty(),
            matches!(row.fathom, Fathom::Nowhere(_)),
            "{} {}",
            report.id,
            row.operation
        );
        for (name, point) in points {
            let experiment = experiments::find(name).expect(name);
            assert!(
                experiment.sweep_for(&machine, &Asked { peer: true, processes: vec![] }).contains(&point),
                "{} {}: {name} {point}",
                report.id,
                row.operation
            );
        }
    }
}
