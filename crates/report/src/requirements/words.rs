//! Requirements and what was decided of them in words.

use crate::paper::Text;
use crate::words::plural;
use fathom_core::machine::{Fact, Machine};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::quantity::declared;
use fathom_engine::requirements::{
    Assessment, Condition, Demand, Judgement, Measurand, Per, Publication, RightSide, ThresholdKind,
};
use std::collections::BTreeSet;

/// The verdict on all requirements in a sentence, whose first word it is.
pub(super) fn verdict(demands: &[Demand], judged: &[Assessment]) -> String {
    let count = |judgement| judged.iter().filter(|judged| judged.judgement == judgement).count();
    let [meets, fails, undecided] = [Judgement::Meets, Judgement::Fails, Judgement::Undecided].map(count);
    let unmeasured = demands.iter().filter(|demand| is_unmeasured(demand)).count();
    let all = plural(judged.len(), "requirement");
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    let open = undecided.saturating_sub(unmeasured);
    let others = |counts: &[(usize, &str)]| {
        let some = counts.iter().filter(|(count, _)| *count > 0);
        let some: Vec<String> = some.map(|(count, what)| format!("{count} {what}")).collect();
        if some.is_empty() { String::new() } else { format!("; {}", some.join(", ")) }
    };
    let (met, not_yet) = ((meets, "met"), (unmeasured, "cannot be measured yet"));
    match (fails, open) {
        (0, 0) if undecided > 0 => {
            format!("UNDECIDED: {meets} of {all} {} met{}", are(meets), others(&[not_yet]))
        }
        (0, 0) if meets == 1 => "MEETS: the requirement holds".to_owned(),
        (0, 0) => format!("MEETS: all {all} are met"),
        (0, _) => format!("UNDECIDED: {open} of {all} {} undecided{}", are(open), others(&[met, not_yet])),
        _ => {
            let others = others(&[met, (open, "undecided"), not_yet]);
            format!("FAILS: {fails} of {all} {} not met{others}", are(fails))
        }
    }
}

/// Whether no experiment measures what is asked for.
fn is_unmeasured(demand: &Demand) -> bool {
    matches!(demand.measurand, Measurand::Unmeasured(_))
}

/// What a requirement asks for: `p99 at most 10 ms`.
pub(super) fn demand(demand: &Demand) -> String {
    let side = match demand.direction {
        RightSide::AtMost => "at most",
        RightSide::AtLeast => "at least",
    };
    let what = match demand.measurand {
        Measurand::Condition(_) => String::new(),
        _ => statistic(demand) + " ",
    };
    let things = if demand.limit.kind == ThresholdKind::Count { " CPUs" } else { "" };
    format!("{what}{side} {}{things}", demand.limit.text.replace("us", "µs"))
}

fn statistic(demand: &Demand) -> String {
    let share = quantities::tick(Unit::PartsPerMillion, (demand.share * 1e6).round());
    let is_median = (demand.share - 0.5).abs() < f64::EPSILON;
    let percentile = || format!("p{}", share.trim_end_matches(" %"));
    match (demand.per, demand.direction) {
        (Per::Trials, _) => format!("{share} of trials"),
        (Per::Observations, _) if is_median => "median".to_owned(),
        (Per::Observations, RightSide::AtMost) => percentile(),
        (Per::Observations, RightSide::AtLeast) => format!("{share} of observations"),
    }
}

/// What a requirement is about.
pub(super) fn measurand(demand: &Demand, judged: &Assessment) -> String {
    match (&judged.point, &demand.measurand) {
        (Some((experiment, point)), _) => format!("{experiment} {point}"),
        (None, Measurand::Point(selector) | Measurand::Main(selector)) => selector.experiment.to_owned(),
        (None, Measurand::Unmeasured(words)) => words.clone(),
        (None, Measurand::Condition(Condition::CoreShared)) => {
            "the core shared with another hardware thread".to_owned()
        }
        (None, Measurand::Condition(Condition::Cpus)) => "CPUs".to_owned(),
        (None, Measurand::Condition(Condition::Memory)) => "memory".to_owned(),
    }
}

/// Why nothing was decided, in an item; `None` if something was.
pub(super) fn reason(demand: &Demand, judged: &Assessment) -> Option<Text> {
    let reason = judged.reason.as_ref().filter(|_| judged.judgement == Judgement::Undecided)?;
    let about = match demand.measurand {
        Measurand::Unmeasured(ref words) => format!(": {reason}: {words}"),
        _ => format!(": {reason}"),
    };
    Some(Text::strong(&demand.name).and(quantities::reworded(&about)))
}

