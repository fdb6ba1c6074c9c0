//! How figures of one operation are compared that several experiments measure, or one in several ways.

use super::{Agreement, CrossCheck, Denial, OF_STATES, are_apart};
use crate::results::accuracy::CLOSE;
use fathom_core::experiment::{CoreUse, Found, Known, Point, Selector, Statement, capitalize, statement};

/// One operation, and the points that measure it.
pub(super) struct Equal {
    pub(super) what: &'static str,
    pub(super) readings: &'static [EqualFigure],
    /// What differs between the points, as an explanation if the figures differ.
    pub(super) because: &'static str,
}

/// A point that measures the operation, the factor on its figure, and a word for the way of measuring.
#[derive(Clone, Copy)]
pub(super) struct EqualFigure {
    pub(super) points: Selector,
    pub(super) times: f64,
    pub(super) how: &'static str,
}

impl EqualFigure {
    /// The one selected point with its figure; of points of several sizes or methods that which is like the first.
    fn like<'known>(&self, first: Option<&Point>, known: &'known Known) -> Option<(&'known Point, Found)> {
        let is_alike = |point: &Point| first.is_none_or(|first| are_alike(first, point));
        let mut alike = self.points.all(known).into_iter().filter(|(point, _)| is_alike(point));
        let one = alike.next()?;
        alike.next().is_none().then_some(one)
    }
}

/// Whether two points that both have a size, or a method, have the same.
fn are_alike(one: &Point, other: &Point) -> bool {
    let same_size =
        one.number_of("size").zip(other.number_of("size")).is_none_or(|(one, other)| one == other);
    let same_method =
        one.name_of("method").zip(other.name_of("method")).is_none_or(|(one, other)| one == other);
    same_size && same_method
}

impl Equal {
    /// The check; `None` with fewer than two intervals.
    pub(super) fn judge(&self, known: &Known) -> Option<CrossCheck> {
        let first = self.first(known);
        let figure = |reading: &'static EqualFigure| {
            let (point, measured) = reading.like(first, known)?;
            measured.interval.is_some().then_some((reading, point, measured))
        };
        let measured: Vec<(&'static EqualFigure, &Point, Found)> =
            self.readings.iter().filter_map(figure).collect();
        let of_one = |(reading, _, value): &(&'static EqualFigure, &Point, Found)| {
            (*reading, value.scaled(1.0 / reading.times))
        };
        let all: Vec<(&EqualFigure, Found)> = measured.iter().map(of_one).collect();
        let by_value = |(_, one): &&(&EqualFigure, Found), (_, two): &&(&EqualFigure, Found)| {
            one.value.total_cmp(&two.value)
        };
        let ((by_least, least), (by_most, most)) =
            (all.iter().min_by(by_value)?, all.iter().max_by(by_value)?);
        let readings = all.iter().map(|(reading, value)| {
            let name = format!("{}, {}", self.what, reading.how);
            statement!(
                "{value} ({how}, {experiment})",
                value = value.named(&name),
                how = reading.how,
                experiment = reading.points.experiment
            )
        });
        let readings = Statement::joined(readings, ", ").filter(|_| all.len() > 1)?;
        // That one is of a known state of the core and another of none is among what differs.
        let apart = Found { whatever_shared: None, ..most.over(*least) };
        let apart = apart.named(&format!("{}, most over least", self.what));
        let is_of_states = all.iter().any(|(_, value)| value.is_mixture);
        let agreement = if is_of_states { Agreement::Undecided } else { Self::agreement(least, most) };
        let verdict = if is_of_states {
            OF_STATES.into()
        } else if agreement == Agreement::Undecided {
            TOO_WIDE.into()
        } else if agreement == Agreement::Agrees {
            statement!("their intervals overlap")
        } else {
            statement!(
                "they differ by a factor of {apart}. What differs between them, not measured by itself: {because}{states}",
                apart,
                because = self.because,
                states = beside_unknown(all.iter().map(|(_, value)| value.core))
            )
        };
        let statement =
            statement!("{what}: {readings}; {verdict}.", what = capitalize(self.what), readings, verdict);
        let bare = |value: &Found, how| Found::bare(value.value, value.dimension).named(how);
        let brief = statement!(
            "{what}: {most} ({by_most}), {least} ({by_least})",
            what = self.what,
            most = bare(most, by_most.how),
            by_most = by_most.how,
            least = bare(least, by_least.how),
            by_least = by_least.how
        );
        let denials = match agreement {
            Agreement::Agrees | Agreement::Undecided => vec![],
            Agreement::Differs | Agreement::Contradicts => Denial::among(
                &measured
                    .iter()
                    .map(|(of, point, value)| (&of.points, *point, *value, of.times))
                    .collect::<Vec<_>>(),
            ),
        };
        Some(CrossCheck { what: self.what, agreement, statement, brief, denials })
    }

    /// The point with whose size and method others are compared: that of the first reading which has a size, and one point.
    fn first<'known>(&self, known: &'known Known) -> Option<&'known Point> {
        self.readings.iter().find_map(|reading| match reading.points.all(known)[..] {
            [(point, _)] => point.number_of("size").map(|_| point),
            _ => None,
        })
    }

    /// Figures whose intervals overlap agree, unless these are so wide that nearly any two would; they contradict each other where the whole interval of their ratio is beyond a factor
    /// that different code around one operation explains.
    fn agreement(least: &Found, most: &Found) -> Agreement {
        if most.differs_from(least) == Some(false) {
            return if most.over(*least).tells() { Agreement::Agrees } else { Agreement::Undecided };
        }
        let is_far = most.over(*least).ends().is_some_and(|(low, _)| low > CLOSE);
        if is_far && are_apart(least, most) { Agreement::Contradicts } else { Agreement::Differs }
    }
}

/// What is said where of some figures the state of the core is known and of others it is whatever the core did.
fn beside_unknown(cores: impl Iterator<Item = Option<CoreUse>>) -> &'static str {
    let cores: Vec<Option<CoreUse>> = cores.collect();
    let (known, unknown) = (cores.iter().any(Option::is_some), cores.iter().any(Option::is_none));
    if known && unknown { OF_UNKNOWN } else { "" }
}

/// The words of that.
const OF_UNKNOWN: &str =
    "; and the state of the core, which is known of one part of these figures and not of the other";

/// What is said of intervals that overlap because they are wide.
const TOO_WIDE: &str = "their intervals overlap, and are so wide that they could hardly do otherwise, so this run does not decide it";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_intervals_that_overlap_decide_nothing() {
        let of = |value, within| {
            fathom_described::found_within(within, value, fathom_core::quantity::Unit::Nanoseconds)
        };
        assert_eq!(Equal::agreement(&of(100.0, 0.1), &of(110.0, 0.1)), Agreement::Agrees);
        assert_eq!(Equal::agreement(&of(100.0, 0.7), &of(250.0, 0.7)), Agreement::Undecided);
    }

    #[test]
    fn figures_of_a_known_and_of_an_unknown_state_are_told_apart() {
        let alone = Some(CoreUse::Alone);
        assert_eq!(beside_unknown([alone, None].into_iter()), OF_UNKNOWN);
        assert_eq!(beside_unknown([alone, alone].into_iter()), "");
        assert_eq!(
            beside_unknown([None, None].into_iter()),
            "",
            "as on a machine whose core is never looked at"
        );
    }
}
