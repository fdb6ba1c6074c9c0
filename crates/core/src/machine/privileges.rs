//! The privileges of this process: its user, its capabilities, and the counters that it can open.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::host::{Event, Host, Resource};
use super::source::{Root, field, parse_hex};

/// Rights of this process that matter here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Privileges {
    /// Effective user; 0 is root.
    pub effective_uid: Fact<u32>,
    /// Effective capabilities that matter here, and what each allows.
    pub capabilities: Fact<BTreeMap<String, String>>,
    /// `kernel.perf_event_paranoid`: up to 2 lets every user count its own user-space events.
    pub perf_event_paranoid: Fact<i32>,
    /// Counters: a known `true` opened; an unknown one says why not.
    pub counters: BTreeMap<Event, Fact<bool>>,
    /// Locked memory allowed, bytes; `null`: no limit.
    pub locked_memory_bytes: Fact<Option<u64>>,
    /// Limits on other resources: bytes, files, or processes; `None` is no limit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<Resource, Fact<Option<u64>>>,
    /// `none`, `strict` or `filter`: a filter slows each system call down and may refuse some.
    pub seccomp: Fact<String>,
}

/// Bits of linux/capability.h, and what they mean for measuring.
const CAPABILITIES: &[(u32, &str, &str)] = &[
    (1, "CAP_DAC_OVERRIDE", "read files of root (firmware tables)"),
    (12, "CAP_NET_ADMIN", "see and change the whole network configuration"),
    (14, "CAP_IPC_LOCK", "lock any amount of memory"),
    (17, "CAP_SYS_RAWIO", "read model-specific registers"),
    (19, "CAP_SYS_PTRACE", "inspect other processes"),
    (21, "CAP_SYS_ADMIN", "mount, drop caches, count everything"),
    (23, "CAP_SYS_NICE", "real-time priority"),
    (38, "CAP_PERFMON", "count events of the kernel and of all"),
];

pub(super) fn read(root: &Root, host: &dyn Host) -> Privileges {
    let status = root.text("/proc/self/status");
    let perf_event_paranoid = root
        .number("/proc/sys/kernel/perf_event_paranoid")
        .because("this kernel is built without perf events");
    let counters = Event::ALL.into_iter().map(|event| (event, counter(host, event))).collect();
    Privileges {
        effective_uid: Fact::from_call(host.effective_uid(), "geteuid(2)"),
        capabilities: status.clone().parse("a status with CapEff", |text| capabilities(text)).via(" CapEff"),
        perf_event_paranoid,
        counters,
        locked_memory_bytes: limit(host, Resource::LockedMemory),
        limits: LIMITS.map(|resource| (resource, limit(host, resource))).into(),
        seccomp: status.parse("a status with Seccomp", |text| seccomp(text)).via(" Seccomp"),
    }
}

const LIMITS: [Resource; 4] =
    [Resource::AddressSpace, Resource::Data, Resource::OpenFiles, Resource::Processes];

/// The limit on a resource; `None` is no limit.
pub(super) fn limit(host: &dyn Host, resource: Resource) -> Fact<Option<u64>> {
    let name = match resource {
        Resource::AddressSpace => "RLIMIT_AS",
        Resource::Data => "RLIMIT_DATA",
        Resource::LockedMemory => "RLIMIT_MEMLOCK",
        Resource::OpenFiles => "RLIMIT_NOFILE",
        Resource::Processes => "RLIMIT_NPROC",
    };
    Fact::from_call(host.limit(resource), &format!("getrlimit({name})"))
}

fn capabilities(status: &str) -> Option<BTreeMap<String, String>> {
    let bits = parse_hex(field(status, "CapEff")?)?;
    let held = CAPABILITIES.iter().filter(|(bit, ..)| bits >> bit & 1 == 1);
    Some(held.map(|(_, name, meaning)| ((*name).to_owned(), (*meaning).to_owned())).collect())
}

fn seccomp(status: &str) -> Option<String> {
    let mode = match field(status, "Seccomp")? {
        "0" => "none",
        "1" => "strict",
        "2" => "filter",
        _ => return None,
    };
    Some(mode.to_owned())
}

fn counter(host: &dyn Host, event: Event) -> Fact<bool> {
    let source = "perf_event_open(2)";
    match host.open_counter(event) {
        Ok(()) => Fact::known(true, source),
        Err(errno) => Fact::unknown(refusal(errno, event), source),
    }
}

/// The meaning of the kernel's refusal, with the remedy.
fn refusal(errno: i32, event: Event) -> String {
    match errno {
        libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV if event.is_hardware() => {
            "the processor's counters are not available: a virtual machine has them only if its host provides a \
             virtual PMU"
                .to_owned()
        }
        libc::EACCES | libc::EPERM => {
            "not permitted: allow it with `sysctl kernel.perf_event_paranoid=2` or CAP_PERFMON, and in a container's \
             seccomp filter"
                .to_owned()
        }
        libc::ENOSYS => "the kernel has no perf_event_open, or a filter hides it".to_owned(),
        libc::EBUSY => "another program has exclusive use of the counter".to_owned(),
        libc::EMFILE | libc::ENFILE => "no file descriptor is left (`ulimit -n`)".to_owned(),
        other => format!("the kernel refuses: {}", std::io::Error::from_raw_os_error(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_named_with_what_they_allow() {
        let held = capabilities("Name:\tx\nCapEff:\t0000004000000002\n").unwrap();
        assert_eq!(held.keys().map(String::as_str).collect::<Vec<_>>(), ["CAP_DAC_OVERRIDE", "CAP_PERFMON"]);
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        assert!(refusal(libc::ENOENT, Event::Cycles).contains("provides a virtual PMU"));
        assert!(refusal(libc::EACCES, Event::PageFaults).contains("perf_event_paranoid"));
    }
}
