//! Machines we do not have, described from recorded trees. Every figure here is a
//! known truth: set in the tree, and to be found in the description.

use crate::described::planted::{Described, described, empty_tree, hybrid, place, plant, server};
use fathom::machine::{Folder, Machine, Resource, Root};
use fathom::report::description;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn warned(machine: &Machine) -> Vec<String> {
    machine.warnings().into_iter().map(|warning| warning.id).collect()
}

/// The name of the class of cores that a CPU belongs to.
fn class_of(machine: &Machine, cpu: usize) -> Option<&str> {
    let class = machine.topology.classes.value()?.iter().find(|class| class.cpus.contains(cpu))?;
    Some(&class.name)
}

/// udev's record of two sockets with so many modules of DDR4-3200 on each channel; 0 leaves its slot empty.
fn modules(channels: &[(char, usize)]) -> String {
    let mut record = String::new();
    let mut slot = 0;
    for socket in 0..2 {
        for (letter, count) in channels {
            for number in 0..(*count).max(1) {
                let keys = [
                    ("LOCATOR", format!("DIMM {number}")),
                    ("BANK_LOCATOR", format!("P{socket} CHANNEL {letter}")),
                    ("SIZE", if *count == 0 { String::new() } else { (32u64 << 30).to_string() }),
                    ("PRESENT", u8::from(*count > 0).to_string()),
                    ("TYPE", "DDR4".to_owned()),
                    ("SPEED_MTS", "3200".to_owned()),
                    ("CONFIGURED_SPEED_MTS", "2933".to_owned()),
                    ("DATA_WIDTH", "64".to_owned()),
                    ("TOTAL_WIDTH", "72".to_owned()),
                ];
                for (key, value) in keys {
                    write!(record, "E:MEMORY_DEVICE_{slot}_{key}={value}\\n").unwrap();
                }
                slot += 1;
            }
        }
    }
    format!("/run/udev/data/+dmi:id = {record}\n")
}

/// What /proc/cpuinfo shows of a processor.
fn processor(vendor: &str, family: u32, model: u32, flags: &str) -> Machine {
    let info = format!(
        "processor : 0\\nvendor_id : {vendor}\\ncpu family : {family}\\nmodel : {model}\\nflags : {flags}"
    );
    described(&format!("/proc/cpuinfo = {info}\n"), &Described::default())
}

#[test]
fn a_design_that_never_had_its_flags_is_unknown() {
    let design = |machine: &Machine| machine.processor.microarchitecture.value().cloned();
    let desktop = processor("GenuineIntel", 6, 0xa7, "fpu avx2 avx512f avx512_vbmi2");
    assert_eq!(design(&desktop).as_deref(), Some("Rocket Lake"));
    for flag in ["amx_tile", "avx512_fp16", "avx_vnni"] {
        let masked =
            processor("GenuineIntel", 6, 0xa7, &format!("fpu avx512f avx512_vbmi2 {flag} hypervisor"));
        let reason = masked.processor.microarchitecture.reason().unwrap_or_default().to_owned();
        assert!(reason.contains("Rocket Lake") && reason.contains(flag), "{reason}");
    }
    let server = processor("GenuineIntel", 6, 0x8f, "avx512f avx512_vbmi2 avx_vnni avx512_fp16 amx_tile");
    assert_eq!(design(&server).as_deref(), Some("Sapphire Rapids"));
    let zen = processor("AuthenticAMD", 0x19, 0x61, "avx2 avx512f avx512_vbmi2");
    assert_eq!(design(&zen).as_deref(), Some("Zen 4"));
    assert_eq!(design(&processor("AuthenticAMD", 0x19, 0x21, "avx2 avx512f")), None, "Zen 3 has no AVX-512");
}

#[test]
fn a_counter_that_is_constant_on_some_cpus_only_is_not_invariant() {
    let of = |second: &str| {
        let cpu =
            |number, flags| format!("processor : {number}\\nvendor_id : GenuineIntel\\nflags : {flags}");
        let both = format!("{}\\n\\n{}", cpu(0, "fpu constant_tsc nonstop_tsc"), cpu(1, second));
        let machine = described(&format!("/proc/cpuinfo = {both}\n"), &Described::default());
        machine.processor.tick_counter.invariant
    };
    assert_eq!(of("fpu constant_tsc nonstop_tsc").value(), Some(&true));
    let differ = of("fpu");
    assert_eq!(differ.value(), Some(&false));
    assert!(differ.source().contains("CPU 1"), "{differ:?}");
}

