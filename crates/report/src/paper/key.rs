//! Names of places in a document.

/// The name of a place in a document, of lower-case letters, digits and hyphens only: it becomes part of an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(String);

impl Key {
    /// A key of this name, with any other character replaced by a hyphen.
    pub fn of(name: &str) -> Self {
        let usable = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        Key(name.chars().map(|letter| if usable(letter) { letter } else { '-' }).collect())
    }

    /// The place with this number among places of the same name.
    pub fn numbered(name: &str, number: usize) -> Self {
        Key::of(&format!("{name}-{number}"))
    }

    /// A place that belongs to this one.
    #[must_use]
    pub fn within(&self, name: &str) -> Self {
        Key::of(&format!("{}-{name}", self.0))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}
