//! The method of the measurements, the works that it cites, the settings of the run, and the verification of the instrument.

use super::works::cited;
use crate::at_usual::{self, MARK};
use crate::paper::{Block, Column, Key, Row, Section, Table, Text};
use crate::words::plural;
use crate::{cpu_distance, cpu_positions, figure, occupancy, run, verification, words};
use fathom_core::experiment::Effort;
use fathom_core::quantities;
use fathom_core::quantity::{Unit, declared};
use fathom_engine::results::{AtUsual, Results, TrialSpans};

pub(super) fn of(results: &Results) -> Section {
    let settings = &results.run.header.settings;
    let trial = quantities::value(Unit::Nanoseconds, settings.trial_ns as f64);
    let order = order(results);
    Section::new(Key::of("method"), "Method")
        .say(headed("Clock", run::clock(results.run)))
        .say(headed(
            "Trials",
            format!(
                "Every trial is a fresh process that observes for {trial} in the first round (in later rounds, for as \
                 long as the remaining time allows), with random environment size, stack offset and buffer offset. \
                 Small operations are timed in batches, large ones one by one; where an operation has a baseline, the \
                 same work without the operation runs interleaved in the same trial and is subtracted."
            ),
        ))
        .say(headed("Order", order))
        .say(headed("Figures and intervals", estimate()))
        .with_all(states_and_growth(results.core_shared.is_some(), of_cpu_distance(results)).map(Block::Paragraph))
        .with_all(at_frequency(results).map(|text| Block::Paragraph(headed("Frequency", text))))
        .with_all(at_usual::of_device(results).map(|text| Block::Paragraph(headed("The device", cited(&text)))))
        .say(headed("Pictures", figure::KEY))
        .say(headed(
            "Predictions",
            Text::plain(
                "Each operation's predicted cost was written to the run file before its first trial: base hardware \
                 plus software overhead, term by term. The accuracy of the predictions is in ",
            )
            .and(Text::to(&Key::of(if results.accuracy.total.is_some() { "accuracy" } else { "summary" })))
            .and(format!(
                ". All randomness comes from the seed {}; the same run file gives this report byte for byte.",
                settings.seed
            )),
        ))
}

/// A paragraph that begins with what it is about.
fn headed(about: &str, text: impl Into<Text>) -> Text {
    Text::strong(format!("{about}.")).and(" ").and(text.into())
}

/// In which order points are visited, and how far their trials lie apart.
fn order(results: &Results) -> Text {
    let order = "Points are visited in rounds: the first in the order of this report, because predictions use earlier results, the others in a \
        newly shuffled order.";
    let Some(TrialSpans { median, tenth }) = TrialSpans::of(results.run) else { return order.into() };
    Text::plain(format!(
        "{order} After the first one, the trials of a point lie over {} of the run in the median over the points, and over {} or more for nine \
         in ten of them. Whether values changed meanwhile is in ",
        quantities::percent(median),
        quantities::percent(tenth)
    ))
    .and(Text::to(&Key::of("conditions")))
    .and(".")
}

fn estimate() -> Text {
    cited(
        "The figure of a point is the median over its trials, of which there must be four for a 95 % interval: it \
         holds every value for which Student's test over trials does not reject that half of a trial lies below it \
         (after Woodruff 1952); where few trials differ, order statistics of their medians widen it. It is never \
         narrower than the clock allows. The interval of a difference combines \
         the intervals of both medians (Zou 2007). “Best observed” is the smallest observation and never that of a \
         difference. No observation is removed: outliers (beyond the fences of Tukey 1977) and more than one mode are \
         noted. Two figures differ significantly where their intervals as printed, rounded outwards, do not meet, which is \
         stricter than an interval of 95 % of their difference, because many are compared (Schenker and Gentleman 2001). Percentiles \
         appear where the sample is large enough for them. A difference whose interval includes \
         zero is “below resolution”, and its upper limit is given. In figures, lines join points only where what lies \
         between them exists (Hoefler and Belli 2015).",
    )
}

/// At which distances the CPUs were, what names them, and at which one sentences hold; `None` if they were at one.
fn of_cpu_distance(results: &Results) -> Option<String> {
    let moved = cpu_distance::sentence(results)?;
    let of_sentences = cpu_distance::of_sentences(results).unwrap_or_default();
    let weighting = cpu_positions::weighting(results).unwrap_or_default();
    let meaning = cpu_distance::meaning(results).map(|text| text + " ").unwrap_or_default();
    Some(
        format!("{moved} {meaning}{weighting} {} {of_sentences}", cpu_distance::LEGEND).trim_end().to_owned(),
    )
}

