//! Remote reads against real servers: OpenSSH, also mounted by sshfs, NFS-Ganesha, Samba. Every server is a host of its own in a network namespace.

use crate::claim::{self, between, decided};
use crate::servers::{Relay, Server};
use crate::tier::{Outcome, Test, alone, skipped};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

pub const TESTS: &[Test] = &alone![
    nfs_is_read_without_a_mount,
    smb_is_read_without_a_mount_as_nobody_and_as_a_user_who_signs,
    sftp_is_read_over_the_users_own_ssh_and_through_sshfs,
    a_server_that_answers_later_is_read_that_much_later,
    a_server_that_dies_in_mid_read_is_a_reason_and_not_a_hang,
    what_a_killed_run_left_on_a_server_is_removed_by_the_next,
    what_is_not_over_a_network_is_a_usage_error,
];

/// A server; skips the test where there can be none.
fn start(script: &str, arguments: &[&str], number: u8, port: u16) -> Outcome<Server> {
    Server::start(script, arguments, number, port).or_else(skipped)
}

/// A run of remote reads as a user starts it, in a session whose data are in `folder`.
fn command(folder: &Path, remote: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}:/usr/sbin:/sbin", folder.join("bin").display()));
    command.env("XDG_DATA_HOME", folder.join("data"));
    command.args([
        "run",
        "remote_read",
        "--alongside",
        "--precision",
        "99%",
        "--format",
        "json",
        "--remote",
        remote,
    ]);
    command.arg("--dir").arg(folder).args(["--output"]).arg(folder.join("run.jsonl")).args(more);
    command
}

/// Makes room for the next run of the same name.
fn forget(folder: &Path) {
    for file in ["run.jsonl", "run.html"] {
        let _ = std::fs::remove_file(folder.join(file));
    }
}

fn measure(folder: &Path, remote: &str, more: &[&str]) -> (Output, Vec<Value>) {
    forget(folder);
    let output = command(folder, remote, more).output().unwrap();
    let report = serde_json::from_slice::<Value>(&output.stdout);
    let points = report.map(|report| report["points"].as_array().cloned().unwrap_or_default());
    (output, points.unwrap_or_default())
}

fn find<'points>(points: &'points [Value], wanted: &[(&str, Value)]) -> &'points Value {
    let is_wanted = |point: &&Value| wanted.iter().all(|(name, value)| point["parameters"][name] == *value);
    points.iter().find(is_wanted).unwrap_or_else(|| panic!("no point {wanted:?} in {points:#?}"))
}

fn median(points: &[Value], wanted: &[(&str, Value)]) -> f64 {
    let point = find(points, wanted);
    point["median"].as_f64().unwrap_or_else(|| panic!("no median: {point:#}"))
}

/// Every point that was measured has its evidence, and those that are expected were measured; nothing is left.
fn sound(server: &Server, output: &Output, points: &[Value], through: &str, states: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said} {points:#?}");
    for state in states {
        let value = median(points, &[("protocol", through.into()), ("state", (*state).into())]);
        assert!(value > 100.0, "{through} {state}: {value} ns");
    }
    // A point that was disturbed says so: here the server shares the CPU.
    for point in points.iter().filter(|point| point["outcome"] == "value") {
        for check in point["evidence"].as_array().into_iter().flatten() {
            assert_eq!(check["holds"], true, "{check} {point:#}");
        }
    }
    nothing_left(server);
}

/// Nothing of ours is on the server or in the ledger.
fn nothing_left(server: &Server) {
    let left = |folder: &Path| std::fs::read_dir(folder).map_or(0, Iterator::count);
    assert_eq!(left(&server.files()), 0, "files are left on the server");
    assert_eq!(left(&server.folder.path().join("data/fathom/remote-files")), 0, "the ledger is not empty");
}

fn nfs_is_read_without_a_mount() -> Outcome {
    let server = start("ganesha", &[], 101, 2049)?;
    let remote = format!("nfs://{}{}/", server.address, server.files().display());
    let (output, points) = measure(server.folder.path(), &remote, &["--budget", "30s"]);
    sound(&server, &output, &points, "nfs", &["no data", "server-cached"]);
    for order in ["random", "sequential"] {
        let measured = |file: u64| {
            let wanted = [("protocol", "nfs".into()), ("order", order.into()), ("file", file.into())];
            !find(&points, &wanted)["median"].is_null()
        };
        let sizes = [64 << 10, 1 << 20, 8 << 20, 32 << 20].map(measured);
        assert!(
            sizes.iter().filter(|measured| **measured).count() >= 3,
            "{order}: {sizes:?}, too few for a figure"
        );
    }
    let elsewhere = format!("nfs://{}/elsewhere/x", server.address);
    let (_, points) = measure(server.folder.path(), &elsewhere, &["--quick", "--budget", "6s"]);
    let reason = failed(&points, "nfs");
    assert!(reason.contains("exports") && reason.contains("none of them"), "{reason}");
    Ok(())
}

