//! Kills at random moments, as root and as an ordinary user: of a run, of `ab` that sets what it sets back, of `verify`, of a
//! process that measures, of its partner, of the virtual peer, of all of them at once. No trial that was written down is lost,
//! the run goes on where it was, nothing runs on, and nothing is left that the next run does not sweep.
//!
//! `FATHOM_KILLS` says how often, by default 6; `FATHOM_KILLS_SEED` which ones. A table on standard error tells each.

use crate::short_run::{copied_program, wait_for};
use crate::tier::{Outcome, Test, beside, needs_root};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &beside![kills_at_random_moments_lose_no_trial_and_leave_nothing,];

/// How long a run and all that it started may take to be gone after a signal.
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Somebody who is nobody.
const NOBODY: u32 = 65_534;

/// A setting that a network namespace has for itself, and its file.
const SETTING: &str = "sysctl:net.ipv4.ip_default_ttl=63";
const SETTING_FILE: &str = "/proc/sys/net/ipv4/ip_default_ttl";

/// Whom the signal goes to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Victim {
    /// The command itself.
    Run,
    Trial,
    Partner,
    Peer,
    /// Every process of the command, as when its control group is killed.
    All,
}

const VICTIMS: [Victim; 5] = [Victim::Run, Victim::Trial, Victim::Partner, Victim::Peer, Victim::All];

/// What measures when it is struck.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Measuring {
    Run,
    Interleaved,
    Verify,
}

const MEASURING: [Measuring; 4] = [Measuring::Run, Measuring::Run, Measuring::Interleaved, Measuring::Verify];

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
        Victim::Run | Victim::All => return Some(run),
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
    measuring: Measuring,
    /// Whether everything is done as an ordinary user.
    ordinary: bool,
}

impl Place {
    fn new(program: &Path, measuring: Measuring, ordinary: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = || std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(folder.path(), open()).unwrap();
        for name in ["data", "tmp", "share"] {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(path, open()).unwrap();
        }
        Place { folder, program: program.to_owned(), measuring, ordinary }
    }

    /// The run files of what measures.
    fn files(&self) -> Vec<PathBuf> {
        let names: &[&str] = match self.measuring {
            Measuring::Run => &["run.jsonl"],
            Measuring::Interleaved => &["run.a.jsonl", "run.b.jsonl"],
            Measuring::Verify => &[],
        };
        names.iter().map(|name| self.folder.path().join(name)).collect()
    }

