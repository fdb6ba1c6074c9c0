//! A control group with a quota of processor time, for a process that this one has started.

use fathom_core::machine::{self, GroupParent};
use fathom_core::prelude::*;
use fathom_core::sampling::owner::Owner;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A group, removed when it is dropped; its process must have ended by then. After a kill the next run removes it.
#[derive(Debug)]
pub struct QuotaGroup {
    folder: PathBuf,
}

/// What the group's own account says: periods in which one of its processes wanted to run, and those in which they were stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Periods {
    pub all: u64,
    pub throttled: u64,
}

impl QuotaGroup {
    /// A group that may use `quota_us` of every `period_us`.
    pub fn new(quota_us: u64, period_us: u64) -> Result<Self, Failure> {
        let parent = machine::group_parent("cpu").map_err(|reason| unavailable(&reason))?;
        let owner =
            Owner::of(std::process::id()).ok_or_else(|| unavailable("/proc does not show this process"))?;
        QuotaGroup::below(&parent, &owner, quota_us, period_us)
    }

    fn below(parent: &GroupParent, owner: &Owner, quota_us: u64, period_us: u64) -> Result<Self, Failure> {
        let folder = parent.folder.join(owner.name("quota"));
        let failed = |error| unavailable(&format!("{}: {error}", folder.display()));
        std::fs::create_dir(&folder).map_err(failed)?;
        let group = QuotaGroup { folder };
        let settings: &[(&str, String)] = if parent.version == 1 {
            &[("cpu.cfs_period_us", period_us.to_string()), ("cpu.cfs_quota_us", quota_us.to_string())]
        } else {
            &[("cpu.max", format!("{quota_us} {period_us}"))]
        };
        settings.iter().try_for_each(|(file, value)| group.write(file, value))?;
        Ok(group)
    }

    fn write(&self, file: &str, value: &str) -> Result<(), Failure> {
        let path = self.folder.join(file);
        std::fs::write(&path, value).map_err(|error| unavailable(&format!("{}: {error}", path.display())))
    }

    /// Moves a process into the group.
    pub fn take(&self, process: libc::pid_t) -> Result<(), Failure> {
        self.write("cgroup.procs", &process.to_string())
    }

    pub fn periods(&self) -> Result<Periods, Failure> {
        let path = self.folder.join("cpu.stat");
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|error| Failure::Broke(format!("{}: {error}", path.display())))?;
        periods_in(&text, &path)
    }
}

fn periods_in(text: &str, path: &Path) -> Result<Periods, Failure> {
    let of = |name: &str| {
        let count = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        count.ok_or_else(|| Failure::Broke(format!("{} has no {name}", path.display())))
    };
    Ok(Periods { all: of("nr_periods ")?, throttled: of("nr_throttled ")? })
}

fn unavailable(reason: &str) -> Failure {
    Failure::Unsupported(format!(
        "a quota of processor time needs root, or a control group that is delegated to this user (systemd-run --user --scope -p \
         Delegate=yes): {reason}"
    ))
}

impl Drop for QuotaGroup {
    fn drop(&mut self) {
        // Its process may still be exiting.
        for _ in 0..100 {
            if std::fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_its_quota_in_the_files_of_its_version() {
        let owner = Owner::of(std::process::id()).unwrap();
        for (version, file, value) in [(1, "cpu.cfs_quota_us", "10000"), (2, "cpu.max", "10000 20000")] {
            let place = tempfile::tempdir().unwrap();
            let parent = GroupParent { version, folder: place.path().to_owned(), own: PathBuf::new() };
            let group = QuotaGroup::below(&parent, &owner, 10_000, 20_000).unwrap();
            assert_eq!(std::fs::read_to_string(group.folder.join(file)).unwrap(), value);
            let name = group.folder.file_name().and_then(|name| Owner::of_name(name.to_str()?));
            assert!(name.is_some(), "the next run knows it by its name");
            std::fs::remove_dir_all(&group.folder).unwrap();
        }
        let nowhere = GroupParent { version: 2, folder: PathBuf::from("/nowhere"), own: PathBuf::new() };
        let refusal = QuotaGroup::below(&nowhere, &owner, 1, 2).unwrap_err();
        assert!(
            matches!(&refusal, Failure::Unsupported(reason) if reason.contains("needs root")),
            "{refusal}"
        );
    }

    #[test]
    fn periods_are_those_of_the_groups_account() {
        let text = "usage_usec 71\nnr_periods 12\nnr_throttled 3\nthrottled_usec 7\n";
        assert_eq!(periods_in(text, Path::new("x")).unwrap(), Periods { all: 12, throttled: 3 });
        assert!(periods_in("nr_periods 12\n", Path::new("x")).is_err());
    }
}
