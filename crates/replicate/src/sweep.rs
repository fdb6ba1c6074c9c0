//! Fathom's points as the rows of reports name them: by the names and values of parameters, looked up in the sweeps of experiments.

use super::caches;
use fathom_core::experiment::{Point, Requirement, registry};
use fathom_core::machine::Machine;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Parameters of a point, by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct SweptPoint(BTreeMap<String, SweptValue>);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum SweptValue {
    Number(u64),
    Name(String),
    /// The first of these variants that the experiment has: of those whose instructions the processor offers, if there is one.
    FirstOf(Vec<String>),
    /// The nearest to such a number.
    Near(Near),
}

/// A number, of the file or of the machine's description.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Near {
    Nearest(u64),
    /// So many times the CPUs that this process may use.
    AllowedCpus(u64),
    /// Half of the data cache of a level, bytes.
    HalfOfCache(u8),
    /// So many times the last-level cache of one CPU, within limits.
    BeyondL3(u64),
    /// The middle of a level's data cache, bytes.
    MiddleOfCache(u8),
    /// So many times all last-level caches, within limits.
    BeyondCaches(u64),
}

impl Near {
    fn number(&self, machine: &Machine) -> u64 {
        match *self {
            Near::Nearest(number) => number,
            Near::AllowedCpus(times) => times * machine.allowed_cpus().len() as u64,
            Near::HalfOfCache(level) => caches::of_report_001(machine, level, None) / 2,
            Near::BeyondL3(times) => {
                (times * caches::of_report_001(machine, 3, None)).clamp(64 << 20, 1 << 30)
            }
            Near::MiddleOfCache(level) => {
                caches::middle(machine, level).unwrap_or(1 << (11 + 3 * u32::from(level)))
            }
            Near::BeyondCaches(times) => caches::beyond(machine, times),
        }
    }
}

impl SweptPoint {
    /// The same with a number set.
    #[must_use]
    pub fn and(&self, parameter: &str, number: u64) -> Self {
        let mut all = self.0.clone();
        all.insert(parameter.to_owned(), SweptValue::Near(Near::Nearest(number)));
        SweptPoint(all)
    }

    /// The point of an experiment's sweep that has these variants (the first of each list) and whose numbers are
    /// nearest to these. Of several, the one with the fewest other parameters. Where no variant exists, as on a processor without
    /// such instructions, the first of the sweep.
    pub fn nearest(&self, experiment: &str, machine: &Machine) -> Point {
        let Some(experiment) = registry::find(experiment) else { return Point::default() };
        let mut points = experiment.sweep(machine);
        let fallback = points.first().cloned().unwrap_or_default();
        points.retain(|point| self.is_exact(point));
        let is_offered = |point: &Point| {
            let needs = experiment.requires(point);
            let mut instructions = needs.iter().filter(|need| matches!(need, Requirement::Instructions(_)));
            instructions.all(|need| need.unmet_reason(machine).is_none())
        };
        for (parameter, choice) in &self.0 {
            if let SweptValue::FirstOf(variants) = choice {
                let of = |variant: &String, fits: &dyn Fn(&Point) -> bool| {
                    points.iter().any(|point| point.is(parameter, variant) && fits(point))
                };
                let offered = variants.iter().find(|variant| of(variant, &is_offered));
                let chosen = offered.or_else(|| variants.iter().find(|variant| of(variant, &|_| true)));
                let chosen = chosen.cloned().unwrap_or_default();
                points.retain(|point| point.is(parameter, &chosen));
            }
        }
        let numbers = self.numbers(machine);
        points.retain(|point| numbers.iter().all(|(parameter, _)| point.number_of(parameter).is_some()));
        let count = |point: &Point| point.parameters().count();
        let least = points.iter().map(count).min();
        points.retain(|point| Some(count(point)) == least);
        let distance = |point: &Point| {
            let each =
                numbers.iter().filter_map(|(name, target)| Some(octaves(point.number_of(name)?, *target)));
            each.sum::<f64>()
        };
        let nearest = points.into_iter().min_by(|one, other| distance(one).total_cmp(&distance(other)));
        nearest.unwrap_or(fallback)
    }

