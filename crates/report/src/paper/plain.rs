//! A document as plain text: for terminals and mail.

use super::numbers::{Numbers, TableNotes};
use super::{Align, Block, Document, Key, Piece, Section, Table, Text};
use crate::text::{Style, clean, cleaned, display_width, lines};

/// The document, in lines of at most `width` characters if the words fit.
pub fn render(document: &Document, width: usize) -> String {
    let mut form = PlainWriter {
        numbers: Numbers::of(document),
        style: Style { width, colour: false },
        text: String::new(),
    };
    form.paragraph("", &clean(&document.title));
    document.front.iter().chain(&document.sections).for_each(|section| form.section(section));
    let notes: Vec<String> = form.numbers.notes().iter().map(|note| form.phrase(note)).collect();
    for (place, note) in notes.iter().enumerate() {
        form.paragraph(&format!("({}) ", place + 1), note);
    }
    form.paragraph("", &clean(&document.foot));
    form.text.trim_end().to_owned() + "\n"
}

/// One table of a document, with that document's numbers.
pub fn table(table: &Table, numbers: &Numbers, style: Style) -> String {
    TextTable::of(table, numbers, style.width).written(style)
}

struct PlainWriter<'a> {
    numbers: Numbers<'a>,
    style: Style,
    text: String,
}

impl PlainWriter<'_> {
    fn section(&mut self, section: &Section) {
        let number = self.numbers.of_section(section).to_owned();
        let heading = [number, self.phrase(&section.title)];
        self.paragraph("", heading.join(" ").trim());
        for block in &section.blocks {
            self.block(block);
        }
        section.sections.iter().for_each(|part| self.section(part));
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) | Block::Aside(_, text) | Block::Question(text) => {
                self.paragraph("", &self.phrase(text));
            }
            Block::Heading(heading) => self.paragraph("", &clean(heading)),
            Block::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.phrase(item)).collect();
                for item in &items {
                    self.text += &self.style.wrapped("- ", item);
                }
                self.text.push('\n');
            }
            Block::Listing(lines) => {
                cleaned(lines).lines().for_each(|line| self.text += &format!("    {line}\n"));
                self.text.push('\n');
            }
            Block::Table(shown) => {
                self.text += &table(shown, &self.numbers, self.style);
                self.text.push('\n');
            }
            Block::Figure(figure) => {
                let number = self.numbers.number(&figure.key);
                self.paragraph(&format!("Figure {number}. "), &self.phrase(&figure.caption));
            }
            Block::Folded { summary, blocks, .. } => {
                self.paragraph("", &self.phrase(summary));
                for block in blocks {
                    self.block(block);
                }
            }
            Block::Works => {
                let works: Vec<String> = self.numbers.works().iter().map(|work| clean(work)).collect();
                for (place, work) in works.iter().enumerate() {
                    self.text += &self.style.wrapped(&format!("[{}] ", place + 1), work);
                }
                self.text.push('\n');
            }
        }
    }

    fn paragraph(&mut self, lead: &str, text: &str) {
        if !text.is_empty() {
            self.text += &self.style.wrapped(lead, text);
            self.text.push('\n');
        }
    }

    fn phrase(&self, text: &Text) -> String {
        phrase(text, &self.numbers, |note| {
            self.numbers.note(note).map(|number| format!(" ({number})")).unwrap_or_default()
        })
    }
}

/// Running text; `noted` formats the mark of a note.
fn phrase(text: &Text, numbers: &Numbers, noted: impl Fn(&Text) -> String) -> String {
    let words =
        |key: &Key| numbers.place(key).map_or_else(|| key.name().to_owned(), super::numbers::Target::words);
    let piece = |piece: &Piece| match piece {
        Piece::Plain(words)
        | Piece::Code(words)
        | Piece::Strong(words)
        | Piece::Toned(_, words)
        | Piece::Link { words, .. } => clean(words),
        Piece::Sign(sign) => sign.mark().to_owned(),
        Piece::To(key) => words(key),
        Piece::Cite(work) => format!(" [{}]", numbers.work(work)),
        Piece::Note(note) => noted(note),
    };
    text.pieces().iter().map(piece).collect()
}

/// A table as lines of cells.
struct TextTable {
    caption: String,
    aligns: Vec<Align>,
    head: Vec<String>,
    /// The head of a group, or a row.
    rows: Vec<Result<Vec<String>, String>>,
    notes: Vec<(String, String)>,
    widths: Vec<usize>,
}

