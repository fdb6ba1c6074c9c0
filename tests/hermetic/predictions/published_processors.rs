//! Predictions of processors that others have measured are within a factor of two of what is published of them.

use crate::described::planted::{Described, described};
use fathom::experiment::{Dimension, Found, Ground, Known, Point, Prediction};
use fathom::experiments;
use fathom::machine::{Fact, Machine};

/// One CPU of a described processor, with its caches as far as they are told (KiB of the first three levels).
fn processor(info: &str, caches: [u64; 3], more: &str, architecture: Option<&'static str>) -> Machine {
    let mut table =
        format!("/proc/cpuinfo = processor : 0\\n{info}\n/sys/devices/system/cpu/online = 0\n{more}");
    for (index, (kib, kind)) in caches.into_iter().zip(["Data", "Unified", "Unified"]).enumerate() {
        table += &crate::described::planted::cache(0, index, kind, index as u8 + 1, kib, "0");
    }
    let host = Described {
        affinity: vec![0],
        release: architecture.map(|_| "6.8.0"),
        architecture: architecture.unwrap_or("x86_64"),
        ..Described::default()
    };
    described(&table, &host)
}

/// A processor at so many hertz, with what others have published of it: point, experiment and nanoseconds.
type Published = (&'static str, Machine, f64, Vec<(Point, &'static str, f64)>);

fn published() -> Vec<Published> {
    let flags = "fpu avx2 avx512f avx512_vbmi2";
    let zen = format!("vendor_id : AuthenticAMD\\ncpu family : 25\\nmodel : 97\\nflags : {flags}");
    let tiles = "avx_vnni avx512_fp16 amx_tile";
    let guest = format!(
        "vendor_id : GenuineIntel\\ncpu family : 6\\nmodel : 167\\nflags : {flags} {tiles} hypervisor"
    );
    let arm = "CPU implementer : 0x41\\nCPU architecture: 8\\nCPU variant : 0x3\\nCPU part : 0xd0c\\nCPU revision : 1";
    let mib = |mib: u64| mib << 20;
    vec![
        (
            "a desktop of Zen 4 at 5.5 GHz: Chips and Cheese, AMD's Zen 4 (2022)",
            processor(&zen, [32, 1024, 32768], "", None),
            5.5e9,
            vec![
                (chase(16 << 10), LATENCY, 0.73),
                (chase(512 << 10), LATENCY, 2.5),
                (chase(mib(8)), LATENCY, 9.0),
                (chase(mib(256)), LATENCY, 75.0),
                (arithmetic("double-add"), "cpu/arithmetic", 0.55),
                (round("memory"), "cpu/loop_overhead", 1024.0 * 0.22),
            ],
        ),
        (
            "a guest on Sapphire Rapids that hides its model, at 3.5 GHz: Chips and Cheese (2023), its L3 of 105 MiB shared",
            processor(&guest, [48, 2048, 107_520], "", None),
            3.5e9,
            vec![
                (chase(16 << 10), LATENCY, 1.43),
                (chase(512 << 10), LATENCY, 4.3),
                (chase(mib(256)), LATENCY, 130.0),
                (arithmetic("double-add"), "cpu/arithmetic", 0.57),
                (round("memory"), "cpu/loop_overhead", 1024.0 * 0.4),
            ],
        ),
        (
            "a server of Neoverse N1 at 2.5 GHz: AnandTech, Graviton2 (2020)",
            processor(arm, [64, 1024, 32768], "", Some("aarch64")),
            2.5e9,
            vec![
                (chase(16 << 10), LATENCY, 1.6),
                (chase(512 << 10), LATENCY, 4.4),
                (chase(mib(16)), LATENCY, 29.0),
                (chase(mib(256)), LATENCY, 96.0),
                (arithmetic("double-add"), "cpu/arithmetic", 0.8),
            ],
        ),
    ]
}

const LATENCY: &str = "memory/load_latency";

/// Of an experiment the point whose parameters have these values, in the words of the run file.
fn point(experiment: &str, machine: &Machine, wanted: &[(&str, String)]) -> Point {
    let has = |point: &Point| {
        wanted.iter().all(|(name, value)| point.get(name).is_some_and(|found| found.to_string() == *value))
    };
    experiments::find(experiment).unwrap().sweep(machine).into_iter().find(has).unwrap()
}

fn chase(size: u64) -> Point {
    let wanted =
        [("order", "random cycle".to_owned()), ("pages", "huge".to_owned()), ("size", size.to_string())];
    point(LATENCY, &crate::described::machine(), &wanted)
}

fn arithmetic(instruction: &str) -> Point {
    let wanted = [("instruction", instruction.to_owned()), ("chains", "1".to_owned())];
    point("cpu/arithmetic", &crate::described::machine(), &wanted)
}

fn round(form: &str) -> Point {
    let wanted = [("form", form.to_owned()), ("iterations", "1024".to_owned())];
    point("cpu/loop_overhead", &crate::described::machine(), &wanted)
}

