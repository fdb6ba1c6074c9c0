//! What a result says about the reason of its missed prediction.

/// What the mechanism says of a term that was another figure of the run when the prediction was made.
pub(super) const BECAME: &str = "which became another figure during the run";

/// What the mechanism says of the end of a level that the curve of a result itself shows.
pub(super) const IN_THE_CURVE: &str = "in the curve of loads";

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
    /// The two CPUs were at one of their distances, and the value at another is near its prediction: the prediction does not know the
    /// distance, or makes too little of it.
    Distance,
    /// One assumed term of the prediction takes less here than the prediction has for it: what was measured, less what the run measured of
    /// the other terms, leaves less. Why it takes less is not known.
    Overstated {
        /// The term, without its derivation.
        term: String,
    },
    /// What is known to make such results exceed their predictions, and is measured by no run.
    Probable {
        /// What it is, in words that go on "probably ".
        cause: String,
    },
    /// The curve of which the result is a point shows itself that a level ends before it: the prediction assumed another end. That is no
    /// measurement besides the result.
    OwnCurve {
        /// What ends, or what is beyond its end.
        end: String,
    },
    /// The interval of the result reaches to within the factor of the prediction, or its value with the core alone, as the prediction's inputs
    /// are, or what is predicted from its inputs by the end of the run reaches the result: whether it missed is not certain.
    NotCertain,
    /// The whole interval of the result lies in the range that published values give for the prediction: what was predicted is that range, and
    /// only its middle was missed.
    InRange,
    /// No measurement of this run accounts for it.
    NotExplained,
}

/// How many predictions missed, by what is known of the reason: every sentence and table that counts misses takes its numbers from here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MissTally {
    /// Accounted for by a measurement of the run.
    pub explained: usize,
    /// At a distance of the CPUs beside which the value at another is near its prediction.
    pub at_distance: usize,
    /// In one assumed term that the result bounds.
    pub overstated: usize,
    /// Of a probable cause that no run measures.
    pub probable: usize,
    /// Beyond the end of a level that their own curve shows.
    pub in_own_curve: usize,
    /// Whose interval, state or input reaches to within the factor.
    pub uncertain: usize,
    /// Which lie in the range that published values give for the prediction.
    pub in_range: usize,
    /// Whose evidence fails.
    pub in_doubt: usize,
    /// Of unknown cause.
    pub unexplained: usize,
}

impl MissTally {
    /// The tally of these.
    pub fn of<'a>(explanations: impl IntoIterator<Item = &'a Explanation>) -> Self {
        let mut tally = MissTally::default();
        for explanation in explanations {
            *match explanation {
                Explanation::Cause { .. } => &mut tally.explained,
                Explanation::Distance => &mut tally.at_distance,
                Explanation::Overstated { .. } => &mut tally.overstated,
                Explanation::Probable { .. } => &mut tally.probable,
                Explanation::OwnCurve { .. } => &mut tally.in_own_curve,
                Explanation::NotCertain => &mut tally.uncertain,
                Explanation::InRange => &mut tally.in_range,
                Explanation::InDoubt => &mut tally.in_doubt,
                Explanation::NotExplained => &mut tally.unexplained,
            } += 1;
        }
        tally
    }

    /// All results further than the factor from their prediction.
    pub fn all(self) -> usize {
        self.certain() + self.uncertain + self.in_range + self.in_doubt
    }

    /// Those that missed for certain.
    pub fn certain(self) -> usize {
        let known = self.explained + self.at_distance + self.overstated + self.probable;
        known + self.in_own_curve + self.unexplained
    }
}

impl Explanation {
    /// Whether the prediction missed for certain: neither its interval nor its evidence leaves it open.
    pub fn is_certain(&self) -> bool {
        MissTally::of([self]).certain() == 1
    }

    /// Whether its cause is an input of the prediction that became another figure during the run.
    pub fn is_of_input(&self) -> bool {
        matches!(self, Explanation::Cause { mechanism, .. } if mechanism.ends_with(BECAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_have_missed_or_is_in_doubt_is_no_certain_miss() {
        let all = [
            Explanation::NotExplained,
            Explanation::NotExplained,
            Explanation::NotCertain,
            Explanation::InRange,
            Explanation::InDoubt,
            Explanation::Overstated { term: "a term".to_owned() },
            Explanation::Probable { cause: "a cause".to_owned() },
        ];
        let tally = MissTally::of(&all);
        assert_eq!((tally.all(), tally.certain(), tally.unexplained, tally.in_doubt), (7, 4, 2, 1));
        assert_eq!(tally.in_range, 1);
    }
}
