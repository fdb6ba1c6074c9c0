//! Findings from bandwidths: the fastest methods, and how naive counting misleads.

use super::point;
use crate::apparatus::memory::stream::kernel::{KERNELS, Kernel, Kind, PER_LINE};
use crate::apparatus::memory::stream::working_set::{self, Level};
use fathom_core::machine::Bandwidth;
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use fathom_core::sorting;

const NAME: &str = "memory/bandwidth";

pub fn findings(known: &Known) -> Vec<Finding> {
    let size = working_set::in_memory(known.machine);
    let [read, write, copy, scale, triad] = Kind::ALL.map(|kind| best_of_kind(kind, size, known));
    let all = [
        read,
        stores_of_both_kinds(size, known),
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

/// The best method of a kind at a size, and its rate.
pub fn best(kind: Kind, size: (Level, u64), known: &Known) -> Option<(&'static Kernel, Found)> {
    known.best(NAME, of_kind(kind).map(|kernel| (kernel, point(kernel, size))))
}

fn of_kind(kind: Kind) -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(move |kernel| kernel.kind == kind)
}

fn best_of_kind(kind: Kind, size: (Level, u64), known: &Known) -> Option<Finding> {
    let (kernel, rate) = best(kind, size, known)?;
    let number =
        of_kind(kind).filter(|kernel| known.deciding().found(NAME, &point(kernel, size)).is_some()).count();
    // One of another state of the core may have a higher median for that alone.
    let rates = of_kind(kind).filter_map(|kernel| Some((kernel, known.found(NAME, &point(kernel, size))?)));
    let all: Vec<_> = rates.filter(|(_, other)| other.is_of_the_state_of(&rate)).collect();
    let (higher, median) =
        all.iter().copied().max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))?;
    let theory = known.machine.memory.theoretical_bandwidth.value();
    let is_explained = kind != Kind::Read && best(Kind::Read, size, known).is_some();
    let kind = kind.name();
    let lead = match number {
        1 => statement!("By the one method measured here,"),
        number if is_explained => statement!("Likewise, of {number} methods,"),
        number => statement!(
            "By the first of the {number} methods measured here that is not significantly worse than the best,"
        ),
    };
    let others = if is_explained {
        (higher.method != kernel.method).then(|| {
            statement!(
                " {other} has the higher median, {median}, not significantly different.",
                other = higher.method,
                median = median.named(&format!("highest median, {kind}"))
            )
        })
    } else {
        other_methods(kernel, all)
    };
    Some(
        finding!(
            Question::Bandwidth,
            "{lead} {kind} bandwidth of memory by one core: {rate} ({method}{counted}){of_theory}.{others}",
            lead,
            rate = rate.named(&format!("best {kind}")),
            method = kernel.method,
            counted = counted(kernel.kind),
            of_theory = theory.map(|theory| of_theory(kernel, rate, theory)),
            others
        )
        .about(kind),
    )
}

/// What other methods of the same state of the core give, that whose interval begins highest first; `None` without one.
fn other_methods(best: &Kernel, mut all: Vec<(&'static Kernel, Found)>) -> Option<Statement> {
    all.retain(|(kernel, _)| kernel.method != best.method);
    sorting::by_number(&mut all, |(_, rate)| -rate.at_least());
    let each = all.iter().map(|(kernel, rate)| {
        let named = rate.named(&format!("{}, {}", kernel.kind.name(), kernel.method));
        let of_lines = (kernel.used_of_line() < 64).then(|| {
            let lines = rate.scaled(64.0 / kernel.used_of_line() as f64);
            let name = format!("{}, {}, whole lines", kernel.kind.name(), kernel.method);
            statement!(
                " of the words alone, and {lines} of the lines that they are in",
                lines = lines.named(&name)
            )
        });
        statement!("{method} {rate}{of_lines}", method = kernel.method, rate = named, of_lines)
    });
    let each = Statement::joined(each, ", ")?;
    Some(statement!(" Others: {each}.", each))
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
        "Reading memory, {read}, compared with writing it, {write}, each by the first method that is not significantly worse than the best: {ratio}.",
        read = read.named("best read"),
        write = write.named("best write"),
        ratio = read.times_as("fast", write, "best read over best write")
    ))
}

const NON_TEMPORAL: &str = " non-temporal";

/// The rates of a kind through the caches and non-temporal, by each method that has both, in one state of the core.
fn through_and_past(kind: Kind, size: (Level, u64), known: &Known) -> Vec<(&'static str, [Found; 2])> {
    let pair = |kernel: &'static Kernel| {
        let method = kernel.method.strip_suffix(NON_TEMPORAL)?;
        let through = known.found(NAME, &point(Kernel::find(kind.name(), method)?, size))?;
        let past = known.found(NAME, &point(kernel, size))?;
        let is_of_one = through.is_of_the_state_of(&past) && !through.is_mixture && !past.is_mixture;
        is_of_one.then_some((method, [through, past]))
    };
    of_kind(kind).filter_map(pair).collect()
}

