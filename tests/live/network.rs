//! Known truths of the network: a way of a delay that we set, losses that we make. A link of a rate that we set is a rig of
//! `fathom verify` (`verify.rs`). All traffic stays on loopback.
//!
//! Each test visits points the way a run does, in a process of their own.

use crate::claim::{Figure, between, decided};
use crate::single_trial::{self, fathom, values};
use crate::tier::{Outcome, Test, alone};
use fathom::experiment::{PeerAddress, Token};
use fathom::sampling::{Sample, Setting};
use fathom::statistics::{median, quantile_interval, share_interval};
use fathom::verify::{Relay, Unreliable};
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub const TESTS: &[Test] = &alone![
    a_relay_that_holds_each_packet_for_5_ms_each_way_adds_10_ms,
    a_relay_that_drops_one_datagram_in_a_hundred_reads_that_loss,
];

const TOKEN: &str = "known-truths-of-the-network-0123456789abcdef";

/// A peer that lives as long as this.
struct Peer {
    process: Child,
    at: SocketAddr,
    _token: tempfile::NamedTempFile,
}

impl Peer {
    /// Started by hand, as a user would, by a command that may begin elsewhere.
    fn start(mut program: Command, listen: &str) -> Self {
        let mut token = tempfile::NamedTempFile::new().unwrap();
        writeln!(token, "{TOKEN}").unwrap();
        program.args(["peer", "--listen", listen, "--token-file"]).arg(token.path());
        let mut process = program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let at = line.trim().trim_start_matches("listening at ").parse().unwrap_or_else(|_| panic!("{line}"));
        Peer { process, at, _token: token }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One trial of the only point of round trips with these parameters, through the peer at this address.
fn round_trips(wanted: &[(&str, &str)], peer: SocketAddr, observe: Duration) -> Result<Sample, String> {
    let peer = PeerAddress {
        address: peer.ip(),
        also: None,
        port: peer.port(),
        token: Token(TOKEN.to_owned()),
        is_virtual: false,
    };
    let setting = Setting { peer: Some(peer), ..single_trial::setting(observe) };
    single_trial::of(fathom(), "network/round_trip", wanted, setting)
}

/// The median of a trial's observations, with its interval.
fn middle(sample: &Sample) -> Result<Figure, String> {
    let mut sorted = values(sample);
    sorted.sort_by(f64::total_cmp);
    let interval = quantile_interval(&sorted, 0.5).ok_or("too few round trips for an interval")?;
    Ok(Figure { value: median(&sorted).ok_or("no round trip")?, low: interval.0, high: interval.1 })
}

fn a_relay_that_holds_each_packet_for_5_ms_each_way_adds_10_ms() -> Outcome {
    let peer = Peer::start(fathom(), "127.0.0.2");
    let through = |last, delay| {
        Relay::start(peer.at, IpAddr::from([127, 0, 0, last]), delay, Unreliable::default()).unwrap()
    };
    // The relay takes time of its own, to wake up twice: with nothing held it shows how much.
    let (held, at_once) = (through(3, Duration::from_millis(5)), through(6, Duration::ZERO));
    decided(|| {
        let mut claims = vec![];
        for by in ["UDP", "TCP"] {
            let wanted = [("transport", by), ("path", "peer"), ("payload", "56"), ("loop", "closed")];
            let round_trip = |relay: &Relay| {
                let observe = Duration::from_millis(400);
                middle(&round_trips(&wanted, relay.at, observe)?)
            };
            let (with, without) = (round_trip(&held)?, round_trip(&at_once)?);
            claims.push(between(format!("{by}: ns that 10 ms add"), Some(with.less(without)), 9.8e6, 10.2e6));
            claims.push(between(format!("{by}: ns in all"), Some(with), 9e6, 11e6));
        }
        Ok(claims)
    })
}

fn a_relay_that_drops_one_datagram_in_a_hundred_reads_that_loss() -> Outcome {
    let peer = Peer::start(fathom(), "127.0.0.4");
    let dropping = Unreliable { drop_every: Some(100), ..Unreliable::default() };
    let relay = Relay::start(peer.at, IpAddr::from([127, 0, 0, 5]), Duration::ZERO, dropping).unwrap();
    let wanted = [("transport", "UDP"), ("path", "peer"), ("payload", "56"), ("loop", "closed")];
    let (mut sent, mut lost) = (0, 0);
    for _ in 0..5 {
        let sample = round_trips(&wanted, relay.at, Duration::from_secs(5)).unwrap();
        let counted = |name: &str| sample.witnessed[name] as u64;
        assert_eq!(values(&sample).len() as u64, counted("datagrams_sent") - counted("datagrams_lost"));
        sent += counted("datagrams_sent");
        lost += counted("datagrams_lost");
    }
    let interval = share_interval(lost, sent).unwrap();
    assert!((interval.low..=interval.high).contains(&0.01), "{lost} of {sent}: {interval:?}");
    // Datagrams of the sampler's first call are sent and not counted.
    let dropped = relay.dropped();
    assert!((dropped.saturating_sub(2)..=dropped).contains(&lost), "{lost} lost, {dropped} dropped");
    Ok(())
}
