//! Reads past the page cache that take one of two times, the same two in most files and orders, and whether a neighbour on the core goes with the
//! longer one.

use super::{Conclusion, MechanismKind, Premises, Rule};
use crate::results::PointResult;
use crate::results::accuracy::distance;
use crate::results::distinct_modes::DISTINCT;
use fathom_core::experiment::At::{Name, Number};
use fathom_core::experiment::{CoreUse, Dimension, Found, Selector, Statement, statement};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics::{self, Mode};

pub(super) const RULE: Rule = Rule {
    name: "two_read_times",
    condition: "the times of 4 KiB blocks read past the page cache, one after another, have several modes in at least four files or orders \
                and in a third of them, and in most of these the least and the greatest mode are the same, within a factor of 1.25",
    judge,
    points: &[BLOCKS],
};

/// Blocks read past the page cache, one after another.
const BLOCKS: Selector =
    Selector::of("filesystem/read", &[("block", Number(4096)), ("state", Name("direct"))]);

/// The fewest points of two modes that show a speed of the device, and of all points of which one in so many has them.
const FEWEST: usize = 4;
const ONE_IN: usize = 3;

/// The two times of one point, nanoseconds, and the share of its reads that take the longer.
#[derive(Clone, Copy)]
struct TwoTimes {
    short: f64,
    long: f64,
    share: f64,
}

impl TwoTimes {
    fn of(point: &PointResult) -> Option<Self> {
        let [shortest, .., longest] = &point.modes[..] else { return None };
        Some(TwoTimes { short: shortest.centre, long: longest.centre, share: longest.share })
    }

    /// Whether they are these two, within the factor that tells modes apart.
    fn is_near(&self, [short, long]: [f64; 2]) -> bool {
        distance(self.short / short) <= DISTINCT && distance(self.long / long) <= DISTINCT
    }
}

fn judge(premises: &Premises) -> Option<Conclusion> {
    let of_blocks = BLOCKS.all(premises.known);
    let is_block = |point: &&PointResult| {
        point.experiment == BLOCKS.experiment
            && point.point.get("queue_depth").is_none()
            && of_blocks.iter().any(|(of, _)| **of == point.point)
    };
    let all: Vec<&PointResult> = premises.results().filter(is_block).collect();
    let times: Vec<(&PointResult, TwoTimes)> =
        all.iter().filter_map(|point| Some((*point, TwoTimes::of(point)?))).collect();
    let alike = alike(&times)?;
    let is_enough =
        times.len() >= FEWEST && ONE_IN * times.len() >= all.len() && 2 * alike.len() > times.len();
    if !is_enough {
        return None;
    }
    let [short, long, share] = [|of: &TwoTimes| of.short, |of: &TwoTimes| of.long, |of: &TwoTimes| of.share]
        .map(|of| ModeSpan::of(alike.iter().map(|(_, times)| of(times))));
    let ns = |value: f64, name: &str| Found::exact(value, Dimension::Of(Unit::Nanoseconds)).named(name);
    let headline = statement!(
        "Reads past the page cache take one of two times in {alike} of {all} files and orders: {short} for a block of 4 KiB, or {long}.",
        alike = alike.len().to_string(),
        all = all.len().to_string(),
        short = ns(short.middle, "the shorter time of a block"),
        long = ns(long.middle, "the longer time of a block")
    );
    let because = statement!(
        "The times cluster around these two there (the shorter from {least_short} to {most_short}, the longer from {least_long} to {most_long}), \
         and {least_share} to {most_share} of the reads take the longer{between}.{others} {decided}",
        between = between(&alike),
        others = others(&all, &alike),
        least_short = ns(short.least, "the least of the shorter times"),
        most_short = ns(short.most, "the greatest of the shorter times"),
        least_long = ns(long.least, "the least of the longer times"),
        most_long = ns(long.most, "the greatest of the longer times"),
        least_share = quantities::percent(share.least),
        most_share = quantities::percent(share.most),
        decided = goes_with(&all, [short.middle, long.middle])
    );
    Some(Conclusion { kind: MechanismKind::Uncaused, ..Conclusion::of(headline, because) })
}

/// In how many of the files and orders with the two times there are others between these.
fn between(alike: &[(&PointResult, TwoTimes)]) -> String {
    match alike.iter().filter(|(point, _)| point.modes.len() > 2).count() {
        0 => String::new(),
        some => format!(", in {some} of them some a time between the two"),
    }
}

