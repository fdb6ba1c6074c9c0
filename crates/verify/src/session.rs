//! Measuring rigs: a run of their points, and the judgement of its results.

use super::rig::{Arranged, Rig, ensure_undone};
use super::truth::NoFigure;
use anyhow::{Result, bail};
use fathom_core::sorting;
use fathom_engine::record::{Ending, Header, Journal, Run, Truth, Verdict};
use fathom_engine::results::Results;
use fathom_engine::run::{Options, Peering, RunInProgress, Watcher, described};
use std::path::PathBuf;
use std::time::Duration;

/// The half-width of intervals at which measuring ends: a fifth of the tolerance.
const PRECISION: f64 = super::truth::TOLERANCE / 5.0;

#[derive(Debug, Clone)]
pub struct Bench {
    /// The folder in which files may be created.
    pub folder: PathBuf,
    /// The CPU for pinned work; by default one of the fastest kind.
    pub cpu: Option<usize>,
    /// The seed of all randomness; random by default.
    pub seed: Option<u64>,
    /// The factor on the usual measuring time.
    pub times_as_long: f64,
}

/// Measures these rigs, those without an arrangement in one run, and judges the results; in the given order.
pub fn verify(rigs: &[&'static Rig], bench: &Bench, watcher: &mut dyn Watcher) -> Result<Vec<Truth>> {
    let (arranged, plain): (Vec<_>, Vec<_>) = rigs.iter().copied().partition(|rig| rig.arrange.is_some());
    let sessions = std::iter::once(plain).chain(arranged.into_iter().map(|rig| vec![rig]));
    let mut truths = vec![];
    for session in sessions.filter(|session| !session.is_empty()) {
        truths.extend(confirmed(&session, bench, watcher)?);
    }
    let place = |truth: &Truth| rigs.iter().position(|rig| rig.name == truth.rig);
    sorting::by_key(&mut truths, place);
    Ok(truths)
}

/// The truths of a session, confirmed. A disturbance may spoil one session, while an instrument that is wrong is wrong in
/// all: every wrong truth is measured once more, and becomes inconclusive if the second session contradicts the first.
fn confirmed(rigs: &[&'static Rig], bench: &Bench, watcher: &mut dyn Watcher) -> Result<Vec<Truth>> {
    let mut truths = measured(rigs, bench, watcher)?;
    let is_wrong =
        |rig: &&&Rig| truths.iter().any(|truth| truth.rig == rig.name && truth.verdict == Verdict::Wrong);
    let wrong: Vec<&'static Rig> = rigs.iter().filter(is_wrong).copied().collect();
    if wrong.is_empty() {
        return Ok(truths);
    }
    let again = measured(&wrong, bench, watcher)?;
    for truth in truths.iter_mut().filter(|truth| truth.verdict == Verdict::Wrong) {
        let same = |other: &&Truth| (&other.rig, &other.what) == (&truth.rig, &truth.what);
        let second = again.iter().find(same).map_or(Verdict::Skipped, |other| other.verdict);
        if second != Verdict::Wrong {
            truth.verdict = Verdict::Inconclusive;
            truth.because = Some(format!("wrong in one session and {} in the next", second.name()));
        }
    }
    Ok(truths)
}

/// One session: arranged, measured, judged.
fn measured(rigs: &[&'static Rig], bench: &Bench, watcher: &mut dyn Watcher) -> Result<Vec<Truth>> {
    let machine = described(&bench.folder, None, bench.cpu)?.0;
    let (mut options, mut truths, mut able) =
        (bench.options(rigs.iter().map(|rig| rig.budget).sum(), PRECISION), vec![], vec![]);
    for rig in rigs {
        match (rig.points)(&machine) {
            Ok(points) => {
                options.points.extend(points);
                able.push(*rig);
            }
            Err(reason) => truths.push(NoFigure::skipped(reason).of(rig)),
        }
    }
    let arrange = able.first().and_then(|rig| Some((rig, rig.arrange?)));
    let Arranged { peering, held, account } = match arrange.map(|(rig, arrange)| (rig, arrange(&mut options)))
    {
        Some((rig, Err(reason))) => return Ok(vec![NoFigure::skipped(reason).of(rig)]),
        Some((_, Ok(arranged))) => arranged,
        None => Arranged::default(),
    };
    let run = run(&mut options, peering, watcher)?;
    let known = account.map(|account| account());
    drop(held);
    ensure_undone()?;
    let results = Results::of(&run);
    truths.extend(able.iter().flat_map(|rig| (rig.judge)(rig, &results, known)));
    Ok(truths)
}

impl Bench {
    /// The options of a run: the usual budget times the factor, and the target half-width.
    pub(super) fn options(&self, budget: Duration, precision: f64) -> Options {
        Options {
            budget: Some(budget.mul_f64(self.times_as_long)),
            precision: Some(precision),
            seed: self.seed,
            cpu: self.cpu,
            ..Options::of(vec![], self.folder.clone())
        }
    }
}

/// A run of the requested points, without a run file. If all of them are skipped it has no trials but the reasons.
pub(super) fn run(options: &mut Options, peering: Option<Peering>, watcher: &mut dyn Watcher) -> Result<Run> {
    options.selection = options.points.iter().map(|(name, _)| (*name).to_owned()).collect();
    let header: Header = options.header(peering.as_ref().map(Peering::described))?;
    if header.plan.iter().all(|point| point.skip.is_some()) {
        return Ok(Run::begun(header));
    }
    let mut in_progress = RunInProgress::written_to(header, || Ok(Journal::nowhere()), peering)?;
    in_progress.measure(watcher)?;
    let run = in_progress.into_run();
    if run.closing.as_ref().is_some_and(|closing| closing.ended == Ending::Interrupted) {
        bail!("it was interrupted: there is no verdict");
    }
    Ok(run)
}
