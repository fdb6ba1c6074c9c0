//! Files that are the user's own.

use crate::short_run::{fathom, lines_of, made_short_run, short_run, text};
use crate::tier::{Outcome, Test, beside};
use std::os::unix::fs::symlink;
use std::path::Path;

pub const TESTS: &[Test] = &beside![
    a_run_file_with_the_ending_of_a_page_is_refused,
    a_page_never_takes_the_place_of_another_file_or_of_what_a_link_leads_to,
    a_run_that_is_taken_up_again_replaces_its_own_page_and_no_other,
    a_report_does_not_overwrite_its_run_under_another_name,
];

/// What a run to this file says that is refused.
fn refusal(file: &Path) -> String {
    text(&short_run(file).assert().code(2).get_output().stderr)
}

fn a_run_file_with_the_ending_of_a_page_is_refused() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    for name in ["x.html", "x.HTML", "x.Html"] {
        let file = folder.path().join(name);
        assert!(refusal(&file).contains(".jsonl"));
        assert!(!file.exists());
    }
    Ok(())
}

fn a_page_never_takes_the_place_of_another_file_or_of_what_a_link_leads_to() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (file, page, other) =
        (folder.path().join("x.jsonl"), folder.path().join("x.html"), folder.path().join("other"));
    std::fs::write(&page, "mine").unwrap();
    assert!(refusal(&file).contains("already exists"));
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "mine");
    std::fs::remove_file(&page).unwrap();
    std::fs::write(&other, "mine").unwrap();
    symlink(&other, &page).unwrap();
    refusal(&file);
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine");
    assert!(!file.exists(), "it is found out before anything is measured");
    Ok(())
}

fn a_run_that_is_taken_up_again_replaces_its_own_page_and_no_other() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (file, page) = (folder.path().join("x.jsonl"), folder.path().join("x.html"));
    made_short_run(&file);
    let first = std::fs::read_to_string(&page).unwrap();
    let resume = || {
        let mut run = fathom();
        run.args(["run", "--alongside", "--budget", "2s", "--resume"]).arg(&file);
        text(&run.assert().success().get_output().stderr)
    };
    resume();
    let second = std::fs::read_to_string(&page).unwrap();
    assert!(second.starts_with("<!doctype html>") && second != first, "the page tells the rounds added");
    std::fs::write(&page, "<!doctype html><title>notes</title> mine").unwrap();
    let said = resume();
    assert!(said.contains("not this run's page"), "{said}");
    assert!(std::fs::read_to_string(&page).unwrap().ends_with("mine"));
    assert_eq!(lines_of(&file, "resumed").len(), 2, "the run itself is kept");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    Ok(())
}

fn a_report_does_not_overwrite_its_run_under_another_name() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.jsonl");
    made_short_run(&file);
    let before = std::fs::read(&file).unwrap();
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    for name in [folder.path().join("./../").join(folder.path().file_name().unwrap()).join("x.jsonl"), link] {
        let said =
            fathom().arg("report").arg(&file).arg("-o").arg(&name).assert().code(2).get_output().clone();
        assert!(text(&said.stderr).contains("would be overwritten"), "{}", text(&said.stderr));
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
    Ok(())
}
