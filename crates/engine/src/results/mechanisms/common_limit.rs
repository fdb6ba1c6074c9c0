//! A limit that cores share: together they read no more of memory than one of them.

use super::{Conclusion, Premises, Rule, shared_path};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{Found, Known, Placement, Point, Selector, Statement, statement};

pub(super) const RULE: Rule = Rule {
    name: "common_limit",
    condition: "what all cores read together is below 1.2 times what one reads, by the same method and in the same experiment where that \
                was measured and else at its best, with the whole interval of the ratio, and it is not shown that CPUs farther apart \
                move more",
    judge,
    points: &[READ, TOGETHER, COPIED],
};

/// Reading memory by one core, by each method.
pub(super) const READ: Selector = Selector::only(
    "memory/bandwidth",
    &[("kind", Name("read")), ("level", Name("memory")), ("method", Any), ("size", Any)],
);
/// Reading it by several cores, by their number.
pub(super) const TOGETHER: Selector = Selector::only(
    "memory/parallel_bandwidth",
    &[("kind", Name("read")), ("level", Name("memory")), ("method", Any), ("size", Any), ("threads", Any)],
)
.at(Placement::Spread);
const COPIED: Selector = Selector::only(
    "memory/parallel_bandwidth",
    &[("kind", Name("copy")), ("level", Name("memory")), ("method", Any), ("size", Any), ("threads", Any)],
)
.at(Placement::Spread);

/// From this factor on more cores read more than one.
pub(super) const MORE: f64 = 1.2;

/// What all cores read of memory, beside one of them: by the method that reads the most together of those that were measured with one
/// thread as well; where none was, beside one at its best.
#[derive(Clone, Copy)]
pub(super) struct BesideOne {
    pub(super) cores: u64,
    together: Found,
    pub(super) one: Found,
}

impl BesideOne {
    /// `None` where fewer than two cores were measured, or a rate is of several states.
    pub(super) fn of(known: &Known) -> Option<BesideOne> {
        let (cores, together) = most(&TOGETHER, known)?;
        let all = TOGETHER.all(known);
        let of_number = |number| {
            let of = move |(point, rate): &&(&Point, Found)| {
                point.number_of("threads") == Some(number) && !rate.is_mixture
            };
            all.iter().filter(of)
        };
        let by_one = |method: &str| of_number(1).find(|(point, _)| point.is("method", method));
        let alike = of_number(cores).filter_map(|(point, _)| {
            let (_, one) = by_one(point.name_of("method")?)?;
            Some((*one, (*point).clone()))
        });
        if let Some((one, together)) = known.best(TOGETHER.experiment, alike) {
            return Some(BesideOne { cores, together, one });
        }
        let one = READ.best(known).map(|(_, rate)| rate).filter(|rate| !rate.is_mixture)?;
        Some(BesideOne { cores, together, one })
    }

    pub(super) fn times(&self) -> Found {
        self.together.over(self.one)
    }

    pub(super) fn is_more(&self) -> bool {
        self.times().measured.interval.is_some_and(|ends| ends.low > MORE)
    }

    /// Not significantly more may still be twice as much: this is known to be less than that.
    pub(super) fn is_no_more(&self) -> bool {
        let times = self.times().measured;
        times.interval.map_or(times.value, |ends| ends.high) < MORE
    }
}

/// The most threads that were measured, if there are several, with their highest rate.
fn most(of: &Selector, known: &Known) -> Option<(u64, Found)> {
    let threads = of.along("threads", known).into_iter().map(|(threads, _)| threads).max();
    let threads = threads.filter(|threads| *threads > 1)?;
    Some((threads, best(of, threads, known)?))
}

fn best(of: &Selector, threads: u64, known: &Known) -> Option<Found> {
    let is_mine =
        |(point, rate): &(&Point, Found)| point.number_of("threads") == Some(threads) && !rate.is_mixture;
    let mine = of.all(known).into_iter().filter(is_mine).map(|(point, _)| ((), point.clone()));
    known.best(of.experiment, mine).map(|((), rate)| rate)
}

