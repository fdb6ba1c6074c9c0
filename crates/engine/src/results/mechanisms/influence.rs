//! How much of a figure a mechanism of this run accounts for, where that can be computed: without it the mechanism's size is no reason.
//! What makes figures better (read-ahead) does so on other machines as well, and is no reason for a difference from them.

use super::{Mechanism, MechanismKind, common_limit, device_limit, kernel_entry, process, read_around};
use super::{path_of_misses, shared_path, wake_up};
use crate::results::accuracy::CLOSE;
use crate::results::influence_part::InfluencePart;
use crate::results::{PointResult, vm_exit};
use fathom_core::experiment::{Dimension, Found, Known, Selector, Statement, TermEvent, statement};
use fathom_core::quantity::Unit;

/// A part of a whole, with the words for both.
struct Portion {
    /// What takes it, with the verb.
    takes: String,
    part: Found,
    share: Found,
    /// The whole: "it", or of a rate what it were without.
    of: Statement,
}

/// A mechanism that makes figures worse than they were without it, and how much of one it takes.
struct Influence {
    mechanism: &'static str,
    portion: fn(&WholeFigure, &Known) -> Option<Portion>,
}

/// A point and its figure.
struct WholeFigure<'run> {
    point: &'run PointResult,
    whole: Found,
}

const INFLUENCES: [Influence; 7] = [
    Influence { mechanism: kernel_entry::RULE.name, portion: entry },
    Influence { mechanism: process::RULE.name, portion: own_address_space },
    Influence { mechanism: wake_up::RULE.name, portion: wake_ups },
    Influence { mechanism: shared_path::RULE.name, portion: path },
    Influence { mechanism: common_limit::RULE.name, portion: limit },
    Influence { mechanism: device_limit::RULE.name, portion: behind_others },
    Influence { mechanism: read_around::RULE.name, portion: around },
];

/// Any figure may have exits in it, so that the others come first.
const EXITS: Influence = Influence { mechanism: super::guest_exit::RULE.name, portion: exits };

/// A lesser part does not make a figure worse by a factor of [`CLOSE`], from which on it is.
const LEAST: f64 = 1.0 - 1.0 / CLOSE;

/// Marks the points of which a mechanism of the run accounts for a part that counts.
pub fn mark(points: &mut [PointResult], known: &Known, mechanisms: &[Mechanism]) {
    let is_at_work = |influence: &&Influence| {
        let is_it = |one: &Mechanism| one.name == influence.mechanism && one.kind == MechanismKind::Effect;
        mechanisms.iter().any(is_it)
    };
    let at_work: Vec<&Influence> = INFLUENCES.iter().chain([&EXITS]).filter(is_at_work).collect();
    let predicted = predictions(points, known);
    for point in points.iter_mut().filter(|point| point.evidence_holds()) {
        point.influence = at_work.iter().find_map(|influence| part_of(point, influence, (known, &predicted)));
    }
    path_of_misses::mark(points, known, mechanisms);
}

/// What was predicted of every point before anything was measured, as if it had been measured: a prediction that takes figures of the run
/// has measured parts in it.
fn predictions<'run>(points: &[PointResult], known: &Known<'run>) -> Known<'run> {
    let mut predicted = Known::new(known.machine, None);
    for point in points {
        if let Some(prediction) =
            point.prediction.as_ref().filter(|prediction| !prediction.has_figures_of_the_run())
        {
            let total = Found::exact(prediction.total(), Dimension::Of(point.unit));
            predicted.learn(&point.experiment, &point.point, total);
        }
    }
    predicted
}

fn part_of(
    point: &PointResult,
    influence: &Influence,
    (known, predicted): (&Known, &Known),
) -> Option<InfluencePart> {
    let whole = point.figure().filter(|whole| whole.is_of_one_state() && !whole.is_mixture)?;
    let figure = WholeFigure { point, whole };
    let Portion { takes, part, share, of } = (influence.portion)(&figure, known)?;
    // Of one trial in another state there is no interval, and a cause has no share without one.
    let is_one =
        share.ends().is_some() && part.is_positive() && share.value < 1.0 && share.is_of_one_core_state();
    (is_one && share.value >= LEAST).then(|| InfluencePart {
        mechanism: influence.mechanism,
        statement: statement!(
            "{takes} {part} of {of}, {share}",
            takes = &takes,
            part = part.named(&takes),
            of,
            share = share.named(&format!("{takes}, share"))
        ),
        share,
        of_difference: of_difference(&figure, influence, (&takes, part), predicted),
    })
}

