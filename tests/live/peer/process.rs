//! Peers and runs as processes, ended with the test however it ends.

use fathom::experiment::{Effort, Experiment, Requirement};
use fathom::experiments;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(90);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn binary() -> PathBuf {
    assert_cmd::cargo::cargo_bin("fathom")
}

/// A process that does not outlive the test.
pub struct Process(pub Child);

impl Process {
    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: our own child, which is not reaped yet.
        assert_eq!(unsafe { libc::kill(self.0.id() as libc::pid_t, signal) }, 0);
    }

    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `fathom peer`, started by hand.
pub struct ByHand {
    pub process: Process,
    /// Where it listens.
    pub address: String,
    /// The file with its token.
    pub token_file: PathBuf,
    _folder: tempfile::TempDir,
}

impl ByHand {
    /// With a token of its own drawing, which is put into a file as a user would.
    pub fn start() -> Self {
        Self::started(&[])
    }

    /// The same, and it serves one run after the other.
    pub fn start_to_keep() -> Self {
        Self::started(&["--keep"])
    }

    fn started(flags: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command.args(["peer", "--listen", "127.0.0.1"]).args(flags);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let address = said.next().unwrap().strip_prefix("listening at ").unwrap().to_owned();
        let token = said.next().unwrap().strip_prefix("token ").unwrap().to_owned();
        let folder = tempfile::tempdir().unwrap();
        let token_file = folder.path().join("token");
        std::fs::write(&token_file, token + "\n").unwrap();
        std::fs::set_permissions(&token_file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        ByHand { process: Process(child), address, token_file, _folder: folder }
    }

    pub fn port(&self) -> u16 {
        self.address.rsplit(':').next().unwrap().parse().unwrap()
    }
}

/// An experiment that has points with a peer, the shorter the better.
pub fn remote_experiment() -> &'static str {
    let machine = crate::described::machine();
    let points = |experiment: &&'static dyn Experiment| {
        let needs = |point: &_| {
            experiment.requires(point).contains(&Requirement::Peer)
                && experiment.effort(point, &machine) == Effort::Quick
        };
        experiment.sweep(&machine).iter().filter(|point| needs(point)).count()
    };
    let remote = experiments::all().filter(|experiment| points(experiment) > 0);
    remote.min_by_key(points).expect("no experiment needs a peer").about().name
}

/// A run of local and remote points into a file, with a peer; so many seconds.
pub fn run_for(budget: &str, trial: &str, peer: &str, output: &Path) -> Command {
    let mut command = Command::new(binary());
    command.args(["run", "--quick", "--alongside", "--budget", budget, "--trial", trial]);
    command.args(["cpu/system_call", remote_experiment(), "--peer", peer, "-o"]).arg(output);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The same in a few seconds.
pub fn run(peer: &str, output: &Path) -> Command {
    run_for("6s", "4ms", peer, output)
}

/// What a run file holds, line by line.
pub fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Whether a line is a trial of a point with a peer.
pub fn is_remote(line: &serde_json::Value) -> bool {
    let names = |point: &serde_json::Value| {
        point.as_object().is_some_and(|point| point.values().any(|value| value == "peer"))
    };
    line["line"] == "trial" && names(&line["point"])
}

/// Trials with a peer, by what became of them.
pub fn remote_trials(path: &Path, outcome: &str) -> usize {
    // Polled while the file grows: only lines that may be meant are read as JSON, or the run would be over meanwhile.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let likely =
        text.lines().filter(|line| line.starts_with(r#"{"line":"trial""#) && line.contains(r#""peer""#));
    let trials = likely.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    trials.filter(|line| is_remote(line) && line["outcome"]["outcome"] == outcome).count()
}