/// Whether a store through the caches is as fast as a non-temporal one, though the prediction counts the read of its line; `None` unless
/// that is certain by every method that has both.
fn stores_of_both_kinds(size: (Level, u64), known: &Known) -> Option<Finding> {
    let stores = through_and_past(Kind::Write, size, known);
    let as_fast = |[through, past]: &[Found; 2]| {
        through.over(*past).ends().is_some_and(|(low, _)| low * LITTLE_LESS >= 1.0)
    };
    if !stores.iter().all(|(_, rates)| as_fast(rates)) {
        return None;
    }
    let quickest = |pairs: Vec<(&'static str, [Found; 2])>| {
        pairs.into_iter().max_by(|(_, [_, one]), (_, [_, other])| one.value.total_cmp(&other.value))
    };
    let (method, [through, past]) = quickest(stores)?;
    let is_slower = |[through, past]: &[Found; 2]| {
        through.value < past.value && through.differs_in_one_core_state(past) == Some(true)
    };
    let copies = through_and_past(Kind::Copy, size, known);
    let copy = copies.iter().all(|(_, rates)| is_slower(rates)).then(|| quickest(copies)).flatten();
    let copy = copy.map(|(method, [through, past])| {
        statement!(
            " A copy is slower through the caches: {through}, non-temporal {past} ({method}).",
            through = through.named("copy through the caches"),
            past = past.named("copy, non-temporal"),
            method
        )
    });
    Some(finding!(
        Question::Bandwidth,
        "Stores through the caches write memory as fast as non-temporal ones: {through} and {past} ({method}). The prediction counts that such a \
         store first reads its line: that costs nothing that shows here.{copy}",
        through = through.named("write through the caches"),
        past = past.named("write, non-temporal"),
        method,
        copy
    ))
}

/// The factor by which stores through the caches may be slower than non-temporal ones and still count as as fast: with a line read for
/// each line written they would take twice as long.
const LITTLE_LESS: f64 = 1.25;

/// The fastest method of each kind in each cache.
fn best_in_caches(known: &Known) -> Option<Finding> {
    let sizes = working_set::sizes(known.machine).into_iter();
    let sizes: Vec<(Level, u64)> = sizes.filter(|(level, _)| *level != Level::Memory).collect();
    let all = sizes.iter().flat_map(|size| Kind::ALL.map(|kind| Some(best(kind, *size, known)?.1.core)));
    let states: Vec<Option<CoreUse>> = all.flatten().collect();
    // No two of them are compared, so each has its own state.
    let are_unlike = states.iter().any(|state| *state != states[0]);
    let caches = sizes.into_iter().filter_map(|size| {
        let in_size = declared::size(size.1);
        let of_kind = |kind: Kind| {
            let (_, rate) = best(kind, size, known)?;
            let core = if are_unlike { state(rate.core) } else { "" };
            let core_use = rate.core.filter(|_| !are_unlike);
            let rate = Found { core: core_use, ..rate }.named(&format!("best {} in {in_size}", kind.name()));
            Some(statement!("{name} {rate}{core}", name = kind.name(), rate, core))
        };
        let rates = Statement::joined(Kind::ALL.into_iter().filter_map(of_kind), ", ")?;
        Some(statement!(
            "in {in_size} ({level} by its size) {rates}",
            in_size = &in_size,
            level = size.0.name(),
            rates
        ))
    });
    let caches = Statement::joined(caches, "; ")?;
    Some(finding!(
        Question::Bandwidth,
        "By the first method of each kind that is not significantly worse than the best, {caches}.",
        caches
    ))
}

