//! Names of run files by a pattern: `{host}-{set}-{time}.jsonl`.

use std::path::{Path, PathBuf};

/// The values of a pattern's fields.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    /// The name of the machine.
    pub host: &'a str,
    /// The start of the run, RFC 3339.
    pub time: &'a str,
    /// The measured set; `None` if experiments were selected by name.
    pub set: Option<&'a str>,
}

/// The value of `{set}` without a set.
const NO_SET: &str = "run";

/// The path with its fields replaced. A literal brace is doubled; characters that would name another folder, or that are
/// special in shells and other systems, become hyphens.
pub fn filled(pattern: &Path, fields: Fields) -> Result<PathBuf, String> {
    let Some(text) = pattern.to_str().filter(|text| text.contains(['{', '}'])) else {
        return Ok(pattern.to_owned());
    };
    let (mut path, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        path.push_str(before);
        if brace.starts_with("{{") || brace.starts_with("}}") {
            path.push_str(&brace[..1]);
            rest = &brace[2..];
            continue;
        }
        let field = brace.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let (name, after) = field.ok_or_else(|| format!("a brace in `{text}` is not closed: {HELP}"))?;
        path.push_str(&plain(value(name, fields).ok_or_else(|| format!("`{{{name}}}` is unknown: {HELP}"))?));
        rest = after;
    }
    Ok(PathBuf::from(path + rest))
}

const HELP: &str = "a name may have {host}, {time} and {set}; `{{` and `}}` are braces";

fn value<'a>(name: &str, fields: Fields<'a>) -> Option<&'a str> {
    match name {
        "host" => Some(fields.host),
        "time" => Some(fields.time),
        "set" => Some(fields.set.unwrap_or(NO_SET)),
        _ => None,
    }
}

/// The text as a part of a file name that is valid on every system.
fn plain(text: &str) -> String {
    let usable = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String = text.chars().map(|letter| if usable(letter) { letter } else { '-' }).collect();
    // A name of dots only is a folder.
    if name.trim_matches('.').is_empty() { name.replace('.', "-") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(pattern: &str) -> Result<String, String> {
        let fields = Fields { host: "n1/../x", time: "2026-11-23T07:00:00Z", set: Some("fleet") };
        filled(Path::new(pattern), fields).map(|path| path.display().to_string())
    }

    #[test]
    fn fields_become_parts_of_a_name_and_never_a_folder() {
        assert_eq!(
            named("a/{host}-{set}.{time}.jsonl").unwrap(),
            "a/n1-..-x-fleet.2026-11-23T07-00-00Z.jsonl"
        );
        assert_eq!(named("plain.jsonl").unwrap(), "plain.jsonl");
        assert_eq!(named("{{x}}{set}").unwrap(), "{x}fleet");
        let fields = Fields { host: "..", time: "", set: None };
        assert_eq!(filled(Path::new("{host}/{set}"), fields).unwrap(), PathBuf::from("--/run"));
    }

    #[test]
    fn unknown_fields_are_refused_with_those_that_are_known() {
        for wrong in ["{hots}.jsonl", "{}", "a{", "a}b", "{host"] {
            let error = named(wrong).unwrap_err();
            assert!(error.contains("{host}, {time} and {set}"), "{wrong}: {error}");
        }
    }
}
