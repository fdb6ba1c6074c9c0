//! Network adapters. Addresses are left out on purpose: a description may be published. Their offloads are read by the read-only half of
//! the `SIOCETHTOOL` ioctl, and no packet is sent.

use super::fact::Fact;
use super::host::Host;
use super::source::Root;
use crate::sorting;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::{io, mem};

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
