//! The other half of an experiment: a process on this machine, or the peer.

use super::client::PeerSession;
use super::service::{self, Place, Running, Service, ServiceReport};
use fathom_core::experiment::{Failure, PeerAddress, Site};
use fathom_core::sampling::partner::PartnerProcess;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The path over the loopback interface: the software alone.
pub const LOOPBACK: &str = "loopback";
/// The path to the second host.
pub use fathom_core::experiment::PEER;

/// The time after which a process on this machine that has not answered has died or hangs.
const TIMEOUT: Duration = Duration::from_secs(8);

/// The version of the Internet protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// IPv4.
    Four,
    /// IPv6.
    Six,
}

impl Version {
    fn loopback(self) -> IpAddr {
        match self {
            Version::Four => Ipv4Addr::LOCALHOST.into(),
            Version::Six => Ipv6Addr::LOCALHOST.into(),
        }
    }

    /// A listener on loopback, for a process that inherits it by fork.
    pub fn listen(self) -> Result<(TcpListener, SocketAddr), Failure> {
        let listener = TcpListener::bind((self.loopback(), 0)).map_err(|error| self.off(&error))?;
        let address = listener.local_addr().map_err(|error| broke("getsockname", &error))?;
        Ok((listener, address))
    }

    /// The failure if this machine does not have this version, which is found by trying.
    fn off(self, error: &std::io::Error) -> Failure {
        Failure::Unsupported(format!("nothing can listen on {}: {error}", self.loopback()))
    }
}

/// The running other half.
pub struct OtherSide {
    half: Half,
    pub address: SocketAddr,
}

enum Half {
    Here(Helper),
    There(Box<PeerSession>),
}

impl OtherSide {
    /// Starts the service at the other end of the point's path: by IPv4, or by the version with which the peer was reached.
    pub fn start(service: &Service, path: &str, site: &Site) -> Result<Self, Failure> {
        match (path, &site.peer) {
            (PEER, Some(peer)) => Self::there(service, peer, site),
            (PEER, None) => Err(Failure::Unsupported("there is no peer".to_owned())),
            _ => Self::here(service, Version::Four, site),
        }
    }

    /// The same with one version of the Internet protocol.
    pub fn by_version(service: &Service, version: Version, path: &str, site: &Site) -> Result<Self, Failure> {
        if path != PEER {
            return Self::here(service, version, site);
        }
        let reached = site.peer.as_ref().and_then(|peer| match version {
            Version::Four => peer.by_ipv4(),
            Version::Six => peer.by_ipv6(),
        });
        let Some(peer) = reached else {
            return Err(Failure::Unsupported(format!("the peer is not reached by IP version {version:?}")));
        };
        Self::there(service, &peer, site)
    }

    fn there(service: &Service, peer: &PeerAddress, site: &Site) -> Result<Self, Failure> {
        let mut session = PeerSession::open(peer)?;
        let address = session.start(service, site.partner.filter(|_| peer.is_virtual))?;
        Ok(OtherSide { half: Half::There(Box::new(session)), address })
    }

    fn here(service: &Service, version: Version, site: &Site) -> Result<Self, Failure> {
        version.listen()?;
        let place = Place { listen: version.loopback(), only: Some(version.loopback()), cpu: site.partner };
        let own_service = service.clone();
        let helper = Helper::start(site.partner, move || service::serve(&own_service, &place))?;
        Ok(OtherSide { address: SocketAddr::new(version.loopback(), helper.port), half: Half::Here(helper) })
    }

    /// Ends it and returns its report.
    pub fn stop(self) -> Result<ServiceReport, Failure> {
        let report = match self.half {
            Half::Here(helper) => helper.stop(),
            Half::There(mut session) => session.stop(),
        }?;
        match &report.failure {
            Some(reason) => Err(Failure::Broke(format!("the other side: {reason}"))),
            None => Ok(report),
        }
    }
}

/// A process of this trial that runs a service.
pub struct Helper {
    // Closed before the process is killed and reaped.
    control: BufReader<UnixStream>,
    port: u16,
    _process: PartnerProcess,
}

impl Helper {
    /// Forks a process on `cpu` that begins a service and waits until it is stopped.
    pub fn start(
        cpu: Option<usize>,
        begin: impl FnOnce() -> Result<Running, Failure>,
    ) -> Result<Self, Failure> {
        let (near, far) = UnixStream::pair().map_err(|error| broke("socketpair", &error))?;
        near.set_read_timeout(Some(TIMEOUT)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
        let process = PartnerProcess::start(cpu, move || converse(far, begin))?;
        let mut control = BufReader::new(near);
        match answer::<Result<u16, (bool, String)>>(&mut control)? {
            Ok(port) => Ok(Helper { control, port, _process: process }),
            Err((true, reason)) => Err(Failure::Unsupported(reason)),
            Err((false, reason)) => Err(Failure::Broke(reason)),
        }
    }

    /// Ends it and returns its report.
    pub fn stop(mut self) -> Result<ServiceReport, Failure> {
        self.control.get_mut().write_all(b".").map_err(|error| broke("telling it to stop", &error))?;
        answer(&mut self.control)
    }
}

/// The process's side: one line with the port or the error, and one with the report.
fn converse(
    mut control: UnixStream,
    begin: impl FnOnce() -> Result<Running, Failure>,
) -> Result<(), Failure> {
    let begun = begin();
    let report = match &begun {
        Ok(running) => Ok(running.port()),
        Err(failure) => Err((matches!(failure, Failure::Unsupported(_)), failure.to_string())),
    };
    tell(&mut control, &report)?;
    let running = begun?;
    control.read_exact(&mut [0]).map_err(|error| broke("waiting", &error))?;
    tell(&mut control, &running.stop())
}

fn tell(control: &mut UnixStream, what: &impl serde::Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(what).map_err(|error| Failure::Broke(error.to_string()))?;
    writeln!(control, "{line}").map_err(|error| broke("answering", &error))
}

fn answer<T: serde::de::DeserializeOwned>(control: &mut BufReader<UnixStream>) -> Result<T, Failure> {
    let mut line = String::new();
    control.read_line(&mut line).map_err(|error| broke("waiting for its answer", &error))?;
    serde_json::from_str(&line)
        .map_err(|_| Failure::Broke("the other side of the operation died without an answer".to_owned()))
}

fn broke(attempt: &str, error: &std::io::Error) -> Failure {
    Failure::Broke(format!("the other side of the operation: {attempt}: {error}"))
}
