//! Every form, on a small document that has every kind of block, text, column and mark once: how something is written is seen
//! here, and what is said is seen in the report of the fixed run (`report.rs`).

use super::golden;
use clap::ValueEnum;
use fathom::report::figure::{Drawing, Svg};
use fathom::report::paper::{
    Align, Block, Column, Document, Figure, Group, Key, Numbering, Numbers, Piece, Row, Section, Sign, Table,
    Text, Tone, Weight, plain,
};
use fathom::report::{Facts, Form, Style, Subject, appendix, render};
use std::collections::BTreeSet;

/// A match over all variants of a type that gives each a name, and the list of these names. A variant that is added does not
/// compile until it has one, and then the small document must have it.
macro_rules! kinds {
    ($of:ident, $all:ident, $kind:ty, { $($variant:pat => $name:literal),+ $(,)? }) => {
        fn $of(one: &$kind) -> &'static str {
            match one { $($variant => $name),+ }
        }
        const $all: &[&str] = &[$($name),+];
    };
}

kinds!(block, BLOCKS, Block, {
    Block::Paragraph(_) => "a paragraph",
    Block::Aside(..) => "an aside",
    Block::Question(_) => "a question",
    Block::Heading(_) => "a heading",
    Block::List(_) => "a list",
    Block::Listing(_) => "a listing",
    Block::Table(_) => "a table",
    Block::Figure(_) => "a figure",
    Block::Folded { appendix: true, open: true, .. } => "an open part of the appendix",
    Block::Folded { appendix: true, open: false, .. } => "a part of the appendix",
    Block::Folded { appendix: false, open: true, .. } => "an open part",
    Block::Folded { appendix: false, open: false, .. } => "a folded part",
    Block::Works => "the works",
});

kinds!(piece, PIECES, Piece, {
    Piece::Plain(_) => "plain words",
    Piece::Code(_) => "code",
    Piece::Strong(_) => "strong words",
    Piece::Toned(..) => "toned words",
    Piece::Sign(_) => "a sign",
    Piece::To(_) => "a reference",
    Piece::Link { .. } => "a link",
    Piece::Cite(_) => "a citation",
    Piece::Note(_) => "a note",
});

kinds!(tone, TONES, Tone, {
    Tone::Good => "good",
    Tone::Bad => "bad",
    Tone::Careful => "careful",
    Tone::Faint => "faint",
});

kinds!(sign, SIGNS, Sign, {
    Sign::Holds => "holds",
    Sign::Fails => "fails",
    Sign::Unasked => "unasked",
    Sign::NotJudged => "not judged",
});

kinds!(align, ALIGNS, Align, {
    Align::Words => "a column of words",
    Align::Numbers => "a column of numbers",
    Align::Signs => "a column of signs",
});

kinds!(weight, WEIGHTS, Weight, {
    Weight::Usual => "a usual row",
    Weight::Sum => "a sum",
    Weight::Faint => "a faint row",
});

kinds!(numbering, NUMBERINGS, Numbering, {
    Numbering::Digits => "a section with digits",
    Numbering::Letters => "a section with a letter",
});

/// What every form must escape.
const HOSTILE: &str = "<b>&amp; a_b | 5 % of $x$ #1 ~ \\input{y} {z} ^ `t` \"q\" [w](javascript:v)";

/// Every kind once. Every field is named here, so that a new one is thought of.
fn document() -> Document {
    Document {
        kind: "A document with everything".to_owned(),
        title: format!("Everything & {HOSTILE}"),
        date: "2026-11-21T12:00:00Z".to_owned(),
        front: vec![Section::new(Key::of("front"), "Before the contents").say("The front has no number.")],
        sections: vec![texts(), blocks(), tables(), works()],
        foot: "The end.".to_owned(),
    }
}

