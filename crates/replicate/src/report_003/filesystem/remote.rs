//! Section 5.3: reading blocks of a file on another machine.

use super::BLOCK;
use crate::sweep::{beginnings, nearest};
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Point, RemoteFile, Requirement};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_equipment::remote::{self, Client};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::{Duration, Instant};

const REMOTE: Method = Method {
    name: "remote file read",
    text: "The program of the local test reads files that another Mac shares by SMB over Wi-Fi: blocks of 4 KiB past the client's cache, \
           in sequence and at random. The mean of a block over one pass is one of ten results. Of three experiments, the one with the \
           smallest deviation counts.",
    differs: "The file is the one that --remote names, or one that Fathom makes there. It is read through Fathom's client for the protocol \
              or through a mount; with a mount, Fathom empties the page cache before each pass instead of switching it off. A pass ends \
              after 0.3 s (with --quick 0.03 s), however much of the file it has read. There is no pause of 5 to 10 minutes between the \
              experiments. For the curve over file sizes, the first part of the file, in each size, is read in one pass.",
    placement: Placement::Free,
    needs: &[Requirement::Remote],
    limit: Duration::from_mins(3),
    measure: read,
};

const EXPERIMENTS: usize = 3;
const PASSES: usize = 10;
const PASS: Duration = Duration::from_millis(300);
const QUICK_PASS: Duration = Duration::from_millis(30);
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";
/// Sizes of files, times 4 like those of the local files.
const SIZES: [u64; 8] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
const BY_SIZE: &str = "sequential, by size";
const RANDOM_BY_SIZE: &str = "random, by size";

/// In sequence.
pub const SEQUENTIAL_ROW: Row = Row {
    section: "5.3",
    operation: "remote file read, sequential",
    unit: Unit::Nanoseconds,
    per: "block of 4 KiB",
    theirs: Theirs::Printed("s003-0541"),
    replica: Replica::By(&REMOTE),
    statistic: Statistic::variant(SEQUENTIAL, Fit::MeanOfCalmest),
    fathom: SameQuestion::Point("filesystem/remote_read", |machine| point(machine, SEQUENTIAL)),
    misleads: "The report picks the calmest of three experiments afterwards, which is usually the fastest. It does not say whether a block \
               came from the server's memory or disk, or was read ahead by the client's SMB. Its network penalty subtracts the time of a \
               local disk, which is not the server's.",
};

/// At random.
pub const RANDOM_ROW: Row = Row {
    operation: "remote file read, random",
    theirs: Theirs::Printed("s003-0542"),
    statistic: Statistic::variant(RANDOM, Fit::MeanOfCalmest),
    fathom: SameQuestion::Point("filesystem/remote_read", |machine| point(machine, RANDOM)),
    ..SEQUENTIAL_ROW
};

fn point(machine: &Machine, order: &'static str) -> Point {
    let names: &[(&str, &[&str])] = &[("state", &["server-cached"]), ("order", &[order])];
    nearest("filesystem/remote_read", machine, names, &[("block", BLOCK as u64), ("queue_depth", 1)])
}

fn read(stage: &Stage) -> Result<Series, Failure> {
    let file = match &stage.site.remote {
        Some(Ok(file)) => file,
        Some(Err(reason)) => return Err(Failure::Broke(reason.clone())),
        None => {
            return Err(Failure::Unsupported("no remote file was named; name one with --remote".to_owned()));
        }
    };
    let mut client = remote::connect(&file.address, &file.access)?;
    client.open(&remote::path(&file.address))?;
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    let (mut series, mut blocks) = (Series::default(), 0);
    for order in [SEQUENTIAL, RANDOM] {
        for experiment in 1..=EXPERIMENTS {
            let mut values = vec![];
            for _ in 0..PASSES {
                let random = (order == RANDOM).then_some(&mut chance);
                let (each, made) = pass(client.as_mut(), file, random, stage)?;
                values.push(each);
                blocks += made;
            }
            series = series.and(order, experiment as f64, values);
        }
    }
    for bytes in beginnings(SIZES, file.bytes) {
        for (order, variant) in [(SEQUENTIAL, BY_SIZE), (RANDOM, RANDOM_BY_SIZE)] {
            let beginning = RemoteFile { bytes, ..file.clone() };
            let random = (order == RANDOM).then_some(&mut chance);
            let (each, _) = pass(client.as_mut(), &beginning, random, stage)?;
            series = series.and(variant, bytes as f64, vec![each]);
        }
    }
    let passes = (2 * EXPERIMENTS * PASSES) as u64;
    Ok(series.seen(format!("A pass read {} blocks on average.", blocks / passes)))
}

/// Reads blocks until the file or the time of a pass ends: the mean nanoseconds of a block, and how many were read.
fn pass(
    client: &mut dyn Client,
    file: &RemoteFile,
    mut random: Option<&mut SplitMix64>,
    stage: &Stage,
) -> Result<(f64, u64), Failure> {
    let blocks = (file.bytes / BLOCK as u64).max(1);
    let time = if stage.quick { QUICK_PASS } else { PASS };
    client.forget()?;
    let (began, mut total, mut made, mut buffer) = (Instant::now(), Duration::ZERO, 0, vec![0; BLOCK]);
    while made < blocks && (made == 0 || began.elapsed() < time) {
        let number = random.as_deref_mut().map_or(made, |chance| chance.next_u64() % blocks);
        let start = Instant::now();
        remote::read_block(client, number * BLOCK as u64, &mut buffer)?;
        total += start.elapsed();
        made += 1;
    }
    Ok((total.as_nanos() as f64 / made as f64, made))
}
