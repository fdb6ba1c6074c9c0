//! Run files of earlier schemas, read as this program writes them.
//!
//! Schema 2 names parameters of points like other tools: `by` of network points became `transport`. Values and their meaning
//! are unchanged, except for one that counted from zero what others count from one.

use super::{Header, Line, Method, PredictionLine};
use fathom_core::experiment::{Point, Prediction, Source, TermEvent, Value};

/// The experiment, and the parameter's names in schema 1 and since schema 2.
type Renamed = (&'static str, &'static str, &'static str);

/// Every parameter renamed by schema 2.
const RENAMED: [Renamed; 28] = [
    ("cpu/timing_overhead", "aspect", "measure"),
    ("cpu/noise", "aspect", "figure"),
    ("cpu/context_switch", "by", "mechanism"),
    ("cpu/wake_up", "sleeper", "timer"),
    ("cpu/wake_up", "asked", "sleep"),
    ("memory/loaded_latency", "others", "load_threads"),
    ("memory/loaded_latency", "pause", "delay"),
    ("memory/loaded_latency", "result", "figure"),
    ("memory/minor_fault", "touch", "access"),
    ("memory/minor_fault", "stretch", "batch"),
    ("memory/fault_extent", "by", "method"),
    ("memory/user_fault", "supplies", "fill"),
    ("memory/user_fault", "waits", "delay"),
    ("network/round_trip", "by", "transport"),
    ("network/bandwidth", "by", "transport"),
    ("network/bandwidth", "aspect", "figure"),
    ("network/bandwidth", "since", "start"),
    ("network/connection", "part", "phase"),
    ("network/connection", "version", "ip_version"),
    ("filesystem/cache_size", "way", "call"),
    ("filesystem/cache_size", "file", "content"),
    ("filesystem/read", "way", "call"),
    ("filesystem/read", "depth", "queue_depth"),
    ("filesystem/read", "counted", "figure"),
    ("filesystem/write", "until", "durability"),
    ("filesystem/metadata", "action", "operation"),
    (REMOTE_READ, "through", "protocol"),
    (REMOTE_READ, AHEAD, "queue_depth"),
];

const REMOTE_READ: &str = "filesystem/remote_read";

/// Requests in addition to the one whose answer is awaited; a queue depth includes that one.
const AHEAD: &str = "ahead";

/// Converts a line of schema 1 to schema 2.
pub fn from_schema_1(line: &mut Line) {
    match line {
        Line::Header(header) => rename_in_header(header),
        Line::Prediction(line) => {
            rename(&line.experiment, &mut line.point);
            line.prediction.iter_mut().for_each(rename_in_prediction);
        }
        Line::Trial(trial) => rename(&trial.experiment, &mut trial.point),
        Line::Settled(settled) => {
            settled.left_out.iter_mut().for_each(|point| rename(&point.experiment, &mut point.point));
        }
        Line::Look(_) | Line::Resumed(_) | Line::Closing(_) => {}
    }
}

/// The words by which terms of earlier programs say what happens in them: these have no events.
const WORDS: [(&str, TermEvent); 4] = [
    ("serialising CPUID", TermEvent::VmExit),
    ("woken", TermEvent::WakeUp),
    ("mode switches", TermEvent::KernelEntry),
    ("the kernel", TermEvent::KernelEntry),
];

/// Terms of waking a CPU that was idle for longer than between two hand-overs, by the experiments that have them: earlier programs did not
/// say that they take it as in these.
const AS_IN_HAND_OVERS: [(&str, &str); 4] = [
    ("cpu/wake_up", "the timer's interrupt reaches a sleeping CPU"),
    ("cpu/spin_or_sleep", "an idle CPU woken"),
    ("cpu/scheduling_latency", "the interrupt reaches a sleeping CPU"),
    ("network/round_trip", "sleeping CPUs woken, there and back: only the other side sleeps"),
];

/// Names the events in the terms of a prediction whose program did not, and the terms as this program does.
pub fn name_events(line: &mut PredictionLine) {
    for term in line.prediction.iter_mut().flat_map(|prediction| &mut prediction.terms) {
        if AS_IN_HAND_OVERS.contains(&(line.experiment.as_str(), term.what.as_str())) {
            term.what += ", as in hand-overs microseconds apart";
        }
    }
    for term in line.prediction.iter_mut().flat_map(|prediction| &mut prediction.terms) {
        let by_words = WORDS.iter().find(|(words, _)| term.what.contains(words)).map(|(_, event)| *event);
        term.event = term.event.or(by_words);
    }
}

fn rename_in_header(header: &mut Header) {
    header.plan.iter_mut().for_each(|planned| rename(&planned.experiment, &mut planned.point));
    header.methods.iter_mut().for_each(rename_in_method);
}

fn rename_in_method(method: &mut Method) {
    for parameter in &mut method.parameters {
        parameter.name = since_schema_2(&method.experiment, &parameter.name).to_owned();
    }
    for trend in &mut method.trends {
        trend.along = since_schema_2(&method.experiment, &trend.along).to_owned();
    }
}

/// Renames parameters in the points to which the terms of a prediction refer.
fn rename_in_prediction(prediction: &mut Prediction) {
    for term in &mut prediction.terms {
        if let Source::Measured { experiment, point } = &mut term.source {
            rename(experiment, point);
        }
    }
}

fn rename(experiment: &str, point: &mut Point) {
    *point = point.with_each(|name, value| {
        let value = match value {
            Value::Number(ahead) if (experiment, name) == (REMOTE_READ, AHEAD) => {
                Value::Number(ahead.saturating_add(1))
            }
            value => value.clone(),
        };
        (since_schema_2(experiment, name).to_owned(), value)
    });
}

/// The name in schema 2 of a parameter of schema 1.
fn since_schema_2<'name>(experiment: &str, name: &'name str) -> &'name str {
    let renamed = RENAMED.iter().find(|(of, before, _)| (*of, *before) == (experiment, name));
    renamed.map_or(name, |(_, _, since)| since)
}
