//! How much of a growing file the machine's own page cache keeps, in memory that nothing uses.
//!
//! The file has no data: its pages take the same space, and no device is read or written. It grows to three quarters of the memory
//! that is free when a trial begins, so that the kernel has no reason to take anything from others; its own counts of reclaimed and
//! swapped pages show whether it did.

use super::vmstat;
use fathom_core::experiment::{
    Basis, Check, Failure, LIMIT_OF_THE_RUN, Observed, Prediction, Workload, ensure,
};
use fathom_core::machine;
use fathom_equipment::test_file::{self, cached};
use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

/// The most that is filled, bytes: some two seconds.
pub const MOST: u64 = 4 << 30;
/// The least with which it is worth while, bytes.
const LEAST: u64 = 64 << 20;
/// The steps by which the file grows; after each what stayed is counted.
const STEPS: u64 = 16;
/// The share of what was read that stays if nothing had to leave: the kernel may keep some pages for a moment before it counts them.
pub const ALL: f64 = 0.999;

/// Witnesses: bytes that were read and bytes that stayed; pages that the kernel took back or swapped out meanwhile.
const FILLED: &str = "bytes_filled";
const STAYED: &str = "bytes_that_stayed";
const RECLAIMED: &str = "pages_taken_back";

/// The memory that may be filled, bytes, of so much that nothing uses.
fn room(unused: u64) -> u64 {
    ((unused / 4 * 3).min(MOST) >> 20) << 20
}

/// What stays: three quarters of what is free when a trial begins, which nobody knows before. It is at most what this process could have.
pub fn predicted(available: Option<u64>) -> Prediction {
    let most = room(available.unwrap_or(u64::MAX)).max(LEAST);
    if most >= MOST {
        let limit = Basis::fact(MOST as f64, LIMIT_OF_THE_RUN);
        return Prediction::new().hardware("memory that is filled at most", 1.0, limit);
    }
    let most = most as f64;
    let reason = "three quarters of the memory that this process could have; less where other files fill it";
    let filled = Basis::assumed(most, reason);
    Prediction::new().hardware("memory that is filled", 1.0, filled).within(Some([LEAST as f64, most]))
}

/// Grows the file until something has to leave, or to the room that there is; the result is what stayed, bytes.
pub fn growing<'site>(file: File) -> Workload<'site> {
    // Without an account of the kernel's there is none of the pages that it took back.
    let sums = Rc::new(Cell::new((0.0, 0.0, Some(0.0))));
    let counted = Rc::clone(&sums);
    let observe = move || {
        let before = reclaimed();
        let (filled, stayed) = fill(&file)?;
        test_file::forget(&file);
        let more = reclaimed().zip(before).map(|(after, before)| after - before);
        let (all_filled, all_stayed, all_reclaimed) = sums.get();
        let all_reclaimed = all_reclaimed.zip(more).map(|(sum, more)| sum + more);
        sums.set((all_filled + filled as f64, all_stayed + stayed as f64, all_reclaimed));
        Ok(Some(stayed as f64))
    };
    let counts = move || {
        let (filled, stayed, reclaimed) = counted.get();
        let reclaimed = reclaimed.map(|pages| (RECLAIMED, pages));
        [(FILLED, filled), (STAYED, stayed)].into_iter().chain(reclaimed).collect()
    };
    Workload::recorded(observe).cold().witnessed(counts)
}

/// Reads the file in steps; the bytes read, and those that stayed.
fn fill(file: &File) -> Result<(u64, u64), Failure> {
    let unused = machine::unused_bytes();
    let unused = unused.ok_or_else(|| Failure::Unsupported("the free memory is unknown".to_owned()))?;
    let room = room(unused);
    if room < LEAST {
        return Err(Failure::Unsupported(format!("no more than {} MiB of memory are free", unused >> 20)));
    }
    let mut piece = vec![0; 1 << 20];
    let (mut filled, mut stayed) = (0, 0);
    for step in 1..=STEPS {
        let until = (room / STEPS * step) >> 20 << 20;
        while filled < until {
            let read = file.read_at(&mut piece, filled);
            let read = read.map_err(|error| Failure::Broke(format!("reading the file: {error}")))?;
            ensure(read > 0, "the file ended before it had grown")?;
            filled += read as u64;
        }
        stayed = cached(file)?.bytes;
        if (stayed as f64) < ALL * filled as f64 {
            break;
        }
    }
    Ok((filled, stayed))
}

/// Pages that the kernel has taken back from the page cache, or swapped out, since it started (`/proc/vmstat`).
fn reclaimed() -> Option<f64> {
    vmstat::sum(&["pgsteal_kswapd", "pgsteal_direct", "pswpout"])
}

/// The share of the pages read that the kernel may have taken back meanwhile, for whatever reason of its own.
const MOST_RECLAIMED: f64 = 0.01;

/// That nothing was taken from others, unless the file itself met a limit.
pub fn evidence(observed: &Observed) -> Vec<Check> {
    let claim = "nothing had to make room: pages that the kernel took back or swapped out (/proc/vmstat), per page read";
    let all = |name| observed.witness(name);
    let (Some(filled), Some(stayed), Some(reclaimed)) = (all(FILLED), all(STAYED), all(RECLAIMED)) else {
        return vec![Check::missing(claim)];
    };
    if stayed < ALL * filled {
        let claim = "the file met a limit: share of what was read that stayed";
        return vec![Check::within(claim, stayed / filled, 0.01, ALL)];
    }
    vec![Check::within(claim, reclaimed * 4096.0 / filled, 0.0, MOST_RECLAIMED)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_quarters_of_what_is_free_are_filled_and_no_more_than_the_most() {
        assert_eq!(room(4 << 30), 3 << 30);
        assert_eq!(room(64 << 30), MOST);
        assert_eq!(room(1000), 0);
    }

    #[test]
    fn what_was_taken_from_others_is_found_out() {
        let holds = |filled: f64, stayed: f64, reclaimed: f64| {
            let witnessed = [(FILLED, filled), (STAYED, stayed), (RECLAIMED, reclaimed)];
            evidence(&fathom_described::observed(0, witnessed)).iter().all(|check| check.holds)
        };
        assert!(holds(1e9, 1e9, 10.0));
        assert!(!holds(1e9, 1e9, 1e5), "400 MB were taken");
        assert!(!holds(1e9, 1e9, f64::NAN), "not counted");
        assert!(holds(1e9, 5e8, 1e5), "the file's own pages");
    }
}
