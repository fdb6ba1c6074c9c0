//! Loops of instructions that not every processor has, and threads that stream on this machine's CPUs.

use crate::tier::{Outcome, Test, beside, skipped};
use fathom::sampling::affinity;
use fathom_experiments::apparatus::memory::stream::arrays::Arrays;
use fathom_experiments::apparatus::memory::stream::filled::Filled;
use fathom_experiments::apparatus::memory::stream::fleet::{Fleet, Task};
use fathom_experiments::apparatus::memory::stream::kernel::{KERNELS, Kernel, Kind};
use std::rc::Rc;
use std::time::Duration;

pub const TESTS: &[Test] = &beside![
    every_kernel_of_an_extension_does_what_its_name_says_to_every_word,
    the_avx_loops_of_report_003_access_every_byte,
    threads_do_one_task_after_the_other_on_the_same_arrays_and_rest_between,
    a_thread_that_cannot_be_pinned_fails_the_fleet,
];

/// The kernels that need an extension which this processor has; those that need none are tested everywhere.
fn of_extensions() -> Outcome<Vec<&'static Kernel>> {
    let kernels: Vec<_> =
        KERNELS.iter().filter(|kernel| kernel.needs.is_some() && kernel.runs_here()).collect();
    if kernels.is_empty() {
        skipped("a processor with an extension that a kernel needs (AVX2)")
    } else {
        Ok(kernels)
    }
}

/// Whether no word differs from its original value.
fn is_as_filled(filled: &Filled) -> bool {
    // SAFETY: inside the memory, which no kernel has now.
    (0..filled.words()).all(|at| unsafe { filled.first().add(at).read_volatile() } == filled.content(at))
}

fn every_kernel_of_an_extension_does_what_its_name_says_to_every_word() -> Outcome {
    let kernels = of_extensions()?;
    let filled = Rc::new(Filled::new(5 << 20, 7).unwrap());
    for kernel in kernels {
        // Five MiB make several pieces of some kinds, one of others; 16 KiB are one page per array of some.
        for total in [16 << 10, 5 << 20] {
            let mut arrays = Arrays::new(kernel, &filled, total).unwrap();
            for _ in 0..6 {
                arrays.pass().unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
                arrays.look();
            }
            let counts = arrays.counts;
            assert_eq!(counts.wrong, 0, "{kernel:?}");
            assert_eq!(counts.looked_at > 0, kernel.kind != Kind::Read, "{kernel:?}");
            assert_eq!(counts.bytes, 6 * arrays.bytes_per_pass());
            drop(arrays);
            assert!(is_as_filled(&filled), "{kernel:?}: what it overwrote is put back for the next");
        }
    }
    Ok(())
}

#[cfg(target_arch = "x86_64")]
fn the_avx_loops_of_report_003_access_every_byte() -> Outcome {
    use fathom::replicate::report_003::memory::streams::{read_avx, write_avx};

    if !is_x86_feature_detected!("avx") {
        return skipped("a processor with AVX");
    }
    let floats: Vec<u8> = (0..16_000).flat_map(|_| 0.5_f32.to_le_bytes()).collect();
    // SAFETY: the processor has the instructions.
    let sum = unsafe { read_avx(&floats) };
    assert!((sum - 8_000.0).abs() < 1e-3, "{sum}");
    let mut array = vec![7_u8; 6_400];
    // SAFETY: the processor has the instructions.
    unsafe { write_avx(&mut array) };
    assert!(array.chunks_exact(4).all(|four| *four == 1.0_f32.to_le_bytes()));
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn the_avx_loops_of_report_003_access_every_byte() -> Outcome {
    skipped("a processor with AVX")
}

fn task(kind: &str) -> Task {
    let kernel = Kernel::find(kind, "8 words unrolled").unwrap();
    Task { kernel, piece_bytes: 16 << 10, pause: 0 }
}

fn threads_do_one_task_after_the_other_on_the_same_arrays_and_rest_between() -> Outcome {
    let cpus = affinity::current();
    let fleet = Rc::new(Fleet::new(&cpus[..cpus.len().min(2)], 64 << 10, 7).unwrap());
    for kind in ["write", "read", "copy", "read"] {
        // Overwritten words are restored, or reading would fail.
        let streaming = fleet.stream(task(kind)).unwrap();
        let (first, begun) = (streaming.bytes().unwrap(), streaming.cpus());
        assert_eq!(begun.len(), cpus.len().min(2));
        while streaming.bytes().unwrap().iter().zip(&first).any(|(now, first)| now <= first) {
            std::thread::yield_now();
        }
        drop(streaming);
        let rested = fleet.bytes().unwrap();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(fleet.bytes().unwrap(), rested, "nothing moves between two tasks");
    }
    Ok(())
}

fn a_thread_that_cannot_be_pinned_fails_the_fleet() -> Outcome {
    assert!(Fleet::new(&[usize::MAX], 4096, 7).is_err());
    Ok(())
}
