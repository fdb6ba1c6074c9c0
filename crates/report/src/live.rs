//! The live table: the figures so far, a progress bar and the remaining time, on standard error.

use super::{planned, words};
use fathom_core::message::{clean, shown, tell};
use fathom_core::quantities;
use fathom_engine::plan::Settlement;
use fathom_engine::run::{Tick, Watcher};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Without a terminal, the interval between lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// How many points do not fit, and the budget that would be enough for them.
#[derive(Clone, Copy)]
struct SettledShare {
    left_out: usize,
    enough: Duration,
}

/// Shows a run in progress. Nothing is drawn by a separate thread, or while a trial observes: only between two trials and
/// while one prepares.
pub struct Live {
    screen: Option<MultiProgress>,
    bar: Option<ProgressBar>,
    rows: BTreeMap<String, ProgressBar>,
    last_line: Option<Instant>,
    last_preparing: Option<Instant>,
    /// What was settled last: which points do not fit.
    settled: Option<SettledShare>,
}

impl Live {
    /// A table on a terminal, otherwise a line at intervals.
    pub fn new() -> Self {
        let screen = std::io::stderr().is_terminal().then(MultiProgress::new);
        Live {
            screen,
            bar: None,
            rows: BTreeMap::new(),
            last_line: None,
            last_preparing: None,
            settled: None,
        }
    }

    /// Removes the bar; the table stays.
    pub fn finish(&mut self) {
        for row in self.rows.values() {
            row.abandon();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn draw(&mut self, screen: &MultiProgress, tick: &Tick) {
        let bar = bar_below(&mut self.bar, screen);
        let row = self.rows.entry(tick.planned.experiment.clone()).or_insert_with(|| {
            let style =
                ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            screen.insert_before(bar, ProgressBar::new(1).with_style(style))
        });
        row.set_message(row_text(tick));
        bar.set_position((share(tick) * 1000.0) as u64);
        bar.set_message(status(tick, self.settled.map_or(0, |settled| settled.left_out)));
    }
}

impl Default for Live {
    fn default() -> Self {
        Live::new()
    }
}

impl Watcher for Live {
    fn trial(&mut self, tick: &Tick) {
        match self.screen.clone() {
            Some(screen) => self.draw(&screen, tick),
            None => write_line(
                &mut self.last_line,
                &status(tick, self.settled.map_or(0, |settled| settled.left_out)),
            ),
        }
    }

    /// What is settled is said once, and again what would include what is left out where that becomes another, because the report says it at the end; other
    /// changes stand in the line of progress.
    fn settled(&mut self, settlement: &Settlement) {
        let now = SettledShare { left_out: settlement.without_interval(), enough: settlement.enough };
        let before = self.settled.replace(now);
        let text = match before {
            None => planned::settled(settlement, &time_of_day(settlement.end.saturating_sub(settlement.at))),
            Some(before) if before.enough == now.enough => return,
            Some(_) => planned::changed(settlement),
        };
        match self.screen.clone() {
            Some(screen) => drop(screen.println(shown(&text))),
            None => tell(text),
        }
    }

    fn preparing(&mut self, doing: &str) {
        match self.screen.clone() {
            Some(screen) => bar_below(&mut self.bar, &screen).set_message(clean(doing)),
            None => write_line(&mut self.last_preparing, doing),
        }
    }
}

/// The local time of day after this duration: `10:42`.
fn time_of_day(from_now: Duration) -> String {
    // SAFETY: both calls fill what they are given, plain integers (and a pointer to a static text that is not used).
    let there = unsafe {
        let seconds = libc::time(std::ptr::null_mut()) + from_now.as_secs() as libc::time_t;
        let mut there: libc::tm = std::mem::zeroed();
        libc::localtime_r(&raw const seconds, &raw mut there);
        there
    };
    format!("{:02}:{:02}", there.tm_hour, there.tm_min)
}

/// Writes a line unless one of its kind was written recently.
fn write_line(last: &mut Option<Instant>, line: &str) {
    if last.is_none_or(|last| last.elapsed() >= PLAIN_INTERVAL) {
        tell(line);
        *last = Some(Instant::now());
    }
}

/// The bar below the table, drawn when it is first needed.
fn bar_below<'live>(bar: &'live mut Option<ProgressBar>, screen: &MultiProgress) -> &'live ProgressBar {
    bar.get_or_insert_with(|| {
        let style = ProgressStyle::with_template("{bar:16.cyan} {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        screen.add(ProgressBar::new(1000).with_style(style))
    })
}

/// The share of the time that has passed, or the square of the share of points that have reached the target, whichever is
/// greater.
fn share(tick: &Tick) -> f64 {
    let time = tick.elapsed.as_secs_f64() / tick.budget.as_secs_f64().max(1e-3);
    let reached = tick.precise as f64 / tick.points.max(1) as f64;
    time.max(reached * reached).min(1.0)
}

/// What is measured now, in which round, and for how long still.
fn status(tick: &Tick, left_out: usize) -> String {
    let remaining = tick.budget.saturating_sub(tick.elapsed).as_secs();
    let precise = match tick.precise {
        0 => String::new(),
        some => {
            format!(
                "; {} known to {} so far",
                of_those_measured(some, tick.points, left_out),
                quantities::target(tick.precision)
            )
        }
    };
    let left_out = match left_out {
        0 => String::new(),
        number => format!("; {} left out", words::plural(number, "point")),
    };
    let round = round(tick.round, tick.rounds);
    format!("{round}, measuring {}; at most {remaining} s left{precise}{left_out}", tick.planned.experiment)
}

/// How many of those that are not left out: the report counts those with a value, and judges their trials by the state of the core and at one
/// frequency, which a run in progress does not.
fn of_those_measured(precise: usize, points: usize, left_out: usize) -> String {
    format!("{precise} of {}", words::plural(points.saturating_sub(left_out).max(precise), "value"))
}

/// `round 2 of about 6`. Rounds beyond those that were promised narrow intervals.
fn round(round: u32, rounds: Option<u32>) -> String {
    match rounds {
        None => format!("round {round}"),
        Some(rounds) if round <= rounds => format!("round {round} of about {rounds}"),
        Some(rounds) => format!("round {round}, after the {rounds} promised"),
    }
}

/// The last visited point with its figure, in a line of the terminal's width.
fn row_text(tick: &Tick) -> String {
    let planned = tick.planned;
    let result = tick.headline.map_or_else(
        || "no result yet".to_owned(),
        |headline| match headline.reach() {
            Some(share) => {
                format!(
                    "{} {}",
                    quantities::estimate(planned.unit, &headline.estimate),
                    quantities::plus_minus(share)
                )
            }
            None => format!("{} so far", quantities::estimate(planned.unit, &headline.estimate)),
        },
    );
    clean(&format!(
        "{:<22} {:<44} {result}",
        planned.experiment,
        words::short_label(planned.experiment.as_str(), &planned.point)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_of_no_share_that_is_known() {
        assert_eq!(of_those_measured(70, 1_178, 222), "70 of 956 values");
        assert_eq!(of_those_measured(3, 3, 1), "3 of 3 values", "one was known before it was left out");
    }

    #[test]
    fn a_round_is_told_with_how_many_there_will_be() {
        assert_eq!(round(1, None), "round 1");
        assert_eq!(round(2, Some(6)), "round 2 of about 6");
        assert_eq!(round(9, Some(8)), "round 9, after the 8 promised");
    }
}
