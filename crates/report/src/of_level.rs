//! The point that represents a level of a hierarchy in the main figures: of the size that is well within its declared limit, or, where
//! that shows another level, of the nearest size that shows this one.

use fathom_core::experiment::{At, Landmark, Level, Levels, MainFigure};
use fathom_engine::results::{PointResult, Results};

/// Whether a figure of a level is of one that the results show. Where no level was found, too little is known to leave one out.
pub(super) fn is_visible(results: &Results, name: &str, figure: &MainFigure, landmarks: &[Landmark]) -> bool {
    match (levels(results, name), limit(figure, landmarks)) {
        (Some(levels), Some((_, landmark))) => level(levels, landmark).is_some(),
        _ => true,
    }
}

/// The point of a figure whose setting chose this one by what the machine declares; `None` if no size shows the level.
pub(super) fn representative<'run>(
    results: &Results,
    figure: &MainFigure,
    declared: &'run PointResult,
    measured: &[&'run PointResult],
    landmarks: &[Landmark],
) -> Option<&'run PointResult> {
    let name = &declared.experiment;
    let Some((levels, (along, landmark))) = levels(results, name).zip(limit(figure, landmarks)) else {
        return Some(declared);
    };
    let group = declared.point.without(along);
    let setting = |point: &PointResult| point.point.number_of(along);
    // Of a point in several states neither is the level's alone.
    let is_of_curve = |point: &&PointResult| point.point.without(along) == group && point.mixture.is_none();
    let curve = || measured.iter().copied().filter(is_of_curve);
    let values = curve().filter_map(|point| Some((setting(point)?, point.estimate()?.measured())));
    let chosen = level(levels, landmark)?.representative(setting(declared)?, values)?;
    curve().find(|point| setting(point) == Some(chosen))
}

/// The parameter of a figure's array, and the level before from which its loads are in part, as no flat part of the curve is of its own;
/// `None` for others.
pub(super) fn mixed<'run>(
    results: &'run Results,
    (figure, landmarks): (&MainFigure, &[Landmark]),
    point: &PointResult,
    measured: &[&PointResult],
) -> Option<(&'static str, &'run Level)> {
    let levels = levels(results, &point.experiment)?;
    let (along, landmark) = limit(figure, landmarks)?;
    let group = point.point.without(along);
    let is_of_curve = |other: &&&PointResult| other.point.without(along) == group && other.mixture.is_none();
    let curve = measured.iter().filter(is_of_curve);
    let curve = curve.filter_map(|of| Some((of.point.number_of(along)?, of.estimate()?.measured())));
    let before = levels.in_part_from(level(levels, landmark)?, point.point.number_of(along)?, curve)?;
    Some((along, before))
}

/// The same in words, behind the size of the array; empty for others, and behind other settings.
pub(super) fn in_part(
    results: &Results,
    of: (&MainFigure, &[Landmark]),
    point: &PointResult,
    (setting, measured): (&str, &[&PointResult]),
) -> String {
    let before = mixed(results, of, point, measured).filter(|(along, _)| *along == setting);
    before.map(|(_, before)| format!(", in part from {}", before.name)).unwrap_or_default()
}

fn levels<'run>(results: &'run Results, name: &str) -> Option<&'run Levels> {
    results.levels.iter().find(|(of, _)| of == name).map(|(_, levels)| levels)
}

/// The declared limit within which a figure lies, with the parameter along it.
fn limit<'a>(figure: &MainFigure, landmarks: &'a [Landmark]) -> Option<(&'static str, &'a Landmark)> {
    figure.at.0.iter().find_map(|(along, at)| match at {
        At::Within(number) => Some((*along, landmarks.get(number.checked_sub(1)?)?)),
        _ => None,
    })
}

fn level<'run>(levels: &'run Levels, landmark: &Landmark) -> Option<&'run Level> {
    levels.named(landmark.name.split([' ', ',']).next()?)
}
