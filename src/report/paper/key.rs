//! Names of places in a document.

/// The name of a place in a document, of small letters, digits and hyphens only: it becomes part of an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(String);

impl Key {
    /// Anything else in the name becomes a hyphen.
    pub fn of(name: &str) -> Self {
        let usable = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        Key(name.chars().map(|letter| if usable(letter) { letter } else { '-' }).collect())
    }

    /// The place of this number among alike ones.
    pub fn numbered(name: &str, number: usize) -> Self {
        Key::of(&format!("{name}-{number}"))
    }

    /// Another place that belongs to this one.
    #[must_use]
    pub fn within(&self, name: &str) -> Self {
        Key::of(&format!("{}-{name}", self.0))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}
