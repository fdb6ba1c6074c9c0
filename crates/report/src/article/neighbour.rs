//! What another hardware thread on the core costs each operation.

use super::neighbour_middle::{self, KindCost, is_shown};
use super::sections::linked;
use crate::occupancy;
use crate::paper::{Block, Column, Group, Key, Row, Section, Table, Text};
use crate::words::{self, plural};
use fathom_core::experiment::Found;
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Kind;
use fathom_core::sorting;
use fathom_engine::results::{CLOSE, PointResult, Results};

/// The section: all operations with a value for either state of the core, those that a neighbour costs most first; `None` if
/// there are none.
pub(super) fn of(results: &Results) -> Option<Section> {
    let both = in_both_states(results);
    // Of all operations: a median without those that became faster would be chosen by its outcome.
    let costs: Vec<Found> = both.iter().map(|(_, cost)| *cost).collect();
    let (mut both, edges): (Vec<_>, Vec<_>) = both.into_iter().partition(|(_, cost)| is_cost(*cost));
    sorting::by_number(&mut both, |(_, cost)| -cost.at_least());
    let number = plural(both.len(), "operation");
    let rows = |of: &[(&PointResult, Found)]| -> Vec<Row> {
        of.iter().map(|(point, cost)| row(results, point, *cost)).collect()
    };
    let all = table(
        "neighbour-table",
        "Operations by what a neighbour on the core costs at least, by the lower end of its interval: with the core shared over alone; for rates, alone over shared.",
    )
    .rows(rows(&both));
    let [dearest, unshown] = ends(&both, |point: &PointResult| point.experiment.as_str());
    let few = table("neighbour-ends", &named(!unshown.is_empty()));
    let bounded = format!("no cost shown, and at most a factor of {CLOSE}");
    let few = [("most", &dearest), (&*bounded, &unshown)]
        .into_iter()
        .filter(|(_, of)| !of.is_empty())
        .fold(few, |few, (name, of)| few.group(Group::named(name).rows(rows(of))));
    let legend = occupancy::legend(both.iter().map(|(point, _)| *point));
    let is_moved = |(point, _): &(&PointResult, Found)| point.at_frequency.is_some();
    let frequency = if both.iter().any(is_moved) { OF_ONE_FREQUENCY } else { "" };
    let [typical, others] = of_each_kind(&in_both_states(results), &without_interval(results));
    let middle = neighbour_middle::of(&typical, &others).map_or_else(String::new, |middle| {
        format!(" With a neighbour on the core operations take {middle}. {A_KIND}")
    });
    let lead = legend + frequency + &middle + &shown_of(&costs);
    let more = as_dear(&both, &dearest, |point: &PointResult| point.experiment.as_str());
    let lead = Text::plain(lead + &more).and(" All: ").and(Text::to(&all.key)).and(".");
    let left_out = left_out(&edges).map(|text| Block::Paragraph(text.into()));
    let few = (!few.groups.is_empty()).then(|| Block::from(few));
    (!both.is_empty()).then(|| {
        Section::new(Key::of("neighbour"), "What a neighbour costs").say(lead).with_all(few).with(
            Block::Folded {
                summary: number.into(),
                appendix: true,
                open: false,
                blocks: left_out.into_iter().chain([all.into()]).collect(),
            },
        )
    })
}

/// The caption of the first rows; those of which no cost is shown are named where there are any.
fn named(has_bounded: bool) -> String {
    let bounded = if has_bounded {
        format!(
            ", and those of which no cost is shown and none above a factor of {CLOSE} is possible, the best bounded first"
        )
    } else {
        format!(" (of each that shows none a factor above {CLOSE} remains possible)")
    };
    format!(
        "The operations that a neighbour on the core costs most, by the lower end of the interval{bounded}, one of each experiment: with the core shared over alone; for rates, alone over shared."
    )
}

const OF_ONE_FREQUENCY: &str = " Both values of an operation are at the core's usual frequency, or both as observed where one of them does not \
    show how it follows that (so marked; elsewhere the other one is at the usual frequency).";

