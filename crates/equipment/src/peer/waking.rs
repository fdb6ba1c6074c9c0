//! Waking a thread that waits for a caller, so that a listener can end.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// The timeout of a connection to this process itself.
const MOMENT: Duration = Duration::from_millis(100);

/// A function that wakes the thread waiting in `accept` of this listener. On Linux a listener can be shut down, which needs
/// no resources; elsewhere this process connects to it, which needs a port, of which none may be left.
pub fn waker(listener: &TcpListener) -> io::Result<impl Fn() + Send + 'static> {
    let (other, address) = (listener.try_clone()?, own(listener.local_addr()?));
    Ok(move || {
        // SAFETY: the descriptor is open for as long as `other` lives.
        if unsafe { libc::shutdown(other.as_raw_fd(), libc::SHUT_RDWR) } != 0 {
            drop(TcpStream::connect_timeout(&address, MOMENT));
        }
    })
}

/// The address by which this process reaches an address on which it listens.
fn own(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}
