//! The user's own `ssh`: its configuration, keys, agent, jump hosts and known hosts apply, and its error messages are passed on.

use super::deadline::Deadline;
use super::wire::Wire;
use fathom_core::experiment::{Access, Failure};
use fathom_core::machine::RemoteUrl;
use fathom_core::sampling::partner::end_with;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// A session of `ssh`; it ends when it is dropped, and with the trial.
pub struct Ssh {
    child: Child,
    /// Its standard error.
    complaints: UnixStream,
}

impl Ssh {
    /// Starts a subsystem of the server; the returned wire is connected to it.
    pub fn subsystem(
        url: &RemoteUrl,
        access: &Access,
        name: &str,
        deadline: Deadline,
    ) -> Result<(Self, Wire), Failure> {
        let broke = |error: std::io::Error| Failure::Broke(format!("ssh could not be started: {error}"));
        let (near, far) = UnixStream::pair().map_err(broke)?;
        let (complaints, complaining) = UnixStream::pair().map_err(broke)?;
        let (input, output) = (OwnedFd::from(far.try_clone().map_err(broke)?), OwnedFd::from(far));
        let mut command = command(url, access);
        command.args(["-s", "--", &url.host, name]);
        command.stdin(input).stdout(output).stderr(OwnedFd::from(complaining));
        let child = command.spawn().map_err(broke)?;
        Ok((Ssh { child, complaints }, Wire::through(near, url.host.clone(), deadline).map_err(broke)?))
    }

    /// Runs a command on the server and returns its output, or its error message as the failure. Whoever does not answer within
    /// the time is given up.
    pub fn run(url: &RemoteUrl, access: &Access, line: &str, within: Duration) -> Result<String, Failure> {
        let broke = |error: std::io::Error| Failure::Broke(format!("ssh could not be started: {error}"));
        let (output, saying) = UnixStream::pair().map_err(broke)?;
        let (complaints, complaining) = UnixStream::pair().map_err(broke)?;
        let mut command = command(url, access);
        command.args(["--", &url.host, line]).stdin(Stdio::null());
        command.stdout(OwnedFd::from(saying)).stderr(OwnedFd::from(complaining));
        let mut ssh = Ssh { child: command.spawn().map_err(broke)?, complaints };
        match ssh.ended_within(within) {
            Some(status) if status.success() => Ok(text_of(&output).trim().to_owned()),
            Some(_) => Err(Failure::Broke(last_words(&text_of(&ssh.complaints)))),
            None => {
                let seconds = within.as_secs_f64().ceil();
                Err(Failure::Broke(format!("ssh to {} did not answer within {seconds} s", url.host)))
            }
        }
    }

    /// A failure of the wire, in the words of `ssh` if it printed any.
    pub fn explain(&mut self, failure: Failure) -> Failure {
        // It may need a moment to print the reason for its end.
        if self.ended_within(Duration::from_millis(300)).is_none() {
            let _ = self.child.kill();
        }
        match last_words(&text_of(&self.complaints)) {
            words if words.is_empty() => failure,
            words => Failure::Broke(format!("{failure}; ssh said: {words}")),
        }
    }

