//! Findings on several threads: what they move together beside one, and beside what the channels can carry.

use super::{ABOUT, all_bytes, point};
use crate::apparatus::memory::stream::kernel::{KERNELS, Kernel, Kind};
use crate::apparatus::memory::stream::working_set;
use crate::questions::memory::bandwidth;
use fathom_core::prelude::*;

pub fn findings(known: &Known) -> Vec<Finding> {
    let of_kind = |kind| {
        let kernel = best(kind, known)?;
        beside_one_core(kernel, known).or_else(|| of_kernel(kernel, known))
    };
    Kind::ALL.into_iter().filter_map(of_kind).collect()
}

/// The kernel of a kind whose rate of all threads together is at least the greatest.
fn best(kind: Kind, known: &Known) -> Option<&'static Kernel> {
    let all = known.machine.allowed_cpus().len() as u64;
    let measured = KERNELS.iter().filter(|kernel| kernel.kind == kind).filter_map(|kernel| {
        let rate = known.found(ABOUT.name, &point(kernel, all, all_bytes(all, known.machine)))?;
        Some((kernel, rate.at_least()))
    });
    measured.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(kernel, _)| kernel)
}

fn of_kernel(kernel: &Kernel, known: &Known) -> Option<Finding> {
    let all = known.machine.allowed_cpus().len() as u64;
    let rate = |threads| known.found(ABOUT.name, &point(kernel, threads, all_bytes(threads, known.machine)));
    let (one, together) = (rate(1)?, rate(all).filter(|_| all > 1)?);
    let what = format!("{}, {}", kernel.kind.name(), kernel.method);
    if let Some(alone) = on_another_core(kernel, one, known) {
        let times = |of: Found, by: &str| {
            if together.differs_from(&of) == Some(false) {
                return "not significantly different from".into();
            }
            let times = together.over(of).named(&format!("{all} threads over one, {what}{by}"));
            statement!("{times} times", times)
        };
        let finding = finding!(
            Question::Bandwidth,
            "{all} threads {name} ({method}) {together} together, {here} what one moves here, {one}, and {there} what it moves by \
             memory/bandwidth, {alone}: the two rates of one thread differ.",
            name = kernel.kind.name(),
            method = kernel.method,
            together = together.named(&format!("{all} threads, {what}")),
            one = one.named(&format!("one thread, {what}")),
            alone = alone.named(&format!("one thread, {what}, memory/bandwidth")),
            here = times(one, ""),
            there = times(alone, ", memory/bandwidth")
        );
        return Some(finding.about(what));
    }
    Some(
        finding!(
            Question::Bandwidth,
            "{all} threads {name} ({method}) {together} together, one {one}: {ratio}{share}.",
            name = kernel.kind.name(),
            method = kernel.method,
            together = together.named(&format!("{all} threads, {what}")),
            one = one.named(&format!("one thread, {what}")),
            ratio = together.times_as("much", one, &format!("{all} threads over one, {what}")),
            share = share_of_the_channels(kernel, together, known)
        )
        .about(what),
    )
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

/// What one thread moves by the same method in `memory/bandwidth`, if that is significantly another rate: then there are two ratios.
fn on_another_core(kernel: &Kernel, one: Found, known: &Known) -> Option<Found> {
    let size = working_set::in_memory(known.machine);
    let alone = known.found("memory/bandwidth", &bandwidth::point(kernel, size))?;
    (alone.differs_from(&one) == Some(true)).then_some(alone)
}

/// What is said of threads on several CPUs beside one on a core whose state was told.
const UNLIKE_STATES: &str =
    " Several threads' rate is of whatever else used their cores, that of one is of one state of its core.";

/// All threads beside one core as `memory/bandwidth` measured it, which has more methods than this experiment has of one thread: bytes
/// counted alike, each by its fastest method.
fn beside_one_core(kernel: &Kernel, known: &Known) -> Option<Finding> {
    let all = known.machine.allowed_cpus().len() as u64;
    let together = known.found(ABOUT.name, &point(kernel, all, all_bytes(all, known.machine)))?;
    let size = working_set::in_memory(known.machine);
    // A method that one core was not measured with is not to be beaten by those that it was.
    known.found("memory/bandwidth", &bandwidth::point(kernel, size))?;
    let (fastest, one) = bandwidth::best(kernel.kind, size, known)?;
    let (what, name) = (format!("{}, {}", kernel.kind.name(), kernel.method), kernel.kind.name());
    let finding = finding!(
        Question::Bandwidth,
        "{all} threads {name} ({method}) {together} together, one thread {one} by the method whose interval begins highest ({fastest}, \
         memory/bandwidth): {ratio}{share}.{states}",
        share = share_of_the_channels(kernel, together, known),
        states = if together.core.is_none() && one.core.is_some() { UNLIKE_STATES } else { "" },
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
    use super::super::kernels;
    use super::*;

    #[test]
    fn threads_are_a_multiple_of_each_rate_of_one_that_differs() {
        let machine = fathom_described::machine();
        let kernel = kernels(&machine)[0];
        let all = machine.allowed_cpus().len() as u64;
        let text = |one_core: f64| {
            let mut known = Known::new(&machine, None);
            let mut learn = |name: &str, point: Point, value: f64| {
                let dimension = Dimension::Of(Unit::BytesPerSecond);
                known.learn(name, &point, fathom_described::found_within(0.02, value, dimension));
            };
            learn(ABOUT.name, point(kernel, 1, all_bytes(1, &machine)), 10e9);
            learn(ABOUT.name, point(kernel, all, all_bytes(all, &machine)), 20e9);
            learn("memory/bandwidth", bandwidth::point(kernel, working_set::in_memory(&machine)), one_core);
            of_kernel(kernel, &known).expect("a finding").statement.plain()
        };
        assert!(text(10e9).contains("times as much"), "{}", text(10e9));
        let unlike = text(13e9);
        assert!(unlike.contains("{2} times what one moves here"), "{unlike}");
        assert!(unlike.contains("and {1.538461538461538"), "{unlike}");
    }
}
