//! A document in LaTeX, for `pdflatex`: the paper, and its appendix in a separate file. Drawings are pictures within the
//! document, so no other file is needed. The required LaTeX packages are in `docs/latex.md`.

mod letters;
mod picture;
mod table;

use super::numbers::{Numbers, TableNotes, Target};
use super::part::{DocumentPart, HINT};
use super::{
    Align, Block, Document, Figure, Group, Key, Numbering, Piece, Section, Sign, Table, Text, Weight,
};
use crate::text::clean;
use letters::{code, plain};
use picture::picture;
use std::fmt::Write;
use table::Tabular;

const PREAMBLE: &str = include_str!("preamble.tex");

/// The width of a line on a portrait page and on a landscape page, in points: A4 without the margins of the preamble.
const ROOM: [f64; 2] = [499.0, 746.0];

/// The maximum height of figures, in points: it fits on a landscape page with its caption.
const HIGHEST: f64 = 430.0;

/// Tables with more lines may be broken across pages.
const MOST_WHOLE: usize = 24;

pub fn render(document: &Document) -> String {
    written(document, DocumentPart::Paper)
}

/// The part that the paper leaves to its appendix; `None` if there is none.
pub fn appendix(document: &Document) -> Option<String> {
    document.has_appendix().then(|| written(document, DocumentPart::Appendix))
}

fn written(document: &Document, part: DocumentPart) -> String {
    let mut form = LatexWriter { numbers: Numbers::of(document), part, lettered: false, text: String::new() };
    form.head(document);
    for section in &document.front {
        form.section(section, 0);
    }
    if part == DocumentPart::Paper && document.sections.iter().any(|section| !section.blocks.is_empty()) {
        form.text.push_str("\n{\\setlength{\\parskip}{0pt}\\tableofcontents}\n");
    }
    for section in &document.sections {
        form.section(section, 1);
    }
    if part == DocumentPart::Appendix {
        form.text.push_str("\n\\section*{Works cited}\n");
        form.works();
    }
    let _ = write!(form.text, "\n{{\\small\\itshape {}\\par}}\n\\end{{document}}\n", plain(&document.foot));
    form.text
}

struct LatexWriter<'a> {
    numbers: Numbers<'a>,
    part: DocumentPart,
    /// Whether the following sections have letters as numbers.
    lettered: bool,
    text: String,
}

