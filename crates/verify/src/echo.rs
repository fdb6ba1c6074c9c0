//! A pipe whose other side waits for a known time before it answers, and a page that a handler of this process supplies after such a
//! time.

use super::prelude::*;
use super::spin::spin;
use fathom_core::sampling::partner::{PartnerProcess, pipe, read_byte, write_byte};
use fathom_experiments::questions::memory::user_fault;
use std::os::fd::OwnedFd;
use std::rc::Rc;

pub static RIG: Rig = Rig::of_known_work(
    "echo",
    "a pipe whose other side waits for 50 µs before it answers",
    Duration::from_secs(4),
    |_| Ok(vec![(NAME, Point::new())]),
    judge,
);

pub static PAGE_FAULT: Rig = Rig {
    touches: &["memory: a stretch of the trial's own is registered with userfaultfd"],
    ..Rig::of_known_work(
        "page-fault",
        "a handler of page faults that waits for 100 µs before it answers",
        Duration::from_secs(4),
        |_| Ok(vec![user_fault::known_wait().0]),
        judge_fault,
    )
};

pub static WORK: KnownWork = KnownWork::of(
    &about(
        NAME,
        "Is a known wait on the other side of a pipe measured correctly?",
        "one byte sent and one returned",
        "A process on the same CPU reads a byte, spins for 50 µs by the kernel's clock if the byte says so, and \
         answers. The same round trip without the wait is measured in turn and subtracted.",
        &[],
    ),
    prepare,
);

const NAME: &str = "verify/echo";

/// The wait, nanoseconds.
const WAIT: u64 = 50_000;

const AT_ONCE: u8 = 0;
const LATE: u8 = 1;

/// This side's ends of the two pipes.
struct PipePair {
    there: OwnedFd,
    back: OwnedFd,
    _other: PartnerProcess,
}

fn prepare<'site>(_: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let ((requests, there), (back, answers)) = (pipe()?, pipe()?);
    let other = PartnerProcess::start(site.partner, move || answer(&requests, &answers))?;
    let line = Rc::new(PipePair { there, back, _other: other });
    let rounds = |byte| {
        let line = Rc::clone(&line);
        move |n: u64| (0..n).try_for_each(|_| line.round(byte))
    };
    Ok(Workload::each(rounds(LATE)).against(rounds(AT_ONCE)).with_a_partner(Placement::OneCpu))
}

impl PipePair {
    fn round(&self, byte: u8) -> Result<(), Failure> {
        write_byte(&self.there, byte)?;
        ensure(read_byte(&self.back)? == Some(byte), "the other side answered something else")
    }
}

/// Answers as the other side.
fn answer(requests: &OwnedFd, answers: &OwnedFd) -> Result<(), Failure> {
    while let Some(byte) = read_byte(requests)? {
        if byte == LATE {
            spin(WAIT);
        }
        write_byte(answers, byte)?;
    }
    Ok(())
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let claim = Claim::time(rig, "time that the wait adds to a round trip", WAIT as f64);
    vec![claim.judged(figure(results, &(NAME, Point::new())))]
}

fn judge_fault(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let (point, waits_ns) = user_fault::known_wait();
    let claim = Claim::time(rig, "time that the wait adds to a fault", waits_ns as f64);
    vec![claim.judged(figure(results, &point))]
}
