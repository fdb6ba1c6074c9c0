//! Section 4.1: the time of a load, by the size of the array.

use super::pointer_list::{ELEMENT, PointerList};
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Point, Requirement};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_core::quantity::declared::size;
use std::time::{Duration, Instant};

const LATENCY: Method = Method {
    name: "memory latency",
    text: "This is the third version of the report's test. Arrays of pointers have 512 B, 1 KiB and so on, doubling. Each element points \
           to a random element of the next stride, and the end of the array points back to the beginning. 1,000,000 dependent loads, ten \
           in each iteration of the loop, are timed as a whole with the system's nanosecond clock. Strides are 8 elements, 32 and so on, \
           times 4.",
    differs: "clock_gettime replaces mach_absolute_time. The largest array is four times the last-level cache, at least 64 MiB and at most \
              512 MiB (the report shows its own only in a picture); the largest stride is 2048 elements. The report does not say at which \
              size and stride it read a plateau. Here a plateau is the mean over the strides, at an array in the middle of each declared \
              cache and at the largest array.",
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
    "The next element is always a little further on, so with short strides prefetchers fetch its line before it is needed. With long \
     strides the pointers visit only a part of the array, because each was drawn independently and the rounds soon repeat; unless other \
     programs displace it, that part stays in the caches. Both make memory look faster than it is. With strides of a page and more, each \
     load also waits for its address translation, which makes memory look slower. One mean over such curves hides all three effects.",
);

/// A load that L1 answers.
pub const L1_ROW: Row = row(
    "L1 access",
    "s003-0203",
    CACHES[0],
    |machine| chase(machine, 0),
    "The two methods do not differ here: in the first cache the order of the loads does not matter.",
);

/// A load that L2 answers.
pub const L2_ROW: Row = row(
    "L2 access",
    "s003-0204",
    CACHES[1],
    |machine| chase(machine, 1),
    "As for RAM: short strides are prefetched into L1, and with long strides the part of the array that is visited partly fits into it.",
);

/// A load that L3 answers.
pub const L3_ROW: Row = row(
    "L3 access",
    "s003-0205",
    CACHES[2],
    |machine| chase(machine, 2),
    "As for RAM: short strides are prefetched, and with long strides the part of the array that is visited partly fits into L2.",
);

/// Fathom's point at a level's size (3 is memory), in base pages as in the report.
fn chase(machine: &Machine, level: usize) -> Point {
    let wanted =
        if level == 3 { largest(machine) } else { middle(machine, level).unwrap_or(1 << (14 + 3 * level)) };
    let names: &[(&str, &[&str])] = &[("order", &["random cycle"]), ("pages", &["base"])];
    nearest("memory/load_latency", machine, names, &[("size", wanted)])
}

/// The declared data caches, by level, of the CPU on which pinned work usually runs, bytes.
fn caches(machine: &Machine) -> [Option<u64>; 3] {
    let cpu = machine.allowed_cpus().last().copied().unwrap_or(0);
    [1, 2, 3].map(|level| machine.data_cache_bytes(cpu, level))
}

/// A power of two in the middle of a cache (0 for L1): the geometric mean of its size and that of the cache before it.
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
                    "{name}: {each:.1} ns from {}, of which the loads touched {}.",
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
        let machine = fathom_described::machine();
        let caches = caches(&machine);
        for level in 0..3 {
            let (middle, mine) = (middle(&machine, level).unwrap(), caches[level].unwrap());
            assert!(middle.is_power_of_two() && middle <= mine, "level {level}: {middle} of {mine}");
            let before = level.checked_sub(1).and_then(|before| caches[before]);
            assert!(before.is_none_or(|before| middle * 2 > before), "level {level}: {middle}");
        }
        assert!(largest(&machine).is_power_of_two());
    }
}
