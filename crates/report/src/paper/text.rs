//! Running text: words, some of them marked up, with references to other places and to works.

/// Running text. None of it is markup in any form.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text(Vec<Piece>);

/// A stretch of text of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Plain(String),
    Code(String),
    /// Emphasised words.
    Strong(String),
    /// Words in a special tone.
    Toned(Tone, String),
    /// The result of the evidence.
    Sign(Sign),
    /// "Table 3", with a link to it.
    To(Key),
    /// Words or code with a link to a place.
    Link {
        to: Key,
        words: String,
    },
    /// The number of a work in the list of works.
    Cite(String),
    /// A note: printed under the table that contains it, otherwise at the end.
    Note(Box<Text>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    /// Needs caution.
    Careful,
    /// Less important.
    Faint,
}

/// The result of the evidence for a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Holds,
    /// Some does not.
    Fails,
    /// No evidence was required.
    Unasked,
    /// It was measured by a method that this program does not have.
    NotJudged,
}

impl Sign {
    pub fn mark(self) -> &'static str {
        match self {
            Sign::Holds => "✓",
            Sign::Fails => "✗",
            Sign::Unasked => "–",
            Sign::NotJudged => "?",
        }
    }

    /// The text alternative of the sign.
    pub fn words(self) -> &'static str {
        match self {
            Sign::Holds => "all evidence holds",
            Sign::Fails => "some evidence does not hold",
            Sign::Unasked => "no evidence was asked for",
            Sign::NotJudged => {
                "the evidence is not judged: this program does not have the method that measured"
            }
        }
    }
}

impl Piece {
    /// The note, if it is one.
    pub(super) fn note(&self) -> Option<&Text> {
        match self {
            Piece::Note(note) => Some(note),
            _ => None,
        }
    }
}

impl Text {
    pub fn plain(words: impl Into<String>) -> Self {
        Text(vec![Piece::Plain(words.into())])
    }

    pub fn code(words: impl Into<String>) -> Self {
        Text(vec![Piece::Code(words.into())])
    }

    pub fn strong(words: impl Into<String>) -> Self {
        Text(vec![Piece::Strong(words.into())])
    }

    pub fn toned(tone: Tone, words: impl Into<String>) -> Self {
        Text(vec![Piece::Toned(tone, words.into())])
    }

    /// The sign of the evidence's result.
    pub fn sign(sign: Sign) -> Self {
        Text(vec![Piece::Sign(sign)])
    }

    /// "Table 3", "Figure 2", "Section 4.1".
    pub fn to(key: &Key) -> Self {
        Text(vec![Piece::To(key.clone())])
    }

    pub fn link(to: &Key, words: impl Into<String>) -> Self {
        Text(vec![Piece::Link { to: to.clone(), words: words.into() }])
    }

    /// Words in which back ticks mark code; an odd one is literal.
    pub fn prose(words: &str) -> Self {
        let parts: Vec<&str> = words.split('`').collect();
        if parts.len() % 2 == 0 {
            return Text::plain(words);
        }
        let piece = |(place, part): (usize, &&str)| match place % 2 {
            0 => Piece::Plain((*part).to_owned()),
            _ => Piece::Code((*part).to_owned()),
        };
        let pieces = parts.iter().enumerate().filter(|(_, part)| !part.is_empty()).map(piece);
        Text(pieces.collect())
    }

    #[must_use]
    pub fn and(mut self, more: impl Into<Text>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// The text followed by the number of a work.
    #[must_use]
    pub fn cite(mut self, work: impl Into<String>) -> Self {
        self.0.push(Piece::Cite(work.into()));
        self
    }

    #[must_use]
    pub fn noted(mut self, note: impl Into<Text>) -> Self {
        self.0.push(Piece::Note(Box::new(note.into())));
        self
    }

    pub fn joined(texts: impl IntoIterator<Item = Text>, between: &str) -> Self {
        let mut all = Text::default();
        for (place, text) in texts.into_iter().enumerate() {
            if place > 0 {
                all.0.push(Piece::Plain(between.to_owned()));
            }
            all.0.extend(text.0);
        }
        all
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    pub(super) fn pieces_mut(&mut self) -> &mut [Piece] {
        &mut self.0
    }

    /// The places to which it refers, including those in its notes.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Key> {
        self.0.iter().flat_map(|piece| match piece {
            Piece::To(key) | Piece::Link { to: key, .. } => vec![key],
            Piece::Note(note) => note.targets().collect(),
            _ => vec![],
        })
    }

    /// Its words without marks, references, works and notes.
    pub fn words(&self) -> String {
        let words = |piece: &Piece| match piece {
            Piece::Plain(words) | Piece::Code(words) | Piece::Strong(words) | Piece::Toned(_, words) => {
                words.clone()
            }
            Piece::Link { words, .. } => words.clone(),
            Piece::Sign(_) | Piece::To(_) | Piece::Cite(_) | Piece::Note(_) => String::new(),
        };
        self.0.iter().map(words).collect()
    }

    /// Whether it is empty, or has no words.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Plain(words) if words.is_empty()))
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        Text::plain(words)
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Text::plain(words)
    }
}

/// The name of a place in a document, of lower-case letters, digits, hyphens and underscores only: it becomes part of an
/// address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(String);

impl Key {
    /// A key of this name, with any other character replaced by a hyphen.
    pub fn of(name: &str) -> Self {
        let usable = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
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

    pub fn name(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_ticks_set_code_apart_and_an_odd_one_stands_for_itself() {
        let code = |words: &str| Piece::Code(words.to_owned());
        let plain = |words: &str| Piece::Plain(words.to_owned());
        assert_eq!(Text::prose("of `write` only").pieces(), [plain("of "), code("write"), plain(" only")]);
        assert_eq!(Text::prose("`write`").pieces(), [code("write")]);
        assert_eq!(Text::prose("5` wide").pieces(), [plain("5` wide")]);
    }
}
