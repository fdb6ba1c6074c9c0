//! Families of points: the verdict of a comparison in a sentence, and the table behind it.

use super::rows::{self, because_briefly, signed_row, verdict};
use crate::paper::{Column, Key, Row, Section, Table, Text, Tone};
use crate::words::ABSENT;
use crate::words::plural;
use fathom_core::message::capitalize;
use fathom_core::statistics::Measured;
use fathom_core::{quantities, sorting};
use fathom_engine::comparison::{
    Comparison, Difference, PooledFamily, Row as ComparedRow, UnjudgedFamily, Verdict,
};
use std::collections::BTreeMap;

/// The verdict of a comparison in words: what it is of, where that matters, and which families moved.
pub(super) fn verdict_in_words(comparison: &Comparison) -> String {
    sentences(comparison).join(" ")
}

/// The verdict in one line: how many families moved which way.
pub(super) fn headline(comparison: &Comparison) -> Option<String> {
    const WORDS: [(Verdict, &str); 5] = [
        (Verdict::Worse, "worse in"),
        (Verdict::Better, "better in"),
        (Verdict::Changed, "changed in"),
        (Verdict::Equivalent, "no change in"),
        (Verdict::Inconclusive, "not decided in"),
    ];
    let counted = |(verdict, words): (Verdict, &str)| {
        let number = with(comparison, verdict).count();
        (number > 0).then(|| format!("{words} {}", quantities::count(number)))
    };
    let parts: Vec<String> = WORDS.into_iter().filter_map(counted).collect();
    let families = comparison.families.len();
    let of = if families == 1 { "family" } else { "families" };
    let all = format!("of {} {of} of operations", quantities::count(families));
    let margin = common_margin(comparison).map(|margin| format!(" (margin {margin})")).unwrap_or_default();
    (!parts.is_empty()).then(|| capitalize(&format!("{} {all}{margin}.", parts.join(", "))))
}

/// The sentences of the verdict: what must be known before, then the families by what they did.
pub(super) fn sentences(comparison: &Comparison) -> Vec<String> {
    let mut sentences: Vec<String> = warnings(comparison);
    let common = common_margin(comparison);
    for (direction, head) in [(Verdict::Worse, "Worse"), (Verdict::Better, "Better")] {
        for (small, size) in [(false, ""), (true, ", but by less than the margin")] {
            let moved = with(comparison, direction).filter(|family| is_small(family) == small);
            let moved: Vec<String> = moved.map(|family| changed(family, common.is_none())).collect();
            if !moved.is_empty() {
                sentences.push(format!("{head}{size}: {}.", moved.join(", ")));
            }
        }
    }
    let named = |family: &PooledFamily| format!("{} ({})", pooled(family), undecided_because(family));
    let mut same: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for family in with(comparison, Verdict::Equivalent) {
        same.entry(margin(family)).or_default().push(pooled(family));
    }
    for (margin, families) in same {
        let margin = if common.is_some() { "margin" } else { margin.as_str() };
        sentences.push(format!("No change beyond the {margin}: {}.", families.join(", ")));
    }
    let open: Vec<String> = with(comparison, Verdict::Inconclusive).map(named).collect();
    if !open.is_empty() {
        sentences.push(format!("Not decided: {}.", open.join(", ")));
    }
    sentences.extend(unjudged(comparison));
    if comparison.families.is_empty() && !comparison.rows.is_empty() {
        sentences.push("No family of operations has enough points to be judged.".to_owned());
    }
    sentences.extend(by_themselves(comparison));
    sentences.extend(moved_by_host(comparison));
    sentences
}

