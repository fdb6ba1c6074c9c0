//! Kills at random moments: of a run, of a process that measures, of its partner, of the virtual peer. No trial that was written
//! down is lost, nothing runs on, and nothing is left that the next run does not sweep.
//!
//! `FATHOM_KILLS` says how often, by default 6; `FATHOM_KILLS_SEED` which ones. A table on standard error tells each.

use crate::short_run::{copied_program, wait_for};
use crate::tier::{Outcome, Test, beside, needs_root};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &beside![kills_at_random_moments_lose_no_trial_and_leave_nothing,];

/// How long a run and all that it started may take to be gone after a signal.
const PARTING: Duration = Duration::from_secs(20);

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Whom the signal goes to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Victim {
    Run,
    Trial,
    Partner,
    Peer,
}

const VICTIMS: [Victim; 4] = [Victim::Run, Victim::Trial, Victim::Partner, Victim::Peer];

/// A process of the program under test.
struct Found {
    number: libc::pid_t,
    parent: libc::pid_t,
    words: Vec<String>,
}

/// Every process of a program, zombies left out: they have no program any more.
fn processes(program: &Path) -> Vec<Found> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(|number| found(number, program)).collect()
}

fn found(number: libc::pid_t, program: &Path) -> Option<Found> {
    let exe = std::fs::read_link(format!("/proc/{number}/exe")).ok()?;
    // What executes itself from memory was this program, and its words say so.
    let line = std::fs::read(format!("/proc/{number}/cmdline")).ok()?;
    let words: Vec<String> =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let is_ours = exe == program || words.first().is_some_and(|word| Path::new(word) == program);
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    is_ours.then_some(Found { number, parent, words })
}

/// The process of this kind, where there is one at the moment.
fn victim(kind: Victim, run: &Child, program: &Path) -> Option<libc::pid_t> {
    let (run, all) = (run.id() as libc::pid_t, processes(program));
    let does = |process: &&Found, what: &str| process.words.get(1).is_some_and(|word| word == what);
    let found = match kind {
        Victim::Run => return Some(run),
        Victim::Trial => all.iter().find(|process| process.parent == run && does(process, "trial")),
        Victim::Partner => all
            .iter()
            .find(|process| all.iter().any(|other| other.number == process.parent && does(&other, "trial"))),
        Victim::Peer => all.iter().find(|process| does(process, "peer")),
    };
    found.map(|process| process.number)
}

/// Whether a name is of ours and of nobody who lives: files that this program makes are called `.fathom-` and its adapters
/// `fathom`, and then stands the number of a process.
fn is_left(name: &str) -> bool {
    let rest = name.strip_prefix(".fathom-").or_else(|| name.strip_prefix("fathom")).unwrap_or_default();
    let number = rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
    !number.is_empty() && !Path::new(&format!("/proc/{number}")).exists()
}

