//! Sentences on whether the core was shared.

use super::words::{self, plural};
use fathom_core::experiment::CoreUse;
use fathom_core::quantities;
use fathom_core::statistics::{self, Measured};
use fathom_engine::results::{CoreShared, CoreState, PointResult, Results, UnlikeCpu};

/// The sentences about the run; empty if its file has no readings of the core.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    let measured = |core: &CoreShared| {
        let ends = core.interval.map(|ends| quantities::percent_range(core.share, ends.low, ends.high));
        let ends = ends.map(|ends| format!("{ends}, ")).unwrap_or_default();
        format!(" ({ends}{})", plural(core.looks, "look"))
    };
    time(results, measured).into_iter().chain(of_figures(results)).collect()
}

/// The sentence about the time in which the core was shared, with how that was measured behind its share.
fn time(results: &Results, measured: fn(&CoreShared) -> String) -> Option<String> {
    let core = results.core_shared.as_ref()?;
    let Some(shared) = core.levels.shared else {
        return Some(format!(
            "The core was in one state at {}: shared with another hardware thread never or always, which looks the same from \
             inside.",
            plural(core.looks, "look")
        ));
    };
    if core.share < SELDOM {
        let share = core
            .interval
            .map_or(String::new(), |ends| format!(", {} at most", quantities::percent(ends.high)));
        return Some(format!(
            "Another hardware thread used the core too seldom for its cost to be known ({}{share}).",
            plural(core.looks, "look")
        ));
    }
    let whose = if results.run.header.machine.is_virtual() { OF_THE_HOST } else { "" };
    Some(format!(
        "Another hardware thread{whose} used the core {}{} of the time: a stream of independent additions then took {} times as \
         long, a chain of dependent ones did not.",
        quantities::percent(core.share),
        measured(core),
        quantities::number(shared / core.levels.alone)
    ))
}

/// What share of the time the core had a neighbour, for readers of the introduction and of the conclusion; `None` if it had none.
pub(super) fn share_of_time(results: &Results) -> Option<String> {
    let core =
        results.core_shared.as_ref().filter(|core| core.levels.shared.is_some() && core.share >= SELDOM)?;
    let whose = if results.run.header.machine.is_virtual() { OF_THE_HOST } else { "" };
    Some(format!(
        "The core was shared with a neighbour, another hardware thread{whose}, {} of the time.",
        quantities::percent(core.share)
    ))
}

/// A core is shared too seldom to say what that costs, below this share of the time: it would be printed as none of it.
const SELDOM: f64 = 0.005;

/// Whose hardware thread it is that uses a guest's core: the guest's own description shows none.
const OF_THE_HOST: &str = " (the host's; the guest cannot see it)";

fn of_figures(results: &Results) -> Option<String> {
    let values = results.points.iter().filter(|point| point.estimate().is_some());
    let states: Vec<CoreState> = values.filter_map(|point| Some(point.core.as_ref()?.state)).collect();
    let count = |counted: CoreState| states.iter().filter(|state| **state == counted).count();
    let [alone, shared, mixed] = [CoreState::Alone, CoreState::Shared, CoreState::Mixed].map(count);
    let is_known = results.core_shared.as_ref().is_some_and(|core| core.levels.shared.is_some());
    let only = if is_known { "the core alone" } else { "that state" };
    if shared + mixed == 0 {
        return (alone > 0)
            .then(|| format!("All {} for short work are for {only}.", plural(alone, "figure")));
    }
    (alone + shared + mixed > 0).then(|| {
        let mut text =
            format!("Of {} for short work, {alone} are for {only}", plural(alone + shared + mixed, "figure"));
        if shared > 0 {
            text += &format!(", {shared} for the core shared, which was too rarely alone");
        }
        if mixed > 0 {
            text += &format!(", {mixed} for whatever the core did, because too few trials show its state");
        }
        text + "."
    })
}

/// The CPUs of the run's kind that are unlike its own, a sentence for each.
pub(super) fn unlike_cpus(results: &Results) -> Vec<String> {
    let home = results.run.header.settings.home;
    let times = |ratio: &Measured| quantities::factor_within(ratio.value, ratio.ends());
    let of = |other: &UnlikeCpu| {
        let cost = other.cost.as_ref().map(|cost| ("the same work takes", cost, "as long there"));
        let frequency = other.frequency.as_ref().map(|hz| ("its frequency is", hz, "as high"));
        let (unlike, alike): (Vec<_>, Vec<_>) =
            cost.into_iter().chain(frequency).partition(|(_, ratio, _)| UnlikeCpu::is_beyond_alike(ratio));
        let written = |figures: Vec<(&str, &Measured, &str)>| -> Vec<String> {
            figures.into_iter().map(|(what, ratio, than)| format!("{what} {} {than}", times(ratio))).collect()
        };
        let alike = match &written(alike)[..] {
            [] => String::new(),
            figures => format!(" ({}: not surely more than 1 % apart)", figures.join(", ")),
        };
        format!(
            "CPU {} differs from CPU {home}, though both are of one kind: {}{alike}. No figure of work on one CPU uses its {}.",
            other.cpu,
            written(unlike).join(", "),
            plural(other.trials, "trial")
        )
    };
    results.unlike_cpus.iter().map(of).collect()
}

