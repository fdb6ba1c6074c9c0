//! The published figures: nothing lost, nothing unknown, nothing doubtful that looks sound.

use clap::ValueEnum;
use fathom::experiment::{PEER, Point, SweepOptions, VIRTUAL_PEER};
use fathom::experiments;
use fathom::references::{self, Doubt, Fact, Figure, Kind, Role, Unit, Value};
use fathom::report::published::{MachineList, Machines};
use fathom::report::{Facts, Form, RunReport, Style, Subject, appendix, render};
use fathom::results::Results;
use serde_json::json;
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
        assert_eq!(figure.doubt().is_some(), figure.doubt_note().is_some(), "{}", figure.id());
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
    assert_eq!(sound.value(), Some(Value::AsPrinted(74.1663)));
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

/// Operations in the words of the sources that an experiment measures.
const OPERATIONS: [(&str, &[&str]); 15] = [
    ("cpu/timing_overhead", &["timing-overhead"]),
    ("cpu/loop_overhead", &["loop-overhead"]),
    ("cpu/procedure_call", &["procedure-call"]),
    ("cpu/system_call", &["system-call"]),
    ("cpu/process_creation", &["process-creation"]),
    ("cpu/thread_creation", &["thread-creation"]),
    ("cpu/context_switch", &["process-switch", "thread-switch", "pipe-overhead"]),
    ("memory/load_latency", &["memory-latency"]),
    ("memory/bandwidth", &["memory-bandwidth"]),
    ("memory/parallel_bandwidth", &["memory-bandwidth"]),
    ("memory/major_fault", &["page-fault"]),
    ("network/round_trip", &["rtt"]),
    ("network/bandwidth", &["peak-bandwidth"]),
    ("network/connection", &["connection-setup", "connection-teardown"]),
    ("filesystem/cache_size", &["file-cache-size"]),
];

/// The same for the experiments that read blocks.
const OPERATIONS_ON_BLOCKS: [(&str, &[&str]); 2] =
    [("filesystem/read", &["file-read"]), ("filesystem/contention", &["contention"])];

fn operations_of(experiment: &str) -> &'static [&'static str] {
    let mut all = OPERATIONS.iter().chain(&OPERATIONS_ON_BLOCKS);
    all.find(|(name, _)| *name == experiment).map_or(&[], |(_, operations)| operations)
}

