//! A peer on a host that the user can reach by ssh, with their own configuration, keys, agent and jump hosts: the program
//! `ssh` is used instead of a library, so everything that works for the user works here.
//!
//! Everything uses one connection. A few lines of shell at the other end look for this same program; if it is not there, it
//! is copied through the same connection into a new folder, and removes itself as soon as it runs: nothing is left, even
//! after a kill. The measured traffic does not use ssh, but direct connections.

use super::{Launched, Launcher, LineReader, NoPeer, ready};
use crate::peer::proof::chance;
use crate::peer::{PeerAddress, Token};
use fathom_core::experiment::Access;
use fathom_core::message::{clean, tell};
use fathom_core::sampling::partner;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The timeout of the login: the user may have to type a passphrase.
const LOGIN: Duration = Duration::from_secs(2 * 60);

/// The timeout of each later step, including copying.
const STEP: Duration = Duration::from_secs(60);

/// The most lines of ssh's standard error that are passed on: a changed host key takes about fifteen.
const MOST_COMPLAINTS: usize = 100;

/// The most bytes of each of them.
const LONGEST_COMPLAINT: u64 = 1 << 10;

/// The program to run at the other end.
#[derive(Debug)]
pub struct PeerProgram<'run> {
    /// Its bytes.
    pub binary: &'run [u8],
    /// Their SHA-256, in hexadecimal.
    pub sha256: &'run str,
}

/// Starts a peer at `host`. If an address is given, it listens and is reached there instead of at the address that ssh uses:
/// at another adapter of the same host.
pub fn launch(host: &str, address: Option<IpAddr>, program: &PeerProgram) -> Result<Launched, NoPeer> {
    let (mut child, complaints) = start(host, &shell(program, address)).map_err(|error| no_ssh(&error))?;
    let token = Token(chance(32).map_err(|error| NoPeer(format!("no random token could be made: {error}")))?);
    let where_it_is = converse(&mut child, host, program, &token);
    let mut launcher = Launcher(child);
    let Some(ready) = where_it_is? else { return Err(refused(&mut launcher, &complaints, host)) };
    let ready = self::ready(&ready)?;
    let candidates = candidates(host, address, &ready.ips).into_iter().map(|address| PeerAddress {
        address,
        also: None,
        port: ready.port,
        token: token.clone(),
        is_virtual: false,
    });
    Launched::hold(&candidates.collect::<Vec<_>>(), Some(launcher)).map_err(|NoPeer(complaint)| {
        NoPeer(format!(
            "{host} was reached by ssh and runs the peer, but no direct connection to it can be made ({complaint}); a \
             firewall or a jump host may stand between: `--peer-address` names another address of it"
        ))
    })
}

/// Refuses a host whose name has no address, by the user's configuration of ssh; nothing is contacted but the resolver. A host
/// behind another one may be known only there.
pub fn ensure_name(host: &str) -> Result<(), NoPeer> {
    let output = Command::new("ssh").args(["-G", "--", host]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| no_ssh(&error))?;
    let settings = String::from_utf8_lossy(&output.stdout);
    let of = |name: &str| settings.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let is_behind =
        ["proxyjump", "proxycommand"].iter().any(|name| of(name).is_some_and(|value| value != "none"));
    let name = of("hostname").unwrap_or(host);
    if is_behind || (name, 22).to_socket_addrs().is_ok_and(|mut addresses| addresses.next().is_some()) {
        return Ok(());
    }
    Err(NoPeer(format!("the name {name} has no address here")))
}

fn no_ssh(error: &io::Error) -> NoPeer {
    match error.kind() {
        io::ErrorKind::NotFound => NoPeer("there is no `ssh` here: install OpenSSH's client, or start `fathom peer` at the other host by hand and give its address and port".to_owned()),
        _ => NoPeer(format!("ssh could not be started: {error}")),
    }
}

