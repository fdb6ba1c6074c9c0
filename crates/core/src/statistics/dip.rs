//! The dip of a sample: its distance from having one mode.

/// The least distance between the distribution function of an ascending sample and a function that is convex up to some place and
/// concave after it, as that of one mode is. A share, 0 to 1/4.
///
/// After Hartigan & Hartigan 1985, "The dip test of unimodality". For a given place the distance on its left is half the greatest
/// height of the function above its largest convex minorant, on its right the mirror image. Going right, the former only grows
/// and the latter only shrinks, so bisection finds the best place. (The two sides are not joined at the place, which makes the
/// distance slightly smaller than Hartigan's; the limit in `modes.rs` was found for this version.)
pub(super) fn dip(sorted: &[f64]) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let mirrored: Vec<f64> = sorted.iter().rev().map(|value| -value).collect();
    let left = |place: usize| height_above_convex(&sorted[..=place]);
    let right = |place: usize| height_above_convex(&mirrored[..=last - place]);
    if last < 2 {
        return 0.0;
    }
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = usize::midpoint(low, high);
        if left(middle) < right(middle) { low = middle + 1 } else { high = middle }
    }
    let nearest = |place: usize| left(place).max(right(place));
    nearest(low).min(nearest(low.saturating_sub(1))) / (2.0 * sorted.len() as f64)
}

/// The greatest height of the points `(sorted[i], i)` above their lower convex hull, in steps of i.
fn height_above_convex(sorted: &[f64]) -> f64 {
    let mut hull: Vec<usize> = Vec::new();
    for place in 0..sorted.len() {
        while let [.., before, corner] = hull[..] {
            let rise = (corner - before) as f64 * (sorted[place] - sorted[before]);
            if rise < (place - before) as f64 * (sorted[corner] - sorted[before]) {
                break;
            }
            hull.pop();
        }
        hull.push(place);
    }
    let above = |ends: &[usize]| {
        let (from, to) = (ends[0], ends[1]);
        let width = sorted[to] - sorted[from];
        let hull_at = |place: usize| (to - from) as f64 * ((sorted[place] - sorted[from]) / width);
        (from..to)
            .map(|place| (place - from) as f64 - if width > 0.0 { hull_at(place) } else { 0.0 })
            .fold(0.0, f64::max)
    };
    hull.windows(2).map(above).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::dip;

    #[test]
    fn evenly_spaced_values_have_no_dip() {
        assert!(dip(&(0..100).map(f64::from).collect::<Vec<_>>()) < 1e-9);
        assert!(dip(&[]) + dip(&[1.0]) + dip(&[1.0, 2.0]) < 1e-9);
    }

    #[test]
    fn two_equal_heaps_far_apart_have_the_greatest_dip() {
        let sample: Vec<f64> =
            (0..1000).map(|i| f64::from(i) * 1e-6 + if i < 500 { 0.0 } else { 1000.0 }).collect();
        assert!((dip(&sample) - 0.25).abs() < 0.01, "{}", dip(&sample));
    }
}
