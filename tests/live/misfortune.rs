//! What may happen to a run: it is killed, its trials crash or hang, the disk is full, it may use little. Nothing is lost,
//! nothing is left behind, and what is said tells what to do.

use crate::control_group::Group;
use crate::short_run::{
    copied_program, fathom, lines_of, made_short_run, processes_of, running_trial, text, wait_for, wait_until,
};
use crate::tier::{Outcome, Test, beside};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub const TESTS: &[Test] = &beside![
    a_kill_loses_no_finished_trial_and_leaves_nothing_running_and_the_run_goes_on,
    ctrl_c_ends_a_run_in_an_orderly_way,
    waiting_that_is_interrupted_ends_as_every_interruption,
    a_run_that_was_started_to_survive_a_hang_up_does,
    a_run_of_another_build_is_not_continued,
    an_ordinary_user_measures_everything,
    one_cpu_is_enough_for_all_but_what_needs_two,
    half_a_gigabyte_of_memory_is_enough,
    half_a_gigabyte_of_addresses_is_enough,
    a_full_disk_ends_a_run_with_words_and_it_can_go_on,
    a_trial_that_crashes_is_a_failed_trial_and_the_run_goes_on,
    a_trial_that_hangs_is_timed_out_and_the_run_goes_on,
    a_trial_and_its_partners_die_with_a_killed_run,
    a_run_that_could_measure_nothing_says_so_and_leaves_no_file,
];

/// Starts a long run by this command and waits for some trials.
fn begun(mut command: Command, file: &Path) -> Child {
    let run = command
        .args(["run", "--quick", "--alongside", "--budget", "60s"])
        .args(["context_switch", "system_call", "process_creation", "-o"])
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("some trials ended", || lines_of(file, "trial").len() >= 8);
    run
}

fn send(run: &Child, signal: libc::c_int) {
    // SAFETY: our own child.
    unsafe { libc::kill(run.id() as libc::pid_t, signal) };
}

/// Starts a long run, waits for some trials, and ends it by a signal.
fn ended_by(signal: libc::c_int, folder: &Path) -> (PathBuf, PathBuf) {
    let (program, file) = (copied_program(folder), folder.join("run.jsonl"));
    let mut run = begun(Command::new(&program), &file);
    send(&run, signal);
    run.wait().unwrap();
    (program, file)
}

fn a_kill_loses_no_finished_trial_and_leaves_nothing_running_and_the_run_goes_on() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (program, file) = ended_by(libc::SIGKILL, folder.path());
    let before = lines_of(&file, "trial");
    assert!(lines_of(&file, "closing").is_empty());
    wait_until("every process is gone", || processes_of(&program).is_empty());
    // A kill may tear the last line: put half a line there.
    let torn = format!("{}{{\"line\":\"trial\",\"exper", std::fs::read_to_string(&file).unwrap());
    std::fs::write(&file, torn).unwrap();
    fathom().arg("report").arg(&file).assert().success();

    let resume = |file: &Path| {
        let mut command = Command::new(&program);
        command.args(["run", "--alongside", "--budget", "4s", "--resume"]).arg(file);
        command.output().unwrap()
    };
    let resumed = resume(&file);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    let after = lines_of(&file, "trial");
    assert_eq!(&after[..before.len()], &before[..], "what was found before the kill is still there");
    assert!(after.len() > before.len());
    assert_eq!(lines_of(&file, "closing").len(), 1);
    assert_eq!(lines_of(&file, "resumed").len(), 1);
    assert!(resume(&file).status.success(), "rounds can be added to a complete run");
    assert!(lines_of(&file, "trial").len() > after.len());
    Ok(())
}

fn ctrl_c_ends_a_run_in_an_orderly_way() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (program, file) = ended_by(libc::SIGINT, folder.path());
    wait_until("every process is gone", || processes_of(&program).is_empty());
    assert_eq!(lines_of(&file, "closing")[0]["ended"], "interrupted");
    fathom().arg("report").arg(&file).assert().success();
    Ok(())
}