/// What of this machine a run could leave behind outside of its folder: adapters, control groups, files of temporary
/// folders, sockets with names, mounts in its folder, shared memory and semaphores of System V.
fn traces(place: &Path) -> BTreeSet<String> {
    let mut traces = BTreeSet::new();
    let mut folders = vec![PathBuf::from("/sys/class/net"), "/dev/shm".into(), "/dev/mqueue".into()];
    folders.extend(["/tmp".into(), "/var/tmp".into(), "/sys/fs/cgroup".into()]);
    folders.extend(entries(Path::new("/sys/fs/cgroup")));
    folders.extend(fathom::machine::memory_parent().map(|parent| parent.folder));
    for entry in folders.iter().flat_map(|folder| entries(folder)) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_left(&name) {
            traces.insert(entry.display().to_string());
        }
    }
    for table in ["/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg"] {
        let text = std::fs::read_to_string(table).unwrap_or_default();
        let numbers = text.lines().filter_map(|line| line.split_whitespace().nth(1));
        traces.extend(numbers.map(|number| format!("{table}: {number}")));
    }
    let place = place.display().to_string();
    for table in ["/proc/mounts", "/proc/net/unix"] {
        let text = std::fs::read_to_string(table).unwrap_or_default();
        traces.extend(text.lines().filter(|line| line.contains(&place)).map(str::to_owned));
    }
    traces
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The folders of a run, and all that is in them but its own files.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    fn file(&self) -> PathBuf {
        self.folder.path().join("run.jsonl")
    }

    /// A run of these experiments, at whose end nothing may be left.
    fn run(&self, budget: &str, what: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        for name in ["data", "tmp", "share"] {
            std::fs::create_dir_all(self.folder.path().join(name)).unwrap();
        }
        command.env("TMPDIR", self.folder.path().join("tmp"));
        command.env("XDG_DATA_HOME", self.folder.path().join("share"));
        command.args(["run", "--quick", "--alongside", "--budget", budget, "--trial", "4ms"]).args(what);
        command.arg("--dir").arg(self.folder.path().join("data"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn left(&self) -> Vec<String> {
        let entries =
            |name: &str| std::fs::read_dir(self.folder.path().join(name)).into_iter().flatten().flatten();
        ["data", "tmp"]
            .into_iter()
            .flat_map(entries)
            .map(|entry| entry.path().display().to_string())
            .collect()
    }
}

/// Every whole line of a run file.
fn whole_lines(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(str::to_owned).collect()
}

/// What a kill hit, and what it left.
struct Kill {
    victim: Victim,
    signal: &'static str,
    /// The experiment of the last trial before it.
    during: String,
    after: Duration,
    trials: usize,
    /// Left at once, and after the next run.
    left: [Vec<String>; 2],
}

/// What there is to run: a family, or all, with the longest that it is let run.
const RUNS: [(&[&str], u64); 6] = [
    (&["cpu/*"], 5000),
    (&["memory/*"], 5000),
    (&["network/*"], 6000),
    (&["filesystem/*"], 8000),
    (&["context_switch", "wake_up", "core_to_core", "process_creation", "bandwidth"], 3000),
    (&[], 20_000),
];

fn kill(chance: &mut SplitMix64, program: &Path) -> Kill {
    let mut below = |bound: u64| chance.next_u64() % bound;
    let (what, longest) = RUNS[below(RUNS.len() as u64) as usize];
    let (signal, signal_name) = [(libc::SIGKILL, "KILL"), (libc::SIGTERM, "TERM")][below(2) as usize];
    let wanted = VICTIMS[below(VICTIMS.len() as u64) as usize];
    let delay = Duration::from_millis(50 + below(longest));
    let place = Place { folder: tempfile::tempdir().unwrap(), program: program.to_owned() };
    let before = traces(place.folder.path());
    let mut command = place.run("60s", what);
    if needs_root().is_ok() {
        command.args(["--peer", "namespace"]);
    }
    let mut run = command.arg("-o").arg(place.file()).spawn().unwrap();
    std::thread::sleep(delay);
    let (struck, target) = choose(wanted, &run, program);
    let known = whole_lines(&place.file());
    // SAFETY: a process of the program under test.
    unsafe { libc::kill(target, signal) };
    end(&mut run, struck);
    wait_for(PARTING, "every process is gone", || processes(program).is_empty());
    let lines = whole_lines(&place.file());
    assert!(lines.starts_with(&known), "a line that was written is lost");
    let during = readable(&place.file(), &lines);
    let left = leftovers(&place, &before);
    let trials = lines.iter().filter(|line| line.starts_with(r#"{"line":"trial""#)).count();
    Kill { victim: struck, signal: signal_name, during, after: delay, trials, left }
}

/// The wanted victim if it is there within a second, else the run itself.
fn choose(wanted: Victim, run: &Child, program: &Path) -> (Victim, libc::pid_t) {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        if let Some(number) = victim(wanted, run, program) {
            return (wanted, number);
        }
    }
    (Victim::Run, run.id() as libc::pid_t)
}

/// Waits for a run that was struck; one of which another process was struck goes on, and is then asked to end.
fn end(run: &mut Child, struck: Victim) {
    if struck != Victim::Run {
        std::thread::sleep(Duration::from_millis(500));
        // A peer that ends while it is being reached ends the run, with words.
        let goes_on = run.try_wait().unwrap().is_none_or(|status| status.code().is_some());
        assert!(goes_on, "the run died of its {struck:?}");
        // SAFETY: our own child, which is not reaped unless it has ended.
        unsafe { libc::kill(run.id() as libc::pid_t, libc::SIGTERM) };
    }
    let began = Instant::now();
    while run.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < PARTING, "the run does not end after its {struck:?} was struck");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The experiment of the last trial of a file, which must be readable if it has a header.
fn readable(file: &Path, lines: &[String]) -> String {
    for line in lines {
        serde_json::from_str::<serde_json::Value>(line).expect("a whole line is JSON");
    }
    if !lines.is_empty() {
        fathom::record::Run::read(file).unwrap_or_else(|error| panic!("it cannot be read: {error}"));
    }
    let last = lines.iter().rev().find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        (line["line"] == "trial").then(|| line["experiment"].as_str().unwrap_or_default().to_owned())
    });
    last.unwrap_or_else(|| "before the first trial".to_owned())
}

/// What is left at once, and, where anything is, after the next run with the same folders.
fn leftovers(place: &Place, before: &BTreeSet<String>) -> [Vec<String>; 2] {
    let new = || traces(place.folder.path()).difference(before).cloned().collect::<Vec<_>>();
    let began = Instant::now();
    // Adapters and sockets go with their last process, a moment later.
    while !new().is_empty() && began.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let at_once = [place.left(), new()].concat();
    if at_once.is_empty() {
        return [vec![], vec![]];
    }
    let next =
        place.run("1s", &["cpu/system_call"]).arg("-o").arg(place.folder.path().join("next.jsonl")).status();
    assert!(matches!(next.unwrap().code(), Some(0 | 4)), "the next run fails");
    [at_once, [place.left(), new()].concat()]
}

fn kills_at_random_moments_lose_no_trial_and_leave_nothing() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let program = copied_program(folder.path());
    let (count, seed) = (setting("FATHOM_KILLS", 6), setting("FATHOM_KILLS_SEED", 1));
    let mut complaints = vec![];
    for number in seed..seed + count {
        let kill = kill(&mut SplitMix64::seed_from_u64(number), &program);
        let [at_once, after] = &kill.left;
        eprintln!(
            "kill {number}: SIG{} to {:?} after {:.2} s, {} trials, {}: left {}, after the next run {}",
            kill.signal,
            kill.victim,
            kill.after.as_secs_f64(),
            kill.trials,
            kill.during,
            at_once.len(),
            after.len(),
        );
        if !at_once.is_empty() {
            eprintln!("    {}", at_once.join(" "));
        }
        complaints.extend(after.iter().map(|left| format!("kill {number}: {left}")));
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
    Ok(())
}
