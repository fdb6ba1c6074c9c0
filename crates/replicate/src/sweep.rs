//! Fathom's points as the rows of reports name them: by the names of parameters, not by their constants, and looked up in the
//! sweeps of experiments.

use fathom_core::experiment::{Parameter, Placement, Point, Scale};
use fathom_core::machine::Machine;

/// A point of these variants and numbers.
pub fn point(placement: Placement, names: &[(&'static str, &str)], numbers: &[(&'static str, u64)]) -> Point {
    let parameter = |name, scale| Parameter { name, meaning: "", scale };
    let named = names
        .iter()
        .fold(Point::at(placement), |point, (name, value)| point.named(&parameter(name, Scale::Name), value));
    numbers.iter().fold(named, |point, (name, value)| point.with(&parameter(name, Scale::Count), *value))
}

/// A block of a file, read through a protocol's client or a mount, or locally for comparison.
pub fn remote_block(through: &str, state: &str, order: &str, bytes: u64) -> Point {
    let names = [("protocol", through), ("state", state), ("order", order)];
    point(Placement::Free, &names, &[("block", bytes), ("queue_depth", 1)])
}

/// A block from the server's cache, by the protocol of the run's file; where there is no such file, the point that says so.
pub fn served_block(machine: &Machine, order: &str, bytes: u64) -> Point {
    match &machine.storage.remote {
        Some(remote) => remote_block(&remote.through, "server-cached", order, bytes),
        None => remote_block("network", "server-cached", "random", 4096),
    }
}

/// Those of these sizes that a remote file has, as beginnings of it; its whole size where it is smaller than all of them.
pub fn beginnings(sizes: impl IntoIterator<Item = u64>, file_bytes: u64) -> Vec<u64> {
    let within: Vec<u64> = sizes.into_iter().filter(|size| *size <= file_bytes).collect();
    if within.is_empty() { vec![file_bytes] } else { within }
}

/// The point of an experiment's sweep that has these variants (the first of each list that the sweep has) and whose numbers are
/// nearest to these. Of several, the one with the fewest other variants. Where no variant exists, as on a processor without such
/// instructions, the first of the sweep.
pub fn nearest(
    experiment: &str,
    machine: &Machine,
    names: &[(&str, &[&str])],
    numbers: &[(&str, u64)],
) -> Point {
    let found = fathom_core::experiment::registry::find(experiment);
    let mut points = found.map(|found| found.sweep(machine)).unwrap_or_default();
    let fallback = points.first().cloned().unwrap_or_default();
    for (parameter, variants) in names {
        let has = |variant: &&&str| points.iter().any(|point| point.is(parameter, variant));
        let chosen = variants.iter().find(has).copied().unwrap_or_default();
        points.retain(|point| point.is(parameter, chosen));
    }
    points.retain(|point| numbers.iter().all(|(parameter, _)| point.number_of(parameter).is_some()));
    let told = |point: &Point| point.parameters().count();
    let least = points.iter().map(told).min();
    points.retain(|point| Some(told(point)) == least);
    let far = |point: &Point| {
        let each = numbers
            .iter()
            .map(|(parameter, wanted)| octaves(point.number_of(parameter).unwrap_or_default(), *wanted));
        each.sum::<f64>()
    };
    points.into_iter().min_by(|one, other| far(one).total_cmp(&far(other))).unwrap_or(fallback)
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

    fn found(experiment: &str, names: &[(&str, &[&str])], numbers: &[(&str, u64)]) -> String {
        let machine = Machine::from_root(&Root::new("/nowhere"), &TwoCpus, std::path::Path::new("/"));
        nearest(experiment, &machine, names, numbers).to_string()
    }

    #[test]
    fn a_point_is_found_by_its_variants_its_nearest_numbers_and_what_it_does_not_say() {
        let call: &[(&str, &[&str])] = &[("call", &["no such call", "getppid"])];
        assert_eq!(found("cpu/system_call", call, &[]), "call=getppid placement=one-cpu");
        let warm: &[(&str, &[&str])] =
            &[("state", &["warm"]), ("order", &["sequential"]), ("call", &["mmap"])];
        assert_eq!(
            found("filesystem/read", warm, &[("file", 50 << 20), ("block", 5000)]),
            "block=4096 call=mmap file=67108864 order=sequential placement=one-cpu state=warm"
        );
        let stride: &[(&str, &[&str])] = &[("access", &["first byte of each stride"])];
        assert_eq!(
            found("memory/major_fault", stride, &[("stride", 300 << 10)]),
            "access=first byte of each stride placement=one-cpu stride=262144"
        );
        // Without a stride asked for, the point that has none is meant.
        assert!(!found("memory/major_fault", &[], &[]).contains("stride"));
    }

    #[test]
    fn a_file_is_read_by_sizes_as_far_as_it_goes() {
        assert_eq!(beginnings([4, 16, 64], 20), [4, 16]);
        assert_eq!(beginnings([4, 16, 64], 3), [3]);
    }

    #[test]
    fn where_a_variant_is_not_there_the_first_of_the_sweep_stands_for_it() {
        assert!(found("cpu/system_call", &[("call", &["no such call"])], &[]).starts_with("call="));
    }
}
