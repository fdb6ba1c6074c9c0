//! A file of requirements. `docs/check.md` describes it.

use super::limit::{Threshold, ThresholdKind, ThresholdText};
use super::naming;
use fathom_core::experiment::{Others, PointSettings, Selector};
use serde::Deserialize;
use serde::de::Error as _;

/// The requirements of a purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirements {
    /// The purpose: `etcd member`.
    pub title: String,
    /// What they are for, and what they are not, in a few sentences; may be empty.
    pub about: String,
    /// The publications that their limits are from.
    pub publications: Vec<Publication>,
    /// The requirements, in the order of the file.
    pub demands: Vec<Demand>,
}

/// A publication from which limits are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// Its name in the file.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Who published it.
    pub publisher: String,
    /// The version, or the date of the version, that was read.
    pub version: String,
    /// The section with the limit.
    pub section: String,
    /// Its address; may be empty.
    #[serde(default)]
    pub url: String,
}

/// One requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Its name.
    pub name: String,
    /// The figure of which it is.
    pub measurand: Measurand,
    /// Which side of the limit is right.
    pub direction: RightSide,
    /// The limit.
    pub limit: Threshold,
    /// The share of observations, or of trials, that must be on the right side, below 1: 0.5 for the median.
    pub share: f64,
    /// Of what it is the share.
    pub per: Per,
    /// Whether only observations made with the core alone count.
    pub core_alone: bool,
    /// The share of the limit within which the side does not matter.
    pub indifference: f64,
    /// The publication that the limit is from, as its index; `None` if the file names none.
    pub publication: Option<usize>,
    /// What should be known of it; may be empty.
    pub note: String,
}

/// The figure that a requirement is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Measurand {
    /// The one point that is selected.
    Point(Selector),
    /// The first of the points that are: a main figure.
    Main(Selector),
    /// A condition.
    Condition(Condition),
    /// An operation, in words, that no experiment measures yet.
    Unmeasured(String),
}

/// A condition of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The share of the time in which another hardware thread used the core.
    CoreShared,
    /// The CPUs that this process may use, and that its quota pays for.
    Cpus,
    /// The memory of the machine, or of the control group.
    Memory,
}

/// The right side of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RightSide {
    /// At most the limit.
    AtMost,
    /// At least the limit.
    AtLeast,
}

impl RightSide {
    /// The other one.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            RightSide::AtMost => RightSide::AtLeast,
            RightSide::AtLeast => RightSide::AtMost,
        }
    }
}

/// What a share is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// Of the observations.
    #[default]
    Observations,
    /// Of the trials, each with the median of its observations.
    Trials,
}

/// The zone of indifference of a file that has none.
const INDIFFERENCE: f64 = 0.02;

/// The most requirements of a file: measuring ever more of them would not end.
const MOST_DEMANDS: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequirementsRow {
    title: String,
    #[serde(default)]
    about: String,
    indifference: Option<String>,
    #[serde(default)]
    publication: Vec<Publication>,
    requirement: Vec<DemandRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DemandRow {
    name: String,
    measures: Option<MeasuresRow>,
    condition: Option<Condition>,
    at_most: Option<ThresholdText>,
    at_least: Option<ThresholdText>,
    statistic: Option<String>,
    share: Option<String>,
    #[serde(default)]
    of: Per,
    core: Option<CoreRow>,
    indifference: Option<String>,
    publication: Option<String>,
    #[serde(default)]
    note: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CoreRow {
    Alone,
    Any,
}

/// What is measured: an operation in words, or a figure.
enum MeasuresRow {
    Words(String),
    Figure(MeasurandRow),
}

/// A figure: a point by its parameters, or a main figure by its words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasurandRow {
    experiment: String,
    point: Option<PointSettings>,
    figure: Option<String>,
    #[serde(default)]
    others: Others,
}

impl<'de> Deserialize<'de> for MeasuresRow {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::String(words) => Ok(MeasuresRow::Words(words)),
            table => {
                let figure =
                    MeasurandRow::deserialize(table).map_err(|error| D::Error::custom(error.message()))?;
                Ok(MeasuresRow::Figure(figure))
            }
        }
    }
}

impl Requirements {
    /// The requirements of a TOML file; names that no experiment has are refused, with the one that is most like each.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: RequirementsRow =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        if file.requirement.is_empty() || file.requirement.len() > MOST_DEMANDS {
            return Err(format!(
                "a file has 1 to {MOST_DEMANDS} requirements, not {}",
                file.requirement.len()
            ));
        }
        let usual = file.indifference.as_deref().map_or(Ok(INDIFFERENCE), zone)?;
        let of_row = |row: &DemandRow| {
            row.demand(usual, &file.publication)
                .map_err(|error| format!("requirement \"{}\": {error}", row.name))
        };
        let demands = file.requirement.iter().map(of_row).collect::<Result<_, _>>()?;
        Ok(Requirements { title: file.title, about: file.about, publications: file.publication, demands })
    }
}

