//! Sentences on the positions of the run's two CPUs beside each other: which there were, what lies at each, and whether they were then two
//! threads of one core.

use super::words::plural;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::statistics::MINIMUM_TRIALS;
use fathom_engine::results::{
    CpuDistance, CpuDistances, CpuPosition, Results, StreamSlowing, WHAT_CPUS_SHARE,
};

/// The time that a line takes at a distance.
pub(super) fn line(distance: &CpuDistance) -> String {
    quantities::value(Unit::Nanoseconds, distance.line_ns)
}

/// The distances of a run whose CPUs were at several positions, be they seldom; `None` of others.
fn several<'a>(results: &'a Results) -> Option<&'a CpuDistances> {
    results.cpu_distances.as_ref().filter(|distances| distances.positions().count() > 1)
}

/// That the CPUs were moved, between which positions, and what was found between these; `None` if they were at one, or were not looked at.
pub(super) fn moved(results: &Results) -> Option<String> {
    let distances = several(results)?;
    let settings = &results.run.header.settings;
    let (between, all) = distances.between();
    let each: Vec<String> =
        results.cpu_positions.iter().enumerate().map(|(place, at)| position(place == 0, at, all)).collect();
    let (last, rest) = each.split_last()?;
    let cause = if results.run.header.machine.is_virtual() {
        "The host moved these virtual CPUs between"
    } else {
        "The distance of two CPUs changed between"
    };
    Some(format!(
        "{cause} {}: a cache line went from CPU {} to CPU {} in {} and {last}.{}",
        plural(each.len(), "position"),
        settings.home,
        settings.partner.unwrap_or_default(),
        rest.join(", "),
        of_none(between, all)
    ))
}

/// How long a line takes at a position, and how much of the time or in how many of the looks.
fn position(is_first: bool, position: &CpuPosition, looks: usize) -> String {
    let of_the_time = if is_first { " of the time" } else { "" };
    let probably =
        if position.is_of_one_core() { ", when they are probably two threads of one core" } else { "" };
    format!("{} {}{of_the_time}{probably}", line(&position.at), often(position, looks))
}

/// How much of the time the CPUs are at a position or, of a seldom one, in how many of the looks.
fn often(position: &CpuPosition, looks: usize) -> String {
    if position.is_seldom {
        format!("in {} of {}", quantities::count(position.at.looks), plural(looks, "look"))
    } else {
        format!("for {}", quantities::percent_of_few(position.at.share))
    }
}

/// What a line takes at each of these positions, and how often, with the looks that are of none.
pub(super) fn listed<'a>(results: &Results, positions: impl Iterator<Item = &'a CpuPosition>) -> String {
    let (between, all) = several(results).map_or((0, 0), CpuDistances::between);
    let each: Vec<String> =
        positions.map(|position| format!("{} {}", line(&position.at), often(position, all))).collect();
    let between = match between {
        0 => String::new(),
        1 => "; 1 look is of none".to_owned(),
        _ => format!("; {} looks are of none", quantities::count(between)),
    };
    each.join(", ") + &between
}

/// How many looks are of no position.
fn of_none(between: usize, all: usize) -> String {
    match between {
        0 => String::new(),
        1 => format!(" 1 of {} found another time and belongs to none of these.", plural(all, "look")),
        _ => format!(
            " {} of {} found other times and belong to none of these.",
            quantities::count(between),
            plural(all, "look")
        ),
    }
}

/// The same in brief, for what refers to the method; `None` if they were at one distance, or were not looked at.
pub(super) fn change(results: &Results) -> Option<&'static str> {
    several(results)?;
    Some(if results.run.header.machine.is_virtual() {
        "The host moved the two virtual CPUs nearer and apart"
    } else {
        "The distance of the two CPUs changed"
    })
}

/// How the shares of the positions are weighted, which trials count for no value, and what makes the CPUs two threads of one core; `None` if
/// there was one position.
pub(super) fn weighting(results: &Results) -> Option<String> {
    let distances = several(results)?;
    let shares = format!(
        "Each share is of the time between looks that agree, and no more certain than {} allow. A trial beside a look that belongs to none, or \
         between two that differ, is of no position.",
        plural(distances.moves(), "move")
    );
    let left_out = left_out(&results.cpu_positions);
    let of_one_core = results.cpu_positions.iter().filter_map(of_one_core);
    Some([shares].into_iter().chain(left_out).chain(of_one_core).collect::<Vec<_>>().join(" "))
}

