//! What a figure of curves shows, in a sentence: the one that changes the most, or that none changes much.

use super::curves::{Curve, Curves, setting};
use super::mark::Mark;
use crate::words;
use fathom_core::quantities::{self, Measure};
use std::cmp::Ordering;

/// The marks of a curve that are of the state of the core that most of them are of, and of one state of the machine.
fn in_one_state(marks: &[(f64, Mark)]) -> impl Iterator<Item = (f64, &Mark)> {
    let state = commonest(marks);
    let of_state = marks.iter().filter(move |(_, mark)| mark.core == state && mark.states.is_empty());
    of_state.map(|(setting, mark)| (*setting, mark))
}

/// The factor between the ends of a curve from which it is said to change.
const STEEP: f64 = 1.25;

impl Curves<'_> {
    /// What the figure shows: the curve that changes the most beyond its intervals, with its least and its greatest value, or that none
    /// changes much.
    pub(super) fn visible(&self) -> String {
        let spans = self.members.iter().filter_map(|curve| Some((curve, extremes(&curve.marks)?)));
        let spans: Vec<(&Curve, [(f64, &Mark); 2])> = spans.collect();
        if spans.is_empty() {
            return String::new();
        }
        let is_steep = |(_, span): &&(&Curve, [(f64, &Mark); 2])| change(span) >= STEEP;
        if !spans.iter().any(|span| is_steep(&span)) {
            return self.flat();
        }
        let along = words::spelt(self.along);
        let sure = spans.iter().filter(is_steep).filter(|(_, [one, other])| are_apart(one.1, other.1));
        let Some((curve, span)) = sure.max_by(|one, other| change(&one.1).total_cmp(&change(&other.1)))
        else {
            // The extremes alone do not show that no other two are apart.
            return String::new();
        };
        let [one, other] = span.map(|(place, mark)| (place, mark.value));
        let rates = Measure::of_rates([(self.unit, one.1), (self.unit, other.1)]);
        let at = |(place, value): (f64, f64)| {
            let value = rates.map_or_else(
                || quantities::value(self.unit, value),
                |measure| format!("{} {}", measure.number(value, None), measure.symbol),
            );
            format!("{value} at {along} {}", setting(self.scale, place))
        };
        // Marks of other states are drawn as well, and may lie further out.
        let is_part = self.members.iter().any(|curve| in_one_state(&curve.marks).count() < curve.marks.len());
        let state =
            span[0].1.core.filter(|_| is_part).map_or_else(String::new, |state| format!(" ({state})"));
        let (lead, begin) = if is_part {
            (" Of each curve in the state that most of its marks are of, the", " In one state from")
        } else {
            (" The", " From")
        };
        match self.members.len() {
            1 => format!("{begin} {} to {}{state}.", at(one), at(other)),
            _ => format!(
                "{lead} largest factor is that of {}: from {} to {}{state}.",
                curve.name,
                at(one),
                at(other)
            ),
        }
    }

    /// What a figure shows whose curves are flat: the lowest and the highest of them where they are apart, as one of a single setting may be.
    fn flat(&self) -> String {
        let marks = self
            .members
            .iter()
            .flat_map(|curve| curve.marks.iter().map(|(_, mark)| (curve.name.as_str(), mark)));
        let marks: Vec<NamedMark> = marks.collect();
        let along = words::spelt(self.along);
        let curve = self.curve_without_levels();
        if apart(&marks).is_none() {
            let swept: Vec<&Curve> = self.members.iter().filter(|curve| curve.marks.len() > 1).collect();
            return match swept[..] {
                // What has one setting does not change along it, whatever else does not.
                [curve] if self.members.len() > 1 => {
                    format!(" Along {along}, {} changes by no more than a factor of {STEEP}.", curve.name)
                }
                _ if self.has_levels() => {
                    format!(
                        " Nothing in it of one level throughout changes by more than a factor of {STEEP}."
                    )
                }
                _ => format!(" Nothing in it changes by more than a factor of {STEEP}."),
            };
        }
        let Some(ends) = apart(&of_one_state(&marks)) else {
            return format!(" {curve} changes by more than a factor of {STEEP} by {along} in one state.");
        };
        let [least, most] = ends.map(|(name, mark)| {
            let value = quantities::value(self.unit, mark.value);
            if name.is_empty() { value } else { format!("{value} ({name})") }
        });
        format!(
            " {curve} changes by more than a factor of {STEEP} by {along}; among them it is from {least} to {most}."
        )
    }
}

impl Curves<'_> {
    /// Which curves are said not to change: a mark of several levels has no one value by which its curve might, nor one whose observations
    /// gather at several, of which its median is one.
    fn curve_without_levels(&self) -> &'static str {
        if self.has_levels() { "No curve of one level throughout" } else { "No curve" }
    }

    fn has_levels(&self) -> bool {
        let is_of_several = |mark: &Mark| !mark.states.is_empty() || mark.modes > 1;
        self.members.iter().any(|curve| curve.marks.iter().any(|(_, mark)| is_of_several(mark)))
    }
}

