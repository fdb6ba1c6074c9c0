//! The machine, and the second host if there is one: every fact with its source. What disturbed the run on it, the evidence that
//! does not hold, and the points less precise than their target.

use super::sections::{linked, listed};
use super::works::cited;
use crate::description::FactRow;
use crate::paper::{Block, Column, Group, Key, Row, Section, Sign, Table, Text, Tone, Weight};
use crate::precision::Precision;
use crate::run;
use crate::{cpu_distance, cpu_positions, description, occupancy, warned, words};
use fathom_core::machine::RawText;
use fathom_core::quantities;
use fathom_engine::record::Trial;
use fathom_engine::results::{PointResult, Results};

pub(super) fn of(results: &Results) -> Section {
    let header = &results.run.header;
    let route = header.machine.peer_route.as_ref();
    let peer = header.peer.as_deref().map(|peer| description::of_peer(peer, route)).unwrap_or_default();
    let parts = described(results).into_iter().chain(peer);
    let parts = parts.filter(|part| !part.rows.is_empty()).enumerate();
    let folded = |(place, part): (usize, description::FactSection)| Block::Folded {
        summary: part.title.clone().into(),
        appendix: false,
        open: place == 0,
        blocks: vec![table(place, &part).into()],
    };
    let mut section = Section::new(Key::of("machine"), "The machine");
    if let Some(peer) = run::peer(header) {
        section = section.say(peer);
    }
    for sentence in occupancy::unlike_cpus(results) {
        section = section.say(sentence);
    }
    let lead = "Every fact, with the file, instruction or call it was read from; where a fact is unknown, the reason.";
    section.with(in_brief(results)).with(Block::Folded {
        summary: "Every fact".into(),
        appendix: true,
        open: false,
        blocks: std::iter::once(Block::Paragraph(lead.into()))
            .chain(parts.map(folded))
            .chain(raw(results))
            .collect(),
    })
}

/// The description, with what this run measured that a fact denies.
fn described(results: &Results) -> Vec<description::FactSection> {
    let machine = &results.run.header.machine;
    let mut sections = description::sections(machine);
    for cache in machine.caches.value().into_iter().flatten() {
        let Some(denied) = cpu_distance::not_always_shared(results, cache) else { continue };
        let name = description::cache_name(cache);
        let rows = sections.iter_mut().flat_map(|section| &mut section.rows);
        rows.filter(|row| row.name == name && !row.unknown).for_each(|row| row.value.push_str(&denied));
    }
    if let Some(line) = cpu_positions::line_of_one_core(results) {
        let text = format!(
            "; in this run its two CPUs were probably two threads of one core while a line took {line} between them"
        );
        let rows = sections.iter_mut().flat_map(|section| &mut section.rows);
        rows.filter(|row| row.name == description::THREADS).for_each(|row| row.value.push_str(&text));
    }
    sections
}

/// The contents of files from which facts were read.
fn raw(results: &Results) -> Option<Block> {
    let raw = &results.run.header.machine.raw;
    let each = |raw: &RawText| {
        [Block::Paragraph(Text::plain(raw.source.as_str())), Block::Listing(raw.text.replace('\t', " "))]
    };
    (!raw.is_empty()).then(|| Block::Folded {
        summary: "What was read, as it was".into(),
        appendix: false,
        open: false,
        blocks: raw.iter().flat_map(each).collect(),
    })
}

