//! Words as they are seen and as they are heard: a screen reader names signs, and reads a number with spaces as several.

use super::writer::Writer;
use crate::words::ABSENT;

/// Signs that stand alone, with what is said in their place.
const ALONE: [(&str, &str); 3] = [(ABSENT, "no value"), ("→", "cause:"), ("!", "caution:")];

/// Signs that stand before words that say the same.
const MUTE: [char; 2] = ['✓', '✗'];

/// Between groups of digits.
const SPACE: char = '\u{202f}';

impl Writer {
    /// Writes words outside of an attribute.
    pub(super) fn words(&mut self, words: &str) -> &mut Self {
        if let Some((sign, instead)) = ALONE.iter().find(|(sign, _)| *sign == words.trim()) {
            return self.sign(sign).raw("<span class=\"unseen\"> ").text(instead).raw("</span>");
        }
        let mut rest = words;
        while let Some(place) = rest.find(|letter: char| letter == SPACE || MUTE.contains(&letter)) {
            let (before, from) = rest.split_at(place);
            let special = from.chars().next().unwrap_or_default();
            let after = &from[special.len_utf8()..];
            self.text(before);
            match special {
                // A gap that is no letter: the number stays one, also where it is copied.
                SPACE if is_within_number(before, after) => self.raw("<span class=\"k\"></span>"),
                SPACE => self.text("\u{202f}"),
                sign => self.sign(sign.encode_utf8(&mut [0; 4])),
            };
            rest = after;
        }
        self.text(rest)
    }

    /// Writes a sign for the eye only.
    pub(super) fn sign(&mut self, sign: &str) -> &mut Self {
        self.raw("<span aria-hidden=\"true\">").text(sign).raw("</span>")
    }
}

fn is_within_number(before: &str, after: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    before.ends_with(is_digit) && after.starts_with(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(words: &str) -> String {
        let mut page = Writer::default();
        page.words(words);
        page.finish()
    }

    #[test]
    fn a_number_is_one_and_signs_are_said_in_words() {
        assert_eq!(
            written("12\u{202f}345\u{202f}678 of <b>"),
            "12<span class=\"k\"></span>345<span class=\"k\"></span>678 of &lt;b&gt;"
        );
        assert_eq!(written("5\u{202f}%"), "5\u{202f}%", "a space before a unit is read as one");
        assert_eq!(written("✓ checked"), "<span aria-hidden=\"true\">✓</span> checked");
        for (sign, instead) in ALONE {
            assert_eq!(
                written(sign),
                format!("<span aria-hidden=\"true\">{sign}</span><span class=\"unseen\"> {instead}</span>")
            );
        }
        assert_eq!(written("14–21 → 3!"), "14–21 → 3!");
    }
}
