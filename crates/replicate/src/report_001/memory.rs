//! Section 4: memory.

use crate::mapping::MappedFile;
use crate::operations::{LineKernels, line_rates};
use crate::protocol::TrialProtocol;
use crate::timer::{CpuidRdtscRdtscp, Timer};
use crate::unoptimised::{Links, UNROLLED, follow, read_lines_unrolled, write_lines_unrolled};
use crate::usage::Usage;
use crate::{Series, Stage, caches};
use fathom_core::experiment::Failure;
use fathom_core::machine::Machine;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_equipment::test_file::evict_after_reads;

/// The plateaus, as variants of the series.
const LEVELS: [&str; 4] = ["first cache", "second cache", "third cache", "memory"];
const PAGE: f64 = 4096.0;
/// The machine, for the sizes of its caches and the available memory.
fn described(stage: &Stage) -> (Machine, u64) {
    let machine = Machine::describe(&stage.site.folder);
    let most = machine.available_bytes().unwrap_or(1 << 30) / 2;
    (machine, most)
}

/// Links followed in a trial.
const LOADS: u32 = 1_000_000;
const STRIDES: [usize; 3] = [64, 128, 512];
/// The stride whose plateaus are the figures of the levels, bytes.
const PLATEAU_STRIDE: usize = 128;
const INT: usize = size_of::<i32>();

pub(super) fn chasing(stage: &Stage) -> Result<Series, Failure> {
    let (machine, most) = described(stage);
    let tick_ns = stage.ns_per_tick()?;
    let sizes: Vec<usize> = (8..=30).map(|power| 1 << power).filter(|size| *size as u64 <= most).collect();
    let mut series = Series::default();
    let mut curve = vec![];
    for stride in STRIDES {
        for size in &sizes {
            let values = followed(*size, stride, tick_ns)?;
            if stride == PLATEAU_STRIDE {
                curve.push((*size as u64, values.clone()));
            }
            series = series.and(&format!("stride of {stride} bytes"), *size as f64, values);
        }
    }
    Ok(plateaus(series, &curve, &machine, stage.site.home))
}

/// Nanoseconds per step through an array, by trials.
fn followed(size: usize, stride: usize, tick_ns: f64) -> Result<Vec<f64>, Failure> {
    let links = Links::ring(size / INT, stride / INT);
    TrialProtocol::TEN.values(|| {
        let mut arrived = 0;
        let ticks = CpuidRdtscRdtscp::ticks(|| arrived = follow(&links, LOADS));
        std::hint::black_box(arrived);
        Ok(ticks as f64 * tick_ns / f64::from(LOADS))
    })
}

/// The values at the largest array that fits into half of each cache, and at the largest of all.
fn plateaus(series: Series, curve: &[(u64, Vec<f64>)], machine: &Machine, cpu: Option<usize>) -> Series {
    let halves = (1..=3).map(|level| caches::of_report_001(machine, level, cpu) / 2);
    let places = LEVELS.into_iter().zip(halves.chain([u64::MAX]));
    places.fold(series, |series, (level, most)| match curve.iter().rev().find(|(size, _)| *size <= most) {
        Some((size, values)) => series.and(level, *size as f64, values.clone()),
        None => series,
    })
}

/// The largest array that is streamed through, bytes.
const LARGEST_ARRAY: u64 = 2 << 30;

pub(super) fn streaming(stage: &Stage) -> Result<Series, Failure> {
    let (machine, most) = described(stage);
    let bytes = (6 * caches::of_report_001(&machine, 3, stage.site.home)).min(LARGEST_ARRAY).min(most);
    let kernels: LineKernels = (read_lines_unrolled, write_lines_unrolled);
    let rates = line_rates::<CpuidRdtscRdtscp>(stage, TrialProtocol::TEN, (bytes, UNROLLED), kernels)?;
    Ok(rates.with_note(format!("The array had {}.", quantities::value(Unit::Bytes, bytes as f64))))
}

/// The file whose pages are faulted in, bytes.
const FILE: u64 = 64 << 20;

pub(super) fn faulting(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let test = stage.nameless(FILE)?;
    let before = Usage::now();
    let values = TrialProtocol::TEN.values(|| {
        evict_after_reads(&test.file)?;
        let mapped = MappedFile::readable(&test.file, FILE as usize)?;
        Ok(CpuidRdtscRdtscp::ticks(|| _ = mapped.read(0)) as f64 * tick_ns)
    })?;
    let major = Usage::now().since(before).major;
    let note = format!("The kernel counted {major} major faults in {} accesses.", values.len());
    let per_byte = values.iter().map(|ns| ns / PAGE).collect();
    Ok(Series::of(values).and("per byte", 0.0, per_byte).with_note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_that_of_the_largest_array_that_half_a_cache_holds() {
        let machine = fathom_described::machine();
        let curve: Vec<(u64, Vec<f64>)> =
            (8..=30).map(|power| (1 << power, vec![f64::from(power)])).collect();
        let series = plateaus(Series::default(), &curve, &machine, Some(0));
        let at: Vec<f64> = LEVELS.iter().map(|level| series.variant(level).next().unwrap().at).collect();
        assert!(at.is_sorted() && at[3].to_bits() == f64::from(1 << 30).to_bits(), "{at:?}");
        for (level, at) in (1..=3).zip(&at) {
            let half = caches::of_report_001(&machine, level, Some(0)) as f64 / 2.0;
            assert!(*at <= half && 2.0 * at > half, "level {level}: {at} of {half}");
        }
    }
}
