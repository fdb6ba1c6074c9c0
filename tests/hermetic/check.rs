//! Requirements: files that stand in the project, names that are misspelt, and what a committed run decides, in every form and by the
//! exit status.

use crate::committed::{fathom, part_file, run_file, text};
use fathom::experiment::{Effort, SweepOptions};
use fathom::machine::Machine;
use fathom::plan;
use fathom::requirements::{DemandTarget, Measurand, Requirements, Targets};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The command with these arguments: exit status, results, messages.
fn check(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = fathom().arg("check").args(arguments).output().expect("it runs");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A file of requirements, each as the lines of its table.
fn file(folder: &Path, demands: &[&str]) -> PathBuf {
    let path = folder.join("requirements.toml");
    let tables = demands.iter().map(|lines| format!("[[requirement]]\n{lines}\n")).collect::<String>();
    std::fs::write(&path, format!("title = \"a test\"\n{tables}")).expect("a file");
    path
}

/// What a run decides of these requirements, as JSON, with the exit status.
fn decided(run: &Path, demands: &[&str]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = file(folder.path(), demands);
    let (status, out, error) =
        check(&[file.to_str().unwrap(), "--run", run.to_str().unwrap(), "--format", "json"]);
    (status, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out} {error}")))
}

fn getppid(limit: &str) -> String {
    format!(
        "name = \"call\"\nmeasures = {{ experiment = \"cpu/system_call\", point = {{ call = \"getppid\" }} }}\n{limit}"
    )
}

/// The requirements that stand in the project, with their names.
fn brought() -> Vec<(String, Requirements)> {
    fathom::experiments::register();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("requirements");
    let files = std::fs::read_dir(folder).expect("the folder").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a file");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let requirements = Requirements::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, requirements)
    };
    files.into_iter().map(read).collect()
}

fn targets(requirements: &Requirements, machine: &Machine) -> Targets {
    let experiments = plan::select(&requirements.experiments()).expect("experiments");
    let points = plan::points(&experiments, machine, Effort::Thorough, &SweepOptions::default());
    Targets::of(requirements, machine, &points).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_limit_in_the_project_has_its_publication_and_names_one_figure() {
    let files = brought();
    assert!(files.len() >= 6, "{files:?}");
    for (name, requirements) in &files {
        for demand in &requirements.demands {
            let publication = demand.publication.map(|index| &requirements.publications[index]);
            let publication =
                publication.unwrap_or_else(|| panic!("{name}: {} has no publication", demand.name));
            let parts = [
                &publication.title,
                &publication.publisher,
                &publication.version,
                &publication.section,
                &publication.url,
            ];
            assert!(parts.iter().all(|part| !part.is_empty()), "{name}: {publication:?}");
        }
        let targets = targets(requirements, &crate::described::machine());
        for (demand, target) in requirements.demands.iter().zip(&targets.targets) {
            let found = match &demand.measurand {
                Measurand::Unmeasured(_) => {
                    matches!(target, DemandTarget::Missing(reason) if reason.contains("no experiment"))
                }
                Measurand::Condition(_) => *target == DemandTarget::Condition,
                // A described machine may lack what a point needs, and no point is misspelt.
                Measurand::Point(_) | Measurand::Main(_) => {
                    !matches!(target, DemandTarget::Missing(reason) if reason.contains("no such point"))
                }
            };
            assert!(found, "{name}: {} is {target:?}", demand.name);
        }
        let (status, out, error) = check(&[name, "--print"]);
        assert!(
            status == Some(0) && out.contains(&format!("title = \"{}\"", requirements.title)),
            "{name}: {error}"
        );
    }
    let (status, out, _) = check(&[]);
    assert_eq!(status, Some(0));
    assert!(
        files.iter().all(|(name, requirements)| out.contains(name) && out.contains(&requirements.title)),
        "{out}"
    );
}

#[test]
fn what_is_misspelt_is_refused_with_a_suggestion_before_anything_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let point = |experiment: &str, point: &str, rest: &str| {
        format!("name = \"x\"\nmeasures = {{ experiment = \"{experiment}\", point = {{ {point} }} }}\n{rest}")
    };
    for (demand, expected) in [
        (point("cpu/sistem_call", "call = \"getppid\"", "at_most = \"1 us\""), "did you mean `cpu/system_call`"),
        (point("cpu/system_call", "cal = \"getppid\"", "at_most = \"1 us\""), "did you mean `call`"),
        (point("filesystem/write", "durability = \"on the device, fsynk\"", "at_most = \"1 ms\""), "did you mean `on the device, fsync`"),
        (point("cpu/system_call", "call = \"getppid\"", "at_most = \"1 GB/s\""), "no limit of a figure that is a time"),
        (point("cpu/system_call", "call = \"getppid\"", "at_most = \"1 parsec\""), "is no limit"),
        (point("cpu/system_call", "call = \"getppid\"", ""), "either `at_most` or `at_least`"),
        (point("cpu/system_call", "call = \"getppid\"", "at_most = \"1 us\"\nstatistic = \"p101\""), "no statistic `p101`"),
        (point("cpu/system_call", "call = \"getppid\"", "at_least = \"9/s\"\nstatistic = \"p99\""), "ambiguous"),
        (point("cpu/system_call", "call = \"getppid\"", "at_most = \"1 us\"\npublication = \"faq\""), "no publication `faq`"),
        (point("cpu/system_call", "call = \"getppid\"", "at_mots = \"1 us\""), "at_mots"),
        (point("cpu/system_call", "call = \"getppidd\"", "at_most = \"1 us\""), "did you mean `getppid`"),
        (point("cpu/system_call", "placement = \"one-cpu\"", "at_most = \"1 us\""), "one requirement is about one point"),
        (
            "name = \"x\"\nmeasures = { experiment = \"cpu/wake_up\", figure = \"late by, after a sleep\" }\nat_most = \"1 us\"".to_owned(),
            "did you mean `late by, after a sleep of 1 ms`",
        ),
    ] {
        let file = file(folder.path(), &[&demand]);
        let (status, out, error) = check(&[file.to_str().unwrap(), "--alongside", "--progress", "quiet", "--budget", "1s"]);
        assert!(status == Some(2) && error.contains(expected) && out.is_empty(), "{demand}\n{expected}\n{error}{out}");
    }
    let (status, _, error) = check(&["etcdd"]);
    assert!(status == Some(2) && error.contains("`etcd`"), "{error}");
}

