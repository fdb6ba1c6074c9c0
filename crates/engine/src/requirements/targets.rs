//! What the requirements of a file mean on a machine: its points, or the reason why there are none.

use super::file::{Condition, Demand, Measurand, Requirements};
use super::naming;
use crate::record::PlannedPoint;
use fathom_core::experiment::registry;
use fathom_core::experiment::{At, Placement, Point, Selector};
use fathom_core::machine::Machine;
use strsim::sorensen_dice;

/// What a demand means on a machine.
#[derive(Debug, Clone, PartialEq)]
pub enum DemandTarget {
    /// This point of the plan, as its index.
    Point(usize),
    /// A condition of the machine.
    Condition,
    /// Nothing, for this reason.
    Missing(String),
}

/// The target of each demand of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Targets {
    /// In the order of the demands.
    pub targets: Vec<DemandTarget>,
    /// The point that is measured for the state of the core; `None` if no demand needs it.
    pub shows_the_core: Option<usize>,
}

impl Requirements {
    /// The names of the experiments that it needs, each once, with the one whose trials show the state of the core where a condition
    /// is about that.
    pub fn experiments(&self) -> Vec<String> {
        let named = self.demands.iter().filter_map(|demand| match &demand.measurand {
            Measurand::Point(selector) | Measurand::Main(selector) => Some(selector.experiment),
            Measurand::Condition(Condition::CoreShared) => Some(SHOWS_THE_CORE),
            Measurand::Condition(_) | Measurand::Unmeasured(_) => None,
        });
        let mut names: Vec<String> = named.map(str::to_owned).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The point whose trials show the state of the core, if a condition is about that: a short one that nothing keeps from running.
    fn shows_the_core(&self, points: &[PlannedPoint]) -> Option<usize> {
        let is_about = |demand: &Demand| demand.measurand == Measurand::Condition(Condition::CoreShared);
        let shows = |planned: &PlannedPoint| {
            let on_one = planned.point.placement() == Placement::OneCpu;
            planned.experiment == SHOWS_THE_CORE && on_one && planned.skip.is_none()
        };
        points.iter().position(shows).filter(|_| self.demands.iter().any(is_about))
    }
}

/// The experiment whose trials show the state of the core and take little time.
const SHOWS_THE_CORE: &str = "cpu/arithmetic";

impl Targets {
    /// The targets among the points of a plan.
    ///
    /// # Errors
    /// A demand that cannot be meant: it names several points, a variant that is like one of this machine, or a limit that its figure
    /// does not have.
    pub fn of(
        requirements: &Requirements,
        machine: &Machine,
        points: &[PlannedPoint],
    ) -> Result<Self, String> {
        let target = |demand: &Demand| {
            target(demand, machine, points)
                .map_err(|error| format!("requirement \"{}\": {error}", demand.name))
        };
        let targets = requirements.demands.iter().map(target).collect::<Result<_, _>>()?;
        Ok(Targets { targets, shows_the_core: requirements.shows_the_core(points) })
    }

    /// The points that are to be measured, as indices, each once, in the order of the plan.
    pub fn points(&self) -> Vec<usize> {
        let mut points: Vec<usize> =
            self.targets.iter().filter_map(DemandTarget::point).chain(self.shows_the_core).collect();
        points.sort_unstable();
        points.dedup();
        points
    }

