//! Whether the core was shared: the levels of a run, and the share of the time in which another hardware thread of the core
//! was busy.

use crate::record::{Header, Look, Run, Trial};
use fathom_core::experiment::CoreUse;
use fathom_core::experiment::Placement;
use fathom_core::sampling::occupancy;
use fathom_core::sampling::{CoreReadings, Observations, Sample};
use fathom_core::statistics::{self, AloneMeans, Interval, LevelHistogram, Levels, Occupancy};

/// The observations on which an estimate is based.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreState {
    /// Short work: the observations made with the core alone.
    Alone,
    /// Short work: the observations made with the core shared, because too few had it alone.
    Shared,
    /// Short work: all observations, because too few show the state of the core.
    Mixed,
    /// Other work, some of whose cores were not read, or which takes about as long as a state of the core lasts: all observations; the
    /// state of the core was read at the ends of the trial.
    AtEnds,
}

impl CoreState {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            CoreState::Alone => "alone",
            CoreState::Shared => "shared",
            CoreState::Mixed => "mixed",
            CoreState::AtEnds => "at_ends",
        }
    }

    /// Whether short work had the core alone; `None` of other work.
    pub fn of_short_work(self) -> Option<CoreUse> {
        match self {
            CoreState::Alone => Some(CoreUse::Alone),
            CoreState::Shared => Some(CoreUse::Shared),
            CoreState::Mixed => Some(CoreUse::Mixture),
            CoreState::AtEnds => None,
        }
    }
}

/// The share of the time in which the core of the run's own CPU was shared: the integral over the looks before visits or, for
/// runs of earlier programs, the share of the trials that found it shared when they began. Later readings of trials are no sample
/// of the time, because they may have waited for the core to be alone.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreShared {
    /// The levels found.
    pub levels: Levels,
    /// The share of the time in which the core was shared, mean over trials, 0 to 1.
    pub share: f64,
    /// Its 95 % interval over trials.
    pub interval: Option<Interval>,
    /// The looks at the core from which it is known: before visits, or, for earlier programs, at the start of trials.
    pub looks: usize,
}

impl CoreShared {
    /// For a run; `None` if no trial on its CPU shows the state of the core. Work on several CPUs is left out, because it
    /// shares the core with itself.
    pub fn of(run: &Run, levels: &Levels) -> Option<Self> {
        if let Some(watched) = CoreShared::watched(run, levels) {
            return Some(watched);
        }
        let mine = run.trials.iter().filter_map(|trial| on_its_cpu(&run.header, trial));
        let shares: Vec<f64> = mine.filter_map(|sample| shared_on_arrival(sample, levels)).collect();
        Some(CoreShared::over(levels, statistics::mean(&shares)?.value, &shares, shares.len()))
    }

    /// A share with the interval of its parts.
    fn over(levels: &Levels, share: f64, parts: &[f64], looks: usize) -> Self {
        let within = |ends: Interval| Interval { low: ends.low.max(0.0), high: ends.high.min(1.0) };
        let interval = statistics::mean(parts).and_then(|mean| mean.interval).map(within);
        CoreShared { levels: levels.clone(), share, interval, looks }
    }

    /// The same from the looks at the core: the time from one look to the next has the state of the first. Its interval is taken
    /// over tenths of the run, which are longer than most states. `None` for a run with few looks.
    fn watched(run: &Run, levels: &Levels) -> Option<Self> {
        let home = |look: &Look| {
            let core = look.cores.iter().find(|core| core.cpu == run.header.settings.home)?;
            Some((look.at_s, levels.state(core.quotient())))
        };
        let looks: Vec<(f64, Occupancy)> = run.looks.iter().filter_map(home).collect();
        let (first, last) = (looks.first()?.0, looks.last()?.0);
        // Looks are dense where the run waits, so parts of equal numbers of them would not be parts of equal time.
        let part = |look: &(f64, Occupancy)| ((look.0 - first) / (last - first) * PARTS) as usize;
        let parts = looks.chunk_by(|one, other| part(one) == part(other));
        let shares: Vec<f64> = parts.filter_map(share_of_time).collect();
        let share = share_of_time(&looks).filter(|_| looks.len() >= FEWEST_LOOKS)?;
        Some(CoreShared::over(levels, share, &shares, looks.len()))
    }
}

/// The parts of a run over which the share of the time is compared.
const PARTS: f64 = 10.0;

/// The looks below which a share of the time is not taken from them.
const FEWEST_LOOKS: usize = 40;

/// The share of the time that the core was shared, of that in which its state is clear.
fn share_of_time(looks: &[(f64, Occupancy)]) -> Option<f64> {
    let times = looks.windows(2).map(|pair| (pair[0].1, pair[1].0 - pair[0].0));
    share_shared(&times.collect::<Vec<_>>())
}

