//! Section 4.1: what a load takes, by the size of what is loaded from.

use super::pointer_list::{ELEMENT, PointerList};
use crate::experiment::{Failure, Placement, Point, Requirement};
use crate::machine::Machine;
use crate::quantity::Unit;
use crate::quantity::declared::size;
use crate::replicate::sweep::nearest;
use crate::replicate::{
    Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs,
};
use std::time::{Duration, Instant};

const LATENCY: Method = Method {
    name: "memory latency",
    text: "The third version of the report's test: an array of pointers of 512 B, 1 KiB and so on by doubling; each element \
           points to a random one of the next stride, and at the end the array is a ring. 1,000,000 dependent loads, ten in a \
           time round the loop, are timed as a whole with the system's nanosecond clock. Strides of 8 elements, times \
           4 each.",
    differs: "mach_absolute_time is clock_gettime here. The largest array is four times the last cache, of 64 MiB at least and 512 \
              MiB at most (theirs stands only in a picture), the largest stride 2048 elements. The report does not say at which size \
              and stride a plateau was read: here the mean over the strides, in the midst of each declared cache and in the largest \
              array.",
    placement: Placement::OneCpu,
    needs: &[Requirement::MemoryBytes(SMALLEST_LARGEST)],
    limit: Duration::from_mins(2),
    measure: latency,
};

const STRIDES: [usize; 5] = [8, 32, 128, 512, 2048];
const LOADS: usize = 1_000_000;
const SMALLEST: usize = 512;
const SMALLEST_LARGEST: u64 = 64 << 20;
const LARGEST: u64 = 512 << 20;
const RAM: &str = "RAM";
/// By level.
const CACHES: [&str; 3] = ["L1", "L2", "L3"];

const fn row(
    operation: &'static str,
    theirs: &'static str,
    variant: &'static str,
    point: fn(&Machine) -> Point,
    misleads: &'static str,
) -> Row {
    Row {
        section: "4.1",
        operation,
        unit: Unit::Nanoseconds,
        per: "load",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(&LATENCY),
        statistic: Statistic::variant(variant, Fit::Mean(Deviation::None)),
        fathom: SameQuestion::Point("memory/load_latency", point),
        misleads,
    }
}

/// A load from memory.
pub const RAM_ROW: Row = row(
    "RAM access",
    "s003-0525",
    RAM,
    |machine| chase(machine, 3),
    "The next element is always a little ahead: with short strides, prefetchers have its line under way before it is asked for. \
     With long ones the pointers lead through a part of the array again and again, because each was drawn by itself and \
     the laps soon repeat, and caches hold that part, unless others have them. Either way memory looks faster than it is; with strides of a page and more each load also waits for its translation, which makes it look slower again. One mean over such curves hides all three.",
);

/// A load that L1 answers.
pub const L1_ROW: Row = row(
    "L1 access",
    "s003-0203",
    CACHES[0],
    |machine| chase(machine, 0),
    "Nothing here: in the first cache the order of the loads does not matter.",
);

/// A load that L2 answers.
pub const L2_ROW: Row = row(
    "L2 access",
    "s003-0204",
    CACHES[1],
    |machine| chase(machine, 1),
    "As for RAM: short strides are prefetched into L1, and of long ones the part that is visited partly fits into it.",
);

/// A load that L3 answers.
pub const L3_ROW: Row = row(
    "L3 access",
    "s003-0205",
    CACHES[2],
    |machine| chase(machine, 2),
    "As for RAM: short strides are prefetched, and of long ones the part that is visited partly fits into L2.",
);

/// Fathom's point at a level's size (3 is memory), in base pages as theirs were.
fn chase(machine: &Machine, level: usize) -> Point {
    let wanted =
        if level == 3 { largest(machine) } else { middle(machine, level).unwrap_or(1 << (14 + 3 * level)) };
    let names: &[(&str, &[&str])] = &[("order", &["random cycle"]), ("pages", &["base"])];
    nearest("memory/load_latency", machine, names, &[("size", wanted)])
}

/// The declared data caches of the CPU that pinned work usually runs on, by level, bytes.
fn caches(machine: &Machine) -> [Option<u64>; 3] {
    let cpu = machine.allowed_cpus().last().copied().unwrap_or(0);
    [1, 2, 3].map(|level| machine.data_cache_bytes(cpu, level))
}

/// A power of two in the midst of a cache (0 for L1): half way, by ratio, from the cache before it.
fn middle(machine: &Machine, level: usize) -> Option<u64> {
    let caches = caches(machine);
    let mine = caches[level]?;
    let before = level.checked_sub(1).and_then(|before| caches[before]).unwrap_or(mine / 4);
    let middle = ((mine as f64) * (before as f64)).sqrt();
    Some(1 << (middle as u64).max(1).ilog2())
}

/// The largest array, bytes: a power of two.
fn largest(machine: &Machine) -> u64 {
    let beyond = machine.last_level_caches_bytes().unwrap_or(0).saturating_mul(4);
    let available = machine.available_bytes().unwrap_or(u64::MAX) / 4;
    let most = LARGEST.min(1 << available.max(SMALLEST_LARGEST).ilog2());
    beyond.clamp(SMALLEST_LARGEST, LARGEST).next_power_of_two().min(most)
}

fn latency(stage: &Stage) -> Result<Series, Failure> {
    let machine = Machine::describe(&stage.site.folder);
    let largest = largest(&machine) as usize;
    let levels: Vec<(&str, u64)> = CACHES
        .into_iter()
        .enumerate()
        .filter_map(|(level, name)| Some((name, middle(&machine, level)?)))
        .chain([(RAM, largest as u64)])
        .collect();
    let mut list = PointerList::new(largest, stage.site.seed)?;
    let (mut series, mut plateaus) = (Series::default(), vec![vec![]; levels.len()]);
    for stride in STRIDES {
        let name = format!("stride {}", size((stride * ELEMENT) as u64));
        let mut bytes = SMALLEST;
        while bytes <= largest {
            list.link(bytes, stride);
            let each = load_ns(&list);
            series = series.and(&name, bytes as f64, vec![each]);
            for (level, plateau) in levels.iter().zip(&mut plateaus) {
                if level.1 == bytes as u64 {
                    plateau.push(each);
                }
            }
            if bytes == largest {
                series = series.seen(format!(
                    "{name}: {each:.1} ns from {}, of which the loads touched {}",
                    size(bytes as u64),
                    size(list.touched(LOADS) as u64)
                ));
            }
            bytes *= 2;
        }
    }
    let by_level = levels.into_iter().zip(plateaus);
    Ok(by_level.fold(series, |series, ((name, bytes), values)| series.and(name, bytes as f64, values)))
}

/// One sample: a million loads, timed as a whole.
fn load_ns(list: &PointerList) -> f64 {
    let began = Instant::now();
    std::hint::black_box(list.follow(LOADS));
    began.elapsed().as_secs_f64() * 1e9 / LOADS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_levels_are_powers_of_two_between_one_cache_and_the_next() {
        let machine = Machine::describe(std::path::Path::new("/"));
        let caches = caches(&machine);
        for level in 0..3 {
            if let (Some(middle), Some(mine)) = (middle(&machine, level), caches[level]) {
                assert!(middle.is_power_of_two() && middle <= mine, "level {level}: {middle} of {mine}");
                let before = level.checked_sub(1).and_then(|before| caches[before]);
                assert!(before.is_none_or(|before| middle * 2 > before), "level {level}: {middle}");
            }
        }
        assert!(largest(&machine).is_power_of_two());
    }
}
