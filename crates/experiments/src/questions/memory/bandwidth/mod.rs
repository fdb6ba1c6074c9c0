//! How many bytes per second does one core move, by instruction and by level of the memory hierarchy?

mod findings;

pub use findings::best;

use crate::apparatus::memory::backing::Backing;
use crate::apparatus::memory::stream::arrays::{Arrays, MOST_PIECE_BYTES, words_of_a_look};
use crate::apparatus::memory::stream::filled::Filled;
use crate::apparatus::memory::stream::kernel::{KERNELS, Kernel, Maker, PER_LINE};
use crate::apparatus::memory::stream::working_set::{self, LEVEL, Level, SIZE};
use crate::expected;
use fathom_core::prelude::*;
use fathom_core::quantity::{Unit, declared};
use std::cell::RefCell;
use std::rc::Rc;

pub const KIND: Parameter =
    Parameter::named("kind", "read (and add up), write, copy, scale (a = s b) or triad (a = b + s c)");
pub const METHOD: Parameter = Parameter::named("method", "the instructions or the function");

/// The point of a kernel with arrays of this size, which belongs to the level.
pub fn point(kernel: &Kernel, (level, size): (Level, u64)) -> Point {
    Point::new()
        .named(&KIND, kernel.kind.name())
        .named(&METHOD, kernel.method)
        .named(&LEVEL, level.name())
        .with(&SIZE, size)
}

pub fn kernel_of(point: &Point) -> Result<&'static Kernel, String> {
    Kernel::find(point.name(&KIND), point.name(&METHOD)).ok_or_else(|| {
        format!("this architecture has no kernel `{}` by `{}`", point.name(&KIND), point.name(&METHOD))
    })
}

pub struct Bandwidth;

static ABOUT: About = About {
    name: "memory/bandwidth",
    question: "How many bytes a second does one core move, by instruction and by level of the memory hierarchy?",
    operation: "one byte that the program loads or stores; a copied byte counts twice, as in STREAM",
    method: "Each kernel passes repeatedly over its arrays from the first byte to the last: Fathom's own loops in \
             pieces of at most 2 MiB of each array; `rep stos`, `rep movs`, memset and memcpy over whole arrays at \
             once, because they choose their method by the size of the call. The arrays fill half of each cache, or \
             four times the last-level cache. They are in huge pages where available, hold non-zero data, and every \
             line of them is in memory before the first observation. All kernels of a size use the same memory, one \
             after the other in one process, in random order in every trial; each restores what it has \
             overwritten, around the caches if that is more than 8 MiB, so that none of it waits to be written back \
             while the next one is timed.\n\nOn x86-64 the kernels are in assembly: a plain loop of words, 8 words unrolled, vectors \
             of 16 (SSE), 32 (AVX2) and 64 bytes (AVX-512) that move 512 bytes per iteration, with and without \
             software prefetch 1 KiB ahead, with non-temporal stores (a fence at the end of each piece; for copies \
             also both halves of a piece at once), and the repeated string instructions. In addition there are loops \
             that the compiler generates (for the architecture's baseline, with 16-byte vectors; it replaces a copy \
             with memcpy), and memset and memcpy of the C library. Each trial disassembles the kernel that it \
             runs.\n\nReads are summed, and the sum is compared with that of the known content; for `rep lods`, which \
             keeps only the last word, that word is compared. After the observations, what was written last is \
             checked word by word (of a whole array in one call, 2 MiB at a random place).\n\nThe figure counts the \
             bytes that the program moves. The bus must move more, because a cache holds whole lines: a line is read \
             before it is written (read for ownership), so the bus moves 2 bytes for each byte written, 1.5 for copy \
             and scale, and 1.33 for triad. A non-temporal store moves only its own bytes. Reading one word per line \
             moves 8 bytes for each byte read. `rep stos` and memset move 1 to 2 bytes, `rep movs` and memcpy 1 to \
             1.5, depending on their method.",
    caveats: "`one word per line` is naive if whole lines are counted as bytes moved, as in reports 001 and 002: here \
              it counts 8 of 64 bytes, and the bus moves eight times the figure. `rep lods` and `word loop` are \
              limited by their instructions. Non-temporal stores go to memory whatever the size of the arrays. Up to \
              a quarter of arrays of four times the last-level cache can be in that cache, and the share of the \
              theoretical bandwidth can be too high by as much. The last-level cache is assumed to be as large as \
              declared, and arrays are at most 1 GiB. On a virtual machine other guests use an unknown part of the \
              cache, so the arrays may be many times larger than this guest's part (memory/load_latency finds where \
              the cache ends). The data written are not zero: some processors have a faster path for lines of zeros \
              (a Zen 4 filled memory with zeros three times as fast as with any other value), which says nothing \
              about moving data. A process that has measured keeps its memory until the next one for the same size \
              begins, which gets mostly the same physical pages, cleared: what depends on their place varies less \
              between the trials of a run than between runs.",
    version: 3,
    timed: Some(TimedCode {
        of: "reading by vectors, on x86-64",
        source: include_str!("../../../arch/x86_64/stream/avx.rs"),
        begins: "macro_rules! read",
    }),
    parameters: &[KIND, METHOD, LEVEL, SIZE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::leading(
            "read, main memory, one core",
            &[("kind", At::Name("read")), ("size", At::Most), ("method", At::Best)],
        )
        .called("read memory, one core"),
        MainFigure::of(
            "write, main memory, one core",
            &[("kind", At::Name("write")), ("size", At::Most), ("method", At::Best)],
        ),
        MainFigure::of(
            "copy, main memory, one core, each byte counted twice",
            &[("kind", At::Name("copy")), ("size", At::Most), ("method", At::Best)],
        ),
        MainFigure::of(
            "triad, main memory, one core, all three arrays counted",
            &[("kind", At::Name("triad")), ("size", At::Most), ("method", At::Best)],
        ),
    ])
    .clauses(&[
        Clause::of("what each instruction moves", |point, _| {
            is_of_memory(point) && point.name(&KIND) == "read"
        }),
        Clause::of("what each level of the caches gives", |point, _| !is_of_memory(point)),
    ]),
};

