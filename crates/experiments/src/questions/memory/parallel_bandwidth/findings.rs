//! Findings on several threads: what they move together beside one, and beside what the channels can carry.

use super::{ABOUT, all_bytes, point};
use crate::apparatus::memory::stream::kernel::{KERNELS, Kernel, Kind};
use crate::apparatus::memory::stream::working_set;
use crate::questions::memory::bandwidth;
use fathom_core::prelude::*;

pub fn findings(known: &Known) -> Vec<Finding> {
    let of_kind = |kind| {
        let beside_one = best(kind, known, true).and_then(|kernel| of_kernel(kernel, known));
        beside_one.or_else(|| beside_one_core(best(kind, known, false)?, known))
    };
    Kind::ALL.into_iter().filter_map(of_kind).collect()
}

fn rate(kernel: &Kernel, threads: u64, known: &Known) -> Option<Found> {
    known.found(ABOUT.name, &point(kernel, threads, all_bytes(threads, known.machine)))
}

/// The kernel of a kind that is the best of all threads together, perhaps only of those with a rate of one thread as well: one thread is
/// compared by the same method.
fn best(kind: Kind, known: &Known, is_with_one: bool) -> Option<&'static Kernel> {
    let all = known.machine.allowed_cpus().len() as u64;
    let kernels = KERNELS.iter().filter(|kernel| kernel.kind == kind);
    let mine = kernels.filter(|kernel| !is_with_one || rate(kernel, 1, known).is_some());
    let points = mine.map(|kernel| (kernel, point(kernel, all, all_bytes(all, known.machine))));
    known.best(ABOUT.name, points).map(|(kernel, _)| kernel)
}

/// All threads beside one, which this experiment measured alike.
fn of_kernel(kernel: &Kernel, known: &Known) -> Option<Finding> {
    let all = known.machine.allowed_cpus().len() as u64;
    let (one, together) = (rate(kernel, 1, known)?, rate(kernel, all, known).filter(|_| all > 1)?);
    let what = format!("{}, {}", kernel.kind.name(), kernel.method);
    Some(
        finding!(
            Question::Bandwidth,
            "{all} threads {name} ({method}) {together} together, one {one}: {ratio}{share}.{less}{elsewhere}{copied}",
            name = kernel.kind.name(),
            method = kernel.method,
            together = together.named(&format!("{all} threads, {what}")),
            one = one.named(&format!("one thread, {what}")),
            ratio = together.times_as("much", one, &format!("{all} threads over one, {what}")),
            share = share_of_the_channels(kernel, together, known),
            less = less_than_one(kernel, [together, one], known),
            elsewhere = on_another_core(kernel, one, known),
            copied = copied(kernel, together, known)
        )
        .about(what),
    )
}

const LESS: &str = " All together move less than one alone.";

fn is_less(together: Found, one: Found) -> bool {
    together.value < one.value && together.differs_from(&one) == Some(true)
}

/// That all threads move less than one alone does, by the same method or by the best of one core, whatever method all of them use.
fn less_than_one(kernel: &Kernel, [together, one]: [Found; 2], known: &Known) -> Option<Statement> {
    if is_less(together, one) {
        return Some(LESS.into());
    }
    let all = known.machine.allowed_cpus().len() as u64;
    let (fastest, most) = bandwidth::best(kernel.kind, working_set::in_memory(known.machine), known)?;
    let mut rates = KERNELS.iter().filter(|other| other.kind == kernel.kind);
    let is_less_by_each = rates.all(|kernel| rate(kernel, all, known).is_none_or(|rate| is_less(rate, most)));
    let what = format!("one core, {}, by the best method", kernel.kind.name());
    is_less_by_each.then(|| {
        statement!(
            " That is less than one core alone moves by {method} (memory/bandwidth): {most}.",
            method = fastest.method,
            most = most.named(&what)
        )
    })
}

/// That a copy moves more than what is read by any method: then the rate of reading is not the limit of the memory. `together` is the rate
/// that was named.
fn copied(kernel: &Kernel, together: Found, known: &Known) -> Option<Statement> {
    let all = known.machine.allowed_cpus().len() as u64;
    let copied = rate(best(Kind::Copy, known, false)?, all, known).filter(|_| kernel.kind == Kind::Read)?;
    let reads = KERNELS.iter().filter(|kernel| kernel.kind == Kind::Read);
    let reads = reads.filter_map(|kernel| Some((kernel, rate(kernel, all, known)?)));
    let (fastest, read) =
        reads.fold((kernel, together), |most, of| if of.1.value > most.1.value { of } else { most });
    let than = (fastest.method != kernel.method).then(|| {
        let read = read.named("all threads, the highest rate of reading");
        statement!(
            " as by the method of reading with the highest median, {read} ({method})",
            read,
            method = fastest.method
        )
    });
    let is_more = copied.value > read.value && copied.differs_from(&read) == Some(true);
    is_more.then(|| {
        statement!(
            " Copying they move {copied}, each byte counted as read and as written, which is {times} times as much{than}: the rate of \
             reading is not the limit of the memory.",
            copied = copied.named("all threads, copy beside read"),
            times = copied.over(read).named("copy over read, all threads"),
            than
        )
    })
}

