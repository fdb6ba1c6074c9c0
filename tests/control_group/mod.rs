//! Control groups of a test's own.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A control group of the version that this machine has, gone when it is dropped.
pub struct Group {
    pub path: PathBuf,
    pub unified: bool,
}

impl Group {
    pub fn new(controller: &str) -> Option<Self> {
        let unified = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        let above =
            if unified { "/sys/fs/cgroup".to_owned() } else { format!("/sys/fs/cgroup/{controller}") };
        let path = PathBuf::from(above).join(format!("fathom-test-{}-{controller}", std::process::id()));
        let made = std::fs::create_dir(&path);
        if let Err(error) = &made {
            eprintln!("not tested, because there is no control group for {controller}: {error}");
        }
        made.ok().map(|()| Group { path, unified })
    }

    /// Writes a setting, under its name in version 1 or 2; says so where the kernel refuses.
    pub fn set(&self, (old, old_value): (&str, String), (new, new_value): (&str, String)) -> bool {
        let (name, value) = if self.unified { (new, new_value) } else { (old, old_value) };
        let written = std::fs::write(self.path.join(name), value);
        written.inspect_err(|error| eprintln!("not tested, because {name} cannot be set: {error}")).is_ok()
    }

    pub fn entrance(&self) -> String {
        self.path.join("cgroup.procs").display().to_string()
    }

    /// Bytes of files that the group's memory holds.
    pub fn cached(&self) -> f64 {
        let stat = std::fs::read_to_string(self.path.join("memory.stat")).unwrap_or_default();
        let name = if self.unified { "file " } else { "cache " };
        stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0.0)
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
