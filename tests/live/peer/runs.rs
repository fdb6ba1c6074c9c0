//! Runs with a peer, and what they do when it is gone.

use super::impostors::{impostor, reply};
use super::process::{
    ByHand, Process, is_remote, lines, remote_experiment, remote_trials, run, run_for, wait_until,
};
use super::server::listens;
use crate::tier::{Outcome, Test, beside, inconclusive, needs_root};
use fathom::peer::protocol::{Hello, Reply};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub const TESTS: &[Test] = &beside![
    a_peer_that_is_killed_ends_its_points_and_not_the_run,
    a_peer_that_is_lost_after_every_point_has_a_value_is_told_all_the_same,
    a_peer_that_hangs_costs_seconds,
    whoever_takes_the_peers_place_gets_nothing,
    a_peer_ends_with_its_run_however_that_ends,
    a_peer_by_hand_needs_its_token,
    a_peer_that_is_kept_serves_a_second_run,
    without_a_peer_its_points_are_skipped_with_what_to_do,
    a_virtual_peer_is_measured_and_leaves_nothing,
    a_virtual_peer_goes_with_a_run_that_is_killed,
    a_run_with_a_virtual_peer_is_taken_up_again_with_one,
    a_peer_without_a_port_left_refuses_and_the_run_goes_on,
];

/// A run of which a few remote trials were measured, still going on.
fn begun(budget: &str, peer: &ByHand, file: &Path) -> Process {
    // Longer trials than elsewhere: most of the points are still to come when the peer is lost.
    let mut command = run_for(budget, "30ms", &peer.address, file);
    command.arg("--token-file").arg(&peer.token_file).stderr(Stdio::null());
    let process = Process(command.spawn().unwrap());
    wait_until("remote trials are measured", || remote_trials(file, "measured") >= 2);
    process
}

/// What the run says, after it has ended by itself.
fn ended(mut process: Process) -> Output {
    let mut stdout = vec![];
    std::io::Read::read_to_end(&mut process.0.stdout.take().unwrap(), &mut stdout).unwrap();
    Output { status: process.0.wait().unwrap(), stdout, stderr: vec![] }
}

/// The run has told of the peer's loss, has measured what needs none until its end, and says that some failed.
fn has_gone_on(process: Process, file: &Path, reason: &str) {
    let output = ended(process);
    assert_eq!(output.status.code(), Some(4), "some experiments failed");
    let lines = lines(file);
    assert_eq!(lines.last().unwrap()["line"], "closing");
    let lost = |line: &serde_json::Value| {
        is_remote(line)
            && line["outcome"]["reason"].as_str().is_some_and(|why| why.contains("the peer was lost"))
    };
    let first = lines.iter().position(lost).expect("the loss is told");
    let why = lines[first]["outcome"]["reason"].as_str().unwrap();
    assert!(why.contains(reason), "{why}");
    let local =
        |line: &serde_json::Value| line["line"] == "trial" && line["outcome"]["outcome"] == "measured";
    assert!(lines[first..].iter().any(local), "the run goes on with what needs no peer");
    let said = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("lost its peer"), "{said}");
}

fn a_peer_that_is_killed_ends_its_points_and_not_the_run() -> Outcome {
    let (folder, mut peer) = (tempfile::tempdir().unwrap(), ByHand::start());
    let file = folder.path().join("run.jsonl");
    let process = begun("12s", &peer, &file);
    peer.process.0.kill().unwrap();
    peer.process.0.wait().unwrap();
    assert!(!listens(peer.port()));
    has_gone_on(process, &file, "it was killed");
    Ok(())
}

fn a_peer_that_is_lost_after_every_point_has_a_value_is_told_all_the_same() -> Outcome {
    let (folder, mut peer) = (tempfile::tempdir().unwrap(), ByHand::start());
    let file = folder.path().join("run.jsonl");
    let mut command = run_for("12s", "4ms", &peer.address, &file);
    command.arg("--token-file").arg(&peer.token_file).stderr(Stdio::null());
    let mut process = Process(command.spawn().unwrap());
    let second_round = |line: &serde_json::Value| is_remote(line) && line["round"] == 2;
    let has_begun = || file.exists() && lines(&file).iter().any(second_round);
    wait_until("the second round has begun, or the run has ended", || {
        has_begun() || process.0.try_wait().unwrap().is_some()
    });
    if !has_begun() {
        return inconclusive("the run has ended within its first round");
    }
    peer.process.0.kill().unwrap();
    let output = ended(process);
    assert_eq!(output.status.code(), Some(4), "something has failed");
    let said = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("It lost its peer"), "{said}");
    Ok(())
}

