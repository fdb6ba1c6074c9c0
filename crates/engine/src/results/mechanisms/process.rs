//! Why a process costs what a thread does not: its own address space, with page tables to copy and pages to copy on writing.

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{Dimension, Found, Known, Selector, Statement, statement};
use fathom_core::quantity::Unit;

pub(super) const RULE: Rule = Rule {
    name: "process_against_thread",
    condition: "a fork costs significantly more than a vfork, which shares the address space, and than a thread",
    judge,
    points: &[FORK, VFORK, THREAD, LARGE, COPIED],
};

pub(super) const FORK: Selector =
    Selector::only("cpu/process_creation", &[("measure", Name("fork, exit, wait"))]);
pub(super) const VFORK: Selector =
    Selector::only("cpu/process_creation", &[("measure", Name("vfork, exit, wait"))]);
pub(super) const THREAD: Selector =
    Selector::only("cpu/thread_creation", &[("measure", Name("create and join"))]);
const LARGE: Selector =
    Selector::only("cpu/process_creation", &[("measure", Name("fork of a large parent")), ("resident", Any)]);
const COPIED: Selector = Selector::only(
    "memory/minor_fault",
    &[("access", Name("after fork, written by the child")), ("batch", Any)],
);

/// The page of the series of large parents, bytes.
const PAGE: f64 = 4096.0;

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let (fork, vfork, thread) = (FORK.found(known)?, VFORK.found(known)?, THREAD.found(known)?);
    let more = |than: Found| fork.value > than.value && fork.differs_from(&than) == Some(true);
    if !more(vfork) || !more(thread) {
        return None;
    }
    let space = fork.beyond(vfork)?;
    let headline = statement!(
        "A process costs {ratio} times what a thread does; its address space is {share} of it.",
        ratio = fork.over(thread).named("process over thread"),
        // By the rest, whose interval cannot reach above the whole.
        share = vfork.share_of(fork).rest().named("address space, share of a process")
    );
    let because = statement!(
        "fork, exit and wait take {fork}; with vfork, which borrows the address space, {vfork}, a thread \
         {thread}. The first difference is the address space, {space}; {others}.{page_tables}{copies}",
        fork = fork.named("fork, exit, wait"),
        vfork = vfork.named("vfork, exit, wait"),
        thread = thread.named("create and join"),
        space = space.named("address space"),
        others = beside_the_space(vfork, thread),
        page_tables = page_tables(fork, known),
        copies = copies(fork, space, known)
    );
    Some(Conclusion::of(headline, because))
}

/// What a process without an address space of its own costs beyond a thread. A thread has a stack to map, which may cost as much.
fn beside_the_space(vfork: Found, thread: Found) -> Statement {
    match vfork.beyond(thread) {
        Some(difference) => statement!(
            "the second contains descriptors, signal handlers and the wait of the parent, {difference}",
            difference = difference.named("descriptors and the like")
        ),
        None => "descriptors, signal handlers and the wait of the parent do not exceed what a thread needs of its own, a \
                 stack to map"
            .into(),
    }
}

/// The cost of each further page of the parent, between the smallest two parents and between the largest two: one line through all would
/// have the slope of the largest. Of parents in the state of the core of `fork` alone: what a neighbour adds to one of two is no page.
fn page_tables(fork: Found, known: &Known) -> Statement {
    let mut parents = LARGE.along("resident", known);
    parents.retain(|(_, parent)| parent.core == fork.core);
    let ([few, more, _, ..], [.., many, most]) = (parents.as_slice(), parents.as_slice()) else {
        return Statement::default();
    };
    let each = |(less, one): &(u64, Found), (more, other): &(u64, Found)| {
        Some(other.beyond(*one)?.scaled(PAGE / (more - less) as f64))
    };
    let size = |bytes: u64, name: &str| Found::exact(bytes as f64, Dimension::Of(Unit::Bytes)).named(name);
    match (each(few, more), each(many, most)) {
        (Some(first), Some(last)) => statement!(
            " Page tables: {first} for each page of 4 KiB that the parent has written between {few} and {more}, {last} between {many} and {most}.",
            first = first.named("page of a small parent"),
            few = size(few.0, "smallest parent"),
            more = size(more.0, "next parent"),
            last = last.named("page of a large parent"),
            many = size(many.0, "next to the largest parent"),
            most = size(most.0, "largest parent")
        ),
        _ => Statement::default(),
    }
}

