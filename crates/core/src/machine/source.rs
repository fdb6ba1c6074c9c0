//! Reading the files that the kernel provides, below a root that a test can replace.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::fact::{Fact, MISSING};

/// No file that is read here is longer; a longer one (or one without end) is cut here.
const LONGEST: u64 = 4 << 20;

/// The reason where a file of cpufreq does not exist.
pub(super) const NO_FREQUENCY_DRIVER: &str =
    "the kernel has no frequency driver here (usual in a virtual machine)";

/// The tree with `/proc`, `/sys`, `/etc`, `/run` and `/boot`: `/`, or a recorded one.
#[derive(Clone, Debug)]
pub struct Root {
    prefix: PathBuf,
}

impl Default for Root {
    fn default() -> Self {
        Self::new("/")
    }
}

impl Root {
    /// A tree that looks like `/`.
    pub fn new(prefix: impl Into<PathBuf>) -> Self {
        Self { prefix: prefix.into() }
    }

    /// The real place of a path that starts with `/`.
    fn place(&self, path: &str) -> PathBuf {
        self.prefix.join(path.trim_start_matches('/'))
    }

    /// The content of a file.
    pub fn bytes(&self, path: &str) -> Fact<Vec<u8>> {
        match read_regular(&self.place(path)) {
            Ok(content) => Fact::known(content, path),
            Err(error) => Fact::unknown(reason(&error), path),
        }
    }

    /// The content of a file as text, without the white space around it.
    pub fn text(&self, path: &str) -> Fact<String> {
        self.bytes(path).map(|content| String::from_utf8_lossy(&content).trim().to_owned())
    }

    /// The content of a file; unknown if it is empty.
    pub fn word(&self, path: &str) -> Fact<String> {
        self.text(path).parse("a text", |text| (!text.is_empty()).then(|| text.clone()))
    }

    /// The one number in a file.
    pub fn number<T: FromStr>(&self, path: &str) -> Fact<T> {
        self.text(path).parse("a number", |text| text.parse().ok())
    }

    /// The one decimal number in a file.
    pub fn decimal(&self, path: &str) -> Fact<f64> {
        self.text(path).parse("a number", |text| decimal(text))
    }

    /// A frequency in a file of cpufreq, which has it in kilohertz, Hz.
    pub fn frequency(&self, path: &str) -> Fact<f64> {
        self.decimal(path)
            .because(NO_FREQUENCY_DRIVER)
            .parse("a frequency", |kilohertz| (*kilohertz > 0.0).then_some(kilohertz * 1e3))
    }

    /// A switch that is written as 0 or 1 (larger numbers are "on" too), Y or N.
    pub fn switch(&self, path: &str) -> Fact<bool> {
        self.text(path).parse("a switch", |text| match text.as_str() {
            "Y" | "y" => Some(true),
            "N" | "n" => Some(false),
            number => number.parse::<u64>().ok().map(|number| number != 0),
        })
    }

    /// The choice in brackets: `always [madvise] never` is `madvise`; a text without brackets is the choice.
    pub fn choice(&self, path: &str) -> Fact<String> {
        self.word(path).map(|text| bracketed(&text).map_or_else(|| text.clone(), str::to_owned))
    }

    /// The names in a folder, sorted; empty if there is no such folder.
    pub fn entries(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.place(folder)) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The numbers N of the entries `prefixN` of a folder, in order.
    pub fn numbered(&self, folder: &str, prefix: &str) -> Vec<usize> {
        let mut numbers: Vec<usize> =
            self.entries(folder).iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Whether a path exists.
    pub fn exists(&self, path: &str) -> bool {
        self.place(path).exists()
    }

    /// The target of a symbolic link, as written.
    pub fn link(&self, path: &str) -> Fact<PathBuf> {
        match fs::read_link(self.place(path)) {
            Ok(target) => Fact::known(target, path),
            Err(error) => Fact::unknown(reason(&error), path),
        }
    }

    /// The last component of a symbolic link's target: how sysfs names drivers and parents.
    pub fn link_name(&self, path: &str) -> Fact<String> {
        self.link(path).parse("a link to a name", |target| Some(target.file_name()?.to_str()?.to_owned()))
    }
}

/// Reads a regular file; a pipe or a device under its name must not block.
fn read_regular(place: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(place)?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a file"));
    }
    let mut content = Vec::new();
    File::open(place)?.take(LONGEST).read_to_end(&mut content)?;
    Ok(content)
}

/// The reason why a file could not be read, for users.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => MISSING.to_owned(),
        ErrorKind::PermissionDenied => "reading it needs root".to_owned(),
        _ => format!("reading it failed: {error}"),
    }
}

/// The word in brackets, which is the chosen one of a list.
pub fn bracketed(text: &str) -> Option<&str> {
    text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
}

/// A size in the kernel's notation, in bytes: `32K`, `1024 kB`, `2M`, `512`.
pub(super) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit: u64 = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// The value of `key: value` in a text of such lines (`/proc/meminfo`, `/proc/self/status`, `/proc/cpuinfo`).
pub(super) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// A decimal number. Rust also reads `nan` and `inf`, and JSON writes neither; nothing described here is near 1e15.
pub(super) fn decimal(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.abs() < 1e15)
}

/// A number with or without `0x` before it.
pub(super) fn parse_hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}

#[cfg(test)]
impl Root {
    /// A tree with these files, which is removed when it is dropped.
    pub(crate) fn planted(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let tree = tempfile::tempdir().unwrap();
        let root = Root::new(tree.path());
        for (path, text) in files {
            let path = root.place(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (tree, root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_binary() {
        assert_eq!(parse_size("32K"), Some(32768));
        assert_eq!(parse_size("24684084 kB"), Some(24_684_084 * 1024));
        assert_eq!(parse_size("7"), Some(7));
        assert_eq!(parse_size("99999999999999999999G"), None);
        assert_eq!(parse_size("18446744073709551615G"), None);
        assert_eq!(parse_size("K"), None);
    }

    #[test]
    fn the_choice_is_the_one_in_brackets() {
        assert_eq!(bracketed("always [madvise] never"), Some("madvise"));
        assert_eq!(bracketed("none"), None);
        assert_eq!(bracketed("]["), None);
    }

    #[test]
    fn what_json_cannot_write_is_no_number() {
        assert_eq!(decimal(" 2.5 "), Some(2.5));
        assert_eq!((decimal("nan"), decimal("inf"), decimal("1e300")), (None, None, None));
    }

    #[test]
    fn a_folder_is_not_read_as_a_file() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir(tree.path().join("proc")).unwrap();
        assert!(Root::new(tree.path()).text("/proc").value().is_none());
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "\\PC*") {
            let _ = (parse_size(&text), bracketed(&text), field(&text, "a"), parse_hex(&text));
        }

        #[test]
        fn every_size_that_fits_is_read_back(number in 0u64..(1 << 50)) {
            prop_assert_eq!(parse_size(&format!("{number}K")), Some(number << 10));
        }
    }
}
