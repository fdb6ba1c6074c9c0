//! A thing known about the machine, with the place where it was read; or unknown, with the reason.

use serde::{Deserialize, Serialize};

/// The reason given when a file is simply not there; [`Fact::because`] puts a better one in its place.
pub(super) const MISSING: &str = "this system does not provide it";

/// One fact: a value and where it was read, or why it is unknown and where we looked.
///
/// In JSON `{"value": …, "source": …}` or `{"unknown": "reason", "source": …}`. No zero and no empty text
/// ever stands for "not known".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Fact<T> {
    // Unknown stands first: for `Fact<Option<_>>` a missing `value` would else be read as a known `null`.
    /// Nobody could tell.
    Unknown {
        /// The reason, in words for the person who runs the measurement.
        unknown: String,
        /// Where we looked.
        source: String,
    },
    /// Read, and understood.
    Known {
        /// What was read.
        value: T,
        /// The file, instruction or call it was read from, and how it was derived if it was.
        source: String,
    },
}

impl<T> Fact<T> {
    /// A value, and where it was read.
    pub fn known(value: T, source: impl Into<String>) -> Self {
        Self::Known { value, source: source.into() }
    }

    /// Why there is no value, and where we looked.
    pub fn unknown(reason: impl Into<String>, source: impl Into<String>) -> Self {
        Self::Unknown { unknown: reason.into(), source: source.into() }
    }

    /// From a call that explains its own failure.
    pub fn from_call(result: Result<T, String>, source: &str) -> Self {
        match result {
            Ok(value) => Self::known(value, source),
            Err(reason) => Self::unknown(reason, source),
        }
    }

    /// The value, if known.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::Unknown { .. } => None,
        }
    }

    /// Why it is unknown; `None` when it is known.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Known { .. } => None,
            Self::Unknown { unknown, .. } => Some(unknown),
        }
    }

    /// Where it was read, or where we looked.
    pub fn source(&self) -> &str {
        match self {
            Self::Known { source, .. } | Self::Unknown { source, .. } => source,
        }
    }

    /// The same fact in another form.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Self::Known { value, source } => Fact::Known { value: form(value), source },
            Self::Unknown { unknown, source } => Fact::Unknown { unknown, source },
        }
    }

    /// The same fact in another form, unless its content is not of that form: then unknown, and says so.
    pub fn parse<U>(self, expected: &str, form: impl FnOnce(&T) -> Option<U>) -> Fact<U> {
        match self {
            Self::Known { value, source } => match form(&value) {
                Some(value) => Fact::Known { value, source },
                None => Fact::Unknown { unknown: format!("its content is not {expected}"), source },
            },
            Self::Unknown { unknown, source } => Fact::Unknown { unknown, source },
        }
    }

    /// This fact, or if it is unknown the other; if both are, the reason of the first stays.
    #[must_use]
    pub fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Known { .. } => self,
            Self::Unknown { .. } => match other() {
                known @ Self::Known { .. } => known,
                Self::Unknown { .. } => self,
            },
        }
    }

    /// Gives the reason when the place we looked at does not exist (other reasons stay: they say more).
    #[must_use]
    pub fn because(self, reason: &str) -> Self {
        match self {
            Self::Unknown { unknown, source } if unknown == MISSING => Self::unknown(reason, source),
            other => other,
        }
    }

    /// Adds to the source how the value was derived from it.
    #[must_use]
    pub fn via(mut self, how: &str) -> Self {
        if let Self::Known { source, .. } = &mut self {
            source.push_str(how);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_survives_json_also_when_its_value_may_be_null() {
        let facts: Vec<Fact<Option<f64>>> = vec![
            Fact::known(None, "cpu.max"),
            Fact::known(Some(2.5), "cpu.max"),
            Fact::unknown("why", "where"),
        ];
        let text = serde_json::to_string(&facts).unwrap();
        assert!(text.contains(r#"{"unknown":"why","source":"where"}"#), "{text}");
        assert_eq!(serde_json::from_str::<Vec<Fact<Option<f64>>>>(&text).unwrap(), facts);
    }

    #[test]
    fn a_better_reason_replaces_only_a_missing_file() {
        let missing: Fact<u32> = Fact::unknown(MISSING, "f");
        assert_eq!(missing.because("no DMI").reason(), Some("no DMI"));
        let refused: Fact<u32> = Fact::unknown("only root may read it", "f");
        assert_eq!(refused.because("no DMI").reason(), Some("only root may read it"));
    }

    #[test]
    fn the_first_reason_stays_when_neither_place_knows() {
        let first: Fact<u32> = Fact::unknown("first", "a");
        assert_eq!(first.clone().or_else(|| Fact::unknown("second", "b")).reason(), Some("first"));
        assert_eq!(first.or_else(|| Fact::known(3, "c")).value(), Some(&3));
    }
}