fn a_peer_that_hangs_costs_seconds() -> Outcome {
    let (folder, peer) = (tempfile::tempdir().unwrap(), ByHand::start());
    let file = folder.path().join("run.jsonl");
    // A trial in hand waits for as long as a trial may take.
    let process = begun("20s", &peer, &file);
    peer.process.signal(libc::SIGSTOP);
    has_gone_on(process, &file, "it hangs");
    let lines = lines(&file);
    let took = lines.iter().filter(|line| is_remote(line)).filter_map(|line| line["took_s"].as_f64());
    let longer = took.filter(|took| *took > 2.0).count();
    assert!(longer <= 2, "{longer} trials have waited for a peer that hangs");
    Ok(())
}

fn whoever_takes_the_peers_place_gets_nothing() -> Outcome {
    let (folder, mut peer) = (tempfile::tempdir().unwrap(), ByHand::start());
    let file = folder.path().join("run.jsonl");
    let process = begun("12s", &peer, &file);
    peer.process.0.kill().unwrap();
    peer.process.0.wait().unwrap();
    let challenge = reply(&Reply::Challenge(Hello::ours("2".to_owned())));
    let welcome = reply(&Reply::Welcome { proof: "00".repeat(32) });
    let _impostor = impostor(TcpListener::bind(&*peer.address).unwrap(), vec![challenge, welcome]);
    has_gone_on(process, &file, "it was killed");
    Ok(())
}

fn a_peer_ends_with_its_run_however_that_ends() -> Outcome {
    let (folder, mut peer) = (tempfile::tempdir().unwrap(), ByHand::start());
    let mut process = begun("12s", &peer, &folder.path().join("run.jsonl"));
    process.0.kill().unwrap();
    wait_until("the peer ends with a run that was killed", || peer.process.has_ended());
    assert!(!listens(peer.port()));
    assert!(!process.0.wait().unwrap().success());
    Ok(())
}

fn a_peer_by_hand_needs_its_token() -> Outcome {
    let (folder, peer) = (tempfile::tempdir().unwrap(), ByHand::start());
    let file = folder.path().join("run.jsonl");
    let says = |command: &mut Command| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(!file.exists(), "nothing is measured without the peer that was asked for");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(says(&mut run(&peer.address, &file)).contains("--token-file"));
    let other = folder.path().join("other");
    std::fs::write(&other, "0123456789abcdef0123456789abcdef").unwrap();
    std::fs::set_permissions(&other, PermissionsExt::from_mode(0o600)).unwrap();
    let refused = says(run(&peer.address, &file).arg("--token-file").arg(&other));
    assert!(refused.contains("the token is not that of this peer"), "{refused}");
    std::fs::write(&other, "short").unwrap();
    assert!(says(run(&peer.address, &file).arg("--token-file").arg(&other)).contains("too easy to guess"));
    Ok(())
}

fn a_peer_that_is_kept_serves_a_second_run() -> Outcome {
    let (folder, mut peer) = (tempfile::tempdir().unwrap(), ByHand::start_to_keep());
    for name in ["first.jsonl", "second.jsonl"] {
        let file = folder.path().join(name);
        let output = run(&peer.address, &file).arg("--token-file").arg(&peer.token_file).output().unwrap();
        assert!(remote_trials(&file, "measured") > 0, "{}", String::from_utf8_lossy(&output.stderr));
    }
    wait_until("it listens for a third", || listens(peer.port()));
    assert!(!peer.process.has_ended());
    Ok(())
}

fn without_a_peer_its_points_are_skipped_with_what_to_do() -> Outcome {
    let output = Command::new(super::process::binary())
        .args([
            "run",
            "--quick",
            "--alongside",
            "--budget",
            "2s",
            "--trial",
            "4ms",
            remote_experiment(),
            "--format",
            "json",
            "-o",
        ])
        .arg(tempfile::tempdir().unwrap().path().join("run.jsonl"))
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--peer HOST") || said.contains("every selected point is skipped"), "{said}");
    Ok(())
}

