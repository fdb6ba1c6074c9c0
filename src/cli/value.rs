//! Parsers of flag values, which reject invalid ones with the expected form.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fathom_engine::plan::{SIZES, TRIALS_ASKED};
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

/// An amount of data in whole pages.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let scaled = units.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, power)));
    let (number, power) = scaled.unwrap_or((text, &0));
    let bytes = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << power));
    let is_taken = |bytes: &u64| SIZES.contains(bytes) && *bytes % *SIZES.start() == 0;
    bytes.filter(is_taken).ok_or_else(|| {
        "expected sizes in whole pages of 4 KiB, such as 64KiB,1MiB,2GiB, up to 16TiB".to_owned()
    })
}

/// A number of trials: as many as an interval needs, or more.
pub(super) fn parse_trials(text: &str) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|number| TRIALS_ASKED.contains(number));
    let (least, most) = (TRIALS_ASKED.start(), TRIALS_ASKED.end());
    number.ok_or_else(|| format!("expected a number from {least} to {most}: fewer give no interval"))
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
    fn sizes_are_whole_pages_and_trials_enough_for_an_interval() {
        assert_eq!(parse_size("64KiB"), Ok(65536));
        assert_eq!((parse_size("4096"), parse_size(" 2GiB")), (Ok(4096), Ok(2 << 30)));
        for wrong in ["0", "1", "6000", "64kB", "20TiB", "17179869184TiB", "-4096", "MiB", "1.5MiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        assert_eq!((parse_trials("4"), parse_trials("1000")), (Ok(4), Ok(1000)));
        assert!(parse_trials("3").unwrap_err().ends_with("fewer give no interval"));
    }

    #[test]
    fn shares_are_read_as_numbers_and_as_percentages() {
        assert_eq!(parse_share("2%"), Ok(0.02));
        assert_eq!(parse_share("0.05"), Ok(0.05));
        assert!(parse_share("5").unwrap_err().ends_with("did you mean 5%?"));
        assert!(!parse_share("500%").unwrap_err().contains("500%%"));
        assert!(parse_share("0").is_err() && parse_share("120%").is_err() && parse_share("x").is_err());
    }
}
