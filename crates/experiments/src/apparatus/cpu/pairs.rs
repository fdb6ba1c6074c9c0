//! Pairs of CPUs: the points of experiments on the relation between two CPUs.

use fathom_core::machine::Nearness;
use fathom_core::prelude::*;
use fathom_core::sorting;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;

pub const FROM: Parameter = Parameter::count("from", "the CPU that begins");
pub const TO: Parameter = Parameter::count("to", "the CPU that answers");

/// Machines with more CPUs than this measure a sample of the pairs: as many pairs as this many CPUs have.
const WHOLE_UP_TO: usize = 16;
/// Pairs with the first CPU in a sample.
const OF_THE_FIRST: usize = WHOLE_UP_TO - 1;
/// Total pairs in a sample.
const IN_ALL: usize = WHOLE_UP_TO * (WHOLE_UP_TO - 1) / 2;

type CpuPair = (usize, usize);

/// The pairs of a run. A machine with one CPU has no pair: the point stays in the plan and is skipped, with the reason.
pub fn sweep(machine: &Machine, options: &SweepOptions) -> Vec<Point> {
    let cpus = machine.allowed_cpus();
    let of = |(index, from): (usize, &usize)| {
        let from = *from;
        cpus[index + 1..].iter().map(move |to| (from, *to)).collect::<Vec<_>>()
    };
    let mut pairs: Vec<CpuPair> = cpus.iter().enumerate().flat_map(of).collect();
    if cpus.len() > WHOLE_UP_TO && !options.every_pair {
        let mut chance = SplitMix64::seed_from_u64(options.seed);
        let (first, others) = pairs.into_iter().partition(|pair| pair.0 == cpus[0]);
        pairs = drawn(machine, first, OF_THE_FIRST, &mut chance);
        pairs.extend(drawn(machine, others, IN_ALL - OF_THE_FIRST, &mut chance));
    }
    if pairs.is_empty() { vec![point((0, 1))] } else { pairs.into_iter().map(point).collect() }
}

/// At most `most` pairs, in their order: the first of each kind, then pairs drawn at random from each kind in turn.
fn drawn(machine: &Machine, pairs: Vec<CpuPair>, most: usize, chance: &mut SplitMix64) -> Vec<CpuPair> {
    let mut kinds = BTreeMap::<Nearness, Vec<(u64, CpuPair)>>::new();
    for pair in pairs {
        let kind = kinds.entry(machine.nearness(pair.0, pair.1)).or_default();
        kind.push((if kind.is_empty() { 0 } else { chance.next_u64() }, pair));
    }
    let in_random_order = |mut kind: Vec<(u64, CpuPair)>| {
        kind.sort_unstable();
        kind.into_iter().map(|(_, pair)| pair).enumerate()
    };
    let mut ranked: Vec<(usize, CpuPair)> = kinds.into_values().flat_map(in_random_order).collect();
    ranked.sort_unstable();
    ranked.truncate(most);
    sorting::by_key(&mut ranked, |(_, pair)| *pair);
    ranked.into_iter().map(|(_, pair)| pair).collect()
}

/// The two CPUs of a point.
pub fn of(point: &Point) -> CpuPair {
    (point.number(&FROM) as usize, point.number(&TO) as usize)
}

/// A quick run measures the pairs with the first CPU.
pub fn effort(point: &Point, machine: &Machine) -> Effort {
    let first = machine.allowed_cpus().first();
    if first.is_none_or(|first| of(point).0 == *first) { Effort::Quick } else { Effort::Standard }
}

pub fn point((from, to): CpuPair) -> Point {
    Point::at(Placement::AcrossCpus).with(&FROM, from as u64).with(&TO, to as u64)
}
