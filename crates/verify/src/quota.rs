//! A quota of half a CPU: the instrument must detect and report it, and must not measure it as slowness.

use super::control_group::{ControlGroup, GroupSetting};
use super::prelude::*;
use super::spin;
use super::truth::{TOLERANCE, median_of_trials, share_of_trials};

pub static RIG: Rig = Rig {
    name: "quota",
    sets: "a quota of half a CPU",
    touches: &[
        "control group: one with a quota of half a CPU, which contains this process meanwhile; no limit is taken off it",
    ],
    budget: Duration::from_secs(18),
    arrange: Some(arrange),
    points: |_| Ok(vec![spin::single()]),
    judge,
};

/// The period of the quota, microseconds: it is used up and renewed many times in each trial.
const PERIOD: u64 = 20_000;
const QUOTA: u64 = PERIOD / 2;

/// A hundred periods, of which a trial contains the first and the last only in part: work begins and ends where it may run.
const TRIAL: Duration = Duration::from_secs(2);

/// The share of a trial that these two may change, beside the tolerance of every figure.
const OF_TWO_PERIODS: f64 = PERIOD as f64 * 1e3 / TRIAL.as_nanos() as f64;

fn arrange(options: &mut Options) -> Result<Arranged, String> {
    let both = format!("{QUOTA} {PERIOD}");
    let setting =
        |name, value: u64| GroupSetting { one: (name, value.to_string()), two: ("cpu.max", both.clone()) };
    options.trial = Some(TRIAL);
    let settings = [setting("cpu.cfs_period_us", PERIOD), setting("cpu.cfs_quota_us", QUOTA)];
    ControlGroup::joined("cpu", &settings).map(Arranged::holding)
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let point = spin::single();
    let share = Claim::share(rig, "share of time on the CPU", QUOTA as f64 / PERIOD as f64);
    let share = share.to(TOLERANCE + OF_TWO_PERIODS);
    let throttled = Claim::share(rig, "trials that report throttling", 1.0);
    vec![
        spin::unchanged(rig, results),
        share.judged(median_of_trials(results, &point, |sample| Some(1e6 * sample.on_cpu?.share()))),
        throttled.judged(share_of_trials(results, &point, |sample| {
            Some(sample.conditions.throttled_periods? > 0)
        })),
    ]
}
