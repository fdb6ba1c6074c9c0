//! Findings from context switches: comparisons with each other, and with the creation of a process or thread.

use super::{
    MEMBERS, NAME, PIPE_NET, PROCESSES, RING, STACKS, THREADS, USER_LEVEL, WORKING_SET, YIELD, between,
};
use crate::expected::rule_of_thumb::{self, RuleOfThumb};
use crate::questions::cpu::{process_creation, thread_creation};
use fathom_core::prelude::*;

pub fn findings(known: &Known) -> Vec<Finding> {
    let all = [
        address_space(known),
        by_preemption(known),
        by_giving_up_or_blocking(known),
        in_rings(known),
        switch_against_creation(known),
        without_the_kernel(known),
    ];
    all.into_iter().chain(by_rules(known)).flatten().collect()
}

/// The answers of three ways to one question, and what a process that blocks does besides switching.
fn by_giving_up_or_blocking(known: &Known) -> Option<Finding> {
    let given_up = known.found(NAME, &between(YIELD, PROCESSES))?;
    let blocked = known.found(NAME, &between(PIPE_NET, PROCESSES))?;
    // What finds its next turn without having slept was neither blocked nor woken.
    if known.often_preempted(NAME, &between(PIPE_NET, PROCESSES)).is_some() {
        return Some(finding!(
            Question::Thread,
            "By `sched_yield` a switch between processes takes {given_up}, by a pipe, less the pipe's cost, {blocked}.",
            given_up = given_up.named("switch by yielding"),
            blocked = blocked.named("switch between processes")
        ));
    }
    let besides = blocked.beyond(given_up).map(|besides| {
        statement!(
            ": to block and be woken takes at least {besides} more, though the yield includes its system call",
            besides = besides.named("blocking over giving up the CPU")
        )
    });
    Some(finding!(
        Question::Thread,
        "By `sched_yield` a switch between processes takes {given_up}, blocked on a pipe, less the pipe's cost, {blocked}{besides}.",
        given_up = given_up.named("switch by yielding"),
        blocked = blocked.named("switch between processes"),
        besides
    ))
}

/// That a switch by a pipe is often one by preemption, in which nobody sleeps: the kernel's own counts show it.
fn by_preemption(known: &Known) -> Option<Finding> {
    let of = |between_whom: &'static str| {
        let share = known.often_preempted(NAME, &between(PIPE_NET, between_whom))?;
        let share =
            Found::exact(share, Dimension::Share).named(&format!("switches by preemption, {between_whom}"));
        Some(statement!("{share} between {between_whom}", share, between_whom))
    };
    let shares = Statement::joined([PROCESSES, THREADS].into_iter().filter_map(of), ", ")?;
    Some(finding!(
        Question::Thread,
        "Of the switches by a pipe these are preemptions, as the kernel counts them: {shares}. In these the one that is woken takes the CPU \
         from its waker, which finds its own next turn there without having slept: they are switches, without the cost of going to sleep.",
        shares
    ))
}

/// A switch in a ring of two members and in the largest one, there also with the largest working set.
fn in_rings(known: &Known) -> Option<Finding> {
    let of_ring = |members, set| {
        known.found(NAME, &between(RING, PROCESSES).with(&MEMBERS, members).with(&WORKING_SET, set))
    };
    let numbers = |parameter: &'static Parameter| {
        known.points(NAME).filter_map(|point| point.number_of(parameter.name)).collect::<Vec<_>>()
    };
    let most = numbers(&MEMBERS).into_iter().filter(|most| *most > 2 && of_ring(*most, 0).is_some()).max()?;
    let (few, many) = (of_ring(2, 0)?, of_ring(most, 0)?);
    let largest =
        numbers(&WORKING_SET).into_iter().filter(|set| *set > 0 && of_ring(most, *set).is_some()).max();
    let with_set = largest.and_then(|set| Some((set, of_ring(most, set)?))).map(|(set, with_data)| {
        let cost = data_lost(with_data.minus(many), few, of_ring(2, set));
        statement!(
            "; there with {set} of data each {with_data}{cost}",
            set = Found::exact(set as f64, Unit::Bytes).named("the largest working set"),
            with_data = with_data.named("switch in the largest ring, with data"),
            cost
        )
    });
    Some(finding!(
        Question::Thread,
        "In a ring of 2 processes, as lmbench counts, a switch takes {few}, of {most} {many}{with_set}.",
        few = few.named("switch in a ring of two"),
        most = most.to_string(),
        many = many.beside(few, "switch in the largest ring", "a ring of two"),
        with_set
    ))
}

