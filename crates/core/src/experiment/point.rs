//! Points: one setting of an experiment's swept parameters.

use super::failure::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The format of a parameter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// A name: the variant of the operation.
    Name,
    /// A plain number.
    Count,
    /// A size in bytes, written with binary prefixes.
    Bytes,
    /// A time in nanoseconds.
    Nanoseconds,
}

/// A parameter of an experiment. Declared once as a constant, used in `sweep` and in `prepare`.
#[derive(Debug)]
pub struct Parameter {
    /// The key in the run file.
    pub name: &'static str,
    /// Its meaning, in a few words.
    pub meaning: &'static str,
    /// The format of its values.
    pub scale: Scale,
    /// The names that it may have; empty if the machine, or the code that does the work, decides which there are.
    pub variants: &'static [&'static str],
}

impl Parameter {
    const fn scaled(name: &'static str, meaning: &'static str, scale: Scale) -> Self {
        Parameter { name, meaning, scale, variants: &[] }
    }

    /// One whose values are these names.
    pub const fn of(name: &'static str, meaning: &'static str, variants: &'static [&'static str]) -> Self {
        Parameter { variants, ..Parameter::named(name, meaning) }
    }

    /// One whose values are names.
    pub const fn named(name: &'static str, meaning: &'static str) -> Self {
        Parameter::scaled(name, meaning, Scale::Name)
    }

    /// One whose values are plain numbers.
    pub const fn count(name: &'static str, meaning: &'static str) -> Self {
        Parameter::scaled(name, meaning, Scale::Count)
    }

    /// One whose values are sizes in bytes.
    pub const fn bytes(name: &'static str, meaning: &'static str) -> Self {
        Parameter::scaled(name, meaning, Scale::Bytes)
    }

    /// One whose values are times in nanoseconds.
    pub const fn nanoseconds(name: &'static str, meaning: &'static str) -> Self {
        Parameter::scaled(name, meaning, Scale::Nanoseconds)
    }
}

/// A parameter's value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// A count, a size in bytes or a time in nanoseconds, as the parameter's scale says.
    Number(u64),
    /// The name of a variant.
    Name(String),
}

/// The placement of the work: part of the operation, because it can change a figure by a factor of four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// Everything pinned to one CPU.
    OneCpu,
    /// The two sides pinned to two CPUs.
    AcrossCpus,
    /// The two sides pinned to CPUs of two packages (sockets).
    AcrossPackages,
    /// Each thread pinned to its own CPU, the first to the home CPU; other cores before second threads of a core.
    Spread,
    /// No pinning: the scheduler decides.
    Free,
}

/// The placement parameter, which every point has.
pub const AXIS_PLACEMENT: Parameter = Parameter::named(
    "placement",
    "where the work runs: all of it on one CPU, its two sides on two CPUs (of one package or of two), each \
              thread on its own CPU (spread), or wherever the scheduler puts it",
);

/// The value of a path parameter for the second host of a run.
pub const PEER: &str = "peer";

/// Its name if it is only virtual: a network namespace of the same machine.
pub const VIRTUAL_PEER: &str = "virtual peer";

impl Placement {
    /// Every placement.
    pub const ALL: [Placement; 5] = [
        Placement::OneCpu,
        Placement::AcrossCpus,
        Placement::AcrossPackages,
        Placement::Spread,
        Placement::Free,
    ];

    /// The name in run files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Placement::OneCpu => "one-cpu",
            Placement::AcrossCpus => "across-cpus",
            Placement::AcrossPackages => "across-packages",
            Placement::Spread => "spread",
            Placement::Free => "free",
        }
    }
}

/// One setting of an experiment's parameters. Every point names its placement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Point(BTreeMap<String, Value>);

impl Point {
    /// A point with only its placement set.
    pub fn at(placement: Placement) -> Self {
        Point(BTreeMap::new()).named(&AXIS_PLACEMENT, placement.name())
    }

    /// A point on one CPU: the common case.
    pub fn new() -> Self {
        Point::at(Placement::OneCpu)
    }

