//! Text for terminals: wrapped, coloured, and without control characters, which a run file may contain.

use anstyle::{AnsiColor, Style as Paint};
pub use fathom_core::message::clean;
pub(super) use fathom_core::message::is_unsafe;
use std::path::Path;
pub(super) use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether escape sequences may be written.
    pub colour: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: 100, colour: false }
    }
}

impl Style {
    pub(super) fn title(self, text: &str) -> String {
        self.paint(text, Paint::new().bold())
    }

    pub(super) fn good(self, text: &str) -> String {
        self.paint(text, AnsiColor::Green.on_default())
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.paint(text, AnsiColor::Red.on_default().bold())
    }

    /// A text that needs caution.
    pub(super) fn careful(self, text: &str) -> String {
        self.paint(text, AnsiColor::Yellow.on_default())
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint(text, Paint::new().dimmed())
    }

    fn paint(self, text: &str, paint: Paint) -> String {
        if self.colour { format!("{paint}{text}{paint:#}") } else { text.to_owned() }
    }

    /// Text in lines no longer than the width: the first behind `lead`, the others below its text.
    pub fn wrapped(self, lead: &str, text: &str) -> String {
        let indent = display_width(lead);
        let room = self.width.saturating_sub(indent).max(20);
        let gap = format!("\n{}", " ".repeat(indent));
        format!("{lead}{}\n", lines(&clean(text), room).join(&gap))
    }
}

/// The written files with their names, a line for each.
pub(super) fn places(files: &[(&str, &Path)], style: Style) -> String {
    let width = files.iter().map(|(what, _)| what.len() + 1).max().unwrap_or(0);
    let line = |(what, place): &(&str, &Path)| {
        format!("{:width$} {}\n", format!("{what}:"), clean(&place.display().to_string()))
    };
    let lines: String = files.iter().map(line).collect();
    if lines.is_empty() { lines } else { style.faint(lines.trim_end()) + "\n" }
}

/// Lines of code, each cleaned and ended by a line feed.
pub(crate) fn cleaned(lines: &str) -> String {
    lines.lines().map(|line| clean(line) + "\n").collect()
}

/// Adds text escaped for HTML and XML, without the characters that control terminals or reverse letters.
pub(super) fn escape(out: &mut String, words: &str) {
    for letter in words.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter if is_unsafe(letter) => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
}

/// A per cent that no line ends before.
const BOUND: &str = "\u{a0}%";

/// Words in lines of at most `room` columns; a longer word has its own line.
pub(super) fn lines(text: &str, room: usize) -> Vec<String> {
    let options = Options::new(room)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    // A number keeps its per cent.
    let bound = text.replace(" %", BOUND);
    textwrap::wrap(&bound, options).into_iter().map(|line| line.replace(BOUND, " %")).collect()
}

/// The most lines of a sentence: a name in a run file may be of any length.
const MOST_OF_ONE: usize = 2;

/// Text in at most [`MOST_OF_ONE`] lines of the style's width, the first behind `lead`, the others below its text.
pub(super) fn clipped(lead: &str, text: &str, style: Style) -> String {
    clipped_to(MOST_OF_ONE, lead, text, style)
}

/// The same in at most this many lines.
pub(super) fn clipped_to(most: usize, lead: &str, text: &str, style: Style) -> String {
    clipped_with(ELLIPSIS, most, lead, text, style)
}

/// The same with this ending where a part is left out: clauses, where those that remain fill half of the room, else words.
pub(super) fn clipped_with(ending: &str, most: usize, lead: &str, text: &str, style: Style) -> String {
    let indent = display_width(lead);
    let room = style.width.saturating_sub(indent).max(20);
    let text = clean(text);
    let whole = lines(&text, room);
    let is_long = whole.len() > most;
    let clauses = if is_long { whole_clauses(&text, ending, most, room) } else { None };
    let all = clauses.map_or(whole, |clauses| lines(&clauses, room));
    let mut shown: Vec<String> = all.iter().take(most).map(|line| cut(line, room)).collect();
    if let Some(last) = shown.last_mut().filter(|_| all.len() > most) {
        *last = ended(last.trim_end_matches(ELLIPSIS), room, ending);
    }
    format!("{lead}{}\n", shown.join(&format!("\n{}", " ".repeat(indent))))
}

/// The clauses at the beginning of a text that fit into so many lines with this ending, whole sentences and parts before whole phrases; `None`
/// if they are less than half of what has room.
fn whole_clauses(text: &str, ending: &str, most: usize, room: usize) -> Option<String> {
    let is_whole = |part: &str| part.matches('(').count() == part.matches(')').count();
    let fits = |part: &str| lines(&format!("{part}{ending}"), room).len() <= most;
    let is_enough = |part: &str| 2 * display_width(part) > most * room;
    let longest = |ends: &[&str]| {
        let places = ends.iter().flat_map(|end| text.match_indices(end));
        let parts = places.map(|(place, _)| &text[..place]);
        parts.filter(|part| is_whole(part) && fits(part) && is_enough(part)).max_by_key(|part| part.len())
    };
    longest(&[". ", "; ", ": "]).or_else(|| longest(&[", "])).map(|part| format!("{part}{ending}"))
}

/// A line of at most `room` letters; a longer one ends after a word and an ellipsis.
pub(super) fn cut(line: &str, room: usize) -> String {
    if display_width(line) <= room { line.to_owned() } else { ended(line, room, ELLIPSIS) }
}

/// What stands between the parts of the label of a point.
const PARTS: &str = " · ";

