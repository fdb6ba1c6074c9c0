//! Pages that a program supplies itself: `userfaultfd(2)`, called directly, because our libraries do not offer it.

use super::stretch::Mapped;
use crate::apparatus::memory::pages::Pages;
use fathom_core::experiment::{Failure, errno};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The structures of the requests in `include/uapi/linux/userfaultfd.h`.
#[repr(C)]
struct Api {
    version: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct Range {
    start: u64,
    bytes: u64,
}

#[repr(C)]
struct Register {
    range: Range,
    mode: u64,
    ioctls: u64,
}

#[repr(C)]
struct Copy {
    to: u64,
    from: u64,
    bytes: u64,
    mode: u64,
    copied: i64,
}

#[repr(C)]
struct ZeroPage {
    range: Range,
    mode: u64,
    zeroed: i64,
}

/// The kernel's message for a fault.
#[repr(C)]
#[derive(Default)]
struct FaultMessage {
    event: u8,
    reserved: [u8; 7],
    flags: u64,
    address: u64,
    more: u64,
}

const API: u64 = 0xAA;
const EVENT_PAGEFAULT: u8 = 0x12;
const MODE_MISSING: u64 = 1;
/// Requests only faults in user mode, none in the kernel on the program's behalf: that needs no privilege (Linux 5.11).
const USER_MODE_ONLY: libc::c_int = 1;
/// `USERFAULTFD_IOC_NEW`, a request to /dev/userfaultfd.
const NEW: libc::Ioctl = 0xAA00;

/// The number of a request that reads and writes `T`, as x86, Arm and RISC-V encode it (`_IOWR` in asm-generic/ioctl.h).
const fn request<T>(number: u64) -> libc::Ioctl {
    ((3 << 30) | ((size_of::<T>() as u64) << 16) | (API << 8) | number) as libc::Ioctl
}

/// The descriptor that receives the faults on a stretch of memory.
#[derive(Debug)]
pub struct UserFaults(OwnedFd);

impl UserFaults {
    /// Registers a stretch, so that its faults are sent here.
    pub fn over(memory: &impl Mapped) -> Result<Self, Failure> {
        let faults = UserFaults(open()?);
        let mut api = Api { version: API, features: 0, ioctls: 0 };
        faults.ask("UFFDIO_API", 0x3F, &mut api)?;
        let mut register = Register {
            range: Range { start: memory.start().as_ptr() as u64, bytes: memory.bytes() as u64 },
            mode: MODE_MISSING,
            ioctls: 0,
        };
        faults.ask("UFFDIO_REGISTER", 0, &mut register)?;
        Ok(faults)
    }

    /// Waits for a fault and returns the address of its page.
    pub fn wait(&self) -> Result<u64, Failure> {
        let mut message = FaultMessage::default();
        let bytes = size_of::<FaultMessage>();
        // SAFETY: room for one message.
        let read = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut message).cast(), bytes) };
        if errno("read of a fault's message", read)? as usize != bytes || message.event != EVENT_PAGEFAULT {
            return Err(Failure::Broke("userfaultfd sent a message that is not a fault".to_owned()));
        }
        Ok(message.address & !(Pages::Base.bytes() as u64 - 1))
    }

    /// Puts a copy of a page at an address, and wakes the waiting thread.
    pub fn supply(&self, address: u64, page: &[u8]) -> Result<(), Failure> {
        let bytes = page.len() as u64;
        let mut copy = Copy { to: address, from: page.as_ptr() as u64, bytes, mode: 0, copied: 0 };
        self.ask("UFFDIO_COPY", 3, &mut copy)
    }

    /// Puts the zero page at an address, and wakes the waiting thread.
    pub fn supply_zeros(&self, address: u64) -> Result<(), Failure> {
        let range = Range { start: address, bytes: Pages::Base.bytes() as u64 };
        self.ask("UFFDIO_ZEROPAGE", 4, &mut ZeroPage { range, mode: 0, zeroed: 0 })
    }

    fn ask<T>(&self, name: &'static str, number: u64, what: &mut T) -> Result<(), Failure> {
        // SAFETY: the request to which its structure belongs; the addresses in it are of live memory.
        errno(name, unsafe { libc::ioctl(self.0.as_raw_fd(), request::<T>(number), &raw mut *what) })
            .map(drop)
    }
}

/// Opens the descriptor, trying the fewest privileges first.
fn open() -> Result<OwnedFd, Failure> {
    let call = |flags: libc::c_int| {
        // SAFETY: takes flags alone.
        owned(unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | flags) } as libc::c_int)
    };
    let called = call(USER_MODE_ONLY).or_else(|| call(0));
    let refusal = std::io::Error::last_os_error();
    called.or_else(by_device).ok_or_else(|| {
        Failure::Unsupported(format!(
            "userfaultfd is refused ({refusal}): it needs Linux 5.11, or vm.unprivileged_userfaultfd=1, or access to \
             /dev/userfaultfd; containers may forbid it"
        ))
    })
}

fn by_device() -> Option<OwnedFd> {
    // SAFETY: a C string.
    let device = owned(unsafe { libc::open(c"/dev/userfaultfd".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) })?;
    // SAFETY: the request takes flags.
    owned(unsafe { libc::ioctl(device.as_raw_fd(), NEW, libc::O_CLOEXEC | USER_MODE_ONLY) })
}

fn owned(descriptor: libc::c_int) -> Option<OwnedFd> {
    // SAFETY: a descriptor just made, owned here alone.
    (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_numbers_of_the_kernels_header() {
        assert_eq!(request::<Api>(0x3F), 0xC018_AA3F);
        assert_eq!(request::<Register>(0), 0xC020_AA00);
        assert_eq!(request::<Copy>(3), 0xC028_AA03);
        assert_eq!(request::<ZeroPage>(4), 0xC020_AA04);
        assert_eq!(size_of::<FaultMessage>(), 32);
    }
}
