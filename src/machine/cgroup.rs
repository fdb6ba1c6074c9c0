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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
struct Group {
    version: u8,
    folders: Vec<String>,
    /// Where the hierarchy is mounted.
    mount: String,
}

impl Group {
    fn of(root: &Root, version: u8, mount: &Mount, path: &str) -> Self {
        let folders = folders(root, mount, path);
        Group { version, folders, mount: mount.point.to_string_lossy().into_owned() }
    }

    /// A folder in the form in which a description may be published.
    fn published(&self, folder: &str) -> String {
        published::control_group(folder, &self.mount)
    }
}

/// Reads all limits.
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
    Ok(GroupParent { version: group.version, folder: PathBuf::from(folder), own: PathBuf::from(own) })
}

/// The smallest limit of this process's group and all above; `null` if none has one.
fn tightest<T: PartialOrd + Copy>(
    group: Result<Group, String>,
    files: &str,
    limit: impl Fn(&Group, &str) -> Option<T>,
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
    group: &Group,
    limit: impl Fn(&Group, &str) -> Option<T>,
) -> Option<(T, &String)> {
    let mut found: Option<(T, &String)> = None;
    for folder in &group.folders {
        if let Some(limit) = limit(group, folder)
            && found.is_none_or(|(smallest, _)| limit < smallest)
        {
            found = Some((limit, folder));
        }
    }
    found
}

/// A fact of this process's own group only.
fn own<T>(group: Result<Group, String>, fact: impl Fn(&Group, &str) -> Fact<T>) -> Fact<T> {
    match group {
        Ok(group) => match group.folders.first() {
            Some(folder) => fact(&group, folder),
            None => Fact::unknown(MISSING, "/proc/self/cgroup"),
        },
        Err(reason) => Fact::unknown(reason, "/proc/self/cgroup"),
    }
}

/// This process's group of one controller: version 1 if that controller is mounted so, otherwise version 2.
fn group(root: &Root, groups: &str, mounts: &[Mount], controller: &str) -> Result<Group, String> {
    let lines =
        || groups.lines().filter_map(|line| line.splitn(3, ':').skip(1).collect::<Vec<_>>().try_into().ok());
    let first =
        lines().find(|[controllers, _]: &[&str; 2]| controllers.split(',').any(|name| name == controller));
    let mounted = mounts.iter().find(|mount| {
        mount.file_system == "cgroup" && mount.super_options.split(',').any(|name| name == controller)
    });
    if let (Some([_, path]), Some(mount)) = (first, mounted) {
        return Ok(Group::of(root, 1, mount, path));
    }
    let second = lines().find(|[controllers, _]: &[&str; 2]| controllers.is_empty());
    let mounted = mounts.iter().find(|mount| mount.file_system == "cgroup2");
    match (second, mounted) {
        (Some([_, path]), Some(mount)) => Ok(Group::of(root, 2, mount, path)),
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
fn throttled(root: &Root, group: Result<Group, String>) -> Fact<u64> {
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
fn throttling<'group>(root: &Root, group: &'group Group) -> Option<&'group String> {
    let limited = smallest(group, |group, folder| quota(root, group.version, folder));
    limited.map(|(_, folder)| folder).or_else(|| group.folders.first())
}

/// The file that counts how often this process's quota has stopped its group; `None` where none is counted.
pub(super) fn cpu_stat(root: &Root) -> Option<String> {
    let (groups, mounts) = (root.text("/proc/self/cgroup"), root.text("/proc/self/mountinfo"));
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
    use super::quota_of;

    #[test]
    fn the_quota_is_a_ratio() {
        assert_eq!(quota_of("250000 100000"), Some(2.5));
        assert_eq!(quota_of("max 100000"), None);
        assert_eq!(quota_of("1000 0"), None);
        assert_eq!(quota_of(""), None);
    }
}
