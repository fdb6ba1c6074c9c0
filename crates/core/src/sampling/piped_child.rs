//! A child process with pipes to it, started without a copy of this process's page tables. `fork` takes one, which takes longer than
//! many a trial once a run has grown; `posix_spawn` takes none, but runs nothing of ours before the program, so that what is
//! stopped at once would outlive a run that is killed. Here the child borrows this process's memory until it executes, as after
//! `vfork(2)`, on a stack of its own, and makes system calls alone.

use super::signals::{LAST, block_none};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::ptr;

/// The folders of a program that is named without one, which are the child's `PATH` too.
pub const PATH: &str = "/usr/bin:/bin";

/// Bytes of the stack on which the child makes its system calls.
const STACK: usize = 1 << 16;

/// A child process in a process group of its own, and this process's ends of the pipes to its standard streams.
#[derive(Debug)]
pub struct PipedChild {
    id: libc::pid_t,
    status: Option<ExitStatus>,
    pub stdin: Option<File>,
    pub stdout: Option<File>,
    pub stderr: Option<File>,
}

impl PipedChild {
    /// Executes a program with these arguments and this environment alone. `before` is called in the child first of all: it makes
    /// system calls only, and allocates nothing. An error is that of `before`, or of the execution.
    pub fn start(
        program: &Path,
        arguments: &[OsString],
        environment: &BTreeMap<String, String>,
        before: &dyn Fn() -> io::Result<()>,
    ) -> io::Result<Self> {
        let program = text(located(program).as_os_str())?;
        let arguments = arguments.iter().map(|argument| text(argument));
        let arguments = [Ok(program.clone())].into_iter().chain(arguments).collect::<io::Result<Vec<_>>>()?;
        let variables = environment.iter().map(|(name, value)| text(format!("{name}={value}").as_ref()));
        let variables = variables.collect::<io::Result<Vec<_>>>()?;
        let ((input, stdin), (stdout, output), (stderr, complaints)) = (pipe()?, pipe()?, pipe()?);
        let streams = [&input, &output, &complaints].map(AsRawFd::as_raw_fd);
        let (arguments, variables) = (pointers(&arguments), pointers(&variables));
        let id = Execution { program: &program, arguments, variables, streams, before }.run()?;
        let [stdin, stdout, stderr] = [stdin, stdout, stderr].map(|end| Some(File::from(end)));
        Ok(PipedChild { id, status: None, stdin, stdout, stderr })
    }

    /// Its process number, and that of its group.
    pub fn id(&self) -> libc::pid_t {
        self.id
    }

    /// Closes what it reads, waits for its end, and gives its number back.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        if let Some(status) = self.status {
            return Ok(status);
        }
        let status = wait(self.id)?;
        self.status = Some(status);
        Ok(status)
    }
}

/// What the child needs to execute its program.
struct Execution<'a> {
    program: &'a CString,
    arguments: Vec<*const libc::c_char>,
    variables: Vec<*const libc::c_char>,
    /// What become its standard streams.
    streams: [libc::c_int; 3],
    before: &'a dyn Fn() -> io::Result<()>,
}

/// What is prepared for the child, and where it says why it could not execute its program: its error's number (errno(3)).
struct ChildTask<'a> {
    execution: &'a Execution<'a>,
    complaint: libc::c_int,
}

impl Execution<'_> {
    /// Makes the child, and returns its number once it has executed its program: then the pipe of its complaint closes. An emulator
    /// may have given it memory of its own, so nothing is told through memory.
    fn run(&self) -> io::Result<libc::pid_t> {
        let mut stack = vec![0_u128; STACK / size_of::<u128>()];
        let (answer, complaint) = pipe()?;
        let mut task = ChildTask { execution: self, complaint: complaint.as_raw_fd() };
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the calling thread waits until the child has executed its program or has ended, so that the stack, which grows
        // downwards from its aligned end, and what `self` refers to live as long as the child uses them. No signal reaches a
        // handler in the child, where it would run in this process's memory: all are blocked, and the mask is put back after.
        let child = unsafe {
            let (mut all, mut own): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut own);
            let child = libc::clone(
                execute,
                stack.as_mut_ptr_range().end.cast(),
                flags,
                ptr::from_mut(&mut task).cast(),
            );
            let error = io::Error::last_os_error();
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const own, ptr::null_mut());
            if child < 0 { Err(error) } else { Ok(child) }
        }?;
        drop(complaint);
        let mut error = vec![];
        File::from(answer).read_to_end(&mut error)?;
        match error.try_into().map(libc::c_int::from_ne_bytes) {
            Ok(error) => wait(child).and(Err(io::Error::from_raw_os_error(error))),
            Err(_) => Ok(child),
        }
    }

    /// In the child: becomes the program; returns only with what prevented it.
    fn become_program(&self) -> io::Error {
        if let Err(error) = (self.before)() {
            return error;
        }
        // SAFETY: system calls on values of this process's memory, which is not written but for this stack. What the child
        // changes is its own: its group, its descriptors, its signals. Every list of strings ends with a null pointer.
        unsafe {
            if libc::setpgid(0, 0) != 0 {
                return io::Error::last_os_error();
            }
            for (target, stream) in (0..).zip(self.streams) {
                if libc::dup2(stream, target) < 0 {
                    return io::Error::last_os_error();
                }
            }
            without_handlers();
            libc::execve(self.program.as_ptr(), self.arguments.as_ptr(), self.variables.as_ptr());
        }
        io::Error::last_os_error()
    }
}