/// What a part is beyond what was predicted of it, as a share of what the whole is beyond its prediction: the rest of the part was
/// predicted, and is no cause. Only of a time, whose parts add up.
fn of_difference(
    figure: &WholeFigure,
    influence: &Influence,
    (takes, part): (&str, Found),
    predicted: &Known,
) -> Option<Statement> {
    let is_time = figure.point.unit == Unit::Nanoseconds;
    let prediction = figure.point.prediction.as_ref()?;
    (is_time && !prediction.has_figures_of_the_run()).then_some(())?;
    let whole = Found::exact(prediction.total(), figure.whole.dimension);
    let expected = (influence.portion)(&WholeFigure { whole, ..*figure }, predicted)?.part;
    let share = part.minus(expected).share_of(figure.whole.beyond(whole)?);
    let (low, high) = share.ends()?;
    (low > 0.0 && low < 1.0 && high.is_finite() && share.value >= LEAST).then(|| {
        statement!(
            "{takes} {part}, {expected} predicted: {share} of the difference",
            takes,
            part = part.named(takes),
            expected = expected.named(&format!("{takes}, predicted")),
            share = share.named(&format!("{takes}, share of what was not predicted"))
        )
    })
}

impl WholeFigure<'_> {
    fn is_of(&self, selector: &Selector, known: &Known) -> bool {
        selector.selects(&self.point.experiment, &self.point.point, known.machine)
    }

    /// What was measured by itself.
    fn has(&self, takes: impl Into<String>, part: Found) -> Portion {
        Portion { takes: takes.into(), part, share: part.share_of(self.whole), of: "it".into() }
    }

    /// What the same takes more than without.
    fn without(&self, takes: &str, less: Found) -> Option<Portion> {
        // By the rest, whose interval cannot reach above the whole.
        let share = less.share_of(self.whole).rest();
        Some(Portion { takes: takes.to_owned(), part: self.whole.beyond(less)?, share, of: "it".into() })
    }

    /// What a rate is less than it were without.
    fn below(&self, takes: &str, possible: Found, why: Statement) -> Option<Portion> {
        let possible_rate = possible.named(&format!("{takes}, possible without"));
        Some(Portion {
            takes: takes.to_owned(),
            part: possible.beyond(self.whole)?,
            share: self.whole.share_of(possible).rest(),
            of: statement!("the {possible_rate} that {why}", possible_rate, why),
        })
    }
}

fn entry(figure: &WholeFigure, known: &Known) -> Option<Portion> {
    let is_short =
        [kernel_entry::GETPPID, kernel_entry::NOTHING].iter().any(|call| figure.is_of(call, known));
    is_short.then_some(())?;
    Some(figure.has("entering the kernel and leaving it takes", kernel_entry::ALONE.found(known)?))
}

fn own_address_space(figure: &WholeFigure, known: &Known) -> Option<Portion> {
    figure.is_of(&process::FORK, known).then_some(())?;
    figure.without("an address space of its own takes", process::VFORK.found(known)?)
}

fn wake_ups(figure: &WholeFigure, known: &Known) -> Option<Portion> {
    let (times, more) = wake_up::in_operation(&figure.point.experiment, &figure.point.point, known)?;
    let takes = if times > 1.0 { format!("{times} wake-ups of an idle CPU take") } else { ONE.to_owned() };
    Some(figure.has(takes, more))
}

const ONE: &str = "waking an idle CPU takes";

fn path(figure: &WholeFigure, known: &Known) -> Option<Portion> {
    let is_of_two = figure.point.point.number_of("threads") == Some(2);
    (is_of_two && figure.is_of(&shared_path::TOGETHER, known)).then_some(())?;
    let [near, far] = figure.point.near_and_far()?;
    let is_near = figure.point.cpu_distance.as_ref().is_some_and(|distance| distance.at == *near.0);
    is_near.then_some(())?;
    let possible = Found { core: figure.whole.core, ..Found::of(far.1, figure.point.unit) };
    figure.below(
        "the path to memory that CPUs near each other share takes",
        possible,
        "the two move farther apart".into(),
    )
}

fn limit(figure: &WholeFigure, known: &Known) -> Option<Portion> {
    let threads = figure.point.point.number_of("threads").filter(|many| *many > 1)?;
    figure.is_of(&common_limit::TOGETHER, known).then_some(())?;
    let one = common_limit::BesideOne::of(known)?.one;
    figure.below(
        "a limit that the cores share takes",
        one.scaled(threads as f64),
        statement!("{threads} would read, each as fast as one alone"),
    )
}