/// What share of the channels' bandwidth all threads carry at least; nothing where that is not known.
fn share_of_the_channels(kernel: &Kernel, together: Found, known: &Known) -> Option<Statement> {
    let theory = known.machine.memory.theoretical_bandwidth.value()?;
    let carried = Found::exact(theory.bytes_per_second, together.dimension);
    let part = together.scaled(kernel.bus_bytes().0).share_of(carried);
    Some(statement!(
        ", at least {part} of the theoretical bandwidth of the channels ({formula})",
        part = part.named(&format!("all threads over theory, {}, {}", kernel.kind.name(), kernel.method)),
        formula = &theory.formula
    ))
}

/// What one thread moves by the same method in `memory/bandwidth`, if that is significantly another rate.
fn on_another_core(kernel: &Kernel, one: Found, known: &Known) -> Option<Statement> {
    let size = working_set::in_memory(known.machine);
    let other = known.found("memory/bandwidth", &bandwidth::point(kernel, size))?;
    let states = match (one.core, other.core) {
        (None, Some(CoreUse::Alone)) => " with its core alone (here with whatever the core did)",
        _ => "",
    };
    let what = format!("one thread, {}, {}, memory/bandwidth", kernel.kind.name(), kernel.method);
    (other.differs_from(&one) == Some(true)).then(|| {
        statement!(
            " By memory/bandwidth one thread moves {other}{states}: the two rates of one thread differ.",
            other = other.named(&what)
        )
    })
}

/// What is said of threads on several CPUs beside one on a core whose state was told.
fn unlike_states(together: Found, one: Found) -> &'static str {
    match (together.core, one.core) {
        (None, Some(CoreUse::Alone | CoreUse::Shared)) => {
            " Several threads' rate is of whatever else used their cores, that of one is of one state of its core."
        }
        _ => "",
    }
}

/// All threads beside one core as `memory/bandwidth` measured it, where this experiment has no rate of one thread, as in quick runs: bytes
/// counted alike, each by its fastest method.
fn beside_one_core(kernel: &Kernel, known: &Known) -> Option<Finding> {
    let all = known.machine.allowed_cpus().len() as u64;
    let together = rate(kernel, all, known)?;
    let size = working_set::in_memory(known.machine);
    // A method that one core was not measured with is not to be beaten by those that it was.
    known.found("memory/bandwidth", &bandwidth::point(kernel, size))?;
    let (fastest, one) = bandwidth::best(kernel.kind, size, known)?;
    let (what, name) = (format!("{}, {}", kernel.kind.name(), kernel.method), kernel.kind.name());
    let finding = finding!(
        Question::Bandwidth,
        "{all} threads {name} ({method}) {together} together, one thread {one} by the first method not significantly worse than the best ({fastest}, \
         memory/bandwidth): {ratio}{share}.{less}{states}",
        share = share_of_the_channels(kernel, together, known),
        less = is_less(together, one).then(|| Statement::from(LESS)),
        states = unlike_states(together, one),
        method = kernel.method,
        fastest = fastest.method,
        together = together.named(&format!("{all} threads, {what}")),
        one = one.named(&format!("one core, {what}")),
        ratio = together.times_as("much", one, &format!("{all} threads over one core, {what}"))
    );
    Some(finding.about(what))
}

#[cfg(test)]
mod tests {
    use super::super::{ParallelBandwidth, kernels};
    use super::*;
    use fathom_described::plant;

    #[test]
    fn threads_are_a_multiple_of_each_rate_of_one_that_differs() {
        let machine = fathom_described::machine();
        let kernel = kernels(&machine)[0];
        let all = machine.allowed_cpus().len() as u64;
        let text = |one_core: f64| {
            let mut known = Known::new(&machine, None);
            let rates = [(1, 10e9), (all, 20e9)];
            let rates =
                rates.map(|(threads, rate)| (point(kernel, threads, all_bytes(threads, &machine)), rate));
            plant(&mut known, &ParallelBandwidth, rates);
            let by_one = bandwidth::point(kernel, working_set::in_memory(&machine));
            plant(&mut known, &bandwidth::Bandwidth, [(by_one, one_core)]);
            of_kernel(kernel, &known).expect("a finding").statement.plain()
        };
        assert!(text(10e9).contains("times as much"), "{}", text(10e9));
        let unlike = text(13e9);
        assert!(unlike.contains("{20000000000} together, one {10000000000}: {2} times as much."), "{unlike}");
        assert!(
            unlike.ends_with("one thread moves {13000000000}: the two rates of one thread differ."),
            "{unlike}"
        );
    }

