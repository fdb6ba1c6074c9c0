//! Messages on standard error, and what a terminal may see of any text.
//!
//! Names in a run file, of files and of hosts are chosen by others: a letter that commands the terminal is shown as one that
//! does not.

use std::fmt::Display;
use std::io::Write;

/// The text with a capital first letter, for sentences that begin with a name.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Prints a message on standard error. It cannot fail: standard error may be closed, on a full disk, or a terminal that has
/// gone, and what is measured must not end for that.
pub fn tell(words: impl Display) {
    let line = shown(&words.to_string()) + "\n";
    // In one write, so that lines of several processes do not mix.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// The text without control characters and without the marks that reverse the order of letters on a screen.
pub fn clean(text: &str) -> String {
    text.chars().map(|letter| if is_unsafe(letter) { '\u{fffd}' } else { letter }).collect()
}

/// Whether a character controls a terminal: control characters, marks of direction, line ends.
pub fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// The escape sequences with which this program paints: none, bold, faint, red, green, yellow.
const PAINTS: [&str; 6] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// A text of several lines as it may be shown: [`clean`] except for line ends, tabulators and this program's own paints.
pub fn shown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_unsafe) {
        let (before, command) = rest.split_at(at);
        safe.push_str(before);
        let letter = command.chars().next().unwrap_or_default();
        let paint = PAINTS.iter().find(|paint| command.starts_with(**paint));
        let length = paint.map_or(letter.len_utf8(), |paint| paint.len());
        match (paint, letter) {
            (Some(paint), _) => safe.push_str(paint),
            (None, '\n' | '\t') => safe.push(letter),
            (None, _) => safe.push('\u{fffd}'),
        }
        rest = &command[length..];
    }
    safe + rest
}

/// JSON whose strings mean the same and in which no letter commands a terminal: each is written by its number.
pub fn escaped_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            // Line ends stand between values only: within a string they are escaped already.
            '\n' => safe.push(letter),
            letter if is_unsafe(letter) => safe.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_command_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\u{202e}c\n"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}");
        assert_eq!(clean("\u{9b}8m\u{200f}x\u{61c}"), "\u{fffd}8m\u{fffd}x\u{fffd}");
    }

    #[test]
    fn our_own_paints_and_lines_are_shown_and_no_other_command() {
        let painted = "\u{1b}[1ma\u{1b}[0m\n\tb";
        assert_eq!(shown(painted), painted);
        assert_eq!(shown("\u{1b}]0;x\u{7}\u{1b}[8m\r"), "\u{fffd}]0;x\u{fffd}\u{fffd}[8m\u{fffd}");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let name = "a\u{9b}31m\u{202e}\u{1b}\u{7f}";
        let json = serde_json::to_string(&[name]).unwrap();
        let safe = escaped_json(&json);
        assert!(!safe.contains(is_unsafe), "{safe}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&safe).unwrap(), [name]);
    }
}
