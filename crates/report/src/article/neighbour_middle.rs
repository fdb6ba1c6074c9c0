//! What a neighbour on the core costs in the middle of all operations, of which each kind counts once.

use fathom_core::experiment::Found;
use fathom_core::quantities;
use fathom_core::sorting;
use fathom_core::statistics;

/// What a neighbour costs a kind of operation: the median over its settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KindCost {
    /// The experiment with the names of its parameters' variants.
    pub kind: String,
    pub cost: f64,
    /// The number of its settings.
    pub settings: usize,
    /// Whether a cost of one of its settings is shown.
    pub is_shown: bool,
}

/// The costs of settings by their kinds: a loop at fifteen counts is one operation, and would else outweigh fourteen others.
pub(super) fn by_kind(settings: impl Iterator<Item = (String, Found)>) -> Vec<KindCost> {
    let mut kinds: Vec<(String, Vec<Found>)> = vec![];
    for (kind, cost) in settings {
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, costs)) => costs.push(cost),
            None => kinds.push((kind, vec![cost])),
        }
    }
    let of = |(kind, costs): (String, Vec<Found>)| {
        let values: Vec<f64> = costs.iter().map(|cost| cost.value).collect();
        let is_shown = costs.iter().any(|cost| is_shown(*cost));
        Some(KindCost { kind, cost: statistics::median(&values)?, settings: costs.len(), is_shown })
    };
    kinds.into_iter().filter_map(of).collect()
}

/// Whether the whole interval is above 1: otherwise a ratio is no cost, and one below 1 no saving.
pub(super) fn is_shown(cost: Found) -> bool {
    cost.ends().is_some_and(|(low, _)| low > 1.0)
}

/// What a neighbour costs in the middle of all kinds, and how far they spread: no one factor is that of every operation. Those without an
/// interval, which are others, stand beside them.
pub(super) fn of(with_interval: &[KindCost], without: &[KindCost]) -> Option<String> {
    // Two or three operations say nothing of all, and many without an interval do.
    if (1..FEW).contains(&with_interval.len()) && without.len() >= MANY {
        let all: Vec<KindCost> = with_interval.iter().chain(without).cloned().collect();
        let shown = with_interval.iter().filter(|kind| kind.is_shown).count();
        return Some(format!(
            "{} of their time alone in the median of {}, most of one to three trials with it shared{}; a cost is shown for {} of the {} with an \
             interval of both values",
            quantities::factor(median(&all)?),
            counted("", &all),
            spread(&all),
            crate::words::none_or(shown),
            with_interval.len(),
        ));
    }
    let whose = if with_interval.len() == 1 { "its" } else { "their" };
    let text = format!(
        "{} of {whose} time alone in the median of {} with an interval of both values{}",
        quantities::factor(median(with_interval)?),
        counted("the ", with_interval),
        spread(with_interval)
    );
    let others = median(without).map(|median| {
        let number = if without.len() == 1 {
            "one other".to_owned()
        } else {
            counted("", without).replacen(" kind", " other kind", 1)
        };
        format!(
            "; {} in the median of {number}, without an interval{}",
            quantities::factor(median),
            spread(without)
        )
    });
    Some(text + &others.unwrap_or_default())
}

fn median(kinds: &[KindCost]) -> Option<f64> {
    statistics::median(&kinds.iter().map(|kind| kind.cost).collect::<Vec<_>>())
}

/// The number of kinds, and of the settings that they are of where these are more: `the 40 kinds (218 settings)`.
fn counted(article: &str, kinds: &[KindCost]) -> String {
    let settings: usize = kinds.iter().map(|kind| kind.settings).sum();
    match kinds {
        [_] if settings == 1 => "the one".to_owned(),
        [_] => format!("the one kind ({settings} settings)"),
        kinds if settings == kinds.len() => format!("{article}{} kinds", kinds.len()),
        kinds => format!("{article}{} kinds ({settings} settings)", kinds.len()),
    }
}

/// Fewer operations than these with an interval do not speak for all.
const FEW: usize = 4;

/// So many values have quartiles, fewer their ends.
const MANY: usize = 20;

/// Between what some values lie; nothing of one.
fn spread(kinds: &[KindCost]) -> String {
    let mut ascending: Vec<f64> = kinds.iter().map(|kind| kind.cost).collect();
    sorting::numbers(&mut ascending);
    let (low, high, who) = match &ascending[..] {
        [] | [_] => return String::new(),
        [first, .., last] if ascending.len() < MANY => (*first, *last, ""),
        all => {
            let [low, high] = [0.25, 0.75].map(|level| statistics::quantile(all, level).unwrap_or_default());
            (low, high, "half of them ")
        }
    };
    format!(" ({who}from {} to {})", quantities::factor(low), quantities::factor(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Dimension;

    fn cost(value: f64) -> Found {
        fathom_described::found_within(0.05, value, Dimension::Ratio)
    }

    fn kinds(costs: &[f64]) -> Vec<KindCost> {
        by_kind(costs.iter().enumerate().map(|(nth, value)| (nth.to_string(), cost(*value))))
    }

    /// Of 218 costs 113 were of loops and procedure calls, and the median of all was theirs.
    #[test]
    fn many_settings_of_an_operation_count_once() {
        let loops = (0..15).map(|nth| ("a loop".to_owned(), cost(1.5 + f64::from(nth) / 100.0)));
        let others = [1.1, 1.2, 1.3, 1.4].map(|value| (value.to_string(), cost(value)));
        let all = by_kind(loops.chain(others));
        assert_eq!(
            of(&all, &[]).as_deref(),
            Some(
                "1.30× of their time alone in the median of the 5 kinds (19 settings) with an interval of both values (from 1.10× to 1.57×)"
            )
        );
    }

    /// Eight operations with an interval said 1.19x of "an operation", beside 363 others with 1.24x.
    #[test]
    fn no_one_factor_is_said_of_every_operation() {
        let few = kinds(&[1.06, 1.06, 1.17, 1.19, 1.19, 1.2, 1.2, 1.62]);
        let many = kinds(&(0..101).map(|nth| 1.0 + f64::from(nth) / 100.0).collect::<Vec<_>>());
        assert_eq!(
            of(&few, &many).as_deref(),
            Some(
                "1.19× of their time alone in the median of the 8 kinds with an interval of both values (from 1.06× to 1.62×); 1.50× in the median \
                 of 101 other kinds, without an interval (half of them from 1.25× to 1.75×)"
            )
        );
        assert_eq!(
            of(&few[..1], &[]).as_deref(),
            Some("1.06× of its time alone in the median of the one with an interval of both values")
        );
        assert_eq!(of(&[], &many), None);
        // The two were hand-overs across CPUs.
        assert_eq!(
            of(&few[3..5], &many).as_deref(),
            Some(
                "1.49× of their time alone in the median of 103 kinds, most of one to three trials with it shared (half of them from 1.23× to \
                 1.75×); a cost is shown for 2 of the 2 with an interval of both values"
            )
        );
    }
}
