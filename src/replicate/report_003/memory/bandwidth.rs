//! Section 4.2: bytes a second, read and written.

use super::streams;
use crate::experiment::{Failure, Found, Known, Placement, Point, Requirement, ensure};
use crate::machine::Machine;
use crate::quantity::Unit;
use crate::replicate::sweep::nearest;
use crate::replicate::{
    Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs,
};
use crate::test_file::Aligned;
use std::time::{Duration, Instant};

const LOOPS: Method = Method {
    name: "memory bandwidth",
    text: "One array, read whole char by char with a sum that is asserted not to be 0, written whole by a loop that was compiled \
           apart, and written by memset(); bytes over seconds, by the system's nanosecond clock.",
    differs: DIFFERS,
    placement: Placement::OneCpu,
    needs: &[Requirement::MemoryBytes(QUICK_BYTES as u64)],
    limit: Duration::from_mins(2),
    measure: loops,
};

const AVX: Method = Method {
    name: "memory bandwidth, AVX",
    text: "One array, read whole by _mm256_add_ps of every 32 bytes to one vector of sums, and written whole by 32-byte stores; bytes \
           over seconds, by the system's nanosecond clock.",
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

const DIFFERS: &str = "The size of the array and the number of passes are not printed: 512 MiB here (256 MiB where it should be quick), and \
                       ten passes. Our compiler makes the loops; like theirs at -O3, it makes vectors of them.";

const BYTES: usize = 512 << 20;
const QUICK_BYTES: usize = 256 << 20;
const PASSES: usize = 10;

const READ_LOOP: &str = "read_memory_loop";
const READ_PREFETCHING: &str = "read_memory_unroll_prefetch";
const READ_AVX: &str = "read_memory_avx";
const WRITE_LOOP: &str = "write_memory_loop";
const WRITE_AVX: &str = "write_memory_avx";
const WRITE_MEMSET: &str = "write_memory_memset";

const NOT_MEASURED: &str = "it was not measured: the figure is that of another MacBook Pro, taken from the web page of the program that \
                            the test follows (memory-bandwidth-demo, with OpenMP on all cores)";

const PARALLEL_MISLEADS: &str = "The summary calls it measured, and the method is not theirs. What one core moves there is in the \
                                 rows for one thread.";

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
    "Each char is widened and added: the additions, not the memory, can be what limits it. The array stands in pages of 4 KiB, at whose ends prefetchers stop. The widest loads, from huge pages, show what one core can read.",
);

/// Unrolled by the compiler.
pub const READ_UNROLLED_ROW: Row = Row {
    operation: "RAM bandwidth, one thread: read_memory_unroll (-funroll-loops)",
    theirs: Theirs::Printed("s003-0208"),
    replica: Replica::NotHere(
        "it is the loop above, compiled with an option of their compiler that ours does not have; ours unrolls the loop above by itself",
    ),
    misleads: "Their two figures, 9.19 and 9.15 GB/s, do not differ: their compiler unrolled without the option as well.",
    ..READ_LOOP_ROW
};

/// Read with a prefetch after every eight chars.
pub const READ_PREFETCHING_ROW: Row = one_thread(
    "RAM bandwidth, one thread: read, unrolled by hand with prefetching",
    "s003-0213",
    (&LOOPS, READ_PREFETCHING),
    |machine| stream(machine, "read", &["avx512", "avx2", "compiled loop"]),
    "Every line is asked for eight times over, by instructions that only help across the ends of pages, where the processor's own prefetchers stop. Their 1.78 GB/s are 0.6 bytes a cycle, as if single bytes were added; the report blames lines that share a place in the cache, which a stream does not suffer from.",
);

/// Read by vectors.
pub const READ_AVX_ROW: Row = one_thread(
    "RAM bandwidth, one thread: read_memory_avx",
    "s003-0209",
    (&AVX, READ_AVX),
    |machine| stream(machine, "read", &["avx512", "avx2", "compiled loop"]),
    "All additions go into one vector, so that each waits for the one before it, three or four cycles for 32 bytes: where memory is faster than that, the chain is measured. The array stands in pages of 4 KiB, Fathom's in huge ones.",
);

/// Written by a loop.
pub const WRITE_LOOP_ROW: Row = one_thread(
    "RAM bandwidth, one thread: write_memory_loop",
    "s003-0210",
    (&LOOPS, WRITE_LOOP),
    |machine| stream(machine, "write", &["avx512", "avx2", "compiled loop"]),
    "Every line that is written is read before, so that the bus moves twice the figure, as with any store that goes through the cache. The array stands in pages of 4 KiB, at whose ends prefetchers stop; Fathom's figure is for the widest stores, to huge pages.",
);

/// Written by vectors.
pub const WRITE_AVX_ROW: Row = one_thread(
    "RAM bandwidth, one thread: write_memory_avx",
    "s003-0211",
    (&AVX, WRITE_AVX),
    |machine| stream(machine, "write", &["avx512", "avx2", "compiled loop"]),
    "As with the loop: the bus moves twice the figure, and the pages are of 4 KiB.",
);

/// Written by `memset`.
pub const WRITE_MEMSET_ROW: Row = one_thread(
    "RAM bandwidth, one thread: memset",
    "s003-0212",
    (&LOOPS, WRITE_MEMSET),
    |machine| stream(machine, "write", &["memset"]),
    "Nothing here: memset is memset. That it beats the other writes, and the reads, says that it writes whole lines without reading \
         them; the text then prints 15.57 for 13.58 GB/s.",
);

/// Fathom's point in memory, by the first of these methods that the machine's architecture has.
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
    Requirement::Instructions(needs).lacking(machine).is_none()
}

/// All of Fathom's points with every CPU at work.
fn parallel(machine: &Machine, kind: &str) -> Vec<(&'static str, Point)> {
    const NAME: &str = "memory/parallel_bandwidth";
    let threads = machine.allowed_cpus().len() as u64;
    let sweep = crate::experiments::find(NAME).map(|found| found.sweep(machine)).unwrap_or_default();
    let mine = sweep.into_iter().filter(|point| {
        let is = |parameter: &str, value: &str| {
            point.get(parameter).is_some_and(|found| found.to_string() == value)
        };
        is("kind", kind) && is("threads", &threads.to_string())
    });
    mine.map(|point| (NAME, point)).collect()
}

/// The best of them.
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
