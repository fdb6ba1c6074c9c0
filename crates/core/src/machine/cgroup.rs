//! The limits that control groups put on this process, versions 1 and 2. A limit of any ancestor group applies too, so all
//! of them are read.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::cpu_set::CpuSet;
use super::fact::{Fact, MISSING};
use super::mounts::{self, Mount};
use super::published;
use super::source::{Root, decimal};

/// From here on a limit of version 1 means "none" (it is the largest number of pages that fits).
const NO_LIMIT: u64 = 1 << 62;

/// The limits of the control groups. A known `null` is "no limit".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// CPU time per elapsed time: 2.5 is two and a half CPUs' worth. It bounds time, not parallelism.
    pub cpu_quota: Fact<Option<f64>>,
    /// Enforcement periods so far in which the group with the tightest quota, that of this process or one above, was stopped by it.
    pub throttled_periods: Fact<u64>,
    /// Limit on memory, bytes.
    pub memory_bytes: Fact<Option<u64>>,
    /// The unused part of it, bytes; file cache that can be dropped counts as unused.
    pub memory_left_bytes: Fact<Option<u64>>,
    /// CPUs the cpuset allows.
    pub cpuset: Fact<CpuSet>,
}

/// This process's group in one hierarchy: its folder and those above it, up to the mount.
#[derive(Clone)]
struct ControllerGroup {
    version: u8,
    folders: Vec<String>,
    /// Where the hierarchy is mounted.
    mount: String,
}

impl ControllerGroup {
    fn of(root: &Root, version: u8, mount: &Mount, path: &str) -> Self {
        let folders = folders(root, mount, path);
        ControllerGroup { version, folders, mount: mount.point.to_string_lossy().into_owned() }
    }

    /// A folder in the form in which a description may be published.
    fn published(&self, folder: &str) -> String {
        published::control_group(folder, &self.mount)
    }
}

pub(super) fn read(root: &Root) -> Limits {
    let groups = root.text("/proc/self/cgroup");
    let mounts = root.text("/proc/self/mountinfo");
    let find = |controller: &str| match (groups.value(), mounts.value()) {
        (Some(groups), Some(table)) => group(root, groups, &mounts::parse(table), controller),
        _ => Err("the kernel does not show control groups".to_owned()),
    };
    let memory = find("memory");
    Limits {
        cpu_quota: tightest(find("cpu"), "cpu.max, cpu.cfs_quota_us", |group, folder| {
            quota(root, group.version, folder)
        }),
        throttled_periods: throttled(root, find("cpu")),
        memory_bytes: tightest(memory.clone(), "memory.max, memory.limit_in_bytes", |group, folder| {
            memory_limit(root, group.version, folder)
        }),
        memory_left_bytes: tightest(memory, "memory.max, memory.current", |group, folder| {
            memory_left(root, group.version, folder)
        }),
        cpuset: own(find("cpuset"), |group, folder| {
            let file = if group.version == 2 { "cpuset.cpus.effective" } else { "cpuset.cpus" };
            let list = super::topology::cpu_list(root, &format!("{folder}/{file}"));
            list.told_as_from(format!("{}/{file}", group.published(folder)))
        }),
    }
}

/// A group below which one with its own limit may be made, so that all limits on this process's group apply there too or, in
/// version 2, those of the groups above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupParent {
    /// 1 or 2.
    pub version: u8,
    /// Its folder.
    pub folder: PathBuf,
    /// The folder of the group that this process is in.
    pub own: PathBuf,
}

