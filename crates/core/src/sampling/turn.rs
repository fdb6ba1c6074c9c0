//! Turns handed from one side to the other: the mechanisms for measuring context switches and synchronisation.
//!
//! Each mechanism has two ends; an end can give the turn to the other side and wait for its own. One side plays rounds of give
//! and wait, the other echoes: wait and give. So neither side runs ahead, and nothing deadlocks (R-CPU-29).

use super::own_folder;
use super::partner::{PartnerProcess, pipe, read_byte, write_byte};
use super::partner_core;
use super::shared_memory::{Shareable, shared_memory};
use crate::experiment::{Failure, Workload, ensure, errno};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The text of this file, for excerpts of what is timed.
pub const SOURCE: &str = include_str!("turn.rs");

/// One side of a mechanism.
pub trait HandOver {
    /// Gives the turn to the other side.
    fn give(&mut self) -> Result<(), Failure>;
    /// Waits until the other side has given the turn.
    fn wait(&mut self) -> Result<(), Failure>;
}

/// An end that can be handed to another thread or process.
pub type AnyEnd = Box<dyn HandOver + Send>;

/// The two ends of a mechanism: the one that begins, and the one that echoes.
pub type Ends = (AnyEnd, AnyEnd);

/// Waits and gives repeatedly until an error, such as the end of the other side.
pub fn echo(mut end: AnyEnd) -> Result<(), Failure> {
    loop {
        end.wait()?;
        end.give()?;
        partner_core::answer();
    }
}

/// Rounds of giving the turn and waiting for it; the partner is kept alive as long.
pub fn rounds<'site>(mut near: AnyEnd, partner: Option<PartnerProcess>) -> Workload<'site> {
    let play = move |n| {
        let _keep = &partner;
        for _ in 0..n {
            near.give()?;
            near.wait()?;
        }
        Ok(())
    };
    Workload::batched(play).per_iteration(2).whose_partner_reads_its_core()
}

/// Two pipes; a byte is the turn.
pub fn pipes() -> Result<Ends, Failure> {
    let ((read_there, write_here), (read_here, write_there)) = (pipe()?, pipe()?);
    Ok((
        Box::new(Bytes { read: read_here, write: write_here }),
        Box::new(Bytes { read: read_there, write: write_there }),
    ))
}

/// One pipe whose two ends this side holds: giving and waiting alone.
pub fn pipe_to_self() -> Result<AnyEnd, Failure> {
    let (read, write) = pipe()?;
    Ok(Box::new(Bytes { read, write }))
}

/// A ring of pipes through this many members: the first member's end, and those of the others. Each end gives to the next member
/// and waits for the one before.
pub fn ring_of_pipes(members: usize) -> Result<(AnyEnd, Vec<AnyEnd>), Failure> {
    let mut reads = vec![];
    let mut writes = vec![];
    for _ in 0..members.max(1) {
        let (read, write) = pipe()?;
        reads.push(read);
        writes.push(write);
    }
    // Member i reads pipe i and writes pipe i + 1.
    writes.rotate_left(1);
    let ends = reads.into_iter().zip(writes).map(|(read, write)| Box::new(Bytes { read, write }) as AnyEnd);
    let mut ends: Vec<_> = ends.collect();
    let first = ends.remove(0);
    Ok((first, ends))
}

/// Two named pipes in the folder of the run; their names are removed before this returns.
pub fn fifos(folder: &Path) -> Result<Ends, Failure> {
    let there = Fifo::make(folder, "there")?;
    let here = Fifo::make(folder, "here")?;
    let near = Bytes { read: here.open()?, write: there.open()? };
    let far = Bytes { read: there.open()?, write: here.open()? };
    Ok((Box::new(near), Box::new(far)))
}

struct Bytes {
    read: OwnedFd,
    write: OwnedFd,
}

impl HandOver for Bytes {
    fn give(&mut self) -> Result<(), Failure> {
        write_byte(&self.write, b'x')
    }

    fn wait(&mut self) -> Result<(), Failure> {
        ensure(read_byte(&self.read)?.is_some(), "the other side closed its pipe")
    }
}

