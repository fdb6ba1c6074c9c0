//! What is said of a ratio, judged against a margin.

use crate::quantity::{Kind, Unit};
use crate::statistics::{self, Contrast};

/// The share of false ones that is accepted among the differences that are called real.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// What is said of one point of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It costs more than before, or brings less, by more than the margin.
    Worse,
    /// It costs less than before, or brings more, by more than the margin.
    Better,
    /// It differs by more than the margin, and neither way is better: a size.
    Changed,
    /// Whatever the difference, it is smaller than the margin: the whole interval of the ratio lies within.
    Equivalent,
    /// The data could not decide.
    Inconclusive,
}

impl Verdict {
    /// Every verdict, in the order in which they matter.
    pub const ALL: [Verdict; 5] =
        [Verdict::Worse, Verdict::Better, Verdict::Changed, Verdict::Equivalent, Verdict::Inconclusive];

    /// The word in every form.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Changed => "changed",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
        }
    }

    /// Whether a difference was found.
    pub fn is_difference(self) -> bool {
        matches!(self, Verdict::Worse | Verdict::Better | Verdict::Changed)
    }
}

/// A ratio that is to be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    /// From the first side to the second.
    pub contrast: Contrast,
    /// The largest difference that does not matter: 0.05 for 5 %.
    pub margin: f64,
    /// What is counted: whether more is worse.
    pub unit: Unit,
}

/// The verdicts on all ratios of two sides. Differences are called so that of those called few are false
/// ([`FALSE_DISCOVERIES`]); that depends on how many were looked at, and not on their order.
pub(super) fn verdicts(judged: &[Judged]) -> Vec<Verdict> {
    let chances: Vec<f64> = judged.iter().map(|each| each.contrast.chance_within(each.margin)).collect();
    let found = statistics::discoveries(&chances, FALSE_DISCOVERIES);
    judged.iter().zip(found).map(|(each, found)| verdict(each, found)).collect()
}

fn verdict(judged: &Judged, found: bool) -> Verdict {
    let more = judged.contrast.ratio() > 1.0;
    match judged.unit.kind() {
        _ if !found && judged.contrast.is_within(judged.margin) => Verdict::Equivalent,
        _ if !found => Verdict::Inconclusive,
        Kind::Size => Verdict::Changed,
        kind if more == (kind == Kind::Rate) => Verdict::Better,
        _ => Verdict::Worse,
    }
}
