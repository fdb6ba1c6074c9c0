//! The verdict on a ratio, judged against a margin.

use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{self, Contrast};

/// The accepted share of false ones among the reported differences.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// The verdict on one point of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It costs more than before, or brings less, by more than the margin.
    Worse,
    /// It costs less than before, or brings more, by more than the margin.
    Better,
    /// It differs by more than the margin, and neither way is better: a size.
    Changed,
    /// The difference is smaller than the margin: the whole interval of the ratio is within it.
    Equivalent,
    /// The data were not conclusive.
    Inconclusive,
}

impl Verdict {
    /// Every verdict, in the order of importance.
    pub const ALL: [Verdict; 5] =
        [Verdict::Worse, Verdict::Better, Verdict::Changed, Verdict::Equivalent, Verdict::Inconclusive];

    /// The name in every form.
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

/// A ratio to be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    /// The contrast from the first side to the second.
    pub contrast: Contrast,
    /// The largest difference that does not matter: 0.05 for 5 %.
    pub margin: f64,
    /// The unit, which determines whether more is worse.
    pub unit: Unit,
}

/// The verdicts on all ratios of two sides. Differences are reported such that the share of false ones among them is small
/// ([`FALSE_DISCOVERIES`]); this depends on the number of ratios, but not on their order.
pub(super) fn verdicts(judged: &[Judged]) -> Vec<Verdict> {
    let chances: Vec<f64> = judged.iter().map(|each| each.contrast.chance_within(each.margin)).collect();
    let discoveries = statistics::discoveries(&chances, FALSE_DISCOVERIES);
    judged.iter().zip(discoveries).map(|(each, is_discovery)| verdict(each, is_discovery)).collect()
}

fn verdict(judged: &Judged, is_discovery: bool) -> Verdict {
    let more = judged.contrast.ratio() > 1.0;
    match judged.unit.kind() {
        _ if !is_discovery && judged.contrast.is_within(judged.margin) => Verdict::Equivalent,
        _ if !is_discovery => Verdict::Inconclusive,
        Kind::Size => Verdict::Changed,
        kind if more == (kind == Kind::Rate) => Verdict::Better,
        _ => Verdict::Worse,
    }
}
