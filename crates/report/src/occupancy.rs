//! Sentences on whether the core was shared.

use super::words::plural;
use fathom_core::quantities;
use fathom_engine::results::{CoreShared, CoreState, PointResult, Results};

/// The sentences about the run; empty if its file has no readings of the core.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    results.core_shared.as_ref().map(of_time).into_iter().chain(of_figures(results)).collect()
}

fn of_time(core: &CoreShared) -> String {
    let looks = plural(core.looks, "look");
    let Some(shared) = core.levels.shared else {
        return format!(
            "The core was in a single state at {looks}: either never shared with another hardware thread, \
             or always; the two cannot be distinguished from inside the machine."
        );
    };
    let ends = core
        .interval
        .map(|ends| format!(" ({})", quantities::percent_range(core.share, ends.low, ends.high)));
    format!(
        "Another hardware thread used the core {}{} of the time, by {looks} at it: a stream of independent \
         instructions then took {} times as long in the median, while a chain of dependent ones did not.",
        quantities::percent(core.share),
        ends.unwrap_or_default(),
        quantities::number(shared / core.levels.alone)
    )
}

fn of_figures(results: &Results) -> Option<String> {
    let values = results.points.iter().filter(|point| point.estimate().is_some());
    let states: Vec<CoreState> = values.filter_map(|point| Some(point.core.as_ref()?.state)).collect();
    let count = |counted: CoreState| states.iter().filter(|state| **state == counted).count();
    let [alone, shared, mixed] = [CoreState::Alone, CoreState::Shared, CoreState::Mixed].map(count);
    (alone + shared + mixed > 0).then(|| {
        let mut text = format!(
            "Of {} for short work on one CPU, {alone} are for the core alone",
            plural(alone + shared + mixed, "figure")
        );
        if shared > 0 {
            text += &format!(", {shared} for the core shared, which was too rarely alone");
        }
        if mixed > 0 {
            text += &format!(", {mixed} for whatever the core did, because too few trials show its state");
        }
        text + "."
    })
}

/// The state of the core behind a point's value, in a word; `None` if it was not shared, or if the work cannot be told apart.
pub(super) fn state(point: &PointResult) -> Option<&'static str> {
    let core = point.core.as_ref().filter(|core| core.shared_share.is_some_and(|share| share > 0.0))?;
    match core.state {
        CoreState::Alone => Some(ALONE),
        CoreState::Shared => Some(SHARED),
        CoreState::Mixed => Some("mixture"),
        CoreState::AtEnds => None,
    }
}

/// The name of the state of a core that nothing else used.
pub(super) const ALONE: &str = "core alone";

/// The name of the row with the value while the core was shared.
pub(super) const SHARED: &str = "core shared";

/// The meaning of the words that name the states of the core.
pub(super) const LEGEND: &str = "core alone, core shared: the same work without and with another hardware thread on \
    the core. A mixture is of observations in both states, because too few were of the core alone.";

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