/// The share of shared times in those of a clear state.
fn share_shared(times: &[(Occupancy, f64)]) -> Option<f64> {
    // A sum of nothing is a negative zero.
    let time = |state: Occupancy| -> f64 {
        0.0 + times.iter().filter(|(other, _)| *other == state).map(|(_, time)| time).sum::<f64>()
    };
    let (alone, shared) = (time(Occupancy::Alone), time(Occupancy::Shared));
    (alone + shared > 0.0).then(|| shared / (alone + shared))
}

/// The levels of a run, from the readings of its trials so far.
#[derive(Debug, Clone, Default)]
pub struct CoreLevels {
    histogram: LevelHistogram,
    /// The relative error of a quotient due to the clock's resolution: sum and count.
    steps: (f64, f64),
    /// What trials with the core alone read in the mean.
    means: AloneMeans,
}

impl CoreLevels {
    /// The levels of a whole run.
    pub fn of(run: &Run) -> Option<Levels> {
        CoreLevels::so_far(run).levels()
    }

    /// What the trials of a run show.
    pub fn so_far(run: &Run) -> Self {
        let mut levels = CoreLevels::default();
        run.trials.iter().for_each(|trial| levels.add(&run.header, trial, None));
        let known = levels.levels();
        let all = run.trials.iter().filter_map(|trial| readings(&run.header, trial));
        all.for_each(|core| levels.add_mean(core, known.as_ref()));
        levels
    }

    /// Adds the readings of a trial, and their mean by the levels that are known so far. Only work on the run's own CPU counts: cores of
    /// another kind have other levels.
    pub fn add(&mut self, header: &Header, trial: &Trial, known: Option<&Levels>) {
        let Some(core) = readings(header, trial) else { return };
        self.histogram.add(&core.quotients().collect::<Vec<_>>());
        self.add_mean(core, known);
        let step = header.clock.resolution_ticks as f64;
        let coarse = |(stream, chain): (&u32, &u32)| step / f64::from(*stream) + step / f64::from(*chain);
        let steps = core.stream.iter().zip(&core.chain).map(coarse).filter(|step| step.is_finite());
        self.steps = steps.fold(self.steps, |(sum, count), step| (sum + step, count + 1.0));
    }

    fn add_mean(&mut self, core: &CoreReadings, known: Option<&Levels>) {
        if let Some(mean) = known.and_then(|levels| levels.mean_alone(core.quotients())) {
            self.means.add(mean);
        }
    }

    /// The levels, if the readings so far suffice.
    pub fn levels(&self) -> Option<Levels> {
        let (sum, count) = self.steps;
        let levels = (count > 0.0).then(|| self.histogram.levels(sum / count)).flatten();
        levels.map(|levels| levels.with_means(&self.means))
    }
}

/// The readings of the core by a trial whose work ran on the run's own CPU.
fn readings<'run>(header: &Header, trial: &'run Trial) -> Option<&'run CoreReadings> {
    on_its_cpu(header, trial)?.core.as_ref()
}

/// The sample of a trial whose work ran on the run's own CPU alone, or on another of its kind.
fn on_its_cpu<'run>(header: &Header, trial: &'run Trial) -> Option<&'run Sample> {
    let alone = trial.point.placement() == Placement::OneCpu;
    let settings = &header.settings;
    let is_mine = |cpu: usize| cpu == settings.home || settings.alike.contains(&cpu);
    trial.sample().filter(|sample| alone && sample.home.is_some_and(is_mine))
}

/// Whether each trial on the run's own CPU found the core shared when it began, 1 or 0, with the end of the trial in seconds from the start
/// of the run, in the order of the trials.
pub(crate) fn shared_on_arrivals(run: &Run, levels: &Levels) -> Vec<(f64, f64)> {
    let arrival = |trial: &Trial| {
        let sample = on_its_cpu(&run.header, trial)?;
        Some((trial.began_s + trial.took_s, shared_on_arrival(sample, levels)?))
    };
    run.trials.iter().filter_map(arrival).collect()
}

/// The state of the core between consecutive readings, if it was read next to every observation: alone or shared if both
/// readings agree. Of work between two cores it is alone only if both cores were, and shared if either was.
pub fn states(sample: &Sample, levels: &Levels) -> Option<Vec<Occupancy>> {
    let core = sample.core.as_ref()?;
    let timed = sample.observations.timed();
    (core.stream.len() == timed + 1 && core.chain.len() == timed + 1)
        .then(|| of_both(core, between(core, levels), levels))
}

/// The states of this core, joined with those of the other side's core if that was read.
fn of_both(core: &CoreReadings, own: Vec<Occupancy>, levels: &Levels) -> Vec<Occupancy> {
    if core.partner.is_empty() {
        return own;
    }
    let other = |place: usize| partner_state(core, place, levels);
    own.into_iter().enumerate().map(|(place, own)| joined(own, other(place))).collect()
}

