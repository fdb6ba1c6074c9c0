//! What the screen says of a run of a real machine, and of the same run with something planted in it.

use crate::described::{each_time, sample_of, samples};
use fathom::machine::Fact;
use fathom::record::{Run, Trial};
use fathom::report::{Form, RunReport, Style, render};
use fathom::results::Results;
use fathom::sampling::Observations;
use std::collections::BTreeSet;

const WIDE: Style = Style { width: 2000, colour: false };

fn screen(run: &Run) -> String {
    render(&RunReport::of(&Results::of(run)), Form::Text, WIDE)
}

/// A committed run whose machine was loaded, and whose trials lost this share of their time, by whether their point is known within 5 %.
fn loaded(lost: impl Fn(bool) -> f64) -> Run {
    fathom::experiments::register();
    let mut run = crate::printed_runs::read("zen3-shared-quick-1.jsonl.gz");
    run.header.machine.conditions.load_average = Fact::known([9.0, 9.0, 9.0], "a test");
    let wide: BTreeSet<String> = {
        let results = Results::of(&run);
        let is_wide = |share: Option<f64>| share.is_some_and(|share| share > 0.05);
        let reach = |point: &fathom::results::PointResult| {
            point.estimate().and_then(fathom::statistics::relative_reach)
        };
        let wide = results.points.iter().filter(|point| is_wide(reach(point)));
        wide.map(|point| format!("{} {}", point.experiment, point.point)).collect()
    };
    let place = |trial: &Trial| format!("{} {}", trial.experiment, trial.point);
    for (index, trial) in run.trials.iter_mut().enumerate() {
        let is_wide = wide.contains(&place(trial));
        if let Some(sample) = sample_of(trial) {
            sample.conditions.spun_ns = 1e6;
            sample.conditions.lost_ns = 1e6 * lost(is_wide) * (1.0 + 0.1 * (index % 5) as f64);
        }
    }
    run
}

const BUSY: &str = "lost time to other work";

#[test]
fn a_busy_machine_is_a_cause_only_where_wide_intervals_had_more_of_it() {
    assert!(!screen(&loaded(|_| 0.02)).contains(BUSY), "alike in wide and narrow ones");
    assert!(!screen(&loaded(|is_wide| if is_wide { 0.01 } else { 0.2 })).contains(BUSY), "less in wide ones");
    assert!(screen(&loaded(|is_wide| if is_wide { 0.2 } else { 0.01 })).contains(BUSY));
    // That it was busy is said in any case.
    let text = screen(&loaded(|_| 0.02));
    assert!(text.contains("Not idle: load 9.00 on 2 CPUs when it began."), "{text}");
}

/// A committed run in which the ticks of every trial are multiplied by a factor of its round.
fn scaled(factor: impl Fn(u32) -> f64) -> Run {
    fathom::experiments::register();
    let mut run = crate::printed_runs::read("zen3-shared-quick-1.jsonl.gz");
    for trial in &mut run.trials {
        let factor = factor(trial.round);
        if let Some(sample) = sample_of(trial) {
            each_time(sample, |ticks| *ticks = (*ticks as f64 * factor) as i64);
        }
    }
    run
}