fn behind_others(figure: &WholeFigure, known: &Known) -> Option<Portion> {
    let readers = figure.point.point.number_of("processes")?;
    figure.is_of(&device_limit::READERS, known).then_some(())?;
    let (alone, knee) = device_limit::knee(known)?;
    (readers as f64 > knee.value).then_some(())?;
    figure.without("waiting for the device behind the others takes", alone)
}

fn around(figure: &WholeFigure, known: &Known) -> Option<Portion> {
    figure.is_of(&read_around::RANDOM, known).then_some(())?;
    figure.without("reading the pages around a fault takes", read_around::WITHOUT.found(known)?)
}

/// The exits that a prediction counts, at what one takes in this run; not of the readings that it was measured with.
fn exits(figure: &WholeFigure, known: &Known) -> Option<Portion> {
    let is_time =
        figure.point.unit == Unit::Nanoseconds && figure.point.experiment != vm_exit::TWO.experiment;
    let prediction = figure.point.prediction.as_ref().filter(|_| is_time)?;
    let of_exits = prediction.terms.iter().filter(|term| term.event == Some(TermEvent::VmExit));
    let times: f64 = of_exits.map(|term| term.times).sum();
    let whole_times = (times >= 1.0 && times.fract() == 0.0).then_some(times)?;
    let takes = if whole_times > 1.0 {
        format!("the {whole_times} exits to the hypervisor that its prediction counts would take")
    } else {
        "the exit to the hypervisor that its prediction counts would take".to_owned()
    };
    Some(figure.has(takes, vm_exit::exit(known)?.scaled(times)))
}

