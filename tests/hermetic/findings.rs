//! Findings on a described machine: what is said of values that are known, that it carries intervals, that what cannot be
//! told apart is said so, and that nothing is said where a point that it rests on is missing.

use fathom::experiment::{Counters, Dimension, Experiment, Finding, Found, Known, Point, Question};
use fathom::experiments;
use fathom::machine::{Adapter, Fact, Machine, Remote, RemoteAddress, Root, Route};
use fathom::quantity::Unit;
use fathom::record::{PlannedPoint, Run, Trial, TrialOutcome};
use fathom::results::{Outcome, ProcessorTime, Results};
use fathom::sampling::{Observations, Sample};
use fathom::statistics::{Interval, Measured};

/// A value at a point: the experiment, words by which its point is told from all others, the value in the point's unit.
type Value = (&'static str, &'static str, f64);

/// What values must have said of them.
struct Case {
    question: Question,
    /// Values that the finding rests on: without any of them it is not made. The first is of the experiment that makes it.
    values: &'static [Value],
    /// Part of the sentence, with figures as bare numbers in braces.
    said: &'static str,
    /// Whether it compares two that cannot be told apart where their intervals are wide.
    compares: bool,
}

const TCP_ACROSS: &str = "loop=closed path=loopback payload=56 placement=across-cpus transport=TCP";
const TCP_PEER: &str = "loop=closed path=peer payload=56 placement=across-cpus transport=TCP";
const SWITCH: &str = "between=processes mechanism=pipe less its cost";
const THREAD_SWITCH: &str = "between=threads mechanism=pipe less its cost";
const USUAL_PEER: &str =
    "chunk=131072 direction=send figure=steady path=peer placement=across-cpus streams=1 transport=TCP";
const SENT: &str =
    "chunk=65536 direction=send figure=steady path=loopback placement=across-cpus streams=1 transport=TCP";
const RANDOM_DIRECT: &str = "block=4096 call=pread file=67108864 order=random placement=one-cpu state=direct";
const SEQUENTIAL_DIRECT: &str =
    "block=4096 call=read file=67108864 order=sequential placement=one-cpu state=direct";

