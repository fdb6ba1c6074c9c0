//! What a result says about the reason of its missed prediction.

/// What the mechanism says of a term that was another figure of the run when the prediction was made.
pub const BECAME: &str = "which became another figure during the run";

/// What is known about the reason why a prediction missed.
#[derive(Debug, Clone, PartialEq)]
pub enum Explanation {
    /// The evidence of the result does not hold: not the prediction is in doubt.
    InDoubt,
    /// A cause that the run has measured.
    Cause {
        /// The mechanism, in a few words.
        mechanism: String,
        /// The factor, at least 1, by which it changes a term of the prediction; `None` if it adds a term.
        changes: Option<f64>,
    },
    /// One assumed term of the prediction takes less here than the prediction has for it: what was measured, less what the run measured of
    /// the other terms, leaves less. Why it takes less is not known.
    Overstated {
        /// The term, without its derivation.
        term: String,
    },
    /// The interval of the result reaches to within the factor of the prediction: whether it missed is not certain.
    NotCertain,
    /// No measurement of this run accounts for it.
    NotExplained,
}
