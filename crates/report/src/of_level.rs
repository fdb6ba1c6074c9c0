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

/// What is said behind the size of a figure's array whose loads are in part from the level before, as no flat part of the curve is of its own;
/// empty for others, and behind other settings.
pub(super) fn mixed(
    results: &Results,
    (figure, landmarks): (&MainFigure, &[Landmark]),
    point: &PointResult,
    (setting, measured): (&str, &[&PointResult]),
) -> String {
    let of = || {
        let levels = levels(results, &point.experiment)?;
        let (along, landmark) = limit(figure, landmarks).filter(|(along, _)| *along == setting)?;
        let group = point.point.without(along);
        let is_of_curve =
            |other: &&&PointResult| other.point.without(along) == group && other.mixture.is_none();
        let curve = measured.iter().filter(is_of_curve);
        let curve = curve.filter_map(|of| Some((of.point.number_of(along)?, of.estimate()?.measured())));
        let before = levels.in_part_from(level(levels, landmark)?, point.point.number_of(along)?, curve)?;
        Some(format!(", in part from {}", before.name))
    };
    of().unwrap_or_default()
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
