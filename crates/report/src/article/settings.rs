//! The settings of a run, and how to repeat it.

use crate::paper::{Block, Column, Key, Row, Section, Table, Text};
use crate::{run, words};
use fathom_core::experiment::Effort;
use fathom_core::quantities;
use fathom_engine::results::Results;

/// The appendix.
pub(super) fn of(found: &Results) -> Section {
    let table = Table::new(Key::of("settings-asked"), "Settings, given or by default, with their units.")
        .columns([Column::words("setting"), Column::words("value")])
        .rows(rows(found).into_iter().map(|(name, value)| Row::of([Text::plain(name), Text::plain(value)])));
    Section::new(Key::of("settings"), "Settings and how to repeat this")
        .lettered()
        .with(Block::Folded {
            summary: "Every setting".into(),
            long: true,
            open: false,
            blocks: vec![table.into()],
        })
        .say(Text::plain("To repeat it: ").and(Text::code(command(found))))
        .say(Text::prose(
            "`fathom report RUN --format json` prints all figures unrounded, with their units; the HTML page contains \
             the same data (in the element `fathom-data`).",
        ))
}

fn rows(found: &Results) -> Vec<(&'static str, String)> {
    let header = &found.run.header;
    let (asked, tool) = (&header.settings, &header.tool);
    let selection = if let Some(set) = &asked.set {
        format!("the set {set}")
    } else if asked.selection.is_empty() {
        "everything".to_owned()
    } else {
        asked.selection.join(" ")
    };
    let partner = asked.partner.map_or("none: there is only one CPU".to_owned(), |cpu| cpu.to_string());
    let mut rows = vec![
        ("Selection", selection),
        ("Effort", words::effort(asked.effort).to_owned()),
        ("Budget", quantities::duration(asked.budget_s)),
        ("Target precision", quantities::plus_minus(asked.precision)),
        ("Seed", asked.seed.to_string()),
        ("A trial observes for", quantities::duration(asked.trial_ns as f64 / 1e9)),
        ("CPU of pinned work", asked.home.to_string()),
        ("CPU of the other side", partner),
        ("Folder for files", asked.folder.clone()),
        ("Program", format!("{} {}, {} build for {}", tool.name, tool.version, tool.build, tool.target)),
        ("Compiler", tool.compiler.clone().unwrap_or_else(|| "not recorded".to_owned())),
        ("Commit of the source", tool.commit.clone().unwrap_or_else(|| "not recorded".to_owned())),
        ("SHA-256 of the binary", tool.binary_sha256.clone()),
        ("Schema of the run file", header.schema.to_string()),
    ];
    rows.extend(run::labels(header).map(|labels| ("Labels", labels)));
    for resumed in &found.run.resumed {
        rows.push((
            "Taken up again",
            format!("{}, for {}", resumed.at, quantities::duration(resumed.budget_s)),
        ));
    }
    rows
}

/// The command that repeats the run.
fn command(found: &Results) -> String {
    let asked = &found.run.header.settings;
    let effort = match asked.effort {
        Effort::Quick => Some("--quick"),
        Effort::Standard => None,
        Effort::Thorough => Some("--thorough"),
    };
    let mut words = vec!["fathom run".to_owned()];
    let quoted = |name: &String| format!("'{}'", name.replace('\'', "'\\''"));
    words.extend(asked.selection.iter().map(quoted));
    words.extend(asked.set.iter().map(|set| format!("--set {}", quoted(set))));
    words.extend(effort.map(str::to_owned));
    words.push(format!("--seed {}", asked.seed));
    words.join(" ")
}
