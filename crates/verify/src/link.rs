//! A link of a known rate: a virtual adapter between two network namespaces of this machine, which the kernel limits.

use super::prelude::*;
use super::rig::run_program;
use fathom_engine::run::{Peering, Reach};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

pub static RIG: Rig = Rig {
    name: "link",
    sets: "a link of 100 Mbit/s in either direction",
    touches: &[
        "network: a namespace with a peer in it, a pair of virtual adapters with addresses of 198.18.0.0/15, and a queue of 100 Mbit/s on each (`ip`, `tc`)",
    ],
    budget: Duration::from_secs(12),
    arrange: Some(arrange),
    points: |machine| points_of(machine, &STREAM),
    judge,
};

const STREAM: Selector = Selector::of(
    "network/bandwidth",
    &[
        ("transport", Name("TCP")),
        ("path", Name("peer")),
        ("chunk", Number(131_072)),
        ("streams", Number(1)),
        ("figure", Name("steady")),
        ("placement", Name("across-cpus")),
    ],
);

/// Bytes per second on the wire.
const RATE: f64 = 100e6 / 8.0;

/// The payload of a full packet on Ethernet, and the bytes that a queue counts: with its header, and those of IP and of TCP
/// with time stamps (RFC 894, 791, 9293, 7323).
const PAYLOAD: f64 = 1448.0;
const PACKET: f64 = 1514.0;

/// Long against the burst that the queue lets pass at once.
const TRIAL: Duration = Duration::from_millis(600);

fn arrange(options: &mut Options) -> Result<Arranged, String> {
    let reach = Reach { spec: "namespace".to_owned(), ..Reach::default() };
    let peering = Peering::reach(&reach).map_err(|error| format!("{error:#}"))?;
    let process = peering.process().ok_or("the virtual peer has no process")?;
    let namespace = File::open(format!("/proc/{process}/ns/net")).map_err(|error| error.to_string())?;
    hold(None, &format!("fathom{process}"))?;
    hold(Some(&namespace), "fathom0")?;
    options.trial = Some(TRIAL);
    Ok(Arranged { peering: Some(peering), ..Arranged::default() })
}

/// Limits an adapter to the rate, by a token bucket of 10 ms, so that delays of the timer on a shared host of up to 10 ms
/// are compensated (tc-tbf(8)).
fn hold(namespace: Option<&File>, adapter: &str) -> Result<(), String> {
    let mut tc = Command::new("tc");
    let limit = "root tbf rate 100mbit burst 125kb latency 100ms";
    tc.args(["qdisc", "add", "dev", adapter]).args(limit.split(' '));
    if let Some(namespace) = namespace {
        let descriptor = namespace.as_raw_fd();
        let enter = move || {
            // SAFETY: one system call between fork and exec, on a descriptor that is open until then.
            let entered = unsafe { libc::setns(descriptor, libc::CLONE_NEWNET) };
            if entered == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        };
        // SAFETY: the closure makes one system call.
        unsafe { tc.pre_exec(enter) };
    }
    run_program(&mut tc, "package iproute2", Some("the link's rate cannot be limited"))
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    each(rig, results, |point| {
        let direction = point.point.name_of("direction").unwrap_or_default();
        let set = RATE * PAYLOAD / PACKET;
        Claim::of(rig, format!("payload of TCP, {direction}"), Some(Unit::BytesPerSecond), set)
    })
}