/// The points that a run with a second host has on a machine of which nothing is known.
#[cfg(target_arch = "x86_64")] // whose kernels the sweeps name
fn sweep(experiment: &str) -> Vec<Point> {
    let found =
        experiments::find(experiment).unwrap_or_else(|| panic!("there is no experiment {experiment}"));
    let asked = SweepOptions { peer: true, ..SweepOptions::default() };
    found.sweep_for(&crate::described::machine(), &asked)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn every_mapped_figure_has_its_point_in_the_sweep_and_its_unit() {
    let machine = crate::described::machine();
    let mut seen = BTreeSet::new();
    for same in references::same_methods() {
        let points = sweep(same.points.experiment);
        let points: Vec<&Point> = points.iter().collect();
        assert!(same.note.ends_with('.') && !same.figures.is_empty(), "{same:?}");
        assert!(same.times > 0.0);
        for figure in &same.figures {
            let id = figure.id();
            assert!(seen.insert(id), "{id} is mapped twice");
            let chosen = same.choose(figure, &points, &machine);
            let chosen =
                chosen.unwrap_or_else(|| panic!("{id}: {} has no such point", same.points.experiment));
            let unit = experiments::find(same.points.experiment).unwrap().unit(points[chosen]);
            assert_eq!(figure.unit().quantity(), Some(unit), "{id}");
            assert!(
                operations_of(same.points.experiment).contains(&figure.operation()),
                "{id}: {}",
                figure.operation()
            );
            assert!(figure.value().is_some(), "{id} has no value");
            assert!(
                !matches!(figure.kind(), Kind::Trial | Kind::Estimate | Kind::Summary),
                "{id}: {:?}",
                figure.kind()
            );
        }
    }
    assert!(seen.len() > 150, "{}", seen.len());
}

/// A run that costs 200 ns a write, 1 µs a switch of threads, 20 ns a pair of readings, and whose threads fail.
fn fixed_run() -> String {
    let switch = json!({ "between": "threads", "mechanism": "pipe less its cost", "placement": "one-cpu" });
    let pair = json!({ "measure": "pair", "reading": "cpuid-rdtsc rdtscp-cpuid", "placement": "one-cpu" });
    crate::fixture::published(&[
        ("cpu/timing_overhead", pair, Some(20.0)),
        (
            "cpu/system_call",
            json!({ "call": "write nothing to /dev/null", "placement": "one-cpu" }),
            Some(200.0),
        ),
        ("cpu/context_switch", switch, Some(1000.0)),
        ("cpu/thread_creation", json!({ "measure": "create and join", "placement": "one-cpu" }), None),
    ])
}

fn machines(names: &[&str]) -> Vec<&'static references::Machine> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    references::select(&names).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_run_beside_a_machine_has_the_right_ratios_or_none() {
    let run = crate::fixture::parse(&fixed_run());
    let results = Results::of(&run);
    let rows = references::beside(&results, &machines(&["000"]));
    let ids: Vec<&str> = rows.iter().map(|row| row.figure.id()).collect();
    assert_eq!(ids, ["s000-0002", "s000-0027", "s000-0039", "s000-0031"], "in the order of the run");
    let [implausible, sound, corrected, failed] = &rows[..] else { unreachable!() };
    assert_eq!(implausible.ratio, None, "nothing is reckoned with an implausible figure");
    let ratio = sound.ratio.unwrap();
    assert!((ratio.value / (200.0 / 74.1663) - 1.0).abs() < 0.03 && !ratio.corrected, "{ratio:?}");
    let interval = ratio.interval.unwrap();
    assert!(interval.low <= ratio.value && ratio.value <= interval.high);
    assert_eq!(sound.there.deviation, Some(0.0955));
    // A round trip is printed with an older clock: half of the corrected one is a switch.
    let ratio = corrected.ratio.unwrap();
    assert!((ratio.value / (1000.0 / (1206.6225 / 2.0)) - 1.0).abs() < 0.03 && ratio.corrected, "{ratio:?}");
    assert!((corrected.there.value.printed() - 586.8521 / 2.0).abs() < 1e-9);
    assert_eq!((failed.ratio, failed.there.value), (None, Value::AsPrinted(8466.4258)));
}

#[test]
fn every_form_tells_the_doubt_of_every_doubtful_figure() {
    let run = crate::fixture::parse(&fixed_run());
    let results = Results::of(&run);
    let machines = machines(&["000", "003"]);
    let rows = references::beside(&results, &machines);
    assert!(rows.iter().filter(|row| row.figure.doubt().is_some()).count() >= 3);
    let report = RunReport::of(&results).beside(&machines);
    // The rows of the run and its picture have no published figure beside them.
    let told = |form: &&Form| !matches!(form, Form::Csv | Form::Picture);
    let forms: Vec<String> = Form::value_variants()
        .iter()
        .filter(told)
        .map(|form| {
            let appendix = appendix(&report, *form).unwrap_or_default();
            let text = render(&report, *form, Style { width: 4000, colour: false }) + &appendix;
            // LaTeX breaks lines, and may break long words.
            text.replace("\\allowbreak{}", "").split_whitespace().collect::<Vec<_>>().join(" ")
        })
        .collect();
    // Each form escapes signs in its own way: what has none is looked for.
    let words = |text: &str| {
        let runs = text.split(|letter: char| !letter.is_ascii_alphabetic() && letter != ' ');
        runs.max_by_key(|run| run.len()).unwrap_or_default().to_owned()
    };
    for row in &rows {
        let told = [row.figure.doubt_note(), Some(row.differs)];
        for (form, told) in
            forms.iter().flat_map(|form| told.into_iter().flatten().map(move |told| (form, told)))
        {
            assert!(words(told).len() > 7 && form.contains(&words(told)), "{}: {told}", row.figure.id());
        }
    }
    for mark in ["8.19 ns (b)", "The ratio uses the corrected figure.", "No ratio is given."] {
        assert!(forms[0].contains(mark), "{mark}:\n{}", forms[0]);
    }
}

