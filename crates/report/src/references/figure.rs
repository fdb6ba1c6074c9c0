//! One published figure.

use super::{Doubt, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The kind of statement that a figure is.
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

/// The value of a figure. It is not a plain number, so that its user must choose between the printed one, right or wrong,
/// and the one for calculations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// There is no doubt about it.
    AsPrinted(f64),
    /// There is a doubt, which must be shown with the value.
    Doubtful {
        /// The printed value, in the figure's unit.
        printed: f64,
        doubt: Doubt,
        /// The value implied by the source's own other figures, in the same unit.
        corrected: Option<f64>,
    },
}

impl Value {
    /// The printed number, right or wrong.
    pub fn printed(self) -> f64 {
        match self {
            Value::AsPrinted(number) | Value::Doubtful { printed: number, .. } => number,
        }
    }

    /// The value multiplied by `times`: a switch is half of a round trip.
    #[must_use]
    pub fn times(self, times: f64) -> Self {
        match self {
            Value::AsPrinted(number) => Value::AsPrinted(number * times),
            Value::Doubtful { printed, doubt, corrected } => Value::Doubtful {
                printed: printed * times,
                doubt,
                corrected: corrected.map(|number| number * times),
            },
        }
    }

    /// The number for calculations: the corrected one if there is one; `None` if the figure is not one of this operation,
    /// which no correction can change.
    pub fn to_reckon_with(self) -> Option<f64> {
        match self {
            Value::Doubtful { doubt, .. } if doubt.excluded_from_ratios() => None,
            Value::AsPrinted(number) | Value::Doubtful { corrected: Some(number), .. } => Some(number),
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

/// Properties shared by the figures of one table; a figure may override them.
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

/// The location of a figure in its source, and its subject.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FigureLocation {
    pub machine: String,
    pub section: String,
    pub table: String,
    pub kind: Kind,
    pub area: String,
    pub operation: String,
}

/// A figure's own entries in the data. Every key that is not named here is a number, in the figure's unit unless its name
/// has another unit.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct FigureRow {
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

/// One published figure: its value, its location, and its doubt.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    id: String,
    source: String,
    line: u32,
    #[serde(flatten)]
    place: FigureLocation,
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
    /// A figure of a table in a file whose source is `source` unless the data override it; `None` if its source, its variant
    /// or its unit is missing.
    pub(super) fn new(
        place: &FigureLocation,
        shared: &Shared,
        source: Option<&str>,
        row: FigureRow,
    ) -> Option<Self> {
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

    /// Its permanent id: `s000-0027`.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn machine(&self) -> &str {
        &self.place.machine
    }

    /// The source that contains it: the number of a report, or `lmbench`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The line of the source's plain text, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    pub fn section(&self) -> &str {
        &self.place.section
    }

    /// The table of the source; `text` if it is in none.
    pub fn table(&self) -> &str {
        &self.place.table
    }

    pub fn kind(&self) -> Kind {
        self.place.kind
    }

    /// `cpu`, `memory`, `network` or `filesystem`.
    pub fn area(&self) -> &str {
        &self.place.area
    }

    /// The operation: `system-call`.
    pub fn operation(&self) -> &str {
        &self.place.operation
    }

    /// The variant of the operation: `write-devnull`.
    pub fn variant(&self) -> &str {
        &self.variant
    }

    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The swept parameter with its value.
    pub fn parameter(&self) -> Option<(&str, u64)> {
        Some((self.parameter.as_deref()?, self.at?))
    }

    /// The number of the trial, if it is one of several.
    pub fn trial(&self) -> Option<u32> {
        self.trial
    }

    /// The machine at the other end.
    pub fn remote(&self) -> Option<&str> {
        self.remote.as_deref()
    }

    pub fn printed(&self) -> Printed<'_> {
        Printed { text: &self.printed, doubt: self.doubt }
    }

    pub(crate) fn printed_prediction(&self) -> Option<&str> {
        self.printed_prediction.as_deref()
    }

    /// The value in the figure's unit; `None` if the source prints a range or only cycles.
    pub fn value(&self) -> Option<Value> {
        let printed = self.number("value")?;
        Some(match self.doubt {
            None => Value::AsPrinted(printed),
            Some(doubt) => Value::Doubtful { printed, doubt, corrected: self.corrected() },
        })
    }

    /// The value implied by the source's own other figures instead of the printed one, in the figure's unit.
    pub fn corrected(&self) -> Option<f64> {
        self.number("corrected")
    }

    /// The standard deviation in the figure's unit.
    pub fn deviation(&self) -> Option<f64> {
        self.number("stddev")
    }

    /// The range printed instead of a value, in the figure's unit; an end may be missing.
    pub fn range(&self) -> Option<(Option<f64>, Option<f64>)> {
        let ends = (self.number("low"), self.number("high"));
        (ends != (None, None)).then_some(ends)
    }

    /// The source's prediction, in the figure's unit.
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

    /// The keys of the numbers that are not printed but were converted from cycles with the source's own cycle time.
    pub fn derived(&self) -> &[String] {
        &self.derived
    }

    /// The basis of the figure, according to the source.
    pub(crate) fn basis(&self) -> Option<&str> {
        self.basis.as_deref()
    }

    pub fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// A note about the figure; for a doubtful one, the error.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The doubt in words: the note, or the meaning of the doubt.
    pub fn doubt_note(&self) -> Option<&str> {
        let doubt = self.doubt?;
        Some(self.note().unwrap_or(doubt.sentence()))
    }
}