/// The cost of copying a page that is written afterwards, in the state of the core of `fork`.
fn copies(fork: Found, space: Found, known: &Known) -> Statement {
    let each = COPIED.found(known).filter(|each| each.core == fork.core);
    let Some(each) = each else { return Statement::default() };
    let copies = Found { dimension: Dimension::Count, ..space.over(each) };
    statement!(
        " Copy-on-write: {each} for each page that is written afterwards; the whole address space costs as \
         much as {copies} of them.",
        each = each.named("page copied on write"),
        copies = copies.named("address space in pages copied")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use serde_json::json;

    fn conclusion(vfork: f64) -> Option<Conclusion> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (place, ns) in [(FORK, 60e3), (VFORK, vfork), (THREAD, 10e3)] {
            place.plant(&mut known, ns);
        }
        for (mib, ns) in [(1_u64, 100e3), (2, 125_600.0), (3, 151_200.0), (4, 202_400.0)] {
            LARGE.plant_at(&mut known, &[("resident", json!(mib << 20))], ns);
        }
        COPIED.plant_at(&mut known, &[("batch", json!(1))], 2e3);
        judge(&Premises { known: &known, points: &[] })
    }

    #[test]
    fn what_a_process_has_of_its_own_is_told_part_by_part() {
        let conclusion = conclusion(12e3).expect("a mechanism");
        assert!(
            conclusion
                .headline
                .plain()
                .contains("{6} times what a thread does; its address space is {0.8} of it.")
        );
        let because = conclusion.because.plain();
        assert!(
            because.contains("Page tables: {100} for each page of 4 KiB that the parent has written between {1048576} and {2097152}, {200} between"),
            "{because}"
        );
        assert!(because.contains("costs as much as {24} of them."), "{because}");
    }

    #[test]
    fn a_vfork_that_costs_less_than_a_thread_has_no_cost_below_zero() {
        let because = conclusion(7e3).expect("a mechanism").because.plain();
        assert!(because.contains("do not exceed what a thread needs") && !because.contains('−'), "{because}");
        assert!(!because.contains("{-"), "{because}");
    }

    /// A parent of 1 MiB took 215 µs with the core alone, one of 4 MiB 493 µs with it shared: 362 ns a page, of which a third was the neighbour.
    #[test]
    fn pages_and_copies_are_of_the_state_of_the_fork() {
        use fathom_core::experiment::CoreUse::{self, Alone, Shared};
        let machine = planted::machine();
        let said = |middle: CoreUse, copied: Option<CoreUse>| {
            let mut known = Known::new(&machine, None);
            let mut learn = |place: Selector, at: &[(&str, serde_json::Value)], ns: f64, core| {
                let ns = fathom_described::found(ns, Dimension::Of(Unit::Nanoseconds));
                known.learn(place.experiment, &place.point(at), Found { core, ..ns });
            };
            for (place, ns) in [(FORK, 178e3), (VFORK, 31e3), (THREAD, 24.6e3)] {
                learn(place, &[], ns, Some(Alone));
            }
            for (mib, ns, core) in
                [(1_u64, 215e3, Alone), (4, 493e3, middle), (16, 1.4e6, Alone), (64, 4.8e6, Alone)]
            {
                learn(LARGE, &[("resident", json!(mib << 20))], ns, Some(core));
            }
            learn(COPIED, &[("batch", json!(1))], 3.9e3, copied);
            judge(&Premises { known: &known, points: &[] }).expect("a mechanism").because.plain()
        };
        let like = said(Alone, Some(Alone));
        assert!(like.contains("between {1048576} and {4194304}") && like.contains("Copy-on-write"), "{like}");
        let unlike = said(Shared, None);
        assert!(
            unlike.contains("between {1048576} and {16777216}") && !unlike.contains("Copy-on-write"),
            "{unlike}"
        );
    }

    #[test]
    fn a_process_that_costs_no_more_has_nothing_to_explain() {
        assert!(conclusion(60e3).is_none());
    }
}
