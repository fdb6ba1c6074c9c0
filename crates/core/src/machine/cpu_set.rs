//! Sets of CPUs in the kernel's own notation (`0-3,8,10-11`).

use std::fmt;

use serde::{Deserialize, Serialize};

/// More CPUs than any kernel is built for (`NR_CPUS` ends at 8192): a list that names more is not a list of CPUs.
const MOST: usize = 1 << 16;

/// CPU numbers in ascending order. In JSON the kernel's list notation, because a list of 512 numbers is unreadable.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuSet(Vec<usize>);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for CpuSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CpuSet".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "description": "CPU numbers, for example 0-3,8"})
    }
}

impl CpuSet {
    /// From numbers in any order.
    pub fn new(cpus: impl IntoIterator<Item = usize>) -> Self {
        let mut cpus: Vec<usize> = cpus.into_iter().collect();
        cpus.sort_unstable();
        cpus.dedup();
        Self(cpus)
    }

    /// From the kernel's notation; `None` if it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut cpus = Vec::new();
        for part in text.trim().split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            if last < first || last >= MOST {
                return None;
            }
            cpus.extend(first..=last);
            if cpus.len() > MOST {
                return None;
            }
        }
        Some(Self::new(cpus))
    }

    /// The numbers, ascending.
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    /// The number of CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this CPU is one of them.
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// The lowest of them.
    pub fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|a, b| a + 1 == *b);
        for (index, run) in runs.enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match run {
                [only] => write!(formatter, "{comma}{only}")?,
                [first, .., last] => write!(formatter, "{comma}{first}-{last}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for CpuSet {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("not a list of CPUs: {text}"))
    }
}

impl From<CpuSet> for String {
    fn from(set: CpuSet) -> Self {
        set.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_kernels_notation() {
        assert_eq!(CpuSet::parse("0-3,8,10-11\n").unwrap().as_slice(), [0, 1, 2, 3, 8, 10, 11]);
        assert!(CpuSet::parse("").unwrap().is_empty());
        assert_eq!(CpuSet::parse("0-4294967295"), None);
        assert_eq!(CpuSet::parse("3-1"), None);
        assert_eq!(CpuSet::parse("a"), None);
    }

    proptest! {
        #[test]
        fn any_set_is_read_back(cpus in proptest::collection::vec(0usize..2000, 0..60)) {
            let set = CpuSet::new(cpus);
            prop_assert_eq!(CpuSet::parse(&set.to_string()), Some(set));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9,\\- a-z]*") {
            let _ = CpuSet::parse(&text);
        }
    }
}
