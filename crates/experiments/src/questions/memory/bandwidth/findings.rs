//! Findings from bandwidths: the fastest methods, and how naive counting misleads.

use super::point;
use crate::apparatus::memory::stream::kernel::{KERNELS, Kernel, Kind, PER_LINE};
use crate::apparatus::memory::stream::working_set::{self, Level};
use fathom_core::machine::Bandwidth;
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

const NAME: &str = "memory/bandwidth";

/// All findings from `memory/bandwidth`.
pub fn findings(known: &Known) -> Vec<Finding> {
    let size = working_set::in_memory(known.machine);
    let [read, write, copy, scale, triad] = Kind::ALL.map(|kind| best_of_kind(kind, size, known));
    let all = [
        read,
        write,
        copy,
        best_in_caches(known),
        triad,
        scale,
        read_against_write(size, known),
        without_theory(size, known),
        one_word_per_line(size, known),
    ];
    all.into_iter().flatten().collect()
}

/// The method of a kind that is at least the fastest at a size, and its rate.
pub fn best(kind: Kind, size: (Level, u64), known: &Known) -> Option<(&'static Kernel, Found)> {
    surest(&measured(kind, size, known))
}

/// The measured methods of a kind at a size, with their rates.
fn measured(kind: Kind, size: (Level, u64), known: &Known) -> Vec<(&'static Kernel, Found)> {
    let of_kind = KERNELS.iter().filter(|kernel| kernel.kind == kind);
    of_kind.filter_map(|kernel| Some((kernel, known.found(NAME, &point(kernel, size))?))).collect()
}

/// That with the highest lower end of its interval.
fn surest(all: &[(&'static Kernel, Found)]) -> Option<(&'static Kernel, Found)> {
    all.iter().copied().max_by(|(_, one), (_, other)| one.at_least().total_cmp(&other.at_least()))
}

fn best_of_kind(kind: Kind, size: (Level, u64), known: &Known) -> Option<Finding> {
    let all = measured(kind, size, known);
    let (kernel, rate) = surest(&all)?;
    let (higher, median) =
        all.iter().copied().max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))?;
    let theory = known.machine.memory.theoretical_bandwidth.value();
    let is_explained = kind != Kind::Read && best(Kind::Read, size, known).is_some();
    let kind = kind.name();
    let lead = match all.len() {
        1 => statement!("By the one method measured here,"),
        number if is_explained => statement!("Likewise, of {number} methods,"),
        number => statement!("By that of the {number} methods measured here whose interval begins highest,"),
    };
    let higher = (higher.method != kernel.method).then(|| {
        statement!(
            " {other} has the higher median, {median}, with an interval that reaches further down.",
            other = higher.method,
            median = median.named(&format!("highest median, {kind}"))
        )
    });
    Some(
        finding!(
            Question::Bandwidth,
            "{lead} {kind} bandwidth of memory by one core: {rate} ({method}{counted}){of_theory}.{higher}",
            lead,
            rate = rate.named(&format!("best {kind}")),
            method = kernel.method,
            counted = counted(kernel.kind),
            of_theory = theory.map(|theory| of_theory(kernel, rate, theory)),
            higher
        )
        .about(kind),
    )
}

/// What a byte of a kind counts as, where it is not once.
fn counted(kind: Kind) -> &'static str {
    match kind {
        Kind::Copy => "; each byte counts twice, as read and as written",
        Kind::Triad => "; the bytes of all three arrays count",
        _ => "",
    }
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
        statement!("{share}", share = share(least, ""))
    } else {
        statement!("{least} to {most}", least = share(least, ", at least"), most = share(most, ", at most"))
    };
    let formula = format!(" that {} allow", theory.formula);
    statement!(
        ": the bus moves {crossing} of the {carried}{formula}",
        crossing,
        carried = carried.named("theoretical bandwidth")
    )
}

/// Why no share of the theoretical bandwidth is told, where it is unknown (R-CMP-07).
fn without_theory(size: (Level, u64), known: &Known) -> Option<Finding> {
    let reason = known.machine.memory.theoretical_bandwidth.reason()?.to_owned();
    best(Kind::Read, size, known)?;
    Some(finding!(
        Question::Bandwidth,
        "What the memory could carry in theory is unknown here, so no share of it is told: {reason}.",
        reason
    ))
}

/// Reading compared with writing, each by its fastest method, in bytes of the program.
fn read_against_write(size: (Level, u64), known: &Known) -> Option<Finding> {
    let ((_, read), (_, write)) = (best(Kind::Read, size, known)?, best(Kind::Write, size, known)?);
    Some(finding!(
        Question::Bandwidth,
        "Reading memory compared with writing it, each by the method whose interval begins highest: {ratio}.",
        ratio = read.times_as("fast", write, "best read over best write")
    ))
}

