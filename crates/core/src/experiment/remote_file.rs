//! A file that is read over a network, as described to a trial.

use super::Token;
use crate::machine::RemoteAddress;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A file on a server, and a trial's access to it. Passed to the trial's process only by its standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteFile {
    /// Its address, never that of its folder.
    pub address: RemoteAddress,
    /// Its size, bytes.
    pub bytes: u64,
    /// Whether this run created it, so that its content is known.
    pub own: bool,
    /// The access to it.
    pub access: Access,
}

/// The credentials for a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// The environment variables by which the user's own `ssh` finds its agent and its configuration; a trial's own environment
    /// is empty.
    pub environment: Vec<(String, String)>,
    /// The socket of an `ssh` connection that trials share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<PathBuf>,
    /// The password for a protocol that asks for one itself.
    pub password: Option<Token>,
}

impl Access {
    /// The environment variable for a password. It is not passed to programs that are started.
    pub const PASSWORD: &str = "FATHOM_REMOTE_PASSWORD";

    /// The credentials passed to this process.
    pub fn of_this_process() -> Self {
        let named = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
        let names = ["PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "KRB5CCNAME"];
        Access {
            environment: names.into_iter().filter_map(named).collect(),
            shared: None,
            password: std::env::var(Self::PASSWORD).ok().map(Token),
        }
    }
}
