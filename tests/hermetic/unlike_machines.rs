//! Machines unlike the usual one: how they are described, where work runs on them, and what is planned.

use crate::described::planted::{Described, described, hybrid, server};
use fathom::experiment::{Effort, Experiment, Point, SweepOptions};
use fathom::experiments;
use fathom::machine::{Machine, Nearness, Resource};
use fathom::plan::{self, Cpus};
use fathom::record::PlannedPoint;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

fn on(table: &str, affinity: impl IntoIterator<Item = usize>) -> Machine {
    described(table, &Described { affinity: affinity.into_iter().collect(), ..Described::default() })
}

fn planned(machine: &Machine, effort: Effort, asked: &SweepOptions) -> Vec<PlannedPoint> {
    let all: Vec<&'static dyn Experiment> = experiments::all().collect();
    plan::points(&all, machine, effort, asked)
}

type Pairs = BTreeSet<(u64, u64)>;

/// The pairs of CPUs in a plan: all, and those that are measured.
fn pairs(plan: &[PlannedPoint]) -> (Pairs, Pairs) {
    let number = |point: &Point, name: &str| point.get(name).and_then(|value| value.to_string().parse().ok());
    let pair =
        |planned: &PlannedPoint| Some((number(&planned.point, "from")?, number(&planned.point, "to")?));
    let of = |wanted: &dyn Fn(&PlannedPoint) -> bool| {
        let mine = plan.iter().filter(|planned| planned.experiment == "cpu/core_to_core" && wanted(planned));
        mine.filter_map(pair).collect::<BTreeSet<_>>()
    };
    (of(&|_| true), of(&|planned| planned.skip.is_none()))
}

/// What holds on every machine.
fn is_planned_soundly(machine: &Machine) {
    for effort in [Effort::Quick, Effort::Standard] {
        let plan = planned(machine, effort, &SweepOptions { seed: 7, ..SweepOptions::default() });
        assert!(plan.len() < 3_000, "{} points", plan.len());
        assert!(plan.iter().all(|planned| planned.skip.as_ref().is_none_or(|reason| reason.len() > 10)));
        for family in ["cpu/", "memory/", "network/", "filesystem/"] {
            let measured =
                |planned: &&PlannedPoint| planned.experiment.starts_with(family) && planned.skip.is_none();
            assert!(plan.iter().filter(measured).count() > 3, "{family} at {effort:?}");
        }
    }
    let cpus = plan::choose(machine, None).unwrap();
    let allowed = machine.allowed_cpus();
    let others = [cpus.partner, cpus.other_package].into_iter().flatten();
    assert!(others.chain([cpus.home]).all(|cpu| allowed.contains(&cpu)), "{cpus:?}");
    assert!(!machine.warnings().iter().any(|warning| warning.problem.is_empty()));
}

#[test]
fn one_cpu_has_no_pair_and_says_so() {
    let machine = on("/sys/devices/system/cpu/online = 0\n/proc/meminfo = MemAvailable: 2000000 kB\n", [0]);
    assert_eq!(plan::choose(&machine, None), Ok(Cpus { home: 0, partner: None, other_package: None }));
    let plan = planned(&machine, Effort::Quick, &SweepOptions::default());
    let pair = plan.iter().find(|planned| planned.experiment == "cpu/core_to_core").unwrap();
    assert!(pair.skip.as_ref().unwrap().contains("needs 2 CPUs"), "{:?}", pair.skip);
    is_planned_soundly(&machine);
}

#[test]
fn on_two_sockets_the_partner_is_near_and_the_other_socket_has_rows_of_its_own() {
    let machine = on(&server(), 0..128);
    let cpus = plan::choose(&machine, None).unwrap();
    assert_eq!(cpus, Cpus { home: 1, partner: Some(2), other_package: Some(32) });
    let plan = planned(&machine, Effort::Quick, &SweepOptions::default());
    let far = |planned: &&PlannedPoint| planned.point.placement().name() == "across-packages";
    assert_eq!(plan.iter().filter(far).count(), 2, "a hand-over between processes and one between threads");
    let one_socket = planned(&on(&server(), 0..32), Effort::Quick, &SweepOptions::default());
    assert_eq!(one_socket.iter().filter(far).count(), 0);
    is_planned_soundly(&machine);
}

