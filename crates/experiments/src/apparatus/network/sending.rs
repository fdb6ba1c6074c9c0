//! Ways to send bytes to a socket or pipe: written from memory, or from a file without a copy through this process.

use fathom_core::experiment::{Failure, errno};
use fathom_core::sampling::partner::pipe;
use std::ffi::c_int;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// A way to send.
pub trait Supply {
    /// Sends one whole chunk.
    fn put(&mut self) -> Result<(), Failure>;

    /// Waits until the kernel no longer uses the chunks; returns the number of sends without a copy and of sends that the kernel
    /// copied after all, if it reports them.
    fn settle(&mut self) -> Result<Option<(u64, u64)>, Failure> {
        Ok(None)
    }
}

/// Method: `write` from memory.
pub const WRITE: &str = "write";
/// Method: `sendfile` from a file in memory.
pub const SENDFILE: &str = "sendfile";
/// Method: `splice` from a file in memory through a pipe.
pub const SPLICE: &str = "splice";
/// Method: `send` with `MSG_ZEROCOPY`.
pub const ZERO_COPY: &str = "MSG_ZEROCOPY";

/// A supply of chunks for an open descriptor, which it borrows for its lifetime.
pub fn supply<'to>(by: &str, to: BorrowedFd<'to>, chunk: usize) -> Result<Box<dyn Supply + 'to>, Failure> {
    Ok(match by {
        SENDFILE => Box::new(FromFile { to, file: file(chunk)?, chunk, through: None }),
        SPLICE => Box::new(FromFile { to, file: file(chunk)?, chunk, through: Some(pipe()?) }),
        ZERO_COPY => Box::new(ZeroCopy::new(to, chunk)?),
        _ => Box::new(CopiedData { to, data: vec![1; chunk] }),
    })
}

struct CopiedData<'to> {
    to: BorrowedFd<'to>,
    data: Vec<u8>,
}

impl Supply for CopiedData<'_> {
    fn put(&mut self) -> Result<(), Failure> {
        let mut remaining = &self.data[..];
        while !remaining.is_empty() {
            // SAFETY: the length is that of the valid bytes.
            let sent =
                unsafe { libc::write(self.to.as_raw_fd(), remaining.as_ptr().cast(), remaining.len()) };
            remaining = &remaining[errno("write", sent)? as usize..];
        }
        Ok(())
    }
}

/// An in-memory file with this many bytes of the value one.
fn file(bytes: usize) -> Result<OwnedFd, Failure> {
    use std::io::Write;
    // SAFETY: a C string; the new descriptor is owned here alone.
    let file = unsafe {
        let descriptor = libc::memfd_create(c"fathom".as_ptr(), libc::MFD_CLOEXEC);
        OwnedFd::from_raw_fd(errno("memfd_create", descriptor)?)
    };
    let mut file = std::fs::File::from(file);
    file.write_all(&vec![1; bytes]).map_err(|error| Failure::Broke(format!("a file in memory: {error}")))?;
    Ok(file.into())
}

struct FromFile<'to> {
    to: BorrowedFd<'to>,
    file: OwnedFd,
    chunk: usize,
    through: Option<(OwnedFd, OwnedFd)>,
}