fn waiting_that_is_interrupted_ends_as_every_interruption() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (program, file) = (copied_program(folder.path()), folder.path().join("run.jsonl"));
    let is_over = AtomicBool::new(false);
    let spin = || {
        while !is_over.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    };
    let (said, code) = std::thread::scope(|scope| {
        // So that the machine is not idle.
        scope.spawn(spin);
        scope.spawn(spin);
        let mut command = Command::new(&program);
        command.args(["run", "--alongside", "--wait", "60s", "cpu/noise", "--output"]).arg(&file);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
        let first = lines.by_ref().find(|line| line.contains("waiting at most"));
        send(&run, libc::SIGINT);
        let rest = lines.collect::<Vec<_>>().join("\n");
        let code = run.wait().unwrap().code();
        is_over.store(true, Ordering::Relaxed);
        (format!("{first:?}\n{rest}"), code)
    });
    assert!(said.contains("interrupted after ") && said.contains("nothing was measured"), "{said}");
    assert_eq!(code, Some(3), "{said}");
    assert!(!file.exists());
    Ok(())
}

fn a_run_that_was_started_to_survive_a_hang_up_does() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (program, file) = (copied_program(folder.path()), folder.path().join("run.jsonl"));
    let mut command = Command::new("nohup");
    command.arg(&program);
    let mut run = begun(command, &file);
    send(&run, libc::SIGHUP);
    let before = lines_of(&file, "trial").len();
    wait_until("more trials ended", || lines_of(&file, "trial").len() > before + 4);
    assert!(lines_of(&file, "closing").is_empty());
    send(&run, libc::SIGTERM);
    assert_eq!(run.wait().unwrap().code(), Some(3), "an interrupted run is not a whole one");
    assert_eq!(lines_of(&file, "closing")[0]["ended"], "interrupted");
    Ok(())
}

fn a_run_of_another_build_is_not_continued() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    made_short_run(&file);
    let digest = lines_of(&file, "header")[0]["tool"]["binary_sha256"].as_str().unwrap().to_owned();
    let other = std::fs::read_to_string(&file).unwrap().replace(&digest, &"0".repeat(64));
    std::fs::write(&file, other).unwrap();
    let output =
        fathom().args(["run", "--alongside", "--resume"]).arg(&file).assert().code(2).get_output().clone();
    assert!(text(&output.stderr).contains("another build"), "{}", text(&output.stderr));
    Ok(())
}

/// The chapters that need no second host.
const CHAPTERS: [&str; 4] = ["cpu", "memory", "network", "filesystem"];

/// What a restricted process may do, set in the child before it becomes fathom.
fn restricted(
    file: &Path,
    chapter: &str,
    restrict: impl Fn() -> bool + Send + Sync + 'static,
) -> std::process::Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("fathom"));
    let budget = if chapter == "cpu" { "4s" } else { "8s" };
    command.args(["run", "--quick", "--alongside", "--trial", "4ms", "--budget", budget, chapter]);
    command.arg("--dir").arg(file.parent().unwrap()).arg("-o").arg(file);
    // SAFETY: the closure makes system calls only.
    unsafe {
        command.pre_exec(move || if restrict() { Ok(()) } else { Err(std::io::Error::last_os_error()) });
    }
    command.output().unwrap()
}

fn complete_without_panic(file: &Path, output: &std::process::Output) {
    let said = text(&output.stderr);
    // A value that a busy machine has spoilt beyond plausibility makes status 4; that nothing broke is asserted below.
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}: {said}", output.status);
    assert!(!said.contains("panicked"), "{said}");
    let name = |point: &serde_json::Value| format!("{}{}", point["experiment"], point["point"]);
    let settled = lines_of(file, "settled").pop().expect("it was settled which points get their trials");
    let priced: Vec<String> = settled["left_out"].as_array().into_iter().flatten().map(name).collect();
    let measured = |trial: &&serde_json::Value| trial["outcome"]["outcome"] == "measured";
    let trials = lines_of(file, "trial");
    for point in lines_of(file, "header")[0]["plan"].as_array().unwrap() {
        let mine: Vec<&serde_json::Value> =
            trials.iter().filter(|trial| name(trial) == name(point)).collect();
        let seen = mine.iter().copied().filter(measured).count();
        let reason = point["skip"].is_string() || priced.contains(&name(point));
        let cannot = seen == 0 && !mine.is_empty();
        assert!(seen >= 6 || reason || cannot, "{} has {seen} trials and no reason", name(point));
    }
    // A trial that finds too little, or is out of time, tells of a busy machine; one that dies or that the system refuses
    // something tells of what this process may not do.
    let is_broken = |trial: &&serde_json::Value| {
        let reason = trial["outcome"]["reason"].as_str().unwrap_or_default();
        trial["outcome"]["outcome"] == "failed"
            && ["died", "os error"].iter().any(|word| reason.contains(word))
    };
    let broken = trials.iter().find(is_broken);
    assert!(broken.is_none(), "{broken:?}");
}

