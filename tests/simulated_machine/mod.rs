//! A machine whose costs are set by a test.

use fathom::plan::{
    Importance, Job, Planner, PlannerSettings, Progress, Settlement, Simulated, Step, Visit, VisitTimes,
    simulate,
};
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

/// What an experiment costs.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    blocks: usize,
    points: usize,
    preparation: f64,
    own: f64,
}

impl Costs {
    /// Points alone, of so many seconds each besides observing.
    pub fn alone(points: usize, own: f64) -> Self {
        Costs { blocks: points, points: 1, preparation: 0.004, own }
    }

    /// Blocks of so many points each.
    pub fn block(blocks: usize, points: usize, preparation: f64, own: f64) -> Self {
        Costs { blocks, points, preparation, own }
    }
}

/// The machine.
#[derive(Debug, Clone)]
pub struct Machine {
    pub jobs: Vec<Job>,
    /// The relative half-width of every interval after six trials.
    pub width: f64,
    /// Points whose intervals are so many times as wide.
    wide: (Range<usize>, f64),
    preparation: Vec<f64>,
    own: Vec<f64>,
    spread: f64,
    state: u64,
    slow: Option<Slow>,
    /// When a neighbour arrives, seconds, and how many times as much everything costs from then on.
    neighbour: (f64, f64),
    /// The exponent of the tail of costs, of which the first point and its preparation have none.
    tail: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Slow {
    from: f64,
    until: f64,
    factor: f64,
    experiment: usize,
}

impl Machine {
    pub fn alone(points: usize, own: f64) -> Self {
        Machine::of(vec![Costs::alone(points, own)])
    }

    /// One experiment after the other.
    pub fn of(costs: Vec<Costs>) -> Self {
        let (mut jobs, mut preparation, mut own) = (vec![], vec![], vec![]);
        for (experiment, costs) in costs.into_iter().enumerate() {
            for _ in 0..costs.blocks {
                let block = preparation.len();
                preparation.push(costs.preparation);
                for _ in 0..costs.points {
                    let trial = jobs.len();
                    jobs.push(Job {
                        experiment,
                        block,
                        trial,
                        importance: Importance::Other,
                        on_line: false,
                        between_cores: false,
                    });
                    own.push(costs.own);
                }
            }
        }
        Machine {
            jobs,
            width: 0.05,
            wide: (0..0, 1.0),
            preparation,
            own,
            spread: 0.0,
            state: 0,
            slow: None,
            neighbour: (0.0, 1.0),
            tail: None,
        }
    }

    /// From then on everything costs so many times as much.
    pub fn share(&mut self, from: f64, factor: f64) {
        self.neighbour = (from, factor);
    }

    /// The costs of visits have a Pareto tail with this exponent: some cost a thousand times as much as others.
    pub fn stretch(&mut self, exponent: f64, seed: u64) {
        (self.tail, self.state) = (Some(exponent), seed);
    }

    /// The most important point, the first of several.
    pub fn first(&self) -> usize {
        (0..self.jobs.len()).min_by_key(|point| self.jobs[*point].importance).unwrap()
    }

    /// Sets the first point's trials, with their preparation, to cost so much at most.
    pub fn limit_first(&mut self, seconds: f64) {
        let first = self.first();
        let each = seconds / self.neighbour.1.max(1.0) / (1.0 + self.spread) / 2.0;
        self.preparation[self.jobs[first].block] = each.min(self.preparation[self.jobs[first].block]);
        self.own[first] = each;
    }

    /// Every visit of an experiment costs so many times as much from then on.
    pub fn slow_down(&mut self, from: f64, factor: f64, experiment: usize) {
        self.slow = Some(Slow { from, until: f64::INFINITY, factor, experiment });
    }

    /// What was slow is so until then alone.
    pub fn recover(&mut self, until: f64) {
        self.slow = self.slow.map(|slow| Slow { until, ..slow });
    }

    /// The intervals of these points are so many times as wide.
    pub fn make_wide(&mut self, points: Range<usize>, times: f64) {
        self.wide = (points, times);
    }

