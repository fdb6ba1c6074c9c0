//! A virtual second host: a network namespace of this machine, connected by a pair of virtual adapters. With it everything
//! that is measured with a peer can be tried anywhere; every report calls it a virtual peer.
//!
//! The namespace has no name: it exists as long as the peer's process, and the adapters exist as long as it. Nothing is
//! left, even after a kill. Creating one requires the right to administer the network (root, or inside `unshare --user
//! --map-root-user --net`), and the program `ip`.

use super::{Launched, Launcher, LineReader, NoPeer, ready};
use crate::peer::proof::chance;
use crate::peer::{PeerAddress, Token};
use fathom_core::experiment::{Access, Failure};
use fathom_core::sampling::partner;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_secs(10);

/// The adapter's name inside the namespace.
const INSIDE: &str = "fathom0";

/// Creates a namespace with a peer inside.
pub fn launch() -> Result<Launched, NoPeer> {
    let link = Link::free().ok_or_else(|| {
        NoPeer(
            "every network of 198.18.0.0/15, which is reserved for measurements, is in use here".to_owned(),
        )
    })?;
    let token = Token(chance(32).map_err(|error| NoPeer(format!("no random token could be made: {error}")))?);
    let mut child =
        start(&link).map_err(|error| NoPeer(format!("the peer could not be started: {error}")))?;
    let outside = Link::outside(child.id());
    let result = converse(&mut child, &token);
    let launcher = Launcher(child);
    let ready = result?;
    link.configure(&outside, 1, None)?;
    let find = |version: fn(&IpAddr) -> bool| ready.ips.iter().copied().find(version);
    let address =
        find(IpAddr::is_ipv4).ok_or_else(|| NoPeer("the virtual peer has no address".to_owned()))?;
    let also = find(IpAddr::is_ipv6);
    wait_for(&outside)?;
    let peer = PeerAddress { address, also, port: ready.port, token, is_virtual: true };
    Launched::hold(&[peer], Some(launcher))
}

fn start(link: &Link) -> io::Result<Child> {
    let mut peer = Command::new(std::env::current_exe()?);
    peer.args(["peer", "--launched", "--namespace-of", &std::process::id().to_string()]);
    peer.args(["--listen", &link.four(2).to_string()]);
    if link.has_ipv6 {
        peer.args(["--listen", &link.six(2).to_string()]);
    }
    peer.env_remove(Access::PASSWORD);
    peer.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Sends the token and reads the peer's addresses; an error has the peer's own message.
fn converse(child: &mut Child, token: &Token) -> Result<super::Ready, NoPeer> {
    let lines = LineReader::by_child(child)?;
    let Some(stdin) = child.stdin.as_mut() else {
        return Err(NoPeer("the peer was started without its pipes".to_owned()));
    };
    // A peer that has died does not read; its message is reported below.
    let _ = stdin.write_all(format!("{}\n", token.0).as_bytes());
    match lines.next(STEP)? {
        Some((word, rest)) if word == "ready" => ready(&rest),
        _ => Err(NoPeer(format!("no virtual peer: {}", complaint(child)))),
    }
}

fn complaint(child: &mut Child) -> String {
    let mut complaint = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = io::Read::read_to_string(&mut io::Read::take(stderr, 2000), &mut complaint);
    }
    complaint.trim().trim_start_matches("fathom: ").to_owned()
}

/// In the peer's process: moves it into a new network namespace, and connects that with this machine's.
pub fn enter(parent: u32, listen: &[IpAddr]) -> Result<(), Failure> {
    partner::die_with(parent)?;
    // SAFETY: changes the network namespace of this process, which has one thread yet.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        return Err(Failure::Unsupported(format!(
            "a network namespace needs the right to administer the network ({}): be root, or run everything inside \
             `unshare --user --map-root-user --net`",
            io::Error::last_os_error()
        )));
    }
    let link = Link::of(listen).ok_or_else(|| Failure::Broke("no address for the namespace".to_owned()))?;
    let result = link.configure(INSIDE, 2, Some((&Link::outside(std::process::id()), parent)));
    result.map_err(|NoPeer(complaint)| Failure::Broke(complaint))
}

/// The first address of the block that RFC 2544 reserves for measuring, 198.18.0.0/15.
const FIRST: u32 = 0xc612_0000;

/// The number of networks of four addresses in it.
const NETWORKS: u16 = 1 << 15;

/// A network of two hosts: 1 is this machine, 2 the virtual peer.
struct Link {
    number: u16,
    has_ipv6: bool,
}

