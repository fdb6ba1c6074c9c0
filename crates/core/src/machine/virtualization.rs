//! The layers between this process and the hardware: hypervisor, container, firmware's names.

use serde::{Deserialize, Serialize};

use super::cpuid;
use super::fact::Fact;
use super::host::Host;
use super::mounts;
use super::source::Root;

/// Layers under and around this system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Virtualization {
    /// The hypervisor; a known `null` on hardware.
    pub hypervisor: Fact<Option<String>>,
    /// The container's kind; a known `null` outside of containers.
    pub container: Fact<Option<String>>,
    /// The machine's manufacturer (DMI), or the provider that rents it out.
    pub system_vendor: Fact<String>,
    /// The vendor's name of the product.
    pub system_product: Fact<String>,
    /// The board.
    pub board: Fact<String>,
    /// Version of the firmware.
    pub firmware_version: Fact<String>,
}

/// The names of hypervisors in CPUID leaf `0x4000_0000`.
const SIGNATURES: &[(&str, &str)] = &[
    ("KVMKVMKVM", "KVM"),
    ("Linux KVM Hv", "KVM (with Hyper-V interface)"),
    ("Microsoft Hv", "Hyper-V"),
    ("VMwareVMware", "VMware"),
    ("XenVMMXenVMM", "Xen"),
    ("TCGTCGTCGTCG", "QEMU without hardware virtualisation (TCG)"),
    ("bhyve bhyve", "bhyve"),
    ("ACRNACRNACRN", "ACRN"),
    ("VBoxVBoxVBox", "VirtualBox"),
    ("prl hyperv", "Parallels"),
    ("lrpepyh vr", "Parallels"),
    ("QNXQVMBSQG", "QNX"),
    ("___ NVMM ___", "NVMM"),
    ("SRESRESRESRE", "LMHS"),
];

