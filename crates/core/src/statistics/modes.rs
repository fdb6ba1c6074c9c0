//! The modes of a sample. More than one is reported as such, because a single number would describe neither.

use super::dip::dip;
use super::quantile::{median, sorted};
use serde::{Deserialize, Serialize};

/// The share of the sample that a cluster of observations must hold to be called a mode.
const LEAST_SHARE: f64 = 0.05;

/// The number of observations that it must hold.
const LEAST_COUNT: usize = 5;

/// The dip times the root of the sample's size above which a sample has more than one mode. Ten thousand uniform samples each
/// exceeded 0.41 (of 20 observations), 0.46 (60), 0.47 (200) and 0.49 (1000) once in a hundred times.
const LIMIT: f64 = 0.47;

/// The factor by which the valley must be thinner than the clusters on both of its sides.
const VALLEY: f64 = 2.0;

/// A cluster of observations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mode {
    /// The median of its observations, in their unit.
    pub centre: f64,
    /// The share of all observations that belong to it, 0 to 1; the shares sum to 1.
    pub share: f64,
}

/// The modes of a sample, ascending; one for a sample that shows no more than one. Empty for an empty sample and for one
/// with an observation that is not finite.
///
/// A sample is cut in two if its dip (Hartigan & Hartigan 1985) is greater than samples of a uniform distribution, the
/// hardest of those with one mode, show about once in a hundred times, and if it has a valley at which observations lie at least
/// twice as far apart as on both sides of it; then each part is judged in the same way (Maurus & Plant 2016, "Skinny-dip").
/// Skewness and heavy tails do not dip. Equal observations, which a coarse clock makes, are first spread
/// evenly over the clock's step, as far as the sample shows it; two values and nothing between them are one step.
pub fn modes(sample: &[f64]) -> Vec<Mode> {
    clusters(sample, |values| values)
}

/// The same by ratios: of observations that spread over several times the least of them a valley between two values is as deep as their ratio
/// makes it, whereas in equal steps whatever lies above a cluster is thin. One with an observation that is not above zero is judged in equal
/// steps.
pub fn modes_by_ratio(sample: &[f64]) -> Vec<Mode> {
    if sample.iter().any(|value| *value <= 0.0) {
        return modes(sample);
    }
    clusters(sample, |values| values.into_iter().map(f64::ln).collect())
}

/// The modes by the places of the observations on a scale, once equal ones are spread over the step of the clock.
fn clusters(sample: &[f64], placed: fn(Vec<f64>) -> Vec<f64>) -> Vec<Mode> {
    let Some(sorted) = sorted(sample) else { return Vec::new() };
    let places = placed(without_steps(&sorted));
    let mut bounds = Vec::new();
    cut(&places, 0, sorted.len(), &mut bounds);
    let starts = [0].into_iter().chain(bounds.iter().copied());
    let ends = bounds.iter().copied().chain([sorted.len()]);
    let mode = |(start, end): (usize, usize)| {
        let centre = median(&sorted[start..end])?;
        Some(Mode { centre, share: (end - start) as f64 / sorted.len() as f64 })
    };
    starts.zip(ends).filter_map(mode).collect()
}

/// Finds the places that divide the values from `start` to `end` into clusters, ascending.
fn cut(values: &[f64], start: usize, end: usize, bounds: &mut Vec<usize>) {
    let part = &values[start..end];
    if dip(part) * (part.len() as f64).sqrt() <= LIMIT {
        return;
    }
    let least = LEAST_COUNT.max((LEAST_SHARE * values.len() as f64).ceil() as usize);
    if let Some(place) = valley(part, least) {
        cut(values, start, start + place, bounds);
        bounds.push(start + place);
        cut(values, start + place, end, bounds);
    }
}

