//! Findings: growth of the time per block with the number of processes, and the number with the highest total rate.

use super::{
    ALL_RANDOM, ALL_SEQUENTIAL, EACH, NAME, PATTERNS, PROCESSES, RANDOM_AMONG, SEQUENTIAL_AMONG, TOGETHER,
    USUAL_FILE, point,
};
use fathom_core::prelude::*;
use fathom_core::sorting;

pub fn findings(known: &Known) -> Vec<Finding> {
    let mut grows = PATTERNS.into_iter().filter_map(|pattern| growth(pattern, known));
    let rates = [ALL_SEQUENTIAL, ALL_RANDOM].map(|pattern| best_rate(pattern, known));
    let first = [grows.next(), order(known)];
    first.into_iter().chain(rates).flatten().chain(grows).collect()
}

/// Growth of the time per block with the number of processes: one line, or two that meet; compared with a device that serves one
/// process after the other, where each additional process adds the time of one alone.
fn growth(pattern: &str, known: &Known) -> Option<Finding> {
    let group = point(pattern, EACH, USUAL_FILE, 1);
    let first = known.found_along(NAME, &group, &PROCESSES).into_iter().next();
    // Of two lines the slope is that of the second.
    let (lead, (growth, slope)) = match known.bend(NAME, &group, &PROCESSES) {
        Some(two) => (" Beyond these a further process adds ", two_lines(pattern, &two)),
        None => (" A further process adds ", one_line(pattern, known.line(NAME, &group, &PROCESSES)?, first)),
    };
    let serial = serial(pattern, (lead, slope), known).unwrap_or_default();
    Some(
        finding!(
            Question::Contention,
            "{pattern}: a block costs {growth}.{serial}",
            pattern = capitalize(pattern),
            growth,
            serial
        )
        .about(pattern),
    )
}

/// The patterns by the time for a block, with the most processes that were measured in all of them; `None` with fewer than two.
fn order(known: &Known) -> Option<Finding> {
    let curves = PATTERNS
        .map(|pattern| (pattern, known.found_along(NAME, &point(pattern, EACH, USUAL_FILE, 1), &PROCESSES)));
    let at = |curve: &[(u64, Found)], number: u64| {
        curve.iter().find(|(of, _)| *of == number).map(|(_, time)| *time)
    };
    let numbers = curves[0].1.iter().map(|(number, _)| *number);
    let most = numbers.filter(|number| curves.iter().all(|(_, curve)| at(curve, *number).is_some())).max()?;
    let mut times: Vec<(&str, Found)> =
        curves.iter().filter_map(|(pattern, curve)| Some((*pattern, at(curve, most)?))).collect();
    sorting::by_number(&mut times, |(_, time)| time.value);
    if let Some(alike) = without_order(&times, most) {
        return Some(alike);
    }
    let each = times.iter().enumerate().map(|(place, (pattern, time))| {
        let is_like = place > 0 && time.differs_from(&times[place - 1].1) == Some(false);
        let like = if is_like { ", not significantly different from the one before" } else { "" };
        statement!(
            "{pattern} {time}{like}",
            pattern = *pattern,
            time = time.named(&format!("{pattern}, with the most")),
            like
        )
    });
    let each = Statement::joined(each, "; ").filter(|_| most > 1)?;
    Some(finding!(
        Question::Contention,
        "A block by pattern with {most} processes, the quickest first: {each}.",
        most = most.to_string(),
        each
    ))
}

/// That the patterns cost alike, where none differs significantly from another: they have no order then.
fn without_order(times: &[(&str, Found)], most: u64) -> Option<Finding> {
    let differ =
        |(_, one): &(&str, Found)| times.iter().any(|(_, other)| one.differs_from(other) != Some(false));
    let ([(least, shortest), .., (greatest, longest)], true) = (times, most > 1) else { return None };
    if times.iter().any(differ) {
        return None;
    }
    Some(finding!(
        Question::Contention,
        "A block takes {shortest} to {longest} by pattern with {most} processes: none is significantly different from another.",
        shortest = shortest.named(&format!("{least}, with the most")),
        longest = longest.named(&format!("{greatest}, with the most")),
        most = most.to_string()
    ))
}

fn two_lines(pattern: &str, two: &Bend) -> (Statement, Found) {
    let Bend { at: knee, before, after } = *two;
    let growth = statement!(
        "{before} for every further process up to {knee} processes, and {after} beyond; two lines fit better \
         than one",
        before = before.named(&format!("{pattern}, each further process, first")),
        knee = knee.named(&format!("{pattern}, processes at the knee")),
        after = after.named(&format!("{pattern}, each further process, beyond"))
    );
    (growth, after)
}

