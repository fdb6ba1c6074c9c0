//! Peers over ssh: through a program called `ssh` that stands in for it, and through a real server on loopback.

use super::process::{Process, lines, run, wait_until};
use crate::tier::{Outcome, Test, beside, needs_root, not_installed};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub const TESTS: &[Test] = &beside![
    this_program_is_copied_serves_and_removes_itself,
    ssh_forwards_nothing_and_is_told_no_password,
    this_program_is_not_copied_where_it_is,
    what_stands_in_the_way_is_told_in_words,
    the_token_is_on_no_command_line_and_in_no_environment,
    a_peer_goes_with_the_run_that_ssh_has_started_it_for,
    a_real_server_is_reached_with_the_users_own_configuration,
];

/// A folder that is searched for programs first, with these scripts in it.
fn programs(folder: &Path, scripts: &[(&str, &str)]) -> String {
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for (name, script) in scripts {
        let path = bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

/// Does at this machine what ssh would have done at another: the last word is the command, for the user's shell.
const LOCALLY: &str = r#"[ "$1" = -G ] && { echo "hostname 127.0.0.1"; exit; }
for command; do :; done
export SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22"
echo "Welcome to the lab. fathom-peer is not meant here."
exec sh -c "$command""#;

/// What a run with this peer and these programs says, and with which status.
fn says(folder: &Path, path: &str, temporary: Option<&Path>) -> (Option<i32>, String) {
    let mut command = run("lab", &folder.join("run.jsonl"));
    command.env("PATH", path).env("TMPDIR", temporary.unwrap_or(folder));
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    // Where a line breaks depends on the names of the machine.
    let words: Vec<String> = String::from_utf8_lossy(&text).split_whitespace().map(str::to_owned).collect();
    (output.status.code(), words.join(" "))
}

/// Copies of this program that were left.
fn left(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(".fathom-copy-")).collect()
}

fn this_program_is_copied_serves_and_removes_itself() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = programs(folder.path(), &[("ssh", LOCALLY)]);
    let (status, said) = says(folder.path(), &path, None);
    assert!(matches!(status, Some(0 | 4)), "{said}");
    assert!(said.contains("The peer is lab,") && said.contains("ssh started it"), "{said}");
    assert!(left(folder.path()).is_empty(), "{:?}", left(folder.path()));
    let header = lines(&folder.path().join("run.jsonl")).swap_remove(0);
    assert_eq!(
        (header["peer"]["kind"].as_str(), header["peer"]["address"].as_str()),
        (Some("ssh"), Some("127.0.0.1"))
    );
    assert!(header["peer"]["machine"]["kernel"].is_object(), "the peer describes its machine");
    Ok(())
}

fn ssh_forwards_nothing_and_is_told_no_password() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let note = r#"env >>"$(dirname "$0")/noted"; echo "arguments: $*" >>"$(dirname "$0")/noted""#;
    let path = programs(folder.path(), &[("ssh", &format!("{note}\n{LOCALLY}"))]);
    let mut command = run("lab", &folder.path().join("run.jsonl"));
    command.env("PATH", path).env("TMPDIR", folder.path()).env("FATHOM_REMOTE_PASSWORD", "pass word");
    let output = command.output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}", String::from_utf8_lossy(&output.stderr));
    let noted = std::fs::read_to_string(folder.path().join("bin/noted")).unwrap();
    assert!(!noted.contains("pass word"), "ssh was told the password of a file server");
    let calls: Vec<&str> = noted.lines().filter(|line| line.starts_with("arguments:")).collect();
    assert!(!calls.is_empty() && calls.iter().all(|call| call.contains("-a -x")), "{calls:?}");
    Ok(())
}

fn this_program_is_not_copied_where_it_is() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let note = "[ \"$1\" = -c ] && touch \"$(dirname \"$0\")/copied\"; exec /usr/bin/head \"$@\"";
    let path = programs(folder.path(), &[("ssh", LOCALLY), ("head", note)]);
    std::os::unix::fs::symlink(super::process::binary(), folder.path().join("bin/fathom")).unwrap();
    let (status, said) = says(folder.path(), &path, None);
    assert!(matches!(status, Some(0 | 4)), "{said}");
    assert!(!folder.path().join("bin/copied").exists(), "it was copied although it is there");
    Ok(())
}

