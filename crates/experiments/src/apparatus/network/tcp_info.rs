//! The kernel's information about a TCP connection.

use fathom_core::experiment::Failure;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// The kernel's account of a connection (`TCP_INFO`, tcp(7)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Its smoothed estimate of the round-trip time, nanoseconds: from sending a segment to its acknowledgement, which travels
    /// with the reply if there is one.
    pub round_trip_ns: u64,
    /// Retransmitted segments, including those that open the connection.
    pub sent_again: u64,
}

/// Reads it; `Unsupported` if the system does not provide it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn tcp_info(stream: &TcpStream) -> Result<TcpInfo, Failure> {
    // SAFETY: a tcp_info is plain integers; zero is a value of each.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut size = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the length is that of the buffer.
    let status = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut size,
        )
    };
    if status != 0 {
        return Err(Failure::last("getsockopt of TCP_INFO"));
    }
    Ok(TcpInfo {
        round_trip_ns: u64::from(info.tcpi_rtt) * 1000,
        sent_again: u64::from(info.tcpi_total_retrans),
    })
}

/// Reads it; `Unsupported` if the system does not provide it.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn tcp_info(_: &TcpStream) -> Result<TcpInfo, Failure> {
    Err(Failure::Unsupported("this system does not report on its connections".to_owned()))
}
