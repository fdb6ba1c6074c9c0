//! The shares of software and network in the time of an exchange between two hosts.

use fathom_core::prelude::*;

/// The software's share of a time that contains the same work as over loopback, plus the network.
pub fn software_and_network(here: Found, remote: Found, what: &str) -> Statement {
    match here.differs_from(&remote) {
        Some(false) => {
            statement!("the two are not significantly different, and the network's part is unknown")
        }
        _ if here.value >= remote.value => {
            statement!("no more than over loopback; the network's part is unknown")
        }
        apart => statement!(
            "software is {software} of it, the network takes {about}{network}",
            software = here.share_of(remote).named(&format!("software over whole, {what}")),
            about = if apart.is_none() { "~" } else { "" },
            network = remote.minus(here).named(&format!("network, {what}"))
        ),
    }
}