impl LatexWriter<'_> {
    fn head(&mut self, document: &Document) {
        let is_appendix = self.part == DocumentPart::Appendix;
        let lead = if is_appendix { "Appendix: " } else { "" };
        let _ = writeln!(self.text, "% {lead}{}, {}", clean(&document.title), clean(&document.date));
        self.text.push_str(PREAMBLE);
        if is_appendix {
            self.text.push_str(
                "\\geometry{landscape}\n\\renewcommand{\\thetable}{A\\arabic{table}}\n\
                 \\renewcommand{\\thefigure}{A\\arabic{figure}}\n",
            );
        }
        self.text.push_str("\\begin{document}\n");
        let _ = writeln!(self.text, "\\noindent{{\\small {}\\par}}", plain(&document.kind));
        let _ = writeln!(
            self.text,
            "{{\\LARGE\\bfseries\\raggedright\\noindent {lead}{}\\par}}",
            plain(&document.title)
        );
        let _ = writeln!(self.text, "\\noindent{{\\small {}\\par}}", plain(&document.date));
        if !is_appendix && document.has_appendix() {
            let _ = writeln!(self.text, "\\noindent{{\\small {}\\par}}", self.phrase(&Text::prose(HINT)));
        }
    }

    fn section(&mut self, section: &Section, level: usize) {
        if self.part == DocumentPart::Appendix && !section.has_appendix() {
            return;
        }
        self.heading(section, level);
        self.blocks(&section.blocks);
        section.sections.iter().for_each(|part| self.section(part, level + 1));
    }

    /// Writes a heading. The paper numbers its sections; its appendix gives the section of the paper to which each belongs.
    fn heading(&mut self, section: &Section, level: usize) {
        let title = self.phrase(&section.title);
        let command = ["section*", "section", "subsection"].get(level).unwrap_or(&"subsubsection");
        if self.part == DocumentPart::Appendix {
            let number = self.numbers.of_section(section);
            let _ = writeln!(self.text, "\n\\{}*{{{number} {title}}}", command.trim_end_matches('*'));
            return;
        }
        if section.numbering == Numbering::Letters && !self.lettered {
            self.text.push_str("\n\\appendix\n");
            self.lettered = true;
        }
        let _ = writeln!(self.text, "\n\\{command}{{{title}}}\\label{{sec:{}}}", section.key.name());
    }

    /// Writes blocks. Those of the other file are left out; in the paper a line mentions them.
    fn blocks(&mut self, blocks: &[Block]) {
        let mut left_out: Vec<String> = vec![];
        for block in blocks {
            match block {
                Block::Folded { appendix: true, blocks, .. } if self.part == DocumentPart::Appendix => {
                    self.all(blocks);
                }
                Block::Folded { appendix: true, summary, .. } => left_out.push(self.phrase(summary)),
                block if self.part == DocumentPart::Paper => self.block(block),
                _ => {}
            }
        }
        if !left_out.is_empty() {
            let _ = writeln!(
                self.text,
                "\n{{\\small\\color{{faint}} In the appendix: {}.\\par}}",
                left_out.join("; ")
            );
        }
    }

    fn all(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Table(table) => self.table(table),
            Block::Figure(figure) => self.figure(figure),
            Block::Folded { summary, blocks, .. } => {
                let _ = writeln!(self.text, "\n\\noindent {}\\par", self.phrase(summary));
                if self.part == DocumentPart::Paper { self.blocks(blocks) } else { self.all(blocks) }
            }
            Block::Paragraph(text) | Block::Aside(_, text) => {
                let _ = writeln!(self.text, "\n{}", self.phrase(text));
            }
            Block::Question(text) => {
                let _ = writeln!(self.text, "\n\\emph{{{}}}", self.phrase(text));
            }
            Block::Heading(title) => {
                let _ = writeln!(self.text, "\n\\minor{{{}}}", plain(title));
            }
            Block::List(items) => self.list(&items.iter().map(|item| self.phrase(item)).collect::<Vec<_>>()),
            Block::Listing(lines) => self.listing(lines),
            Block::Works => self.works(),
        }
    }

    fn list(&mut self, items: &[String]) {
        let items: String = items.iter().map(|item| format!("\\item {item}\n")).collect();
        let _ = writeln!(self.text, "\n\\begin{{itemize}}\n{items}\\end{{itemize}}");
    }

    /// Writes lines of code without `verbatim`, which cannot escape characters that LaTeX does not know.
    fn listing(&mut self, lines: &str) {
        let line = |line: &str| {
            let indent = line.len() - line.trim_start().len();
            format!("\\mbox{{}}{}{}\\\\\n", "~".repeat(indent), code(line.trim_start()))
        };
        let lines: String = lines.lines().map(line).collect();
        let _ = writeln!(self.text, "\n{{\\scriptsize\\ttfamily\\raggedright\\noindent\n{lines}\\par}}");
    }

    fn figure(&mut self, figure: &Figure) {
        let drawing = picture(&figure.drawing, HIGHEST);
        let mut caption = figure.caption.clone();
        if let Some(data) = &figure.data {
            caption = caption.and(" Data: ").and(Text::to(data)).and(".");
        }
        let _ = writeln!(
            self.text,
            "\n\\begin{{wholefigure}}\\scriptsize\n{drawing}\n\
             \\footnotesize\\caption{{{}}}\\label{{fig:{}}}\n\\end{{wholefigure}}",
            self.unnoted(&caption),
            figure.key.name()
        );
    }

    fn table(&mut self, table: &Table) {
        let is_appendix = self.part == DocumentPart::Appendix;
        let layout = Tabular::of(table, ROOM[usize::from(is_appendix)], is_appendix);
        let notes = TableNotes::of(table);
        let lines: usize = table.groups.iter().map(|group| 1 + group.rows.len()).sum();
        let is_whole = lines <= MOST_WHOLE;
        let caption =
            format!("\\caption{{{}}}\\label{{tab:{}}}", self.unnoted(&table.caption), table.key.name());
        let heads = layout.shown.iter().zip(&layout.heads);
        let heads: Vec<String> =
            heads.map(|(place, lines)| head(table.columns[*place].align, lines)).collect();
        let (size, shape, heads) = (layout.size, &layout.shape, heads.join(" & "));
        let _ = if is_whole {
            writeln!(
                self.text,
                "\n\\begin{{wholetable}}{size}\n{caption}\n\\begin{{tabular}}{{@{{}}{shape}@{{}}}}\n\\toprule\n{heads} \\\\\n\\midrule"
            )
        } else {
            writeln!(
                self.text,
                "\n{{{size}\n\\begin{{longtable}}{{@{{}}{shape}@{{}}}}\n{caption}\\\\*\n\\toprule\n{heads} \\\\*\n\\midrule\n\
                 \\endhead\n\\bottomrule\n\\endfoot"
            )
        };
        for group in &table.groups {
            self.group(group, &layout, &notes);
        }
        self.text.push_str(if is_whole {
            "\\bottomrule\n\\end{tabular}\\par\n"
        } else {
            "\\end{longtable}\n"
        });
        for (letter, note) in notes.all() {
            let note = self.phrase(note);
            let _ =
                writeln!(self.text, "{{\\raggedright\\noindent\\textsuperscript{{{letter}}} {note}\\par}}");
        }
        self.text.push_str(if is_whole { "\\end{wholetable}\n" } else { "}\n" });
    }

    fn group(&mut self, group: &Group, layout: &Tabular, notes: &TableNotes) {
        let columns = layout.shown.len();
        if !group.head.is_empty() {
            let head = self.cell(&group.head, notes);
            let _ = writeln!(
                self.text,
                "\\addlinespace\n\\multicolumn{{{columns}}}{{@{{}}>{{\\raggedright\\arraybackslash}}p{{{:.1}pt}}@{{}}}}{{\\textbf{{{head}}}}} \\\\*",
                layout.width
            );
        }
        for row in &group.rows {
            let cells: Vec<String> = layout
                .shown
                .iter()
                .filter_map(|place| row.cells.get(*place))
                .map(|cell| self.cell(cell, notes))
                .collect();
            if row.weight == Weight::Sum {
                let _ = writeln!(self.text, "\\cmidrule{{1-{columns}}}");
            }
            // An opening bracket at the beginning of a row would be read as the height of the previous row.
            let _ = writeln!(self.text, "{{}}{} \\\\", cells.join(" & "));
        }
    }

    fn works(&mut self) {
        self.text.push('\n');
        for (place, work) in self.numbers.works().iter().enumerate() {
            let _ = writeln!(self.text, "\\noindent{{\\small [{}] {}\\par}}", place + 1, plain(work));
        }
    }

    fn cell(&self, text: &Text, notes: &TableNotes) -> String {
        self.pieces(text, |note| format!("\\textsuperscript{{{}}}", notes.letter(note)))
    }

    fn phrase(&self, text: &Text) -> String {
        self.pieces(text, |note| format!("\\footnote{{{}}}", self.phrase(note)))
    }

    /// The text of a caption, which cannot have notes.
    fn unnoted(&self, text: &Text) -> String {
        self.pieces(text, |note| format!(" ({})", self.unnoted(note)))
    }

    fn pieces(&self, text: &Text, noted: impl Fn(&Text) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Note(note) => noted(note),
            Piece::Plain(words) | Piece::Toned(_, words) => plain(words),
            Piece::Code(words) | Piece::Link { words, .. } => format!("\\texttt{{{}}}", code(words)),
            Piece::Strong(words) => format!("\\textbf{{{}}}", plain(words)),
            Piece::Sign(Sign::NotJudged) => "?".to_owned(),
            Piece::Sign(sign) => plain(sign.mark()),
            Piece::To(key) => self.reference(key),
            Piece::Cite(work) => format!(" [{}]", self.numbers.work(work)),
        };
        text.pieces().iter().map(piece).collect()
    }

    /// A reference by label to a place in this file, by name to one in the other file.
    fn reference(&self, key: &Key) -> String {
        let Some(place) = self.numbers.place(key) else { return plain(key.name()) };
        let elsewhere = self.part.elsewhere(&self.numbers, key);
        let kind = match place {
            Target::Table(_) => "Table~\\ref{tab:",
            Target::Figure(_) => "Figure~\\ref{fig:",
            Target::Section(_) => "Section~\\ref{sec:",
        };
        if elsewhere.is_empty() { format!("{kind}{}}}", key.name()) } else { place.words() + elsewhere }
    }
}

/// A column head with several lines.
fn head(align: Align, lines: &[String]) -> String {
    let side = match align {
        Align::Words => 'l',
        Align::Numbers => 'r',
        Align::Signs => 'c',
    };
    match lines {
        [one] => plain(one),
        lines => {
            let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
            format!("\\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{}\\end{{tabular}}", lines.join("\\\\"))
        }
    }
}
