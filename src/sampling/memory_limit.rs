//! The limit on memory that a measuring process works within where it is to fill the page cache: the page cache of a control
//! group is what the limit leaves of it (kernel, `cgroup-v1/memory.rst` and `cgroup-v2.rst`).

use crate::experiment::{Failure, Requirement};
use crate::machine;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How a process comes to have no more memory than [`Requirement::LIMIT_BYTES`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum MemoryLimit {
    /// There is no more, or a limit around the run is as tight.
    AsFound,
    /// It joins the control group of this folder, which the run has made.
    Group(PathBuf),
    /// It is started in a scope of the user's own, which ends with it.
    Scope(Scope),
}

/// What starts a process in a control group of its own for an ordinary user (systemd-run(1)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// `systemd-run`.
    pub program: PathBuf,
    /// What it finds the user's service manager by.
    pub environment: Vec<(String, String)>,
}

impl Scope {
    /// What it is told to become a program within the limit.
    pub fn arguments(&self, program: &Path) -> Vec<OsString> {
        let limit = format!("MemoryMax={}", Requirement::LIMIT_BYTES);
        let told = ["--user", "--scope", "--quiet", "--collect", "-p", &limit, "--"];
        told.into_iter().map(OsString::from).chain([program.into()]).collect()
    }
}

impl MemoryLimit {
    /// Has this process within the limit from now on, and makes sure of it.
    pub fn enter(&self) -> Result<(), Failure> {
        if let MemoryLimit::Group(folder) = self {
            // 0 is whoever writes (cgroups(7)).
            std::fs::write(folder.join("cgroup.procs"), "0").map_err(|error| {
                Failure::Broke(format!("joining the control group {}: {error}", folder.display()))
            })?;
        }
        if machine::memory_ceiling().is_some_and(|ceiling| ceiling <= Requirement::LIMIT_BYTES) {
            return Ok(());
        }
        Err(Failure::Unsupported(
            "a memory limit was set but has no effect: the controller \"memory\" is not delegated to this user's \
             control groups"
                .to_owned(),
        ))
    }
}
