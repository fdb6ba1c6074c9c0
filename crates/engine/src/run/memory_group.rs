//! The limit on memory of trials that fill the page cache: a control group that the run makes and removes, or a scope of
//! systemd's for a user who may not make one. After a kill the next run removes the group.

use fathom_core::experiment::Requirement;
use fathom_core::machine::{self, GroupParent};
use fathom_core::sampling::{MemoryLimit, Scope, owner::Owner};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The longest time that killed processes may take to leave a group.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The limit on the memory of a run's trials; a group is removed when it is dropped.
pub struct MemoryGroup {
    limit: Result<MemoryLimit, String>,
}

impl MemoryGroup {
    /// No limit if memory is small enough, otherwise a control group, otherwise a scope.
    pub fn new() -> Self {
        let ceiling = machine::memory_ceiling();
        if ceiling.is_some_and(|ceiling| ceiling <= Requirement::LIMIT_BYTES) {
            return MemoryGroup { limit: Ok(MemoryLimit::AsFound) };
        }
        let limit = machine::memory_parent().and_then(|parent| make_group(&parent)).map(MemoryLimit::Group);
        let limit = limit.or_else(|no_group| scope().map_err(|no_scope| neither(&no_group, &no_scope)));
        MemoryGroup { limit }
    }

    /// The limit, or the reason why there is none with the remedy.
    pub fn limit(&self) -> &Result<MemoryLimit, String> {
        &self.limit
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let Ok(MemoryLimit::Group(folder)) = &self.limit else { return };
        let began = Instant::now();
        while std::fs::remove_dir(folder).is_err() && began.elapsed() < SHUTDOWN_TIMEOUT {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Removes the groups of runs that no longer exist from the parents of this run's groups. A group that contains a process
/// cannot be removed.
pub fn sweep() {
    // `fathom verify` makes groups with a quota, and with a limit on a device.
    for parent in ["memory", "cpu", "blkio", "io"].map(machine::group_parent).into_iter().flatten() {
        sweep_below(&parent.folder);
    }
}

fn sweep_below(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().and_then(Owner::of_name).is_some_and(|owner| owner.is_gone()) {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

/// The number of groups that this process has made: two runs that are measured alternately have one each.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A new group with its limit set.
fn make_group(parent: &GroupParent) -> Result<PathBuf, String> {
    let owner = Owner::of(std::process::id()).ok_or("/proc does not show this process")?;
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let folder = parent.folder.join(owner.name(&format!("{number}-memory")));
    let failed = |error| format!("{}: {error}", folder.display());
    std::fs::create_dir(&folder).map_err(failed)?;
    let file = if parent.version == 2 { "memory.max" } else { "memory.limit_in_bytes" };
    std::fs::write(folder.join(file), Requirement::LIMIT_BYTES.to_string()).map_err(|error| {
        let _ = std::fs::remove_dir(&folder);
        failed(error)
    })?;
    Ok(folder)
}

/// Checks that this user's service manager starts processes within the limit, by starting one that does nothing.
fn scope() -> Result<MemoryLimit, String> {
    if let Some(limit) = machine::limit_left_for_a_scope() {
        return Err(format!("a scope would not have the limit of this control group, {limit}"));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = std::env::split_paths(&path).map(|folder| folder.join("systemd-run"));
    let program = program.into_iter().find(|program| program.is_file()).ok_or("there is no systemd-run")?;
    let named = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
    let environment = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"].into_iter().filter_map(named).collect();
    let scope = Scope { program, environment };
    let mut command = Command::new(&scope.program);
    let tried = command.args(scope.arguments(Path::new("true"))).stdin(Stdio::null()).output();
    let tried = tried.map_err(|error| format!("systemd-run: {error}"))?;
    if tried.status.success() {
        return Ok(MemoryLimit::Scope(scope));
    }
    let words = String::from_utf8_lossy(&tried.stderr);
    Err(format!("systemd-run --user --scope: {}", words.lines().next().unwrap_or("failed without a message")))
}

fn neither(no_group: &str, no_scope: &str) -> String {
    format!(
        "this needs a memory limit of 512 MiB, and none could be set: neither a control group ({no_group}) nor a scope \
         ({no_scope}) could be made. Run as root, or run within a limit (sudo systemd-run --scope -p MemoryMax=512M \
         --uid=$USER fathom …, or docker run --memory 512m)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_the_limit_in_the_file_of_its_version() {
        for (version, file) in [(1, "memory.limit_in_bytes"), (2, "memory.max")] {
            let place = tempfile::tempdir().unwrap();
            let folder =
                make_group(&GroupParent { version, folder: place.path().to_owned(), own: PathBuf::new() })
                    .unwrap();
            assert_eq!(std::fs::read_to_string(folder.join(file)).unwrap(), "536870912");
        }
    }

    #[test]
    fn two_runs_of_one_process_have_a_group_each() {
        let place = tempfile::tempdir().unwrap();
        let parent = GroupParent { version: 2, folder: place.path().to_owned(), own: PathBuf::new() };
        let (one, other) = (make_group(&parent).unwrap(), make_group(&parent).unwrap());
        assert!(one != other && one.is_dir() && other.is_dir());
        let swept =
            |folder: &Path| folder.file_name().and_then(|name| Owner::of_name(name.to_str()?)).is_some();
        assert!(swept(&one) && swept(&other), "the next run knows them by their names");
    }

    #[test]
    fn where_no_limit_can_be_set_nothing_stays() {
        let place = tempfile::tempdir().unwrap();
        let nowhere = GroupParent { version: 2, folder: place.path().join("missing"), own: PathBuf::new() };
        assert!(make_group(&nowhere).unwrap_err().contains("missing"));
        let message = neither("mkdir: Permission denied", "there is no systemd-run");
        assert!(message.contains("MemoryMax=512M") && message.contains("Permission denied"), "{message}");
    }

    #[test]
    fn groups_of_runs_that_are_gone_are_swept_and_no_others() {
        let place = tempfile::tempdir().unwrap();
        let own = Owner::of(std::process::id()).unwrap().name("memory");
        let dead = Owner::ended().name("memory");
        for name in [dead.as_str(), own.as_str(), "system.slice"] {
            std::fs::create_dir(place.path().join(name)).unwrap();
        }
        sweep_below(place.path());
        let entries = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut entries: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        entries.sort();
        assert_eq!(entries, [own, "system.slice".to_owned()]);
    }
}
