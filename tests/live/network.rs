//! Known truths of the network: a way of a delay that we set, losses that we make. A link of a rate that we set is a rig of
//! `fathom verify` (`verify.rs`). All traffic stays on loopback.
//!
//! Each test visits points the way a run does, in a process of their own.

use crate::claim::{Figure, between, decided};
use crate::tier::{Outcome, Test, alone};
use fathom::experiment::{Experiment, PeerAddress, Point, Token};
use fathom::experiments;
use fathom::sampling::{Observations, Request, Sample, Setting, TrialOutcome, Visit, Visited};
use fathom::statistics::{median, quantile_interval, share_interval};
use fathom::verify::{Relay, Unreliable};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub const TESTS: &[Test] = &alone![
    a_relay_that_holds_each_packet_5_ms_longer_each_way_adds_10_ms,
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

pub fn fathom() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin("fathom"))
}

/// The points with these parameters.
fn points(experiment: &str, wanted: &[(&str, &str)]) -> (&'static dyn Experiment, Vec<Point>) {
    let experiment = experiments::find(experiment).unwrap();
    let machine = fathom::machine::Machine::describe(std::path::Path::new("/tmp"));
    let is_wanted = |point: &Point| {
        wanted.iter().all(|(name, value)| point.get(name).is_some_and(|found| found.to_string() == *value))
    };
    let found: Vec<Point> = experiment.sweep(&machine).into_iter().filter(is_wanted).collect();
    assert!(!found.is_empty(), "no point {wanted:?}");
    (experiment, found)
}

/// The setting of a trial with a peer that observes for so long.
fn with_peer(peer: SocketAddr, observe: Duration) -> Setting {
    Setting {
        peer: Some(PeerAddress {
            address: peer.ip(),
            also: None,
            port: peer.port(),
            token: Token(TOKEN.to_owned()),
            is_virtual: false,
        }),
        ..crate::described::setting(7, observe.as_nanos() as u64)
    }
}

/// One trial of the only such point, by a command that may begin elsewhere.
pub fn trial(
    mut program: Command,
    experiment: &str,
    wanted: &[(&str, &str)],
    setting: Setting,
) -> Result<Sample, String> {
    let (experiment, points) = points(experiment, wanted);
    assert_eq!(points.len(), 1, "{points:?}");
    let request = Request { experiment: experiment.about().name.to_owned(), setting };
    let mut child = program.arg("trial").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let visit = Visit { points: vec![points[0].clone()], seed: 7, making_s: None, core_wait: None };
    let said =
        format!("{}\n{}\n", serde_json::to_string(&request).unwrap(), serde_json::to_string(&visit).unwrap());
    child.stdin.take().unwrap().write_all(said.as_bytes()).unwrap();
    let mut answer = vec![];
    child.stdout.take().unwrap().read_to_end(&mut answer).unwrap();
    child.wait().unwrap();
    let visited: Visited = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    match visited.outcomes.into_iter().next().expect("one answer for one point") {
        TrialOutcome::Measured { sample } => Ok(sample),
        unmeasured => Err(format!("{unmeasured:?}")),
    }
}

/// The observations, in the point's unit.
pub fn values(sample: &Sample) -> Vec<f64> {
    match &sample.observations {
        Observations::Values { values } => values.clone(),
        Observations::Ticks { operation, operations, .. } => {
            operation.iter().map(|ticks| *ticks as f64 / *operations as f64).collect()
        }
    }
}

/// The median of a trial's observations, with its interval.
fn middle(sample: &Sample) -> Result<Figure, String> {
    let mut sorted = values(sample);
    sorted.sort_by(f64::total_cmp);
    let interval = quantile_interval(&sorted, 0.5).ok_or("too few round trips for an interval")?;
    Ok(Figure { value: median(&sorted).ok_or("no round trip")?, low: interval.0, high: interval.1 })
}

fn a_relay_that_holds_each_packet_5_ms_longer_each_way_adds_10_ms() -> Outcome {
    let peer = Peer::start(fathom(), "127.0.0.2");
    let through = |last, delay| {
        Relay::start(peer.at, IpAddr::from([127, 0, 0, last]), delay, Unreliable::default()).unwrap()
    };
    // Every wake-up after so long an idle time takes time of its own, in both: only what is held longer differs.
    let (longer, shorter) = (through(3, Duration::from_millis(10)), through(6, Duration::from_millis(5)));
    decided(|| {
        let mut claims = vec![];
        for by in ["UDP", "TCP"] {
            let wanted = [("transport", by), ("path", "peer"), ("payload", "56"), ("loop", "closed")];
            let round_trip = |relay: &Relay| {
                let observe = Duration::from_millis(400);
                middle(&trial(fathom(), "network/round_trip", &wanted, with_peer(relay.at, observe))?)
            };
            let (with, without) = (round_trip(&longer)?, round_trip(&shorter)?);
            claims.push(between(format!("{by}: ns that 10 ms add"), Some(with.less(without)), 9.8e6, 10.2e6));
            claims.push(between(format!("{by}: ns in all"), Some(with), 18e6, 22e6));
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
        let sample =
            trial(fathom(), "network/round_trip", &wanted, with_peer(relay.at, Duration::from_secs(5)))
                .unwrap();
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