#[test]
fn a_run_decides_by_its_figures_and_the_exit_status_says_what() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = part_file(folder.path());
    let (status, met) = decided(&run, &[&getppid("at_most = \"1 s\"")]);
    let result = &met["results"][0];
    assert_eq!(
        (status, &met["decision"], &result["decision"]),
        (Some(0), &"meets".into(), &"meets".into()),
        "{met:#}"
    );
    let value = result["value"].as_f64().expect("a value");
    assert!(result["low"].as_f64().unwrap() <= value && value <= result["high"].as_f64().unwrap(), "{met:#}");
    assert!(
        result["margin"].as_f64().unwrap() > 0.99 && result["certain_margin"].as_f64().unwrap() > 0.99,
        "{met:#}"
    );

    let at = |times: f64| format!("at_most = \"{} ns\"", value * times);
    let (status, failed) = decided(&run, &[&getppid(&at(0.85)), &getppid(&at(1.15))]);
    assert_eq!((status, &failed["decision"]), (Some(1), &"fails".into()), "{failed:#}");
    assert_eq!(failed["results"][1]["decision"], "meets", "{failed:#}");
    assert!(failed["results"][0]["margin"].as_f64().unwrap() < 0.0, "{failed:#}");
    assert_eq!(failed["verdict"], "FAILS: 1 of 2 requirements is not met; 1 met");
    let part = |file: &Value| file["results"][0]["failure_error"].as_f64().unwrap();
    assert!((part(&failed) - 0.025).abs() < 1e-12 && (part(&met) - 0.05).abs() < 1e-12, "{failed:#}");

    let (status, near) = decided(&run, &[&getppid(&at(1.0))]);
    assert_eq!((status, &near["results"][0]["decision"]), (Some(3), &"undecided".into()), "{near:#}");
    assert!(near["results"][0]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{near:#}");

    // A rate of operations is the time of one, with the other direction; people see the rate that was asked for.
    let demand = getppid(&format!("at_least = \"{}/s\"", 1e9 / value / 1.15));
    let (status, rate) = decided(&run, &[&demand]);
    assert_eq!((status, &rate["results"][0]["direction"]), (Some(0), &"at_most".into()), "{rate:#}");
    let margin = rate["results"][0]["margin"].as_f64().unwrap();
    assert!((margin - 0.15).abs() < 1e-9, "a rate 15 % above the limit: {margin}");
    let file = file(folder.path(), &[&demand]);
    let (_, text, _) = check(&[file.to_str().unwrap(), "--run", run.to_str().unwrap()]);
    let row = text.lines().find(|line| line.contains("meets")).expect("its row");
    assert!(row.matches("/s").count() == 2 && !row.contains("ns "), "{row}");
}

#[test]
fn what_the_sample_does_not_support_or_nothing_measures_is_undecided_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run_file(folder.path());
    let wake_up = "name = \"late\"\nmeasures = { experiment = \"cpu/wake_up\", point = { timer = \"timerfd\", sleep = 1000000, slack = 1 } }\nat_most = \"1 s\"";
    for (demand, expected) in [
        (getppid("at_most = \"1 s\"\nstatistic = \"p99\""), "timed in batches"),
        (getppid("at_most = \"1 s\"\nshare = \"99 %\"\nof = \"trials\""), "meeting it takes 357 at least"),
        (wake_up.to_owned(), "is not in this run"),
        (
            "name = \"a\"\nmeasures = \"an entry appended\"\nat_most = \"1 s\"".to_owned(),
            "no experiment measures this yet",
        ),
    ] {
        let (status, decided) = decided(&run, &[&demand]);
        let result = &decided["results"][0];
        assert_eq!((status, &result["decision"]), (Some(3), &"undecided".into()), "{decided:#}");
        assert!(
            result["reason"].as_str().is_some_and(|reason| reason.contains(expected)),
            "{expected}: {decided:#}"
        );
    }
    // What fails is not hidden by what is undecided.
    let (status, both) = decided(&run, &[&getppid("at_most = \"1 ns\""), wake_up]);
    assert_eq!(status, Some(1));
    assert_eq!(both["verdict"], "FAILS: 1 of 2 requirements is not met; 1 undecided");
}

