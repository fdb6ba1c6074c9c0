//! A chain of dependent multiplications: half as many take half the time, and each takes three cycles of the core's clock.

use super::prelude::*;
use fathom_core::statistics;
use fathom_engine::record::Trial;
use fathom_engine::results::core_hz_of;
use std::collections::BTreeMap;

pub static RIG: Rig = Rig::of_known_work(
    "chain",
    "a chain of dependent multiplications",
    Duration::from_secs(4),
    |_| Ok([LONG, LONG / 2].map(chain_of).to_vec()),
    judge,
);

pub static WORK: KnownWork = KnownWork {
    points: || [LONG, LONG / 2].map(point).to_vec(),
    requires: &[Requirement::ASSEMBLY],
    block: Some("chains"),
    ..KnownWork::of(
        &about(
            NAME,
            "Does half the work take half the time, and the known number of cycles?",
            "the whole chain",
            "Each multiplication depends on the previous one. The two lengths are measured in one process, one after the \
             other.",
            &[MULTIPLICATIONS],
        ),
        prepare,
    )
};

const NAME: &str = "verify/chain";
const MULTIPLICATIONS: Parameter = Parameter::count("multiplications", "multiplications in the chain");

/// Multiplications of the long chain: some tens of microseconds.
const LONG: u64 = 51_200;

/// Cycles of a multiplication of two 64-bit registers (Fog, Instruction tables, 2022: Intel since Nehalem, AMD since Zen 2;
/// Arm, Neoverse V1 and N2 Software Optimization Guides). The instrument assumes the same value: if the actual one differs,
/// its chains disagree, and it reports no frequency.
const CYCLES: f64 = 3.0;

fn point(multiplications: u64) -> Point {
    Point::new().with(&MULTIPLICATIONS, multiplications)
}

fn chain_of(multiplications: u64) -> PointRef {
    (NAME, point(multiplications))
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn prepare<'site>(point: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
    use fathom_experiments::apparatus::cpu::arithmetic_kernel::{UNROLLED, find};
    let kernel = find("integer-multiply", 1)
        .ok_or_else(|| Failure::Unsupported("there is no such chain in assembly".to_owned()))?;
    let turns = point.number(&MULTIPLICATIONS) / UNROLLED;
    Ok(Workload::batched(move |n: u64| {
        (0..n).for_each(|_| kernel(turns));
        Ok(())
    }))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn prepare<'site>(_: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
    Err(Failure::Unsupported("the chains are written in assembly".to_owned()))
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let of = |length| result(results, &chain_of(length));
    let ratio = || by_rounds([of(LONG)?, of(LONG / 2)?], |[long, short]| long / short);
    vec![
        Claim::of(rig, "whole chain over half of it, ratio", None, 2.0).judged(ratio()),
        Claim::of(rig, "a multiplication, core cycles", None, CYCLES)
            .judged(of(LONG).and_then(|point| cycles(results, point))),
    ]
}

/// The cycles of a multiplication, each trial by the frequency observed next to it.
fn cycles(results: &Results, point: &PointResult) -> Result<TruthFigure, NoFigure> {
    estimate(point)?;
    let is_its = |trial: &&Trial| trial.experiment == point.experiment && trial.point == point.point;
    let frequency = |trial: &Trial| Some((trial.round, core_hz_of(&results.run.header, trial)?));
    let frequencies: BTreeMap<u32, f64> =
        results.run.trials.iter().filter(is_its).filter_map(frequency).collect();
    let cycles = |(round, ns): &(u32, f64)| Some([ns * frequencies.get(round)? / 1e9 / LONG as f64]);
    let trials: Vec<[f64; 1]> = point.as_observed().iter().filter_map(cycles).collect();
    let estimate = statistics::estimate(&trials).ok_or_else(|| {
        NoFigure::skipped("the core's frequency was not found: its chains of known latency do not agree")
    })?;
    if 2 * trials.len() < point.by_round.len() {
        return Err(NoFigure::inconclusive("the core's frequency changed within most trials"));
    }
    Ok(TruthFigure::of(&estimate, &[point]))
}
