//! The readings of the other side's core over a trial: at its ends, and every millisecond in between.

use super::clock::{Clock, Reading};
use super::occupancy::CoreReadings;
use super::partner_core::PartnerCore;
use crate::experiment::Failure;

/// The readings of a trial; none of work whose partner cannot be asked.
pub(super) struct PartnerReadings {
    of: Option<PartnerCore>,
    /// Ticks from one reading to the next.
    between: i64,
    last: Option<Reading>,
    /// The readings so far, as [`CoreReadings::partner`] has them.
    pub readings: Vec<[u32; 3]>,
    /// Turns of the work that were not timed.
    pub turns: u64,
}

impl PartnerReadings {
    /// Time between two readings, nanoseconds: states of a core last tens of milliseconds, a reading and its turn some tens of
    /// microseconds.
    pub const BETWEEN_NS: f64 = 1e6;

    /// Capacity is reserved beforehand: nothing is allocated between observations.
    pub fn new(of: Option<PartnerCore>, between: i64) -> Self {
        let readings = Vec::with_capacity(if of.is_some() { 512 } else { 0 });
        PartnerReadings { of, between, last: None, readings, turns: 0 }
    }

    /// Takes a reading between two observations, by one more `turn` of the work, if it is time for the next one or the last
    /// observation has been made.
    pub fn read_if_due<C: Clock>(
        &mut self,
        clock: &C,
        (own, is_over): (&CoreReadings, bool),
        turn: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let is_due = || self.last.is_none_or(|last| clock.stop().since(last).0 >= self.between);
        if self.of.is_some() && (is_over || is_due()) { self.read(clock, own, turn) } else { Ok(()) }
    }

    /// Follows the readings of this core, of which the first so many were forgotten: of those before them the last stays.
    pub fn forget(&mut self, own: usize) {
        if own == 0 {
            return;
        }
        let own = own as u32;
        let before = self.readings.partition_point(|[at, ..]| *at <= own);
        self.readings.drain(..before.saturating_sub(1));
        self.readings.iter_mut().for_each(|[at, ..]| *at = at.saturating_sub(own));
    }

    /// Takes a reading; without an answer none is asked for any more.
    pub fn read<C: Clock>(
        &mut self,
        clock: &C,
        own: &CoreReadings,
        turn: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(core) = self.of else { return Ok(()) };
        self.turns += 1;
        match core.read(turn)? {
            Some([stream, chain]) => self.readings.push([own.stream.len() as u32, stream, chain]),
            None => self.of = None,
        }
        self.last = Some(clock.stop());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_the_first_readings_of_this_core_those_of_the_other_are_forgotten_but_the_last() {
        let mut readings = PartnerReadings::new(None, 1);
        readings.readings = [0, 2, 5, 9].map(|at| [at, 100 + at, 50]).to_vec();
        readings.forget(0);
        assert_eq!(readings.readings.len(), 4);
        readings.forget(6);
        assert_eq!(readings.readings, [[0, 105, 50], [3, 109, 50]]);
    }
}
