//! Levels of a quotient that tells whether a core is its own: a stream of independent instructions over a chain of
//! dependent ones.
//!
//! Both follow the core's frequency, so their quotient does not. Another hardware thread of the core takes issue slots: it
//! lengthens the stream and leaves the chain. So the core alone makes the lowest quotient, always about the same, and a
//! neighbour makes higher ones, scattered as widely as what neighbours do. Where those levels lie differs from one make of
//! core to the next, and is found from the quotients themselves: they are counted on a logarithmic scale, and going up the
//! scale the first heap that stands above what follows it is the core alone. An interruption of the chain makes quotients
//! that are too low, and one of the stream too high ones; they are few and lie scattered, so that they make no heap.
//!
//! What cannot be known: a core that was never alone shows its shared level as its lowest. Then there is one level, and
//! [`Levels::shared`] is `None`.

/// How far apart two bins are, in the logarithm of the quotient: a fifth of a percent.
const BIN: f64 = 0.002;

/// The logarithms counted, on either side of 0; what lies beyond is counted at the end.
const SPAN: f64 = 12.0;

const BINS: usize = (2.0 * SPAN / BIN) as usize;

/// Half the width over which quotients are counted as one heap, in logarithms: less than a fifth of the distance of the
/// nearest levels known (a neighbour lengthens the stream 1.2 to 2 times), so that a gap between them stays a gap.
const HALF_WINDOW: f64 = 0.025;

/// How far from its middle a level reaches at most, in logarithms: a tenth, half of the way to the nearest level known.
const REACH: f64 = 0.095;

/// The longest that other hardware threads make the stream, in logarithms: no more than four share a core. What is longer
/// met an interruption.
const LONGEST: f64 = 1.39;

/// The least share of the quotients that makes the level of the core alone. A neighbour that begins or ends within a reading
/// lengthens the chain alone now and then: such readings gather a little below the level, one in a hundred of a busy core's.
const LEAST_ALONE: f64 = 0.02;

/// The least share of the quotients that makes a second level.
const LEAST_SHARED: f64 = 0.003;

/// The share of its greatest height at which a heap ends.
const FOOT: f64 = 0.05;

/// The most quotients that may lie below the core alone, as a share: more are no interruptions of a chain that takes a
/// fraction of a microsecond, but another level, and which of the two is the lower one's is unknown.
const MOST_BELOW: f64 = 0.05;

/// By how many standard errors of a count two heights must differ to be told apart; there are hundreds to compare.
const ERRORS: f64 = 4.0;

/// By what share a second heap must rise above the valley before it.
const RISE: f64 = 1.25;

/// Steps of the clock, as a share of the quotient, up to which a single level is believed: two levels that lie 1.2 apart
/// may look like one through a coarser clock.
const FINE: f64 = 0.12;

/// What a core did while a quotient was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupancy {
    /// No other hardware thread of it worked.
    Alone,
    /// Another one did.
    Shared,
    /// It cannot be told: it changed meanwhile, or something interrupted the reading.
    Unclear,
}

/// The levels found.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The quotient of the core alone.
    pub alone: f64,
    /// The median quotient of the core shared; `None` where no second level was seen, and then it is unknown whether the
    /// core was always alone or never.
    pub shared: Option<f64>,
    /// Quotients of the core alone, from the first number to the second.
    when_alone: (f64, f64),
    /// Those of the core shared.
    when_shared: Option<(f64, f64)>,
}

impl Levels {
    /// The greatest quotient of the core alone, where it is told from a shared one; `None` where only one level is seen, and
    /// waiting for another is in vain.
    pub fn alone_up_to(&self) -> Option<f64> {
        self.shared.map(|_| self.when_alone.1)
    }

    /// What a quotient says.
    pub fn state(&self, quotient: f64) -> Occupancy {
        let within = |(from, to): (f64, f64)| (from..=to).contains(&quotient);
        if within(self.when_alone) {
            Occupancy::Alone
        } else if self.when_shared.is_some_and(within) {
            Occupancy::Shared
        } else {
            Occupancy::Unclear
        }
    }
}

/// The levels among quotients; see [`LevelHistogram::levels`].
pub fn levels(quotients: &[f64], step: f64) -> Option<Levels> {
    let mut histogram = LevelHistogram::default();
    histogram.add(quotients);
    histogram.levels(step)
}

/// Quotients, counted as they come.
#[derive(Clone, Debug)]
pub struct LevelHistogram {
    counts: Vec<u32>,
    total: u32,
}

impl Default for LevelHistogram {
    fn default() -> Self {
        LevelHistogram { counts: vec![0; BINS], total: 0 }
    }
}

impl LevelHistogram {
    /// Counts further quotients; what is not a positive number was not observed, and is left out.
    pub fn add(&mut self, quotients: &[f64]) {
        for quotient in quotients.iter().filter(|quotient| **quotient > 0.0) {
            self.counts[bin(quotient.ln())] += 1;
            self.total += 1;
        }
    }

    /// The levels, as far as so many quotients tell; `None` where no heap stands out, or what stands out is not the lowest.
    /// `step` is by what share of itself a quotient can be off because the clock counts in steps.
    pub fn levels(&self, step: f64) -> Option<Levels> {
        if step.is_nan() || step > REACH + LONGEST {
            return None;
        }
        let row = Row::new(&self.counts, HALF_WINDOW.max(step / 2.0));
        let total = f64::from(self.total);
        let (middle, height) = row.first_heap(LEAST_ALONE * total)?;
        let (from, to) = row.foot(middle, height, bins(REACH.max(step)));
        if row.between(0, from) > MOST_BELOW * total {
            return None;
        }
        let shared = row.second(to, (middle + bins(LONGEST)).min(BINS), LEAST_SHARED * total);
        let bounds = |(from, to)| (quotient(from), quotient(to));
        (shared.is_some() || step <= FINE).then(|| Levels {
            alone: quotient(middle),
            shared: shared.map(|(middle, _)| quotient(middle)),
            when_alone: bounds((from, to)),
            when_shared: shared.map(|(_, ends)| bounds(ends)),
        })
    }
}

