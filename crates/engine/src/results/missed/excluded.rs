//! What did not take the time that a prediction lacks, each with the measurement that excludes it; and what this run cannot
//! separate.

use super::candidate::MissCandidate;
use super::measured_terms;
use super::miss::Missed;
use super::{Figures, Judged};
use crate::results::CoreState;
use crate::results::accuracy::{CLOSE, FAIR, distance};
use crate::results::explanation::Explanation;
use crate::results::point_states::LEAST_SHARED;
use crate::results::{other_work, vm_exit};
use fathom_core::experiment::{Dimension, Found, Known, Placement, Statement, TermEvent, statement};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::statistics::Measured;

/// Every excluded candidate.
pub(super) fn all(judged: &Judged, figures: Figures) -> Vec<Statement> {
    let missed = &judged.missed;
    let terms = those(judged, CandidateRole::Excluded)
        .filter(|candidate| candidate.changes.is_none_or(|by| by > CLOSE))
        .map(|candidate| rejected(candidate, missed));
    let slower = is_slower(missed).then(|| {
        [
            core(missed),
            exit(missed, figures.supported),
            frequency(missed),
            others(missed, figures.supported),
            waiting(missed),
        ]
    });
    let moved = moved(missed, figures.supported);
    terms.chain(slower.into_iter().flatten().flatten()).chain(moved).collect()
}

/// Candidates with which the prediction is what was measured, and which are no cause for another reason.
pub(super) fn possible(judged: &Judged) -> Vec<Statement> {
    those(judged, CandidateRole::Possible).map(|one| rejected(one, &judged.missed)).collect()
}

/// Candidates that were measured at several levels, which do not say the same of the miss.
pub(super) fn open(judged: &Judged) -> Vec<Statement> {
    those(judged, CandidateRole::Open).map(|one| rejected(one, &judged.missed)).collect()
}

/// Candidates that lead close to what was measured, but beyond its interval: they are neither the cause nor excluded.
pub(super) fn near(judged: &Judged) -> Vec<Statement> {
    those(judged, CandidateRole::Near).map(|candidate| nearly(candidate, &judged.missed)).collect()
}

/// Candidates that account for a tenth of what is missing or more, but not for all of it: they take part, and are neither the cause nor
/// excluded.
pub(super) fn parts(judged: &Judged) -> Vec<Statement> {
    let missed = &judged.missed;
    // What remains has the sign of what is missing.
    let missing = missed.missing();
    let sign = missing.value.signum();
    // Beside a probable cause a small one would seem to measure it.
    let is_named = |candidate: &&MissCandidate| {
        let beside_another = matches!(judged.explanation, Explanation::Probable { .. });
        !beside_another || candidate.is_of_input() || part_of(candidate, missed) >= LEAST_BESIDE_PROBABLE
    };
    those(judged, CandidateRole::Part)
        .filter(is_named)
        .map(|candidate| {
            statement!(
                "{sizes}, {part} of what is missing ({rest} remain)",
                sizes = candidate.sizes.clone(),
                part = candidate
                    .exactly(missed)
                    .minus(missed.figure(missed.prediction.total()))
                    .share_of(missing)
                    .named("part of what is missing"),
                rest =
                    missed.measured.minus(candidate.again).scaled(sign).named("the rest of what is missing")
            )
        })
        .collect()
}

/// That a neighbour on the core may take part. The observations without one are of too few trials for an interval, so it is no more.
pub(super) fn possible_neighbour(judged: &Judged) -> Option<Statement> {
    neighbour(&judged.missed).map(|alone| {
        statement!(
            " Perhaps in part another hardware thread on the core: observations without one, of too few trials for an interval, take {alone}.",
            alone = alone.named("with the core alone")
        )
    })
}