/// The place in an ascending sample at which neighbours are furthest apart, compared with the densest place on either side, if
/// each side keeps at least `least` values.
///
/// Distances are taken over several neighbours, about the root of the sample's size, because the distance of two varies at
/// random.
fn valley(sorted: &[f64], least: usize) -> Option<usize> {
    let reach = ((sorted.len() as f64).sqrt() / 2.0).ceil() as usize;
    let widths: Vec<f64> = sorted.windows(reach + 1).map(|window| window[reach] - window[0]).collect();
    let densest = |widths: &mut dyn Iterator<Item = &f64>| {
        widths
            .scan(f64::INFINITY, |least, &width| {
                *least = least.min(width);
                Some(*least)
            })
            .collect::<Vec<f64>>()
    };
    let before = densest(&mut widths.iter());
    let mut after = densest(&mut widths.iter().rev());
    after.reverse();
    let depth = |place: usize| widths[place] / before[place].max(after[place]).max(f64::MIN_POSITIVE);
    let allowed = least..(sorted.len() + 1).saturating_sub(least);
    let cuts = (0..widths.len()).map(|place| (depth(place), widest(sorted, place, reach)));
    let (deepest, place) = cuts.filter(|(_, at)| allowed.contains(at)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (deepest >= VALLEY).then_some(place)
}

/// The end of the widest gap between neighbours among the `reach` gaps from `place` on.
fn widest(sorted: &[f64], place: usize, reach: usize) -> usize {
    let gap = |end: usize| sorted[end] - sorted[end - 1];
    (place + 1..=place + reach).max_by(|&a, &b| gap(a).total_cmp(&gap(b))).unwrap_or(place + 1)
}

/// The sample with equal values spread evenly over the step of the clock that made them equal.
///
/// The step is the typical distance of a repeated value from its nearest neighbour: the median of those distances, each
/// counted as often as the value occurs. No value is spread beyond the middle between it and its neighbours.
fn without_steps(sorted: &[f64]) -> Vec<f64> {
    let runs: Vec<&[f64]> = sorted.chunk_by(|a, b| a >= b).collect();
    let gap = |run: usize| runs.get(run + 1).map_or(f64::INFINITY, |next| next[0] - runs[run][0]);
    let gaps = |run: usize| (if run > 0 { gap(run - 1) } else { f64::INFINITY }, gap(run));
    let nearest = |run: usize| gaps(run).0.min(gaps(run).1);
    let repeated = (0..runs.len()).filter(|&run| runs[run].len() > 1 && nearest(run).is_finite());
    let steps: Vec<f64> =
        repeated.flat_map(|run| std::iter::repeat_n(nearest(run), runs[run].len())).collect();
    let Some(step) = median(&steps) else { return sorted.to_vec() };
    let spread = |run: usize| {
        let (below, above) = gaps(run);
        let (low, high) = (runs[run][0] - below.min(step) / 2.0, runs[run][0] + above.min(step) / 2.0);
        let count = runs[run].len() as f64;
        let single = runs[run].len() == 1;
        (0..runs[run].len()).map(move |place| (low, high, (place as f64 + 0.5) / count, single))
    };
    let place = |(run, (low, high, share, single)): (usize, (f64, f64, f64, bool))| {
        if single { runs[run][0] } else { low + (high - low) * share }
    };
    (0..runs.len()).flat_map(|run| spread(run).map(move |at| (run, at))).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap(centre: f64, width: f64, count: u32) -> impl Iterator<Item = f64> {
        (0..count).map(move |place| centre + width * ((f64::from(place) + 0.5) / f64::from(count) - 0.5))
    }

    #[test]
    fn two_heaps_are_two_modes_with_their_centres_and_shares() {
        let sample: Vec<f64> = heap(100.0, 6.0, 70).chain(heap(120.0, 6.0, 30)).collect();
        let result = modes(&sample);
        assert_eq!(result.iter().map(|mode| mode.share).collect::<Vec<_>>(), [0.7, 0.3]);
        assert!(
            (result[0].centre - 100.0).abs() < 0.1 && (result[1].centre - 120.0).abs() < 0.1,
            "{result:?}"
        );
    }

    /// Gaps of 1 to 5 µs and of 10 to 28 µs were one cluster, because those between the longer ones are as wide as the valley.
    #[test]
    fn by_their_ratios_a_wide_heap_is_told_from_a_narrow_one_below_it() {
        let sample: Vec<f64> = heap(2.5, 3.0, 23).chain(heap(19.0, 18.0, 20)).collect();
        assert_eq!(modes(&sample).len(), 1);
        let found = modes_by_ratio(&sample);
        assert!(found.len() == 2 && (found[1].share - 20.0 / 43.0).abs() < 1e-9, "{found:?}");
        assert_eq!(modes_by_ratio(&[-1.0, 1.0]), modes(&[-1.0, 1.0]));
        let even: Vec<f64> = (1..200).map(|nth| (f64::from(nth) / 30.0).exp()).collect();
        assert_eq!(modes_by_ratio(&even).len(), 1, "no valley by ratios either");
    }

    #[test]
    fn three_heaps_are_three_modes() {
        let sample: Vec<f64> =
            heap(10.0, 2.0, 60).chain(heap(20.0, 2.0, 40)).chain(heap(40.0, 2.0, 50)).collect();
        assert_eq!(modes(&sample).len(), 3);
    }

    #[test]
    fn degenerate_samples_have_one_mode_or_none() {
        assert_eq!(modes(&[]), []);
        assert_eq!(modes(&[1.0, f64::NAN]), []);
        assert_eq!(modes(&[5.0]), [Mode { centre: 5.0, share: 1.0 }]);
        assert_eq!(modes(&[5.0; 50]), [Mode { centre: 5.0, share: 1.0 }]);
    }
}