/// Behind the name of an operation of which one value is another than in the table of its experiment.
const AS_OBSERVED: &str = " (as observed)";

/// The operations that were measured in either state of the core, with what a neighbour costs them.
fn in_both_states<'run>(results: &'run Results) -> Vec<(&'run PointResult, Found)> {
    let is_cost_or_rate = |point: &&PointResult| point.unit.kind() != Kind::Size;
    let both = results.points.iter().filter(|point| point.shared().is_some()).filter(is_cost_or_rate);
    both.filter_map(|point| Some((point, point.neighbour_cost()?))).collect()
}

/// What a neighbour costs other operations, whose value with the core shared is of too few trials for an interval.
fn without_interval<'run>(results: &'run Results) -> Vec<(&'run PointResult, Found)> {
    let others =
        results.points.iter().filter(|point| point.shared().is_none() && point.unit.kind() != Kind::Size);
    others.filter_map(|point| Some((point, point.neighbour_cost()?))).collect()
}

const A_KIND: &str = "Settings of an operation that differ in numbers alone, as in a size, are one kind.";

/// The costs of the kinds of operations with an interval, and of the others.
fn of_each_kind(with: &[(&PointResult, Found)], without: &[(&PointResult, Found)]) -> [Vec<KindCost>; 2] {
    let kind = |point: &PointResult| format!("{} {}", point.experiment, point.point.names_only());
    let of = |costs: &[(&PointResult, Found)]| {
        neighbour_middle::by_kind(costs.iter().map(|(point, cost)| (kind(point), *cost)))
    };
    let with = of(with);
    let mut without = of(without);
    without.retain(|other| with.iter().all(|known| known.kind != other.kind));
    [with, without]
}

/// What programs find of a core while it is shared, in a sentence; `None` if no cost of a neighbour is known.
pub(super) fn expected(results: &Results) -> Option<Text> {
    let [typical, others] = of_each_kind(&in_both_states(results), &without_interval(results));
    let text = format!("While it is shared operations take {} (", neighbour_middle::of(&typical, &others)?);
    Some(Text::plain(text).and(Text::to(&Key::of("neighbour"))).and(")."))
}

fn table(key: &str, caption: &str) -> Table {
    Table::new(Key::of(key), caption).columns([
        Column::words("operation"),
        Column::mixed("core alone"),
        Column::mixed(occupancy::SHARED),
        Column::ratio("cost of a neighbour"),
        Column::number("core shared", "% of the time"),
    ])
}

/// The operations at either end of the table in the paper.
const EACH_END: usize = 10;

/// Of operations that a neighbour costs most first, those that it costs most, and those of which no cost is shown, the best bounded first:
/// one of each experiment.
fn ends<'run, T: Copy>(all: &[(T, Found)], experiment: impl Fn(T) -> &'run str) -> [Vec<(T, Found)>; 2] {
    let all = all.iter().copied();
    let (shown, mut unshown): (Vec<(T, Found)>, Vec<_>) = all.partition(|(_, cost)| is_shown(*cost));
    // A wide interval with 1 in it shows neither a cost nor none.
    unshown.retain(|(_, cost)| cost.ends().is_some_and(|(_, high)| high <= CLOSE));
    sorting::by_number(&mut unshown, |(_, cost)| cost.ends().map_or(f64::INFINITY, |(_, high)| high));
    [shown, unshown].map(|of| {
        let mut chosen: Vec<(T, Found)> = vec![];
        for (point, cost) in of {
            let is_new = |(other, _): &(T, Found)| experiment(*other) != experiment(point);
            if chosen.len() < EACH_END && chosen.iter().all(is_new) {
                chosen.push((point, cost));
            }
        }
        chosen
    })
}

