//! Network adapters. Addresses are left out on purpose: a description may be published.

use crate::sorting;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::host::Host;
use super::source::Root;

/// One network adapter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Adapter {
    /// The kernel's name.
    pub name: String,
    /// `loopback`, `Ethernet`, `wireless`, `bridge`, `virtual`.
    pub kind: String,
    /// Driver.
    pub driver: Fact<String>,
    /// Manufacturer and product, as far as its bus reports them.
    #[serde(default = "no_model")]
    pub model: Fact<String>,
    /// Bits per second.
    pub speed_bits_per_second: Fact<u64>,
    /// `full` or `half`.
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

/// The most adapters in a description: a container host can have thousands of virtual ones.
const MOST: usize = 32;

/// All adapters, loopback first, then those with a device.
pub(super) fn read(root: &Root, host: &dyn Host) -> Vec<Adapter> {
    let is_adapter = |name: &String| root.exists(&format!("{FOLDER}/{name}/mtu"));
    let mut names: Vec<String> = root.entries(FOLDER).into_iter().filter(is_adapter).collect();
    sorting::by_key(&mut names, |name| {
        (name != "lo", !root.exists(&format!("{FOLDER}/{name}/device")), name.clone())
    });
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
            .because("there is no device: the adapter is virtual"),
        model: model(root, &format!("{folder}/device")),
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

fn no_model() -> Fact<String> {
    Fact::unknown("it was not asked for", FOLDER)
}

/// The files in which distributions install the names of PCI devices (pci.ids(5)).
const PCI_NAMES: [&str; 2] = ["/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"];

/// The model of a device, by its bus.
fn model(root: &Root, device: &str) -> Fact<String> {
    let bus = root.link_name(&format!("{device}/subsystem"));
    let known = |name: &str| Fact::known(name.to_owned(), bus.source());
    match bus.value().map(String::as_str) {
        Some("pci") => pci_model(root, device),
        Some("usb") => root.word(&format!("{device}/../product")),
        Some("virtio") => known("virtio network device"),
        Some("vmbus") => known("Hyper-V network device"),
        Some("xen") => known("Xen network device"),
        Some(_) => Fact::unknown("devices of this bus do not report a name", bus.source()),
        None => bus.because("there is no device: the adapter is virtual"),
    }
}

/// The device's numbers, with their names if a list of names is installed.
fn pci_model(root: &Root, device: &str) -> Fact<String> {
    let number = |file: &str| {
        let fact = root.word(&format!("{device}/{file}"));
        fact.parse("a hexadecimal number", |text| text.strip_prefix("0x").map(str::to_lowercase))
    };
    let (vendor, product) = (number("vendor"), number("device"));
    let (Some(maker), Some(number)) = (vendor.value(), product.value()) else { return vendor };
    let name = PCI_NAMES.iter().find_map(|list| pci_name(root.text(list).value()?, maker, number));
    let numbers = format!("PCI {maker}:{number}");
    Fact::known(name.map_or(numbers.clone(), |name| format!("{name} ({numbers})")), device)
}

/// The manufacturer and product in a list of PCI names: products are indented below their manufacturer.
fn pci_name(list: &str, maker: &str, product: &str) -> Option<String> {
    let mut lines = list.lines().skip_while(|line| !line.starts_with(maker));
    let maker = lines.next()?.get(maker.len()..)?.trim();
    let mut products = lines.take_while(|line| line.starts_with('\t') || line.starts_with('#'));
    let product = products.find_map(|line| line.strip_prefix('\t')?.strip_prefix(product));
    Some(format!("{maker} {}", product.unwrap_or_default().trim()).trim_end().to_owned())
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

/// The kernel answers -1 or EINVAL if there is no cable.
fn speed(root: &Root, folder: &str, kind: &str) -> Fact<u64> {
    let path = format!("{folder}/speed");
    if matches!(kind, "loopback" | "virtual" | "bridge") {
        return Fact::unknown("it has no wire, so no rate", path);
    }
    let megabits = root.number::<i64>(&path);
    match megabits.value() {
        Some(rate @ 1..) => Fact::known(rate.unsigned_abs().saturating_mul(1_000_000), path),
        _ => Fact::unknown(
            "the driver reports no rate (usual for a virtual adapter, and while the link is down)",
            path,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    const NAMES: &str = "# names\n8086  Intel Corporation\n\t1563  Ethernet Controller X550\n\t\t1563 0001  OCP\n8087  Other\n";

    /// The model of an adapter on a bus.
    fn on_bus(bus: &str, fill: impl Fn(&Path)) -> Fact<String> {
        let tree = tempfile::tempdir().unwrap();
        let device = tree.path().join("sys/class/net/eth0/device");
        std::fs::create_dir_all(&device).unwrap();
        symlink(format!("../bus/{bus}"), device.join("subsystem")).unwrap();
        fill(tree.path());
        model(&Root::new(tree.path()), "/sys/class/net/eth0/device")
    }

    #[test]
    fn a_pci_adapter_is_named_where_a_list_of_names_is_installed_and_numbered_elsewhere() {
        let numbers = |tree: &Path, product: &str| {
            let device = tree.join("sys/class/net/eth0/device");
            std::fs::write(device.join("vendor"), "0x8086\n").unwrap();
            std::fs::write(device.join("device"), format!("0x{product}\n")).unwrap();
        };
        let named = |tree: &Path| {
            std::fs::create_dir_all(tree.join("usr/share/misc")).unwrap();
            std::fs::write(tree.join("usr/share/misc/pci.ids"), NAMES).unwrap();
        };
        let bare = on_bus("pci", |tree| numbers(tree, "1563"));
        assert_eq!(bare.value().unwrap(), "PCI 8086:1563");
        let both = |product| {
            on_bus("pci", |tree| {
                numbers(tree, product);
                named(tree);
            })
        };
        assert_eq!(
            both("1563").value().unwrap(),
            "Intel Corporation Ethernet Controller X550 (PCI 8086:1563)"
        );
        assert_eq!(both("ffff").value().unwrap(), "Intel Corporation (PCI 8086:ffff)");
    }

    #[test]
    fn a_virtual_adapter_is_named_by_its_bus() {
        assert_eq!(on_bus("virtio", |_| ()).value().unwrap(), "virtio network device");
        assert!(on_bus("platform", |_| ()).value().is_none());
    }
}
