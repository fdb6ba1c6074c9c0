//! Text cut to the available room.

use crate::text::{Style, clean, display_width, lines};

/// The most lines of a sentence: a name in a run file may be of any length.
const MOST_OF_ONE: usize = 2;

/// Text in at most [`MOST_OF_ONE`] lines of the style's width, the first behind `lead`, the others below its text.
pub(super) fn clipped(lead: &str, text: &str, style: Style) -> String {
    let indent = display_width(lead);
    let room = style.width.saturating_sub(indent).max(20);
    let all = lines(&clean(text), room);
    let mut shown: Vec<String> = all.iter().take(MOST_OF_ONE).map(|line| cut(line, room)).collect();
    if let Some(last) = shown.last_mut().filter(|_| all.len() > MOST_OF_ONE) {
        *last = cut(&format!("{last} …"), room);
    }
    format!("{lead}{}\n", shown.join(&format!("\n{}", " ".repeat(indent))))
}

/// A line of at most `room` letters; a longer one ends in an ellipsis.
pub(super) fn cut(line: &str, room: usize) -> String {
    if display_width(line) <= room {
        return line.to_owned();
    }
    let kept: String = line.trim_end_matches(" …").chars().take(room.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}
