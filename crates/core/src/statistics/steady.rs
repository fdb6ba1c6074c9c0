//! The end of the transient at the beginning of a series.

/// The index from which a series of equally spaced values counts as steady.
///
/// The marginal standard error rule (White 1997, "An effective truncation heuristic for bias reduction in simulation output";
/// White, Cobb & Spratt 2000 compare it with others): the beginning is cut off where the standard error of the mean of the rest
/// is least. A cut removes bias as long as the values cut off differ from the rest, and costs precision once they do not. Only
/// the first half may be cut off: a minimum beyond it means that the series was too short, which shows as an index of half the
/// length.
///
/// `None` with fewer than four values, or with one that is not finite.
pub fn steady_from(values: &[f64]) -> Option<usize> {
    if values.len() < 4 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let cuts = 0..=values.len() / 2;
    cuts.min_by(|one, other| squared_error(&values[*one..]).total_cmp(&squared_error(&values[*other..])))
}

/// The same index if the series has become steady: within its first half.
pub fn settled_from(values: &[f64]) -> Option<usize> {
    steady_from(values).filter(|from| *from < values.len() / 2)
}

/// The square of the mean's standard error if the values were independent.
fn squared_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_is_cut_off_and_nothing_more() {
        let noise = |index: usize| f64::from(u8::from(index % 2 == 0));
        let ramp = |index: usize| if index < 10 { 10.0 * index as f64 } else { 100.0 };
        let series: Vec<f64> = (0..60).map(|index| ramp(index) + noise(index)).collect();
        assert_eq!(steady_from(&series), Some(10));
    }

    #[test]
    fn a_steady_series_is_kept_whole() {
        assert_eq!(steady_from(&[5.0; 20]), Some(0));
        let series: Vec<f64> = (0..40).map(|index| 100.0 + f64::from(index % 4)).collect();
        assert!(steady_from(&series).is_some_and(|from| from < 4));
    }

    #[test]
    fn a_series_that_never_becomes_steady_is_cut_in_half() {
        let series: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(steady_from(&series), Some(20));
    }

    #[test]
    fn only_what_became_steady_in_its_first_half_has_settled() {
        assert_eq!(settled_from(&[9.0, 5.0, 5.0, 5.0, 5.0, 5.0]), Some(1));
        assert_eq!(settled_from(&(0..40).map(f64::from).collect::<Vec<_>>()), None);
    }

    #[test]
    fn too_little_is_no_series() {
        assert_eq!(steady_from(&[1.0, 2.0, 3.0]), None);
        assert_eq!(steady_from(&[1.0, 2.0, 3.0, f64::NAN]), None);
    }
}
