//! Memory on pages of a chosen size: requested from the kernel, touched, and verified.

use super::backing::Backing;
use super::chase::random_order::RandomOrder;
use fathom_core::machine::Root;
use fathom_core::prelude::*;
use std::ptr::NonNull;

pub const PAGES: Parameter = Parameter::named(
    "pages",
    "the pages behind the array: base pages (4 KiB on most machines) or huge ones (2 MiB)",
);

/// A page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// The smallest pages that the processor translates: 4 KiB on x86-64.
    Base,
    /// Pages translated by one entry of the level above: 2 MiB on x86-64.
    Huge,
}

impl Pages {
    /// Both sizes.
    pub const ALL: [Pages; 2] = [Pages::Huge, Pages::Base];

    /// The name in run files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Pages::Base => "base",
            Pages::Huge => "huge",
        }
    }

    /// Refuses a point that names other pages.
    pub fn ensure(point: &Point) -> Result<(), Failure> {
        point.ensure_variant(&PAGES, &Pages::ALL.map(Pages::name))
    }

    /// The page size of a point.
    pub fn of(point: &Point) -> Self {
        if point.name(&PAGES) == Pages::Huge.name() { Pages::Huge } else { Pages::Base }
    }

    /// The size of such a page on this machine, bytes.
    pub fn bytes(self) -> usize {
        match self {
            // SAFETY: takes a number.
            Pages::Base => usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096),
            Pages::Huge => *huge_page().value().unwrap_or(&(2 << 20)),
        }
    }
}

/// The largest supported page, bytes: kernels with base pages of 64 KiB have huge ones of 512 MiB, which would take too long.
const LARGEST_PAGE: usize = 32 << 20;

const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage";

fn huge_page() -> fathom_core::machine::Fact<usize> {
    Root::default().number(&format!("{TRANSPARENT}/hpage_pmd_size"))
}

/// An anonymous private mapping, at least as long as requested and a whole number of pages of its kind, between inaccessible
/// pages, so that the kernel does not merge it with another. Unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    reserved: NonNull<u8>,
    reserved_bytes: usize,
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// Resident memory: every page was written with data other than zero (R-MEM-06: pages of zeros are one page of memory), and
    /// the kernel reports that all of it is backed by pages of this kind.
    pub fn resident(bytes: usize, pages: Pages) -> Result<(Self, Backing), Failure> {
        if pages.bytes() > LARGEST_PAGE {
            let mib = pages.bytes() >> 20;
            return Err(Failure::Unsupported(format!(
                "a huge page has {mib} MiB here, which takes too long to clear for every array; a kernel with base \
                 pages of 4 KiB has smaller huge pages"
            )));
        }
        match Mapping::filled(bytes, pages, &Mapping::untouched) {
            Err(Failure::Unsupported(reason)) if pages == Pages::Huge => {
                Mapping::filled(bytes, pages, &|bytes, _| Mapping::pooled(bytes))
                    .map_err(|_| Failure::Unsupported(reason))
            }
            outcome => outcome,
        }
    }

    /// Memory without pages yet; its first touch requests pages of this kind.
    pub fn untouched(bytes: usize, pages: Pages) -> Result<Self, Failure> {
        let advice = match pages {
            Pages::Base => libc::MADV_NOHUGEPAGE,
            Pages::Huge => {
                transparent_allowed(&Root::default())?;
                libc::MADV_HUGEPAGE
            }
        };
        let mapping = Mapping::reserve(bytes, pages.bytes())?;
        mapping.allow(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE)?;
        // A kernel without transparent huge pages knows neither advice; the obtained pages are verified after the first touch.
        // SAFETY: advice about memory of our own.
        unsafe { libc::madvise(mapping.start.as_ptr().cast(), mapping.bytes, advice) };
        Ok(mapping)
    }

    /// Memory from the pool of explicit huge pages.
    fn pooled(bytes: usize) -> Result<Self, Failure> {
        let mapping = Mapping::reserve(bytes, Pages::Huge.bytes())?;
        mapping.allow(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB)?;
        Ok(mapping)
    }

    /// Resident memory on base pages, of which neighbours in addresses are not neighbours in memory: they are written first in an
    /// order by chance, and the kernel gives its free pages one after the other. How whole its free memory is does not matter then.
    pub fn scattered(bytes: usize, seed: u64) -> Result<(Self, Backing), Failure> {
        let mapping = Mapping::untouched(bytes, Pages::Base)?;
        let pages = mapping.base_pages();
        let order = RandomOrder::new(pages as u64, seed);
        (0..pages).for_each(|place| mapping.write_in(order.at(place as u64) as usize));
        mapping.verified(Pages::Base)
    }

    fn filled(
        bytes: usize,
        pages: Pages,
        map: &dyn Fn(usize, Pages) -> Result<Self, Failure>,
    ) -> Result<(Self, Backing), Failure> {
        let mut mapping = map(bytes, pages)?;
        mapping.touch();
        mapping.verified(pages)
    }

    /// This memory with what is behind it, if those are pages of this kind.
    fn verified(self, pages: Pages) -> Result<(Self, Backing), Failure> {
        let backing = Backing::of(self.start.as_ptr() as usize)?;
        accepted(pages, &backing).map(|()| (self, backing))
    }

    /// Reserves addresses, with an aligned stretch in them between guard pages.
    fn reserve(bytes: usize, page: usize) -> Result<Self, Failure> {
        let bytes = bytes.max(1).next_multiple_of(page);
        let reserved_bytes = bytes + 2 * page;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), reserved_bytes, libc::PROT_NONE, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(Failure::last(&format!("mmap of {reserved_bytes} bytes")));
        }
        let reserved = NonNull::new(address.cast::<u8>())
            .ok_or_else(|| Failure::Broke("mmap gave address 0".to_owned()))?;
        // One byte after the start, so that there is a guard before the stretch even if the start is aligned.
        let skipped = (address as usize + 1).next_multiple_of(page) - address as usize;
        // SAFETY: `skipped` is at most a page, and the reservation is two pages longer than the stretch.
        let start = unsafe { reserved.add(skipped) };
        Ok(Mapping { reserved, reserved_bytes, start, bytes })
    }

    /// Maps readable and writable memory over the stretch.
    fn allow(&self, flags: libc::c_int) -> Result<(), Failure> {
        let (start, access) = (self.start.as_ptr().cast(), libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: replaces addresses of our own reservation, which nothing uses yet.
        let address = unsafe { libc::mmap(start, self.bytes, access, flags | libc::MAP_FIXED, -1, 0) };
        if address == start { Ok(()) } else { Err(Failure::last(&format!("mmap of {} bytes", self.bytes))) }
    }

    /// Writes a byte that is not zero into every base page, in the order of addresses.
    pub fn touch(&mut self) {
        (0..self.base_pages()).for_each(|page| self.write_in(page));
    }

    fn base_pages(&self) -> usize {
        self.bytes / Pages::Base.bytes()
    }

    /// Writes a byte that is not zero into the base page of this number.
    fn write_in(&self, page: usize) {
        assert!(page < self.base_pages(), "within the mapping");
        // SAFETY: inside the mapping.
        unsafe { self.start.add(page * Pages::Base.bytes()).write_volatile(1) };
    }

    /// Its first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Its length, bytes: a whole number of pages.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `reserve`, the stretch included, and used by nobody else.
        unsafe { libc::munmap(self.reserved.as_ptr().cast(), self.reserved_bytes) };
    }
}

