//! The catalogue of experiments: a line for each, and the method section of one.

use super::text::Style;
use super::words::{self, plural};
use fathom_core::experiment::{AXIS_PLACEMENT, Effort, Experiment, Parameter, Point, Requirement};
use fathom_core::machine::Machine;
use fathom_core::quantities;
use std::collections::BTreeMap;
use std::fmt::Write;

/// If a parameter has more values than this, only the first and the last are printed.
const MOST_VALUES: usize = 12;

/// One line for each experiment: name, number of points on this machine, question.
pub fn list(
    experiments: impl Iterator<Item = &'static dyn Experiment>,
    machine: &Machine,
    style: Style,
) -> String {
    let experiments: Vec<_> = experiments.collect();
    let width = experiments.iter().map(|experiment| experiment.about().name.len()).max().unwrap_or(0);
    let line = |experiment: &&dyn Experiment| {
        let about = experiment.about();
        let points = plural(experiment.sweep(machine).len(), "point");
        let lead = format!("{:width$}  {points:>11}  ", about.name);
        style.wrapped(&lead, about.question).replacen(about.name, &style.title(about.name), 1)
    };
    experiments.iter().map(line).collect()
}

/// The method section of an experiment: question, operation, method, parameters and points here, requirements that are
/// missing here, caveats.
pub fn explain(experiment: &dyn Experiment, machine: &Machine, style: Style) -> String {
    let about = experiment.about();
    let points = experiment.sweep(machine);
    let mut text = style.title(&format!("{} (method version {})", about.name, about.version)) + "\n";
    text += &style.wrapped("", about.question);
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            text += &["\n", &style.title(title), "\n", &body].concat();
        }
    };
    section("Operation", style.wrapped("  ", about.operation));
    section("Method", paragraphs(about.method, style));
    section("Parameters", parameters(about.parameters, about.name, &points, style));
    section("Points on this machine", points_here(experiment, &points, machine, style));
    section("Lines fitted", trends(experiment, style));
    section("Requires", required(experiment, &points, style) + &missing(experiment, &points, machine, style));
    section("Caveats", paragraphs(about.caveats, style));
    let command = format!("  fathom run {} --budget 30s -o FILE\n  fathom report FILE {0}\n", about.name);
    section("To measure it", command);
    text
}

/// The page of an experiment in `docs/experiments`: everything that is independent of the machine, as Markdown.
pub fn page(experiment: &dyn Experiment) -> String {
    let about = experiment.about();
    let mut text = format!("# {}\n\n{}\n", about.name, about.question);
    let mut section = |title: &str, body: &str| {
        if !body.is_empty() {
            text += &format!("\n## {title}\n\n{}\n", body.trim_end());
        }
    };
    section("Operation", &sentence(about.operation));
    section("Method", &format!("Version {}. {}", about.version, about.method));
    let parameters = about.parameters.iter().chain([&AXIS_PLACEMENT]);
    let row = |parameter: &Parameter| format!("| `{}` | {} |\n", parameter.name, parameter.meaning);
    let rows: String = parameters.map(row).collect();
    section("Parameters", &format!("| parameter | meaning |\n|---|---|\n{rows}"));
    let listed = |text: String| format!("- {text}\n");
    let figures = about.shown.main_figures.iter().map(|figure| listed(figure.words.to_owned()));
    section("Main figures", &figures.collect::<String>());
    let lines =
        about.trends.iter().map(|trend| listed(format!("along `{}`: the cost {}", trend.along, trend.slope)));
    section("Lines fitted", &lines.collect::<String>());
    section("Caveats", about.caveats);
    text
}

fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if phrase.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// The list of those pages.
pub fn index(experiments: impl Iterator<Item = &'static dyn Experiment>) -> String {
    let row = |experiment: &'static dyn Experiment| {
        let about = experiment.about();
        format!("| [{}]({}.md) | {} |\n", about.name, about.name, about.question)
    };
    let rows: String = experiments.map(row).collect();
    "# Experiments\n\n`fathom explain EXPERIMENT` prints the same text, with the points of your machine. These pages \
     are generated from the source (`FATHOM_WRITE_GOLDEN=1 cargo test --test hermetic golden`).\n\n| experiment | question \
     |\n|---|---|\n"
        .to_owned()
        + &rows
}

fn paragraphs(text: &str, style: Style) -> String {
    let wrapped: Vec<String> = text
        .split("\n\n")
        .filter(|part| !part.is_empty())
        .map(|part| style.wrapped("  ", &part.replace('\n', " ")))
        .collect();
    wrapped.join("\n")
}

