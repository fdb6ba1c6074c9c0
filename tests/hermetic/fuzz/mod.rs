//! What others wrote, spoilt in every way: run files, replications, what is said to a peer and by one, what file servers answer.
//! Whatever comes, nothing panics, hangs or is believed that cannot be.
//!
//! An input is a row of bytes by which a reader's proper material is spoilt (`input.rs`), drawn from a seed that counts up from
//! 0, or from `FATHOM_FUZZ_SEED`. The targets share `FATHOM_FUZZ_SECONDS`, by default 3. What fails is told with its
//! seed and written to `tests/fuzz_corpus/`, which is tried first: an input that has failed once is kept there for good.

mod around;
mod input;
mod peer;
mod replication;
mod requirements;
mod run_file;
mod servers;

use input::Input;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Targets that share the time.
const TARGETS: u32 = 8;

/// A case that takes longer hangs.
const LONGEST_CASE: Duration = Duration::from_secs(30);

fn seconds() -> Duration {
    let seconds = std::env::var("FATHOM_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or(3.0)) / TARGETS
}

fn first_seed() -> u64 {
    std::env::var("FATHOM_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz_corpus").join(target)
}

/// Tries the kept inputs, then drawn ones for this target's share of the time. A case says what is wrong, where it
/// does not panic.
fn fuzz(target: &str, case: impl Fn(&mut Input) -> Result<(), String> + Send + 'static) {
    let (ended, ends) = channel();
    let mut cases = kept(target).into_iter().chain((first_seed()..).map(drawn));
    let mut named = cases.next().expect("there is always a next seed");
    let (begin, begun) = channel::<Vec<u8>>();
    std::thread::spawn(move || {
        for bytes in begun {
            let outcome = catch_unwind(AssertUnwindSafe(|| case(&mut Input::of(bytes))));
            let outcome = outcome.unwrap_or_else(|panic| Err(format!("panic: {}", words(panic.as_ref()))));
            if ended.send(outcome).is_err() {
                return;
            }
        }
    });
    let (began, mut count) = (Instant::now(), 0_u64);
    // However short the time, what is kept and one that is drawn are tried.
    while named.0.starts_with("kept") || count == 0 || began.elapsed() < seconds() {
        begin.send(named.1.clone()).expect("somebody tries them");
        match ends.recv_timeout(LONGEST_CASE) {
            Ok(Ok(())) => {}
            Ok(Err(wrong)) => fail(target, &named, &wrong),
            Err(_) => fail(target, &named, "it hangs"),
        }
        count += 1;
        named = cases.next().expect("there is always a next seed");
    }
    eprintln!("{target}: {count} cases, the last {}", named.0);
}

/// Keeps an input, and says so.
fn fail(target: &str, (name, bytes): &(String, Vec<u8>), wrong: &str) -> ! {
    let digits: String = bytes.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let place = corpus(target).join(format!("{}-{digits}", bytes.len()));
    let _ = std::fs::create_dir_all(corpus(target)).and_then(|()| std::fs::write(&place, bytes));
    panic!("{target}, {name}: {wrong}\nkept as {}", place.display());
}

fn kept(target: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(corpus(target)).into_iter().flatten().flatten();
    let read = |path: PathBuf| Some((format!("kept in {}", path.display()), std::fs::read(path).ok()?));
    let mut kept: Vec<_> = entries.filter_map(|entry| read(entry.path())).collect();
    kept.sort();
    kept
}

fn drawn(seed: u64) -> (String, Vec<u8>) {
    (format!("seed {seed}"), input::drawn(seed))
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

#[test]
fn run_files() {
    fuzz("run_file", run_file::case);
}

#[test]
fn replications() {
    fuzz("replication", replication::case);
}

#[test]
fn what_is_said_to_a_peer_and_by_one() {
    fuzz("peer", peer::case());
}

#[test]
fn answers_of_sftp() {
    fuzz("sftp", servers::sftp());
}

#[test]
fn answers_of_nfs() {
    fuzz("nfs", servers::nfs());
}

#[test]
#[cfg(feature = "smb")]
fn answers_of_smb() {
    fuzz("smb", servers::smb());
}
