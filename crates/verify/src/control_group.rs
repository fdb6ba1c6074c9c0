//! A control group with a limit, which contains this process and those that it starts for a while.

use super::rig::cannot_undo;
use fathom_core::machine;
use fathom_core::sampling::owner::Owner;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A setting with its names in versions 1 and 2 of control groups.
pub struct GroupSetting<'a> {
    pub one: (&'a str, String),
    pub two: (&'a str, String),
}

/// A group that contains this process, which leaves and removes it when this is dropped. After a kill the next run removes
/// it.
pub struct ControlGroup {
    folder: PathBuf,
    before: PathBuf,
}

impl ControlGroup {
    /// Makes a group with these settings and joins it.
    pub fn joined(controller: &str, settings: &[GroupSetting]) -> Result<Self, String> {
        let parent = machine::group_parent(controller)?;
        let owner = Owner::of(std::process::id()).ok_or("/proc does not show this process")?;
        let folder = parent.folder.join(owner.name(controller));
        let needs = |error| format!("a control group with a limit needs root: {}: {error}", folder.display());
        std::fs::create_dir(&folder).map_err(needs)?;
        let group = ControlGroup { folder, before: parent.own };
        for GroupSetting { one, two } in settings {
            let (name, value) = if parent.version == 1 { one } else { two };
            let path = group.folder.join(name);
            std::fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        enter(&group.folder)?;
        Ok(group)
    }

    /// Bytes of files in the group's memory, by its own account; for a group with a limit on memory.
    pub fn watch_cached(&self) -> impl Fn() -> f64 + Send + 'static {
        let path = self.folder.join("memory.stat");
        move || {
            let stat = std::fs::read_to_string(&path).unwrap_or_default();
            let of = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
            // The names in version 2 and in version 1.
            of("file ").or_else(|| of("cache ")).unwrap_or(0.0)
        }
    }
}

/// Moves this process into a group.
fn enter(folder: &Path) -> Result<(), String> {
    let path = folder.join("cgroup.procs");
    // 0 is the writing process (cgroups(7)).
    std::fs::write(&path, "0").map_err(|error| format!("{}: {error}", path.display()))
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        if let Err(error) = enter(&self.before) {
            return cannot_undo(format!("this process cannot return to its control group: {error}"));
        }
        let mut removed = Ok(());
        // Its last process may still be exiting.
        for _ in 0..100 {
            removed = std::fs::remove_dir(&self.folder);
            if removed.is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        if let Err(error) = removed {
            cannot_undo(format!("the control group {} cannot be removed: {error}", self.folder.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::ensure_undone;
    use super::*;

    #[test]
    fn a_group_that_cannot_be_left_ends_the_verification_in_words() {
        assert!(ensure_undone().is_ok());
        let place = tempfile::tempdir().unwrap();
        let nowhere = place.path().join("missing");
        drop(ControlGroup { folder: place.path().join("group"), before: nowhere.clone() });
        let told = ensure_undone().unwrap_err().to_string();
        assert!(told.contains("cannot return") && told.contains(&nowhere.display().to_string()), "{told}");
    }
}
