//! The machine, and the second host if there is one: every fact with its source.

use super::synopsis_machine;
use crate::description::{self, Row as Fact};
use crate::paper::{Block, Column, Key, Row, Section, Table, Text, Tone, Weight};
use crate::run;
use fathom_engine::results::Results;

/// The first section.
pub(super) fn of(found: &Results) -> Section {
    let header = &found.run.header;
    let route = header.machine.peer_route.as_ref();
    let peer = header.peer.as_deref().map(|peer| description::of_peer(peer, route)).unwrap_or_default();
    let parts = description::sections(&header.machine).into_iter().chain(peer);
    let parts = parts.filter(|part| !part.rows.is_empty()).enumerate();
    let folded = |(place, part): (usize, description::Section)| Block::Folded {
        summary: part.title.clone().into(),
        long: false,
        open: place == 0,
        blocks: vec![Block::Table(table(place, &part))],
    };
    let mut section = Section::new(Key::of("machine"), "The machine");
    if let Some(peer) = run::peer(header) {
        section = section.say(peer);
    }
    let lead = "Every fact, with the file, instruction or call it was read from; where a fact is unknown, the reason.";
    section.with(synopsis_machine::table(found)).with(Block::Folded {
        summary: "Every fact".into(),
        long: true,
        open: false,
        blocks: std::iter::once(Block::Paragraph(lead.into())).chain(parts.map(folded)).collect(),
    })
}

fn table(place: usize, part: &description::Section) -> Table {
    Table::new(Key::numbered("machine", place + 1), format!("{}.", part.title))
        .columns([Column::words("fact"), Column::words("value, with its unit"), Column::words("read from")])
        .rows(part.rows.iter().map(row))
}

fn row(fact: &Fact) -> Row {
    let value = if fact.unknown { format!("unknown: {}", fact.value) } else { fact.value.clone() };
    let cells = [Text::plain(&*fact.name), value.into(), Text::toned(Tone::Faint, &*fact.source)];
    Row::of(cells).weighing(if fact.unknown { Weight::Faint } else { Weight::Usual })
}