/// Names in this room, of which unlike ones stay unlike: those that begin alike are cut in the middle, and of those that end alike too only
/// the parts remain that they do not share.
pub(super) fn distinct_names(names: &[String], room: usize) -> Vec<String> {
    let of_all = |cut: fn(&str, usize) -> String| names.iter().map(|name| cut(name, room)).collect();
    let (ends, middles): (Vec<String>, Vec<String>) = (of_all(cut), of_all(cut_within));
    let like = |short: &[String], place: usize| -> Vec<usize> {
        let is_like = |other: &usize| short[*other] == short[place] && names[*other] != names[place];
        (0..names.len()).filter(is_like).collect()
    };
    let name = |place: usize| {
        if like(&ends, place).is_empty() {
            return ends[place].clone();
        }
        let alike = like(&middles, place);
        if alike.is_empty() {
            return middles[place].clone();
        }
        let is_shared =
            |part: &str| alike.iter().all(|other| names[*other].split(PARTS).any(|of| of == part));
        let parts: Vec<&str> = names[place].split(PARTS).filter(|part| !is_shared(part)).collect();
        cut(&format!("… {}", parts.join(PARTS)), room)
    };
    (0..names.len()).map(name).collect()
}

/// A name without its middle: its first words and its last ones.
fn cut_within(name: &str, room: usize) -> String {
    let words: Vec<&str> = name.split(' ').collect();
    let shown = |first: usize, last: usize| {
        format!("{} … {}", words[..first].join(" "), words[words.len() - last..].join(" "))
    };
    let fits =
        |first: usize, last: usize| first + last < words.len() && display_width(&shown(first, last)) <= room;
    let last = (1..words.len()).rev().find(|last| fits(1, *last)).unwrap_or(0);
    let last = last.min(words.len().div_ceil(2));
    match (1..words.len()).rev().find(|first| last > 0 && fits(*first, last)) {
        _ if display_width(name) <= room => name.to_owned(),
        Some(first) => shown(first, last),
        None => cut(name, room),
    }
}

/// Marks that something is left out.
const ELLIPSIS: &str = " …";

/// The words of a line that leave room for an ending, without the punctuation of the last; the beginning of a word that is longer
/// than the line.
fn ended(line: &str, room: usize, ending: &str) -> String {
    let words_end = room.saturating_sub(display_width(ending));
    let fitting: String = line.chars().take(words_end + 1).collect();
    let words = if display_width(line) <= words_end {
        line
    } else {
        fitting.rsplit_once(' ').map_or("", |(words, _)| words)
    };
    let words = words.trim_end_matches(|letter: char| letter.is_whitespace() || ".,;:·(–".contains(letter));
    match words {
        "" => line.chars().take(room.saturating_sub(1)).collect::<String>() + "…",
        words => words.to_owned() + ending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_keeps_its_lines_and_commands_nobody() {
        assert_eq!(cleaned("fn a() {\n    \u{1b}[2J\n}"), "fn a() {\n    \u{fffd}[2J\n}\n");
    }

    #[test]
    fn a_line_is_cut_after_a_word_and_has_one_mark_at_its_end() {
        assert_eq!(cut("one two three", 13), "one two three");
        assert_eq!(cut("one two three", 12), "one two …");
        assert_eq!(cut("one two, three", 12), "one two …");
        assert_eq!(cut("onetwothree", 6), "onetw…");
        let style = Style { width: 24, colour: false };
        assert_eq!(
            clipped("- ", "the first did not. The second line is longer. The third", style),
            "- the first did not. The\n  second line is …\n"
        );
        assert_eq!(clipped_to(1, "- ", "the first did not. The second", style), "- the first did not …\n");
        let more = |text: &str| clipped_with(" … (more)", 1, "- ", text, style);
        assert_eq!(more("the first did not. The second"), "- the first did … (more)\n");
        assert_eq!(more("the first did not."), "- the first did not.\n");
    }

    #[test]
    fn a_sentence_is_cut_between_its_clauses_and_not_in_its_numbers() {
        let style = Style { width: 42, colour: false };
        let text =
            "An exit takes 1.74 µs, 4.96 times (351 ns, published): the guest is probably nested, as it says";
        assert_eq!(
            clipped_to(2, "- ", text, style),
            "- An exit takes 1.74 µs, 4.96 times (351\n  ns, published) …\n"
        );
    }

    #[test]
    fn no_line_begins_with_a_per_cent() {
        assert_eq!(lines("less than 43.4 % may", 14), ["less than", "43.4 % may"]);
    }

    #[test]
    fn long_text_is_wrapped_below_its_lead() {
        let style = Style { width: 30, colour: false };
        let text = style.wrapped("  reason: ", "one two three four five six");
        assert_eq!(text, "  reason: one two three four\n          five six\n");
    }

    #[test]
    fn names_that_begin_alike_keep_their_ends_and_of_those_that_end_alike_what_differs() {
        let distinct = |names: &[&str], room| {
            distinct_names(&names.iter().map(ToString::to_string).collect::<Vec<_>>(), room)
        };
        let loops = ["loop: each iteration, in memory", "loop: each iteration, in a register", "other"];
        assert_eq!(distinct(&loops, 22), ["loop: each … in memory", "loop: … in a register", "other"]);
        assert_eq!(distinct(&loops, 80), loops);
        let alike = ["cold · in order · read · file 64 KiB", "cold · in order · mmap · file 64 KiB"];
        assert_eq!(distinct(&alike, 20), ["… read", "… mmap"]);
    }
}
