//! The program as a user meets it, without a measurement: what it prints where, its exit status, and what it says when
//! something is wrong.

use crate::committed::{fathom, part_file, run_file, text};
use std::path::Path;

#[test]
fn the_report_of_a_file_is_the_same_bytes_every_time_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let file = run_file(folder.path());
    for form in ["text", "html", "markdown", "latex", "synopsis", "json"] {
        let report = || {
            fathom()
                .args(["report", "--format", form])
                .arg(&file)
                .assert()
                .success()
                .get_output()
                .stdout
                .clone()
        };
        let first = report();
        assert!(!first.is_empty());
        assert_eq!(text(&first), text(&report()), "{form}");
    }
}

#[test]
fn a_paper_in_a_file_has_its_appendix_beside_it_and_a_foreign_file_keeps_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (file, of) = (part_file(folder.path()), |name: &str| folder.path().join(name));
    let report = |form: &str, output: &Path| {
        let mut command = fathom();
        command.args(["report", "--format", form, "--output"]).arg(output).arg(&file);
        command.assert()
    };
    let read = |name: &str| std::fs::read_to_string(of(name)).unwrap();
    for (form, ending) in [("markdown", "md"), ("latex", "tex")] {
        let (paper, appendix) = (format!("x.{ending}"), format!("x-appendix.{ending}"));
        report(form, &of(&paper)).success();
        // An earlier appendix gives way.
        report(form, &of(&paper)).success();
        assert!(read(&paper).contains("are in the appendix, a file of its own"));
        assert!(read(&appendix).lines().next().unwrap().contains("Appendix: "));
        std::fs::write(of(&appendix), "mine").unwrap();
        std::fs::remove_file(of(&paper)).unwrap();
        let refused = text(&report(form, &of(&paper)).failure().get_output().stderr);
        assert!(refused.contains("the appendix") && refused.contains("--force"), "{refused}");
        assert_eq!(read(&appendix), "mine");
        assert!(!of(&paper).exists(), "half a report was written");
    }
    report("html", &of("x.html")).success();
    assert!(!of("x-appendix.html").exists());
}