/// What a mixture is, when a point has several values, and how growth is judged, a paragraph each; `looked` where the run looked whether another
/// hardware thread used the core.
fn states_and_growth(looked: bool, distances: Option<String>) -> impl Iterator<Item = Text> {
    let core = "Beside every observation of short work a stream of instructions fills the core's width. It shows whether another hardware thread \
        uses the core. “Core alone” is of observations without one, “core shared” of those with one. A “mixture” is of both, because too few \
        trials show either; it is compared with neither.";
    let levels = "Some operations take one of several times. Where a point's trials fall into two groups, or its median lies between clusters of \
        its observations, each of them has a value of its own, and no median over all is given. A median lies between clusters if few \
        observations are near it, if it differs significantly from the value of every cluster, or if most observations are in clusters on one side \
        of the one next to it. Otherwise it stands as one value, and the appendix notes the clusters as modes. If its interval reaches two clusters \
        that hold nearly all observations, a quarter or more each, both stand behind the name with their shares: the median of another run may be \
        at the other.";
    let growth = "Growth along a parameter is judged by a least-squares line through the points of a sweep. It is fitted in every round, and the \
        interval of its slope is taken over the rounds. From one setting to the next the interval of their difference judges. What includes zero is \
        no growth that shows.";
    let looked =
        looked.then(|| headed("The core and its neighbour", format!("{core} {}", occupancy::OF_CAVEAT)));
    let distances = distances.map(|text| headed("The place of the two CPUs", text));
    let rest = [("Several values", levels), ("Growth", growth)].map(|(about, text)| headed(about, text));
    looked.into_iter().chain(distances).chain(rest)
}

/// How many figures are at the usual frequency of the core, and how far it was from that; `None` where none was moved.
fn at_frequency(results: &Results) -> Option<Text> {
    let moved: Vec<&AtUsual> =
        results.points.iter().filter_map(|point| point.at_frequency.as_ref()).collect();
    let usual = quantities::frequency(moved.first()?.usual);
    let ends = moved.iter().flat_map(|moved| moved.trials);
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), hz| (low.min(hz), high.max(hz)));
    let (low, high) = (quantities::frequency(low), quantities::frequency(high));
    let step = run::step_of_chain(results);
    let by_kind = moved.iter().filter(|moved| moved.is_by_kind()).count();
    Some(cited(&format!(
        "The figures of {} follow the core's frequency; tables mark them with {MARK}. They are their cost at the usual frequency, {usual}, the \
         median over all trials. A chain of additions is timed next to every observation of short work, and shows the frequency. It changed from \
         {low} to {high} between the trials of these points{step}. Every trial is moved to the usual one by the share of its cost that follows \
         (analysis of covariance, Cochran 1957). The trials of {} show that share. Of {by_kind} the kind of the operation gives it, unless \
         they contradict it: all of the cost where instructions wait for the core alone, 90 to 100 % for paths through the kernel and a core's own \
         second cache. What the share leaves open is part of the interval. Predictions that are a number of cycles are stated at the same \
         frequency: the number is what was predicted.",
        plural(moved.len(), "point"),
        plural(moved.len() - by_kind, "point"),
    )))
}

/// Paragraphs separated by blank lines, with the works that they cite.
pub(super) fn paragraphs(text: &str) -> impl Iterator<Item = Text> {
    text.split("\n\n").filter(|part| !part.is_empty()).map(cited)
}

pub(super) fn settings(results: &Results) -> Section {
    let table = Table::new(Key::of("settings-asked"), "Settings, given or by default, with their units.")
        .columns([Column::words("setting"), Column::words("value")])
        .rows(
            settings_rows(results)
                .into_iter()
                .map(|(name, value)| Row::of([Text::plain(name), Text::plain(value)])),
        );
    Section::new(Key::of("settings"), "Settings and how to repeat this")
        .lettered()
        .with(Block::Folded {
            summary: "Every setting".into(),
            appendix: true,
            open: false,
            blocks: vec![table.into()],
        })
        .say(Text::plain("To repeat it: ").and(Text::code(command(results))))
        .say(Text::prose(
            "`fathom report RUN --format json` prints all figures unrounded, with their units; the HTML page contains \
             the same data (in the element `fathom-data`).",
        ))
}

