//! The process that starts tools for a session and cleans up after them: processes that they leave behind become its
//! children (`PR_SET_CHILD_SUBREAPER`, prctl(2)), and are killed after each tool, and when the session's process ends.

use fathom_core::sampling::affinity;
use fathom_core::sampling::clock::kernel_clock;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The hidden command that starts it.
pub const COMMAND: &str = "run-tools";

/// The longest time that a server may take to listen.
const LISTENING: Duration = Duration::from_secs(5);

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CommandLine {
    pub words: Vec<String>,
    pub cpus: Vec<usize>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToolTask {
    pub client: CommandLine,
    pub server: Option<(CommandLine, u16)>,
    /// Whether both run in a network namespace of their own.
    pub apart: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToolOutput {
    /// What the tool printed; or the reason why there is none.
    pub text: Result<String, String>,
    /// The duration, with starting and ending its server, seconds.
    pub took_s: f64,
}

/// Runs the tasks of standard input, one line each, and ends with it.
pub fn run_tools() -> anyhow::Result<()> {
    // SAFETY: both calls are about this process alone. It is not killed with its parent, for it has to clear up then.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, 0, 0, 0, 0);
    }
    for line in io::stdin().lines() {
        let task: ToolTask = serde_json::from_str(&line?)?;
        // Meanwhile, this thread waits for the end of standard input.
        std::thread::spawn(move || answer(&task));
    }
    clear_up();
    Ok(())
}

fn answer(task: &ToolTask) {
    let now = || kernel_clock(libc::CLOCK_MONOTONIC);
    let began = now();
    let text = run(task);
    clear_up();
    let output = ToolOutput { text, took_s: (now() - began) as f64 / 1e9 };
    // A reader that has gone has closed standard input as well.
    let _ = serde_json::to_string(&output).map(|line| writeln!(io::stdout(), "{line}"));
}

fn run(task: &ToolTask) -> Result<String, String> {
    if task.apart {
        leave_the_network()?;
    }
    if let Some((server, port)) = &task.server {
        let mut command = command(server);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(|error| format!("{}: {error}", server.words[0]))?;
        wait_for_a_listener(*port)?;
    }
    let output = command(&task.client).output();
    let Output { status, stdout, stderr } =
        output.map_err(|error| format!("{}: {error}", task.client.words[0]))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&stderr).into_owned();
    let first = complaint.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("without a message");
    Err(format!("{} failed ({status}): {first}", task.client.words[0]))
}

fn command(line: &CommandLine) -> Command {
    let mut command = Command::new(&line.words[0]);
    let cpus = line.cpus.clone();
    let begin = move || {
        // SAFETY: prctl is about the new process alone, which is to die with the thread that waits for it.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
        if affinity::set(&cpus) { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec two system calls are made, one with a mask that is allocated: the only other thread of this
    // process waits for input meanwhile, and holds nothing that this needs.
    unsafe { command.pre_exec(begin) };
    command.args(&line.words[1..]).env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Kills every child until there is none: the children of a killed child become children of this process.
fn clear_up() {
    loop {
        for child in children() {
            // SAFETY: a child that was not waited for keeps its number.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        // SAFETY: waits for any child, and wants no status.
        if unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) } < 0 {
            return;
        }
    }
}

/// The children of this process, by the parent that `/proc/PID/stat` contains after the name in parentheses.
fn children() -> Vec<libc::pid_t> {
    let own = std::process::id().to_string();
    let is_ours = |number: &libc::pid_t| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)) == Some(&own)
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}

/// Moves this thread, and the processes that it starts from now on, into a network namespace with only a loopback device.
fn leave_the_network() -> Result<(), String> {
    // SAFETY: moves the calling thread alone.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        let error = io::Error::last_os_error();
        return Err(format!(
            "its server listens at every address, and a network of its own needs root ({error})"
        ));
    }
    let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
    let why =
        |error: String| format!("a network of its own needs the program `ip` (package iproute2): {error}");
    match up {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(why(status.to_string())),
        Err(error) => Err(why(error.to_string())),
    }
}

/// Waits until a socket has the port, according to this thread's network; it does not connect, which could confuse the
/// server.
fn wait_for_a_listener(port: u16) -> Result<(), String> {
    let step = Duration::from_millis(5);
    for _ in 0..LISTENING.as_millis() / step.as_millis() {
        let tables = ["tcp", "tcp6", "udp", "udp6"].map(|table| format!("/proc/thread-self/net/{table}"));
        if tables.iter().any(|table| has(&std::fs::read_to_string(table).unwrap_or_default(), port)) {
            return Ok(());
        }
        std::thread::sleep(step);
    }
    Err("its server does not listen".to_owned())
}

/// Whether a table of sockets contains one at this port that waits for others: listening, or a datagram socket without a
/// partner (proc(5); states of `include/net/tcp_states.h`).
fn has(table: &str, port: u16) -> bool {
    let port = format!(":{port:04X}");
    let waits = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next().is_some_and(|local| local.ends_with(&port));
        local && matches!(fields.nth(1), Some("0A" | "07"))
    };
    table.lines().any(waits)
}

/// A port of loopback that is free now.
pub fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_waits_is_found_by_its_port_and_a_connection_is_not() {
        let table = "  sl  local_address rem_address   st tx_queue\n\
                     \x20  0: 0100007F:3B62 00000000:0000 0A 00000000:00000000\n\
                     \x20  1: 0100007F:3B63 0100007F:9C40 01 00000000:00000000\n\
                     \x20  2: 0100007F:3B64 00000000:0000 07 00000000:00000000\n";
        assert!(has(table, 0x3B62) && has(table, 0x3B64));
        assert!(!has(table, 0x3B63), "it is connected");
        assert!(!has(table, 0x9C40), "it is another's");
    }
}
