//! Findings from context switches: comparisons with each other, and with the creation of a process or thread.

use super::{
    MEMBERS, NAME, PIPE_NET, PROCESSES, RING, STACKS, THREADS, USER_LEVEL, WORKING_SET, YIELD, between,
};
use crate::expected::rule_of_thumb::{self, RuleOfThumb};
use crate::questions::cpu::{process_creation, thread_creation};
use fathom_core::prelude::*;

/// All findings from `cpu/context_switch`.
pub fn findings(known: &Known) -> Vec<Finding> {
    let all = [
        address_space(known),
        by_giving_up_or_blocking(known),
        switch_against_creation(known),
        without_the_kernel(known),
        by_rules(known),
    ];
    all.into_iter().flatten().collect()
}

/// The answers of three ways to one question, and what a process that blocks does besides switching.
fn by_giving_up_or_blocking(known: &Known) -> Option<Finding> {
    let given_up = known.found(NAME, &between(YIELD, PROCESSES))?;
    let blocked = known.found(NAME, &between(PIPE_NET, PROCESSES))?;
    let ring = between(RING, PROCESSES).with(&MEMBERS, 2).with(&WORKING_SET, 0);
    let ring = known.found(NAME, &ring).map(|ring| {
        statement!(
            "; in a ring of two, as lmbench counts it, {ring}",
            ring = ring.named("switch in a ring of two")
        )
    });
    let besides = blocked.beyond(given_up).map(|besides| {
        statement!(
            " To block, and be woken, takes at least {besides} more than to give up the CPU and stay runnable, of which the system call is counted.",
            besides = besides.named("blocking over giving up the CPU")
        )
    });
    Some(finding!(
        Question::Thread,
        "What a switch between processes costs is a question of how the CPU is left: by `sched_yield`, its system call included, \
         {given_up}; blocked on a pipe, less the pipe's cost, {blocked}{ring}.{besides}",
        given_up = given_up.named("switch by yielding"),
        blocked = blocked.named("switch between processes"),
        ring,
        besides
    ))
}

/// The rules by which reports 000 and 001 predicted a process switch from these.
fn by_rules(known: &Known) -> Option<Finding> {
    let process = known.found(NAME, &between(PIPE_NET, PROCESSES))?;
    let cited = RuleOfThumb::of_time("the figure that report 001 cites", 30e3, process);
    let scaled = "lmbench's 18 µs at 167 MHz with 32 KB each, scaled by clock frequency";
    let rules = RuleOfThumb::by_clock_ratio(scaled, 18e3, process, known).into_iter().chain([cited]);
    rule_of_thumb::beside("a switch between processes", process, rules)
}

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
                    "{what} takes as long as {about}{ratio} switches between {of}",
                    ratio = creation.over(switch).named(&name)
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
        "Changing stacks within one kernel thread takes {stacks}; a switch between threads by the kernel \
         {ratio}.",
        stacks = stacks.named("user-level switch"),
        ratio = thread.times_as("much", stacks, "kernel thread over user-level thread, switching")
    ))
}