const CASES: &[Case] = &[
    Case {
        question: Question::SystemCall,
        values: &[
            ("cpu/system_call", "call=getppid ", 200.0),
            ("cpu/procedure_call", "arguments=0 form=abi", 2.0),
        ],
        said: "takes {200}, entering the kernel and leaving it included; a procedure call without arguments takes {2}: {100} times as much.",
        compares: true,
    },
    Case {
        question: Question::SystemCall,
        values: &[
            ("cpu/system_call", "call=getpid ", 100.0),
            ("cpu/system_call", "call=getpid by library", 2.0),
        ],
        said: "through the library: the library caches the answer.",
        compares: false,
    },
    Case {
        question: Question::SystemCall,
        values: &[
            ("cpu/system_call", "call=clock_gettime by syscall", 200.0),
            ("cpu/system_call", "call=clock_gettime by library", 25.0),
        ],
        said: "from the library takes {25}, as a system call {200}: {8} times as much.",
        compares: true,
    },
    Case {
        question: Question::Thread,
        values: &[
            ("cpu/process_creation", "measure=fork, exit, wait placement=one-cpu", 120e3),
            ("cpu/thread_creation", "measure=create and join placement=one-cpu", 20e3),
        ],
        said: "takes {120000}, a thread (create and join) {20000}: {6} times as much.",
        compares: true,
    },
    Case {
        question: Question::Thread,
        values: &[("cpu/context_switch", SWITCH, 3000.0), ("cpu/context_switch", THREAD_SWITCH, 1500.0)],
        said: "costs {3000}, between threads of one process, which share an address space, {1500}: {2} times as much.",
        compares: true,
    },
    Case {
        question: Question::Thread,
        values: &[
            ("cpu/context_switch", THREAD_SWITCH, 2000.0),
            ("cpu/thread_creation", "measure=create and join placement=one-cpu", 20e3),
        ],
        said: "Creating and reaping a thread takes as long as {10} switches between threads.",
        compares: true,
    },
    Case {
        question: Question::Fault,
        values: &[
            ("memory/minor_fault", "access=cached file, read, page by page", 8192.0),
            ("memory/load_latency", "order=random cycle pages=huge placement=one-cpu size=1073741824", 64.0),
        ],
        said: "Per byte a minor fault costs {2} and a dependent load from 1 GiB {1}: {2} times as much; per access the fault costs {128} times as much.",
        compares: true,
    },
    Case {
        question: Question::Fault,
        values: &[
            ("memory/major_fault", "access=shuffled pages", 64e3),
            ("memory/minor_fault", "access=cached file, read, page by page", 1e3),
        ],
        said: "takes {64000}, one that finds its page in memory {1000}: {64} times as long.",
        compares: true,
    },
    Case {
        question: Question::Caches,
        values: &[
            ("memory/load_latency", "order=random cycle pages=base placement=one-cpu size=134217728", 100.0),
            ("memory/load_latency", "order=random cycle pages=huge placement=one-cpu size=134217728", 75.0),
        ],
        said: "{100} with base pages and {75} with huge ones: address translation is {0.25} of the former.",
        compares: true,
    },
    Case {
        question: Question::Software,
        values: &[("network/round_trip", TCP_PEER, 40e3), ("network/round_trip", TCP_ACROSS, 30e3)],
        said: "{40000} by TCP and back, over loopback {30000}: software is {0.75} of it, the network takes {10000}.",
        compares: true,
    },
    Case {
        question: Question::Ping,
        values: &[
            (
                "network/round_trip",
                "loop=closed path=loopback payload=56 placement=one-cpu transport=TCP",
                12e3,
            ),
            (
                "network/round_trip",
                "loop=closed path=loopback payload=56 placement=one-cpu transport=ICMP echo",
                6e3,
            ),
        ],
        said: "56 bytes take {12000} by TCP and {6000} by ICMP echo: {2} times as long, because the kernel answers",
        compares: true,
    },
    Case {
        question: Question::Software,
        values: &[
            ("network/bandwidth", USUAL_PEER, 1e9),
            (
                "network/bandwidth",
                "chunk=131072 direction=send figure=steady path=loopback placement=across-cpus streams=1 transport=TCP",
                4e9,
            ),
        ],
        said: "one TCP stream moves at most {1000000000} of payload, over loopback {4000000000}: the software alone moves \
               {4} times",
        compares: true,
    },
    Case {
        question: Question::Experiment,
        values: &[
            ("network/bandwidth", SENT, 1e9),
            (
                "network/bandwidth",
                "chunk=65536 direction=receive figure=steady path=loopback placement=across-cpus streams=1 transport=TCP",
                4e9,
            ),
        ],
        said: "Over loopback TCP moves {1000000000} and received {4000000000}, in chunks of 64 KiB: the two directions",
        compares: false,
    },
    Case {
        question: Question::Adapter,
        values: &[
            ("network/bandwidth", USUAL_PEER, 1e9),
            (
                "network/bandwidth",
                "chunk=131072 direction=send figure=sender's processor time path=peer",
                1e6,
            ),
        ],
        said: "The sender's processor time is the limit: software, not the adapter.",
        compares: false,
    },
    Case {
        question: Question::SetUp,
        values: &[
            ("network/connection", "ip_version=IPv4 path=peer phase=connect placement=across-cpus", 90e3),
            (
                "network/round_trip",
                "loop=closed path=peer payload=1 placement=across-cpus transport=TCP",
                60e3,
            ),
        ],
        said: "Opening a connection takes {90000} to the peer, or {1.5} round trips of a byte by TCP.",
        compares: false,
    },
    Case {
        question: Question::Software,
        values: &[
            (
                "network/connection",
                "ip_version=IPv4 path=peer phase=graceful end placement=across-cpus",
                80e3,
            ),
            (
                "network/connection",
                "ip_version=IPv4 path=loopback phase=graceful end placement=across-cpus",
                20e3,
            ),
        ],
        said: "takes {80000} to the peer, {20000} over loopback: software is {0.25} of it, the network takes {60000}.",
        compares: true,
    },
    Case {
        question: Question::FileCache,
        values: &[("filesystem/cache_size", "content=random data method=residency", 0.75 * 536_870_912.0)],
        said: "The page cache fills {0.75} of the limit that Fathom sets, {536870912}: the size is that of this limit",
        compares: false,
    },
    Case {
        question: Question::FileCache,
        values: &[("filesystem/cache_size", "content=holes method=residency", 6.0 * 1_073_741_824.0)],
        said: "The page cache fills {0.75} of the memory, {8589934592}.",
        compares: false,
    },
    Case {
        question: Question::FileCache,
        values: &[
            ("filesystem/reread", "file=268435456 order=forward placement=one-cpu state=read before", 250e3),
            ("filesystem/reread", "file=805306368 order=forward placement=one-cpu state=read before", 1250e3),
            ("filesystem/reread", "file=805306368 order=forward placement=one-cpu state=direct", 1e6),
        ],
        said: "one of {805306368} at {838860800}: {0.8} of the device's rate past the cache, {1048576000}.",
        compares: false,
    },
    Case {
        question: Question::Order,
        values: &[("filesystem/read", RANDOM_DIRECT, 90e3), ("filesystem/read", SEQUENTIAL_DIRECT, 30e3)],
        said: "by the size of the file: 64 MiB {90000} against {30000}, {3} times as much.",
        compares: true,
    },
    Case {
        question: Question::Penalty,
        values: &[
            (
                "filesystem/remote_read",
                "block=4096 order=random placement=free protocol=nfs queue_depth=1 state=server-cached",
                100e3,
            ),
            (
                "filesystem/remote_read",
                "block=4096 order=random placement=free protocol=local file queue_depth=1 state=client-cached",
                1e3,
            ),
        ],
        said: "{1000} from this machine's: the network's penalty is {99000}; the remote block takes {100} times as \
               long.",
        compares: true,
    },
    Case {
        question: Question::Order,
        values: &[
            (
                "filesystem/remote_read",
                "block=4096 order=random placement=free protocol=nfs queue_depth=1 state=server-cached",
                100e3,
            ),
            (
                "filesystem/remote_read",
                "block=4096 order=sequential placement=free protocol=nfs queue_depth=1 state=server-cached",
                50e3,
            ),
        ],
        said: "in random over sequential order: {2} times as much.",
        compares: true,
    },
];

