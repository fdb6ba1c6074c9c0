//! One published figure.

use super::{Doubt, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What kind of statement a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The result of a section.
    Measured,
    /// One run of a measured set.
    Trial,
    /// A prediction, or a part of one.
    Estimate,
    /// Derived in the source's analysis.
    Analysis,
    /// Slope and intercept of a line.
    Fit,
    /// A row of the source's summary table.
    Summary,
    /// Quoted from elsewhere.
    Cited,
}

/// The value of a figure. It is no number: whoever wants one says whether the printed one, right or wrong, or the one to
/// reckon with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Nothing speaks against it.
    Sound(f64),
    /// Something speaks against it: whoever shows it shows the doubt with it.
    Doubtful {
        /// As it is printed, in the figure's unit.
        printed: f64,
        /// Why it is doubted.
        doubt: Doubt,
        /// What the source's own other figures imply instead, in the same unit.
        corrected: Option<f64>,
    },
}

impl Value {
    /// The number as it is printed, right or wrong.
    pub fn printed(self) -> f64 {
        match self {
            Value::Sound(number) | Value::Doubtful { printed: number, .. } => number,
        }
    }

    /// The same value of `times` as much: a switch is half of a round trip.
    #[must_use]
    pub fn times(self, times: f64) -> Self {
        match self {
            Value::Sound(number) => Value::Sound(number * times),
            Value::Doubtful { printed, doubt, corrected } => Value::Doubtful {
                printed: printed * times,
                doubt,
                corrected: corrected.map(|number| number * times),
            },
        }
    }

    /// The number to reckon with: the corrected one where there is one; `None` where the figure is none of this
    /// operation, which no correction mends.
    pub fn to_reckon_with(self) -> Option<f64> {
        match self {
            Value::Doubtful { doubt, .. } if doubt.forbids_reckoning() => None,
            Value::Sound(number) | Value::Doubtful { corrected: Some(number), .. } => Some(number),
            Value::Doubtful { printed, .. } => Some(printed),
        }
    }
}

/// A printed figure with its doubt: `8.19 ns (doubtful: implausible)`.
pub struct Printed<'a> {
    text: &'a str,
    doubt: Option<Doubt>,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)?;
        match self.doubt {
            Some(doubt) => write!(f, " (doubtful: {})", doubt.name()),
            None => Ok(()),
        }
    }
}

/// What figures of one table share; a figure may also say it for itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Shared {
    pub source: Option<String>,
    pub variant: Option<String>,
    pub unit: Option<Unit>,
    pub parameter: Option<String>,
    pub remote: Option<String>,
    pub block_bytes: Option<u64>,
    pub derived: Option<Vec<String>>,
}

/// Where a figure stands and what it is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Place {
    pub machine: String,
    pub section: String,
    pub table: String,
    pub kind: Kind,
    pub area: String,
    pub operation: String,
}

/// A figure's own lines in the data. Every key that is not named here is a number, in the figure's unit unless its name
/// says otherwise.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Row {
    pub id: String,
    pub line: u32,
    pub printed: String,
    pub printed_prediction: Option<String>,
    pub at: Option<u64>,
    pub at_printed: Option<String>,
    pub trial: Option<u32>,
    pub doubt: Option<Doubt>,
    pub basis: Option<String>,
    pub note: Option<String>,
    pub source: Option<String>,
    pub variant: Option<String>,
    pub unit: Option<Unit>,
    pub parameter: Option<String>,
    pub remote: Option<String>,
    pub block_bytes: Option<u64>,
    pub derived: Option<Vec<String>>,
    #[serde(flatten)]
    pub numbers: BTreeMap<String, f64>,
}

