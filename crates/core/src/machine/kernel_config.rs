//! The kernel's build configuration, if it is available.

use data_encoding::HEXLOWER;
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use std::io::Read;

use super::fact::Fact;
use super::source::Root;

/// A configuration is near 300 KB; a file that unpacks to more than this is none.
const LONGEST: u64 = 8 << 20;

/// The text of the configuration, or the reason why there is none.
pub(super) struct Config {
    text: Fact<String>,
}

impl Config {
    /// From the running kernel itself, otherwise from the file that the distribution installed for this release.
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

    pub fn source_of(&self, option: &str) -> String {
        format!("{} CONFIG_{option}", self.text.source())
    }

    /// The value of an option; `None` if the text does not set it.
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

    /// Whether an option is built in; false if the configuration does not mention it.
    pub fn switch(&self, option: &str) -> Fact<bool> {
        self.fact(option, |value| Some(matches!(value, Some("y" | "m"))))
    }

    /// An option that is a number.
    pub fn number(&self, option: &str) -> Fact<u32> {
        self.fact(option, |value| value?.parse().ok())
    }

    /// Those of the options, with spaces between them, that are built in.
    pub fn enabled_of(&self, options: &str) -> Fact<Vec<String>> {
        let enabled = options.split(' ').filter(|option| self.switch(option).value() == Some(&true));
        let enabled: Vec<String> = enabled.map(str::to_owned).collect();
        self.text.clone().map(|_| enabled)
    }

    /// Fingerprint of the whole text.
    pub fn sha256(&self) -> Fact<String> {
        self.text.clone().map(|text| HEXLOWER.encode(&Sha256::digest(text.trim().as_bytes())))
    }
}

/// Unpacks gzip (RFC 1952) and verifies the checksum.
fn unpack(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    let read = GzDecoder::new(bytes).take(LONGEST + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `CONFIG_HZ=250\n` with a file name, stored without compression; CRC-32 and length end it.
    fn packed() -> Vec<u8> {
        let text = b"CONFIG_HZ=250\n";
        let mut bytes = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3];
        bytes.extend(b"config\0");
        bytes.extend([1, text.len() as u8, 0, !(text.len() as u8), 0xff]);
        bytes.extend(text);
        bytes.extend(0x013a_5ffb_u32.to_le_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes
    }

    #[test]
    fn a_packed_configuration_is_read() {
        assert_eq!(unpack(&packed()).as_deref(), Some("CONFIG_HZ=250\n"));
        let mut damaged = packed();
        damaged[30] ^= 1;
        assert_eq!(unpack(&damaged), None);
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