/// The families that are not judged, each with the reason; those that neither side measured stand last. `None` if there are none beside
/// judged ones.
fn unjudged(comparison: &Comparison) -> Option<String> {
    const NEITHER: &str = "measured on neither side";
    let reason = |family: &UnjudgedFamily| match (family.points, &family.because) {
        (0, None) => NEITHER.to_owned(),
        (0, Some(obstacle)) => because_briefly(obstacle).to_owned(),
        (few, None) => format!("only {} on both sides", plural(few, "point")),
        (few, Some(obstacle)) => {
            format!("only {} on both sides; others: {}", plural(few, "point"), because_briefly(obstacle))
        }
    };
    let mut by_reason: Vec<(String, Vec<&str>)> = vec![];
    for family in &comparison.unjudged {
        let reason = reason(family);
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(family.name),
            None => by_reason.push((reason, vec![family.name])),
        }
    }
    sorting::by_key(&mut by_reason, |(reason, _)| reason == NEITHER);
    let texts: Vec<String> =
        by_reason.iter().map(|(reason, names)| format!("{} ({reason})", names.join(", "))).collect();
    (!texts.is_empty() && !comparison.families.is_empty())
        .then(|| format!("Not compared: {}.", texts.join("; ")))
}

/// The margin of all families, if they have the same.
fn common_margin(comparison: &Comparison) -> Option<String> {
    let (first, others) = comparison.families.split_first()?;
    let is_same = others.iter().all(|other| (other.margin - first.margin).abs() < f64::EPSILON);
    is_same.then(|| quantities::target(first.margin))
}

/// The hand-overs between cores that moved: of virtual machines they show the host's state, not the machine.
fn moved_by_host(comparison: &Comparison) -> Option<String> {
    let rows = comparison.moved_by_host();
    let furthest = rows
        .iter()
        .copied()
        .reduce(|one, other| if other.distance() > one.distance() { other } else { one })?;
    let level = |level: Measured| quantities::value(furthest.unit, level.value);
    Some(format!(
        "{} depends on the cores that the host runs these virtual CPUs on, and the host may move them: {} before and {} after are states \
         of the host, and no evidence that the machines differ.",
        furthest.experiment,
        level(furthest.before),
        level(furthest.after)
    ))
}

/// The points that changed by themselves, and the furthest of them: a family may stand still around it.
fn by_themselves(comparison: &Comparison) -> Option<String> {
    let counts: Vec<String> = [Verdict::Worse, Verdict::Better, Verdict::Changed]
        .into_iter()
        .filter(|verdict| comparison.count(*verdict) > 0)
        .map(|verdict| format!("{} {}", quantities::count(comparison.count(verdict)), verdict.name()))
        .collect();
    let mut rows = comparison.rows.iter().filter(|row| row.verdict.is_difference()).collect::<Vec<_>>();
    sorting::by_number(&mut rows, |row| -row.distance());
    let furthest = rows.first()?;
    let (change, interval) = rows::change(furthest);
    Some(format!(
        "Points by themselves: {}{}; furthest {} {}, {change} ({interval}).",
        counts.join(", "),
        most_of_one(&rows),
        furthest.experiment,
        rows::label(furthest)
    ))
}

/// The experiment that most of some points are of, if there is one: `, 9 of them of filesystem/read`.
fn most_of_one(rows: &[&ComparedRow]) -> String {
    let count = |name: &str| rows.iter().filter(|row| row.experiment == name).count();
    let most = rows.iter().map(|row| (count(&row.experiment), &row.experiment)).max();
    let (points, name) = most.unwrap_or((0, &rows[0].experiment));
    if points > 2 && 2 * points > rows.len() {
        format!(", {points} of them of {name}")
    } else {
        String::new()
    }
}

/// What must be known before any figure: a run compared with itself, other machines, other builds.
fn warnings(comparison: &Comparison) -> Vec<String> {
    let mut sentences = vec![];
    if comparison.of_itself {
        sentences.push(
            "The same run is on both sides: what it has in common with itself says nothing.".to_owned(),
        );
    }
    let named = |is_wanted: fn(&Difference) -> bool| -> Vec<&str> {
        comparison.differences.iter().filter(|one| is_wanted(one)).map(|one| one.what).collect()
    };
    let machines = named(|one| matches!(one.doubtful, Some("processor" | "virtualisation" | "storage")));
    if !machines.is_empty() {
        sentences.push(format!("These are different machines ({}).", machines.join(", ")));
    }
    if comparison.is_reversed {
        sentences.push(
            "The side called after is the older one: its runs began before those called before.".to_owned(),
        );
    }
    if !named(|one| one.what == "fathom").is_empty() {
        sentences.push("They were measured by different builds of fathom.".to_owned());
    }
    sentences
}

