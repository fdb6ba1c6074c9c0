//! Section 4.2: memory bandwidth, reading and writing.

use super::streams;
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Found, Known, Placement, Point, Requirement, ensure};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_equipment::test_file::Aligned;
use std::time::{Duration, Instant};

const LOOPS: Method = Method {
    name: "memory bandwidth",
    text: "A loop reads one whole array char by char and asserts that the sum is not 0; a loop that was compiled separately writes it; \
           memset() writes it. The result is bytes divided by seconds, by the system's nanosecond clock.",
    differs: DIFFERS,
    placement: Placement::OneCpu,
    needs: &[Requirement::MemoryBytes(QUICK_BYTES as u64)],
    limit: Duration::from_mins(2),
    measure: loops,
};

const AVX: Method = Method {
    name: "memory bandwidth, AVX",
    text: "A loop reads one whole array, adding every 32 bytes to one vector of sums by _mm256_add_ps; another writes it by stores of 32 \
           bytes. The result is bytes divided by seconds, by the system's nanosecond clock.",
    differs: DIFFERS,
    placement: Placement::OneCpu,
    needs: &[
        Requirement::Architecture(&["x86_64"]),
        Requirement::Instructions("avx"),
        Requirement::MemoryBytes(QUICK_BYTES as u64),
    ],
    limit: Duration::from_mins(2),
    measure: avx,
};

const DIFFERS: &str = "The report prints neither the size of the array nor the number of passes: here 512 MiB (with --quick 256 MiB) and \
                       ten passes. Fathom's compiler translates the loops; like the report's compiler at -O3, it vectorises them.";

const BYTES: usize = 512 << 20;
const QUICK_BYTES: usize = 256 << 20;
const PASSES: usize = 10;

const READ_LOOP: &str = "read_memory_loop";
const READ_PREFETCHING: &str = "read_memory_unroll_prefetch";
const READ_AVX: &str = "read_memory_avx";
const WRITE_LOOP: &str = "write_memory_loop";
const WRITE_AVX: &str = "write_memory_avx";
const WRITE_MEMSET: &str = "write_memory_memset";

const NOT_MEASURED: &str = "the report did not measure it: the figure is that of another MacBook Pro, taken from the web page of the \
                            program that the test follows (memory-bandwidth-demo, with OpenMP on all cores)";

const PARALLEL_MISLEADS: &str = "The summary of the report calls this figure measured, and the method is not the authors' own. The rows \
                                 for one thread say what one core of that machine moves.";

/// Read by all cores.
pub const PARALLEL_READ_ROW: Row = Row {
    section: "4.2",
    operation: "RAM bandwidth, read, all cores",
    unit: Unit::BytesPerSecond,
    per: "",
    theirs: Theirs::Printed("s003-0526"),
    replica: Replica::NotHere(NOT_MEASURED),
    statistic: Statistic::of(Fit::Maximum),
    fathom: SameQuestion::Computed {
        of: |machine| parallel(machine, "read"),
        value: |known| best(known, "read"),
    },
    misleads: PARALLEL_MISLEADS,
};

/// Written by all cores.
pub const PARALLEL_WRITE_ROW: Row = Row {
    operation: "RAM bandwidth, write, all cores",
    theirs: Theirs::Printed("s003-0527"),
    fathom: SameQuestion::Computed {
        of: |machine| parallel(machine, "write"),
        value: |known| best(known, "write"),
    },
    ..PARALLEL_READ_ROW
};

const fn one_thread(
    operation: &'static str,
    theirs: &'static str,
    (method, variant): (&'static Method, &'static str),
    point: fn(&Machine) -> Point,
    misleads: &'static str,
) -> Row {
    Row {
        section: "4.2",
        operation,
        unit: Unit::BytesPerSecond,
        per: "",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(method),
        statistic: Statistic::variant(variant, Fit::Mean(Deviation::Sample)),
        fathom: SameQuestion::Point("memory/bandwidth", point),
        misleads,
    }
}

