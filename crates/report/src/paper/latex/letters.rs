//! Text escaped for LaTeX.

use crate::text::clean;

/// Longer words may be broken at the joints of a name, and the longest anywhere.
const LONG: usize = 14;

/// Text escaped for LaTeX, with the special characters of this program's tables in LaTeX's form.
pub(super) fn plain(text: &str) -> String {
    broken(&clean(text), sign)
}

pub(super) fn code(text: &str) -> String {
    broken(&clean(text), |letter| if letter == '\'' { Some("\\textquotesingle{}") } else { sign(letter) })
}

/// Characters of which LaTeX joins two in a row.
const JOINED: &str = "-',";

/// Every character converted by `sign`, with possible line ends in long words.
fn broken(text: &str, sign: impl Fn(char) -> Option<&'static str>) -> String {
    let mut safe = String::new();
    for word in text.split_inclusive(' ') {
        let is_long = word.chars().count() > LONG;
        let (mut since, mut before) = (0, ' ');
        for letter in word.chars() {
            if letter == before && JOINED.contains(letter) {
                safe.push_str("{}");
            }
            before = letter;
            match sign(letter) {
                Some(written) => safe.push_str(written),
                None if is_known(letter) => safe.push(letter),
                None => safe.push('?'),
            }
            since += 1;
            if is_long && letter != ' ' && ("/_-=:.,;|·".contains(letter) || since > LONG) {
                safe.push_str("\\allowbreak{}");
                since = 0;
            }
        }
    }
    safe
}

/// Whether a character is in the encodings that the document loads (UTF-8 in, T1 out) and has no special meaning.
fn is_known(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || " .,:;!?()+=*/'@-".contains(letter) || ('À'..='ÿ').contains(&letter)
}

/// The LaTeX form of a character; `None` if it is written unchanged, or is unknown.
fn sign(letter: char) -> Option<&'static str> {
    Some(match letter {
        '&' => "\\&",
        '%' => "\\%",
        '$' => "\\$",
        '#' => "\\#",
        '_' => "\\_",
        '{' => "\\{",
        '}' => "\\}",
        '\\' => "\\textbackslash{}",
        '~' => "\\textasciitilde{}",
        '^' => "\\textasciicircum{}",
        '[' => "{[}",
        ']' => "{]}",
        '<' => "\\textless{}",
        '>' => "\\textgreater{}",
        '|' => "\\textbar{}",
        '"' => "\\textquotedbl{}",
        '`' => "\\`{}",
        'µ' | 'μ' => "$\\mu$",
        '†' => "\\dag{}",
        '‡' => "\\ddag{}",
        '‖' => "$\\|$",
        '×' => "$\\times$",
        '÷' => "$\\div$",
        '±' => "$\\pm$",
        'λ' => "$\\lambda$",
        '·' => "$\\cdot$",
        '∗' => "$\\ast$",
        '–' => "--",
        '—' | '─' => "---",
        '…' => "\\dots{}",
        '−' => "$-$",
        '≤' => "$\\leq$",
        '≥' => "$\\geq$",
        '≈' => "$\\approx$",
        '←' => "$\\leftarrow$",
        '→' => "$\\rightarrow$",
        '√' => "$\\surd$",
        '²' => "$^2$",
        '³' => "$^3$",
        '°' => "$^{\\circ}$",
        '®' => "\\textregistered{}",
        '™' => "\\texttrademark{}",
        '“' => "``",
        '”' => "''",
        '‘' => "`",
        '’' => "'",
        '✓' => "\\ding{51}",
        '✗' => "\\ding{55}",
        '§' => "\\S{}",
        '¶' => "\\P{}",
        '\u{a0}' | '\u{202f}' => "~",
        // What keeps an address from becoming a link in Markdown has no width.
        '\u{200b}' => "",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    #[test]
    fn a_name_cannot_become_a_command() {
        assert_eq!(plain("\\input{x} & 5 % a_b"), "\\textbackslash{}input\\{x\\} \\& 5 \\% a\\_b");
        assert_eq!(plain("3 µs × 2 ÷ 4 ≈ 1.5"), "3 $\\mu$s $\\times$ 2 $\\div$ 4 $\\approx$ 1.5");
        assert_eq!(plain("a larger --budget"), "a larger -{}-budget");
    }

    #[test]
    fn a_long_name_may_be_broken_at_its_joints_and_the_longest_anywhere() {
        assert_eq!(plain("memory/parallel_bandwidth").matches("\\allowbreak{}").count(), 2);
        assert_eq!(plain(&"x".repeat(60)).matches("\\allowbreak{}").count(), 4);
        assert!(!plain("a short/word of these").contains("break"));
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    /// The characters in the texts of a source file, written as they are or by their numbers.
    fn letters(source: &str) -> BTreeSet<char> {
        let by_number = source.split("\\u{").skip(1).filter_map(|rest| rest.split('}').next());
        let by_number = by_number.filter_map(|number| char::from_u32(u32::from_str_radix(number, 16).ok()?));
        source.chars().chain(by_number).collect()
    }

    /// The text of a report comes from the sources, from the published data of other machines, and from the machine's
    /// description.
    #[test]
    fn every_letter_that_a_report_holds_has_a_form() {
        // The bars of a history on a terminal, the back link of a page, a space that is looked for and never written, and the replacement
        // character.
        let elsewhere = ['█', '↩', '\u{2009}', '\u{fffd}'];
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let all: Vec<PathBuf> = ["src", "crates"].map(|name| files(&root.join(name))).concat();
        let mut lost = BTreeSet::new();
        for path in &all {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let written = letters(&lines.join("\n")).into_iter().filter(|letter| !elsewhere.contains(letter));
            lost.extend(written.filter(|letter| {
                clean(&letter.to_string()) == letter.to_string()
                    && *letter != '?'
                    && plain(&letter.to_string()) == "?"
            }));
        }
        assert!(all.len() > 300 && lost.is_empty(), "{lost:?}");
    }
}
