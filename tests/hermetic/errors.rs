//! What is said to whoever asks for what cannot be: each mistake with the exit status and the words that help.

use crate::committed::{fathom, run_file, text};

/// A mistake, the exit status, and what must be said on standard error.
type Mistake = (&'static [&'static str], i32, &'static [&'static str]);

const MISTAKES: &[Mistake] = &[
    // names
    (&["explain", "loadlatency"], 2, &["loadlatency", "did you mean `memory/load_latency`"]),
    (&["run", "memroy"], 2, &["did you mean `memory`", "fathom list"]),
    (&["history", "nosuch"], 2, &["no experiment `nosuch`", "fathom list"]),
    (&["frobnicate"], 2, &["fathom: there is no command `frobnicate`", "fathom --help"]),
    (&["rnu"], 2, &["there is no command `rnu`", "did you mean `run`"]),
    (&["list", "memroy"], 2, &["did you mean `memory`"]),
    (&["explain"], 2, &["fathom list"]),
    (&["run", "--bugdet", "5s"], 2, &["`fathom run` has no option `--bugdet`", "did you mean `--budget`"]),
    (&["schema", "x"], 2, &["takes nothing like `x`"]),
    (
        &["compare", "009", "run.jsonl"],
        2,
        &["no file 009", "no published machine 009", "`fathom references` lists"],
    ),
    (&["references", "s000-9999"], 2, &["no figure s000-9999", "report 000", "s000-0001"]),
    (
        &["export", "--format", "prometheus"],
        2,
        &["--format: there is no `prometheus`", "did you mean `open-metrics`"],
    ),
    (&["verify", "nosuch"], 2, &["no rig `nosuch`", "chase"]),
    (&["replicate", "009"], 2, &["no report `009`", "fathom replicate"]),
    (&["references", "vax"], 2, &["no published machine vax", "`fathom references` lists"]),
    (&["references", "thinkpad-x2"], 2, &["did you mean i7-11gen-thinkpad-x1-ubuntu-22.04?"]),
    (&["gate", "--baseline", "nosuch"], 2, &["--save-baseline nosuch"]),
    (&["report", "--format", "pdf"], 2, &["possible values", "html"]),
    // files
    (&["report", "/no/such/file"], 2, &["/no/such/file", "No such file"]),
    (&["report", "memroy"], 2, &["did you mean `memory`"]),
    (&["report", "one.jsonl", "other.jsonl"], 2, &["cannot read one.jsonl"]),
    (&["report", "one.jsonl", "other.jsonl", "memory"], 2, &["fathom compare"]),
    (&["report", "/"], 2, &["cannot read /", "a folder", "name a run file in it"]),
    (&["compare", "one.jsonl"], 2, &["compare needs two runs", "fathom compare 000 one.jsonl"]),
    (&["history"], 2, &["no run in", "`fathom run` makes one"]),
    (&["report", "/etc/passwd"], 2, &["/etc/passwd: it is not a run file of fathom"]),
    (&["export", "--format", "csv", "/etc/passwd"], 2, &["/etc/passwd: it is not a run file"]),
    (&["compare", "/etc/passwd", "/etc/passwd"], 2, &["/etc/passwd: it is not a run file"]),
    (&["compare", "nosuch.jsonl", "other.jsonl"], 2, &["cannot read nosuch.jsonl"]),
    (&["run", "--resume", "/no/such/file"], 2, &["cannot read /no/such/file"]),
    (&["run", "noise", "-o", "/proc/x.jsonl"], 2, &["cannot write /proc/x.jsonl", "--output"]),
    (&["run", "filesystem", "--dir", "/no/such/folder"], 2, &["--dir", "no such folder"]),
    (&["run", "remote_read", "--remote", "/no/such/file"], 2, &["/no/such/file", "No such file"]),
    // what is asked for
    (&["run", "--quick", "--thorough"], 2, &["--quick", "cannot be used with", "--thorough"]),
    (&["run", "--budget", "0s"], 2, &["a time above zero", "90s"]),
    (&["run", "--budget", "soon"], 2, &["a time above zero", "1h30m"]),
    (&["run", "--budget", "-5s"], 2, &["--budget: `-5s` begins with a minus"]),
    (&["run", "--precision", "200%"], 2, &["between 0 and 1"]),
    (&["run", "--precision", "5"], 2, &["did you mean 5%?"]),
    (&["run", "--processes", "1,a"], 2, &["--processes `a`", "such as 1,8,32"]),
    (&["run", "--processes", "1,900"], 2, &["numbers from 1 to 256"]),
    (&["run", "--seed", "abc"], 2, &["--seed: `abc` is no whole number"]),
    (&["run", "noise", "-o", "x.jsonl.gz"], 2, &["packed", "without .gz"]),
    // what a run would refuse, refused by a dry run
    (&["run", "--dry-run", "--dir", "/proc"], 2, &["--dir", "/proc", "choose another folder"]),
    (&["run", "noise", "--dir", "/proc"], 2, &["--dir", "/proc"]),
    (&["run", "--dry-run", "noise", "--trial", "5h", "--budget", "83s"], 2, &["nothing fits", "--budget"]),
    (&["run", "--dry-run", "--peer", "nohost.invalid"], 2, &["no peer nohost.invalid", "no address"]),
    (&["run", "--dry-run", "--peer", "192.0.2.1:9"], 2, &["no peer 192.0.2.1:9", "--token-file"]),
    (&["run", "--cpu", "99999", "noise"], 2, &["99999"]),
    (&["run", "--remote", "ftp://host/file", "remote_read"], 2, &["ftp://", "sftp://"]),
    (&["ab", "cpu"], 2, &["--b"]),
    (&["ab", "cpu", "--b", "nonsense"], 2, &["sysctl:NAME=VALUE", "prefix:COMMAND"]),
    (&["ab", "cpu", "--b", "sysctl:kernel.nosuch=1"], 2, &["/proc/sys/kernel/nosuch"]),
];