    /// Visits cost up to so much more or less of what they cost in the mean.
    pub fn vary(&mut self, spread: f64, seed: u64) {
        (self.spread, self.state) = (spread, seed);
    }

    pub fn make_important(&mut self, point: usize, own: f64) {
        self.jobs[point].importance = Importance::Main;
        self.own[point] = own;
    }

    /// Fits a line through these points.
    pub fn fit_a_line(&mut self, points: Range<usize>) {
        self.jobs[points].iter_mut().for_each(|job| job.on_line = true);
    }

    pub fn alternate_importance(&mut self) {
        for (point, job) in self.jobs.iter_mut().enumerate() {
            job.importance = if point % 2 == 0 { Importance::Main } else { Importance::Other };
        }
    }

    /// So many points each are figures of one trial.
    pub fn join_figures(&mut self, figures: usize) {
        for (point, job) in self.jobs.iter_mut().enumerate() {
            job.trial = point / figures;
            job.block = point / figures;
        }
    }

    /// Whether a point's trials may seem dear to a planner: as costs vary by half, less than twice the mean may seem three times as much.
    /// A planner knows the mean of those points whose trials were made, which is the lesser one where dear trials were ended before.
    pub fn may_be_dear(&self, point: usize, progress: &[Progress]) -> bool {
        let visit = |point: usize| self.preparation[self.jobs[point].block] + self.own[point];
        let mean = |known: &dyn Fn(usize) -> bool| {
            let points: Vec<usize> = (0..self.jobs.len()).filter(|point| known(*point)).collect();
            let blocks: BTreeSet<usize> = points.iter().map(|point| self.jobs[*point].block).collect();
            let preparation: f64 = blocks.iter().map(|block| self.preparation[*block]).sum();
            let own: f64 = points.iter().map(|point| self.own[*point]).sum();
            (preparation + own) / points.len().max(1) as f64
        };
        let least = mean(&|_| true).min(mean(&|point| progress[point].observed > 0));
        visit(point) > 1.7 * least
    }

    pub fn is_main(&self, point: usize) -> bool {
        self.jobs[point].importance == Importance::Main
    }

    /// What the dearest visit of a single point takes.
    pub fn dearest_visit(&self) -> Duration {
        let slow = self.slow.map_or(1.0, |slow| slow.factor.max(1.0));
        let visit = |(point, job): (usize, &Job)| self.preparation[job.block] + self.own[point];
        let dearest = self.jobs.iter().enumerate().map(visit).fold(0.0, f64::max);
        Duration::from_secs_f64(dearest * slow * (1.0 + self.spread))
    }

    fn factor(&mut self, experiment: usize, elapsed: Duration) -> f64 {
        // A linear congruence is chance enough for costs.
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = (self.state >> 33) as f64 / (1_u64 << 31) as f64;
        let varied = 1.0 + self.spread * (2.0 * drawn - 1.0);
        let at = elapsed.as_secs_f64();
        let shared = if at >= self.neighbour.0 { self.neighbour.1 } else { 1.0 };
        let slow =
            self.slow.filter(|slow| slow.experiment == experiment && (slow.from..slow.until).contains(&at));
        varied * shared * slow.map_or(1.0, |slow| slow.factor)
    }

    /// How many times as much a visit costs by the tail alone.
    fn stretched(&mut self, steady: bool) -> f64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let drawn = ((self.state >> 33) as f64 + 1.0) / (1_u64 << 31) as f64;
        self.tail.filter(|_| !steady).map_or(1.0, |exponent| drawn.powf(-1.0 / exponent).min(1000.0))
    }
}

impl Simulated for Machine {
    fn spend(&mut self, visit: &Visit, elapsed: Duration) -> VisitTimes {
        let experiment = self.jobs[visit.points[0]].experiment;
        let first = self.tail.map(|_| self.first());
        let steady = first.is_some_and(|first| self.jobs[first].block == visit.block);
        let preparation =
            self.preparation[visit.block] * self.factor(experiment, elapsed) * self.stretched(steady);
        let point = |point: &usize| {
            let stretched = self.stretched(first == Some(*point));
            let own = self.own[*point] * self.factor(experiment, elapsed) * stretched;
            (*point, Duration::from_secs_f64(own) + visit.observe)
        };
        let points = visit.points.iter().map(point).collect();
        VisitTimes { preparation: Duration::from_secs_f64(preparation), points, put_back: vec![] }
    }

