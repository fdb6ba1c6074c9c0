//! Selecting experiments by name.

use fathom_core::experiment::Experiment;
use fathom_core::experiment::registry;
use strsim::sorensen_dice;

/// The least share of common pairs of letters with which a name is suggested.
const LEAST_ALIKE: f64 = 0.4;

/// A pattern that matches no experiment.
#[derive(Debug, thiserror::Error)]
#[error("there is no experiment `{pattern}`{}; `fathom list` shows them all", hint(.nearest.as_deref()))]
pub struct UnknownExperiment {
    /// The pattern.
    pub pattern: String,
    /// The most similar name.
    pub nearest: Option<String>,
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// The experiments that match any of the patterns, in the order of the report; all of them if there is no pattern.
///
/// A pattern is a whole name (`cpu/noise`), a family (`cpu`), a name without its family (`noise`), or either with `*`
/// for any characters.
pub fn select(patterns: &[String]) -> Result<Vec<&'static dyn Experiment>, UnknownExperiment> {
    for pattern in patterns {
        if !registry::all().any(|experiment| names(pattern, experiment.about().name)) {
            return Err(UnknownExperiment { pattern: pattern.clone(), nearest: nearest(pattern) });
        }
    }
    let chosen = |name: &str| patterns.is_empty() || patterns.iter().any(|pattern| names(pattern, name));
    Ok(registry::all().filter(|experiment| chosen(experiment.about().name)).collect())
}

/// Whether a pattern matches an experiment's name; see [`select`].
pub fn names(pattern: &str, name: &str) -> bool {
    let (family, short) = name.split_once('/').unwrap_or(("", name));
    let pattern = pattern.trim_end_matches('/');
    [name, family, short].into_iter().any(|candidate| matches(pattern, candidate))
}

/// Whether a text has the form of a pattern in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(tail, &rest[at..]))
        }),
    }
}

/// The name most similar to the pattern: a family, or an experiment with its family or without; `None` if none is similar.
fn nearest(pattern: &str) -> Option<String> {
    let called = |name: &'static str| {
        let (family, short) = name.split_once('/').unwrap_or(("", name));
        [(family, family), (short, name), (name, name)]
    };
    let names = registry::all().flat_map(|experiment| called(experiment.about().name));
    let alike = names.map(|(called, name)| (sorensen_dice(called, pattern), name));
    let (best, name) = alike.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best >= LEAST_ALIKE).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_families_short_names_and_globs_choose() {
        assert!(names("cpu/noise", "cpu/noise") && names("cpu", "cpu/noise") && names("noise", "cpu/noise"));
        assert!(
            names("cpu/*", "cpu/noise")
                && names("*switch", "cpu/context_switch")
                && names("cpu/", "cpu/noise")
        );
        assert!(!names("nois", "cpu/noise") && !names("memory", "cpu/noise"));
    }

    #[test]
    fn an_unknown_name_is_told_with_the_one_most_like_it() {
        fathom_experiments::register();
        let error =
            select(&["sistem_call".to_owned()]).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("cpu/system_call"), "{error}");
        assert_eq!(nearest("noize").as_deref(), Some("cpu/noise"));
        assert_eq!(nearest("memroy").as_deref(), Some("memory"));
        assert_eq!(nearest("zzz"), None);
    }
}
