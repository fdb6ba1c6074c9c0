//! Sentences and names of the distance between the two CPUs of work on both, where a host changed it.

use super::cpu_positions;
pub(super) use super::cpu_positions::line;
use super::words::{self, plural};
use fathom_core::experiment::At::{Any, Memory, Name};
use fathom_core::experiment::{Scale, Selector};
use fathom_core::machine::{Cache, CpuSet};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics::Estimate;
use fathom_engine::results::{
    Accuracy, CpuDistance, CpuPosition, PointDistance, PointResult, Results, StreamSlowing, WITHDRAWN,
    is_of_both,
};

/// The sentences about the run; `None` if its CPUs were at one distance, or were not looked at.
pub(super) fn sentence(results: &Results) -> Option<String> {
    let figures = of_figures(results).map(|text| format!(" {text}"));
    Some(cpu_positions::moved(results)? + &figures.unwrap_or_default())
}

/// One load from memory, which is what a line costs that no cache of both CPUs holds: the main figure.
const LOAD: Selector = Selector::only(
    "memory/load_latency",
    &[("order", Name("random cycle")), ("pages", Any), ("size", Memory)],
);

/// What such a load takes, nanoseconds, and of how large an array it is; `None` if it was not measured, or has several levels.
fn load(results: &Results) -> Option<(f64, String)> {
    let known = results.known();
    let (point, load) = *LOAD.all(&known).first()?;
    let size = words::number(Scale::Bytes, point.number_of("size")?);
    (!load.is_mixture).then_some((load.value, size))
}

/// A line that takes more than this share of a load from memory comes no nearer, and one of less than [`OF_A_CACHE`] from a cache.
const OF_MEMORY: f64 = 2.0 / 3.0;
const OF_A_CACHE: f64 = 1.0 / 3.0;

/// What the distances probably are, by what a load from memory takes; `None` if they were one, or tell nothing.
pub(super) fn meaning(results: &Results) -> Option<String> {
    let (load_ns, size) = load(results)?;
    let lines: Vec<f64> = results.cpu_positions.iter().map(|position| position.at.line_ns).collect();
    let threads = match cpu_positions::line_of_one_core(results) {
        Some(_) => OneCore::Shown,
        None if results.run.header.machine.is_virtual() && !is_denied(&results.cpu_positions) => {
            OneCore::Open(seen_slowed(&results.cpu_positions))
        }
        None => OneCore::Not,
    };
    nearness(&lines, (load_ns, &size), &threads)
}

/// Whether the two CPUs are two threads of one core at one of their distances.
enum OneCore {
    /// Probably: then that is said where the distances are.
    Shown,
    /// In a guest, whose topology need not be the host's, they may be at the shortest of several within a cache; with what speaks for it.
    Open(Option<String>),
    /// They are not.
    Not,
}

/// Whether the work at the shortest distance is slowed no more than elsewhere, in as many stays as would show it.
fn is_denied(positions: &[CpuPosition]) -> bool {
    let shortest = positions.iter().min_by(|one, other| one.at.line_ns.total_cmp(&other.at.line_ns));
    let slowing = shortest.and_then(|position| position.slowing);
    slowing.is_some_and(|slowing| !slowing.is_of_one_core() && slowing.is_of_several_stays())
}

/// That the work at the shortest distance is mostly slowed, though in too few stays to tell that from a neighbour; `None` if it is not.
fn seen_slowed(positions: &[CpuPosition]) -> Option<String> {
    let shortest = positions.iter().min_by(|one, other| one.at.line_ns.total_cmp(&other.at.line_ns))?;
    let StreamSlowing { trials: [slowed, read], elsewhere: [elsewhere, all], .. } = shortest.slowing?;
    (2 * slowed > read && elsewhere * read < slowed * all).then(|| {
        format!(
            " (a stream of instructions beside the work was slowed in {} of {} then, and in {} of {} at the other positions; they were there so \
             seldom that a neighbour may have come just then)",
            quantities::count(slowed),
            plural(read, "trial"),
            quantities::count(elsewhere),
            quantities::count(all)
        )
    })
}

