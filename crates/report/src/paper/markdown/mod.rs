//! A document in GitHub's Markdown: for an issue, a change request or a page of notes. Figures are files beside it where there is a
//! place for them; else they are in the HTML page, and their numbers are in the tables.

mod grid;

use super::document::Node;
use super::numbers::{Numbers, TableNotes};
use super::part::{DocumentPart, HINT};
use super::{
    Align, Block, Document, Figure, Group, Key, Piece, Row, Section, Table, Text, Tone, Weight, picture,
};
use crate::text::{clean, cleaned, escape};
use grid::GridLine;
use std::collections::BTreeSet;
use std::fmt::Write;

pub fn render(document: &Document) -> String {
    written(document, DocumentPart::Paper, None)
}

/// The paper with its figures, which are files in a folder of this name beside it.
pub fn with_figures(document: &Document, folder: &str) -> String {
    written(document, DocumentPart::Paper, Some(folder))
}

/// The part that the paper leaves to its appendix; `None` if there is none. Its figures are in that folder, if any.
pub fn appendix(document: &Document, folder: Option<&str>) -> Option<String> {
    document.has_appendix().then(|| written(document, DocumentPart::Appendix, folder))
}

/// The paper including its appendix, folded.
pub fn whole(document: &Document) -> String {
    written(document, DocumentPart::Whole, None)
}

/// All figures as files: their names, and drawings in SVG.
pub fn figures(document: &Document) -> Vec<(String, String)> {
    let numbers = Numbers::of(document);
    let mut files = vec![];
    document.walk(&mut |node| {
        if let Node::Figure(figure) = node {
            files.push((file_of(&numbers, figure), picture::render(&figure.drawing)));
        }
    });
    files
}

/// The name of a figure's file.
fn file_of(numbers: &Numbers, figure: &Figure) -> String {
    format!("figure-{}.svg", numbers.number(&figure.key))
}

fn written(document: &Document, part: DocumentPart, folder: Option<&str>) -> String {
    let mut form = MarkdownWriter::new(document, part, folder);
    let lead = if part == DocumentPart::Appendix { "Appendix: " } else { "" };
    let _ = writeln!(form.text, "# {lead}{}\n", plain(&document.title));
    for line in [&document.kind, &document.date] {
        if !line.is_empty() {
            let _ = writeln!(form.text, "{}\n", opening(&plain(line)));
        }
    }
    if part == DocumentPart::Paper && document.has_appendix() {
        form.line("", &Text::prose(HINT));
    }
    form.figures_elsewhere(document);
    document.front.iter().for_each(|section| form.section(section, 2));
    if part != DocumentPart::Appendix {
        form.contents(&document.sections);
    }
    document.sections.iter().for_each(|section| form.section(section, 2));
    form.notes();
    if part == DocumentPart::Appendix && !form.numbers.works().is_empty() {
        form.text.push_str("## Works cited\n\n");
        form.works();
    }
    if !document.foot.is_empty() {
        let _ = writeln!(form.text, "{}", opening(&plain(&document.foot)));
    }
    form.text
}

const WITHOUT_FIGURES: &str =
    "Figures are drawn in the HTML form, and beside a file that `--output` names; here stand their captions.";

/// Sections only, without title and contents.
pub fn sections(document: &Document) -> String {
    let mut form = MarkdownWriter::new(document, DocumentPart::Whole, None);
    form.figures_elsewhere(document);
    document.front.iter().chain(&document.sections).for_each(|section| form.section(section, 2));
    form.notes();
    form.text
}

/// A path as an address, with every letter that may mean something else as its number.
fn address(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    let written =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(written).collect()
}

struct MarkdownWriter<'a> {
    numbers: Numbers<'a>,
    part: DocumentPart,
    /// The folder of the figures.
    folder: Option<&'a str>,
    /// What the paper has left to its appendix, as it was mentioned.
    left_out: BTreeSet<String>,
    text: String,
}

