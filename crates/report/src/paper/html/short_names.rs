//! Second anchors of sections, by the name of the experiment alone: `#context_switch` beside `#cpu-context_switch`.

use crate::paper::{Document, Section};
use std::collections::BTreeMap;

/// The anchors of the page itself.
const OWN: [&str; 3] = ["contents", "appendix", "notes"];

/// The names that one section alone has.
pub(super) struct ShortNames<'a>(BTreeMap<&'a str, usize>);

impl<'a> ShortNames<'a> {
    /// The names of a document, each with the number of sections that it may be of.
    pub fn of(document: &'a Document) -> Self {
        let mut names: BTreeMap<&str, usize> = OWN.into_iter().map(|name| (name, 2)).collect();
        let mut waiting: Vec<&Section> = document.front.iter().chain(&document.sections).collect();
        while let Some(section) = waiting.pop() {
            let whole = section.key.name();
            // A section's own name is never another one's second.
            *names.entry(whole).or_default() += 2;
            *names.entry(short(whole).unwrap_or(whole)).or_default() += 1;
            waiting.extend(&section.sections);
        }
        ShortNames(names)
    }

    /// The second anchor of a section; `None` if it has none, or if it is not the only one that would have it.
    pub fn of_section(&self, section: &'a Section) -> Option<&'a str> {
        short(section.key.name()).filter(|name| self.0.get(name) == Some(&1))
    }
}

/// The name of an experiment without its family's.
fn short(name: &str) -> Option<&str> {
    let (_, short) = name.split_once('-')?;
    let usable = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    (!short.is_empty() && short.chars().all(usable)).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Key;

    #[test]
    fn a_name_that_two_sections_would_have_is_nobodys() {
        let section = |name: &str| Section::new(Key::of(name), "title");
        let mut document = Document::new("x".to_owned());
        document.front.push(section("summary"));
        let names =
            ["cpu-context_switch", "memory-bandwidth", "network-bandwidth", "cpu-notes", "cpu-summary"];
        let parts: Vec<Section> = names.into_iter().map(section).collect();
        document.sections.extend(parts);
        let short = ShortNames::of(&document);
        let of: Vec<Option<&str>> = document.sections.iter().map(|one| short.of_section(one)).collect();
        assert_eq!(of, [Some("context_switch"), None, None, None, None]);
    }
}