/// Starts ssh, and passes on what it says on standard error.
fn start(host: &str, shell: &str) -> io::Result<(Child, JoinHandle<()>)> {
    let parent = std::process::id();
    let mut ssh = Command::new("ssh");
    // No terminal there, so that all bytes pass unchanged.
    // Neither the user's agent nor their display is forwarded to a host that only measures.
    ssh.args(["-T", "-a", "-x", "--", host, shell]).env_remove(Access::PASSWORD);
    ssh.stdin(Stdio::piped()).stdout(Stdio::piped());
    let (complaints, complaining) = UnixStream::pair()?;
    ssh.stderr(OwnedFd::from(complaining));
    // SAFETY: between fork and exec only prctl and getppid are called, and nothing is allocated.
    unsafe { ssh.pre_exec(move || partner::end_with(parent)) };
    let child = ssh.spawn()?;
    let pass_on = move || pass_on(complaints, |line| tell(line));
    Ok((child, Builder::new().name("ssh's words".to_owned()).spawn(pass_on)?))
}

/// Passes on lines of ssh and of the other host, who may say anything and without end: so many, so long, and none that commands
/// the terminal. The rest is read, as ssh would wait otherwise.
fn pass_on(complaints: impl Read, mut tell: impl FnMut(&str)) {
    let mut complaints = BufReader::new(complaints);
    for _ in 0..MOST_COMPLAINTS {
        let mut line = vec![];
        match Read::by_ref(&mut complaints).take(LONGEST_COMPLAINT).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => tell(&clean(String::from_utf8_lossy(&line).trim_end())),
        }
    }
    let _ = io::copy(&mut complaints, &mut io::sink());
}

/// Answers the lines from the other end's shell until the peer runs; returns its addresses, or `None` if ssh ended.
fn converse(
    child: &mut Child,
    host: &str,
    program: &PeerProgram,
    token: &Token,
) -> Result<Option<String>, NoPeer> {
    let lines = LineReader::by_child(child)?;
    let Some(mut stdin) = child.stdin.take() else {
        return Err(NoPeer("ssh was started without its pipes".to_owned()));
    };
    let mut timeout = LOGIN;
    let addresses = loop {
        let Some((word, rest)) = lines.next(timeout)? else { break None };
        timeout = STEP;
        // A failed write means that ssh has ended, which the next read shows.
        let _ = match word.as_str() {
            "want" => stdin.write_all(program.binary).and_then(|()| stdin.flush()),
            "go" => stdin.write_all(format!("{}\n", token.0).as_bytes()).and_then(|()| stdin.flush()),
            "ready" => break Some(rest),
            _ => return Err(NoPeer(complaint(host, &word, &rest))),
        };
    };
    child.stdin = Some(stdin);
    Ok(addresses)
}

fn complaint(host: &str, word: &str, rest: &str) -> String {
    match word {
        "other" => format!(
            "{host} is another kind of computer ({rest}), for which this program is not built: install fathom {} there",
            env!("CARGO_PKG_VERSION")
        ),
        "nowhere" => format!("{host} has no folder into which this program could be copied ({rest})"),
        "torn" => format!("the copy of this program at {host} is incomplete"),
        "cannot" => format!("{host} cannot run this program: {rest}"),
        _ => format!("{host} says `{word}`, which is not understood"),
    }
}

