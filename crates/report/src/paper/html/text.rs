//! Running text.

use super::Page;
use super::writer::Writer;
use crate::paper::numbers::TableNotes;
use crate::paper::{Key, Piece, Sign, Text, Tone};

impl Page<'_> {
    /// Running text outside of tables.
    pub(super) fn phrase(&mut self, text: &Text) {
        for piece in text.pieces() {
            match piece {
                Piece::Note(note) => self.note(note),
                piece => {
                    self.piece(piece);
                }
            }
        }
    }

    /// A cell; its notes are under the table.
    pub(super) fn cell(&mut self, text: &Text, notes: &TableNotes, table: &str) {
        for piece in text.pieces() {
            match piece {
                Piece::Note(note) => {
                    let letter = notes.letter(note);
                    self.out.raw("<sup><a href=\"#tablenote-").text(table).raw("-").text(&letter);
                    // A letter alone says nothing in a list of links.
                    self.out.raw("\" aria-label=\"note ").text(&letter).raw(" of Table ").text(table);
                    self.out.raw("\">").text(&letter).raw("</a></sup>");
                }
                piece => {
                    self.piece(piece);
                }
            }
        }
    }

    fn piece(&mut self, piece: &Piece) -> &mut Writer {
        match piece {
            Piece::Plain(words) => self.out.words(words),
            Piece::Code(words) => self.out.raw("<code>").text(words).raw("</code>"),
            Piece::Strong(words) => self.out.raw("<b>").words(words).raw("</b>"),
            Piece::Toned(tone, words) => {
                self.out.raw("<span class=\"").raw(class(*tone)).raw("\">").words(words).raw("</span>")
            }
            Piece::Sign(sign) => self.out.raw(marked(*sign)),
            Piece::To(key) => self.reference(key, None),
            Piece::Link { to, words } => self.reference(to, Some(words)),
            Piece::Cite(work) => {
                let number = self.numbers.work(work);
                self.out.raw(" <a href=\"#reference-").number(number).raw("\">[").number(number).raw("]</a>")
            }
            Piece::Note(_) => &mut self.out,
        }
    }

    /// "Table 3" or other words; without a link if the key leads nowhere.
    fn reference(&mut self, key: &Key, words: Option<&str>) -> &mut Writer {
        let Some(place) = self.numbers.place(key).cloned() else {
            return self.out.text(words.unwrap_or(key.name()));
        };
        let in_appendix = self.numbers.in_appendix(key);
        self.out.raw(if in_appendix { "<a class=\"of-appendix\" href=\"#" } else { "<a href=\"#" });
        self.address(key, &place);
        self.out.raw("\">");
        match words {
            Some(words) => self.out.raw("<code>").text(words).raw("</code></a>"),
            None => self.out.text(&place.words()).raw("</a>"),
        }
    }

    fn note(&mut self, note: &Text) {
        let Some(number) = self.numbers.note(note) else { return };
        self.out.raw("<sup id=\"noted-").number(number).raw("\"><a href=\"#note-").number(number);
        self.out.raw("\" aria-label=\"note ").number(number).raw("\">").number(number).raw("</a></sup>");
    }
}

pub(super) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Careful => "careful",
        Tone::Faint => "small",
    }
}

fn marked(sign: Sign) -> &'static str {
    match sign {
        Sign::Holds => {
            "<span class=\"good\" title=\"all evidence holds\"><span aria-hidden=\"true\">✓</span><span class=\"unseen\"> holds</span></span>"
        }
        Sign::Fails => {
            "<span class=\"bad\" title=\"some evidence does not hold\"><span aria-hidden=\"true\">✗</span><span class=\"unseen\"> does not hold</span></span>"
        }
        Sign::Unasked => {
            "<span title=\"no evidence was asked for\"><span aria-hidden=\"true\">–</span><span class=\"unseen\"> none</span></span>"
        }
        Sign::NotJudged => {
            "<span class=\"careful\" title=\"the evidence is not judged: this program does not have the method that measured\"><span aria-hidden=\"true\">?</span><span class=\"unseen\"> not judged</span></span>"
        }
    }
}
