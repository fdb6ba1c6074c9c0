//! A plan before anything is measured, and its settlement once costs are known.

use super::text::Style;
use super::words::plural;
use fathom_core::quantities;
use fathom_engine::plan::Settlement;
use fathom_engine::record::PlannedPoint;
use fathom_engine::results;
use fathom_engine::run::Effect;
use std::collections::BTreeMap;
use std::time::Duration;

/// The plan of a run, for reporting.
pub struct Planned<'plan> {
    /// Every point, including those that are skipped.
    pub points: &'plan [PlannedPoint],
    /// The blocks, as indices into the points.
    pub blocks: &'plan [Vec<usize>],
    /// The time that the run may take.
    pub budget: Duration,
    /// The part of it that the pilot round may take.
    pub pilot: Duration,
    /// The number of trials of a point if the costs allow it, and the least number of a point that is not left out.
    pub trials: (usize, usize),
    /// What the run does to the machine as a whole.
    pub effects: Vec<Effect>,
    /// The forecast from an earlier run.
    pub forecast: Option<Forecast>,
}

/// The forecast of a run, from an earlier one.
pub struct Forecast {
    /// The file of that run.
    pub from: String,
    /// The number of points whose cost is known, and the number of points to be measured.
    pub known: (usize, usize),
    pub settlement: Settlement,
    /// The number and the cost of the points that will be left out, by experiment.
    pub left_out: BTreeMap<String, (usize, Duration)>,
}

/// The plan in words.
pub fn text(planned: &Planned, style: Style) -> String {
    [
        opening(planned, style),
        experiments(planned, style),
        effects(&planned.effects, style),
        skipped(planned.points, style),
        expected(planned, style),
    ]
    .concat()
}

fn opening(planned: &Planned, style: Style) -> String {
    let (goal, least) = planned.trials;
    style.wrapped(
        "",
        &format!(
            "A run of {}. A pilot round of at most {} measures what trials cost. Then the run chooses the points that \
             fit into the time: {goal} trials each where possible, never fewer than {least}.",
            minutes(planned.budget),
            minutes(planned.pilot)
        ),
    )
}

fn experiments(planned: &Planned, style: Style) -> String {
    let mut rows: Vec<(&str, usize, usize)> = vec![];
    for block in planned.blocks {
        let name = planned.points[block[0]].experiment.as_str();
        match rows.iter_mut().find(|row| row.0 == name) {
            Some(row) => (row.1, row.2) = (row.1 + block.len(), row.2 + 1),
            None => rows.push((name, block.len(), 1)),
        }
    }
    let width = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let row = |(name, points, blocks): &(&str, usize, usize)| {
        let name = style.title(&format!("{name:width$}"));
        let processes = if *blocks == 1 { "process" } else { "processes" };
        format!(
            "  {name}  {:>13}, {} {processes} in each round\n",
            plural(*points, "point"),
            quantities::count(*blocks)
        )
    };
    "\n".to_owned() + &rows.iter().map(row).collect::<String>()
}

/// What a verification does, with so many rigs, or with other tools.
pub fn verification(rigs: Option<usize>, done: &[Effect], style: Style) -> String {
    let lead = match rigs {
        Some(rigs) => format!("{}; each is undone before the next is set.", plural(rigs, "rig")),
        None => "Other tools and Fathom in turns, for about three minutes.".to_owned(),
    };
    style.wrapped("", &lead) + &effects(done, style)
}

/// What is done to the machine, each with who does it.
fn effects(effects: &[Effect], style: Style) -> String {
    let line = |effect: &Effect| {
        let by = if effect.by.is_empty() { String::new() } else { format!(" ({})", effect.by.join(", ")) };
        style.wrapped("  ", &format!("{}{by}", effect.what))
    };
    let lines: String = effects.iter().map(line).collect();
    format!("\n{}\n{lines}", style.title("What it does to the machine"))
}