#[test]
fn a_markdown_paper_in_a_file_shows_its_figures_from_a_folder_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let (file, of) = (part_file(folder.path()), |name: &str| folder.path().join(name));
    let report = |output: &Path| {
        let mut command = fathom();
        command.args(["report", "--format", "markdown", "--output"]).arg(output).arg(&file);
        command.assert()
    };
    report(&of("my paper.md")).success();
    // Earlier figures give way.
    report(&of("my paper.md")).success();
    let read = |name: &str| std::fs::read_to_string(of(name)).unwrap();
    let papers = read("my paper.md") + &read("my paper-appendix.md");
    let mut shown: Vec<&str> =
        papers.split("](my%20paper-figures/").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    let mut files: Vec<String> = std::fs::read_dir(of("my paper-figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    shown.sort_unstable();
    files.sort_unstable();
    assert!(!files.is_empty() && !papers.contains("Figures are drawn in the HTML form"));
    assert_eq!(shown, files, "each is shown once");
    for name in files {
        let svg = read(&format!("my paper-figures/{name}"));
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{name}");
    }
    // What is not ours keeps its place, and nothing is written beside it.
    std::fs::create_dir(of("other-figures")).unwrap();
    std::fs::write(of("other-figures/figure-1.svg"), "mine").unwrap();
    report(&of("other.md")).failure();
    assert!(!of("other.md").exists() && read("other-figures/figure-1.svg") == "mine");
    let refused = text(&report(folder.path()).failure().get_output().stderr);
    assert!(refused.contains("is a folder: name the file in it"), "{refused}");
}

#[test]
fn an_unknown_experiment_is_a_usage_error_that_names_the_nearest() {
    let output = fathom().args(["run", "cpu/sistem_call"]).assert().code(2).get_output().clone();
    assert!(text(&output.stderr).contains("did you mean `cpu/system_call`?"), "{}", text(&output.stderr));
    fathom().args(["explain", "nothing-like-it"]).assert().code(2);
    fathom().args(["run", "--budget", "soon"]).assert().code(2);
    fathom().args(["run", "--cpu", "99999", "--alongside", "noise"]).assert().code(2);
}

#[test]
fn an_unwritable_place_is_found_out_before_measuring() {
    let output = fathom()
        .args(["run", "--alongside", "cpu/system_call", "-o", "/proc/nowhere/run.jsonl"])
        .assert()
        .code(2)
        .get_output()
        .clone();
    assert!(text(&output.stderr).contains("--output"), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_run_file_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    std::fs::write(&file, "mine").unwrap();
    fathom().args(["run", "--alongside", "cpu/system_call", "-o"]).arg(&file).assert().code(2);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn damaged_and_foreign_files_are_told_apart_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let complaint = |content: &str| {
        std::fs::write(&file, content).unwrap();
        text(&fathom().arg("report").arg(&file).assert().code(2).get_output().stderr)
    };
    assert!(complaint("").contains("empty"));
    assert!(complaint("{\"line\":\"header\",\"schema\":99}\n").contains("newer"));
    assert!(complaint("not json\n").contains("not a run file of fathom"));
    let missing = fathom().args(["report", "/no/such/file"]).assert().code(2).get_output().clone();
    assert!(text(&missing.stderr).contains("/no/such/file"));
}

#[test]
fn without_a_run_the_report_says_how_to_make_one() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        fathom().arg("report").env("XDG_DATA_HOME", folder.path()).assert().code(2).get_output().clone();
    assert!(text(&output.stderr).contains("fathom run"));
}

#[test]
fn the_catalogue_explains_itself() {
    let list = text(&fathom().arg("list").assert().success().get_output().stdout);
    assert!(list.contains("cpu/context_switch") && list.contains('?'));
    let explained =
        text(&fathom().args(["explain", "context_switch"]).assert().success().get_output().stdout);
    assert!(explained.contains("pipe"), "{explained}");
    let machine =
        fathom().args(["machine", "--format", "json"]).assert().success().get_output().stdout.clone();
    assert!(serde_json::from_slice::<serde_json::Value>(&machine).unwrap()["processor"].is_object());
    assert!(!fathom().arg("schema").assert().success().get_output().stdout.is_empty());
}

#[test]
fn a_machine_is_told_in_a_few_lines_and_in_full_when_asked() {
    let said = |arguments: &[&str]| {
        text(&fathom().env("COLUMNS", "120").args(arguments).assert().success().get_output().stdout)
    };
    let (brief, full) = (said(&["machine"]), said(&["machine", "--full"]));
    for name in
        ["processor", "kind", "CPUs", "caches", "memory", "kernel", "disk", "network", "clock", "mitigations"]
    {
        assert_eq!(brief.lines().filter(|line| line.starts_with(name)).count(), 1, "{name}: {brief}");
    }
    // Two lines for each at most, and four for what may disturb.
    assert!(brief.lines().count() <= 27 && full.lines().count() > 100, "{brief}");
    assert!(brief.contains("fathom machine --full") && full.contains("[/proc/"), "{brief}");
}

#[test]
fn a_part_is_listed_by_its_chapter_a_name_or_a_glob() {
    let listed = |names: &[&str]| {
        let output =
            fathom().env("COLUMNS", "200").arg("list").args(names).assert().success().get_output().clone();
        text(&output.stdout)
    };
    let memory = listed(&["memory"]);
    assert!(memory.lines().all(|line| line.starts_with("memory/")) && memory.contains("memory/bandwidth"));
    let two = listed(&["context_switch", "cpu/noi*"]);
    assert_eq!(two.lines().count(), 2, "{two}");
    assert!(two.contains("cpu/context_switch") && two.contains("cpu/noise"), "{two}");
}

#[test]
fn a_part_of_a_report_begins_with_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = run_file(folder.path());
    let shown = text(&fathom().args(["report", "cpu"]).arg(&file).assert().success().get_output().stdout);
    let places = ["Findings", "  median", "hardware"].map(|part| shown.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {shown}");
}

#[test]
fn colour_is_used_only_when_asked_for_in_a_pipe() {
    let escape = |arguments: &[&str]| {
        text(&fathom().args(arguments).assert().success().get_output().stdout).contains('\u{1b}')
    };
    assert!(!escape(&["machine"]));
    assert!(escape(&["machine", "--color", "always"]));
}

#[test]
fn published_machines_are_listed_and_set_beside_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = part_file(folder.path());
    let beside = |machine: &str, form: &str| {
        fathom().args(["report", "--beside", machine, "--format", form]).arg(&file).assert()
    };
    let shown = text(&beside("000", "text").success().get_output().stdout);
    assert!(shown.contains("Beside i7-1250u-ubuntu-24.04") && shown.contains("74.2 ns"), "{shown}");
    for form in ["html", "markdown", "latex"] {
        let shown = text(&beside("000", form).success().get_output().stdout);
        assert!(shown.contains("Beside ") && shown.contains("74.2"), "{form}");
    }
    let json = text(&beside("all", "json").success().get_output().stdout);
    assert!(json.contains("\"beside\"") && json.contains("s000-0027"), "{json}");
    let refused = beside("vax", "text").code(2).get_output().clone();
    assert!(text(&refused.stderr).contains("`fathom references` lists") && refused.stdout.is_empty());
    let listed = fathom().arg("references").assert().success().get_output().clone();
    assert!(text(&listed.stdout).contains("315 figures"), "{}", text(&listed.stdout));
    fathom().args(["references", "003", "--format", "json"]).assert().success();
    let one = text(&fathom().args(["references", "s000-0074"]).assert().success().get_output().stdout);
    assert!(one.contains("ten times too large") && one.contains("line "), "{one}");
}

