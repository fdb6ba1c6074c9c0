//! A page cache of a known size, set by a limit on memory.

use super::control_group::{ControlGroup, GroupSetting};
use super::prelude::*;
use fathom_core::machine;

pub static RIG: Rig = Rig {
    name: "page-cache",
    sets: "a page cache within a memory limit",
    touches: &[
        "control group: one with a memory limit of 300 MiB, which contains this process meanwhile; the page cache is filled within it",
    ],
    budget: Duration::from_secs(45),
    arrange: Some(arrange),
    points: |machine| {
        let by = |settings| points_of(machine, &Selector::of("filesystem/cache_size", settings));
        let residency = by(&[("method", Name("residency")), ("content", Name("random data"))])?;
        let timing = by(&[("method", Name("timing")), ("order", Name("backward")), ("call", Name("read"))])?;
        Ok([residency, timing].concat())
    },
    judge,
};

/// Bytes of memory for this process, those that it starts, and the files that they read.
const LIMIT: u64 = 300 << 20;

/// The interval at which the group's cache is read.
const EVERY: Duration = Duration::from_millis(5);

fn arrange(_: &mut Options) -> Result<Arranged, String> {
    if machine::memory_ceiling().is_some_and(|ceiling| ceiling <= LIMIT) {
        return Err("the machine has no more memory than the limit that would be set".to_owned());
    }
    let limit = GroupSetting {
        one: ("memory.limit_in_bytes", LIMIT.to_string()),
        two: ("memory.max", LIMIT.to_string()),
    };
    let group = ControlGroup::joined("memory", &[limit])?;
    // The greatest size of the cache, by the group's own account.
    let cached = group.watch_cached();
    let mut watch = RigThread::start(move |is_over| {
        let mut most = 0.0_f64;
        while !is_over() {
            most = most.max(cached());
            std::thread::sleep(EVERY);
        }
        most
    });
    Ok(Arranged { account: Some(Box::new(move || watch.end().unwrap_or(0.0))), ..Arranged::holding(group) })
}

fn judge(rig: &Rig, results: &Results, held: Option<f64>) -> Vec<Truth> {
    each(rig, results, |point| {
        let method = point.point.name_of("method").unwrap_or_default();
        let what = format!("size as accounted by the control group, by {method}");
        Claim::of(rig, what, Some(Unit::Bytes), held.unwrap_or(0.0))
    })
}