/// The state of the core of a rate, behind it.
fn state(core: Option<CoreUse>) -> &'static str {
    match core {
        Some(CoreUse::Shared) => " (core shared)",
        Some(CoreUse::Mixture | CoreUse::Both) => " (core shared part of the time)",
        Some(CoreUse::Alone) | None => "",
    }
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
    use fathom_core::machine::Fact;
    use fathom_core::statistics::{Interval, Measured};

    const RATE: Dimension = Dimension::Of(Unit::BytesPerSecond);

    #[test]
    fn the_first_method_not_told_from_the_best_is_named_beside_one_with_a_higher_median() {
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
        let surest = learn("word loop", 8e9, 7.5e9);
        assert!(
            surest.starts_with("By the first of the 2 methods") && !surest.contains("median"),
            "{surest}"
        );
        let others = learn(PER_LINE, 11e9, 7e9);
        let lower = format!(
            " Others: word loop {{8000000000}}, {PER_LINE} {{11000000000}} of the words alone, and {{88000000000}} of the lines that they are in."
        );
        assert!(others.contains("(8 words unrolled)") && others.ends_with(&lower), "{others}");
        let mut learn = |method: &str, value: f64, low: f64| {
            let kernel = Kernel::find("write", method).unwrap();
            let interval = Some(Interval { low, high: 1.1 * value });
            known.learn(NAME, &point(kernel, size), Found::measured(Measured { value, interval }, RATE));
        };
        learn("word loop", 10e9, 8e9);
        learn("8 words unrolled", 11e9, 10e9);
        let higher = best_of_kind(Kind::Write, size, &known).expect("a finding").statement.plain();
        assert!(higher.contains(" 8 words unrolled has the higher median, {11000000000}"), "{higher}");
    }

    #[test]
    fn stores_through_the_caches_are_as_fast_only_where_every_pair_shows_it() {
        let machine = fathom_described::machine();
        let size = working_set::in_memory(&machine);
        let is_both = |kernel: &&Kernel| kernel.method.ends_with(NON_TEMPORAL);
        let past = of_kind(Kind::Write).find(is_both).expect("a non-temporal store").method;
        let method = past.strip_suffix(NON_TEMPORAL).expect("it has both");
        let said = |through: f64, share: f64, copied: f64| {
            let mut known = Known::new(&machine, None);
            let mut learn = |kind: &str, method: &str, rate: f64| {
                let kernel = Kernel::find(kind, method).expect("a kernel");
                known.learn(NAME, &point(kernel, size), fathom_described::found_within(share, rate, RATE));
            };
            learn("write", method, through);
            learn("write", past, 28e9);
            learn("copy", method, copied);
            learn("copy", past, 47e9);
            stores_of_both_kinds(size, &known).map(|finding| finding.statement.plain())
        };
        let text = said(29e9, 0.02, 33e9).expect("as fast");
        assert!(
            text.contains("{29000000000} and {28000000000}") && text.contains("A copy is slower"),
            "{text}"
        );
        assert!(said(29e9, 0.02, 47e9).is_some_and(|text| !text.contains("copy")), "no copy is slower");
        assert_eq!(said(15e9, 0.02, 33e9), None, "a line is read for each");
        assert_eq!(said(28e9, 0.3, 33e9), None, "it may be slower");
    }

    #[test]
    fn rates_of_caches_have_each_its_own_state_of_the_core() {
        let machine = fathom_described::machine();
        let size =
            working_set::sizes(&machine).into_iter().find(|(level, _)| *level == Level::Cache(1)).unwrap();
        let said = |of_read: CoreUse, of_write: CoreUse| {
            let mut known = Known::new(&machine, None);
            for (kind, core) in [("read", of_read), ("write", of_write)] {
                let kernel = Kernel::find(kind, "8 words unrolled").unwrap();
                let rate = Found { core: Some(core), ..fathom_described::found_within(0.1, 30e9, RATE) };
                known.learn(NAME, &point(kernel, size), rate);
            }
            best_in_caches(&known).expect("a finding").statement
        };
        let unlike = said(CoreUse::Alone, CoreUse::Shared);
        assert!(
            unlike.plain().contains("read {30000000000}, write {30000000000} (core shared)"),
            "{}",
            unlike.plain()
        );
        assert!(unlike.figures().all(|figure| figure.found.core.is_none()), "named, so not marked");
        let alike = said(CoreUse::Shared, CoreUse::Shared);
        assert!(alike.figures().all(|figure| figure.found.core == Some(CoreUse::Shared)));
        assert!(!alike.plain().contains("(core shared)"));
    }

    #[test]
    fn a_median_of_another_state_of_the_core_is_not_said_to_be_higher() {
        let machine = fathom_described::machine();
        let size = working_set::in_memory(&machine);
        let mut known = Known::new(&machine, None);
        let rates = [
            ("word loop", [20e9, 17e9], CoreUse::Alone),
            ("8 words unrolled", [21e9, 16e9], CoreUse::Shared),
        ];
        for (method, [value, low], core) in rates {
            let interval = Some(Interval { low, high: 1.1 * value });
            let rate = Found::measured(Measured { value, interval }, RATE);
            let kernel = Kernel::find("write", method).unwrap();
            known.learn(NAME, &point(kernel, size), Found { core: Some(core), ..rate });
        }
        let said = best_of_kind(Kind::Write, size, &known).expect("a finding").statement.plain();
        assert!(said.contains("of the 2 methods") && said.contains("(word loop)"), "{said}");
        assert!(!said.contains("higher median"), "{said}");
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
            "Reading memory, {30000000000}, compared with writing it, {10000000000}, each by the first method that is not significantly worse than the best: {3} times as fast",
        ] {
            assert!(text.contains(sentence), "{sentence}: {text}");
        }
    }
}
