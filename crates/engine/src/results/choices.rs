//! What a program can choose, with what either way costs on this machine: the greatest differences first.

use super::accuracy::CLOSE;
use super::mechanisms::{device_limit, read_around};
use fathom_core::experiment::At::{self, Name, Number};
use fathom_core::experiment::{
    CoreUse, Finding, Found, Known, Placement, Question, Selector, capitalize, finding,
};
use fathom_core::sorting;

/// Two ways to the same end.
struct Choice {
    /// What is done.
    what: &'static str,
    /// The two ways, in a few words each; the one that usually takes less comes first.
    ways: Ways,
    /// The same ways by other points, where those of the first have no value that may be used.
    otherwise: Option<Ways>,
}

/// Two ways, in a few words each, with what shows their cost.
type Ways = [(&'static str, CostOfWay); 2];

/// What shows the cost of a way: the one point that is selected, or the first or the last of points along a parameter, which are means over
/// operations that other points show each by itself.
enum CostOfWay {
    Only(Selector),
    First(Selector, &'static str, Selector),
    Last(Selector, &'static str, Selector),
}

impl CostOfWay {
    fn cost(&self, known: &Known) -> Option<Found> {
        match self {
            CostOfWay::Only(point) => point.found(known),
            CostOfWay::First(points, along, each) => {
                of_one_time(*points.along(along, known).first()?, &each.along(along, known))
            }
            CostOfWay::Last(points, along, each) => {
                of_one_time(*points.along(along, known).last()?, &each.along(along, known))
            }
        }
    }

    fn points(&self) -> &Selector {
        let (CostOfWay::Only(points) | CostOfWay::First(points, ..) | CostOfWay::Last(points, ..)) = self;
        points
    }
}

/// A mean over operations; `None` where each of them takes one of several times, as the mean is then of none.
fn of_one_time((at, mean): (u64, Found), each: &[(u64, Found)]) -> Option<Found> {
    let takes_several = each.iter().any(|(of, each)| *of == at && each.is_mixture);
    (!takes_several).then_some(mean)
}

const TURN: Selector = Selector::only("cpu/synchronisation", &[("mechanism", Name("futex"))]);

const SWITCH: Selector =
    Selector::only("cpu/context_switch", &[("mechanism", Name("futex")), ("between", Name("processes"))]);

const fn called(settings: &'static [(&'static str, At)]) -> CostOfWay {
    CostOfWay::Only(Selector::only("cpu/system_call", settings))
}

const fn created(settings: &'static [(&'static str, At)]) -> CostOfWay {
    CostOfWay::Only(Selector::only("cpu/process_creation", settings))
}

const fn written(settings: &'static [(&'static str, At)]) -> CostOfWay {
    CostOfWay::Only(Selector::only("filesystem/write", settings))
}

const fn waited(settings: &'static [(&'static str, At)]) -> CostOfWay {
    CostOfWay::Only(Selector::only("cpu/spin_or_sleep", settings).at(Placement::AcrossCpus))
}

