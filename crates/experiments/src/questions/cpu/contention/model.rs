//! A model of contention in two numbers: an operation takes as long as with one thread, and a number of hand-overs of a line.

use fathom_core::prelude::*;

/// What follows from the results by the number of threads.
#[derive(Debug)]
pub struct Model {
    /// Hand-overs of a line between cores by which an operation of two threads takes longer than one of one thread.
    pub hand_overs: Found,
    /// The fewest threads with which an operation takes another time than with two.
    pub breaks_at: Option<(u64, Found)>,
}

/// The difference from which the model no longer describes a result.
const BREAKS_FROM: f64 = 0.25;

/// The model that the times per operation of all together give, by the number of threads; `None` without one thread and two, or if
/// two threads take no longer than one.
pub fn of(times: &[(u64, Found)], hand_over: Found) -> Option<Model> {
    let with = |threads| times.iter().find(|(count, _)| *count == threads).map(|(_, time)| *time);
    let (one, two) = (with(1)?, with(2)?);
    let longer = two.minus(one);
    let is_other = |(threads, time): &&(u64, Found)| {
        let differs = time.differs_from(&two) == Some(true);
        *threads > 2 && differs && (time.value / two.value - 1.0).abs() > BREAKS_FROM
    };
    longer.is_resolved().then(|| Model {
        hand_overs: Found { dimension: Dimension::Count, ..longer.over(hand_over) },
        breaks_at: times.iter().find(is_other).copied(),
    })
}

/// The fewest threads from which on all together do less than one alone, as far as was measured.
pub fn slower_from(times: &[(u64, Found)]) -> Option<u64> {
    let (_, one) = times.iter().find(|(threads, _)| *threads == 1)?;
    let is_slower =
        |(_, time): &&(u64, Found)| time.value > one.value && time.differs_from(one) == Some(true);
    let slower = times.iter().rev().take_while(is_slower);
    slower.last().map(|(threads, _)| *threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(by_threads: &[(u64, f64)]) -> Vec<(u64, Found)> {
        let time = |ns| fathom_described::found(ns, Unit::Nanoseconds);
        by_threads.iter().map(|(threads, ns)| (*threads, time(*ns))).collect()
    }

    fn model(by_threads: &[(u64, f64)]) -> Option<Model> {
        of(&times(by_threads), times(&[(2, 60.0)])[0].1)
    }

    #[test]
    fn a_constant_number_of_hand_overs_is_found_and_does_not_break() {
        let found = model(&[(1, 10.0), (2, 130.0), (4, 132.0), (8, 128.0)]).unwrap();
        assert!((found.hand_overs.value - 2.0).abs() < 1e-9 && found.breaks_at.is_none(), "{found:?}");
    }

    #[test]
    fn waiters_that_disturb_the_hand_over_break_the_model_where_they_do() {
        let found = model(&[(1, 10.0), (2, 130.0), (4, 140.0), (8, 400.0), (16, 900.0)]).unwrap();
        assert_eq!(found.breaks_at.map(|(threads, time)| (threads, time.value)), Some((8, 400.0)));
    }

    #[test]
    fn without_a_longer_time_of_two_threads_there_is_no_model() {
        assert!(model(&[(1, 10.0), (2, 5.0)]).is_none());
        assert!(model(&[(1, 10.0), (8, 50.0)]).is_none());
    }

    #[test]
    fn threads_are_slower_from_where_all_further_ones_are() {
        let from = |by_threads: &[(u64, f64)]| slower_from(&times(by_threads));
        assert_eq!(from(&[(1, 10.0), (2, 8.0), (4, 12.0), (8, 30.0)]), Some(4));
        assert_eq!(from(&[(1, 10.0), (2, 12.0), (4, 12.0)]), Some(2));
        assert_eq!(from(&[(1, 10.0), (2, 12.0), (4, 9.0)]), None);
        assert_eq!(from(&[(1, 10.0), (2, 10.1)]), None, "not distinguishable");
    }
}