/// The state of the core behind a point's value, in a word, also of one whose trials never found it shared; `None` if the run tells no states,
/// or if the work cannot be told apart.
pub(super) fn state(point: &PointResult) -> Option<&'static str> {
    let core = point.core.as_ref().filter(|core| core.is_told_apart)?;
    match core.state {
        CoreState::Alone => Some(ALONE),
        CoreState::Shared => Some(SHARED),
        CoreState::Mixed => Some(MIXTURE),
        CoreState::AtEnds => None,
    }
}

/// The same where the value is not of the core alone.
pub(super) fn beside_a_neighbour(point: &PointResult) -> Option<&'static str> {
    state(point).filter(|state| *state != ALONE)
}

/// The sign behind the name of a figure of the core alone, in tables that have no room for these words.
pub(super) const MARK: &str = "‡";

/// The sign with its space, if the point's figure is of the core alone where that was not always alone; else nothing.
pub(super) fn mark(point: &PointResult) -> String {
    if state(point) == Some(ALONE) { format!(" {MARK}") } else { String::new() }
}

/// The sign of a figure of several points, of which this is the state of the core.
pub(super) fn mark_of_use(results: &Results, core: Option<CoreUse>) -> String {
    let is_alone = core == Some(CoreUse::Alone) && share_of_time(results).is_some();
    if is_alone { format!(" {MARK}") } else { String::new() }
}

/// The sign of what the method says once of states of the core that stand beside each other, and of work that names none.
pub(super) const CAVEAT: &str = "§";

/// What it stands for.
pub(super) const OF_CAVEAT: &str = "§ warns that part of a difference may be the neighbour's. It stands where figures of the core alone and of \
    the core shared meet, where a prediction for the core alone rests on trials with it shared, and at work that is not short: that is of whatever \
    the core did, and beside it stands in how much of the time the core was shared when it was looked at.";

/// The meaning of the sign below a table, and what is said of rows without a state.
pub(super) fn mark_legend<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    let points: Vec<&PointResult> = points.into_iter().collect();
    of_mark(&points) + &of_unmarked(points)
}

/// The same where no method stands that says what the caveat is.
pub(super) fn full_legend<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    let points: Vec<&PointResult> = points.into_iter().collect();
    let shares: Vec<f64> = points.iter().copied().filter_map(at_ends).collect();
    let unmarked = time_shared(&shares).map(|share| {
        format!(" Rows that name no state of the core are of whatever the core did: it was shared {share} when it was looked at.")
    });
    of_mark(&points) + &unmarked.unwrap_or_default()
}

fn of_mark(points: &[&PointResult]) -> String {
    let alone = points.iter().any(|point| state(point) == Some(ALONE));
    if alone { format!(" {MARK}: {ALONE}.") } else { String::new() }
}

/// What a caption says of values whose rows name no state, because their work is not short: in what share of the time the core was shared
/// when it was looked at. Empty if there are none, or if it never was.
pub(super) fn of_unmarked<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    let shares: Vec<f64> = points.into_iter().filter_map(at_ends).collect();
    unmarked("Rows that name no state", &shares)
}

/// What is said of these values, whose work is not short.
fn unmarked(which: &str, shares: &[f64]) -> String {
    let sentence = |share| format!(" {which} ({CAVEAT}): core shared {share}.");
    time_shared(shares).map_or_else(String::new, sentence)
}

/// In what share of the time the core was shared; `None` if it never was.
fn time_shared(shares: &[f64]) -> Option<String> {
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let most = shares.iter().copied().fold(0.0, f64::max);
    let of = |share: f64| quantities::percent(share);
    let share = match statistics::median(shares) {
        _ if of(least) == of(most) => format!("{} of the time", of(most)),
        Some(median) if most - least > TELLS_NOTHING => {
            format!("{} of the time, in their median", of(median))
        }
        _ => format!("{} to {} of the time", of(least), of(most)),
    };
    (most >= SELDOM).then_some(share)
}

/// A range over more than half of all shares that there can be tells nothing of a row.
const TELLS_NOTHING: f64 = 0.5;

