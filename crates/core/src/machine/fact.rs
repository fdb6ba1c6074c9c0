//! A fact about the machine with its source; or unknown, with the reason.

use serde::{Deserialize, Deserializer, Serialize};

/// The reason if a file does not exist; [`Fact::because`] replaces it by a more specific one.
pub(super) const MISSING: &str = "this system does not provide it";

/// One fact: a value with its source, or the reason why it is unknown with the places searched.
///
/// In JSON `{"value": …, "source": …}` or `{"unknown": "reason", "source": …}`. No zero and no empty text
/// ever means "not known".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(untagged, try_from = "FactFields<T>")]
pub enum Fact<T> {
    /// The value is not known.
    Unknown {
        /// The reason, in words for the person who runs the measurement.
        unknown: String,
        /// The places searched.
        source: String,
    },
    /// Read, and understood.
    Known {
        /// The value.
        value: T,
        /// The file, instruction or call it was read from, and how it was derived if it was.
        source: String,
    },
}

/// The fields of a fact as they are read. To try one shape after the other, as serde would, takes several times the code for
/// each of some sixty types.
#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
struct FactFields<T> {
    /// `Some(None)` is the known `null` of a `Fact<Option<_>>`.
    #[serde(default, deserialize_with = "present")]
    value: Option<T>,
    unknown: Option<String>,
    source: String,
}

fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl<T> TryFrom<FactFields<T>> for Fact<T> {
    type Error = &'static str;

    fn try_from(FactFields { value, unknown, source }: FactFields<T>) -> Result<Self, Self::Error> {
        match (unknown, value) {
            (Some(unknown), _) => Ok(Fact::Unknown { unknown, source }),
            (None, Some(value)) => Ok(Fact::Known { value, source }),
            (None, None) => Err("a fact has a `value` or is `unknown`"),
        }
    }
}

impl<T> Fact<T> {
    /// A known value with its source.
    pub fn known(value: T, source: impl Into<String>) -> Self {
        Self::Known { value, source: source.into() }
    }

    /// An unknown value with the reason and the places searched.
    pub fn unknown(reason: impl Into<String>, source: impl Into<String>) -> Self {
        Self::Unknown { unknown: reason.into(), source: source.into() }
    }

    /// From a call that returns the reason of its failure.
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

    /// The reason why it is unknown; `None` if it is known.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Known { .. } => None,
            Self::Unknown { unknown, .. } => Some(unknown),
        }
    }

    /// The source, or the places searched.
    pub fn source(&self) -> &str {
        match self {
            Self::Known { source, .. } | Self::Unknown { source, .. } => source,
        }
    }

    /// The fact with its value converted.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Self::Known { value, source } => Fact::Known { value: form(value), source },
            Self::Unknown { unknown, source } => Fact::Unknown { unknown, source },
        }
    }

    /// The fact with its value converted; unknown, with the expected form as the reason, if the conversion fails.
    pub fn parse<U>(self, expected: &str, form: impl FnOnce(&T) -> Option<U>) -> Fact<U> {
        match self {
            Self::Known { value, source } => match form(&value) {
                Some(value) => Fact::Known { value, source },
                None => Fact::Unknown { unknown: format!("its content is not {expected}"), source },
            },
            Self::Unknown { unknown, source } => Fact::Unknown { unknown, source },
        }
    }

    /// This fact, or the other if it is unknown; if both are, the reason of the first stays.
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

    /// Replaces the reason if the place does not exist (other reasons stay: they are more specific).
    #[must_use]
    pub fn because(self, reason: &str) -> Self {
        match self {
            Self::Unknown { unknown, source } if unknown == MISSING => Self::unknown(reason, source),
            other => other,
        }
    }

    /// The fact with another source: one that may be published.
    #[must_use]
    pub(super) fn told_as_from(self, source: String) -> Self {
        match self {
            Self::Known { value, .. } => Self::Known { value, source },
            Self::Unknown { unknown, .. } => Self::Unknown { unknown, source },
        }
    }

    /// Adds the derivation of the value to the source.
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