/// What times the reads of the other files and orders take: one, or others than the two.
fn others(all: &[&PointResult], alike: &[(&PointResult, TwoTimes)]) -> Statement {
    let is_other = |point: &&&PointResult| !alike.iter().any(|(of, _)| std::ptr::eq(*of, **point));
    let (several, one): (Vec<&PointResult>, Vec<&PointResult>) =
        all.iter().filter(is_other).partition(|point| point.modes.len() > 1);
    if several.is_empty() {
        return Statement::default();
    }
    let listed = several.iter().enumerate().map(|(of, point)| {
        let time = |(nth, mode): (usize, &Mode)| {
            let name = format!("time {} of a block in other file or order {}", nth + 1, of + 1);
            let time = Found::exact(mode.centre, Dimension::Of(Unit::Nanoseconds)).named(&name);
            statement!("{time}", time)
        };
        let times = Statement::joined(point.modes.iter().enumerate().map(time), ", ");
        statement!(
            "{point} ({times})",
            point = Statement::point(&point.experiment, &point.point),
            times = times.unwrap_or_default()
        )
    });
    let one = match one.len() {
        0 => String::new(),
        some => format!("; in {some} one is seen"),
    };
    statement!(
        " They take other times in {number}: {listed}{one}.",
        number = several.len().to_string(),
        listed = Statement::joined(listed, "; ").unwrap_or_default(),
        one
    )
}

/// Whether these two times go with a neighbour on the core: of the points in each of its states, how many have both.
fn goes_with(all: &[&PointResult], times: [f64; 2]) -> String {
    let counted = |state: CoreUse| {
        let of_state = || all.iter().filter(|point| point.core_use() == Some(state));
        let both = of_state().filter_map(|point| TwoTimes::of(point)).filter(|of| of.is_near(times)).count();
        (both as u64, of_state().count() as u64)
    };
    let [(alone, of_alone), (shared, of_shared)] = [CoreUse::Alone, CoreUse::Shared].map(counted);
    let unknown = "Which of them a read takes is decided by the device or by what is between it and this machine, or by the state of the core; no \
                   figure of the run tells by what. So two values of reads that differ by this factor do not show that what else differs \
                   between them is the cause.";
    let Some((by_alone, by_shared)) =
        statistics::share_interval(alone, of_alone).zip(statistics::share_interval(shared, of_shared))
    else {
        return unknown.to_owned();
    };
    let counts = format!(
        "With the core alone {alone} of {of_alone} files and orders have both times, with it shared {shared} of {of_shared}"
    );
    if by_shared.low > by_alone.high {
        format!(
            "{counts}: the longer goes with a neighbour on the core, whether it is the cause or what the host does at those moments."
        )
    } else {
        format!(
            "{counts}, which does not tell whether a neighbour on the core goes with the longer. {unknown}"
        )
    }
}

/// Those whose two times are the two that most have.
fn alike<'run>(times: &[(&'run PointResult, TwoTimes)]) -> Option<Vec<(&'run PointResult, TwoTimes)>> {
    let middle = |of: fn(&TwoTimes) -> f64| {
        statistics::median(&times.iter().map(|(_, times)| of(times)).collect::<Vec<_>>())
    };
    let both = [middle(|of| of.short)?, middle(|of| of.long)?];
    Some(times.iter().filter(|(_, of)| of.is_near(both)).copied().collect())
}

/// The least, the median and the greatest of some numbers.
struct ModeSpan {
    least: f64,
    middle: f64,
    most: f64,
}

