//! Programs to start and children to reap: a one-page program that exits at once, made here and kept in memory, and installed
//! programs.

use crate::arch::EXIT;
use fathom_core::prelude::*;
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{null, null_mut};

pub struct Program {
    /// The descriptor that keeps an in-memory program alive.
    _file: Option<OwnedFd>,
    words: Vec<CString>,
}

impl Program {
    /// A static one-page program that only exits.
    pub fn of_one_page() -> Result<Self, Failure> {
        let (machine, code) = EXIT.ok_or_else(|| {
            Failure::Unsupported("no such program is written for this architecture".to_owned())
        })?;
        let image = elf::image(machine, code);
        // SAFETY: a new descriptor, owned here alone; the image has the stated length.
        let file = unsafe {
            let file = OwnedFd::from_raw_fd(errno(
                "memfd_create",
                libc::memfd_create(c"exit".as_ptr(), libc::MFD_CLOEXEC),
            )?);
            let written = libc::write(file.as_raw_fd(), image.as_ptr().cast(), image.len());
            ensure(written == image.len() as isize, "the program could not be written to memory")?;
            file
        };
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // Reopened read-only: a file open for writing cannot be executed.
        let path = CString::new(path).map_err(|_| Failure::Broke("a zero byte in a path".to_owned()))?;
        // SAFETY: a C string; the new descriptor is owned here alone.
        let readable = unsafe {
            let flags = libc::O_RDONLY | libc::O_CLOEXEC;
            OwnedFd::from_raw_fd(errno("open of the program in memory", libc::open(path.as_ptr(), flags))?)
        };
        drop(file);
        let path = CString::new(format!("/proc/self/fd/{}", readable.as_raw_fd()))
            .map_err(|_| Failure::Broke("a zero byte in a path".to_owned()))?;
        Ok(Program { _file: Some(readable), words: vec![path] })
    }

    /// An installed program, by its path and arguments.
    pub fn installed(words: &[&str]) -> Result<Self, Failure> {
        let words = words.iter().map(|word| CString::new(*word)).collect::<Result<Vec<_>, _>>();
        let words = words.map_err(|_| Failure::Broke("a zero byte in an argument".to_owned()))?;
        Ok(Program { _file: None, words })
    }

    fn arguments(&self) -> Vec<*const libc::c_char> {
        self.words.iter().map(|word| word.as_ptr()).chain([null()]).collect()
    }

    /// Replaces this process by the program; if that fails, exits with status 127 as a shell does.
    pub fn become_it(&self) {
        let environment = [null::<libc::c_char>()];
        let arguments = self.arguments();
        // SAFETY: arrays of C strings that end with a null pointer.
        unsafe {
            libc::execve(arguments[0], arguments.as_ptr(), environment.as_ptr());
            libc::_exit(127);
        }
    }

    /// Starts the program by `posix_spawn`.
    pub fn spawn(&self) -> Result<libc::pid_t, Failure> {
        let (mut child, environment) = (0, [null_mut::<libc::c_char>()]);
        let arguments = self.arguments();
        // SAFETY: arrays of C strings that end with a null pointer; no actions and default attributes.
        let spawned = unsafe {
            libc::posix_spawn(
                &raw mut child,
                arguments[0],
                null(),
                null(),
                arguments.as_ptr().cast(),
                environment.as_ptr(),
            )
        };
        ensure(spawned == 0, "posix_spawn failed")?;
        Ok(child)
    }
}

thread_local! {
    /// Children with exit status 0; a trial has one thread.
    static REAPED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Waits for a child and checks its exit status.
pub fn reap(child: libc::pid_t) -> Result<(), Failure> {
    let mut status = 0;
    // SAFETY: waits for our own child.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    ensure(waited == child && status == 0, "a child did not end with exit status 0")?;
    REAPED.set(REAPED.get() + 1);
    Ok(())
}

/// The number of reaped children with exit status 0.
pub fn reaped() -> f64 {
    f64::from(REAPED.get())
}

/// Creates processes as vfork does: the child shares the parent's memory, on its own stack, and the parent sleeps until the child
/// has exited. vfork itself, which returns twice into one frame, cannot be called safely from Rust.
pub fn vfork_and_wait() -> impl FnMut(u64) -> Result<(), Failure> {
    extern "C" fn exit(_: *mut libc::c_void) -> libc::c_int {
        // SAFETY: ends the child alone.
        unsafe { libc::_exit(0) }
    }
    let mut stack = vec![0_u128; 1024];
    move |n| {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        for _ in 0..n {
            // SAFETY: the child runs `exit` on its own stack, whose end is aligned, while this thread sleeps.
            let child = unsafe { libc::clone(exit, stack.as_mut_ptr_range().end.cast(), flags, null_mut()) };
            reap(errno("clone", child)?)?;
        }
        Ok(())
    }
}

/// The smallest ELF executable: a header, one segment, and code that exits with status 0 (elf(5)).
mod elf {
    const HEADER: usize = 64;
    const SEGMENT: usize = 56;
    const BASE: u64 = 0x40_0000;

    /// The bytes of the file.
    pub fn image(machine: u16, code: &[u8]) -> Vec<u8> {
        let entry = BASE + (HEADER + SEGMENT) as u64;
        let mut image = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut put = |bytes: &[u8]| image.extend_from_slice(bytes);
        put(&2_u16.to_le_bytes()); // an executable at a fixed address
        put(&machine.to_le_bytes());
        put(&1_u32.to_le_bytes());
        put(&entry.to_le_bytes());
        put(&(HEADER as u64).to_le_bytes()); // the segments follow the header
        put(&0_u64.to_le_bytes()); // no sections
        put(&0_u32.to_le_bytes());
        for size in [HEADER as u16, SEGMENT as u16, 1, 64, 0, 0] {
            put(&size.to_le_bytes());
        }
        let length = (HEADER + SEGMENT + code.len()) as u64;
        put(&1_u32.to_le_bytes()); // a segment to load
        put(&5_u32.to_le_bytes()); // readable and executable
        for number in [0, BASE, BASE, length, length, 0x1000] {
            put(&number.to_le_bytes());
        }
        put(code);
        image
    }
}