/// What a slower operation takes with the core alone: of a result with the core shared that takes longer than that for certain, by a
/// tenth of what is missing or more.
fn neighbour(missed: &Missed) -> Option<Found> {
    let core = missed.result.core.as_ref().filter(|core| core.state == CoreState::Shared)?;
    let alone = missed.figure(core.alone_of_many().filter(|_| is_slower(missed))?);
    let measured = missed.measured.leading();
    let is_certain = measured.ends().is_some_and(|(low, _)| low > alone.value);
    let part = (measured.value - alone.value) / (measured.value - missed.prediction.total());
    (is_certain && (LEAST_OF_OTHERS..1.0).contains(&part)).then_some(alone)
}

/// The least part of what is missing from which something is said to take part in it.
const LEAST_OF_OTHERS: f64 = 0.1;

/// The least part of what is missing from which something is said to take part in it beside a probable cause.
const LEAST_BESIDE_PROBABLE: f64 = 0.5;

/// What a rejected candidate is to a miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CandidateRole {
    /// With it the prediction is what was measured.
    Possible,
    /// With it the prediction is close to what was measured, but beyond its interval.
    Near,
    /// It accounts for some of what is missing.
    Part,
    /// A changed input that accounts for none of it, or leads past it: what it is cannot be excluded.
    Input,
    /// It is not the same at each of the levels at which it was measured.
    Open,
    /// None of these.
    Excluded,
}

/// The rejected candidates of this role.
fn those<'judged>(
    judged: &'judged Judged,
    role: CandidateRole,
) -> impl Iterator<Item = &'judged MissCandidate> {
    judged.rejected.iter().filter(move |candidate| role_of(candidate, &judged.missed) == role)
}

fn role_of(candidate: &MissCandidate, missed: &Missed) -> CandidateRole {
    let roles: Vec<_> = candidate.at_each_level().iter().map(|one| role_at_a_level(one, missed)).collect();
    let is_one = roles.iter().all(|role| *role == roles[0]);
    if is_one { roles[0] } else { CandidateRole::Open }
}

fn role_at_a_level(candidate: &MissCandidate, missed: &Missed) -> CandidateRole {
    if candidate.lands_on(missed) || missed.judged().holds(candidate.again.value) {
        CandidateRole::Possible
    } else if is_near(candidate, missed) {
        CandidateRole::Near
    } else if is_part(candidate, missed) {
        CandidateRole::Part
    } else if candidate.is_of_input() {
        CandidateRole::Input
    } else {
        CandidateRole::Excluded
    }
}

/// Whether a candidate accounts for a tenth of what is missing or more, a changed input significantly, and leads no further.
fn is_part(candidate: &MissCandidate, missed: &Missed) -> bool {
    let is_changed = !candidate.is_of_input() || candidate.is_significant(missed);
    is_changed && (LEAST_OF_OTHERS..1.0).contains(&part_of(candidate, missed))
}

/// The part of what is missing for which a candidate accounts.
fn part_of(candidate: &MissCandidate, missed: &Missed) -> f64 {
    (candidate.again.value - missed.prediction.total()) / missed.missing().leading().value
}

/// Inputs that became others and account for nothing of a miss.
pub(super) fn inputs(judged: &Judged) -> Vec<Statement> {
    let missed = &judged.missed;
    those(judged, CandidateRole::Input)
        .filter(|candidate| candidate.is_significant(missed))
        .filter(|candidate| candidate.changes.is_none_or(|by| by > CLOSE))
        .map(|candidate| rejected(candidate, missed))
        .collect()
}

/// Whether the prediction with a candidate is within a factor of [`CLOSE`] of what was measured.
fn is_near(candidate: &MissCandidate, missed: &Missed) -> bool {
    distance(missed.judged().value / candidate.again.value) <= CLOSE
}

/// A candidate near what was measured, and how far it leads past it or falls short.
fn nearly(candidate: &MissCandidate, missed: &Missed) -> Statement {
    let again = candidate.exactly(missed);
    let measured = missed.judged().value;
    let over = again.in_each_state().iter().filter(|again| again.value > measured).count();
    let side = match over {
        0 => "falls short",
        1 if again.states.is_some() => "one overshoots, one falls short",
        _ => "overshoots",
    };
    statement!(
        "{sizes}; {side}: would predict {again}, {ratio} of what was measured",
        sizes = candidate.sizes.clone(),
        again = again.named("predicted with the measured term"),
        ratio = again.share_of(missed.measured).named("predicted with the measured term over measured")
    )
}