#[test]
fn sockets_that_firmware_numbers_in_turn_do_not_make_the_partner_a_stranger() {
    let mut table = String::from("/sys/devices/system/cpu/online = 0-7\n");
    for cpu in 0..8 {
        let topology = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        let package = if cpu % 2 == 0 { "0,2,4,6" } else { "1,3,5,7" };
        writeln!(table, "{topology}/thread_siblings_list = {cpu}").unwrap();
        writeln!(table, "{topology}/core_siblings_list = {package}").unwrap();
    }
    let cpus = |affinity: &[usize]| plan::choose(&on(&table, affinity.to_vec()), None).unwrap();
    assert_eq!(cpus(&[0, 1, 2, 3, 4, 5, 6, 7]), Cpus { home: 1, partner: Some(3), other_package: Some(0) });
    assert_eq!(cpus(&[0, 1, 6]), Cpus { home: 1, partner: Some(6), other_package: Some(0) });
}

#[test]
fn of_many_cpus_the_pairs_are_a_sample_and_every_pair_on_request() {
    let machine = on(&server(), 0..128);
    let plan = |effort, seed, every_pair| {
        pairs(&planned(&machine, effort, &SweepOptions { seed, every_pair, ..SweepOptions::default() }))
    };
    let (all, quick) = plan(Effort::Quick, 1, false);
    assert_eq!((all.len(), quick.len()), (120, 15));
    assert!(quick.iter().all(|(from, _)| *from == 0));
    let kind = |pair: &(u64, u64)| machine.nearness(pair.0 as usize, pair.1 as usize);
    let kinds: BTreeSet<Nearness> = quick.iter().map(kind).collect();
    assert_eq!(kinds.len(), 4, "a core's threads, one cache, one node, two packages: {kinds:?}");
    let first_of_each = [(0, 1), (0, 16), (0, 32), (0, 64)];
    for seed in [2, 3] {
        let (other, of_first) = plan(Effort::Quick, seed, false);
        assert!(first_of_each.iter().all(|pair| of_first.contains(pair)), "runs can be compared by these");
        assert_ne!(other, all, "the rest is drawn from the seed");
    }
    assert_eq!(plan(Effort::Standard, 1, false).1, all);
    assert_eq!(plan(Effort::Thorough, 1, true).1.len(), 128 * 127 / 2);
}

/// The points of `cpu/contention` that a run measures, by their number of threads.
fn contended(machine: &Machine, effort: Effort) -> BTreeMap<u64, usize> {
    let plan = planned(machine, effort, &SweepOptions::default());
    let measured = plan
        .iter()
        .filter(|planned| planned.experiment == "cpu/contention" && planned.skip.is_none())
        .filter_map(|planned| planned.point.number_of("threads"));
    measured.fold(BTreeMap::new(), |mut counts, threads| {
        *counts.entry(threads).or_default() += 1;
        counts
    })
}

#[test]
fn threads_contend_from_one_to_all_and_never_more_than_there_are_cpus() {
    for cpus in [2, 64, 128] {
        let machine = on(&server(), 0..cpus as usize);
        let counts: Vec<u64> = contended(&machine, Effort::Standard).into_keys().collect();
        let doubled: Vec<u64> = (0..64).map(|power| 1 << power).take_while(|count| *count <= cpus).collect();
        assert_eq!(counts, doubled, "{cpus} CPUs");
        let quick = contended(&machine, Effort::Quick);
        assert_eq!(quick, BTreeMap::from([(1, 3), (cpus, 5)]), "eight points, whatever the machine");
    }
    let one = on("/sys/devices/system/cpu/online = 0\n/proc/meminfo = MemAvailable: 2000000 kB\n", [0]);
    assert_eq!(contended(&one, Effort::Standard).into_keys().collect::<Vec<_>>(), [1]);
    let plan = planned(&one, Effort::Standard, &SweepOptions::default());
    for name in ["cpu/contention", "cpu/false_sharing", "cpu/spin_or_sleep"] {
        let is_skipped = |planned: &&PlannedPoint| {
            planned.experiment == name
                && planned.skip.as_ref().is_some_and(|reason| reason.contains("needs 2 CPUs"))
        };
        assert!(plan.iter().any(|planned| is_skipped(&planned)), "{name}: two threads are skipped in words");
    }
}

