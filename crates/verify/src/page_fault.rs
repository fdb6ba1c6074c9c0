//! A page that a handler of this process supplies after a known time.

use super::prelude::*;
use fathom_experiments::questions::memory::user_fault;

pub static RIG: Rig = Rig {
    touches: &["memory: a stretch of the trial's own is registered with userfaultfd"],
    ..Rig::of_known_work(
        "page-fault",
        "a handler of page faults that waits for 100 µs before it answers",
        Duration::from_secs(4),
        |_| Ok(vec![user_fault::known_wait().0]),
        judge,
    )
};

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let (point, waits_ns) = user_fault::known_wait();
    let claim = Claim::time(rig, "time that the wait adds to a fault", waits_ns as f64);
    vec![claim.judged(figure(results, &point))]
}
