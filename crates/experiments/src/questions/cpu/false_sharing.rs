//! From which distance on do two threads that write no longer disturb each other?

use super::{core_to_core, loop_overhead};
use crate::apparatus::cpu::counters::{self, TwoCounters, undisturbed_from};
use crate::apparatus::cpu::thread_checks;
use crate::expected::core_facts;
use fathom_core::prelude::*;

const DISTANCE: Parameter = Parameter::bytes("distance", "bytes from one thread's counter to the other's");

pub struct FalseSharing;

static ABOUT: About = About {
    name: "cpu/false_sharing",
    question: "How far apart must the data of two writing threads be so that they no longer disturb each other?",
    operation: "one increment of a thread's own counter, by a load, an addition and a store",
    method: "Two threads, pinned to two CPUs, each increment a counter that no other thread uses. The first counter is at \
             the start of a page, the second 8 to 512 bytes further on. Caches keep whole lines, not words: while both \
             counters are in the same line, or in lines that are fetched together, every store takes the line away from \
             the other thread. The figure is the time of one increment of a thread, in rounds of half a millisecond \
             during which both threads work throughout.\
             \n\nThe threads are those of cpu/contention. The result is the shortest distance from which on no increment \
             takes significantly longer than at 512 bytes, and a quarter longer at least. Just below and at 64, 128 and \
             256 bytes the distances measured are 8 bytes apart, so a limit there is found to within 8 bytes.",
    caveats: "While the line is being taken away, the time of an increment depends on how many stores a core completes in \
             between. Two hardware threads of one core share their caches and disturb each other less, so the threads run \
             on two cores wherever there are two.",
    version: 1,
    timed: Some(TimedCode {
        of: "increments of a thread's counter",
        source: include_str!("../../apparatus/cpu/counters.rs"),
        begins: "fn repeat(",
    }),
    parameters: &[DISTANCE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of("two counters in one line", &[("distance", At::Least)]),
        MainFigure::of("two counters 128 bytes from each other", &[("distance", At::Number(128))]),
    ]),
};

/// The last word of each unit that may be fetched as a whole, and the first of the next.
const DISTANCES: [u64; 9] = [8, 32, 56, 64, 120, 128, 248, 256, FURTHEST];
const FURTHEST: u64 = 512;

/// What a quick run measures: one line, the next line, the next pair of lines, and the furthest.
const QUICK: [u64; 4] = [8, 64, 128, FURTHEST];

impl Experiment for FalseSharing {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        DISTANCES.map(at).to_vec()
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::Cpus(2)]
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if QUICK.contains(&point.number(&DISTANCE)) { Effort::Quick } else { Effort::Standard }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let own = match loop_overhead::increment(known) {
            Some(measured) => Prediction::new().hardware("an addition to a counter in memory", 1.0, measured),
            None => core_facts::increments_in_memory(Prediction::new(), 1.0, known),
        };
        if point.number(&DISTANCE) >= known.machine.line_bytes() {
            return Ok(own);
        }
        let alone = own.total();
        let hand_over = core_to_core::between_cores(known);
        let together = disturbed(alone, hand_over.value);
        if together <= alone {
            return Ok(own);
        }
        let what = "a line handed over and back, in as many increments as its owner makes while the other's request travels, half of a \
                    hand-over; stores that wait for the line are made then, none faster";
        Ok(Prediction::new().hardware(what, together / hand_over.value, hand_over))
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        Some(Bound::of(
            0.2 * known.shortest_cycle(),
            "no core makes more than five dependent additions in a cycle",
        ))
    }

    /// The points differ in one number, and a process for each would cost more than its observation.
    fn block(&self, _: &Point) -> Option<String> {
        Some("two counters".to_owned())
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let distance = point.number(&DISTANCE);
        let counters = TwoCounters::at(distance as usize)
            .ok_or_else(|| Failure::Broke(format!("no two counters are {distance} bytes from each other")))?;
        counters::incremented(counters, site)
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        thread_checks::checks(2.0, observed)
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        finding(known).into_iter().collect()
    }
}

/// The time of an increment of either of two threads that write one line: of every two hand-overs a thread has the line for half of one, from
/// its arrival until the request of the other has come. Until then each store is the owner's; a store buffer lets a thread run ahead by as
/// many stores as it holds, and shortens no increment, because all of them have to be made while the line is here. The first is made however
/// short that is. So the time hardly follows that of the hand-over: it is four times that of an increment alone, if many are made.
fn disturbed(alone_ns: f64, hand_over_ns: f64) -> f64 {
    2.0 * hand_over_ns / (1.0 + hand_over_ns / 2.0 / alone_ns)
}

fn at(distance: u64) -> Point {
    Point::at(Placement::AcrossCpus).with(&DISTANCE, distance)
}