fn parameters(declared: &[Parameter], experiment: &str, points: &[Point], style: Style) -> String {
    let all = declared.iter().chain([&AXIS_PLACEMENT]);
    let row = |parameter: &Parameter| {
        let here = values(parameter.name, experiment, points);
        let values = if here.is_empty() { "not varied here".to_owned() } else { here };
        style.wrapped(&format!("  {}: ", parameter.name), parameter.meaning)
            + &style.wrapped("    here: ", &values)
    };
    all.map(row).collect()
}

/// The distinct values of a parameter, in the order of the sweep.
fn values(name: &str, experiment: &str, points: &[Point]) -> String {
    let mut values: Vec<String> = vec![];
    for value in points.iter().filter_map(|point| point.get(name)) {
        let text = words::value(experiment, name, value);
        if !values.contains(&text) {
            values.push(text);
        }
    }
    if values.len() > MOST_VALUES {
        let (first, last) = (values[..3].join(", "), &values[values.len() - 1]);
        return format!("{first}, … {last} ({} values)", values.len());
    }
    values.join(", ")
}

fn points_here(experiment: &dyn Experiment, points: &[Point], machine: &Machine, style: Style) -> String {
    let mut by_effort: BTreeMap<Effort, usize> = BTreeMap::new();
    for point in points {
        *by_effort.entry(experiment.effort(point, machine)).or_default() += 1;
    }
    let mut text = plural(points.len(), "point");
    for (effort, number) in by_effort.iter().filter(|(effort, _)| **effort > Effort::Quick) {
        let run = if *effort == Effort::Standard { "not by --quick" } else { "by --thorough alone" };
        let _ = write!(text, "; {number} of them {run}");
    }
    style.wrapped("  ", &text)
}

fn trends(experiment: &dyn Experiment, style: Style) -> String {
    let trends = experiment.about().trends.iter();
    trends
        .map(|trend| style.wrapped("  ", &format!("along {}: the cost {}", trend.along, trend.slope)))
        .collect()
}

/// The requirements of the points, each once; of memory the greatest.
fn required(experiment: &dyn Experiment, points: &[Point], style: Style) -> String {
    let (mut needed, mut memory): (BTreeMap<String, usize>, u64) = (BTreeMap::new(), 0);
    for requirement in points.iter().flat_map(|point| experiment.requires(point)) {
        let what = match requirement {
            Requirement::MemoryBytes(bytes) => {
                memory = memory.max(bytes);
                continue;
            }
            Requirement::Cpus(number) => plural(number, "CPU") + " that this process may use",
            Requirement::SwapBytes(bytes) => format!("{} MiB of free swap space", bytes >> 20),
            Requirement::Architecture(names) => format!("the architecture {}", names.join(" or ")),
            Requirement::Instructions(name) => format!("the instructions called {name}"),
            Requirement::File(path) => format!("the file {path}"),
            Requirement::Remote => "a file over a network (`--dir`, `--remote`)".to_owned(),
            Requirement::MemoryLimit => format!(
                "a memory limit of {}: by a control group of its own, or `systemd-run --user --scope`",
                quantities::size(Requirement::LIMIT_BYTES)
            ),
            Requirement::PageCache(bytes) => format!("{} of the page cache", quantities::size(bytes)),
            Requirement::WholeMemory => "all memory of the machine (`--whole-memory`)".to_owned(),
            Requirement::Peer => "a second host (`--peer`)".to_owned(),
        };
        *needed.entry(what).or_default() += 1;
    }
    let mut lines: Vec<String> = needed
        .into_iter()
        .map(|(what, number)| format!("{} of {}: {what}", number, plural(points.len(), "point")))
        .collect();
    if memory > 0 {
        lines.push(format!(
            "up to {} of memory, but never more than half of what is free",
            quantities::size(memory)
        ));
    }
    lines.iter().map(|line| style.wrapped("  ", line)).collect()
}

fn missing(experiment: &dyn Experiment, points: &[Point], machine: &Machine, style: Style) -> String {
    let mut points_by_reason: BTreeMap<String, usize> = BTreeMap::new();
    for point in points {
        for reason in experiment.requires(point).iter().filter_map(|needed| needed.unmet_reason(machine)) {
            *points_by_reason.entry(reason).or_default() += 1;
        }
    }
    if points_by_reason.is_empty() {
        return style.wrapped("  ", "This machine has everything that is required.");
    }
    points_by_reason
        .iter()
        .map(|(reason, points)| {
            style.wrapped("  ", &format!("missing here for {}: {reason}", plural(*points, "point")))
        })
        .collect()
}