fn is_of_memory(point: &Point) -> bool {
    point.name(&LEVEL) == Level::Memory.name()
}

/// Whether this CPU may execute a kernel: the plan was made from the machine's description. It is asked after what there is
/// on no machine was refused.
pub fn executable(kernel: &Kernel) -> Result<(), Failure> {
    let unmet = kernel.needs.filter(|_| !kernel.runs_here());
    unmet.map_or(Ok(()), |name| {
        Err(Failure::Unsupported(format!("this CPU does not offer the instructions called {name}")))
    })
}

/// Methods that a quick run measures in memory only; the widest vectors it measures at all sizes.
const QUICK_IN_MEMORY: &[&str] = &[
    "8 words unrolled",
    "avx2 non-temporal",
    "avx2 non-temporal, two halves",
    "neon non-temporal",
    "memset",
    "memcpy",
];

/// Methods that a default run measures in the caches: those that differ there. The others move as many bytes from a cache as
/// their instructions allow, or go to memory whatever the size.
const THROUGH_CACHES: &[&str] =
    &["sse", "avx2", "avx512", "neon", "rep stos", "rep movs", "memset", "memcpy"];

impl Experiment for Bandwidth {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        self.sweep_for(machine, &SweepOptions::default())
    }

    /// If the memory is limited, also arrays of that size, if they are in memory.
    fn sweep_for(&self, machine: &Machine, options: &SweepOptions) -> Vec<Point> {
        // The reference first: its rate predicts the others.
        let reference = expected::stream::reference(machine);
        let others = KERNELS.iter().filter(|kernel| !std::ptr::eq(*kernel, reference));
        let kernels = [reference].into_iter().chain(others);
        let mut sizes = working_set::sizes(machine);
        let (_, usual) = working_set::in_memory(machine);
        let most = options.most_bytes.filter(|most| *most < usual);
        let last = working_set::last_cache_bytes(machine);
        let within = most.and_then(|most| working_set::memory_bytes_within(most, last));
        sizes.extend(within.map(|bytes| (Level::Memory, bytes)));
        kernels.flat_map(|kernel| sizes.iter().map(|size| point(kernel, *size))).collect()
    }

    /// A copy has two arrays; what bypasses the caches does not depend on the size.
    fn core_share(&self, point: &Point, machine: &Machine) -> Option<CoreShare> {
        let stays = kernel_of(point).is_ok_and(|kernel| !kernel.avoids_caches());
        stays.then(|| CoreShare::of_array(2 * point.number(&SIZE), machine))?
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let needs = kernel_of(point).ok().and_then(|kernel| kernel.needs);
        let memory = Requirement::MemoryBytes(point.number(&SIZE));
        needs.map(Requirement::Instructions).into_iter().chain([memory]).collect()
    }

    fn effort(&self, point: &Point, machine: &Machine) -> Effort {
        let in_memory = point.name(&LEVEL) == Level::Memory.name();
        let (kind, method) = (point.name(&KIND), point.name(&METHOD));
        let quick = match (kind, method) {
            // What several threads are compared with.
            ("read", method) if method == expected::stream::reference(machine).method => in_memory,
            ("read" | "write" | "copy", "avx2" | "neon") => true,
            ("triad", "avx2" | "neon") | ("read", PER_LINE) => in_memory,
            _ => in_memory && kind != "scale" && QUICK_IN_MEMORY.contains(&method),
        };
        match () {
            () if quick => Effort::Quick,
            () if in_memory || (kind != "scale" && THROUGH_CACHES.contains(&method)) => Effort::Standard,
            () => Effort::Thorough,
        }
    }

    fn unit(&self, _: &Point) -> Unit {
        Unit::BytesPerSecond
    }

    /// All kernels use the same memory.
    fn block(&self, point: &Point) -> Option<String> {
        Some(declared::size(point.number(&SIZE)))
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let kernel = kernel_of(point)?;
        let level = Level::of(point).map_err(|failure| failure.to_string())?;
        Ok(expected::stream::predict(kernel, level, reference_rate(kernel, level, known), known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        kernel_of(point).ok().map(|kernel| expected::stream::bound(kernel, known))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let kernel = kernel_of(point).map_err(Failure::Unsupported)?;
        Level::of(point)?;
        executable(kernel)?;
        let size = point.number(&SIZE);
        let filled = site.shared.get_or_make(|| Filled::new(size, site.seed))?;
        let arrays = Arrays::new(kernel, &filled, size)?;
        let (bytes, backing) = (arrays.bytes_per_pass(), filled.backing);
        let arrays = Rc::new(RefCell::new(arrays));
        let counted = Rc::clone(&arrays);
        let pass = move |n| {
            let mut arrays = arrays.borrow_mut();
            (0..n).try_for_each(|_| arrays.pass())
        };
        let look = move || {
            let mut arrays = counted.borrow_mut();
            arrays.look();
            let counts = arrays.counts;
            vec![
                (VERIFIED, counts.bytes as f64),
                (LOOKED_AT, counts.looked_at as f64),
                (WRONG, counts.wrong as f64),
            ]
        };
        // A pass over a large array in one call may take as long as a trial: it is an observation by itself.
        let is_long = bytes > MOST_PIECE_BYTES as u64 * kernel.kind.arrays();
        let workload = if is_long { Workload::each(pass) } else { Workload::batched(pass) };
        let workload = workload.per_iteration(bytes).revisiting(1).witnessed(look);
        Ok(backing.stated(stating_traffic(workload, kernel)))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let Ok(kernel) = kernel_of(point) else { return vec![] };
        let mut checks = traffic_evidence(kernel, observed);
        checks.push(Check::witnessed(
            "bytes in passes with the correct result, per byte claimed",
            observed,
            VERIFIED,
            1.0,
            1.0,
        ));
        if kernel.kind.stored() > 0 {
            checks.extend(written_evidence(kernel, point, observed));
        }
        let faults = observed.counters.minor_faults as f64 / observed.trials.max(1) as f64;
        checks.push(Check::within(
            "all pages were present beforehand: page faults in a trial",
            faults,
            0.0,
            10.0,
        ));
        checks.extend(Backing::evidence_of_either(observed));
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }
}

/// The rate at which the widest vectors measured so far read at the same size; `None` if none was measured.
pub fn reference_rate(kernel: &Kernel, level: Level, known: &Known) -> Option<Basis> {
    // Non-temporal stores go to memory whatever the size.
    let level = if kernel.avoids_caches() { Level::Memory } else { level };
    let size = working_set::sizes(known.machine).into_iter().find(|(at, _)| *at == level)?;
    let others = expected::stream::references(known.machine)
        .into_iter()
        .filter(|one| comes_before(one, kernel, known));
    let rate = |read| known.measured(ABOUT.name, &point(read, size));
    others.filter(|read| expected::stream::width(read) >= expected::stream::width(kernel)).find_map(rate)
}

/// Whether a kernel is measured before another in round one.
fn comes_before(one: &Kernel, other: &Kernel, known: &Known) -> bool {
    let reference = expected::stream::reference(known.machine);
    let place = |kernel: &Kernel| {
        let listed = KERNELS.iter().position(|listed| std::ptr::eq(listed, kernel));
        if std::ptr::eq(kernel, reference) { None } else { listed }
    };
    place(one) < place(other)
}

/// Witnessed: bytes of passes whose sum was correct.
const VERIFIED: &str = "bytes_verified";
/// Witnessed: words checked after they were written.
const LOOKED_AT: &str = "words_looked_at";
/// Witnessed: checked words with a wrong value.
const WRONG: &str = "words_wrong";
/// Stated: bytes that the disassembled loop loads and stores per line of an array.
const LOADED: &str = "bytes_loaded_per_line";
const STORED: &str = "bytes_stored_per_line";
/// Stated: bytes that must cross the bus per byte moved.
const BUS_LEAST: &str = "bus_bytes_per_byte_at_least";
const BUS_MOST: &str = "bus_bytes_per_byte_at_most";

/// States the kernel's traffic: by its instructions as disassembled in this process, and on the bus.
fn stating_traffic<'site>(workload: Workload<'site>, kernel: &Kernel) -> Workload<'site> {
    let (least, most) = kernel.bus_bytes();
    let workload = workload.stating(BUS_LEAST, least).stating(BUS_MOST, most);
    match kernel.disassembled() {
        Some((loaded, stored)) => workload.stating(LOADED, loaded as f64).stating(STORED, stored as f64),
        None => workload,
    }
}