/// A mark with the name of its curve.
type NamedMark<'a> = (&'a str, &'a Mark);

/// The least and the greatest value of a curve with their settings, in the order of these; `None` if it has one setting. Of unlike states of the
/// core the difference would be in part the neighbour's: those of the state that most marks are of. The median of a machine in several
/// states is of neither, and no extreme.
fn extremes(marks: &[(f64, Mark)]) -> Option<[(f64, &Mark); 2]> {
    let mine = || in_one_state(marks).filter(|(_, mark)| mark.value > 0.0);
    // Where a curve is flat at an extreme, its ends are shown: of equals the first is the least, and the last the greatest.
    let by_value = |one: &(f64, &Mark), other: &(f64, &Mark)| one.1.value.total_cmp(&other.1.value);
    let (least, most) = (mine().min_by(by_value)?, mine().max_by(by_value)?);
    match least.0.total_cmp(&most.0) {
        Ordering::Less => Some([least, most]),
        Ordering::Greater => Some([most, least]),
        Ordering::Equal => None,
    }
}

/// The factor between the ends of a curve, whichever is the greater.
fn change([(_, one), (_, other)]: &[(f64, &Mark); 2]) -> f64 {
    (one.value / other.value).max(other.value / one.value)
}

/// Whether two marks differ beyond their intervals; one without an interval is not known to.
fn are_apart(one: &Mark, other: &Mark) -> bool {
    one.ends.zip(other.ends).is_some_and(|(one, other)| one.1 < other.0 || other.1 < one.0)
}

/// The state of the core that most marks are of; of several, that of the first.
fn commonest(marks: &[(f64, Mark)]) -> Option<&'static str> {
    commonest_state(&marks.iter().map(|(_, mark)| mark.core).collect::<Vec<_>>())
}

fn commonest_state(states: &[Option<&'static str>]) -> Option<&'static str> {
    let number = |state| states.iter().filter(|other| **other == state).count();
    states.iter().rev().max_by_key(|state| number(**state)).copied().flatten()
}

/// The least and the greatest of the marks of a figure; `None` if they are no steep change apart.
fn apart<'a>(marks: &[NamedMark<'a>]) -> Option<[NamedMark<'a>; 2]> {
    let above_zero = || marks.iter().filter(|(_, mark)| mark.value > 0.0);
    let by_value = |one: &&NamedMark, other: &&NamedMark| one.1.value.total_cmp(&other.1.value);
    let (least, most) = (*above_zero().min_by(by_value)?, *above_zero().max_by(by_value)?);
    (most.1.value / least.1.value >= STEEP).then_some([least, most])
}

