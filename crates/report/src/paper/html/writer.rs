//! The only way to write into a page: markup must be a literal of this program, and anything else is escaped.

use crate::figure::Svg;
use crate::text::{escape, is_unsafe};
use data_encoding::BASE64;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A page in progress.
#[derive(Default)]
pub(super) struct Writer(String);

impl Writer {
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Writes text from any source, escaped; also allowed between the quotes of an attribute.
    pub fn text(&mut self, words: &str) -> &mut Self {
        escape(&mut self.0, words);
        self
    }

    pub fn number(&mut self, number: usize) -> &mut Self {
        let _ = write!(self.0, "{number}");
        self
    }

    /// Writes the name of a key, which has letters, digits and hyphens only.
    pub(crate) fn anchor(&mut self, name: &str) -> &mut Self {
        self.text(name)
    }

    /// Writes a content security policy, which needs its own quotes: it contains only hashes and words of this program.
    pub fn policy(&mut self, policy: &Policy) -> &mut Self {
        self.0.push_str(policy.as_str());
        self
    }

    /// Writes JSON that cannot end the element around it: the same values, spelt without `<`.
    pub fn json(&mut self, json: &str) -> &mut Self {
        for letter in json.chars() {
            match letter {
                '<' => self.0.push_str("\\u003c"),
                '>' => self.0.push_str("\\u003e"),
                '&' => self.0.push_str("\\u0026"),
                // A line feed occurs between the values of JSON, never in one.
                letter if is_unsafe(letter) && letter != '\n' => {
                    let _ = write!(self.0, "\\u{:04x}", letter as u32);
                }
                letter => self.0.push(letter),
            }
        }
        self
    }

    /// Writes a drawing, with its name and description as text alternative. `mark` makes the ids unique within the page.
    pub fn drawing(&mut self, drawing: &Svg, mark: &str, hidden: bool) -> &mut Self {
        let (width, height) = drawing.size();
        let class = if drawing.is_broad() { "figure broad" } else { "figure" };
        let _ = write!(self.0, r#"<svg class="{class}" role="img" viewBox="0 0 {width:.0} {height:.0}""#);
        let _ = write!(self.0, r#" aria-labelledby="fig{mark}-n" aria-describedby="fig{mark}-d""#);
        self.0.push_str(if hidden { " hidden>" } else { ">" });
        let _ = write!(self.0, r#"<title id="fig{mark}-n">"#);
        self.text(&drawing.name).raw("</title>");
        let _ = write!(self.0, r#"<desc id="fig{mark}-d">"#);
        self.text(&drawing.description).raw("</desc>");
        self.0.push_str(drawing.body());
        self.raw("</svg>")
    }

    pub fn finish(self) -> String {
        self.0
    }
}

/// A content security policy, which contains only words of this program and hashes.
pub(super) struct Policy(String);

impl Policy {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A policy under which this style and this script are allowed by their hashes, and nothing else: no network, no frame, no
/// form, no other script.
pub(super) fn policy(style: &str, script: &str) -> Policy {
    Policy(format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(style),
        hash(script)
    ))
}

fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cannot_leave_their_place() {
        let mut page = Writer::default();
        page.raw("<p title=\"").text("\" onclick='x'><b>&\u{202e}\n").raw("\">");
        assert_eq!(
            page.finish(),
            "<p title=\"&quot; onclick=&#39;x&#39;&gt;&lt;b&gt;&amp;\u{fffd}\u{fffd}\">"
        );
        let mut data = Writer::default();
        data.json("{\"a\":\"</script><!--&\u{202e}\"}");
        assert_eq!(data.finish(), "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\\u202e\"}");
    }

    #[test]
    fn a_style_is_allowed_by_the_hash_that_browsers_compute() {
        // `printf '' | openssl dgst -sha256 -binary | base64`, whose result ends with padding.
        assert_eq!(hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