fn traffic_evidence(kernel: &Kernel, observed: &Observed) -> Vec<Check> {
    if !matches!(kernel.maker, Maker::Assembly(_)) {
        return vec![];
    }
    let moved = |what: &str, name, arrays: u64| {
        let claim = format!("bytes that the disassembled loop {what} of each line of its arrays");
        let expected = (arrays * kernel.used_of_line()) as f64;
        Check::equal(claim, observed.witness(name), expected)
    };
    vec![moved("loads", LOADED, kernel.kind.loaded()), moved("stores", STORED, kernel.kind.stored())]
}

/// Every word of the piece last written is checked, of a large piece every word of a stretch.
fn written_evidence(kernel: &Kernel, point: &Point, observed: &Observed) -> Vec<Check> {
    let count = |claim, name, expected: u64| Check::equal(claim, observed.per_trial(name), expected as f64);
    vec![
        count("words that differ from what should have been written", WRONG, 0),
        count("words checked in a trial", LOOKED_AT, words_of_a_look(kernel, point.number(&SIZE))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The observations of a flawless trial of one pass, with one value replaced.
    fn judged(kind: &str, method: &str, otherwise: (&'static str, f64)) -> bool {
        let kernel = Kernel::find(kind, method).unwrap();
        let mut seen =
            fathom_described::observed(4096, [(VERIFIED, 4096.0), (LOOKED_AT, 512.0), (WRONG, 0.0)]);
        let backing = Backing { mapped: 4096, resident: 4096, huge: 0 };
        let stated = backing.stated(stating_traffic(Workload::batched(|_| Ok(())), kernel)).stated;
        seen.stated.extend(stated.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        let place =
            if seen.stated.contains_key(otherwise.0) { &mut seen.stated } else { &mut seen.witnessed };
        place.insert(otherwise.0.to_owned(), otherwise.1);
        Bandwidth.evidence(&point(kernel, (Level::Cache(1), 4096)), &seen).iter().all(|check| check.holds)
    }

    #[test]
    fn a_trial_that_did_something_else_is_found_out() {
        assert!(judged("copy", "8 words unrolled", ("nothing", 0.0)));
        assert!(!judged("copy", "8 words unrolled", (VERIFIED, 4032.0)), "a line left out");
        assert!(!judged("copy", "8 words unrolled", (WRONG, 1.0)), "a word not copied");
        assert!(!judged("copy", "8 words unrolled", (LOOKED_AT, 0.0)), "nobody looked");
        assert!(!judged("copy", "8 words unrolled", (LOOKED_AT, 128.0)), "half of the array was looked at");
    }

    #[test]
    fn a_kernel_that_moves_other_bytes_than_it_says_is_found_out() {
        let [widest, usual] =
            if std::env::consts::ARCH == "aarch64" { ["neon"; 2] } else { ["avx512", "sse"] };
        assert!(judged("read", widest, (LOADED, 64.0)));
        assert!(!judged("read", widest, (LOADED, 8.0)), "one word of each line");
        assert!(!judged("write", usual, (STORED, 128.0)), "each line twice");
        assert!(judged("read", PER_LINE, (LOADED, 8.0)));
    }
}