fn nearness(lines_ns: &[f64], (load_ns, size): (f64, &str), threads: &OneCore) -> Option<String> {
    let named = |is_such: &dyn Fn(f64) -> bool| -> Option<String> {
        let such = lines_ns.iter().filter(|line| is_such(**line / load_ns));
        let named: Vec<String> = such.map(|line| quantities::value(Unit::Nanoseconds, *line)).collect();
        (!named.is_empty()).then(|| named.join(" or "))
    };
    let far = named(&|share| share > OF_MEMORY)?;
    let near = named(&|share| share < OF_A_CACHE)?;
    let mut within: Vec<f64> = lines_ns.iter().copied().filter(|line| line / load_ns < OF_A_CACHE).collect();
    sorting::numbers(&mut within);
    let in_a_core = match (threads, within.as_slice()) {
        (OneCore::Open(evidence), [shortest, _, ..]) => format!(
            "; at {} they may be two hardware threads of one core{}, or two cores nearer each other",
            quantities::value(Unit::Nanoseconds, *shortest),
            evidence.as_deref().unwrap_or_default()
        ),
        _ => String::new(),
    };
    let load = quantities::value(Unit::Nanoseconds, load_ns);
    Some(format!(
        "Compared with a load from {size} of memory, which no cache answers and which takes {load}, a line that takes {near} probably passes \
         through a cache that the two CPUs share, and one that takes {far} through memory or a link between caches{in_a_core}."
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
    let positions = results.cpu_positions.iter().filter(|_| cache.instances.iter().any(is_of_both));
    let load = load(results).map(|(load_ns, _)| load_ns);
    let lines: Vec<(f64, f64)> =
        positions.clone().map(|position| (position.at.line_ns, position.at.share)).collect();
    let (least_ns, apart) = beyond_a_cache(&lines, load)?;
    let nearer = positions.filter(|position| position.at.line_ns < least_ns);
    Some(format!("; {apart} ({})", cpu_positions::listed(results, nearer)))
}

/// What a line takes, and in what share of the time, while the CPUs share no cache: of at least two distances.
fn beyond_a_cache(lines: &[(f64, f64)], load_ns: Option<f64>) -> Option<(f64, String)> {
    let shortest = lines.iter().map(|(line, _)| *line).reduce(f64::min)?;
    let is_near = |line: f64| load_ns.is_none_or(|load| line / load > OF_MEMORY);
    let is_beyond = |line: f64| line > BEYOND_ANY_CACHE * shortest && is_near(line);
    let beyond = || lines.iter().filter(|(line, _)| is_beyond(*line));
    let least = beyond().map(|(line, _)| *line).reduce(f64::min)?;
    let share: f64 = beyond().map(|(_, share)| *share).sum();
    let more = if beyond().count() > 1 { " or more" } else { "" };
    let apart = format!(
        "in this run not at all times: of {} positions of these CPUs a line took {}{more} between them at {}, for {} of the time, and less \
         otherwise",
        lines.len(),
        quantities::value(Unit::Nanoseconds, least),
        if beyond().count() == 1 { "one" } else { "some" },
        quantities::percent_of_few(share),
    );
    Some((least, apart))
}

/// How many figures are of one distance; `None` if none.
fn of_figures(results: &Results) -> Option<String> {
    let divided = results.points.iter().filter(|point| of_several(point).is_some()).count();
    let is_predicted = |point: &PointResult| point.predicted_at_other_distance().is_some();
    let there = if results.points.iter().any(is_predicted) {
        " Where a value at another distance has a prediction, it is made at the end of the run from the figures at that distance."
    } else {
        ""
    };
    let withdrawn = withdrawn(&results.points.iter().collect::<Vec<_>>()).map(|text| format!(" {text}"));
    let withdrawn = withdrawn.unwrap_or_default();
    (divided > 0).then(|| {
        format!(
            "{} of work on both {} of the trials at one of them.{there}{withdrawn}",
            plural(divided, "figure"),
            if divided == 1 { "is" } else { "are" }
        )
    })
}

/// How many of these points without a prediction have none because their inputs were measured at another distance; `None` if none.
pub(super) fn withdrawn(points: &[&PointResult]) -> Option<String> {
    let is_one = |point: &&PointResult| point.unpredicted.as_deref() == Some(WITHDRAWN);
    let of = |points: &mut dyn Iterator<Item = &PointResult>| Accuracy::unpredicted(points);
    let (number, all) = (of(&mut points.iter().copied().filter(is_one)), of(&mut points.iter().copied()));
    (number > 0).then(|| of_unpredicted(number, all))
}

/// That so many of all values without a prediction, which a table counts, have none for this reason.
fn of_unpredicted(number: usize, all: usize) -> String {
    let all = plural(all, "value");
    let number = quantities::count(number);
    format!("Of {all} without a prediction {number} had one: {WITHDRAWN}.")
}

/// The distance of a point's figure, of a run that had several.
fn of_several(point: &PointResult) -> Option<&PointDistance> {
    point.cpu_distance.as_ref().filter(|distance| distance.of_several)
}

/// The name of the distance at which a point's figure was measured; `None` for other work, and if there was one distance.
pub(super) fn name(point: &PointResult) -> Option<String> {
    of_several(point).map(|distance| of(&distance.at))
}

/// The same in brackets behind the name of an operation, in sentences, which speak of the distance of most of the time: `None` there.
pub(super) fn unless_usual(point: &PointResult) -> Option<String> {
    of_several(point)
        .filter(|distance| !distance.at.is_usual)
        .map(|distance| format!(" ({})", of(&distance.at)))
}

/// The time of a line at the distance of a point's figure, if that is not the one of most of the time.
pub(super) fn line_unless_usual(point: &PointResult) -> Option<String> {
    of_several(point).filter(|distance| !distance.at.is_usual).map(|distance| line(&distance.at))
}

/// At which distance a point's figure was measured and for how much of the time the CPUs were there, with its value at most times, if there
/// are trials; `None` of a figure at the distance of most of the time.
pub(super) fn seldom(point: &PointResult) -> Option<String> {
    let own = of_several(point).filter(|distance| !distance.at.is_usual)?.at;
    let usual = point.at_other_distance().filter(|(at, _)| at.is_usual);
    let usual = usual.map(|(at, estimate)| {
        let value = quantities::estimate(point.unit, estimate);
        format!("; at {}, as at most times, {value} in {}", line(at), plural(estimate.trials, "trial"))
    });
    Some(format!(
        "{}, as for {} of the time{}",
        of(&own),
        quantities::percent_of_few(own.share),
        usual.unwrap_or_default()
    ))
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

/// The distance that most of these points of work on both CPUs are of; of as many that of most of the time, and `None` if none is of one of
/// several.
fn of_most<'run>(points: &[&'run PointResult]) -> Option<&'run CpuDistance> {
    let all = || points.iter().filter_map(|point| of_several(point)).map(|distance| &distance.at);
    let number = |at: &CpuDistance| all().filter(|other| is_at(other, at)).count();
    all().max_by_key(|at| (number(at), at.is_usual))
}