impl Mechanism {
    /// Whether its headline is what an event takes, and says of no figure how much of it that is.
    pub fn is_size_of_an_event(&self) -> bool {
        [super::guest_exit::RULE.name, wake_up::RULE.name].contains(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Outcome;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::{Basis, Placement, Prediction};
    use fathom_core::machine::Fact;
    use fathom_core::statistics::{Estimate, Interval, Measured};

    fn point(of: &Selector, value: f64) -> PointResult {
        let interval = Some(Interval { low: 0.99 * value, high: 1.01 * value });
        let estimate =
            Estimate { value, interval, level: 0.95, trials: 9, observations: 9, min: None, max: None };
        PointResult { point: of.point(&[]), ..planted::result(of.experiment, estimate, None) }
    }

    fn mechanism(name: &'static str) -> Mechanism {
        let (headline, because) = (Statement::default(), Statement::default());
        Mechanism {
            name,
            condition: "",
            headline,
            because,
            kind: MechanismKind::Effect,
            is_of_several: false,
        }
    }

    /// What is said of a point of which this mechanism may be a part, with these figures.
    fn said(mut point: PointResult, name: &'static str, planted: &[(&Selector, f64)]) -> Option<String> {
        let mut machine = planted::machine();
        machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "a test");
        let mut known = Known::new(&machine, None);
        for (at, value) in planted {
            at.plant(&mut known, *value);
        }
        mark(std::slice::from_mut(&mut point), &known, &[mechanism(name)]);
        point.influence.map(|part| part.statement.plain())
    }

    #[test]
    fn the_part_of_a_figure_is_told_with_its_share() {
        let planted = [(&kernel_entry::ALONE, 125.0)];
        let entry = said(point(&kernel_entry::NOTHING, 250.0), "kernel_entry", &planted);
        assert_eq!(entry.as_deref(), Some("entering the kernel and leaving it takes {125} of it, {0.5}"));
        let fork = said(point(&process::FORK, 200.0), "process_against_thread", &[(&process::VFORK, 50.0)]);
        assert_eq!(fork.as_deref(), Some("an address space of its own takes {150} of it, {0.75}"));
    }

    /// Of 250 ns, 100 predicted, 125 are the entry, 80 predicted: 45 of the 150 that are missing.
    #[test]
    fn a_part_of_a_difference_is_what_it_is_beyond_its_own_prediction() {
        let assumed = |total: f64| Basis::assumed(total, "a test");
        let predicted = |of: &Selector, value: f64, total: Basis| PointResult {
            prediction: Some(Prediction::new().software("work", 1.0, total)),
            ..point(of, value)
        };
        let parted = |entry: f64, whole: Basis| {
            let machine = planted::machine();
            let mut known = Known::new(&machine, None);
            kernel_entry::ALONE.plant(&mut known, 125.0);
            let mut points = [
                predicted(&kernel_entry::NOTHING, 250.0, whole),
                predicted(&kernel_entry::ALONE, 125.0, assumed(entry)),
            ];
            mark(&mut points, &known, &[mechanism("kernel_entry")]);
            let [point, _] = points;
            point.influence.unwrap().of_difference.map(|statement| statement.plain())
        };
        let of = |entry: f64| parted(entry, assumed(100.0));
        let part = "entering the kernel and leaving it takes {125}, {80} predicted: {0.3} of the difference";
        assert_eq!(of(80.0).as_deref(), Some(part));
        assert_eq!(of(125.0), None, "all of it was predicted");
        let taken = Basis::measured(100.0, kernel_entry::ALONE.experiment, kernel_entry::ALONE.point(&[]));
        assert_eq!(parted(80.0, taken), None, "its prediction has the measured entry in it");
        let alone =
            said(point(&kernel_entry::NOTHING, 250.0), "kernel_entry", &[(&kernel_entry::ALONE, 125.0)]);
        assert!(alone.is_some(), "a part of the whole");
    }

    #[test]
    fn a_part_is_more_than_all_of_a_lesser_figure_with_its_whole_interval() {
        let share = |low: f64| {
            let measured = Measured { value: 0.5, interval: Some(Interval { low, high: 0.52 }) };
            Found::measured(measured, Dimension::Share)
        };
        let part = |low: f64| InfluencePart {
            mechanism: "kernel_entry",
            statement: Statement::default(),
            share: share(low),
            of_difference: None,
        };
        assert!(part(0.5).is_more_than_all(0.4));
        assert!(!part(0.4).is_more_than_all(0.4));
        assert!(!part(1.1).is_more_than_all(1.0), "which is no lesser one");
    }

    #[test]
    fn a_part_that_is_small_or_cannot_be_computed_is_no_reason() {
        let of = |entry: f64, figure: f64| {
            said(point(&kernel_entry::NOTHING, figure), "kernel_entry", &[(&kernel_entry::ALONE, entry)])
        };
        assert_eq!(of(40.0, 250.0), None, "without it the figure is no better by 1.25");
        assert_eq!(of(260.0, 250.0), None, "more than all of it");
        assert_eq!(said(point(&kernel_entry::NOTHING, 250.0), "kernel_entry", &[]), None, "not measured");
        let other = [(&kernel_entry::ALONE, 125.0)];
        assert_eq!(said(point(&kernel_entry::NOTHING, 250.0), "guest_exit", &other), None, "not concluded");
        let estimate =
            Estimate { interval: None, ..*point(&kernel_entry::NOTHING, 250.0).estimate().expect("one") };
        let few = PointResult { outcome: Outcome::Value(estimate), ..point(&kernel_entry::NOTHING, 250.0) };
        assert_eq!(said(few, "kernel_entry", &other), None, "no interval");
    }

    #[test]
    fn exits_are_counted_by_the_prediction_and_sized_by_the_run() {
        let across = wake_up::HAND_OVER.at(Placement::AcrossCpus);
        let with = |times: f64, value: f64| {
            let exit = Basis::assumed(1.0, "a test");
            let prediction = Prediction::new().software("exits", times, exit).being(TermEvent::VmExit);
            PointResult { prediction: Some(prediction), ..point(&across, value) }
        };
        let exits = [(&vm_exit::TWO, 1_200.0), (&vm_exit::ONE, 700.0)];
        if cfg!(target_arch = "x86_64") {
            assert_eq!(
                said(with(2.0, 4e3), "guest_exit", &exits).as_deref(),
                Some(
                    "the 2 exits to the hypervisor that its prediction counts would take {1000} of it, {0.25}"
                )
            );
            assert_eq!(said(with(2.0, 6e3), "guest_exit", &exits), None, "a sixth");
        }
    }

    #[test]
    fn an_operation_has_its_own_number_of_wake_ups() {
        let across = |of: Selector| of.at(Placement::AcrossCpus);
        let (to, trip) = (across(wake_up::HAND_OVER), across(wake_up::TCP));
        let planted = [(&wake_up::HAND_OVER, 1e3), (&to, 4e3), (&wake_up::TCP, 4e3), (&trip, 10e3)];
        let told = said(point(&trip, 10e3), "idle_wake_up", &planted);
        assert_eq!(told.as_deref(), Some("2 wake-ups of an idle CPU take {6000} of it, {0.6}"));
        let planted = [(&wake_up::HAND_OVER, 1e3), (&to, 4e3), (&wake_up::TCP, 7e3), (&trip, 10e3)];
        assert_eq!(said(point(&trip, 10e3), "idle_wake_up", &planted), None, "half of a wake-up each");
        let told = said(point(&to, 4e3), "idle_wake_up", &planted);
        assert_eq!(told.as_deref(), Some("waking an idle CPU takes {3000} of it, {0.75}"));
    }
}