/// A machine of 8 GiB that reads a remote file by NFS.
fn machine() -> Machine {
    let mut machine = crate::described::machine();
    machine.memory.total_bytes = Fact::known(8 << 30, "a test");
    let address: RemoteAddress = "nfs://192.0.2.1/export/file".parse().expect("an address");
    machine.storage.remote = Some(Remote::find(&Root::new("/nowhere"), &address).expect("a server"));
    machine
}

/// The first point of an experiment whose name has these words.
fn point(experiment: &dyn Experiment, words: &str, machine: &Machine) -> Point {
    let points = experiment.sweep(machine);
    let found = points.iter().find(|point| format!("{point} ").contains(words));
    found.unwrap_or_else(|| panic!("{} has no point {words}", experiment.about().name)).clone()
}

/// What is known when intervals reach so far, as a share of their values; `None` for too few trials.
fn learned<'run>(machine: &'run Machine, values: &[Value], reach: Option<f64>) -> Known<'run> {
    let mut known = Known::new(machine, Some(3e9));
    for (name, words, value) in values {
        let experiment = experiments::find(name).expect("an experiment");
        let point = point(experiment, words, machine);
        let interval =
            reach.map(|reach| Interval { low: value * (1.0 - reach), high: value * (1.0 + reach) });
        let dimension = Dimension::Of(experiment.unit(&point));
        known.learn(name, &point, Found::measured(Measured { value: *value, interval }, dimension));
    }
    known
}

fn findings(case: &Case, values: &[Value], reach: Option<f64>) -> Vec<Finding> {
    let machine = machine();
    let experiment = experiments::find(case.values[0].0).expect("an experiment");
    experiment.findings(&learned(&machine, values, reach))
}

fn saying(case: &Case, values: &[Value], reach: Option<f64>) -> Option<Finding> {
    let said = |finding: &Finding| finding.statement.plain().contains(case.said);
    findings(case, values, reach).into_iter().find(said)
}

#[test]
fn what_is_known_is_said_with_its_intervals() {
    for case in CASES {
        let said = saying(case, case.values, Some(0.01));
        let all: Vec<String> =
            findings(case, case.values, Some(0.01)).iter().map(|said| said.statement.plain()).collect();
        let said =
            said.unwrap_or_else(|| panic!("{}: `{}` is not among {all:#?}", case.values[0].0, case.said));
        assert_eq!(said.question, case.question, "{}", case.said);
        for figure in said.statement.figures() {
            let interval = figure.found.interval.unwrap_or_else(|| panic!("{}: {}", case.said, figure.name));
            assert!(interval.contains(figure.found.value), "{}: {}", case.said, figure.name);
        }
    }
}