#[test]
fn in_a_cpuset_the_first_cpu_is_the_first_that_is_allowed() {
    let machine = on(&server(), 32..48);
    assert_eq!(
        plan::choose(&machine, None).unwrap(),
        Cpus { home: 32, partner: Some(33), other_package: None }
    );
    let (all, quick) = pairs(&planned(&machine, Effort::Quick, &SweepOptions::default()));
    assert_eq!(all.len(), 120);
    assert_eq!(quick, (33..48).map(|to| (32, to)).collect());
    is_planned_soundly(&machine);
}

/// A laptop whose efficiency cores come first, without a frequency driver.
fn efficiency_first() -> String {
    let mut table = String::from(
        "/sys/devices/system/cpu/online = 0-7\n/sys/devices/cpu_core/cpus = 4-7\n/sys/devices/cpu_atom/cpus = 0-3\n\
         /proc/meminfo = MemAvailable: 8000000 kB\n",
    );
    for cpu in 0..8 {
        writeln!(table, "/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list = {cpu}").unwrap();
        writeln!(table, "/sys/devices/system/cpu/cpu{cpu}/topology/core_siblings_list = 0-7").unwrap();
    }
    table
}

#[test]
fn the_order_of_classes_is_used_without_a_frequency_driver_too() {
    let cpuid = |megahertz| BTreeMap::from([((0, 0), [0x16, 0, 0, 0]), ((0x16, 0), [megahertz, 0, 0, 0])]);
    let host = Described {
        affinity: (0..8).collect(),
        cpuid_of: (0..8).map(|cpu| (cpu, cpuid(if cpu < 4 { 1_500 } else { 2_600 }))).collect(),
        cpuid: cpuid(1_500),
        ..Described::default()
    };
    let machine = described(&efficiency_first(), &host);
    assert_eq!(plan::choose(&machine, None).unwrap().home, 4);
    assert_eq!((machine.processor.cpu, machine.measured_cpu()), (Some(4), 4));
    assert_eq!(machine.nominal_hz(), Some(2.6e9), "CPUID is asked on the core that is measured");
    assert_eq!(
        plan::choose(&machine, Some(1)).unwrap(),
        Cpus { home: 1, partner: Some(2), other_package: None }
    );
    is_planned_soundly(&machine);
}

#[test]
fn big_arm_cores_are_known_by_their_capacity() {
    let mut table = efficiency_first().replace("/sys/devices/cpu_", "/elsewhere/cpu_");
    for cpu in 0..8 {
        let capacity = if cpu < 6 { 446 } else { 1024 };
        writeln!(table, "/sys/devices/system/cpu/cpu{cpu}/cpu_capacity = {capacity}").unwrap();
    }
    let machine = on(&table, 0..8);
    assert_eq!(
        plan::choose(&machine, None).unwrap(),
        Cpus { home: 6, partner: Some(7), other_package: None }
    );
}

#[test]
fn a_hybrid_laptop_is_described_by_the_core_that_is_measured() {
    let machine = on(&hybrid(), 0..8);
    let cpus = plan::choose(&machine, None).unwrap();
    assert_eq!(cpus, Cpus { home: 1, partner: Some(2), other_package: None }, "no thread of the same core");
    let efficient = on(&hybrid(), 4..8);
    assert_eq!(efficient.measured_cpu(), 4);
    assert_eq!(efficient.data_cache_bytes(efficient.measured_cpu(), 1), Some(32 << 10));
    is_planned_soundly(&machine);
}

