//! A CPU quota that a group above ours has, as orchestrators set it.

use super::binary;
use crate::control_group::Group;
use crate::short_run::text;
use crate::tier::{Outcome, Test, beside, needs_root};
use serde_json::Value;
use std::process::Command;

pub const TESTS: &[Test] = &beside![throttling_is_read_where_the_quota_is,];

fn throttling_is_read_where_the_quota_is() -> Outcome {
    needs_root()?;
    let group = Group::new("cpu")?;
    group.set(("cpu.cfs_quota_us", "20000".to_owned()), ("cpu.max", "20000 100000".to_owned()))?;
    let own = group.path.join("own");
    std::fs::create_dir(&own).unwrap();
    // Some tens of milliseconds of work first, of which the group has twenty at a time.
    let script = format!(
        "echo 0 > {}/cgroup.procs; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exec \"$0\" machine --format json",
        own.display()
    );
    let output = Command::new("sh").args(["-ec", &script]).arg(binary()).output().unwrap();
    while own.exists() && std::fs::remove_dir(&own).is_err() {
        std::thread::yield_now();
    }
    let machine: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    let limits =
        machine.pointer("/conditions/limits").or_else(|| machine.pointer("/machine/conditions/limits"));
    let throttled = &limits.expect("limits")["throttled_periods"];
    let source = throttled["source"].as_str().unwrap();
    // Names of groups are left out: they may be names of users and jobs.
    assert!(source.contains("/cpu.stat"), "{throttled}");
    assert!(
        throttled["value"].as_u64().unwrap() > 0,
        "a fifth of a CPU is not enough to look around: {throttled}"
    );
    Ok(())
}
