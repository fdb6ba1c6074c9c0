//! Control groups of a test's own.

use crate::tier::{Outcome, skipped};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A control group of the version that this machine has, gone when it is dropped.
pub struct Group {
    pub path: PathBuf,
    pub unified: bool,
}

impl Group {
    /// Skips the test where there is no such group to be had.
    pub fn new(controller: &str) -> Outcome<Self> {
        let unified = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        let above =
            if unified { "/sys/fs/cgroup".to_owned() } else { format!("/sys/fs/cgroup/{controller}") };
        let path = PathBuf::from(above).join(format!("fathom-test-{}-{controller}", std::process::id()));
        match std::fs::create_dir(&path) {
            Ok(()) => Ok(Group { path, unified }),
            Err(error) => skipped(format!("no control group for {controller}: {error}")),
        }
    }

    /// Writes a setting, under its name in version 1 or 2; skips the test where the kernel refuses.
    pub fn set(&self, (old, old_value): (&str, String), (new, new_value): (&str, String)) -> Outcome {
        let (name, value) = if self.unified { (new, new_value) } else { (old, old_value) };
        let written = std::fs::write(self.path.join(name), value);
        written.or_else(|error| skipped(format!("{name} cannot be set: {error}")))
    }

    pub fn entrance(&self) -> String {
        self.path.join("cgroup.procs").display().to_string()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its last process may still be on its way out.
        let began = Instant::now();
        while std::fs::remove_dir(&self.path).is_err() && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
