//! What bandwidths say: the quickest means, what reading for ownership costs, and how naive counting misleads.

use super::kernel::{KERNELS, Kernel, Kind, PER_LINE};
use super::working_set::{self, Level};
use crate::experiment::Known;
use crate::experiments::memory::bandwidth::point;
use crate::quantity::declared;

const NAME: &str = "memory/bandwidth";

/// Everything that the results of memory/bandwidth say.
pub fn sentences(known: &Known) -> Vec<String> {
    let size = working_set::memory_bytes(known.machine);
    let mut said: Vec<String> = Kind::ALL.iter().filter_map(|kind| best_said(*kind, size, known)).collect();
    said.extend(caches_said(known));
    said.extend(ownership_said(size, known));
    said.extend(per_line_said(size, known));
    said
}

/// The quickest method of a kind in memory, its median rate and the kernel.
fn best(kind: Kind, size: u64, known: &Known) -> Option<(&'static Kernel, f64)> {
    let of_kind = KERNELS.iter().filter(|kernel| kernel.kind == kind);
    let measured = of_kind.filter_map(|kernel| Some((kernel, known.median(NAME, &point(kernel, size))?)));
    measured.max_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// The share is that of the bytes on the bus, not of those that the program counts (R-MEM-22, R-FIX-37).
fn best_said(kind: Kind, size: u64, known: &Known) -> Option<String> {
    let (kernel, rate) = best(kind, size, known)?;
    let theory = known.machine.memory.theoretical_bandwidth.value();
    let (least, most) = kernel.bus_bytes();
    let share = theory.map(|theory| {
        let share =
            |factor: f64| declared::percent((rate * factor / theory.bytes_per_second * 1e3).round() / 1e3);
        let crossing =
            if least >= most { share(least) } else { format!("{} to {}", share(least), share(most)) };
        format!(
            ": the bus moves {crossing} of the {} that {} allow",
            declared::bytes_rate(theory.bytes_per_second),
            theory.formula
        )
    });
    let (kind, method) = (kind.name(), kernel.method);
    let rate = declared::bytes_rate(rate);
    Some(format!("Best {kind} in memory by one core: {rate} ({method}){}.", share.unwrap_or_default()))
}

/// The quickest of each kind in each cache.
fn caches_said(known: &Known) -> Option<String> {
    let of_kind = |kind: Kind| {
        let sizes = working_set::sizes(known.machine).into_iter();
        let caches = sizes.filter(|(level, _)| *level != Level::Memory);
        let best = caches.filter_map(|(_, size)| {
            let (kernel, rate) = best(kind, size, known)?;
            Some(format!("{} in {} ({})", declared::bytes_rate(rate), declared::size(size), kernel.method))
        });
        let best: Vec<String> = best.collect();
        (!best.is_empty()).then(|| format!("{} {}", kind.name(), best.join(", ")))
    };
    let said: Vec<String> = Kind::ALL.into_iter().filter_map(of_kind).collect();
    (!said.is_empty()).then(|| format!("Best in the caches: {}.", said.join("; ")))
}

/// What a line's read-for-ownership costs: the same stores with and without it.
fn ownership_said(size: u64, known: &Known) -> Option<String> {
    let rate = |kind, method: &str| known.median(NAME, &point(Kernel::find(kind, method)?, size));
    let ratios = |method: &str| {
        let around = format!("{method} non-temporal");
        let ratio = |kind| Some(rate(kind, &around)? / rate(kind, method)?);
        Some((ratio("write")?, ratio("copy")?))
    };
    let (method, (write, copy)) =
        ["avx512", "avx2", "sse"].iter().find_map(|method| Some((method, ratios(method)?)))?;
    Some(format!(
        "Stores around the caches write {write:.2} times and copy {copy:.2} times as fast as the same stores ({method}) \
         through them; if reading each line for ownership were all that differs, it would be 2 and 1.5 times."
    ))
}

/// How far one word of each line misleads.
fn per_line_said(size: u64, known: &Known) -> Option<String> {
    let naive = Kernel::find("read", PER_LINE)?;
    let bytes = known.median(NAME, &point(naive, size))?;
    let (_, all) = best(Kind::Read, size, known)?;
    let lines = 8.0 * bytes;
    Some(format!(
        "One word of each line reads {} of the program's bytes, and {} if whole lines were counted; reading all words of \
         all lines reaches {}.",
        declared::bytes_rate(bytes),
        declared::bytes_rate(lines),
        declared::bytes_rate(all)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Finding;
    use crate::machine::{Bandwidth, Fact, Machine};

    #[test]
    fn the_share_of_the_theory_counts_the_bytes_on_the_bus() {
        let mut machine = Machine::describe(std::path::Path::new("/"));
        let theory = Bandwidth { bytes_per_second: 40e9, formula: "the formula".to_owned() };
        machine.memory.theoretical_bandwidth = Fact::known(theory, "a test");
        let size = working_set::memory_bytes(&machine);
        let mut known = Known::new(&machine, None);
        let mut learn = |kind, method: &str, rate: f64| {
            let kernel = Kernel::find(kind, method).unwrap();
            known.learn(NAME, &point(kernel, size), Finding { median: rate, interval: None });
        };
        learn("write", "8 words unrolled", 10e9);
        learn("read", PER_LINE, 2e9);
        learn("read", "8 words unrolled", 30e9);
        let said = sentences(&known).join("\n");
        // Each line written is read for ownership as well: 20 of 40 GB/s cross the bus.
        assert!(
            said.contains(
                "write in memory by one core: 10 GB/s (8 words unrolled): the bus moves 50 % of the 40 GB/s"
            ),
            "{said}"
        );
        assert!(
            said.contains("read in memory by one core: 30 GB/s (8 words unrolled): the bus moves 75 %"),
            "{said}"
        );
        assert!(
            said.contains("reads 2 GB/s of the program's bytes, and 16 GB/s if whole lines were counted"),
            "{said}"
        );
    }
}
