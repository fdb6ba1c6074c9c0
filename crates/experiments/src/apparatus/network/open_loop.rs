//! An open loop: messages are sent on a schedule, whether or not earlier ones were answered, and a message's latency counts from
//! its scheduled time. In a closed loop one slow answer delays the requests that would have found the system slow as well
//! (coordinated omission; Tene 2013, Schroeder, Wierman & Harchol-Balter 2006).

use super::datagrams::{DatagramCounts, Numbered, is_silence};
use fathom_core::experiment::{Failure, Stopwatch};
use std::collections::VecDeque;
use std::rc::Rc;

/// Maximum unanswered messages: with more, the other side does not keep up, and latencies would be those of a growing queue.
const MOST_UNANSWERED: usize = 2000;

/// Sends every `interval_ns` and yields the latency of each answer. `way` must not block when it receives: between two scheduled
/// times this side polls, so its own wake-up is not part of the latency.
pub fn open_loop(
    mut way: impl Numbered,
    interval_ns: f64,
    watch: &dyn Stopwatch,
    counts: Rc<DatagramCounts>,
) -> impl FnMut() -> Result<Option<f64>, Failure> {
    let mut schedule = Schedule { interval_ns, due: 0.0, number: 0, away: VecDeque::new() };
    let mut calls = 0;
    move || {
        calls += 1;
        // The sampler warms up with one call and then reads its counters: the schedule starts after that.
        if calls <= 2 {
            schedule.due = watch.now_ns();
        }
        loop {
            if watch.now_ns() >= schedule.due {
                way.send(schedule.next()).map_err(|error| broke(&error))?;
                DatagramCounts::count(&counts.sent);
            }
            match way.receive() {
                Ok(back) => match schedule.answered(back, way.mask(), &counts) {
                    Some(intended) => return Ok(Some(watch.now_ns() - intended)),
                    None => DatagramCounts::count(&counts.late),
                },
                Err(error) if is_silence(&error) => {}
                Err(error) => return Err(broke(&error)),
            }
            if schedule.away.len() > MOST_UNANSWERED {
                return Err(Failure::Broke(format!(
                    "{MOST_UNANSWERED} messages are unanswered: the other side does not keep up with one every {} µs",
                    interval_ns / 1e3
                )));
            }
        }
    }
}

/// The messages sent, with their scheduled times.
struct Schedule {
    interval_ns: f64,
    due: f64,
    number: u64,
    away: VecDeque<(u64, f64)>,
}

impl Schedule {
    /// Takes the next number and advances the schedule.
    fn next(&mut self) -> u64 {
        self.number += 1;
        self.away.push_back((self.number, self.due));
        self.due += self.interval_ns;
        self.number
    }

    /// The scheduled time of the answered message. Unanswered messages scheduled before it are given up: a network that changes
    /// the order makes them late.
    fn answered(&mut self, back: u64, mask: u64, counts: &DatagramCounts) -> Option<f64> {
        let place = self.away.iter().position(|(number, _)| number & mask == back)?;
        for _ in 0..place {
            self.away.pop_front();
            DatagramCounts::count(&counts.lost);
        }
        self.away.pop_front().map(|(_, intended)| intended)
    }
}

fn broke(error: &std::io::Error) -> Failure {
    Failure::Broke(format!("an open loop: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::{CoreWidth, Spin};
    use std::cell::Cell;
    use std::io::ErrorKind;

    /// A clock that advances by a microsecond at every reading.
    struct Steps(Cell<f64>);

    // SAFETY: a test of one thread.
    unsafe impl Sync for Steps {}

    impl Stopwatch for Steps {
        fn stamp(&self) {}

        fn now_ns(&self) -> f64 {
            self.0.set(self.0.get() + 1000.0);
            self.0.get()
        }

        fn spin(&self, _: f64) -> Spin {
            Spin::default()
        }

        fn core(&self) -> CoreWidth {
            CoreWidth { addition_ns: 0.1, quotient: 1.0 }
        }
    }

    /// Answers after 20 µs, but stalls between 1 ms and 2 ms.
    struct Stalls<'clock> {
        clock: &'clock Steps,
        away: VecDeque<(u64, f64)>,
    }

    impl Numbered for Stalls<'_> {
        fn send(&mut self, number: u64) -> std::io::Result<()> {
            self.away.push_back((number, self.clock.0.get()));
            Ok(())
        }

        fn receive(&mut self) -> std::io::Result<u64> {
            let now = self.clock.0.get();
            let deaf = (1e6..2e6).contains(&now);
            match self.away.front() {
                Some((number, left)) if !deaf && now >= left + 20_000.0 => {
                    let number = *number;
                    self.away.pop_front();
                    Ok(number)
                }
                _ => Err(ErrorKind::WouldBlock.into()),
            }
        }

        fn mask(&self) -> u64 {
            u64::MAX
        }
    }

    #[test]
    fn a_stall_is_seen_by_every_message_that_should_have_left_during_it() {
        let clock = Steps(Cell::new(0.0));
        let counts = Rc::new(DatagramCounts::default());
        let way = Stalls { clock: &clock, away: VecDeque::new() };
        let mut observe = open_loop(way, 50_000.0, &clock, Rc::clone(&counts));
        let latencies: Vec<f64> = (0..60).map(|_| observe().unwrap().unwrap()).collect();
        let slow = latencies.iter().filter(|latency| **latency > 60_000.0).count();
        // One message every 50 µs of a stall of 1 ms; a closed loop would have seen one slow answer.
        assert!((17..=21).contains(&slow), "{latencies:?}");
        assert!(latencies.iter().any(|latency| *latency > 900_000.0));
        assert_eq!(counts.lost.get() + counts.late.get(), 0);
    }
}
