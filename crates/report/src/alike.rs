//! The parameters common to points of an experiment, which are printed once next to their rows.

use super::words;
use fathom_core::experiment::Point;
use fathom_engine::results::PointResult;

/// The parameters with the same value at all of these points, of which there is at least one.
pub(super) fn shared(points: &[&PointResult]) -> Vec<String> {
    let names = points[0].point.parameters().map(|(name, _)| name.to_owned());
    let same = |name: &String| points.iter().all(|point| point.point.get(name) == points[0].point.get(name));
    names.filter(same).collect()
}

/// The point without the shared parameters, in words; a point that shares all of them keeps them.
pub(super) fn differing(point: &PointResult, shared: &[String]) -> String {
    let rest = shared.iter().fold(point.point.clone(), |rest, name| rest.without(name));
    words::label(point, if rest.parameters().next().is_some() { &rest } else { &point.point })
}

/// The shared parameters, in words.
pub(super) fn said(point: &PointResult, shared: &[String]) -> String {
    let others =
        point.point.parameters().map(|(name, _)| name.to_owned()).filter(|name| !shared.contains(name));
    words::label(point, &others.fold(point.point.clone(), |rest: Point, name| rest.without(&name)))
}
