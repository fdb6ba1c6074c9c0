//! Points that did not fit into the budget: skipped, with their cost and the budget that would measure them.

use crate::record::{LeftOut, PlannedPoint, Run, Settled, Trial};
use fathom_core::quantities;
use fathom_core::statistics::MINIMUM_TRIALS;
use std::time::Duration;

/// The reason why a point is left out; `None` if it is not left out, has its interval nevertheless, or has only ever failed,
/// which is the better reason.
pub(super) fn reason(run: &Run, planned: &PlannedPoint, trials: &[&Trial]) -> Option<String> {
    let settled = run.settled.as_ref()?;
    let mine = |point: &&LeftOut| point.experiment == planned.experiment && point.point == planned.point;
    let price = settled.left_out.iter().find(mine)?;
    let observed = trials.iter().filter(|trial| trial.observed()).count();
    let only_failed = observed == 0 && !trials.is_empty();
    (observed < MINIMUM_TRIALS && !only_failed).then(|| begun(observed) + &wording(settled, price))
}

/// What was made of a point before it was left out: not nothing.
fn begun(observed: usize) -> String {
    match observed {
        0 => String::new(),
        1 => format!("1 trial was made, of the {MINIMUM_TRIALS} that an interval needs: "),
        number => format!("{number} trials were made, of the {MINIMUM_TRIALS} that an interval needs: "),
    }
}

/// The same reason for all points of about the same cost, so that a table can group them.
fn wording(settled: &Settled, price: &LeftOut) -> String {
    // What was ended before it was made costs more than is known.
    let (about, would) = if price.more { ("more than", "may") } else { ("about", "would") };
    format!(
        "does not fit into the budget: its trials would take {about} {}; `--budget {}` {would} include it",
        rounded(Duration::from_secs_f64(price.cost_s.clamp(0.0, MOST_S))),
        budget(Duration::from_secs_f64(settled.enough_budget_s.clamp(0.0, MOST_S)))
    )
}

/// More seconds than any run lasts, and fewer than a [`Duration`] holds: a run file may have been edited.
const MOST_S: f64 = 1e12;

/// A time in words, to one decimal below ten seconds and in whole seconds above.
pub fn rounded(time: Duration) -> String {
    quantities::roughly(time.as_secs_f64())
}

/// A budget in the form of the command line.
pub fn budget(time: Duration) -> String {
    match time.as_secs() {
        hours if hours >= 3600 && hours % 3600 == 0 => format!("{}h", hours / 3600),
        minutes if minutes >= 60 && minutes % 60 == 0 => format!("{}m", minutes / 60),
        seconds => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_words_that_the_command_line_reads_back() {
        for (seconds, word) in [(90, "90s"), (180, "3m"), (7200, "2h"), (5400, "90m")] {
            let time = Duration::from_secs(seconds);
            assert_eq!(budget(time), word);
            assert_eq!(humantime::parse_duration(word), Ok(time));
        }
    }

    #[test]
    fn prices_are_rounded_so_that_alike_ones_read_alike() {
        let said = |seconds: f64| rounded(Duration::from_secs_f64(seconds));
        let read = [0.02, 0.31, 3.4, 38.0, 43.0, 119.0, 300.0].map(said);
        assert_eq!(read, ["0.1 s", "0.3 s", "3 s", "40 s", "40 s", "2 min", "5 min"]);
    }
}
