//! The pages behind a mapping, as the kernel reports them: asking for a huge page does not mean getting one.

use fathom_core::prelude::*;

/// Stated: the share of a mapping in huge pages.
const HUGE_SHARE: &str = "share_backed_by_huge_pages";
/// Stated: the resident share of a mapping.
const RESIDENT_SHARE: &str = "share_resident";

/// The memory behind one mapping, bytes, from its entry of `/proc/self/smaps` (`proc_pid_smaps(5)`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backing {
    pub mapped: u64,
    /// Its resident bytes.
    pub resident: u64,
    /// Its bytes in huge pages, transparent or from a pool.
    pub huge: u64,
}

impl Backing {
    /// The backing of the mapping that contains an address of this process.
    pub fn of(address: usize) -> Result<Self, Failure> {
        let unverified = "the pages behind the memory cannot be verified";
        let text = std::fs::read_to_string("/proc/self/smaps").map_err(|error| {
            Failure::Unsupported(format!(
                "{unverified}: /proc/self/smaps: {error}; mount /proc to measure this"
            ))
        })?;
        let backing = Backing::read(&text, address);
        backing
            .ok_or_else(|| Failure::Unsupported(format!("{unverified}: /proc/self/smaps does not list it")))
    }

    /// The backing of the mapping that contains an address, from a text in the format of smaps.
    fn read(text: &str, address: usize) -> Option<Self> {
        let mut lines =
            text.lines().skip_while(|line| !range(line).is_some_and(|held| held.contains(&address)));
        let held = range(lines.next()?)?;
        let mut backing = Backing { mapped: held.len() as u64, ..Backing::default() };
        for line in lines.take_while(|line| range(line).is_none()) {
            let Some((name, bytes)) = amount(line) else { continue };
            match name {
                "Rss" => backing.resident += bytes,
                "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" => backing.huge += bytes,
                // Pages of a pool are not counted as resident.
                "Shared_Hugetlb" | "Private_Hugetlb" => {
                    backing.resident += bytes;
                    backing.huge += bytes;
                }
                _ => {}
            }
        }
        Some(backing)
    }

    /// The share of the mapping in huge pages.
    pub fn huge_share(&self) -> f64 {
        self.huge as f64 / self.mapped.max(1) as f64
    }

    /// The resident share of the mapping.
    pub fn resident_share(&self) -> f64 {
        self.resident as f64 / self.mapped.max(1) as f64
    }

    /// States the obtained backing, for the evidence.
    pub fn stated<'site>(&self, workload: Workload<'site>) -> Workload<'site> {
        workload.stating(HUGE_SHARE, self.huge_share()).stating(RESIDENT_SHARE, self.resident_share())
    }

    /// Checks the stated backing if pages of either kind will do: all of the mapping resident, in pages of one kind.
    pub fn evidence_of_either(observed: &Observed) -> Vec<Check> {
        let huge = observed.witness(HUGE_SHARE).is_some_and(|share| share > 0.0);
        Backing::evidence(huge, observed)
    }

    /// Checks the stated backing: all of the mapping resident, in pages of the requested kind.
    pub fn evidence(huge: bool, observed: &Observed) -> Vec<Check> {
        let huge_share = if huge { 1.0 } else { 0.0 };
        let share_is = |claim: &str, name, expected| Check::equal(claim, observed.witness(name), expected);
        vec![
            share_is(
                "share of the memory that huge pages back, as the kernel shows it",
                HUGE_SHARE,
                huge_share,
            ),
            share_is("share of the memory that is resident", RESIDENT_SHARE, 1.0),
        ]
    }
}

/// The address range in an entry's first line: `7f0000000000-7f0000200000 rw-p …`.
fn range(line: &str) -> Option<std::ops::Range<usize>> {
    let (low, high) = line.split_whitespace().next()?.split_once('-')?;
    Some(usize::from_str_radix(low, 16).ok()?..usize::from_str_radix(high, 16).ok()?)
}

/// A line such as `AnonHugePages:      2048 kB`, in bytes.
fn amount(line: &str) -> Option<(&str, u64)> {
    let (name, rest) = line.split_once(':')?;
    Some((name, rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n\
Size:               4096 kB\nKernelPageSize:        4 kB\nRss:                4096 kB\nAnonHugePages:      2048 kB\n\
VmFlags: rd wr mr mw me ac hg \n\
7f0000400000-7f0000600000 rw-p 00000000 00:0f 77 /anon_hugepage (deleted)\n\
KernelPageSize:     2048 kB\nRss:                   0 kB\nPrivate_Hugetlb:    2048 kB\n\
7f0000600000-7f0000800000 rw-p 00000000 00:00 0 \nRss:                  12 kB\nAnonHugePages:         0 kB\n";

    #[test]
    fn an_entry_is_that_of_the_address_and_ends_at_the_next() {
        let half = Backing::read(TEXT, 0x7f00_0010_0000).unwrap();
        assert_eq!(half, Backing { mapped: 4 << 20, resident: 4 << 20, huge: 2 << 20 });
        let pool = Backing::read(TEXT, 0x7f00_0040_0000).unwrap();
        assert_eq!((pool.resident, pool.huge), (2 << 20, 2 << 20));
        let sparse = Backing::read(TEXT, 0x7f00_007f_ffff).unwrap();
        assert_eq!((sparse.resident, sparse.huge), (12 << 10, 0));
        assert_eq!(Backing::read(TEXT, 0x7f00_0080_0000), None);
    }

    fn judged(backing: Backing, huge: bool) -> bool {
        let mut seen = Observed::default();
        let workload = backing.stated(Workload::batched(|_| Ok(())));
        seen.stated.extend(workload.stated.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        Backing::evidence(huge, &seen).iter().all(|check| check.holds)
    }

    #[test]
    fn pages_of_the_wrong_kind_or_missing_are_found_out() {
        let all = |huge| Backing { mapped: 4 << 20, resident: 4 << 20, huge };
        assert!(judged(all(4 << 20), true) && judged(all(0), false));
        assert!(!judged(all(0), true), "base pages instead of huge ones");
        assert!(!judged(all(2 << 20), true), "half of them huge");
        assert!(!judged(all(2 << 20), false), "huge pages that nobody asked for");
        assert!(!judged(Backing { resident: 2 << 20, ..all(0) }, false), "half of it never touched");
        assert!(
            !Backing::evidence(true, &Observed::default()).iter().any(|check| check.holds),
            "not looked at"
        );
    }
}
