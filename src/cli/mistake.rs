//! What is said of a command line that cannot be understood: a sentence in the voice of every other message, with what helps.

use super::Cli;
use anyhow::anyhow;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory, Parser};
use std::error::Error as _;
use std::num::ParseIntError;
use strsim::damerau_levenshtein;

/// The most letters by which a suggested name differs: one that is left out, another one, or two that have changed places.
const FARTHEST: usize = 2;

/// The command line of this process. Help and versions that were asked for are printed, and end it.
pub fn parsed() -> anyhow::Result<Cli> {
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    Cli::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => anyhow!("{}", sentence(&error, &arguments)),
    })
}

/// The mistake in a sentence.
fn sentence(error: &Error, arguments: &[String]) -> String {
    let command = command(arguments);
    let of = |kind| first(error, kind);
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = of(ContextKind::InvalidSubcommand);
            let hint = hint(&name, subcommands().iter().map(String::as_str));
            format!("there is no command `{name}`{hint}; `fathom --help` lists them")
        }
        ErrorKind::UnknownArgument => unknown(&of(ContextKind::InvalidArg), &command, arguments),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => value(error),
        ErrorKind::ArgumentConflict => {
            let [one, other] = [ContextKind::InvalidArg, ContextKind::PriorArg].map(of);
            format!("{} cannot be used with {}", short(&one), short(&other))
        }
        ErrorKind::MissingRequiredArgument => {
            // What stands behind two dashes is only found there.
            let missing = all(error, ContextKind::InvalidArg).join(", ").replace("<COMMAND>", "-- <COMMAND>");
            format!("`{command}` needs {missing}; `{command} --help` explains it")
        }
        _ => clap_sentence(error),
    }
}

/// An argument that no command has: a value that begins with a minus, a word too many, or an option with another name.
fn unknown(argument: &str, command: &str, arguments: &[String]) -> String {
    let is_negative =
        argument.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let place = arguments.iter().position(|word| word.starts_with(argument));
    let before = place.and_then(|place| arguments.get(place.checked_sub(1)?));
    match before.filter(|before| is_negative && before.starts_with("--")) {
        Some(option) => {
            let value = place.map_or(argument, |place| &arguments[place]);
            format!("{option}: `{value}` begins with a minus, and no value is below zero")
        }
        None if argument.starts_with('-') => {
            let options = options(command);
            let hint = hint(argument, options.iter().map(String::as_str));
            format!("`{command}` has no option `{argument}`{hint}; `{command} --help` lists them")
        }
        None => {
            format!("`{command}` takes nothing like `{argument}`; `{command} --help` shows what it takes")
        }
    }
}

/// A value of an option, with what is expected instead.
fn value(error: &Error) -> String {
    let of = |kind| first(error, kind);
    let (option, value) = (of(ContextKind::InvalidArg), of(ContextKind::InvalidValue));
    let possible = all(error, ContextKind::ValidValue);
    let option = short(&option);
    if !possible.is_empty() {
        let suggested = all(error, ContextKind::SuggestedValue);
        let intended = suggested.first().cloned().or_else(|| other_name(&value).map(str::to_owned));
        let intended = intended.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
        return format!(
            "{option}: there is no `{value}`{intended}; possible values: {}",
            possible.join(", ")
        );
    }
    let source = error.source();
    if matches!(source, Some(source) if source.is::<ParseIntError>()) {
        return format!("{option}: `{value}` is no whole number, such as 7");
    }
    let reason = source.map_or_else(|| clap_sentence(error), ToString::to_string);
    format!("{option} `{value}`: {reason}")
}

/// What others call a form of ours.
fn other_name(value: &str) -> Option<&'static str> {
    match value.to_ascii_lowercase().as_str() {
        "prometheus" | "openmetrics" => Some("open-metrics"),
        "md" => Some("markdown"),
        "tex" => Some("latex"),
        "svg" => Some("picture"),
        _ => None,
    }
}

/// The option or argument without the names of its values: `--budget <TIME>` is `--budget`.
fn short(option: &str) -> &str {
    option.split_once([' ', '=']).map_or(option, |(name, _)| name)
}

/// The command that was asked for: `fathom run`.
fn command(arguments: &[String]) -> String {
    let known = subcommands();
    let name = arguments.iter().skip(1).find(|word| known.contains(word));
    name.map_or_else(|| "fathom".to_owned(), |name| format!("fathom {name}"))
}

/// The commands that are shown.
fn subcommands() -> Vec<String> {
    let shown = Cli::command();
    let shown = shown.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| command.get_name().to_owned()).collect()
}

/// The options of a command: `--budget`.
fn options(command: &str) -> Vec<String> {
    let all = Cli::command();
    let name = command.rsplit(' ').next().unwrap_or_default();
    let own = all.find_subcommand(name).unwrap_or(&all);
    let options = own.get_arguments().filter_map(clap::Arg::get_long);
    options.chain(["help", "color"]).map(|name| format!("--{name}")).collect()
}

/// The question whether a name was intended that differs in a letter or two; empty if there is none.
fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known.map(|known| (damerau_levenshtein(known, name), known));
    let nearest = near.filter(|(far, known)| *far <= FARTHEST && far * 2 < known.len()).min();
    nearest.map(|(_, name)| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

fn first(error: &Error, kind: ContextKind) -> String {
    all(error, kind).into_iter().next().unwrap_or_default()
}

fn all(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => vec![],
    }
}

/// What the library says, without what stands before and below it.
fn clap_sentence(error: &Error) -> String {
    let text = error.render().to_string();
    let lines = text.trim_start_matches("error: ").lines();
    lines.take_while(|line| !line.trim().is_empty()).map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(words: &[&str]) -> String {
        let arguments: Vec<String> = ["fathom"].iter().chain(words).map(|word| (*word).to_owned()).collect();
        Cli::try_parse_from(&arguments).map_or_else(|error| sentence(&error, &arguments), |_| String::new())
    }

    #[test]
    fn a_mistake_is_a_sentence_with_what_was_meant() {
        assert_eq!(
            message(&["rnu"]),
            "there is no command `rnu` (did you mean `run`?); `fathom --help` lists them"
        );
        assert_eq!(
            message(&["run", "--budgett", "5s"]),
            "`fathom run` has no option `--budgett` (did you mean `--budget`?); `fathom run --help` lists them"
        );
        assert_eq!(
            message(&["run", "--budget", "-5s"]),
            "--budget: `-5s` begins with a minus, and no value is below zero"
        );
        assert_eq!(message(&["run", "--seed", "abc"]), "--seed: `abc` is no whole number, such as 7");
        assert!(message(&["run", "--quick", "--thorough"]).ends_with("cannot be used with --thorough"));
        assert!(message(&["export", "--format", "prometheus"]).contains("did you mean `open-metrics`?"));
        assert!(message(&["schema", "x"]).starts_with("`fathom schema` takes nothing like `x`"));
        assert!(message(&["gate"]).starts_with("`fathom gate` needs --baseline"));
    }

    #[test]
    fn a_name_that_is_far_from_all_is_not_guessed_at() {
        assert_eq!(message(&["frobnicate"]), "there is no command `frobnicate`; `fathom --help` lists them");
    }
}
