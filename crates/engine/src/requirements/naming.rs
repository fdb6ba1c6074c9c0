//! Names in a file of requirements: each is one of this program, or is refused with the one that is most like it.

use crate::plan;
use fathom_core::experiment::{AXIS_PLACEMENT, At, Experiment, Placement, PointSettings};
use strsim::sorensen_dice;

/// The least share of common pairs of letters with which a name is suggested.
const LEAST_ALIKE: f64 = 0.4;

pub(super) fn experiment(name: &str) -> Result<&'static dyn Experiment, String> {
    match plan::select(&[name.to_owned()]).map_err(|error| error.to_string())?[..] {
        [experiment] => Ok(experiment),
        _ => Err(format!("`{name}` names several experiments: name one, such as `cpu/wake_up`")),
    }
}

/// The settings of an experiment's main figure with these words.
pub(super) fn main_figure(experiment: &dyn Experiment, words: &str) -> Result<PointSettings, String> {
    let about = experiment.about();
    let figures = || about.shown.main_figures.iter();
    if let Some(figure) = figures().find(|figure| figure.words == words) {
        return if figure.slope {
            Err(format!("`{words}` is the slope of a line: name a point of {}", about.name))
        } else {
            Ok(figure.at)
        };
    }
    let hint = suggestion(words, figures().map(|figure| figure.words));
    Err(format!("{} has no main figure `{words}`{hint}", about.name))
}

/// Refuses parameters that the experiment does not have, and variants that their parameters do not have.
pub(super) fn ensure_known(experiment: &dyn Experiment, settings: PointSettings) -> Result<(), String> {
    settings.0.iter().try_for_each(|(name, at)| {
        let variants = variants(experiment, name)?;
        let names: &[&str] = match at {
            At::Name(name) => &[name],
            At::OneOf(names) => names,
            _ => &[],
        };
        let wrong = names.iter().find(|name| !variants.is_empty() && !variants.contains(name));
        wrong.map_or(Ok(()), |wrong| {
            let hint = suggestion(wrong, variants.iter().copied());
            Err(format!("{} has no {name} `{wrong}`{hint}", experiment.about().name))
        })
    })
}

/// The variants of a parameter; none if the machine decides which there are.
fn variants(experiment: &dyn Experiment, parameter: &str) -> Result<Vec<&'static str>, String> {
    let about = experiment.about();
    if parameter == AXIS_PLACEMENT.name {
        return Ok(Placement::ALL.map(Placement::name).to_vec());
    }
    if let Some(known) = about.parameters.iter().find(|known| known.name == parameter) {
        return Ok(known.variants.to_vec());
    }
    let names = about.parameters.iter().map(|known| known.name).chain([AXIS_PLACEMENT.name]);
    Err(format!("{} has no parameter `{parameter}`{}", about.name, suggestion(parameter, names)))
}

/// The question whether a similar name was intended; empty if none is similar.
pub(super) fn suggestion<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let alike = names.map(|other| (sorensen_dice(other, name), other));
    let best = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(alike, _)| *alike >= LEAST_ALIKE)
        .map(|(_, other)| format!(" (did you mean `{other}`?)"))
        .unwrap_or_default()
}
