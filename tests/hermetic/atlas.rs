//! The atlas of the program: its files, and that a machine which is left out is usual among its siblings.

use crate::printed_runs::read;
use fathom::atlas::secrets::{SecretNames, suspects};
use fathom::atlas::{self, Atlas, Entry, Figure, MachineFacts, Validity};
use fathom::comparison::{Margins, ReducedRun, Side};
use fathom::experiment::registry;
use fathom::record::Run;
use fathom::report::{ComparisonReport, Facts, Form, RunReport, Style, atlas_entry, render};
use fathom::results::Results;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The bytes that the atlas may take of the program.
const MOST_BYTES: usize = 400_000;

#[test]
fn every_file_is_a_machine_of_its_name_and_names_nobody() {
    fathom::experiments::register();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("atlas");
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect();
    assert_eq!(files.len(), atlas::compiled().machines.len());
    let mut ids = BTreeSet::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let [entry] = &Entry::parse(&text).unwrap()[..] else { panic!("{}: one machine", path.display()) };
        assert_eq!(path.file_stem().unwrap().to_str(), Some(entry.id.as_str()));
        assert!(ids.insert(entry.id.clone()) && entry.machine.family().is_some(), "{}", entry.id);
        assert_eq!(&entry.text(), &text, "{}: nothing but what this program writes", entry.id);
        assert_eq!(suspects(&text, &SecretNames::default()), Vec::<String>::new(), "{}", entry.id);
        assert_eq!(Some(entry), atlas::compiled().machine(&entry.id));
        for figure in &entry.figures {
            ensure_sound(&entry.id, figure);
        }
    }
    assert!(ids.len() >= 3, "{ids:?}");
    const { assert!(atlas::PACKED_BYTES < MOST_BYTES) };
}

fn ensure_sound(id: &str, figure: &Figure) {
    let named = format!("{id}: {} {}", figure.experiment, figure.point);
    let known =
        registry::find(&figure.experiment).unwrap_or_else(|| panic!("{named}: there is no such experiment"));
    assert!(figure.version >= 1 && figure.version <= known.about().version, "{named}");
    assert!(figure.low <= figure.value && figure.value <= figure.high, "{named}");
    assert!(figure.trials >= 4, "{named}: an interval has four trials at least");
}

/// Even noise without a generator, -0.5 to 0.5.
fn noise(place: usize) -> f64 {
    (place as f64 * 0.618_033_988_749_895).fract() - 0.5
}

/// A machine like this one: each of its figures is off by up to `spread`, by another amount than those of its siblings, and by
/// `times`.
fn sibling(entry: &Entry, number: usize, spread: f64, times: f64) -> Entry {
    let shifted = |(place, figure): (usize, &Figure)| {
        let factor = times * (1.0 + 2.0 * spread * noise(97 * number + place * (2 * number + 1)));
        let by = |value: f64| value * factor;
        Figure {
            value: by(figure.value),
            low: by(figure.low),
            high: by(figure.high),
            shared: figure.shared.map(|shared| shared.map(by)),
            ..figure.clone()
        }
    };
    let figures = entry.figures.iter().enumerate().map(shifted).collect();
    // Another kernel: what nothing tells from this machine may be this machine.
    let machine = MachineFacts { kernel: Some(format!("6.1.{number}")), ..entry.machine.clone() };
    Entry { id: format!("sibling-{number}-{number:08}"), machine, figures, ..entry.clone() }
}

fn siblings(entry: &Entry, spread: f64, times: f64) -> Atlas {
    Atlas { machines: (1..=5).map(|number| sibling(entry, number, spread, times)).collect() }
}

