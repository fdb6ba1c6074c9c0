//! Sentences and names of the distance between the two CPUs of work on both, where a host changed it.

use super::words::{self, plural};
use fathom_core::experiment::At::{Any, Name, Number};
use fathom_core::experiment::Selector;
use fathom_core::machine::{Cache, CpuSet};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics::Estimate;
use fathom_engine::results::{CpuDistance, PointDistance, PointResult, Results, is_of_both};

/// The sentences about the run; `None` if its CPUs were at one distance, or were not looked at.
pub(super) fn sentence(results: &Results) -> Option<String> {
    Some(format!("{} {}", moved(results)?, of_figures(results)))
}

/// How the shares of the distances are weighted, and of how many moves they are; `None` if there was one distance.
pub(super) fn weighting(results: &Results) -> Option<String> {
    let distances = results.cpu_distances.as_ref().filter(|distances| distances.are_several())?;
    Some(format!(
        "Each share is of the time between looks that agree, and no more certain than {} allow.",
        plural(distances.moves(), "move")
    ))
}

/// That the CPUs were moved; `None` if they were at one distance, or were not looked at.
pub(super) fn moved(results: &Results) -> Option<String> {
    let distances = results.cpu_distances.as_ref().filter(|distances| distances.are_several())?;
    let settings = &results.run.header.settings;
    let of = |distance: &CpuDistance| {
        format!("{} for {}", line(distance), quantities::percent_of_few(distance.share))
    };
    let mut each = distances.distances.iter().map(of);
    let first = format!("{} of the time", each.next()?);
    let each: Vec<String> = [first].into_iter().chain(each).collect();
    let (last, rest) = each.split_last()?;
    let cause = if results.run.header.machine.is_virtual() {
        "The host moved these virtual CPUs: a"
    } else {
        "The distance of two CPUs changed: a"
    };
    Some(format!(
        "{cause} cache line went from CPU {} to CPU {} in {} and in {last}.",
        settings.home,
        settings.partner.unwrap_or_default(),
        rest.join(", ")
    ))
}

/// The same in brief, for what refers to the method; `None` if they were at one distance, or were not looked at.
pub(super) fn change(results: &Results) -> Option<&'static str> {
    results.cpu_distances.as_ref().filter(|distances| distances.are_several())?;
    Some(if results.run.header.machine.is_virtual() {
        "The host moved the two virtual CPUs nearer and apart"
    } else {
        "The distance of the two CPUs changed"
    })
}

/// One load from memory, which is what a line costs that no cache of both CPUs holds.
pub(super) const LOAD: Selector = Selector::only(
    "memory/memory_parallelism",
    &[("level", Name("memory")), ("pages", Name("huge")), ("chases", Number(1)), ("size", Any)],
);

/// A line that takes more than this share of a load from memory comes no nearer, and one of less than [`OF_A_CACHE`] from a cache.
const OF_MEMORY: f64 = 2.0 / 3.0;
const OF_A_CACHE: f64 = 1.0 / 3.0;

/// What the distances probably are, by what a load from memory takes; `None` if they were one, or tell nothing.
pub(super) fn meaning(results: &Results) -> Option<String> {
    let distances = results.cpu_distances.as_ref().filter(|distances| distances.are_several())?;
    let load = LOAD.found(&results.known()).filter(|load| !load.is_mixture)?.value;
    let lines = distances.distances.iter().map(|distance| distance.line_ns);
    nearness(&lines.collect::<Vec<_>>(), load, results.run.header.machine.is_virtual())
}

/// In a guest, whose topology need not be the host's, the shortest of several distances within a cache may be that within a core.
fn nearness(lines_ns: &[f64], load_ns: f64, is_guest: bool) -> Option<String> {
    let named = |is_such: &dyn Fn(f64) -> bool| -> Option<String> {
        let such = lines_ns.iter().filter(|line| is_such(**line / load_ns));
        let named: Vec<String> = such.map(|line| quantities::value(Unit::Nanoseconds, *line)).collect();
        (!named.is_empty()).then(|| named.join(" or "))
    };
    let far = named(&|share| share > OF_MEMORY)?;
    let near = named(&|share| share < OF_A_CACHE)?;
    let mut within: Vec<f64> = lines_ns.iter().copied().filter(|line| line / load_ns < OF_A_CACHE).collect();
    sorting::numbers(&mut within);
    let in_a_core = match within.as_slice() {
        [shortest, _, ..] if is_guest => format!(
            "; at {} they may be two hardware threads of one core, or two cores nearer each other",
            quantities::value(Unit::Nanoseconds, *shortest)
        ),
        _ => String::new(),
    };
    let load = quantities::value(Unit::Nanoseconds, load_ns);
    Some(format!(
        "A load that no cache answers takes {load}: while a line takes {near} the two CPUs probably share a cache, while it takes {far} probably none{in_a_core}."
    ))
}