#[test]
fn a_paper_with_published_figures_refers_to_nothing_that_is_not_there() {
    let run = crate::fixture::parse(&fixed_run());
    let results = Results::of(&run);
    let document = RunReport::of(&results).beside(&machines(&["all"])).document();
    assert_eq!(document.dangling(), []);
    assert!(document.sections.iter().any(|section| section.key.name() == "beside"));
    assert!(
        !RunReport::of(&results).document().sections.iter().any(|section| section.key.name() == "beside")
    );
}

#[test]
fn programs_get_every_doubt_beside_its_figure() {
    let run = crate::fixture::parse(&fixed_run());
    let results = Results::of(&run);
    let machines = machines(&["000", "003"]);
    let rows = references::beside(&results, &machines);
    let json: serde_json::Value =
        serde_json::from_str(&RunReport::of(&results).beside(&machines).json()).unwrap();
    let entries = json["beside"].as_array().unwrap();
    assert_eq!(entries.len(), rows.len());
    for (row, entry) in rows.iter().zip(entries) {
        assert_eq!(entry["figure"]["id"], row.figure.id());
        assert_eq!(entry["doubt"].as_str(), row.figure.doubt().map(Doubt::name));
        assert_eq!(entry["misgiving"].as_str(), row.figure.doubt_note());
        assert_eq!(entry["ratio"].is_null(), row.ratio.is_none());
    }
}

#[test]
fn without_being_asked_a_report_knows_nothing_of_published_figures() {
    let run = crate::fixture::parse(&fixed_run());
    assert!(!RunReport::of(&Results::of(&run)).json().contains("beside"));
}

#[test]
fn a_virtual_peer_is_never_set_beside_a_real_network() {
    let remote = references::figure("s001-0047").unwrap();
    let of_it = |same: &&references::SameMethod| same.figures.iter().any(|figure| figure.id() == remote.id());
    let same = references::same_methods().iter().find(of_it).unwrap();
    let text = r#"{"loop":"closed","path":"peer","payload":44,"placement":"across-cpus","transport":"TCP"}"#;
    let machine = crate::described::machine();
    let real: Point = serde_json::from_str(text).unwrap();
    let virtual_one = real.renamed(PEER, VIRTUAL_PEER);
    assert_eq!(same.choose(remote, &[&virtual_one], &machine), None);
    assert_eq!(same.choose(remote, &[&virtual_one, &real], &machine), Some(1));
}

#[test]
fn machines_are_chosen_by_what_people_call_them() {
    let ids = |names: &[&str]| machines(names).iter().map(|machine| machine.id.as_str()).collect::<Vec<_>>();
    assert_eq!(ids(&["003"]), ["i5-5257u-osx-10.11"]);
    assert_eq!(ids(&["6700HQ"]), ["i7-6700hq-ubuntu-22.04"]);
    assert_eq!(ids(&["004", "000"]), ["i7-1250u-ubuntu-24.04"], "each once");
    assert_eq!(ids(&["i5-5257u-osx-10.11"]), ["i5-5257u-osx-10.11"], "an id that is part of another");
    assert_eq!(ids(&["lmbench"]).len(), 3);
    assert!(ids(&["all"]).len() >= 9);
    assert!(ids(&[]).is_empty());
    let refused = |name: &str| references::select(&[name.to_owned()]).unwrap_err().to_string();
    assert!(refused("vax").contains("`fathom references` lists"), "{}", refused("vax"));
    assert!(refused("ubuntu").contains("give more of the name"), "{}", refused("ubuntu"));
    assert!(refused("").contains("no published machine"), "{}", refused(""));
}

#[test]
fn a_machine_is_shown_with_every_figure_and_its_doubts() {
    let machine = references::machine("i7-6700hq-ubuntu-22.04").unwrap();
    let text = Machines(&[machine]).text(Style { width: 1000, colour: false });
    for figure in references::of_machine(&machine.id) {
        let line = text.lines().find(|line| line.trim_start().starts_with(figure.id())).unwrap_or_default();
        assert_eq!(line.contains("(doubtful: "), figure.doubt().is_some(), "{line}");
    }
    let json: serde_json::Value = serde_json::from_str(&Machines(&[machine]).json()).unwrap();
    assert_eq!(
        json["machines"][0]["figures"].as_array().unwrap().len(),
        references::of_machine(&machine.id).count()
    );
    let list = MachineList.text(Style { width: 100, colour: false });
    assert!(references::machines().iter().all(|machine| list.contains(&machine.id)));
}