impl ModeSpan {
    /// Of at least one number.
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = numbers.collect();
        sorting::numbers(&mut sorted);
        let of = |place: Option<&f64>| place.copied().unwrap_or_default();
        ModeSpan {
            least: of(sorted.first()),
            middle: statistics::median(&sorted).unwrap_or_default(),
            most: of(sorted.last()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::CoreState;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Known;
    use serde_json::json;

    /// Blocks of so many files, each with its modes in microseconds, the longer a third of the reads.
    fn conclusion(files: &[&[f64]]) -> Option<Conclusion> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let estimate = statistics::estimate(&[[40e3, 41e3]; 6]).expect("an estimate");
        let mut points = vec![];
        for (file, modes) in files.iter().enumerate() {
            let set = [("file", json!(4096 << file)), ("order", json!("random")), ("call", json!("pread"))];
            let point = BLOCKS.point(&set);
            known.learn(BLOCKS.experiment, &point, Found::of(&estimate, Unit::Nanoseconds));
            let share = |at: usize| if at == 0 { 2.0 / 3.0 } else { 1.0 / 3.0 };
            let mode = |(at, centre): (usize, &f64)| Mode { centre: centre * 1e3, share: share(at) };
            let modes = modes.iter().enumerate().map(mode).collect();
            points.push(PointResult {
                point,
                modes,
                ..planted::result(BLOCKS.experiment, estimate.clone(), None)
            });
        }
        judge(&Premises { known: &known, points: &points })
    }

    /// What is said where the reads of so many files have two times, of all with the core alone and with it shared.
    fn said_of(alone: (usize, usize), shared: (usize, usize)) -> String {
        let estimate = statistics::estimate(&[[40e3, 41e3]; 6]).expect("an estimate");
        let of = |state: CoreState, (both, all): (usize, usize)| {
            let mode = |centre| Mode { centre, share: 0.5 };
            let point = PointResult {
                core: Some(planted::core(state)),
                ..planted::result(BLOCKS.experiment, estimate.clone(), None)
            };
            let modes =
                move |index| if index < both { vec![mode(38e3), mode(65e3)] } else { vec![mode(38e3)] };
            (0..all)
                .map(move |index| PointResult { modes: modes(index), ..point.clone() })
                .collect::<Vec<_>>()
        };
        let points = [of(CoreState::Alone, alone), of(CoreState::Shared, shared)].concat();
        goes_with(&points.iter().collect::<Vec<_>>(), [38e3, 65e3])
    }

    #[test]
    fn two_times_that_only_a_shared_core_shows_go_with_the_neighbour() {
        let with_it = said_of((0, 6), (8, 9));
        assert!(with_it.starts_with("With the core alone 0 of 6 files and orders have both times, with it shared 8 of 9: the longer goes with"), "{with_it}");
        let without = said_of((3, 6), (5, 9));
        assert!(without.contains("which does not tell") && without.ends_with("is the cause."), "{without}");
        assert!(said_of((0, 0), (8, 9)).starts_with("Which of them a read takes"));
    }

    #[test]
    fn the_same_two_times_in_many_files_are_two_times() {
        let [one, other, third] = [[38.0, 64.0], [36.0, 68.0], [40.0, 60.0]];
        let said = conclusion(&[&one, &other, &third, &one, &[38.0], &[39.0]]).expect("two times");
        assert_eq!(
            said.headline.plain(),
            "Reads past the page cache take one of two times in 4 of 6 files and orders: {38000} for a block of 4 KiB, or {64000}."
        );
        let because = said.because.plain();
        assert!(
            because
                .contains("there (the shorter from {36000} to {40000}, the longer from {60000} to {68000})"),
            "{because}"
        );
        assert!(!because.contains("between the two") && !because.contains("other times"), "{because}");
        assert_eq!(said.kind, MechanismKind::Uncaused);
    }

    /// The main figure of reads had three times, a quarter of them of 121 us, beside "one of two times".
    #[test]
    fn files_of_other_times_are_named_and_a_third_between_the_two_is_counted() {
        let two: &[f64] = &[40.0, 55.0];
        let said = conclusion(&[two, two, two, &[40.0, 48.0, 56.0], &[40.0, 50.0, 121.0], &[41.0]]);
        let said = said.expect("two times").because.plain();
        assert!(said.contains("take the longer, in 1 of them some a time between the two."), "{said}");
        assert!(
            said.contains("They take other times in 1: <")
                && said.contains("({40000}, {50000}, {121000}); in 1 one is seen."),
            "{said}"
        );
    }

    #[test]
    fn one_time_few_files_or_other_times_in_each_are_none() {
        let two = [38.0, 64.0];
        assert!(conclusion(&[&[38.0], &[64.0], &[38.0], &[38.0]]).is_none());
        assert!(conclusion(&[&two, &two, &two]).is_none(), "three files");
        let one: &[f64] = &[38.0];
        let many = [vec![&two[..]; 4], vec![one; 10]].concat();
        assert!(conclusion(&many).is_none(), "four of fourteen");
        assert!(conclusion(&[&[10.0, 20.0], &[20.0, 40.0], &[40.0, 80.0], &[80.0, 160.0]]).is_none());
    }
}
