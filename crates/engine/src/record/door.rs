//! The one door through which files go out that a command was asked for: reports, exports, summaries, copies of runs.
//!
//! Nothing that was measured is ever overwritten, whatever was asked: neither a source of the command, by whichever name, nor
//! any file that begins as a run or a replication does. Another file gives way if it is an earlier one of the same kind, or by
//! `--force`. A file is written beside its place and then renamed, so that there is the earlier file or the new one, whole.

use super::regular;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a command reads and may not write, and whether other files of the user's may be overwritten.
#[derive(Debug, Clone, Copy)]
pub struct Door<'a> {
    /// Every file that the command has read.
    pub sources: &'a [PathBuf],
    /// Whether a file that is no earlier one of the same kind is overwritten (`--force`).
    pub force: bool,
}

impl Door<'_> {
    /// Begins a file at a place; `is_earlier` recognises an earlier one of the same kind by its text.
    pub fn begin(&self, path: &Path, is_earlier: &dyn Fn(&str) -> bool) -> Result<Unfinished> {
        let unwritable = || format!("cannot write {}", path.display());
        match path.metadata() {
            Ok(there) if is_stream(&there) => Unfinished::stream(path).with_context(unwritable),
            Ok(there) => {
                self.ensure_may_replace(path, &there, is_earlier)?;
                // The file behind a link is replaced, not the link.
                let place = path.canonicalize().with_context(unwritable)?;
                Unfinished::beside(&place, Some(&there)).with_context(unwritable)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.symlink_metadata().is_ok() {
                    bail!("{} is a link to a file that does not exist: name the file itself", path.display());
                }
                Unfinished::beside(path, None).with_context(unwritable)
            }
            Err(error) => Err(error).with_context(unwritable),
        }
    }

    /// Writes a whole file.
    pub fn write(&self, path: &Path, text: &str, is_earlier: &dyn Fn(&str) -> bool) -> Result<()> {
        let mut file = self.begin(path, is_earlier)?;
        let result = file.write_all(text.as_bytes()).map_err(anyhow::Error::from).and_then(|()| file.keep());
        result.with_context(|| format!("cannot write {}", path.display()))
    }

    /// Adds a text to the end of a file, such as the summary of a continuous-integration system.
    pub fn append(&self, path: &Path, text: &str) -> Result<()> {
        if let Ok(there) = path.metadata() {
            self.ensure_not_measured(path, &there)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    fn ensure_may_replace(
        &self,
        path: &Path,
        there: &Metadata,
        is_earlier: &dyn Fn(&str) -> bool,
    ) -> Result<()> {
        self.ensure_not_measured(path, there)?;
        // Nothing is lost with an empty file.
        if self.force || there.len() == 0 {
            return Ok(());
        }
        if regular::read(path).is_ok_and(|earlier| is_earlier(&earlier)) {
            return Ok(());
        }
        bail!(
            "{} exists and is no earlier report of its kind: choose another name, or overwrite it with `--force`",
            path.display()
        )
    }

    /// Refuses the sources of the command, by any of their names, and whatever begins as a run or a replication does.
    fn ensure_not_measured(&self, path: &Path, there: &Metadata) -> Result<()> {
        if there.is_file() {
            let is = |source: &PathBuf| source.metadata().is_ok_and(|source| is_same(&source, there));
            if self.sources.iter().any(is) {
                bail!(
                    "{} is what the report is made from and would be overwritten: choose another name",
                    path.display()
                );
            }
            if is_measured(path) {
                bail!(
                    "{} is a file of measurements, which is never overwritten: choose another name",
                    path.display()
                );
            }
            return Ok(());
        }
        if is_stream(there) {
            return Ok(());
        }
        bail!("{} is no file: choose another name", path.display())
    }
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// What only passes on: a terminal, a pipe, `/dev/null`. Nothing in it can be overwritten.
fn is_stream(there: &Metadata) -> bool {
    there.file_type().is_char_device() || there.file_type().is_fifo()
}

/// Whether a file begins as a run or a replication does, whatever the order of its keys. One that cannot be read is not known to
/// be none.
fn is_measured(path: &Path) -> bool {
    /// The first value of a file, of which only the kind of its line matters.
    #[derive(Deserialize)]
    struct First {
        line: Option<String>,
    }
    const KINDS: [&str; 2] = ["header", "replication"];
    let Ok(file) = regular::open(path).and_then(regular::content) else { return true };
    let mut text = BufReader::new(file);
    let Ok(head) = text.fill_buf().map(<[u8]>::to_vec) else { return true };
    match serde_json::Deserializer::from_reader(text).into_iter::<First>().next() {
        Some(Ok(first)) => first.line.is_some_and(|kind| KINDS.contains(&kind.as_str())),
        // A run may be torn within its first line.
        Some(Err(_)) => {
            let head: String = String::from_utf8_lossy(&head).split_whitespace().collect();
            head.starts_with('{') && KINDS.iter().any(|kind| head.contains(&format!("\"line\":\"{kind}\"")))
        }
        None => false,
    }
}

/// A file beside its place, or a stream. It has no effect on its place before it is kept, and none is left of one that is not.
pub struct Unfinished {
    file: File,
    /// The name until it is kept, and the place; `None` for a stream.
    way: Option<(PathBuf, PathBuf)>,
    replaces: bool,
}

impl Unfinished {
    /// Begins a file beside its place, with the permissions of the file that it replaces, if any.
    pub fn beside(place: &Path, replaced: Option<&Metadata>) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let beside = place.with_file_name(format!(".fathom-unfinished-{}-{count}", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        let way = Some((beside, place.to_owned()));
        let unfinished = Unfinished { file, way, replaces: replaced.is_some() };
        if let Some(replaced) = replaced {
            unfinished.file.set_permissions(replaced.permissions())?;
        }
        Ok(unfinished)
    }

    fn stream(path: &Path) -> io::Result<Self> {
        Ok(Unfinished { file: OpenOptions::new().write(true).open(path)?, way: None, replaces: false })
    }

    /// Gives the file its name. A name that somebody has taken meanwhile is not taken from them.
    pub fn keep(mut self) -> Result<()> {
        self.file.flush()?;
        let Some((beside, place)) = &self.way else { return Ok(()) };
        if self.replaces {
            std::fs::rename(beside, place)?;
        } else {
            match std::fs::hard_link(beside, place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error.into()),
                // Some file systems know one name a file only.
                Err(_) => std::fs::rename(beside, place)?,
                Ok(()) => std::fs::remove_file(beside)?,
            }
        }
        self.way = None;
        Ok(())
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some((beside, _)) = &self.way {
            let _ = std::fs::remove_file(beside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "{ \"line\": \"header\", \"schema\": 2}\n";

    #[test]
    fn a_run_is_known_by_its_first_value_in_any_order_and_torn() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let is = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            is_measured(file.path())
        };
        let long = format!("{{\"labels\": \"{}\", \"line\": \"header\"}}\n", "x".repeat(1 << 16));
        for run in [
            RUN,
            "\n{\"schema\":2,\"line\":\"replication\"}\n{\"line\":1}",
            &long,
            "{\"line\":\"header\",\"sch",
        ] {
            assert!(is(run), "{run:.60}");
        }
        let report = "{\"points\": [\n{\"line\": \"header\"}]}";
        for other in [report, "", "a page", "{\"line\": 3}", "[{\"line\":\"header\"}]", "{oops}"] {
            assert!(!is(other), "{other}");
        }
        assert!(is_measured(Path::new("/gone")));
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_was_measured_is_never_overwritten_by_whichever_name() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join(name);
        std::fs::write(of("source"), "data").unwrap();
        std::fs::write(of("run"), RUN).unwrap();
        std::fs::hard_link(of("source"), of("second")).unwrap();
        std::os::unix::fs::symlink(of("source"), of("link")).unwrap();
        let sources = [of("source")];
        let door = Door { sources: &sources, force: true };
        for name in ["source", "second", "link", "run"] {
            let before = std::fs::read_to_string(of(name)).unwrap();
            assert!(door.write(&of(name), "report", &|_| true).is_err(), "{name}");
            assert!(door.append(&of(name), "report").is_err(), "{name}");
            assert_eq!(std::fs::read_to_string(of(name)).unwrap(), before);
        }
        assert_eq!(names(folder.path()).len(), 4);
    }

    #[test]
    fn a_foreign_file_gives_way_to_force_alone_and_an_earlier_report_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let write = |force, text: &str| {
            Door { sources: &[], force }.write(&path, text, &|earlier| earlier.starts_with("report"))
        };
        write(false, "report 1").unwrap();
        write(false, "report 2").unwrap();
        std::fs::write(&path, "mine").unwrap();
        let refused = write(false, "report 3").unwrap_err().to_string();
        assert!(refused.contains("--force"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        write(true, "report 4").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "report 4");
        assert_eq!(names(folder.path()), ["x"]);
    }

    #[test]
    fn a_link_leads_to_its_file_and_a_device_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join(name);
        std::fs::write(of("file"), "").unwrap();
        std::os::unix::fs::symlink(of("file"), of("link")).unwrap();
        std::os::unix::fs::symlink(of("nothing"), of("dangling")).unwrap();
        let door = Door { sources: &[], force: false };
        door.write(&of("link"), "text", &|_| false).unwrap();
        assert_eq!(std::fs::read_to_string(of("file")).unwrap(), "text");
        assert!(of("link").is_symlink());
        assert!(door.write(&of("dangling"), "text", &|_| false).is_err());
        door.write(Path::new("/dev/null"), "text", &|_| false).unwrap();
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_name_taken_meanwhile_and_a_file_not_kept_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let door = Door { sources: &[], force: false };
        let mut file = door.begin(&path, &|_| false).unwrap();
        file.write_all(b"report").unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert!(file.keep().is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
        drop(door.begin(&folder.path().join("y"), &|_| false).unwrap());
        assert_eq!(names(folder.path()), ["x"]);
    }
}