fn texts() -> Section {
    let (table, figure, part) = (Key::of("costs"), Key::of("curve"), Key::of("part"));
    let pieces = Text::plain("Plain, ")
        .and(Text::code("code | `x`"))
        .and(", ")
        .and(Text::strong("strong"))
        .and(" and toned words: ")
        .and(Text::joined(tones().map(|tone| Text::toned(tone, format!("{tone:?}").to_lowercase())), ", "))
        .and("; signs: ")
        .and(Text::joined(signs().map(Text::sign), " "))
        .and(".");
    let references = Text::to(&table)
        .and(", ")
        .and(Text::to(&Key::of("kept-table")))
        .and(", ")
        .and(Text::to(&figure))
        .and(" and ")
        .and(Text::to(&part))
        .and(" are elsewhere, and so is ")
        .and(Text::link(&table, "the table of costs"))
        .and(".")
        .noted(Text::plain("A note, which cites as well").cite("Another Book (1997)"))
        .and(" A work is cited")
        .cite("A Book & Its Author (1996), p. 3")
        .and(".");
    let mut section = Section::new(Key::of("texts"), Text::plain("Texts with ").and(Text::code("code")))
        .say(pieces)
        .say(references)
        .say(HOSTILE)
        .say("1. no list, and a word\u{a0}that stays together: a thin\u{202f}space, a bell\u{7}, \u{202e}reversed.");
    section.sections = vec![Section::new(part, "A part").say("It is a section of a section.")];
    section
}

fn tones() -> [Tone; 4] {
    [Tone::Good, Tone::Bad, Tone::Careful, Tone::Faint]
}

fn signs() -> [Sign; 4] {
    [Sign::Holds, Sign::Fails, Sign::Unasked, Sign::NotJudged]
}

fn folded(summary: &str, appendix: bool, open: bool, blocks: Vec<Block>) -> Block {
    Block::Folded { summary: Text::plain(summary).and(Text::code(" code")), appendix, open, blocks }
}

fn blocks() -> Section {
    let asides = tones().map(|tone| Block::Aside(tone, format!("An aside that is {tone:?}.").into()));
    let figure = Figure {
        key: Key::of("curve"),
        caption: Text::plain("What grows with what").noted("below the page").and("."),
        drawing: drawing("Every mark"),
        otherwise: Some(drawing("Every mark, the other scale")),
        spread: "linear",
        data: Some(Key::of("costs")),
    };
    let kept = Figure {
        key: Key::of("kept-curve"),
        caption: "A figure of the appendix, without another scale or data.".into(),
        drawing: Drawing::new(20.0).finish("Nothing", "It is empty."),
        otherwise: None,
        spread: "logarithmic",
        data: None,
    };
    let kept_table = Table::new(Key::of("kept-table"), "A table of the appendix.")
        .columns([Column::words("fact"), Column::words("value, with its unit")])
        .rows([Row::of(["Clock", "2.5 GHz"])]);
    Section::new(Key::of("blocks"), "Blocks")
        .with(Block::Question("What is a question?".into()))
        .with_all(asides)
        .with(Block::Heading("A heading without a number".to_owned()))
        .with(Block::List(vec![
            "First.".into(),
            Text::plain("Second, ").and(Text::strong("strong")),
            "- third".into(),
        ]))
        .with(Block::Listing("fathom run \\\n    --quick | tee `date`\n```\n".to_owned()))
        .with(figure)
        .with(folded("Folded", false, false, vec![Block::Paragraph("Inside of it.".into())]))
        .with(folded("Open", false, true, vec![Block::Paragraph("Seen at once.".into())]))
        .with(folded("Of the appendix", true, false, vec![kept_table.into(), kept.into()]))
        .with(folded(
            "Of the appendix, open",
            true,
            true,
            vec![Block::Paragraph(Text::to(&Key::of("blocks")))],
        ))
}

