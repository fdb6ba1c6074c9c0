//! Report 002: a laptop of 2021, described in an essay without tables.

mod cpu;
mod filesystem;
mod memory;
mod trials;

use super::{Picture, Report, Row};
use fathom_core::experiment::Scale;

/// The report.
pub const REPORT: Report = Report {
    id: "002",
    machine: "i7-11gen-thinkpad-x1-ubuntu-22.04",
    title: "An essay on benchmarking a laptop for a graduate course on operating systems (its author is not named in the text): \
            an 11th generation Intel Core i7 (ThinkPad X1 Carbon) under Ubuntu 22.04",
    methodology: "The programs are C; the report names neither compiler nor flags, and Fathom assumes loops without optimisation. The \
                  timer is RDTSC after MFENCE and LFENCE, before and after each single operation. A run has 1000 trials of one operation \
                  each; the first ten are discarded and outliers are trimmed. The report does not give the rule: here values more than \
                  three standard deviations from the mean are left out, once. The cost of an empty pair of readings is subtracted; the \
                  report must have done so, because by its text a call takes less than a nanosecond. Programs ran on a single core at the \
                  highest priority that nice gives. The report prints means without deviations, and most of its results only as pictures. \
                  It has no summary table: rows are in the order of the text.",
    timer_needs: &[],
    rows: ROWS,
    figures: FIGURES,
};

const ROWS: &[Row] = &[
    cpu::READING,
    cpu::FUNCTION_CALL,
    cpu::FIVE_ARGUMENTS,
    cpu::SYSTEM_CALL,
    cpu::PROCESS_CREATION,
    cpu::THREAD_CREATION,
    cpu::PROCESS_SWITCH,
    cpu::THREAD_SWITCH,
    memory::SMALL,
    memory::MIDDLING,
    memory::LARGE,
    memory::LARGEST,
    memory::READING,
    memory::WRITING,
    memory::PAGE_FAULT,
    filesystem::CACHE_SIZE,
    filesystem::IN_SEQUENCE,
    filesystem::AT_RANDOM,
    filesystem::SMALL_IN_SEQUENCE,
    filesystem::REMOTE_IN_SEQUENCE,
    filesystem::REMOTE_AT_RANDOM,
    filesystem::PING,
];

/// The figures of the report.
const FIGURES: &[Picture] = &[
    Picture::swept(0, "function call time against arguments", "function call", "arguments", Scale::Count),
    Picture::swept(0, "memory latency against size", "memory access", "size of the array", Scale::Bytes),
    Picture::swept(
        0,
        "time of a block against file size, read again: the file cache",
        "file cache size",
        "size of the file",
        Scale::Bytes,
    ),
    Picture::swept(
        0,
        "time of a block, sequential and random, against file size, local",
        "file read",
        "size of the file",
        Scale::Bytes,
    ),
    Picture::swept(
        0,
        "time of a block against file size, remote",
        "remote file read",
        "size of the file",
        Scale::Bytes,
    ),
];