    fn reach(&self, point: usize, trials: usize) -> f64 {
        let times = if self.wide.0.contains(&point) { self.wide.1 } else { 1.0 };
        times * self.width * (6.0 / trials as f64).sqrt()
    }
}

/// What became of a run.
#[derive(Debug)]
pub struct Course {
    pub budget: Duration,
    pub elapsed: Duration,
    /// When as many trials were made as were first promised.
    pub promised_end: Duration,
    /// When the first point had six trials: until then a run may take a fifth more than its budget. `None` if none ever had.
    pub first_value: Option<Duration>,
    pub progress: Vec<Progress>,
    pub settlements: Vec<Settlement>,
    pub visits: Vec<Visit>,
}

pub fn settings(budget: f64) -> PlannerSettings {
    let budget = Duration::from_secs_f64(budget);
    PlannerSettings { seed: 7, budget, precision: 0.02, observe: None, trials: None, rounds: 0 }
}

pub fn fresh(machine: &Machine) -> Vec<Progress> {
    vec![Progress::default(); machine.jobs.len()]
}

/// A run from its beginning to its end.
pub fn run(machine: &mut Machine, budget: f64) -> Course {
    let planner = Planner::new(settings(budget), &machine.jobs);
    follow(planner, machine, fresh(machine), budget)
}

/// The same with a number of trials that was asked for.
pub fn run_with_trials(machine: &mut Machine, budget: f64, trials: u32) -> Course {
    let asked = PlannerSettings { trials: Some(trials), ..settings(budget) };
    let planner = Planner::new(asked, &machine.jobs);
    follow(planner, machine, fresh(machine), budget)
}

/// A run that is taken up again with what it has found.
pub fn after(first: &Course, machine: &mut Machine, budget: f64) -> Course {
    let rounds = first.visits.last().map_or(0, |visit| visit.round);
    let mut planner = Planner::new(PlannerSettings { rounds, ..settings(budget) }, &machine.jobs);
    for visit in &first.visits {
        let spent = machine.spend(visit, Duration::ZERO);
        planner.remember(visit.block, spent.preparation, &spent.points, visit.observe);
    }
    follow(planner, machine, first.progress.clone(), budget)
}

fn follow(mut planner: Planner, machine: &mut Machine, mut progress: Vec<Progress>, budget: f64) -> Course {
    let (mut settlements, mut visits) = (Vec::<Settlement>::new(), vec![]);
    let (mut end, mut promised_end, mut left) = (Duration::ZERO, None, 0);
    let has_value = |point: &Progress| point.observed >= 6;
    let mut first_value = progress.iter().any(has_value).then_some(Duration::ZERO);
    simulate(&mut planner, machine, &mut progress, &mut |step, elapsed, progress| {
        end = elapsed;
        let of_last = visits.last().map_or(&[][..], |visit: &Visit| &visit.points);
        if first_value.is_none() && of_last.iter().any(|point| has_value(&progress[*point])) {
            first_value = Some(elapsed);
        }
        if !settlements.is_empty() && left <= 0 && promised_end.is_none() {
            promised_end = Some(elapsed);
        }
        match step {
            Step::Visit(visit) => {
                left -= visit.points.len() as i64;
                visits.push(visit.clone());
            }
            Step::Settle(settled) => {
                if settlements.is_empty() {
                    left = settled.trials as i64;
                }
                settlements.push(settled.clone());
            }
            Step::Wait(_) | Step::Done(_) => {}
        }
        // A planner that forgets its budget is not waited for.
        elapsed.as_secs_f64() > 3.0 * budget
    });
    Course {
        budget: Duration::from_secs_f64(budget),
        elapsed: end,
        promised_end: promised_end.unwrap_or(end),
        first_value,
        progress,
        settlements,
        visits,
    }
}
