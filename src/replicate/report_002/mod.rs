//! Report 002: a laptop of 2021, told as an essay without tables.

mod cpu;
mod filesystem;
mod memory;

use super::{Report, Row};

/// The report.
pub const REPORT: Report = Report {
    id: "002",
    machine: "i7-11gen-thinkpad-x1-ubuntu-22.04",
    title: "An essay on benchmarking a laptop for a graduate course on operating systems (its author is not named in the text): \
            an 11th generation Intel Core i7 (ThinkPad X1 Carbon) under Ubuntu 22.04",
    methodology: "C; neither compiler nor flags are named, and here its loops are taken to be compiled without optimisation. The \
                  timer is RDTSC behind MFENCE and LFENCE, before and after each single operation. A run has 1000 trials of \
                  one operation each; the first ten are discarded and outliers are trimmed. By which rule is not said: here \
                  what lies more than three standard deviations from the mean is left out, once. The cost of an empty pair \
                  of readings is subtracted, as it must have been, for a call is said to take less than a nanosecond. \
                  Programs ran on a single core at the highest priority that nice gives. The report prints means without \
                  deviations, and most of its results only as pictures. It has no summary table: rows are in the order of \
                  the text.",
    rows: ROWS,
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

/// Their trials of a run.
const TRIALS: usize = 1000;
/// Those of them that were discarded.
const DISCARDED: usize = 10;

/// What the trials of a run find, the first ones discarded and the outliers trimmed.
fn trials<E>(one: impl FnMut() -> Result<f64, E>) -> Result<Vec<f64>, E> {
    some_trials(TRIALS, one)
}

/// The same of a run with another number of trials.
fn some_trials<E>(count: usize, one: impl FnMut() -> Result<f64, E>) -> Result<Vec<f64>, E> {
    let all: Vec<f64> = std::iter::repeat_with(one).take(count).collect::<Result<_, _>>()?;
    Ok(trimmed(&all[DISCARDED..]))
}

/// Those values that lie within three standard deviations of the mean of all.
fn trimmed(values: &[f64]) -> Vec<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    values.iter().copied().filter(|value| (value - mean).abs() <= 3.0 * deviation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_trials_are_discarded_and_outliers_trimmed() {
        let mut made = 0;
        let found = trials(|| {
            made += 1;
            // The first ten are cold, one later is disturbed.
            Ok::<_, ()>(if made <= 10 {
                900.0
            } else if made == 500 {
                1e6
            } else {
                100.0
            })
        });
        assert_eq!(made, TRIALS);
        assert_eq!(found, Ok(vec![100.0; 989]));
        assert_eq!(trimmed(&[1.0, 2.0]), [1.0, 2.0]);
    }
}
