//! Network adapters. Addresses are left out on purpose: a description may be published.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::host::Host;
use super::source::Root;

/// One network adapter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Adapter {
    /// The kernel's name.
    pub name: String,
    /// `loopback`, `Ethernet`, `wireless`, `bridge`, `virtual`.
    pub kind: String,
    /// Driver.
    pub driver: Fact<String>,
    /// Bits per second.
    pub speed_bits_per_second: Fact<u64>,
    /// `full`, `half`.
    pub duplex: Fact<String>,
    /// Largest packet, bytes.
    pub mtu_bytes: Fact<u64>,
    /// `up`, `down`, `unknown` (loopback).
    pub state: Fact<String>,
    /// Receive queues.
    pub receive_queues: Fact<usize>,
    /// Transmit queues.
    pub transmit_queues: Fact<usize>,
    /// Work the adapter (or the lower half of the stack) takes over, by the names of ethtool(8).
    pub offloads: Fact<BTreeMap<String, bool>>,
    /// NUMA node the device is attached to.
    pub numa_node: Fact<usize>,
}

const FOLDER: &str = "/sys/class/net";

/// A container host can have thousands of virtual adapters; a description has room for some.
const MOST: usize = 32;

/// All adapters, loopback first, then those with a device.
pub(super) fn read(root: &Root, host: &dyn Host) -> Vec<Adapter> {
    let is_adapter = |name: &String| root.exists(&format!("{FOLDER}/{name}/mtu"));
    let mut names: Vec<String> = root.entries(FOLDER).into_iter().filter(is_adapter).collect();
    names.sort_by_key(|name| (name != "lo", !root.exists(&format!("{FOLDER}/{name}/device")), name.clone()));
    names.truncate(MOST);
    names.into_iter().map(|name| adapter(root, host, name)).collect()
}

fn adapter(root: &Root, host: &dyn Host, name: String) -> Adapter {
    let folder = format!("{FOLDER}/{name}");
    let kind = kind(root, &name, &folder);
    let queues = |prefix: &str| {
        let path = format!("{folder}/queues");
        match root.numbered(&path, prefix).len() {
            0 => Fact::unknown("the adapter shows no queues", path),
            count => Fact::known(count, path),
        }
    };
    Adapter {
        driver: root
            .link_name(&format!("{folder}/device/driver"))
            .because("no device is behind it: the kernel itself is the adapter"),
        speed_bits_per_second: speed(root, &folder, &kind),
        duplex: root.word(&format!("{folder}/duplex")),
        mtu_bytes: root.number(&format!("{folder}/mtu")),
        state: root.word(&format!("{folder}/operstate")),
        receive_queues: queues("rx-"),
        transmit_queues: queues("tx-"),
        offloads: Fact::from_call(host.offloads(&name), "ioctl SIOCETHTOOL")
            .map(|list| list.into_iter().collect()),
        numa_node: root
            .word(&format!("{folder}/device/numa_node"))
            .because("the adapter belongs to no node")
            .parse("the number of a node (-1: the firmware does not tell)", |text| text.parse().ok()),
        kind,
        name,
    }
}

fn kind(root: &Root, name: &str, folder: &str) -> String {
    let has = |entry: &str| root.exists(&format!("{folder}/{entry}"));
    // ARPHRD_LOOPBACK of linux/if_arp.h.
    let loopback = root.number::<u32>(&format!("{folder}/type")).value() == Some(&772);
    let kind = match name {
        _ if loopback || name == "lo" => "loopback",
        _ if has("wireless") || has("phy80211") => "wireless",
        _ if has("bridge") => "bridge",
        _ if has("bonding") => "bond",
        _ if has("device") => "Ethernet",
        _ => "virtual",
    };
    kind.to_owned()
}

/// The kernel answers -1 or EINVAL where there is no wire.
fn speed(root: &Root, folder: &str, kind: &str) -> Fact<u64> {
    let path = format!("{folder}/speed");
    if matches!(kind, "loopback" | "virtual" | "bridge") {
        return Fact::unknown("it has no wire, so no rate", path);
    }
    let megabits = root.number::<i64>(&path);
    match megabits.value() {
        Some(rate @ 1..) => Fact::known(rate.unsigned_abs().saturating_mul(1_000_000), path),
        _ => Fact::unknown(
            "the driver tells no rate (usual for a virtual adapter, and while the link is down)",
            path,
        ),
    }
}