impl Supply for FromFile<'_> {
    fn put(&mut self) -> Result<(), Failure> {
        let (mut at, end) = (0, self.chunk as i64);
        while at < end {
            let remaining = (end - at) as usize;
            match &self.through {
                None => {
                    // SAFETY: open descriptors; the kernel advances the offset.
                    let sent = unsafe {
                        libc::sendfile(self.to.as_raw_fd(), self.file.as_raw_fd(), &raw mut at, remaining)
                    };
                    errno("sendfile", sent)?;
                }
                Some((read, write)) => {
                    let mut inside =
                        splice(self.file.as_raw_fd(), Some(&mut at), write.as_raw_fd(), remaining)?;
                    while inside > 0 {
                        inside -= splice(read.as_raw_fd(), None, self.to.as_raw_fd(), inside)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn splice(from: RawFd, at: Option<&mut i64>, to: RawFd, bytes: usize) -> Result<usize, Failure> {
    let offset = at.map_or(std::ptr::null_mut(), std::ptr::from_mut);
    // SAFETY: open descriptors; the offset is null or valid.
    let moved = unsafe { libc::splice(from, offset, to, std::ptr::null_mut(), bytes, libc::SPLICE_F_MOVE) };
    match errno("splice", moved)? {
        0 => Err(Failure::Broke("splice moved nothing".to_owned())),
        moved => Ok(moved as usize),
    }
}

/// The kernel sends from this memory and reports in the socket's error queue when it no longer uses it (`msg_zerocopy.rst` of the
/// kernel's documentation).
struct ZeroCopy<'to> {
    to: BorrowedFd<'to>,
    data: Vec<u8>,
    sent: u64,
    done: u64,
    copied: u64,
}

/// `SO_EE_ORIGIN_ZEROCOPY` of linux/errqueue.h.
const ORIGIN_ZEROCOPY: u8 = 5;
/// `SO_EE_CODE_ZEROCOPY_COPIED`: the kernel made a copy after all.
const CODE_COPIED: u8 = 1;

impl<'to> ZeroCopy<'to> {
    fn new(to: BorrowedFd<'to>, chunk: usize) -> Result<Self, Failure> {
        let on: c_int = 1;
        // SAFETY: an integer option.
        let set = unsafe {
            libc::setsockopt(to.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ZEROCOPY, (&raw const on).cast(), 4)
        };
        if set != 0 {
            let error = std::io::Error::last_os_error();
            return Err(Failure::Unsupported(format!("this kernel does not send without copying: {error}")));
        }
        Ok(ZeroCopy { to, data: vec![1; chunk], sent: 0, done: 0, copied: 0 })
    }

    /// Reads one message of the error queue: sends from number `ee_info` to `ee_data` are complete. False if there is none.
    fn reap(&mut self) -> Result<bool, Failure> {
        let mut control = [0_u64; 16];
        // SAFETY: a msghdr is integers and pointers; zero is a value of each.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        // SAFETY: a valid message with room for control data, aligned for its headers.
        let read = unsafe { libc::recvmsg(self.to.as_raw_fd(), &raw mut message, libc::MSG_ERRQUEUE) };
        if read < 0 {
            return match std::io::Error::last_os_error().kind() {
                std::io::ErrorKind::WouldBlock => Ok(false),
                _ => Err(Failure::last("recvmsg of the error queue")),
            };
        }
        // SAFETY: the kernel has filled the control data; where there is a header, its data follows.
        let report = unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (!header.is_null())
                .then(|| libc::CMSG_DATA(header).cast::<libc::sock_extended_err>().read_unaligned())
        };
        if let Some(report) = report.filter(|report| report.ee_origin == ORIGIN_ZEROCOPY) {
            let sends = u64::from(report.ee_data.wrapping_sub(report.ee_info)) + 1;
            self.done += sends;
            self.copied += if report.ee_code == CODE_COPIED { sends } else { 0 };
        }
        Ok(true)
    }

    /// Waits for a message of the error queue; fails after five seconds without one.
    fn wait(&mut self) -> Result<(), Failure> {
        let mut poll = libc::pollfd { fd: self.to.as_raw_fd(), events: 0, revents: 0 };
        // SAFETY: one valid pollfd. Errors are always reported.
        let ready = unsafe { libc::poll(&raw mut poll, 1, 5_000) };
        if ready <= 0 || !self.reap()? {
            return Err(Failure::Broke("the kernel did not report that a send has completed".to_owned()));
        }
        Ok(())
    }
}

impl Supply for ZeroCopy<'_> {
    fn put(&mut self) -> Result<(), Failure> {
        let mut at = 0;
        while at < self.data.len() {
            let remaining = &self.data[at..];
            let (to, flags) = (self.to.as_raw_fd(), libc::MSG_ZEROCOPY);
            // SAFETY: the length is that of the valid bytes; the memory lives until `settle` has seen that all were sent.
            let sent = unsafe { libc::send(to, remaining.as_ptr().cast(), remaining.len(), flags) };
            if sent >= 0 {
                at += sent as usize;
                self.sent += 1;
            } else if std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOBUFS) {
                // More memory is in use by the kernel than its limit allows: some must be released first.
                self.wait()?;
            } else {
                return Err(Failure::last("send with MSG_ZEROCOPY"));
            }
        }
        while self.reap()? {}
        Ok(())
    }

    fn settle(&mut self) -> Result<Option<(u64, u64)>, Failure> {
        while self.done < self.sent {
            self.wait()?;
        }
        Ok(Some((self.sent - self.copied, self.copied)))
    }
}