fn what_stands_in_the_way_is_told_in_words() -> Outcome {
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("ssh", "echo 'Permission denied (publickey).' >&2; exit 255")], "could not log in at lab"),
        (&[("ssh", "exit 3")], "ended at once, with status 3"),
        (&[("ssh", LOCALLY), ("uname", "echo PDP-11")], "another kind of computer (PDP-11 PDP-11)"),
        (
            &[("ssh", LOCALLY), ("mktemp", "echo no room; exit 1")],
            "no folder into which this program could be copied (no room)",
        ),
        (&[("ssh", LOCALLY), ("sha256sum", "echo 0000")], "is incomplete"),
    ];
    for (scripts, words) in cases {
        let folder = tempfile::tempdir().unwrap();
        let (status, said) = says(folder.path(), &programs(folder.path(), scripts), None);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(left(folder.path()).is_empty(), "{words}: {:?}", left(folder.path()));
    }
    let folder = tempfile::tempdir().unwrap();
    let (status, said) = says(folder.path(), "/nonexistent", None);
    assert!(status == Some(2) && said.contains("there is no `ssh` here"), "{said}");
    Ok(())
}

fn the_token_is_on_no_command_line_and_in_no_environment() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    // What ssh itself hears on its standard input after the program is the token: it is looked for everywhere else.
    let spy = format!("set > \"$TMPDIR/seen\"; echo \"$@\" >> \"$TMPDIR/seen\"\n{LOCALLY}");
    let path = programs(folder.path(), &[("ssh", &spy)]);
    let (status, said) = says(folder.path(), &path, None);
    assert!(matches!(status, Some(0 | 4)), "{said}");
    let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
    assert!(!seen.contains("token"), "{seen}");
    let run = std::fs::read_to_string(folder.path().join("run.jsonl")).unwrap();
    assert!(!run.contains("token"), "the run file keeps no secret");
    Ok(())
}

fn a_peer_goes_with_the_run_that_ssh_has_started_it_for() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = programs(folder.path(), &[("ssh", LOCALLY)]);
    let file = folder.path().join("run.jsonl");
    let mut command = run("lab", &file);
    command.env("PATH", path).env("TMPDIR", folder.path()).stderr(Stdio::null());
    let mut process = Process(command.spawn().unwrap());
    wait_until("the run has begun", || !lines(&file).is_empty());
    let peer = peer_of(process.0.id()).expect("ssh runs a peer");
    process.0.kill().unwrap();
    wait_until("the peer goes with a run that was killed", || !Path::new(&format!("/proc/{peer}")).exists());
    assert!(left(folder.path()).is_empty());
    Ok(())
}

/// The child of a process that is a peer; ssh has become it here.
fn peer_of(parent: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    let is_peer = |child: &&str| {
        std::fs::read_to_string(format!("/proc/{child}/cmdline")).is_ok_and(|line| line.contains("\0peer\0"))
    };
    children.split_whitespace().find(is_peer)?.parse().ok()
}

/// A server on loopback with keys of its own, and a program `ssh` that knows only it.
struct RealServer {
    _process: Process,
    path: String,
}

impl RealServer {
    fn start(folder: &Path) -> Self {
        let at = |name: &str| folder.join(name).display().to_string();
        for key in ["host", "user"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]).status();
            assert!(made.unwrap().success());
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n",
            at("host"),
            at("user.pub"),
        );
        let client = format!(
            "Host lab\n HostName 127.0.0.1\n Port {port}\n IdentityFile {}\n IdentitiesOnly yes\n StrictHostKeyChecking no\n \
             UserKnownHostsFile /dev/null\n LogLevel ERROR\n",
            at("user"),
        );
        std::fs::write(folder.join("sshd_config"), server).unwrap();
        std::fs::write(folder.join("config"), client).unwrap();
        // Where the server separates its privileges; a package makes it when the service is started.
        let _ = std::fs::create_dir_all("/run/sshd");
        let mut command = Command::new("/usr/sbin/sshd");
        command.args(["-D", "-e", "-f", &at("sshd_config")]).stderr(Stdio::null());
        let process = Process(command.spawn().unwrap());
        wait_until("the server listens", || super::server::listens(port));
        let ssh = Command::new("sh").args(["-c", "command -v ssh"]).output().unwrap().stdout;
        let ssh = String::from_utf8_lossy(&ssh).trim().to_owned();
        let script = format!("exec {ssh} -F {} \"$@\"", at("config"));
        RealServer { _process: process, path: programs(folder, &[("ssh", &script)]) }
    }
}

fn a_real_server_is_reached_with_the_users_own_configuration() -> Outcome {
    needs_root()?;
    if !Path::new("/usr/sbin/sshd").exists() {
        return not_installed("OpenSSH's server (Debian: openssh-server)");
    }
    let folder = tempfile::tempdir().unwrap();
    let server = RealServer::start(folder.path());
    let before = left(&std::env::temp_dir());
    let (status, said) = says(folder.path(), &server.path, None);
    assert!(matches!(status, Some(0 | 4)), "{said}");
    assert!(said.contains("The peer is lab,"), "{said}");
    assert_eq!(left(&std::env::temp_dir()), before, "a copy was left");
    Ok(())
}
