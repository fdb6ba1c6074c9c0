//! The tables of a document and what is said of them in LaTeX, for a paper: a `longtable` each, numbered, with a label, and
//! with the rules of the package `booktabs`. `\input` the file in a document that loads `longtable` and `booktabs`. Figures,
//! and what only some readers want (long lists that are folded elsewhere), are left out.

use super::numbers::{Numbers, Place, TableNotes};
use super::{Align, Block, Column, Document, Group, Key, Piece, Section, Sign, Table, Text, Weight};
use crate::report::text::{clean, cleaned};
use std::fmt::Write;

/// The tables, behind comments that say what they are of.
pub fn render(document: &Document) -> String {
    let mut form = Form { numbers: Numbers::of(document), text: String::new() };
    for line in [&document.title, &document.date, &document.foot] {
        if !line.is_empty() {
            let _ = writeln!(form.text, "% {}", comment(line));
        }
    }
    form.text.push_str("% Needs \\usepackage{longtable,booktabs,array}.\n");
    document.front.iter().chain(&document.sections).for_each(|section| form.section(section));
    form.works();
    form.text
}

struct Form<'a> {
    numbers: Numbers<'a>,
    text: String,
}

impl Form<'_> {
    fn section(&mut self, section: &Section) {
        let _ = writeln!(self.text, "\n\\subsection*{{{}}}", self.phrase(&section.title));
        section.blocks.iter().for_each(|block| self.block(block));
        section.sections.iter().for_each(|part| self.section(part));
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Table(table) => self.table(table),
            Block::Folded { long: false, blocks, .. } => blocks.iter().for_each(|block| self.block(block)),
            Block::Paragraph(text) | Block::Aside(_, text) | Block::Question(text) => {
                let _ = writeln!(self.text, "\n{}", self.phrase(text));
            }
            Block::Heading(title) => {
                let _ = writeln!(self.text, "\n\\paragraph{{{}}}", plain(title));
            }
            Block::List(items) => {
                let items: String =
                    items.iter().map(|item| format!("\\item {}\n", self.phrase(item))).collect();
                let _ = writeln!(self.text, "\n\\begin{{itemize}}\n{items}\\end{{itemize}}");
            }
            // Where a line would end what stands as it is written, there is none.
            Block::Listing(lines) if !lines.contains("\\end{verbatim}") => {
                let lines = cleaned(lines);
                let _ = writeln!(
                    self.text,
                    "\n{{\\footnotesize\n\\begin{{verbatim}}\n{lines}\\end{{verbatim}}\n}}"
                );
            }
            _ => {}
        }
    }

    fn table(&mut self, table: &Table) {
        let notes = TableNotes::of(table);
        let _ = writeln!(
            self.text,
            "\n{{\\footnotesize\n\\begin{{longtable}}{{@{{}}{}@{{}}}}\n\\caption{{{}}}\\label{{tab:{}}}\\\\\n\\toprule",
            shape(&table.columns),
            self.phrase(&table.caption),
            table.key.name()
        );
        let heads: Vec<String> = table.columns.iter().map(|column| self.head(column, &notes)).collect();
        let _ =
            writeln!(self.text, "{} \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot", heads.join(" & "));
        for group in &table.groups {
            self.group(group, table.columns.len(), &notes);
        }
        self.text.push_str("\\end{longtable}\n");
        for (letter, note) in notes.all() {
            let _ = writeln!(self.text, "\\noindent\\textsuperscript{{{letter}}} {}\\par", self.phrase(note));
        }
        self.text.push_str("}\n");
    }

    /// Heads of numbers may break into lines, so that the numbers decide how wide the column is.
    fn head(&self, column: &Column, notes: &TableNotes) -> String {
        let words = self.cell(&column.title(), notes);
        match column.align {
            Align::Words => words,
            Align::Numbers | Align::Signs => format!(
                "\\begin{{tabular}}[b]{{@{{}}{}@{{}}}}{}\\end{{tabular}}",
                if column.align == Align::Numbers { 'r' } else { 'c' },
                words.split(' ').collect::<Vec<_>>().join("\\\\")
            ),
        }
    }

    fn group(&mut self, group: &Group, columns: usize, notes: &TableNotes) {
        if !group.head.is_empty() {
            let head = self.cell(&group.head, notes);
            let _ =
                writeln!(self.text, "\\addlinespace\n\\multicolumn{{{columns}}}{{@{{}}l}}{{{head}}} \\\\*");
        }
        for row in &group.rows {
            let cells: Vec<String> = row.cells.iter().map(|cell| self.cell(cell, notes)).collect();
            let rule = if row.weight == Weight::Sum { "\\cmidrule{2-" } else { "" };
            if !rule.is_empty() {
                let _ = writeln!(self.text, "{rule}{columns}}}");
            }
            // What begins a row with a bracket would be read as the height of the one before.
            let _ = writeln!(self.text, "{{}}{} \\\\", cells.join(" & "));
        }
    }

    fn works(&mut self) {
        if self.numbers.works().is_empty() {
            return;
        }
        self.text.push_str("\n\\noindent Works cited:\\par\n");
        for (place, work) in self.numbers.works().iter().enumerate() {
            let _ = writeln!(self.text, "\\noindent [{}] {}\\par", place + 1, plain(work));
        }
    }

    fn cell(&self, text: &Text, notes: &TableNotes) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Note(note) => format!("\\textsuperscript{{{}}}", notes.letter(note)),
            piece => self.piece(piece),
        };
        text.pieces().iter().map(piece).collect()
    }

    fn phrase(&self, text: &Text) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Note(note) => format!("\\footnote{{{}}}", self.phrase(note)),
            piece => self.piece(piece),
        };
        text.pieces().iter().map(piece).collect()
    }

    fn piece(&self, piece: &Piece) -> String {
        match piece {
            Piece::Plain(words) | Piece::Toned(_, words) => plain(words),
            Piece::Code(words) | Piece::Link { words, .. } => format!("\\texttt{{{}}}", plain(words)),
            Piece::Strong(words) => format!("\\textbf{{{}}}", plain(words)),
            Piece::Sign(Sign::Holds) => "yes".to_owned(),
            Piece::Sign(Sign::Fails) => "\\textbf{no}".to_owned(),
            Piece::Sign(Sign::Unasked) => "--".to_owned(),
            Piece::Sign(Sign::NotJudged) => "?".to_owned(),
            Piece::To(key) => self.reference(key),
            Piece::Cite(work) => format!(" [{}]", self.numbers.work(work)),
            Piece::Note(_) => String::new(),
        }
    }

    /// Tables have labels, but for those that are left out; figures and sections have none.
    fn reference(&self, key: &Key) -> String {
        match self.numbers.place(key) {
            Some(Place::Table(_)) if !self.numbers.is_kept_back(key) => {
                format!("Table~\\ref{{tab:{}}}", key.name())
            }
            Some(place) => format!("{} of the full report", place.words()),
            None => plain(key.name()),
        }
    }
}