impl<'a> MarkdownWriter<'a> {
    fn new(document: &'a Document, part: DocumentPart, folder: Option<&'a str>) -> Self {
        let (numbers, left_out, text) = (Numbers::of(document), BTreeSet::new(), String::new());
        MarkdownWriter { numbers, part, folder, left_out, text }
    }

    /// Where the figures are of which captions stand here alone.
    fn figures_elsewhere(&mut self, document: &Document) {
        let mut any = false;
        document.walk(&mut |node| any |= matches!(node, Node::Figure(_)));
        if any && self.folder.is_none() {
            self.line("", &Text::prose(WITHOUT_FIGURES));
        }
    }

    fn contents(&mut self, sections: &[Section]) {
        if sections.is_empty() {
            return;
        }
        self.text.push_str("## Contents\n\n");
        for section in sections {
            self.entry(section, 0);
        }
        self.text.push('\n');
    }

    fn entry(&mut self, section: &Section, depth: usize) {
        let number = self.numbers.of_section(section);
        let _ = writeln!(self.text, "{}- {number} {}", "  ".repeat(depth), self.phrase(&section.title));
        for part in &section.sections {
            self.entry(part, depth + 1);
        }
    }

    fn section(&mut self, section: &Section, level: usize) {
        if self.part == DocumentPart::Appendix && !section.has_appendix() {
            return;
        }
        let number = self.numbers.of_section(section);
        let space = if number.is_empty() { "" } else { " " };
        let heading = self.phrase(&section.title);
        let _ = writeln!(self.text, "{} {number}{space}{heading}\n", "#".repeat(level.min(5)));
        self.blocks(&section.blocks);
        section.sections.iter().for_each(|part| self.section(part, level + 1));
    }

    /// Writes blocks. Those of the other file are left out; in the paper a line mentions them.
    fn blocks(&mut self, blocks: &[Block]) {
        let mut left_out: Vec<String> = vec![];
        for block in blocks {
            match block {
                Block::Folded { appendix: true, summary, .. } if self.part == DocumentPart::Paper => {
                    left_out.push(self.phrase(summary));
                }
                Block::Folded { appendix: true, blocks, .. } if self.part == DocumentPart::Appendix => {
                    self.all(blocks);
                }
                _ if self.part == DocumentPart::Appendix => {}
                block => self.block(block),
            }
        }
        let left_out = left_out.join("; ");
        // Like parts of every section are mentioned where they are left out first.
        if !left_out.is_empty() && self.left_out.insert(left_out.clone()) {
            let _ = writeln!(self.text, "In the appendix, as of each section that has it: {left_out}.\n");
        }
    }

