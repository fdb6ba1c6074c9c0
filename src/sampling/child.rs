//! A measuring process from the point of view of the run: start it with a small clean environment, send requests, receive
//! answers, enforce the time limit, reap it.

use super::memory_limit::MemoryLimit;
use super::partner::die_with;
use super::preparing;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Set when the run is to stop.
pub static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Maximum padding of an environment, bytes: a page, so that the stack starts at any offset in one.
const MOST_PADDING: u64 = 4096;

/// The environment variable that marks a measuring process: the number of the process that sends it requests.
const ASKED_BY: &str = "FATHOM_ASKED_BY";

/// Whether this process was started to measure, by the process that is its parent.
pub fn is_asked() -> bool {
    let asker = std::env::var(ASKED_BY).ok();
    asker.and_then(|asker| asker.parse().ok()) == Some(std::os::unix::process::parent_id())
}

/// Whether this process measures, or was started by measured work: it must not start a measurement of its own.
pub fn is_measured() -> bool {
    std::env::var_os(ASKED_BY).is_some()
}

/// The outcome of a request to a measuring process.
#[derive(Debug)]
pub enum End<A> {
    /// It answered.
    Answered(A),
    /// It ended without an answer.
    Died(String),
    /// The time limit passed.
    TimedOut,
    /// The run was interrupted.
    Interrupted,
}

/// Options for starting a measuring process.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// A command with its arguments that becomes the measuring process, such as `numactl --membind=1`; empty for none.
    pub prefix: Vec<OsString>,
    /// Additional environment variables.
    pub environment: Vec<(String, String)>,
}

/// A fresh process that measures: this binary executed again with a hidden `command`, with a small clean environment of random
/// size, in its own process group that ends with it. Requests and answers are JSON, one per line.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Bytes of its output that were not parsed yet.
    told: Vec<u8>,
    /// The time in which it may end by itself after its last answer.
    patience: Duration,
}

impl Process {
    /// Starts the process, by way of the memory limit if one is set; no request is sent yet.
    pub fn start(
        command: &str,
        seed: u64,
        limit: Option<&MemoryLimit>,
        launch: &Launch,
    ) -> std::io::Result<Self> {
        Ok(Process { child: start(command, seed, limit, launch)?, told: vec![], patience: CLEANING_UP })
    }

    /// Sends a message without an answer.
    pub fn tell(&mut self, said: &impl Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(said)?;
        line.push(b'\n');
        if let Some(stdin) = &mut self.child.stdin {
            // A child that has ended does not read; its silence is reported at the next request.
            let _ = stdin.write_all(&line);
        }
        Ok(())
    }

    /// Sends a request, and waits for the answer until the limit. The listener receives messages about long preparations. After
    /// any outcome but an answer no further request is possible.
    pub fn ask<A: DeserializeOwned>(
        &mut self,
        question: &impl Serialize,
        limit: Duration,
        listener: &mut dyn FnMut(&str),
    ) -> std::io::Result<End<A>> {
        self.ask_unless_preparing(question, (limit, limit), listener)
    }

    /// The same with another limit once the process has sent a message about a long preparation.
    pub fn ask_unless_preparing<A: DeserializeOwned>(
        &mut self,
        question: &impl Serialize,
        (limit, preparing): (Duration, Duration),
        listener: &mut dyn FnMut(&str),
    ) -> std::io::Result<End<A>> {
        self.tell(question)?;
        let now = Instant::now();
        match self.answer((now + limit, now + preparing), listener)? {
            Heard::Line(line) => Ok(answered(&line)),
            Heard::Nothing if INTERRUPTED.load(Ordering::Relaxed) => Ok(End::Interrupted),
            Heard::Nothing => Ok(End::TimedOut),
            Heard::End => {
                let status = self.child.wait()?;
                let complaint = complaint(&mut self.child);
                Ok(End::Died(format!("the measuring process died: {status}{complaint}")))
            }
        }
    }

    /// Ends it without waiting until it has cleaned up: what it leaves is removed with the run.
    pub fn end(mut self) {
        self.patience = Duration::ZERO;
    }