/// The reason why ssh has ended before there was a peer; its own message is above on standard error.
fn refused(launcher: &mut Launcher, complaints: &JoinHandle<()>, host: &str) -> NoPeer {
    let status = launcher.0.wait().ok().and_then(|status| status.code());
    // A program that ssh has started may outlive it and keep the other end open.
    for _ in 0..100 {
        if complaints.is_finished() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    NoPeer(match status {
        // ssh(1): its own errors are 255; anything else is the status of the command.
        Some(255) => format!("ssh could not log in at {host}; make sure that `ssh {host}` works"),
        Some(status) => format!("the peer at {host} ended at once, with status {status}"),
        None => format!("ssh to {host} was killed"),
    })
}

/// The addresses to try for a direct connection: ssh's name of the host, and the host's own addresses.
fn candidates(host: &str, address: Option<IpAddr>, listens: &[IpAddr]) -> Vec<IpAddr> {
    if let Some(address) = address {
        return vec![address];
    }
    let mut all = resolved(host);
    all.extend(listens.iter().filter(|ip| !ip.is_unspecified()));
    let mut distinct = vec![];
    for ip in all {
        if !distinct.contains(&ip) {
            distinct.push(ip);
        }
    }
    distinct
}

/// The addresses of the name that the user's configuration gives the host.
fn resolved(host: &str) -> Vec<IpAddr> {
    let mut ssh = Command::new("ssh");
    ssh.args(["-G", "-a", "-x", "--", host]).env_remove(Access::PASSWORD);
    let output = ssh.stderr(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("hostname ")).unwrap_or(host);
    (name, 0)
        .to_socket_addrs()
        .map(|addresses| addresses.map(|address| address.ip()).collect())
        .unwrap_or_default()
}

/// The commands for the other end's shell. They are put between single quotes and contain none, nor a line feed, so that any
/// login shell passes them on to `sh`.
fn shell(program: &PeerProgram, address: Option<IpAddr>) -> String {
    let lines = SHELL.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let script = lines
        .collect::<Vec<_>>()
        .join(" ")
        .replace("@SHA256", program.sha256)
        .replace("@SIZE", &program.binary.len().to_string())
        .replace("@VERSION", env!("CARGO_PKG_VERSION"))
        .replace("@SYSTEM", &system())
        .replace("@ADDRESS", &address.map(|address| address.to_string()).unwrap_or_default());
    format!("exec sh -c '{script}'")
}

/// System and architecture in the form of uname(1).
fn system() -> String {
    // SAFETY: a utsname is arrays of characters, which the call fills and ends with zeros.
    unsafe {
        let mut names: libc::utsname = std::mem::zeroed();
        libc::uname(&raw mut names);
        let word =
            |name: &[libc::c_char]| std::ffi::CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned();
        format!("{} {}", word(&names.sysname), word(&names.machine))
    }
}

const SHELL: &str = r#"
say() { echo "fathom-peer $*"; };
sum() { { sha256sum "$1" || shasum -a 256 "$1"; } 2>/dev/null | cut -d " " -f 1; };
t=; f=$(command -v fathom);
here="$(uname -s) $(uname -m)";
if [ -n "$f" ] && [ "$(sum "$f")" = @SHA256 ]; then :;
elif [ "$here" = "@SYSTEM" ]; then
    umask 077;
    for d in "${TMPDIR:-/tmp}" "$HOME"; do
# What a copy that was killed has left: only its one file, and the folder if that was all.
        find "$d" -maxdepth 1 -type d -name ".fathom-copy-*" -user "$(id -u)" -mmin +60 2>/dev/null | while read -r o; do
            rm -f "$o/fathom"; rmdir "$o"; done 2>/dev/null;
    done;
    t=$(mktemp -d "${TMPDIR:-/tmp}/.fathom-copy-XXXXXX" 2>&1) || { say nowhere "$t"; exit 0; };
    trap "rm -rf \"\$t\"" EXIT;
    trap "exit 1" HUP INT TERM PIPE;
    f=$t/fathom;
    say want;
    head -c @SIZE > "$f"; chmod 700 "$f"; s=$(sum "$f");
# Not every system has a program for the digest; the size is known to all.
    [ "$s" = @SHA256 ] || { [ -z "$s" ] && [ "$(wc -c < "$f")" -eq @SIZE ]; } || { say torn; exit 0; };
# Where the folder for temporary files is mounted such that nothing in it may run, the home is tried.
    "$f" --version >/dev/null 2>&1 || {
        o=$t; t=$(mktemp -d "$HOME/.fathom-copy-XXXXXX" 2>&1) || { e=$t; t=$o; say nowhere "$e"; exit 0; };
        mv "$f" "$t/fathom"; f=$t/fathom; rm -rf "$o";
    };
    e=$("$f" --version 2>&1) || { say cannot "$e"; exit 0; };
elif [ -n "$f" ] && [ "$("$f" --version 2>/dev/null)" = "fathom @VERSION" ]; then :;
else say other "$here"; exit 0;
fi;
set -- ${SSH_CONNECTION:-};
a=@ADDRESS; a=${a:-${3:-0.0.0.0}};
say go;
trap - HUP INT TERM PIPE EXIT;
exec "$f" peer --launched ${t:+--remove-itself} --listen "$a"
"#;

/// Removes a program that was copied to run only once, with the folder made for it.
pub fn remove_this_program() -> io::Result<()> {
    let program = std::env::current_exe()?;
    let made_for_it = |folder: &Path| {
        folder
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(".fathom-copy-"))
    };
    match program.parent().filter(|folder| made_for_it(folder)) {
        Some(folder) => std::fs::remove_file(&program).and_then(|()| std::fs::remove_dir(folder)),
        None => Err(io::Error::other("this program is not in a temporary folder made for it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_and_the_host_say_is_limited_and_commands_no_terminal() {
        let complaints_of = |text: &[u8]| {
            let mut lines = vec![];
            pass_on(text, |line| lines.push(line.to_owned()));
            lines
        };
        assert_eq!(
            complaints_of(b"Permission \x1b]0;x\x07denied.\r\nno end"),
            ["Permission \u{fffd}]0;x\u{fffd}denied.", "no end"]
        );
        assert_eq!(complaints_of(&b"x\n".repeat(1 << 20)).len(), MOST_COMPLAINTS);
        assert!(
            complaints_of(&b"x".repeat(1 << 24)).iter().all(|line| line.len() as u64 <= LONGEST_COMPLAINT)
        );
    }

    #[test]
    fn the_shell_is_one_line_between_quotes_and_has_everything_filled_in() {
        let shell = shell(&PeerProgram { binary: b"abc", sha256: "1234" }, None);
        assert_eq!(shell.matches('\'').count(), 2, "{shell}");
        assert!(!shell.contains('\n') && !shell.contains('@') && !shell.contains('!'), "{shell}");
        assert!(shell.contains("head -c 3 "));
    }

    #[test]
    fn copies_that_were_killed_are_removed_by_the_next_and_nothing_else_is() {
        let (temporary, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let planted = |folder: &Path, name: &str, file: &str, hours: u64| {
            let folder = folder.join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join(file), "").unwrap();
            let then = std::time::SystemTime::now() - Duration::from_secs(hours * 60 * 60);
            std::fs::File::open(&folder).unwrap().set_modified(then).unwrap();
            folder
        };
        let stale = [
            planted(temporary.path(), ".fathom-copy-aaaaaa", "fathom", 2),
            planted(home.path(), ".fathom-copy-bbbbbb", "fathom", 30),
        ];
        let fresh = [
            planted(temporary.path(), ".fathom-copy-cccccc", "fathom", 0),
            planted(temporary.path(), ".fathom-copy-dddddd", "letter", 2),
            planted(temporary.path(), ".fathom-1-2-3-4-x", "fathom", 2),
            planted(home.path(), "fathom-copy-eeeeee", "fathom", 2),
        ];
        // The shell may run on another processor than this program, under emulation: it must find the program's.
        let tools = tempfile::tempdir().unwrap();
        let uname = format!("[ $1 = -s ] && echo Linux || echo {}\n", std::env::consts::ARCH);
        std::fs::write(tools.path().join("uname"), format!("#!/bin/sh\n{uname}")).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(tools.path().join("uname"), executable).unwrap();
        let mut sh = Command::new("sh");
        sh.args(["-c", &shell(&PeerProgram { binary: b"abc", sha256: "1234" }, None)]);
        let path = format!("{}:/usr/bin:/bin", tools.path().display());
        sh.env_clear().env("PATH", path).env("TMPDIR", temporary.path()).env("HOME", home.path());
        let output = sh.stdin(Stdio::null()).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(stdout.contains("fathom-peer torn"), "no copy arrived: {stdout}");
        for folder in stale {
            assert!(!folder.exists(), "{} is left", folder.display());
        }
        for folder in fresh {
            assert!(folder.read_dir().unwrap().count() == 1, "{} is touched", folder.display());
        }
        assert_eq!(temporary.path().read_dir().unwrap().count(), 3, "its own folder is gone too");
    }
}