/// What data cost that the caches lost between two turns of a process: what they add in the largest ring, beyond what they add in one of two,
/// where nothing more than the sets of two is in the caches. What they add there is of the data's own time, which is subtracted, and is told
/// where it is not nothing.
fn data_lost(added: Found, few: Found, few_with_data: Option<Found>) -> Option<Statement> {
    let control = few_with_data.filter(|with_data| with_data.differs_from(&few) == Some(true));
    let beyond = control.map_or(added, |with_data| added.minus(with_data.minus(few)));
    let cost = Some(beyond).filter(|cost| cost.is_positive() && cost.is_of_one_core_state())?;
    let name = "switch in the largest ring, the data's part";
    // No data can make a switch quicker: by how much they seem to is open between the two computations.
    if let Some(with_data) = control.filter(|with_data| with_data.value < few.value) {
        return Some(statement!(
            ": data lost from the caches cost {added}, or {cost} counted beyond a ring of 2, in which a switch seems quicker with them, {with_data}, \
             for which no figure here has a reason",
            added = added.named(&format!("{name}, directly")),
            cost = cost.named(name),
            with_data = with_data.named("switch in a ring of two, with data")
        ));
    }
    Some(match control {
        None => statement!(": data lost from the caches cost {cost}", cost = cost.named(name)),
        Some(with_data) => statement!(
            ": data lost from the caches cost {cost}, counted beyond a ring of 2, in which a switch takes {with_data} with them",
            cost = cost.named(name),
            with_data = with_data.named("switch in a ring of two, with data")
        ),
    })
}

/// The rules by which reports 000 and 001 predicted a process switch, each beside the figure of like work: report 001's has no working set
/// (its section 3.6.2), that of lmbench is with 32 KB each.
fn by_rules(known: &Known) -> [Option<Finding>; 2] {
    let with_data = between(RING, PROCESSES).with(&MEMBERS, 2).with(&WORKING_SET, LIKE_LMBENCH);
    let process = known.found(NAME, &between(PIPE_NET, PROCESSES)).and_then(|process| {
        let cited = "report 001 (three times the 30 µs that it cites for threads)";
        let cited = RuleOfThumb::of_time(cited, 90e3, process);
        rule_of_thumb::beside("a switch between processes", process, [cited])
    });
    let ring = known.found(NAME, &with_data).and_then(|ring| {
        let scaled = "lmbench's 18 µs at 167 MHz with 32 KB each, scaled by clock frequency";
        let scaled = RuleOfThumb::by_clock_ratio(scaled, 18e3, ring, known);
        rule_of_thumb::beside("a switch in a ring of 2 processes with 64 KiB of data each", ring, scaled)
    });
    [process, ring]
}

/// The least working set that was measured which holds lmbench's of 32 KB, bytes.
const LIKE_LMBENCH: u64 = 64 << 10;

/// The additional cost of switching to a process rather than a thread.
fn address_space(known: &Known) -> Option<Finding> {
    let process = known.found(NAME, &between(PIPE_NET, PROCESSES))?;
    let thread = known.found(NAME, &between(PIPE_NET, THREADS))?;
    Some(finding!(
        Question::Thread,
        "A switch between processes costs {process}, between threads of one process, which share an address \
         space, {thread}: {ratio}.",
        process = process.named("switch between processes"),
        thread = thread.named("switch between threads"),
        ratio = process.times_as("much", thread, "process over thread, switching")
    ))
}

/// The cost of a switch compared with the cost of creating the process or thread.
fn switch_against_creation(known: &Known) -> Option<Finding> {
    let in_switches = |what: &str, of: &str, switch: Found, creation: Found| {
        let name = format!("creation over switch, {what}");
        match creation.differs_from(&switch) {
            Some(false) => statement!("{what} and a switch take times that are not significantly different"),
            apart => {
                let about = if apart.is_none() { "~" } else { "" };
                statement!(
                    "{what} takes {creation}, as long as {about}{ratio} switches between {of} ({switch} each)",
                    creation = creation.named(&format!("creation, {what}")),
                    ratio = creation.over(switch).named(&name),
                    switch = switch.named(&format!("switch between {of}"))
                )
            }
        }
    };
    let result = |experiment, point: &Point| known.found(experiment, point);
    let process = result(NAME, &between(PIPE_NET, PROCESSES))
        .zip(result("cpu/process_creation", &process_creation::whole()))
        .map(|(switch, creation)| in_switches("a process", "processes", switch, creation));
    let thread = result(NAME, &between(PIPE_NET, THREADS))
        .zip(result("cpu/thread_creation", &thread_creation::whole()))
        .map(|(switch, creation)| in_switches("a thread", "threads", switch, creation));
    let both = Statement::joined(process.into_iter().chain(thread), ", ")?;
    Some(finding!(Question::Thread, "Creating and reaping {both}.", both))
}