#[test]
fn a_server_with_two_sockets() {
    let host = Described { affinity: (0..128).collect(), ..Described::default() };
    let machine = described(&server(), &host);
    assert_eq!(machine.topology.cores.value().unwrap().len(), 64);
    assert_eq!(machine.topology.packages.value().unwrap().len(), 2);
    assert_eq!(machine.smt_siblings(5), [69]);
    assert_eq!(machine.smt_siblings(69), [5]);
    // Four caches of 32 MiB: the sum, not one of them and not 128 times one.
    assert_eq!(machine.last_level_caches_bytes(), Some(4 * (32 << 20)));
    assert_eq!(machine.data_cache_bytes(127, 2), Some(512 << 10));
    assert_eq!(machine.caches.value().unwrap().len(), 4, "equal caches are one make");
    assert_eq!(machine.numa_nodes().len(), 2);
    assert_eq!(machine.numa_nodes()[1].distances.value().unwrap(), &[32, 10]);
    assert_eq!(machine.numa_nodes()[0].memory_bytes.value(), Some(&(256 << 30)));
    assert!(warned(&machine).contains(&"smt".to_owned()));
    assert_eq!(class_of(&machine, 9), Some("all"));
}

#[test]
fn bandwidth_follows_from_rate_width_and_populated_channels() {
    let eight: Vec<(char, usize)> = "ABCDEFGH".chars().map(|letter| (letter, 1)).collect();
    let machine = described(&modules(&eight), &Described::default());
    let bandwidth = machine.memory.theoretical_bandwidth.value().unwrap();
    // 16 channels at the rate they run at (2933), not the rate the modules could do (3200).
    assert!((bandwidth.bytes_per_second - 2933e6 * 8.0 * 16.0).abs() < 1.0);
    assert_eq!(bandwidth.formula, "2933 MT/s × 8 bytes × 16 channels = 375 GB/s");
    assert!(machine.memory.channels.value().unwrap().is_balanced());
    assert!(!warned(&machine).contains(&"memory-unbalanced".to_owned()));
}

#[test]
fn two_modules_on_a_channel_count_once_and_are_told_as_unbalanced() {
    let machine = described(&modules(&[('A', 2), ('B', 1), ('C', 0)]), &Described::default());
    let channels = machine.memory.channels.value().unwrap();
    assert_eq!(channels.bytes["P0 A"], 64 << 30);
    assert_eq!(channels.empty, ["P0 C", "P1 C"]);
    let bandwidth = machine.memory.theoretical_bandwidth.value().unwrap();
    assert!((bandwidth.bytes_per_second - 2933e6 * 8.0 * 4.0).abs() < 1.0);
    let warned = warned(&machine);
    assert!(warned.contains(&"memory-unbalanced".to_owned()));
    assert!(warned.contains(&"memory-channels-empty".to_owned()));
}

#[test]
fn a_hybrid_laptop_has_caches_per_class_of_cores() {
    let host = Described { affinity: (0..8).collect(), ..Described::default() };
    let machine = described(&hybrid(), &host);
    assert_eq!(machine.data_cache_bytes(0, 1), Some(48 << 10));
    assert_eq!(machine.data_cache_bytes(6, 1), Some(32 << 10));
    assert_eq!(machine.data_cache_bytes(2, 2), Some(1280 << 10));
    assert_eq!(machine.data_cache_bytes(5, 2), Some(2048 << 10));
    assert_eq!(machine.last_level_caches_bytes(), Some(12 << 20));
    assert_eq!([0, 7].map(|cpu| class_of(&machine, cpu)), [Some("performance"), Some("efficiency")]);
    assert_eq!(machine.max_hz(), Some(4.4e9));
    assert_eq!(machine.nominal_hz(), Some(1.3e9));
    assert_eq!(machine.topology.cores.value().unwrap().len(), 6);
    assert!(!machine.is_virtual());
    // The sensor that is not the processor's shows 99 °C, and is not believed.
    assert_eq!(machine.conditions.temperature_celsius.value(), Some(&47.0));
    assert_eq!(
        warned(&machine)[1..],
        ["governor", "turbo", "battery", "smt", "core-classes"].map(str::to_owned)
    );
}