    /// Whether a point has exactly these variants and numbers.
    pub fn is_of(&self, point: &Point, machine: &Machine) -> bool {
        let same = |(parameter, number): &(&str, u64)| point.number_of(parameter) == Some(*number);
        self.is_exact(point) && self.numbers(machine).iter().all(same)
    }

    /// Whether a point has the variants and numbers that are not chosen among those of the sweep.
    fn is_exact(&self, point: &Point) -> bool {
        self.0.iter().all(|(parameter, choice)| match choice {
            SweptValue::Name(name) => point.is(parameter, name),
            SweptValue::Number(number) => point.number_of(parameter) == Some(*number),
            SweptValue::FirstOf(_) | SweptValue::Near(_) => true,
        })
    }

    fn numbers(&self, machine: &Machine) -> Vec<(&str, u64)> {
        let number = |choice: &SweptValue| match choice {
            SweptValue::Near(near) => Some(near.number(machine)),
            SweptValue::Number(_) | SweptValue::Name(_) | SweptValue::FirstOf(_) => None,
        };
        self.0.iter().filter_map(|(name, choice)| Some((name.as_str(), number(choice)?))).collect()
    }
}

/// Those of these sizes that a remote file has, as beginnings of it; its whole size where it is smaller than all of them.
pub fn beginnings(sizes: impl IntoIterator<Item = u64>, file_bytes: u64) -> Vec<u64> {
    let within: Vec<u64> = sizes.into_iter().filter(|size| *size <= file_bytes).collect();
    if within.is_empty() { vec![file_bytes] } else { within }
}

/// The distance of two sizes in powers of two, such that 0 is as far from 1 as 1 is from 3.
fn octaves(one: u64, other: u64) -> f64 {
    ((one as f64 + 1.0).log2() - (other as f64 + 1.0).log2()).abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::{Host, Root};

    struct TwoCpus;
    impl Host for TwoCpus {
        fn affinity(&self) -> Result<Vec<usize>, String> {
            Ok(vec![0, 1])
        }
    }

    fn nearest(experiment: &str, selector: &str) -> String {
        fathom_experiments::register();
        let machine = Machine::from_root(&Root::new("/nowhere"), &TwoCpus, std::path::Path::new("/"));
        toml::from_str::<SweptPoint>(selector).unwrap().nearest(experiment, &machine).to_string()
    }

    #[test]
    fn a_point_is_found_by_its_variants_its_nearest_numbers_and_what_it_does_not_say() {
        let call = "call = ['no such call', 'getppid']";
        assert_eq!(nearest("cpu/system_call", call), "call=getppid placement=one-cpu");
        let warm = "state = 'warm'\norder = 'sequential'\ncall = 'mmap'\nfile.nearest = 52428800\nblock.nearest = 5000";
        assert_eq!(
            nearest("filesystem/read", warm),
            "block=4096 call=mmap file=67108864 order=sequential placement=one-cpu state=warm"
        );
        assert_eq!(
            nearest("memory/major_fault", "access = 'first byte of each stride'\nstride.nearest = 307200"),
            "access=first byte of each stride placement=one-cpu stride=262144"
        );
        // Without a stride asked for, the point that has none is meant.
        assert!(!nearest("memory/major_fault", "").contains("stride"));
    }

    #[test]
    fn a_file_is_read_by_sizes_as_far_as_it_goes() {
        assert_eq!(beginnings([4, 16, 64], 20), [4, 16]);
        assert_eq!(beginnings([4, 16, 64], 3), [3]);
    }

    #[test]
    fn where_a_variant_is_not_there_the_first_of_the_sweep_stands_for_it() {
        assert!(nearest("cpu/system_call", "call = 'no such call'").starts_with("call="));
    }
}
