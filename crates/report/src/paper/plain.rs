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

/// A word of more letters does not widen its column.
const LONG: usize = 16;

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
    /// narrowed, then those of numbers, whose intervals and deviations stand below.
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
        let columns = 0..self.widths.len();
        let words: Vec<usize> = columns.clone().map(|column| self.longest_word(column)).collect();
        let numbers: Vec<usize> = columns.clone().map(|column| self.least(column)).collect();
        let aligns = self.aligns.clone();
        let is_words = |column: usize| aligns[column] == Align::Words;
        // The least width of each column in turn.
        let phases: [&dyn Fn(usize) -> usize; 3] = [
            &|column| if is_words(column) { NARROWEST[0].max(words[column]) } else { usize::MAX },
            &|column| if aligns[column] == Align::Numbers { numbers[column] } else { usize::MAX },
            &|column| if is_words(column) { NARROWEST[1].max(words[column]) } else { usize::MAX },
        ];
        for least in phases {
            while total(&self.widths) > width {
                let narrowed = columns.clone().filter(|column| self.widths[*column] > least(*column));
                let Some(widest) = narrowed.max_by_key(|column| self.widths[*column]) else { break };
                self.widths[widest] -= 1;
            }
        }
    }

    /// The longest word of a column, or [`LONG`]: a longer one, as a path, may stand out of it.
    fn longest_word(&self, column: usize) -> usize {
        let cells = self.rows.iter().flatten().filter_map(|row| row.get(column));
        let all = cells.chain([&self.head[column]]).flat_map(|cell| cell.split(' '));
        all.map(display_width).max().unwrap_or(0).min(LONG)
    }

    /// The width to which a column of numbers can be narrowed without breaking a number.
    fn least(&self, column: usize) -> usize {
        let cells = self.rows.iter().flatten().filter_map(|row| row.get(column));
        let parts = cells.flat_map(|cell| parts_of_number(cell)).map(|part| display_width(&part)).max();
        let head = self.head[column].split(' ').map(display_width).max();
        parts.max(head).unwrap_or(0)
    }

    fn written(&self, style: Style) -> String {
        let rule =
            "─".repeat(self.widths.iter().sum::<usize>() + GAP.len() * self.widths.len().saturating_sub(1));
        let columns = display_width(&rule);
        let too_wide =
            format!("This table needs {columns} columns; `--format html` writes it for a browser.");
        let too_wide = if columns > style.width { style.wrapped("", &too_wide) } else { String::new() };
        let mut text = style.wrapped("", &self.caption) + &too_wide + &style.faint(&rule) + "\n";
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
        let broken: Vec<Vec<String>> = cells
            .iter()
            .zip(&self.widths)
            .zip(&self.aligns)
            .map(|((cell, width), align)| match align {
                Align::Numbers if display_width(cell) > *width => numbers_in_lines(cell, *width),
                _ => words_in_lines(cell, *width),
            })
            .collect();
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

/// Words in lines of a column; a word that is longer, as an option with its values, goes on below after a comma or a slash.
fn words_in_lines(cell: &str, width: usize) -> Vec<String> {
    let mut broken = vec![];
    for line in lines(cell, width) {
        let mut rest = line.as_str();
        while display_width(rest) > width {
            let ends = rest.char_indices().take(width).filter(|(_, letter)| ",/".contains(*letter));
            let Some((place, _)) = ends.last() else { break };
            let (head, tail) = rest.split_at(place + 1);
            broken.push(head.to_owned());
            rest = tail;
        }
        broken.push(rest.to_owned());
    }
    broken
}

/// Where a cell of numbers may be broken: before its interval or deviation, and within a range that is written with a word.
const BREAKS: [&str; 3] = [" [", " ±", " to "];

/// A number, and what belongs to it, in parts that are not broken: `1.99`, `[1.97–2.05] µs`.
fn parts_of_number(cell: &str) -> Vec<String> {
    let marked = BREAKS
        .iter()
        .fold(cell.to_owned(), |cell, mark| cell.replace(mark, &format!("\n{}", mark.trim_start())));
    marked.split('\n').map(str::to_owned).collect()
}

/// The same in lines of at most this width; a head has none of these parts, and is broken between words.
fn numbers_in_lines(cell: &str, width: usize) -> Vec<String> {
    let parts = parts_of_number(cell);
    if parts.len() < 2 {
        return lines(cell, width);
    }
    let mut broken: Vec<String> = vec![];
    for part in parts {
        match broken.last_mut() {
            // The number itself has a line of its own, so that numbers stand below each other.
            Some(last) if broken_fits(last, &part, width) => *last = format!("{last} {part}"),
            _ => broken.push(part),
        }
    }
    broken
}

/// Whether a part may follow on the same line: those of a range.
fn broken_fits(last: &str, part: &str, width: usize) -> bool {
    part.starts_with("to ") && display_width(last) + 1 + display_width(part) <= width
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

    #[test]
    fn a_long_word_of_a_column_goes_on_below_after_a_comma() {
        assert_eq!(words_in_lines("a=one,two,three b", 9), ["a=one,", "two,three", "b"]);
        assert_eq!(words_in_lines("unbreakable", 6), ["unbreakable"], "but no word is broken within");
    }

    #[test]
    fn a_table_of_wide_numbers_puts_their_intervals_below() {
        let table = Table::new(Key::of("t"), "Costs.")
            .columns([Column::words("operation"), Column::mixed("the report"), Column::mixed("here")])
            .rows([Row::of(["switch", "0.376 ± 0.366 ns", "0.00381 [−0.00089 to 0.01130] ns"])]);
        let mut document = Document::new("T");
        document.sections.push(Section::new(Key::of("s"), "S").with(table));
        let wide = render(&document, 64);
        assert!(wide.contains("0.376 ± 0.366  0.00381 [−0.00089 to 0.01130]"), "{wide}");
        let narrow = render(&document, 40);
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        let second = narrow.lines().find(|line| line.contains("[−0.00089")).unwrap_or_default();
        assert!(!second.is_empty() && !second.contains("0.376"), "{narrow}");
    }

    #[test]
    fn a_table_that_cannot_be_narrowed_says_how_wide_it_is() {
        let columns = [Column::words("operation"), Column::mixed("here"), Column::mixed("there")];
        let row = Row::of(["switch", "[0.00880–0.00914]", "[0.00880–0.00914]"]);
        let table = Table::new(Key::of("t"), "Costs.").columns(columns).rows([row]);
        let mut document = Document::new("T");
        document.sections.push(Section::new(Key::of("s"), "S").with(table));
        assert!(render(&document, 30).contains("needs 47 columns"), "{}", render(&document, 30));
        assert!(!render(&document, 60).contains("needs"));
    }
}
