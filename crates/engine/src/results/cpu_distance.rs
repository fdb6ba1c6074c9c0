//! How far the two CPUs of work on both are from each other. A host moves the virtual CPUs of a guest: a cache line between them takes
//! tens of nanoseconds at one time and hundreds at another, for seconds to minutes, and whatever passes between them follows. Like is
//! compared with like: a figure rests on the trials at one distance, and the value at another stands beside it.

pub(crate) use super::line_groups::is_same;
use super::line_groups::{NEAR, OFTEN, groups};
use crate::record::{Header, Run, Trial};
use fathom_core::experiment::{Found, LineLooks, Placement, Point};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics::{Interval, MINIMUM_TRIALS, Measured};

/// The distances of the run's two CPUs, as a cache line shows them.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuDistances {
    /// The distances, that of most of the time first.
    pub distances: Vec<CpuDistance>,
    /// Others that looks found again and again, for too little of the time for values of their own; that of most looks first.
    pub seldom: Vec<CpuDistance>,
    /// The looks in the order of time: seconds from the start of the run, and the place among the distances and then the seldom ones; `None`
    /// of a look between them.
    looks: Vec<(f64, Option<usize>)>,
}

/// A distance of two CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuDistance {
    /// Time of a cache line's hand-over, nanoseconds: the median of its looks.
    pub line_ns: f64,
    /// The share of the time between looks that agree, 0 to 1.
    pub share: f64,
    /// The looks that found it.
    pub looks: usize,
    /// Whether it is that of most of the time.
    pub is_usual: bool,
}

impl CpuDistance {
    /// The hand-over of a line at it, within what all of its looks are.
    pub(super) fn line(&self) -> Found {
        let interval = Some(Interval { low: self.line_ns / NEAR, high: self.line_ns * NEAR });
        Found::measured(Measured { value: self.line_ns, interval }, Unit::Nanoseconds)
    }
}

