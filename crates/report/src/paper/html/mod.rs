//! A document as one self-contained HTML page: it needs no network, no font, and no script to be complete.
//!
//! Names and messages in a run file may be hostile. Three measures keep them out: only literals of this program become
//! markup, everything else is escaped (in `writer`); the data inside the page have no `<`; and the page's own policy allows
//! only this program's script and style, by their hashes.

mod block;
mod short_names;
mod spoken;
#[cfg(test)]
mod contrast;
mod table;
mod text;
mod writer;

use super::numbers::{Numbers, Target};
use super::{Document, Section};
use short_names::ShortNames;
use writer::{Writer, policy};

/// The style of drawings, also outside of a page.
pub(super) const FIGURE_STYLES: &str = concat!(include_str!("colours.css"), include_str!("figure.css"));
const STYLE: &str =
    concat!(include_str!("colours.css"), include_str!("figure.css"), include_str!("style.css"));
const SCRIPT: &str = include_str!("page.js");

/// The whole page; with `data`, the same as JSON embedded for programs.
pub fn render(document: &Document, data: Option<&str>) -> String {
    let (numbers, short_names) = (Numbers::of(document), ShortNames::of(document));
    let mut page = Page { out: Writer::default(), numbers, short_names, level: 2, title: String::new() };
    page.head(document);
    page.out.raw("<main>\n");
    for section in &document.front {
        page.section(section, 2);
    }
    page.contents(document);
    for section in &document.sections {
        page.section(section, 2);
    }
    page.notes();
    page.out.raw("</main>\n<footer><p>").text(&document.foot).raw("</p></footer>\n");
    if let Some(json) = data {
        page.out.raw("<script type=\"application/json\" id=\"fathom-data\">").json(json).raw("</script>\n");
    }
    page.out.raw("<script>").raw(SCRIPT).raw("</script>\n</body>\n</html>\n");
    page.out.finish()
}

/// A time for people: `2026-11-26 04:30:16 UTC` of `2026-11-26T04:30:16Z`; anything else as it is.
fn read_out(time: &str) -> String {
    match time.strip_suffix('Z').and_then(|time| time.split_once('T')) {
        Some((day, hour)) => format!("{day} {hour} UTC"),
        None => time.to_owned(),
    }
}

struct Page<'a> {
    out: Writer,
    numbers: Numbers<'a>,
    short_names: ShortNames<'a>,
    /// The heading level of the current section.
    level: usize,
    /// The title of the current section.
    title: String,
}

impl Page<'_> {
    fn head(&mut self, document: &Document) {
        self.out.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        self.out.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
        self.out.policy(&policy(STYLE, SCRIPT));
        self.out.raw(
            "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
        );
        self.out.text(&document.title);
        let date = read_out(&document.date);
        if !date.is_empty() {
            self.out.raw(", ").text(&date);
        }
        self.out.raw("</title>\n<style>").raw(STYLE).raw("</style>\n</head>\n<body>\n");
        self.out.raw("<a class=\"skip\" href=\"#contents\">Skip to the contents</a>\n<header>\n");
        if !document.kind.is_empty() {
            self.out.raw("<p class=\"kind\">").text(&document.kind).raw("</p>\n");
        }
        self.out.raw("<h1>").text(&document.title).raw("</h1>\n");
        if !document.date.is_empty() {
            self.out.raw("<p class=\"when\"><time datetime=\"").text(&document.date).raw("\">");
            self.out.text(&date).raw("</time></p>\n");
        }
        self.out.raw("</header>\n");
    }

    fn contents(&mut self, document: &Document) {
        self.out.raw("<nav id=\"contents\" aria-labelledby=\"contents-h\" tabindex=\"-1\">\n");
        self.out.raw("<h2 id=\"contents-h\">Contents</h2>\n");
        self.entries(&document.sections);
        self.out.raw("</nav>\n");
        if document.has_appendix() {
            self.out.raw(
                "<p id=\"appendix\">The folded parts form the appendix: every fact, row, derivation and piece of evidence. Its tables \
                 and figures are numbered A1, A2 and so on. Only parts that you have opened are printed.</p>\n",
            );
        }
    }

    fn entries(&mut self, sections: &[Section]) {
        self.out.raw("<ol class=\"contents\">\n");
        for section in sections {
            self.out.raw("<li><a href=\"#").anchor(section.key.name()).raw("\">");
            self.counted(section);
            self.out.raw("</a>");
            if !section.sections.is_empty() {
                self.entries(&section.sections);
            }
            self.out.raw("</li>\n");
        }
        self.out.raw("</ol>\n");
    }

    /// Writes the number and the heading.
    fn counted(&mut self, section: &Section) {
        let number = self.numbers.of_section(section).to_owned();
        if !number.is_empty() {
            self.out.raw("<span class=\"no\">").text(&number).raw("</span> ");
        }
        self.phrase(&section.title);
    }

    fn section(&mut self, section: &Section, level: usize) {
        let anchor = section.key.name();
        let (open, close) = [("<h2 id=\"", "</h2>\n"), ("<h3 id=\"", "</h3>\n"), ("<h4 id=\"", "</h4>\n")]
            [level.clamp(2, 4) - 2];
        self.out.raw("<section id=\"").anchor(anchor).raw("\" aria-labelledby=\"").anchor(anchor);
        self.out.raw("-h\">\n");
        if let Some(name) = self.short_names.of_section(section) {
            self.out.raw("<a id=\"").anchor(name).raw("\"></a>");
        }
        self.out.raw(open).anchor(anchor).raw("-h\">");
        self.counted(section);
        self.out.raw(close);
        self.level = level;
        self.title = section.title.words();
        self.blocks(&section.blocks);
        for part in &section.sections {
            self.section(part, level + 1);
        }
        self.out.raw("</section>\n");
    }

    fn notes(&mut self) {
        if self.numbers.notes().is_empty() {
            return;
        }
        self.out
            .raw("<section id=\"notes\" aria-labelledby=\"notes-h\">\n<h2 id=\"notes-h\">Notes</h2>\n<ol>\n");
        for (place, note) in self.numbers.notes().to_vec().into_iter().enumerate() {
            self.out.raw("<li id=\"note-").number(place + 1).raw("\">");
            self.phrase(note);
            self.out
                .raw(" <a href=\"#noted-")
                .number(place + 1)
                .raw("\" aria-label=\"back to the text\">↩</a></li>\n");
        }
        self.out.raw("</ol>\n</section>\n");
    }

    /// Writes the address of a place in this page.
    fn address(&mut self, key: &super::Key, place: &Target) {
        match place {
            Target::Section(_) => self.out.anchor(key.name()),
            Target::Table(number) => self.out.raw("table-").text(&number.to_string()),
            Target::Figure(number) => self.out.raw("figure-").text(&number.to_string()),
        };
    }
}
