//! The settings that differ between the two halves of an interleaved measurement, and how they are applied around each
//! visit.

use super::setting_file::{self, put, value};
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// One setting of a half of an interleaved measurement, as written on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variation {
    text: String,
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
        f.write_str(&self.text)
    }
}

impl FromStr for Variation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Variation { text: text.to_owned(), sets: sets(text)? })
    }
}

fn sets(text: &str) -> Result<Sets, String> {
    let (kind, rest) = text.split_once(':').ok_or_else(unknown)?;
    let pair = || rest.split_once('=').ok_or_else(|| format!("`{kind}:` needs NAME=VALUE"));
    match kind {
        "sysctl" => {
            let (name, value) = pair()?;
            let path = format!("/proc/sys/{}", name.replace('.', "/"));
            Ok(Sets::Files(vec![setting_file::place(&path)?], value.to_owned()))
        }
        "file" => pair()
            .and_then(|(path, value)| Ok(Sets::Files(vec![setting_file::place(path)?], value.to_owned()))),
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

fn governors() -> Vec<PathBuf> {
    let cpus = std::fs::read_dir(GOVERNORS).into_iter().flatten().flatten();
    let file = cpus.map(|cpu| cpu.path().join("cpufreq/scaling_governor")).filter(|file| file.exists());
    let mut paths: Vec<PathBuf> = file.collect();
    paths.sort();
    paths
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

    /// The files that it sets, with their values.
    pub(super) fn files(&self) -> &BTreeMap<PathBuf, String> {
        &self.files
    }

    /// Writes its files, and restores all others to their original values.
    pub(super) fn set(&self, originals: &Originals) -> Result<()> {
        every(originals.0.iter().map(|(file, original)| put(file, self.files.get(file).unwrap_or(original))))
    }

    /// Writes every file once, so that failures are found before anything is measured.
    pub(super) fn attempt(&self, originals: &Originals) -> Result<()> {
        self.set(originals)?;
        for (file, value_to_set) in &self.files {
            let current = value(file)?;
            if current.split_whitespace().ne(value_to_set.split_whitespace()) {
                bail!(
                    "{} was set to `{value_to_set}` but reads `{current}`: the kernel does not accept that value",
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
    pub fn of(arrangements: [&Arrangement; 2]) -> Result<Self> {
        let files = arrangements.into_iter().flat_map(|all| all.files.keys());
        files.map(|file| Ok((file.clone(), value(file)?))).collect::<Result<_>>().map(Originals)
    }

    pub fn restore(&self) -> Result<()> {
        every(self.0.iter().map(|(file, original)| put(file, original)))
    }
}

/// Does all of it, also after a failure; all failures are one.
pub(super) fn every(results: impl Iterator<Item = Result<()>>) -> Result<()> {
    let failures: Vec<String> = results.filter_map(Result::err).map(|error| format!("{error:#}")).collect();
    if failures.is_empty() { Ok(()) } else { bail!("{}", failures.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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

    /// Files of this process alone, which anybody may set: what a core dump would contain, and the name of a thread.
    const ONE: &str = "/proc/self/coredump_filter";

    fn own_name() -> String {
        // SAFETY: asks for a number.
        format!("/proc/self/task/{}/comm", unsafe { libc::gettid() })
    }

    fn sets_file(file: &str, value: &str) -> Variation {
        Variation { text: String::new(), sets: Sets::Files(vec![file.into()], value.to_owned()) }
    }

    #[test]
    fn files_are_set_for_each_half_and_set_back() {
        let other = own_name();
        let name = value(Path::new(&other)).unwrap();
        let first = Arrangement::of(&[sets_file(ONE, "0x21")]).unwrap();
        let second = Arrangement::of(&[sets_file(&other, "second")]).unwrap();
        let originals = Originals::of([&first, &second]).unwrap();
        // Written as a number of any base, and read as one of base 16 without its mark.
        let hexadecimal = |(file, value): (PathBuf, String)| {
            let value = if file == Path::new(ONE) { format!("0x{value}") } else { value };
            (file, value)
        };
        let originals = Originals(originals.0.into_iter().map(hexadecimal).collect());
        let values = || [ONE, &other].map(|file| value(Path::new(file)).unwrap());
        let before = values();
        first.set(&originals).unwrap();
        assert_eq!(values(), ["00000021".to_owned(), name.clone()]);
        second.set(&originals).unwrap();
        assert_eq!(values(), [before[0].clone(), "second".to_owned()]);
        originals.restore().unwrap();
        assert_eq!(values(), before);
    }

    /// The file that cannot be written comes first.
    #[test]
    fn every_file_is_tried_and_every_failure_told() {
        let other = own_name();
        let name = value(Path::new(&other)).unwrap();
        put(Path::new(&other), "changed").unwrap();
        let missing = ["/proc/0/gone", "/sys/gone"].map(|file| (PathBuf::from(file), "1".to_owned()));
        let present = (PathBuf::from(&other), name.clone());
        let all = Originals(missing.into_iter().chain([present]).collect());
        let message = all.restore().unwrap_err().to_string();
        assert_eq!(value(Path::new(&other)).unwrap(), name);
        assert!(message.contains("/proc/0/gone") && message.contains("/sys/gone"), "{message}");
    }
}
