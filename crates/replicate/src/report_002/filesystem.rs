//! The report's chapter "File system".

use crate::operations::{broke, echo_ns, memory_ceiling, remote_file, virtual_host};
use crate::past_cache::{Blocks, opened, second_readings};
use crate::protocol::TrialProtocol;
use crate::sweep::beginnings;
use crate::timer::{Fenced, Timer};
use crate::{Series, Stage};
use fathom_core::experiment::Failure;
use fathom_equipment::peer::ping::Ping;
use fathom_equipment::remote::{Client, read_block};
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{TestFile, evict_after_reads};
use std::time::Duration;

const THOUSAND: TrialProtocol = TrialProtocol::THOUSAND;
/// Bytes of one read.
const BLOCK: usize = 4096;
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";

const LARGE: u64 = 64 << 20;
const MIDDLING: u64 = 64 << 10;

pub(super) fn caching(stage: &Stage) -> Result<Series, Failure> {
    let ceiling = memory_ceiling()?;
    let sizes: Vec<u64> = (-8..=1).map(|quarters| beginning(ceiling, quarters)).collect();
    second_readings(stage, &sizes, BLOCK, |test, blocks, size, tick_ns| {
        evict_after_reads(&test.file)?;
        read_again(blocks, size, tick_ns)
    })
}

/// A part of the memory: all of it times or divided by so many quarters of a power of two, in whole blocks.
fn beginning(ceiling: u64, quarters: i32) -> u64 {
    (ceiling as f64 * (f64::from(quarters) / 4.0).exp2()) as u64 & !(BLOCK as u64 - 1)
}

/// Reads a beginning of the file twice: the time of a block in the second reading.
fn read_again(blocks: &mut Blocks, bytes: u64, tick_ns: f64) -> Result<f64, Failure> {
    let count = bytes / BLOCK as u64;
    let mut pass = || {
        blocks.seek(0)?;
        (0..count).try_for_each(|_| blocks.read_next())
    };
    pass()?;
    Ok(Fenced::try_ticks(pass)? as f64 * tick_ns / count as f64)
}

const FILES: [u64; 9] = [4 << 10, 16 << 10, MIDDLING, 256 << 10, 1 << 20, 2 << 20, 4 << 20, 16 << 20, LARGE];

pub(super) fn reading(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let mut chance = stage.chance();
    let mut series = Series::default();
    for bytes in FILES {
        let test = stage.nameless(bytes)?;
        let whole = bytes / BLOCK as u64;
        let mut number = 0;
        let forward = each(&test, tick_ns, || {
            number += 1;
            (number - 1) % whole
        })?;
        let anywhere = each(&test, tick_ns, || below(&mut chance, whole))?;
        series = series.and(SEQUENTIAL, bytes as f64, forward).and(RANDOM, bytes as f64, anywhere);
    }
    Ok(series)
}

/// The times of reads of a file that is not cached at first.
fn each(test: &TestFile, tick_ns: f64, mut place: impl FnMut() -> u64) -> Result<Vec<f64>, Failure> {
    evict_after_reads(&test.file)?;
    let mut blocks = Blocks::of(opened(test, 0)?, BLOCK)?;
    THOUSAND.values(|| {
        let offset = place() * BLOCK as u64;
        blocks.seek(offset)?;
        let ticks = Fenced::try_ticks(|| blocks.read_next())?;
        blocks.evict(offset);
        Ok(ticks as f64 * tick_ns)
    })
}

pub(super) fn reading_away(stage: &Stage) -> Result<Series, Failure> {
    let (file, mut client) = remote_file(stage)?;
    let tick_ns = stage.ns_per_tick()?;
    let protocol = TrialProtocol { trials: stage.count(1000, 100) as usize, ..THOUSAND };
    if file.bytes < BLOCK as u64 {
        return Err(Failure::Unsupported("the remote file is smaller than a block of 4 KiB".to_owned()));
    }
    let mut chance = stage.chance();
    let mut series = Series::default();
    for bytes in beginnings(FILES, file.bytes) {
        let (whole, mut number) = (bytes / BLOCK as u64, 0);
        let mut next = || {
            number += 1;
            (number - 1) % whole
        };
        client.forget()?;
        let forward = protocol.values(|| away(client.as_mut(), next(), tick_ns))?;
        client.forget()?;
        let anywhere = protocol.values(|| away(client.as_mut(), below(&mut chance, whole), tick_ns))?;
        series = series.and(SEQUENTIAL, bytes as f64, forward).and(RANDOM, bytes as f64, anywhere);
    }
    Ok(series)
}

/// The time of one block.
fn away(client: &mut dyn Client, number: u64, tick_ns: f64) -> Result<f64, Failure> {
    let mut piece = [0; BLOCK];
    Ok(Fenced::try_ticks(|| read_block(client, number * BLOCK as u64, &mut piece))? as f64 * tick_ns)
}

/// Bytes of a ping without its headers.
const PAYLOAD: usize = 56;

pub(super) fn pinging(stage: &Stage) -> Result<Series, Failure> {
    let peer = stage.site.peer.as_ref().and_then(fathom_core::experiment::PeerAddress::by_ipv4);
    let peer = peer.ok_or_else(|| Failure::Unsupported("the peer has no IPv4 address".to_owned()))?;
    let mut ping = Ping::open(peer.address, PAYLOAD)?;
    ping.set_timeout(Duration::from_secs(1)).map_err(broke("SO_RCVTIMEO"))?;
    let (mut values, mut lost) = (vec![], 0);
    for sequence in 0..10 {
        std::thread::sleep(Duration::from_millis(200));
        match echo_ns(stage, &mut ping, sequence) {
            Ok(ns) => values.push(ns),
            Err(_) => lost += 1,
        }
    }
    Ok(Series::of(values)
        .with_note(format!("{lost} of 10 requests were not answered within a second."))
        .with_notes(virtual_host(stage)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_grow_by_quarters_of_powers_of_two_and_in_whole_blocks() {
        let gib = 1 << 30;
        assert_eq!([0, -4, -8].map(|quarters| beginning(gib, quarters)), [gib, gib / 2, gib / 4]);
        let above = beginning(gib, 1);
        assert!(above % 4096 == 0 && (above as f64 / gib as f64 - 1.189_207).abs() < 1e-4);
    }
}
