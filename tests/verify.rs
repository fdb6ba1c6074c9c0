//! Verification of the instrument, as users put it there: what rigs say, and how the program ends by it.

mod described;
mod sessions;

use fathom::record::Verdict::{Inconclusive, Right, Skipped, Wrong};
use fathom::record::{Tool, Truth, Verdict, Verification};
use fathom::report::{Form, RunReport, Style, appendix, render};
use fathom::results::Results;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One measurement at a time: the tests of this file would measure each other.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Verifies some rigs, with nothing kept outside of a folder.
fn verified(arguments: &[&str], state: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("verify").args(arguments).args(["--alongside", "--format", "json"]);
    command.env("XDG_STATE_HOME", state).output().unwrap()
}

fn truths(output: &Output) -> Vec<Value> {
    let found: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    found["truths"].as_array().unwrap().clone()
}

/// What the work of a rig itself makes true is found on any machine, in one of three sessions: a host may spoil one.
#[test]
fn what_needs_nothing_is_found_and_the_exit_status_says_so() {
    let _alone = alone();
    let state = tempfile::tempdir().unwrap();
    sessions::in_one_of_three(|| {
        let output = verified(&["spin", "chain", "sleep", "echo", "page-fault", "chase"], state.path());
        let (truths, status) = (truths(&output), output.status.code());
        let verdict = |word: &str| truths.iter().filter(|truth| truth["verdict"] == word).count();
        let expected = if verdict("wrong") > 0 {
            1
        } else if verdict("inconclusive") > 0 || verdict("skipped") == truths.len() {
            3
        } else {
            0
        };
        assert_eq!(status, Some(expected), "{truths:#?}");
        // Nowhere wrong, and more than one of them inconclusive on a disturbed host alone.
        let decided = verdict("wrong") == 0 && verdict("right") + 1 >= truths.len();
        if truths.len() == 10 && decided { Ok(()) } else { Err(format!("{truths:#?}")) }
    });
    assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0, "a part of the rigs verifies no build");
}