fn one_line(
    pattern: &str,
    (slope, besides): (Found, Found),
    first: Option<(u64, Found)>,
) -> (Statement, Found) {
    let beginning = first.and_then(|(number, time)| {
        let on_line = slope.scaled(number as f64).plus(besides);
        let says = on_line.named(&format!("{pattern}, the line at its beginning"));
        let is_off = time.differs_from(&on_line) == Some(true);
        let time = (!is_followed(time, on_line.value))
            .then(|| time.named(&format!("{pattern}, the fewest processes")))?;
        Some(if is_off {
            statement!(
                " on the whole, not at its beginning, where it says {says} for {number} and {time} were measured",
                says,
                time
            )
        } else {
            statement!(" on the whole: for {number} it says {says}, and {time} were measured", says, time)
        })
    });
    let growth = statement!(
        "{slope} for every further process{besides}; one line fits{beginning}",
        slope = slope.named(&format!("{pattern}, each further process")),
        besides = besides_slope(pattern, besides),
        beginning
    );
    (growth, slope)
}

/// What a line leaves at no process, in a sentence: a time only where it is above zero.
fn besides_slope(pattern: &str, besides: Found) -> Statement {
    match besides.at_most() {
        Some(most) => {
            let most = most.named(&format!("{pattern}, besides, at most"));
            statement!(", and nothing certain in addition, at most {most}", most)
        }
        None if besides.value > 0.0 => {
            let besides = besides.named(&format!("{pattern}, besides"));
            statement!(", and {besides} in addition", besides)
        }
        None if besides.interval.is_none() => "".into(),
        None => ", more than in proportion to their number".into(),
    }
}

/// Whether a line follows a point: it passes through its interval, or within a tenth of its value.
fn is_followed(time: Found, line: f64) -> bool {
    time.holds(line) || (line / time.value - 1.0).abs() <= 0.1
}

/// A slope as a share of the time per block of one process alone.
fn serial(pattern: &str, (lead, slope): (&str, Found), known: &Known) -> Option<Statement> {
    let alone = known.found(NAME, &point(alike(pattern), EACH, USUAL_FILE, 1))?;
    let share = slope.share_of(alone);
    let Some(serial) = by_slope(share) else {
        return Some(several_at_once(pattern, lead, (alone, share), known));
    };
    Some(statement!(
        "{lead}{share} of the time of one process alone ({alone}){serial}.",
        lead,
        share = share.named(&format!("{pattern}, slope over one process alone")),
        alone = alone.named(&format!("{pattern}, one process alone"))
    ))
}

/// What a slope says by itself, as a share of the time of one process alone; `None` where the most processes tell more. That a line may be
/// as steep as of one request after the other does not show that they are served so.
fn by_slope(share: Found) -> Option<&'static str> {
    match share.interval {
        Some(_) if share.is_like(&Found::exact(1.0, Dimension::Share)) => {
            Some(": the device serves one request after the other")
        }
        Some(ends) if ends.low > 1.0 => Some(": the processes slow each other down by more than queueing"),
        Some(_) => None,
        None => Some(""),
    }
}

/// That the device serves several at once, with the number of processes by which it shows, and how many that would be.
fn several_at_once(pattern: &str, lead: &str, (alone, share): (Found, Found), known: &Known) -> Statement {
    let times = known.found_along(NAME, &point(pattern, EACH, USUAL_FILE, 1), &PROCESSES);
    let most = times.last().filter(|(processes, _)| *processes > 1);
    let shown = most.map(|(processes, block)| {
        let one_by_one = alone.scaled(*processes as f64);
        let served = one_by_one.over(*block).named(&format!("{pattern}, all over one alone"));
        let served = if one_by_one.differs_from(block) == Some(false) {
            "the two are not significantly different, so whether several are served at once is open".into()
        } else {
            statement!("together they are served {served} times as often as one alone", served)
        };
        statement!(
            ": with {processes} processes a block of each takes {block}, one after the other they would take {one_by_one}: \
             {served}",
            processes = processes.to_string(),
            block = block.named(&format!("{pattern}, a block with most processes")),
            one_by_one = one_by_one.named(&format!("{pattern}, most processes one after the other")),
            served
        )
    });
    statement!(
        "{lead}{share} of the time of one process alone ({alone}){shown}.",
        lead,
        share = share.named(&format!("{pattern}, slope over one process alone")),
        alone = alone.named(&format!("{pattern}, one process alone")),
        shown
    )
}

/// The pattern of one process alone, which reads in its own order: the mixtures have no point with one process.
fn alike(pattern: &str) -> &str {
    match pattern {
        SEQUENTIAL_AMONG => ALL_SEQUENTIAL,
        RANDOM_AMONG => ALL_RANDOM,
        pattern => pattern,
    }
}