/// A point's trials by the distance of the CPUs.
pub(super) struct ByDistance<'run> {
    /// The trials on which the figure rests, and their distance.
    pub main: (CpuDistance, Vec<&'run Trial>),
    /// Whether the run has several distances.
    pub of_several: bool,
    /// Those at another distance, the one with the most of them.
    pub other: Option<(CpuDistance, Vec<&'run Trial>)>,
}

/// The experiment that measures what looks at the distance measure as well: a cache line from one CPU to the other.
pub const LINE_HAND_OVER: &str = "cpu/core_to_core";

/// The looks from which distances are told apart.
const FEWEST_LOOKS: usize = 12;

impl CpuDistances {
    /// Of a run; `None` without enough looks. Of two alternating runs each trial has its partner at the same distance, so they are not
    /// divided.
    pub fn of(run: &Run) -> Option<Self> {
        if run.header.settings.interleaved.is_some() {
            return None;
        }
        let ns = 1e9 / run.header.clock.ticks_per_second / 2.0;
        let seen = run.looks.iter().filter_map(|look| Some((look.at_s, look.line_ticks? * ns)));
        CpuDistances::from_looks(&seen.collect::<Vec<_>>())
    }

    /// From looks: seconds, and nanoseconds of a hand-over.
    pub(super) fn from_looks(seen: &[(f64, f64)]) -> Option<Self> {
        let mut all: Vec<f64> = seen.iter().map(|(_, ns)| *ns).collect();
        sorting::numbers(&mut all);
        let groups = groups(&all);
        if all.len() < FEWEST_LOOKS || groups.is_empty() {
            return None;
        }
        let place = |ns: f64| groups.iter().position(|[least, .., most]| (*least..=*most).contains(&ns));
        let looks: Vec<(f64, Option<usize>)> = seen.iter().map(|(at_s, ns)| (*at_s, place(*ns))).collect();
        let time = |place: usize| -> f64 {
            let agree = |pair: &&[(f64, Option<usize>)]| pair.iter().all(|(_, seen)| *seen == Some(place));
            looks.windows(2).filter(agree).map(|pair| pair[1].0 - pair[0].0).sum()
        };
        let times: Vec<f64> = (0..groups.len()).map(time).collect();
        let whole: f64 = times.iter().sum();
        // Where hardly two looks in a row agree on a distance hardly a trial can be known to be at it, and its share of the time would
        // be none.
        let is_state = |place: &usize| whole == 0.0 || times[*place] >= OFTEN * whole;
        let mut order: Vec<usize> = (0..groups.len()).filter(is_state).collect();
        sorting::by_number(&mut order, |place| -times[*place]);
        let number = |place: usize| looks.iter().filter(|(_, seen)| *seen == Some(place)).count();
        let mut seldom: Vec<usize> = (0..groups.len()).filter(|place| !is_state(place)).collect();
        sorting::by_key(&mut seldom, |place| std::cmp::Reverse(number(*place)));
        let distance = |place: &usize| CpuDistance {
            line_ns: groups[*place][1],
            share: if whole > 0.0 { times[*place] / whole } else { 0.0 },
            looks: number(*place),
            is_usual: order.first() == Some(place),
        };
        let rank = |place: usize| order.iter().chain(&seldom).position(|ordered| *ordered == place);
        Some(CpuDistances {
            distances: order.iter().map(distance).collect(),
            seldom: seldom.iter().map(distance).collect(),
            looks: looks.iter().map(|(at_s, place)| (*at_s, place.and_then(rank))).collect(),
        })
    }

    /// The distances and the seldom ones, in the order of their places.
    pub fn positions(&self) -> impl Iterator<Item = &CpuDistance> {
        self.distances.iter().chain(&self.seldom)
    }

    /// The distances as experiments know them, also the seldom ones.
    pub(super) fn line_looks(&self) -> Vec<LineLooks> {
        let of = |at: &CpuDistance| LineLooks { line_ns: at.line_ns, share: at.share, looks: at.looks };
        self.positions().map(of).collect()
    }

    /// How often the looks found another distance than the ones before, be it a seldom one.
    pub fn moves(&self) -> usize {
        let places: Vec<usize> = self.looks.iter().filter_map(|(_, place)| *place).collect();
        places.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// How many of the looks found a time that is of none of the distances nor of the seldom ones, and how many there were.
    pub fn between(&self) -> (usize, usize) {
        (self.looks.iter().filter(|(_, place)| place.is_none()).count(), self.looks.len())
    }

    /// Whether the distance of most of the time is the same, and both know of several or both of one.
    pub(crate) fn have_one_usual(one: Option<&Self>, other: Option<&Self>) -> bool {
        let usual = |of: &Self| of.distances.first().map(|usual| (usual.line_ns, of.are_several()));
        match (one.and_then(usual), other.and_then(usual)) {
            (Some((one_ns, one)), Some((other_ns, other))) => one == other && is_same(one_ns, other_ns),
            (None, None) => true,
            _ => false,
        }
    }

    /// Whether the CPUs were at several distances.
    pub fn are_several(&self) -> bool {
        self.distances.len() > 1
    }

    /// The place of the distance during a trial that began then: what the looks before and after it agree on; while its visit
    /// goes on, the one before.
    fn during(&self, began_s: f64) -> Option<usize> {
        self.position_during(began_s).filter(|place| *place < self.distances.len())
    }

    /// The same, or the place of a seldom one behind them.
    pub(super) fn position_during(&self, began_s: f64) -> Option<usize> {
        let (before, after) = self.around(began_s)?;
        (before == after).then_some(before).flatten()
    }

    /// The number of the stay at one place, among all of the run, in which that time is: looks in a row that agree.
    pub(super) fn stay(&self, at_s: f64) -> usize {
        let until = self.looks.partition_point(|(seen_s, _)| *seen_s <= at_s);
        self.looks[..until].windows(2).filter(|pair| pair[0].1 != pair[1].1).count()
    }

    /// What a line took during a trial that began then; `None` if the CPUs were moved meanwhile, or that is not known.
    pub(super) fn line_during(&self, began_s: f64) -> Option<f64> {
        Some(self.distances[self.during(began_s)?].line_ns)
    }

    /// The places before and after a trial that began then.
    fn around(&self, began_s: f64) -> Option<(Option<usize>, Option<usize>)> {
        let next = self.looks.partition_point(|(at_s, _)| *at_s <= began_s);
        let before = self.looks[next.checked_sub(1)?].1;
        Some((before, self.looks.get(next).map_or(before, |(_, after)| *after)))
    }

    /// What disturbed a point on both CPUs whose trials are known to be of several distances, none of which has enough of them: the median
    /// of all would be of none. `None` for others.
    pub(super) fn mixed(&self, header: &Header, point: &Point, trials: &[&Trial]) -> Option<String> {
        if !is_of_both(header, point) {
            return None;
        }
        let at = self.by_position(trials);
        let trials = trials.iter().filter(|trial| trial.observed());
        let is_moved = |trial: &&&Trial| matches!(self.around(trial.began_s), Some((Some(before), Some(after))) if before != after);
        let moved = trials.clone().filter(is_moved).count();
        let are_of_several = moved > 0 || at.iter().filter(|at| !at.is_empty()).count() > 1;
        let any_enough = at[..self.distances.len()].iter().any(|at| at.len() >= MINIMUM_TRIALS);
        if !are_of_several || any_enough {
            return None;
        }
        let each = self.positions().zip(&at).filter(|(_, at)| !at.is_empty());
        let each = each.map(|(distance, at)| {
            format!(
                "{} while a line took {}",
                at.len(),
                quantities::value(Unit::Nanoseconds, distance.line_ns)
            )
        });
        let during = (moved > 0).then(|| format!("{moved} while that changed"));
        let each: Vec<String> = each.chain(during).collect();
        Some(format!(
            "its two CPUs were moved nearer and apart: of its {} trials {}; an interval needs {MINIMUM_TRIALS} at one distance",
            trials.count(),
            each.join(", ")
        ))
    }

    /// The trials of a point on both CPUs by their distance; `None` for other work, and if no distance has enough of them. The distance of most of the time comes first for every point, so that figures of a run belong together.
    pub(super) fn divide<'run>(
        &self,
        header: &Header,
        point: &Point,
        trials: &[&'run Trial],
    ) -> Option<ByDistance<'run>> {
        if !is_of_both(header, point) {
            return None;
        }
        let at = self.by_distance(trials);
        let enough = |place: &usize| at[*place].len() >= MINIMUM_TRIALS;
        let main = (0..at.len()).find(enough)?;
        let others = (0..at.len()).filter(|place| *place != main && !at[*place].is_empty());
        let most = others.max_by_key(|place| at[*place].len());
        let trials = |place: usize| (self.distances[place], at[place].clone());
        Some(ByDistance { main: trials(main), other: most.map(trials), of_several: self.are_several() })
    }

    /// The trials at each distance, without those during which the CPUs were moved.
    fn by_distance<'run>(&self, trials: &[&'run Trial]) -> Vec<Vec<&'run Trial>> {
        let mut at = self.by_position(trials);
        at.truncate(self.distances.len());
        at
    }

    /// The same, and behind them those at each seldom one.
    fn by_position<'run>(&self, trials: &[&'run Trial]) -> Vec<Vec<&'run Trial>> {
        let mut at: Vec<Vec<&Trial>> = vec![vec![]; self.positions().count()];
        for trial in trials.iter().filter(|trial| trial.observed()) {
            if let Some(place) = self.position_during(trial.began_s) {
                at[place].push(trial);
            }
        }
        at
    }

    /// Whether the trials of this work are at one of several distances each.
    fn divides(&self, header: &Header, point: &Point) -> bool {
        self.are_several() && is_of_both(header, point)
    }

    /// The trials of a point on both CPUs on which predictions of others may rest, whose figures will be of the distance of most of the time: those at it,
    /// and none during which the CPUs were moved. `None` for other work, and if the CPUs were at one distance.
    pub(super) fn for_predictions<'run>(
        &self,
        header: &Header,
        point: &Point,
        trials: &[&'run Trial],
    ) -> Option<Vec<&'run Trial>> {
        self.divides(header, point).then(|| self.by_distance(trials).into_iter().next())?
    }

    /// What a point on both CPUs still lacks at the distance of most of the time; `None` for other work, and if nothing.
    pub(super) fn lack(&self, header: &Header, point: &Point, trials: &[&Trial]) -> Option<Lack> {
        if !self.divides(header, point) {
            return None;
        }
        let at = self.by_distance(trials);
        let (usual, others) = at.split_first()?;
        let elsewhere = others.iter().map(Vec::len).sum::<usize>();
        let missing = MINIMUM_TRIALS.saturating_sub(usual.len());
        (missing > 0 && elsewhere > 0).then(|| Lack {
            elsewhere,
            further: (missing as f64 / self.distances[0].share.max(OFTEN)).ceil() as usize,
        })
    }
}