/// Vendors and products that only hypervisors write into DMI.
const VIRTUAL_PRODUCTS: &[(&str, &str)] = &[
    ("QEMU", "QEMU"),
    ("Amazon EC2", "Amazon Nitro or Xen"),
    ("Google Compute Engine", "KVM (Google)"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("Virtual Machine", "Hyper-V"),
    ("KVM", "KVM"),
    ("HVM domU", "Xen"),
    ("OpenStack", "KVM (OpenStack)"),
];

pub(super) fn read(root: &Root, host: &dyn Host) -> Virtualization {
    const DMI: &str = "/sys/class/dmi/id";
    const NO_DMI: &str = "neither the firmware nor the hypervisor provides DMI tables";
    let dmi = |file: &str| root.word(&format!("{DMI}/{file}")).because(NO_DMI);
    let system_vendor = dmi("sys_vendor");
    let system_product = dmi("product_name");
    Virtualization {
        hypervisor: hypervisor(root, host, [&system_vendor, &system_product]),
        container: container(root),
        board: dmi("board_name"),
        firmware_version: dmi("bios_version"),
        system_vendor,
        system_product,
    }
}

fn hypervisor(root: &Root, host: &dyn Host, names: [&Fact<String>; 2]) -> Fact<Option<String>> {
    let hypervisor = from_instruction(host)
        .or_else(|| root.word("/sys/hypervisor/type"))
        .or_else(|| {
            root.word("/sys/firmware/devicetree/base/hypervisor/compatible")
                .map(|text| text.replace('\0', " "))
        })
        .or_else(|| from_products(names))
        .or_else(|| from_board(root))
        .or_else(|| from_flag(root));
    match hypervisor {
        Fact::Known { value, source } => Fact::known(Some(value), source),
        Fact::Unknown { .. } => absence(root, host, names),
    }
}

fn from_instruction(host: &dyn Host) -> Fact<String> {
    cpuid::hypervisor(host).map(|signature| {
        let known = SIGNATURES.iter().find(|(spelling, _)| signature.starts_with(spelling));
        known.map_or_else(|| format!("signature \"{signature}\""), |(_, name)| (*name).to_owned())
    })
}

fn from_products(names: [&Fact<String>; 2]) -> Fact<String> {
    let text = names.iter().filter_map(|name| name.value()).cloned().collect::<Vec<_>>().join(" ");
    // Amazon writes its name into bare-metal instances too, with "metal" in the product.
    let known = VIRTUAL_PRODUCTS.iter().find(|(word, _)| text.contains(word) && !text.contains("metal"));
    match known {
        Some((_, name)) => Fact::known((*name).to_owned(), "/sys/class/dmi/id"),
        None => Fact::unknown("DMI names no hypervisor", "/sys/class/dmi/id"),
    }
}

/// A hypervisor that shows itself and not its name.
const UNNAMED: &str = "an unnamed hypervisor";

/// The board of a device tree that virtual machines of several makers have.
fn from_board(root: &Root) -> Fact<String> {
    const BOARD: &str = "/sys/firmware/devicetree/base/compatible";
    root.word(BOARD)
        .parse("a virtual board", |board| board.contains("linux,dummy-virt").then(|| UNNAMED.to_owned()))
}

/// The kernel repeats the processor's "hypervisor" bit among its flags.
fn from_flag(root: &Root) -> Fact<String> {
    root.text("/proc/cpuinfo").parse("a processor under a hypervisor", |info| {
        let flags = super::source::field(info, "flags")?;
        flags.split_whitespace().any(|flag| flag == "hypervisor").then(|| UNNAMED.to_owned())
    })
}

/// The absence of a hypervisor is known only if one would be visible: by a processor with CPUID, or by DMI names.
fn absence(root: &Root, host: &dyn Host, names: [&Fact<String>; 2]) -> Fact<Option<String>> {
    if let Some(false) = cpuid::bit(host, 1, 2, 31).value() {
        return Fact::known(None, "CPUID leaf 0x1, ECX bit 31");
    }
    let flags = root.text("/proc/cpuinfo");
    if flags.value().is_some_and(|info| super::source::field(info, "flags").is_some()) {
        return Fact::known(None, "/proc/cpuinfo \"flags\"");
    }
    if names.iter().any(|name| name.value().is_some()) {
        return Fact::known(None, "/sys/class/dmi/id names hardware");
    }
    Fact::unknown(
        "neither the processor nor the firmware shows whether there is a hypervisor",
        "CPUID, /sys/class/dmi/id",
    )
}

/// The traces of container runtimes.
fn container(root: &Root) -> Fact<Option<String>> {
    let name = root
        .word("/run/systemd/container")
        .or_else(|| root.word("/run/.containerenv").map(|_| "podman".to_owned()));
    if let Fact::Known { value, source } = name {
        return Fact::known(Some(value), source);
    }
    if root.exists("/run/.containerenv") {
        return Fact::known(Some("podman".to_owned()), "/run/.containerenv");
    }
    from_groups(root).unwrap_or_else(|| from_root_mount(root))
}

fn from_groups(root: &Root) -> Option<Fact<Option<String>>> {
    const SIGNS: &[(&str, &str)] = &[
        ("kubepods", "Kubernetes"),
        ("docker", "Docker"),
        ("libpod", "podman"),
        ("lxc", "LXC"),
        ("containerd", "containerd"),
    ];
    let groups = root.text("/proc/self/cgroup");
    let text = groups.value()?;
    let sign = SIGNS.iter().find(|(sign, _)| text.contains(&format!("/{sign}")))?;
    // A shell on the host may run inside the container daemon's own group ("/system.slice/docker.service").
    let daemon = text.contains(&format!("{}.service", sign.0));
    (!daemon).then(|| Fact::known(Some(sign.1.to_owned()), "/proc/self/cgroup"))
}

/// The marker of Docker stays in an image that is booted as a machine; then the root is a whole disk.
fn from_root_mount(root: &Root) -> Fact<Option<String>> {
    let table = root.text("/proc/self/mountinfo");
    let mounts = table.value().map(|table| mounts::parse(table)).unwrap_or_default();
    let Some(top) = mounts::holding(&mounts, "/".as_ref()) else {
        return Fact::unknown(
            "the mount table is not readable, so signs of a container are not visible",
            "/proc/self/mountinfo",
        );
    };
    let whole_disk = top.source.starts_with("/dev/") && top.root == "/";
    match (root.exists("/.dockerenv"), whole_disk, top.file_system.as_str()) {
        (true, false, _) => Fact::known(Some("Docker".to_owned()), "/.dockerenv"),
        (_, false, "overlay" | "aufs" | "fuse-overlayfs") => {
            Fact::known(Some("of unknown kind (its root is an overlay)".to_owned()), "/proc/self/mountinfo")
        }
        _ => Fact::known(None, "no sign in /run, /proc/self/cgroup, /proc/self/mountinfo"),
    }
}