/// Read char by char.
pub const READ_LOOP_ROW: Row = one_thread(
    "RAM bandwidth, one thread: read_memory_loop",
    "s003-0207",
    (&LOOPS, READ_LOOP),
    |machine| stream(machine, "read", &["avx512", "avx2", "compiled loop"]),
    "Each char is widened and added, so the additions and not the memory may set the rate. The array is in pages of 4 KiB, at whose ends \
     prefetchers stop. Fathom's figure, by the widest loads from huge pages, shows what one core can read.",
);

/// Unrolled by the compiler.
pub const READ_UNROLLED_ROW: Row = Row {
    operation: "RAM bandwidth, one thread: read_memory_unroll (-funroll-loops)",
    theirs: Theirs::Printed("s003-0208"),
    replica: Replica::NotHere(
        "it is the loop above, compiled with an option that Fathom's compiler does not have; Fathom's compiler unrolls the loop above by \
         itself",
    ),
    misleads: "The report's two figures, 9.19 and 9.15 GB/s, do not differ: its compiler unrolled the loop without the option as well.",
    ..READ_LOOP_ROW
};

/// Read with a prefetch after every eight chars.
pub const READ_PREFETCHING_ROW: Row = one_thread(
    "RAM bandwidth, one thread: read, unrolled by hand with prefetching",
    "s003-0213",
    (&LOOPS, READ_PREFETCHING),
    |machine| stream(machine, "read", &["avx512", "avx2", "compiled loop"]),
    "Every line is prefetched eight times, and the prefetches help only across the ends of pages, where the processor's own prefetchers \
     stop. The report's 1.78 GB/s are 0.6 bytes per cycle, as if single bytes were added. The report blames cache lines that conflict, but \
     a stream does not suffer from conflicts.",
);

/// Read by vectors.
pub const READ_AVX_ROW: Row = one_thread(
    "RAM bandwidth, one thread: read_memory_avx",
    "s003-0209",
    (&AVX, READ_AVX),
    |machine| stream(machine, "read", &["avx512", "avx2", "compiled loop"]),
    "All additions go into one vector, so each waits for the one before it: three or four cycles for 32 bytes. Where memory is faster than \
     that, the figure is the speed of this chain. The array is in pages of 4 KiB, Fathom's in huge pages.",
);

/// Written by a loop.
pub const WRITE_LOOP_ROW: Row = one_thread(
    "RAM bandwidth, one thread: write_memory_loop",
    "s003-0210",
    (&LOOPS, WRITE_LOOP),
    |machine| stream(machine, "write", &["avx512", "avx2", "compiled loop"]),
    "The processor reads every line before it writes it, so the bus moves twice the figure, as with all stores through the cache. The \
     array is in pages of 4 KiB, at whose ends prefetchers stop; Fathom's figure is for the widest stores to huge pages.",
);

/// Written by vectors.
pub const WRITE_AVX_ROW: Row = one_thread(
    "RAM bandwidth, one thread: write_memory_avx",
    "s003-0211",
    (&AVX, WRITE_AVX),
    |machine| stream(machine, "write", &["avx512", "avx2", "compiled loop"]),
    "As with the loop, the bus moves twice the figure, and the pages have 4 KiB.",
);

/// Written by `memset`.
pub const WRITE_MEMSET_ROW: Row = one_thread(
    "RAM bandwidth, one thread: memset",
    "s003-0212",
    (&LOOPS, WRITE_MEMSET),
    |machine| stream(machine, "write", &["memset"]),
    "The two methods do not differ: both call memset. It is faster than the other writes and the reads, which shows that it writes whole \
     lines without reading them first. The report's text prints 15.57 GB/s where its table has 13.58.",
);

/// Fathom's point in memory, by the first of these methods that the architecture offers.
fn stream(machine: &Machine, kind: &str, methods: &[&str]) -> Point {
    let offered: Vec<&str> = methods.iter().copied().filter(|method| offered(machine, method)).collect();
    nearest("memory/bandwidth", machine, &[("kind", &[kind]), ("method", &offered)], &[("size", u64::MAX)])
}