/// Trials that a point on both CPUs lacks at the distance of most of the time.
pub(super) struct Lack {
    /// Its trials at others, which count for no figure there.
    pub elsewhere: usize,
    /// The expected number of further trials until it has enough.
    pub further: usize,
}

/// Whether work is on both of the run's two CPUs: between them, or by two threads. Other CPUs are not looked at.
pub fn is_of_both(header: &Header, point: &Point) -> bool {
    let cpus = [Some(header.settings.home), header.settings.partner];
    let is_named = |end: &str| point.number_of(end).is_none_or(|cpu| cpus.contains(&Some(cpu as usize)));
    match point.placement() {
        Placement::AcrossCpus => ["from", "to"].into_iter().all(is_named),
        Placement::Spread => {
            point.number_of("threads") == Some(2) || point.number_of("load_threads") == Some(1)
        }
        Placement::OneCpu | Placement::AcrossPackages | Placement::Free => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every second: so many at each distance, one after the other.
    fn looks(at: &[(usize, f64)]) -> Vec<(f64, f64)> {
        let all = at
            .iter()
            .flat_map(|(count, ns)| (0..*count).map(move |nth| ns * (1.0 + 0.01 * (nth % 5) as f64)));
        all.enumerate().map(|(at_s, ns)| (at_s as f64, ns)).collect()
    }

    #[test]
    fn a_move_is_to_another_distance_and_a_look_between_them_is_none() {
        let at = |places: &[Option<usize>]| CpuDistances {
            distances: vec![],
            seldom: vec![],
            looks: places.iter().map(|place| (0.0, *place)).collect(),
        };
        let near = Some(0);
        assert_eq!(at(&[near, near, None, near, Some(1), None, Some(1), near]).moves(), 2);
        assert_eq!(at(&[near, None, near]).moves(), 0);
    }

    #[test]
    fn cpus_that_the_host_moves_have_two_distances_and_others_one() {
        let found = CpuDistances::from_looks(&looks(&[(30, 26.0), (1, 90.0), (20, 210.0)])).expect("two");
        let [near, far] = found.distances.as_slice() else { panic!("{found:?}") };
        assert!((26.0..27.0).contains(&near.line_ns) && (210.0..217.0).contains(&far.line_ns), "{found:?}");
        assert!((near.share - 29.0 / 48.0).abs() < 1e-9 && near.looks == 30, "{found:?}");
        let are_several =
            |at: &[(usize, f64)]| CpuDistances::from_looks(&looks(at)).is_some_and(|of| of.are_several());
        assert!(!are_several(&[(50, 26.0)]) && are_several(&[(50, 26.0), (3, 210.0)]));
        assert!(!are_several(&[(50, 26.0), (2, 210.0)]), "two interrupted readings");
        assert_eq!(CpuDistances::from_looks(&looks(&[(5, 26.0), (5, 210.0)])), None, "too few looks");
    }

    #[test]
    fn looks_that_stand_alone_are_no_distance() {
        let alone = |ns: f64| [(20, 88.0), (1, ns)];
        let mut seen = [alone(23.6), alone(23.7), alone(23.5)].concat();
        seen.push((20, 88.0));
        let found = CpuDistances::from_looks(&looks(&seen)).expect("one");
        let [usual] = found.distances.as_slice() else { panic!("{found:?}") };
        assert!(usual.share > 0.999 && !found.are_several(), "{found:?}");
        assert_eq!(
            found.during(20.5),
            None,
            "a look that is of no distance says nothing of the trial before it"
        );
        let [seldom] = found.seldom.as_slice() else { panic!("{found:?}") };
        assert!((seldom.line_ns - 23.6).abs() < 0.3 && seldom.looks == 3 && !seldom.is_usual, "{found:?}");
        assert_eq!(found.between(), (0, 83), "no look is of none");
    }

    /// Of 2 443 looks 45 found 17 ns, for less of the time than a value takes, and were counted with two of 210 and 390 ns.
    #[test]
    fn looks_that_agree_seldom_have_a_place_and_no_values() {
        let (usual, seldom) = ((150, 33.0), (1, 17.0));
        let mut seen = vec![usual, (2, 17.0)];
        seen.extend([usual, seldom, usual, seldom, usual, (1, 390.0), usual, (60, 160.0)]);
        let found = CpuDistances::from_looks(&looks(&seen)).expect("two, and a seldom one");
        let of = |at: &[CpuDistance]| at.iter().map(|at| (at.line_ns.round(), at.looks)).collect::<Vec<_>>();
        assert_eq!(found.distances.len(), 2, "{:?}", found.distances);
        assert_eq!(of(&found.seldom), [(17.0, 4)]);
        assert_eq!(found.between(), (1, 815));
        assert_eq!(found.line_looks().len(), 3);
        let during = 150.5;
        assert_eq!((found.during(during), found.position_during(during)), (None, Some(2)));
        assert_eq!([149.5, 150.5, 152.5].map(|at_s| found.stay(at_s)), [0, 1, 2]);
    }

    #[test]
    fn what_is_usual_becomes_another_with_time() {
        let of = |at: &[(usize, f64)]| CpuDistances::from_looks(&looks(at));
        let (far, near) = (of(&[(20, 210.0)]), of(&[(20, 210.0), (60, 26.0)]));
        assert!(!CpuDistances::have_one_usual(far.as_ref(), near.as_ref()), "it was far apart");
        let more = of(&[(20, 210.0), (70, 26.0)]);
        assert!(CpuDistances::have_one_usual(near.as_ref(), more.as_ref()));
        assert!(
            !CpuDistances::have_one_usual(None, far.as_ref()) && CpuDistances::have_one_usual(None, None)
        );
        let both = of(&[(20, 210.0), (9, 26.0)]);
        assert!(!CpuDistances::have_one_usual(far.as_ref(), both.as_ref()), "there was one, and are two");
    }

    #[test]
    fn the_distance_of_most_of_the_time_comes_first() {
        let found = CpuDistances::from_looks(&looks(&[(10, 26.0), (40, 210.0)])).expect("two");
        assert!(found.distances[0].line_ns > 200.0 && found.distances[0].share > 0.75, "{found:?}");
    }

    #[test]
    fn a_trial_has_the_distance_on_which_the_looks_around_it_agree() {
        let found = CpuDistances::from_looks(&looks(&[(30, 26.0), (20, 210.0)])).expect("two");
        assert_eq!(found.during(-1.0), None, "before the first look");
        assert_eq!([found.during(3.5), found.during(35.5)], [Some(0), Some(1)]);
        assert_eq!(found.during(29.5), None, "it was moved meanwhile");
        assert_eq!(found.during(60.0), Some(1), "the visit goes on");
    }
}