/// Why a family is neither changed nor shown to be the same.
fn undecided_because(family: &PooledFamily) -> String {
    let limit = format!("a change of less than {} may have been missed", share(family.smallest_visible));
    if family.is_scattered() {
        let (moved, all) = (quantities::count(family.moved), quantities::count(family.points));
        format!("{moved} of its {all} points moved by more than the margin, in either direction; {limit}")
    } else {
        limit
    }
}

fn with(comparison: &Comparison, verdict: Verdict) -> impl Iterator<Item = &PooledFamily> {
    comparison.families.iter().filter(move |family| family.verdict == verdict)
}

/// The change of what was pooled of a family, as cost, with its interval and the margin.
pub fn change(family: &PooledFamily) -> String {
    changed(family, true)
}

fn changed(family: &PooledFamily, has_margin: bool) -> String {
    let (value, interval) = signed_row(family.contrast.ratio(), family.contrast.interval());
    let margin = if has_margin { format!("; {}", margin(family)) } else { String::new() };
    format!("{} {value} ({interval}{margin})", pooled(family))
}

/// Whether a change is shown to be smaller than the margin.
fn is_small(family: &PooledFamily) -> bool {
    family.contrast.is_within(family.margin)
}

fn margin(family: &PooledFamily) -> String {
    format!("margin of {}", quantities::target(family.margin))
}

/// What the ratio of a family is of: its name, or that of the part that was compared, with the reason.
fn pooled(family: &PooledFamily) -> String {
    match partly(family) {
        None => family.name.to_owned(),
        Some(why) => format!("{} ({why})", name(family)),
    }
}

/// The name of a family; where only some of its experiments were compared with these, or without the others: `switches and wake-ups
/// (only wake_up)`, `caches without core_to_core`.
fn name(family: &PooledFamily) -> String {
    let composition = &family.composition;
    let missing: Vec<&str> = composition.missing.iter().map(|(name, _)| short(name)).collect();
    let pooled: Vec<&str> = composition.pooled.iter().map(|name| short(name)).collect();
    match () {
        () if missing.is_empty() => family.name.to_owned(),
        () if pooled.len() > missing.len() => format!("{} without {}", family.name, missing.join(" and ")),
        () => format!("{} (only {})", family.name, pooled.join(" and ")),
    }
}

fn short(experiment: &str) -> &str {
    experiment.split_once('/').map_or(experiment, |(_, short)| short)
}

/// `8 of 21 points of switches and wake-ups; not compared: those of context_switch (other method version)`; `None` where each experiment
/// of the family has its part in the ratio.
fn partly(family: &PooledFamily) -> Option<String> {
    let composition = &family.composition;
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, obstacle) in &composition.missing {
        by_reason.entry(because_briefly(obstacle)).or_default().push(short(name));
    }
    let missing: Vec<String> =
        by_reason.iter().map(|(reason, names)| format!("{} ({reason})", names.join(", "))).collect();
    let all = family.points + composition.points_missing;
    let points = format!("{} of {}", quantities::count(family.points), plural(all, "point"));
    (!missing.is_empty())
        .then(|| format!("{points} of {}; not compared: those of {}", family.name, missing.join(", ")))
}

/// A share of change, which may be more than the whole.
pub(super) fn share(share: f64) -> String {
    quantities::percent(share)
}

