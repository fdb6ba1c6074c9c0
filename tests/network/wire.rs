//! Two network namespaces with a wire between them, held to a rate: gone when the two processes that hold them are.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The far end's address.
pub const FAR: &str = "198.19.255.2";
const NEAR: &str = "198.19.255.1";

pub struct Wire {
    near: Child,
    far: Child,
}

impl Wire {
    /// `None`, with the reason on standard error, where this process may not make namespaces.
    pub fn held_to(rate: &str) -> Option<Self> {
        // SAFETY: takes no arguments.
        if unsafe { libc::geteuid() } != 0 {
            eprintln!("NOT RUN: a wire between two network namespaces needs root");
            return None;
        }
        let wire = Wire { near: holder(), far: holder() };
        let far = wire.far.id();
        let link = format!("link add wire type veth peer name wire netns {far}");
        run(wire.near(Command::new("ip")), &link);
        let ends = [(wire.near(Command::new("ip")), NEAR), (wire.far(Command::new("ip")), FAR)];
        for (mut ip, address) in ends {
            ip.args(["address", "add", &format!("{address}/30"), "dev", "wire"]);
            run(ip, "");
        }
        for place in [Wire::near as fn(&Wire, Command) -> Command, Wire::far] {
            run(place(&wire, Command::new("ip")), "link set lo up");
            run(place(&wire, Command::new("ip")), "link set wire up");
            // Packets as on Ethernet: without segments of 64 KiB, which a bucket of a few packets does not hold.
            let offloads = "-K wire tso off gso off gro off";
            if Command::new("ethtool").arg("--version").stdout(Stdio::null()).status().is_ok() {
                run(place(&wire, Command::new("ethtool")), offloads);
            }
            // A bucket of 10 ms: what a shared host withholds the timer for, up to so long, is made up for, not lost.
            let limit = format!("qdisc add dev wire root tbf rate {rate} burst 125kb latency 100ms");
            run(place(&wire, Command::new("tc")), &limit);
        }
        Some(wire)
    }

    /// The command, in the namespace of the near end.
    pub fn near(&self, command: Command) -> Command {
        inside(&self.near, command)
    }

    /// The command, in the namespace of the far end.
    pub fn far(&self, command: Command) -> Command {
        inside(&self.far, command)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for holder in [&mut self.near, &mut self.far] {
            let _ = holder.kill();
            let _ = holder.wait();
        }
    }
}

/// A process in a network namespace of its own, which dies with this one.
fn holder() -> Child {
    let mut sleep = Command::new("sleep");
    sleep.arg("600");
    // SAFETY: two system calls between fork and exec.
    unsafe {
        sleep.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::unshare(libc::CLONE_NEWNET) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        });
    }
    // Spawn returns when exec was reached, so the namespace is there.
    sleep.spawn().unwrap()
}

fn inside(holder: &Child, mut command: Command) -> Command {
    let namespace = File::open(format!("/proc/{}/ns/net", holder.id())).unwrap();
    // SAFETY: one system call between fork and exec, on a descriptor that the closure owns.
    unsafe {
        command.pre_exec(move || {
            if libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) == 0 {
                Ok(())
            } else {
                Err(std::io::Error::last_os_error())
            }
        });
    }
    command
}

fn run(mut command: Command, arguments: &str) {
    command.args(arguments.split_whitespace());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
