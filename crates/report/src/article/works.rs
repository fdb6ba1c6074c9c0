//! The works that methods cite by author and year, in full.

use crate::paper::Text;

/// The short citation in a method, and the full reference.
const WORKS: [(&str, &str); 7] = [
    (
        "Paoloni 2010",
        "G. Paoloni, How to Benchmark Code Execution Times on Intel IA-32 and IA-64 Instruction Set Architectures, Intel \
         white paper 324264-001, 2010",
    ),
    (
        "McVoy and Staelin 1996",
        "L. McVoy and C. Staelin, lmbench: Portable Tools for Performance Analysis, USENIX Annual Technical Conference, 1996",
    ),
    (
        "White 1997",
        "K. P. White, An Effective Truncation Heuristic for Bias Reduction in Simulation Output, Simulation 69 (6), 1997",
    ),
    (
        "Woodruff 1952",
        "R. S. Woodruff, Confidence Intervals for Medians and Other Position Measures, Journal of the American Statistical \
         Association 47, 1952",
    ),
    (
        "Zou 2007",
        "G. Y. Zou, Toward Using Confidence Intervals to Compare Correlations, Psychological Methods 12 (4), 2007",
    ),
    ("Tukey 1977", "J. W. Tukey, Exploratory Data Analysis, Addison-Wesley, 1977"),
    (
        "Hoefler and Belli 2015",
        "T. Hoefler and R. Belli, Scientific Benchmarking of Parallel Computing Systems, International Conference for High \
         Performance Computing (SC), 2015",
    ),
];

/// Prose with the number of every cited work after its citation.
pub(super) fn cited(prose: &str) -> Text {
    let first = WORKS.iter().filter_map(|(name, work)| Some((prose.find(name)? + name.len(), *work))).min();
    match first {
        Some((end, work)) => Text::prose(&prose[..end]).cite(work).and(cited(&prose[end..])),
        None => Text::prose(prose),
    }
}

/// Paragraphs separated by blank lines, with the works that they cite.
pub(super) fn paragraphs(text: &str) -> impl Iterator<Item = Text> {
    text.split("\n\n").filter(|part| !part.is_empty()).map(cited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Piece;

    #[test]
    fn every_work_that_is_named_is_cited_once_where_it_is_named() {
        let text = cited("as `x` (Zou 2007) after Paoloni 2010, and Zou 2007");
        let works = text.pieces().iter().filter(|piece| matches!(piece, Piece::Cite(_))).count();
        assert_eq!(works, 3);
        assert_eq!(cited("nobody").pieces().len(), 1);
    }
}
