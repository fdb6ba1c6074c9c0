//! Who may keep whom from measuring. Each test has a network of its own, and so names of its own.

use super::binary;
use crate::short_run::text;
use crate::tier::{Outcome, Test, beside, needs_root};
use socket2::{Domain, SockAddr, Socket, Type};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

pub const TESTS: &[Test] = &beside![
    root_and_this_user_keep_a_run_waiting_and_are_named,
    another_user_who_holds_the_names_keeps_nobody_from_measuring,
    what_another_user_holds_is_told_in_the_form_of_progress,
    a_name_whose_holder_takes_no_callers_keeps_nobody_from_measuring,
    a_misspelt_name_is_told_before_anybody_is_told_to_wait,
    where_no_name_can_be_had_nobody_is_accused,
];

const NAME: &str = "fathom-is-measuring";

/// Somebody else.
const NOBODY: libc::uid_t = 65_534;

/// Does it in a network of its own: that of a thread which ends with it.
fn in_own_network(test: impl FnOnce() + Send) -> Outcome {
    needs_root()?;
    let alone = move || {
        // SAFETY: gives this thread another network.
        assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNET) }, 0);
        test();
    };
    std::thread::scope(|scope| scope.spawn(alone).join().unwrap());
    Ok(())
}

fn effective_user(user: libc::uid_t) {
    // SAFETY: the system call itself, which is of this thread alone, where that of the library is of all.
    let set = unsafe { libc::syscall(libc::SYS_setresuid, -1, user, -1) };
    assert_eq!(set, 0);
}

fn address(name: &str) -> SockAddr {
    SockAddr::unix(format!("\0{name}")).unwrap()
}

/// A name, held as this user holds it.
fn held(user: libc::uid_t, name: &str, backlog: i32) -> Socket {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    effective_user(user);
    socket.bind(&address(name)).unwrap();
    socket.listen(backlog).unwrap();
    effective_user(0);
    socket
}

fn run(experiment: &str, descriptors: Option<libc::rlim_t>) -> Output {
    run_with(experiment, descriptors, &[])
}

fn run_with(experiment: &str, descriptors: Option<libc::rlim_t>, flags: &[&str]) -> Output {
    let work = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary());
    command.args(["run", "--quick", "--budget", "1s", "--trial", "4ms", experiment, "-o"]);
    command.arg(work.path().join("run.jsonl")).args(flags);
    if let Some(most) = descriptors {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        let set = move || {
            // What this process has open would count for the program too.
            // SAFETY: takes no pointers; and a valid limit.
            let set = unsafe {
                libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
                libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit)
            };
            if set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        };
        // SAFETY: the closure makes system calls only.
        unsafe { command.pre_exec(set) };
    }
    command.output().unwrap()
}

fn root_and_this_user_keep_a_run_waiting_and_are_named() -> Outcome {
    in_own_network(|| {
        let _held = held(0, NAME, 8);
        let output = run("cpu/system_call", None);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let named = format!("process {} of user 0", std::process::id());
        assert!(
            said.contains("another fathom") && said.contains(&named) && said.contains("--alongside"),
            "{said}"
        );
    })
}

fn another_user_who_holds_the_names_keeps_nobody_from_measuring() -> Outcome {
    in_own_network(|| {
        let _names = [held(NOBODY, NAME, 8), held(NOBODY, &format!("{NAME}-0"), 8)];
        let output = run("cpu/system_call", None);
        let said = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 4)), "{said}");
        assert_eq!(said.matches("of user 65534 holds the lock").count(), 2, "{said}");
    })
}

fn what_another_user_holds_is_told_in_the_form_of_progress() -> Outcome {
    in_own_network(|| {
        let _name = held(NOBODY, NAME, 8);
        let told = |form| text(&run_with("cpu/system_call", None, &["--progress", form]).stderr);
        let lines = told("json");
        let events: Vec<serde_json::Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect();
        let is_note = |event: &&serde_json::Value| {
            event["event"] == "note" && event["text"].as_str().is_some_and(|said| said.contains("user 65534"))
        };
        assert_eq!(events.iter().filter(is_note).count(), 1, "{lines}");
        assert_eq!(told("quiet"), "");
    })
}

fn a_name_whose_holder_takes_no_callers_keeps_nobody_from_measuring() -> Outcome {
    in_own_network(|| {
        let _name = held(NOBODY, NAME, 0);
        let callers: Vec<Socket> = std::iter::from_fn(|| {
            let caller = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None).unwrap();
            caller.connect(&address(NAME)).ok().map(|()| caller)
        })
        .collect();
        assert!(!callers.is_empty());
        let output = run("cpu/system_call", None);
        let said = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 4)), "{said}");
        assert!(said.contains("a process of an unknown user"), "{said}");
    })
}

fn a_misspelt_name_is_told_before_anybody_is_told_to_wait() -> Outcome {
    in_own_network(|| {
        let _held = held(0, NAME, 8);
        let said = text(&run("cpu/sistem_call", None).stderr);
        assert!(said.contains("did you mean `cpu/system_call`?"), "{said}");
    })
}

fn where_no_name_can_be_had_nobody_is_accused() -> Outcome {
    in_own_network(|| {
        let output = run("cpu/system_call", Some(4));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("cannot find out whether") && said.contains("open files"), "{said}");
    })
}