/// The group of this process, in version 1. In version 2 a group that contains processes has no controllers below it
/// (cgroups(7), "no internal processes"), so it is the nearest ancestor that has the controller.
pub(super) fn parent(root: &Root, controller: &str) -> Result<GroupParent, String> {
    let (groups, mounts) = (root.text("/proc/self/cgroup"), root.text("/proc/self/mountinfo"));
    let (Some(groups), Some(table)) = (groups.value(), mounts.value()) else {
        return Err("the kernel does not show control groups".to_owned());
    };
    let group = group(root, groups, &mounts::parse(table), controller)?;
    let grants = |folder: &&String| {
        let below = root.text(&format!("{folder}/cgroup.subtree_control"));
        group.version == 1
            || below.value().is_some_and(|names| names.split_whitespace().any(|name| name == controller))
    };
    let folder = group.folders.iter().find(grants);
    let folder = folder.ok_or_else(|| {
        format!("neither this control group nor one above it delegates the controller \"{controller}\"")
    })?;
    let own = group.folders.first().unwrap_or(folder);
    let below_manager: Vec<&String> = group.folders.iter().take_while(|below| *below != folder).collect();
    if let Some(limit) = below_manager.iter().find_map(|folder| limit_of(root, folder)) {
        return Err(format!(
            "this control group has a limit ({limit}) that a group beside it would not have: work does not leave it"
        ));
    }
    Ok(GroupParent { version: group.version, folder: PathBuf::from(folder), own: PathBuf::from(own) })
}

/// The first limit of this process's group, or of one above it up to the user's service manager, which a process would leave
/// that the service manager starts; `None` if there is none.
pub(super) fn limit_left_for_a_scope(root: &Root) -> Option<String> {
    let (groups, mounts) = (root.text("/proc/self/cgroup"), root.text("/proc/self/mountinfo"));
    let mounts = mounts::parse(mounts.value()?);
    let is_manager = |folder: &&String| {
        let name = Path::new(folder).file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("user@") && name.ends_with(".service"))
    };
    CONTROLLERS.iter().find_map(|controller| {
        let group = group(root, groups.value()?, &mounts, controller).ok()?;
        // The mount itself has no limits that a process could leave.
        let below = group.folders.split_last().map_or(&[][..], |(_, below)| below);
        let below_manager = below.iter().take_while(|folder| !is_manager(folder));
        below_manager.into_iter().find_map(|folder| match group.version {
            2 => limit_of(root, folder),
            _ => limit_of_version_1(root, controller, folder),
        })
    })
}

/// The controllers whose limits hold work back.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuset", "memory", "blkio"];

/// The files of version 2 that hold a limit, with the content that means "none".
const LIMITS: [(&str, &str); 8] = [
    ("cpu.max", "max"),
    ("cpuset.cpus", ""),
    ("cpuset.mems", ""),
    ("memory.max", "max"),
    ("memory.high", "max"),
    ("memory.swap.max", "max"),
    ("io.max", ""),
    ("io.latency", ""),
];

/// The first limit of a group of version 2, as its file and content.
fn limit_of(root: &Root, folder: &str) -> Option<String> {
    LIMITS.iter().find_map(|(file, none)| {
        let path = format!("{folder}/{file}");
        let text = root.text(&path);
        let first = text.value()?.split_whitespace().next().unwrap_or_default();
        (first != *none).then(|| format!("{path}: {}", text.value().map_or("", |text| text.trim())))
    })
}

/// The first limit of a group of version 1 in the hierarchy of a controller. A `cpuset` always names CPUs: it is a limit where
/// these are others than those of the group above.
fn limit_of_version_1(root: &Root, controller: &str, folder: &str) -> Option<String> {
    let limit_in =
        |file: &str| root.text(&format!("{folder}/{file}")).value().map(|text| text.trim().to_owned());
    let limit = |file: &str, is_limit: &dyn Fn(&str) -> bool| {
        limit_in(file).filter(|text| is_limit(text)).map(|text| format!("{folder}/{file}: {text}"))
    };
    let above = Path::new(folder).parent().map(|above| above.to_string_lossy().into_owned());
    match controller {
        "cpu" => limit("cpu.cfs_quota_us", &|text| decimal(text).is_some_and(|quota| quota > 0.0)),
        "memory" => {
            limit("memory.limit_in_bytes", &|text| text.parse::<u64>().is_ok_and(|bytes| bytes < NO_LIMIT))
        }
        "cpuset" => limit("cpuset.cpus", &|text| {
            above.as_ref().is_some_and(|above| {
                let theirs = root.text(&format!("{above}/cpuset.cpus"));
                theirs.value().is_some_and(|theirs| theirs.trim() != text)
            })
        }),
        _ => ["read_bps", "write_bps", "read_iops", "write_iops"]
            .iter()
            .find_map(|what| limit(&format!("blkio.throttle.{what}_device"), &|text| !text.is_empty())),
    }
}

