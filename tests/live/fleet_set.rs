//! Runs of a set, and what a scheduler sees of them: names, labels, progress, exit statuses.

use crate::short_run::{fathom, text};
use crate::tier::{Outcome, Test, beside, skipped};
use fathom::experiment::{Effort, Requirement};
use fathom::machine::Machine;
use fathom::plan::Set;
use fathom::record::Run;
use fathom::run::Options;
use std::collections::BTreeMap;
use std::path::Path;

pub const TESTS: &[Test] = &beside![
    the_set_for_fleets_takes_a_minute_and_holds_to_its_memory_on_this_machine,
    every_member_of_the_set_is_found_on_a_machine_with_several_cpus,
    a_run_of_the_set_has_labels_and_a_name_and_no_page_and_tells_a_program_how_far_it_is,
    a_quiet_run_says_nothing_and_is_labelled_with_its_host,
    what_is_misspelt_is_refused_with_what_there_is,
];

fn options(set: Option<&'static Set>) -> Options {
    Options {
        selection: vec![],
        effort: Effort::Standard,
        budget: None,
        precision: None,
        seed: Some(1),
        cpu: None,
        clock: None,
        trial: None,
        folder: std::env::temp_dir(),
        processes: vec![],
        remote: None,
        points: vec![],
        set,
        labels: BTreeMap::new(),
        rated_disk: None,
        sizes: vec![],
        trials: None,
        priority: None,
        whole_memory: false,
    }
}

fn the_set_for_fleets_takes_a_minute_and_holds_to_its_memory_on_this_machine() -> Outcome {
    let set = Set::find("fleet").expect("there is a set for fleets");
    assert_eq!((set.budget.as_secs(), set.most_memory), (60, 256 << 20));
    let header = options(Some(set)).header(None).unwrap();
    assert_eq!(header.settings.set.as_deref(), Some("fleet"));
    assert!((header.settings.budget_s - 60.0).abs() < 1e-9);
    assert!((15..=30).contains(&header.plan.len()), "{} points", header.plan.len());
    for planned in &header.plan {
        let required = planned.method().unwrap().requires(&planned.point);
        for requirement in required {
            match requirement {
                Requirement::MemoryBytes(bytes) => assert!(bytes <= 192 << 20, "{} {bytes}", planned.point),
                Requirement::MemoryLimit | Requirement::Peer => panic!("{} wants more", planned.point),
                _ => {}
            }
        }
    }
    // What is in every machine is measured on every machine.
    let has = |experiment: &str| {
        header.plan.iter().any(|planned| planned.experiment == experiment && planned.skip.is_none())
    };
    assert!(
        has("cpu/arithmetic") && has("cpu/system_call") && has("memory/load_latency"),
        "{:?}",
        header.plan
    );
    Ok(())
}

fn every_member_of_the_set_is_found_on_a_machine_with_several_cpus() -> Outcome {
    let set = Set::find("fleet").unwrap();
    let machine = Machine::describe(Path::new("."));
    if machine.allowed_cpus().len() < 2 {
        return skipped("needs two CPUs");
    }
    let plan = options(Some(set)).header(None).unwrap().plan;
    let experiments: Vec<&str> = set.experiments().iter().map(|experiment| experiment.about().name).collect();
    for name in experiments {
        // Caches of hundreds of megabytes leave no arrays that stand in memory.
        let may_lack = ["memory/bandwidth", "memory/parallel_bandwidth"].contains(&name);
        assert!(may_lack || plan.iter().any(|planned| planned.experiment == name), "no point of {name}");
    }
    Ok(())
}

/// A run of the set that has no time for more than a few points.
fn brief(output: &Path, more: &[&str]) -> std::process::Output {
    let mut command = fathom();
    command
        .args(["run", "--set", "fleet", "--alongside", "--budget", "3s", "--trial", "4ms", "-o"])
        .arg(output)
        .args(more);
    command.output().unwrap()
}

fn a_run_of_the_set_has_labels_and_a_name_and_no_page_and_tells_a_program_how_far_it_is() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let pattern = folder.path().join("{host}-{set}-{time}.jsonl");
    let output = brief(&pattern, &["--label", "host=n 1", "--label", "rack=7", "--progress", "json"]);
    let said = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 4)), "{said}");
    let files: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    let [file] = files.as_slice() else { panic!("one file and no page: {files:?}") };
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("n-1-fleet-20") && name.ends_with("Z.jsonl"), "{name}");
    let run = Run::read(file).unwrap();
    let labels: Vec<_> =
        run.header.settings.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(labels, ["host=n 1", "rack=7"]);
    let events: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let last = events.last().unwrap();
    assert_eq!(
        (last["event"].as_str(), last["status"].as_i64()),
        (Some("finished"), output.status.code().map(i64::from))
    );
    assert_eq!(last["run_file"].as_str(), file.to_str());
    assert!(events.iter().any(|event| event["event"] == "settled"), "{said}");
    let shown = text(&fathom().arg("report").arg(file).output().unwrap().stdout);
    assert!(shown.contains("host=n 1 rack=7"), "{shown}");
    Ok(())
}

fn a_quiet_run_says_nothing_and_is_labelled_with_its_host() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let output = brief(&file, &["--progress", "quiet"]);
    assert_eq!(text(&output.stderr), "");
    let run = Run::read(&file).unwrap();
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(run.header.settings.labels.get("host").map(String::as_str), Some(name.trim()));
    Ok(())
}

fn what_is_misspelt_is_refused_with_what_there_is() -> Outcome {
    let refused = |arguments: &[&str], said: &str| {
        let output = fathom().arg("run").args(arguments).assert().code(2).get_output().clone();
        let told = text(&output.stderr);
        assert!(told.contains(said), "{arguments:?}: {told}");
        assert!(output.stdout.is_empty());
    };
    refused(&["--set", "flet"], "`fleet`");
    refused(&["--set", "fleet", "cpu"], "cannot be used with");
    refused(&["--label", "Rack=7"], "lower-case");
    refused(&["--label", "rack=7", "--label", "rack=8"], "given twice");
    refused(&["-o", "/tmp/{hots}.jsonl"], "{host}, {time} and {set}");
    Ok(())
}