#[test]
fn an_arm_server_without_cpuid() {
    let machine = described(include_str!("../fixtures/machine/arm.txt"), &Described::default());
    assert_eq!(machine.processor.vendor.value().map(String::as_str), Some("Arm"));
    assert_eq!(machine.processor.microarchitecture.value().map(String::as_str), Some("Neoverse N1"));
    assert_eq!(machine.processor.model.value(), Some(&0xd0c));
    assert_eq!(
        machine.processor.model_name.value().map(String::as_str),
        Some("Arm Neoverse N1"),
        "not the board"
    );
    assert_eq!(machine.nominal_hz(), Some(2.5e9));
    assert_eq!(machine.processor.tick_counter.invariant.value(), Some(&true));
    // BogoMIPS is 50 on this machine, which says nothing about any clock.
    assert!(machine.processor.tick_counter.declared_hz.value().is_none());
    assert!(machine.processor.tlbs.reason().unwrap().contains("no instruction"));
    assert_eq!(machine.virtualization.hypervisor.value(), Some(&None));
    assert!(!warned(&machine).contains(&"clocksource".to_owned()));
}

fn container() -> Machine {
    let folder = Folder {
        path: PathBuf::from("/data/work"),
        total_bytes: 20 << 30,
        free_bytes: 9 << 30,
        block_bytes: 4096,
    };
    let host = Described {
        affinity: (0..8).collect(),
        folder: Some(folder),
        counter_errno: libc::EACCES,
        ..Described::default()
    };
    described(include_str!("../fixtures/machine/container.txt"), &host)
}

#[test]
fn a_container_has_the_tightest_limit_of_all_groups_above_it() {
    let machine = container();
    // Our own group allows 4 CPUs, the one above 2.5.
    assert_eq!(machine.cpu_quota(), Some(2.5));
    assert!(machine.conditions.limits.cpu_quota.source().starts_with("/sys/fs/cgroup/… "));
    assert_eq!(machine.conditions.limits.memory_bytes.value(), Some(&Some(512 << 20)));
    // 512 MiB limit, 200 MiB used, 100 MiB of it droppable file cache.
    assert_eq!(machine.available_bytes(), Some(412 << 20));
    assert_eq!(machine.conditions.limits.throttled_periods.value(), Some(&7));
    assert_eq!(machine.conditions.limits.cpuset.value().unwrap().len(), 8);
    assert_eq!(machine.virtualization.container.value(), Some(&Some("Docker".to_owned())));
    assert!(machine.is_virtual());
}

#[test]
fn a_container_is_warned_of_what_disturbs_it_and_of_nothing_else() {
    let machine = container();
    let expected = ["steal", "cpu-quota", "load", "clocksource", "counters"];
    let found: Vec<String> = warned(&machine).into_iter().filter(|id| id != "unoptimised-build").collect();
    assert_eq!(found, expected);
    let counters = machine.warnings().into_iter().find(|warning| warning.id == "counters").unwrap();
    assert!(counters.problem.contains("cycles, instructions"), "{}", counters.problem);
    assert!(counters.remedy.contains("perf_event_paranoid"), "{}", counters.remedy);
}

#[test]
fn the_disk_under_a_folder_is_found_through_mount_and_partition() {
    let machine = container();
    assert_eq!(machine.storage.mount_point.value().map(String::as_str), Some("/data"));
    assert_eq!(machine.storage.file_system.value().map(String::as_str), Some("ext4"));
    let device = machine.storage.device.value().unwrap();
    assert_eq!((device.name.as_str(), device.kind.as_str()), ("nvme0n1", "NVMe solid state"));
    assert_eq!(device.capacity_bytes.value(), Some(&(20 << 30)));
    assert_eq!(device.scheduler.value().map(String::as_str), Some("none"));
}

