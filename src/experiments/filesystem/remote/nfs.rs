//! stub
use super::{Client, Kind, Ticket};
use crate::experiment::Failure;
use crate::machine::RemoteUrl;
pub struct Nfs;
impl Nfs { pub fn connect(_: &RemoteUrl) -> Result<super::mounted::Mounted, Failure> { Err(Failure::Unsupported("not yet".into())) } }