/// The smallest limit of this process's group and all above; `null` if none has one.
fn tightest<T: PartialOrd + Copy>(
    group: Result<ControllerGroup, String>,
    files: &str,
    limit: impl Fn(&ControllerGroup, &str) -> Option<T>,
) -> Fact<Option<T>> {
    let group = match group {
        Ok(group) => group,
        Err(reason) => return Fact::unknown(reason, files),
    };
    if let Some((limit, folder)) = smallest(&group, limit) {
        return Fact::known(Some(limit), format!("{} ({files})", group.published(folder)));
    }
    let own = group.folders.first().map_or(String::new(), |own| group.published(own));
    Fact::known(None, format!("{own} and above ({files})"))
}

/// The smallest limit of this process's group and all above, with its group.
fn smallest<T: PartialOrd + Copy>(
    group: &ControllerGroup,
    limit: impl Fn(&ControllerGroup, &str) -> Option<T>,
) -> Option<(T, &String)> {
    let mut lowest: Option<(T, &String)> = None;
    for folder in &group.folders {
        let Some(limit) = limit(group, folder) else { continue };
        if lowest.is_none_or(|(smallest, _)| limit < smallest) {
            lowest = Some((limit, folder));
        }
    }
    lowest
}

/// A fact of this process's own group only.
fn own<T>(
    group: Result<ControllerGroup, String>,
    fact: impl Fn(&ControllerGroup, &str) -> Fact<T>,
) -> Fact<T> {
    match group {
        Ok(group) => match group.folders.first() {
            Some(folder) => fact(&group, folder),
            None => Fact::unknown(MISSING, "/proc/self/cgroup"),
        },
        Err(reason) => Fact::unknown(reason, "/proc/self/cgroup"),
    }
}

/// This process's group of one controller: version 1 if that controller is mounted so, otherwise version 2.
fn group(root: &Root, groups: &str, mounts: &[Mount], controller: &str) -> Result<ControllerGroup, String> {
    let lines =
        || groups.lines().filter_map(|line| line.splitn(3, ':').skip(1).collect::<Vec<_>>().try_into().ok());
    let first =
        lines().find(|[controllers, _]: &[&str; 2]| controllers.split(',').any(|name| name == controller));
    let mounted = mounts.iter().find(|mount| {
        mount.file_system == "cgroup" && mount.super_options.split(',').any(|name| name == controller)
    });
    if let (Some([_, path]), Some(mount)) = (first, mounted) {
        return Ok(ControllerGroup::of(root, 1, mount, path));
    }
    let second = lines().find(|[controllers, _]: &[&str; 2]| controllers.is_empty());
    let mounted = mounts.iter().find(|mount| mount.file_system == "cgroup2");
    match (second, mounted) {
        (Some([_, path]), Some(mount)) => Ok(ControllerGroup::of(root, 2, mount, path)),
        _ => Err(format!("no control group with the controller \"{controller}\" is mounted")),
    }
}

/// The group's folder below the mount, and every folder between. A container may see a path that is not below the mount;
/// then the mount itself is the group.
fn folders(root: &Root, mount: &Mount, path: &str) -> Vec<String> {
    let below = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let escapes = below.components().any(|part| part.as_os_str() == "..");
    let own: PathBuf = if escapes { mount.point.clone() } else { mount.point.join(below) };
    let up = own.ancestors().take_while(|folder| folder.starts_with(&mount.point));
    let folders: Vec<String> =
        up.map(|folder| folder.to_string_lossy().trim_end_matches('/').to_owned()).collect();
    folders.into_iter().filter(|folder| root.exists(folder)).collect()
}

