//! The summary tables in LaTeX, for a paper: one `longtable` an experiment, with the rules of the package `booktabs`.
//! Nothing but the tables: `\input` the file in a document that loads `longtable` and `booktabs`.

use super::run;
use super::summary::{self, Group};
use super::text::clean;
use super::words;
use crate::results::Results;
use std::fmt::Write;

/// The tables of all experiments, with what has no value behind them.
pub fn render(results: &Results) -> String {
    let header = &results.run.header;
    let mut text = format!(
        "% {} on {}, by {} {}, seed {}.\n% Needs \\usepackage{{longtable,booktabs}}.\n",
        comment(&header.started),
        comment(&run::machine(&header.machine)),
        comment(&header.tool.name),
        comment(&header.tool.version),
        header.settings.seed
    );
    text += &run::peer(header).map(|peer| format!("% {}\n", comment(&peer))).unwrap_or_default();
    for group in summary::groups(results) {
        text += &table(&group);
    }
    for group in summary::unmeasured(results) {
        let points = words::plural(group.points.len(), "point");
        let _ = writeln!(
            text,
            "\n\\noindent \\texttt{{{}}}, {points} {}: {}\\par",
            plain(group.experiment),
            plain(group.outcome),
            plain(&group.reason)
        );
    }
    text
}

const HEAD: [&str; 7] = [
    "operation",
    "base hardware",
    "software overhead",
    "predicted",
    "measured (median)",
    "95\\,\\% interval",
    "measured / predicted",
];

fn table(group: &Group) -> String {
    let placement = group.placement.map(|name| format!(", {name}")).unwrap_or_default();
    let mut text = format!(
        "\n\\begin{{longtable}}{{@{{}}p{{.3\\linewidth}}rrrrrr@{{}}}}\n\\caption{{\\texttt{{{}}}{}}}\\\\\n\\toprule\n{} \
         \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n",
        plain(group.experiment),
        plain(&placement),
        HEAD.join(" & ")
    );
    for row in &group.rows {
        let cells = [
            &row.operation,
            &row.hardware,
            &row.software,
            &row.predicted,
            &row.measured,
            &row.interval,
            &row.factor,
        ];
        let _ = writeln!(text, "{} \\\\", cells.map(|cell| plain(cell)).join(" & "));
    }
    text + "\\end{longtable}\n"
}

/// Text without meaning to LaTeX; the signs of our own tables in its own way.
fn plain(text: &str) -> String {
    let mut safe = String::new();
    for letter in clean(text).chars() {
        match letter {
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => safe.extend(['\\', letter]),
            '<' => safe.push_str("$<$"),
            '>' => safe.push_str("$>$"),
            '|' => safe.push_str("$|$"),
            '"' => safe.push_str("\\textquotedbl{}"),
            'µ' => safe.push_str("$\\mu$"),
            '×' => safe.push_str("$\\times$"),
            '±' => safe.push_str("$\\pm$"),
            '·' => safe.push_str("$\\cdot$"),
            '–' => safe.push_str("--"),
            '…' => safe.push_str("\\dots{}"),
            '−' => safe.push_str("$-$"),
            '\u{a0}' | '\u{202f}' => safe.push('~'),
            letter if letter.is_ascii() => safe.push(letter),
            _ => safe.push('?'),
        }
    }
    safe
}

/// Text that stays within one line behind a `%`.
fn comment(text: &str) -> String {
    clean(text).replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_become_a_command() {
        assert_eq!(plain("\\input{x} & 5 % a_b"), "\\textbackslash{}input\\{x\\} \\& 5 \\% a\\_b");
        assert_eq!(plain("3 µs × 2"), "3 $\\mu$s $\\times$ 2");
        assert!(!comment("x\n\\input{y}").contains('\n'));
    }
}