/// Whether an operation took longer than predicted.
fn is_slower(missed: &Missed) -> bool {
    missed.result.unit == Unit::Nanoseconds && missed.factor > 1.0
}

fn rejected(candidate: &MissCandidate, missed: &Missed) -> Statement {
    let sizes = candidate.sizes.clone();
    let again = candidate.exactly(missed).named("predicted with the measured term");
    let why = if candidate.is_again { ", but is the same work measured again" } else { "" };
    statement!("{sizes}, which would make the prediction {again}{why}", sizes, again)
}

/// Another hardware thread on the core; where no observation was made with one, nothing is known of it.
fn core(missed: &Missed) -> Option<Statement> {
    let core = missed.result.core.as_ref()?;
    let [_, shared, _] = core.observations;
    if shared == 0 {
        return None;
    }
    if core.state == CoreState::Alone {
        return Some("another hardware thread on the core (only observations without one count)".into());
    }
    let alone = missed.figure(core.alone_of_many()?);
    let still_missed = alone.value / missed.prediction.total() > FAIR && neighbour(missed).is_none();
    still_missed.then(|| {
        statement!(
            "another hardware thread on the core (without one it takes {alone})",
            alone = Found::bare(alone.value, alone.dimension).named("with the core alone")
        )
    })
}

/// That the host moved the two CPUs apart, where the looks of the whole run found one distance.
fn moved(missed: &Missed, known: &Known) -> Option<Statement> {
    let is_of_both = matches!(missed.result.point.placement(), Placement::AcrossCpus | Placement::Spread);
    let [one] = known.line_looks.as_slice() else { return None };
    is_of_both.then(|| {
        statement!(
            "a move of the two CPUs by the host ({looks} looks at a line between them found one distance)",
            looks = Found::exact(one.looks as f64, Dimension::Count).named("looks at the line")
        )
    })
}

/// An exit to the hypervisor that takes longer than what is missing of all operations between two readings of the clock: of a mean over
/// many a fraction of an exit may be missing. A prediction that contains exits is wrong by their cost, not by one more of them.
fn exit(missed: &Missed, known: &Known) -> Option<Statement> {
    if missed.prediction.contains(TermEvent::VmExit) {
        return None;
    }
    let exit = vm_exit::exit(known)?;
    let operations = missed.result.published.as_ref()?.operations?;
    let missing = missed.missing().scaled(operations);
    let of = if operations > 1.0 { " of all operations between two readings" } else { "" };
    let most = missing.interval.map_or(missing.value, |ends| ends.high);
    let least = exit.interval.map_or(exit.value, |ends| ends.low);
    (least > most).then(|| {
        statement!(
            "an exit to the hypervisor that takes as long as a CPUID's ({exit}, longer than the missing {missing}{of})",
            exit = exit.named("CPUID"),
            missing = missing.named("measured less predicted"),
            of
        )
    })
}

/// A variation below which two frequencies differ by the rounding of their arithmetic alone.
const UNSEEN: f64 = 1e-9;

/// The core's frequency, if the cost follows it and it varied less than the result differs from its prediction.
fn frequency(missed: &Missed) -> Option<Statement> {
    missed.result.core_cycles.as_ref()?;
    let (low, high) = missed.result.disturbance.core_hz.filter(|(low, _)| *low > 0.0)?;
    (high / low < missed.distance()).then(|| {
        let varied = high / low - 1.0;
        if varied < UNSEEN {
            return "the core's frequency (in the trials of this point no change of it shows)".into();
        }
        let varied = Found::bare(varied, Dimension::Share).named("variation of the core's frequency");
        statement!("the core's frequency (in the trials of this point it varied by {varied} at most)", varied)
    })
}

