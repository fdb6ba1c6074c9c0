//! Reading and creating files over a network: one client for each protocol, and one for mounts.
//!
//! The clients are written here because they are part of the measurement: one request at a time unless a point says otherwise, no
//! caching, no read-ahead, every request counted.

mod client;
pub mod deadline;
pub mod own_file;
mod mounted;
mod nfs;
mod rpc;
mod server_cache;
mod sftp;
#[cfg(feature = "smb")]
mod smb;
pub mod ssh;
mod stream;
pub mod trusted_port;
mod unanswered;
pub mod wire;

pub use client::{Client, read_block};
pub use mounted::Mounted;
pub use server_cache::ServerCache;
pub use stream::ReadStream;

use deadline::Deadline;
use fathom_core::experiment::{Access, Failure};
use fathom_core::machine::{Protocol, RemoteAddress};
use std::time::Duration;

/// Maximum duration of a trial's conversation. The trial's own limit is shorter: the process that started it ends it.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Connects to the server of an address, or opens its mount.
pub fn connect(address: &RemoteAddress, access: &Access) -> Result<Box<dyn Client>, Failure> {
    connect_within(address, access, LONGEST)
}

/// Connects for a conversation that must end within a time, however the server answers.
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
            #[cfg(feature = "smb")]
            Protocol::Smb => Box::new(smb::Smb::connect(url, access, deadline)?),
            #[cfg(not(feature = "smb"))]
            Protocol::Smb => return Err(Failure::Broke(WITHOUT_SMB.to_owned())),
        },
    })
}

/// Why a build without the client of SMB reads nothing there.
#[cfg(not(feature = "smb"))]
const WITHOUT_SMB: &str = "this fathom was built without its client of SMB (cargo's feature `smb`): build it with the feature, or \
                           mount the share and name its folder";

/// The path in an address, in the form its client expects.
pub fn path(address: &RemoteAddress) -> String {
    match address {
        RemoteAddress::Mounted(path) => path.to_string_lossy().into_owned(),
        RemoteAddress::Url(url) => url.path.clone(),
    }
}
