//! Work whose cost is known because it is set: an ordinary experiment that no report contains.

use fathom_core::prelude::*;

pub struct KnownWork {
    pub about: &'static About,
    pub points: fn() -> Vec<Point>,
    pub requires: &'static [Requirement],
    /// The block of all of them; `None` if each is measured alone.
    pub block: Option<&'static str>,
    /// Builds it, as [`Experiment::prepare`] does.
    pub prepare: for<'site> fn(&Point, &'site Site) -> Result<Workload<'site>, Failure>,
}

impl KnownWork {
    /// Work of one point, which needs nothing of the machine.
    pub const fn of(
        about: &'static About,
        prepare: for<'site> fn(&Point, &'site Site) -> Result<Workload<'site>, Failure>,
    ) -> Self {
        KnownWork { about, points: || vec![Point::new()], requires: &[], block: None, prepare }
    }
}

pub const fn about(
    name: &'static str,
    question: &'static str,
    operation: &'static str,
    method: &'static str,
    parameters: &'static [Parameter],
) -> About {
    About {
        name,
        question,
        operation,
        method,
        caveats: "",
        version: 1,
        timed: None,
        parameters,
        trends: &[],
        shown: Shown::by(&[]),
    }
}

impl Experiment for KnownWork {
    fn about(&self) -> &'static About {
        self.about
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        (self.points)()
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        self.requires.to_vec()
    }

    fn block(&self, _: &Point) -> Option<String> {
        self.block.map(str::to_owned)
    }

    fn predict(&self, _: &Point, _: &Known) -> Result<Prediction, String> {
        Err("the result is compared with the value set, not with a prediction".to_owned())
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        (self.prepare)(point, site)
    }

    fn evidence(&self, _: &Point, _: &Observed) -> Vec<Check> {
        vec![]
    }
}
