//! How many bytes a second does one core move, by which means, and from how far?

use super::backing::Backing;
use super::stream_arrays::{Arrays, MOST_PIECE_BYTES};
use super::stream_kernel::{KERNELS, Kernel, Kind, Maker, PER_LINE};
use super::stream_prediction;
use super::stream_size::{self, Level, SIZE};
use crate::experiment::{
    About, Basis, Bound, Check, Effort, Experiment, Failure, Known, Observed, Parameter, Point, Prediction,
    Requirement, Scale, Site, Source, Workload,
};
use crate::machine::Machine;
use crate::quantity::{Unit, declared};
use std::cell::RefCell;
use std::rc::Rc;

/// What is done to the arrays.
pub const KIND: Parameter = Parameter {
    name: "kind",
    meaning: "read (and add up), write, copy, scale (a = s b) or triad (a = b + s c)",
    scale: Scale::Name,
};
/// By which means.
pub const METHOD: Parameter =
    Parameter { name: "method", meaning: "the instructions or the function", scale: Scale::Name };

/// What is timed.
pub struct Bandwidth;

static ABOUT: About = About {
    name: "memory/bandwidth",
    question: "How many bytes a second does one core move, by which means, and from how far?",
    operation: "one byte that the program loads or stores; a copied byte counts twice, as in STREAM",
    method: "Each kernel passes over its arrays from the first byte to the last, in pieces of 2 MiB of each array at \
             most, and over again. The arrays fill half of each cache, or four times the last one. They stand in huge \
             pages where these can be had, with data that are not zero, and every line of them is in memory before the \
             first observation.\n\nOn x86-64 the kernels are our own assembly: a plain loop of words, 8 words unrolled, \
             vectors of 16 (SSE), 32 (AVX2) and 64 bytes (AVX-512) that move 512 bytes each time round the loop, with \
             and without software prefetch a KiB ahead, with stores around the caches (non-temporal, a fence at the end \
             of each piece), and the repeated string instructions. Beside them stand the loops that the compiler makes \
             (for the architecture's baseline, of 16-byte vectors; a copy it replaces with memcpy), and memset and \
             memcpy of the C library. Each trial disassembles the kernel that it runs.\n\nWhat is read is added up, and \
             the sum compared with that of the known content; of `rep lods`, which keeps the last word only, that word \
             is compared. What was written is looked at, word by word, after the observations.\n\nThe figure counts the \
             bytes that the program moves. The bus must move more, because a cache holds whole lines: a line is read \
             before it is written (read-for-ownership), so that a write moves 2 bytes for each of the program's, copy \
             and scale 1.5, triad 1.33. A non-temporal store moves none but its own. One word of each line moves 8 bytes \
             for one. `rep stos`, `rep movs`, memset and memcpy choose for themselves: 1 to 2 bytes, and 1 to 1.5.",
    caveats: "`one word per line` is naive if its lines are taken for the bytes moved, as reports 001 and 002 did: here \
              it counts 8 of 64 bytes, and its bus moves eight times its figure. `rep lods` and `word loop` are bound by \
              their instructions. Non-temporal stores go to memory whatever the size of the arrays.",
    version: 1,
    parameters: &[KIND, METHOD, SIZE],
    trends: &[],
};

/// A kernel with arrays of this size.
pub fn point(kernel: &Kernel, size: u64) -> Point {
    Point::new().named(&KIND, kernel.kind.name()).named(&METHOD, kernel.method).with(&SIZE, size)
}

/// The kernel that a point names.
pub fn kernel_of(point: &Point) -> Result<&'static Kernel, String> {
    Kernel::find(point.name(&KIND), point.name(&METHOD))
        .ok_or_else(|| "this architecture has no such kernel".to_owned())
}

/// Whether this CPU may execute a kernel: the plan was made by the machine's description.
pub fn executable(kernel: &Kernel) -> Result<(), Failure> {
    let lacking = kernel.needs.filter(|_| !kernel.runs_here());
    lacking.map_or(Ok(()), |name| {
        Err(Failure::Unsupported(format!("this CPU does not offer the instructions called {name}")))
    })
}

/// Methods of which a quick run shows what they do in memory; the wide vectors it takes through all sizes.
const QUICK_IN_MEMORY: [&str; 5] = ["8 words unrolled", "avx2 non-temporal", "memset", "memcpy", "rep movs"];