    /// Two cores wrote 14.3 GB/s together, 1.41 times as much as one by the same method, and one 21.4 by another: unsaid.
    #[test]
    fn all_threads_that_move_less_than_one_alone_are_said_to() {
        let machine = fathom_described::machine();
        let all = machine.allowed_cpus().len() as u64;
        let writes = KERNELS.iter().filter(|kernel| kernel.kind == Kind::Write);
        let (past, through): (Vec<_>, Vec<_>) =
            writes.partition(|kernel| kernel.method.ends_with("non-temporal"));
        let (through, past) = (through[0], past[0]);
        let text = |together: f64, by_past: &[f64]| {
            let mut known = Known::new(&machine, None);
            let rates = [(through, 1, 10e9), (through, all, together)];
            let rates = rates.into_iter().chain(by_past.iter().map(|rate| (past, all, *rate)));
            let at = |(kernel, threads, rate)| (point(kernel, threads, all_bytes(threads, &machine)), rate);
            plant(&mut known, &ParallelBandwidth, rates.map(at));
            let by_one = bandwidth::point(past, working_set::in_memory(&machine));
            plant(&mut known, &bandwidth::Bandwidth, [(by_one, 21e9)]);
            findings(&known)[0].statement.plain()
        };
        let less = text(14e9, &[]);
        let than = format!("That is less than one core alone moves by {} (memory/bandwidth): ", past.method);
        assert!(less.contains(&(than + "{21000000000}.")), "{less}");
        assert!(text(8e9, &[]).contains(LESS), "{}", text(8e9, &[]));
        assert!(!text(22e9, &[]).contains("less than"), "{}", text(22e9, &[]));
        assert!(!text(14e9, &[22e9]).contains("less than"), "by another method all move more");
    }

    #[test]
    fn a_copy_that_moves_more_than_is_read_says_that_reading_is_not_the_limit_of_the_memory() {
        let machine = fathom_described::machine();
        let all = machine.allowed_cpus().len() as u64;
        let kernel =
            |kind: Kind| *kernels(&machine).iter().find(|kernel| kernel.kind == kind).expect("a kernel");
        let text = |copied: f64| {
            let mut known = Known::new(&machine, None);
            for (kind, rates) in [(Kind::Read, [10e9, 20e9]), (Kind::Copy, [10e9, copied])] {
                let rates = [1, all].into_iter().zip(rates);
                let of = |(threads, rate)| (point(kernel(kind), threads, all_bytes(threads, &machine)), rate);
                plant(&mut known, &ParallelBandwidth, rates.map(of));
            }
            findings(&known)[0].statement.plain()
        };
        assert!(
            text(30e9).contains("which is {1.5} times as much: the rate of reading is not"),
            "{}",
            text(30e9)
        );
        assert!(!text(20e9).contains("Copying"), "{}", text(20e9));
    }

    #[test]
    fn a_copy_is_set_beside_the_fastest_read_though_another_is_set_beside_one_thread() {
        let machine = fathom_described::machine();
        let all = machine.allowed_cpus().len() as u64;
        let of = |kind: Kind| KERNELS.iter().filter(|kernel| kernel.kind == kind).collect::<Vec<_>>();
        let (reads, copy) = (of(Kind::Read), of(Kind::Copy)[0]);
        let text = |other: f64| {
            let mut known = Known::new(&machine, None);
            let rates =
                [(reads[0], 1, 10e9), (reads[0], all, 20e9), (reads[1], all, other), (copy, all, 30e9)];
            let at = |(kernel, threads, rate)| (point(kernel, threads, all_bytes(threads, &machine)), rate);
            plant(&mut known, &ParallelBandwidth, rates.map(at));
            findings(&known)[0].statement.plain()
        };
        let faster = text(25e9);
        assert!(faster.contains("{20000000000} together, one {10000000000}"), "{faster}");
        let than = format!(
            "{{1.2}} times as much as by the method of reading with the highest median, {{25000000000}} ({})",
            reads[1].method
        );
        assert!(faster.contains(&than), "{faster}");
        assert!(!text(30e9).contains("Copying"), "{}", text(30e9));
    }
}