const GAP: &str = "  ";

/// The least widths of columns of words: the second only where the first leaves too little room.
const NARROWEST: [usize; 2] = [12, 8];

impl TextTable {
    fn of(table: &Table, numbers: &Numbers, width: usize) -> Self {
        let notes = TableNotes::of(table);
        let cell = |text: &Text| phrase(text, numbers, |note| format!(" ({})", notes.letter(note)));
        let own = |text: &Text| phrase(text, numbers, |_| String::new());
        let mut rows = vec![];
        for group in &table.groups {
            if !group.head.is_empty() {
                rows.push(Err(cell(&group.head)));
            }
            rows.extend(group.rows.iter().map(|row| Ok(row.cells.iter().map(cell).collect())));
        }
        let mut layout = TextTable {
            caption: format!("Table {}. {}", numbers.number(&table.key), own(&table.caption)),
            aligns: table.columns.iter().map(|column| column.align).collect(),
            head: table.columns.iter().map(|column| cell(&column.title())).collect(),
            rows,
            notes: notes.all().map(|(letter, note)| (letter, own(note))).collect(),
            widths: vec![],
        };
        layout.fit(width);
        layout
    }

    /// Sets widths: that of the longest cell; if they do not fit, heads are broken into lines, then columns of words are
    /// narrowed.
    fn fit(&mut self, width: usize) {
        let length = |text: &String| display_width(text);
        let longest = |text: &String| text.split(' ').map(display_width).max().unwrap_or(0);
        self.widths = self.head.iter().map(longest).collect();
        for row in self.rows.iter().flatten() {
            for (column, cell) in self.widths.iter_mut().zip(row) {
                *column = (*column).max(length(cell));
            }
        }
        let total =
            |widths: &[usize]| widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1);
        for narrowest in NARROWEST {
            while total(&self.widths) > width {
                let words =
                    |place: &usize| self.aligns[*place] == Align::Words && self.widths[*place] > narrowest;
                let Some(widest) =
                    (0..self.widths.len()).filter(words).max_by_key(|place| self.widths[*place])
                else {
                    break;
                };
                self.widths[widest] -= 1;
            }
        }
    }

    fn written(&self, style: Style) -> String {
        let rule =
            "─".repeat(self.widths.iter().sum::<usize>() + GAP.len() * self.widths.len().saturating_sub(1));
        let mut text = style.wrapped("", &self.caption) + &style.faint(&rule) + "\n";
        text += &self.line(&self.head);
        text += &(style.faint(&rule) + "\n");
        for row in &self.rows {
            match row {
                Ok(cells) => text += &self.line(cells),
                Err(head) => text += &(style.title(head) + "\n"),
            }
        }
        text += &(style.faint(&rule) + "\n");
        for (letter, note) in &self.notes {
            text += &style.wrapped(&format!("({letter}) "), note);
        }
        text
    }

    /// A row, with the number of lines of its longest cell.
    fn line(&self, cells: &[String]) -> String {
        let broken: Vec<Vec<String>> =
            cells.iter().zip(&self.widths).map(|(cell, width)| lines(cell, *width)).collect();
        let height = broken.iter().map(Vec::len).max().unwrap_or(0);
        let at = |line: usize| {
            let cells = broken.iter().zip(&self.widths).zip(&self.aligns).map(|((cell, width), align)| {
                let words = cell.get(line).map_or("", String::as_str);
                match align {
                    Align::Words => format!("{words:<width$}"),
                    Align::Numbers => format!("{words:>width$}"),
                    Align::Signs => format!("{words:^width$}"),
                }
            });
            cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned() + "\n"
        };
        (0..height).map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Group, Row};
    use super::*;

    #[test]
    fn a_table_keeps_within_its_width_and_its_numbers_whole() {
        let table = Table::new(Key::of("t"), "Costs of calls.")
            .columns([
                Column::words("call"),
                Column::number("median time", "ns"),
                Column::words("what it does"),
            ])
            .group(Group::named("plain").row(Row::of([
                Text::plain("getppid"),
                Text::plain("38.1").noted("once around"),
                Text::plain("asks for the number of the parent, which the kernel knows"),
            ])));
        let mut document = Document::new("T");
        document.sections.push(Section::new(Key::of("s"), "S").with(table));
        let text = render(&document, 50);
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
        assert!(
            text.contains("getppid") && text.contains("38.1 (a)") && text.contains("(a) once around"),
            "{text}"
        );
    }
}
