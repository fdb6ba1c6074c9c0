//! The beginning of every form: the final screen of a run, as a section of a document.

use super::main_figures;
use crate::main_figures::Ranked;
use crate::paper::{Block, Key, Section, Sign, Text, Tone};
use crate::run;
use crate::screen;
use fathom_engine::results::Results;

/// The parts of the opening that differ between documents.
pub(super) struct Shown<'a> {
    /// The main figures of the first table.
    pub figures: &'a [Ranked<'a>],
    /// The text after the table.
    pub rest: Option<Text>,
    /// The place of the causes that are not named here.
    pub elsewhere: &'a str,
    /// Formats the name of a figure's experiment.
    pub name: &'a dyn Fn(&str) -> Text,
}

/// The machine, the trustworthiness of the run, main figures, and the most important findings.
pub(super) fn of(found: &Results, shown: &Shown) -> Section {
    let header = &found.run.header;
    let mut said = vec![format!("{}.", run::machine(&header.machine))];
    said.extend(run::peer(header));
    said.push(run::ending(found));
    said.extend(run::labels(header).map(|labels| format!("Labels: {labels}.")));
    let caption = "Main figures: medians over trials with half of the 95 % interval as a share of the median, and the \
                   median as a multiple of what was predicted before.";
    Section::new(Key::of("opening"), "Summary")
        .say(said.join(" "))
        .under(screen::TRUST, vec![Block::List(screen::trust(found).into_iter().map(reason).collect())])
        .with(main_figures::table(Key::of("main-figures"), caption, shown.figures, shown.name))
        .with_all(shown.rest.clone().map(Block::Paragraph))
        .under(screen::NOTABLE, notable(found, shown.elsewhere))
}

fn reason((name, said): (&str, String)) -> Text {
    Text::strong(name).and(": ").and(Text::prose(&said))
}

fn notable(found: &Results, elsewhere: &str) -> Vec<Block> {
    let marked = |(mark, said): (&str, String)| {
        let mark = match mark {
            "✗" => Text::sign(Sign::Fails),
            "!" => Text::toned(Tone::Careful, mark),
            mark => Text::plain(mark),
        };
        mark.and(" ").and(Text::prose(&said))
    };
    let lines: Vec<Text> = screen::notable(found, elsewhere).into_iter().map(marked).collect();
    if lines.is_empty() { vec![] } else { vec![Block::List(lines)] }
}
