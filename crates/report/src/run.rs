//! Sentences about a run as a whole: the machine in a line, the clock, precision, and disturbances.

use super::precision::{Precision, usual_trials};
use super::words::{self, plural};
use super::{drift, occupancy, summary};
use fathom_core::experiment::Scale;
use fathom_core::machine::Machine;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sampling::clock::ClockKind;
use fathom_core::sampling::{Observations, Qualification, Sample};
use fathom_core::statistics;
use fathom_engine::record::{Ending, Header, PeerKind, Run};
use fathom_engine::results::{self, CounterStep, Disturbance, PointResult, Results, TrendResult};

/// The machine in a line: processor, hypervisor, kernel.
pub fn machine(machine: &Machine) -> String {
    let processor = machine.processor.model_name.value().cloned();
    let mut words = vec![processor.unwrap_or_else(|| "a machine of unknown processor".to_owned())];
    let cpus = machine.allowed_cpus().len();
    if cpus > 0 {
        words.push(plural(cpus, "CPU"));
    }
    if let Some(Some(hypervisor)) = machine.virtualization.hypervisor.value() {
        words.push(format!("under {hypervisor}"));
    }
    words.extend(machine.kernel.release.value().map(|release| format!("Linux {release}")));
    words.join(", ")
}

/// The same with the memory, whether the guest is nested, and the kind of disk.
pub fn machine_in_full(described: &Machine) -> String {
    let memory = described.memory.total_bytes.value();
    let memory = memory.map(|bytes| format!("{} of memory", quantities::value(Unit::Bytes, *bytes as f64)));
    let nested = described.nested().map(|word| format!("probably a nested guest ({word})"));
    let disk = described.storage.device.value().map(|device| device.kind.clone());
    let disk = disk.or_else(|| Some(format!("{} file system", described.storage.file_system.value()?)));
    let words: Vec<String> = [Some(machine(described)), memory, nested, disk].into_iter().flatten().collect();
    words.join(", ")
}

/// The labels of the run, `key=value`, in a line; `None` if it has none.
pub(super) fn labels(header: &Header) -> Option<String> {
    let labels = header.settings.labels.iter().map(|(key, value)| format!("{key}={value}"));
    Some(labels.collect::<Vec<_>>().join(" ")).filter(|labels| !labels.is_empty())
}

/// The second host in a sentence; `None` if the run has none.
pub(super) fn peer(header: &Header) -> Option<String> {
    let peer = header.peer.as_deref()?;
    let host = peer.machine.as_ref().map_or_else(|| "an unknown machine".to_owned(), machine);
    let (spec, address) = (&peer.wanted, &peer.address);
    Some(match peer.kind {
        PeerKind::Ssh => {
            format!("The peer is {spec}, {host}; ssh started it, and connections go to {address} directly.")
        }
        PeerKind::ByHand => format!("The peer at {spec} is {host}; it was started by hand."),
        PeerKind::Virtual => format!(
            "The peer is a virtual peer, a network namespace of this machine at {address}: both ends share its \
             processors, and there is no wire between them."
        ),
    })
}

/// How the run ended, its duration, and the loss of its peer.
pub(super) fn ending(results: &Results) -> String {
    let lost = peer_lost(results).map(|lost| format!(" {lost}"));
    how_it_ended(results) + &lost.unwrap_or_default()
}

/// That the run lost its peer, and why; `None` if it did not.
pub(super) fn peer_lost(results: &Results) -> Option<String> {
    let reason = results.run.closing.as_ref()?.peer_lost.as_ref()?;
    Some(format!(
        "It lost its peer ({reason}): points that need the peer have only the results from before that."
    ))
}

/// How the run ended, and its duration.
pub(super) fn how_it_ended(results: &Results) -> String {
    let Some(closing) = &results.run.closing else {
        return "The run did not end normally; everything recorded in its file up to then is complete."
            .to_owned();
    };
    let why = match closing.ended {
        Ending::Precision if results.points.iter().all(|point| point.estimate().is_none()) => {
            "no point could be measured"
        }
        Ending::Precision if Precision::of(results).is_complete() => {
            "every value had reached the target precision"
        }
        Ending::Precision => "no further trial was expected to bring another value to the target precision",
        Ending::Decided => "every requirement was decided, or no further trial could decide it",
        Ending::Budget => "its budget was spent",
        Ending::Interrupted => "it was interrupted; the results up to then are valid",
    };
    let took = quantities::duration(closing.took_s);
    // As progress counts rounds: by the trials of a point.
    let rounds = usual_trials(results)
        .map(|trials| format!(" ({} trials a point, in the median)", quantities::plain(trials)));
    let rounds = rounds.unwrap_or_default();
    format!("The run took {took}{rounds} and ended because {why}.")
}