fn judge(premises: &Premises) -> Option<Conclusion> {
    let beside = BesideOne::of(premises.known).filter(BesideOne::is_no_more)?;
    if shared_path::judge(premises).is_some() {
        return None;
    }
    let BesideOne { cores, together, one } = beside;
    let farther = shared_path::most_farther_apart(premises, &TOGETHER);
    let is_of_like_states = together.is_of_the_state_of(&one);
    let limit = match (&farther, is_of_like_states) {
        (Some(_), _) => "probably the limit is one that CPUs near each other share",
        (None, false) => "probably the limit is one that they share",
        (None, true) => "the limit is one that they share",
    };
    let headline = statement!(
        "{cores} cores together read {together} of memory, {beside} the {one} of one: {limit}.",
        together = together.named("read of memory by all cores"),
        beside = if together.differs_from(&one) == Some(false) {
            "not significantly different from".into()
        } else {
            statement!("{times} times", times = beside.times().named("read by all cores over one"))
        },
        one = one.named("read of memory by one core")
    );
    let because = statement!(
        "Were it the lines that one core has in flight, {cores} would read {cores} times as much.{carried}{farther}{states}",
        states = if is_of_like_states { "" } else { UNLIKE_STATES },
        carried = carried(&beside, premises.known),
        farther = farther.map(|(what, far, line)| {
            statement!(
                " In too few trials to show it, two threads ({what}) read {far} with CPUs farther apart ({line} for a line): then the \
                 limit is of CPUs that are near each other.",
                far,
                line
            )
        })
    );
    Some(Conclusion::of(headline, because))
}

const UNLIKE_STATES: &str = " The rate of one is of one state of its core, that of all is of whatever else used theirs, which may be a part of it.";

/// Whether the memory itself carries more than is read: a copy crosses the bus with at least the bytes that it reads and writes.
fn carried(beside: &BesideOne, known: &Known) -> Statement {
    let copied = best(&COPIED, beside.cores, known).filter(|copied| copied.value > beside.together.value);
    match copied.filter(|copied| copied.differs_from(&beside.together) == Some(true)) {
        Some(copied) => statement!(
            " Copying they move {copied}, each byte counted as read and as written: the memory carries {times} times what they read, so the \
             limit is of one direction, on the way to it or from it.",
            copied = copied.named("copied by all cores"),
            times = copied.over(beside.together).named("copied over read, all cores")
        ),
        None => " Whether it is the memory or the path to it, the run does not tell.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Dimension;
    use fathom_core::quantity::Unit;
    use serde_json::json;

    /// What is concluded where one core reads 30 GB/s and two read and copy so much.
    fn concluded(read: f64, copied: f64) -> Option<String> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let mut learn = |of: &Selector, threads: u64, rate: f64| {
            let set = [("method", json!("sse")), ("size", json!(1)), ("threads", json!(threads))];
            let rate = fathom_described::found_within(0.01, rate, Dimension::Of(Unit::BytesPerSecond));
            known.learn(of.experiment, &of.point(&set), rate);
        };
        learn(&TOGETHER, 1, 30e9);
        learn(&TOGETHER, 2, read);
        learn(&COPIED, 2, copied);
        let of = judge(&Premises { known: &known, points: &[] })?;
        Some(format!("{} {}", of.headline.plain(), of.because.plain()))
    }

    #[test]
    fn cores_that_read_no_more_than_one_share_a_limit_and_a_copy_tells_whether_it_is_the_memory() {
        let copied = concluded(33e9, 49.5e9).expect("a mechanism");
        assert!(copied.contains("{1.1} times the {30000000000} of one"), "{copied}");
        assert!(copied.contains("the memory carries {1.5} times what they read"), "{copied}");
        let alike = concluded(33e9, 33e9).expect("a mechanism");
        assert!(alike.contains("Whether it is the memory or the path"), "{alike}");
        assert_eq!(concluded(58e9, 58e9), None, "twice as much is no common limit");
    }

    #[test]
    fn all_cores_stand_beside_one_by_the_same_method_in_the_same_experiment() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        READ.plant_at(&mut known, &[("method", json!("sse")), ("size", json!(1))], 17e9);
        for (method, threads, rate) in [("sse", 1, 14e9), ("sse", 2, 23e9), ("word loop", 2, 25e9)] {
            let set = [("method", json!(method)), ("size", json!(1)), ("threads", json!(threads))];
            TOGETHER.plant_at(&mut known, &set, rate);
        }
        let beside = BesideOne::of(&known).expect("two cores");
        assert_eq!((beside.together.value, beside.one.value), (23e9, 14e9));
    }

    #[test]
    fn without_several_threads_nothing_is_concluded() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        READ.plant_at(&mut known, &[("method", json!("sse")), ("size", json!(1))], 30e9);
        assert!(BesideOne::of(&known).is_none());
    }
}