    /// How it ended; `None` if it still runs after this time.
    fn ended_within(&mut self, most: Duration) -> Option<ExitStatus> {
        let deadline = Deadline::within(most);
        loop {
            match self.child.try_wait() {
                Ok(None) if deadline.remaining(most).is_ok() => std::thread::sleep(Duration::from_millis(10)),
                ended => return ended.ok().flatten(),
            }
        }
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection of the run that its trials share: otherwise each would negotiate keys and log in anew. Requests and answers pass
/// to this `ssh` process through the same kind of socket as to one of their own.
pub struct Master {
    child: Child,
    socket: PathBuf,
}

impl Master {
    /// Connects and listens at a socket; `None` if that fails, because then every trial finds the reason itself.
    pub fn start(url: &RemoteUrl, access: &Access, socket: &Path) -> Option<Self> {
        let mut command = command(url, access);
        command.args(["-M", "-N", "-oControlPersist=no", "-S"]).arg(socket).args(["--", &url.host]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let parent = std::process::id();
        // SAFETY: between fork and exec only prctl and getppid are called, and nothing is allocated.
        unsafe { command.pre_exec(move || end_with(parent)) };
        let mut master = Master { child: command.spawn().ok()?, socket: socket.to_owned() };
        for _ in 0..1000 {
            if is_socket(socket) {
                return Some(master);
            }
            if !matches!(master.child.try_wait(), Ok(None)) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Whether the file at this path is a socket. Its folder is accessible to this user only, so it is ours.
fn is_socket(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_socket())
}

/// `ssh` without questions, terminal, forwarding or colours.
fn command(url: &RemoteUrl, access: &Access) -> Command {
    let mut command = Command::new("ssh");
    command.env_clear().envs(access.environment.iter().cloned()).env("LC_ALL", "C");
    command.args([
        "-T",
        "-a",
        "-x",
        "-oBatchMode=yes",
        "-oConnectTimeout=5",
        "-oServerAliveInterval=5",
        "-oServerAliveCountMax=2",
    ]);
    if let Some(socket) = &access.shared {
        command.arg("-S").arg(socket);
    }
    if let Some(port) = url.port {
        command.arg(format!("-p{port}"));
    }
    if let Some(user) = &url.user {
        command.arg(format!("-l{user}"));
    }
    command
}

/// What a program that has ended has said, at most 16 KiB. One that it has started may outlive it and keep the other end open.
fn text_of(socket: &UnixStream) -> String {
    let mut bytes = vec![];
    let _ = socket.set_nonblocking(true);
    let _ = socket.take(16 << 10).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The last lines of a text without decoration, shortened: the reason is at the end.
fn last_words(text: &str) -> String {
    let worth =
        |line: &&str| !line.is_empty() && !line.starts_with('@') && !line.starts_with("Warning: Permanently");
    let lines: Vec<&str> = text.lines().map(str::trim).filter(worth).collect();
    lines[lines.len().saturating_sub(3)..].join(" / ").chars().take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::Protocol;

    /// Shorter than what the scripts sleep.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// Runs a script in the place of `ssh`, which has this long.
    fn run(script: &str, within: Duration) -> Result<String, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let ssh = folder.path().join("ssh");
        // Written by another process: a child that another test is starting would hold the file open to be written.
        let mut writer = Command::new("sh");
        writer
            .args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 700 \"$0\""])
            .arg(&ssh)
            .arg(script);
        assert!(writer.status().unwrap().success());
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let access = Access { environment: vec![("PATH".to_owned(), path)], ..Access::default() };
        let host = "server".to_owned();
        let url = RemoteUrl { protocol: Protocol::Sftp, user: None, host, port: None, path: "/".to_owned() };
        Ssh::run(&url, &access, "true", within)
    }

    #[test]
    fn a_server_that_does_not_answer_is_given_up() {
        let patience = Deadline::within(PATIENCE);
        let refused = run("exec sleep 60", Duration::from_millis(100)).unwrap_err();
        assert!(refused.to_string().contains("ssh to server did not answer within 1 s"), "{refused}");
        assert!(patience.remaining(PATIENCE).is_ok());
    }

    #[test]
    fn a_program_that_outlives_ssh_is_not_waited_for() {
        let (patience, long) = (Deadline::within(PATIENCE), Duration::from_secs(1000));
        assert_eq!(run("sleep 60 & echo 7", long).unwrap(), "7");
        assert_eq!(run("sleep 60 & echo no >&2; exit 1", long).unwrap_err().to_string(), "no");
        assert!(patience.remaining(PATIENCE).is_ok());
    }

    #[test]
    fn the_reason_stands_last_and_without_its_frame() {
        let text = "@@@@@@@\n@ WARNING @\n@@@@@@@\n\na\nb\nHost key for x has changed.\r\nHost key verification failed.\r\n";
        assert_eq!(last_words(text), "b / Host key for x has changed. / Host key verification failed.");
        assert_eq!(last_words(""), "");
    }
}
