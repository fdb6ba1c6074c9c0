//! The words that may stand in the atlas. What is not listed may name a host, a customer or a person, and is left out.

/// Vendors of processors, as instructions and the kernel name them.
pub const VENDORS: &[&str] = &[
    "GenuineIntel",
    "AuthenticAMD",
    "HygonGenuine",
    "Arm",
    "Broadcom",
    "Cavium",
    "Fujitsu",
    "HiSilicon",
    "NVIDIA",
    "Applied Micro",
    "Qualcomm",
    "Samsung",
    "Apple",
    "Microsoft",
    "Ampere",
];

/// Hypervisors, by the names that this program gives them.
pub const HYPERVISORS: &[&str] = &[
    "KVM",
    "KVM (with Hyper-V interface)",
    "Hyper-V",
    "VMware",
    "Xen",
    "xen",
    "QEMU without hardware virtualisation (TCG)",
    "bhyve",
    "ACRN",
    "VirtualBox",
    "Parallels",
    "QNX",
    "NVMM",
    "QEMU",
    "Amazon Nitro or Xen",
    "KVM (Google)",
    "KVM (OpenStack)",
    "unnamed",
    "an unnamed hypervisor",
];

/// Products that many guests have in common.
pub const PRODUCTS: &[&str] = &[
    "Google Compute Engine",
    "Virtual Machine",
    "KVM",
    "Standard PC (Q35 + ICH9, 2009)",
    "Standard PC (i440FX + PIIX, 1996)",
    "OpenStack Nova",
    "OpenStack Compute",
    "VMware Virtual Platform",
    "VirtualBox",
    "HVM domU",
    "Alibaba Cloud ECS",
    "Droplet",
    "vServer",
];

/// Models of preemption.
pub const PREEMPTION: &[&str] =
    &["none", "voluntary", "full", "lazy", "realtime", "dynamic (chosen at boot)"];

/// Clocks of the kernel.
pub const CLOCKS: &[&str] = &[
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "hpet",
    "acpi_pm",
    "xen",
    "jiffies",
    "riscv_clocksource",
    "timebase",
    "tod",
];

/// Settings of transparent huge pages.
pub const HUGE_PAGES: &[&str] = &["always", "madvise", "never"];

/// Governors of the clock.
pub const GOVERNORS: &[&str] =
    &["performance", "powersave", "schedutil", "ondemand", "conservative", "userspace"];

/// File systems.
pub const FILE_SYSTEMS: &[&str] = &[
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "overlay", "tmpfs", "nfs", "nfs4",
    "cifs", "smb3", "9p", "virtiofs", "fuse", "erofs", "squashfs", "vfat", "exfat", "ntfs3", "ceph",
    "lustre", "gpfs",
];

/// Kinds of devices, by the names that this program gives them.
pub const DEVICES: &[&str] = &[
    "virtual disk",
    "NVMe solid state",
    "virtual disk (virtio)",
    "virtual disk (Xen)",
    "loop device",
    "compressed memory",
    "memory",
    "persistent memory",
    "device mapper",
    "software RAID",
    "network block device",
    "flash card",
    "rotating disk",
    "solid state (SATA, SAS or USB)",
    "block device",
];

/// Words of the marketing names of processors.
const OF_PROCESSORS: &[&str] = &[
    "Intel",
    "Intel(R)",
    "Xeon",
    "Xeon(R)",
    "Core(TM)",
    "Core",
    "Ultra",
    "Atom(TM)",
    "Pentium(R)",
    "Celeron(R)",
    "Platinum",
    "Gold",
    "Silver",
    "Bronze",
    "Max",
    "Processor",
    "CPU",
    "@",
    "AMD",
    "EPYC",
    "EPYC-Rome",
    "EPYC-Milan",
    "EPYC-Genoa",
    "Ryzen",
    "Threadripper",
    "PRO",
    "Opteron(tm)",
    "Athlon",
    "with",
    "Radeon",
    "Graphics",
    "Hygon",
    "Neoverse-N1",
    "Neoverse-N2",
    "Neoverse-V1",
    "Neoverse-V2",
    "Cortex-A53",
    "Cortex-A72",
    "Cortex-A76",
    "Ampere(R)",
    "Altra(R)",
    "Apple",
    "QEMU",
    "Virtual",
    "version",
    "Common",
    "Cascadelake",
    "Icelake",
    "Skylake",
    "SapphireRapids",
    "Haswell",
    "Broadwell",
];