#[test]
fn predictions_are_within_a_factor_of_two_of_what_is_published_of_processors() {
    for (name, machine, hertz, figures) in published() {
        let known = Known::new(&machine, Some(hertz));
        for (point, experiment, measured) in figures {
            let said = experiments::find(experiment).unwrap().predict(&point, &known).unwrap();
            let factor = measured / said.total();
            assert!(
                (0.5..=2.0).contains(&factor),
                "{name}: {experiment} {point}: {measured} ns, {factor:.2} × {said:#?}"
            );
        }
    }
}

#[test]
fn a_guest_counts_on_its_own_cores_share_of_the_last_cache() {
    let of = |flags: &str| {
        let info = format!("vendor_id : GenuineIntel\\ncpu family : 6\\nmodel : 143\\nflags : fpu {flags}");
        let machine = processor(&info, [48, 2048, 262_144], "", None);
        let known = Known::new(&machine, Some(3e9));
        experiments::find(LATENCY).unwrap().predict(&chase(64 << 20), &known).unwrap().total()
    };
    let (host, guest) = (of("amx_tile"), of("amx_tile hypervisor"));
    assert!(
        guest > 2.0 * host,
        "64 MiB are in the host's L3 of 256 MiB ({host}), a guest's CPU has 4 of them ({guest})"
    );
}

#[test]
fn getppid_is_a_call_and_two_mode_switches_and_what_isolation_adds() {
    let of = |meltdown: &str| {
        let more = format!("/sys/devices/system/cpu/vulnerabilities/meltdown = {meltdown}\n");
        let machine = processor("vendor_id : GenuineIntel\\nflags : fpu", [32, 256, 8192], &more, None);
        let point = point("cpu/system_call", &machine, &[("call", "getppid".to_owned())]);
        experiments::find("cpu/system_call")
            .unwrap()
            .predict(&point, &Known::new(&machine, Some(2e9)))
            .unwrap()
    };
    let (bare, isolated) = (of("Not affected"), of("Mitigation: PTI"));
    assert!([&bare, &isolated].map(Prediction::ground) == [Ground::Independent; 2]);
    let (bare, isolated) = (bare.total(), isolated.total());
    assert!((105.0 - bare).abs() < 1e-9, "4 + 200 cycles of half a nanosecond, and 3 ns of work: {bare}");
    assert!((isolated - bare - 100.0).abs() < 1e-9, "two changes of CR3 of 100 cycles: {isolated}");
}

#[test]
fn what_instructions_take_is_measured_where_that_is_known() {
    let mut machine = processor("vendor_id : GenuineIntel\\nflags : fpu", [32, 256, 8192], "", None);
    let wanted = [("form", "spilled".to_owned()), ("arguments", "7".to_owned())];
    let call = point("cpu/procedure_call", &machine, &wanted);
    let of = |machine: &Machine| {
        experiments::find("cpu/procedure_call")
            .unwrap()
            .predict(&call, &Known::new(machine, Some(1e9)))
            .unwrap()
    };
    let assumed = of(&machine).total();
    machine.processor.cycles_per_instruction = Fact::known(0.5, "a test");
    let measured = of(&machine).total();
    assert!(
        (assumed - 26.0 / 4.0).abs() < 1e-9,
        "26 instructions, four in a cycle of a nanosecond: {assumed}"
    );
    assert!((measured - 26.0 * 0.5).abs() < 1e-9, "26 instructions of half a cycle: {measured}");
}

/// The predictions of points that are one operation, whatever experiment times it.
#[test]
fn one_operation_has_one_prediction() {
    let machine = crate::described::machine();
    let mut known = Known::new(&machine, Some(2e9));
    let call = |name: &str| point("cpu/system_call", &machine, &[("call", name.to_owned())]);
    let total = |experiment: &str, point: &Point, known: &Known| {
        experiments::find(experiment).unwrap().predict(point, known).unwrap().total()
    };
    known.learn(
        "cpu/system_call",
        &call("getppid"),
        Found::exact(400.0, Dimension::Of(fathom::quantity::Unit::Nanoseconds)),
    );
    let bare = total("cpu/system_call", &call("getppid"), &known);
    for name in ["getpid", "getpid by library", "getppid, one by one"] {
        assert!((total("cpu/system_call", &call(name), &known) - bare).abs() < 1e-9, "{name}");
    }
    for way in ["library", "syscall"] {
        let wanted = [("measure", "cost".to_owned()), ("reading", format!("monotonic by {way}"))];
        let clock = point("cpu/timing_overhead", &machine, &wanted);
        let one = total("cpu/timing_overhead", &clock, &known);
        let other = total("cpu/system_call", &call(&format!("clock_gettime by {way}")), &known);
        assert!((one - other).abs() < 1e-9, "{way}: {one} and {other}");
    }
}