    /// The same targets in a plan of which only some points remain; the reasons why others are missing stay.
    #[must_use]
    pub fn among(&self, remaining: &[usize]) -> Self {
        let place = |index: &usize| remaining.iter().position(|other| other == index);
        let target = |target: &DemandTarget| match target {
            DemandTarget::Point(index) => {
                place(index).map_or_else(|| DemandTarget::Missing(String::new()), DemandTarget::Point)
            }
            other => other.clone(),
        };
        Targets {
            targets: self.targets.iter().map(target).collect(),
            shows_the_core: self.shows_the_core.as_ref().and_then(place),
        }
    }
}

impl DemandTarget {
    /// The point, if it is one.
    pub fn point(&self) -> Option<usize> {
        match self {
            DemandTarget::Point(point) => Some(*point),
            DemandTarget::Condition | DemandTarget::Missing(_) => None,
        }
    }
}

fn target(demand: &Demand, machine: &Machine, points: &[PlannedPoint]) -> Result<DemandTarget, String> {
    let (selector, first) = match &demand.measurand {
        Measurand::Unmeasured(_) => {
            return Ok(DemandTarget::Missing("no experiment measures this yet".to_owned()));
        }
        Measurand::Condition(_) => return Ok(DemandTarget::Condition),
        Measurand::Point(selector) => (selector, false),
        Measurand::Main(selector) => (selector, true),
    };
    let mine = || (0..points.len()).filter(|index| points[*index].experiment == selector.experiment);
    let measurable: Vec<usize> = mine().filter(|index| points[*index].skip.is_none()).collect();
    let among = |indices: &[usize]| selected(selector, first, indices, machine, points);
    let chosen = match among(&measurable) {
        chosen if chosen.is_empty() => among(&mine().collect::<Vec<_>>()),
        chosen => chosen,
    };
    match chosen[..] {
        [] => absent(selector, &mine().map(|index| &points[index].point).collect::<Vec<_>>()),
        [index] => {
            demand.limit.in_unit(points[index].unit)?;
            let skipped = points[index].skip.clone().map(DemandTarget::Missing);
            Ok(skipped.unwrap_or(DemandTarget::Point(index)))
        }
        [one, other, ..] => Err(several(chosen.len(), &points[one], &points[other])),
    }
}

/// Those of these points that are selected, as indices; of a main figure the first.
fn selected(
    selector: &Selector,
    first: bool,
    indices: &[usize],
    machine: &Machine,
    points: &[PlannedPoint],
) -> Vec<usize> {
    let mut candidates: Vec<&Point> = indices.iter().map(|index| &points[*index].point).collect();
    if first {
        let landmarks = registry::find(selector.experiment)
            .map_or_else(Vec::new, |experiment| (experiment.about().shown.landmarks)(machine));
        selector.settings.narrow(&mut candidates, Some(machine), &landmarks);
        candidates.truncate(1);
    } else {
        candidates = selector.among(candidates, machine);
    }
    let is_selected =
        |index: &usize| candidates.iter().any(|point| std::ptr::eq(*point, &raw const points[*index].point));
    indices.iter().copied().filter(is_selected).collect()
}

/// From this share of common pairs of letters on, a name that no point has is taken for a misspelt one.
const MISSPELT: f64 = 0.75;

/// No point is selected: the reason; an error if a name is like one that points have.
fn absent(selector: &Selector, points: &[&Point]) -> Result<DemandTarget, String> {
    if points.is_empty() {
        return Ok(DemandTarget::Missing(format!("{} is not in this run", selector.experiment)));
    }
    for (parameter, at) in selector.settings.0 {
        let At::Name(name) = at else { continue };
        let mut values: Vec<&str> = points.iter().filter_map(|point| point.name_of(parameter)).collect();
        values.sort_unstable();
        values.dedup();
        if values.contains(name) {
            continue;
        }
        if values.iter().any(|value| sorensen_dice(value, name) >= MISSPELT) {
            let hint = naming::suggestion(name, values.into_iter());
            return Err(format!("no point of {} has {parameter} `{name}`{hint}", selector.experiment));
        }
        return Ok(DemandTarget::Missing(format!(
            "{} has no point with {parameter}={name} on this machine",
            selector.experiment
        )));
    }
    let reason = format!("{} has no such point on this machine", selector.experiment);
    Ok(DemandTarget::Missing(reason))
}

/// Several points are selected: what two of them differ in.
fn several(count: usize, one: &PlannedPoint, other: &PlannedPoint) -> String {
    let differs = one.point.parameters().find(|(name, value)| other.point.get(name) != Some(value));
    let by = differs.map_or_else(String::new, |(name, _)| format!(", and they differ in `{name}`"));
    format!("it names {count} points of {}{by}: one requirement is about one point", one.experiment)
}