#[test]
fn cpus_that_are_offline_are_not_used() {
    let online: String = server()
        .lines()
        .filter(|line| !line.contains("/cpu2/") && !line.contains("/cpu3/"))
        .fold(String::new(), |table, line| {
            table + &line.replace("online = 0-127", "online = 0-1,4-127") + "\n"
        });
    let machine = on(&online, [0, 1].into_iter().chain(4..128));
    assert_eq!(plan::choose(&machine, None).unwrap().partner, Some(4));
    assert_eq!(plan::choose(&machine, Some(2)).unwrap_err().split_whitespace().nth(1), Some("2"));
    is_planned_soundly(&machine);
}

#[test]
fn without_sys_or_behind_a_masked_proc_work_has_its_place() {
    let no_sys = "/proc/cpuinfo = processor : 0\\nvendor_id : GenuineIntel\\n\\nprocessor : 1\\nvendor_id : GenuineIntel\n\
                  /proc/meminfo = MemTotal: 4000000 kB\\nMemAvailable: 2000000 kB\n";
    let masked: String = server()
        .lines()
        .filter(|line| line.starts_with("/sys"))
        .fold(String::new(), |table, line| table + line + "\n");
    for (table, cpus) in [(no_sys.to_owned(), 2), (masked, 128)] {
        let machine = on(&table, 0..cpus);
        assert_eq!(plan::choose(&machine, None).unwrap().home, 1);
        is_planned_soundly(&machine);
    }
    assert_eq!(on(no_sys, 0..2).nearness(0, 1), Nearness::Package, "nothing tells them apart");
}

#[test]
fn old_kernels_are_described() {
    for release in ["4.19.0-27-amd64", "5.4.0-216-generic"] {
        let host = Described { affinity: vec![0, 1], release: Some(release), ..Described::default() };
        let machine = described(
            "/sys/devices/system/cpu/online = 0-1\n/proc/meminfo = MemTotal: 900000 kB\\nMemFree: 500000 kB\n",
            &host,
        );
        assert_eq!(machine.kernel.release.value().map(String::as_str), Some(release));
        is_planned_soundly(&machine);
    }
}

#[test]
fn half_a_gigabyte_or_a_limit_of_as_much_leaves_out_what_is_larger() {
    let small = on("/proc/meminfo = MemTotal: 500000 kB\\nMemAvailable: 400000 kB\n", [0, 1]);
    let host = Described {
        affinity: vec![0, 1],
        limits: BTreeMap::from([(Resource::AddressSpace, 400_000 << 10), (Resource::OpenFiles, 64)]),
        ..Described::default()
    };
    let limited = described("/proc/meminfo = MemTotal: 64000000 kB\\nMemAvailable: 60000000 kB\n", &host);
    for machine in [&small, &limited] {
        assert_eq!(machine.available_bytes(), Some(400_000 << 10));
        let plan = planned(machine, Effort::Standard, &SweepOptions::default());
        let left_out = |planned: &&PlannedPoint| {
            planned.skip.as_ref().is_some_and(|reason| reason.contains("MiB available"))
        };
        assert!(plan.iter().filter(left_out).count() > 5);
        is_planned_soundly(machine);
    }
    assert!(limited.conditions.available_bytes.source().contains("RLIMIT_AS"));
}

/// A virtual machine on Arm without firmware tables shows itself by its board alone.
#[test]
fn a_virtual_board_is_a_hypervisors() {
    let table = include_str!("../fixtures/machine/arm.txt");
    let bare: String =
        table.lines().filter(|line| !line.contains("/dmi/")).map(|line| format!("{line}\n")).collect();
    let hypervisor = |table: &str| on(table, 0..4).virtualization.hypervisor.value().cloned();
    assert_eq!(hypervisor(&bare), None, "nothing tells");
    let virtual_board = format!("{bare}/sys/firmware/devicetree/base/compatible = linux,dummy-virt\n");
    assert_eq!(hypervisor(&virtual_board), Some(Some("an unnamed hypervisor".to_owned())));
}