#[test]
fn facts_of_the_machine_are_conditions() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = part_file(folder.path());
    // The run was made on two CPUs.
    let cpus = |limit: u32| format!("name = \"CPUs\"\ncondition = \"cpus\"\nat_least = {limit}");
    let memory = |limit: &str| format!("name = \"memory\"\ncondition = \"memory\"\nat_least = \"{limit}\"");
    let (status, both) = decided(&run, &[&cpus(2), &memory("1 GB"), &cpus(3), &memory("900 TB")]);
    let decisions: Vec<&str> =
        (0..4).map(|place| both["results"][place]["decision"].as_str().unwrap()).collect();
    assert_eq!((status, &decisions[..]), (Some(1), &["meets", "meets", "fails", "fails"][..]), "{both:#}");
}

#[test]
fn every_form_begins_with_the_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = part_file(folder.path());
    let file = file(folder.path(), &[&getppid("at_most = \"1 s\""), &getppid("at_most = \"1 ns\"")]);
    let verdict = "FAILS: 1 of 2 requirements is not met; 1 met";
    for form in ["text", "html", "markdown", "latex", "synopsis", "json", "csv"] {
        let arguments = [file.to_str().unwrap(), "--run", run.to_str().unwrap(), "--format", form];
        let (status, out, error) = check(&arguments);
        assert_eq!(status, Some(1), "{form}: {error}");
        assert_eq!(check(&arguments).1, out, "{form}: the same run gives the same bytes");
        let first = out.lines().next().unwrap_or_default();
        match form {
            "text" => assert_eq!(first, verdict),
            "markdown" | "synopsis" => assert!(first.contains(verdict), "{form}: {first}"),
            "csv" => assert!(out.contains(",fails,") && out.contains(",meets,"), "{out}"),
            _ => assert!(out.contains(verdict), "{form}: {out}"),
        }
    }
}
