//! Findings by their words: what values must have said of them, and what is not said without one of them.

use super::{SENT, USUAL_PEER, Value, learned, machine};
use fathom::experiment::{Finding, Question};
use fathom::experiments;

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
        said: "Creating and reaping a thread takes {20000}, as long as {10} switches between threads ({2000} each).",
        compares: true,
    },
    Case {
        question: Question::Fault,
        values: &[
            ("memory/minor_fault", "access=cached file, read, page by page", 8192.0),
            ("memory/load_latency", "order=random cycle pages=huge placement=one-cpu size=1073741824", 64.0),
        ],
        said: "Per byte a minor fault costs {2} and a dependent load from 1 GiB {1}: {2} times as much; per access {8192} and {64}, {128} times as much.",
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
        said: "{100} with base pages and {75} with huge ones: what base pages add is {0.25} of the former.",
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
        said: "Opening a connection takes {90000} to the peer, or {1.5} round trips of a byte by TCP ({60000} each).",
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
        said: "The page cache holds at least {402653184} of a file: a lower bound, set by this run's memory limit of {536870912}",
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
        said: "by the size of the file: {90000} over {30000}, {3} times, in one of 64 MiB.",
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
        said: "in random over sequential order, {100000} over {50000}: {2} times as much.",
        compares: true,
    },
];

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