/// The number of values that the line of trust names for a cause.
fn named(run: &Run, cause: &str) -> usize {
    let text = screen(run);
    let line = text.lines().find(|line| line.starts_with("Trust: ")).expect("a verdict");
    let (before, _) = line.split_once(cause).unwrap_or_default();
    before.trim_end().rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[test]
fn the_reason_of_wide_intervals_is_the_one_that_their_trials_show() {
    let as_it_was = scaled(|_| 1.0);
    let rising = scaled(|round| 1.0 + 0.1 * f64::from(round));
    let of_two = scaled(|round| if round % 2 == 0 { 1.0 } else { 3.0 });
    let scattered = scaled(|round| [1.0, 1.16, 1.07, 0.96, 1.12, 0.91, 1.03][round as usize % 7]);
    for (cause, planted) in [("drifted", &rising), ("have several levels", &of_two), ("scatter", &scattered)]
    {
        let (before, after) = (named(&as_it_was, cause), named(planted, cause));
        assert!(after > before + 30, "{cause}: {before}, with it planted {after}: {}", screen(planted));
    }
    assert_eq!(named(&of_two, "drifted"), 0, "two levels by turns are no drift: {}", screen(&of_two));
}

/// The numbers of the values for which the line of trust gives reasons.
fn numbers_of_reasons(line: &str) -> usize {
    let (_, reasons) = line.split_once("Of the others ").expect("reasons");
    let (reasons, _) = reasons.split_once('.').expect("a sentence");
    // "7 trials" in parentheses is no number of values.
    let count = |reason: &str| reason.trim().split(' ').next()?.parse::<usize>().ok();
    reasons.split(", ").filter(|reason| !reason.starts_with("in the")).filter_map(count).sum()
}

/// Every value that is not known well has a reason, also one of zero, which has no relative width.
#[test]
fn reasons_are_given_for_all_values_that_are_not_known_well() {
    let mut run = scaled(|_| 1.0);
    let zeroed = |trial: &&mut Trial| trial.experiment == "cpu/contention" || trial.experiment == "cpu/noise";
    let mut zeros = 0;
    for sample in run.trials.iter_mut().filter(zeroed).filter_map(sample_of) {
        if let Observations::Values { values } = &mut sample.observations {
            zeros += values.len();
            values.fill(0.0);
        }
    }
    assert!(zeros > 0, "something was planted");
    let text = screen(&run);
    let line = text.lines().find(|line| line.starts_with("Trust: ")).expect("a verdict");
    let results = Results::of(&run);
    let estimates = || results.points.iter().filter_map(fathom::results::PointResult::estimate);
    let known =
        estimates().filter_map(fathom::statistics::relative_reach).filter(|reach| *reach <= 0.05).count();
    assert_eq!(numbers_of_reasons(line), estimates().count() - known, "{line}");
}

/// More time goes to more points, so what scatters is told how many more trials it needs.
#[test]
fn the_remedy_of_scatter_is_a_number_of_trials_and_no_longer_run() {
    let scattered = scaled(|round| [1.0, 1.16, 1.07, 0.96, 1.12, 0.91, 1.03][round as usize % 7]);
    let text = screen(&scattered);
    let line = text.lines().find(|line| line.starts_with("Trust: ")).expect("a verdict");
    let (_, times) = line.split_once("For half of those that scatter ").expect("a remedy");
    let times: f64 = times.split(' ').next().and_then(|times| times.parse().ok()).expect("a number");
    // Known within 10 to 20 %, where 5 % are asked.
    assert!((2.0..30.0).contains(&times) && !line.contains("Repeat it longer"), "{line}");
}

/// Of values that an experiment with processes on all CPUs has, the narrow ones lose as much time as the wide ones.
#[test]
fn time_that_an_experiment_takes_from_itself_is_lost_to_no_other_work() {
    let mut run = loaded(|_| 0.01);
    let contended = run.trials.iter_mut().filter(|trial| trial.experiment == "filesystem/contention");
    for sample in contended.filter_map(sample_of) {
        sample.conditions.lost_ns = 0.5 * sample.conditions.spun_ns;
    }
    assert!(!screen(&run).contains(BUSY), "{}", screen(&run));
}

#[test]
fn main_figures_of_several_placements_name_theirs_and_the_machine_its_memory_and_disk() {
    let text = screen(&loaded(|_| 0.0));
    let figure = "thread, create and join (on one CPU";
    assert!(text.contains(figure), "{text}");
    let head = text.lines().next().unwrap_or_default();
    assert!(head.starts_with("AMD EPYC (Zen 3) · 2 CPUs · KVM in a guest · 23.5 GiB · Linux 6.18"), "{head}");
    assert!(head.contains(" · 2026-11-23 · 83 s · virtual disk"), "{head}");
}

/// What a run could use of the machine stands in its first line.
#[test]
fn limits_of_control_groups_stand_beside_what_the_machine_has() {
    let mut run = loaded(|_| 0.0);
    run.header.machine.conditions.limits.memory_bytes = Fact::known(Some(512 << 20), "a test");
    run.header.machine.conditions.limits.cpu_quota = Fact::known(Some(1.5), "a test");
    let text = screen(&run);
    let head = text.lines().next().unwrap_or_default();
    assert!(head.contains("512 MiB of 23.5 GiB") && head.contains("2 CPUs (a quota of 1.5"), "{head}");
}

/// The totals of trials on a report's lines differ by what they say.
#[test]
fn trials_of_points_without_a_value_are_named_beside_those_behind_the_values() {
    let run = loaded(|_| 0.0);
    let results = Results::of(&run);
    let sum = |is_valued: bool| -> usize {
        let of = results.points.iter().filter(|point| point.estimate().is_some() == is_valued);
        of.map(|point| point.trials.0).sum()
    };
    let (behind, others) = (sum(true), sum(false));
    assert!(others > 0, "some points have trials and no value");
    let text = render(&RunReport::of(&results).in_full(true), Form::Text, WIDE);
    let line = text.lines().find(|line| line.trim_start().starts_with("trials ")).expect("a line");
    let words: String = line.split_whitespace().collect();
    assert!(words.contains(&format!("{behind}behindthevalues")), "{words}");
    assert!(words.contains(&format!(";{others}moreofpointswithoutavalue")), "{words}");
}

#[test]
fn preemptions_are_disturbances() {
    let mut run = loaded(|_| 0.0);
    for sample in samples(&mut run.trials) {
        (sample.counters.voluntary_switches, sample.counters.involuntary_switches) = (0, 1);
    }
    let text = render(&RunReport::of(&Results::of(&run)).in_full(true), Form::Text, WIDE);
    let line = text.lines().find(|line| line.trim_start().starts_with("disturbed")).expect("a line");
    assert!(line.contains("preempted the measured work") && !line.contains("nothing seen"), "{line}");
}

/// Without time for the largest array, the next one is shown under no name of the largest.
#[test]
fn a_figure_of_the_largest_size_is_absent_where_that_size_was_not_measured() {
    const LARGEST: &str = "load, largest array";
    let mut run = crate::printed_runs::read("emerald-rapids-quick.jsonl.gz");
    fathom::experiments::register();
    assert!(screen(&run).contains(LARGEST));
    let of_arrays = |trial: &Trial| trial.experiment == "memory/load_latency";
    let size = |trial: &Trial| trial.point.number_of("size");
    let largest = run.trials.iter().filter(|trial| of_arrays(trial)).filter_map(size).max();
    run.trials.retain(|trial| !of_arrays(trial) || size(trial) != largest);
    assert!(run.trials.iter().any(of_arrays));
    assert!(!screen(&run).contains(LARGEST), "{}", screen(&run));
}

/// Words that mean something only to those who know how Fathom is made.
const INSIDER: [&str; 10] = [
    "one-cpu",
    "across-cpus",
    "(free",
    "spread",
    "other tiers",
    "further off than",
    "more with --full;",
    "of one chase",
    "more claim",
    "though of its kind",
];

#[test]
fn the_screen_is_one_and_has_no_insider_words() {
    fathom::experiments::register();
    for name in ["zen3-shared-quick-1.jsonl.gz", "emerald-rapids-quick.jsonl.gz"] {
        let run = crate::printed_runs::read(name);
        let results = Results::of(&run);
        for width in [80, 100] {
            let text = render(&RunReport::of(&results), Form::Text, Style { width, colour: false });
            assert!(text.lines().count() <= 40, "{text}");
            assert_eq!(text.lines().find(|line| line.chars().count() > width), None);
            for word in INSIDER {
                assert!(!text.contains(word), "{word}: {text}");
            }
            let head = text.lines().find(|line| line.starts_with("Main figures")).expect("a table");
            assert!(head.contains('±') && head.ends_with("check") == (width == 100), "{head}");
            // On a narrow terminal the mark of the check stands before the name.
            let marked = text.lines().filter(|line| line.starts_with("✓ ") || line.starts_with("✗ ")).count();
            assert_eq!(marked > 5, width == 80, "{text}");
            let titles = ["Trust: ", "Measured: ", "What stands out", "Main figures", "Next: "];
            let places = titles.map(|title| text.find(title).unwrap_or_else(|| panic!("{title}: {text}")));
            assert!(places.is_sorted(), "{places:?}");
        }
    }
}

/// A failed check is a reason of the verdict only where the intervals alone would give a better one.
#[test]
fn what_is_wrong_is_a_reason_only_of_a_run_that_would_be_trusted_without_it() {
    const WRONG: &str = "says what is wrong";
    fathom::experiments::register();
    let mut run = crate::printed_runs::read("emerald-rapids-quick.jsonl.gz");
    let low = screen(&run);
    assert!(low.contains("Trust: low. ") && low.contains('✗') && !low.contains(WRONG), "{low}");
    // Of each point the trials of one, six times over, are known exactly.
    let first: Vec<Trial> = run.trials.iter().filter(|trial| trial.observed()).cloned().collect();
    run.trials =
        (1..=6).flat_map(|round| first.iter().map(move |trial| Trial { round, ..trial.clone() })).collect();
    let mut seen = BTreeSet::new();
    let mut distinct = vec![];
    for trial in &run.trials {
        if seen.insert((trial.round, format!("{} {}", trial.experiment, trial.point))) {
            distinct.push(trial.clone());
        }
    }
    run.trials = distinct;
    let high = screen(&run);
    assert!(
        high.contains("Trust: fair. ") && high.contains("so it is fair at most") && high.contains(WRONG),
        "{high}"
    );
}