const CHOICES: &[Choice] = &[
    Choice {
        what: "to hand over by a futex and wait",
        ways: [
            ("to a process on the same CPU", CostOfWay::Only(TURN)),
            ("on another CPU", CostOfWay::Only(TURN.at(Placement::AcrossCpus))),
        ],
        otherwise: Some([
            ("to a process on the same CPU", CostOfWay::Only(SWITCH)),
            ("on another CPU", CostOfWay::Only(SWITCH.at(Placement::AcrossCpus))),
        ]),
    },
    Choice {
        what: "to answer when another CPU ends a wait of 100 µs",
        ways: [
            (
                "spinning",
                waited(&[("figure", Name("latency")), ("way", Name("spin")), ("length", Number(100_000))]),
            ),
            (
                "asleep",
                waited(&[("figure", Name("latency")), ("way", Name("futex")), ("length", Number(100_000))]),
            ),
        ],
        otherwise: None,
    },
    Choice {
        what: "to read the time",
        ways: [
            ("from the library", called(&[("call", Name("clock_gettime by library"))])),
            ("by a system call", called(&[("call", Name("clock_gettime by syscall"))])),
        ],
        otherwise: None,
    },
    Choice {
        what: "to wait for one of 100 descriptors",
        ways: [
            ("by epoll", called(&[("call", Name("epoll on 100"))])),
            ("by select", called(&[("call", Name("select on 100"))])),
        ],
        otherwise: None,
    },
    Choice {
        what: "to start a static program",
        ways: [
            ("by posix_spawn", created(&[("measure", Name("posix_spawn of a static program"))])),
            ("by fork and exec", created(&[("measure", Name("fork and exec of a static program"))])),
        ],
        otherwise: None,
    },
    Choice {
        what: "to write 4 KiB at random",
        ways: [
            (
                "into the page cache",
                written(&[
                    ("durability", Name("in the page cache")),
                    ("order", Name("random")),
                    ("block", Number(4096)),
                ]),
            ),
            (
                "kept on the device (fsync)",
                written(&[
                    ("durability", Name("on the device, fsync")),
                    ("order", Name("random")),
                    ("block", Number(4096)),
                ]),
            ),
        ],
        otherwise: None,
    },
    Choice {
        what: "to read each of many random blocks of 4 KiB past the page cache",
        ways: [
            (
                "by io_uring with as many in flight as were measured",
                CostOfWay::Last(device_limit::BETWEEN, "queue_depth", device_limit::EACH),
            ),
            ("one at a time", CostOfWay::First(device_limit::BETWEEN, "queue_depth", device_limit::EACH)),
        ],
        otherwise: None,
    },
    Choice {
        what: "to read a random block of 4 KiB of a cold mapped file",
        ways: [
            ("after madvise(MADV_RANDOM)", CostOfWay::Only(read_around::WITHOUT)),
            ("without", CostOfWay::Only(read_around::RANDOM)),
        ],
        otherwise: None,
    },
];

/// Two ways of which a run shows that one takes longer.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceResult {
    /// The experiment of the quicker way's figure.
    pub experiment: &'static str,
    /// Both ways, and their ratio.
    pub finding: Finding,
}

/// Every choice of which this run shows that one way takes longer, by a factor of [`CLOSE`] or more with the whole interval.
pub(super) fn all(known: &Known) -> Vec<ChoiceResult> {
    let mut all: Vec<(f64, ChoiceResult)> = CHOICES.iter().filter_map(|choice| choice.judge(known)).collect();
    sorting::by_number(&mut all, |(times, _)| -times);
    all.into_iter().map(|(_, choice)| choice).collect()
}

impl Choice {
    fn judge(&self, known: &Known) -> Option<(f64, ChoiceResult)> {
        let all = || [Some(&self.ways), self.otherwise.as_ref()].into_iter().flatten();
        // Of unlike states of the core a sentence is made all the same: another of both with the core shared takes its place.
        let ways = all().find(|ways| are_comparable(ways, known)).or_else(|| all().next())?;
        self.judge_by(ways, known)
    }

    fn judge_by(&self, ways: &Ways, known: &Known) -> Option<(f64, ChoiceResult)> {
        let [(shorter, one), (longer, other)] = ways;
        let experiment = one.points().experiment;
        let (one, other): (Found, Found) = (one.cost(known)?, other.cost(known)?);
        let times = other.over(one);
        let is_shown = times.ends().is_some_and(|(low, _)| low >= CLOSE);
        let is_of_states = one.is_mixture || other.is_mixture;
        (is_shown && !is_of_states).then(|| {
            let what = self.what;
            let finding = finding!(
                Question::Experiment,
                "{what}: {shorter} {one}, {longer} {other}, {times} times as long.",
                what = capitalize(what),
                shorter = *shorter,
                one = one.named(&format!("{what}, {shorter}")),
                longer = *longer,
                other = other.named(&format!("{what}, {longer}")),
                times = times.named(&format!("{what}, {longer} over {shorter}"))
            );
            (times.value, ChoiceResult { experiment, finding: finding.about(what) })
        })
    }
}

