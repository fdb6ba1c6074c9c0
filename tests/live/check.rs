//! Requirements of this machine: a filter on calls on both sides of a limit, and a quota.

use crate::control_group::Group;
use crate::short_run::text;
use crate::tier::{Outcome, Test, alone, beside, inconclusive, needs_root};
use serde_json::Value;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

pub const TESTS: &[&[Test]] = &[
    &alone![a_filter_that_costs_more_than_a_limit_allows_is_found_and_one_that_does_not_is_allowed],
    &beside![a_quota_is_fewer_cpus, what_was_measured_is_a_run_that_is_decided_again],
];

/// A filter of so many comparisons before every call is allowed (seccomp(2)), in this process and those it starts.
fn filter(comparisons: usize) -> io::Result<()> {
    let statement = |code: u32, value: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value };
    // Of the first argument: where only the number of the call decides, the kernel remembers that it is allowed.
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 16)];
    filter.extend(
        (0..comparisons)
            .map(|place| statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 100_000 + place as u32)),
    );
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: a filter that is alive during the call that copies it.
    let set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if set { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn requirements(folder: &Path, demand: &str) -> std::path::PathBuf {
    let path = folder.join("requirements.toml");
    std::fs::write(&path, format!("title = \"a test\"\n[[requirement]]\n{demand}\n")).expect("a file");
    path
}

/// The program, to check this demand.
fn check(folder: &Path, demand: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("fathom"));
    command.arg("check").arg(requirements(folder, demand));
    command.args(["--alongside", "--progress", "quiet", "--format", "json", "--budget", "20s"]);
    command
}

/// The result of the one requirement, with the exit status.
fn result(command: &mut Command) -> (Option<i32>, Value) {
    let output = command.output().expect("it runs");
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    (output.status.code(), report["results"][0].clone())
}

/// A call with a limit of so many nanoseconds, in a process with such a filter.
fn call(limit_ns: f64, comparisons: usize) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let demand = format!(
        "name = \"call\"\nmeasures = {{ experiment = \"cpu/system_call\", point = {{ call = \"getppid\" }} }}\nat_most = \"{limit_ns} ns\""
    );
    let mut command = check(folder.path(), &demand);
    command.arg("-o").arg(folder.path().join("run.jsonl"));
    // SAFETY: the closure makes system calls and allocates nothing that another thread may hold: there is none.
    unsafe { command.pre_exec(move || filter(comparisons)) };
    result(&mut command)
}

fn a_filter_that_costs_more_than_a_limit_allows_is_found_and_one_that_does_not_is_allowed() -> Outcome {
    // Nearly as many as a filter may have: where they are compiled, one takes a tenth of a nanosecond.
    const COMPARISONS: usize = 4000;
    let value = |comparisons| call(1e9, comparisons).1["value"].as_f64().ok_or("no value".to_owned());
    let (plain, filtered) = (value(1)?, value(COMPARISONS)?);
    if filtered < 1.5 * plain {
        return inconclusive(format!("the filter costs too little here: {plain} and {filtered} ns"));
    }
    let limit = (plain * filtered).sqrt();
    let (status, allowed) = call(limit, 1);
    assert_eq!((status, &allowed["decision"]), (Some(0), &"meets".into()), "{allowed:#}");
    let (status, refused) = call(limit, COMPARISONS);
    assert_eq!((status, &refused["decision"]), (Some(1), &"fails".into()), "{refused:#}");
    assert!(refused["decided_after_trials"].as_u64().is_some_and(|trials| trials >= 6), "{refused:#}");
    Ok(())
}

fn a_quota_is_fewer_cpus() -> Outcome {
    needs_root()?;
    let group = Group::new("cpu")?;
    group.set(("cpu.cfs_quota_us", "50000".to_owned()), ("cpu.max", "50000 100000".to_owned()))?;
    let folder = tempfile::tempdir().expect("a folder");
    let entrance = group.entrance();
    let checked = |cpus: &str| {
        let demand = format!("name = \"CPUs\"\ncondition = \"cpus\"\nat_least = \"{cpus}\"");
        let mut command = check(folder.path(), &demand);
        let entrance = entrance.clone();
        // SAFETY: the closure writes a file; this process has one thread that matters to it.
        unsafe { command.pre_exec(move || std::fs::write(&entrance, "0")) };
        result(&mut command)
    };
    assert_eq!(checked("0.4").0, Some(0));
    let (status, failed) = checked("1");
    assert_eq!((status, failed["value"].as_f64()), (Some(1), Some(0.5)), "{failed:#}");
    Ok(())
}

fn what_was_measured_is_a_run_that_is_decided_again() -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run.jsonl");
    let demand = "name = \"call\"\nmeasures = { experiment = \"cpu/system_call\", point = { call = \"getppid\" } }\nat_most = \"1 s\"";
    let (status, measured) = result(check(folder.path(), demand).arg("-o").arg(&run));
    assert_eq!(status, Some(0), "{measured:#}");
    let file = requirements(folder.path(), demand);
    let mut again = Command::new(assert_cmd::cargo::cargo_bin("fathom"));
    again.arg("check").arg(file).arg("--run").arg(&run).args(["--format", "json"]);
    assert_eq!(result(&mut again), (Some(0), measured));
    let mut report = Command::new(assert_cmd::cargo::cargo_bin("fathom"));
    let shown = report.arg("report").arg(&run).arg("--full").output().expect("it runs");
    // Lines break anywhere between words.
    let words = text(&shown.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.status.success() && words.contains("every requirement was decided"), "{words}");
    Ok(())
}