fn is_at(one: &CpuDistance, other: &CpuDistance) -> bool {
    one.line_ns.total_cmp(&other.line_ns).is_eq()
}

/// Whether a point of a figure is of another distance than most of its points.
pub(super) fn is_apart_from_most(point: &PointResult, points: &[&PointResult]) -> bool {
    of_several(point).zip(of_most(points)).is_some_and(|(distance, most)| !is_at(&distance.at, most))
}

/// How many names a caption has room for.
const NAMED: usize = 3;

/// What a caption says of the distance of its marks, of which those of another than most are crosses; empty where all are of that of most of
/// the time.
pub(super) fn of_picture(points: &[&PointResult]) -> String {
    let Some(most) = of_most(points) else { return String::new() };
    let crosses: Vec<&PointResult> =
        points.iter().copied().filter(|point| is_apart_from_most(point, points)).collect();
    if crosses.is_empty() {
        return if most.is_usual { String::new() } else { format!(" Work on both CPUs: {}.", of(most)) };
    }
    let shared = words::shared_parameters(points);
    let mut others: Vec<&CpuDistance> = vec![];
    for distance in crosses.iter().filter_map(|point| of_several(point)) {
        if !others.iter().any(|other| is_at(other, &distance.at)) {
            others.push(&distance.at);
        }
    }
    let at = |distance: &&CpuDistance| {
        let mine =
            crosses.iter().filter(|point| of_several(point).is_some_and(|own| is_at(&own.at, distance)));
        let names: Vec<String> = mine.map(|point| words::differing_label(point, &shared)).collect();
        let names = if names.len() <= NAMED { names.join("; ") } else { plural(names.len(), "mark") };
        format!("{} ({names})", of(distance))
    };
    let others: Vec<String> = others.iter().map(at).collect();
    format!(" Crosses: {}. Other marks of one distance: {}.", others.join(", "), of(most))
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
    use super::{CpuDistance, CpuPosition, StreamSlowing, seen_slowed};
    use super::{OneCore, beyond_a_cache, nearness, of_unpredicted};

    /// "4 values were not predicted" stood beside a table with 16 without a prediction.
    #[test]
    fn values_not_predicted_for_one_reason_are_counted_of_all_that_have_none() {
        let said = of_unpredicted(4, 16);
        assert!(
            said.starts_with("Of 16 values without a prediction 4 had one: the prediction in the run file"),
            "{said}"
        );
        assert!(of_unpredicted(1, 1).starts_with("Of 1 value without"));
    }

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
        let (least_ns, said) = beyond_a_cache(&lines, Some(161.0)).expect("a line beyond any cache");
        assert!(
            said.contains(
                "of 3 positions of these CPUs a line took 164 ns between them at one, for 16 % of the time"
            ),
            "{said}"
        );
        assert!((least_ns - 164.0).abs() < 1e-9);
        assert!(beyond_a_cache(&lines, None).is_some(), "without a load from memory");
        assert_eq!(beyond_a_cache(&[(32.9, 0.9), (16.6, 0.1)], None), None, "threads of a core");
        assert_eq!(beyond_a_cache(&[(164.0, 1.0)], Some(161.0)), None, "one distance, whatever it is");
        assert_eq!(beyond_a_cache(&lines, Some(400.0)), None, "as near as a slow cache");
    }

    #[test]
    fn a_line_that_takes_as_long_as_a_load_from_memory_is_in_no_common_cache() {
        let text = nearness(&[33.5, 167.0, 16.4], (166.0, "1 GiB"), &OneCore::Not).expect("both kinds");
        assert!(
            text.contains(
                "a line that takes 33.5 ns or 16.4 ns probably passes through a cache that the two CPUs share"
            ),
            "{text}"
        );
        assert!(text.starts_with(
            "Compared with a load from 1 GiB of memory, which no cache answers and which takes 166 ns"
        ));
        assert!(
            text.ends_with("and one that takes 167 ns through memory or a link between caches."),
            "{text}"
        );
        assert_eq!(
            nearness(&[33.5, 80.0], (166.0, "1 GiB"), &OneCore::Open(None)),
            None,
            "80 ns may be either"
        );
        let of_a_guest =
            |lines: &[f64]| nearness(lines, (166.0, "1 GiB"), &OneCore::Open(None)).expect("both kinds");
        assert!(
            of_a_guest(&[33.5, 167.0, 16.4])
                .contains("caches; at 16.4 ns they may be two hardware threads of one core"),
            "a guest is not told which of its CPUs are threads of one core"
        );
        let position = |line_ns, slowed, elsewhere| CpuPosition {
            at: CpuDistance { line_ns, share: 0.01, looks: 20, is_usual: false },
            is_seldom: false,
            trials: 58,
            left_out: 0,
            slowing: Some(StreamSlowing {
                trials: [slowed, 58],
                stays: [1, 1],
                elsewhere: [elsewhere, 1_566],
                times: 1.4,
            }),
            load: None,
        };
        let text = seen_slowed(&[position(33.5, 9, 40), position(16.0, 36, 13)]).expect("most are slowed");
        assert!(
            text.contains("in 36 of 58 trials then, and in 13 of 1\u{202f}566 at the other positions"),
            "{text}"
        );
        assert_eq!(seen_slowed(&[position(16.0, 20, 13)]), None, "the fewer are slowed");
        assert_eq!(seen_slowed(&[position(16.0, 36, 1_500)]), None, "as often as elsewhere");
        assert!(!of_a_guest(&[33.5, 167.0]).contains("threads"), "one distance within a cache");
        let shown = nearness(&[33.5, 167.0, 16.4], (166.0, "1 GiB"), &OneCore::Shown).expect("both kinds");
        assert!(!shown.contains("threads"), "it is said where the distances are: {shown}");
    }
}