#[test]
fn without_one_of_its_points_a_finding_is_not_made() {
    for case in CASES {
        for missing in 0..case.values.len() {
            let mut values = case.values.to_vec();
            values.remove(missing);
            let said = saying(case, &values, Some(0.01));
            assert!(said.is_none(), "{} without {:?}", case.said, case.values[missing]);
        }
    }
}

#[test]
fn what_intervals_do_not_tell_apart_is_not_told_apart() {
    for case in CASES.iter().filter(|case| case.compares) {
        let all = findings(case, case.values, Some(0.99));
        let mine = all.iter().filter(|said| said.question == case.question);
        let texts: Vec<String> = mine.map(|said| said.statement.plain()).collect();
        assert!(
            texts.iter().any(|text| text.contains("not significantly different")),
            "{}: {texts:#?}",
            case.said
        );
        assert!(saying(case, case.values, Some(0.99)).is_none(), "{}", case.said);
    }
}

#[test]
fn two_directions_that_cannot_be_told_apart_are_not_said_to_differ() {
    let of_directions = |case: &&Case| case.said.contains("the two directions");
    let case = CASES.iter().find(of_directions).expect("a case");
    assert!(saying(case, case.values, Some(0.5)).is_some());
    assert!(saying(case, case.values, Some(0.99)).is_none());
}

#[test]
fn of_too_few_trials_a_comparison_says_so() {
    let case = &CASES[0];
    let said = findings(case, case.values, None);
    let text = said[0].statement.plain();
    assert!(text.contains("~{100} times as much."), "{text}");
    assert!(said[0].statement.figures().all(|figure| figure.found.interval.is_none()));
}

#[test]
fn one_more_argument_is_the_slope_of_the_line_and_needs_three_points() {
    let values =
        |count: usize| -> Vec<(u64, f64)> { (0..count as u64).map(|n| (n, 1.0 + 0.25 * n as f64)).collect() };
    let said = |count| {
        let machine = machine();
        let mut known = Known::new(&machine, None);
        let experiment = experiments::find("cpu/procedure_call").expect("an experiment");
        for (arguments, ns) in values(count) {
            let point = point(experiment, &format!("arguments={arguments} form=abi "), &machine);
            known.learn("cpu/procedure_call", &point, Found::bare(ns, Dimension::Of(Unit::Nanoseconds)));
        }
        let found = experiment.findings(&known).into_iter().find(|said| said.question == Question::Argument);
        found.map(|said| said.statement.plain())
    };
    assert!(said(6).is_some_and(|text| {
        text.contains("as the ABI passes it to calls that may overlap, costs {0.25}; the call itself {1}.")
    }));
    assert_eq!(said(2), None, "two points are no line");
}

#[test]
fn contention_is_held_against_serving_one_after_the_other() {
    let machine = machine();
    let said_of = |slope: f64, in_rounds: bool| {
        let mut known = Known::new(&machine, None);
        let experiment = experiments::find("filesystem/contention").expect("an experiment");
        let around = |value: f64| {
            let interval = Some(Interval { low: 0.99 * value, high: 1.01 * value });
            Found::measured(Measured { value, interval }, Dimension::Of(Unit::Nanoseconds))
        };
        for count in [1_u16, 2, 3, 4] {
            let words = format!(
                "figure=each process file=4096000 pattern=all random placement=free processes={count} "
            );
            let alone = 50e3;
            let place = point(experiment, &words, &machine);
            known.learn("filesystem/contention", &place, around(alone + slope * f64::from(count - 1)));
            if in_rounds {
                let line = (around(slope), around(alone - slope));
                known.learn_line("filesystem/contention", &place, "processes", Some(line));
            }
        }
        experiment.findings(&known)[0].statement.plain()
    };
    let said = |slope| said_of(slope, true);
    assert!(
        said_of(10e3, false).contains("adds {0.2} of the time of one process alone ({50000})."),
        "points alone judge nothing"
    );
    assert!(said(10e3).contains(
        "adds {0.2} of the time of one process alone ({50000}): the device serves several at once."
    ));
    assert!(said(50e3).contains(
        "adds {1} of the time of one process alone ({50000}): the device serves one request after the \
                       other."
    ));
    assert!(said(90e3).contains("the processes slow each other down by more than queueing"));
}

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
fn every_question_has_words_and_a_name_of_its_own() {
    for (place, question) in Question::ALL.iter().enumerate() {
        assert!(question.text().ends_with('?'), "{question:?}");
        assert!(Question::ALL[..place].iter().all(|other| other.name() != question.name()), "{question:?}");
    }
}