/// A named pipe that unlinks its name when dropped.
struct Fifo(std::ffi::CString);

impl Fifo {
    fn make(folder: &Path, name: &str) -> Result<Self, Failure> {
        let path = own_path(folder, name)?;
        let path = std::ffi::CString::new(path.into_os_string().into_encoded_bytes())
            .map_err(|_| Failure::Unsupported("the folder's name has a zero byte in it".to_owned()))?;
        // SAFETY: a C string.
        match unsafe { libc::mkfifo(path.as_ptr(), 0o600) } {
            0 => Ok(Fifo(path)),
            _ => Err(Failure::Unsupported(format!(
                "no named pipe could be made as {}: {}; choose another folder with `--dir`",
                path.to_string_lossy(),
                std::io::Error::last_os_error()
            ))),
        }
    }

    /// Opened for both directions, so that opening does not wait for the other side (fifo(7)).
    fn open(&self) -> Result<OwnedFd, Failure> {
        // SAFETY: a C string; the descriptor is owned here alone.
        unsafe {
            let descriptor =
                errno("open of a named pipe", libc::open(self.0.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC))?;
            Ok(OwnedFd::from_raw_fd(descriptor))
        }
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        // SAFETY: a C string.
        unsafe { libc::unlink(self.0.as_ptr()) };
    }
}

/// Two event counters; the number one is the turn.
pub fn eventfds() -> Result<Ends, Failure> {
    let ((here, here_again), (there, there_again)) = (eventfd()?, eventfd()?);
    Ok((
        Box::new(Events { read: here, write: there }),
        Box::new(Events { read: there_again, write: here_again }),
    ))
}

fn eventfd() -> Result<(OwnedFd, OwnedFd), Failure> {
    // SAFETY: new descriptors, owned here alone.
    unsafe {
        let descriptor = OwnedFd::from_raw_fd(errno("eventfd", libc::eventfd(0, libc::EFD_CLOEXEC))?);
        let again = errno("dup", libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 0))?;
        Ok((descriptor, OwnedFd::from_raw_fd(again)))
    }
}

struct Events {
    read: OwnedFd,
    write: OwnedFd,
}

impl HandOver for Events {
    fn give(&mut self) -> Result<(), Failure> {
        // SAFETY: an open eventfd.
        ensure(
            unsafe { libc::eventfd_write(self.write.as_raw_fd(), 1) } == 0,
            "an event could not be written",
        )
    }

    fn wait(&mut self) -> Result<(), Failure> {
        let mut events = 0;
        // SAFETY: an open eventfd and room for its count.
        let read = unsafe { libc::eventfd_read(self.read.as_raw_fd(), &raw mut events) };
        ensure(read == 0 && events == 1, "an event was lost or came twice")
    }
}

/// A word in shared memory that says which side has the turn, with a futex for waiting.
pub fn futexes() -> Result<Ends, Failure> {
    let word: &'static AtomicU32 = mapped()?;
    Ok((Box::new(Futex { word, mine: 0 }), Box::new(Futex { word, mine: 1 })))
}

struct Futex {
    word: &'static AtomicU32,
    mine: u32,
}

impl Futex {
    fn call(&self, operation: libc::c_int, value: u32) -> libc::c_long {
        let no_timeout = std::ptr::null::<libc::timespec>();
        // SAFETY: the word is mapped for as long as the process lives.
        unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), operation, value, no_timeout) }
    }
}

impl HandOver for Futex {
    fn give(&mut self) -> Result<(), Failure> {
        self.word.store(1 - self.mine, Ordering::Release);
        errno("futex wake", self.call(libc::FUTEX_WAKE, 1)).map(drop)
    }

    fn wait(&mut self) -> Result<(), Failure> {
        while self.word.load(Ordering::Acquire) != self.mine {
            // EAGAIN: the turn came in between; EINTR: a signal. In both cases the loop checks again.
            self.call(libc::FUTEX_WAIT, 1 - self.mine);
        }
        Ok(())
    }
}

