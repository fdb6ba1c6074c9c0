//! ICMP echo: a message that the other host's kernel answers, without a process.

use fathom_core::experiment::Failure;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Error, ErrorKind, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd;

/// Type, code, checksum, identifier, sequence number (RFC 792).
const HEADER: usize = 8;
const ECHO_REQUEST: u8 = 8;
const ECHO_REPLY: u8 = 0;

/// A socket for echo requests to one host.
pub struct Ping {
    socket: Socket,
    /// Whether the socket is raw, so that it receives the packet's IP header and all replies to this host.
    raw: bool,
    identifier: u16,
    packet: Vec<u8>,
    received: Vec<u8>,
}

impl Ping {
    /// An unprivileged ping socket, otherwise a raw one; if neither is allowed, the error says how to allow it.
    pub fn open(host: IpAddr, payload: usize) -> Result<Self, Failure> {
        let IpAddr::V4(host) = host.to_canonical() else {
            return Err(Failure::Unsupported("ICMP echo is measured over IPv4 only".to_owned()));
        };
        let open = |kind| Socket::new(Domain::IPV4, kind, Some(Protocol::ICMPV4));
        let (socket, raw) = match open(Type::DGRAM) {
            Ok(socket) => (socket, false),
            Err(_) => (open(Type::RAW).map_err(|error| denied(&error))?, true),
        };
        let broke = |error: Error| Failure::Broke(format!("a ping socket: {error}"));
        if raw {
            accept_replies_only(&socket)?;
        }
        socket.connect(&SocketAddr::from((host, 0)).into()).map_err(broke)?;
        let identifier = std::process::id() as u16;
        Ok(Ping {
            socket,
            raw,
            identifier,
            packet: vec![1; HEADER + payload],
            received: vec![0; 128 + payload],
        })
    }

    pub fn set_timeout(&self, timeout: std::time::Duration) -> std::io::Result<()> {
        self.socket.set_read_timeout(Some(timeout))
    }

    /// Sends a request with this sequence number.
    pub fn send(&mut self, sequence: u16) -> std::io::Result<()> {
        write_header(&mut self.packet, self.identifier, sequence);
        let sent = self.socket.send(&self.packet)?;
        if sent == self.packet.len() { Ok(()) } else { Err(Error::from(ErrorKind::WriteZero)) }
    }

    /// Waits for the next reply to this socket's requests and returns its sequence number.
    pub fn receive(&mut self) -> std::io::Result<u16> {
        loop {
            let length = self.socket.read(&mut self.received)?;
            let packet = &self.received[..length];
            let skipped = if self.raw { ip_header(packet) } else { 0 };
            let Some(message) = packet.get(skipped..).filter(|message| message.len() == self.packet.len())
            else {
                continue;
            };
            let identifier = u16::from_be_bytes([message[4], message[5]]);
            // The kernel replaces the identifier in the requests of a ping socket and delivers only their replies.
            if message[0] == ECHO_REPLY && (!self.raw || identifier == self.identifier) {
                return Ok(u16::from_be_bytes([message[6], message[7]]));
            }
        }
    }
}

fn denied(error: &Error) -> Failure {
    let groups = std::fs::read_to_string("/proc/sys/net/ipv4/ping_group_range").unwrap_or_default();
    let groups = groups.split_whitespace().collect::<Vec<_>>().join(" to ");
    Failure::Unsupported(format!(
        "no ICMP socket can be opened ({error}): the groups that may ping are {groups:?} (sysctl net.ipv4.ping_group_range; \
         \"1 to 0\" means none), and a raw socket needs CAP_NET_RAW"
    ))
}

/// A raw socket receives every ICMP packet of the host, on loopback also its own requests.
fn accept_replies_only(socket: &Socket) -> Result<(), Failure> {
    /// `ICMP_FILTER` of linux/icmp.h: a mask of the types that are not delivered.
    const ICMP_FILTER: libc::c_int = 1;
    let hidden: u32 = !(1 << ECHO_REPLY);
    // SAFETY: the option is four bytes.
    let set = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_RAW, ICMP_FILTER, (&raw const hidden).cast(), 4)
    };
    if set == 0 { Ok(()) } else { Err(Failure::last("setsockopt of ICMP_FILTER")) }
}

/// Length of an IPv4 header (RFC 791: its second half-byte, in words of four bytes).
fn ip_header(packet: &[u8]) -> usize {
    packet.first().map_or(0, |first| usize::from(first & 0xf) * 4)
}

fn write_header(packet: &mut [u8], identifier: u16, sequence: u16) {
    packet[..4].copy_from_slice(&[ECHO_REQUEST, 0, 0, 0]);
    packet[4..6].copy_from_slice(&identifier.to_be_bytes());
    packet[6..8].copy_from_slice(&sequence.to_be_bytes());
    let sum = checksum(packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
}

/// The Internet checksum (RFC 1071): the complement of the sum of 16-bit words in ones' complement.
fn checksum(bytes: &[u8]) -> u16 {
    let words =
        bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The address for a ping without a network.
pub const THIS_HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard_and_a_packet_with_it_sums_to_nothing() {
        // The example of RFC 1071, section 3.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        for payload in [0, 1, 56, 1399] {
            let mut packet = vec![0x5a; HEADER + payload];
            write_header(&mut packet, 0xbeef, 7);
            assert_eq!(checksum(&packet), 0, "{payload}");
        }
    }
}