fn tables() -> Section {
    let row = |name: &str, median: &str, weight| {
        let cells = ["", "1.2×", "12", "3.1 µs"].map(Text::plain);
        let first = [Text::code(name), Text::plain(median).noted("once around"), Text::sign(Sign::Holds)];
        Row { cells: first.into_iter().chain(cells).collect(), weight }
    };
    let costs = Table {
        key: Key::of("costs"),
        caption: Text::plain("What a call costs, as ").and(Text::to(&Key::of("curve"))).and(" shows."),
        columns: vec![
            Column::words("call"),
            Column::number("median time", "ns"),
            Column::signs("evidence"),
            Column::words("what is said of it at some length").optional(),
            Column::ratio("measured / predicted"),
            Column::count(Text::plain("trials").noted("in fresh processes")),
            Column::mixed("longest").optional(),
        ],
        groups: vec![
            Group { head: Text::default(), rows: vec![row("getppid", "38.1", Weight::Usual)] },
            Group::named(Text::plain("in a ").and(Text::code("group")))
                .rows([row("read|write", "411", Weight::Faint), row("all", "449", Weight::Sum)]),
        ],
        searched: true,
    };
    let cells =
        [Text::plain("a cell of many words, of which a narrow page has a few on a line"), Text::plain("7")];
    let plain = Table::new(Key::of("plain"), "Neither searched nor long.")
        .columns([Column::words("what"), Column::number("size", "KiB")])
        .rows([Row::of(cells)]);
    Section::new(Key::of("tables"), "Tables").with(costs).with(plain)
}

fn works() -> Section {
    Section::new(Key::of("works"), "References").lettered().with(Block::Works)
}

/// Every element that drawings have: that the other forms draw them is seen in LaTeX, which draws them anew.
fn drawing(name: &str) -> Svg {
    let mut drawing = Drawing::new(120.0);
    drawing.line("grid", (60.0, 10.0), (700.0, 10.0));
    drawing.line("landmark", (300.0, 0.0), (300.0, 100.0));
    drawing.path("s1 line", &[(60.0, 90.0), (300.0, 50.5), (700.0, 10.25)]);
    drawing.cell((60.0, 20.0), 12.0, 0.4);
    drawing.text("tick", "end", (56.0, 90.0), "5 % & <more>");
    drawing.upright((14.0, 60.0), "time (ns)");
    drawing.curve("a \"curve\"", |drawing| {
        for series in 0..6 {
            drawing.mark(&format!("s{series}"), series, (100.0 + 50.0 * series as f64, 60.0));
        }
        drawing.mark("s2 hollow", 2, (450.0, 60.0));
    });
    drawing.titled("one of many: 3 ns", |drawing| drawing.dot(7, (500.0, 40.0)));
    drawing.legend(60.0, 100.0, &["first".to_owned(), "second".to_owned()]);
    drawing.finish(name, "A line that rises, and a mark of each series.")
}

struct Small;

impl Facts for Small {
    fn text(&self, style: Style) -> String {
        let document = document();
        if !style.colour {
            return plain::render(&document, style.width);
        }
        // Only tables are coloured, within the texts of other subjects.
        let (mut tables, numbers) = (vec![], Numbers::of(&document));
        look(&document, &mut |node| {
            if let Node::Block(Block::Table(table)) = node {
                tables.push(plain::table(table, &numbers, style));
            }
        });
        tables.join("\n")
    }

    fn json(&self) -> String {
        "{\"data\": \"</script>\"}\n".to_owned()
    }
}

impl Subject for Small {
    fn document(&self) -> Document {
        document()
    }

    fn rows(&self) -> String {
        String::new()
    }

    fn embedded(&self) -> Option<String> {
        Some(self.json())
    }
}

/// The file that has a form as it was reviewed; none of the data, which are not written from a document.
fn file_of(form: Form) -> Option<&'static str> {
    match form {
        Form::Text => Some("document.txt"),
        Form::Html => Some("document.html"),
        Form::Markdown => Some("document.md"),
        Form::Latex => Some("document.tex"),
        Form::Synopsis => Some("document-synopsis.md"),
        Form::Picture | Form::Json | Form::Csv => None,
    }
}