/// Every point of an experiment, each with a value of its own.
fn all_learned<'run>(experiment: &dyn Experiment, machine: &'run Machine) -> Known<'run> {
    let mut known = Known::new(machine, Some(3e9));
    for (place, point) in experiment.sweep(machine).iter().enumerate() {
        // In no order of the sweep.
        let value = 1e6 * (1 + place * 37 % 101) as f64 + place as f64;
        let interval = Some(Interval { low: 0.999 * value, high: 1.001 * value });
        let dimension = Dimension::Of(experiment.unit(point));
        known.learn(experiment.about().name, point, Found::measured(Measured { value, interval }, dimension));
    }
    known
}

#[test]
fn headlines_are_of_the_settings_that_findings_compare() {
    let machine = machine();
    for name in ["network/bandwidth", "network/connection", "filesystem/write"] {
        let experiment = experiments::find(name).expect("an experiment");
        let known = all_learned(experiment, &machine);
        let found: Vec<f64> = experiment
            .findings(&known)
            .iter()
            .flat_map(|said| said.statement.figures().map(|figure| figure.found.value).collect::<Vec<_>>())
            .collect();
        for figure in experiment.about().shown.main_figures {
            let merit = |point: &Point| {
                let value = known.median(name, point).unwrap_or(f64::NEG_INFINITY);
                if experiment.unit(point) == Unit::Nanoseconds { -value } else { value }
            };
            let point = figure.choose_best(known.points(name), &[], merit).expect("a point");
            let headline = known.median(name, point).expect("a value");
            assert!(found.contains(&headline), "{name}: {} ({point}) is in no finding", figure.words);
        }
    }
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
        let text = all.iter().map(|said| said.statement.plain()).find(|text| text.contains("moves at most"));
        text.expect("a finding")
    };
    let fastest = "The fastest of all is a UNIX socket on one CPU in chunks of 64 KiB, ";
    let told = said(0.01);
    assert!(told.contains(&format!("{fastest}{{6120000000}}.")), "{told}");
    assert!(told.contains("in chunks of 64 KiB, on one CPU {1760000000}"), "{told}");
    let alike = said(0.2);
    assert!(
        alike.contains("which is not significantly different from a pipe on one CPU in chunks of 64 KiB"),
        "{alike}"
    );
}

