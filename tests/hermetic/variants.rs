//! No experiment measures something else in the name of a variant that it does not have.

use crate::described;
use crate::described::planted::{Described, described as from_tree, server};
use fathom::experiment::{
    AXIS_PLACEMENT, CoreWidth, Experiment, Parameter, Point, Scale, Site, Spin, Stopwatch, SweepOptions,
};
use fathom::experiments;
use fathom::machine::Machine;

/// A name that no variant has.
const UNKNOWN: &str = "no such variant";

/// A clock that is never read: what is refused has nothing to time.
struct Unread;

impl Stopwatch for Unread {
    fn stamp(&self) {
        unreachable!("stamped before the refusal")
    }

    fn now_ns(&self) -> f64 {
        unreachable!("read before the refusal")
    }

    fn spin(&self, _: f64) -> Spin {
        unreachable!("spun before the refusal")
    }

    fn core(&self) -> CoreWidth {
        unreachable!("measured before the refusal")
    }
}

/// A machine of which nothing is known and one of which much is: with all instructions that methods need, whatever this CPU
/// executes, because an unknown variant is refused before the CPU is asked.
fn machines() -> [Machine; 2] {
    let host = Described { affinity: (0..128).collect(), ..Described::default() };
    [described::machine(), from_tree(&server(), &host)]
}

/// The points of an experiment on these machines.
fn points(experiment: &dyn Experiment, machines: &[Machine]) -> Vec<Point> {
    let asked = SweepOptions { peer: true, ..SweepOptions::default() };
    machines.iter().flat_map(|machine| experiment.sweep_for(machine, &asked)).collect()
}

/// The parameters that name a variant of the operation. One that names a reading of the same trial chooses among what was
/// measured, and changes nothing of the work.
fn variants(experiment: &dyn Experiment) -> impl Iterator<Item = &'static Parameter> {
    let reading = experiment.figure().map(|figure| figure.name);
    let parameters = experiment.about().parameters.iter();
    parameters.filter(move |parameter| parameter.scale == Scale::Name && Some(parameter.name) != reading)
}

/// Why a point is not prepared; `None` where it is.
fn refusal(experiment: &dyn Experiment, point: &Point, site: &Site) -> Option<String> {
    experiment.workload(point, site).err().map(|failure| failure.to_string())
}

#[test]
fn every_experiment_refuses_a_variant_that_it_does_not_have() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let site = described::site(folder.path(), &Unread);
    let (machines, mut accepted) = (machines(), vec![]);
    for experiment in experiments::all() {
        let points = points(experiment, &machines);
        for parameter in variants(experiment) {
            let of_it = points.iter().filter(|point| point.get(parameter.name).is_some());
            let mut wrong: Vec<Point> = of_it.map(|point| point.clone().named(parameter, UNKNOWN)).collect();
            wrong.sort();
            wrong.dedup();
            assert!(!wrong.is_empty(), "{}: no point has {}", experiment.about().name, parameter.name);
            for point in wrong {
                let name = experiment.about().name;
                match refusal(experiment, &point, &site) {
                    Some(reason) if reason.contains(UNKNOWN) => {}
                    // What is read over a network is compared with the file that is there.
                    Some(reason) if reason.contains("no file over a network") => {}
                    other => accepted.push(format!("{name} {point}: {other:?}")),
                }
            }
        }
    }
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
    let made = std::fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(made, 0, "something was made before it was refused");
}

#[test]
fn a_point_without_a_parameter_is_not_refused_for_it() {
    let parameter = Parameter::named("mechanism", "");
    let point = Point::new().named(&parameter, "pipe");
    assert!(point.ensure_variant(&parameter, &["pipe"]).is_ok());
    let refused = point.ensure_variant(&parameter, &["futex"]).expect_err("another variant").to_string();
    assert_eq!(refused, "there is no mechanism `pipe`");
    assert!(point.without("mechanism").ensure_variant(&parameter, &["futex"]).is_ok());
    let listed = [Parameter::named("between", ""), Parameter::of("mechanism", "", &["futex"])];
    assert!(point.ensure_variants(&listed).is_err() && point.ensure_variants(&listed[..1]).is_ok());
    assert!(Point::new().get(AXIS_PLACEMENT.name).is_some());
}
