//! What of a way between two hosts is software, and what the network.

use crate::experiment::{Found, Statement, said};

/// What is software of a time that holds the same work as over loopback, and the network besides.
pub fn software_and_network(here: Found, remote: Found, what: &str) -> Statement {
    match here.differs_from(&remote) {
        Some(false) => said!["the two are not significantly different, and the network's part is unknown"],
        _ if here.value >= remote.value => {
            said!["no more than over loopback; the network's part is unknown"]
        }
        apart => said![
            "software is ",
            here.share_of(remote).named(&format!("software over whole, {what}")),
            " of it, the network takes ",
            if apart.is_none() { "~" } else { "" },
            remote.minus(here).named(&format!("network, {what}"))
        ],
    }
}