/// One published figure: what it says, where it stands, and whether it can be believed.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    id: String,
    source: String,
    line: u32,
    #[serde(flatten)]
    place: Place,
    variant: String,
    unit: Unit,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_printed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remote: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_bytes: Option<u64>,
    printed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    printed_prediction: Option<String>,
    #[serde(flatten)]
    numbers: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    derived: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    basis: Option<String>,
    doubt: Option<Doubt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Figure {
    /// A figure of a table in a file whose source is `source` unless the data say otherwise; `None` where its source, its
    /// variant or its unit is told nowhere.
    pub(super) fn new(place: &Place, shared: &Shared, source: Option<&str>, row: Row) -> Option<Self> {
        Some(Figure {
            source: row.source.or_else(|| shared.source.clone()).or_else(|| source.map(str::to_owned))?,
            variant: row.variant.or_else(|| shared.variant.clone())?,
            unit: row.unit.or(shared.unit)?,
            parameter: row.parameter.or_else(|| shared.parameter.clone()),
            remote: row.remote.or_else(|| shared.remote.clone()),
            block_bytes: row.block_bytes.or(shared.block_bytes),
            derived: row.derived.or_else(|| shared.derived.clone()).unwrap_or_default(),
            place: place.clone(),
            id: row.id,
            line: row.line,
            at: row.at,
            at_printed: row.at_printed,
            trial: row.trial,
            printed: row.printed,
            printed_prediction: row.printed_prediction,
            numbers: row.numbers,
            basis: row.basis,
            doubt: row.doubt,
            note: row.note,
        })
    }

    /// Its name for ever: `s000-0027`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The machine that it is about.
    pub fn machine(&self) -> &str {
        &self.place.machine
    }

    /// The source that prints it: the number of a report, or `lmbench`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The line of the source's plain text, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The section of the source.
    pub fn section(&self) -> &str {
        &self.place.section
    }

    /// The table of the source; `text` where it stands in none.
    pub fn table(&self) -> &str {
        &self.place.table
    }

    /// What kind of statement it is.
    pub fn kind(&self) -> Kind {
        self.place.kind
    }

    /// `cpu`, `memory`, `network` or `filesystem`.
    pub fn area(&self) -> &str {
        &self.place.area
    }

    /// What was done: `system-call`.
    pub fn operation(&self) -> &str {
        &self.place.operation
    }

    /// In which way it was done: `write-devnull`.
    pub fn variant(&self) -> &str {
        &self.variant
    }

    /// What it counts.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The swept parameter with its value.
    pub fn parameter(&self) -> Option<(&str, u64)> {
        Some((self.parameter.as_deref()?, self.at?))
    }

    /// The number of the trial, where it is one of several.
    pub fn trial(&self) -> Option<u32> {
        self.trial
    }

    /// The machine at the other end.
    pub fn remote(&self) -> Option<&str> {
        self.remote.as_deref()
    }

    /// The printed figures, with the doubt.
    pub fn printed(&self) -> Printed<'_> {
        Printed { text: &self.printed, doubt: self.doubt }
    }

    /// The printed prediction.
    pub fn printed_prediction(&self) -> Option<&str> {
        self.printed_prediction.as_deref()
    }

    /// The value in the figure's unit; `None` where the source prints a range or only cycles.
    pub fn value(&self) -> Option<Value> {
        let printed = self.number("value")?;
        Some(match self.doubt {
            None => Value::Sound(printed),
            Some(doubt) => Value::Doubtful { printed, doubt, corrected: self.corrected() },
        })
    }

    /// What the source's own other figures imply instead of the printed value, in the figure's unit.
    pub fn corrected(&self) -> Option<f64> {
        self.number("corrected")
    }

    /// The standard deviation in the figure's unit.
    pub fn deviation(&self) -> Option<f64> {
        self.number("stddev")
    }

    /// The range that is printed instead of a value, in the figure's unit; an end may be missing.
    pub fn range(&self) -> Option<(Option<f64>, Option<f64>)> {
        let ends = (self.number("low"), self.number("high"));
        (ends != (None, None)).then_some(ends)
    }

    /// What the source predicted, in the figure's unit.
    pub fn predicted(&self) -> Option<f64> {
        self.number("predicted")
    }

    /// The number of this key in the data: in the figure's unit, except `*cycles*`, `bytes_per_cycle` and `instructions`.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.numbers.get(key).copied()
    }

    /// Every number with its key.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        self.numbers.iter().map(|(key, number)| (key.as_str(), *number))
    }

    /// Which of the numbers are not printed but were converted from cycles with the source's own cycle time.
    pub fn derived(&self) -> &[String] {
        &self.derived
    }

    /// What the figure rests on, as the source says.
    pub fn basis(&self) -> Option<&str> {
        self.basis.as_deref()
    }

    /// Why it is doubted.
    pub fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// What is to be known about it; of a doubtful figure, what is wrong.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Why it is doubted, in words: the note, or what the doubt means.
    pub fn misgiving(&self) -> Option<&str> {
        let doubt = self.doubt?;
        Some(self.note().unwrap_or(doubt.sentence()))
    }
}