/// The cost that the kernel entry and the scheduler add to a change of stacks.
fn without_the_kernel(known: &Known) -> Option<Finding> {
    let thread = known.found(NAME, &between(PIPE_NET, THREADS))?;
    let stacks = known.found(NAME, &between(USER_LEVEL, STACKS))?;
    Some(finding!(
        Question::Thread,
        "Changing stacks within one kernel thread takes {stacks}, a switch between threads by the kernel {thread}: \
         {ratio}.",
        thread = thread.named("switch between threads"),
        stacks = stacks.named("user-level switch"),
        ratio = thread.times_as("much", stacks, "kernel thread over user-level thread, switching")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_stands_beside_a_switch_of_like_work() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        known.core_hz = Some(3.34e9);
        let with_data = between(RING, PROCESSES).with(&MEMBERS, 2).with(&WORKING_SET, 65_536);
        let planted = [(between(PIPE_NET, PROCESSES), 1_800.0), (with_data, 2_700.0)];
        fathom_described::plant(&mut known, &super::super::ContextSwitch, planted);
        let [process, ring] = by_rules(&known).map(|finding| finding.expect("a rule").statement.plain());
        assert!(process.contains("takes {1800}") && process.contains("predicts {90000}"), "{process}");
        assert!(process.ends_with("measured is {0.02} times that."), "{process}");
        assert!(ring.contains("with 64 KiB of data each this machine takes {2700}"), "{ring}");
        assert!(ring.ends_with("predicts {900}; measured is {3} times that."), "{ring}");
    }

    /// Of switches "to block and be woken" 85 of 100 were preemptions, in which nobody slept.
    #[test]
    fn a_switch_by_preemption_is_none_of_one_that_blocks() {
        let machine = fathom_described::machine();
        let said = |preempted: Option<f64>| {
            let mut known = Known::new(&machine, None);
            let pipe = between(PIPE_NET, PROCESSES);
            let planted = [(between(YIELD, PROCESSES), 2_000.0), (pipe.clone(), 3_000.0)];
            fathom_described::plant(&mut known, &super::super::ContextSwitch, planted);
            if let Some(share) = preempted {
                known.learn_preempted(NAME, &pipe, share);
            }
            findings(&known).iter().map(|finding| finding.statement.plain()).collect::<Vec<_>>().join("\n")
        };
        for sleeps in [said(None), said(Some(0.05))] {
            assert!(sleeps.contains("to block and be woken takes at least {1000}"), "{sleeps}");
            assert!(!sleeps.contains("preemption"), "{sleeps}");
        }
        let preempted = said(Some(0.856));
        assert!(!preempted.contains("block"), "{preempted}");
        assert!(preempted.contains("as the kernel counts them: {0.856} between processes."), "{preempted}");
    }

    #[test]
    fn rings_are_compared_by_members_and_by_data_where_data_surely_cost() {
        let ring = |members, set, ns| {
            let point = between(RING, PROCESSES).with(&MEMBERS, members).with(&WORKING_SET, set);
            (point, ns)
        };
        let text_beside = |few_with_data, with_data| {
            let planted = [
                ring(2, 0, 2_000.0),
                ring(2, 65_536, few_with_data),
                ring(8, 0, 2_200.0),
                ring(16, 0, 3_000.0),
                ring(16, 16_384, 3_200.0),
                ring(16, 65_536, with_data),
            ];
            fathom_described::statements(&super::super::ContextSwitch, planted, findings)
        };
        let text = |with_data| text_beside(2_010.0, with_data);
        let both = "In a ring of 2 processes, as lmbench counts, a switch takes {2000}, of 16 {3000}, {1.5} times; there with {65536} of data each ";
        let (cost, none) = (text(4_000.0), text(3_001.0));
        assert_eq!(cost, format!("{both}{{4000}}: data lost from the caches cost {{1000}}.\n"));
        assert_eq!(none, format!("{both}{{3001}}.\n"));
        let beyond = |cost: &str, few: &str| {
            format!(
                "{both}{{4000}}: data lost from the caches cost {{{cost}}}, counted beyond a ring of 2, in which a switch takes {{{few}}} with them.\n"
            )
        };
        assert_eq!(
            text_beside(1_800.0, 4_000.0),
            format!(
                "{both}{{4000}}: data lost from the caches cost {{1000}}, or {{1200}} counted beyond a ring of 2, in which a switch seems quicker with \
                 them, {{1800}}, for which no figure here has a reason.\n"
            ),
            "less than without data is no cost of data, and is remarked"
        );
        assert_eq!(text_beside(2_300.0, 4_000.0), beyond("700", "2300"));
    }
}
