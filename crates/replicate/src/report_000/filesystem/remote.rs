//! Section 6.3: reading blocks of a file over a network.

use super::BLOCK;
use crate::report_000::boilerplate::{TRIALS, timed_once};
use crate::report_000::shuffle::shuffled;
use crate::sweep::{beginnings, nearest};
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Point, RemoteFile, Requirement};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_equipment::remote::{Client, connect, path, read_block};
use std::time::Duration;

const IN_ORDER: &str = "sequential";
const SHUFFLED: &str = "random";

static REMOTE: Method = Method {
    name: "remote file read",
    text: "The program for local files reads in a folder that a time-sharing machine with some fifty users mounts by NFS: blocks of 4096 \
           bytes, in order from whatever cache holds them, and shuffled.",
    differs: "Fathom reads the beginnings of one file, that of --remote, of 1 MiB and so on, doubling up to its size, instead of files up \
              to 1 GiB, and as many of their blocks as fit into 15 s. Through a URL every block comes from the server, because Fathom's \
              client caches nothing and reads nothing ahead; through a mount the kernel does both, as in the report.",
    placement: Placement::OneCpu,
    needs: &[Requirement::Remote],
    limit: Duration::from_mins(3),
    measure: remote,
};

fn remote(stage: &Stage) -> Result<Series, Failure> {
    let file = match &stage.site.remote {
        Some(Ok(file)) => file,
        Some(Err(reason)) => return Err(Failure::Broke(reason.clone())),
        None => {
            return Err(Failure::Unsupported("no remote file was named; name one with --remote".to_owned()));
        }
    };
    let mut client = connect(&file.address, &file.access)?;
    client.open(&path(&file.address))?;
    let sizes = beginnings((20..=30).map(|power| 1 << power), file.bytes);
    let time_ns = stage.time_ns() * 0.45 / (TRIALS * sizes.len() as u64) as f64;
    let mut series = Series::default();
    for bytes in sizes {
        let order: Vec<u64> = (0..bytes / BLOCK).collect();
        let random = shuffled(bytes / BLOCK, stage.site.seed);
        let in_order = trials(stage, client.as_mut(), (&order, time_ns), false)?;
        let shuffled = trials(stage, client.as_mut(), (&random, time_ns), true)?;
        series = series.and(IN_ORDER, bytes as f64, in_order).and(SHUFFLED, bytes as f64, shuffled);
    }
    Ok(series.seen(told(file)))
}

fn told(file: &RemoteFile) -> String {
    format!("The file has {} MiB.", file.bytes >> 20)
}

/// Ten trials: nanoseconds per block, each over as many blocks as fit into a time.
fn trials(
    stage: &Stage,
    client: &mut dyn Client,
    (order, time_ns): (&[u64], f64),
    forgotten: bool,
) -> Result<Vec<f64>, Failure> {
    let mut values = vec![];
    for _ in 0..TRIALS {
        if forgotten {
            client.forget()?;
        }
        let (began, mut read, mut block) = (stage.site.stopwatch.now_ns(), 0, [0; BLOCK as usize]);
        let ticks = timed_once(|| {
            for number in order {
                read_block(client, number * BLOCK, &mut block)?;
                read += 1;
                if stage.site.stopwatch.now_ns() - began > time_ns {
                    break;
                }
            }
            Ok(())
        })?;
        if read == 0 {
            return Err(Failure::Unsupported(format!("the file has no block of {BLOCK} bytes")));
        }
        values.push(ticks * stage.ns_per_tick()? / f64::from(read));
    }
    Ok(values)
}

const REMOTE_READ: &str = "filesystem/remote_read";

fn served(machine: &Machine, order: &'static str) -> Point {
    let names: &[(&str, &[&str])] = &[("state", &["server-cached"]), ("order", &[order])];
    nearest(REMOTE_READ, machine, names, &[("block", BLOCK), ("queue_depth", 1)])
}

const fn row(
    operation: &'static str,
    (variant, theirs): (&'static str, &'static str),
    point: fn(&Machine) -> Point,
    misleads: &'static str,
) -> Row {
    Row {
        section: "6.3",
        operation,
        unit: Unit::Nanoseconds,
        per: "block",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(&REMOTE),
        statistic: Statistic::variant(variant, Fit::MeanOver { from: 0.0, to: f64::MAX }),
        fathom: SameQuestion::Point(REMOTE_READ, point),
        misleads,
    }
}

/// The summary's row; tables 31 and 33.
pub const REMOTE_SEQUENTIAL: Row = row(
    "remote file read, sequential",
    (IN_ORDER, "s000-0302"),
    |machine| served(machine, "sequential"),
    "Through a mount, blocks in order come from the client's own cache or were read ahead, so few of them wait for the network. The \
     penalty compares the laptop with another machine that fifty users share; it is not only that of the network.",
);

/// The summary's row; tables 32 and 33.
pub const REMOTE_RANDOM: Row = row(
    "remote file read, random",
    (SHUFFLED, "s000-0303"),
    |machine| served(machine, "random"),
    "The report does not say whether the server's memory or its disk answered, and a shared server also serves other users. Fathom reads \
     what the server has just read, so that only the network remains.",
);
