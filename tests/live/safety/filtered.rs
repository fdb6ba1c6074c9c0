//! A container's filter of system calls.

use super::binary;
use crate::short_run::text;
use crate::tier::{Outcome, Test, beside};
use serde_json::Value;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

pub const TESTS: &[Test] =
    &beside![where_tracing_is_refused_system_calls_are_not_asked_for_and_nothing_fails_for_that,];

/// Refuses one system call from now on with an error, in this process and those it starts (seccomp(2)).
fn refuse(call: libc::c_long, error: libc::c_int) -> io::Result<()> {
    let statement = |code: u32, value: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value };
    let number = statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0);
    let is_it =
        libc::sock_filter { jf: 1, ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32) };
    let refused = statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | error as u32);
    let allowed = statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW);
    let mut filter = [number, is_it, refused, allowed];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: a filter of four statements, alive during the call that copies it.
    let set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if set { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn run(form: &str, file: &std::path::Path) -> String {
    let mut command = Command::new(binary());
    command.args(["run", "--quick", "--alongside", "--budget", "10s", "--trial", "4ms", "system_call"]);
    command.args(["--format", form, "-o"]).arg(file);
    // SAFETY: the closure makes system calls only.
    unsafe { command.pre_exec(|| refuse(libc::SYS_ptrace, libc::EPERM)) };
    let output = command.output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn where_tracing_is_refused_system_calls_are_not_asked_for_and_nothing_fails_for_that() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let json: Value = serde_json::from_str(&run("json", &folder.path().join("a.jsonl"))).unwrap();
    let measured: Vec<&Value> =
        json["points"].as_array().unwrap().iter().filter(|point| point["median"].is_f64()).collect();
    let about_calls = |check: &Value| check["claim"].as_str().unwrap().contains("system calls");
    let counted = |point: &&&Value| point["evidence"].as_array().unwrap().iter().any(about_calls);
    assert_eq!(measured.iter().filter(counted).count(), 0, "{json:#}");
    // What its own handler witnesses needs no tracer.
    let unasked = |point: &&&Value| point["evidence"].as_array().unwrap().is_empty();
    let unasked: Vec<&Value> = measured.iter().filter(unasked).map(|point| &point["unasked"][0]).collect();
    assert!(!unasked.is_empty(), "{json:#}");
    for told in unasked {
        assert!(told["claim"].as_str().unwrap().contains("system calls per operation"), "{told:#}");
        assert!(told["reason"].as_str().unwrap().contains("ptrace: Operation not permitted"), "{told:#}");
    }
    let screen = run("text", &folder.path().join("b.jsonl"));
    // Wherever its lines are broken.
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("Not available for") && screen.contains("may not trace"), "{screen}");
    Ok(())
}
