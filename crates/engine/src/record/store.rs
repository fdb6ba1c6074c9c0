//! The storage of run files: plain files in the user's data folder, which can be copied, mailed and compared.

use super::door::Unfinished;
use super::{Header, Line, Run, lines, regular};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The extension of run files.
pub const EXTENSION: &str = "jsonl";

/// The extension of those that gzip has packed.
const PACKED: &str = "jsonl.gz";

/// The folder of run files: `$XDG_DATA_HOME/fathom/runs`, `~/.local/share/fathom/runs`, or in the current folder if there is
/// no home.
pub fn folder() -> PathBuf {
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    data.map_or_else(|| PathBuf::from("."), |data| data.join("fathom/runs"))
}

/// The path of the last verification of the instrument: `$XDG_STATE_HOME/fathom/verification.json`, or below
/// `~/.local/state`; `None` if there is no home.
pub fn verification() -> Option<PathBuf> {
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("fathom/verification.json"))
}

/// The folder of the records of what `fathom ab` has set: `$XDG_STATE_HOME/fathom/set`, or below `~/.local/state`; `None` if
/// there is no home.
pub fn set_ledger() -> Option<PathBuf> {
    verification().map(|path| path.with_file_name("set"))
}

/// A path from an environment variable.
fn set(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The path of a new run that began at this time (RFC 3339); the seed distinguishes two runs of one second.
pub fn new_path(started: &str, seed: u64) -> PathBuf {
    let time = started.replace(':', "-");
    folder().join(format!("{time}-{:06x}.{EXTENSION}", seed & 0xff_ffff))
}

/// Every run file of a folder, by name; the names of stored runs begin with the time.
pub fn all(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    // A pipe under such a name, which anybody may put into a shared folder, would be waited for without end.
    paths.retain(|path| stem(path).is_some() && path.is_file());
    paths.sort();
    Ok(paths)
}

/// The name of a run file without its extension; `None` if it has that of another file.
pub fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let [plain, packed] = [EXTENSION, PACKED].map(|ending| name.strip_suffix(ending)?.strip_suffix('.'));
    plain.or(packed).filter(|stem| !stem.is_empty())
}

/// The newest run file of the folder; names begin with the time. `None` if there is none.
pub fn latest(folder: &Path) -> Option<PathBuf> {
    all(folder).ok()?.pop()
}

/// The newest run file of the folder with a suitable header; only the header of each is read.
pub fn newest(folder: &Path, is_wanted: impl Fn(&Header) -> bool) -> Option<PathBuf> {
    all(folder).ok()?.into_iter().rev().find(|path| header(path).is_some_and(|header| is_wanted(&header)))
}

/// The largest header, bytes. A plan of ten thousand points has a few million.
const LONGEST_HEADER: u64 = 1 << 28;

fn header(path: &Path) -> Option<Header> {
    let mut line = String::new();
    let file = regular::content(regular::open(path).ok()?).ok()?;
    BufReader::new(file.take(LONGEST_HEADER)).read_line(&mut line).ok()?;
    match lines::line::<Run>(&line).ok()? {
        Line::Header(header) => Some(*header),
        _ => None,
    }
}

/// The folder of the baselines of this name.
pub fn baseline(name: &str) -> PathBuf {
    folder().with_file_name("baselines").join(name)
}

/// Copies a run file to the baselines of this name, and returns its path: with the name of a stored run, so that successive
/// runs under one baseline name are all kept. An earlier copy of the same run gives way to it, and no other file does.
pub fn keep_as_baseline(run_file: &Path, run: &Header, name: &str) -> anyhow::Result<PathBuf> {
    let folder = baseline(name);
    std::fs::create_dir_all(&folder)?;
    let own = new_path(&run.started, run.settings.seed);
    let copy = folder.join(own.file_name().unwrap_or_default());
    let earlier = copy.symlink_metadata().ok();
    if earlier.is_some() && header(&copy).as_ref() != Some(run) {
        anyhow::bail!("{} exists already and is not this run", copy.display());
    }
    let mut file = Unfinished::beside(&copy, earlier.as_ref())?;
    io::copy(&mut regular::open(run_file)?, &mut file)?;
    file.keep()?;
    Ok(copy)
}

/// The path of a new replication of a report; see [`new_path`].
pub fn replication_path(report: &str, started: &str, seed: u64) -> PathBuf {
    let name = new_path(started, seed);
    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    folder().with_file_name("replications").join(format!("{report}-{name}"))
}