#[test]
fn a_part_of_a_run_is_told_as_the_whole_run_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = run_file(folder.path());
    let shown = |what: &[&str]| {
        let mut command = fathom();
        command.arg("report").args(what).arg(&file).args(["--format", "json"]);
        let output = command.assert().success().get_output().clone();
        let all: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        all["points"].as_array().unwrap().clone()
    };
    let (whole, part) = (shown(&[]), shown(&["system_call"]));
    let of_it = |points: &[serde_json::Value]| -> Vec<serde_json::Value> {
        points.iter().filter(|point| point["experiment"] == "cpu/system_call").cloned().collect()
    };
    assert!(part.len() < whole.len() && part.len() > 10);
    assert_eq!(of_it(&part), part);
    assert_eq!(of_it(&whole), part);
    let tables = fathom().args(["report", "system_call"]).arg(&file).assert().success().get_output().clone();
    let tables = text(&tables.stdout);
    assert!(tables.contains("cpu/system_call (one-cpu)") && !tables.contains("loop_overhead"), "{tables}");
}

#[test]
fn a_published_machine_is_a_side_of_a_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let file = part_file(folder.path());
    let compared = |machine: &str, form: &str| {
        let mut command = fathom();
        command.args(["compare", machine]).arg(&file).args(["--accept", "build", "--format", form]);
        command.assert()
    };
    for form in ["text", "html", "markdown", "latex"] {
        let shown = text(&compared("000", form).success().get_output().stdout);
        assert!(shown.contains("74.2") && shown.contains("not verdicts"), "{form}: {shown}");
    }
    let json: serde_json::Value =
        serde_json::from_slice(&compared("000", "json").success().get_output().stdout).unwrap();
    let figures = json["published"][0]["figures"].as_array().unwrap();
    assert!(figures.iter().any(|figure| figure["figure"]["id"] == "s000-0027"), "{json}");
    let csv = text(&compared("000", "csv").success().get_output().stdout);
    assert!(csv.lines().any(|line| line.contains("s000-0027")), "{csv}");
    // A name that is neither a file nor a machine.
    let refused = text(&compared("vax", "text").code(2).get_output().stderr);
    assert!(refused.contains("vax"), "{refused}");
    // It is no run, and stands first or not at all.
    let last = text(&fathom().arg("compare").arg(&file).arg("000").assert().code(2).get_output().stderr);
    assert!(last.contains("first"), "{last}");
}