    fn all(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) | Block::Aside(Tone::Faint, text) => self.line("", text),
            Block::Aside(_, text) => self.line("> ", text),
            Block::Question(text) => {
                let _ = writeln!(self.text, "*{}*\n", self.phrase(text));
            }
            Block::Heading(heading) => {
                let _ = writeln!(self.text, "**{}**\n", plain(heading));
            }
            Block::List(items) => self.list(items.iter().map(|item| self.phrase(item)).collect()),
            Block::Listing(lines) => {
                let _ = writeln!(self.text, "{}", fenced(lines));
            }
            Block::Table(table) => self.table(table),
            Block::Figure(figure) => self.figure(figure),
            Block::Folded { summary, blocks, .. } => {
                let _ = writeln!(self.text, "<details><summary>{}</summary>\n", self.html(summary));
                if self.part == DocumentPart::Appendix {
                    self.all(blocks);
                } else {
                    self.blocks(blocks);
                }
                self.text.push_str("</details>\n\n");
            }
            Block::Works => self.works(),
        }
    }

    fn line(&mut self, lead: &str, text: &Text) {
        let _ = writeln!(self.text, "{lead}{}\n", opening(&self.phrase(text)));
    }

    fn list(&mut self, items: Vec<String>) {
        for item in items {
            let _ = writeln!(self.text, "- {}", opening(&item));
        }
        self.text.push('\n');
    }

    fn works(&mut self) {
        for (place, work) in self.numbers.works().iter().enumerate() {
            let _ = writeln!(self.text, "{}. {}", place + 1, opening(&plain(work)));
        }
        self.text.push('\n');
    }

    fn notes(&mut self) {
        for (place, note) in self.numbers.notes().iter().enumerate() {
            let _ = writeln!(self.text, "[^{}]: {}", place + 1, self.phrase(note));
        }
        // A line that follows at once would be part of the last note.
        if !self.numbers.notes().is_empty() {
            self.text.push('\n');
        }
    }

    fn figure(&mut self, figure: &Figure) {
        let number = self.numbers.number(&figure.key);
        let data = figure.data.as_ref().map(|key| format!(" Its data are in {}.", self.words(key)));
        let data = data.unwrap_or_default();
        let elsewhere = match self.folder {
            Some(folder) => {
                let place = address(&format!("{folder}/{}", file_of(&self.numbers, figure)));
                let _ = writeln!(self.text, "![{}]({place})\n", plain(&figure.drawing.name));
                data.trim_start().to_owned()
            }
            None => data.trim_start().to_owned(),
        };
        let caption = self.phrase(&figure.caption);
        let _ = writeln!(self.text, "{}\n", format!("**Figure {number}.** {caption} {elsewhere}").trim_end());
    }

    fn table(&mut self, table: &Table) {
        let number = self.numbers.number(&table.key);
        let notes = TableNotes::of(table);
        let _ = writeln!(self.text, "**Table {number}.** {}\n", self.phrase(&table.caption));
        let heads: Vec<String> =
            table.columns.iter().map(|column| self.cell(&column.title(), &notes)).collect();
        let aligns: Vec<Align> = table.columns.iter().map(|column| column.align).collect();
        let lines: Vec<GridLine> = table.groups.iter().flat_map(|group| self.group(group, &notes)).collect();
        self.text += &grid::written(&heads, &aligns, &lines);
        self.text.push('\n');
        for (letter, note) in notes.all() {
            let _ = writeln!(self.text, "<sup>{letter}</sup> {}\n", self.phrase(note));
        }
    }

    fn group(&self, group: &Group, notes: &TableNotes) -> Vec<GridLine> {
        let head = (!group.head.is_empty()).then(|| GridLine::Head(self.cell(&group.head, notes)));
        let row = |row: &Row| {
            let weigh = |cell: String| match row.weight {
                Weight::Sum if !cell.is_empty() => format!("**{cell}**"),
                _ => cell,
            };
            GridLine::Cells(row.cells.iter().map(|cell| weigh(self.cell(cell, notes))).collect())
        };
        head.into_iter().chain(group.rows.iter().map(row)).collect()
    }

    fn cell(&self, text: &Text, notes: &TableNotes) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Note(note) => format!("<sup>{}</sup>", notes.letter(note)),
            piece => self.piece(piece),
        };
        text.pieces().iter().map(piece).collect()
    }

    fn phrase(&self, text: &Text) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Note(note) => {
                self.numbers.note(note).map(|number| format!("[^{number}]")).unwrap_or_default()
            }
            piece => self.piece(piece),
        };
        text.pieces().iter().map(piece).collect()
    }

    fn piece(&self, piece: &Piece) -> String {
        match piece {
            Piece::Code(words) | Piece::Link { words, .. } => code(words),
            Piece::Strong(words) | Piece::Toned(Tone::Bad | Tone::Careful, words) => strong(words),
            Piece::Plain(words) | Piece::Toned(_, words) => plain(words),
            Piece::Sign(sign) => sign.mark().to_owned(),
            Piece::To(key) => self.words(key),
            Piece::Cite(work) => format!(" \\[{}\\]", self.numbers.work(work)),
            Piece::Note(_) => String::new(),
        }
    }

    /// Text within an HTML element, where Markdown has no effect.
    fn html(&self, text: &Text) -> String {
        let mut out = String::new();
        for piece in text.pieces() {
            match piece {
                Piece::Plain(words) | Piece::Code(words) | Piece::Strong(words) | Piece::Toned(_, words) => {
                    escape(&mut out, &unlinked(words));
                }
                Piece::To(key) => out.push_str(&self.words(key)),
                piece => out.push_str(&self.piece(piece)),
            }
        }
        out
    }

    fn words(&self, key: &Key) -> String {
        let words =
            self.numbers.place(key).map_or_else(|| key.name().to_owned(), super::numbers::Target::words);
        words + self.part.elsewhere(&self.numbers, key)
    }
}

