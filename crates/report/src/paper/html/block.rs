//! The blocks of a section.

use super::Page;
use super::text::class;
use crate::paper::{Block, Figure, Text};

/// The number of blocks at the beginning for which this holds.
fn run_of(blocks: &[Block], holds: fn(&Block) -> bool) -> usize {
    blocks.iter().take_while(|block| holds(block)).count()
}

impl Page<'_> {
    /// Writes the blocks one after the other. Below a question, figures and the paragraphs before them are one: they stand beside each
    /// other on paper.
    pub(super) fn blocks(&mut self, blocks: &[Block]) {
        let question = blocks.iter().position(|block| matches!(block, Block::Question(_)));
        let (head, rest) = blocks.split_at(question.map_or(0, |place| place + 1));
        self.each(head);
        let text = run_of(rest, |block| matches!(block, Block::Paragraph(_)));
        let figures = run_of(&rest[text..], |block| matches!(block, Block::Figure(_)));
        if question.is_none() || figures == 0 {
            return self.each(rest);
        }
        self.out.raw("<div class=\"beside\"><div>\n");
        self.each(&rest[..text]);
        self.out.raw("</div>\n");
        self.each(&rest[text..text + figures]);
        self.out.raw("</div>\n");
        self.each(&rest[text + figures..]);
    }

    fn each(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) => self.within("<p>", text, "</p>\n"),
            Block::Aside(tone, text) => {
                self.out.raw("<p class=\"aside ").raw(class(*tone));
                self.within("\">", text, "</p>\n");
            }
            Block::Question(text) => self.within("<p class=\"question\">", text, "</p>\n"),
            Block::Heading(heading) => {
                // One level below the heading of the section, so that no level is skipped.
                let (open, close) = match self.level {
                    2 => ("<h3 class=\"part\" aria-label=\"", "</h3>\n"),
                    _ => ("<h4 class=\"part\" aria-label=\"", "</h4>\n"),
                };
                // Each experiment has a part of this name: in a list of headings it says of which.
                self.out.raw(open).text(&self.title).raw(": ").text(heading).raw("\">");
                self.out.text(heading).raw(close);
            }
            Block::List(items) => self.list(items),
            Block::Listing(lines) => {
                self.out.raw("<pre><code>");
                for line in lines.lines() {
                    self.out.text(line).raw("\n");
                }
                self.out.raw("</code></pre>\n");
            }
            Block::Table(table) => self.table(table),
            Block::Figure(figure) => self.figure(figure),
            Block::Folded { summary, appendix, open, blocks } => {
                self.out.raw(match (appendix, open) {
                    (true, _) => "<details class=\"long\"><summary>",
                    (_, true) => "<details open><summary>",
                    _ => "<details><summary>",
                });
                self.phrase(summary);
                self.out.raw("</summary>\n");
                self.blocks(blocks);
                self.out.raw("</details>\n");
            }
            Block::Works => self.works(),
        }
    }

    fn within(&mut self, before: &'static str, text: &Text, after: &'static str) {
        self.out.raw(before);
        self.phrase(text);
        self.out.raw(after);
    }

    fn list(&mut self, items: &[Text]) {
        self.out.raw("<ul>\n");
        for item in items {
            self.within("<li>", item, "</li>\n");
        }
        self.out.raw("</ul>\n");
    }

    fn figure(&mut self, figure: &Figure) {
        let number = &self.numbers.number(&figure.key).to_string();
        self.out.raw("<figure id=\"figure-").text(number).raw("\">\n");
        self.out
            .raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Figure ")
            .text(number)
            .raw("\">");
        self.out.drawing(&figure.drawing, number, false);
        if let Some(otherwise) = &figure.otherwise {
            self.out.raw("<div class=\"otherwise\" data-first=\"").text(figure.spread).raw("\" hidden>");
            self.out.drawing(otherwise, &format!("{number}-otherwise"), false).raw("</div>");
        }
        self.out.raw("</div>\n<figcaption><b>Figure ").text(number).raw(".</b> ");
        self.phrase(&figure.caption);
        if let Some(data) = &figure.data {
            self.out.raw(" Data: ");
            self.phrase(&Text::to(data).and("."));
        }
        self.out.raw("</figcaption>\n</figure>\n");
    }

    fn works(&mut self) {
        let works: Vec<String> = self.numbers.works().iter().map(|work| (*work).to_owned()).collect();
        self.out.raw("<ol class=\"references\">\n");
        for (place, work) in works.iter().enumerate() {
            let class = if place < self.numbers.works_on_paper() { "" } else { " class=\"on-page\"" };
            self.out.raw("<li id=\"reference-").number(place + 1).raw("\"").raw(class).raw(">");
            self.out.text(work).raw("</li>\n");
        }
        self.out.raw("</ol>\n");
    }
}
