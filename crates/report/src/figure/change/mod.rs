//! What a figure of curves shows, in a sentence: the one that changes the most, or that none changes much.

#[cfg(test)]
mod tests;

use super::curves::{Curve, Curves, setting};
use super::mark::Mark;
use crate::{occupancy, states, words};
use fathom_core::quantities::{self, Measure};
use std::cmp::Ordering;

/// The marks of a curve but those that must not be used.
fn usable(marks: &[(f64, Mark)]) -> impl Iterator<Item = &(f64, Mark)> {
    marks.iter().filter(|(_, mark)| !mark.is_doubtful)
}

/// The marks of a curve that may be used and are of this state of the core, of one state of the machine, and of the distance of the CPUs that
/// most marks are of.
fn of_state<'a>(
    marks: &'a [(f64, Mark)],
    state: Option<&'static str>,
) -> impl Iterator<Item = (f64, &'a Mark)> {
    let is_of_it = move |mark: &Mark| mark.core == state && mark.states.is_empty() && !mark.is_apart;
    let of_state = usable(marks).filter(move |(_, mark)| is_of_it(mark));
    of_state.map(|(setting, mark)| (*setting, mark))
}

/// The factor between the ends of a curve from which it is said to change.
const STEEP: f64 = 1.25;

/// A curve with its ends.
type CurveEnds<'a> = (&'a Curve<'a>, [(f64, &'a Mark); 2]);

impl Curves<'_> {
    /// What the figure shows: the curve that changes the most beyond its intervals, with its least and its greatest value, or that none
    /// changes much.
    pub(super) fn visible(&self) -> String {
        let spans = self.spans(|curve| commonest(&curve.marks));
        if spans.is_empty() {
            return String::new();
        }
        if !spans.iter().any(|(_, span)| change(span) >= STEEP) {
            let flat = self.flat();
            // Their values are of another distance of the CPUs, and may be far from the others.
            return match flat.trim_start() {
                text if self.has_crosses() => format!(" But for the crosses {}", words::uncapitalised(text)),
                _ => flat,
            };
        }
        let (in_shares, spans): (Vec<CurveEnds>, Vec<CurveEnds>) =
            spans.into_iter().partition(differ_in_shares);
        // Marks of one state are compared with each other alone, of every curve.
        let state = most_changed(&spans).map(|(curve, _)| commonest(&curve.marks));
        let alike = state.map(|state| {
            let mut alike = self.spans(|_| state);
            alike.retain(|span| !differ_in_shares(span));
            (state, alike)
        });
        let most = alike.as_ref().and_then(|(state, spans)| Some((*state, spans, most_changed(spans)?)));
        // The extremes alone do not show that no other two are apart.
        let changes = most.map_or_else(String::new, |(state, spans, most)| self.changes(state, spans, most));
        changes + &most_changed(&in_shares).map_or_else(String::new, |most| self.changes_in_shares(most))
    }

    /// That the ends of this curve are of the same levels, of which the shares change: no change of the operation.
    fn changes_in_shares(&self, (curve, span): &CurveEnds) -> String {
        let at = |(place, mark): (f64, &Mark)| {
            let value = quantities::value(self.unit, mark.value);
            let levels = states::levels(self.unit, &mark.modes.modes())
                .map_or_else(String::new, |levels| format!(" ({levels})"));
            format!("{value} at {} {}{levels}", words::spelt(self.along), setting(self.scale, place))
        };
        let [one, other] = span.map(at);
        let name = if curve.name.is_empty() { String::new() } else { format!(" of {}", curve.name) };
        format!(
            " Marks{name} are of the same levels in other shares of their observations: from {one} to {other}."
        )
    }

    /// The ends of each curve, of its marks of this state.
    fn spans(&self, state: impl Fn(&Curve) -> Option<&'static str>) -> Vec<CurveEnds<'_>> {
        let members = self.members.iter();
        members.filter_map(|curve| Some((curve, extremes(&curve.marks, state(curve))?))).collect()
    }

    /// That this curve changes the most, of marks of one state.
    fn changes(&self, state: Option<&'static str>, spans: &[CurveEnds], most: &CurveEnds) -> String {
        let (curve, span) = most;
        let [one, other] = span.map(|(place, mark)| (place, mark.value));
        let rates = Measure::of_rates([(self.unit, one.1), (self.unit, other.1)]);
        let at = |(place, value): (f64, f64)| {
            let value = rates.map_or_else(
                || quantities::value(self.unit, value),
                |measure| format!("{} {}", measure.number(value, None), measure.symbol),
            );
            format!("{value} at {} {}", words::spelt(self.along), setting(self.scale, place))
        };
        let (one, other) = (at(one), at(other));
        let among = self.among(state);
        if self.members.len() == 1 {
            return match among {
                Some(among) => format!(" Among marks {among}, from {one} to {other}."),
                None => format!(" From {one} to {other}."),
            };
        }
        let lead = among.map_or_else(|| " The".to_owned(), |among| format!(" Among marks {among}, the"));
        let least = sure_change(span).map_or(f64::INFINITY, |[least, _]| least);
        let may_exceed = |(rival, of): &&CurveEnds| {
            !std::ptr::eq(*rival, *curve) && sure_change(of).is_some_and(|[_, most]| most >= least)
        };
        let rivals = match spans.iter().filter(may_exceed).count() {
            0 => String::new(),
            1 => ", not significantly larger than that of one other,".to_owned(),
            some => format!(", not significantly larger than those of {some} others,"),
        };
        format!("{lead} largest factor{rivals} is that of {}: from {one} to {other}.", curve.name)
    }

    /// Which marks are of this state, and between which settings, where not all of the figure are.
    fn among(&self, state: Option<&'static str>) -> Option<String> {
        let all = || self.members.iter().flat_map(|curve| usable(&curve.marks));
        let alike = || self.members.iter().flat_map(|curve| of_state(&curve.marks, state));
        if alike().count() == all().count() {
            return None;
        }
        let of_core = all().any(|(_, mark)| mark.core != state && !mark.is_apart).then(|| match state {
            Some(occupancy::MIXTURE) => "of both states of the core".to_owned(),
            Some(state) => format!("with the {state}"),
            None => "that name no state of the core".to_owned(),
        });
        let of_level = all().any(|(_, mark)| !mark.states.is_empty()).then(|| "with one value".to_owned());
        let of_distance =
            all().any(|(_, mark)| mark.is_apart).then(|| "of one distance of the CPUs".to_owned());
        let which: Vec<String> = of_core.into_iter().chain(of_level).chain(of_distance).collect();
        let range = |settings: Vec<f64>| {
            let ends = [f64::min, f64::max].map(|end| settings.iter().copied().reduce(end));
            ends.map(|end| end.map(|end| setting(self.scale, end)).unwrap_or_default())
        };
        let [first, last] = range(all().map(|(place, _)| *place).collect());
        let range = match range(alike().map(|(place, _)| place).collect()) {
            [from, to] if from == first && to == last => String::new(),
            [from, to] if from == first => format!(", which end at {to}"),
            [from, to] if to == last => format!(", which begin at {from}"),
            [from, to] => format!(", which are from {from} to {to}"),
        };
        Some(which.join(" and ") + &range)
    }

    /// What a figure shows whose curves are flat: the lowest and the highest of them where they are apart, as one of a single setting may be.
    fn flat(&self) -> String {
        let marks = self
            .members
            .iter()
            .flat_map(|curve| usable(&curve.marks).map(|(_, mark)| (curve.name.as_str(), mark)));
        let marks: Vec<NamedMark> = marks.filter(|(_, mark)| !mark.is_apart).collect();
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
                    format!(" Of marks with one level each nothing changes by more than a factor of {STEEP}.")
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
        if self.has_levels() { "No curve whose marks have one level each" } else { "No curve" }
    }

    fn has_crosses(&self) -> bool {
        self.members.iter().any(|curve| curve.marks.iter().any(|(_, mark)| mark.is_apart))
    }

    fn has_levels(&self) -> bool {
        let is_of_several = |mark: &Mark| !mark.states.is_empty() || mark.modes.is_of_several();
        self.members.iter().any(|curve| curve.marks.iter().any(|(_, mark)| is_of_several(mark)))
    }
}

