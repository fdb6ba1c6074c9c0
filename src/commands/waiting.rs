//! `--wait`: a run that begins when the machine is idle.

use fathom_core::machine::Machine;
use fathom_core::quantities;
use fathom_engine::run::{Activity, IdleEnd, wait_until_idle};
use fathom_report::Telling;
use std::path::Path;
use std::time::Duration;

/// Waits at most this time until the machine is idle, and says how long that was. Whether the run is to begin: not if the waiting was
/// interrupted.
pub(super) fn wait(most: Duration, telling: &Telling) -> bool {
    let machine = Machine::describe(Path::new("."));
    let begun = |activity: Activity| {
        let most = quantities::duration(most.as_secs_f64());
        telling.note(&format!("waiting at most {most} until the machine is idle: {}", words(activity)));
    };
    let waited = wait_until_idle(most, &machine, begun);
    let time = quantities::duration(waited.seconds);
    let last = words(waited.last);
    let text = match waited.end {
        IdleEnd::Idle => format!("the machine is idle ({last}): waited {time}"),
        IdleEnd::Busy => {
            format!(
                "the machine is not idle after {time} ({last}): measured all the same, and the report says so"
            )
        }
        IdleEnd::Interrupted => format!("interrupted after {time} of waiting; nothing was measured"),
    };
    telling.note(&text);
    waited.end != IdleEnd::Interrupted
}

/// What was seen, in words.
fn words(activity: Activity) -> String {
    let used = activity.used.map(|used| format!("{} of its CPU time is used", quantities::percent(used)));
    let load = activity.load.map(|load| format!("load {}", quantities::number(load)));
    let facts: Vec<String> = used.into_iter().chain(load).collect();
    if facts.is_empty() { "this kernel tells neither load nor CPU time".to_owned() } else { facts.join(", ") }
}