impl DemandRow {
    fn demand(&self, indifference: f64, publications: &[Publication]) -> Result<Demand, String> {
        let measurand = self.measurand()?;
        let (direction, limit) = self.limit()?;
        if let Measurand::Condition(condition) = measurand {
            self.ensure_plain(condition, &limit)?;
        }
        let index_of = |id: &String| {
            publications
                .iter()
                .position(|publication| publication.id == *id)
                .ok_or_else(|| format!("there is no publication `{id}` in this file"))
        };
        Ok(Demand {
            name: self.name.clone(),
            measurand,
            limit,
            share: self.share(direction)?,
            direction,
            per: self.of,
            core_alone: matches!(self.core, Some(CoreRow::Alone)),
            indifference: self.indifference.as_deref().map_or(Ok(indifference), zone)?,
            publication: self.publication.as_ref().map(index_of).transpose()?,
            note: self.note.clone(),
        })
    }

    fn measurand(&self) -> Result<Measurand, String> {
        match (&self.measures, self.condition) {
            (Some(MeasuresRow::Words(words)), None) => Ok(Measurand::Unmeasured(words.clone())),
            (Some(MeasuresRow::Figure(figure)), None) => figure.measurand(),
            (None, Some(condition)) => Ok(Measurand::Condition(condition)),
            _ => Err("it has either `measures` or `condition`".to_owned()),
        }
    }

    fn limit(&self) -> Result<(RightSide, Threshold), String> {
        match (&self.at_most, &self.at_least) {
            (Some(limit), None) => Ok((RightSide::AtMost, limit.parsed()?)),
            (None, Some(limit)) => Ok((RightSide::AtLeast, limit.parsed()?)),
            _ => Err("it has either `at_most` or `at_least`".to_owned()),
        }
    }

    /// The share that must be on the right side.
    fn share(&self, direction: RightSide) -> Result<f64, String> {
        match (self.statistic.as_deref(), self.share.as_deref()) {
            (None | Some("median"), None) => Ok(0.5),
            (Some(name), None) => percentile(name, direction),
            (None, Some(share)) => percentage(share).filter(|share| *share < 1.0).ok_or_else(|| {
                format!("`share = \"{share}\"`: expected a share below all, such as \"99 %\"")
            }),
            _ => Err("it has either `statistic` or `share`".to_owned()),
        }
    }

    /// Refuses what a condition does not have.
    fn ensure_plain(&self, condition: Condition, limit: &Threshold) -> Result<(), String> {
        let kind = match condition {
            Condition::CoreShared => ThresholdKind::Share,
            Condition::Cpus => ThresholdKind::Count,
            Condition::Memory => ThresholdKind::Bytes,
        };
        if limit.kind != kind {
            return Err(format!("`{}` is no limit of this condition", limit.text));
        }
        if condition == Condition::CoreShared && self.at_most.is_none() {
            return Err("`core_shared` has `at_most`".to_owned());
        }
        if self.statistic.is_some() || self.share.is_some() || self.core.is_some() {
            return Err("a condition has neither `statistic` nor `share` nor `core`".to_owned());
        }
        Ok(())
    }
}

impl MeasurandRow {
    fn measurand(&self) -> Result<Measurand, String> {
        let experiment = naming::experiment(&self.experiment)?;
        let by = |settings| Selector {
            experiment: experiment.about().name,
            settings,
            placement: None,
            others: self.others,
        };
        match (self.point, &self.figure) {
            (Some(point), None) => {
                naming::ensure_known(experiment, point)?;
                Ok(Measurand::Point(by(point)))
            }
            (None, Some(words)) => naming::main_figure(experiment, words).map(|at| Measurand::Main(by(at))),
            _ => Err("`measures` has either `point` or `figure`".to_owned()),
        }
    }
}

/// The share below a percentile.
fn percentile(name: &str, direction: RightSide) -> Result<f64, String> {
    let level =
        name.strip_prefix('p').and_then(|number| number.parse::<f64>().ok()).map(|number| number / 100.0);
    match level.filter(|level| *level > 0.0 && *level < 1.0) {
        None => {
            Err(format!("there is no statistic `{name}`: expected `median`, or a percentile such as `p99`"))
        }
        // Whether 99 in 100 are at least so fast, or 1 in 100 is, is not said by "p99 of a rate".
        Some(_) if direction == RightSide::AtLeast => Err(format!(
            "`{name}` with `at_least` is ambiguous: say `share = \"99 %\"`, the share that must reach the limit"
        )),
        Some(level) => Ok(level),
    }
}

fn zone(text: &str) -> Result<f64, String> {
    percentage(text).filter(|share| *share <= 0.5).ok_or_else(|| {
        format!("`indifference = \"{text}\"`: expected a share of the limit up to half, such as \"2 %\"")
    })
}

/// A share from a percentage, above 0.
fn percentage(text: &str) -> Option<f64> {
    let share = text.strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0;
    (share > 0.0 && share.is_finite()).then_some(share)
}