/// Two POSIX semaphores in shared memory.
pub fn posix_semaphores() -> Result<Ends, Failure> {
    let pair: &'static Semaphores = mapped()?;
    let (here, there) = (pair.here.get(), pair.there.get());
    for semaphore in [here, there] {
        // SAFETY: shared, zeroed memory of the right size, mapped for as long as the process lives.
        errno("sem_init", unsafe { libc::sem_init(semaphore, 1, 0) })?;
    }
    Ok((Box::new(Posix { read: here, write: there }), Box::new(Posix { read: there, write: here })))
}

#[repr(C)]
struct Semaphores {
    here: std::cell::UnsafeCell<libc::sem_t>,
    there: std::cell::UnsafeCell<libc::sem_t>,
}

// SAFETY: a sem_t of zeros is a semaphore of zero, and semaphores are made for several processes.
unsafe impl Shareable for Semaphores {}

struct Posix {
    read: *mut libc::sem_t,
    write: *mut libc::sem_t,
}

// SAFETY: POSIX semaphores are made to be used from several threads and processes.
unsafe impl Send for Posix {}

impl HandOver for Posix {
    fn give(&mut self) -> Result<(), Failure> {
        // SAFETY: an initialised semaphore.
        ensure(unsafe { libc::sem_post(self.write) } == 0, "sem_post failed")
    }

    fn wait(&mut self) -> Result<(), Failure> {
        // SAFETY: an initialised semaphore.
        ensure(unsafe { libc::sem_wait(self.read) } == 0, "sem_wait failed")
    }
}

/// Three record locks on a file, rotated: the owner of the turn holds two of them; the other side holds one and waits for the one
/// that it is given next. The locks belong to open file descriptions (fcntl(2)), not to processes: a process loses all of its
/// process-owned locks when it closes any descriptor of the file.
pub fn file_locks(folder: &Path) -> Result<Ends, Failure> {
    let path = own_path(folder, "locks")?;
    let files =
        own_folder::new_file(&path).and_then(|first| Ok((first, own_folder::existing().open(&path)?)));
    let _ = std::fs::remove_file(&path);
    let (here, there) = files.map_err(|error| {
        let place = path.display();
        Failure::Unsupported(format!(
            "no file could be made as {place}: {error}; choose another folder with `--dir`"
        ))
    })?;
    let begins = FileLock { file: here.into(), step: 0, echoes: false };
    let echoes = FileLock { file: there.into(), step: 0, echoes: true };
    begins.set(libc::F_WRLCK, 0)?;
    begins.set(libc::F_WRLCK, 1)?;
    echoes.set(libc::F_WRLCK, 2)?;
    Ok((Box::new(begins), Box::new(echoes)))
}

struct FileLock {
    file: OwnedFd,
    step: i64,
    echoes: bool,
}

impl FileLock {
    fn set(&self, kind: libc::c_int, byte: i64) -> Result<(), Failure> {
        // SAFETY: a flock is plain integers; its process id must be zero.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = kind as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        lock.l_start = byte;
        lock.l_len = 1;
        // SAFETY: an open file and a valid lock.
        let set = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_OFD_SETLKW, &raw mut lock) };
        errno("fcntl lock", set).map(drop)
    }
}

impl HandOver for FileLock {
    /// Releases the lock that the other side waits for.
    fn give(&mut self) -> Result<(), Failure> {
        let byte = if self.echoes { (self.step + 2) % 3 } else { self.step % 3 };
        self.step += i64::from(self.echoes);
        self.set(libc::F_UNLCK, byte)
    }

    /// Takes the lock that the other side will release.
    fn wait(&mut self) -> Result<(), Failure> {
        let byte = if self.echoes { self.step % 3 } else { (self.step + 2) % 3 };
        self.step += i64::from(!self.echoes);
        self.set(libc::F_WRLCK, byte)
    }
}

/// A path of this process in the folder of its run.
fn own_path(folder: &Path, what: &str) -> Result<PathBuf, Failure> {
    own_folder::path(folder, &format!("{what}-{}", std::process::id()))
}

fn mapped<T: Shareable>() -> Result<&'static T, Failure> {
    shared_memory().map_err(|error| Failure::Broke(format!("shared memory: {error}")))
}
