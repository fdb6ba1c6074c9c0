//! A run's or a trial's end of the protocol.

use super::PeerAddress;
use super::service::{Service, ServiceReport};
use crate::experiment::Failure;
use std::net::SocketAddr;

/// A conversation with the peer. One service at a time; when this is dropped, the service ends.
pub struct Session {}

impl Session {
    /// Reaches the peer, is let in, and has it prove itself.
    pub fn open(_peer: &PeerAddress) -> Result<Self, Failure> {
        Err(Failure::Unsupported("peers are not built yet".to_owned()))
    }

    /// Has the peer begin a service, pinned to `cpu` where one is given (of a virtual peer: the trial's partner), and
    /// tells where it is reached.
    pub fn start(&mut self, _service: &Service, _cpu: Option<usize>) -> Result<SocketAddr, Failure> {
        Err(Failure::Unsupported("peers are not built yet".to_owned()))
    }

    /// Ends the service and brings its report.
    pub fn stop(&mut self) -> Result<ServiceReport, Failure> {
        Err(Failure::Unsupported("peers are not built yet".to_owned()))
    }
}