/// Why the points through something have failed.
fn failed(points: &[Value], through: &str) -> String {
    let point = find(points, &[("protocol", through.into()), ("state", "server-cached".into())]);
    assert_eq!(point["outcome"], "failed", "{point:#}");
    point["reason"].as_str().unwrap_or_default().to_owned()
}

fn smb_is_read_without_a_mount_as_nobody_and_as_a_user_who_signs() -> Outcome {
    let server = start("samba", &[], 102, 445)?;
    let remote = format!("smb://{}/files/", server.address);
    let (output, points) = measure(server.folder.path(), &remote, &["--quick", "--budget", "30s"]);
    sound(&server, &output, &points, "smb", &["no data", "server-cached"]);
    drop(server);
    let server = start("samba", &["pass word"], 103, 445)?;
    let remote = format!("smb://root@{}/files/", server.address);
    let run = |password: Option<&str>| {
        forget(server.folder.path());
        let mut command = command(server.folder.path(), &remote, &["--quick", "--budget", "3s"]);
        password.map(|password| command.env("FATHOM_REMOTE_PASSWORD", password));
        let output = command.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let file = std::fs::read_to_string(server.folder.path().join("run.jsonl")).unwrap();
        assert!(!file.contains("pass word"), "the password stands in the run file");
        (output, report["points"].as_array().unwrap().clone())
    };
    let (output, points) = run(Some("pass word"));
    sound(&server, &output, &points, "smb", &["no data", "server-cached"]);
    let (output, points) = run(Some("wrong"));
    assert!(failed(&points, "smb").contains("user and password"), "{}", failed(&points, "smb"));
    assert_eq!(output.status.code(), Some(4));
    let (_, points) = run(None);
    assert!(failed(&points, "smb").contains("FATHOM_REMOTE_PASSWORD"));
    Ok(())
}

fn sftp_is_read_over_the_users_own_ssh_and_through_sshfs() -> Outcome {
    let server = start("openssh", &[], 104, 22)?;
    let remote = format!("sftp://{}{}/", server.address, server.files().display());
    let (output, points) = measure(server.folder.path(), &remote, &["--budget", "60s"]);
    sound(&server, &output, &points, "sftp", &["no data", "server-cached", "server-cold"]);
    sftp_refused(&server);
    mounted_by_sshfs(&server)
}

/// What refuses says so, in its own words where it has any.
fn sftp_refused(server: &Server) {
    let refused = |remote: String| {
        let (output, points) = measure(server.folder.path(), &remote, &["--quick", "--budget", "6s"]);
        assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
        failed(&points, "sftp")
    };
    let reason = refused(format!("sftp://{}/no/such/folder/", server.address));
    assert!(reason.contains("No such file"), "{reason}");
    let reason = refused(format!("sftp://{}:9/", server.address));
    assert!(reason.contains("Connection refused"), "{reason}");
    let known = server.folder.path().join("known");
    let right = std::fs::read_to_string(&known).unwrap();
    let other = std::fs::read_to_string(server.folder.path().join("user.pub")).unwrap();
    std::fs::write(&known, format!("* {other}")).unwrap();
    let reason = refused(format!("sftp://{}/tmp/", server.address));
    assert!(reason.contains("Host key verification failed"), "{reason}");
    std::fs::write(&known, right).unwrap();
    let reason = refused(format!("sftp://nobody-here@{}/tmp/", server.address));
    assert!(reason.contains("Permission denied"), "{reason}");
}

/// The same files, through a mount that ends with the test.
fn mounted_by_sshfs(server: &Server) -> Outcome {
    let point = server.folder.path().join("mounted");
    std::fs::create_dir(&point).unwrap();
    let ssh = format!("ssh_command={}", server.folder.path().join("bin/ssh").display());
    let source = format!("{}:{}", server.address, server.files().display());
    let mounted = Command::new("sshfs").args([&source]).arg(&point).args(["-o", &ssh]).output();
    if !mounted.as_ref().is_ok_and(|mounted| mounted.status.success()) {
        return skipped(format!("sftp was read; no sshfs to read through: {mounted:?}"));
    }
    let (output, points) =
        measure(server.folder.path(), &point.display().to_string(), &["--quick", "--budget", "40s"]);
    let unmounted = Command::new("umount").arg("-l").arg(&point).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    sound(server, &output, &points, "sshfs mount", &["client-cached", "server-cached"]);
    let random = |state: &str| {
        let wanted =
            [("protocol", "sshfs mount".into()), ("state", state.into()), ("order", "random".into())];
        median(&points, &wanted)
    };
    let (client, server) = (random("client-cached"), random("server-cached"));
    assert!(
        server > 5.0 * client,
        "a block from the server in {server} ns, from the own cache in {client} ns"
    );
    Ok(())
}