    /// The same point with a numeric parameter set.
    #[must_use]
    pub fn with(mut self, parameter: &Parameter, value: u64) -> Self {
        self.0.insert(parameter.name.to_owned(), Value::Number(value));
        self
    }

    /// The same point with a named parameter set.
    #[must_use]
    pub fn named(mut self, parameter: &Parameter, name: &str) -> Self {
        self.0.insert(parameter.name.to_owned(), Value::Name(name.to_owned()));
        self
    }

    /// A number set by `sweep`; 0 if not set, as for points to which the parameter does not apply.
    pub fn number(&self, parameter: &Parameter) -> u64 {
        self.number_of(parameter.name).unwrap_or(0)
    }

    /// A name set by `sweep`; empty if not set.
    pub fn name(&self, parameter: &Parameter) -> &str {
        self.name_of(parameter.name).unwrap_or("")
    }

    /// Refuses a point whose variant is none of these, so that nothing else is measured under its name; points without the
    /// parameter pass.
    pub fn ensure_variant(&self, parameter: &Parameter, variants: &[&str]) -> Result<(), Failure> {
        match self.name_of(parameter.name) {
            Some(name) if !variants.contains(&name) => Err(Failure::no_variant(parameter, name)),
            _ => Ok(()),
        }
    }

    /// The same for all parameters that list their variants.
    pub fn ensure_variants(&self, parameters: &[Parameter]) -> Result<(), Failure> {
        let listed = parameters.iter().filter(|parameter| !parameter.variants.is_empty());
        listed.into_iter().try_for_each(|parameter| self.ensure_variant(parameter, parameter.variants))
    }

    /// The placement of the work.
    pub fn placement(&self) -> Placement {
        let name = self.name(&AXIS_PLACEMENT);
        Placement::ALL.into_iter().find(|placement| placement.name() == name).unwrap_or(Placement::OneCpu)
    }

    /// Every parameter with its value, by name.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of the parameter with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The number with this parameter's name; `None` if there is none.
    pub fn number_of(&self, parameter: &str) -> Option<u64> {
        match self.0.get(parameter) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The variant with this parameter's name; `None` if there is none.
    pub fn name_of(&self, parameter: &str) -> Option<&str> {
        match self.0.get(parameter) {
            Some(Value::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether the parameter with this name is this variant.
    pub fn is(&self, parameter: &str, variant: &str) -> bool {
        self.name_of(parameter) == Some(variant)
    }

    /// The same point with every value `name` replaced by `other`.
    #[must_use]
    pub fn renamed(&self, name: &str, other: &str) -> Self {
        self.with_each(|parameter, value| match value {
            Value::Name(variant) if variant == name => (parameter.to_owned(), Value::Name(other.to_owned())),
            value => (parameter.to_owned(), value.clone()),
        })
    }

    /// The same point with each parameter's name and value transformed.
    #[must_use]
    pub fn with_each(&self, turned: impl Fn(&str, &Value) -> (String, Value)) -> Self {
        Point(self.0.iter().map(|(name, value)| turned(name, value)).collect())
    }

    /// The point that identifies a row across machines: if a role such as L2 or memory is named, its size in bytes belongs to the
    /// machine.
    #[must_use]
    pub fn on_any_machine(&self) -> Self {
        if self.get("level").is_some() { self.without("size") } else { self.clone() }
    }

    /// The same point without its numbers: the kind of operation that its settings are of.
    #[must_use]
    pub fn names_only(&self) -> Self {
        let names = self.0.iter().filter(|(_, value)| matches!(value, Value::Name(_)));
        Point(names.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// The same point without one parameter: the group of a curve along it.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut rest = self.clone();
        rest.0.remove(name);
        rest
    }
}

impl Default for Point {
    fn default() -> Self {
        Point::new()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Name(name) => name.fmt(f),
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{name}={value}")?;
        }
        Ok(())
    }
}

impl Failure {
    /// The failure of a point with an unknown variant.
    pub fn no_variant(parameter: &Parameter, name: &str) -> Self {
        Failure::Broke(format!("there is no {} `{name}`", parameter.name))
    }
}
