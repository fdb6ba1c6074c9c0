//! The flags for a second host: how a run reaches one, and how to serve as one.

use super::heading::{LENGTH, SECOND_HOST};
use super::value::{parse_listen, parse_time};
use clap::Args;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// A second host, and how it is reached.
#[derive(Debug, Args)]
pub struct PeerOptions {
    /// A second host for remote experiments: a host for `ssh`, `namespace` for a virtual one on this machine, or the address
    /// and port of a peer that was started by hand.
    #[arg(long, help_heading = SECOND_HOST, value_name = "HOST")]
    pub peer: Option<String>,
    /// The second host's address for direct connections, if it differs from the address that `ssh` uses.
    #[arg(long, help_heading = SECOND_HOST, value_name = "ADDRESS", requires = "peer")]
    pub peer_address: Option<IpAddr>,
    /// A file with the token of a peer that was started by hand.
    #[arg(long, help_heading = SECOND_HOST, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// How to be the other half of a run.
#[derive(Debug, Args)]
pub struct Peer {
    /// The address to listen on, `0.0.0.0` for all; without a port, the system chooses one.
    #[arg(long, value_name = "ADDRESS[:PORT]", required = true, value_parser = parse_listen)]
    pub listen: Vec<SocketAddr>,
    /// A file with the token that the run must present; by default a random one is made and printed.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Serve one run after the other with the same token, at the same port, until a limit is reached: while what measures is changed
    /// and run again.
    #[arg(long, help_heading = LENGTH, conflicts_with = "launched")]
    pub keep: bool,
    /// End after this time without contact.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time)]
    pub idle: Option<Duration>,
    /// End after this time in any case.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time)]
    pub most_time: Option<Duration>,
    /// Transfer at most this many bytes.
    #[arg(long, help_heading = LENGTH, value_name = "BYTES")]
    pub most_bytes: Option<u64>,
    /// Accept at most this many control connections at a time.
    #[arg(long, help_heading = LENGTH, value_name = "NUMBER")]
    pub most_connections: Option<usize>,
    /// Read the token from standard input and end when that closes, as `fathom run --peer` needs it.
    #[arg(long, hide = true, conflicts_with = "token_file")]
    pub launched: bool,
    /// Remove this copy of the program before serving.
    #[arg(long, hide = true, requires = "launched")]
    pub remove_itself: bool,
    /// Serve inside a new network namespace that is tied to the one of this process.
    #[arg(long, hide = true, requires = "launched", value_name = "PROCESS")]
    pub namespace_of: Option<u32>,
}
