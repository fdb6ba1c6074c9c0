//! Before every visit: are the cores on which short work may run alone?

use super::environment::reading_times;
use crate::plan::{CoreWanted, Moment, Moments, OwnCore};
use crate::record::{CoreLook, Header, Look, PlannedPoint};
use crate::results::UnlikeCpu;
use fathom_core::experiment::{Experiment, Point};
use fathom_core::sampling::{ClockKind, Sample, line_transfer, occupancy};

/// The visits on each CPU of the kind by which they are compared.
const COMPARISONS: usize = 6;

/// Whether a planned point is short work on one CPU that may run on any of the kind.
fn is_comparable(planned: &PlannedPoint) -> bool {
    let (point, method) = (&planned.point, planned.method());
    planned.skip.is_none()
        && method.is_ok_and(|method| method.runs_on_any_cpu(point) && method.waits_for_the_core_alone(point))
}

/// The cores that are looked at.
#[derive(Debug)]
pub(super) struct CoreWatch {
    /// The CPUs, first the run's own.
    cpus: Vec<usize>,
    /// The CPU of the other side of work between two.
    partner: Option<usize>,
    clock: ClockKind,
    reading_times: u32,
    /// Those found unlike the run's own, on which nothing is measured any more.
    unlike: Vec<usize>,
    /// The experiment whose visits are made on all of them by turns until they are known to be alike, and how many were made.
    compared: Option<String>,
    comparisons: usize,
    /// The time in which the run's own core was alone and shared.
    own: OwnCore,
    /// The trials on others of the kind than the run's own CPU.
    elsewhere: usize,
    /// The first CPU whose core was alone at the last look, and the first whose core was shared.
    alone: Option<usize>,
    shared: Option<usize>,
}

impl CoreWatch {
    pub(super) fn of(header: &Header) -> Self {
        let home = header.settings.home;
        let cpus = std::iter::once(home).chain(header.settings.alike.iter().copied()).collect();
        CoreWatch {
            cpus,
            partner: header.settings.partner,
            clock: header.clock.kind,
            reading_times: reading_times(header),
            unlike: vec![],
            compared: header
                .plan
                .iter()
                .find(|planned| is_comparable(planned))
                .map(|planned| planned.experiment.clone()),
            comparisons: 0,
            own: OwnCore::default(),
            elsewhere: 0,
            alone: None,
            shared: None,
        }
    }

    /// Looks at the cores: the moment, and the readings. `alone_up_to` is the greatest quotient of the core alone; until it is
    /// known only the run's own CPU is looked at.
    pub(super) fn look(&mut self, at_s: f64, alone_up_to: Option<f64>) -> (Moments, Option<Look>) {
        let reading = |cpu: &usize| {
            let [stream, chain] = occupancy::look(*cpu, self.clock, self.reading_times)?;
            // Without a stream of additions there is nothing to read.
            (chain > 0).then_some(CoreLook { cpu: *cpu, stream, chain })
        };
        let cores: Vec<CoreLook> = self.at_which(alone_up_to.is_some()).iter().filter_map(reading).collect();
        let is_alone = |core: &&CoreLook| alone_up_to.is_some_and(|limit| core.quotient() <= limit);
        if let (Some(_), Some(own)) = (alone_up_to, cores.iter().find(|core| self.cpus[0] == core.cpu)) {
            self.own.saw(at_s, is_alone(&own));
        }
        let usable = || cores.iter().filter(|core| self.may_run_on(core.cpu));
        let alone = usable().find(is_alone).map(|core| core.cpu);
        let shared = usable().find(|core| !is_alone(core)).map(|core| core.cpu);
        (self.alone, self.shared) = (alone, shared);
        let moment = match (alone_up_to, self.alone, self.shared) {
            (Some(_), Some(_), Some(_)) => Moment::Either,
            (Some(_), Some(_), None) => Moment::Alone,
            (Some(_), None, Some(_)) => Moment::Shared,
            _ => Moment::Unknown,
        };
        let both = [self.cpus.first().copied(), self.partner]
            .map(|cpu| cores.iter().find(|core| Some(core.cpu) == cpu).map(|core| is_alone(&core)));
        let between_two = match both {
            [Some(true), Some(true)] => Moment::Alone,
            [Some(_), Some(_)] => Moment::Shared,
            _ => moment,
        };
        (
            Moments { on_one: moment, between_two },
            (!cores.is_empty()).then_some(Look { at_s, cores, line_ticks: None }),
        )
    }