impl Experiment for Bandwidth {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        // The reference first: what it reads predicts the others.
        let reference = stream_prediction::reference(machine);
        let others = KERNELS.iter().filter(|kernel| !std::ptr::eq(*kernel, reference));
        let kernels = [reference].into_iter().chain(others);
        let sizes = stream_size::sizes(machine);
        kernels.flat_map(|kernel| sizes.iter().map(|(_, size)| point(kernel, *size))).collect()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let needs = kernel_of(point).ok().and_then(|kernel| kernel.needs);
        let memory = Requirement::MemoryBytes(point.number(&SIZE));
        needs.map(Requirement::Instructions).into_iter().chain([memory]).collect()
    }

    fn effort(&self, point: &Point) -> Effort {
        let in_memory = point.number(&SIZE) >= stream_size::SMALLEST;
        match (point.name(&KIND), point.name(&METHOD)) {
            ("read" | "write" | "copy", "avx2") => Effort::Quick,
            ("triad", "avx2") | ("read", PER_LINE) if in_memory => Effort::Quick,
            (kind, method) if in_memory && kind != "scale" && QUICK_IN_MEMORY.contains(&method) => {
                Effort::Quick
            }
            (_, method) if in_memory || !is_slow(method) => Effort::Standard,
            _ => Effort::Thorough,
        }
    }

    fn unit(&self, _: &Point) -> Unit {
        Unit::BytesPerSecond
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let kernel = kernel_of(point)?;
        let size = point.number(&SIZE);
        let level = stream_size::level(known.machine, size).ok_or("a size that is not of the sweep")?;
        Ok(stream_prediction::predict(kernel, level, reference_rate(kernel, level, known), known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        kernel_of(point).ok().map(|kernel| stream_prediction::bound(kernel, known))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let kernel = kernel_of(point).map_err(Failure::Unsupported)?;
        executable(kernel)?;
        let arrays = Arrays::new(kernel, point.number(&SIZE), site.seed)?;
        let (bytes, backing) = (arrays.bytes_per_pass(), arrays.backing);
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
        let workload = Workload::batched(pass).per_iteration(bytes).witnessed(look);
        Ok(backing.stated(stating_traffic(workload, kernel)))
    }

    fn evidence(&self, point: &Point, seen: &Observed) -> Vec<Check> {
        let Ok(kernel) = kernel_of(point) else { return vec![] };
        let mut checks = traffic_evidence(kernel, seen);
        checks.push(Check::witnessed(
            "bytes in passes that returned what they must, per byte claimed",
            seen,
            VERIFIED,
            1.0,
            1.0,
        ));
        if kernel.kind.stored() > 0 {
            checks.extend(written_evidence(seen));
        }
        let faults = seen.counters.minor_faults as f64 / seen.trials.max(1) as f64;
        checks.push(Check::within("all pages were there before: page faults in a trial", faults, 0.0, 10.0));
        checks.extend(Backing::evidence_of_either(seen));
        checks
    }

    fn findings(&self, known: &Known) -> Vec<String> {
        let size = stream_size::memory_bytes(known.machine);
        let mut said: Vec<String> =
            Kind::ALL.iter().filter_map(|kind| best_said(*kind, size, known)).collect();
        said.extend(ownership_said(size, known));
        said.extend(per_line_said(size, known));
        said
    }
}

/// Methods that instructions bind to a crawl: outside memory only a thorough run asks.
fn is_slow(method: &str) -> bool {
    [PER_LINE, "word loop", "rep lods", "8 words unrolled"].contains(&method)
}

/// What the reference has read at the same size; `None` of the reference itself, and before it was measured.
fn reference_rate(kernel: &Kernel, level: Level, known: &Known) -> Option<Basis> {
    let reference = stream_prediction::reference(known.machine);
    // Non-temporal stores go to memory whatever the size.
    let level = if kernel.is_non_temporal() { Level::Memory } else { level };
    let size = stream_size::sizes(known.machine).into_iter().find(|(at, _)| *at == level)?.1;
    let measured = (!std::ptr::eq(kernel, reference)).then(|| point(reference, size))?;
    let value = known.median(ABOUT.name, &measured)?;
    Some(Basis { value, source: Source::Measured { experiment: ABOUT.name.to_owned(), point: measured } })
}

/// Witnessed: bytes of passes whose sum was right.
const VERIFIED: &str = "bytes_verified";
/// Witnessed: words looked at after they were written.
const LOOKED_AT: &str = "words_looked_at";
/// Witnessed: of them not what they must be.
const WRONG: &str = "words_wrong";
/// Stated: what the disassembled loop loads and stores of each line of an array.
const LOADED: &str = "bytes_loaded_per_line";
const STORED: &str = "bytes_stored_per_line";
/// Stated: bytes that must cross the bus for each byte moved.
const BUS_LEAST: &str = "bus_bytes_per_byte_at_least";
const BUS_MOST: &str = "bus_bytes_per_byte_at_most";

/// States the bytes of the kernel: of its instructions, as they stand in this process, and of the bus.
fn stating_traffic<'site>(workload: Workload<'site>, kernel: &Kernel) -> Workload<'site> {
    let (least, most) = kernel.bus_bytes();
    let workload = workload.stating(BUS_LEAST, least).stating(BUS_MOST, most);
    match kernel.disassembled() {
        Some((loaded, stored)) => workload.stating(LOADED, loaded as f64).stating(STORED, stored as f64),
        None => workload,
    }
}