/// Words share what room the numbers leave; numbers are as wide as they are.
fn shape(columns: &[Column]) -> String {
    let words = columns.iter().filter(|column| column.align == Align::Words).count().max(1);
    let taken = 0.095 * (columns.len() - words.min(columns.len())) as f64;
    let share = (0.96 - taken).max(0.26) / words as f64 - 0.02;
    let of = |column: &Column| match column.align {
        Align::Words => format!(">{{\\raggedright\\arraybackslash}}p{{{share:.3}\\linewidth}}"),
        Align::Numbers => "r".to_owned(),
        Align::Signs => "c".to_owned(),
    };
    columns.iter().map(of).collect()
}

/// Text without meaning to LaTeX; the signs of our own tables in its own way.
fn plain(text: &str) -> String {
    let mut safe = String::new();
    for letter in clean(text).chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => safe.extend(['\\', letter]),
            letter if letter.is_ascii_alphanumeric() || " .,:;!?()+=*/'@-".contains(letter) => {
                safe.push(letter);
            }
            letter => safe.push_str(sign(letter)),
        }
    }
    safe
}

/// A sign in the way of LaTeX; one that it may not know is a question mark.
fn sign(letter: char) -> &'static str {
    match letter {
        '\\' => "\\textbackslash{}",
        '~' => "\\textasciitilde{}",
        '^' => "\\textasciicircum{}",
        '[' => "{[}",
        ']' => "{]}",
        '<' => "$<$",
        '>' => "$>$",
        '|' => "$|$",
        '"' => "\\textquotedbl{}",
        '`' => "\\textasciigrave{}",
        'µ' | 'μ' => "$\\mu$",
        '×' => "$\\times$",
        '÷' => "$\\div$",
        'λ' => "$\\lambda$",
        '±' => "$\\pm$",
        '·' => "$\\cdot$",
        '–' => "--",
        '—' => "---",
        '…' => "\\dots{}",
        '−' => "$-$",
        '≤' => "$\\leq$",
        '≥' => "$\\geq$",
        '→' => "$\\rightarrow$",
        '√' => "$\\surd$",
        '²' => "\\textsuperscript{2}",
        '³' => "\\textsuperscript{3}",
        '°' => "\\textdegree{}",
        '“' => "``",
        '”' => "''",
        '‘' => "`",
        '’' => "'",
        '✓' => "yes",
        '✗' => "no",
        'é' => "\\'e",
        'ä' => "\\\"a",
        'ö' => "\\\"o",
        'ü' => "\\\"u",
        '§' => "\\S{}",
        '\u{a0}' | '\u{202f}' => "~",
        _ => "?",
    }
}

/// Text that stays within one line behind a `%`.
fn comment(text: &str) -> String {
    clean(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_become_a_command() {
        assert_eq!(plain("\\input{x} & 5 % a_b"), "\\textbackslash{}input\\{x\\} \\& 5 \\% a\\_b");
        assert_eq!(plain("3 µs × 2 ÷ 4"), "3 $\\mu$s $\\times$ 2 $\\div$ 4");
        assert!(!comment("x\n\\input{y}").contains('\n'));
    }

    fn sources(folder: &std::path::Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let text = |path: std::path::PathBuf| match path.is_dir() {
            true => sources(&path),
            false if path.extension().is_some_and(|extension| extension == "rs") => {
                vec![std::fs::read_to_string(path).unwrap()]
            }
            false => vec![],
        };
        entries.flat_map(text).collect()
    }

    #[test]
    fn every_letter_that_the_program_writes_has_a_form() {
        // The line of a table and the bars of a history on a terminal, and the sign of a page's link back.
        let elsewhere = ['─', '█', '↩'];
        let all = sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
        let lines =
            all.iter().flat_map(|text| text.lines()).filter(|line| !line.trim_start().starts_with("//"));
        let letters =
            lines.flat_map(str::chars).filter(|letter| !letter.is_ascii() && !elsewhere.contains(letter));
        let lost: std::collections::BTreeSet<char> =
            letters.filter(|letter| plain(&letter.to_string()) == "?").collect();
        assert!(all.len() > 300 && lost.is_empty(), "{lost:?}");
    }
}