/// Whether the processor has the instructions of a method.
fn offered(machine: &Machine, method: &str) -> bool {
    let needs = match method {
        "avx512" => "avx512f",
        "avx2" => "avx2",
        _ => return true,
    };
    Requirement::Instructions(needs).unmet_reason(machine).is_none()
}

/// All of Fathom's points with every CPU at work.
fn parallel(machine: &Machine, kind: &str) -> Vec<(&'static str, Point)> {
    const NAME: &str = "memory/parallel_bandwidth";
    let threads = machine.allowed_cpus().len() as u64;
    let sweep =
        fathom_core::experiment::registry::find(NAME).map(|found| found.sweep(machine)).unwrap_or_default();
    let mine = sweep.into_iter().filter(|point| {
        let is = |parameter: &str, value: &str| {
            point.get(parameter).is_some_and(|found| found.to_string() == value)
        };
        is("kind", kind) && is("threads", &threads.to_string())
    });
    mine.map(|point| (NAME, point)).collect()
}

/// The best of these points.
fn best(known: &Known, kind: &str) -> Option<Found> {
    let found =
        parallel(known.machine, kind).into_iter().filter_map(|(name, point)| known.found(name, &point));
    found.max_by(|one, other| one.value.total_cmp(&other.value))
}

fn array(stage: &Stage) -> Result<Aligned, Failure> {
    Aligned::new(if stage.quick { QUICK_BYTES } else { BYTES })
}

fn loops(stage: &Stage) -> Result<Series, Failure> {
    let mut array = array(stage)?;
    let read = |read: fn(&[u8]) -> u32, array: &Aligned| {
        rates(array.bytes().len(), || ensure(read(std::hint::black_box(array.bytes())) != 0, "the sum is 0"))
    };
    let (plain, prefetching) =
        (read(streams::read_loop, &array)?, read(streams::read_unrolled_prefetching, &array)?);
    let written = write_rates(&mut array, streams::write_loop)?;
    let set = write_rates(&mut array, streams::write_memset)?;
    let series = Series::default().and(READ_LOOP, 0.0, plain).and(READ_PREFETCHING, 0.0, prefetching);
    Ok(series.and(WRITE_LOOP, 0.0, written).and(WRITE_MEMSET, 0.0, set))
}

#[cfg(target_arch = "x86_64")]
fn avx(stage: &Stage) -> Result<Series, Failure> {
    if !is_x86_feature_detected!("avx") {
        return Err(Failure::Unsupported("this processor does not offer AVX".to_owned()));
    }
    let mut array = array(stage)?;
    let read = rates(array.bytes().len(), || {
        // SAFETY: the processor has the instructions.
        let sum = unsafe { streams::read_avx(std::hint::black_box(array.bytes())) };
        ensure(std::hint::black_box(sum).to_bits() != 1, "the sum is no sum")
    })?;
    // SAFETY: the processor has the instructions.
    let written = write_rates(&mut array, |bytes| unsafe { streams::write_avx(bytes) })?;
    Ok(Series::default().and(READ_AVX, 0.0, read).and(WRITE_AVX, 0.0, written))
}

#[cfg(not(target_arch = "x86_64"))]
fn avx(_: &Stage) -> Result<Series, Failure> {
    Err(Failure::Unsupported("AVX is an extension of x86-64".to_owned()))
}

fn write_rates(array: &mut Aligned, write: impl Fn(&mut [u8])) -> Result<Vec<f64>, Failure> {
    rates(array.bytes().len(), || {
        write(std::hint::black_box(array.bytes_mut()));
        Ok(())
    })
}

/// Bytes per second of every pass.
fn rates(bytes: usize, mut pass: impl FnMut() -> Result<(), Failure>) -> Result<Vec<f64>, Failure> {
    let timed = |()| {
        let began = Instant::now();
        pass()?;
        Ok(bytes as f64 / began.elapsed().as_secs_f64())
    };
    std::iter::repeat_n((), PASSES).map(timed).collect()
}
