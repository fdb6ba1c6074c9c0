//! Offloads of a network adapter, by the read-only half of the `SIOCETHTOOL` ioctl. No packet is sent.

use std::ffi::c_char;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `struct ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Commands of linux/ethtool.h that report one switch each, with the names that `ethtool -k` uses.
const SWITCHES: [(u32, &str); 6] = [
    (0x14, "rx-checksum"),
    (0x16, "tx-checksum"),
    (0x18, "scatter-gather"),
    (0x1e, "tso"),
    (0x23, "gso"),
    (0x2b, "gro"),
];
/// `ETHTOOL_GFLAGS`, and its bit for large receive offload.
const GET_FLAGS: u32 = 0x25;
const FLAG_LRO: u32 = 1 << 15;

/// The offloads that the adapter reports, and whether they are on.
pub(super) fn offloads(adapter: &str) -> io::Result<Vec<(String, bool)>> {
    let socket = datagram_socket()?;
    let mut features = Vec::new();
    let mut refused = None;
    for (command, name) in SWITCHES {
        match ask(&socket, adapter, command) {
            Ok(data) => features.push((name.to_owned(), data != 0)),
            Err(error) => refused = Some(error),
        }
    }
    if let Ok(flags) = ask(&socket, adapter, GET_FLAGS) {
        features.push(("lro".to_owned(), flags & FLAG_LRO != 0));
    }
    match (features.is_empty(), refused) {
        (true, Some(error)) => Err(error),
        _ => Ok(features),
    }
}

fn datagram_socket() -> io::Result<OwnedFd> {
    // SAFETY: socket takes plain numbers.
    let descriptor = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, open and ours alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn ask(socket: &OwnedFd, adapter: &str, command: u32) -> io::Result<u32> {
    let mut value = EthtoolValue { command, data: 0 };
    // SAFETY: all zeroes is a valid ifreq.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    if adapter.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(adapter.bytes()) {
        *place = byte as c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the request names an adapter in a text that ends with zero and points to a Value that lives
    // until after the call; these commands only write its `data`.
    if unsafe { libc::ioctl(socket.as_raw_fd(), 0x8946, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(value.data)
}
