//! The owner of a temporary file, recorded in its name, so that after a kill the next run on the same machine knows whether the
//! file is still in use.

use std::fmt;
use std::os::unix::fs::MetadataExt;

const PREFIX: &str = ".fathom-";

/// A process, distinguished from every earlier or later one with its number by its start time, its boot, and its host. A folder
/// may be shared between hosts and containers, which cannot see each other's processes: a host here is a name together with a
/// namespace of process numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    process: u32,
    /// Clock ticks from boot to its start, as in `/proc/PID/stat`.
    started: u64,
    boot: u32,
    host: u32,
}

impl Owner {
    /// The process with this number; `None` if there is none.
    pub fn of(process: u32) -> Option<Self> {
        Some(Owner { process, started: started(process)?, boot: boot(), host: host() })
    }

    /// A name for a file of this process.
    pub fn name(&self, what: &str) -> String {
        format!("{PREFIX}{self}-{what}")
    }

    /// A process of this boot that has ended, for tests: Linux has no number as large.
    #[doc(hidden)]
    pub fn ended() -> Self {
        Owner { process: (1 << 22) + 1, ..Owner::of(std::process::id()).expect("this process") }
    }

    /// This process as another container of the machine names it, for tests.
    #[doc(hidden)]
    pub fn of_another_host() -> Self {
        let own = Owner::of(std::process::id()).expect("this process");
        Owner { host: !own.host, ..own }
    }

    /// The owner in a file's name; `None` if the name does not have this form.
    pub fn of_name(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        let hexadecimal = |digits: &mut dyn Iterator<Item = &'_ str>| {
            let part = digits.next().filter(|part| part.len() == 8)?;
            u32::from_str_radix(part, 16).ok()
        };
        let (process, started) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Owner { process, started, boot: hexadecimal(&mut parts)?, host: hexadecimal(&mut parts)? })
    }

    /// Whether the machine has not booted since it was started.
    pub fn is_of_this_boot(&self) -> bool {
        self.boot == boot()
    }

    /// Whether the process has certainly ended: it ran on this host, before the last boot or under a number that is now free or
    /// another's.
    pub fn is_gone(&self) -> bool {
        self.host == host() && (self.boot != boot() || started(self.process) != Some(self.started))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{}-{}-{:08x}-{:08x}", self.process, self.started, self.boot, self.host)
    }
}

/// The 22nd field of `/proc/PID/stat`, counted after the name in parentheses, which may contain anything.
fn started(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

fn boot() -> u32 {
    digest(&std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default())
}

fn host() -> u32 {
    host_of(
        &std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default(),
        std::fs::metadata("/proc/self/ns/pid").map(|space| space.ino()).ok(),
    )
}

/// The host's name does not distinguish containers that share it (`hostNetwork`, `--uts=host`, `unshare --pid`); the namespace
/// in which numbers of processes mean anything does.
fn host_of(name: &str, processes: Option<u64>) -> u32 {
    let processes = processes.map(|number| number.to_string()).unwrap_or_default();
    digest(&format!("{} {processes}", name.trim()))
}

/// FNV-1a, a published hash that does not change with a library.
fn digest(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.trim().bytes().fold(0x811c_9dc5, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_owner() {
        let own = Owner::of(std::process::id()).unwrap();
        assert_eq!(Owner::of_name(&own.name("cold-1024")), Some(own.clone()));
        assert!(!own.is_gone());
        assert_eq!(Owner::of_name(".fathom-17-somebody"), None);
        assert_eq!(Owner::of_name("17-3-00000000-00000000"), None);
    }

    #[test]
    fn a_process_of_the_same_number_that_began_at_another_time_or_boot_is_another() {
        let own = Owner::of(std::process::id()).unwrap();
        assert!(Owner { started: own.started + 1, ..own.clone() }.is_gone());
        assert!(Owner { boot: !own.boot, ..own.clone() }.is_gone());
        assert!(
            !Owner { boot: !own.boot, host: !own.host, ..own }.is_gone(),
            "another host's is not ours to judge"
        );
    }

    /// Two containers of one name, which share a folder.
    #[test]
    fn a_process_in_another_namespace_of_numbers_is_not_ours_to_judge() {
        let own = Owner::of(std::process::id()).unwrap();
        let theirs = host_of("node-7", Some(4_026_531_836));
        assert_ne!(theirs, host_of("node-7", Some(4_026_532_500)));
        assert_eq!(theirs, host_of("node-7\n", Some(4_026_531_836)));
        assert!(!Owner { started: own.started + 1, host: theirs, ..own }.is_gone());
    }
}
