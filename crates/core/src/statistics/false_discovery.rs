//! Which of many findings are accepted, such that few of the accepted ones are false.

use crate::sorting;

/// Which of many hypotheses are rejected, such that at most the share `rate` of the rejections is expected to be false: Benjamini
/// & Hochberg 1995, "Controlling the false discovery rate" (J. R. Stat. Soc. B 57). `chances` are the p-values of the hypotheses.
/// If all hypotheses are true, the probability of any rejection is at most `rate`. The order of the hypotheses does not matter.
pub fn discoveries(chances: &[f64], rate: f64) -> Vec<bool> {
    let mut sorted: Vec<f64> = chances.to_vec();
    sorting::numbers(&mut sorted);
    let count = sorted.len() as f64;
    let passes = |(place, chance): &(usize, &f64)| **chance <= (*place as f64 + 1.0) / count * rate;
    let limit = sorted.iter().enumerate().filter(passes).map(|(_, chance)| *chance).next_back();
    chances.iter().map(|chance| limit.is_some_and(|limit| *chance <= limit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_source_has_four_rejections() {
        // The fifteen probabilities of Neuhaus et al. 1992 in section 4.1 of the source.
        let chances = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        assert_eq!(discoveries(&chances, 0.05).iter().filter(|is_discovery| **is_discovery).count(), 4);
    }

    #[test]
    fn the_order_does_not_matter_and_nothing_comes_of_nothing() {
        assert_eq!(discoveries(&[0.9, 0.001, 0.5], 0.05), [false, true, false]);
        assert_eq!(discoveries(&[], 0.05), Vec::<bool>::new());
        assert_eq!(discoveries(&[0.04, 0.05], 0.05), [true, true]);
    }
}