#[test]
fn arm_with_caches_of_the_device_tree_alone() {
    let mut table = include_str!("../fixtures/machine/arm.txt").to_owned();
    // What the kernel shows of a device tree that names levels and sharing, and sizes of the first level only.
    for cpu in 0..4 {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
        writeln!(table, "{folder}/index0/type = Data\n{folder}/index0/level = 1\n{folder}/index0/size = 64K")
            .unwrap();
        writeln!(table, "{folder}/index0/shared_cpu_list = {cpu}").unwrap();
        writeln!(table, "{folder}/index1/type = Unified\n{folder}/index1/level = 2").unwrap();
        writeln!(table, "{folder}/index1/shared_cpu_list = 0-3").unwrap();
    }
    let machine = on(&table, 0..4);
    assert_eq!(machine.data_cache_bytes(1, 1), Some(64 << 10));
    assert_eq!((machine.data_cache_bytes(1, 2), machine.last_level(1)), (None, Some(2)));
    assert_eq!(machine.nearness(1, 2), Nearness::Cache);
    is_planned_soundly(&machine);
}

#[test]
fn strides_reach_memory_behind_any_last_cache_by_default() {
    for mib in [8, 32, 480] {
        let table = (0..3).map(|level| {
            let kib = [48, 2048, mib << 10][level];
            crate::described::planted::cache(
                0,
                level,
                if level == 0 { "Data" } else { "Unified" },
                level as u8 + 1,
                kib,
                "0",
            )
        });
        let memory =
            "/sys/devices/system/cpu/online = 0\n/proc/meminfo = MemAvailable: 20000000 kB\n".to_owned();
        let machine = on(&(memory + &table.collect::<String>()), [0]);
        let plan = planned(&machine, Effort::Standard, &SweepOptions::default());
        let strided = |planned: &&PlannedPoint| {
            planned.skip.is_none()
                && planned.point.get("order").is_some_and(|order| order.to_string() == "fixed stride")
        };
        let size = |point: &Point| point.get("size").unwrap().to_string().parse::<u64>().unwrap();
        let largest = plan.iter().filter(strided).map(|planned| size(&planned.point)).max().unwrap();
        assert!(largest >= 2 * (mib << 20), "{mib} MiB, and strides over {largest} bytes at most");
    }
}

/// The processor of a table, with this word of CPUID.
#[cfg(target_arch = "x86_64")]
fn with_instructions(table: &str, cpuid: impl IntoIterator<Item = ((u32, u32), [u32; 4])>) -> Machine {
    let cpuid = cpuid.into_iter().collect();
    described(table, &Described { affinity: (0..4).collect(), cpuid, ..Described::default() })
}

/// The methods of an experiment that are measured, and the reasons of those that are not.
#[cfg(target_arch = "x86_64")]
fn methods(machine: &Machine, experiment: &str) -> (BTreeSet<String>, BTreeMap<String, String>) {
    let plan = planned(machine, Effort::Thorough, &SweepOptions::default());
    let (mut measured, mut skipped) = (BTreeSet::new(), BTreeMap::new());
    for planned in plan.iter().filter(|planned| planned.experiment == experiment) {
        let method = planned.point.get("method").unwrap().to_string();
        match &planned.skip {
            Some(reason) => drop(skipped.insert(method, reason.clone())),
            None => drop(measured.insert(method)),
        }
    }
    (measured, skipped)
}

/// What is planned with the vectors of a processor that has none wider than `widest`, wherever the plan is made: the streams
/// that need wider ones are skipped with the name of what is missing, and the widest others are the reference.
#[cfg(target_arch = "x86_64")]
fn streams_with(machine: &Machine, widest: &str, missing: &[(&str, &str)]) {
    for experiment in ["memory/bandwidth", "memory/parallel_bandwidth"] {
        let (measured, skipped) = methods(machine, experiment);
        assert!(measured.contains(widest), "{experiment}: {measured:?}");
        let lacks = |method: &str| missing.iter().find(|(prefix, _)| method.starts_with(prefix));
        assert!(!measured.iter().any(|method| lacks(method).is_some()), "{experiment}: {measured:?}");
        for (method, reason) in &skipped {
            let (_, needed) = lacks(method).unwrap_or_else(|| panic!("{experiment} {method}: {reason}"));
            assert!(reason.contains(&format!("the instructions called {needed},")), "{method}: {reason}");
        }
    }
    let sweep = experiments::find("memory/bandwidth").unwrap().sweep(machine);
    assert_eq!(sweep[0].get("method").unwrap().to_string(), widest, "the reference is measured first");
    is_planned_soundly(machine);
}