/// What the child does on its stack.
extern "C" fn execute(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the parent waits, and what it has prepared outlives the child's use of it; nobody writes to it meanwhile.
    unsafe {
        let task: &ChildTask = &*argument.cast();
        let error = task.execution.become_program().raw_os_error().unwrap_or(libc::ESRCH);
        libc::write(task.complaint, (&raw const error).cast(), size_of_val(&error));
        libc::_exit(127)
    }
}

/// Gives the signals of the calling process that have a handler, and that of a pipe without a reader, their default action, and
/// blocks none: what a program expects that is started.
///
/// # Safety
///
/// Only in a process that shares its memory, but not its table of signals, and is about to execute a program.
unsafe fn without_handlers() {
    for signal in 1..=LAST {
        // SAFETY: a sigaction is plain data, which the call fills if it succeeds; a default action runs no code.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let is_known = libc::sigaction(signal, ptr::null(), &raw mut action) == 0;
            if is_known && (action.sa_sigaction != libc::SIG_IGN || signal == libc::SIGPIPE) {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
    block_none();
}

/// Waits for the end of a child of this process.
fn wait(child: libc::pid_t) -> io::Result<ExitStatus> {
    let mut status = 0;
    // SAFETY: `status` is valid for writing.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(ExitStatus::from_raw(status))
}

/// A pipe's end to read from and its end to write to; no program that is executed has them. Above the numbers of the standard
/// streams, whose places the child gives them.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which are ours alone once the call has succeeded.
    let (reader, writer) = unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    };
    let above = |end: OwnedFd| if end.as_raw_fd() > libc::STDERR_FILENO { Ok(end) } else { end.try_clone() };
    Ok((above(reader)?, above(writer)?))
}

/// Where a program lies that is named without a folder.
fn located(program: &Path) -> PathBuf {
    let is_name = !program.as_os_str().as_bytes().contains(&b'/');
    let mut places = PATH.split(':').map(|folder| Path::new(folder).join(program)).filter(|_| is_name);
    places.find(|place| place.is_file()).unwrap_or_else(|| program.into())
}

fn text(words: &OsStr) -> io::Result<CString> {
    Ok(CString::new(words.as_bytes())?)
}

/// The strings as `execve` takes them, with a null pointer at the end.
fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn shell(script: &str, before: &dyn Fn() -> io::Result<()>) -> io::Result<PipedChild> {
        let variables =
            [("PATH", PATH), ("WORD", "a word")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        PipedChild::start(Path::new("sh"), &["-c".into(), script.into()], &BTreeMap::from(variables), before)
    }

    fn all_of(stream: &mut Option<File>) -> String {
        io::read_to_string(stream.take().unwrap()).unwrap()
    }

    #[test]
    fn it_has_its_streams_its_environment_and_its_own_group() {
        let script = r#"read line; echo "$line $WORD"; echo $$ >&2; exit 3"#;
        let mut child = shell(script, &|| Ok(())).unwrap();
        // SAFETY: takes no pointers.
        assert_eq!(unsafe { libc::getpgid(child.id()) }, child.id());
        child.stdin.as_mut().unwrap().write_all(b"hello\n").unwrap();
        assert_eq!(all_of(&mut child.stdout), "hello a word\n");
        assert_eq!(all_of(&mut child.stderr), format!("{}\n", child.id()));
        assert_eq!(child.wait().unwrap().code(), Some(3));
        assert_eq!(child.wait().unwrap().code(), Some(3), "as often as one likes");
    }

    #[test]
    fn what_prevents_it_is_said_and_nothing_stays_behind() {
        let missing =
            PipedChild::start(Path::new("/nowhere/at-all"), &[], &BTreeMap::new(), &|| Ok(())).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let refused = shell("exit 0", &|| Err(io::Error::from_raw_os_error(libc::EACCES))).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EACCES));
        let zero = PipedChild::start(Path::new("/bin/sh"), &["a\0b".into()], &BTreeMap::new(), &|| Ok(()))
            .unwrap_err();
        assert_eq!(zero.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn it_takes_no_handler_and_no_mask_of_this_process_and_what_is_ignored_stays_so() {
        // As of a program that handles one signal, blocks another and ignores a third.
        extern "C" fn handler(_: libc::c_int) {}
        let run = || {
            // SAFETY: a handler that does nothing, and a set of signals that the calls fill.
            unsafe {
                libc::signal(libc::SIGUSR1, handler as *const () as libc::sighandler_t);
                libc::signal(libc::SIGWINCH, libc::SIG_IGN);
                let mut one: libc::sigset_t = std::mem::zeroed();
                libc::sigaddset(&raw mut one, libc::SIGUSR2);
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const one, ptr::null_mut());
            }
            let mut child = shell("grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status", &|| Ok(())).unwrap();
            // SAFETY: asks for this thread's mask, which is plain integers.
            let is_blocked = unsafe {
                let mut own: libc::sigset_t = std::mem::zeroed();
                libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &raw mut own);
                libc::sigismember(&raw const own, libc::SIGUSR2) == 1
            };
            assert!(is_blocked, "this thread keeps its mask");
            all_of(&mut child.stdout)
        };
        let status = std::thread::spawn(run).join().unwrap();
        let mask = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()
        };
        let has = |mask: u64, signal: libc::c_int| mask >> (signal - 1) & 1 == 1;
        assert_eq!(mask("SigBlk"), 0);
        assert!(!has(mask("SigCgt"), libc::SIGUSR1), "{status}");
        assert!(has(mask("SigIgn"), libc::SIGWINCH) && !has(mask("SigIgn"), libc::SIGPIPE), "{status}");
    }
}