    /// The next line that is an answer.
    fn answer(
        &mut self,
        (mut deadline, preparing): (Instant, Instant),
        listener: &mut dyn FnMut(&str),
    ) -> std::io::Result<Heard> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let mut prepares = |doing: &str| {
                deadline = deadline.max(preparing);
                listener(doing);
            };
            if let Some(line) = preparing::hear(&mut self.told, &mut prepares) {
                return Ok(Heard::Line(line));
            }
            let Some(stdout) = &mut self.child.stdout else { return Ok(Heard::End) };
            if !readable(stdout.as_raw_fd(), deadline) {
                return Ok(Heard::Nothing);
            }
            match stdout.read(&mut buffer)? {
                0 => return Ok(Heard::End),
                some => self.told.extend_from_slice(&buffer[..some]),
            }
        }
    }
}

impl Drop for Process {
    /// Ends the process, and with it partners that it may have left.
    fn drop(&mut self) {
        // Without a further request it ends by itself and cleans up the equipment shared by its visits; it is given time for
        // that.
        drop(self.child.stdin.take());
        let deadline = Instant::now() + self.patience;
        if let Some(stdout) = &mut self.child.stdout {
            let mut rest = [0; 4096];
            while readable(stdout.as_raw_fd(), deadline) && stdout.read(&mut rest).is_ok_and(|some| some > 0)
            {
            }
        }
        // SAFETY: the group is that of our child; a group without members takes no signal.
        unsafe { libc::kill(-(self.child.id() as libc::pid_t), libc::SIGKILL) };
        let _ = self.child.wait();
    }
}

/// Maximum time for a process to end by itself after its last answer.
const CLEANING_UP: Duration = Duration::from_secs(10);

/// The result of waiting for a line until the deadline.
enum Heard {
    /// A line with an answer.
    Line(Vec<u8>),
    /// The process has ended.
    End,
    /// Nothing before the deadline.
    Nothing,
}

fn start(command: &str, seed: u64, limit: Option<&MemoryLimit>, launch: &Launch) -> std::io::Result<Child> {
    let padding = "x".repeat((seed >> 16) as usize % MOST_PADDING as usize);
    let parent = std::process::id();
    let (program, arguments, environment) = prefixed(started_by(limit)?, launch);
    let mut process = Command::new(program);
    // A process that is stopped before its first visit would otherwise outlive a run that is killed.
    // SAFETY: between fork and exec only prctl and getppid are called.
    unsafe { process.pre_exec(move || die_with(parent).map_err(|_| std::io::ErrorKind::Other.into())) };
    process
        .args(arguments)
        .arg(command)
        .env_clear()
        .envs(environment)
        .env("PATH", "/usr/bin:/bin")
        .env("PAD", padding)
        .env(ASKED_BY, std::process::id().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// The program that becomes a measuring process, its first arguments, and its environment: this program, or one that starts it.
fn started_by(limit: Option<&MemoryLimit>) -> std::io::Result<Started> {
    let own = std::env::current_exe()?;
    Ok(match limit {
        Some(MemoryLimit::Scope(scope)) => {
            (scope.program.clone(), scope.arguments(&own), scope.environment.clone())
        }
        _ => (own, vec![], vec![]),
    })
}

/// The same through a requested command, which is put before all others.
fn prefixed((program, arguments, mut environment): Started, launch: &Launch) -> Started {
    environment.extend(launch.environment.iter().cloned());
    let Some((first, rest)) = launch.prefix.split_first() else { return (program, arguments, environment) };
    let all = rest.iter().cloned().chain([program.into_os_string()]).chain(arguments);
    (PathBuf::from(first), all.collect(), environment)
}

/// A program, its first arguments, and its environment.
type Started = (PathBuf, Vec<OsString>, Vec<(String, String)>);

/// Waits until there are bytes to read; false if the deadline passes or the run is interrupted.
fn readable(descriptor: libc::c_int, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || INTERRUPTED.load(Ordering::Relaxed) {
            return false;
        }
        let mut poll = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd; a signal ends the wait early, and the loop checks again.
        let ready = unsafe { libc::poll(&raw mut poll, 1, left.as_millis().clamp(1, 1000) as libc::c_int) };
        if ready > 0 {
            return true;
        }
    }
}

fn answered<A: DeserializeOwned>(text: &[u8]) -> End<A> {
    match serde_json::from_slice(text) {
        Ok(answer) => End::Answered(answer),
        Err(error) => End::Died(format!("the measuring process gave an answer that cannot be read: {error}")),
    }
}

/// The error message of a dying child, shortened.
fn complaint(child: &mut Child) -> String {
    let mut text = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(2000).read_to_string(&mut text);
    }
    // A panic begins with an empty line.
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.is_empty() { String::new() } else { format!(" ({line})") }
}
