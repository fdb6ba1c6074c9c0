//! The hermetic tier: what `cargo test` runs, on any machine, with the same result. No test in it measures the machine that
//! it runs on, and none needs root, a server, a network, a terminal or an instruction set: clocks are simulated, machines
//! described, runs committed. What needs a machine is in the live tier (`tests/live/main.rs`).

#[path = "../described/mod.rs"]
mod described;
#[path = "../file_servers/mod.rs"]
mod file_servers;
#[path = "../described/fixed_run.rs"]
mod fixture;
#[path = "../printed/mod.rs"]
mod printed;
#[path = "../simulated_machine/mod.rs"]
mod simulated_machine;

mod committed;
mod part_of_run;
mod reported;

mod around;
mod at_device;
mod at_frequency;
mod atlas;
mod beginning;
mod causes;
mod check;
mod circles;
mod command_line;
mod comparison;
mod core_cycles;
mod core_state;
mod core_use;
mod cpu_distance;
mod earlier_schemas;
mod equal_runs;
mod errors;
mod families;
mod findings;
mod fuzz;
mod gate;
mod generated;
mod golden;
mod hostile;
mod identifiers;
mod known_truth;
mod language;
mod machine;
mod mailed_settings;
mod method_versions;
mod overwriting;
mod packed_runs;
mod page_order;
mod pictures;
mod plan;
mod planner;
mod points_of_many_runs;
mod predicted_again;
mod predictions;
mod printed_agreement;
mod printed_runs;
mod processor_time;
mod publish;
mod published_machine;
mod reader;
mod references;
mod registry;
mod replicated_figures;
mod replication;
mod report_properties;
mod revisited_memory;
mod run_file;
mod screen;
mod sources;
mod streams;
mod tlb_sizes;
mod unlike_cpus;
mod unlike_machines;
mod unread_counters;
mod unsound_trials;
mod variants;
mod verification;