    /// Whether short work may run on a CPU now: on the run's own, and on others of the kind that are not unlike while the run's own core is
    /// alone too seldom.
    fn may_run_on(&self, cpu: usize) -> bool {
        let is_alike = self.cpus.contains(&cpu) && !self.unlike.contains(&cpu);
        cpu == self.cpus[0] || (is_alike && !self.own.suffices())
    }

    /// Looks at how far the CPUs of work on two are from each other; `None` without a second CPU, or while it is busy.
    pub(super) fn look_at_distance(&self, at_s: f64) -> Option<Look> {
        let cpus = [self.cpus.first().copied()?, self.partner?];
        let line_ticks = Some(line_transfer::round_trip(cpus, self.clock)?);
        Some(Look { at_s, cores: vec![], line_ticks })
    }

    /// The CPUs that are looked at: until the levels are known only the run's own.
    fn at_which(&self, levels_known: bool) -> Vec<usize> {
        if !levels_known {
            return self.cpus[..1].to_vec();
        }
        let partner = self.partner.filter(|partner| !self.cpus.contains(partner));
        self.cpus.iter().copied().chain(partner).collect()
    }

    /// Whether the CPUs are to be compared after this trial: after 8, 16, 32… on others than the run's own.
    pub(super) fn is_comparison_due(&mut self, sample: Option<&Sample>) -> bool {
        let cpu = sample.and_then(|sample| sample.home);
        let is_elsewhere = cpu.is_some_and(|cpu| self.cpus[1..].contains(&cpu));
        self.elsewhere += usize::from(is_elsewhere);
        is_elsewhere && self.elsewhere >= 8 && self.elsewhere.is_power_of_two()
    }

    /// Measures no longer on these CPUs.
    pub(super) fn leave_out(&mut self, unlike: &[UnlikeCpu]) {
        self.unlike = unlike.iter().map(|one| one.cpu).collect();
    }

    /// The CPU of the next comparison of the CPUs of the kind; `None` for other work, once each has been compared, and while only the
    /// run's own is used.
    fn next_compared(&mut self, experiment: &dyn Experiment) -> Option<usize> {
        let is_compared = self.compared.as_deref() == Some(experiment.about().name);
        let more = is_compared && !self.own.suffices() && self.comparisons < COMPARISONS * self.cpus.len();
        more.then(|| {
            self.comparisons += 1;
            self.cpus[self.comparisons % self.cpus.len()]
        })
    }

    /// The CPUs of a point: short work on one CPU runs where the core is as requested.
    pub(super) fn cpus(
        &mut self,
        core: CoreWanted,
        experiment: &dyn Experiment,
        point: &Point,
        usual: (Option<usize>, Option<usize>),
    ) -> (Option<usize>, Option<usize>) {
        let moves = experiment.runs_on_any_cpu(point);
        let chosen = match core {
            CoreWanted::Any => None,
            CoreWanted::Alone => self.alone,
            CoreWanted::Shared => self.shared,
        };
        let compared =
            if moves && core != CoreWanted::Shared { self.next_compared(experiment) } else { None };
        let compared = compared.filter(|cpu| self.may_run_on(*cpu));
        compared.or(chosen).filter(|_| moves).map_or(usual, |cpu| (Some(cpu), Some(cpu)))
    }
}