fn settings_rows(results: &Results) -> Vec<(&'static str, String)> {
    let header = &results.run.header;
    let (settings, tool) = (&header.settings, &header.tool);
    let selection = if let Some(set) = &settings.set {
        format!("the set {set}")
    } else if settings.selection.is_empty() {
        "everything".to_owned()
    } else {
        settings.selection.join(" ")
    };
    let partner = settings.partner.map_or("none: there is only one CPU".to_owned(), |cpu| cpu.to_string());
    let mut rows = vec![
        ("Selection", selection),
        ("Effort", words::effort(settings.effort).to_owned()),
        ("Budget", quantities::duration(settings.budget_s)),
        ("Target precision", quantities::target(settings.precision)),
        ("Seed", settings.seed.to_string()),
        ("A trial observes for", quantities::duration(settings.trial_ns as f64 / 1e9)),
        ("CPU of pinned work", settings.home.to_string()),
        ("CPU of the other side", partner),
        ("Folder for files", settings.folder.clone()),
        ("Program", format!("{} {}, {} build for {}", tool.name, tool.version, tool.build, tool.target)),
        ("Compiler", tool.compiler.clone().unwrap_or_else(|| "not recorded".to_owned())),
        ("Commit of the source", tool.commit.clone().unwrap_or_else(|| "not recorded".to_owned())),
        ("SHA-256 of the binary", tool.binary_sha256.clone()),
        ("Schema of the run file", header.schema.to_string()),
    ];
    let sizes = settings.sizes.iter().map(|bytes| declared::size(*bytes)).collect::<Vec<_>>().join(", ");
    rows.extend((!sizes.is_empty()).then_some(("Sizes asked for", sizes)));
    rows.extend(settings.trials.map(|trials| ("Trials of every point, asked for", trials.to_string())));
    rows.extend(settings.priority.map(|nice| ("Priority of measuring processes (nice)", nice.to_string())));
    rows.extend(run::labels(header).map(|labels| ("Labels", labels)));
    for resumed in &results.run.resumed {
        rows.push((
            "Taken up again",
            format!("{}, for {}", resumed.at, quantities::duration(resumed.budget_s)),
        ));
    }
    rows
}

fn command(results: &Results) -> String {
    let settings = &results.run.header.settings;
    let effort = match settings.effort {
        Effort::Quick => Some("--quick"),
        Effort::Standard => None,
        Effort::Thorough => Some("--thorough"),
    };
    let mut words = vec!["fathom run".to_owned()];
    let quoted = |name: &String| format!("'{}'", name.replace('\'', "'\\''"));
    words.extend(settings.selection.iter().map(quoted));
    words.extend(settings.set.iter().map(|set| format!("--set {}", quoted(set))));
    words.extend(effort.map(str::to_owned));
    let sizes = settings.sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    words.extend((!sizes.is_empty()).then(|| format!("--sizes {sizes}")));
    words.extend(settings.trials.map(|trials| format!("--trials {trials}")));
    words.extend(settings.priority.map(|nice| format!("--priority {nice}")));
    words.push(format!("--seed {}", settings.seed));
    words.join(" ")
}

/// The section, with the table of known truths if there is one.
pub(super) fn verification(results: &Results) -> Section {
    let section = Section::new(Key::of("verification"), "Verification of the instrument").lettered();
    match &results.run.header.verification {
        Some(of_build) => section
            .say(format!(
                "This build was verified on this machine at {}, before the run: {} {}",
                of_build.at,
                verification::sentence(of_build),
                verification::judged()
            ))
            .with(Block::Folded {
                summary: "Every truth".into(),
                appendix: true,
                open: false,
                blocks: vec![verification::table(of_build).into()],
            }),
        None => section.say(Text::prose(
            "This build was not verified on this machine before the run. `fathom verify` does so: it sets known \
             truths and measures them.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_is_defined_where_the_core_was_looked_at() {
        let text =
            |looked| states_and_growth(looked, None).map(|text| text.words()).collect::<Vec<_>>().join(" ");
        assert!(text(true).contains("A “mixture” is of both"));
        let without = text(false);
        assert!(
            !without.contains("mixture") && without.contains("Growth along a parameter is judged by"),
            "{without}"
        );
    }
}
