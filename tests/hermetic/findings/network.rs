//! What is said of the adapter, of the fastest way to move data, and of a stream's beginning.

use super::{SENT, USUAL_PEER, Value, learned, machine, planned};
use fathom::experiment::Question;
use fathom::experiments;
use fathom::machine::{Adapter, Fact, Route};
use fathom::record::Run;
use fathom::results::{Outcome, Results};
use fathom::sampling::{Observations, Sample};

/// An adapter that is up and carries 10 Gbit/s at most, half duplex.
fn adapter() -> Adapter {
    let unknown = "a test does not say";
    Adapter {
        name: "eth0".to_owned(),
        kind: "Ethernet".to_owned(),
        driver: Fact::unknown(unknown, "a test"),
        model: Fact::unknown(unknown, "a test"),
        speed_bits_per_second: Fact::known(10_000_000_000, "a test"),
        duplex: Fact::known("half".to_owned(), "a test"),
        mtu_bytes: Fact::unknown(unknown, "a test"),
        state: Fact::known("up".to_owned(), "a test"),
        receive_queues: Fact::unknown(unknown, "a test"),
        transmit_queues: Fact::unknown(unknown, "a test"),
        offloads: Fact::unknown(unknown, "a test"),
        numa_node: Fact::unknown(unknown, "a test"),
    }
}

/// What is said of the limit when the usual stream to the peer moves so much.
fn limit(bytes_per_second: f64, virtual_peer: bool) -> Option<String> {
    let mut machine = machine();
    machine.network = vec![adapter()];
    let values = [("network/bandwidth", USUAL_PEER, bytes_per_second)];
    let mut known = learned(&machine, &values, Some(0.01));
    known.virtual_peer = virtual_peer;
    let said = experiments::find("network/bandwidth").expect("an experiment").findings(&known);
    let mine = said.iter().find(|said| said.question == Question::Adapter);
    mine.map(|said| said.statement.plain())
}

#[test]
fn the_adapter_is_the_limit_where_its_rate_is_used_up() {
    let full = limit(0.94 * 1.25e9, false).expect("an adapter tells its rate");
    assert!(
        full.contains("{0.94} of the rate of eth0") && full.contains("The adapter is the limit."),
        "{full}"
    );
    let half = limit(0.5 * 1.25e9, false).expect("an adapter tells its rate");
    assert!(half.contains("do not show what the limit is. About the adapter: it cannot send"), "{half}");
    assert_eq!(limit(0.94 * 1.25e9, true), None, "no adapter leads to a virtual peer");
}

#[test]
fn the_adapter_that_leads_to_the_peer_counts_and_not_the_fastest() {
    let mut machine = machine();
    let slow = Adapter {
        name: "wlan0".to_owned(),
        speed_bits_per_second: Fact::known(100_000_000, "a test"),
        ..adapter()
    };
    machine.network = vec![adapter(), slow];
    machine.peer_route = Some(Fact::known(Route { adapter: "wlan0".to_owned(), gateway: false }, "a test"));
    let known = learned(&machine, &[("network/bandwidth", USUAL_PEER, 0.94 * 12.5e6)], Some(0.01));
    let said = experiments::find("network/bandwidth").expect("an experiment").findings(&known);
    let mine =
        said.iter().find(|said| said.question == Question::Adapter).expect("a limit").statement.plain();
    assert!(
        mine.contains("{0.94} of the rate of wlan0 (which leads to the peer)")
            && mine.contains("The adapter is the limit."),
        "{mine}"
    );
}

#[test]
fn the_fastest_way_is_named_with_its_placement() {
    const WAYS: [Value; 4] = [
        ("network/bandwidth", SENT, 4.81e9),
        ("network/bandwidth", "direction=send figure=steady path=loopback placement=one-cpu", 1.76e9),
        ("network/bandwidth", "path=within placement=one-cpu streams=1 transport=UNIX socket", 6.12e9),
        ("network/bandwidth", "path=within placement=one-cpu streams=1 transport=pipe", 5.38e9),
    ];
    let machine = machine();
    let experiment = experiments::find("network/bandwidth").expect("an experiment");
    let said = |reach| {
        let known = learned(&machine, &WAYS, Some(reach));
        let all = experiment.findings(&known);
        let text = all
            .iter()
            .map(|said| said.statement.plain())
            .find(|text| text.contains("one stream of TCP over loopback moves"));
        text.expect("a finding")
    };
    let fastest = "The fastest of these is a UNIX socket on one CPU in chunks of 64 KiB, ";
    let told = said(0.01);
    assert!(told.contains(&format!("{fastest}{{6120000000}}.")), "{told}");
    assert!(
        told.contains(
            "moves {4810000000} in chunks of 64 KiB (the only ones measured); on one CPU {1760000000}"
        ),
        "{told}"
    );
    let alike = said(0.2);
    assert!(alike.contains(", not significantly different from a pipe on one CPU."), "{alike}");
}

/// What six trials make of a ramp of so many nanoseconds each.
fn ramp(values: f64) -> Outcome {
    let planned = planned("network/bandwidth", "figure=ramp path=loopback");
    let mut run = Run::begun(crate::described::header(vec![planned.clone()]));
    let trial = |round| {
        let observations = Observations::Values { values: vec![values] };
        let witnessed = ["transfers", "transfers_found_steady"].map(|name| (name.to_owned(), 1.0));
        let sample = Sample { observations, operations: 1, witnessed: witnessed.into(), ..Sample::default() };
        crate::described::measured(&planned, round, sample)
    };
    run.trials = (1..=6).map(trial).collect();
    Results::of(&run).points.remove(0).outcome
}

#[test]
fn a_ramp_of_no_interval_is_below_resolution() {
    let none = ramp(0.0);
    assert!(matches!(none, Outcome::BelowResolution { below, .. } if (below - 5e5).abs() < 1.0), "{none:?}");
    assert!(ramp(2e6).estimate().is_some_and(|ramp| (ramp.value - 2e6).abs() < 1.0));
}
