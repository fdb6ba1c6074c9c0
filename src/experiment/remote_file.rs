//! A file that is read over a network, as a trial is told of it.

use super::Token;
use crate::machine::RemoteAddress;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A file on a server, and how a trial gets at it. Goes to the trial's process by its standard input and nowhere else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteFile {
    /// The file itself, never the folder.
    pub address: RemoteAddress,
    /// Its size.
    pub bytes: u64,
    /// Whether this run made it, so that its content is known.
    pub own: bool,
    /// How to get at it.
    pub access: Access,
}

/// What it takes to be let in by a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// What the user's own `ssh` finds its agent and its configuration by; a trial's own environment is empty.
    pub environment: Vec<(String, String)>,
    /// The socket of a connection of `ssh` that trials share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<PathBuf>,
    /// The password for a protocol that asks for one itself.
    pub password: Option<Token>,
}

impl Access {
    /// The environment variable that a password comes in. No program that is started is to have it.
    pub const PASSWORD: &str = "FATHOM_REMOTE_PASSWORD";

    /// What this process was given.
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