/// Text escaped for Markdown and HTML, except for characters that are special only at the beginning of a line.
fn plain(text: &str) -> String {
    let mut safe = String::new();
    for letter in unlinked(&clean(text)).chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            APART => safe.push_str("&#8203;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '$' => safe.extend(['\\', letter]),
            other => safe.push(other),
        }
    }
    safe
}

/// A space of no width.
const APART: char = '\u{200b}';

/// The text with a space of no width behind each sign of which a wiki makes a link or a mention by itself: in an address, behind
/// `www.`, behind `@`. Only such a space helps: mentions are looked for where escapes and references are already resolved.
fn unlinked(text: &str) -> String {
    let mut apart = String::new();
    for (at, letter) in text.char_indices() {
        apart.push(letter);
        let (before, after) = (&text[..at], &text[at + letter.len_utf8()..]);
        let links = match letter {
            '@' => true,
            ':' => {
                after.starts_with("//") || ["mailto", "xmpp"].iter().any(|scheme| ends_with(before, scheme))
            }
            '.' => ends_with(before, "www"),
            _ => false,
        };
        if links {
            apart.push(APART);
        }
    }
    apart
}

fn ends_with(text: &str, word: &str) -> bool {
    text.get(text.len().saturating_sub(word.len())..).is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// Text at the beginning of a line, escaped so that it is no list, rule or underlined heading.
fn opening(text: &str) -> String {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    if rest.starts_with(['-', '+', '=', '.', ')']) && (digits == 0) == rest.starts_with(['-', '+', '=']) {
        format!("{number}\\{rest}")
    } else {
        text.to_owned()
    }
}

/// Strong words. Spaces at either end stand outside of the asterisks, which mark nothing beside a space.
fn strong(words: &str) -> String {
    let (trimmed, before) = (words.trim_start(), words.len() - words.trim_start().len());
    let (lead, within) = (&words[..before], trimmed.trim_end());
    let after = &trimmed[within.len()..];
    if within.is_empty() { words.to_owned() } else { format!("{lead}**{}**{after}", plain(within)) }
}

/// Text between back ticks, where only these and the bar of a table are special.
fn code(text: &str) -> String {
    let safe = clean(text).replace('`', "'").replace('|', "/");
    if safe.trim().is_empty() { String::new() } else { format!("`{safe}`") }
}

/// Lines unchanged, within a fence that is longer than any in them.
fn fenced(lines: &str) -> String {
    let lines = cleaned(lines);
    let longest = lines.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}\n{lines}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_within() {
        assert_eq!(fenced("x"), "```\nx\n```\n");
        assert_eq!(fenced("a\n````b"), "`````\na\n````b\n`````\n");
    }

    #[test]
    fn a_name_cannot_become_markup() {
        assert_eq!(plain("<b>|a_b*\n"), "&lt;b&gt;\\|a\\_b\\*\u{fffd}");
        assert_eq!(plain("[x](javascript:y)"), "\\[x\\](javascript:y)");
        assert_eq!(plain("https://x.y WWW.x.y"), "https:&#8203;//x.y WWW.&#8203;x.y");
        assert_eq!(plain("@you, mailto:a@b, 1.5: c"), "@&#8203;you, mailto:&#8203;a@&#8203;b, 1.5: c");
        assert_eq!(code("a`|b"), "`a'/b`");
        assert_eq!(strong("Contradiction. ") + "A", "**Contradiction.** A");
        assert_eq!([strong("a*"), strong(" ")], ["**a\\***", " "]);
        assert_eq!(opening("- no list"), "\\- no list");
        assert_eq!(opening("12. no list"), "12\\. no list");
        assert_eq!(opening("1.5 ns"), "1\\.5 ns");
        assert_eq!(opening("12 ns"), "12 ns");
    }
}
