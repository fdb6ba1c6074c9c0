//! The live tier: tests of this machine, and of what needs it: root, servers, namespaces, a terminal, a quiet moment.
//!
//! `cargo test --release --test live [PART OF A NAME…]` runs them. Each passes, fails, is inconclusive or is skipped, with the
//! reason (`tier.rs`). What needs no machine is in the hermetic tier, which is what `cargo test` runs.

mod calm;
mod claim;
mod tier;

mod control_group;
#[path = "../described/mod.rs"]
mod described;
#[path = "../file_servers/mod.rs"]
mod file_servers;
#[path = "../described/fixed_run.rs"]
mod fixture;
#[path = "../printed/mod.rs"]
mod printed;
#[path = "../simulated_machine/mod.rs"]
#[allow(dead_code, reason = "the hermetic tier uses the rest")]
mod simulated_machine;

mod servers;
mod short_run;
mod streams;

mod around;
mod blocks;
mod check;
mod command_line;
mod filesystem;
mod fleet_set;
mod gate;
mod growth;
mod hostile_servers;
mod instrument;
mod interleaved;
mod kills;
mod latex;
mod lengths;
mod library;
mod machine;
mod misfortune;
mod network;
mod page_faults;
mod peer;
mod remote_read;
mod safety;
mod terminal;
mod this_machine;
mod verify;
mod wall_clock;

fn main() -> std::process::ExitCode {
    // Some plan in this process.
    fathom::experiments::register();
    let single = [
        around::TESTS,
        around::MEASURING,
        blocks::TESTS,
        command_line::TESTS,
        fleet_set::TESTS,
        gate::TESTS,
        growth::TESTS,
        hostile_servers::TESTS,
        interleaved::TESTS,
        kills::TESTS,
        latex::TESTS,
        lengths::TESTS,
        library::TESTS,
        machine::TESTS,
        misfortune::TESTS,
        network::TESTS,
        page_faults::TESTS,
        remote_read::TESTS,
        streams::TESTS,
        terminal::TESTS,
        this_machine::TESTS,
        verify::TESTS,
        wall_clock::TESTS,
    ];
    let several = [check::TESTS, filesystem::TESTS, instrument::TESTS, peer::TESTS, safety::TESTS];
    tier::main(single.into_iter().chain(several.into_iter().flatten().copied()).collect())
}