/// The facts of the paper: sections of the description with the names of their rows, or what they end with.
const FACTS: &[(&str, &[&str])] = &[
    (
        "Processor",
        &[
            "Model",
            "Microarchitecture",
            "Process (lithography)",
            "Nominal clock",
            "Cycle time at it",
            "Observed clock",
            "Cycles per instruction (CPI)",
        ],
    ),
    ("Cores", &["CPUs (threads)", "Cores", "Packages", "SMT"]),
    ("Caches", &["L1d", "L1i", "L2", "L3"]),
    ("Memory", &["Size", "Modules", "Channels", "Theoretical bandwidth"]),
    ("Pages", &["Base page", "Transparent huge pages"]),
    (
        "Storage of the measured folder",
        &[
            "File system",
            "Device",
            "Device model",
            "Capacity",
            "Rotation speed",
            "Average rotational latency",
            "Link",
            "Rated, by its data sheet",
            "Scheduler",
            "Queue depth",
            "Write cache",
        ],
    ),
    ("Network", &[" model", " driver", " speed", " duplex", " MTU"]),
    (
        "Kernel",
        &[
            "Release",
            "Distribution",
            "C library",
            "Preemption",
            "Timer tick",
            "Page-table isolation",
            "Mitigations in force",
        ],
    ),
    ("Virtualisation", &["Hypervisor", "Nesting", "Container", "System"]),
    ("This program", &["Version", "Target", "Repository"]),
];

/// The machine in one table, each fact with what it was read from; of an unknown one the reason.
fn in_brief(results: &Results) -> Table {
    let described = described(results);
    let mut table = Table::new(Key::of("machine-table"), "The machine, the system and the program.")
        .columns([Column::words("fact"), Column::words("value, with its unit"), Column::words("read from")]);
    for (title, names) in FACTS {
        let part = described.iter().find(|part| part.title == *title);
        let is_one =
            |name: &str| names.iter().any(|of| name == *of || of.starts_with(' ') && name.ends_with(of));
        let all = || part.into_iter().flat_map(|part| &part.rows);
        // An adapter without a device has no model, no rate and no wire.
        let is_bare = |name: &str| {
            all().any(|fact| {
                fact.unknown && fact.name.strip_suffix(" model").is_some_and(|of| name.starts_with(of))
            })
        };
        let is_adapter = *title == "Network";
        let facts = all().filter(|fact| is_one(&fact.name) && !(is_adapter && is_bare(&fact.name)));
        let rows: Vec<Row> = facts.map(row_in_brief).collect();
        if !rows.is_empty() {
            table = table.group(Group::named(*title).rows(rows));
        }
    }
    table
}

/// A fact whose reason or source is cut to its first clause: the appendix has all of it.
fn row_in_brief(fact: &FactRow) -> Row {
    let first = |text: &str, ends: &[&str]| {
        let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
        text[..end].to_owned()
    };
    let value = if fact.unknown { first(&fact.value, &[": ", "; ", " ("]) } else { fact.value.clone() };
    let source = first(&fact.source, &[" (", ", CPUID"]);
    row(&FactRow { name: fact.name.clone(), value, source, unknown: fact.unknown })
}

fn table(place: usize, part: &description::FactSection) -> Table {
    Table::new(Key::numbered("machine", place + 1), format!("{}.", part.title))
        .columns([Column::words("fact"), Column::words("value, with its unit"), Column::words("read from")])
        .rows(part.rows.iter().map(row))
}

fn row(fact: &FactRow) -> Row {
    let value = if fact.unknown { format!("unknown: {}", fact.value) } else { fact.value.clone() };
    let cells = [Text::plain(&*fact.name), value.into(), Text::toned(Tone::Faint, &*fact.source)];
    Row::of(cells).weighing(if fact.unknown { Weight::Faint } else { Weight::Usual })
}

/// The number of intervals wider than their target that are named.
const MOST_MISSED: usize = 8;

pub(super) fn conditions(results: &Results) -> Section {
    let moved = cpu_positions::change(results)
        .map(|text| Text::plain(text).and(" (").and(Text::to(&Key::of("method"))).and(")."));
    Section::new(Key::of("conditions"), "Disturbances and limits")
        .with_all(disturbing(results))
        .with_all(listed(
            "Seen while measuring:",
            run::disturbances(results).iter().map(|sentence| cited(sentence)).chain(moved),
        ))
        .with_all(listed(
            "Evidence that fails; these figures may be of another operation than the one named:",
            run::doubts(results).iter().map(|doubt| {
                Text::sign(Sign::Fails)
                    .and(" ")
                    .and(linked(results, doubt.experiment))
                    .and(" ")
                    .and(Text::prose(&doubt.sentence()))
            }),
        ))
        .with_all(run::failing_without_figure(results).map(|text| Block::Paragraph(text.into())))
        .with_all(listed(
            "Evidence that is not judged, because this program does not have the method that measured it:",
            run::not_judged(results)
                .iter()
                .map(|sentence| Text::sign(Sign::NotJudged).and(" ").and(Text::prose(sentence))),
        ))
        .say(Precision::of(results).sentence())
        .with_all(widest(results))
}

