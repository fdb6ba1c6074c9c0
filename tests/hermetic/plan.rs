//! Planning on described machines: where work runs, and how long a run may take.

use fathom::experiment::{
    About, At, Check, Effort, Experiment, Failure, Known, MainFigure, Observed, Parameter, Placement, Point,
    Prediction, Shown, Site, Trend, Workload,
};
use fathom::experiments;
use fathom::machine::Machine;
use fathom::plan::{self, Cpus, Importance};
use fathom::record::PlannedPoint;
use std::time::Duration;

#[test]
fn pinned_work_keeps_off_cpu_0_and_what_is_asked_for_wins() {
    let machine = crate::described::machine();
    assert_eq!(plan::choose(&machine, None), Ok(Cpus { home: 1, partner: Some(2), other_package: None }));
    assert_eq!(plan::choose(&machine, Some(0)), Ok(Cpus { home: 0, partner: Some(1), other_package: None }));
    assert!(plan::choose(&machine, Some(7)).unwrap_err().contains("CPU 7"));
}

#[test]
fn placements_and_points_that_name_their_cpus_are_followed() {
    let cpus = Cpus { home: 1, partner: Some(2), other_package: None };
    let calls = experiments::find("cpu/system_call").unwrap();
    assert_eq!(cpus.of(calls, &Point::new()), (Some(1), Some(1)));
    assert_eq!(cpus.of(calls, &Point::at(Placement::AcrossCpus)), (Some(1), Some(2)));
    assert_eq!(cpus.of(calls, &Point::at(Placement::Free)), (None, None));
    let pairs = experiments::find("cpu/core_to_core").unwrap();
    let points = pairs.sweep(&crate::described::machine());
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

const SIZE: Parameter = Parameter::bytes("size", "size");
const KERNEL: Parameter = Parameter::named("kernel", "kernel");
const FIGURE: Parameter = Parameter::named("figure", "figure");

static ABOUT: About = About {
    trends: &[Trend { along: "size", step: 1.0, slope: "per byte" }],
    shown: Shown::by(&[MainFigure::of("copy", &[("kernel", At::Name("copy"))])]),
    ..crate::described::about("memory/example", &[KERNEL, SIZE, FIGURE])
};

/// Kernels by size, of which those of one size share a mapping, each with two figures of one trial.
struct Example;

impl Experiment for Example {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _machine: &Machine) -> Vec<Point> {
        let point = |kernel: &str, size, aspect: &str, placement| {
            Point::at(placement).named(&KERNEL, kernel).with(&SIZE, size).named(&FIGURE, aspect)
        };
        let mut points = vec![];
        for (kernel, placement) in
            [("copy", Placement::OneCpu), ("fill", Placement::OneCpu), ("fill", Placement::Free)]
        {
            for size in [64, 128] {
                points.extend(["least", "usual"].map(|aspect| point(kernel, size, aspect, placement)));
            }
        }
        points.push(Point::new().named(&KERNEL, "alone").named(&FIGURE, "least"));
        points.push(Point::new().named(&KERNEL, "alone").named(&FIGURE, "usual"));
        points
    }

    fn block(&self, point: &Point) -> Option<String> {
        point.get("size").map(ToString::to_string)
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn predict(&self, _point: &Point, _known: &Known) -> Result<Prediction, String> {
        Err("an example".to_owned())
    }

    fn prepare<'site>(&self, _point: &Point, _site: &'site Site) -> Result<Workload<'site>, Failure> {
        Err(Failure::Unsupported("an example".to_owned()))
    }

    fn evidence(&self, _point: &Point, _seen: &Observed) -> Vec<Check> {
        vec![]
    }
}

#[test]
fn blocks_are_points_that_share_a_preparation_and_a_place_and_figures_stay_together() {
    let machine = crate::described::machine();
    let experiments: Vec<&'static dyn Experiment> = vec![&Example];
    let mut points: Vec<PlannedPoint> = Example
        .sweep(&machine)
        .into_iter()
        .map(|point| PlannedPoint { experiment: ABOUT.name.to_owned(), point, ..crate::described::planned() })
        .collect();
    let blocks = plan::blocks(&experiments, &points);
    // copy 64, copy 128, fill 64, fill 128 on one CPU; fill free; alone.
    let expected: Vec<Vec<usize>> =
        vec![vec![0, 1, 4, 5], vec![2, 3, 6, 7], vec![8, 9], vec![10, 11], vec![12, 13]];
    assert_eq!(blocks, expected);
    let jobs = plan::jobs(&experiments, &machine, &points);
    assert!(jobs.chunks(2).all(|figures| figures[0].trial == figures[1].trial));
    assert_ne!(jobs[0].trial, jobs[4].trial);
    assert_eq!(jobs[4].block, 0);
    let importance: Vec<Importance> = [0, 4, 12].map(|point: usize| jobs[point].importance).into();
    assert_eq!(
        importance,
        [Importance::Main, Importance::Line, Importance::Quick],
        "the last is of a quick run"
    );
    points[0].skip = Some("not wanted".to_owned());
    assert_eq!(plan::blocks(&experiments, &points)[0], [1, 4, 5], "what is skipped is in no block");
}