/// What six trials make of a ramp of so many nanoseconds each.
fn ramp(values: f64) -> Outcome {
    let experiment = experiments::find("network/bandwidth").expect("an experiment");
    let planned = PlannedPoint {
        experiment: "network/bandwidth".to_owned(),
        method_version: experiment.about().version,
        point: point(experiment, "figure=ramp path=loopback", &machine()),
        unit: Unit::Nanoseconds,
        skip: None,
    };
    let mut run = Run::begun(crate::described::header(vec![planned.clone()]));
    let trial = |round| {
        let observations = Observations::Values { values: vec![values] };
        let witnessed = ["transfers", "transfers_found_steady"].map(|name| (name.to_owned(), 1.0));
        let sample = Sample { observations, operations: 1, witnessed: witnessed.into(), ..Sample::default() };
        Trial {
            outcome: TrialOutcome::Measured { sample },
            ..crate::described::trial(planned.clone(), round)
        }
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

#[test]
fn of_nothing_nothing_is_said() {
    let machine = machine();
    let known = Known::new(&machine, None);
    for experiment in experiments::all() {
        let said = experiment.findings(&known);
        assert!(said.is_empty(), "{}: {said:?}", experiment.about().name);
    }
}

#[test]
fn a_finding_is_told_from_the_others_of_its_experiment_by_its_key() {
    let machine = machine();
    let mut known = Known::new(&machine, Some(3e9));
    for experiment in experiments::all() {
        for (place, point) in experiment.sweep(&machine).into_iter().enumerate() {
            let value = 100.0 * (place + 1) as f64;
            let interval = Some(Interval { low: 0.99 * value, high: 1.01 * value });
            let dimension = Dimension::Of(experiment.unit(&point));
            let found = Found::measured(Measured { value, interval }, dimension);
            known.learn(experiment.about().name, &point, found);
        }
    }
    let mut findings = 0;
    for experiment in experiments::all() {
        let mut keys: Vec<String> =
            experiment.findings(&known).into_iter().map(|finding| finding.key).collect();
        findings += keys.len();
        keys.sort();
        let twice = keys.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None, "{}", experiment.about().name);
    }
    assert!(findings > 100, "{findings} findings");
}

/// Ten operations of 1000 ns each, with so much processor time in all.
fn sample(user_ns: u64, system_ns: u64, baseline_iterations: u64) -> Sample {
    let observations = Observations::Ticks {
        operations: 1,
        each: true,
        overhead_ticks: 0.0,
        beyond_ns: 0.0,
        operation: vec![1000; 10],
        baseline: vec![],
    };
    let counters = Counters { user_ns, system_ns, ..Counters::default() };
    Sample { observations, operations: 10, baseline_iterations, counters, ..Sample::default() }
}

fn where_time_went(sample: Sample) -> Option<ProcessorTime> {
    let mut run = crate::described::fake_run();
    let planned = crate::described::planned();
    let trial = Trial { outcome: TrialOutcome::Measured { sample }, ..crate::described::trial(planned, 1) };
    run.trials = vec![trial];
    Results::of(&run).points[0].processor_time
}

#[test]
fn where_the_time_went_is_told_only_of_what_was_timed() {
    let spent = where_time_went(sample(2_000, 6_000, 0)).expect("counted");
    assert_eq!((spent.passed_ns, spent.ran_ns), (1000.0, 800.0));
    assert!((spent.waited_ns() - 200.0).abs() < 1e-9);
    assert_eq!(
        where_time_went(sample(5_000, 6_000, 0)),
        None,
        "more ran than passed: other work was counted too"
    );
    assert_eq!(where_time_went(sample(2_000, 6_000, 10)), None, "a baseline was counted too");
}

/// A run that has found, in eight trials each, that creating a thread and a process take this long, nanoseconds.
fn creating(thread: f64, process: f64) -> Run {
    let machine = machine();
    let values = [
        ("cpu/thread_creation", "measure=create and join placement=one-cpu", thread),
        ("cpu/process_creation", "measure=fork, exit, wait placement=one-cpu", process),
    ];
    let mut run = crate::described::fake_run();
    run.header.plan.clear();
    run.trials.clear();
    for (name, words, value) in values {
        let experiment = experiments::find(name).unwrap();
        let planned = PlannedPoint {
            experiment: name.to_owned(),
            method_version: experiment.about().version,
            point: point(experiment, words, &machine),
            unit: Unit::Nanoseconds,
            skip: None,
        };
        let trial = |round: u32| {
            let each = value + f64::from(round);
            let observations = Observations::Values { values: vec![each; 5] };
            let witnessed = [("children_reaped".to_owned(), 1.0)].into();
            let counters = Counters { voluntary_switches: 1, ..Counters::default() };
            let sample = Sample { observations, operations: 1, witnessed, counters, ..Sample::default() };
            Trial {
                outcome: TrialOutcome::Measured { sample },
                ..crate::described::trial(planned.clone(), round)
            }
        };
        run.trials.extend((1..=8).map(trial));
        run.header.plan.push(planned);
    }
    run
}

#[test]
fn a_process_quicker_than_its_thread_is_implausible_with_it_and_the_report_says_why() {
    let outcomes =
        |run: &Run| Results::of(run).points.iter().map(|point| point.outcome.name()).collect::<Vec<_>>();
    assert_eq!(outcomes(&creating(20_000.0, 60_000.0)), ["value", "value"]);
    assert_eq!(outcomes(&creating(20_003.0, 20_000.0)), ["value", "value"], "the intervals meet");
    let turned = creating(60_000.0, 20_000.0);
    assert_eq!(outcomes(&turned), ["implausible", "implausible"]);
    let results = Results::of(&turned);
    let report = fathom::report::RunReport::of(&results);
    let page =
        fathom::report::render(&report, fathom::report::Form::Markdown, fathom::report::Style::default());
    assert!(page.matches("a process is a thread with its own address space").count() >= 2, "{page}");
    assert!(results.has_failed(), "what is implausible makes the exit status");
}
