//! Connections from ports below 1024, which only the superuser may use.

use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// The ports that servers of remote procedure calls leave free (bindresvport(3) uses the same).
pub const PORTS: std::ops::Range<u16> = 665..1024;

/// Connects from one of them; `None` if that is not permitted, or does not succeed in time.
pub fn connect(address: &SocketAddr, timeout: Duration) -> Option<TcpStream> {
    if !address.is_ipv4() {
        return None;
    }
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).ok()?;
    bind(&socket).ok()?;
    // The kernel closes the connection with a reset, without the minute in `TIME_WAIT` that would use up the few ports.
    socket.set_linger(Some(Duration::ZERO)).ok()?;
    socket.connect_timeout(&(*address).into(), timeout).ok()?;
    Some(socket.into())
}

/// Binds the first free port, with a different start in every process.
fn bind(socket: &Socket) -> Result<()> {
    let count = PORTS.len() as u32;
    let port = |step| PORTS.start + ((std::process::id().wrapping_mul(7) + step) % count) as u16;
    let bound = |step| socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, port(step))).into());
    let is_taken =
        |bound: &Result<()>| bound.as_ref().is_err_and(|error| error.kind() == ErrorKind::AddrInUse);
    (0..count).map(bound).find(|bound| !is_taken(bound)).unwrap_or(Err(ErrorKind::AddrInUse.into()))
}
