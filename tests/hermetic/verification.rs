//! What a verification says and how it is kept, without one being made.

use crate::committed::fathom;
use fathom::record::Verdict::{Inconclusive, Right, Skipped, Wrong};
use fathom::record::{Tool, Truth, Verdict, Verification};
use fathom::report::{Form, RunReport, Style, appendix, render};
use fathom::results::Results;
use serde_json::Value;

#[test]
fn a_rig_that_there_is_not_is_told_with_those_that_there_are() {
    let output = fathom().args(["verify", "spun"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no rig `spun`") && said.contains("spin, chain"), "{said}");
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
    let machine = crate::described::machine();
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
    let mut run = crate::described::fake_run();
    let told = |run: &fathom::record::Run, form| {
        let results = Results::of(run);
        let report = RunReport::of(&results).in_full(true);
        render(&report, form, Style::default()) + &appendix(&report, form).unwrap_or_default()
    };
    assert!(told(&run, Form::Markdown).contains("This build was not verified on this machine"));
    assert!(told(&run, Form::Text).contains("not verified on this machine (`fathom verify`"));
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