#[test]
fn a_rig_that_there_is_not_is_told_with_those_that_there_are() {
    let output = verified(&["spun"], Path::new("/nowhere"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no rig `spun`") && said.contains("spin, chain"), "{said}");
}

/// A quota of half a CPU and a neighbour are seen, and move nothing; where a quota cannot be set, the reason stands there.
#[test]
fn what_disturbs_is_seen_and_does_not_move_the_value() {
    let _alone = alone();
    let state = tempfile::tempdir().unwrap();
    sessions::in_one_of_three(|| {
        let truths = truths(&verified(&["neighbour", "quota"], state.path()));
        // How much of the time others leave is theirs to say.
        let may_be_open =
            |truth: &Value| truth["what"].as_str().is_some_and(|what| what.contains("share of time"));
        let is_decided = |truth: &Value| match truth["verdict"].as_str() {
            Some("skipped") => truth["because"].as_str().is_some_and(|why| why.contains("control group")),
            Some("inconclusive") => may_be_open(truth),
            verdict => verdict == Some("right"),
        };
        if truths.len() >= 3 && truths.iter().all(is_decided) { Ok(()) } else { Err(format!("{truths:#?}")) }
    });
}

/// A page cache, a disk and a link of known size and rate; what is missing for one is told in its place.
#[test]
fn what_needs_root_is_found_or_says_what_is_missing() {
    let _alone = alone();
    let state = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = folder.path().to_str().unwrap();
    let (mut right, mut decided) = (0, 0);
    for rig in ["page-cache", "device-bytes", "device-requests", "device-burst", "link", "delay", "jitter"] {
        let truths = truths(&verified(&[rig, "--dir", place], state.path()));
        assert!(!truths.is_empty(), "{rig} says nothing");
        for truth in &truths {
            let verdict = truth["verdict"].as_str().unwrap();
            // Each is measured twice before it is called wrong; what others take of a busy host leaves it open.
            assert_ne!(verdict, "wrong", "{truth:#}");
            let because = truth["because"].as_str().unwrap_or_default();
            assert!(verdict != "skipped" || because.contains("needs"), "{truth:#}");
            right += u32::from(verdict == "right");
            decided += u32::from(verdict != "skipped");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "left by {rig}");
    }
    assert!(2 * right >= decided, "{right} of {decided} truths were found");
}

fn tool(sha256: &str) -> Tool {
    Tool {
        name: "fathom".to_owned(),
        version: "0".to_owned(),
        binary_sha256: sha256.to_owned(),
        target: String::new(),
        build: String::new(),
        compiler: None,
        commit: None,
    }
}

fn truth(verdict: Verdict) -> Truth {
    Truth {
        rig: "spin".to_owned(),
        what: "one by one".to_owned(),
        unit: None,
        set: Some(100.0),
        tolerance: Some(2.0),
        found: Some(101.0),
        interval: None,
        verdict,
        because: None,
    }
}

#[test]
fn a_verification_is_of_one_build_on_one_machine_and_ends_as_its_worst_truth() {
    let machine = fathom::machine::Machine::describe(Path::new("."));
    let of = |verdicts: &[Verdict]| {
        let truths = verdicts.iter().copied().map(truth).collect();
        Verification::of("2026-01-01T00:00:00Z".to_owned(), 30.0, tool("a"), &machine, truths)
    };
    let ends = |verdicts: &[Verdict]| of(verdicts).verdict();
    assert_eq!(ends(&[Right, Skipped]), Right);
    assert_eq!(ends(&[Right, Inconclusive, Skipped]), Inconclusive);
    assert_eq!(ends(&[Wrong, Inconclusive]), Wrong);
    assert_eq!((ends(&[Skipped]), ends(&[])), (Skipped, Skipped));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/verification.json");
    let found = of(&[Right]);
    found.write(&path).unwrap();
    let again = Verification::read(&path).expect("what was kept");
    assert_eq!(again, found);
    assert!(again.is_of(&tool("a"), &machine) && !again.is_of(&tool("b"), &machine));
    let mut elsewhere = machine.clone();
    elsewhere.kernel.release = fathom::machine::Fact::known("another".to_owned(), "");
    assert!(!again.is_of(&tool("a"), &elsewhere));
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing unfinished is left");
}

#[test]
fn a_report_has_the_truths_of_its_build_or_says_that_there_are_none() {
    let mut run = described::fake_run();
    let told = |run: &fathom::record::Run, form| {
        let results = Results::of(run);
        let report = RunReport::of(&results);
        render(&report, form, Style::default()) + &appendix(&report, form).unwrap_or_default()
    };
    assert!(told(&run, Form::Markdown).contains("This build was not verified on this machine"));
    assert!(told(&run, Form::Text).contains("no; `fathom verify`"));
    let truths = vec![truth(Right), truth(Inconclusive)];
    let at = "2026-02-03T04:05:06Z".to_owned();
    let found = Verification::of(at, 30.0, run.header.tool.clone(), &run.header.machine, truths);
    run.header.verification = Some(Box::new(found));
    let page = told(&run, Form::Markdown);
    assert!(page.contains(
        "verified on this machine at 2026-02-03T04:05:06Z, before the run: 2 truths: 1 right, 1 inconclusive."
    ));
    assert!(page.contains("| `spin`") && page.contains("+1.00 | right"), "{page}");
    assert!(told(&run, Form::Text).contains("yes, this build on this machine: "));
    let json: Value = serde_json::from_str(&told(&run, Form::Json)).unwrap();
    assert_eq!(json["verification"]["truths"][1]["verdict"], "inconclusive");
}

/// The processes of a group that have not ended.
fn living(group: u32) -> Vec<String> {
    let group = group.to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_member = |stat: &String| {
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let (state, session) = (fields.next(), fields.nth(2));
        state != Some("Z") && session == Some(&group)
    };
    stats.filter(is_member).collect()
}

fn wait_until(what: &str, mut happens: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if happens() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("{what}");
}

/// A session with other tools that is killed leaves none of them behind: neither what it has started, nor what that has.
#[test]
fn other_tools_end_with_a_session_that_is_killed() {
    use std::os::unix::process::CommandExt;
    let _alone = alone();
    if !["perf", "sockperf", "stress-ng"].iter().any(|tool| Path::new("/usr/bin").join(tool).exists()) {
        eprintln!("skipped: none of the tools is installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["verify", "--peers", "--alongside", "--dir"]).arg(folder.path());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    // SAFETY: makes the process the leader of a session of its own, by which all that it starts is known.
    unsafe {
        command.pre_exec(|| if libc::setsid() < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) })
    };
    let mut session = command.spawn().unwrap();
    // One that has started another: that one would be nobody's.
    let is_tool = |stat: &&String| !stat.contains("(fathom") && !stat.contains("(verify");
    wait_until("no tool was started", || living(session.id()).iter().filter(is_tool).count() > 1);
    session.kill().unwrap();
    session.wait().unwrap();
    wait_until("something was left running", || living(session.id()).is_empty());
}