/// The limits of version 1, whose group lies two levels down and inherits from above.
#[test]
fn version_1_of_control_groups_is_read_too() {
    let table = "\
/proc/meminfo = MemAvailable: 8000000 kB
/proc/self/cgroup = 5:cpu,cpuacct:/a/b\\n4:memory:/a/b\\n1:name=systemd:/x\\n0::/
/proc/self/mountinfo = 1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\\n2 0 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\\n3 0 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us = -1
/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us = 100000
/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us = 150000
/sys/fs/cgroup/cpu/a/cpu.cfs_period_us = 100000
/sys/fs/cgroup/cpu/a/b/cpu.stat = nr_periods 0\\nnr_throttled 0\\nthrottled_time 0
/sys/fs/cgroup/cpu/a/cpu.stat = nr_periods 9\\nnr_throttled 5\\nthrottled_time 1000
/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes = 9223372036854771712
/sys/fs/cgroup/memory/a/memory.limit_in_bytes = 1073741824
/sys/fs/cgroup/memory/a/memory.usage_in_bytes = 73741824
";
    let machine = described(table, &Described::default());
    assert_eq!(machine.cpu_quota(), Some(1.5));
    // Counted where the quota is, one level above our group.
    assert_eq!(machine.conditions.limits.throttled_periods.value(), Some(&5));
    let tree = empty_tree();
    plant(&tree, table);
    let counted = fathom::machine::cpu_stat_path(&Root::new(tree.path()));
    assert_eq!(counted.as_deref(), Some("/sys/fs/cgroup/cpu/a/cpu.stat"));
    assert_eq!(machine.conditions.limits.memory_bytes.value(), Some(&Some(1 << 30)));
    assert_eq!(machine.available_bytes(), Some(1_000_000_000));
}

/// Memory that a process may not map is none that a run can plan with.
#[test]
fn a_limit_on_the_address_space_limits_what_a_run_may_use() {
    let table = "\
/proc/meminfo = MemAvailable: 8000000 kB
/proc/self/status = Name: fathom\\nVmSize:\t   24576 kB
";
    let limits = BTreeMap::from([(Resource::AddressSpace, 512 << 20)]);
    let machine = described(table, &Described { limits, ..Described::default() });
    assert_eq!(machine.available_bytes(), Some((512 - 24) << 20));
    assert_eq!(described(table, &Described::default()).available_bytes(), Some(8_000_000 << 10));
}

/// A hypervisor that names itself and declares the counter's rate in its own leaf.
#[test]
fn a_hypervisor_declares_the_tick_counter() {
    let cpuid = BTreeMap::from([
        ((0, 0), [0x16, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]),
        ((1, 0), [0x0005_0657, 0, 1 << 31, 0]),
        ((0x15, 0), [2, 200, 0, 0]),
        ((0x16, 0), [2200, 3600, 100, 0]),
        ((0x4000_0000, 0), [0x4000_0010, 0x4b4d_564b, 0x564b_4d56, 0x4d]),
        ((0x4000_0010, 0), [2_194_842, 0, 0, 0]),
    ]);
    let host = Described { cpuid, ..Described::default() };
    let machine = described("", &host);
    assert_eq!(machine.virtualization.hypervisor.value(), Some(&Some("KVM".to_owned())));
    assert_eq!(machine.processor.vendor.value().map(String::as_str), Some("GenuineIntel"));
    // The crystal is missing from leaf 0x15, so the hypervisor's word stands.
    assert_eq!(machine.processor.tick_counter.declared_hz.value(), Some(&2.194_842e9));
    assert_eq!(machine.nominal_hz(), Some(2.2e9));
    assert_eq!(machine.processor.maximum_hz.value(), Some(&3.6e9));
    assert_eq!(machine.processor.model.value(), Some(&0x55));
}

#[test]
fn of_an_empty_tree_everything_is_unknown_with_a_reason() {
    let machine = described("", &Described { counter_errno: libc::ENOENT, ..Described::default() });
    let known: Vec<String> = description::sections(&machine)
        .into_iter()
        .filter(|section| section.title != "This program")
        .flat_map(|section| section.rows)
        .filter(|row| !row.unknown)
        .map(|row| row.name)
        .collect();
    // The build target and what the described host answers; nothing of it comes from the tree.
    assert_eq!(known, ["Byte order", "CPUs allowed to us", "Base page"]);
    let empty = description::sections(&machine)
        .into_iter()
        .flat_map(|section| section.rows)
        .find(|row| row.value.is_empty());
    assert_eq!(empty, None);
    let ids: Vec<String> = warned(&machine).into_iter().filter(|id| id != "unoptimised-build").collect();
    assert_eq!(ids, ["counters"]);
    assert_eq!((machine.line_bytes(), machine.page_bytes(), machine.available_bytes()), (64, 4096, None));
}