/// Other work on the CPU, if it took so little of the time that the result would be a miss without it. The look before the observations does
/// not see what makes work wait that sleeps, so nothing is excluded where a loop on some CPU lost much of its time.
fn others(missed: &Missed, known: &Known) -> Option<Statement> {
    if missed.place().0 == other_work::EXPERIMENT || other_work::most_lost(known).is_some() {
        return None;
    }
    // Busy processes that belong to the point begin after that look.
    let is_beside_its_own = missed.result.point.number_of("busy").is_some_and(|busy| busy > 0);
    let lost = missed.result.disturbance.lost_share.filter(|lost| *lost >= 0.0 && !is_beside_its_own)?;
    if is_long(missed) {
        return None;
    }
    // Without it the result would still be a miss.
    ((1.0 - lost) * missed.distance() > FAIR).then(|| {
        if lost == 0.0 {
            return "other work on the CPU (none was seen just before the observations)".into();
        }
        let lost = Found::bare(lost, Dimension::Share).named("lost to other work before the observations");
        statement!("other work on the CPU ({lost} of the time just before the observations)", lost)
    })
}

/// The time of a look for other work before the observations, about, nanoseconds.
const LOOK_NS: f64 = 1e6;

/// Whether an observation goes on for longer than the look before them, which then tells nothing of what came during it.
fn is_long(missed: &Missed) -> bool {
    let operations = missed.result.published.as_ref().and_then(|published| published.operations);
    let measured = missed.judged().value;
    measured * operations.unwrap_or(1.0).max(1.0) > LOOK_NS
}

/// The most of its time that an operation waits of which waiting is excluded.
const MOST_WAITED: f64 = 0.05;

/// Waiting, if the process ran for nearly all of the time, and what it waited is not the half of what is missing. On several CPUs children may
/// run while the process waits, so their sum tells nothing of waiting.
fn waiting(missed: &Missed) -> Option<Statement> {
    let on_one = missed.result.point.placement() == Placement::OneCpu;
    let times = missed.result.processor_time.filter(|_| on_one)?;
    let missing = missed.missing().value;
    // A mean far from the measured median is that of another operation.
    let ran_on = times.waited_ns() <= MOST_WAITED * times.passed_ns;
    (ran_on && times.passed_ns <= FAIR * missed.measured.value && times.waited_ns() < missing / 2.0).then(
        || {
            let ran = Measured { value: times.ran_ns / times.passed_ns, interval: None };
            let ran = Found::measured(ran, Dimension::Share).named("processor time over time");
            statement!(
                "waiting (the processor time of the process and its children is {ran} of the time)",
                ran
            )
        },
    )
}

/// That the missing time is in entering and leaving the kernel, where an operation without the service lacks it as well: a clock's reading by
/// a system call takes more beyond one by the library than the whole that was predicted.
pub(super) fn in_the_entry(missed: &Missed, known: &Known) -> Option<Statement> {
    let is_entry = missed.prediction.terms.iter().any(|term| term.what.starts_with("mode switches"));
    // What was measured by itself needs no sign.
    let is_open = is_entry && is_slower(missed) && measured_terms::entered(known).is_none();
    let beyond = measured_terms::beyond_the_library(known).filter(|_| is_open)?;
    let is_more = beyond.ends().is_some_and(|(low, _)| low > missed.prediction.total());
    is_more.then(|| {
        statement!(
            " Part of what is missing may be in entering and leaving the kernel: a reading of the coarse clock by system call enters it as well, and \
             takes {beyond} more than one by the library, its own work in the kernel included.",
            beyond = beyond.named("a clock's reading by system call beyond one by the library")
        )
    })
}