fn an_ordinary_user_measures_everything() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    // Readable for the user that this test becomes.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).unwrap();
    for chapter in CHAPTERS {
        let file = folder.path().join(format!("{chapter}.jsonl"));
        // SAFETY: plain system calls; 65534 is nobody. An ordinary user stays who it is.
        let output = restricted(&file, chapter, || unsafe {
            libc::getuid() != 0 || libc::setgid(65534) == 0 && libc::setuid(65534) == 0
        });
        complete_without_panic(&file, &output);
        let measured = |trial: &serde_json::Value| trial["outcome"]["outcome"] == "measured";
        assert!(lines_of(&file, "trial").iter().any(measured), "nothing of {chapter} was measured");
    }
    Ok(())
}

fn one_cpu_is_enough_for_all_but_what_needs_two() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let output = restricted(&file, "cpu", || {
        fathom::sampling::affinity::set(&[fathom::sampling::affinity::current()[0]])
    });
    complete_without_panic(&file, &output);
    let header = lines_of(&file, "header")[0].clone();
    let reasons: Vec<&str> =
        header["plan"].as_array().unwrap().iter().filter_map(|point| point["skip"].as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("needs 2 CPUs")), "{reasons:?}");
    Ok(())
}

/// Of points that need more than there is, the plan says so, and what else may not have it is not killed for it.
fn planned_within(file: &Path, bytes: u64, chapter: &str) {
    let available = &lines_of(file, "header")[0]["machine"]["conditions"]["available_bytes"]["value"];
    assert!(
        available.as_u64().is_some_and(|available| available <= bytes),
        "the limit was not seen: {available}"
    );
    let header = lines_of(file, "header")[0].clone();
    let reasons: Vec<&str> =
        header["plan"].as_array().unwrap().iter().filter_map(|point| point["skip"].as_str()).collect();
    let is_told = reasons.iter().any(|reason| reason.contains("available to this process"));
    assert!(is_told || chapter != "memory", "{reasons:?}");
}

fn half_a_gigabyte_of_memory_is_enough() -> Outcome {
    const LIMIT: u64 = 512 << 20;
    let limit = LIMIT.to_string();
    let group = Group::new("memory")?;
    group.set(("memory.limit_in_bytes", limit.clone()), ("memory.max", limit.clone()))?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for chapter in CHAPTERS {
        let file = folder.path().join(format!("{chapter}.jsonl"));
        let entrance = std::ffi::CString::new(group.entrance()).unwrap();
        // SAFETY: plain system calls; 0 is whoever writes it.
        let output = restricted(&file, chapter, move || unsafe {
            let entrance = libc::open(entrance.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            libc::write(entrance, c"0".as_ptr().cast(), 1) == 1
        });
        complete_without_panic(&file, &output);
        planned_within(&file, LIMIT, chapter);
    }
    Ok(())
}

fn half_a_gigabyte_of_addresses_is_enough() -> Outcome {
    const LIMIT: u64 = 512 << 20;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let limit = libc::rlimit { rlim_cur: LIMIT, rlim_max: LIMIT };
    // SAFETY: a valid limit.
    let output = restricted(
        &file,
        "memory",
        move || unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) } == 0,
    );
    complete_without_panic(&file, &output);
    planned_within(&file, LIMIT, "memory");
    Ok(())
}

