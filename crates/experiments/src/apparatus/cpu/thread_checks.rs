//! Evidence that threads which work together did all of their work, each on its own CPU.

use fathom_core::prelude::*;
use fathom_core::quantities::plain;

/// Witnesses: operations counted by the threads and by the work itself; rounds of the threads, and those of them that ended on
/// another CPU, and in which the kernel took the CPU away.
pub const OPERATIONS: &str = "operations_of_all_threads";
pub const TOTAL: &str = "operations_by_the_work_itself";
pub const ROUNDS: &str = "rounds_of_threads";
pub const ELSEWHERE: &str = "rounds_of_threads_on_another_cpu";
pub const PREEMPTED: &str = "rounds_of_threads_without_their_cpu";
/// Stated: the number of different CPUs of the threads.
pub const CPUS: &str = "cpus_of_the_threads";

/// The checks that all work of some threads was done, each on its CPU.
pub fn checks(threads: f64, observed: &Observed) -> Vec<Check> {
    let count = |name| observed.witness(name);
    let done = "nothing was lost: operations by the work itself per operation counted by a thread";
    let done = match (count(TOTAL), count(OPERATIONS).filter(|all| *all > 0.0)) {
        (Some(total), Some(all)) => Check::judged(done, total.to_bits() == all.to_bits(), seen(total, all)),
        _ => Check::missing(done),
    };
    let share = |claim: &str, name, most| Check::within(claim, observed.ratio(name, ROUNDS), 0.0, most);
    vec![
        done,
        Check::equal("each thread has a CPU of its own: different CPUs", count(CPUS), threads),
        share("each thread ran on its CPU: share of rounds that ended on another", ELSEWHERE, 0.0),
        // A median stands where fewer than half of what it is of is disturbed.
        share("the kernel left the threads their CPUs: share of rounds in which it did not", PREEMPTED, 0.5),
    ]
}

fn seen(total: f64, all: f64) -> String {
    format!("{} of {}", plain(total), plain(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_operation_and_a_thread_elsewhere_are_found_out() {
        let holds = |otherwise: (&str, f64)| {
            let usual = [
                (OPERATIONS, 1e9),
                (TOTAL, 1e9),
                (ROUNDS, 80.0),
                (ELSEWHERE, 0.0),
                (PREEMPTED, 2.0),
                (CPUS, 2.0),
            ];
            let observed = fathom_described::observed(0, usual.into_iter().chain([otherwise]));
            checks(2.0, &observed).iter().all(|check| check.holds)
        };
        assert!(holds(("nothing", 0.0)));
        assert!(!holds((TOTAL, 1e9 - 1.0)), "one of a thousand million was lost");
        assert!(!holds((ELSEWHERE, 1.0)));
        assert!(!holds((PREEMPTED, 60.0)));
        assert!(!holds((CPUS, 1.0)));
    }
}