/// The value, as a rate where one was asked for; empty if there is none.
pub(super) fn value(judged: &Assessment) -> Option<String> {
    let estimate = judged.estimate?;
    let ends = estimate.low.zip(estimate.high);
    Some(match judged.unit {
        Some(_) if judged.asked_as_rate => {
            let ends = ends.map(|(low, high)| (a_second(high), a_second(low)));
            format!("{}/s", quantities::number_within(a_second(estimate.value), ends))
        }
        Some(unit) => quantities::rounded(unit, estimate.value, ends),
        None => quantities::plain(estimate.value),
    })
}

/// How many operations of so many nanoseconds there are in a second.
fn a_second(nanoseconds: f64) -> f64 {
    1e9 / nanoseconds
}

/// The interval, one end of which may be unknown.
pub(super) fn interval(judged: &Assessment) -> Option<String> {
    let estimate = judged.estimate?;
    let unit = judged.unit?;
    let (low, high) = if judged.asked_as_rate {
        (estimate.high.map(a_second), estimate.low.map(a_second))
    } else {
        (estimate.low, estimate.high)
    };
    let rounded = |end: f64| {
        if judged.asked_as_rate {
            format!("{}/s", quantities::number(end))
        } else {
            quantities::value(unit, end)
        }
    };
    match (low, high) {
        (Some(low), Some(high)) if low < high && judged.asked_as_rate => {
            Some(format!("{}/s", quantities::number_range(a_second(estimate.value), low, high)))
        }
        (Some(low), Some(high)) if low < high => {
            let measure = Measure::of(unit, estimate.value);
            Some(format!("{} {}", measure.range(estimate.value, low, high), measure.symbol))
        }
        (Some(low), None) => Some(format!("from {}", rounded(low))),
        (None, Some(high)) => Some(format!("up to {}", rounded(high))),
        // An exact number has no interval, and neither has one that is not bounded yet.
        (Some(_), Some(_)) | (None, None) => None,
    }
}

/// The trials and the time after which it was decided.
pub(super) fn decided_after(judged: &Assessment) -> Option<String> {
    let trials = plural(judged.after_trials?, "trial");
    Some(match judged.at_s {
        Some(seconds) => format!("{trials}, {}", quantities::duration(seconds)),
        None => trials,
    })
}

/// The limits of the machine that bear on requirements: those of control groups, and what figures cannot pass.
pub(super) fn limits(machine: &Machine, judged: &[Assessment]) -> Vec<Text> {
    let limits = &machine.conditions.limits;
    let quota = match machine.cpu_quota() {
        Some(cpus) => format!("CPU quota: the time of {} CPUs", quantities::number(cpus)),
        None => "CPU quota: none that is known".to_owned(),
    };
    let memory = match limits.memory_bytes.value().copied().flatten() {
        Some(bytes) => format!("memory limit of the control group: {}", declared::size(bytes)),
        None => "memory limit of the control group: none that is known".to_owned(),
    };
    let bounds: BTreeSet<String> = judged.iter().filter_map(bound).collect();
    folder(machine, judged).into_iter().chain([quota, memory]).chain(bounds).map(Text::plain).collect()
}

/// Where files were made, if any requirement is about them.
fn folder(machine: &Machine, judged: &[Assessment]) -> Option<String> {
    let is_of_files = |judged: &&Assessment| {
        judged.point.as_ref().is_some_and(|(experiment, _)| experiment.starts_with("filesystem/"))
    };
    judged.iter().find(is_of_files)?;
    let fact = |fact: &Fact<String>| fact.value().cloned().unwrap_or_else(|| "unknown".to_owned());
    let storage = &machine.storage;
    Some(format!(
        "files below {}, on {}; `--dir` names another folder",
        fact(&storage.folder),
        fact(&storage.file_system)
    ))
}

fn bound(judged: &Assessment) -> Option<String> {
    let (bound, unit) = (judged.bound.as_ref()?, judged.unit?);
    let (experiment, _) = judged.point.as_ref()?;
    let side = match judged.direction {
        RightSide::AtMost => "never below",
        RightSide::AtLeast => "never above",
    };
    (bound.limit > 0.0).then(|| {
        format!(
            "{experiment}: {side} {}, because {}",
            quantities::value(unit, bound.limit),
            quantities::reworded(&bound.because)
        )
    })
}

/// A publication in an item.
pub(super) fn publication(publication: &Publication) -> Text {
    let Publication { title, publisher, version, section, url, .. } = publication;
    let place = if url.is_empty() { String::new() } else { format!(", {url}") };
    Text::plain(format!("{publisher}, {title} ({version}), {section}{place}"))
}