/// Adapters of virtual peers that this machine has.
fn adapters() -> Vec<String> {
    let entries = std::fs::read_dir("/sys/class/net").unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("fathom")).collect()
}

/// The adapter of the virtual peer that a process has started.
fn adapter_of(parent: u32) -> Option<String> {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    let ours =
        |name: &String| children.split_whitespace().any(|child| name.strip_prefix("fathom") == Some(child));
    adapters().into_iter().find(ours)
}

/// A run with a virtual peer, of which a remote trial was measured, and its file in a folder.
fn with_virtual_peer() -> (TempDir, PathBuf, Process) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let process = Process(run_for("16s", "4ms", "namespace", &file).stderr(Stdio::null()).spawn().unwrap());
    wait_until("a remote trial is measured", || remote_trials(&file, "measured") >= 1);
    (folder, file, process)
}

fn a_virtual_peer_is_measured_and_leaves_nothing() -> Outcome {
    needs_root()?;
    let (folder, file, mut process) = with_virtual_peer();
    let adapter = adapter_of(process.0.id()).expect("there is an adapter to the virtual peer");
    let said = ended(std::mem::replace(&mut process, Process(Command::new("true").spawn().unwrap())));
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("a virtual peer, a network namespace of this machine"), "{said}");
    let header = lines(&file).swap_remove(0);
    assert_eq!(header["peer"]["kind"], "virtual");
    wait_until("its adapter goes", || !adapters().contains(&adapter));
    let page = std::fs::read_to_string(folder.path().join("run.html")).unwrap();
    assert!(page.contains("virtual peer"));
    Ok(())
}

fn a_virtual_peer_goes_with_a_run_that_is_killed() -> Outcome {
    needs_root()?;
    let (_folder, _file, mut process) = with_virtual_peer();
    let adapter = adapter_of(process.0.id()).expect("there is an adapter to the virtual peer");
    process.0.kill().unwrap();
    wait_until("namespace and adapter go with it", || !adapters().contains(&adapter));
    Ok(())
}

fn a_run_with_a_virtual_peer_is_taken_up_again_with_one() -> Outcome {
    needs_root()?;
    let (_folder, file, mut process) = with_virtual_peer();
    process.0.kill().unwrap();
    process.0.wait().unwrap();
    let before = remote_trials(&file, "measured");
    let again = Command::new(super::process::binary())
        .args(["run", "--alongside", "--budget", "3s", "--resume"])
        .arg(&file)
        .output()
        .unwrap();
    assert!(again.status.success() || again.status.code() == Some(4), "{again:?}");
    assert!(remote_trials(&file, "measured") > before);
    Ok(())
}

/// In a network of its own, where the machine's ports are three and a peer finds none for its service.
fn a_peer_without_a_port_left_refuses_and_the_run_goes_on() -> Outcome {
    needs_root()?;
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123456789abcdef").unwrap();
    std::fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
    let script = format!(
        "ip link set lo up; echo 40000 40001 >/proc/sys/net/ipv4/ip_local_port_range; cd {}
         timeout 60 {fathom} peer --listen 127.0.0.1:39999 --token-file token >/dev/null 2>&1 &
         sleep 1; {fathom} run --quick --alongside --budget 12s --trial 4ms cpu/system_call {} --peer 127.0.0.1:39999 \
         --token-file token -o run.jsonl; echo status $?; wait",
        folder.path().display(),
        remote_experiment(),
        fathom = super::process::binary().display(),
    );
    let output = Command::new("unshare").args(["--net", "sh", "-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("status 4"), "{said} {}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&folder.path().join("run.jsonl"));
    let reasons: Vec<&str> = lines
        .iter()
        .filter(|line| is_remote(line))
        .filter_map(|line| line["outcome"]["reason"].as_str())
        .collect();
    assert!(reasons.iter().any(|why| why.contains("in use") || why.contains("no port left")), "{reasons:?}");
    let local =
        lines.iter().filter(|line| line["outcome"]["outcome"] == "measured" && !is_remote(line)).count();
    assert!(local > 6, "the run goes on");
    Ok(())
}