/// A line that takes this many times what it takes at the shortest distance is in no cache of both CPUs, where no load from memory is known:
/// the threads of a core are nearer than its neighbours by a factor of two.
const BEYOND_ANY_CACHE: f64 = 3.0;

/// That the run's two CPUs, which are said to share a cache, did not at all times; `None` where nothing shows it.
pub(super) fn not_always_shared(results: &Results, cache: &Cache) -> Option<String> {
    let settings = &results.run.header.settings;
    let (one, other) = (settings.home, settings.partner?);
    let is_of_both = |cpus: &CpuSet| cpus.contains(one) && cpus.contains(other);
    let distances = results.cpu_distances.as_ref().filter(|_| cache.instances.iter().any(is_of_both))?;
    let load = LOAD.found(&results.known()).filter(|load| !load.is_mixture).map(|load| load.value);
    let lines: Vec<(f64, f64)> = distances.distances.iter().map(|at| (at.line_ns, at.share)).collect();
    beyond_a_cache(&lines, load).map(|apart| format!("; {apart}"))
}

/// What a line takes, and in what share of the time, while the CPUs share no cache: of at least two distances.
fn beyond_a_cache(lines: &[(f64, f64)], load_ns: Option<f64>) -> Option<String> {
    let shortest = lines.iter().map(|(line, _)| *line).reduce(f64::min)?;
    let is_near = |line: f64| load_ns.is_none_or(|load| line / load > OF_MEMORY);
    let is_beyond = |line: f64| line > BEYOND_ANY_CACHE * shortest && is_near(line);
    let beyond = || lines.iter().filter(|(line, _)| is_beyond(*line));
    let least = beyond().map(|(line, _)| *line).reduce(f64::min)?;
    let share: f64 = beyond().map(|(_, share)| *share).sum();
    let more = if beyond().count() > 1 { " or more" } else { "" };
    Some(format!(
        "in this run not at all times: a line took {}{more} between them for {} of the time, and at least {}",
        quantities::value(Unit::Nanoseconds, least),
        quantities::percent_of_few(share),
        quantities::value(Unit::Nanoseconds, shortest)
    ))
}

/// The experiment that asks what the two CPUs share, which another distance may answer otherwise.
const WHAT_CPUS_SHARE: &str = "cpu/shared_core";

/// For which distances an experiment that asks what the CPUs share has no value; `None` for another, and where it has one of each.
pub(super) fn unanswered(results: &Results, experiment: &str) -> Option<String> {
    let distances = results.cpu_distances.as_ref().filter(|distances| distances.are_several())?;
    if experiment != WHAT_CPUS_SHARE {
        return None;
    }
    let mine = results.points.iter().filter(|point| point.experiment == experiment);
    let answered: Vec<f64> =
        mine.filter_map(|point| point.cpu_distance.as_ref()).flat_map(PointDistance::lines_ns).collect();
    open(&distances.distances, &answered)
}

/// Of distances those of which no value is.
fn open(distances: &[CpuDistance], answered: &[f64]) -> Option<String> {
    let is_open =
        |distance: &&CpuDistance| answered.iter().all(|line_ns| line_ns.total_cmp(&distance.line_ns).is_ne());
    let open: Vec<String> = distances.iter().filter(is_open).map(line).collect();
    (!answered.is_empty() && !open.is_empty()).then(|| {
        format!("Not answered for the time in which a cache line takes {} between them: too few trials were made then.", open.join(" or "))
    })
}

/// How many figures are of one distance, and how many of all.
fn of_figures(results: &Results) -> String {
    let divided = results.points.iter().filter(|point| of_several(point).is_some()).count();
    let is_predicted = |point: &PointResult| point.predicted_at_other_distance().is_some();
    let there = if results.points.iter().any(is_predicted) {
        " Where a value at another distance has a prediction, it is made at the end of the run from the figures at that distance."
    } else {
        ""
    };
    format!(
        "{} of work on both {} of the trials at one of them.{there}",
        plural(divided, "figure"),
        if divided == 1 { "is" } else { "are" }
    )
}

/// The time that a line takes at a distance.
pub(super) fn line(distance: &CpuDistance) -> String {
    quantities::value(Unit::Nanoseconds, distance.line_ns)
}

/// The distance of a point's figure, of a run that had several.
fn of_several(point: &PointResult) -> Option<&PointDistance> {
    point.cpu_distance.as_ref().filter(|distance| distance.of_several)
}

/// The name of the distance at which a point's figure was measured; `None` for other work, and if there was one distance.
pub(super) fn name(point: &PointResult) -> Option<String> {
    of_several(point).map(|distance| of(&distance.at))
}

/// The time of a line at that distance.
pub(super) fn of_figure(point: &PointResult) -> Option<String> {
    of_several(point).map(|distance| line(&distance.at))
}

/// The name of a distance: `CPUs 32.7 ns apart`.
pub(super) fn of(distance: &CpuDistance) -> String {
    format!("CPUs {} apart", line(distance))
}