/// The section with the table of families; without families as it was.
pub(super) fn judged(section: Section, comparison: &Comparison, key: &Key) -> Section {
    if comparison.families.is_empty() {
        return section;
    }
    let caption = "Families of operations: the change of their cost, pooled over the points of each. Where the cycle of \
                   the core is compared, the others are at the same frequency of it. A change whose whole interval is within the margin is \
                   called small. Equivalent: the whole interval is within the margin, and so are most points. The \
                   smallest visible change is found in four of five such pairs of runs.";
    // A margin that all have stands in the verdict.
    let has_margin = common_margin(comparison).is_none();
    let head = [
        Column::words("family"),
        Column::ratio("change of cost"),
        Column::ratio("95 % interval"),
        Column::words("same direction"),
        Column::ratio("smallest visible change"),
    ];
    let margin = has_margin.then(|| Column::ratio("margin"));
    let table = Table::new(key.within("families"), caption)
        .columns(head.into_iter().chain(margin).chain([Column::words("verdict")]))
        .rows(comparison.families.iter().map(|family| row(family, has_margin)));
    section.with(table)
}

fn row(family: &PooledFamily, has_margin: bool) -> Row {
    let (value, interval) = signed_row(family.contrast.ratio(), family.contrast.interval());
    let name = match partly(family) {
        Some(why) => Text::plain(name(family)).noted(format!("{why}.")),
        None => Text::plain(family.name),
    };
    let judged = verdict(family.verdict);
    let same = if family.points == 0 {
        ABSENT.to_owned()
    } else {
        format!("{} of {}", quantities::count(family.agreeing), quantities::count(family.points))
    };
    let judged =
        if family.verdict.is_difference() && is_small(family) { judged.and(" (small)") } else { judged };
    let cells = [name, Text::plain(value), Text::plain(interval), Text::plain(same)];
    let margin = has_margin.then(|| Text::plain(quantities::target(family.margin)));
    let visible = Text::plain(share(family.smallest_visible));
    Row::of(cells.into_iter().chain([visible]).chain(margin).chain([judged]))
}

/// The section with the number of points that moved as their family did, without being certain by themselves.
pub(super) fn same_direction(section: Section, comparison: &Comparison) -> Section {
    let moved: Vec<&PooledFamily> = comparison
        .families
        .iter()
        .filter(|family| family.points > 0 && family.verdict.is_difference())
        .collect();
    let uncertain = |family: &&PooledFamily| {
        let certain = comparison
            .rows
            .iter()
            .filter(|row| row.family() == Some(family.name) && row.verdict == family.verdict)
            .count();
        format!("{} of {}", quantities::count(family.agreeing.saturating_sub(certain)), name(family))
    };
    if moved.is_empty() {
        return section;
    }
    section.say(format!(
        "In the same direction as their family, without being certain by themselves: {}.",
        moved.iter().map(uncertain).collect::<Vec<_>>().join(", ")
    ))
}

/// What the families that these runs cannot judge would need, for a gate.
pub(super) fn needed(comparisons: &[&Comparison]) -> Option<String> {
    let unseen: Vec<&PooledFamily> = comparisons
        .iter()
        .flat_map(|comparison| &comparison.families)
        .filter(|family| family.is_unseen())
        .collect();
    let need = |family: &&PooledFamily| {
        let runs = match family.further_runs {
            Some(runs) => format!("about {} of each side would", plural(runs as usize, "more run")),
            None => "a hundred more runs would not either".to_owned(),
        };
        format!("{}: {} at {}, {runs}", name(family), share(family.smallest_visible), share(family.margin))
    };
    (!unseen.is_empty()).then(|| {
        format!(
            "These runs could not have seen a change of the size of the margin in {} (smallest visible change, margin): {}.",
            if unseen.len() == 1 { "one family" } else { "some families" },
            unseen.iter().map(need).collect::<Vec<_>>().join("; ")
        )
    })
}

/// The tone of a comparison's verdict.
pub(super) fn tone(comparison: &Comparison) -> Option<Tone> {
    let has = |verdict: Verdict| with(comparison, verdict).next().is_some();
    match () {
        () if comparison.of_itself => Some(Tone::Careful),
        () if has(Verdict::Worse) => Some(Tone::Bad),
        () if has(Verdict::Better) => Some(Tone::Good),
        () => None,
    }
}