fn finding(known: &Known) -> Option<Finding> {
    let times = known.found_along(ABOUT.name, &at(FURTHEST), &DISTANCE);
    let (_, furthest) = times.iter().find(|(distance, _)| *distance == FURTHEST)?;
    let Some((least, disturbed_at)) = undisturbed_from(&times) else {
        let (_, nearest) = times.first()?;
        return Some(finding!(
            Question::Experiment,
            "At no distance of their counters is it certain that two threads slow each other by a quarter or more: an increment takes \
             {nearest} at the shortest distance, {furthest} at the greatest, {ratio}.",
            nearest = nearest.named("an increment, nearest"),
            furthest = furthest.named("an increment, furthest"),
            ratio = nearest.times_as("long", *furthest, "an increment, nearest over furthest")
        ));
    };
    let (_, disturbed) = times.iter().find(|(distance, _)| *distance == disturbed_at)?;
    Some(finding!(
        Question::Experiment,
        "Two threads whose counters are {least} apart do not disturb each other; at {disturbed_at}, the next shorter distance measured, an \
         increment takes {disturbed}, at the greatest distance {furthest}: {ratio}. {reason}",
        least = exactly(least).named("the least distance without a disturbance"),
        disturbed_at = exactly(disturbed_at).named("the greatest distance with a disturbance"),
        disturbed = disturbed.named("an increment, disturbed"),
        furthest = furthest.named("an increment, undisturbed"),
        ratio = disturbed.times_as("long", *furthest, "an increment, disturbed over undisturbed"),
        reason = reason(least, disturbed_at, known.machine.line_bytes())
    ))
}

fn exactly(bytes: u64) -> Found {
    Found::exact(bytes as f64, Unit::Bytes)
}

/// What the machine says of its lines, compared with the result.
fn reason(least: u64, disturbed_at: u64, line: u64) -> Statement {
    let line_size = exactly(line).named("line");
    if disturbed_at < line && line <= least {
        if line == least {
            return statement!(
                "A line of this machine's caches has {line_size}: counters so far apart are on two lines.",
                line_size
            );
        }
        return statement!("A line of this machine's caches has {line_size}, which lies between.", line_size);
    }
    if disturbed_at < 2 * line && 2 * line <= least {
        return statement!(
            "A line of this machine's caches has {line_size}: lines are fetched in pairs, as by a prefetcher of adjacent lines.",
            line_size
        );
    }
    statement!("A line of this machine's caches has {line_size}, which does not explain it.", line_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An increment takes 20 ns below this distance and 2 ns from there on.
    fn text(unit: u64, distances: &[u64]) -> String {
        let time = |distance: &u64| (at(*distance), if *distance < unit { 20.0 } else { 2.0 });
        fathom_described::statements(&FalseSharing, distances.iter().map(time), finding)
    }

    #[test]
    fn the_distance_is_that_of_lines_or_of_pairs_of_them() {
        let line = text(64, &DISTANCES);
        assert!(
            line.contains("are {64} apart do not disturb each other; at {56}")
                && line.contains("counters so far apart are on two lines"),
            "{line}"
        );
        let pair = text(128, &DISTANCES);
        assert!(
            pair.contains("are {128} apart do not disturb each other; at {120}") && pair.contains("in pairs"),
            "{pair}"
        );
        let other = text(256, &DISTANCES);
        assert!(other.contains("{256}") && other.contains("does not explain"), "{other}");
    }

    /// Of a line that takes five times as long to go from core to core the owner makes five times as many increments before it leaves.
    #[test]
    fn an_increment_in_a_common_line_hardly_follows_the_time_of_its_hand_over() {
        for (alone, hand_over, expected) in [(0.4, 31.0, 1.56), (0.4, 155.0, 1.59), (2.0, 60.0, 7.5)] {
            let time = disturbed(alone, hand_over);
            assert!((time - expected).abs() < 0.01, "{time} of {hand_over}");
        }
    }

    #[test]
    fn the_prediction_takes_the_hand_over_and_the_increment_that_were_measured() {
        let machine = fathom_described::machine();
        let predicted = |hand_over: f64| {
            let mut known = Known::new(&machine, Some(3e9));
            let pair = core_to_core::of_two_cores(&machine).expect("two cores");
            fathom_described::plant(&mut known, &core_to_core::CoreToCore, [(pair, hand_over)]);
            FalseSharing.predict(&at(8), &known).expect("a prediction").total()
        };
        let alone = FalseSharing.predict(&at(FURTHEST), &Known::new(&machine, Some(3e9))).unwrap().total();
        assert!((predicted(155.0) - disturbed(alone, 155.0)).abs() < 1e-9);
        assert!((predicted(0.1) - alone).abs() < 1e-9, "no less than alone");
    }

    #[test]
    fn the_last_distance_with_a_disturbance_is_told() {
        assert!(
            text(128, &QUICK)
                .contains("are {128} apart do not disturb each other; at {64}, the next shorter distance")
        );
    }

    #[test]
    fn threads_that_never_disturb_each_other_are_said_not_to() {
        assert!(text(0, &DISTANCES).contains("At no distance of their counters"));
        assert_eq!(text(64, &[8, 64]), "", "the furthest was not measured");
    }
}
