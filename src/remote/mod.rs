//! Reading and making files over a network: one client for each protocol, and one for what is mounted.
//!
//! The clients are written here because they are what is measured: one request at a time unless a point says
//! otherwise, nothing cached, nothing read ahead, every request counted.

mod client;
mod deadline;
pub mod made;
mod mounted;
mod nfs;
mod rpc;
mod server_cache;
mod sftp;
mod smb;
pub mod ssh;
mod stream;
mod trusted_port;
mod unanswered;
mod wire;

pub use client::{Client, read_block};
pub use mounted::Mounted;
pub use server_cache::ServerCache;
pub use stream::Stream;

use crate::experiment::{Access, Failure};
use crate::machine::{Protocol, RemoteAddress};
use deadline::Deadline;
use std::time::Duration;

/// The longest conversation of a trial. The trial's own limit is shorter: its process is ended by whoever started it.
const LONGEST: Duration = Duration::from_hours(1);

/// Connects to wherever an address is.
pub fn connect(address: &RemoteAddress, access: &Access) -> Result<Box<dyn Client>, Failure> {
    connect_within(address, access, LONGEST)
}

/// Connects for a conversation that must be over within a time, however the server answers.
pub fn connect_within(
    address: &RemoteAddress,
    access: &Access,
    within: Duration,
) -> Result<Box<dyn Client>, Failure> {
    let deadline = Deadline::within(within);
    Ok(match address {
        RemoteAddress::Mounted(_) => Box::new(Mounted::new()),
        RemoteAddress::Url(url) => match url.protocol {
            Protocol::Sftp => Box::new(sftp::Sftp::connect(url, access, deadline)?),
            Protocol::Nfs => Box::new(nfs::Nfs::connect(url, deadline)?),
            Protocol::Smb => Box::new(smb::Smb::connect(url, access, deadline)?),
        },
    })
}

/// The path of an address, as its client understands it.
pub fn path(address: &RemoteAddress) -> String {
    match address {
        RemoteAddress::Mounted(path) => path.to_string_lossy().into_owned(),
        RemoteAddress::Url(url) => url.path.clone(),
    }
}
