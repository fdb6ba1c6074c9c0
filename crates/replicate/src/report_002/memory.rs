//! Its chapter "Memory".

use super::cpu::span;
use crate::mapping::MappedFile;
use crate::operations::line_rates;
use crate::protocol::TrialProtocol;
use crate::timer::{Fenced, Timer};
use crate::unoptimised::{read_lines, write_lines};
use crate::usage::Usage;
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, ensure};
use fathom_core::machine::Machine;
use fathom_core::quantities;
use fathom_equipment::test_file::blocks::below;

const THOUSAND: TrialProtocol = TrialProtocol::THOUSAND;

/// Half of the memory that this process could have, bytes.
fn half_of_memory(stage: &Stage) -> u64 {
    Machine::describe(&stage.site.folder).available_bytes().unwrap_or(1 << 30) / 2
}

pub(super) fn accessing(stage: &Stage) -> Result<Series, Failure> {
    let (most, span) = (half_of_memory(stage), span(stage)?);
    let mut chance = stage.chance();
    let mut series = Series::default();
    for size in (10..=30).map(|power| 1_u64 << power).filter(|size| *size <= most) {
        let array: Vec<i32> = (1..=size as i32 / 4).collect();
        let one = || {
            let place = below(&mut chance, array.len() as u64) as usize;
            let element = &raw const array[place];
            let mut value = 0;
            // SAFETY: an element of the array.
            let ns = span.ns(|| value = unsafe { element.read_volatile() });
            ensure(value as usize == place + 1, "an element of the array is wrong")?;
            Ok(ns)
        };
        series = series.and("", size as f64, THOUSAND.values(one)?);
    }
    Ok(series)
}

/// The array that is streamed through, bytes.
const ARRAY: u64 = 256 << 20;

pub(super) fn streaming(stage: &Stage) -> Result<Series, Failure> {
    let bytes = ARRAY.min(half_of_memory(stage));
    let protocol = TrialProtocol { trials: stage.count(100, 20) as usize, ..THOUSAND };
    line_rates::<Fenced>(stage, protocol, (bytes, 1), (read_lines, write_lines))
}

/// The file whose pages are written, bytes.
const FILE: usize = 64 << 20;
const PAGE: usize = 4096;

pub(super) fn faulting(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let (before, files) = (Usage::now(), stage.count(10, 3));
    let mut values = vec![];
    for _ in 0..files {
        values.push(written(stage, tick_ns)?);
    }
    let counts = Usage::now().since(before);
    let (major, minor) = (counts.major, counts.minor);
    let pages = quantities::plain(files as f64 * (FILE / PAGE) as f64);
    let note = format!(
        "The kernel counted {major} major and {minor} minor faults for {pages} pages; only major faults wait for the disk."
    );
    Ok(Series::of(values).with_note(note))
}

/// Nanoseconds per page of a file that was just created.
fn written(stage: &Stage, tick_ns: f64) -> Result<f64, Failure> {
    let test = stage.nameless(FILE as u64)?;
    let mut mapped = MappedFile::shared(&test.file, FILE)?;
    let mut synced = Ok(());
    let ticks = Fenced::ticks(|| {
        (0..FILE).step_by(PAGE).for_each(|offset| mapped.write(offset, 7));
        synced = test.file.sync_all();
    });
    synced.map_err(|error| Failure::Broke(format!("fsync of a test file: {error}")))?;
    Ok(ticks as f64 * tick_ns / (FILE / PAGE) as f64)
}
