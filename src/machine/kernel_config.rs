//! The kernel's build configuration, where it shows one.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::fact::Fact;
use super::source::Root;

/// A configuration is near 300 KB; what unpacks to more is not one.
const LONGEST: usize = 8 << 20;

/// The text of the configuration, or why there is none.
pub(super) struct Config {
    text: Fact<String>,
}

impl Config {
    /// From the running kernel itself, else from what the distribution installed for this release.
    pub fn read(root: &Root, release: Option<&str>) -> Self {
        let packed = root.bytes("/proc/config.gz").parse("a packed text", |bytes| unpack(bytes));
        let text = packed.or_else(|| match release {
            Some(release) => root.text(&format!("/boot/config-{release}")),
            None => Fact::unknown("the release is unknown", "/boot"),
        });
        let text =
            text.because("the kernel shows no build configuration (/proc/config.gz) and /boot holds none");
        Self { text }
    }

    /// Where an option was looked up.
    pub fn source_of(&self, option: &str) -> String {
        format!("{} CONFIG_{option}", self.text.source())
    }

    /// The value of an option; `None` when the text does not set it.
    fn option(&self, option: &str) -> Option<&str> {
        let text = self.text.value()?;
        text.lines().find_map(|line| line.strip_prefix("CONFIG_")?.strip_prefix(option)?.strip_prefix('='))
    }

    /// Whether the text mentions an option at all, as set or as "not set": releases differ in what exists.
    pub fn names(&self, option: &str) -> bool {
        let unset = format!("# CONFIG_{option} is not set");
        let mentioned = |text: &String| text.lines().any(|line| line == unset);
        self.option(option).is_some() || self.text.value().is_some_and(mentioned)
    }

    fn fact<T>(&self, option: &str, form: impl FnOnce(Option<&str>) -> Option<T>) -> Fact<T> {
        match &self.text {
            Fact::Unknown { unknown, source } => Fact::unknown(unknown.clone(), source.clone()),
            Fact::Known { .. } => match form(self.option(option)) {
                Some(value) => Fact::known(value, self.source_of(option)),
                None => Fact::unknown("the configuration does not set it", self.source_of(option)),
            },
        }
    }

    /// Whether an option is built in. One that the configuration does not mention is not.
    pub fn switch(&self, option: &str) -> Fact<bool> {
        self.fact(option, |value| Some(matches!(value, Some("y" | "m"))))
    }

    /// An option that is a number.
    pub fn number(&self, option: &str) -> Fact<u32> {
        self.fact(option, |value| value?.parse().ok())
    }

    /// Those of the options that are built in.
    pub fn enabled_of(&self, options: &[&str]) -> Fact<Vec<String>> {
        let enabled = options.iter().filter(|option| self.switch(option).value() == Some(&true));
        let enabled: Vec<String> = enabled.map(|option| (*option).to_owned()).collect();
        self.text.clone().map(|_| enabled)
    }

    /// Fingerprint of the whole text.
    pub fn sha256(&self) -> Fact<String> {
        self.text.clone().map(|text| HEXLOWER.encode(&Sha256::digest(text.trim().as_bytes())))
    }
}

/// Unpacks one gzip member (RFC 1952): ten bytes, optional fields by flag, deflated data.
fn unpack(bytes: &[u8]) -> Option<String> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = bytes else { return None };
    let rest = skip_optional_fields(*flags, rest)?;
    let text = miniz_oxide::inflate::decompress_to_vec_with_limit(rest, LONGEST).ok()?;
    String::from_utf8(text).ok()
}

fn skip_optional_fields(flags: u8, mut rest: &[u8]) -> Option<&[u8]> {
    if flags & 4 != 0 {
        let [low, high, after @ ..] = rest else { return None };
        rest = after.get(usize::from(u16::from_le_bytes([*low, *high]))..)?;
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & 2 != 0 { rest.get(2..) } else { Some(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `CONFIG_HZ=250\n` with a file name, stored without compression.
    fn packed() -> Vec<u8> {
        let text = b"CONFIG_HZ=250\n";
        let mut bytes = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3];
        bytes.extend(b"config\0");
        bytes.extend([1, text.len() as u8, 0, !(text.len() as u8), 0xff]);
        bytes.extend(text);
        bytes.extend([0; 8]);
        bytes
    }

    #[test]
    fn a_packed_configuration_is_read() {
        assert_eq!(unpack(&packed()).as_deref(), Some("CONFIG_HZ=250\n"));
    }

    #[test]
    fn an_option_is_found_by_its_whole_name() {
        let config = Config { text: Fact::known("CONFIG_HZ_250=y\nCONFIG_HZ=250\n".to_owned(), "x") };
        assert_eq!(config.number("HZ").value(), Some(&250));
        assert_eq!(config.switch("HZ_250").value(), Some(&true));
        assert_eq!(config.switch("HZ_100").value(), Some(&false));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(at in 0usize..40, byte: u8, cut in 0usize..50) {
            let mut bytes = packed();
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            bytes.truncate(cut);
            let _ = unpack(&bytes);
        }
    }
}