/// How many more operations of each experiment that leads the table a neighbour costs at least as much as the last that leads it, with the
/// range of these costs: one of each experiment would hide them.
fn as_dear<'run, T: Copy>(
    all: &[(T, Found)],
    dearest: &[(T, Found)],
    experiment: impl Fn(T) -> &'run str,
) -> String {
    let Some(last) = dearest.last().map(|(_, cost)| cost.at_least()) else { return String::new() };
    let of = |(leading, _): &(T, Found)| {
        let name = experiment(*leading);
        let mine = all.iter().filter(|(point, cost)| experiment(*point) == name && cost.at_least() >= last);
        // The first is the one that leads.
        let more: Vec<f64> = mine.skip(1).map(|(_, cost)| cost.value).collect();
        let ends = more.iter().copied().reduce(f64::min).zip(more.iter().copied().reduce(f64::max));
        ends.map(|(lowest, highest)| {
            let range = if more.len() == 1 {
                quantities::factor(lowest)
            } else {
                format!("{} to {}", quantities::factor(lowest), quantities::factor(highest))
            };
            format!("{} of {name} ({range})", more.len())
        })
    };
    let more: Vec<String> = dearest.iter().filter_map(of).collect();
    if more.is_empty() {
        return String::new();
    }
    format!(
        " The first rows of the table ({}) are each the most expensive operation of an experiment, by the lower end of its interval. Further operations \
         of these experiments are by that end at least as expensive as the last of these rows: {}.",
        dearest.len(),
        more.join(", ")
    )
}

/// Of how many operations a cost is shown.
fn shown_of(costs: &[Found]) -> String {
    let shown = costs.iter().filter(|cost| is_shown(**cost)).count();
    let is_quicker = |cost: &&Found| cost.ends().is_some_and(|(_, high)| high < 1.0);
    let quicker: Vec<&Found> = costs.iter().filter(is_quicker).collect();
    let least = quicker.iter().map(|cost| cost.value).reduce(f64::min);
    let text = format!(" Of {shown} a cost is shown: the whole interval of their ratio is above 1.");
    match least {
        None => text,
        Some(least) => {
            let number = quicker.len();
            let verb = if number == 1 { "seems" } else { "seem" };
            // Of operations that do not differ an interval of 95 % lies below 1 as a whole for one in forty; of no more than these is no cost shown.
            let by_chance = ((costs.len() - shown) as f64 / IN_FORTY).round().max(1.0);
            let meaning = if number as f64 > by_chance {
                "The others differ in more than the neighbour: their trials of one state are few, or of another time of the run."
            } else {
                "So chance may be all of it."
            };
            text + &format!(
                " {number} {verb} quicker beside a neighbour, with the whole interval (the most {}), at most about {} expected by chance. {meaning}",
                quantities::factor(least),
                quantities::plain(by_chance)
            )
        }
    }
}

/// One interval of 95 % in so many lies below the true value as a whole.
const IN_FORTY: f64 = 40.0;

/// The widest interval of a ratio that may be 1, as the ratio of its ends.
const WIDEST: f64 = 4.0;

/// Whether a ratio tells what a neighbour costs: that it costs something for certain, or how little. One that is wide and may be 1 as well
/// tells nothing.
fn is_cost(cost: Found) -> bool {
    let is_narrow = |(low, high): (f64, f64)| low > 0.0 && high >= 1.0 && high <= WIDEST * low;
    is_shown(cost) || cost.ends().is_some_and(is_narrow)
}

/// The operations that are not in the table, with the reason.
fn left_out(edges: &[(&PointResult, Found)]) -> Option<String> {
    let name = |(point, _): &(&PointResult, Found)| {
        format!("{} {}", point.experiment, words::short_label(*point, &point.point))
    };
    let names: Vec<String> = edges.iter().map(name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Not in the table: {} whose two values show no cost of a neighbour: the shared one is the better, or their ratio may be 1 and is \
             uncertain by more than a factor of {WIDEST} ({}).",
            plural(edges.len(), "operation"),
            names.join("; ")
        )
    })
}

