//! One measurement at a time: two on one machine would measure each other.

use anyhow::{Result, bail};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// Held while this machine is measured. It is a name without a file, so nothing is left of it after a kill, and every
/// user of the machine sees it.
pub struct MeasuringLock {
    _name: UnixListener,
}

impl MeasuringLock {
    /// Takes the lock, or says that somebody else is measuring.
    pub fn take() -> Result<Self> {
        let address = SocketAddr::from_abstract_name("fathom-is-measuring")?;
        match UnixListener::bind_addr(&address) {
            Ok(name) => Ok(MeasuringLock { _name: name }),
            Err(_) => bail!(
                "another fathom is measuring on this machine, and the two would measure each other: wait until it has \
                 ended, or accept that with `--alongside`"
            ),
        }
    }
}