/// Whether the kernel gives transparent huge pages on request. If no file tells, they are tried: the obtained pages are verified.
fn transparent_allowed(root: &Root) -> Result<(), Failure> {
    let policy = root.choice(&format!("{TRANSPARENT}/enabled"));
    let refusal = match policy.value().map(String::as_str) {
        Some("never") => "transparent huge pages are switched off",
        None if root.exists("/sys/kernel/mm") => "this kernel has no transparent huge pages",
        _ => return Ok(()),
    };
    Err(Failure::Unsupported(format!(
        "{refusal}: write `madvise` to {TRANSPARENT}/enabled, or reserve some in /proc/sys/vm/nr_hugepages"
    )))
}

/// Refuses memory that other pages are behind than those that were asked for.
fn accepted(pages: Pages, backing: &Backing) -> Result<(), Failure> {
    let is_refused = match pages {
        Pages::Huge => backing.huge < backing.mapped,
        Pages::Base => backing.huge > 0,
    };
    if is_refused { Err(refused(pages, backing)) } else { Ok(()) }
}

fn refused(pages: Pages, backing: &Backing) -> Failure {
    let (huge, mapped) = (backing.huge >> 20, backing.mapped >> 20);
    Failure::Unsupported(match pages {
        Pages::Huge => format!(
            "the kernel backed {huge} MiB of {mapped} MiB with huge pages; memory may be fragmented: try after \
             `echo 1 > /proc/sys/vm/compact_memory` as root, or reserve pages in /proc/sys/vm/nr_hugepages"
        ),
        Pages::Base => format!(
            "the kernel backed {huge} MiB of {mapped} MiB with huge pages although it was asked not to: write `madvise` \
             to {TRANSPARENT}/enabled"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_has_no_huge_pages_only_where_sys_is_there_to_say_so() {
        let tree = tempfile::tempdir().unwrap();
        let root = Root::new(tree.path());
        assert!(transparent_allowed(&root).is_ok(), "without /sys it is tried");
        std::fs::create_dir_all(tree.path().join("sys/kernel/mm")).unwrap();
        let refused = transparent_allowed(&root).unwrap_err();
        assert!(refused.to_string().contains("has no transparent"), "{refused}");
        std::fs::create_dir_all(tree.path().join(&TRANSPARENT[1..])).unwrap();
        std::fs::write(tree.path().join(&TRANSPARENT[1..]).join("enabled"), "always madvise [never]")
            .unwrap();
        assert!(transparent_allowed(&root).unwrap_err().to_string().contains("switched off"));
    }

    #[test]
    fn pages_that_were_not_got_are_not_accepted() {
        let backed = |huge| Backing { mapped: 4 << 20, resident: 4 << 20, huge };
        assert!(accepted(Pages::Huge, &backed(4 << 20)).is_ok() && accepted(Pages::Base, &backed(0)).is_ok());
        for (asked, huge) in [(Pages::Huge, 0), (Pages::Huge, 2 << 20), (Pages::Base, 2 << 20)] {
            let refused = accepted(asked, &backed(huge));
            assert!(matches!(refused, Err(Failure::Unsupported(_))), "{asked:?}, {huge} in huge ones");
        }
    }
}
