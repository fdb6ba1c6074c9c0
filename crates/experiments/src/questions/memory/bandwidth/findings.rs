//! Findings from bandwidths: the fastest methods, and how naive counting misleads.

use super::points::point;
use crate::apparatus::memory::stream::kernel::{KERNELS, Kernel, Kind, PER_LINE};
use crate::apparatus::memory::stream::working_set::{self, Level};
use fathom_core::experiment::{Finding, Found, Known, Question, Statement, said};
use fathom_core::machine::Bandwidth;
use fathom_core::quantity::declared;

const NAME: &str = "memory/bandwidth";

/// All findings from `memory/bandwidth`.
pub fn findings(known: &Known) -> Vec<Finding> {
    let size = working_set::in_memory(known.machine);
    let best = Kind::ALL.iter().filter_map(|kind| best_said(*kind, size, known));
    let others = [read_against_write(size, known), caches_said(known), per_line_said(size, known)];
    best.chain(others.into_iter().flatten()).collect()
}

/// The fastest method of a kind at a size, and its rate.
fn best(kind: Kind, size: (Level, u64), known: &Known) -> Option<(&'static Kernel, Found)> {
    let of_kind = KERNELS.iter().filter(|kernel| kernel.kind == kind);
    let measured = of_kind.filter_map(|kernel| Some((kernel, known.found(NAME, &point(kernel, size))?)));
    measured.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))
}

fn best_said(kind: Kind, size: (Level, u64), known: &Known) -> Option<Finding> {
    let (kernel, rate) = best(kind, size, known)?;
    let theory = known.machine.memory.theoretical_bandwidth.value();
    let kind = kind.name();
    Some(Finding::of(
        Question::Bandwidth,
        said![
            format!("Best {kind} bandwidth of memory by one core: "),
            rate.named(&format!("best {kind}")),
            format!(" ({})", kernel.method),
            theory.map(|theory| of_theory(kernel, rate, theory)).unwrap_or_default(),
            "."
        ],
    ))
}

/// The achieved share of the theoretical bandwidth, for the bytes on the bus, not for those that the program counts (R-MEM-22,
/// R-FIX-37).
fn of_theory(kernel: &Kernel, rate: Found, theory: &Bandwidth) -> Statement {
    let (least, most) = kernel.bus_bytes();
    let carried = Found::exact(theory.bytes_per_second, rate.dimension);
    let kind = kernel.kind.name();
    let share = |factor: f64, which: &str| {
        rate.scaled(factor).share_of(carried).named(&format!("best {kind} over theory{which}"))
    };
    let crossing = if least >= most {
        said![share(least, "")]
    } else {
        said![share(least, ", at least"), " to ", share(most, ", at most")]
    };
    let formula = format!(" that {} allow", theory.formula);
    said![": the bus moves ", crossing, " of the ", carried.named("theoretical bandwidth"), formula]
}

/// Reading compared with writing, each by its fastest method, in bytes of the program.
fn read_against_write(size: (Level, u64), known: &Known) -> Option<Finding> {
    let ((_, read), (_, write)) = (best(Kind::Read, size, known)?, best(Kind::Write, size, known)?);
    Some(Finding::of(
        Question::Bandwidth,
        said![
            "Reading from memory over writing to it, each with its best kernel: ",
            read.times_as("fast", write, "best read over best write"),
            "."
        ],
    ))
}

/// The fastest method of each kind in each cache.
fn caches_said(known: &Known) -> Option<Finding> {
    let of_kind = |kind: Kind| {
        let sizes = working_set::sizes(known.machine).into_iter();
        let caches = sizes.filter(|(level, _)| *level != Level::Memory);
        let best = caches.filter_map(|size| {
            let (kernel, rate) = best(kind, size, known)?;
            let size = declared::size(size.1);
            let figure = rate.named(&format!("best {} in {size}", kind.name()));
            Some(said![figure, format!(" in {size} ({})", kernel.method)])
        });
        let best = Statement::joined(best.collect(), ", ")?;
        Some(said![kind.name(), " ", best])
    };
    let told = Statement::joined(Kind::ALL.into_iter().filter_map(of_kind).collect(), "; ")?;
    Some(Finding::of(Question::Bandwidth, said!["Best bandwidth of the caches: ", told, "."]))
}

/// The error from counting one word of a line as the whole line.
fn per_line_said(size: (Level, u64), known: &Known) -> Option<Finding> {
    let naive = Kernel::find("read", PER_LINE)?;
    let bytes = known.found(NAME, &point(naive, size))?;
    let (_, all) = best(Kind::Read, size, known)?;
    Some(Finding::of(
        Question::Bandwidth,
        said![
            "One word of each line reads ",
            bytes.named("one word of each line"),
            " of the program's bytes, or ",
            bytes.scaled(8.0).named("one word of each line, lines counted"),
            " if whole lines are counted; reading all words of all lines reaches ",
            all.named("best read"),
            "."
        ],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Dimension;
    use fathom_core::machine::Fact;
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::{Interval, Measured};

    const RATE: Dimension = Dimension::Of(Unit::BytesPerSecond);

    #[test]
    fn the_share_of_the_theory_counts_the_bytes_on_the_bus() {
        let mut machine = fathom_described::machine();
        let theory = Bandwidth { bytes_per_second: 40e9, formula: "the formula".to_owned() };
        machine.memory.theoretical_bandwidth = Fact::known(theory, "a test");
        let size = working_set::in_memory(&machine);
        let mut known = Known::new(&machine, None);
        let mut learn = |kind, method: &str, rate: f64| {
            let kernel = Kernel::find(kind, method).unwrap();
            let interval = Some(Interval { low: 0.9 * rate, high: 1.1 * rate });
            let found = Found::measured(Measured { value: rate, interval }, RATE);
            known.learn(NAME, &point(kernel, size), found);
        };
        learn("write", "8 words unrolled", 10e9);
        learn("read", PER_LINE, 2e9);
        learn("read", "8 words unrolled", 30e9);
        let said: Vec<String> = findings(&known).iter().map(|found| found.statement.plain()).collect();
        let said = said.join("\n");
        // Each line written is also read for ownership, so that 20 of 40 GB/s cross the bus; other cores than x86-64's choose.
        let bus = if cfg!(target_arch = "x86_64") { "{0.5}" } else { "{0.25} to {0.5}" };
        let written =
            "write bandwidth of memory by one core: {10000000000} (8 words unrolled): the bus moves";
        for sentence in [
            &*format!("{written} {bus} of the {{40000000000}}"),
            "read bandwidth of memory by one core: {30000000000} (8 words unrolled): the bus moves {0.75}",
            "reads {2000000000} of the program's bytes, or {16000000000} if whole lines are counted",
            "each with its best kernel: {3} times as fast",
        ] {
            assert!(said.contains(sentence), "{sentence}: {said}");
        }
    }
}