/// The state of the other side's core during an observation: what its readings before and after it agree on.
fn partner_state(core: &CoreReadings, observation: usize, levels: &Levels) -> Occupancy {
    // An observation is between two readings of this core, so that many and one more are before it.
    let next = core.partner.partition_point(|[own_before, ..]| *own_before as usize <= observation + 1);
    let state = |reading: &[u32; 3]| levels.state(occupancy::quotient([reading[1], reading[2]]));
    let ends = next.checked_sub(1).map(|last| &core.partner[last]).zip(core.partner.get(next));
    ends.map(|(before, after)| (state(before), state(after)))
        .filter(|(before, after)| before == after)
        .map_or(Occupancy::Unclear, |(state, _)| state)
}

/// The state of two cores together.
fn joined(one: Occupancy, other: Occupancy) -> Occupancy {
    match (one, other) {
        (Occupancy::Alone, Occupancy::Alone) => Occupancy::Alone,
        (Occupancy::Shared, _) | (_, Occupancy::Shared) => Occupancy::Shared,
        _ => Occupancy::Unclear,
    }
}

/// A core whose state changes often may be alone at two readings and shared in between: it counts as alone only if the
/// readings before and after them agree. In three recorded runs on a core that was shared for a third of the time, the observations
/// that this excludes (a tenth of those between two readings alone) took 7 to 9 % longer in the mean; with them, a fifth of the
/// points moved by more than 2 %.
fn between(core: &CoreReadings, levels: &Levels) -> Vec<Occupancy> {
    let read: Vec<Occupancy> = core.quotients().map(|quotient| levels.state(quotient)).collect();
    // A trial beside a neighbour that takes few issue slots is neither of the core alone nor of it shared as others are.
    let alone =
        if levels.are_slightly_shared(core.quotients()) { Occupancy::Unclear } else { Occupancy::Alone };
    let around = |place: usize| &read[place.saturating_sub(1)..(place + 3).min(read.len())];
    let state = |(place, pair): (usize, &[Occupancy])| match (pair[0], pair[1]) {
        (Occupancy::Alone, Occupancy::Alone)
            if around(place).iter().all(|state| *state == Occupancy::Alone) =>
        {
            alone
        }
        (Occupancy::Shared, Occupancy::Shared) => Occupancy::Shared,
        _ => Occupancy::Unclear,
    };
    read.windows(2).enumerate().map(state).collect()
}

/// The ticks of all timed observations, in their order.
fn timed(observations: &Observations) -> Option<Vec<i64>> {
    match observations {
        Observations::Ticks { operation, baseline, .. } if baseline.is_empty() => Some(operation.clone()),
        Observations::Ticks { operation, baseline, .. } => {
            Some(operation.iter().zip(baseline).flat_map(|(one, other)| [*one, *other]).collect())
        }
        Observations::Values { .. } => None,
    }
}

/// Whether a trial found the core shared when it began, 1 or 0; for programs that did not read it then, the shared share of
/// the trial's time.
fn shared_on_arrival(sample: &Sample, levels: &Levels) -> Option<f64> {
    let Some(arrived) = sample.core.as_ref()?.arrived else { return shared_share(sample, levels) };
    match levels.state(occupancy::quotient(arrived)) {
        Occupancy::Alone => Some(0.0),
        Occupancy::Shared => Some(1.0),
        Occupancy::Unclear => None,
    }
}

/// The share of a trial's time in which the core was shared, where its state is clear: of the ticks of its observations or,
/// if it was not read next to each of them, of the readings.
pub(super) fn shared_share(sample: &Sample, levels: &Levels) -> Option<f64> {
    let timed_states: Vec<(Occupancy, f64)> = match (states(sample, levels), timed(&sample.observations)) {
        (Some(states), Some(ticks)) => {
            states.into_iter().zip(ticks.into_iter().map(|ticks| ticks.max(0) as f64)).collect()
        }
        _ => sample.core.as_ref()?.quotients().map(|quotient| (levels.state(quotient), 1.0)).collect(),
    };
    share_shared(&timed_states)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings of a core whose stream takes as long as its chain when alone, and twice as long when shared.
    fn readings(shared: &[bool]) -> CoreReadings {
        CoreReadings {
            stream: shared.iter().map(|shared| if *shared { 2000 } else { 1000 }).collect(),
            chain: vec![1000; shared.len()],
            ..CoreReadings::default()
        }
    }

    #[test]
    fn alone_at_both_ends_counts_only_if_the_readings_around_agree() {
        let quotients: Vec<f64> = (0..4000).map(|nth| if nth % 3 == 0 { 2.0 } else { 1.0 }).collect();
        let levels = statistics::levels(&quotients, 0.002).expect("two levels");
        let (alone, shared) = (Occupancy::Alone, Occupancy::Shared);
        assert_eq!([levels.state(1.0), levels.state(2.0)], [alone, shared], "{levels:?}");
        let found = between(&readings(&[false, false, false, true, true, false, false, false]), &levels);
        let unclear = Occupancy::Unclear;
        assert_eq!(found, [alone, unclear, unclear, shared, unclear, unclear, alone]);
    }
}
