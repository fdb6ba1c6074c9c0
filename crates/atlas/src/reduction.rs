//! From a run to its file in the atlas: an allow-list. Whatever is not written here does not get there.

use super::entry::{Entry, Figure, RunFacts, Validity};
use super::machine::MachineFacts;
use super::words;
use data_encoding::HEXLOWER;
use fathom_core::experiment::{
    AXIS_PLACEMENT, Effort, Experiment, PEER, Placement, Point, VIRTUAL_PEER, Value,
};
use fathom_core::machine::Machine;
use fathom_core::statistics::Estimate;
use fathom_engine::record::Header;
use fathom_engine::results::{PointResult, Results};
use sha2::{Digest, Sha256};

/// What the reports say of a run, for its file.
pub struct Measured<'a> {
    /// The run's results.
    pub results: &'a Results<'a>,
    /// How far it can be trusted.
    pub trust: &'static str,
    /// The share of its values that are known within 5 %.
    pub known: Option<f64>,
    /// What a point represents on any machine; `None` for one that is no main figure.
    pub role: &'a dyn Fn(&PointResult) -> Option<&'static str>,
}

/// The digits of a run: the same of any program that reads its file, and nothing follows from them.
pub fn identity(header: &Header) -> String {
    let digest = Sha256::digest(format!("{} {}", header.started, header.settings.seed));
    HEXLOWER.encode(&digest[..4])
}

impl Entry {
    /// A run, reduced to what may stand in the atlas.
    pub fn of(measured: &Measured) -> Self {
        let results = measured.results;
        let header = &results.run.header;
        let machine = MachineFacts::of(&header.machine);
        let family = machine.family().unwrap_or_else(|| "unknown".to_owned());
        let id = format!("{}-{}-{}", slug(&family), machine.kind.slug(), identity(header));
        let mut public = PublicPoints::of(&header.machine);
        let figures = results.points.iter().filter(|point| public.has(point));
        let figures = figures.filter_map(|point| figure(point, (measured.role)(point))).collect();
        Entry { id, machine, run: run_facts(measured), figures }
    }
}

/// Lower case letters and digits, and a hyphen for each run of others.
fn slug(name: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let letters: String = name.chars().map(letter).collect();
    letters.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

fn run_facts(measured: &Measured) -> RunFacts {
    let results = measured.results;
    let (header, closing) = (&results.run.header, results.run.closing.as_ref());
    RunFacts {
        measured: month(&header.started),
        program: words::release(&header.tool.version),
        effort: effort(header.settings.effort).to_owned(),
        took_s: closing.map(|closing| rounded(closing.took_s)),
        trust: measured.trust.to_owned(),
        known_within_5_percent: measured.known.map(rounded),
        core_shared: results
            .core_shared
            .as_ref()
            .filter(|core| core.levels.shared.is_some())
            .map(|core| rounded(core.share)),
        load: header.machine.conditions.load_average.value().map(|load| rounded(load[0])),
        steal_s: closing.and_then(|closing| closing.conditions.steal_ns).map(|ns| rounded(ns as f64 / 1e9)),
    }
}

/// The year and the month of a time.
fn month(started: &str) -> Option<String> {
    let month = started.get(..7)?;
    let (year, number) = month.split_once('-')?;
    let is_number =
        |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(year, 4) && is_number(number, 2)).then(|| month.to_owned())
}

fn effort(effort: Effort) -> &'static str {
    match effort {
        Effort::Quick => "quick",
        Effort::Standard => "standard",
        Effort::Thorough => "thorough",
    }
}

fn figure(point: &PointResult, role: Option<&'static str>) -> Option<Figure> {
    let estimate = point.estimate()?;
    let [value, low, high] = numbers(estimate)?;
    Some(Figure {
        experiment: point.experiment.clone(),
        version: point.method_version,
        point: point.point.on_any_machine().to_string(),
        role: role.map(str::to_owned),
        unit: point.unit,
        value,
        low,
        high,
        trials: estimate.trials,
        core: point.core.as_ref().map(|core| core.state.name().to_owned()),
        shared: point.shared().and_then(numbers),
        validity: validity(point),
    })
}

fn validity(point: &PointResult) -> Validity {
    match () {
        () if !point.evidence_holds() => Validity::Fails,
        () if point.mixture.is_some() => Validity::SeveralStates,
        () if point.evidence.checks().is_empty() => Validity::Unchecked,
        () => Validity::Holds,
    }
}

/// The median and the ends of the interval; `None` without an interval.
fn numbers(estimate: &Estimate) -> Option<[f64; 3]> {
    let interval = estimate.interval?;
    let all = [estimate.value, interval.low, interval.high].map(rounded);
    all.iter().all(|number| number.is_finite()).then_some(all)
}

/// A number to five digits, more than any interval justifies.
fn rounded(number: f64) -> f64 {
    const DIGITS: i32 = 5;
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let below = DIGITS - 1 - number.abs().log10().floor() as i32;
    // Powers of ten below one are not exact, so neither is divided by nor multiplied with.
    let scale = 10_f64.powi(below.abs());
    if below < 0 { (number / scale).round() * scale } else { (number * scale).round() / scale }
}

/// The points that this program itself would name: a run file may say anything.
struct PublicPoints<'a> {
    machine: &'a Machine,
    /// The experiment of the last question, with its own points.
    last: Option<(&'static dyn Experiment, Vec<Point>)>,
}

impl<'a> PublicPoints<'a> {
    fn of(machine: &'a Machine) -> Self {
        PublicPoints { machine, last: None }
    }

    /// Whether the point was measured by a method of this program, without a second host, and under names that the experiment gives.
    fn has(&mut self, result: &PointResult) -> bool {
        let Ok(experiment) = result.method() else { return false };
        if self.last.as_ref().is_none_or(|(last, _)| last.about().name != experiment.about().name) {
            self.last = Some((experiment, experiment.sweep(self.machine)));
        }
        let Some((experiment, sweep)) = &self.last else { return false };
        result.point.parameters().all(|(name, value)| is_public(*experiment, sweep, name, value))
    }
}

fn is_public(experiment: &dyn Experiment, sweep: &[Point], name: &str, value: &Value) -> bool {
    let declared = experiment.about().parameters.iter().find(|parameter| parameter.name == name);
    match value {
        Value::Name(word) if name == AXIS_PLACEMENT.name => {
            Placement::ALL.iter().any(|placement| placement.name() == word)
        }
        Value::Name(word) if [PEER, VIRTUAL_PEER].contains(&word.as_str()) => false,
        Value::Name(word) => declared.is_some_and(|parameter| {
            parameter.variants.contains(&word.as_str()) || sweep.iter().any(|point| point.is(name, word))
        }),
        Value::Number(_) => declared.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_letters_digits_and_hyphens() {
        assert_eq!(
            slug("Skylake, Cascade Lake or Cooper Lake (server)"),
            "skylake-cascade-lake-or-cooper-lake-server"
        );
        assert_eq!(slug("Zen 5"), "zen-5");
    }

    #[test]
    fn a_time_is_told_to_its_month_and_a_number_to_five_digits() {
        assert_eq!(month("2026-11-25T14:36:09Z").as_deref(), Some("2026-11"));
        assert_eq!(month("host-7"), None);
        assert_eq!(
            [123_456.7, 0.001_234_567].map(|number| rounded(number).to_string()),
            ["123460", "0.0012346"]
        );
    }
}