#[test]
fn every_mistake_is_told_with_what_helps_and_measures_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = vec![];
    for (arguments, status, words) in MISTAKES {
        let mut command = fathom();
        command.env("XDG_DATA_HOME", folder.path()).args(*arguments);
        // Whatever else measures on this machine.
        command
            .args(arguments.iter().find(|word| ["run", "ab", "gate"].contains(*word)).map(|_| "--alongside"));
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        let lacks: Vec<&&str> = words.iter().filter(|word| !said.contains(**word)).collect();
        if output.status.code() != Some(*status) || !lacks.is_empty() || !output.stdout.is_empty() {
            wrong.push(format!("{arguments:?}: {:?}, without {lacks:?}: {said}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let runs = std::fs::read_dir(folder.path().join("fathom/runs"));
    let left: Vec<_> = runs.into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn what_is_no_terminal_gets_no_colour_and_a_narrow_one_no_longer_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = run_file(folder.path());
    let shown = |set: &[(&str, &str)], arguments: &[&str]| {
        let mut command = fathom();
        command.env_remove("COLUMNS").envs(set.iter().copied()).arg("report").arg(&file).args(arguments);
        text(&command.assert().success().get_output().stdout)
    };
    let plain = shown(&[], &[]);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    // As wide as the screens of the documents, so that it fits where it is pasted.
    let is_path = |line: &&str| line.contains(folder.path().to_str().unwrap());
    let widest = plain.lines().filter(|line| !is_path(line)).map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|widest| (80..=100).contains(&widest)), "{widest:?}: {plain}");
    assert!(shown(&[], &["--color", "always"]).contains('\u{1b}'));
    assert!(!shown(&[("NO_COLOR", "1")], &["--color", "auto"]).contains('\u{1b}'));
    let narrow = shown(&[("COLUMNS", "60")], &[]);
    // A path or a command is not broken.
    let whole = [folder.path().to_str().unwrap(), "fathom report --full"];
    let prose = narrow.lines().filter(|line| !whole.iter().any(|part| line.contains(part)));
    let longest = prose.clone().max_by_key(|line| line.chars().count()).unwrap();
    assert!(longest.chars().count() <= 60, "{longest:?}");
    // Numbers and words are the same in every locale.
    for locale in ["de_DE.UTF-8", "tr_TR.UTF-8", "C", "ja_JP.eucJP"] {
        assert_eq!(shown(&[("LC_ALL", locale), ("LANG", locale)], &[]), plain, "{locale}");
    }
}

#[test]
fn a_reader_who_goes_away_ends_the_report_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let file = run_file(folder.path());
    let program = assert_cmd::cargo::cargo_bin("fathom");
    let script = "\"$0\" report --full \"$1\" | head -1";
    let output = std::process::Command::new("bash").args(["-c", script]).arg(program).arg(&file).output();
    let output = output.unwrap();
    assert_eq!(text(&output.stdout).lines().count(), 1);
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_page_is_told_from_its_run_and_what_is_written_over_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_file(folder.path());
    let page = run.with_extension("html");
    let write =
        || fathom().args(["report", "--format", "html", "-o"]).arg(&page).arg(&run).assert().success();
    assert_eq!(text(&write().get_output().stderr), "");
    let again = text(&write().get_output().stderr);
    assert!(again.contains("was written over") && again.contains(page.to_str().unwrap()), "{again}");
    let refused = text(&fathom().arg("report").arg(&page).assert().code(2).get_output().stderr);
    assert!(refused.contains("is the page of a run") && refused.contains(run.to_str().unwrap()), "{refused}");
}