/// Counts along the logarithm of the quotient.
struct Row {
    /// How many lie before each bin.
    before: Vec<u32>,
    /// Bins on either side of a place that count as near.
    near: usize,
}

impl Row {
    fn new(counts: &[u32], near: f64) -> Self {
        let sums = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        Row { before: [0].into_iter().chain(sums).collect(), near: bins(near) }
    }

    fn between(&self, from: usize, to: usize) -> f64 {
        let before = |place: usize| self.before[place.min(self.before.len() - 1)];
        f64::from(before(to).saturating_sub(before(from)))
    }

    /// How many lie near a place.
    fn height(&self, place: usize) -> f64 {
        self.between(place.saturating_sub(self.near), place + self.near + 1)
    }

    /// The bin of the median of those between two places; `None` where there are none.
    fn median(&self, from: usize, to: usize) -> Option<usize> {
        let (from, to) = (from.min(BINS), to.min(BINS));
        let half = u32::midpoint(self.before[from], self.before[to]);
        let middle = self.before.partition_point(|&before| before <= half);
        (self.before[to] > self.before[from]).then(|| middle.saturating_sub(1))
    }

    /// The middle and the height of the lowest heap that holds so many and stands above what follows it.
    fn first_heap(&self, least: f64) -> Option<(usize, f64)> {
        let (mut top, mut most) = (0, 0.0);
        for place in bins(REACH)..BINS - bins(LONGEST) {
            let height = self.height(place);
            if height > most {
                (top, most) = (place, height);
            } else if most >= least && height <= most / 2.0 && differ(most, height) {
                let middle = self.median(top.saturating_sub(self.near), top + self.near + 1)?;
                return Some((middle, most));
            }
        }
        None
    }

    /// Where a heap ends on either side, at most so far from its middle.
    fn foot(&self, middle: usize, height: f64, reach: usize) -> (usize, usize) {
        let is_over = |place: &usize| self.height(*place) <= FOOT * height;
        let (first, last) = (middle.saturating_sub(reach), middle + reach);
        ((first..middle).rev().find(is_over).unwrap_or(first), (middle..last).find(is_over).unwrap_or(last))
    }

    /// The median of what lies behind a valley between two places, and from where to where that is; `None` where no valley
    /// is, or too little behind it.
    fn second(&self, from: usize, end: usize, least: f64) -> Option<(usize, (usize, usize))> {
        let valley = self.valley(from, end).filter(|valley| self.between(*valley, end) >= least)?;
        Some((self.median(valley, end)?, (valley, end)))
    }

    /// The lowest place between two, the middle of it where it is wide, if a heap rises behind it.
    fn valley(&self, from: usize, to: usize) -> Option<usize> {
        let (mut first, mut last, mut lowest) = (from, from, f64::INFINITY);
        for place in from..to {
            let height = self.height(place);
            if height < lowest {
                (first, last, lowest) = (place, place, height);
            } else if height <= lowest {
                last = place;
            } else if height >= RISE * lowest && differ(height, lowest) {
                return Some(usize::midpoint(first, last));
            }
        }
        None
    }
}

/// Whether a count is greater than another by more than chance would have it (Poisson).
fn differ(more: f64, less: f64) -> bool {
    more - less >= ERRORS * more.sqrt()
}

fn bins(distance: f64) -> usize {
    (distance / BIN).round() as usize
}

fn bin(logarithm: f64) -> usize {
    (((logarithm + SPAN) / BIN).max(0.0) as usize).min(BINS - 1)
}

/// The quotient in the middle of a bin.
fn quotient(bin: usize) -> f64 {
    ((bin as f64 + 0.5) * BIN - SPAN).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotient_lies_in_its_bin() {
        for value in [0.02, 0.77, 1.0, 1.501, 44.0] {
            assert!((quotient(bin(f64::ln(value))) / value - 1.0).abs() < BIN, "{value}");
        }
    }

    #[test]
    fn what_is_no_number_is_no_quotient() {
        assert_eq!(levels(&[], 0.0), None);
        let mut quotients = vec![0.8; 500];
        let found = levels(&quotients, 0.0).expect("one level");
        quotients.extend([f64::NAN, f64::INFINITY, 0.0, -1.0]);
        assert_eq!(levels(&quotients, 0.0), Some(found.clone()));
        assert_eq!(found.state(f64::NAN), Occupancy::Unclear);
        assert_eq!(found.state(f64::INFINITY), Occupancy::Unclear);
        assert!([f64::NAN, f64::INFINITY, 1e9].iter().all(|step| levels(&quotients, *step).is_none()));
    }

    #[test]
    fn counting_by_and_by_is_counting_at_once() {
        let quotients: Vec<f64> =
            (0..900).map(|index| 0.8 + f64::from(index % 7) * 1e-3 + f64::from(index % 3) * 0.4).collect();
        let mut histogram = LevelHistogram::default();
        quotients.chunks(11).for_each(|some| histogram.add(some));
        assert_eq!(histogram.levels(0.0), levels(&quotients, 0.0));
    }
}
