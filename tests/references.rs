//! The published figures: nothing lost, nothing unknown, nothing doubtful that looks sound.

use fathom::references::{self, Doubt, Fact, Figure, Kind, Role, Unit, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Figures by source and kind, counted in the sources' texts when the data were taken from them.
const COUNTS: [(&str, Kind, usize); 25] = [
    ("000", Kind::Measured, 181),
    ("000", Kind::Trial, 15),
    ("000", Kind::Estimate, 48),
    ("000", Kind::Analysis, 22),
    ("000", Kind::Fit, 2),
    ("000", Kind::Summary, 33),
    ("000", Kind::Cited, 7),
    ("001", Kind::Measured, 44),
    ("001", Kind::Estimate, 12),
    ("001", Kind::Analysis, 11),
    ("001", Kind::Fit, 1),
    ("001", Kind::Summary, 28),
    ("001", Kind::Cited, 7),
    ("002", Kind::Measured, 12),
    ("002", Kind::Estimate, 3),
    ("002", Kind::Analysis, 4),
    ("003", Kind::Measured, 210),
    ("003", Kind::Trial, 230),
    ("003", Kind::Estimate, 11),
    ("003", Kind::Analysis, 39),
    ("003", Kind::Summary, 28),
    ("003", Kind::Cited, 25),
    ("004", Kind::Estimate, 2),
    ("004", Kind::Summary, 49),
    ("lmbench", Kind::Cited, 58),
];

/// The numbers that a figure may have.
const NUMBERS: [&str; 25] = [
    "value",
    "low",
    "high",
    "median",
    "min",
    "max",
    "stddev",
    "intercept",
    "hardware",
    "hardware_low",
    "hardware_high",
    "software",
    "software_low",
    "software_high",
    "predicted",
    "predicted_low",
    "predicted_high",
    "predicted_intercept",
    "corrected",
    "instructions",
    "cycles_per_byte",
    "stddev_cycles_per_byte",
    "bytes_per_cycle",
    "median_cycles",
    "cycles",
];

/// Numbers in cycles beside those in the unit.
const IN_CYCLES: [&str; 3] = ["stddev_cycles", "predicted_cycles", "corrected_cycles"];

#[test]
fn every_figure_of_every_source_is_there() {
    let mut found: BTreeMap<(&str, Kind), usize> = BTreeMap::new();
    for figure in references::figures() {
        *found.entry((figure.source(), figure.kind())).or_default() += 1;
    }
    let expected: BTreeMap<(&str, Kind), usize> =
        COUNTS.into_iter().map(|(source, kind, count)| ((source, kind), count)).collect();
    assert_eq!(found, expected);
}

#[test]
fn ids_are_unique_run_on_and_name_their_source() {
    let ids: BTreeSet<&str> = references::figures().iter().map(Figure::id).collect();
    assert_eq!(ids.len(), references::figures().len(), "an id is given twice");
    for (prefix, last) in
        [("s000", 305), ("s001", 103), ("s002", 19), ("s003", 543), ("s004", 51), ("lmbench", 61)]
    {
        let of_prefix = ids.iter().filter(|id| id.starts_with(&format!("{prefix}-"))).count();
        assert_eq!(of_prefix, last, "{prefix}");
        for number in 1..=last {
            let id = format!("{prefix}-{number:04}");
            let figure = references::figure(&id).unwrap_or_else(|| panic!("{id} is missing"));
            assert_eq!(figure.id(), id);
            if let Some(report) = prefix.strip_prefix('s') {
                assert_eq!(figure.source(), report, "{id}");
            }
        }
    }
    assert!(references::figure("s000-9999").is_none() && references::figure("").is_none());
}

#[test]
fn every_figure_has_a_machine_a_source_and_a_place() {
    for figure in references::figures() {
        let id = figure.id();
        let machine =
            references::machine(figure.machine()).unwrap_or_else(|| panic!("{id}: no such machine"));
        assert!(machine.sources.iter().any(|source| source == figure.source()), "{id}: {}", machine.id);
        assert!(references::source(figure.source()).is_some(), "{id}: {}", figure.source());
        assert!(figure.line() > 0 && !figure.section().is_empty() && !figure.table().is_empty(), "{id}");
        assert!(
            ["cpu", "memory", "network", "filesystem"].contains(&figure.area()),
            "{id}: {}",
            figure.area()
        );
        assert!(!figure.operation().is_empty() && !figure.variant().is_empty(), "{id}");
        assert!(!figure.printed().to_string().is_empty(), "{id}");
        if let Some(remote) = figure.remote() {
            assert!(references::machine(remote).is_some(), "{id}: {remote}");
        }
        if figure.kind() == Kind::Trial {
            assert!(figure.trial().is_some(), "{id}");
        }
    }
}

#[test]
fn numbers_have_known_keys_and_are_finite() {
    for figure in references::figures() {
        for (key, number) in figure.numbers() {
            assert!(NUMBERS.contains(&key) || IN_CYCLES.contains(&key), "{}: {key}", figure.id());
            assert!(number.is_finite(), "{}: {key}", figure.id());
        }
        for key in figure.derived() {
            assert!(figure.number(key).is_some(), "{}: {key} is derived and not there", figure.id());
        }
        let ends = [figure.number("low"), figure.number("high")];
        if let [Some(low), Some(high)] = ends {
            assert!(low <= high, "{}", figure.id());
        }
        assert!(figure.deviation().is_none_or(|deviation| deviation >= 0.0), "{}", figure.id());
        if figure.unit() == Unit::Cycles {
            assert!(figure.value().is_none(), "{}: cycles stand in `cycles`", figure.id());
        }
    }
}

#[test]
fn a_correction_and_a_misgiving_stand_only_with_a_doubt() {
    let mut doubts = BTreeSet::new();
    for figure in references::figures() {
        let corrected = figure.corrected().is_some() || figure.number("corrected_cycles").is_some();
        assert!(!corrected || figure.doubt().is_some(), "{}: corrected without a doubt", figure.id());
        assert_eq!(figure.doubt().is_some(), figure.misgiving().is_some(), "{}", figure.id());
        doubts.extend(figure.doubt());
    }
    assert_eq!(doubts, BTreeSet::from(Doubt::ALL), "every doubt is one of some figure");
    assert_eq!(references::figures().iter().filter(|figure| figure.doubt().is_some()).count(), 164 + 15);
}

#[test]
fn a_doubtful_figure_shows_its_doubt_and_is_reckoned_with_as_corrected() {
    let tenfold = references::figure("s000-0074").unwrap();
    let value = tenfold.value().unwrap();
    assert_eq!(value, Value::Doubtful { printed: 0.6064, doubt: Doubt::Typo, corrected: Some(0.0606) });
    assert_eq!((value.printed(), value.to_reckon_with()), (0.6064, Some(0.0606)));
    assert!(tenfold.printed().to_string().ends_with("(doubtful: typo)"), "{}", tenfold.printed());
    let quoted = references::figure("s003-0241").unwrap().value().unwrap();
    assert_eq!(quoted.to_reckon_with(), None, "nobody measured it");
    let sound = references::figure("s000-0027").unwrap();
    assert_eq!(sound.value(), Some(Value::Sound(74.1663)));
    assert_eq!(sound.deviation(), Some(0.0955));
    assert!(!sound.printed().to_string().contains("doubtful"));
}

#[test]
fn names_of_doubts_in_code_are_those_in_the_data() {
    for doubt in Doubt::ALL {
        assert_eq!(serde_json::to_value(doubt).unwrap(), doubt.name());
        assert!(doubt.sentence().ends_with('.'), "{}", doubt.name());
    }
}

#[test]
fn machines_are_known_by_one_id_and_peers_exist() {
    let ids: BTreeSet<&str> = references::machines().iter().map(|machine| machine.id.as_str()).collect();
    assert_eq!(ids.len(), references::machines().len());
    assert_eq!(ids.len(), 13 + 4);
    for machine in references::machines() {
        assert!(machine.sources.iter().all(|source| references::source(source).is_some()), "{}", machine.id);
        assert!(machine.peer_of.as_deref().is_none_or(|other| ids.contains(other)), "{}", machine.id);
        assert!(
            machine.role != Role::Measured || references::of_machine(&machine.id).count() > 0,
            "{}",
            machine.id
        );
        for (key, fact) in &machine.facts {
            let counted = ["_bytes", "_hz", "_ns", "_per_s"].iter().any(|unit| key.ends_with(unit));
            assert!(!counted || matches!(fact, Fact::Number(_)), "{}: {key}", machine.id);
        }
    }
    assert_eq!(references::machine("i7-1250u-ubuntu-24.04").unwrap().number("cycle_time_ns"), Some(0.5315));
}

#[test]
fn figures_of_a_report_are_those_that_it_prints() {
    assert_eq!(references::of_report("000").count(), 305 + 3);
    assert_eq!(references::of_report("002").count(), 19);
    assert_eq!(references::of_report("999").count(), 0);
}