/// How many trials at each position count for no value; `None` if all do.
fn left_out(positions: &[CpuPosition]) -> Option<String> {
    let is_one = |position: &&CpuPosition| position.left_out > 0;
    let each = positions.iter().filter(is_one).map(|position| {
        let all = plural(position.trials, "trial");
        format!("{} of {all} at {}", quantities::count(position.left_out), line(&position.at))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| {
        format!(
            "Left out of all values, because their operation has none at this position: {}.",
            each.join(", ")
        )
    })
}

/// That the two CPUs are probably two threads of one core at a position, and by what; `None` if nothing shows it.
fn of_one_core(position: &CpuPosition) -> Option<String> {
    let slowing = position.slowing.filter(StreamSlowing::is_of_one_core)?;
    let ([slowed, read], [elsewhere, all]) = (slowing.trials, slowing.elsewhere);
    let elsewhere_read = if all == 0 {
        String::new()
    } else {
        format!(
            ", and in {} of {} at the other positions",
            quantities::count(elsewhere),
            quantities::count(all)
        )
    };
    Some(format!(
        "While a line takes {} the two CPUs are probably two threads of one core: in {} of {} of work on both then a stream of independent additions \
         beside it takes a quarter longer than on a core alone or more ({} times as long in the median){elsewhere_read}. What is called another \
         hardware thread, or a neighbour, is then the run's own other CPU.",
        line(&position.at),
        quantities::count(slowed),
        plural(read, "trial"),
        quantities::number(slowing.times),
    ))
}

/// At which line the CPUs are probably two threads of one core; `None` if nothing shows it.
pub(super) fn line_of_one_core(results: &Results) -> Option<String> {
    let is_one = |position: &&CpuPosition| position.is_of_one_core();
    let lines: Vec<String> =
        results.cpu_positions.iter().filter(is_one).map(|position| line(&position.at)).collect();
    (!lines.is_empty()).then(|| lines.join(" or "))
}

/// What answers the question which CPUs share a core for each position; `None` of another experiment, and if there was one position.
pub(super) fn what_they_share(results: &Results, experiment: &str) -> Option<String> {
    let distances = experiment == WHAT_CPUS_SHARE && several(results).is_some();
    distances.then(|| by_position(&results.cpu_positions))
}

/// The answer at each of these positions.
fn by_position(positions: &[CpuPosition]) -> String {
    let at = |position: &CpuPosition| {
        let share = position.load.map_or("not tried".to_owned(), |load| {
            let trials = plural(load.trials, "trial");
            if load.trials < MINIMUM_TRIALS {
                return format!("unknown: {trials}");
            }
            format!("{} of the time, {trials}", quantities::percent(load.share))
        });
        format!("{} ({share})", line(&position.at))
    };
    let each: Vec<String> = positions.iter().map(at).collect();
    let lines: Vec<String> =
        positions.iter().filter(|at| at.is_of_one_core()).map(|position| line(&position.at)).collect();
    let of_one_core = if lines.is_empty() {
        String::new()
    } else {
        // The method has the numbers behind it, for the whole paper.
        format!(
            " While a line takes {} the two CPUs are probably two threads of one core (the section Method says by what).",
            lines.join(" or ")
        )
    };
    format!(
        "By what a line takes between the two CPUs, load on the one slows a stream on the other at {}.{of_one_core}",
        each.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_engine::results::LoadSlowing;

    fn at(line_ns: f64, slowing: Option<StreamSlowing>) -> CpuPosition {
        let at = CpuDistance { line_ns, share: 0.3, looks: 45, is_usual: false };
        CpuPosition { at, is_seldom: line_ns < 20.0, trials: 26, left_out: 0, slowing, load: None }
    }

    fn slowing(stays: [usize; 2]) -> StreamSlowing {
        StreamSlowing { trials: [23, 25], stays, elsewhere: [72, 1822], times: 1.706 }
    }

    #[test]
    fn threads_of_one_core_are_named_only_where_the_work_there_is_slowed() {
        let said = of_one_core(&at(17.0, Some(slowing([7, 7])))).expect("it is shown");
        assert!(said.contains("takes 17.0 ns the two CPUs are probably two threads of one core"), "{said}");
        assert!(
            said.contains("in 23 of 25 trials") && said.contains("72 of 1\u{202f}822 at the other"),
            "{said}"
        );
        assert_eq!(of_one_core(&at(17.0, Some(slowing([0, 7])))), None, "nothing is slowed");
        assert_eq!(of_one_core(&at(17.0, None)), None, "nothing was read");
    }

    #[test]
    fn a_seldom_position_is_named_by_its_looks_and_a_look_of_none_is_counted() {
        assert_eq!(position(true, &at(32.9, None), 2443), "32.9 ns for 30 % of the time");
        assert_eq!(position(false, &at(17.0, None), 2443), "17.0 ns in 45 of 2\u{202f}443 looks");
        let shown = position(false, &at(17.0, Some(slowing([7, 7]))), 2443);
        assert_eq!(
            shown,
            "17.0 ns in 45 of 2\u{202f}443 looks, when they are probably two threads of one core"
        );
        assert_eq!(of_none(0, 9), "");
        assert_eq!(
            of_none(2, 2443),
            " 2 of 2\u{202f}443 looks found other times and belong to none of these."
        );
    }

    #[test]
    fn what_cpus_share_is_answered_for_each_position_that_was_tried() {
        let load = |trials| Some(LoadSlowing { share: 0.97, trials });
        let at_near = |trials| CpuPosition { load: load(trials), ..at(17.0, Some(slowing([7, 7]))) };
        let few = by_position(&[at_near(1)]);
        assert!(few.contains("at 17.0 ns (unknown: 1 trial)."), "{few}");
        let said = by_position(&[at(32.9, None), at_near(5)]);
        assert!(said.contains("at 32.9 ns (not tried), 17.0 ns (97.0 % of the time, 5 trials)."), "{said}");
        let method = " While a line takes 17.0 ns the two CPUs are probably two threads of one core (the section Method says by what).";
        assert!(said.ends_with(method), "its numbers are in the method, once: {said}");
    }

    #[test]
    fn trials_that_no_value_has_are_counted() {
        let left = CpuPosition { left_out: 24, ..at(17.0, None) };
        let said = left_out(&[at(32.9, None), left]).expect("some are");
        assert!(said.ends_with(": 24 of 26 trials at 17.0 ns."), "{said}");
        assert_eq!(left_out(&[at(32.9, None)]), None);
    }
}
