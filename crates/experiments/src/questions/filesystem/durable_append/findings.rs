//! Findings on durable appends: what the ways differ in, whether the speed lasts, the highest rate, and what a stream beside them
//! costs.

use super::{
    ABOUT, APPEND, DSYNC, FDATASYNC, FSYNC, LONGEST, NOTHING, RATE, RWF_DSYNC, STREAM, USUAL_BLOCK, long,
    short,
};
use fathom_core::prelude::*;

pub fn findings(known: &Known) -> Vec<Finding> {
    [ways(known), sustained(known), rate(known), beside(known)].into_iter().flatten().collect()
}

fn ways(known: &Known) -> Option<Finding> {
    let estimate = |way: &str| known.found(ABOUT.name, &short(way, USUAL_BLOCK));
    let fsync = estimate(FSYNC)?;
    let others = [FDATASYNC, DSYNC, RWF_DSYNC].into_iter().filter_map(|way| {
        let time = estimate(way)?;
        let judged = time.beside_usual(&fsync).in_words();
        Some(statement!("{time} by {way}{judged}", time = time.named(&format!("append, {way}"))))
    });
    let others = Statement::joined(others, "; ")?;
    Some(finding!(
        Question::Experiment,
        "8 KiB appended to a file are on the device after {fsync} by fsync; {others}.",
        fsync = fsync.named("append, fsync"),
        others
    ))
}

/// Devices and their hosts allow bursts: then a log that is written without a pause is slower than its first appends.
fn sustained(known: &Known) -> Option<Finding> {
    let short = known.found(ABOUT.name, &short(FDATASYNC, USUAL_BLOCK))?;
    let long = known.found(ABOUT.name, &long(NOTHING, APPEND))?;
    Some(finding!(
        Question::Experiment,
        "In a series of half a second an append takes {long}, and {short} in trials of a few milliseconds: {ratio}.",
        long = long.named("append, half a second"),
        short = short.named("append, short trials"),
        ratio = long.times_as("long", short, "append, half a second over short")
    ))
}

fn rate(known: &Known) -> Option<Finding> {
    let rate = known.found(ABOUT.name, &long(NOTHING, RATE))?;
    if rate.value <= 0.0 {
        return Some(finding!(
            Question::Experiment,
            "No rate was found at which 99 of 100 appends of 8 KiB are on the device within 10 ms of when they were due."
        ));
    }
    let appends = rate.counted(1.0 / USUAL_BLOCK as f64, Dimension::Count).named("appends a second");
    Some(finding!(
        Question::Experiment,
        "Up to {appends} appends of 8 KiB a second, evenly due, are on the device within 10 ms of when they were due, 99 in 100 of \
         them; with more a queue grows.",
        appends
    ))
}

fn beside(known: &Known) -> Option<Finding> {
    let of = |beside, figure| known.found(ABOUT.name, &long(beside, figure));
    let (alone, beside) = (of(NOTHING, APPEND)?, of(STREAM, APPEND)?);
    // Of unlike states of the core the difference may be the neighbour's.
    if alone.core != beside.core {
        return None;
    }
    let stalls = of(NOTHING, LONGEST).zip(of(STREAM, LONGEST)).map(|(longest_alone, longest)| {
        statement!(
            "; the longest of a series takes {longest_alone} alone and {longest} beside it",
            longest_alone = longest_alone.named("longest append, alone"),
            longest = longest.named("longest append, beside a stream")
        )
    });
    Some(finding!(
        Question::Experiment,
        "While another thread streams through the page cache an append takes {beside}, and {alone} alone: {ratio}{stalls}.",
        beside = beside.named("append, beside a stream"),
        alone = alone.named("append, alone"),
        ratio = beside.times_as("long", alone, "append beside a stream over alone"),
        stalls
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(planted: &[(Point, f64)]) -> String {
        fathom_described::statements(&super::super::DurableAppend, planted.iter().cloned(), findings)
    }

    #[test]
    fn ways_are_compared_with_fsync() {
        let way = |name, ns| (short(name, USUAL_BLOCK), ns);
        let text = text(&[way(FSYNC, 4e6), way(FDATASYNC, 4e6), way(DSYNC, 2e6)]);
        assert!(
            text.contains(
                "after {4000000} by fsync; {4000000} by fdatasync, which is not significantly different"
            ) && text.contains("{2000000} by O_DSYNC, which is less."),
            "{text}"
        );
    }

    /// A device takes 124 or 160 us: that one way met the slower time never is no verdict on the way.
    #[test]
    fn ways_of_the_same_levels_are_not_distinguished() {
        use fathom_core::statistics::{Mode, ModeList};
        let append = |name, us: f64, modes: &[(f64, f64)]| {
            let modes: Vec<Mode> =
                modes.iter().map(|(centre, share)| Mode { centre: *centre, share: *share }).collect();
            let time = fathom_described::found_within(0.01, us * 1e3, Dimension::Of(Unit::Nanoseconds));
            (short(name, USUAL_BLOCK), Found { modes: ModeList::of(&modes), ..time })
        };
        let said = |modes: &[(f64, f64)]| {
            let machine = fathom_described::machine();
            let mut known = Known::new(&machine, None);
            for (point, time) in [append(FSYNC, 130.0, modes), append(RWF_DSYNC, 123.0, &[(123.2, 1.0)])] {
                known.learn(ABOUT.name, &point, time);
            }
            ways(&known).expect("two ways").statement.plain()
        };
        let of_two = said(&[(124.9, 0.68), (161.0, 0.32)]);
        assert!(
            of_two.contains("not distinguished: both are of the same levels, in other shares"),
            "{of_two}"
        );
        assert!(said(&[(130.0, 1.0)]).contains("which is less"));
    }

    #[test]
    fn a_rate_is_told_in_appends_and_no_rate_in_words() {
        let rate = |bytes| text(&[(long(NOTHING, RATE), bytes)]);
        assert!(
            rate(2_048_000.0).starts_with("Up to {250} appends of 8 KiB a second"),
            "{}",
            rate(2_048_000.0)
        );
        assert!(rate(0.0).starts_with("No rate was found"), "{}", rate(0.0));
    }

    #[test]
    fn a_stream_is_told_with_the_longest_append() {
        let of = |beside, figure, ns| (long(beside, figure), ns);
        let all = [
            of(NOTHING, APPEND, 4e6),
            of(NOTHING, LONGEST, 9e6),
            of(STREAM, APPEND, 8e6),
            of(STREAM, LONGEST, 80e6),
        ];
        let text = text(&all);
        assert!(
            text.contains(
                "{2} times as long; the longest of a series takes {9000000} alone and {80000000} beside it."
            ),
            "{text}"
        );
    }
}
