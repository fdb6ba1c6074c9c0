//! Levels of a quotient that shows whether a core is shared: the time of a stream of independent instructions over that of a
//! chain of dependent ones.
//!
//! Both follow the core's frequency, so their quotient does not. Another hardware thread of the core takes issue slots: it
//! lengthens the stream and not the chain. An unshared core therefore gives the lowest quotient, always about the same, and a
//! neighbour gives higher ones, which vary with its work. These levels differ between models of core and are found from the
//! quotients themselves: they are counted on a logarithmic scale, and the lowest peak that stands above the values after it is
//! the unshared core. A neighbour's quotients are another peak, or are spread from the first one upwards. An interrupt during the
//! chain makes a quotient too low, and one during the stream too high; such quotients are few and scattered, so they make no peak.
//!
//! One thing cannot be known: a core that was always shared shows its shared level as its lowest. Then there is one level, and
//! [`Levels::shared`] is `None`.

use super::AloneMeans;

/// The width of a bin, in the logarithm of the quotient: a fifth of a percent.
const BIN: f64 = 0.002;

/// The range of logarithms that is counted, on either side of 0; values beyond it are counted in the last bins.
const SPAN: f64 = 12.0;

const BINS: usize = (2.0 * SPAN / BIN) as usize;

/// Half the width over which quotients are counted as one peak, in logarithms: less than a fifth of the distance of the nearest
/// known levels (a neighbour lengthens the stream 1.2 to 2 times), so that a gap between them stays visible.
const HALF_WINDOW: f64 = 0.025;

/// The greatest distance of a level's ends from its middle, in logarithms: a tenth, half of the way to the nearest known level.
const REACH: f64 = 0.095;

/// The most by which other hardware threads lengthen the stream, in logarithms: at most four share a core. A longer one was
/// interrupted.
const LONGEST: f64 = 1.39;

/// The least share of the quotients that can be the level of the unshared core. A neighbour that begins or ends within a reading
/// sometimes lengthens only the chain: such readings are a little below the level, one in a hundred on a busy core.
const LEAST_ALONE: f64 = 0.02;

/// The least share of the quotients that can be a second level.
const LEAST_SHARED: f64 = 0.003;

/// The share of its greatest height at which a peak ends.
const PEAK_END_SHARE: f64 = 0.05;

/// The greatest share of the quotients that interrupts account for, of the chain or of the stream, each of which takes a fraction of a
/// microsecond. If more lie below the unshared core, they are another level, and it is unknown which of the two is the unshared one;
/// if more lie above it and neither a valley nor a sharp peak parts them from it, it is unknown where the unshared core ends.
const MOST_INTERRUPTED: f64 = 0.05;

/// The greatest height, as a share of that of the unshared core's peak, of quotients that are spread from it upwards without a valley:
/// of the readings within the peak so few can be theirs, and they are hardly slowed.
const SPREAD: f64 = 0.2;

/// The number of standard errors of a count by which two heights must differ to be significant; there are hundreds to compare.
const ERRORS: f64 = 4.0;

/// The share by which a second peak must rise above the valley before it.
const MINIMUM_RISE: f64 = 1.25;

/// The greatest step of the clock, as a share of the quotient, for which a single level is accepted: through a coarser clock two
/// levels that are 1.2 apart may look like one.
const FINE: f64 = 0.12;

/// Whether a core was shared while a quotient was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupancy {
    /// No other hardware thread of it worked.
    Alone,
    /// Another one did.
    Shared,
    /// Unknown: it changed during the reading, or an interrupt hit the reading.
    Unclear,
}

/// The levels found.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The quotient of the unshared core.
    pub alone: f64,
    /// The median quotient of the shared core; `None` if no second level was seen, when it is unknown whether the core was always
    /// alone or never.
    pub shared: Option<f64>,
    /// The range of quotients of the unshared core, first and last.
    when_alone: (f64, f64),
    /// Those of the core shared.
    when_shared: Option<(f64, f64)>,
    /// The greatest mean quotient of a trial with the core alone, where that of many trials is known.
    most_in_mean: Option<f64>,
}

/// The quotients of one trial below which their mean says nothing: each may be wrong by a step of the clock.
const FEWEST_IN_MEAN: usize = 12;

impl Levels {
    /// The greatest quotient of the unshared core, if there is a shared level; `None` if only one level is seen, when waiting for
    /// another is useless.
    pub fn alone_up_to(&self) -> Option<f64> {
        self.shared.map(|_| self.when_alone.1)
    }

    /// The same with what trials with the core alone read in the mean; without a second level nothing tells alone from shared.
    #[must_use]
    pub fn with_means(self, means: &AloneMeans) -> Self {
        Levels { most_in_mean: means.most().filter(|_| self.shared.is_some()), ..self }
    }

    /// The mean of those quotients of a trial that are of the unshared core, each by itself; `None` of few.
    pub fn mean_alone(&self, quotients: impl Iterator<Item = f64>) -> Option<f64> {
        let alone: Vec<f64> =
            quotients.filter(|quotient| self.state(*quotient) == Occupancy::Alone).collect();
        (alone.len() >= FEWEST_IN_MEAN).then(|| alone.iter().sum::<f64>() / alone.len() as f64)
    }

    /// Whether the quotients of a trial that look like the unshared core's, each by itself, are together above them.
    pub fn are_slightly_shared(&self, quotients: impl Iterator<Item = f64>) -> bool {
        let mean = self.mean_alone(quotients);
        mean.zip(self.most_in_mean).is_some_and(|(mean, most)| mean > most)
    }

