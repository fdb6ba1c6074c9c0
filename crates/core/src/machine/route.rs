//! The adapter that leads to another host, by the kernel's main routing tables. Nothing is sent.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::source::Root;

/// The first part of the route to another host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Route {
    /// The adapter by which packets leave, as the kernel calls it.
    pub adapter: String,
    /// Whether they go to a gateway first; the other host is on the adapter's own network otherwise.
    pub gateway: bool,
}

/// A line of a routing table.
struct TableLine {
    prefix_bits: u32,
    metric: u32,
    route: Route,
}

/// `RTF_UP`, `RTF_GATEWAY` and `RTF_REJECT` of linux/route.h.
const UP: u32 = 0x1;
const GATEWAY: u32 = 0x2;
const REJECT: u32 = 0x200;

impl Route {
    /// The route to an address: the longest matching prefix, then the least metric, as the kernel chooses. Rules that send
    /// packets to other tables are not evaluated.
    pub fn to(root: &Root, address: IpAddr) -> Fact<Self> {
        let path = if address.is_ipv4() { "/proc/net/route" } else { "/proc/net/ipv6_route" };
        root.text(path).parse("a table with a way to that address", |table| {
            let ways = table.lines().filter_map(|line| match address {
                IpAddr::V4(address) => ipv4(line, address),
                IpAddr::V6(address) => ipv6(line, address),
            });
            let best = ways.min_by_key(|way| (std::cmp::Reverse(way.prefix_bits), way.metric));
            best.map(|way| way.route)
        })
    }
}

/// Interface, destination, gateway, flags, references, uses, metric, mask: addresses in this machine's byte order.
fn ipv4(line: &str, address: Ipv4Addr) -> Option<TableLine> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let number = |place: usize| u32::from_str_radix(fields.get(place)?, 16).ok();
    let octets = |place: usize| Some(u32::from_be_bytes(number(place)?.to_ne_bytes()));
    let (destination, mask, flags) = (octets(1)?, octets(7)?, number(3)?);
    leads(flags, u32::from(address) & mask == destination).then_some(TableLine {
        prefix_bits: mask.count_ones(),
        metric: fields.get(6)?.parse().ok()?,
        route: Route { adapter: fields.first()?.to_string(), gateway: flags & GATEWAY != 0 },
    })
}

/// Destination, its prefix, source, its prefix, next hop, metric, references, uses, flags, interface.
fn ipv6(line: &str, address: Ipv6Addr) -> Option<TableLine> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let number = |place: usize| u32::from_str_radix(fields.get(place)?, 16).ok();
    let destination = u128::from_str_radix(fields.first()?, 16).ok()?;
    let (prefix_bits, flags) = (number(1)?, number(8)?);
    let differing =
        (u128::from(address) ^ destination).checked_shr(128_u32.checked_sub(prefix_bits)?).unwrap_or(0);
    leads(flags, differing == 0).then_some(TableLine {
        prefix_bits,
        metric: number(5)?,
        route: Route { adapter: fields.get(9)?.to_string(), gateway: flags & GATEWAY != 0 },
    })
}

fn leads(flags: u32, holds_it: bool) -> bool {
    holds_it && flags & UP != 0 && flags & REJECT == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a little-endian kernel for 0.0.0.0/0 by 192.0.2.1, 192.0.2.0/24 and 198.51.100.0/24 twice.
    const IPV4: &str = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
        eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
        eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n\
        wlan0\t006433C6\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0\n\
        eth1\t006433C6\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n";
    const IPV6: &str = "\
        20010db8000000000000000000000000 20 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 1 0 00000001 eth0\n\
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 1 0 00000003 eth1\n\
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 00000001 1 0 00000201 lo\n";

    fn to(address: &str) -> Option<(String, bool)> {
        let (_tree, root) = Root::planted(&[("/proc/net/route", IPV4), ("/proc/net/ipv6_route", IPV6)]);
        let route = Route::to(&root, address.parse().unwrap());
        route.value().map(|route| (route.adapter.clone(), route.gateway))
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn the_longest_prefix_leads_and_of_equals_the_least_metric() {
        assert_eq!(to("203.0.113.9"), Some(("eth0".to_owned(), true)));
        assert_eq!(to("192.0.2.9"), Some(("eth0".to_owned(), false)));
        assert_eq!(to("198.51.100.9"), Some(("eth1".to_owned(), false)));
    }

    #[test]
    fn so_it_is_with_ipv6_where_a_way_that_rejects_is_none() {
        assert_eq!(to("2001:db8::9"), Some(("eth0".to_owned(), false)));
        assert_eq!(to("2001:db9::9"), Some(("eth1".to_owned(), true)));
    }
}