fn best_rate(pattern: &str, known: &Known) -> Option<Finding> {
    let rates = known.found_along(NAME, &point(pattern, TOGETHER, USUAL_FILE, 1), &PROCESSES);
    let (_, one) = rates.iter().find(|(processes, _)| *processes == 1)?;
    let numbers =
        rates.iter().map(|(processes, _)| (*processes, point(pattern, TOGETHER, USUAL_FILE, *processes)));
    let (processes, best) = known.best(NAME, numbers)?;
    let one_named = one.named(&format!("{pattern}, one process's rate"));
    let pattern_named = capitalize(pattern);
    let text = if processes == 1 {
        finding!(
            Question::Contention,
            "{pattern_named}: one process alone reads {one_named}, and no number of them is known to read more together.",
            pattern_named,
            one_named
        )
    } else {
        finding!(
            Question::Contention,
            "{pattern_named}: {processes} processes, the first number that is not significantly worse than the best, read {best} together; \
             one process alone reads {one_named}: {ratio}.",
            pattern_named,
            processes = processes.to_string(),
            best = best.named(&format!("{pattern}, most together")),
            one_named,
            ratio = best.times_as("much", *one, &format!("{pattern}, most over one"))
        )
    };
    Some(text.about(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::statistics::{Interval, Measured};

    #[test]
    fn patterns_that_none_tells_apart_have_no_order() {
        let of = |value: f64| fathom_described::found_within(0.05, value, Dimension::Of(Unit::Nanoseconds));
        let told = |values: [f64; 3]| {
            let times = values.map(|value| ("a pattern", of(value)));
            without_order(&times, 50).map(|finding| finding.statement.plain())
        };
        assert_eq!(
            told([527.0, 530.0, 543.0]).as_deref(),
            Some(
                "A block takes {527} to {543} by pattern with 50 processes: none is significantly different from another."
            )
        );
        assert_eq!(told([527.0, 560.0, 620.0]), None, "the first differs from the last");
    }

    /// "The highest rate, 361 MB/s (137-413), is reached with 32": of 8 and 16 it was not told from it.
    #[test]
    fn the_number_with_the_highest_rate_is_one_of_those_as_good() {
        let machine = fathom_described::machine();
        let said = |rates: &[(u64, f64, f64)]| {
            let mut known = Known::new(&machine, None);
            for (processes, value, width) in rates {
                let rate =
                    fathom_described::found_within(*width, *value, Dimension::Of(Unit::BytesPerSecond));
                known.learn(NAME, &point(ALL_SEQUENTIAL, TOGETHER, USUAL_FILE, *processes), rate);
            }
            best_rate(ALL_SEQUENTIAL, &known).map(|finding| finding.statement.plain()).unwrap_or_default()
        };
        let text = said(&[(1, 88.0, 0.1), (8, 340.0, 0.1), (16, 350.0, 0.1), (32, 361.0, 0.12)]);
        assert!(text.contains(": 8 processes, the first number that is not"), "{text}");
        let text = said(&[(1, 340.0, 0.1), (8, 350.0, 0.1)]);
        assert!(text.contains("no number of them is known to read more"), "{text}");
    }

    #[test]
    fn a_slope_that_may_be_of_one_after_the_other_is_not_shown_to_be() {
        let by = |share, value| by_slope(fathom_described::found_within(share, value, Dimension::Share));
        assert_eq!(by(0.1, 1.0), Some(": the device serves one request after the other"));
        assert_eq!(by(1.01, 0.508), None, "from nothing to all");
        assert_eq!(by(0.1, 0.5), None);
        assert!(by(0.1, 1.5).is_some_and(|said| said.contains("slow each other down")));
    }

    #[test]
    fn what_a_line_leaves_is_a_time_only_above_zero() {
        let said = |low: f64, high: f64| {
            let interval = Some(Interval { low, high });
            let measured = Measured { value: f64::midpoint(low, high), interval };
            besides_slope("in order", Found::measured(measured, Unit::Nanoseconds)).plain()
        };
        assert_eq!(said(10.0, 30.0), ", and {20} in addition");
        assert_eq!(said(-73e3, 67e3), ", and nothing certain in addition, at most {67000}");
        assert_eq!(said(-30.0, -10.0), ", more than in proportion to their number");
    }

    #[test]
    fn a_line_misses_its_beginning_only_where_their_intervals_are_apart() {
        let within = |share, value| fathom_described::found_within(share, value, Unit::Nanoseconds);
        let said = |share| {
            one_line("in order", (within(share, 30e3), within(share, 30e3)), Some((1, within(0.1, 40e3))))
        };
        let (close, wide) = (said(0.05).0, said(0.9).0);
        assert!(
            close.plain().contains("not at its beginning, where it says {60000} for 1 and"),
            "{}",
            close.plain()
        );
        assert!(wide.plain().contains("on the whole: for 1 it says {60000}"), "{}", wide.plain());
    }
}