/// The share of the time in which the core was shared when it was looked at, of work that is not short.
fn at_ends(point: &PointResult) -> Option<f64> {
    point.core.as_ref().filter(|core| core.state == CoreState::AtEnds)?.shared_share
}

/// Whether the point's value is of whatever the core did, and it was shared at times.
pub(super) fn is_whatever_the_core_did(point: &PointResult) -> bool {
    at_ends(point).is_some_and(|share| share >= SELDOM)
}

/// What a caption says of a picture whose marks are of unlike states of the core; empty if they are not.
pub(super) fn of_picture(points: &[&PointResult]) -> String {
    let of = |name: &str| -> Vec<String> {
        let mine = points.iter().filter(|point| state(point) == Some(name));
        mine.map(|point| words::short_label(*point, &point.point)).collect()
    };
    let shares: Vec<f64> = points.iter().copied().filter_map(at_ends).collect();
    let which = if shares.len() == points.len() { "Its marks" } else { "Marks of other work" };
    unlike([of(ALONE), of(SHARED), of(MIXTURE)]) + &unmarked(which, &shares)
}

/// How many names of a kind a caption has room for.
const NAMED: usize = 3;

fn unlike([alone, shared, mixture]: [Vec<String>; 3]) -> String {
    let few = |names: &[String]| match names.len() {
        1..=NAMED => format!(": {}", names.join("; ")),
        _ => String::new(),
    };
    let parts: Vec<String> = [(&alone, ALONE), (&shared, SHARED), (&mixture, MIXTURE)]
        .into_iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, state)| format!("{} {state}{}", names.len(), few(names)))
        .collect();
    if parts.len() < 2 {
        return String::new();
    }
    format!(" Marks of short work ({CAVEAT}): {}.", parts.join(", "))
}

/// The name of the state of a core that nothing else used.
pub(super) const ALONE: &str = "core alone";

/// The name of a value of which too little is known to be of one state.
pub(super) const MIXTURE: &str = "mixture";

/// The name of the row with the value while the core was shared.
pub(super) const SHARED: &str = "core shared";

/// The meaning of the words that name the states of the core, as far as they are used.
pub(super) fn legend<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    let is_mixture = |point: &PointResult| state(point) == Some(MIXTURE);
    let mixture = points
        .into_iter()
        .any(is_mixture)
        .then_some(" A mixture is of observations in both states, because too few were of the core alone.");
    LEGEND.to_owned() + mixture.unwrap_or_default()
}

const LEGEND: &str =
    "core alone, core shared: the same work without and with another hardware thread on the core.";

/// The note next to the figure of a point: the figure with a shared core, or that the core was not alone.
pub(super) fn note(point: &PointResult) -> Option<String> {
    let core = point.core.as_ref()?;
    let share = core.shared_share.filter(|share| *share > 0.0).map(quantities::percent)?;
    let shared = core.shared.as_ref().map(|shared| {
        let interval = quantities::interval(point.unit, shared).map(|ends| format!(" ({ends})"));
        format!(": {}{}", quantities::estimate(point.unit, shared), interval.unwrap_or_default())
    });
    let shared = shared.unwrap_or_default();
    Some(match core.state {
        CoreState::Alone => format!(
            "Only observations without another hardware thread on the core. The core was \
                                     shared {share} of the time{shared}."
        ),
        CoreState::Shared => {
            "With another hardware thread on the core, which was too rarely alone.".to_owned()
        }
        CoreState::Mixed => {
            format!(
                "A mixture: too few trials show whether another hardware thread used the core. It was shared \
                 {share} of the time{shared}."
            )
        }
        CoreState::AtEnds => format!("The core was shared {share} of the time when it was looked at."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_state_are_told_how_often_the_core_was_shared() {
        let rows = |shares: &[f64]| unmarked("Rows that name no state", shares);
        assert_eq!(rows(&[]), "");
        assert_eq!(rows(&[0.0, 0.001]), "", "a core that was never shared");
        let both = rows(&[0.4, 0.62]);
        assert_eq!(both, " Rows that name no state (§): core shared 40.0 % to 62.0 % of the time.");
        let nearly_all = rows(&[0.0, 1.0, 0.12, 0.1, 0.2]);
        assert_eq!(
            nearly_all,
            " Rows that name no state (§): core shared 12.0 % of the time, in their median."
        );
    }

    #[test]
    fn a_picture_of_unlike_states_says_which_marks_are_of_which() {
        let names = |count: usize| (0..count).map(|number| format!("p{number}")).collect::<Vec<_>>();
        assert_eq!(unlike([names(4), vec![], vec![]]), "", "of one state");
        let text = unlike([names(4), names(1), vec![]]);
        assert_eq!(text, " Marks of short work (§): 4 core alone, 1 core shared: p0.");
    }
}