fn a_full_disk_ends_a_run_with_words_and_it_can_go_on() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("fathom"));
    command
        .args(["run", "--quick", "--alongside", "--budget", "4s", "--trial", "4ms", "system_call", "-o"])
        .arg(&file);
    let limit = libc::rlimit { rlim_cur: 100_000, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a valid limit.
    let output = unsafe {
        command.pre_exec(move || {
            if libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) == 0 {
                Ok(())
            } else {
                Err(std::io::Error::last_os_error())
            }
        });
        command.output().unwrap()
    };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--resume") && said.contains("disk space"), "{said}");
    let before = lines_of(&file, "trial").len();
    assert!(before > 0);
    fathom().arg("report").arg(&file).assert().success();
    fathom().args(["run", "--alongside", "--budget", "2s", "--resume"]).arg(&file).assert().success();
    assert!(lines_of(&file, "trial").len() > before);
    assert_eq!(lines_of(&file, "closing").len(), 1);
    Ok(())
}

/// Starts a run of a copy of the program and sends one of its trials a signal, once there is one.
fn with_a_trial_signalled(folder: &Path, signal: libc::c_int, budget: &str) -> PathBuf {
    let program = copied_program(folder);
    let file = folder.join("run.jsonl");
    let mut run = Command::new(&program)
        .args(["run", "--quick", "--alongside", "--trial", "30ms", "wake_up", "--budget", budget, "-o"])
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // SAFETY: a process of the copy that this test started.
    unsafe { libc::kill(running_trial(&program), signal) };
    let exit = run.wait().unwrap().code();
    assert!(matches!(exit, Some(0 | 4)), "the run goes on without the trial: {exit:?}");
    file
}

fn a_trial_that_crashes_is_a_failed_trial_and_the_run_goes_on() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = with_a_trial_signalled(folder.path(), libc::SIGABRT, "3s");
    let outcomes: Vec<_> =
        lines_of(&file, "trial").into_iter().map(|trial| trial["outcome"].clone()).collect();
    let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome["outcome"] == "failed").collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0]["reason"].as_str().unwrap().contains("signal: 6"), "{failed:?}");
    let crashed = outcomes.iter().position(|outcome| outcome["outcome"] == "failed").unwrap();
    let goes_on = outcomes[crashed..].iter().any(|outcome| outcome["outcome"] == "measured");
    assert!(goes_on, "no trial was measured after the one that crashed: {outcomes:?}");
    Ok(())
}

fn a_trial_that_hangs_is_timed_out_and_the_run_goes_on() -> Outcome {
    // In a short run it is ended before that, and the time that it took leaves room for others.
    with_a_trial_signalled(tempfile::tempdir().unwrap().path(), libc::SIGSTOP, "14s");
    let folder = tempfile::tempdir().unwrap();
    // Where the plan has time for it, the trial may take as long as any may, and is then told as timed out.
    let file = with_a_trial_signalled(folder.path(), libc::SIGSTOP, "60s");
    let timed_out = lines_of(&file, "trial")
        .into_iter()
        .filter(|trial| trial["outcome"]["outcome"] == "timed_out")
        .count();
    assert_eq!(timed_out, 1);
    assert_eq!(lines_of(&file, "closing").len(), 1);
    Ok(())
}

fn a_trial_and_its_partners_die_with_a_killed_run() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let program = copied_program(folder.path());
    // Trials of noise last for seconds when they may, so that one would outlive its run.
    let mut run = Command::new(&program)
        .args(["run", "--alongside", "--trial", "60s", "--budget", "2h", "noise", "-o"])
        .arg(folder.path().join("run.jsonl"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    running_trial(&program);
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for(Duration::from_secs(2), "every process is gone", || processes_of(&program).is_empty());
    Ok(())
}

fn a_run_that_could_measure_nothing_says_so_and_leaves_no_file() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("fathom"));
    command.args(["run", "--alongside", "core_to_core", "-o"]).arg(&file);
    let one_cpu = || fathom::sampling::affinity::set(&[fathom::sampling::affinity::current()[0]]);
    // SAFETY: the closure makes system calls only.
    unsafe {
        command.pre_exec(move || if one_cpu() { Ok(()) } else { Err(std::io::Error::last_os_error()) });
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nothing can be measured"), "{}", text(&output.stderr));
    assert!(!file.exists());
    Ok(())
}
