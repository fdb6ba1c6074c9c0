//! SMB without a mount.

use super::mounted::Mounted;
use crate::experiment::{Access, Failure};
use crate::machine::RemoteUrl;

/// A connection.
pub struct Smb;

impl Smb {
    /// Says that there is none yet.
    pub fn connect(_: &RemoteUrl, _: &Access) -> Result<Mounted, Failure> {
        Err(Failure::Unsupported("smb:// is not spoken yet: mount the share and name the folder".to_owned()))
    }
}