/// The least deviation of the clock that is printed, a share: a millionth, beyond all that is measured with it.
const LEAST_SPREAD: f64 = 1e-6;

/// The clock and how it was qualified, in a sentence or two.
pub(super) fn clock(run: &Run) -> String {
    let clock = &run.header.clock;
    let name = match clock.kind {
        ClockKind::Counter => "the processor's tick counter",
        ClockKind::MonotonicRaw => "clock_gettime(CLOCK_MONOTONIC_RAW)",
    };
    let steps = match clock.backward_steps {
        0 => format!("never ran backwards in {} steps", quantities::count(clock.steps as usize)),
        back => format!("ran backwards {back} times in {} steps", quantities::count(clock.steps as usize)),
    };
    let rejected = clock
        .rejected
        .as_ref()
        .map(|why| format!(" The processor's counter was not used: {why}."))
        .unwrap_or_default();
    let step = CounterStep::of(run).map(|step| in_steps(step, clock)).unwrap_or_default();
    let own = subtracted(run).unwrap_or_default();
    format!(
        "All times are read from {name}: {}, so a tick is {}, within {} of the kernel's clock. When the run began, two \
         readings in a row were equal or at least {} apart, and {} in the mean{own}{step}; it {steps}.{rejected}",
        quantities::frequency(clock.ticks_per_second),
        quantities::value(Unit::Nanoseconds, 1e9 / clock.ticks_per_second),
        quantities::percent((clock.frequency_spread_ppm / 1e6).max(LEAST_SPREAD)),
        quantities::value(Unit::Nanoseconds, clock.resolution_ns()),
        quantities::value(Unit::Nanoseconds, clock.overhead_ns()),
    )
}

/// What trials subtract from the times that they read: each its own mean of two readings in a row.
fn subtracted(run: &Run) -> Option<String> {
    let own = |sample: &Sample| match sample.observations {
        Observations::Ticks { overhead_ticks, .. } => Some(overhead_ticks),
        Observations::Values { .. } => None,
    };
    let all: Vec<f64> = run.trials.iter().filter_map(|trial| own(trial.sample()?)).collect();
    let median = statistics::median(&all)? / run.header.clock.ticks_per_second * 1e9;
    // Work that counts its own time subtracts none.
    let median = Some(median).filter(|median| *median > 0.0)?;
    let median = quantities::value(Unit::Nanoseconds, median);
    Some(format!(" (every trial reads such pairs again, and subtracts its own mean, {median} in the median)"))
}

/// The step of the counter, beside the least distance of two readings.
fn in_steps(step: CounterStep, clock: &Qualification) -> String {
    let long = step.ticks as f64 / clock.ticks_per_second * 1e9;
    let of = match step.share {
        share if share < 1.0 => format!("{} of ", quantities::percent(share)),
        _ => "all of ".to_owned(),
    };
    format!(
        "; the counter itself advances in steps of {}, of which {of}{} recorded durations are whole multiples",
        quantities::value(Unit::Nanoseconds, long),
        quantities::count(step.durations)
    )
}

/// The disturbances of the run, in sentences; empty if there were none.
pub(super) fn disturbances(results: &Results) -> Vec<String> {
    let trials: usize = results.points.iter().map(|point| point.trials.0).sum();
    let sum = |of: fn(&Disturbance) -> u64| -> u64 {
        results.points.iter().map(|point| of(&point.disturbance)).fold(0, u64::saturating_add)
    };
    let mut sentences = time_lost(results, trials);
    let mut tell = |count: u64, sentence: &dyn Fn(String) -> String| {
        if count > 0 {
            sentences.push(sentence(quantities::count(count as usize)));
        }
    };
    tell(sum(|disturbance| disturbance.migrations), &|n| {
        format!("Observations that ended on a different CPU from the one they began on: {n}.")
    });
    let times: usize = results.points.iter().map(|point| point.negative).sum();
    let single: usize = results.points.iter().filter(|point| point.each).map(|point| point.negative).sum();
    let single = match single {
        0 => String::new(),
        all if all == times => ", of operations that were timed one by one".to_owned(),
        some => format!(", {} of them of operations that were timed one by one", quantities::count(some)),
    };
    tell(times as u64, &|n| {
        format!(
            "Observations of a time below zero: {n}{single}. What is subtracted from a reading (the clock's own cost, or a \
             baseline) was larger at that moment. They stay in the medians, and are never shown as the best \
             observation."
        )
    });
    let left_out: usize = results.points.iter().map(|point| point.left_out).sum();
    tell(left_out as u64, &|n| {
        format!("{n} of {} trials discarded by their own checks.", quantities::count(trials + left_out))
    });
    tell(sum(|disturbance| disturbance.preemptions), &|n| {
        format!(
            "The scheduler preempted the measured work {n} times (trials whose operations themselves switch, wait or \
             create processes are not counted)."
        )
    });
    sentences.extend(occupancy::sentences(results));
    sentences.extend(lost(results));
    sentences.extend(frequencies(results));
    sentences.push(drift::sentence(results));
    sentences.extend(whole_run(results));
    sentences
}

