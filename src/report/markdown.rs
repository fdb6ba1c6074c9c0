//! The summary as Markdown, for an issue, a change request or a page of notes.

use super::finding;
use super::run::{self, Precision};
use super::summary::{self, Group, Unmeasured};
use super::text::clean;
use super::words::plural;
use crate::results::Results;
use std::fmt::Write;

/// The summary table, what has no value, trends, findings and precision.
pub fn render(results: &Results) -> String {
    let header = &results.run.header;
    let mut text = format!("# {} on {}\n\n", plain(&header.started), plain(&run::machine(&header.machine)));
    text += &run::peer(header).map(|peer| plain(&peer) + "\n\n").unwrap_or_default();
    text += &(plain(&run::ending(results)) + "\n\n");
    text += &table(&summary::groups(results));
    text += &unmeasured(&summary::unmeasured(results));
    text += &list(
        "Trends",
        results.trends.iter().map(|trend| {
            let name = run::trend_label(&trend.experiment, &trend.group);
            format!("`{}` {}: {}", code(&trend.experiment), plain(&name), plain(&run::trend(trend)))
        }),
    );
    text += &list(
        "What it means",
        results.findings.iter().flat_map(|(experiment, said)| {
            said.iter()
                .map(move |said| format!("`{}` {}", code(experiment), plain(&finding::text(&said.statement))))
        }),
    );
    text += &list("Disturbances", run::disturbances(results).iter().map(|sentence| plain(sentence)));
    let tool = &header.tool;
    let _ = write!(
        text,
        "\n{} Measured by {} {}, seed {}.\n",
        plain(&Precision::of(results).sentence()),
        plain(&tool.name),
        plain(&tool.version),
        header.settings.seed
    );
    text
}

fn table(groups: &[Group]) -> String {
    let mut text = "| experiment | operation | base hardware | software overhead | predicted | measured (median) | \
                    95 % interval | measured / predicted | evidence |\n|:--|:--|--:|--:|--:|--:|--:|--:|:-:|\n"
        .to_owned();
    for group in groups {
        for row in &group.rows {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |",
                code(group.experiment),
                plain(&row.operation),
                row.hardware,
                row.software,
                row.predicted,
                plain(&row.measured),
                row.interval,
                row.factor,
                row.evidence
            );
        }
    }
    text
}

fn unmeasured(groups: &[Unmeasured]) -> String {
    list(
        "Without a value",
        groups.iter().map(|group| {
            let points = match group.points.as_slice() {
                [one] => plain(one),
                many => plural(many.len(), "point"),
            };
            format!("**{}** `{}`, {points}: {}", group.outcome, code(group.experiment), plain(&group.reason))
        }),
    )
}

fn list(title: &str, items: impl Iterator<Item = String>) -> String {
    let lines: String = items.map(|item| ["- ", &item, "\n"].concat()).collect();
    if lines.is_empty() { lines } else { format!("\n## {title}\n\n{lines}") }
}

/// Text without meaning to Markdown or HTML.
fn plain(text: &str) -> String {
    let mut safe = String::new();
    for letter in clean(text).chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' => safe.extend(['\\', letter]),
            other => safe.push(other),
        }
    }
    safe
}

/// Text between back ticks, where only these and the bar of a table mean something.
fn code(text: &str) -> String {
    clean(text).replace('`', "'").replace('|', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_become_markup() {
        assert_eq!(plain("<b>|a_b*\n"), "&lt;b&gt;\\|a\\_b\\*\u{fffd}");
        assert_eq!(code("a`|b"), "a'/b");
    }
}