    /// The use of the core that a quotient shows.
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
    /// Counts further quotients; a value that is not a positive number is no observation, and is left out.
    pub fn add(&mut self, quotients: &[f64]) {
        for quotient in quotients.iter().filter(|quotient| **quotient > 0.0) {
            self.counts[bin(quotient.ln())] += 1;
            self.total += 1;
        }
    }

    /// The levels of the quotients so far; `None` if no peak stands out, or if the one that does is not the lowest. `step` is the
    /// share of a quotient by which it can be wrong because the clock counts in steps.
    pub fn levels(&self, step: f64) -> Option<Levels> {
        if step.is_nan() || step > REACH + LONGEST {
            return None;
        }
        let row = Histogram::new(&self.counts, HALF_WINDOW.max(step / 2.0));
        let total = f64::from(self.total);
        let (middle, height, fallen) = row.first_peak(LEAST_ALONE * total)?;
        let (from, to) = row.peak_ends(middle, height, bins(REACH.max(step)));
        let end = (middle + bins(LONGEST)).min(BINS);
        // A level that is as wide as the distance to the next may begin within reach of the first.
        let shared = row
            .second(fallen.min(to), end, LEAST_SHARED * total)
            .filter(|(shared, _)| *shared >= middle + bins(REACH))
            .or_else(|| row.second(to, end, LEAST_SHARED * total))
            // Its lower side shows how wide the peak is: nothing else lies there.
            .or_else(|| row.spread(2 * middle - from, end, height).filter(|_| step <= FINE));
        let beyond = if shared.is_none() { row.between(to, end) } else { 0.0 };
        if row.between(0, from).max(beyond) > MOST_INTERRUPTED * total {
            return None;
        }
        let to = shared.map_or(to, |(_, (valley, _))| to.min(valley));
        let bounds = |(from, to)| (quotient(from), quotient(to));
        (shared.is_some() || step <= FINE).then(|| Levels {
            alone: quotient(middle),
            shared: shared.map(|(middle, _)| quotient(middle)),
            when_alone: bounds((from, to)),
            when_shared: shared.map(|(_, ends)| bounds(ends)),
            most_in_mean: None,
        })
    }
}

/// Counts along the logarithm of the quotient.
struct Histogram {
    /// The number of quotients before each bin.
    before: Vec<u32>,
    /// The number of bins on either side of a place that count as near.
    near: usize,
}

impl Histogram {
    fn new(counts: &[u32], near: f64) -> Self {
        let sums = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        Histogram { before: [0].into_iter().chain(sums).collect(), near: bins(near) }
    }

    fn between(&self, from: usize, to: usize) -> f64 {
        let before = |place: usize| self.before[place.min(self.before.len() - 1)];
        f64::from(before(to).saturating_sub(before(from)))
    }

    /// The number of quotients near a place.
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

    /// The middle and the height of the lowest peak that holds so many quotients and stands above the values after it, and where it has
    /// fallen to half.
    fn first_peak(&self, least: f64) -> Option<(usize, f64, usize)> {
        let (mut top, mut most) = (0, 0.0);
        for place in bins(REACH)..BINS - bins(LONGEST) {
            let height = self.height(place);
            if height > most {
                (top, most) = (place, height);
            } else if most >= least && height <= most / 2.0 && differ(most, height) {
                let middle = self.median(top.saturating_sub(self.near), top + self.near + 1)?;
                return Some((middle, most, place));
            }
        }
        None
    }

    /// The ends of a peak on either side, at most so far from its middle.
    fn peak_ends(&self, middle: usize, height: f64, reach: usize) -> (usize, usize) {
        let is_over = |place: &usize| self.height(*place) <= PEAK_END_SHARE * height;
        let (first, last) = (middle.saturating_sub(reach), middle + reach);
        ((first..middle).rev().find(is_over).unwrap_or(first), (middle..last).find(is_over).unwrap_or(last))
    }

    /// The median of the quotients after a valley between two places, and their range; `None` if there is no valley, or too
    /// little after it.
    fn second(&self, from: usize, end: usize, least: f64) -> Option<(usize, (usize, usize))> {
        let valley = self.valley(from, end).filter(|valley| self.between(*valley, end) >= least)?;
        Some((self.median(valley, end)?, (valley, end)))
    }

    /// The same for a neighbour whose work varies: its quotients are spread from the end of a sharp peak upwards, and none stands out.
    fn spread(&self, from: usize, end: usize, height: f64) -> Option<(usize, (usize, usize))> {
        let is_low = (from..end).all(|place| self.height(place) <= SPREAD * height);
        let is_more_than_interrupts = self.between(from, end) > MOST_INTERRUPTED * self.between(0, BINS);
        let median = self.median(from, end).filter(|_| is_low && is_more_than_interrupts)?;
        Some((median, (from, end)))
    }

    /// The lowest place between two, or its middle if it is wide, if a peak rises after it.
    fn valley(&self, from: usize, to: usize) -> Option<usize> {
        let (mut first, mut last, mut lowest) = (from, from, f64::INFINITY);
        for place in from..to {
            let height = self.height(place);
            if height < lowest {
                (first, last, lowest) = (place, place, height);
            } else if height <= lowest {
                last = place;
            } else if height >= MINIMUM_RISE * lowest && differ(height, lowest) {
                return Some(usize::midpoint(first, last));
            }
        }
        None
    }
}

/// Whether a count is significantly greater than another (Poisson).
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
        let result = levels(&quotients, 0.0).expect("one level");
        quotients.extend([f64::NAN, f64::INFINITY, 0.0, -1.0]);
        assert_eq!(levels(&quotients, 0.0), Some(result.clone()));
        assert_eq!(result.state(f64::NAN), Occupancy::Unclear);
        assert_eq!(result.state(f64::INFINITY), Occupancy::Unclear);
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