fn quota(root: &Root, version: u8, folder: &str) -> Option<f64> {
    if version == 2 {
        let text = root.text(&format!("{folder}/cpu.max"));
        return quota_of(text.value()?);
    }
    let quota = *root.decimal(&format!("{folder}/cpu.cfs_quota_us")).value()?;
    let period = *root.decimal(&format!("{folder}/cpu.cfs_period_us")).value()?;
    ratio(quota, period)
}

/// The quotient; `None` for a period under a microsecond, which the kernel does not have.
fn ratio(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period >= 1.0).then(|| quota / period)
}

/// `250000 100000` is 2.5; `max 100000` is no quota.
fn quota_of(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let quota = decimal(words.next()?)?;
    let period: f64 = words.next().map_or(Some(100_000.0), decimal)?;
    ratio(quota, period)
}

fn memory_limit(root: &Root, version: u8, folder: &str) -> Option<u64> {
    let file = if version == 2 { "memory.max" } else { "memory.limit_in_bytes" };
    root.number::<u64>(&format!("{folder}/{file}")).value().copied().filter(|limit| *limit < NO_LIMIT)
}

fn memory_left(root: &Root, version: u8, folder: &str) -> Option<u64> {
    let limit = memory_limit(root, version, folder)?;
    let (usage, cache) = if version == 2 {
        ("memory.current", "inactive_file")
    } else {
        ("memory.usage_in_bytes", "total_inactive_file")
    };
    let used: u64 = *root.number(&format!("{folder}/{usage}")).value()?;
    let droppable = counter(root, &format!("{folder}/memory.stat"), cache).unwrap_or_default();
    Some(limit.saturating_sub(used.saturating_sub(droppable)))
}

/// Throttling is counted in the group that has the quota, and nowhere below.
fn throttled(root: &Root, group: Result<ControllerGroup, String>) -> Fact<u64> {
    let group = match group {
        Ok(group) => group,
        Err(reason) => return Fact::unknown(reason, "/proc/self/cgroup"),
    };
    let Some(folder) = throttling(root, &group) else {
        return Fact::unknown(MISSING, "/proc/self/cgroup");
    };
    let path = format!("{}/cpu.stat", group.published(folder));
    match counter(root, &format!("{folder}/cpu.stat"), "nr_throttled") {
        Some(count) => Fact::known(count, format!("{path} nr_throttled")),
        None => Fact::unknown(
            "no throttling is counted: neither this control group nor one above it has a quota",
            path,
        ),
    }
}

/// The folder of the group with the tightest quota; this process's own if none has one.
fn throttling<'group>(root: &Root, group: &'group ControllerGroup) -> Option<&'group String> {
    let limited = smallest(group, |group, folder| quota(root, group.version, folder));
    limited.map(|(_, folder)| folder).or_else(|| group.folders.first())
}

/// The file that counts how often a process's quota has stopped its group, `self` for this one; `None` where none is counted.
pub(super) fn cpu_stat(root: &Root, process: &str) -> Option<String> {
    let (groups, mounts) = (root.text(&format!("/proc/{process}/cgroup")), root.text("/proc/self/mountinfo"));
    let group = group(root, groups.value()?, &mounts::parse(mounts.value()?), "cpu").ok()?;
    let path = format!("{}/cpu.stat", throttling(root, &group)?);
    counter(root, &path, "nr_throttled").map(|_| path)
}