/// A page without what is in `style.css` and `page.js`, and without their hashes.
fn without_style_and_script(page: &str) -> String {
    let cut = |text: &str, opening: &str, closing: &str| {
        let (before, rest) = text.split_once(opening).expect(opening);
        let (_, after) = rest.split_once(closing).expect(closing);
        format!("{before}{opening}…{closing}{after}")
    };
    let page = cut(&cut(page, "<style>", "</style>"), "<script>", "</script>");
    cut(&cut(&page, "style-src '", "'"), "script-src '", "'")
}

#[test]
fn every_form_writes_every_block_as_it_was_reviewed() {
    let style = |width, colour| Style { width, colour };
    for form in Form::value_variants() {
        let text = render(&Small, *form, style(80, false));
        let text = if *form == Form::Html { without_style_and_script(&text) } else { text };
        if let Some(file) = file_of(*form) {
            golden(file, &text);
        }
    }
    for (form, file) in [(Form::Markdown, "document-appendix.md"), (Form::Latex, "document-appendix.tex")] {
        golden(file, &appendix(&Small, form).expect("an appendix"));
    }
    golden("document-narrow.txt", &render(&Small, Form::Text, style(40, false)));
    golden("document-colour.txt", &render(&Small, Form::Text, style(80, true)));
}

/// A part of a document.
enum Node<'a> {
    Section(&'a Section),
    Block(&'a Block),
    Text(&'a Text),
}

type See<'a, 'see> = dyn FnMut(Node<'a>) + 'see;

fn look<'a>(document: &'a Document, see: &mut See<'a, '_>) {
    document.front.iter().chain(&document.sections).for_each(|section| look_at_section(section, see));
}

fn look_at_section<'a>(section: &'a Section, see: &mut See<'a, '_>) {
    see(Node::Section(section));
    see(Node::Text(&section.title));
    section.blocks.iter().for_each(|block| look_at(block, see));
    section.sections.iter().for_each(|part| look_at_section(part, see));
}

fn look_at<'a>(block: &'a Block, see: &mut See<'a, '_>) {
    see(Node::Block(block));
    match block {
        Block::Paragraph(text) | Block::Aside(_, text) | Block::Question(text) => see(Node::Text(text)),
        Block::List(items) => items.iter().for_each(|item| see(Node::Text(item))),
        Block::Table(table) => {
            table.columns.iter().for_each(|column| see(Node::Text(&column.head)));
            table.cells().for_each(|cell| see(Node::Text(cell)));
        }
        Block::Folded { blocks, .. } => blocks.iter().for_each(|block| look_at(block, see)),
        Block::Figure(_) | Block::Heading(_) | Block::Listing(_) | Block::Works => {}
    }
}

/// The kinds that a document has.
fn kinds_of(document: &Document) -> BTreeSet<&'static str> {
    let mut kinds = BTreeSet::new();
    look(document, &mut |node| match node {
        Node::Section(section) => drop(kinds.insert(numbering(&section.numbering))),
        Node::Text(text) => {
            for one in text.pieces() {
                kinds.insert(piece(one));
                match one {
                    Piece::Toned(of, _) => drop(kinds.insert(tone(of))),
                    Piece::Sign(of) => drop(kinds.insert(sign(of))),
                    _ => {}
                }
            }
        }
        Node::Block(one) => {
            kinds.insert(block(one));
            if let Block::Table(table) = one {
                kinds.extend(table.columns.iter().map(|column| align(&column.align)));
                kinds
                    .extend(table.groups.iter().flat_map(|group| &group.rows).map(|row| weight(&row.weight)));
            }
        }
    });
    kinds
}

#[test]
fn the_small_document_has_every_kind_of_everything() {
    let all = [BLOCKS, PIECES, TONES, SIGNS, ALIGNS, WEIGHTS, NUMBERINGS];
    let all: BTreeSet<&str> = all.into_iter().flatten().copied().collect();
    assert_eq!(kinds_of(&document()), all);
    assert_eq!(document().dangling(), []);
}
