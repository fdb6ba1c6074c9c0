//! Planning on described machines: where work runs, and how long a run may take.

mod described;

use fathom::experiment::{Effort, Placement, Point};
use fathom::experiments;
use fathom::plan::{self, Cpus};
use std::time::Duration;

#[test]
fn pinned_work_keeps_off_cpu_0_and_what_is_asked_for_wins() {
    let machine = described::machine();
    assert_eq!(plan::choose(&machine, None), Ok(Cpus { home: 1, partner: Some(2) }));
    assert_eq!(plan::choose(&machine, Some(0)), Ok(Cpus { home: 0, partner: Some(1) }));
    assert!(plan::choose(&machine, Some(7)).unwrap_err().contains("CPU 7"));
}

#[test]
fn placements_and_points_that_name_their_cpus_are_followed() {
    let cpus = Cpus { home: 1, partner: Some(2) };
    let calls = experiments::find("cpu/system_call").unwrap();
    assert_eq!(cpus.of(calls, &Point::new()), (Some(1), Some(1)));
    assert_eq!(cpus.of(calls, &Point::at(Placement::AcrossCpus)), (Some(1), Some(2)));
    assert_eq!(cpus.of(calls, &Point::at(Placement::Free)), (None, None));
    let pairs = experiments::find("cpu/core_to_core").unwrap();
    let points = pairs.sweep(&described::machine());
    assert_eq!(points.len(), 6, "every pair of four CPUs");
    assert_eq!(cpus.of(pairs, &points[5]), (Some(2), Some(3)));
}

#[test]
fn a_part_of_a_chapter_gets_its_part_of_the_time() {
    let all: Vec<_> = experiments::all().collect();
    let whole = plan::default_budget(&all, Effort::Quick);
    assert!(whole <= Duration::from_secs(90), "a complete quick run takes 90 s at most: {whole:?}");
    let one = plan::default_budget(&all[..1], Effort::Quick);
    assert!(one < whole / 4 && one >= Duration::from_secs(2));
}