/// The name of a value at another distance, which few trials may have: `CPUs 172 ns apart, 1 trial`.
pub(super) fn of_another(distance: &CpuDistance, estimate: &Estimate) -> String {
    format!("{}, {}", of(distance), plural(estimate.trials, "trial"))
}

/// The meaning of the names below a table; empty if none of these points has one.
pub(super) fn legend<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    let any = points.into_iter().any(|point| name(point).is_some());
    if any { format!(" {LEGEND}") } else { String::new() }
}

/// The meaning of the names.
pub(super) const LEGEND: &str = "CPUs so many ns apart: of the trials in which a cache line took so long between the CPUs, which the host moved.";

/// The distance of which sentences about work on both CPUs speak; `None` if no figure is of one of several.
pub(super) fn of_sentences(results: &Results) -> Option<String> {
    let mut divided = results.points.iter().filter_map(of_several);
    let usual = divided.find(|distance| distance.at.is_usual)?;
    let is_of_all = |point: &PointResult| {
        is_of_both(&results.run.header, &point.point)
            && point.estimate().is_some()
            && point.cpu_distance.is_none()
    };
    let of_all = if results.points.iter().any(is_of_all) {
        ", and a figure that names no distance of all its trials, because too few were at one"
    } else {
        ""
    };
    Some(format!(
        "What is said of work on both CPUs is of a line's {}, unless it names another time{of_all}.",
        line(&usual.at)
    ))
}

/// The note beside the figure of a point; `None` for other work, and if there was one distance.
pub(super) fn note(point: &PointResult) -> Option<String> {
    let distance = of_several(point)?;
    let measure = Measure::of(point.unit, point.estimate().map_or(0.0, |estimate| estimate.value));
    let elsewhere = match &distance.other {
        Some((at, estimate, trials)) => {
            format!(
                " At {}: {}, {}.",
                line(at),
                words::with_interval(measure, estimate),
                plural(*trials, "trial")
            )
        }
        None => String::new(),
    };
    Some(format!(
        "Of the {} while a cache line took {} between the two CPUs.{elsewhere}",
        plural(distance.trials, "trial"),
        line(&distance.at)
    ))
}

#[cfg(test)]
mod tests {
    use super::{beyond_a_cache, nearness, open};
    use fathom_engine::results::CpuDistance;

    #[test]
    fn a_share_of_the_time_has_two_digits() {
        assert_eq!(
            [0.864, 0.1298, 0.0546, 0.00546].map(super::quantities::percent_of_few),
            ["86 %", "13 %", "5.5 %", "0.55 %"]
        );
    }

    #[test]
    fn a_cache_said_to_be_shared_is_not_while_a_line_takes_as_long_as_memory() {
        let lines = [(32.9, 0.83), (164.0, 0.158), (16.6, 0.012)];
        let said = beyond_a_cache(&lines, Some(161.0)).expect("a line beyond any cache");
        assert!(
            said.contains("took 164 ns between them for 16 % of the time, and at least 16.6 ns"),
            "{said}"
        );
        assert!(beyond_a_cache(&lines, None).is_some(), "without a load from memory");
        assert_eq!(beyond_a_cache(&[(32.9, 0.9), (16.6, 0.1)], None), None, "threads of a core");
        assert_eq!(beyond_a_cache(&[(164.0, 1.0)], Some(161.0)), None, "one distance, whatever it is");
        assert_eq!(beyond_a_cache(&lines, Some(400.0)), None, "as near as a slow cache");
    }

    #[test]
    fn what_the_cpus_share_is_not_answered_for_a_distance_without_a_value() {
        let at = |line_ns| CpuDistance { line_ns, share: 0.3, looks: 9, is_usual: false };
        let all = [at(31.9), at(167.0), at(16.1)];
        let said = open(&all, &[31.9, 167.0]).expect("one is open");
        assert!(said.contains("a cache line takes 16.1 ns between them"), "{said}");
        assert_eq!(open(&all[..2], &[31.9, 167.0]), None);
        assert_eq!(open(&all, &[]), None, "nothing is of a distance");
    }

    #[test]
    fn a_line_that_takes_as_long_as_a_load_from_memory_is_in_no_common_cache() {
        let text = nearness(&[33.5, 167.0, 16.4], 166.0, false).expect("both kinds");
        assert!(
            text.contains("while a line takes 33.5 ns or 16.4 ns the two CPUs probably share a cache"),
            "{text}"
        );
        assert!(text.ends_with("while it takes 167 ns probably none."), "{text}");
        assert_eq!(nearness(&[33.5, 80.0], 166.0, true), None, "80 ns may be either");
        let of_a_guest = |lines: &[f64]| nearness(lines, 166.0, true).expect("both kinds");
        assert!(
            of_a_guest(&[33.5, 167.0, 16.4])
                .contains("none; at 16.4 ns they may be two hardware threads of one core"),
            "a guest is not told which of its CPUs are threads of one core"
        );
        assert!(!of_a_guest(&[33.5, 167.0]).contains("threads"), "one distance within a cache");
    }
}