/// Paths of every fixture, so that garbage stands wherever something is read.
fn all_paths() -> Vec<String> {
    let tables = [
        server(),
        hybrid(),
        include_str!("../fixtures/machine/arm.txt").into(),
        include_str!("../fixtures/machine/container.txt").into(),
    ];
    let more = "\
/proc/config.gz = \n/sys/firmware/dmi/tables/DMI = \n/sys/class/net/eth0/mtu = \n/sys/class/net/eth0/speed = \n\
/sys/class/net/eth0/type = \n/sys/devices/system/edac/mc/mc0/ce_count = \n/sys/devices/system/edac/mc/mc1/ce_count = \n\
/sys/devices/system/edac/mc/mc0/dimm0/size = \n/sys/devices/system/edac/mc/mc0/dimm0/dimm_location = \n\
/proc/swaps = \n/proc/uptime = \n/proc/pressure/io = \n/proc/self/status = \n/proc/cgroups = \n/proc/cmdline = \n\
/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages = \n/sys/kernel/mm/transparent_hugepage/enabled = \n";
    let lines = tables.iter().flat_map(|table| table.lines()).chain(more.lines());
    let mut paths: Vec<String> = lines
        .filter(|line| line.starts_with('/'))
        .filter_map(|line| Some(line.split_once(" =")?.0.to_owned()))
        .collect();
    paths.extend(modules(&[('A', 1)]).split_once(" =").map(|(path, _)| path.to_owned()));
    // Ten CPUs show all there is to see, and keep the test short.
    paths.retain(|path| {
        !path.contains("/cpu/cpu") || path.chars().nth("/sys/devices/system/cpu/cpu0".len()) == Some('/')
    });
    paths.sort();
    paths.dedup();
    paths
}

const GARBAGE: &[&str] = &[
    "",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-1",
    "0",
    "18446744073709551615",
    "0-4294967295",
    "99999999999999999999999",
    "(null)",
    "[",
    "cpu nan inf 1 2 3 4 5 6",
    "a:b:c",
    "0::/../..",
    "MemTotal: 18446744073709551615 kB",
    "E:MEMORY_DEVICE_9_SIZE=-1",
    "1 2 3:4 / / rw - cgroup2 c rw",
    "CapEff: xyz",
    "Seccomp: 9",
    "0x",
    "\u{0}\u{feff}\u{1F600}",
    "max max",
    "10 10 10",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_tree_makes_it_panic_and_every_description_survives_json(
        choice in proptest::collection::vec(0..GARBAGE.len(), 400),
        registers: [u32; 4],
    ) {
        let tree = empty_tree();
        for (index, path) in all_paths().iter().enumerate() {
            let place = place(&tree, path);
            if !place.is_dir() {
                fs::write(place, GARBAGE[choice[index % choice.len()]]).unwrap();
            }
        }
        let leaves = [0, 1, 2, 4, 0x15, 0x16, 0x18, 0x4000_0000, 0x4000_0010, 0x8000_0000, 0x8000_0005, 0x8000_0006, 0x8000_0007,
            0x8000_0008, 0x8000_0019, 0x8000_001d];
        let mut cpuid: BTreeMap<(u32, u32), [u32; 4]> = leaves.iter().map(|leaf| ((*leaf, 0), registers)).collect();
        cpuid.insert((0, 0), [0x20, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]);
        let host = Described { cpuid, ..Described::default() };
        let machine = Machine::from_root(&Root::new(tree.path()), &host, Path::new("/data"));
        let text = serde_json::to_string(&machine).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Machine>(&text).unwrap(), &machine);
        let _ = (machine.warnings(), description::sections(&machine), machine.last_level_caches_bytes());
    }
}