fn traffic_evidence(kernel: &Kernel, seen: &Observed) -> Vec<Check> {
    if !matches!(kernel.maker, Maker::Assembly(_)) {
        return vec![];
    }
    let told = |what: &str, name, arrays: u64| {
        let claim = format!("bytes that the disassembled loop {what} of each line of its arrays");
        let expected = (arrays * kernel.used_of_line()) as f64;
        seen.witness(name)
            .map_or_else(|| Check::missing(&claim), |bytes| Check::equal(&claim, bytes, expected))
    };
    vec![told("loads", LOADED, kernel.kind.loaded()), told("stores", STORED, kernel.kind.stored())]
}

fn written_evidence(seen: &Observed) -> Vec<Check> {
    let (wrong, looked_at) = ("words that are not what was to be written", "words looked at in a trial");
    let count = |claim, name, low, high| match seen.witness(name) {
        Some(count) => Check::within(claim, count / seen.trials.max(1) as f64, low, high),
        None => Check::missing(claim),
    };
    let piece = (MOST_PIECE_BYTES / 8) as f64;
    vec![count(wrong, WRONG, 0.0, 0.0), count(looked_at, LOOKED_AT, 1.0, piece)]
}

/// The quickest method of a kind in memory, its median rate and the kernel.
fn best(kind: Kind, size: u64, known: &Known) -> Option<(&'static Kernel, f64)> {
    let of_kind = KERNELS.iter().filter(|kernel| kernel.kind == kind);
    let measured =
        of_kind.filter_map(|kernel| Some((kernel, known.median(ABOUT.name, &point(kernel, size))?)));
    measured.max_by(|(_, one), (_, other)| one.total_cmp(other))
}

fn best_said(kind: Kind, size: u64, known: &Known) -> Option<String> {
    let (kernel, rate) = best(kind, size, known)?;
    let theory = known.machine.memory.theoretical_bandwidth.value();
    let (least, most) = kernel.bus_bytes();
    let share = theory.map(|theory| {
        let share =
            |factor: f64| declared::percent((rate * factor / theory.bytes_per_second * 1e3).round() / 1e3);
        let crossing =
            if least >= most { share(least) } else { format!("{} to {}", share(least), share(most)) };
        format!(
            ": the bus moves {crossing} of the {} that {} allow",
            declared::bytes_rate(theory.bytes_per_second),
            theory.formula
        )
    });
    let (kind, method) = (kind.name(), kernel.method);
    let rate = declared::bytes_rate(rate);
    Some(format!("Best {kind} in memory by one core: {rate} ({method}){}.", share.unwrap_or_default()))
}

/// What a line's read-for-ownership costs: the same stores with and without it.
fn ownership_said(size: u64, known: &Known) -> Option<String> {
    let rate = |kind, method: &str| known.median(ABOUT.name, &point(Kernel::find(kind, method)?, size));
    let ratios = |method: &str| {
        let around = format!("{method} non-temporal");
        let ratio = |kind| Some(rate(kind, &around)? / rate(kind, method)?);
        Some((ratio("write")?, ratio("copy")?))
    };
    let (method, (write, copy)) =
        ["avx512", "avx2", "sse"].iter().find_map(|method| Some((method, ratios(method)?)))?;
    Some(format!(
        "Stores around the caches write {write:.2} times and copy {copy:.2} times as fast as the same stores ({method}) \
         through them; if reading each line for ownership were all that differs, it would be 2 and 1.5 times."
    ))
}

/// How far one word of each line misleads.
fn per_line_said(size: u64, known: &Known) -> Option<String> {
    let naive = Kernel::find("read", PER_LINE)?;
    let bytes = known.median(ABOUT.name, &point(naive, size))?;
    let (_, all) = best(Kind::Read, size, known)?;
    let lines = 8.0 * bytes;
    Some(format!(
        "One word of each line reads {} of the program's bytes, and {} if whole lines were counted; reading all words of \
         all lines reaches {}.",
        declared::bytes_rate(bytes),
        declared::bytes_rate(lines),
        declared::bytes_rate(all)
    ))
}