/// Those that can be compared: of the state of the core that most are of, and of one state of the machine.
fn of_one_state<'a>(marks: &[NamedMark<'a>]) -> Vec<NamedMark<'a>> {
    let state = commonest_state(&marks.iter().map(|(_, mark)| mark.core).collect::<Vec<_>>());
    let is_alike = |mark: &Mark| mark.core == state && mark.states.is_empty();
    marks.iter().filter(|(_, mark)| is_alike(mark)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Scale;
    use fathom_core::quantity::Unit;

    fn mark(value: f64, core: Option<&'static str>) -> Mark {
        let words = String::new();
        Mark { core, ..Mark::of(value, None, words) }
    }

    #[test]
    fn the_ends_of_a_curve_are_of_the_state_that_most_of_its_marks_are_of() {
        let marks = |states: &[Option<&'static str>]| -> Vec<(f64, Mark)> {
            states.iter().map(|state| (1.0, mark(1.0, *state))).collect()
        };
        assert_eq!(commonest(&marks(&[Some("shared"), Some("alone"), Some("alone")])), Some("alone"));
        assert_eq!(commonest(&marks(&[Some("shared"), Some("alone")])), Some("shared"), "the first");
        assert_eq!(commonest(&marks(&[None, None])), None);
        let curve = |values: &[f64]| -> Vec<(f64, Mark)> {
            let of = |(place, value): (usize, &f64)| (place as f64, mark(*value, None));
            values.iter().enumerate().map(of).collect()
        };
        let ends =
            |marks: &[(f64, Mark)]| extremes(marks).map(|span| span.map(|(place, mark)| (place, mark.value)));
        assert_eq!(ends(&curve(&[24.0, 37.0, 22.0])), Some([(1.0, 37.0), (2.0, 22.0)]), "a hump");
        assert_eq!(ends(&curve(&[1.0, 1.0, 9.0, 9.0])), Some([(0.0, 1.0), (3.0, 9.0)]), "flat at both ends");
        assert_eq!(ends(&curve(&[1.0])), None);
        let mut two = curve(&[22.0, 38.0, 24.0]);
        two[1].1.states = vec![(38.0, None), (22.0, None)];
        assert_eq!(ends(&two), Some([(0.0, 22.0), (2.0, 24.0)]), "a median between states");
    }

    #[test]
    fn a_change_within_the_intervals_is_not_named() {
        let shown = |noise: f64| {
            let curve = |name: &str, values: [f64; 2], noise: f64| {
                let mark =
                    |value: f64| Mark { ends: Some((value - noise, value + noise)), ..mark(value, None) };
                let marks = values.iter().enumerate().map(|(place, value)| (place as f64, mark(*value)));
                Curve { name: name.to_owned(), marks: marks.collect(), trend: None }
            };
            let members = vec![curve("noisy", [100.0, 200.0], noise), curve("calm", [100.0, 140.0], 1.0)];
            of_delays(members).visible()
        };
        assert_eq!(
            shown(49.0),
            " The largest factor is that of noisy: from 100 ns at delay 0 to 200 ns at delay 1."
        );
        assert_eq!(
            shown(51.0),
            " The largest factor is that of calm: from 100 ns at delay 0 to 140 ns at delay 1."
        );
        let noisy = |values: [f64; 2]| {
            let mark = |value: f64| Mark { ends: Some((1.0, 999.0)), ..mark(value, None) };
            let marks = values.iter().enumerate().map(|(place, value)| (place as f64, mark(*value)));
            of_delays(vec![Curve { name: "all".to_owned(), marks: marks.collect(), trend: None }]).visible()
        };
        assert_eq!(noisy([100.0, 200.0]), "");
        assert_eq!(noisy([100.0, 110.0]), " Nothing in it changes by more than a factor of 1.25.");
    }

    #[test]
    fn where_marks_of_other_states_are_drawn_as_well_the_state_is_said() {
        let of = |place: f64, value: f64, core| {
            let ends = Some((0.9 * value, 1.1 * value));
            (place, Mark { ends, ..mark(value, core) })
        };
        let shared = Some("core shared");
        let curve = |name: &str, last| {
            let marks = vec![of(0.0, 1.0, shared), of(1.0, 20.0, shared), of(2.0, 30.0, last)];
            Curve { name: name.to_owned(), marks, trend: None }
        };
        let said = |last| of_delays(vec![curve("loads", last), curve("stores", last)]).visible();
        assert_eq!(
            said(Some("core alone")),
            " Of each curve in the state that most of its marks are of, the largest factor is that of stores: from 1.00 ns at delay 0 to 20.0 ns at delay 1 (core shared)."
        );
        assert_eq!(
            said(shared),
            " The largest factor is that of stores: from 1.00 ns at delay 0 to 30.0 ns at delay 2."
        );
    }

    fn of_delays(members: Vec<Curve<'_>>) -> Curves<'_> {
        Curves {
            of: "memory",
            shared: String::new(),
            statistic: "",
            along: "delay",
            named: "delay".to_owned(),
            scale: Scale::Count,
            unit: Unit::Nanoseconds,
            members,
            landmarks: vec![],
        }
    }

    #[test]
    fn a_curve_with_marks_of_several_levels_is_not_said_to_be_flat() {
        let shown = |states: Vec<(f64, Option<(f64, f64)>)>, modes| {
            let curve = |name: &str, values: [f64; 2]| {
                let marks =
                    values.iter().enumerate().map(|(place, value)| (place as f64, mark(*value, None)));
                Curve { name: name.to_owned(), marks: marks.collect(), trend: None }
            };
            let mut members = vec![curve("pipe", [171.0, 170.0]), curve("socket", [238.0, 239.0])];
            members[1].marks[1].1.states = states;
            members[1].marks[1].1.modes = modes;
            of_delays(members).visible()
        };
        assert!(shown(vec![], 1).starts_with(" No curve changes by more than a factor of 1.25 by delay;"));
        for of_two in [shown(vec![(239.0, None), (500.0, None)], 2), shown(vec![], 2)] {
            assert!(of_two.starts_with(" No curve of one level throughout changes by more than"), "{of_two}");
        }
    }

    #[test]
    fn flat_curves_are_not_called_alike_where_one_lies_apart() {
        let shown = |writing: Mark| {
            let curve = |name: &str, marks| Curve { name: name.to_owned(), marks, trend: None };
            let reading = [171.0, 170.0, 199.0].map(|value| mark(value, None)).into_iter();
            of_delays(vec![
                curve("read", (0..3).map(f64::from).zip(reading).collect()),
                curve("write", vec![(0.0, writing)]),
            ])
            .visible()
        };
        assert_eq!(shown(mark(180.0, None)), " Along delay, read changes by no more than a factor of 1.25.");
        assert_eq!(
            shown(mark(238.0, None)),
            " No curve changes by more than a factor of 1.25 by delay; among them it is from 170 ns (read) to 238 ns (write)."
        );
        assert_eq!(
            shown(mark(238.0, Some("shared"))),
            " No curve changes by more than a factor of 1.25 by delay in one state."
        );
    }
}