fn a_server_that_answers_later_is_read_that_much_later() -> Outcome {
    let server = start("samba", &[], 105, 445)?;
    let delay = Duration::from_millis(5);
    let relay = Relay::to(format!("{}:445", server.address), delay);
    std::fs::write(server.files().join("given"), vec![7; 4 << 20]).unwrap();
    let near = format!("smb://{}/files/given", server.address);
    let far = format!("smb://127.0.0.1:{}/files/given", relay.port);
    decided(|| {
        let (_, direct) = measure(server.folder.path(), &near, &["--quick", "--budget", "6s"]);
        let (_, relayed) = measure(server.folder.path(), &far, &["--quick", "--budget", "6s"]);
        let mut claims = vec![];
        for (state, block) in [("no data", None), ("server-cached", Some(4096))] {
            let mut wanted = vec![("protocol", "smb".into()), ("state", state.into())];
            wanted.extend(block.map(|block| ("block", Value::from(block))));
            let figure = |points: &[Value]| claim::value(Some(find(points, &wanted)));
            let more = figure(&relayed)?.less(figure(&direct)?);
            let ratio = more.times(1.0 / delay.as_nanos() as f64);
            claims.push(between(
                format!("{state}: what the delay adds over the delay"),
                Some(ratio),
                0.98,
                1.12,
            ));
        }
        Ok(claims)
    })
}

fn a_server_that_dies_in_mid_read_is_a_reason_and_not_a_hang() -> Outcome {
    let mut server = start("ganesha", &[], 106, 2049)?;
    let remote = format!("nfs://{}{}/", server.address, server.files().display());
    let mut run = command(server.folder.path(), &remote, &["--quick", "--budget", "8s"]);
    let run = run.stdout(std::process::Stdio::piped()).spawn().unwrap();
    measuring(&server);
    server.kill();
    let output = run.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let points = report["points"].as_array().unwrap();
    let local = find(points, &[("protocol", "local file".into())]);
    assert!(local["median"].is_number(), "the run went on: {local:#}");
    let text = std::fs::read_to_string(server.folder.path().join("run.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let failed = |line: &&Value| line["outcome"]["outcome"] == "failed";
    let reasons: Vec<&str> =
        lines.iter().filter(failed).filter_map(|line| line["outcome"]["reason"].as_str()).collect();
    assert!(!reasons.is_empty(), "nobody noticed that the server was gone");
    // What a later trial meets is up to this host's routes: the address is nobody's any more.
    assert!(reasons.iter().all(|reason| reason.contains(&server.address)), "{reasons:#?}");
    Ok(())
}

/// Waits until a run has made its file on the server and reads it.
fn measuring(server: &Server) {
    let run = server.folder.path().join("run.jsonl");
    let reads = || {
        let text = std::fs::read_to_string(&run).unwrap_or_default();
        text.lines().any(|line| line.contains("\"trial\"") && line.contains("server-cached"))
    };
    for _ in 0..600 {
        if reads() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the run did not begin to read within a minute");
}

fn what_a_killed_run_left_on_a_server_is_removed_by_the_next() -> Outcome {
    let server = start("ganesha", &[], 107, 2049)?;
    let remote = format!("nfs://{}{}/", server.address, server.files().display());
    let mut run = command(server.folder.path(), &remote, &["--budget", "30s"]);
    let mut run = run.stdout(std::process::Stdio::null()).spawn().unwrap();
    measuring(&server);
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(std::fs::read_dir(server.files()).unwrap().count(), 1, "the killed run has made its file");
    let (output, points) = measure(server.folder.path(), &remote, &["--quick", "--budget", "2s"]);
    sound(&server, &output, &points, "nfs", &["server-cached"]);
    Ok(())
}

fn what_is_not_over_a_network_is_a_usage_error() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    for (remote, word) in [
        (folder.path().display().to_string(), "no network file system"),
        ("ftp://host/x".to_owned(), "is not supported"),
        ("smb://ann:secret@host/share/x".to_owned(), "FATHOM_REMOTE_PASSWORD"),
    ] {
        let output = command(folder.path(), &remote, &[]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(word), "{remote}: {said}");
        assert!(!said.contains("secret") || !said.contains("`ann:secret"), "{said}");
    }
    Ok(())
}
