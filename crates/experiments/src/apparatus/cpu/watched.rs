//! Waiting for one of many descriptors: `select`, `poll` and `epoll` on pipes of which one is readable.

use fathom_core::prelude::*;
use fathom_core::sampling::partner::pipe;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Pipes of which only the last is readable, so that every descriptor is examined.
struct Watched {
    pipes: Vec<(OwnedFd, OwnedFd)>,
}

impl Watched {
    fn new(count: usize) -> Result<Self, Failure> {
        let pipes = (0..count).map(|_| pipe()).collect::<Result<Vec<_>, _>>()?;
        if let Some((_, last)) = pipes.last() {
            // SAFETY: one byte from a valid buffer.
            errno("write", unsafe { libc::write(last.as_raw_fd(), c"x".as_ptr().cast(), 1) })?;
        }
        Ok(Watched { pipes })
    }

    fn readers(&self) -> impl Iterator<Item = libc::c_int> {
        self.pipes.iter().map(|(reader, _)| reader.as_raw_fd())
    }
}

/// `select` on so many descriptors.
pub fn select<const COUNT: usize>() -> Result<Box<dyn Operation>, Failure> {
    let watched = Watched::new(COUNT)?;
    // SAFETY: an fd_set is an array of integers; all zeros is the empty set.
    let mut readers: libc::fd_set = unsafe { std::mem::zeroed() };
    let highest = watched.readers().max().unwrap_or(0);
    fits(highest)?;
    for reader in watched.readers() {
        // SAFETY: none is above the highest, for which the set has room.
        unsafe { libc::FD_SET(reader, &raw mut readers) };
    }
    repeated(move || {
        let _keep = &watched;
        let mut ready = readers;
        let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
        let none = std::ptr::null_mut();
        // SAFETY: a valid set and time.
        let returned = unsafe { libc::select(highest + 1, &raw mut ready, none, none, &raw mut now) };
        ensure(returned == 1, "select did not find the one readable pipe")
    })
}

/// Refuses descriptors for which a set has no room: this process may have inherited many.
fn fits(highest: libc::c_int) -> Result<(), Failure> {
    if (highest as usize) < libc::FD_SETSIZE {
        return Ok(());
    }
    Err(Failure::Unsupported(format!(
        "select takes descriptors below {}, and this process got {highest}: so many were open when it was started",
        libc::FD_SETSIZE
    )))
}

/// `poll` on so many descriptors.
pub fn poll<const COUNT: usize>() -> Result<Box<dyn Operation>, Failure> {
    let watched = Watched::new(COUNT)?;
    let wish = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut wishes: Vec<libc::pollfd> = watched.readers().map(wish).collect();
    repeated(move || {
        let _keep = &watched;
        // SAFETY: the length is that of the array.
        let returned = unsafe { libc::poll(wishes.as_mut_ptr(), wishes.len() as libc::nfds_t, 0) };
        ensure(returned == 1, "poll did not find the one readable pipe")
    })
}

/// `epoll` on so many descriptors.
pub fn epoll<const COUNT: usize>() -> Result<Box<dyn Operation>, Failure> {
    let watched = Watched::new(COUNT)?;
    // SAFETY: the new descriptor is owned here alone.
    let set =
        unsafe { OwnedFd::from_raw_fd(errno("epoll_create1", libc::epoll_create1(libc::EPOLL_CLOEXEC))?) };
    for reader in watched.readers() {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: reader as u64 };
        // SAFETY: open descriptors and a valid event.
        let added = unsafe { libc::epoll_ctl(set.as_raw_fd(), libc::EPOLL_CTL_ADD, reader, &raw mut event) };
        errno("epoll_ctl", added)?;
    }
    let mut ready = [libc::epoll_event { events: 0, u64: 0 }; 8];
    repeated(move || {
        let _keep = &watched;
        // SAFETY: the length is that of the array.
        let returned =
            unsafe { libc::epoll_wait(set.as_raw_fd(), ready.as_mut_ptr(), ready.len() as i32, 0) };
        ensure(returned == 1, "epoll_wait did not find the one readable pipe")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_beyond_a_set_is_refused_in_words() {
        assert!(fits(1023).is_ok());
        let refused = fits(1024).unwrap_err();
        assert!(matches!(&refused, Failure::Unsupported(words) if words.contains("1024")), "{refused}");
    }
}
