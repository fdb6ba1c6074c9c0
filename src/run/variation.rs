//! The settings that differ between the two halves of an interleaved measurement, and how they are applied around each
//! visit.

use anyhow::{Context, Result, anyhow, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// One setting of a half of an interleaved measurement, as written on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variation {
    written: String,
    sets: Sets,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Sets {
    /// Files of the kernel to which a value is written: `sysctl:NAME=VALUE`, `file:PATH=VALUE`, `governor:NAME`.
    Files(Vec<PathBuf>, String),
    /// A variable in the environment of measuring processes: `env:NAME=VALUE`.
    Environment(String, String),
    /// A command that starts measuring processes, such as `numactl --membind=1`: `prefix:COMMAND`.
    Prefix(Vec<String>),
    /// The folder in which experiments create files: `dir:FOLDER`.
    Folder(PathBuf),
    /// The CPU for pinned work: `cpu:NUMBER`.
    Cpu(usize),
}

/// The folder with the governor of each CPU.
const GOVERNORS: &str = "/sys/devices/system/cpu";

impl fmt::Display for Variation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl FromStr for Variation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Variation { written: text.to_owned(), sets: sets(text)? })
    }
}

fn sets(text: &str) -> Result<Sets, String> {
    let (kind, rest) = text.split_once(':').ok_or_else(unknown)?;
    let pair = || rest.split_once('=').ok_or_else(|| format!("`{kind}:` needs NAME=VALUE"));
    match kind {
        "sysctl" => {
            let (name, value) = pair()?;
            let path = format!("/proc/sys/{}", name.replace('.', "/"));
            Ok(Sets::Files(vec![kernel_file(&path)?], value.to_owned()))
        }
        "file" => {
            pair().and_then(|(path, value)| Ok(Sets::Files(vec![kernel_file(path)?], value.to_owned())))
        }
        "governor" => Ok(Sets::Files(governors(), rest.to_owned())),
        "env" => pair().map(|(name, value)| Sets::Environment(name.to_owned(), value.to_owned())),
        "prefix" if rest.trim().is_empty() => Err("`prefix:` needs a command".to_owned()),
        "prefix" => Ok(Sets::Prefix(rest.split_whitespace().map(str::to_owned).collect())),
        "dir" => Ok(Sets::Folder(rest.into())),
        "cpu" => rest.parse().map(Sets::Cpu).map_err(|_| "`cpu:` needs a number".to_owned()),
        _ => Err(unknown()),
    }
}

fn unknown() -> String {
    "a setting is sysctl:NAME=VALUE, file:PATH=VALUE, governor:NAME, env:NAME=VALUE, prefix:COMMAND, dir:FOLDER or cpu:NUMBER"
        .to_owned()
}

/// Only files that the kernel provides are accepted: any other file has content that a short value would destroy.
fn kernel_file(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    let below = ["/proc/", "/sys/"].iter().any(|root| path.starts_with(root));
    let plain = !path.components().any(|part| part == std::path::Component::ParentDir);
    if below && plain { Ok(path) } else { Err("`file:` only sets files below /proc and /sys".to_owned()) }
}

fn governors() -> Vec<PathBuf> {
    let cpus = std::fs::read_dir(GOVERNORS).into_iter().flatten().flatten();
    let file = cpus.map(|cpu| cpu.path().join("cpufreq/scaling_governor")).filter(|file| file.exists());
    let mut found: Vec<PathBuf> = file.collect();
    found.sort();
    found
}

/// All settings of one half.
#[derive(Debug, Clone, Default)]
pub struct Arrangement {
    files: BTreeMap<PathBuf, String>,
    /// Additional variables in the environment of measuring processes.
    pub environment: Vec<(String, String)>,
    /// The command that starts measuring processes; empty for none.
    pub prefix: Vec<OsString>,
    /// The folder in which experiments create files.
    pub folder: Option<PathBuf>,
    /// The CPU for pinned work.
    pub cpu: Option<usize>,
}

