//! Connections from ports below 1024, which only the superuser may use.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// The ports that servers of remote procedures leave free (bindresvport(3) takes the same).
const PORTS: std::ops::Range<u16> = 665..1024;

/// Connects from one of them; `None` where that may not be, or does not succeed in time.
pub fn connect(address: &SocketAddr, patience: Duration) -> Option<TcpStream> {
    let SocketAddr::V4(server) = address else { return None };
    // SAFETY: makes a descriptor, which is owned here alone.
    let socket = unsafe {
        let made = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        (made >= 0).then(|| OwnedFd::from_raw_fd(made))?
    };
    bind(&socket)?;
    forget_at_once(&socket)?;
    let limit = libc::timeval { tv_sec: patience.as_secs() as libc::time_t, tv_usec: 0 };
    let to = name(server.port(), u32::from_ne_bytes(server.ip().octets()));
    // SAFETY: valid descriptions of the sizes that are given; connect(2) waits as long as sends may (socket(7)).
    let connected = unsafe {
        let (level, option) = (libc::SOL_SOCKET, libc::SO_SNDTIMEO);
        let (limit, size) = ((&raw const limit).cast(), size_of::<libc::timeval>() as u32);
        libc::setsockopt(socket.as_raw_fd(), level, option, limit, size) == 0
            && libc::connect(socket.as_raw_fd(), (&raw const to).cast(), size_of_val(&to) as u32) == 0
    };
    connected.then(|| TcpStream::from(socket))
}

/// Has the kernel end the connection without the minute of waiting that would use the few ports up: the server is told
/// that it is over by a reset.
fn forget_at_once(socket: &OwnedFd) -> Option<()> {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let (value, size) = ((&raw const linger).cast(), size_of::<libc::linger>() as u32);
    // SAFETY: a valid value of the size that is given.
    let set = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, value, size) };
    (set == 0).then_some(())
}

/// Takes the first port that is free, beginning elsewhere in every process.
fn bind(socket: &OwnedFd) -> Option<()> {
    let count = PORTS.len() as u32;
    for step in 0..count {
        let port = PORTS.start + ((std::process::id().wrapping_mul(7) + step) % count) as u16;
        let own = name(port, 0);
        // SAFETY: a valid address of the size that is given.
        let bound =
            unsafe { libc::bind(socket.as_raw_fd(), (&raw const own).cast(), size_of_val(&own) as u32) };
        if bound == 0 {
            return Some(());
        }
        if std::io::Error::last_os_error().raw_os_error() != Some(libc::EADDRINUSE) {
            return None;
        }
    }
    None
}

/// An address; port in this machine's order, the rest in the network's.
fn name(port: u16, address: u32) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: address },
        sin_zero: [0; 8],
    }
}
