//! The machine of unit tests: described, never asked, so that no test depends on the machine it runs on. The tests of other
//! crates have it from `fathom-described`.

use std::fmt::Write;
use std::path::Path;
use std::sync::OnceLock;

use super::{Host, Machine, Root};

/// A host that may use four CPUs and can be asked nothing else.
struct FourCpus;

impl Host for FourCpus {
    fn affinity(&self) -> Result<Vec<usize>, String> {
        Ok(vec![0, 1, 2, 3])
    }
}

/// Level, kind, KiB and CPUs of the caches of one CPU.
fn caches(cpu: usize) -> [(u8, &'static str, u64, String); 3] {
    [
        (1, "Data", 32, cpu.to_string()),
        (2, "Unified", 1024, cpu.to_string()),
        (3, "Unified", 16 << 10, "0-3".to_owned()),
    ]
}

/// Four cores with AVX2 and without AVX-512, three levels of caches, and 16 GB of memory.
///
/// # Panics
/// If there is no place for temporary files.
pub fn machine() -> Machine {
    static DESCRIBED: OnceLock<Machine> = OnceLock::new();
    let planted = || {
        let tree = tempfile::tempdir().expect("a folder for temporary files");
        plant(tree.path());
        Machine::from_root(&Root::new(tree.path()), &FourCpus, Path::new("/nowhere"))
    };
    DESCRIBED.get_or_init(planted).clone()
}

fn plant(tree: &Path) {
    let write = |path: &str, text: &str| {
        let path = tree.join(path);
        std::fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder of the tree");
        std::fs::write(path, text).expect("a file of the tree");
    };
    let mut processors = String::new();
    for cpu in 0..4 {
        let flags = "fpu sse4_2 avx avx2 erms rdtscp constant_tsc nonstop_tsc";
        write!(processors, "processor : {cpu}\nvendor_id : AuthenticAMD\nflags : {flags}\n\n")
            .expect("a text");
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        write(&format!("{folder}/topology/thread_siblings_list"), &cpu.to_string());
        write(&format!("{folder}/topology/core_siblings_list"), "0-3");
        for (index, (level, kind, kib, shared)) in caches(cpu).into_iter().enumerate() {
            let cache = |name: &str, text: &str| write(&format!("{folder}/cache/index{index}/{name}"), text);
            cache("level", &level.to_string());
            cache("type", kind);
            cache("size", &format!("{kib}K"));
            cache("shared_cpu_list", &shared);
            cache("coherency_line_size", "64");
            cache("ways_of_associativity", "8");
            cache("number_of_sets", &(kib * 1024 / 64 / 8).to_string());
        }
    }
    write("proc/cpuinfo", &processors);
    write("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n");
    write("sys/devices/system/cpu/online", "0-3");
}
