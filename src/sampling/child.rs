//! A trial's process, seen from the run: start it small and clean, bring its answer home, time it out, reap it.

use super::preparing;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set when somebody wants the run to stop.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The most that an environment is padded with, bytes: a page, so that the stack starts anywhere in one.
const MOST_PADDING: u64 = 4096;

/// How a trial ended.
#[derive(Debug)]
pub enum End<A> {
    /// It answered.
    Answered(A),
    /// It died without an answer.
    Died(String),
    /// It took too long and was killed.
    TimedOut,
    /// The run was interrupted, and the trial killed.
    Interrupted,
}

/// Runs work in a fresh process: this binary executed again, to do a hidden `command`, with a small clean environment of
/// random size, in a process group of its own that ends with it. It reads its request and writes its answer as JSON.
///
/// The listener is told what takes it long before it observes anything.
pub fn run<A: DeserializeOwned>(
    command: &str,
    request: &impl Serialize,
    seed: u64,
    limit: Duration,
    listener: &mut dyn FnMut(&str),
) -> std::io::Result<End<A>> {
    let request = serde_json::to_vec(request)?;
    let mut child = start(command, seed)?;
    let group = child.id() as libc::pid_t;
    let end = converse(&mut child, &request, limit, listener);
    // SAFETY: the group is that of our child, which is not reaped yet; partners that it may have left die here.
    unsafe { libc::kill(-group, libc::SIGKILL) };
    let status = child.wait()?;
    match end? {
        Some(answer) if !answer.is_empty() => Ok(answered(&answer)),
        Some(_) => Ok(End::Died(format!("the measuring process died: {status}{}", complaint(&mut child)))),
        None if INTERRUPTED.load(Ordering::Relaxed) => Ok(End::Interrupted),
        None => Ok(End::TimedOut),
    }
}

fn start(command: &str, seed: u64) -> std::io::Result<Child> {
    let padding = "x".repeat((seed >> 16) as usize % MOST_PADDING as usize);
    Command::new(std::env::current_exe()?)
        .arg(command)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("PAD", padding)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Sends the request and reads the answer to its end; `None` where time or patience ran out first.
fn converse(
    child: &mut Child,
    request: &[u8],
    limit: Duration,
    listener: &mut dyn FnMut(&str),
) -> std::io::Result<Option<Vec<u8>>> {
    if let Some(mut stdin) = child.stdin.take() {
        // A child that died already does not read; its silence is reported below.
        let _ = stdin.write_all(request);
    }
    let mut answer = vec![];
    let Some(mut stdout) = child.stdout.take() else { return Ok(Some(answer)) };
    let deadline = Instant::now() + limit;
    let mut buffer = vec![0; 1 << 16];
    loop {
        if !readable(stdout.as_raw_fd(), deadline) {
            return Ok(None);
        }
        match stdout.read(&mut buffer)? {
            0 => return Ok(Some(answer)),
            some => {
                answer.extend_from_slice(&buffer[..some]);
                preparing::hear(&mut answer, listener);
            }
        }
    }
}

/// Waits until there is something to read; false when the deadline passes or the run is interrupted.
fn readable(descriptor: libc::c_int, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || INTERRUPTED.load(Ordering::Relaxed) {
            return false;
        }
        let mut poll = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd; a signal ends the wait early, and the loop looks again.
        let ready = unsafe { libc::poll(&raw mut poll, 1, left.as_millis().clamp(1, 1000) as libc::c_int) };
        if ready > 0 {
            return true;
        }
    }
}

fn answered<A: DeserializeOwned>(text: &[u8]) -> End<A> {
    match serde_json::from_slice(text) {
        Ok(answer) => End::Answered(answer),
        Err(error) => End::Died(format!("the measuring process gave a torn answer: {error}")),
    }
}

/// What a dying child said, shortened.
fn complaint(child: &mut Child) -> String {
    let mut text = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(2000).read_to_string(&mut text);
    }
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() { String::new() } else { format!(" ({line})") }
}
