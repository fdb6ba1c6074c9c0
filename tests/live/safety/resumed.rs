//! A run file that came by mail: what it asks for is not done because it asks.

use crate::short_run::{fathom, made_short_run, text, wait_for};
use crate::tier::{Outcome, Test, beside};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub const TESTS: &[Test] = &beside![
    a_run_file_alone_sends_nobody_to_a_peer,
    a_run_file_of_another_build_sends_nobody_to_a_peer_that_is_named,
    a_run_file_alone_sends_nobody_to_a_file_server,
    figures_that_no_run_can_have_are_told_and_nothing_panics,
    a_run_file_alone_chooses_no_folder,
    what_a_file_says_commands_no_terminal,
];

/// A short run whose header and first trial somebody has edited.
fn edited(folder: &Path, edit: impl Fn(&mut Value)) -> PathBuf {
    let file = folder.join("run.jsonl");
    if !file.exists() {
        made_short_run(&file);
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.iter_mut().for_each(edit);
    let edited = folder.join("edited.jsonl");
    std::fs::write(&edited, lines.iter().map(|line| line.to_string() + "\n").collect::<String>()).unwrap();
    edited
}

fn resumed(file: &Path, further: &[&str]) -> String {
    let mut run = fathom();
    run.args(["run", "--alongside", "--budget", "1s"]).args(further).arg("--resume").arg(file);
    text(&run.env("FATHOM_REMOTE_PASSWORD", "secret").assert().code(2).get_output().stderr)
}

/// A place where somebody listens, and whether anybody has come.
struct Trap(TcpListener);

impl Trap {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Trap(listener)
    }

    fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    fn is_untouched(&self) -> bool {
        matches!(self.0.accept(), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }
}

/// A run file that names a trap as its peer.
struct Trapped {
    trap: Trap,
    wanted: String,
    token: PathBuf,
    file: PathBuf,
}

impl Trapped {
    /// With the header edited further.
    fn new(folder: &Path, edit: impl Fn(&mut Value)) -> Self {
        let (trap, token) = (Trap::new(), folder.join("token"));
        std::fs::write(&token, "0123456789abcdef0123456789abcdef").unwrap();
        std::fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
        let wanted = format!("127.0.0.1:{}", trap.port());
        let file = edited(folder, |line| {
            if line["line"] == "header" {
                line["peer"] = json!({"wanted": wanted, "kind": "by_hand", "address": "127.0.0.1"});
                edit(line);
            }
        });
        Trapped { trap, wanted, token, file }
    }
}

fn a_run_file_alone_sends_nobody_to_a_peer() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let Trapped { trap, wanted, token, file } = Trapped::new(folder.path(), |_| {});
    let said = resumed(&file, &["--token-file", token.to_str().unwrap()]);
    assert!(trap.is_untouched(), "{said}");
    assert!(said.contains(&format!("--peer {wanted}")), "the host is named: {said}");
    Ok(())
}

fn a_run_file_of_another_build_sends_nobody_to_a_peer_that_is_named() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let Trapped { trap, wanted, token, file } =
        Trapped::new(folder.path(), |header| header["tool"]["binary_sha256"] = "0".repeat(64).into());
    let said = resumed(&file, &["--peer", &wanted, "--token-file", token.to_str().unwrap()]);
    assert!(trap.is_untouched() && said.contains("another build"), "{said}");
    Ok(())
}

fn a_run_file_alone_sends_nobody_to_a_file_server() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let trap = Trap::new();
    let address = format!("smb://me@127.0.0.1:{}/share/", trap.port());
    let file = edited(folder.path(), |line| {
        if line["line"] == "header" {
            let remote =
                fathom::machine::Remote::find(&fathom::machine::Root::default(), &address.parse().unwrap());
            line["machine"]["storage"]["remote"] = serde_json::to_value(remote.unwrap()).unwrap();
            // A point that wants it, or nobody would go there.
            let plan = line["plan"].as_array_mut().unwrap();
            let mut point = plan[0].clone();
            point["experiment"] = "filesystem/remote_read".into();
            plan.push(point);
        }
    });
    let said = resumed(&file, &[]);
    assert!(trap.is_untouched(), "{said}");
    assert!(said.contains(&format!("--remote {address}")), "the server is named: {said}");
    Ok(())
}

fn figures_that_no_run_can_have_are_told_and_nothing_panics() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    for (line, pointer, value) in [
        ("header", "/settings/budget_s", json!(-1.0)),
        ("header", "/settings/budget_s", json!(1e300)),
        ("header", "/settings/precision", json!(-0.1)),
        ("header", "/clock/ticks_per_second", json!(0.0)),
        ("trial", "/began_s", json!(-5.0)),
        ("trial", "/began_s", json!(1e300)),
        ("trial", "/took_s", json!(-1e9)),
        ("trial", "/round", json!(u32::MAX)),
        ("trial", "/block/process", json!(u32::MAX)),
    ] {
        let file = edited(folder.path(), |found| {
            if found["line"] == line {
                found.pointer_mut(pointer).into_iter().for_each(|place| *place = value.clone());
            }
        });
        let before = std::fs::read(&file).unwrap();
        let mut run = fathom();
        run.args(["run", "--alongside", "--resume"]).arg(&file);
        let said = text(&run.assert().code(2).get_output().stderr);
        assert!(
            said.contains("impossible values") && !said.contains("panicked"),
            "{pointer} {value}: {said}"
        );
        assert_eq!(std::fs::read(&file).unwrap(), before, "nothing is written");
    }
    Ok(())
}

fn a_run_file_alone_chooses_no_folder() -> Outcome {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = other.path().to_str().unwrap();
    let file = edited(folder.path(), |line| {
        if line["line"] == "header" {
            line["settings"]["folder"] = place.into();
        }
    });
    let said = resumed(&file, &[]);
    assert!(said.contains(&format!("--dir {place}")), "the folder is named: {said}");
    assert_eq!(other.path().read_dir().unwrap().count(), 0);
    let mut named = fathom();
    named.args(["run", "--alongside", "--budget", "1s", "--dir", place, "--resume"]).arg(&file);
    let said = text(&named.output().unwrap().stderr);
    assert!(!said.contains("command line names it too"), "{said}");
    Ok(())
}

fn what_a_file_says_commands_no_terminal() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let harm = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{202e}";
    let escapes = |said: &str| {
        said.chars().any(|letter| (letter.is_control() && letter != '\n') || letter == '\u{202e}')
    };
    for pointer in ["/clock/kind", "/settings/effort", "/peer/kind", "/plan/0/unit"] {
        let file = edited(folder.path(), |line| {
            line["peer"] = json!({"wanted": harm, "kind": "ssh", "address": harm});
            if line["line"] == "header" {
                line.pointer_mut(pointer).into_iter().for_each(|place| *place = harm.into());
            }
        });
        let said = text(&fathom().arg("report").arg(&file).assert().code(2).get_output().stderr);
        assert!(!escapes(&said), "{said:?}");
        assert!(!escapes(&resumed(&file, &[])));
    }
    let file =
        edited(folder.path(), |line| line["peer"] = json!({"wanted": harm, "kind": "ssh", "address": harm}));
    assert!(!escapes(&resumed(&file, &[])));
    wait_for(Duration::from_secs(1), "the last process is reaped", || true);
    Ok(())
}