    /// A command of the program in this place.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--alongside").current_dir(self.folder.path());
        command.env("TMPDIR", self.folder.path().join("tmp"));
        command.env("XDG_DATA_HOME", self.folder.path().join("share"));
        command.env("XDG_STATE_HOME", self.folder.path().join("share"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if self.ordinary {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// What measures until it is struck, of these experiments.
    fn struck(&self, what: &[&str]) -> Command {
        const SHORT: [&str; 3] = ["--quick", "--budget", "60s"];
        let mut words = vec![];
        match self.measuring {
            Measuring::Run => {
                let own = ["run", "--trial", "4ms", "--dir", "data", "-o", "run.jsonl"];
                words.extend(own.iter().chain(&SHORT).chain(what));
            }
            Measuring::Interleaved => {
                words.extend(["ab", "cpu/*", "--dir", "data", "-o", "run"].iter().chain(&SHORT));
                words.extend(["--b", if self.ordinary { "prefix:env" } else { SETTING }]);
            }
            Measuring::Verify => words.extend(["verify", "--dir", "data"]),
        }
        if self.measuring == Measuring::Run && !self.ordinary && needs_root().is_ok() {
            words.extend(["--peer", "namespace"]);
        }
        self.command(&words)
    }

    /// The next run with the same folders.
    fn next(&self) -> Command {
        let words =
            ["run", "cpu/system_call", "--quick", "--budget", "2s", "--trial", "4ms", "--dir", "data"];
        self.command(&[&words[..], &["-o", "next.jsonl"]].concat())
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
    measuring: Measuring,
    ordinary: bool,
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

/// In a thread of its own, which has a network to itself where what is set is the network's.
fn kill(mut chance: SplitMix64, program: &Path) -> Kill {
    let alone = || {
        // SAFETY: a system call; the thread ends with its namespace.
        assert!(needs_root().is_err() || unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0);
        struck(&mut chance, program)
    };
    std::thread::scope(|scope| scope.spawn(alone).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn struck(chance: &mut SplitMix64, program: &Path) -> Kill {
    let mut below = |bound: u64| chance.next_u64() % bound;
    let (what, longest) = RUNS[below(RUNS.len() as u64) as usize];
    let (signal, signal_name) = [(libc::SIGKILL, "KILL"), (libc::SIGTERM, "TERM")][below(2) as usize];
    let wanted = VICTIMS[below(VICTIMS.len() as u64) as usize];
    let delay = Duration::from_millis(50 + below(longest));
    let measuring = MEASURING[below(MEASURING.len() as u64) as usize];
    let ordinary = needs_root().is_err() || below(3) == 0;
    let place = Place::new(program, measuring, ordinary);
    let (before, setting) = (traces(place.folder.path()), setting_now());
    let mut run = place.struck(what).spawn().unwrap();
    std::thread::sleep(delay);
    let (struck, target) = choose(wanted, &run, program);
    let ended = run.try_wait().unwrap();
    assert!(
        ended.is_none_or(|status| matches!(status.code(), Some(0 | 4))),
        "{measuring:?} has ended: {ended:?}"
    );
    let known: Vec<_> = place.files().iter().map(|file| whole_lines(file)).collect();
    if struck == Victim::All {
        kill_all(program);
    } else {
        // SAFETY: a process of the program under test.
        unsafe { libc::kill(target, signal) };
    }
    end(&mut run, struck);
    wait_for(EXIT_TIMEOUT, "every process is gone", || processes(program).is_empty());
    let (mut during, mut trials) = (format!("{measuring:?}"), 0);
    for (file, known) in place.files().iter().zip(known) {
        let lines = whole_lines(file);
        assert!(lines.starts_with(&known), "a line that was written is lost");
        during = readable(file, &lines);
        trials += lines.iter().filter(|line| line.starts_with(r#"{"line":"trial""#)).count();
    }
    if measuring == Measuring::Run && trials > 0 {
        goes_on(&place);
    }
    let left = leftovers(&place, &before, &setting);
    Kill { measuring, ordinary, victim: struck, signal: signal_name, during, after: delay, trials, left }
}

/// Kills every process of a program, as the end of a control group does: none of them sees another end.
fn kill_all(program: &Path) {
    for signal in [libc::SIGSTOP, libc::SIGKILL] {
        for process in processes(program) {
            // SAFETY: a process of the program under test.
            unsafe { libc::kill(process.number, signal) };
        }
    }
}

/// The run is taken up again, and keeps every line that it had.
fn goes_on(place: &Place) {
    let file = &place.files()[0];
    let known = whole_lines(file).len();
    let words = ["run", "--resume", "run.jsonl", "--dir", "data", "--budget", "2s"];
    let output = place.command(&words).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // Two seconds may be too short for what is due next.
    assert!(matches!(output.status.code(), Some(0 | 3 | 4)), "not taken up: {}: {said}", output.status);
    assert!(whole_lines(file).len() >= known, "lines are lost by taking it up: {said}");
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
    if !matches!(struck, Victim::Run | Victim::All) {
        std::thread::sleep(Duration::from_millis(500));
        // A peer that ends while it is being reached ends the run, with words.
        let goes_on = run.try_wait().unwrap().is_none_or(|status| status.code().is_some());
        assert!(goes_on, "the run died of its {struck:?}");
        // SAFETY: our own child, which is not reaped unless it has ended.
        unsafe { libc::kill(run.id() as libc::pid_t, libc::SIGTERM) };
    }
    let began = Instant::now();
    while run.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < EXIT_TIMEOUT, "the run does not end after its {struck:?} was struck");
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
fn leftovers(place: &Place, before: &BTreeSet<String>, setting: &str) -> [Vec<String>; 2] {
    let set = || (setting_now() != setting).then(|| format!("{SETTING_FILE}: {}", setting_now().trim()));
    let set = || set().into_iter().collect::<Vec<_>>();
    let new = || traces(place.folder.path()).difference(before).cloned().collect::<Vec<_>>();
    let goes_within = |seconds| {
        let began = Instant::now();
        while !new().is_empty() && began.elapsed() < Duration::from_secs(seconds) {
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    // Adapters and sockets go with their last process, a moment later.
    goes_within(5);
    let at_once = [place.left(), new(), set()].concat();
    if at_once.is_empty() {
        return [vec![], vec![]];
    }
    let next = place.next().stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&next.stderr);
    assert!(matches!(next.status.code(), Some(0 | 4)), "the next run fails: {}: {said}", next.status);
    // What tests beside this one kill, in folders of the whole machine, goes with their own next runs.
    goes_within(60);
    [at_once, [place.left(), new(), set()].concat()]
}

fn setting_now() -> String {
    std::fs::read_to_string(SETTING_FILE).unwrap_or_default()
}

fn kills_at_random_moments_lose_no_trial_and_leave_nothing() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let program = copied_program(folder.path());
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (count, seed) = (setting("FATHOM_KILLS", 6), setting("FATHOM_KILLS_SEED", 1));
    let mut complaints = vec![];
    for number in seed..seed + count {
        let kill = kill(SplitMix64::seed_from_u64(number), &program);
        let [at_once, after] = &kill.left;
        eprintln!(
            "kill {number}: SIG{} to {:?} of {:?}{} after {:.2} s, {} trials, {}: left {}, after the next run {}",
            kill.signal,
            kill.victim,
            kill.measuring,
            if kill.ordinary { " as nobody" } else { "" },
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