/// CPUID leaf 7, subleaf 0, EBX: the bit of AVX-512 Foundation (Intel SDM, volume 2, CPUID).
#[cfg(target_arch = "x86_64")]
const AVX512F: [u32; 4] = [1, 1 << 16, 0, 0];

#[cfg(target_arch = "x86_64")]
#[test]
fn without_avx2_streams_have_vectors_of_sixteen_bytes() {
    let machine = with_instructions(include_str!("../fixtures/machine/no_avx2.txt"), []);
    assert_eq!(machine.processor.microarchitecture.value().map(String::as_str), Some("Westmere"));
    streams_with(&machine, "sse", &[("avx2", "avx2"), ("avx512", "avx512f")]);
    let (_, skipped) = methods(&machine, "memory/bandwidth");
    assert!(skipped.contains_key("avx2") && skipped.contains_key("avx512 non-temporal"), "{skipped:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512_that_the_kernel_does_not_list_is_not_used_though_the_processor_shows_it() {
    let cpuid = [((0, 0), [0x16, 0, 0, 0]), ((7, 0), AVX512F)];
    let machine = with_instructions(include_str!("../fixtures/machine/avx512_masked.txt"), cpuid);
    streams_with(&machine, "avx2", &[("avx512", "avx512f")]);
    assert!(methods(&machine, "memory/bandwidth").1.contains_key("avx512"));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx10_has_the_streams_of_avx512_where_its_vectors_are_as_wide_and_else_those_of_avx2() {
    let table = include_str!("../fixtures/machine/avx10.txt");
    // Leaf 7.1, EDX bit 19: AVX10; leaf 0x24, EBX: its version, and bits 16 to 18 for vectors of 128, 256 and 512 bits.
    let avx10 = |widths: u32, leaf_7| {
        [
            ((0, 0), [0x24, 0, 0, 0]),
            ((7, 0), leaf_7),
            ((7, 1), [0, 0, 0, 1 << 19]),
            ((0x24, 0), [0, 2 | widths << 16, 0, 0]),
        ]
    };
    let wide = with_instructions(table, avx10(0b111, AVX512F));
    streams_with(&wide, "avx512", &[]);
    assert!(methods(&wide, "memory/bandwidth").1.is_empty());
    // Converged vectors of 256 bits alone have no flag of AVX-512.
    let narrow: String =
        table.split(' ').filter(|word| !word.starts_with("avx512")).collect::<Vec<_>>().join(" ");
    let narrow = with_instructions(&narrow, avx10(0b011, [1, 0, 0, 0]));
    streams_with(&narrow, "avx2", &[("avx512", "avx512f")]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_processor_without_rdtscp_has_no_readings_that_execute_it() {
    let table = include_str!("../fixtures/machine/no_avx2.txt").replace(" rdtscp", "");
    let plan = planned(&with_instructions(&table, []), Effort::Thorough, &SweepOptions::default());
    let readings = plan.iter().filter(|planned| planned.experiment == "cpu/timing_overhead");
    let (with, without): (Vec<&PlannedPoint>, _) =
        readings.partition(|planned| planned.point.get("reading").unwrap().to_string().contains("rdtscp"));
    assert!(!with.is_empty() && without.iter().any(|planned| planned.skip.is_none()));
    for planned in with {
        assert!(planned.skip.as_ref().is_some_and(|reason| reason.contains("called rdtscp")), "{planned:?}");
    }
}