/// The time that the hypervisor or a CPU quota took from trials, or that it could not be read.
fn time_lost(results: &Results, trials: usize) -> Vec<String> {
    let of = plural(trials, "trial");
    let unread = "is unknown: the counter could not be read in every trial.";
    let steal = match trials_with(results, |disturbance| disturbance.trials_with_steal) {
        Some(0) => None,
        Some(n) => Some(format!("The hypervisor took CPU time in {} of {of} (steal).", quantities::count(n))),
        None => Some(format!("Whether the hypervisor took CPU time (steal) {unread}")),
    };
    let quota = match trials_with(results, |disturbance| disturbance.trials_throttled) {
        Some(0) => None,
        Some(n) => Some(format!("A CPU quota throttled the process in {} of {of}.", quantities::count(n))),
        None => Some(format!("Whether a CPU quota throttled the process {unread}")),
    };
    steal.into_iter().chain(quota).collect()
}

/// The number of trials of the run with a disturbance; `None` if it was seen in none and not all could read it.
pub(super) fn trials_with(results: &Results, of: fn(&Disturbance) -> Option<usize>) -> Option<usize> {
    let each = || results.points.iter().map(|point| of(&point.disturbance));
    let count = each().flatten().fold(0, usize::saturating_add);
    (count > 0 || each().all(|count| count.is_some())).then_some(count)
}

fn lost(results: &Results) -> Option<String> {
    let shares = results.points.iter().filter_map(|point| Some((point.disturbance.lost_share?, point)));
    let (worst, point) = shares.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (worst > 0.0).then(|| {
        format!(
            "Just before the observations, a spinning loop lost up to {} of its time to other work, of the machine or, \
             where a point has other processes, of those (the most at {}, {}).",
            quantities::percent(worst),
            point.experiment,
            words::label(point, &point.point)
        )
    })
}

pub(super) fn frequencies(results: &Results) -> Option<String> {
    // Trials of few chains, of which some were interrupted, are at the ends.
    let most = results.core_hz_ends?;
    let [low, high] = [most.low, most.high].map(quantities::frequency);
    let of_most = if low == high {
        format!("{low} in two of three")
    } else {
        format!("{low} to {high} in two of three")
    };
    Some(format!(
        "The core ran at {} in the median over the trials, at {of_most}, by calibrated chains{}.",
        quantities::frequency(results.core_hz?),
        step_of_chain(results)
    ))
}

/// How far apart two chains are that differ by one step of the clock, in brackets; empty where the clock shows no step.
pub(super) fn step_of_chain(results: &Results) -> String {
    let step = results.counter_step.zip(results.core_hz);
    let step = step.map(|(step, hz)| results::step_of_chain(&results.run.header, step, hz));
    step.map(|share| format!(" (a step of the clock is {} of a chain)", quantities::percent(share)))
        .unwrap_or_default()
}

/// What share of the time of all CPUs of the machine a hypervisor took during the run; `None` where it was not read.
pub(super) fn share_taken(results: &Results) -> Option<f64> {
    let closing = results.run.closing.as_ref()?;
    let cpus = results.run.header.machine.topology.online.value()?.as_slice().len();
    let all_s = closing.took_s * cpus as f64;
    let taken_s = closing.conditions.steal_ns? as f64 * 1e-9;
    (all_s > 0.0).then(|| (taken_s / all_s).min(1.0))
}

fn whole_run(results: &Results) -> Option<String> {
    let closing = results.run.closing.as_ref()?;
    let conditions = &closing.conditions;
    let time_by = |time: Option<u64>, by: &str| match time {
        Some(0) => String::new(),
        Some(time) => format!("; {by} {}", quantities::value(Unit::Nanoseconds, time as f64)),
        None => format!("; how much time {by} could not be read"),
    };
    let share = share_taken(results).filter(|share| *share > 0.0);
    let share = share.map(|share| format!(" ({} of its CPUs' time)", quantities::percent(share)));
    let share = share.unwrap_or_default();
    let served = |count: Option<u64>, what: &str| match count {
        Some(count) => format!("{} {what}", quantities::count(count as usize)),
        None => format!("an unknown number of {what}"),
    };
    Some(format!(
        "During the run the whole machine served {} and {}{}{share}{}.",
        served(conditions.interrupts, "interrupts"),
        served(conditions.switches, "context switches"),
        time_by(conditions.steal_ns, "the hypervisor took"),
        time_by(conditions.throttled_ns, "a CPU quota took")
    ))
}

