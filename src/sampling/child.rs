//! A measuring process, seen from the run: start it small and clean, ask it, bring its answers home, time it out, reap
//! it.

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

/// Set when somebody wants the run to stop.
pub static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The most that an environment is padded with, bytes: a page, so that the stack starts anywhere in one.
const MOST_PADDING: u64 = 4096;

/// The environment variable by which a measuring process knows that it is one: the number of the process that asks it.
const ASKED_BY: &str = "FATHOM_ASKED_BY";

/// Whether this process was started to measure, and whoever started it asks.
pub fn is_asked() -> bool {
    let asker = std::env::var(ASKED_BY).ok();
    asker.and_then(|asker| asker.parse().ok()) == Some(std::os::unix::process::parent_id())
}

/// Whether this process measures, or was started by what is measured: it must not start a measurement of its own.
pub fn is_measured() -> bool {
    std::env::var_os(ASKED_BY).is_some()
}

/// How a question to a measuring process ended.
#[derive(Debug)]
pub enum End<A> {
    /// It answered.
    Answered(A),
    /// It died without an answer.
    Died(String),
    /// It took too long.
    TimedOut,
    /// The run was interrupted.
    Interrupted,
}

/// How a measuring process is started, besides what all have in common.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// A command with its arguments that becomes the measuring process, such as `numactl --membind=1`; empty for none.
    pub prefix: Vec<OsString>,
    /// What its environment has besides the usual.
    pub environment: Vec<(String, String)>,
}

/// A fresh process that measures: this binary executed again, to do a hidden `command`, with a small clean environment of
/// random size, in a process group of its own that ends with it. It is asked and answers in JSON, a line each.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// What it has told and nobody has read yet.
    told: Vec<u8>,
}

impl Process {
    /// Starts it, by way of the limit on memory if that is what it takes; nothing is asked yet.
    pub fn start(
        command: &str,
        seed: u64,
        limit: Option<&MemoryLimit>,
        launch: &Launch,
    ) -> std::io::Result<Self> {
        Ok(Process { child: start(command, seed, limit, launch)?, told: vec![] })
    }

    /// Tells it something that it does not answer.
    pub fn tell(&mut self, said: &impl Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(said)?;
        line.push(b'\n');
        if let Some(stdin) = &mut self.child.stdin {
            // A child that died already does not read; its silence is reported when it is asked.
            let _ = stdin.write_all(&line);
        }
        Ok(())
    }

    /// Asks it something, and waits for the answer until the limit. The listener is told what takes it long before it
    /// observes anything. After any end but an answer it can be asked nothing more.
    pub fn ask<A: DeserializeOwned>(
        &mut self,
        question: &impl Serialize,
        limit: Duration,
        listener: &mut dyn FnMut(&str),
    ) -> std::io::Result<End<A>> {
        self.tell(question)?;
        match self.answer(Instant::now() + limit, listener)? {
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

    /// The next line that is an answer.
    fn answer(&mut self, deadline: Instant, listener: &mut dyn FnMut(&str)) -> std::io::Result<Heard> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            if let Some(line) = preparing::hear(&mut self.told, listener) {
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
    /// Ends the process, and with it the partners that it may have left.
    fn drop(&mut self) {
        // Without a further question it ends by itself and cleans up what its visits share; it is given time for that.
        drop(self.child.stdin.take());
        let deadline = Instant::now() + CLEANING_UP;
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

/// How long a process may take to end by itself after its last answer.
const CLEANING_UP: Duration = Duration::from_secs(10);

/// What came before the deadline.
enum Heard {
    /// An answer.
    Line(Vec<u8>),
    /// The end: the process is no more.
    End,
    /// Nothing.
    Nothing,
}

fn start(command: &str, seed: u64, limit: Option<&MemoryLimit>, launch: &Launch) -> std::io::Result<Child> {
    let padding = "x".repeat((seed >> 16) as usize % MOST_PADDING as usize);
    let parent = std::process::id();
    let (program, arguments, environment) = prefixed(started_by(limit)?, launch);
    let mut process = Command::new(program);
    // One that is stopped before its first visit would else outlive a run that is killed.
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

/// The program that becomes a measuring process, what it is told first, and what it needs to know: this one, or one that
/// becomes this one.
fn started_by(limit: Option<&MemoryLimit>) -> std::io::Result<Started> {
    let own = std::env::current_exe()?;
    Ok(match limit {
        Some(MemoryLimit::Scope(scope)) => {
            (scope.program.clone(), scope.arguments(&own), scope.environment.clone())
        }
        _ => (own, vec![], vec![]),
    })
}

/// The same by way of a command that is asked for, which stands before all others.
fn prefixed((program, arguments, mut environment): Started, launch: &Launch) -> Started {
    environment.extend(launch.environment.iter().cloned());
    let Some((first, rest)) = launch.prefix.split_first() else { return (program, arguments, environment) };
    let all = rest.iter().cloned().chain([program.into_os_string()]).chain(arguments);
    (PathBuf::from(first), all.collect(), environment)
}

/// A program, its first arguments, and its environment.
type Started = (PathBuf, Vec<OsString>, Vec<(String, String)>);

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
        Err(error) => End::Died(format!("the measuring process gave an answer that cannot be read: {error}")),
    }
}

/// What a dying child said, shortened.
fn complaint(child: &mut Child) -> String {
    let mut text = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(2000).read_to_string(&mut text);
    }
    // A panic begins with an empty line.
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.is_empty() { String::new() } else { format!(" ({line})") }
}
