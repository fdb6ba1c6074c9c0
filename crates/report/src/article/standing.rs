//! How an operation of this machine stands to the same operation of published ones: better, worse, or neither for certain.

use crate::references::Beside;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::statistics::Interval;
use fathom_engine::results::{CLOSE, PointResult};

/// How an operation stands to what sources timed alike: the one judgement from which everything that is said of better and worse is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Better by more than a factor of [`CLOSE`], with the whole interval beyond that factor.
    Better,
    /// Worse by as much.
    Worse,
    /// Worse by as much, and only measured with a neighbour on the core, whose part it may be.
    WorseWhileShared,
    /// Neither for certain.
    Neither,
}

impl Standing {
    /// How an operation stands that is so many times as good here: what is slow with the core shared may be so for the neighbour, and what is
    /// quick even then is quick.
    pub(super) fn of(merit: f64, is_beyond: bool, is_beside_a_neighbour: bool) -> Self {
        match () {
            () if !is_beyond => Standing::Neither,
            () if merit > CLOSE => Standing::Better,
            () if merit < 1.0 / CLOSE && is_beside_a_neighbour => Standing::WorseWhileShared,
            () if merit < 1.0 / CLOSE => Standing::Worse,
            () => Standing::Neither,
        }
    }
}

/// In how many operations this machine is better than others and worse, and of how many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Balance {
    pub(super) better: usize,
    pub(super) worse: usize,
    /// Worse too, and only measured with the core shared.
    pub(super) worse_while_shared: usize,
    pub(super) all: usize,
}

impl Balance {
    pub(super) fn of(standings: impl IntoIterator<Item = Standing>) -> Self {
        let mut balance = Balance::default();
        for standing in standings {
            balance.all += 1;
            balance.better += usize::from(standing == Standing::Better);
            balance.worse += usize::from(standing == Standing::Worse);
            balance.worse_while_shared += usize::from(standing == Standing::WorseWhileShared);
        }
        balance
    }

    /// The number of those that are neither better nor worse for certain.
    pub(super) fn neither(&self) -> usize {
        self.all - self.better - self.worse - self.worse_while_shared
    }

    /// How many are worse that were only measured with the core shared, in a sentence after those that are worse; empty if none.
    pub(super) fn more_while_shared(&self) -> String {
        match self.worse_while_shared {
            0 => String::new(),
            number => format!(" ({} more only measured with the core shared)", quantities::count(number)),
        }
    }

    /// What most of the operations are: more than half of all.
    pub(super) fn of_most(&self) -> Standing {
        match () {
            () if 2 * self.worse > self.all => Standing::Worse,
            () if 2 * (self.worse + self.worse_while_shared) > self.all => Standing::WorseWhileShared,
            () if 2 * self.better > self.all => Standing::Better,
            () => Standing::Neither,
        }
    }
}

/// Those whose sources timed the same operation.
pub(super) fn alike<'rows, 'run>(rows: &'rows [Beside<'run>]) -> impl Iterator<Item = &'rows Beside<'run>> {
    rows.iter().filter(|row| !row.is_unlike)
}

/// Whether an interval contains none of the figures that sources timed alike: one that contains it shows no difference.
fn differs(rows: &[Beside]) -> bool {
    alike(rows)
        .all(|row| row.ratio.is_some_and(|ratio| ratio.interval.is_some_and(|ends| !ends.contains(1.0))))
}

/// Whether an interval is beyond a factor of [`CLOSE`] of the figures that sources timed alike, and contains none of them.
pub(super) fn are_beyond(rows: &[Beside]) -> bool {
    let ratios: Option<Vec<Interval>> = alike(rows).map(|row| row.ratio?.interval).collect();
    differs(rows) && ratios.is_some_and(|ratios| is_beyond(&ratios))
}

/// Whether the geometric mean of ratios with these intervals, which share the value that was measured here, is beyond a factor of [`CLOSE`]
/// from end to end.
fn is_beyond(ratios: &[Interval]) -> bool {
    let mean = |end: fn(&Interval) -> f64| {
        (ratios.iter().map(|ratio| end(ratio).ln()).sum::<f64>() / ratios.len() as f64).exp()
    };
    !ratios.is_empty() && (mean(|of| of.low) > CLOSE || mean(|of| of.high) < 1.0 / CLOSE)
}

/// How many times as good a point is here as on the machines, in the geometric mean; `None` if no source timed the same operation.
pub(super) fn merit(point: &PointResult, rows: &[Beside]) -> Option<f64> {
    let logs: Vec<f64> = alike(rows).filter_map(|row| Some(row.ratio?.value.ln())).collect();
    let times = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    (!logs.is_empty()).then_some(if is_rate(point.unit) { times } else { 1.0 / times })
}

fn is_rate(unit: Unit) -> bool {
    matches!(unit, Unit::BytesPerSecond | Unit::Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_as_beyond_a_factor_is_so_with_its_whole_interval() {
        let ends = |low, high| Interval { low, high };
        assert!(!is_beyond(&[]) && !is_beyond(&[ends(1.05, 1.24)]), "another, but by less");
        assert!(!is_beyond(&[ends(1.1, 3.0)]), "its median may be beyond, and its interval is not");
        assert!(is_beyond(&[ends(1.3, 3.0)]) && is_beyond(&[ends(0.2, 0.7)]));
        assert!(!is_beyond(&[ends(1.3, 3.0), ends(0.9, 2.0)]));
        assert!(is_beyond(&[ends(1.3, 3.0), ends(1.3, 2.0)]));
    }

    #[test]
    fn one_judgement_says_what_is_better_and_worse() {
        assert_eq!(Standing::of(0.5, true, false), Standing::Worse);
        assert_eq!(Standing::of(0.5, true, true), Standing::WorseWhileShared, "it may be the neighbour's");
        assert_eq!(Standing::of(2.0, true, true), Standing::Better, "in spite of a neighbour");
        assert_eq!(Standing::of(0.5, false, false), Standing::Neither, "its interval leaves it open");
        let of = |standings: &[Standing]| Balance::of(standings.iter().copied());
        let two = of(&[Standing::Worse, Standing::Worse, Standing::Better]);
        let expected = Balance { better: 1, worse: 2, worse_while_shared: 0, all: 3 };
        assert_eq!((two, two.of_most()), (expected, Standing::Worse));
        let shared = of(&[Standing::Worse, Standing::WorseWhileShared, Standing::Neither]);
        assert_eq!(
            (shared.neither(), shared.of_most()),
            (1, Standing::WorseWhileShared),
            "as far as is known"
        );
        assert_eq!(shared.more_while_shared(), " (1 more only measured with the core shared)");
        assert_eq!(two.more_while_shared(), "");
        assert_eq!(
            of(&[Standing::Worse, Standing::Neither]).of_most(),
            Standing::Neither,
            "half is not most"
        );
    }
}
