//! Labels of a run, such as the rack of its host or the image from which it was booted.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The label that names the machine.
pub const HOST: &str = "host";

/// The most labels of a run, and the most bytes of a key and of a value.
const MOST: usize = 32;
const LONGEST_KEY: usize = 63;
const LONGEST_VALUE: usize = 255;

/// A label: `rack=7`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The name of the label: lower-case letters, digits, `_`, `-` and `.`, a letter first.
    pub key: String,
    /// Any text on one line.
    pub value: String,
}

impl FromStr for Label {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("a label is KEY=VALUE, such as rack=7")?;
        let usable =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-.".contains(letter);
        if !key.starts_with(|first: char| first.is_ascii_lowercase()) || !key.chars().all(usable) {
            return Err(format!(
                "`{key}` is not a key: use lower-case letters, digits, `_`, `-` and `.`, beginning with a letter"
            ));
        }
        if key.len() > LONGEST_KEY || value.len() > LONGEST_VALUE {
            return Err(format!(
                "a key has at most {LONGEST_KEY} bytes, and a value at most {LONGEST_VALUE}"
            ));
        }
        if value.is_empty() || value.chars().any(char::is_control) {
            return Err(format!("the value of `{key}` must be text on one line"));
        }
        Ok(Label { key: key.to_owned(), value: value.to_owned() })
    }
}

/// The labels by their keys; an error if a key is given twice, or there are too many.
pub fn labels(list: &[Label]) -> Result<BTreeMap<String, String>, String> {
    let mut labels = BTreeMap::new();
    for label in list {
        if labels.insert(label.key.clone(), label.value.clone()).is_some() {
            return Err(format!("the label `{}` is given twice", label.key));
        }
    }
    if labels.len() > MOST { Err(format!("a run has at most {MOST} labels")) } else { Ok(labels) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_key_and_a_text_on_one_line() {
        let label = |text: &str| text.parse::<Label>();
        assert_eq!(label("rack=7"), Ok(Label { key: "rack".to_owned(), value: "7".to_owned() }));
        assert_eq!(label("note=a=b").map(|label| label.value), Ok("a=b".to_owned()));
        for wrong in ["rack", "=7", "Rack=7", "7=rack", "ra ck=7", "rack=", "rack=a\nb"] {
            assert!(label(wrong).is_err(), "{wrong}");
        }
        assert!(label(&format!("{}=x", "k".repeat(64))).is_err());
        assert!(label(&format!("k={}", "x".repeat(256))).is_err());
    }

    #[test]
    fn a_key_given_twice_is_refused() {
        let label = |text: &str| text.parse::<Label>().unwrap();
        assert_eq!(labels(&[label("a=1"), label("b=2")]).map(|labels| labels.len()), Ok(2));
        assert!(labels(&[label("a=1"), label("a=1")]).unwrap_err().contains("twice"));
        let many: Vec<Label> = (0..33).map(|number| label(&format!("k{number}=x"))).collect();
        assert!(labels(&many).is_err());
    }
}
