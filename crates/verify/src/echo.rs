//! A pipe whose other side waits for a known time before it answers.

use super::rig::Rig;
use super::spin::spin;
use super::truth::{Claim, figure};
use super::work::{Work, about};
use fathom_core::experiment::{Failure, Placement, Point, Site, Workload, ensure, errno};
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::{Process, pipe};
use fathom_engine::record::Truth;
use fathom_engine::results::Results;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

pub static RIG: Rig = Rig::of_known_work(
    "echo",
    "a pipe whose other side waits for 50 µs before it answers",
    Duration::from_secs(4),
    |_| Ok(vec![(NAME, Point::new())]),
    judge,
);

pub static WORK: Work = Work::of(
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
    _other: Process,
}

fn prepare<'site>(_: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let ((asked, there), (back, answers)) = (pipe()?, pipe()?);
    let other = Process::start(site.partner, move || answer(&asked, &answers))?;
    let line = Rc::new(PipePair { there, back, _other: other });
    let rounds = |byte| {
        let line = Rc::clone(&line);
        move |n: u64| (0..n).try_for_each(|_| line.round(byte))
    };
    Ok(Workload::each(rounds(LATE)).against(rounds(AT_ONCE)).with_a_partner(Placement::OneCpu))
}

impl PipePair {
    fn round(&self, byte: u8) -> Result<(), Failure> {
        write(&self.there, byte)?;
        ensure(read(&self.back)? == Some(byte), "the other side answered something else")
    }
}

/// Answers as the other side.
fn answer(asked: &OwnedFd, answers: &OwnedFd) -> Result<(), Failure> {
    while let Some(byte) = read(asked)? {
        if byte == LATE {
            spin(WAIT);
        }
        write(answers, byte)?;
    }
    Ok(())
}

fn write(end: &OwnedFd, byte: u8) -> Result<(), Failure> {
    // SAFETY: one byte, alive during the call.
    errno("write to a pipe", unsafe { libc::write(end.as_raw_fd(), (&raw const byte).cast(), 1) }).map(drop)
}

/// The next byte; `None` at the end.
fn read(end: &OwnedFd) -> Result<Option<u8>, Failure> {
    let mut byte = 0_u8;
    // SAFETY: room for one byte, alive during the call.
    let read = errno("read from a pipe", unsafe { libc::read(end.as_raw_fd(), (&raw mut byte).cast(), 1) })?;
    Ok((read == 1).then_some(byte))
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let claim =
        Claim::of(rig, "time that the wait adds to a round trip", Some(Unit::Nanoseconds), WAIT as f64);
    vec![claim.judged(figure(results, &(NAME, Point::new())))]
}