fn row(results: &Results, point: &PointResult, cost: Found) -> Row {
    let measure = Measure::of(point.unit, point.estimate().map_or(0.0, |alone| alone.value));
    let values = point.alone_and_shared().map(|values| values.map(|of| words::with_interval(measure, of)));
    let [alone, shared] = values.unwrap_or_default();
    let share = point.core.as_ref().and_then(|core| core.shared_share).unwrap_or_default();
    let as_observed = if point.is_one_of_both_moved() { AS_OBSERVED } else { "" };
    Row::of([
        linked(results, &point.experiment)
            .and(" ")
            .and(words::short_label(point, &point.point) + as_observed),
        alone.into(),
        shared.into(),
        Text::strong(quantities::factor_within(cost.value, cost.ends())),
        quantities::number(share * 100.0).into(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Dimension;

    #[test]
    fn what_costs_something_for_certain_is_a_cost_however_wide() {
        let within = |low, high| {
            let interval = Some(fathom_core::statistics::Interval { low, high });
            Found::measured(fathom_core::statistics::Measured { value: 10.3, interval }, Dimension::Ratio)
        };
        assert!(is_cost(within(1.7, 13.2)) && !is_cost(within(0.9, 13.2)) && !is_cost(within(0.5, 0.9)));
        let all = [("a", within(3.7, 13.2)), ("b", within(5.0, 11.0))].map(|(_, cost)| cost.at_least());
        assert!((all[0] - 3.7).abs() < 1e-9 && (all[1] - 5.0).abs() < 1e-9, "{all:?}");
    }

    #[test]
    fn one_of_each_experiment_does_not_hide_others_as_dear() {
        let cost = |value| fathom_described::found_within(0.1, value, Dimension::Ratio);
        let all = [("a", cost(3.0)), ("a", cost(2.5)), ("a", cost(2.4)), ("b", cost(1.8)), ("a", cost(1.7))];
        let [dearest, _] = ends(&all, |name| name);
        assert_eq!(
            as_dear(&all, &dearest, |name| name),
            " The first rows of the table (2) are each the most expensive operation of an experiment, by the lower end of its interval. Further \
             operations of these experiments are by that end at least as expensive as the last of these rows: 2 of a (2.40× to 2.50×)."
        );
        assert_eq!(as_dear(&all[..1], &dearest[..1], |name| name), "");
    }

    #[test]
    fn the_ends_have_one_operation_of_each_experiment_whose_cost_is_known() {
        let cost = |value, width| fathom_described::found_within(width, value, Dimension::Ratio);
        let all = [
            ("a", cost(3.0, 0.5)),
            ("a", cost(2.5, 0.1)),
            ("a", cost(2.4, 0.1)),
            ("b", cost(1.8, 0.1)),
            ("b", cost(1.2, 0.1)),
            ("c", cost(1.1, 0.2)),
            ("c", cost(0.9, 0.15)),
            ("d", cost(0.95, 0.06)),
        ];
        let [dearest, unshown] = ends(&all, |name| name);
        let told = |of: &[(&str, Found)]| of.iter().map(|(_, cost)| cost.value).collect::<Vec<_>>();
        assert_eq!(told(&dearest), [3.0, 1.8], "one of each; what costs something for certain, however much");
        assert_eq!(
            told(&unshown),
            [0.95, 0.9],
            "what may be 1 is no cost and no saving; the best bounded first"
        );
        let [_, wide] = ends(&[("e", cost(1.1, 0.3))], |name| name);
        assert!(wide.is_empty(), "it may be a cost of 1.4");
        let costs = all.map(|(_, cost)| cost);
        let of_these = shown_of(&costs);
        assert!(of_these.starts_with(" Of 5 a cost is shown") && !of_these.contains("quicker"), "{of_these}");
        let quicker = shown_of(&[cost(0.85, 0.02), cost(0.9, 0.02), cost(0.95, 0.1)]);
        assert!(
            quicker.contains("2 seem quicker beside a neighbour, with the whole interval (the most 0.850×), at most about 1 expected by chance. The others differ"),
            "{quicker}"
        );
        let one = shown_of(&[cost(0.85, 0.02), cost(1.0, 0.02)]);
        assert!(one.contains("1 seems quicker") && one.ends_with("So chance may be all of it."), "{one}");
    }
}
