//! The memory limit of a measuring process that fills the page cache: the page cache of a control group can use what the limit
//! leaves (kernel, `cgroup-v1/memory.rst` and `cgroup-v2.rst`).

use crate::experiment::{Failure, Requirement};
use crate::machine;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The way in which a process is limited to [`Requirement::LIMIT_BYTES`] of memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum MemoryLimit {
    /// No action: there is no more memory, or an existing limit around the run is as tight.
    AsFound,
    /// It joins the control group of this folder, which the run has created.
    Group(PathBuf),
    /// It is started in a scope of the user's own, which ends with it.
    Scope(Scope),
}

/// The program that starts a process in its own control group for an ordinary user (systemd-run(1)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// `systemd-run`.
    pub program: PathBuf,
    /// The environment variables by which it finds the user's service manager.
    pub environment: Vec<(String, String)>,
}

impl Scope {
    /// Its arguments for starting a program within the limit.
    pub fn arguments(&self, program: &Path) -> Vec<OsString> {
        let limit = format!("MemoryMax={}", Requirement::LIMIT_BYTES);
        let arguments = ["--user", "--scope", "--quiet", "--collect", "-p", &limit, "--"];
        arguments.into_iter().map(OsString::from).chain([program.into()]).collect()
    }
}

impl MemoryLimit {
    /// Puts this process under the limit from now on, and verifies it.
    pub fn enter(&self) -> Result<(), Failure> {
        if let MemoryLimit::Group(folder) = self {
            // 0 means the process that writes (cgroups(7)).
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
