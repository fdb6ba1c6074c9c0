//! Reading and making files over a network: one client for each protocol, and one for what is mounted.
//!
//! The clients are written here because they are what is measured: one request at a time unless a point says
//! otherwise, nothing cached, nothing read ahead, every request counted.

mod client;
mod early;
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
mod wire;

pub use client::{Client, read_block};
pub use mounted::Mounted;
pub use server_cache::ServerCache;
pub use stream::Stream;

use crate::experiment::{Access, Failure};
use crate::machine::{Protocol, RemoteAddress};

/// Connects to wherever an address is.
pub fn connect(address: &RemoteAddress, access: &Access) -> Result<Box<dyn Client>, Failure> {
    Ok(match address {
        RemoteAddress::Mounted(_) => Box::new(Mounted::new()),
        RemoteAddress::Url(url) => match url.protocol {
            Protocol::Sftp => Box::new(sftp::Sftp::connect(url, access)?),
            Protocol::Nfs => Box::new(nfs::Nfs::connect(url)?),
            Protocol::Smb => Box::new(smb::Smb::connect(url, access)?),
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
