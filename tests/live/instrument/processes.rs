//! Threads and processes of this machine's kernel.

use crate::tier::{Outcome, Test, beside};
use fathom::machine::{Host, Live, allow_this_thread};
use fathom::replicate::tasks::{fork, join, reap, thread};

pub const TESTS: &[Test] = &beside![
    a_pinned_thread_runs_on_one_cpu_and_then_where_it_ran_before,
    children_and_threads_end_by_themselves,
];

fn a_pinned_thread_runs_on_one_cpu_and_then_where_it_ran_before() -> Outcome {
    let all = Live.affinity().unwrap();
    let pinned = Live.pinned(all[0]);
    assert_eq!(Live.affinity().unwrap(), all[..1]);
    drop(pinned);
    drop(Live.pinned(usize::MAX));
    assert_eq!(Live.affinity().unwrap(), all);
    assert!(!allow_this_thread(&[]));
    Ok(())
}

fn children_and_threads_end_by_themselves() -> Outcome {
    reap(fork().unwrap()).unwrap();
    join(thread().unwrap()).unwrap();
    assert!(reap(1).is_err(), "not a child of ours");
    Ok(())
}