/// Whether a word, in lower case, is part of one of the lists: a host may be called so.
pub fn is_listed(word: &str) -> bool {
    let lists = [
        VENDORS,
        HYPERVISORS,
        PRODUCTS,
        PREEMPTION,
        CLOCKS,
        HUGE_PAGES,
        GOVERNORS,
        FILE_SYSTEMS,
        DEVICES,
        OF_PROCESSORS,
    ];
    let has = |text: &str| {
        let lower = text.to_lowercase();
        lower
            .split(|letter: char| !letter.is_alphanumeric() && letter != '-' && letter != '_')
            .any(|part| part == word)
    };
    lists.iter().any(|list| list.iter().any(|text| has(text)))
}

/// The marketing name, if every word of it is one that processors have: words of a list, and model numbers.
pub fn of_processor(name: &str) -> Option<String> {
    let is_public = |word: &str| OF_PROCESSORS.contains(&word) || is_number_of_processor(word);
    let words: Vec<&str> = name.split_whitespace().collect();
    (!words.is_empty() && words.iter().all(|word| is_public(word))).then(|| words.join(" "))
}

/// `7763`, `8592+`, `9R14`, `E5-2680`, `i7-1185G7`, `64-Core`, `v4`, `2.60GHz`.
fn is_number_of_processor(word: &str) -> bool {
    let rest = ["E3-", "E5-", "E7-", "D-", "i3-", "i5-", "i7-", "i9-"]
        .iter()
        .find_map(|lead| word.strip_prefix(lead));
    let rest = rest.unwrap_or(word);
    let is_digits =
        |text: &str| !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let cores = rest.strip_suffix("-Core").is_some_and(is_digits);
    let version = rest.strip_prefix('v').is_some_and(|number| is_digits(number) && number.len() == 1);
    let clock = rest.strip_suffix("GHz").and_then(|hertz| hertz.split_once('.'));
    let clock = clock.is_some_and(|(whole, part)| is_digits(whole) && is_digits(part));
    cores || version || clock || is_model(rest)
}

/// Up to six letters and digits, of which the first is a digit and at least three are.
fn is_model(word: &str) -> bool {
    let word = word.strip_suffix('+').unwrap_or(word);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() <= 6
        && digits >= 3
        && word.starts_with(|letter: char| letter.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// The numbers at the beginning of a kernel's release: `6.18.44` of `6.18.44-customer7`.
pub fn release(release: &str) -> Option<String> {
    let end = release.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(release.len());
    let numbers: Vec<&str> = release[..end].trim_end_matches('.').split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.len() <= 4;
    ((2..=3).contains(&numbers.len()) && numbers.iter().all(is_number)).then(|| numbers.join("."))
}

/// Whether a product is a type of an instance: `m7i.large`, `c8g.metal-24xl`, `u-6tb1.112xlarge`.
pub fn is_instance(product: &str) -> bool {
    const SIZES: &[&str] = &["nano", "micro", "small", "medium", "large", "xlarge", "metal"];
    let Some((family, size)) = product.split_once('.') else { return false };
    let is_family = (2..=10).contains(&family.len())
        && family.bytes().any(|byte| byte.is_ascii_digit())
        && family.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let number = |text: &str| text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_size = SIZES.contains(&size)
        || size.strip_suffix("xlarge").is_some_and(number)
        || size.strip_prefix("metal-").and_then(|rest| rest.strip_suffix("xl")).is_some_and(number);
    is_family && is_size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processors_pass_and_others_do_not() {
        for name in [
            "AMD EPYC",
            "AMD EPYC 7763 64-Core Processor",
            "AMD EPYC 9R14",
            "Intel(R) Xeon(R) Processor",
            "Intel(R) Xeon(R) Platinum 8592+",
            "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz",
            "Neoverse-N1",
        ] {
            assert_eq!(of_processor(name).as_deref(), Some(name));
        }
        for name in ["", "AMD EPYC host7", "db-7.example", "Intel PF3X9K2L", "AMD 123456789", "AMD 10.0.0.7"]
        {
            assert_eq!(of_processor(name), None, "{name}");
        }
    }

    #[test]
    fn of_a_release_the_numbers_remain() {
        assert_eq!(release("6.18.44-fc-v657").as_deref(), Some("6.18.44"));
        assert_eq!(release("5.10").as_deref(), Some("5.10"));
        for name in ["customer", "6", "10.20.30.40", "123456.1.2", ""] {
            assert_eq!(release(name), None, "{name}");
        }
    }

    #[test]
    fn types_of_instances_are_known_by_their_form() {
        for name in ["m7i.large", "t3.micro", "c8g.metal-24xl", "u-6tb1.112xlarge", "m5.metal"] {
            assert!(is_instance(name), "{name}");
        }
        for name in ["db7.customer", "m7i", "alice.large", "m7i.large.x", "M7I.large", ""] {
            assert!(!is_instance(name), "{name}");
        }
    }
}
