//! Excerpts of the timed code: whole functions from the sources, as they were compiled (R-REP-05).

/// For each experiment: the variant, the source, and the beginning of the function in it.
const EXCERPTS: &[(&str, &str, &str, &str)] = &[
    ("cpu/system_call", "getppid, by its number", include_str!("cpu/system_call.rs"), "fn getppid("),
    ("cpu/process_creation", "fork and wait", include_str!("cpu/process_creation.rs"), "fn fork_and_wait("),
    ("cpu/thread_creation", "create and join", include_str!("cpu/thread_creation.rs"), "fn create_and_join("),
    ("cpu/context_switch", "two turns", include_str!("../sampling/turn.rs"), "pub fn rounds<"),
    ("memory/load_latency", "the chase", include_str!("memory/chase/kernel.rs"), CHASE),
    (
        "memory/major_fault",
        "one access, with the faults that it took",
        include_str!("memory/fault/cold_reader.rs"),
        "fn access(",
    ),
    (
        "network/round_trip",
        "a message and its echo",
        include_str!("network/conversation.rs"),
        "pub fn round_trip(",
    ),
    ("network/bandwidth", "the sender", include_str!("network/transfer.rs"), "fn pour("),
    ("network/connection", "connecting", include_str!("network/connection/mod.rs"), "fn connect<"),
    ("filesystem/read", "a block at random", include_str!("filesystem/reader.rs"), "fn pread("),
    ("filesystem/write", "a block, and what makes it last", include_str!("filesystem/write.rs"), "fn write("),
    ("filesystem/contention", "one of the processes", include_str!("filesystem/fleet.rs"), "fn read_on("),
];

/// The beginning of the chase of this architecture.
const CHASE: &str = if cfg!(target_arch = "x86_64") {
    "#[cfg(target_arch = \"x86_64\")]"
} else if cfg!(target_arch = "aarch64") {
    "#[cfg(target_arch = \"aarch64\")]"
} else {
    "#[cfg(not("
};

/// The timed operation of an experiment, and its function; `None` if an excerpt would say no more than the method.
pub fn timed(experiment: &str) -> Option<(&'static str, String)> {
    let (_, of, source, begins) = EXCERPTS.iter().find(|(name, ..)| *name == experiment)?;
    Some((of, function(source, begins)?))
}

/// The text from the line with this beginning to the closing brace, without the common indentation.
fn function(source: &str, begins: &str) -> Option<String> {
    let mut lines = source.lines().skip_while(|line| !line.trim_start().starts_with(begins));
    let first = lines.next()?;
    let indent = first.len() - first.trim_start().len();
    let cut = |line: &str| line.get(indent..).unwrap_or_default().to_owned();
    let mut text = vec![cut(first)];
    for line in lines {
        text.push(cut(line));
        if text.last().is_some_and(|line| line == "}") {
            return Some(text.join("\n"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_excerpt_is_a_whole_function_of_an_experiment() {
        for (name, ..) in EXCERPTS {
            assert!(crate::experiments::find(name).is_some(), "there is no {name}");
            let (of, text) = timed(name).unwrap_or_else(|| panic!("{name}: no such function"));
            let lines = text.lines().count();
            assert!((3..30).contains(&lines) && text.ends_with("\n}") && !of.is_empty(), "{name}: {text}");
        }
    }

    #[test]
    fn a_function_is_cut_out_whole_and_moved_to_the_margin() {
        let source =
            "impl X {\n    /// Says.\n    fn a() {\n        if b {\n        }\n    }\n\n    fn c() {}\n}\n";
        assert_eq!(function(source, "fn a(").unwrap(), "fn a() {\n    if b {\n    }\n}");
        assert_eq!(function(source, "fn d("), None);
    }
}