/// What a run cannot separate from a slower result: a neighbour that was on the core throughout, and what is in the entry to the kernel
/// or in an exit to the hypervisor.
pub(super) fn inseparable(missed: &Missed, known: &Known) -> Option<String> {
    if !is_slower(missed) {
        return None;
    }
    let neighbour = inseparable_neighbour(missed);
    let of_service = UNSEPARATED.iter().filter(|(experiment, value, _)| {
        let (name, point) = missed.place();
        name == *experiment
            && point.parameters().any(|(parameter, _)| point.name_of(parameter) == Some(value))
    });
    let of_service = of_service.map(|(.., what)| (*what).to_owned());
    let names: Vec<String> =
        neighbour.into_iter().chain(of_service).chain(in_entry_or_exit(missed, known)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// A neighbour on the core of which nothing else is said: it was there, and no value without it shows what it takes.
fn inseparable_neighbour(missed: &Missed) -> Option<String> {
    // A neighbour slows what runs, and not what waits.
    let waits = missed.result.processor_time.is_some_and(|times| times.waited_ns() > times.passed_ns / 2.0);
    let is_open = !waits && core(missed).is_none() && neighbour(missed).is_none();
    let core_of = missed.result.core.as_ref().filter(|_| is_open)?;
    let why = match core_of.state {
        CoreState::Alone => return None,
        CoreState::Shared if core_of.alone.is_none() => "no observation without one".to_owned(),
        CoreState::Shared => "the observations without one do not tell".to_owned(),
        CoreState::Mixed | CoreState::AtEnds => {
            let share = core_of.shared_share.filter(|share| *share >= LEAST_SHARED)?;
            format!("there {} of the time", quantities::percent(share))
        }
    };
    Some(format!("another hardware thread on the core ({why})"))
}

/// Work that an operation contains and that no other operation of a run does without the rest: experiment, value of a parameter, and what
/// it is.
const UNSEPARATED: [(&str, &str, &str); 3] = [
    (
        "memory/minor_fault",
        "cached file, written, shared",
        "the call of the file system before a page of a shared mapping may change (page_mkwrite)",
    ),
    ("filesystem/write", "on the device, fdatasync", FLUSH),
    ("filesystem/write", "on the device, fsync", FLUSH),
];

const FLUSH: &str = "the flush of the device's own cache, which may take longer than a small read";

/// What is in force at every entry to the kernel, or makes every exit longer.
fn in_entry_or_exit(missed: &Missed, known: &Known) -> Vec<String> {
    let [is_entry, is_exit] =
        [TermEvent::KernelEntry, TermEvent::VmExit].map(|event| may_be_in(event, missed, known));
    if !is_entry && !is_exit {
        return vec![];
    }
    let machine = known.machine;
    let mitigations = machine.mitigations();
    let mut names: Vec<String> = ["spectre_v2", "spec_rstack_overflow", "retbleed", "meltdown"]
        .into_iter()
        .filter(|_| is_entry)
        .filter_map(|name| Some((name, in_force(mitigations.get(name)?)?)))
        .map(|(name, remedy)| format!("{remedy} ({name})"))
        .collect();
    names.extend(
        machine.nested().map(|word| format!("the hypervisor of a guest that is probably nested ({word})")),
    );
    names
}

/// How often what an event may take is in what is missing, at most, for something in the event to be named as a part of that.
const MOST_OFTEN: f64 = 100.0;

/// What an entry to the kernel takes at most where the run did not measure it, nanoseconds: all that is in force at entries included.
const ENTRY_NS: f64 = 1_000.0;

/// Whether what lengthens this event may take part in what is missing: of a prediction that contains it, unless more than a hundred times as
/// much is missing as all of these events take. An exit that was not measured may take anything.
fn may_be_in(event: TermEvent, missed: &Missed, known: &Known) -> bool {
    let times: f64 =
        missed.prediction.terms.iter().filter(|term| term.event == Some(event)).map(|term| term.times).sum();
    let each = match event {
        TermEvent::KernelEntry => measured_terms::entered(known).map_or(ENTRY_NS, |entry| entry.upper_end()),
        _ => vm_exit::exit(known).map_or(f64::INFINITY, |exit| exit.upper_end()),
    };
    missed.prediction.contains(event) && missed.missing().value <= MOST_OFTEN * times.max(1.0) * each
}

/// The first remedy in the kernel's sentence about a vulnerability.
fn in_force(sentence: &str) -> Option<&str> {
    let (verdict, remedy) = sentence.split_once(": ")?;
    let remedy = remedy.split([';', ',']).next()?.trim();
    (verdict == "Mitigation" || remedy.starts_with("Safe RET")).then_some(remedy)
}
