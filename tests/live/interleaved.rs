//! Two settings measured in turns: what is set is set in its half alone, and set back however the run ends.

use crate::short_run::{fathom, text};
use crate::tier::{Outcome, Test, beside, needs_root};
use fathom::record::Run;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &beside![
    both_halves_are_measured_and_what_was_set_is_set_back,
    a_killed_run_sets_back_what_it_had_set,
    what_a_run_left_set_that_was_killed_with_its_guard_is_set_back_by_the_next,
    a_setting_that_cannot_be_set_back_is_told_and_ends_with_a_failure,
    what_leads_out_of_the_kernels_files_is_no_setting,
    what_cannot_be_set_is_told_before_anything_is_measured,
];

/// A setting of the network alone, which a namespace of the test's own has for itself.
const SETTING: &str = "sysctl:net.ipv4.ip_default_ttl=63";
const FILE: &str = "/proc/sys/net/ipv4/ip_default_ttl";

/// A shell in a network namespace of its own, which prints the setting before and after what it runs.
fn in_a_namespace(script: &str, folder: &Path) -> Child {
    let binary = env!("CARGO_BIN_EXE_fathom");
    let whole = format!("cat {FILE}; {}; cat {FILE}", script.replace("fathom", binary));
    let mut shell = Command::new("unshare");
    shell.args(["--net", "sh", "-c", &whole]).current_dir(folder).env("XDG_DATA_HOME", folder);
    shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("util-linux has unshare")
}

fn printed(shell: Child) -> (String, String) {
    let output = shell.wait_with_output().expect("a shell");
    (text(&output.stdout), text(&output.stderr))
}

fn both_halves_are_measured_and_what_was_set_is_set_back() -> Outcome {
    needs_root()?;
    let folder = tempfile::tempdir().expect("a folder");
    // What starts each measuring process notes what is set then.
    let noting = format!("cat {FILE} >> noted; exec \"$@\"\n");
    std::fs::write(folder.path().join("noting"), noting).expect("a script");
    let script = format!(
        "fathom ab cpu/system_call --quick --budget 8s --alongside --a 'prefix:sh noting' --b 'prefix:sh noting' \
         --b {SETTING} -o both --format csv"
    );
    let (out, error) = printed(in_a_namespace(&script, folder.path()));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.first(), lines.last()), (Some(&"64"), Some(&"64")), "{out} {error}");
    assert!(
        lines.iter().any(|line| line.contains("cpu/system_call") && line.contains("getppid")),
        "{out} {error}"
    );
    let halves = ["a", "b"]
        .map(|half| Run::read(&folder.path().join(format!("both.{half}.jsonl"))).expect("a run file"));
    let [first, second] =
        halves.each_ref().map(|run| run.header.settings.interleaved.as_ref().expect("an interleaved run"));
    assert_eq!((&first.session, first.setting.len()), (&second.session, 1));
    assert_eq!(second.setting.last().map(String::as_str), Some(SETTING));
    let noted = std::fs::read_to_string(folder.path().join("noted")).expect("processes were started");
    let under = |value: &str| noted.lines().filter(|set| *set == value).count();
    // As many processes under each setting, and none under another.
    assert!(
        under("64") > 5 && under("64") == under("63") && under("64") + under("63") == noted.lines().count(),
        "{noted}"
    );
    // Trials of the two take turns: none of one half runs far ahead.
    let began = halves.each_ref().map(|run| run.trials.iter().map(|trial| trial.began_s).collect::<Vec<_>>());
    assert_eq!(began[0].len(), began[1].len());
    let within = |half: usize, other: usize| {
        began[half].iter().filter(|at| began[other].iter().any(|next| next > at)).count()
    };
    assert!(within(0, 1) * 10 >= began[0].len() * 8 && within(1, 0) * 10 >= began[1].len() * 8);
    Ok(())
}

fn a_killed_run_sets_back_what_it_had_set() -> Outcome {
    needs_root()?;
    let folder = tempfile::tempdir().expect("a folder");
    // Both halves set it, so that it is set whenever the kill comes.
    let other = SETTING.replace("63", "62");
    let script = format!(
        "fathom ab cpu/system_call --quick --budget 30s --alongside --a {other} --b {SETTING} -o both & \
         for i in $(seq 200); do [ $(cat {FILE}) = 64 ] || break; sleep 0.05; done; sleep 2; cat {FILE}; kill -9 $!; \
         for i in $(seq 100); do [ $(cat {FILE}) = 64 ] && break; sleep 0.05; done"
    );
    let began = Instant::now();
    let (out, error) = printed(in_a_namespace(&script, folder.path()));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out} {error}");
    assert!(["62", "63"].contains(&lines[1]), "it was not set: {out} {error}");
    assert_eq!((lines[0], lines[2]), ("64", "64"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(30));
    Ok(())
}