/// The widest intervals, in the appendix; `None` if every one is as narrow as its target.
fn widest(results: &Results) -> Option<Block> {
    let blocks: Vec<Block> = missed(results).into_iter().collect();
    let summary = "The widest intervals".into();
    (!blocks.is_empty()).then_some(Block::Folded { summary, appendix: true, open: false, blocks })
}

fn disturbing(results: &Results) -> Vec<Block> {
    let warnings = warned::of(results);
    if warnings.is_empty() {
        return vec![Block::Paragraph("No known disturbance was found.".into())];
    }
    let item = |warning: &fathom_core::machine::Warning| {
        Text::strong(&*warning.problem).and(" ").and(Text::prose(&warning.remedy))
    };
    listed("What may disturb results on this machine, and what to do about it:", warnings.iter().map(item))
}

/// The trials that an interval would need beyond its own to be so many times as narrow: its width falls with the root of their number.
/// `each_s` is what one takes, seconds, and no number is told of more than a day holds.
fn further_trials(trials: usize, times: f64, each_s: f64) -> String {
    let further = (trials as f64 * (times * times - 1.0)).max(0.0).ceil();
    if further * each_s > DAY { "more than a day".to_owned() } else { quantities::count(further as usize) }
}

/// Seconds.
const DAY: f64 = 24.0 * 3600.0;

/// The mean time of a point's trials, seconds.
fn each_trial(results: &Results, point: &PointResult) -> f64 {
    let is_of = |trial: &&Trial| trial.point == point.point && trial.experiment == point.experiment;
    let (took_s, number) = results
        .run
        .trials
        .iter()
        .filter(is_of)
        .fold((0.0, 0_u32), |(sum, number), trial| (sum + trial.took_s, number + 1));
    took_s / f64::from(number.max(1))
}

/// The widest of the intervals that are wider than their target.
fn missed(results: &Results) -> Option<Block> {
    let precision = Precision::of(results);
    let rows: Vec<Row> = precision
        .missed
        .iter()
        .take(MOST_MISSED)
        .map(|(point, width)| {
            Row::of([
                linked(results, &point.experiment).and(format!(" {}", words::label(*point, &point.point))),
                quantities::plus_minus(*width).into(),
                further_trials(
                    point.estimate().map_or(0, |estimate| estimate.trials),
                    *width / results.run.header.settings.precision,
                    each_trial(results, point),
                )
                .into(),
            ])
        })
        .collect();
    let caption = match precision.missed.len() {
        all if all > MOST_MISSED => {
            format!("The {MOST_MISSED} widest of the {all} intervals that are wider than the target.")
        }
        _ => "Intervals that are wider than the target.".to_owned(),
    };
    let table = Table::new(Key::of("precision-missed"), caption).columns([
        Column::words("operation"),
        Column::number("half of the 95 % interval", "% of the median"),
        Column::count("further trials wanted"),
    ]);
    (!rows.is_empty()).then(|| table.rows(rows).into())
}

#[cfg(test)]
mod tests {
    use super::further_trials;

    #[test]
    fn no_number_is_told_of_trials_that_a_day_does_not_hold() {
        assert_eq!(further_trials(7, 2.0, 0.05), "21");
        assert_eq!(further_trials(7, 1.0, 0.05), "0");
        assert_eq!(further_trials(7, 600.0, 0.05), "more than a day");
        assert_eq!(
            further_trials(100, 4.0, 60.0),
            "more than a day",
            "1 500 trials of a minute are 25 hours"
        );
    }
}