/// Evidence that does not hold, so that the figure may be of another operation. The same claim about several points of an
/// experiment is one entry.
pub(super) struct FailingClaim<'run> {
    pub experiment: &'run str,
    pub claim: &'run str,
    /// The observation at the first of the points.
    pub observed: &'run str,
    pub points: Vec<String>,
}

/// What is said of points without a figure whose evidence fails; `None` without any.
pub(super) fn failing_without_figure(results: &Results) -> Option<String> {
    let is_one = |point: &&PointResult| !summary::is_in_table(point) && point.evidence.fails();
    let number = results.points.iter().filter(is_one).count();
    (number > 0).then(|| {
        format!(
            "The evidence of {} without a value fails: too few trials, or none that counts; they give no figure.",
            plural(number, "point")
        )
    })
}

/// Every claim that does not hold of a point with a figure.
pub(super) fn doubts<'run>(results: &'run Results) -> Vec<FailingClaim<'run>> {
    let mut doubts: Vec<FailingClaim> = vec![];
    for point in results.points.iter().filter(|point| point.is_doubtful()) {
        for check in point.evidence.checks().iter().filter(|check| !check.holds) {
            let label = words::full_label(point, &point.point);
            let alike = doubts
                .iter_mut()
                .find(|doubt| doubt.experiment == point.experiment && doubt.claim == check.claim);
            match alike {
                Some(doubt) => doubt.points.push(label),
                None => doubts.push(FailingClaim {
                    experiment: &point.experiment,
                    claim: &check.claim,
                    observed: &check.seen,
                    points: vec![label],
                }),
            }
        }
    }
    doubts
}

/// The experiments whose evidence is not judged, with the reason: a sentence for each.
pub(super) fn not_judged(results: &Results) -> Vec<String> {
    let sentence = |experiment: &str| {
        let mine = || results.of_experiment(experiment).filter_map(|point| point.evidence.not_judged());
        let points = plural(mine().count(), "point");
        mine().next().map(|other| format!("{experiment}: the evidence for {points} is not judged: {other}."))
    };
    results.experiments().into_iter().filter_map(sentence).collect()
}

impl FailingClaim<'_> {
    /// The points in a word or two, and the claim with the observation.
    pub fn sentence(&self) -> String {
        match self.points.as_slice() {
            [one] => format!("{one}: {}; seen: {}", self.claim, self.observed),
            many => format!(
                "{}, the first of them {}: {}; observed there: {}",
                plural(many.len(), "point"),
                many[0],
                self.claim,
                self.observed
            ),
        }
    }
}

/// The slope of a trend with its interval, and the intercept.
pub(super) fn trend(trend: &TrendResult) -> String {
    let line = &trend.line;
    let number = |value: f64, interval: Option<statistics::Interval>| match interval {
        Some(interval) => {
            let measure = quantities::Measure::of(trend.unit, value);
            let ends = Some((interval.low, interval.high));
            format!(
                "{} {} ({})",
                measure.number(value, ends),
                measure.symbol,
                measure.range(value, interval.low, interval.high)
            )
        }
        None => quantities::value(trend.unit, value),
    };
    let is_line = if trend.is_line() { "" } else { "the points lie on no line: " };
    let fit = line.r_squared.map(|share| format!(", {is_line}R² {}", quantities::number(share)));
    let fit = fit.unwrap_or_default();
    let ends = line.intercept_interval;
    let is_resolved = line.intercept >= 0.0 && ends.is_none_or(|ends| ends.low >= 0.0);
    let at_zero = (trend.unit == Unit::Nanoseconds && !is_resolved).then(|| match ends {
        Some(ends) if ends.high > 0.0 => format!("below {}", quantities::value(trend.unit, ends.high)),
        _ => "no time".to_owned(),
    });
    let residual = trend.largest_residual().map(|(at, off)| {
        format!(", {} off it at most (at {})", quantities::value(trend.unit, off.abs()), setting(trend, at))
    });
    let robust = trend
        .robust_slope()
        .map(|slope| format!(", slope by medians {}", quantities::value(trend.unit, slope)));
    format!(
        "{} {}, {} at zero{fit}{}{}, {}",
        number(trend.slope(), trend.slope_interval()),
        trend.slope_of,
        at_zero.unwrap_or_else(|| number(line.intercept, line.intercept_interval)),
        residual.unwrap_or_default(),
        robust.unwrap_or_default(),
        plural(line.points, "point")
    )
}

/// A setting of the swept parameter, in the format of its scale.
fn setting(trend: &TrendResult, at: f64) -> String {
    match words::scale(trend, &trend.along) {
        scale @ (Scale::Bytes | Scale::Nanoseconds) => words::number(scale, at as u64),
        Scale::Count | Scale::Name => quantities::plain(at),
    }
}

/// The fixed parameters of a trend.
pub(super) fn trend_label(trend: &TrendResult) -> String {
    words::short_label(trend, &trend.group)
}
