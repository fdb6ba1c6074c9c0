//! Findings from context switches: comparisons with each other, and with the creation of a process or thread.

use super::points::{NAME, PIPE_NET, PROCESSES, STACKS, THREADS, USER_LEVEL, between};
use crate::apparatus::rule_of_thumb::{self, Rule};
use crate::questions::cpu::{process_creation, thread_creation};
use fathom_core::experiment::{Finding, Found, Known, Point, Question, Statement, said};

/// All findings from `cpu/context_switch`.
pub fn findings(known: &Known) -> Vec<Finding> {
    let told =
        [address_space(known), switch_against_creation(known), without_the_kernel(known), by_rules(known)];
    told.into_iter().flatten().collect()
}

/// The rules by which reports 000 and 001 predicted a process switch from these.
fn by_rules(known: &Known) -> Option<Finding> {
    let process = known.found(NAME, &between(PIPE_NET, PROCESSES))?;
    let cited = Rule { text: "30 µs, as report 001 cites", says: Found::exact(30e3, process.dimension) };
    let scaled = "lmbench's 18 µs at 167 MHz with 32 KB each, scaled by clock frequency";
    let rules = Rule::by_clock_ratio(scaled, 18e3, process, known).into_iter().chain([cited]);
    rule_of_thumb::beside("a switch between processes", process, rules)
}

/// The additional cost of switching to a process rather than a thread.
fn address_space(known: &Known) -> Option<Finding> {
    let process = known.found(NAME, &between(PIPE_NET, PROCESSES))?;
    let thread = known.found(NAME, &between(PIPE_NET, THREADS))?;
    Some(Finding::of(
        Question::Thread,
        said![
            "A switch between processes costs ",
            process.named("switch between processes"),
            ", between threads of one process, which share an address space, ",
            thread.named("switch between threads"),
            ": ",
            process.times_as("much", thread, "process over thread, switching"),
            "."
        ],
    ))
}

/// The cost of a switch compared with the cost of creating the process or thread.
fn switch_against_creation(known: &Known) -> Option<Finding> {
    let told = |what: &str, switch: Found, creation: Found| {
        let name = format!("creation over switch, {what}");
        match creation.differs_from(&switch) {
            Some(false) => said![what, " and a switch: the two are not significantly different"],
            apart => {
                let about = if apart.is_none() { "~" } else { "" };
                said![what, " costs ", about, creation.over(switch).named(&name), " switches"]
            }
        }
    };
    let found = |experiment, point: &Point| known.found(experiment, point);
    let process = found(NAME, &between(PIPE_NET, PROCESSES))
        .zip(found("cpu/process_creation", &process_creation::whole()))
        .map(|(switch, creation)| told("a process", switch, creation));
    let thread = found(NAME, &between(PIPE_NET, THREADS))
        .zip(found("cpu/thread_creation", &thread_creation::whole()))
        .map(|(switch, creation)| told("a thread", switch, creation));
    let told = Statement::joined(process.into_iter().chain(thread).collect(), ", ")?;
    Some(Finding::of(Question::Thread, said!["Creation and end together: ", told, "."]))
}

/// The cost that the kernel entry and the scheduler add to a change of stacks.
fn without_the_kernel(known: &Known) -> Option<Finding> {
    let thread = known.found(NAME, &between(PIPE_NET, THREADS))?;
    let stacks = known.found(NAME, &between(USER_LEVEL, STACKS))?;
    Some(Finding::of(
        Question::Thread,
        said![
            "Changing stacks within one kernel thread takes ",
            stacks.named("user-level switch"),
            "; a switch between threads by the kernel ",
            thread.times_as("much", stacks, "kernel thread over user-level thread, switching"),
            "."
        ],
    ))
}
