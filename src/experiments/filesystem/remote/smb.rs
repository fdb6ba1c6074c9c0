//! stub
use super::{Client, Kind, Ticket};
use crate::experiment::Failure;
use crate::machine::RemoteUrl;
pub struct Smb;
impl Smb { pub fn connect(_: &RemoteUrl, _: &crate::experiment::Access) -> Result<super::mounted::Mounted, Failure> { Err(Failure::Unsupported("not yet".into())) } }
