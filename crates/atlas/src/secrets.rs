//! A last look at a text before it is published: what looks like an address, a serial number, a token or a path, and names of
//! this host and of its users. The text is made of closed lists, so nothing of this is expected; a mistake in them is found here.

use super::words;
use fathom_engine::record::Header;
use serde_json::Value;
use std::collections::BTreeSet;

/// Names that must not be in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretNames(BTreeSet<String>);

/// The letters below which a name is part of too many words.
const LEAST_NAME: usize = 3;

impl SecretNames {
    /// Names given by the caller, such as that of the host.
    pub fn of(names: impl IntoIterator<Item = String>) -> Self {
        SecretNames(names.into_iter().flat_map(|name| parts(&name)).collect())
    }

    /// The same with the names in a run: labels, folders, and whatever was given for its second host.
    #[must_use]
    pub fn with_run(mut self, header: &Header) -> Self {
        let settings = &header.settings;
        let peer = header.peer.iter().flat_map(|peer| [&peer.wanted, &peer.address]);
        let labels = settings.labels.iter().flat_map(|(key, value)| [key, value]);
        let all = peer.chain(labels).chain([&settings.folder]);
        self.0.extend(all.flat_map(|name| parts(name)));
        self
    }
}

/// The words of a name, in lower case.
fn parts(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_alphanumeric() && letter != '-' && letter != '_');
    words.filter(|word| word.chars().count() >= LEAST_NAME).map(str::to_lowercase).collect()
}

/// Fields whose words are those of experiments: a host may be called so.
const OF_EXPERIMENTS: &[&str] =
    &["the name of a field", "experiment", "point", "role", "unit", "core", "validity"];

/// What in the lines of a file may be secret, each with the field that has it.
pub fn suspects(text: &str, names: &SecretNames) -> Vec<String> {
    let mut all = vec![];
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(value) => walk("", &value, &mut |field, word| {
                let named = || name_in(word, names).filter(|_| !OF_EXPERIMENTS.contains(&field));
                let reason = pattern(word).map(str::to_owned).or_else(named);
                all.extend(reason.map(|reason| format!("{field} `{word}`: {reason}")));
            }),
            Err(_) => all.push("a line that is no JSON".to_owned()),
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Calls a function for every text with the name of its field.
fn walk(field: &str, value: &Value, call: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => call(field, text),
        Value::Array(all) => all.iter().for_each(|value| walk(field, value, call)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            call("the name of a field", name);
            walk(name, value, call);
        }),
        _ => {}
    }
}

/// A name of the list that is a word of the text.
fn name_in(text: &str, names: &SecretNames) -> Option<String> {
    let words = parts(text);
    let is_known = |name: &&String| words.contains(*name) && !words::is_listed(name);
    names.0.iter().find(is_known).map(|name| format!("the name `{name}`"))
}

/// What a text looks like, if that is something secret.
fn pattern(text: &str) -> Option<&'static str> {
    let words = || text.split(|letter: char| letter.is_whitespace() || "=,;\"'()[]<>".contains(letter));
    match () {
        () if text.contains('@') && words().any(is_mail) => Some("an address of electronic mail"),
        () if words().any(is_path) => Some("a path or an address of a server"),
        () if words().any(is_ip_address) => Some("an address of a network"),
        () if words().any(is_hardware_address) => Some("an address of an adapter"),
        () if words().any(is_token) => Some("a serial number, a token or a digest"),
        () => None,
    }
}

fn is_mail(word: &str) -> bool {
    word.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
}

fn is_path(word: &str) -> bool {
    word.contains("://") || word.contains("\\\\") || word.starts_with('~') || rooted(word)
}

/// A path from the root. Two of every host are in the names of operations.
fn rooted(word: &str) -> bool {
    const OF_EVERY_HOST: &[&str] = &["/dev/null", "/dev/zero"];
    word.strip_prefix('/').is_some_and(|rest| !rest.is_empty()) && !OF_EVERY_HOST.contains(&word)
}

fn is_ip_address(word: &str) -> bool {
    word.parse::<std::net::IpAddr>().is_ok()
        || word.split('/').next().is_some_and(|host| host.parse::<std::net::IpAddr>().is_ok())
}

fn is_hardware_address(word: &str) -> bool {
    let parts: Vec<&str> = word.split([':', '-']).collect();
    parts.len() == 6
        && parts.iter().all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A long row of letters and digits of which neither are few.
fn is_token(word: &str) -> bool {
    const LEAST: usize = 12;
    let row = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
        digits + letters >= LEAST && digits >= 2 && letters >= 3
    };
    let is_uuid = word.len() == 36 && word.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    is_uuid || word.split(['-', '.', '/', ':', '@']).any(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<String> {
        let names = ["db-host7", "/home/alice", "xen"].map(str::to_owned);
        suspects(&serde_json::json!({ "x": text }).to_string(), &SecretNames::of(names))
    }

    #[test]
    fn what_may_be_secret_is_seen() {
        for text in [
            "alice",
            "on db-host7",
            "alice@example.org",
            "192.0.2.7",
            "2001:db8::7",
            "192.0.2.0/24",
            "52:54:00:12:34:56",
            "/srv/customer",
            "https://x",
            "~alice",
            "3f2b8c1e-1111-2222-3333-444455556666",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "AKIAIOSFODNN7EXAMPLE1",
            "PF3X9K2LM0QR",
        ] {
            assert_eq!(seen(text).len(), 1, "{text}: {:?}", seen(text));
        }
        assert_eq!(suspects("{\"192.0.2.7\":1}", &SecretNames::default()).len(), 1);
        assert_eq!(suspects("alice", &SecretNames::default()), ["a line that is no JSON"]);
    }

    #[test]
    fn what_the_atlas_says_is_not_suspected() {
        for text in [
            "cpu/system_call",
            "call=write nothing to /dev/null placement=one-cpu",
            "zen-5-guest-1a2b3c4d",
            "AMD EPYC 7763 64-Core Processor",
            "6.18.44",
            "CC0-1.0",
            "2026-11",
            "hyperv_clocksource_tsc_page",
            "Xen",
        ] {
            assert_eq!(seen(text), Vec::<String>::new(), "{text}");
        }
    }
}