/// Whether both ways have a value of one state each: a median over several is of none, and one over too few observations of the core alone and
/// shared is left out of every other comparison as well; nor is the core alone compared with it shared.
fn are_comparable(ways: &Ways, known: &Known) -> bool {
    let costs: Vec<Found> = ways.iter().filter_map(|(_, way)| way.cost(known)).collect();
    let is_of_one = |cost: &Found| !cost.is_mixture && cost.core != Some(CoreUse::Mixture);
    costs.len() == ways.len()
        && costs.iter().all(is_of_one)
        && costs.iter().copied().reduce(Found::minus).is_some_and(|both| both.is_of_one_core_state())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::core_use::{self, OfEitherState};
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Dimension;
    use fathom_core::quantity::Unit;

    #[test]
    fn every_way_is_of_points_that_there_are() {
        let machine = planted::machine();
        for (way, points) in CHOICES.iter().flat_map(|choice| &choice.ways) {
            assert!(points.points().exist(&machine), "{way}");
        }
    }

    #[test]
    fn the_greatest_difference_comes_first_and_a_small_or_turned_one_is_no_advice() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (choice, costs) in CHOICES.iter().zip([[2e3, 20e3], [130.0, 28e3], [22.0, 23.0], [3e3, 400.0]]) {
            for ((_, points), cost) in choice.ways.iter().zip(costs) {
                points.points().plant(&mut known, cost);
            }
        }
        let texts: Vec<String> = all(&known).iter().map(|choice| choice.finding.statement.plain()).collect();
        let [first, second] = texts.as_slice() else { panic!("{texts:?}") };
        assert!(
            first.starts_with("To answer when another CPU ends a wait of 100 µs: spinning {130}, asleep"),
            "{first}"
        );
        assert!(second.ends_with("on another CPU {20000}, {10} times as long."), "{second}");
        let experiments: Vec<_> = all(&known).iter().map(|choice| choice.experiment).collect();
        assert_eq!(experiments, ["cpu/spin_or_sleep", "cpu/synchronisation"]);
    }

    /// Alone in flight each request took 41.0 or 62.1 µs, and a ratio of 5.56 was drawn from a mean of 60.6.
    #[test]
    fn a_mean_over_operations_that_take_several_times_is_no_advice() {
        let machine = planted::machine();
        let said = |is_mixture: bool| {
            let mut known = Known::new(&machine, None);
            let ns = |ns: f64| fathom_described::found(ns, Dimension::Of(Unit::Nanoseconds));
            for (depth, between, each) in [(1, 60.6e3, 41e3), (64, 10.9e3, 688e3)] {
                let at = [("queue_depth", serde_json::json!(depth))];
                let learnt = [(device_limit::BETWEEN, ns(between)), (device_limit::EACH, ns(each))];
                for (of, found) in learnt {
                    let is_mixture =
                        is_mixture && depth == 1 && of.point(&at) == device_limit::EACH.point(&at);
                    known.learn(of.experiment, &of.point(&at), Found { is_mixture, ..found });
                }
            }
            all(&known).len()
        };
        assert_eq!([said(false), said(true)], [1, 0]);
    }

    /// A hand-over to another CPU of which too few observations show either state of the core: the other experiment of it has that of the core alone.
    #[test]
    fn a_value_that_is_left_out_elsewhere_is_no_advice() {
        let machine = planted::machine();
        let said = |of_turn: CoreUse, has_other: bool| {
            let mut known = Known::new(&machine, None);
            let mut plant = |way: &CostOfWay, ns: f64, core| {
                let (way, unit) = (way.points(), Dimension::Of(Unit::Nanoseconds));
                let found = Found { core: Some(core), ..fathom_described::found(ns, unit) };
                known.learn(way.experiment, &way.point(&[]), found);
            };
            let [same, other] = &CHOICES[0].ways;
            plant(&same.1, 2e3, CoreUse::Alone);
            plant(&other.1, 24e3, of_turn);
            if has_other {
                for ((_, way), ns) in CHOICES[0].otherwise.as_ref().expect("another").iter().zip([2e3, 19e3])
                {
                    plant(way, ns, CoreUse::Alone);
                }
            }
            let either = OfEitherState { main: &known, shared: &known };
            core_use::choices(either).first().map(|choice| choice.finding.statement.plain())
        };
        let times = |said: Option<String>| {
            said.map(|said| said.rsplit_once(", ").map_or(String::new(), |(_, end)| end.to_owned()))
        };
        assert_eq!(times(said(CoreUse::Alone, true)).as_deref(), Some("{12} times as long."));
        for of_turn in [CoreUse::Mixture, CoreUse::Shared] {
            assert_eq!(times(said(of_turn, true)).as_deref(), Some("{9.5} times as long."), "{of_turn:?}");
            assert_eq!(said(of_turn, false), None, "{of_turn:?}");
        }
    }
}