/// A mark with the name of its curve.
type NamedMark<'a> = (&'a str, &'a Mark);

/// The least and the greatest value of a curve with their settings, in the order of these; `None` if it has one setting. Of unlike states of the
/// core the difference would be in part the neighbour's: those of one state. The median of a machine in several states is of neither, and
/// no extreme.
fn extremes<'a>(marks: &'a [(f64, Mark)], state: Option<&'static str>) -> Option<[(f64, &'a Mark); 2]> {
    let mine = || of_state(marks, state).filter(|(_, mark)| mark.value > 0.0);
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

/// Whether the ends of a curve are of the same levels, of which each has another share.
fn differ_in_shares((_, [(_, one), (_, other)]): &CurveEnds) -> bool {
    one.modes.has_the_levels_of(&other.modes)
}

/// Of the curves that change much for certain that which changes the most.
fn most_changed<'all, 'a>(spans: &'all [CurveEnds<'a>]) -> Option<&'all CurveEnds<'a>> {
    let sure = spans.iter().filter(|(_, span)| change(span) >= STEEP && are_apart(span[0].1, span[1].1));
    sure.max_by(|(_, one), (_, other)| change(one).total_cmp(&change(other)))
}

/// The least and the greatest factor between the ends of a curve by their intervals; `None` of one without these.
fn sure_change([(_, one), (_, other)]: &[(f64, &Mark); 2]) -> Option<[f64; 2]> {
    let (less, more) = if one.value <= other.value { (one, other) } else { (other, one) };
    let (less, more) = (less.ends?, more.ends?);
    Some([more.0 / less.1, more.1 / less.0])
}

/// Whether two marks differ beyond their intervals; one without an interval is not known to.
fn are_apart(one: &Mark, other: &Mark) -> bool {
    one.ends.zip(other.ends).is_some_and(|(one, other)| one.1 < other.0 || other.1 < one.0)
}

/// The state of the core that most marks are of; of several, that of the first.
fn commonest(marks: &[(f64, Mark)]) -> Option<&'static str> {
    let near = usable(marks).filter(|(_, mark)| !mark.is_apart);
    commonest_state(&near.map(|(_, mark)| mark.core).collect::<Vec<_>>())
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