impl Arrangement {
    /// Combines these variations; of contradictory ones the last counts.
    pub fn of(variations: &[Variation]) -> Result<Self> {
        let mut all = Arrangement::default();
        for variation in variations {
            match variation.sets.clone() {
                Sets::Files(files, _) if files.is_empty() => {
                    bail!("this machine has no frequency governor to set: no CPU has a frequency driver")
                }
                Sets::Files(files, value) => {
                    all.files.extend(files.into_iter().map(|file| (file, value.clone())));
                }
                Sets::Environment(name, value) => all.environment.push((name, value)),
                Sets::Prefix(words) => all.prefix = words.into_iter().map(OsString::from).collect(),
                Sets::Folder(folder) => all.folder = Some(folder),
                Sets::Cpu(cpu) => all.cpu = Some(cpu),
            }
        }
        Ok(all)
    }

    /// Writes its files, and restores all others to their original values.
    pub(super) fn set(&self, originals: &Originals) -> Result<()> {
        originals
            .0
            .iter()
            .try_for_each(|(file, original)| put(file, self.files.get(file).unwrap_or(original)))
    }

    /// Writes every file once, so that failures are found before anything is measured.
    pub(super) fn attempt(&self, originals: &Originals) -> Result<()> {
        self.set(originals)?;
        for (file, value) in &self.files {
            let found = chosen(&read(file)?);
            if found.split_whitespace().ne(value.split_whitespace()) {
                bail!(
                    "{} was set to `{value}` but reads `{found}`: the kernel does not accept that value",
                    file.display()
                );
            }
        }
        Ok(())
    }
}

/// The values of the files of both halves before any change.
#[derive(Debug, Clone, Default)]
pub(super) struct Originals(pub BTreeMap<PathBuf, String>);

impl Originals {
    /// Reads the files of these arrangements.
    pub fn of(arrangements: [&Arrangement; 2]) -> Result<Self> {
        let files = arrangements.into_iter().flat_map(|all| all.files.keys());
        files.map(|file| Ok((file.clone(), chosen(&read(file)?)))).collect::<Result<_>>().map(Originals)
    }

    /// Restores all files.
    pub fn restore(&self) -> Result<()> {
        self.0.iter().try_for_each(|(file, original)| put(file, original))
    }
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn put(file: &Path, value: &str) -> Result<()> {
    std::fs::write(file, value).map_err(|error| {
        anyhow!("{} cannot be set to `{value}`: {error} (kernel settings need root)", file.display())
    })
}

/// The value of a file: in a list with one word in brackets that word, as in `always [madvise] never`.
fn chosen(text: &str) -> String {
    let bracketed = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    bracketed.unwrap_or(text.trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_are_written() {
        let files = |path: &str, value: &str| Ok(Sets::Files(vec![path.into()], value.to_owned()));
        assert_eq!(sets("sysctl:vm.swappiness=10"), files("/proc/sys/vm/swappiness", "10"));
        assert_eq!(sets("file:/sys/kernel/x=a b"), files("/sys/kernel/x", "a b"));
        assert_eq!(sets("cpu:3"), Ok(Sets::Cpu(3)));
        assert_eq!(sets("env:A=b=c"), Ok(Sets::Environment("A".to_owned(), "b=c".to_owned())));
        for wrong in [
            "file:/etc/passwd=x",
            "file:/proc/../etc/passwd=x",
            "sysctl:x",
            "cpu:all",
            "prefix: ",
            "swap:off",
        ] {
            assert!(wrong.parse::<Variation>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_are_set_for_each_half_and_set_back() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::fs::write(&one, "always [madvise] never\n").unwrap();
        std::fs::write(&other, "7\n").unwrap();
        let sets = |file: &PathBuf, value: &str| Variation {
            written: String::new(),
            sets: Sets::Files(vec![file.clone()], value.to_owned()),
        };
        let first = Arrangement::of(&[sets(&one, "never")]).unwrap();
        let second = Arrangement::of(&[sets(&other, "8")]).unwrap();
        let originals = Originals::of([&first, &second]).unwrap();
        let said = || [&one, &other].map(|file| std::fs::read_to_string(file).unwrap());
        first.set(&originals).unwrap();
        assert_eq!(said(), ["never", "7"]);
        second.set(&originals).unwrap();
        assert_eq!(said(), ["madvise", "8"]);
        originals.restore().unwrap();
        assert_eq!(said(), ["madvise", "7"]);
    }
}
