//! What `fathom publish` lets through of a run file: names, addresses, serial numbers and tokens are planted into every text of it, and
//! none comes out.

use crate::committed::{content, fathom, text};
use crate::part_of_run::{self, with_points};
use fathom::atlas::secrets::{SecretNames, suspects};
use fathom::atlas::{Entry, MachineFacts};
use fathom::record::Run;
use fathom::report::atlas_entry;
use fathom::results::Results;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// What must not come through, each of which is looked for by itself.
const SECRETS: [&str; 8] = [
    "alicexq",
    "198.51.100.77",
    "2001:db8:77::7",
    "52:54:00:77:ab:cd",
    "PF3XQ9K2L7",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "3f2b8c1e-7777-2222-3333-444455556666",
    "/srv/customerxq",
];

/// The committed run with some of its points, line by line.
fn lines() -> Vec<Value> {
    with_points(&content(), |place, _| place % 24 == 1)
}

/// What is published of these lines; `None` if they are no run.
fn published(lines: &[Value]) -> Option<Entry> {
    fathom::experiments::register();
    let run = Run::parse(&part_of_run::text(lines)).ok()?;
    Some(atlas_entry(&Results::of(&run)))
}

/// Calls a function for every text and for the name of every field with its place; elements of a list have one place.
fn each_text(place: &str, value: &mut Value, change: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => change(place, text),
        Value::Array(all) => all.iter_mut().for_each(|value| each_text(&format!("{place}[]"), value, change)),
        Value::Object(fields) => {
            let all: Vec<(String, Value)> = std::mem::take(fields).into_iter().collect();
            for (mut name, mut value) in all {
                each_text(&format!("{place}.{name}"), &mut value, change);
                change(&format!("{place}.{name}, its name"), &mut name);
                fields.insert(name, value);
            }
        }
        _ => {}
    }
}

fn each_text_of(lines: &mut [Value], change: &mut dyn FnMut(&str, &mut String)) {
    for line in lines {
        let kind = line["line"].as_str().unwrap_or_default().to_owned();
        each_text(&kind, line, change);
    }
}

fn ensure_clean(entry: &Entry, place: &str) {
    let text = entry.text().to_lowercase();
    for secret in SECRETS {
        assert!(!text.contains(&secret.to_lowercase()), "{secret} by way of {place}: {text}");
    }
    assert_eq!(suspects(&entry.text(), &SecretNames::default()), Vec::<String>::new(), "{place}");
}

/// One text after the other, so that the rest of the run stays one.
#[test]
fn nothing_planted_in_any_text_of_a_run_comes_through() {
    let whole = lines();
    let mut places = BTreeSet::new();
    each_text_of(&mut whole.clone(), &mut |place, _| {
        places.insert(place.to_owned());
    });
    assert!(places.len() > 300, "{} places", places.len());
    let all = SECRETS.join(" ");
    let (mut read, mut with_figures) = (BTreeSet::new(), 0);
    for planted in &places {
        let mut lines = whole.clone();
        each_text_of(&mut lines, &mut |place, text| {
            if place == planted {
                text.clone_from(&all);
            }
        });
        if let Some(entry) = published(&lines) {
            ensure_clean(&entry, planted);
            with_figures += usize::from(!entry.figures.is_empty());
            read.insert(planted.clone());
        }
    }
    // Where a text is one of a list, such as a unit or the name of a field, the file is no run.
    assert!(read.len() > 300, "{} of {} are runs", read.len(), places.len());
    assert!(with_figures > 100, "{with_figures} have figures");
    planted_everywhere(&whole, &read);
}

/// Each of the words in every text at once that may be anything.
fn planted_everywhere(whole: &[Value], free: &BTreeSet<String>) {
    let keeps = ["line", ".experiment", ".point", ".plan", ".methods", "parameters"];
    for secret in SECRETS {
        let mut lines = whole.to_vec();
        each_text_of(&mut lines, &mut |place, text| {
            let is_kept = place.ends_with(", its name") || keeps.iter().any(|kept| place.contains(kept));
            if free.contains(place) && !is_kept {
                secret.clone_into(text);
            }
        });
        let entry = published(&lines).expect("a run");
        assert!(part_of_run::text(&lines).matches(secret).count() > 100, "{secret} was planted");
        assert!(!entry.figures.is_empty(), "there is something to publish");
        ensure_clean(&entry, "everywhere");
    }
}

#[test]
fn what_is_published_is_made_of_the_runs_numbers() {
    let (whole, entry) = (lines(), published(&lines()).expect("a run"));
    let header: Value = whole[0]["machine"].clone();
    assert_eq!(entry.machine.vendor.as_deref(), header["processor"]["vendor"]["value"].as_str());
    assert_eq!(
        u64::from(entry.machine.model.unwrap()),
        header["processor"]["model"]["value"].as_u64().unwrap()
    );
    assert_ne!(entry.machine, MachineFacts::default());
    let again = Entry::parse(&entry.text()).expect("a file of the atlas");
    assert_eq!(again, [entry]);
}

fn publish(folder: &Path, more: &[&str]) -> std::process::Output {
    let run = crate::committed::run_file(folder);
    let mut command = fathom();
    command.current_dir(folder).env("USER", "alicexq").arg("publish").arg(run).args(more);
    command.output().unwrap()
}

#[test]
fn a_file_is_written_for_a_folder_and_replaced_by_the_next_of_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let output = publish(folder.path(), &["--anyway", "--output", "."]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let words = text(&output.stderr);
        for part in ["machine: ", "run: ", "checked: ", "CC0 1.0", "figures of 2 experiments"] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
    let names = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let printed = publish(folder.path(), &["--anyway"]);
    let id = Entry::parse(&text(&printed.stdout)).unwrap().remove(0).id;
    assert!(names.contains(&format!("{id}.jsonl")), "{names:?}");
}

#[test]
fn a_run_that_did_not_end_or_that_a_debug_build_made_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |lines: &[Value]| {
        let path = folder.path().join("other.jsonl");
        std::fs::write(&path, part_of_run::text(lines)).unwrap();
        let output = fathom().arg("publish").arg(&path).arg("--anyway").output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        text(&output.stderr)
    };
    let mut unfinished = lines();
    unfinished.retain(|line| line["line"] != "closing");
    assert!(refused(&unfinished).contains("did not end"));
    let mut debug = lines();
    debug[0]["tool"]["build"] = "debug".into();
    assert!(refused(&debug).contains("debug build"));
    let mut other = lines();
    for planned in other[0]["plan"].as_array_mut().unwrap() {
        planned["method_version"] = 77.into();
    }
    assert!(refused(&other).contains("no figure"), "of another method");
}