/// The fastest method of each kind in each cache.
fn best_in_caches(known: &Known) -> Option<Finding> {
    let sizes = working_set::sizes(known.machine).into_iter();
    let caches = sizes.filter(|(level, _)| *level != Level::Memory).filter_map(|size| {
        let in_size = declared::size(size.1);
        let of_kind = |kind: Kind| {
            let (_, rate) = best(kind, size, known)?;
            let rate = rate.named(&format!("best {} in {in_size}", kind.name()));
            Some(statement!("{name} {rate}", name = kind.name(), rate))
        };
        let rates = Statement::joined(Kind::ALL.into_iter().filter_map(of_kind), ", ")?;
        Some(statement!("in {level} ({in_size}) {rates}", level = size.0.name(), in_size = &in_size, rates))
    });
    let caches = Statement::joined(caches, "; ")?;
    Some(finding!(
        Question::Bandwidth,
        "By the method of each kind whose interval begins highest, {caches}.",
        caches
    ))
}

/// The error from counting one word of a line as the whole line.
fn one_word_per_line(size: (Level, u64), known: &Known) -> Option<Finding> {
    let naive = Kernel::find("read", PER_LINE)?;
    let bytes = known.found(NAME, &point(naive, size))?;
    let (kernel, all) = best(Kind::Read, size, known)?;
    Some(finding!(
        Question::Bandwidth,
        "One word of each line reads {one_word} of the program's bytes, or {whole_lines} if whole lines are \
         counted; reading all words of all lines reaches {all} ({method}).",
        one_word = bytes.named("one word of each line"),
        whole_lines = bytes.scaled(8.0).named("one word of each line, lines counted"),
        all = all.named("best read"),
        method = kernel.method
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
    fn the_surest_method_is_named_beside_one_with_a_higher_median() {
        let machine = fathom_described::machine();
        let size = working_set::in_memory(&machine);
        let mut known = Known::new(&machine, None);
        let mut learn = |method: &str, value: f64, low: f64| {
            let kernel = Kernel::find("read", method).unwrap();
            let interval = Some(Interval { low, high: 1.1 * value });
            known.learn(NAME, &point(kernel, size), Found::measured(Measured { value, interval }, RATE));
            best_of_kind(Kind::Read, size, &known).expect("a finding").statement.plain()
        };
        let one = learn("8 words unrolled", 10e9, 9e9);
        assert!(one.starts_with("By the one method measured here, read bandwidth"), "{one}");
        let surest = learn("word loop", 9e9, 8e9);
        assert!(surest.starts_with("By that of the 2 methods") && !surest.contains("median"), "{surest}");
        let higher = learn(PER_LINE, 11e9, 7e9);
        assert!(
            higher.contains("(8 words unrolled)")
                && higher.contains(&format!(" {PER_LINE} has the higher median")),
            "{higher}"
        );
    }

    #[test]
    fn the_share_of_the_theory_counts_the_bytes_on_the_bus() {
        let mut machine = fathom_described::machine();
        let theory = Bandwidth { bytes_per_second: 40e9, formula: "the formula".to_owned() };
        machine.memory.theoretical_bandwidth = Fact::known(theory, "a test");
        let size = working_set::in_memory(&machine);
        let mut known = Known::new(&machine, None);
        let mut learn = |kind, method: &str, rate: f64| {
            let kernel = Kernel::find(kind, method).unwrap();
            known.learn(NAME, &point(kernel, size), fathom_described::found_within(0.1, rate, RATE));
        };
        learn("write", "8 words unrolled", 10e9);
        learn("read", PER_LINE, 2e9);
        learn("read", "8 words unrolled", 30e9);
        let text: Vec<String> = findings(&known).iter().map(|found| found.statement.plain()).collect();
        let text = text.join("\n");
        assert!(!text.contains("in theory is unknown"), "{text}");
        machine = fathom_described::machine();
        machine.memory.theoretical_bandwidth = Fact::unknown("the channels are unknown", "a test");
        let mut without = Known::new(&machine, None);
        let kernel = Kernel::find("read", "8 words unrolled").unwrap();
        without.learn(NAME, &point(kernel, size), Found::exact(30e9, RATE));
        let said: Vec<String> = findings(&without).iter().map(|found| found.statement.plain()).collect();
        assert!(said.join(" ").contains("no share of it is told: the channels are unknown."), "{said:?}");
        // Each line written is also read for ownership, so that 20 of 40 GB/s cross the bus; other cores than x86-64's choose.
        let bus = if std::env::consts::ARCH == "x86_64" { "{0.5}" } else { "{0.25} to {0.5}" };
        let written =
            "write bandwidth of memory by one core: {10000000000} (8 words unrolled): the bus moves";
        for sentence in [
            &*format!("{written} {bus} of the {{40000000000}}"),
            "read bandwidth of memory by one core: {30000000000} (8 words unrolled): the bus moves {0.75}",
            "reads {2000000000} of the program's bytes, or {16000000000} if whole lines are counted",
            "each by the method whose interval begins highest: {3} times as fast",
        ] {
            assert!(text.contains(sentence), "{sentence}: {text}");
        }
    }
}