/// One `name number` line.
fn counter(root: &Root, path: &str, name: &str) -> Option<u64> {
    let text = root.text(path);
    text.value()?.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quota_is_a_ratio() {
        assert_eq!(quota_of("250000 100000"), Some(2.5));
        assert_eq!(quota_of("max 100000"), None);
        assert_eq!(quota_of("1000 0"), None);
        assert_eq!(quota_of(""), None);
    }

    const SECOND: [(&str, &str); 4] = [
        ("/proc/self/cgroup", "0::/system.slice/one.service"),
        ("/proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"),
        ("/sys/fs/cgroup/system.slice/cgroup.subtree_control", "cpu memory io"),
        ("/sys/fs/cgroup/system.slice/one.service/cpu.max", "max 100000"),
    ];

    #[test]
    fn work_does_not_leave_a_unit_that_has_limits_of_its_own() {
        let (_tree, free) = Root::planted(&SECOND);
        let beside = parent(&free, "memory").unwrap();
        assert_eq!(beside.folder, Path::new("/sys/fs/cgroup/system.slice"));
        assert_eq!(beside.own, Path::new("/sys/fs/cgroup/system.slice/one.service"));
        for (file, text) in [
            ("cpu.max", "50000 100000"),
            ("cpuset.cpus", "0-1"),
            ("memory.max", "4294967296"),
            ("memory.high", "1073741824"),
            ("io.max", "8:0 rbps=20000000"),
        ] {
            let path = format!("/sys/fs/cgroup/system.slice/one.service/{file}");
            let (_tree, limited) = Root::planted(&[&SECOND[..], &[(&path, text)]].concat());
            let refused = parent(&limited, "memory").unwrap_err();
            assert!(refused.contains(file) && refused.contains("does not leave"), "{refused}");
        }
    }

    #[test]
    fn limits_of_the_group_that_a_new_one_is_made_in_hold_there_too() {
        let path = "/sys/fs/cgroup/system.slice/cpu.max";
        let (_tree, above) = Root::planted(&[&SECOND[..], &[(path, "50000 100000")]].concat());
        assert!(parent(&above, "memory").is_ok());
        let first = [
            ("/proc/self/cgroup", "4:memory:/one\n3:cpu,cpuacct:/one"),
            ("/proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"),
            ("/sys/fs/cgroup/memory/one/memory.limit_in_bytes", "4294967296"),
        ];
        let (_tree, first) = Root::planted(&first);
        assert_eq!(parent(&first, "memory").unwrap().folder, Path::new("/sys/fs/cgroup/memory/one"));
    }

    #[test]
    fn a_scope_leaves_the_limits_below_the_service_manager_and_no_others() {
        let manager = "/user.slice/user-7.slice/user@7.service";
        let tables = |unit: &str| {
            [
                ("/proc/self/cgroup".to_owned(), format!("0::{manager}{unit}")),
                (SECOND[1].0.to_owned(), SECOND[1].1.to_owned()),
            ]
        };
        let limit_for = |unit: &str, limited: &str| {
            let mut files = tables(unit).to_vec();
            files.push((format!("/sys/fs/cgroup{manager}{unit}/cgroup.procs"), String::new()));
            files.push((format!("/sys/fs/cgroup{limited}/memory.max"), "4294967296".to_owned()));
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let (_tree, root) = Root::planted(&files);
            limit_left_for_a_scope(&root)
        };
        assert_eq!(limit_for("/app.slice/one.service", "/user.slice/user-7.slice"), None);
        let limit = limit_for("/app.slice/one.service", &format!("{manager}/app.slice/one.service"));
        assert!(limit.is_some_and(|limit| limit.contains("one.service/memory.max: 4294967296")));
        let first = |limit: &'static str| {
            let (_tree, root) = Root::planted(&[
                ("/proc/self/cgroup", "4:memory:/one"),
                ("/proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"),
                ("/sys/fs/cgroup/memory/one/memory.limit_in_bytes", limit),
            ]);
            limit_left_for_a_scope(&root)
        };
        assert_eq!(first("9223372036854771712"), None);
        assert!(first("4294967296").is_some());
    }
}