/// Where the points of a run lie, by the report's JSON, with the number of neighbours that a point has at most.
fn places(run: &Run, atlas: &Atlas) -> (BTreeMap<String, usize>, usize) {
    let json = RunReport::of(&Results::of(run)).among(atlas).json();
    let json: Value = serde_json::from_str(&json).unwrap();
    let usual = || {
        json["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| &point["usual"])
            .filter(|usual| !usual.is_null())
    };
    let mut places = BTreeMap::new();
    for usual in usual() {
        *places.entry(usual["place"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    (places, usual().map(|usual| usual["machines"].as_u64().unwrap() as usize).max().unwrap_or(0))
}

fn run() -> (Run, Entry) {
    fathom::experiments::register();
    let run = read("zen3-shared-quick-1.jsonl.gz");
    let entry = atlas_entry(&Results::of(&run));
    (run, entry)
}

#[test]
fn a_machine_that_is_left_out_is_usual_among_its_siblings() {
    let (run, entry) = run();
    let (found, machines) = places(&run, &siblings(&entry, 0.03, 1.0));
    let all: usize = found.values().sum();
    assert!(all > 100 && machines == 5, "{found:?}, {machines} machines");
    assert_eq!(found.keys().collect::<Vec<_>>(), ["within"], "{found:?}");
}

#[test]
fn a_machine_unlike_its_siblings_is_unusual_in_both_directions() {
    let (run, entry) = run();
    for (times, place) in [(0.25, "above"), (4.0, "below")] {
        let (found, _) = places(&run, &siblings(&entry, 0.03, times));
        let all: usize = found.values().sum();
        // Some figures of that run are known to a factor of four only.
        assert!(found[place] * 10 > all * 9, "{found:?}");
        let text = render(
            &RunReport::of(&Results::of(&run)).among(&siblings(&entry, 0.03, times)),
            Form::Text,
            WIDE,
        );
        assert!(text.contains(&format!("is {place} what is usual, ")), "{text}");
        assert!(text.contains("among 5 Zen 3 guests."), "{text}");
    }
}

const WIDE: Style = Style { width: 2000, colour: false };

#[test]
fn a_machine_is_not_compared_with_itself_and_few_siblings_give_no_verdict() {
    let (run, entry) = run();
    assert_eq!(places(&run, &Atlas { machines: vec![entry.clone()] }), (BTreeMap::new(), 0), "its own entry");
    let two =
        Atlas { machines: vec![entry.clone(), sibling(&entry, 1, 0.0, 0.1), sibling(&entry, 2, 0.0, 0.1)] };
    let (found, machines) = places(&run, &two);
    assert_eq!((found.keys().map(String::as_str).collect::<Vec<_>>(), machines), (vec!["few"], 2));
    let text = render(&RunReport::of(&Results::of(&run)).among(&two), Form::Text, WIDE);
    assert!(text.contains("  few (2)  ") && !text.contains("what is usual"), "{text}");
}

#[test]
fn other_families_and_kinds_give_a_range_and_other_methods_nothing() {
    let (run, entry) = run();
    let of = |change: &dyn Fn(&mut Entry)| {
        let mut atlas = siblings(&entry, 0.0, 4.0);
        atlas.machines.iter_mut().for_each(change);
        let text = render(&RunReport::of(&Results::of(&run)).among(&atlas), Form::Text, WIDE);
        (places(&run, &atlas).0, text)
    };
    let all = of(&|_| ()).0;
    assert!(all["below"] > 100, "{all:?}");
    let family = |entry: &mut Entry| entry.machine.design = Some("Zen 4".to_owned());
    let kind = |entry: &mut Entry| entry.machine.kind = atlas::MachineKind::BareMetal;
    for (change, nearest) in
        [(&family as &dyn Fn(&mut Entry), "Zen 4 guests"), (&kind, "Zen 3 machines without hypervisor")]
    {
        let (places, text) = of(change);
        assert_eq!(places, BTreeMap::from([("unlike".to_owned(), all.values().sum::<usize>())]));
        let legend = format!(
            "others (5): the atlas has no other Zen 3 guests; the nearest are {nearest}, whose range"
        );
        assert!(text.contains(&legend) && text.contains("  others (5)  "), "{text}");
        assert!(!text.contains("what is usual,"), "no verdict: {text}");
    }
    let none = |change: &dyn Fn(&mut Entry)| assert_eq!(of(change).0, BTreeMap::new());
    none(&|entry| entry.machine.kind = atlas::MachineKind::Emulated);
    none(&|entry| entry.figures.iter_mut().for_each(|figure| figure.version += 1));
    none(&|entry| entry.figures.iter_mut().for_each(|figure| figure.validity = Validity::Fails));
}

#[test]
fn what_may_be_the_machine_itself_is_not_counted() {
    let (run, entry) = run();
    // Another run of a machine that is the same in all that stays with it.
    let again = Entry { machine: entry.machine.clone(), ..sibling(&entry, 9, 0.03, 4.0) };
    let of = |atlas: &Atlas| {
        let text = render(&RunReport::of(&Results::of(&run)).among(atlas), Form::Text, WIDE);
        let (places, machines) = places(&run, atlas);
        (places.into_keys().collect::<Vec<_>>(), machines, text)
    };
    let (places, machines, text) = of(&Atlas { machines: vec![again.clone()] });
    assert_eq!((places, machines), (vec!["itself".to_owned()], 0));
    // A column of nothing else is none; the legend says why, and programs have the values.
    let head = text.lines().find(|line| line.starts_with("Main figures")).expect("a table");
    assert!(!text.contains("itself? ") && !head.contains("usual"), "{text}");
    assert!(text.contains("usual: unknown") && text.contains("perhaps this machine itself (same"), "{text}");
    // Where there is another family, its range is worth more than the machine's own.
    let mut stranger = sibling(&entry, 1, 0.0, 4.0);
    stranger.machine.design = Some("Zen 4".to_owned());
    let (places, machines, text) = of(&Atlas { machines: vec![again.clone(), stranger] });
    assert_eq!((places, machines), (vec!["unlike".to_owned()], 1));
    assert!(
        text.contains("  others (1)  ")
            && text.contains("has no other Zen 3 guests; the nearest are Zen 4 guests"),
        "{text}"
    );
    let mut atlas = siblings(&entry, 0.03, 4.0);
    atlas.machines.truncate(2);
    atlas.machines.push(again);
    let (places, machines, text) = of(&atlas);
    assert_eq!((places, machines), (vec!["few".to_owned()], 2), "three entries, of which one may be its own");
    assert!(text.contains("their number without one that may be this machine"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("Main figures") && line.contains("few (2)")), "{text}");
}

#[test]
fn a_run_of_a_method_of_another_version_is_not_published() {
    let (run, entry) = run();
    let other = |experiment: &str| registry::recorded(experiment, version(&run, experiment)).is_err();
    assert!(other("network/round_trip"), "the run is older than the method");
    let published: BTreeSet<&str> = entry.figures.iter().map(|figure| figure.experiment.as_str()).collect();
    assert!(
        published.contains("cpu/system_call") && !published.iter().any(|name| other(name)),
        "{published:?}"
    );
}

fn version(run: &Run, experiment: &str) -> u32 {
    run.header.plan.iter().find(|planned| planned.experiment == experiment).unwrap().method_version
}

#[test]
fn a_comparison_says_of_both_sides_where_they_lie() {
    let (run, entry) = run();
    let side = |name: &str| Side::of_run(name, ReducedRun::of_run(&run));
    let sides = [side("b")];
    let first = side("a");
    let report = |atlas: &Atlas| {
        ComparisonReport::of(&first, &sides, &Margins::all(None), &[]).among(atlas).in_full(true).text(WIDE)
    };
    let text = report(&siblings(&entry, 0.03, 1.0));
    assert!(text.contains("Beside the atlas: before, among Zen 3 guests (5): "), "{text}");
    assert!(text.contains("  within ") && !text.contains("  above "), "{text}");
    assert!(!report(&Atlas::default()).contains("usual"));
}

#[test]
fn the_list_of_references_begins_with_the_atlas_and_ends_with_machines_of_reports() {
    let list = fathom::report::published::MachineList.text(WIDE);
    let place = |words: &str| list.find(words).unwrap_or_else(|| panic!("{words}: {list}"));
    let first = &atlas::compiled().machines[0];
    assert!(list.starts_with(&first.id), "{list}");
    assert!(place(&first.id) < place("lmbench") && place("lmbench") < place("report 000"), "{list}");
    let machine = fathom::report::AtlasMachine(first).text(WIDE);
    assert!(
        machine.contains("cpu/system_call, method version ") && machine.contains("call=getppid"),
        "{machine}"
    );
}
