//! Sets of CPUs in the kernel's own notation (`0-3,8,10-11`).
//! The masks that say on which of them a thread may run are as long as the CPUs need: the C library's own ends at 1024 CPUs.

use crate::os;
use serde::{Deserialize, Serialize};
use std::{fmt, io};

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

const BITS: usize = libc::c_ulong::BITS as usize;
/// More words than the mask of any kernel has.
const MOST_WORDS: usize = 1024;

/// The CPUs on which the calling thread may run, in ascending order.
pub(super) fn of_this_thread() -> Result<Vec<usize>, String> {
    // The kernel answers EINVAL when its own mask is longer.
    let cpus = [16, 128, MOST_WORDS].into_iter().find_map(of_words);
    cpus.ok_or_else(|| io::Error::last_os_error().to_string())
}

/// Requests a mask of this many words; `None` if that is too short for this kernel.
fn of_words(words: usize) -> Option<Vec<usize>> {
    let mut mask: Vec<libc::c_ulong> = vec![0; words];
    if !os::affinity(&mut mask) {
        return None;
    }
    let cpus = (0..words * BITS).filter(|cpu| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1);
    Some(CpuSet::new(cpus).as_slice().to_vec())
}

/// Lets the calling thread run on these CPUs only; false if the kernel refuses.
pub fn allow_this_thread(cpus: &[usize]) -> bool {
    os::set_affinity(&mask(cpus))
}

/// A bit for each CPU; none for a number beyond those of any machine, so that the kernel refuses the mask.
fn mask(cpus: &[usize]) -> Vec<libc::c_ulong> {
    let possible = || cpus.iter().filter(|cpu| **cpu < MOST_WORDS * BITS);
    let mut mask = vec![0; possible().max().map_or(0, |last| last / BITS) + 1];
    for cpu in possible() {
        mask[cpu / BITS] |= 1 << (cpu % BITS);
    }
    mask
}

/// While it exists, the thread that made it runs on one CPU; afterwards on its previous ones.
#[derive(Debug, Default)]
pub struct Pinned {
    before: Vec<usize>,
}

impl Pinned {
    /// Pins the calling thread; if the kernel refuses it is not moved.
    pub(super) fn to(cpu: usize) -> Self {
        let before = of_this_thread().unwrap_or_default();
        if allow_this_thread(&[cpu]) { Pinned { before } } else { Pinned::default() }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.before.is_empty() {
            allow_this_thread(&self.before);
        }
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

    #[test]
    fn a_mask_has_room_for_every_cpu() {
        assert_eq!(mask(&[0, 2]), [5]);
        let many = mask(&[63, 64, 1500]);
        assert_eq!((many.len(), many[0], many[1]), (24, 1 << 63, 1));
        assert_eq!(many[23], 1 << (1500 - 23 * 64));
    }
}
