//! A measuring process from the point of view of the run: start it with a small clean environment, send requests, receive
//! answers, enforce the time limit, reap it.

use super::memory_limit::MemoryLimit;
use super::partner::end_with;
use super::piped_child::{PATH, PipedChild};
use super::{preparing, priority};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::ExitStatus;
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
    /// The priority of the process and of all that it starts (nice(7)); `None` for that of this process.
    pub priority: Option<i32>,
}

/// A fresh process that measures: this binary executed again with a hidden `command`, with a small clean environment of random
/// size, in its own process group that ends with it. Requests and answers are JSON, one per line.
#[derive(Debug)]
pub struct Process {
    child: PipedChild,
    /// Bytes of its output that were not parsed yet.
    received: Vec<u8>,
    /// The time in which it may end by itself after its last answer.
    patience: Duration,
    /// Whether it was not waited for: until then its number names it, whether it lives or not.
    is_unreaped: bool,
}

impl Process {
    /// Starts the process, by way of the memory limit if one is set; no request is sent yet.
    pub fn start(
        command: &str,
        seed: u64,
        limit: Option<&MemoryLimit>,
        launch: &Launch,
    ) -> std::io::Result<Self> {
        Ok(Process::of(start(command, seed, limit, launch)?))
    }

    fn of(child: PipedChild) -> Self {
        Process { child, received: vec![], patience: CLEANING_UP, is_unreaped: true }
    }

    /// Waits until the process waits for its request, so that its start disturbs nothing later; or until it has ended, which the
    /// request will find.
    pub fn wait_until_ready(&mut self) -> std::io::Result<()> {
        let deadline = Instant::now() + STARTING;
        let Some(stdout) = &mut self.child.stdout else { return Ok(()) };
        let mut buffer = [0; 64];
        while self.received.is_empty() && readable(stdout.as_raw_fd(), deadline) {
            match stdout.read(&mut buffer)? {
                0 => break,
                some => self.received.extend_from_slice(&buffer[..some]),
            }
        }
        Ok(())
    }