#[test]
fn the_version_tells_what_the_program_was_built_with() {
    let told = text(&fathom().arg("--version").assert().success().get_output().stdout);
    let compiler = told.lines().find_map(|line| line.strip_prefix("compiler: ")).expect("the compiler");
    assert!(compiler.starts_with("rustc ") && compiler.contains("-C opt-level="), "{told}");
    assert_eq!(text(&fathom().arg("-V").assert().success().get_output().stdout).lines().count(), 1);
}

#[test]
fn a_verification_says_what_it_would_do_to_the_machine_and_does_nothing() {
    let state = tempfile::tempdir().unwrap();
    let told = |arguments: &[&str]| {
        let mut command = fathom();
        command.args(["verify", "--dry-run"]).args(arguments).env("XDG_STATE_HOME", state.path());
        text(&command.assert().success().get_output().stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let all = told(&[]);
    for said in [
        "loop device",
        "mount namespace",
        "quota of half a CPU",
        "memory limit of 300 MiB",
        "pair of virtual adapters",
        "userfaultfd",
        "ptrace",
        "oom_score_adj",
        "verification.json",
    ] {
        assert!(all.contains(said), "{said}: {all}");
    }
    assert!(!told(&["spin"]).contains("loop device"));
    assert!(told(&["--peers"]).contains("servers listen on loopback"));
    assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0, "nothing is kept of it");
}

#[test]
fn sizes_trials_and_priorities_are_asked_for_and_refused_before_anything_is_measured() {
    let told = |arguments: &[&str]| {
        let mut command = fathom();
        let assert = command.args(["run", "--dry-run"]).args(arguments).assert();
        let output = assert.get_output();
        let both = text(&output.stdout) + &text(&output.stderr);
        (output.status.code(), both.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (status, sized) = told(&["memory/load_latency", "--sizes", "12KiB,96KiB", "--trials", "20"]);
    assert_eq!(status, Some(0), "{sized}");
    assert!(sized.contains("20 trials"), "{sized}");
    let (usual, fewer) = (told(&["filesystem/read"]).1, told(&["filesystem/read", "--sizes", "8KiB"]).1);
    assert_ne!(usual, fewer);
    let (status, refused) = told(&["cpu/system_call", "--sizes", "64KiB"]);
    assert_eq!(status, Some(2));
    assert!(
        refused.contains("no selected experiment has an amount of data")
            && refused.contains("filesystem/read"),
        "{refused}"
    );
    for wrong in [["--sizes", "5000"], ["--trials", "2"], ["--priority", "20"]] {
        assert_eq!(told(&wrong).0, Some(2), "{wrong:?}");
    }
    assert_eq!(told(&["cpu/system_call", "--priority", "19"]).0, Some(0), "anybody may be slower");
    // SAFETY: takes no pointers.
    if unsafe { libc::geteuid() } != 0 {
        let (status, refused) = told(&["cpu/system_call", "--priority", "-20"]);
        assert!(status == Some(2) && refused.contains("CAP_SYS_NICE"), "{refused}");
    }
}

#[test]
fn a_plan_says_what_it_would_do_to_the_machine_and_what_needs_to_be_allowed() {
    let told = |arguments: &[&str]| {
        let mut command = fathom();
        command.args(["run", "--dry-run", "--thorough"]).args(arguments);
        text(&command.assert().success().get_output().stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let usual = told(&["filesystem/cache_size"]);
    assert!(usual.contains("needs `--whole-memory`") && !usual.contains("WHOLE MACHINE"), "{usual}");
    assert!(told(&["filesystem/cache_size", "--whole-memory"]).contains("WHOLE MACHINE"));
    assert!(text(&fathom().args(["run", "--help"]).assert().get_output().stdout).contains("--whole-memory"));
}
