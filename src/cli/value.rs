//! Parsers of flag values, which reject invalid ones with the expected form.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fathom_report::Form;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// An address with or without a port.
pub(super) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let alone = || text.parse().map(|ip: IpAddr| SocketAddr::new(ip, 0));
    text.parse().or_else(|_| alone()).map_err(|_| {
        "expected an address of this host, such as 192.0.2.7, 192.0.2.7:4000 or [2001:db8::7]:4000".to_owned()
    })
}

pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let usable = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if !text.is_empty() && !text.starts_with('.') && text.chars().all(usable) {
        Ok(text.to_owned())
    } else {
        Err("expected a name of letters, digits, `-`, `_` and `.`".to_owned())
    }
}

pub(super) fn parse_folder(text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    if folder.is_dir() { Ok(folder) } else { Err("there is no such folder; make it first".to_owned()) }
}

/// A time above zero.
pub(super) fn parse_time(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time above zero, such as 90s, 5m or 1h30m".to_owned();
    humantime::parse_duration(text).ok().filter(|time| !time.is_zero()).ok_or_else(expected)
}

/// One of the numbers of processes that compete.
pub(super) fn parse_processes(text: &str) -> Result<u64, String> {
    let number = text.trim().parse().ok().filter(|number| (1..=256).contains(number));
    number.ok_or_else(|| "expected numbers from 1 to 256, such as 1,8,32".to_owned())
}

/// The forms of what has no picture.
pub(super) fn without_picture() -> impl TypedValueParser<Value = Form> {
    let forms = Form::value_variants().iter().filter(|form| **form != Form::Picture);
    PossibleValuesParser::new(forms.filter_map(Form::to_possible_value))
        .try_map(|name| Form::from_str(&name, false))
}

/// How many times as long as usual.
pub(super) fn parse_times(text: &str) -> Result<f64, String> {
    let times = text.parse().ok().filter(|times| (0.1..=1000.0).contains(times));
    times.ok_or_else(|| "expected a number between 0.1 and 1000".to_owned())
}

/// A share above zero and below one, or a percentage.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let expected = "expected a share between 0 and 1, or a percentage such as 5%";
    let Ok(number) = number.trim().parse::<f64>() else { return Err(expected.to_owned()) };
    let share = number * scale;
    match () {
        () if share > 0.0 && share < 1.0 => Ok(share),
        () if !text.ends_with('%') && (1.0..100.0).contains(&share) => {
            Err(format!("{expected}: did you mean {text}%?"))
        }
        () => Err(expected.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_numbers_and_as_percentages() {
        assert_eq!(parse_share("2%"), Ok(0.02));
        assert_eq!(parse_share("0.05"), Ok(0.05));
        assert!(parse_share("5").unwrap_err().ends_with("did you mean 5%?"));
        assert!(!parse_share("500%").unwrap_err().contains("500%%"));
        assert!(parse_share("0").is_err() && parse_share("120%").is_err() && parse_share("x").is_err());
    }
}