    /// Sends a message without an answer.
    pub fn tell(&mut self, message: &impl Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
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
            Input::Line(line) => Ok(answered(&line)),
            Input::Nothing if INTERRUPTED.load(Ordering::Relaxed) => Ok(End::Interrupted),
            Input::Nothing => Ok(End::TimedOut),
            Input::End => {
                let status = self.ended().map_or_else(|error| error.to_string(), |status| status.to_string());
                let complaint = complaint(&mut self.child);
                Ok(End::Died(format!("the measuring process died: {status}{complaint}")))
            }
        }
    }

    /// Ends it without waiting until it has cleaned up: what it leaves is removed with the run.
    pub fn end(mut self) {
        self.patience = Duration::ZERO;
    }

    /// Waits for its end, then ends what it may have left in its group, and only then gives its number back.
    fn ended(&mut self) -> std::io::Result<ExitStatus> {
        self.look(0)?;
        self.end_group();
        self.is_unreaped = false;
        self.child.wait()
    }

    /// Looks for its end without waiting for it in the sense of wait(2), so that its number stays its own. An error says that
    /// the number may be another's: this process ignores SIGCHLD, as the user of the library may do, or others have waited.
    fn look(&self, options: libc::c_int) -> std::io::Result<()> {
        let mut ended = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let options = libc::WEXITED | libc::WNOWAIT | options;
        loop {
            // SAFETY: room for what the call tells.
            if unsafe {
                libc::waitid(libc::P_PID, self.child.id() as libc::id_t, ended.as_mut_ptr(), options)
            } == 0
            {
                return Ok(());
            }
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    /// Kills it and whatever is left in its group.
    fn end_group(&self) {
        if self.is_unreaped && self.look(libc::WNOHANG).is_ok() {
            // SAFETY: our child was not waited for, so its number, and that of its group, is nobody else's.
            unsafe { libc::kill(-self.child.id(), libc::SIGKILL) };
        }
    }

    /// The next line that is an answer.
    fn answer(
        &mut self,
        (mut deadline, preparing): (Instant, Instant),
        listener: &mut dyn FnMut(&str),
    ) -> std::io::Result<Input> {
        let (mut buffer, mut late) = (vec![0; 1 << 16], None);
        loop {
            let mut prepares = |doing: &str| {
                deadline = deadline.max(preparing);
                listener(doing);
            };
            if let Some(line) = preparing::hear(&mut self.received, &mut prepares) {
                return Ok(Input::Line(line));
            }
            let Some(stdout) = &mut self.child.stdout else { return Ok(Input::End) };
            if !readable(stdout.as_raw_fd(), deadline) {
                return Ok(Input::Nothing);
            }
            // What waited at the deadline is heard to its end; what still comes after that is no answer in time.
            let now = Instant::now();
            if now > deadline && now - *late.get_or_insert(now) > HEARD_OUT {
                return Ok(Input::Nothing);
            }
            match stdout.read(&mut buffer)? {
                0 => return Ok(Input::End),
                some => self.received.extend_from_slice(&buffer[..some]),
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
            while Instant::now() < deadline
                && readable(stdout.as_raw_fd(), deadline)
                && stdout.read(&mut rest).is_ok_and(|some| some > 0)
            {}
        }
        self.end_group();
        let _ = self.child.wait();
    }
}

/// How long an answer may take to be read that was there at its deadline.
const HEARD_OUT: Duration = Duration::from_secs(1);

/// The longest wait for a process that was started ahead.
const STARTING: Duration = Duration::from_secs(1);

/// Maximum time for a process to end by itself after its last answer.
const CLEANING_UP: Duration = Duration::from_secs(10);

/// The result of waiting for a line until the deadline.
enum Input {
    /// A line with an answer.
    Line(Vec<u8>),
    /// The process has ended.
    End,
    /// Nothing before the deadline.
    Nothing,
}

fn start(
    command: &str,
    seed: u64,
    limit: Option<&MemoryLimit>,
    launch: &Launch,
) -> std::io::Result<PipedChild> {
    let padding = "x".repeat((seed >> 16) as usize % MOST_PADDING as usize);
    let (parent, priority) = (std::process::id(), launch.priority);
    let (program, mut arguments, environment) = prefixed(started_by(limit)?, launch);
    arguments.push(command.into());
    let own = [("PATH", PATH.to_owned()), ("PAD", padding), (ASKED_BY, parent.to_string())];
    let mut variables: BTreeMap<_, _> = environment.into_iter().collect();
    variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
    // Before it is executed: what is stopped, or has another program before it, before it could do this itself would outlive a
    // run that is killed.
    PipedChild::start(&program, &arguments, &variables, &|| begin(parent, priority))
}

/// The process ends with its parent, and goes first where memory ends: system calls alone, and nothing is allocated.
fn begin(parent: u32, priority: Option<i32>) -> std::io::Result<()> {
    end_with(parent)?;
    be_the_first_to_go();
    priority.map_or(Ok(()), priority::set)
}

/// Makes the kernel choose this process, and those that it starts, before all others if memory ends (proc(5)): a measurement is
/// lost sooner than anybody's work. This needs no privilege; where `/proc` is not to be written, the kernel chooses as usual.
fn be_the_first_to_go() {
    let most = b"1000";
    // SAFETY: system calls with constants that end in a zero or have the given length; they allocate nothing.
    unsafe {
        let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file >= 0 {
            libc::write(file, most.as_ptr().cast(), most.len());
            libc::close(file);
        }
    }
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
        if INTERRUPTED.load(Ordering::Relaxed) {
            return false;
        }
        let remaining = deadline.saturating_duration_since(Instant::now());
        // In whole milliseconds, and not before the deadline. After it what waits to be read still counts: a run that was stopped
        // and goes on finds that the deadline has passed meanwhile.
        let wait_ms = remaining.as_micros().div_ceil(1000).min(1000) as libc::c_int;
        let mut poll = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd; a signal ends the wait early, and the loop checks again.
        let ready = unsafe { libc::poll(&raw mut poll, 1, wait_ms) };
        if ready > 0 {
            return true;
        }
        if remaining.is_zero() {
            return false;
        }
    }
}

/// Reads it as text, as a run file is read, so that there is one reader of a sample in the program.
fn answered<A: DeserializeOwned>(text: &[u8]) -> End<A> {
    let text = std::str::from_utf8(text).map_err(<serde_json::Error as serde::de::Error>::custom);
    match text.and_then(serde_json::from_str) {
        Ok(answer) => End::Answered(answer),
        Err(error) => End::Died(format!("the measuring process gave an answer that cannot be read: {error}")),
    }
}

/// The error message of a dying child, shortened.
fn complaint(child: &mut PipedChild) -> String {
    let mut text = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(2000).read_to_string(&mut text);
    }
    // A panic begins with an empty line.
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.is_empty() { String::new() } else { format!(" ({line})") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    #[test]
    fn an_answer_that_waits_counts_after_the_deadline_too_and_without_one_it_ends_there() {
        let (reader, mut writer) = std::os::unix::net::UnixStream::pair().unwrap();
        let began = Instant::now();
        assert!(!readable(reader.as_raw_fd(), began + Duration::from_millis(20)));
        assert!(began.elapsed() >= Duration::from_millis(20));
        writer.write_all(b"answer").unwrap();
        assert!(readable(reader.as_raw_fd(), began), "as after a stop that took longer than the deadline");
    }

    fn shell(script: &str, before: &dyn Fn() -> std::io::Result<()>) -> PipedChild {
        let path = BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]);
        PipedChild::start(Path::new("sh"), &["-c".into(), script.into()], &path, before).unwrap()
    }

    fn running(script: &str) -> Process {
        Process::of(shell(script, &|| Ok(())))
    }

    #[test]
    fn a_process_that_was_started_ahead_is_waited_for_and_answers_as_any_other() {
        let mut process = running("echo; read question; echo $question");
        process.wait_until_ready().unwrap();
        assert_eq!(process.received, b"\n", "it waits for its request");
        let answer = process.ask::<u32>(&7, Duration::from_secs(10), &mut |_| ());
        assert!(matches!(answer, Ok(End::Answered(7))), "{answer:?}");
        let mut dead = running("exit 3");
        dead.wait_until_ready().unwrap();
        let answer = dead.ask::<u32>(&7, Duration::from_secs(10), &mut |_| ());
        assert!(matches!(answer, Ok(End::Died(_))), "{answer:?}");
    }

    #[test]
    fn a_process_has_the_priority_that_it_is_launched_with_and_this_one_keeps_its_own() {
        // SAFETY: takes no pointers.
        let own = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let (before, lower) = (own(), 19);
        // `nice` without a command says its priority.
        let said = |priority| {
            let parent = std::process::id();
            let stdout = shell("nice", &|| begin(parent, priority)).stdout.take();
            let words = std::io::read_to_string(stdout.unwrap()).unwrap();
            words.trim().parse::<i32>().unwrap()
        };
        assert_eq!((said(Some(lower)), said(None)), (lower, before));
        priority::may_have(lower).unwrap();
        assert_eq!(own(), before, "a thread tried it");
    }

    #[test]
    fn what_a_process_leaves_in_its_group_ends_with_it() {
        // The first member of the group ends, the second keeps nothing of it but the group.
        let mut process = running("sleep 60 >/dev/null 2>&1 </dev/null & echo $! >&2");
        let answer = process.ask::<u32>(&0, Duration::from_secs(10), &mut |_| ());
        let Ok(End::Died(words)) = answer else { panic!("{answer:?}") };
        let pid: u32 = words.rsplit_once('(').unwrap().1.trim_end_matches(')').parse().unwrap();
        let is_running = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
        };
        let began = Instant::now();
        while is_running() && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!is_running());
        assert!(!process.is_unreaped, "its number is not used any more");
    }
}