impl Link {
    /// A network that this machine does not route already.
    fn free() -> Option<Self> {
        let routes = std::fs::read_to_string("/proc/net/route").unwrap_or_default();
        let first = std::process::id() as u16;
        let number = (0..NETWORKS).map(|step| first.wrapping_add(step) % NETWORKS).find(|number| {
            let address = u32::from(Ipv4Addr::from(four(*number, 2)));
            !routes
                .lines()
                .skip(1)
                .filter_map(route)
                .any(|(network, mask)| mask != 0 && address & mask == network)
        })?;
        Some(Link { number, has_ipv6: has_ipv6() })
    }

    /// The network of these addresses.
    fn of(listen: &[IpAddr]) -> Option<Self> {
        let four = listen.iter().find_map(|ip| match ip {
            IpAddr::V4(four) => Some(u32::from(*four)),
            IpAddr::V6(_) => None,
        })?;
        Some(Link {
            number: (four.checked_sub(FIRST)? >> 2) as u16,
            has_ipv6: listen.iter().any(IpAddr::is_ipv6),
        })
    }

    /// The name of this machine's adapter; it contains the peer's process id, so that two runs do not collide.
    fn outside(peer: u32) -> String {
        format!("fathom{peer}")
    }

    fn four(&self, host: u8) -> Ipv4Addr {
        four(self.number, host).into()
    }

    /// An address in `2001:2::/48`, which RFC 5180 reserves for measuring.
    fn six(&self, host: u8) -> Ipv6Addr {
        Ipv6Addr::new(0x2001, 2, 0, self.number, 0, 0, 0, u16::from(host))
    }

    /// Sets an adapter's addresses; creates it first if `make`, with its other end in the network of another process.
    fn configure(&self, name: &str, host: u8, make: Option<(&str, u32)>) -> Result<(), NoPeer> {
        let mut commands = String::new();
        if let Some((other, process)) = make {
            commands += "link set lo up\n";
            commands += &format!("link add name {name} type veth peer name {other} netns {process}\n");
        }
        commands += &format!("address add {}/30 dev {name}\n", self.four(host));
        if self.has_ipv6 {
            // No other host can have the address, so duplicate address detection is not needed.
            commands += &format!("address add {}/64 dev {name} nodad\n", self.six(host));
        }
        commands += &format!("link set {name} up\n");
        ip(&commands)
    }
}

/// Whether new adapters get IPv6 at all.
fn has_ipv6() -> bool {
    let disabled = std::fs::read_to_string("/proc/sys/net/ipv6/conf/default/disable_ipv6");
    disabled.is_ok_and(|disabled| disabled.trim() == "0")
}

fn four(number: u16, host: u8) -> [u8; 4] {
    (FIRST + (u32::from(number) << 2) + u32::from(host)).to_be_bytes()
}

/// Network and mask of a line of /proc/net/route, in this machine's byte order.
fn route(line: &str) -> Option<(u32, u32)> {
    let field = |place| u32::from_str_radix(line.split_whitespace().nth(place)?, 16).ok().map(u32::from_be);
    Some((field(1)?, field(7)?))
}

/// Runs these commands with ip(8).
fn ip(commands: &str) -> Result<(), NoPeer> {
    let spawned =
        Command::new("ip").args(["-batch", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut ip = spawned.map_err(|error| {
        NoPeer(format!("a virtual peer needs the program `ip` (package iproute2): {error}"))
    })?;
    if let Some(mut stdin) = ip.stdin.take() {
        let _ = stdin.write_all(commands.as_bytes());
    }
    let output = ip.wait_with_output().map_err(|error| NoPeer(format!("ip: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(NoPeer(format!(
        "the virtual network could not be made: {}",
        stderr.lines().next().unwrap_or("ip fails")
    )))
}

/// Waits until this machine's adapter is up: packets sent before are lost, and retried only a second later.
fn wait_for(name: &str) -> Result<(), NoPeer> {
    let (state, deadline) = (format!("/sys/class/net/{name}/operstate"), Instant::now() + STEP);
    while std::fs::read_to_string(&state).is_ok_and(|state| state.trim() != "up") {
        if Instant::now() > deadline {
            return Err(NoPeer(format!("the virtual adapter {name} does not become ready")));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_know_the_same_network_by_the_address_alone() {
        for number in [0, 1, 777, NETWORKS - 1] {
            let link = Link { number, has_ipv6: true };
            assert_eq!(Link::of(&[link.six(2).into(), link.four(2).into()]).unwrap().number, number);
            let octets = link.four(2).octets();
            assert!(octets[0] == 198 && (18..=19).contains(&octets[1]), "outside the block: {octets:?}");
        }
    }

    #[test]
    fn routes_are_read_as_the_kernel_shows_them() {
        let line = "eth0\t000012C6\t00000000\t0001\t0\t0\t0\t0000FEFF\t0\t0\t0";
        let expected = (u32::from(Ipv4Addr::new(198, 18, 0, 0)), u32::from(Ipv4Addr::new(255, 254, 0, 0)));
        assert_eq!(route(line), Some(expected));
    }
}