/// The points that are not measured, by experiment and reason.
fn skipped(points: &[PlannedPoint], style: Style) -> String {
    let mut reasons = BTreeMap::<(&str, &str), usize>::new();
    for planned in points {
        if let Some(reason) = &planned.skip {
            *reasons.entry((&planned.experiment, reason)).or_default() += 1;
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let line = |((experiment, reason), number): (&(&str, &str), &usize)| {
        style.wrapped(&format!("  {experiment}: "), &format!("{}: {reason}", plural(*number, "point")))
    };
    format!("\n{}\n{}", style.title("Skipped"), reasons.iter().map(line).collect::<String>())
}

fn expected(planned: &Planned, style: Style) -> String {
    let title = format!("\n{}\n", style.title("Forecast"));
    let Some(forecast) = &planned.forecast else {
        let none = "No stored run of this machine has these experiments, so there is no forecast.";
        return title + &style.wrapped("  ", none);
    };
    let (known, all) = forecast.known;
    let lead = format!("From the costs of {known} of {} in {}:", plural(all, "point"), forecast.from);
    let settlement = &forecast.settlement;
    let promise =
        format!("{}, done after {}{}", promised(settlement), minutes(settlement.end), left_out(settlement));
    let line = |(experiment, (points, cost)): (&String, &(usize, Duration))| {
        format!("  {experiment}: {} left out, about {}\n", plural(*points, "point"), results::rounded(*cost))
    };
    let lines: String = forecast.left_out.iter().map(line).collect();
    title + &style.wrapped("  ", &lead) + &style.wrapped("  ", &promise) + &lines
}

/// The settlement in a line; `clock` is the time of day when the promised trials are expected to be done. What is left of the
/// budget then goes into precision.
pub(super) fn settled(settlement: &Settlement, clock: &str) -> String {
    let remaining = settlement.end.saturating_sub(settlement.at);
    let more = if settlement.end < settlement.budget { ", then more for precision" } else { "" };
    format!(
        "{} by about {clock} ({}){more}{}",
        promised(settlement),
        minutes(remaining),
        left_out(settlement)
    )
}

/// What does not fit after all, in a line, when it is no longer what was said; nothing left out is said to fit.
pub(super) fn changed(settlement: &Settlement) -> String {
    match left_out(settlement).strip_prefix("; ") {
        Some(text) => format!("now {text}"),
        None => "now all points fit".to_owned(),
    }
}

fn promised(settlement: &Settlement) -> String {
    let (least, most) = (settlement.least_trials, settlement.most_trials);
    let trials = if least == most { format!("{least}") } else { format!("{least} to {most}") };
    format!("{}, {trials} trials each", plural(settlement.points, "point"))
}

fn left_out(settlement: &Settlement) -> String {
    let number = settlement.without_interval();
    if number == 0 {
        return String::new();
    }
    format!(
        "; {} of low priority {}; --budget {} would include {}",
        plural(number, "point"),
        if number == 1 { "does not fit" } else { "do not fit" },
        results::budget(settlement.enough),
        if number == 1 { "it" } else { "them" }
    )
}

/// A time in minutes and whole seconds.
fn minutes(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_engine::plan::Price;

    #[test]
    fn what_is_settled_is_said_in_a_line_with_the_price_of_what_is_left_out() {
        // Of those that lack only further trials nothing is said: they have a value.
        let price = |point| {
            let has_interval = point >= 12;
            Price { point, cost: Duration::from_secs_f64(3.4), more: false, has_interval }
        };
        let mut settlement = Settlement {
            at: Duration::from_secs(20),
            budget: Duration::from_secs(90),
            points: 412,
            trials: 2884,
            least_trials: 8,
            most_trials: 8,
            observe: Duration::from_millis(4),
            end: Duration::from_secs(100),
            left_out: (0..17).map(price).collect(),
            enough: Duration::from_secs(3 * 60),
        };
        let said = "412 points, 8 trials each by about 10:42 (1 min 20 s); 12 points of low priority do not fit; --budget 3m would include them";
        assert_eq!(settled(&settlement, "10:42"), said);
        let now = "now 12 points of low priority do not fit; --budget 3m would include them";
        assert_eq!(changed(&settlement), now, "the same words, and the budget that the report names");
        settlement.left_out.clear();
        assert_eq!(changed(&settlement), "now all points fit");
        settlement.least_trials = 6;
        let said = "412 points, 6 to 8 trials each by about 10:42 (1 min 20 s)";
        assert_eq!(settled(&settlement, "10:42"), said);
        settlement.budget = Duration::from_secs(150);
        assert_eq!(settled(&settlement, "10:42"), format!("{said}, then more for precision"));
    }
}