/// As by `systemctl stop`, the end of a Slurm step, or `memory.oom.group`: everything of the run's control group dies at once. The guard
/// is killed first, because it would set everything back as soon as the run is gone.
fn what_a_run_left_set_that_was_killed_with_its_guard_is_set_back_by_the_next() -> Outcome {
    needs_root()?;
    let folder = tempfile::tempdir().expect("a folder");
    let other = SETTING.replace("63", "62");
    let script = format!(
        "export XDG_STATE_HOME=$PWD/state; \
         setsid fathom ab cpu/system_call --quick --budget 30s --alongside --a {other} --b {SETTING} -o both & \
         for i in $(seq 200); do [ $(cat {FILE}) = 64 ] || break; sleep 0.05; done; sleep 2; \
         guard=$(pgrep -P $! -f ' restore$'); kill -9 $guard $!; sleep 1; cat {FILE}; \
         fathom run cpu/system_call --quick --budget 2s --trial 2ms --alongside -o next.jsonl >/dev/null; cat {FILE}; \
         echo 62 > {FILE}; fathom run cpu/system_call --quick --budget 2s --trial 2ms --alongside -o last.jsonl >/dev/null"
    );
    let (out, error) = printed(in_a_namespace(&script, folder.path()));
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines.len() == 4 && ["62", "63"].contains(&lines[1]), "it was not left set: {out} {error}");
    assert_eq!(lines[2], "64", "{error}");
    assert!(error.contains("is `64` again"), "{error}");
    assert_eq!(lines[3], "62", "what was set since is somebody's own: {error}");
    Ok(())
}

/// The setting is made unwritable while it is set: a mount over it, as a container has, which is no file of the kernel's own.
fn a_setting_that_cannot_be_set_back_is_told_and_ends_with_a_failure() -> Outcome {
    needs_root()?;
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!(
        "export XDG_STATE_HOME=$PWD/state; echo 64 > fake; \
         fathom ab cpu/system_call --quick --budget 6s --alongside --b {SETTING} -o both & \
         for i in $(seq 200); do [ $(cat {FILE}) = 64 ] || break; sleep 0.05; done; \
         mount --bind fake {FILE}; wait $!; echo status $?; umount {FILE}; ls -A state/fathom/set | wc -l"
    );
    let binary = env!("CARGO_BIN_EXE_fathom");
    let mut shell = Command::new("unshare");
    shell.args([
        "--net",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        &script.replace("fathom ab", &format!("{binary} ab")),
    ]);
    shell.current_dir(folder.path()).env("XDG_DATA_HOME", folder.path());
    let output = shell.output().expect("util-linux has unshare");
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("status 2"), "{out} {error}");
    assert!(error.contains(FILE) && error.contains("no setting of the kernel"), "{error}");
    assert!(out.trim_end().ends_with('1'), "the record stays for the next run: {out}");
    Ok(())
}

fn what_leads_out_of_the_kernels_files_is_no_setting() -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let notes = folder.path().join("notes");
    std::fs::write(&notes, "one\ntwo\n[section]\n").expect("a file");
    let setting = format!("file:/proc/self/root{}=x", notes.display());
    let mut asked = fathom();
    asked.args(["ab", "cpu/system_call", "--alongside", "--budget", "2s", "--b", &setting, "-o"]);
    let output = asked.arg(folder.path().join("x")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no setting of the kernel"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(&notes).expect("a file"), "one\ntwo\n[section]\n");
    Ok(())
}

fn what_cannot_be_set_is_told_before_anything_is_measured() -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |setting: &str| {
        let mut asked = fathom();
        asked
            .args(["ab", "cpu/system_call", "--alongside", "--b", setting, "-o"])
            .arg(folder.path().join("x"));
        let output = asked.output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{setting}");
        text(&output.stderr)
    };
    assert!(refused("file:/etc/passwd=x").contains("below /proc and /sys"));
    assert!(refused("sysctl:no.such.name=1").contains("/proc/sys/no/such/name"));
    assert!(refused("swappiness=1").contains("sysctl:NAME=VALUE"));
    Ok(())
}
