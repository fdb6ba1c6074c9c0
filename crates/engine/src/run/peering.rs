//! The peer of a run: contacted before anything is measured, checked between trials, and never waited for long.

use crate::record::{Peer, PeerKind};
use anyhow::{Context, Result, anyhow, bail};
use fathom_equipment::peer::launch::ssh::PeerProgram;
use fathom_equipment::peer::launch::{Launched, PeerSpec, namespace, ssh};
use fathom_equipment::peer::{PeerAddress, Token};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The time for which an answer of the peer counts. It is asked between two trials, so this does not disturb them.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The peer of a run.
#[derive(Debug)]
pub struct Peering {
    launched: Launched,
    described: Peer,
    last_check: Instant,
    lost: Option<String>,
}

/// How to reach a peer.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// A host, an address with a port, or `namespace`.
    pub spec: String,
    /// The address for direct connections, if it is not the one that ssh uses.
    pub address: Option<IpAddr>,
    /// The token of a peer that was started manually.
    pub token: Option<Token>,
}

impl Peering {
    /// Contacts the peer, reserves it for this run, and requests the description of its machine.
    pub fn reach(reach: &Reach) -> Result<Self> {
        let words = |error: fathom_equipment::peer::launch::NoPeer| anyhow!(error);
        let (kind, mut launched) = match reach.spec.parse()? {
            PeerSpec::Namespace => (PeerKind::Virtual, namespace::launch().map_err(words)?),
            PeerSpec::At(address) => {
                let token = reach.token.clone().context(
                    "a peer that was started by hand needs its token: put the token that it printed into a file and \
                     name the file with `--token-file`",
                )?;
                (PeerKind::ByHand, Launched::at(address, token).map_err(words)?)
            }
            PeerSpec::Host(host) => (PeerKind::Ssh, by_ssh(&host, reach.address)?),
        };
        let description = launched.session.describe().map_err(|failure| anyhow!(failure))?;
        let described = Peer {
            wanted: reach.spec.clone(),
            kind,
            asked_address: reach.address.map(|address| address.to_string()),
            address: launched.address.address.to_string(),
            machine: (kind != PeerKind::Virtual).then_some(description.machine),
        };
        Ok(Peering { launched, described, last_check: Instant::now(), lost: None })
    }

    /// The peer's record in the run file.
    pub fn described(&self) -> &Peer {
        &self.described
    }

    /// The address with which trials reach it.
    pub fn address(&self) -> &PeerAddress {
        &self.launched.address
    }

    /// The process on this machine whose end ends the peer; `None` for one that was started manually.
    pub fn process(&self) -> Option<u32> {
        self.launched.process()
    }

    /// Checks that the peer answers, unless it has just done so. Once lost it remains lost: it ends with its session.
    pub fn look(&mut self, at_once: bool) {
        if self.lost.is_none() && (at_once || self.last_check.elapsed() > CHECK_INTERVAL) {
            self.lost = self.launched.session.touch().err().map(|failure| failure.to_string());
            self.last_check = Instant::now();
        }
    }

    /// The reason why the peer was lost; `None` if it was not.
    pub fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }
}

fn by_ssh(host: &str, address: Option<IpAddr>) -> Result<Launched> {
    let path = std::env::current_exe().context("this program cannot find its own executable file")?;
    let binary = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let sha256 = super::header::digest(&binary);
    ssh::launch(host, address, &PeerProgram { binary: &binary, sha256: &sha256 })
        .map_err(|error| anyhow!(error))
}

/// A run can be resumed only with the peer with which it began.
pub fn same_peer(begun_with: Option<&Peer>, now: Option<&Peer>) -> Result<()> {
    let same = match (begun_with, now) {
        (Some(begun), Some(now)) => begun.kind == now.kind && same_machine(begun, now),
        (begun, now) => begun.is_none() && now.is_none(),
    };
    if same {
        return Ok(());
    }
    bail!(
        "the run was begun with another peer, or with none, and cannot continue with this one: start a new run"
    )
}

fn same_machine(begun: &Peer, now: &Peer) -> bool {
    let facts = |peer: &Peer| {
        peer.machine.as_ref().map(|machine| {
            (machine.processor.model_name.value().cloned(), machine.kernel.version.value().cloned())
        })
    };
    facts(begun) == facts(now)
}
