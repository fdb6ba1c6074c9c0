//! The bracket of a size that is found by few readings: bisected, or aimed at where a reading shows how much was missing.

/// The relative width at which the search ends.
const TOLERANCE: f64 = 0.01;

/// How far below and above the expected size the next readings are, relative: together less than [`TOLERANCE`].
const BELOW: f64 = 0.004;
const ABOVE: f64 = 0.005;

/// The share of missing pieces up to which it tells how much is missing. A least-recently-used cache that is read again in the same
/// order drops every piece just before it is needed.
const MOST_MISSING: f64 = 0.5;

/// Readings that may be aimed: after these the bracket is bisected, however the readings mislead.
const MOST_AIMED: u32 = 4;

/// The largest size that fits, between one that does and one that does not.
#[derive(Debug)]
pub struct CacheBracket {
    fits: u64,
    fails: u64,
    /// The share of missing pieces from which a size does not fit.
    limit: f64,
    /// The size at which that share is expected to be reached; `None` while no reading showed it.
    expected: Option<f64>,
    aimed: u32,
}

impl CacheBracket {
    /// Between nothing and a size that is too large.
    pub fn below(fails: u64, limit: f64) -> Self {
        CacheBracket { fits: 0, fails, limit, expected: None, aimed: 0 }
    }

    /// Learns from a reading of so many bytes, of whose pieces this share was missing.
    pub fn learn(&mut self, bytes: u64, missing: f64) {
        if missing < self.limit {
            self.fits = self.fits.max(bytes);
            return;
        }
        self.fails = self.fails.min(bytes);
        if missing < MOST_MISSING {
            self.expected = Some(bytes as f64 * (1.0 - missing) / (1.0 - self.limit));
        }
    }

    /// Whether it is as narrow as wanted.
    pub fn is_narrow(&self) -> bool {
        (self.fails - self.fits) as f64 <= TOLERANCE * self.fails as f64
    }

    /// The size to be read next: just below the expected one, just above it, or in the middle of the bracket. While nothing fits,
    /// downwards by quarters.
    pub fn next(&mut self) -> u64 {
        let aimed = self.expected.filter(|_| self.aimed < MOST_AIMED).and_then(|expected| {
            let sizes = [1.0 - BELOW, 1.0 + ABOVE].map(|times| (expected * times) as u64);
            sizes.into_iter().find(|size| (self.fits + 1..self.fails).contains(size))
        });
        self.aimed += u32::from(aimed.is_some());
        aimed.unwrap_or(if self.fits == 0 { self.fails - self.fails / 4 } else { self.middle() })
    }

    /// The result.
    pub fn middle(&self) -> u64 {
        u64::midpoint(self.fits, self.fails)
    }

    /// The least size that did not fit.
    pub fn fails(&self) -> u64 {
        self.fails
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHE: u64 = 500_000_000;
    const CEILING: u64 = 536_870_912;

    /// The readings that it takes, and what they find, if `missing` is the share of a prefix's pieces.
    fn found(missing: impl Fn(u64) -> f64) -> (u32, u64) {
        let mut bracket = CacheBracket::below(CEILING + CEILING / 10, 0.01);
        let (mut readings, mut size) = (0, CEILING);
        while !bracket.is_narrow() {
            bracket.learn(size, missing(size));
            (readings, size) = (readings + 1, bracket.next());
        }
        (readings, bracket.middle())
    }

    fn beyond(size: u64) -> f64 {
        size.saturating_sub(CACHE) as f64 / size as f64
    }

    #[test]
    fn three_readings_find_a_cache_that_shows_what_it_lacks() {
        let (readings, size) = found(beyond);
        assert_eq!(readings, 3);
        assert!((size as f64 / CACHE as f64 - 1.01).abs() < 0.01, "{size}");
    }

    #[test]
    fn a_cache_that_drops_all_is_bisected() {
        let (readings, size) = found(|size| if size > CACHE { 1.0 } else { 0.0 });
        assert!(readings <= 9 && (size as f64 / CACHE as f64 - 1.0).abs() < 0.01, "{size} by {readings}");
    }

    #[test]
    fn readings_that_mislead_cost_readings_and_no_truth() {
        // Other pieces are slow as well: the size appears smaller than it is.
        let (readings, size) = found(|size| if size > CACHE { beyond(size) + 0.2 } else { 0.002 });
        assert!(readings <= 14 && (size as f64 / CACHE as f64 - 1.0).abs() < 0.011, "{size} by {readings}");
    }
}
